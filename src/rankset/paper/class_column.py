"""The conformity score the paper displays: ranks refined by the label's own column. No finite-sample guarantee."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rankset.core.cells import Cells
from rankset.core.lexicographic import Keys, SortedKeys
from rankset.inputs.matrix import Kind
from rankset.inputs.prepare import prepare


@dataclass(frozen=True, eq=False)
class ClassColumn:
    """rank - 1 + the share of calibration rows whose probability for the same class is at least as large.

    Coverage holds only approximately: the score depends on the outputs for the calibration rows and not on those for
    the new row, so the rows are not exchangeable. Values are kept as multiples of 1/n, so ties are exact.

    Attributes
    ----------
    n
        Number of rows it was fitted on.
    columns
        Their probabilities, sorted within each column.

    Examples
    --------
    >>> import rankset as rs
    >>> probs = [[0.7, 0.3], [0.4, 0.6], [0.8, 0.2]]
    >>> rs.calibrate(probs, [0, 1, 0], score=ClassColumn.fit(probs))
    Rule(ClassColumn(n=3), Marginal(), kind='probs', 2 classes, calibrated on 3 rows; no finite-sample guarantee)
    """

    n: int
    columns: SortedKeys
    caveat = "no finite-sample guarantee"

    @classmethod
    def fit(cls, probs: ArrayLike, *, kind: Kind = "probs") -> "ClassColumn":
        """Return the score that compares with the columns of these rows.

        Parameters
        ----------
        probs
            Array (n, K): the model's outputs for the calibration rows.
        kind
            What ``probs`` are: "probs", "logits" or "decision".

        Returns
        -------
        ClassColumn
            A score for ``rankset.calibrate``.

        Examples
        --------
        >>> ClassColumn.fit([[0.7, 0.3], [0.4, 0.6]])
        ClassColumn(n=2)
        """
        data = prepare(probs, kind=kind)
        rows = data.rows(slice(0, len(data)))
        columns = np.repeat(np.arange(rows.shape[1]), len(rows))
        return cls(len(rows), SortedKeys((columns, np.sort(rows, axis=0).T.ravel())))

    def __repr__(self) -> str:
        return f"ClassColumn(n={self.n})"

    def keys(self, cells: Cells) -> Keys:
        """Return (rank - 1) n + the number of rows whose probability in the column is at least as large."""
        smaller = self.columns.before((cells.column, cells.prob)) - cells.column * self.n
        return ((cells.rank - 1) * self.n + (self.n - smaller),)
