"""Where peers differ: what each of them does instead, in words and as a formula of our own."""

import math
from fractions import Fraction

import numpy as np

import rankset as rs
from conformance import asking
from conformance.cases import Reason

HIGHER = Reason(
    "a quantile over n − 1 gaps",
    'The peer asks NumPy for the quantile (n + 1)(1 − α)/n with `method="higher"`, which counts n − 1 gaps between '
    "n scores and so can land one position above ⌈(n + 1)(1 − α)⌉. Its sets are valid and larger than they need be. "
    "rankset takes the position itself, and so does MAPIE 1.6.0, which gives our numbers on the same inputs.",
)
PLAIN = Reason(
    "a quantile without the correction for n",
    "The peer's function returns the ⌈n·q⌉-th of n scores and leaves the factor 1 + 1/n to its caller. Taken as a "
    "threshold it would cover less than 1 − α. rankset's position is n + 1 − ⌊(n + 1)α⌋.",
)
CAPPED = Reason(
    "too few rows: the largest score",
    "With fewer than 1/α − 1 calibration rows no finite threshold keeps the promise. The peer takes the largest "
    "score and covers n/(n + 1) < 1 − α on average; rankset has no threshold and keeps every label.",
)
REFUSED = Reason(
    "too few rows: an error",
    "With too few calibration rows the peer raises an error: puncc below 1/α − 1 rows, MAPIE below 1/α, one more "
    "than needed. rankset keeps every label, says so in a warning, and `threshold` is None.",
)
ONE_MORE = Reason(
    "the new row counts as one of the rows",
    "The peer counts the row to be predicted among the rows it needs: ⌈1/ε⌉. rankset counts calibration rows: ⌈1/α⌉ "
    "− 1.",
)
CROSSING = Reason(
    "the label that crosses the threshold stays",
    "The peer adds labels from the top until the threshold is passed and keeps the one that passes it, so that no "
    "set is empty. The sets cover more than asked. rankset keeps labels whose own key is at most the threshold, as "
    'the guarantee needs; `empty="top"` fills empty sets.',
)
MIXED = Reason(
    "calibrated with draws, predicted without",
    "The peer's APS calibrates on scores with a random part of the label's mass taken off, but compares full masses "
    "when it predicts: it keeps the label that crosses (and covers more than asked) or drops it (and can cover "
    "less). In rankset calibration and prediction use one formula, with draws or without. The quantile is the one "
    "over n − 1 gaps, too.",
)
FROM_ZERO = Reason(
    "ranks from 0",
    "The peer counts ranks from 0, rankset from 1, as the papers do.",
)
PENALTY_FROM_ZERO = Reason(
    "RAPS's penalty with ranks from 0, and a constant",
    "The peer's penalty counts ranks from 0, so that k_reg = 0 leaves the top label without one, and 0.01 is added "
    "to every score. Sets are those of `free_ranks=k_reg + 1`; the constant moves scores and threshold alike. "
    "rankset follows the paper: ranks from 1, no constant.",
)
NO_DRAW_IS_ZERO = Reason(
    "SAPS without draws: u = 0",
    "Without randomisation the peer sets u = 0, so that the top label of every row has the score 0, whatever its "
    "probability. rankset counts it in full (u = 1), as APS does without draws.",
)
FROM_ABOVE = Reason(
    "the draw counted from above",
    "The peer takes u times the label's mass off the mass that includes it; rankset adds u times it to the mass "
    "before it. The one's u is the other's 1 − u, and both are uniform.",
)
TWO_FORMULAS = Reason(
    "SAPS by two formulas",
    "Without randomisation the peer's formula for all labels gives the top label its probability, and its formula "
    "for one label gives it 0: calibration and prediction see different scores. rankset has one formula.",
)
SMOOTHED = Reason(
    "smoothed p-values",
    "The peer counts ties, the new row among them, by a random share τ. rankset counts them in full: never smaller, "
    "and the same at every call. `TieBreak` gives a draw per row where ties matter.",
)
AT_LEAST = Reason(
    "a p-value equal to α stays",
    "The peer keeps labels with p ≥ α, rankset those with p > α: P(p ≤ α) ≤ α is what is proven, so leaving out p = "
    "α is safe, and the sets are smaller.",
)
WEIGHTED = Reason(
    "classes weighted by their rows",
    "The peer offers the gap as a mean over rows. rankset's `class_gap` is the mean over classes.",
)
MEAN_OF_STRATA = Reason(
    "the mean over strata",
    "The peer's metric is the mean violation over sizes, weighted by rows. SSCV, as defined in the RAPS paper and "
    "given by rankset, is the largest.",
)
EMPTY_CLASSES = Reason(
    "classes without rows count as never covered",
    "The peer's macro coverage divides by the number of all classes, so that a class without rows counts as 0. "
    "rankset's is the mean over the classes that occur.",
)


