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

    Approximate only: the score looks at the calibration rows' inputs and not at the new row's, so the two are not
    exchangeable. Kept as multiples of 1/n, so ties are exact.

    >>> import rankset as rs
    >>> probs = [[0.7, 0.3], [0.4, 0.6], [0.8, 0.2]]
    >>> rs.calibrate(probs, [0, 1, 0], score=ClassColumn.fit(probs))
    Rule(ClassColumn(n=3), Marginal(), kind='probs', 2 classes, calibrated on 3 rows; no finite-sample guarantee)
    """

    n: int
    ladder: SortedKeys
    caveat = "no finite-sample guarantee"

    @classmethod
    def fit(cls, probs: ArrayLike, *, kind: Kind = "probs") -> "ClassColumn":
        """The score that compares with the columns of these calibration rows."""
        data = prepare(probs, kind=kind)
        rows = data.rows(slice(0, len(data)))
        columns = np.repeat(np.arange(rows.shape[1]), len(rows))
        return cls(len(rows), SortedKeys((columns, np.sort(rows, axis=0).T.ravel())))

    def __repr__(self) -> str:
        return f"ClassColumn(n={self.n})"

    def keys(self, cells: Cells) -> Keys:
        """(rank - 1) n + how many rows of the column are at least as large."""
        smaller = self.ladder.before((cells.column, cells.prob)) - cells.column * self.n
        return ((cells.rank - 1) * self.n + (self.n - smaller),)
