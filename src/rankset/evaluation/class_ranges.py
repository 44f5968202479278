"""Intervals for metrics of classes, which allow for the few rows of a class.

Test rows are drawn independently, so the number of covered rows of each class follows a binomial law of its own.
``docs/understand/metrics.md`` has the formulas in words.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

import numpy as np

from rankset.core import binomial_tails
from rankset.core.coverage_law import beta_cdf, tails
from rankset.evaluation.metrics import CLASSES_BELOW_HALF, CLASSES_FAR_BELOW, FAR, MACRO_COVERAGE, Floats, Ints

Range = tuple[float, float]

ERRORS = (0.25, 0.05)
"""Errors of tests of single classes. With few rows only the first names classes; the second is surer."""


@dataclass(frozen=True)
class ClassCounts:
    """Covered rows and all rows of classes that occur.

    ``hits`` is an array (levels, classes): the covered rows of every class at each of several values of alpha.
    """

    hits: Ints
    rows: Ints

    def macro_intervals(self, confidence: float) -> list[Range]:
        """Return an interval for the mean over classes of the coverage of a class, at each level.

        The variance of a class is that of a share, with one covered and one missed row added to those of the class.
        """
        if not len(self.rows):
            return [(math.nan, math.nan)] * len(self.hits)
        hits, m = self.hits, self.rows
        variances = (hits + 1) * (m - hits + 1) / (m * (m + 1.0) * (m + 2.0))
        far = NormalDist().inv_cdf(tails(confidence)[1]) * np.sqrt(variances.sum(axis=1)) / len(m)
        means = (hits / m).mean(axis=1)
        return list(zip(np.maximum(means - far, 0.0).tolist(), np.minimum(means + far, 1.0).tolist(), strict=True))

    def below(self, shares: Floats, confidence: float) -> list[Range]:
        """Return an interval for the share of classes whose coverage is below ``shares``, one number per level."""
        levels, (doubt, _) = shares[:, np.newaxis], tails(confidence)
        if not len(self.rows):
            return [(math.nan, math.nan)] * len(self.hits)
        not_below = most_null(binomial_tails.at_most(self.hits, self.rows, levels), doubt)
        below = most_null(binomial_tails.at_least(self.hits, self.rows, levels), doubt)
        k = len(self.rows)
        return [((k - most) / k, high / k) for most, high in zip(not_below, below, strict=True)]


def most_null(p_values: Floats, doubt: float) -> list[int]:
    """Return how many of the hypotheses in each row of ``p_values`` can be true, except with probability ``doubt``.

    The p-values of a row are independent. A test that names a true hypothesis with probability ``error`` at most names
    few of them: ``most_classes``. Three tests share the doubt; the third names a true one with the doubt it has.
    """
    k, each = p_values.shape[1], doubt / (len(ERRORS) + 1)
    errors = (*ERRORS, each / k)
    unnamed = [(p_values > error).sum(axis=1).tolist() for error in errors]
    found = [[most_classes(one, k, error, each) for one in row] for error, row in zip(errors, unnamed, strict=True)]
    return [min(some) for some in zip(*found, strict=True)]


def most_classes(unnamed: int, n_classes: int, error: float, doubt: float) -> int:
    """Return how many of ``n_classes`` classes can be of a kind that a test names with probability ``error`` at most.

    The test left ``unnamed`` classes unnamed. With more classes of this kind, so few of them without a name would have
    at most the probability ``doubt``.

    >>> most_classes(76, 100, 0.05, 0.05)
    84
    """
    low, high = unnamed, n_classes
    while low < high:
        middle = (low + high + 1) // 2
        likely = beta_cdf(error, middle - unnamed, unnamed + 1) > doubt
        low, high = (middle, high) if likely else (low, middle - 1)
    return low


def class_ranges(counts: ClassCounts, alphas: list[Fraction], confidence: float) -> Mapping[str, list[Range]]:
    """Return the intervals of metrics of classes by name, a list with one interval for each alpha."""
    far = np.array([float(1 - alpha - FAR) for alpha in alphas])
    return {
        MACRO_COVERAGE: counts.macro_intervals(confidence),
        CLASSES_FAR_BELOW: counts.below(far, confidence),
        CLASSES_BELOW_HALF: counts.below(np.full(len(alphas), 0.5), confidence),
    }
