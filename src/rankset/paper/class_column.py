"""``ClassColumn``: the score formula that is printed in the paper. It has no finite-sample guarantee."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rankset.core.cells import Cells
from rankset.core.lexicographic import Keys
from rankset.core.sorted_keys import SortedKeys
from rankset.inputs.matrix import Kind
from rankset.inputs.prepare import prepare


@dataclass(frozen=True, eq=False)
class ClassColumn:
    """The score formula that is printed in the paper. Coverage of at least 1 - alpha is not guaranteed.

    The score of a label is its rank, minus 1, plus the fraction of the calibration rows whose probability for this
    class is at least as large as in the label's own row. A probability of a new row is compared with the calibration
    rows only. So new rows and calibration rows are not exchangeable, and coverage is only approximate.

    Attributes
    ----------
    n
        Number of rows that were passed to ``fit``.
    columns
        The probabilities of these rows, sorted within each column.

    Examples
    --------
    >>> import rankset as rs
    >>> probs = [[0.7, 0.3], [0.4, 0.6], [0.8, 0.2]]
    >>> rs.calibrate(probs, [0, 1, 0], method=ClassColumn.fit(probs))
    Rule(ClassColumn(n=3), Marginal(), kind='probs', 2 classes, calibrated on 3 rows; no finite-sample guarantee)
    """

    n: int
    columns: SortedKeys
    caveat = "no finite-sample guarantee"

    @classmethod
    def fit(cls, probs: ArrayLike, *, kind: Kind = "probs") -> "ClassColumn":
        """Return the score for these calibration rows.

        Parameters
        ----------
        probs
            Array (n, K): model outputs for the calibration rows.
        kind
            The type of values in ``probs``: "probs", "logits" or "decision", as in ``calibrate``.

        Returns
        -------
        ClassColumn
            A score that can be passed to ``rankset.calibrate``.

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
        """Return n times the score, an integer, so that equal scores are exactly equal."""
        smaller = self.columns.before((cells.column, cells.prob)) - cells.column * self.n
        return ((cells.rank - 1) * self.n + (self.n - smaller),)
