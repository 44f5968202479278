"""The coverage that is proven for cross-conformal rules."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from rankset.core.alpha import rows_needed


def proven_coverage(sizes: Sequence[int], alpha: Fraction) -> Fraction:
    """Return the proven coverage of a group with ``sizes`` calibration rows in each fold.

    The pooled p-value is a weighted mean of the p-values of the folds, with weights (rows + 1) / (n + F), plus a
    constant. A weighted mean of p-values is at most u with probability at most 2 u, and at most u / (largest weight).
    """
    n, folds = sum(sizes), len(sizes)
    if n < rows_needed(alpha):
        return Fraction(1)
    factor = min(Fraction(2), Fraction(n + folds, max(sizes) + 1))
    return max(Fraction(0), 1 - factor * (alpha * (n + 1) + folds - 1) / (n + folds))
