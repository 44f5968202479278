"""Sets of rows that can have several true labels: which of them are inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankset.inputs.label_lists import label_lists, option_lists
from rankset.inputs.labels_of_rows import LabelLists
from rankset.inputs.row_index import RowIndex
from rankset.inputs.vocabulary import Names

Ints = NDArray[np.int64]


class SeveralLabels:
    """Methods of ``PredictionSets`` for rows that can have several true labels."""

    names: Names
    options: NDArray[Any] | None
    __len__: Callable[..., int]

    if TYPE_CHECKING:

        @property
        def mask(self) -> NDArray[np.bool_]: ...
        @property
        def _index(self) -> RowIndex: ...

    def recall(self, labels: Any) -> NDArray[np.float64]:  # noqa: ANN401
        """Return the share of the true labels of each row that its set contains.

        Parameters
        ----------
        labels
            The true labels of each row: a 0/1 matrix (n, K), or one list of labels per row.

        Returns
        -------
        array of float (n,)
            NaN for rows without labels.

        Raises
        ------
        LabelError
            If the labels do not belong to the rows, or are not classes.

        Examples
        --------
        >>> import rankset as rs
        >>> rs.PredictionSets.from_mask([[True, True], [True, False]]).recall([[0], [0, 1]])
        array([1. , 0.5])
        """
        truths = self._truths(labels)
        with np.errstate(invalid="ignore"):
            return self._hits(truths) / truths.sizes

    def covers_all(self, labels: Any) -> NDArray[np.bool_]:  # noqa: ANN401
        """Return whether each set contains all true labels of its row.

        Parameters
        ----------
        labels
            The true labels of each row: a 0/1 matrix (n, K), or one list of labels per row.

        Returns
        -------
        array of bool (n,)
            True for rows without labels.

        Raises
        ------
        LabelError
            If the labels do not belong to the rows, or are not classes.

        Examples
        --------
        >>> import rankset as rs
        >>> rs.PredictionSets.from_mask([[True, True], [True, False]]).covers_all([[0], [0, 1]])
        array([ True, False])
        """
        truths = self._truths(labels)
        return self._hits(truths) == truths.sizes

    def _truths(self, labels: Any, index: RowIndex | None = None) -> LabelLists:  # noqa: ANN401
        """Return the true labels of each row as columns; ``index`` is that of the rows, where others must agree."""
        known = self._index if index is None else index
        if self.options is not None:
            return option_lists(labels, self.options, known)
        return label_lists(labels, self.names, len(self), known, by_position=True)

    def _hits(self, truths: LabelLists) -> Ints:
        """Return how many true labels of each row its set contains."""
        inside = self.mask[truths.rows, truths.codes]
        return np.bincount(truths.rows[inside], minlength=len(self))
