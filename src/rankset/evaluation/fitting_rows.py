"""How many rows ``auto`` uses to fit and choose a score."""

from __future__ import annotations

from fractions import Fraction
from typing import cast

from rankset.core.arrays import is_real
from rankset.errors import KindError

FEW_ROWS = 250
"""With fewer rows nothing is fitted: fewer calibration rows would cost more than a fit gains."""
MANY_ROWS = 2000
FEWEST_FITTING = 40
"""A recalibration is fitted on at least this number of rows."""
SHARES = {FEW_ROWS: 0.2, MANY_ROWS: 0.3}
"""Share of the rows used to fit, by the least number of rows."""
MOST_FITTING_CELLS = 10_000_000


def count_fitting_rows(n: int, n_columns: int, share: float | None, needed: int) -> int:
    """Return how many of ``n`` rows to fit on; 0 if that is too few, or if fewer than ``needed`` rows would be left."""
    if share is None:
        fraction = max((value for least, value in SHARES.items() if n >= least), default=0.0)
        count = min(int(fraction * n), max(MANY_ROWS, MOST_FITTING_CELLS // n_columns))
    else:
        check_share(share)
        count = int(share * n)
    return count if count >= FEWEST_FITTING and n - count >= needed else 0


def check_share(share: object) -> None:
    """Raise an error if ``share`` is not a number from 0 to below 1."""
    if not (is_real(share) or isinstance(share, Fraction)) or not 0 <= cast("float", share) < 1:
        raise KindError.argument("share", "a number of at least 0 and below 1", share)
