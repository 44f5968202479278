"""Factors of classes by black box shift estimation with probabilities (Lipton, Wang and Smola, 2018): a check.

If rows of one class are as before, the mean probabilities of new rows are C times the factors. Row a, column b of C is
the mean over labelled rows of the probability of class a, counted where the label is b.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SMALL = 1e-8
"""Directions of C that are weaker than this, relative to the strongest, are left out."""


def solved_factors(probs: Floats, columns: Ints, new: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the factors (K,), which can be negative, and how much each labelled and each new row moves them.

    ``probs`` (n, K) and ``columns`` (n,) are labelled rows, ``new`` (m, K) are probabilities of new rows.
    """
    n, means = len(probs), new.mean(axis=0)
    joint = np.stack([np.bincount(columns, values, probs.shape[1]) for values in probs.T]) / n
    inverse = np.linalg.pinv(joint, rcond=SMALL)
    factors = inverse @ means
    from_labelled = -(probs * factors[columns, np.newaxis] - joint @ factors) @ inverse.T / n
    from_new = (new - means) @ inverse.T / len(new)
    return factors, from_labelled, from_new


def positive(factors: Floats, shares: Floats) -> Floats:
    """Return the factors without negative ones, and so that the shares of new rows add up to 1."""
    kept = np.maximum(factors, 0.0)
    return kept / float(kept @ shares)
