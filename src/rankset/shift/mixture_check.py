"""Whether outputs of new rows can be a mix of the outputs of labelled rows, as label shift says.

If rows of one class are as before, the mean of any feature over new rows is the mean over labelled rows with the
factors of their classes as weights. The features are those of ``features``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankset.shift.share_errors import Moves

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CONSTANT = 1e-9
"""Differences whose standard error is smaller are not looked at: the feature is constant."""


def feature_gaps(labelled: Floats, columns: Ints, new: Floats, factors: Floats, moves: Moves) -> Floats:
    """Return how far the means of features are apart (d,), in units of their standard errors.

    ``labelled`` (n, d) and ``columns`` (n,) are features and labels of labelled rows, ``new`` (m, d) features of new
    rows. ``factors`` (K,) belong to the classes, and ``moves`` is how much rows move them.
    """
    n, m, centre = len(labelled), len(new), labelled.mean(axis=0)
    labelled, new = labelled - centre, new - centre
    weighted = labelled * factors[columns, np.newaxis]
    by_class = np.stack([np.bincount(columns, values, len(factors)) for values in labelled.T], axis=1) / n
    gaps = new.mean(axis=0) - weighted.mean(axis=0)
    from_new = (new - new.mean(axis=0)) / m - moves.new @ by_class
    from_labelled = -(weighted - weighted.mean(axis=0)) / n - moves.labelled @ by_class
    errors = Moves(from_labelled, from_new).errors
    return np.where(errors > CONSTANT, np.abs(gaps) / np.maximum(errors, CONSTANT), 0.0)
