"""Sets as lists and data frames."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.inputs.frames import Template
from rankset.inputs.vocabulary import Names


class ToFrames:
    """Methods of ``PredictionSets`` that return lists and data frames."""

    names: Names
    template: Template

    def __iter__(self) -> Iterator[NDArray[Any]]:
        """Yield the names in each set."""
        raise NotImplementedError

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of labels in each set (n,)."""
        raise NotImplementedError

    @property
    def mask(self) -> NDArray[np.bool_]:
        """Boolean matrix (n, K)."""
        raise NotImplementedError

    def to_lists(self) -> list[list[Any]]:
        """Return the class names of every row as a list of lists.

        Examples
        --------
        >>> import rankset as rs
        >>> rs.PredictionSets.from_mask([[True, True], [False, True]]).to_lists()
        [[0, 1], [1]]
        """
        return [row.tolist() for row in self]

    def to_frame(self, backend: str | None = None) -> Any:  # noqa: ANN401
        """Return a data frame with one row per set and the columns ``labels``, ``size`` and ``top``.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Data frame library. Default: the library of the input of ``predict``, or the first one installed.

        Returns
        -------
        data frame
            Lists of labels, set sizes, and the most likely label or None. A pandas index of the input is kept.

        Examples
        --------
        >>> import rankset as rs
        >>> rs.PredictionSets.from_mask([[True, True], [False, True]]).to_frame("pandas")
           labels  size  top
        0  [0, 1]     2    0
        1     [1]     1    1
        """
        labels = self.to_lists()
        tops = [row[0] if row else None for row in labels]
        return self.template.filled({"labels": labels, "size": self.sizes, "top": tops}, backend)

    def to_mask_frame(self, backend: str | None = None) -> Any:  # noqa: ANN401
        """Return a data frame with one row per set and one boolean column per class.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            As in ``to_frame``.

        Returns
        -------
        data frame
            True if the set contains the class. The index is the same as for ``to_frame``.

        Examples
        --------
        >>> import rankset as rs
        >>> rs.PredictionSets.from_mask([[True, True], [False, True]], ["cat", "dog"]).to_mask_frame("pandas")
             cat   dog
        0   True  True
        1  False  True
        """
        return self.template.filled(dict(zip(self.names.values, self.mask.T, strict=True)), backend)
