"""The numbers behind ``labels``: both estimates, their standard errors, and how far they are apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankset.inputs.prepare import Prepared
from rankset.scores.recalibration.logarithms import log_probabilities
from rankset.shift.factors_by_bbse import positive, solved_factors
from rankset.shift.features import features_of
from rankset.shift.mixture_check import feature_gaps
from rankset.shift.recalibrated_rows import Biases
from rankset.shift.rows_in import columns_of, probabilities
from rankset.shift.share_errors import Moves, moves_of_factors
from rankset.shift.shares_by_em import most_likely_shares

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TINY = 1e-12
NEARLY_ZERO = 1e-6
"""Factors below this are at the end of what is possible: a negative one by the other estimate is no contradiction."""


@dataclass(frozen=True)
class LabelFit:
    """Factors of all classes (K,) by two estimates, their standard errors, and the shares of labelled rows.

    Classes without labelled rows have the factor 1 and no standard error (NaN). ``estimate_gap`` is the largest
    difference of both estimates, and ``output_gap`` the largest difference between features of new rows and of labelled
    rows with these factors, each in units of its standard error.
    """

    shares: Floats
    by_em: Floats
    em_errors: Floats
    by_bbse: Floats
    bbse_errors: Floats
    estimate_gap: float
    output_gap: float

    @classmethod
    def of(cls, old: Prepared, new: Prepared) -> LabelFit:
        """Estimate from labelled rows and from new rows."""
        probs, columns = probabilities(old), columns_of(old)
        counts = np.bincount(columns, minlength=probs.shape[1])
        known = np.flatnonzero(counts)
        places = np.searchsorted(known, columns)
        shares = counts[known] / len(columns)
        logs, new_logs = log_probabilities(probs[:, known]), log_probabilities(probabilities(new)[:, known])
        fit = Biases.fit_logs(logs, places)
        em, em_moves = _by_em(fit, logs, places, new_logs, shares)
        solved, *rows = solved_factors(fit.probabilities(logs), places, fit.probabilities(new_logs))
        bbse_moves = Moves(*rows)
        gaps = np.abs(em - solved) / np.maximum(em_moves.minus(bbse_moves).errors, TINY)
        gaps[(em < NEARLY_ZERO) & (solved < 0)] = 0.0
        spread = _Spread(known, len(counts))
        return cls(
            counts / len(columns),
            spread(em, 1.0),
            spread(em_moves.errors, np.nan),
            spread(positive(solved, shares), 1.0),
            spread(bbse_moves.errors, np.nan),
            float(gaps.max()),
            float(feature_gaps(features_of(old), places, features_of(new), em, em_moves).max()),
        )


def _by_em(fit: Biases, logs: Floats, columns: Ints, new: Floats, shares: Floats) -> tuple[Floats, Moves]:
    """Return the factors of EM and how much rows move them."""
    ratios = fit.probabilities(new) / shares
    found = most_likely_shares(ratios, shares)
    counted = (np.eye(len(shares))[columns] - shares) / (len(columns) * shares)
    moves = moves_of_factors(ratios, found, new, fit.moves(logs, columns), counted)
    factors = found / shares
    return factors, Moves(moves.labelled / shares - factors * counted, moves.new / shares)


@dataclass(frozen=True)
class _Spread:
    """Puts numbers of some classes at their ``places`` among ``count`` classes."""

    places: Ints
    count: int

    def __call__(self, values: Floats, fill: float) -> Floats:
        """Return ``values`` at their places, ``fill`` elsewhere."""
        answer = np.full(self.count, fill)
        answer[self.places] = values
        return answer