def at_position(values, k):
    """The ``k``-th smallest of ``values``."""
    return sorted(values)[k - 1]


def higher_position(n, alpha):
    """The position in ``n`` sorted scores of NumPy's quantile (n + 1)(1 - alpha)/n with method="higher"."""
    return math.ceil((n - 1) * (n + 1) * (1 - Fraction(str(alpha))) / n) + 1


def plain_quantile(values, alpha):
    return (at_position(values, math.ceil(len(values) * (1 - Fraction(str(alpha))))),)


def capped_quantile(values, alpha):
    n = len(values)
    return (at_position(values, min(n, math.ceil((n + 1) * (1 - Fraction(str(alpha)))))),)


def refused(n, alpha, others=0):
    """An error where ``n`` and ``others`` are fewer than 1/alpha rows."""
    return ("an error" if n + others < 1 / Fraction(str(alpha)) else True,)


def all_rows_needed(alphas):
    return tuple(math.ceil(1 / Fraction(str(alpha))) for alpha in alphas)


def up_to_the_crossing(score, probs, quantile):
    """Labels from the top, up to and with the first whose key exceeds ``quantile``."""
    sets = []
    for row in probs:
        order = np.argsort([-value for value in row], kind="stable")
        inside = [key <= quantile for key in asking.keys(score, [row] * len(row), order)]
        sets.append(tuple(sorted(order[: inside.index(False) + 1 if False in inside else None].tolist())))
    return tuple(sets)


def ranks_from_zero(score, probs, labels):
    return tuple(key - 1 for key in asking.keys(score, probs, labels))


def raps_from_zero(score, probs, labels):
    shifted = rs.Raps(score.penalty, score.free_ranks + 1, score.randomized)
    return tuple(key + 0.01 for key in asking.keys(shifted, probs, labels))


def saps_with_draw_zero(score, probs, labels):
    return asking.drawn_keys(rs.Saps(score.weight), probs, labels, [0.0] * len(labels))


def saps_of_one_label(score, probs, labels):
    """Zero for the top label, what rankset gives for the others."""
    top = [int(np.argmax(row)) == label for row, label in zip(probs, labels, strict=True)]
    return tuple(0.0 if first else key for first, key in zip(top, asking.keys(score, probs, labels), strict=True))


def draws_from_above(score, probs, labels, draws):
    return asking.drawn_keys(score, probs, labels, [1 - draw for draw in draws])


def smoothed(calibration, values, taus):
    """(rows that are stranger + tau * (1 + rows that are equal)) / (1 + rows)."""
    new = np.ravel(values)
    greater, equal = (np.sum(np.array(calibration)[:, np.newaxis] > new, axis=0), np.isin(new, calibration))
    return asking.plain((greater + np.array(taus) * (1 + equal)) / (1 + len(calibration)))


def kept_when_equal(calibration, values, alpha):
    p = np.reshape(asking.p_values(calibration, values), np.shape(values))
    return tuple(tuple(np.flatnonzero(row >= alpha).tolist()) for row in p)


def weighted_gap(covered, classes, alpha):
    _, codes, counts = np.unique(classes, return_inverse=True, return_counts=True)
    hits = np.bincount(codes, weights=covered)
    return (float((np.abs(hits / counts - (1 - alpha)) * counts).sum() / len(codes)),)


def mean_violation(covered, sizes, alpha):
    return weighted_gap(covered, sizes, alpha)


def coverage_over_all_classes(mask, labels):
    """The coverages of the classes that occur, added up and divided by the number of all classes."""
    (mean,) = asking.macro_coverage(mask, labels)
    return (mean * len(set(labels)) / len(mask[0]),)
