"""``ABSENT``: the label of a row whose true label is not among its candidates."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

ABSENT_CODE: Final = -1
"""Stands in arrays of column numbers for a label that has no column."""


class Absent:
    """The label of a row whose true label is not among its candidates: ``rankset.ABSENT``, the one object of this type.

    Pass ``rankset.ABSENT`` as the label if the correct answer was not sampled, not retrieved, or belongs to a class
    that the model does not have. In a calibration it is stranger than every other label. A set never contains it, so
    ``covers`` and ``evaluate`` count its row as missed.

    Examples
    --------
    >>> import rankset as rs
    >>> probs = [[0.7, 0.3], [0.4, 0.6], [0.9, 0.1], [0.5, 0.5]]
    >>> rule = rs.calibrate(probs, [0, 1, rs.ABSENT, 0])
    >>> rule.smallest_alpha()
    Fraction(2, 5)
    >>> rule.predict([[0.6, 0.4]], alpha=0.4).to_lists()
    [[0]]
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "rankset.ABSENT"

    def __reduce__(self) -> str:
        """Return the name of the one object, which a pickle or a copy refers to."""
        return "ABSENT"


ABSENT: Final = Absent()


def is_absent(values: NDArray[Any]) -> NDArray[np.bool_] | None:
    """Return which entries are ``ABSENT``; None if none is."""
    if values.dtype.kind != "O":
        return None
    found = np.array([value is ABSENT for value in values.ravel().tolist()], dtype=np.bool_).reshape(values.shape)
    return found if found.any() else None
