"""How rankset is asked for the numbers that peers test: through its public functions, with the peers' inputs.

Peers' nonconformity scores that are given as plain numbers come in as ``kind="decision"`` with their sign turned: THR's
key of a score s is -s, so the key is the number itself.
"""

import warnings

import numpy as np

import rankset as rs
from rankset.core import alpha as level
from rankset.core.cells import LabelCells
from rankset.core.rows import Rows
from rankset.evaluation import metrics

HALF = "1/2"
"""The level at which a rule calibrated on one row has that row's key as its threshold."""


def plain(values):
    """Arrays as tuples of Python numbers."""
    return tuple(np.asarray(values).ravel().tolist())


def labels_of(sets):
    """The labels of every row, in ascending order."""
    return tuple(tuple(sorted(row.tolist())) for row in sets)


def keys(score, probs, labels):
    """The key of one label per row: the threshold of a rule calibrated on that row alone."""
    rules = [rs.calibrate([row], [label], score=score) for row, label in zip(probs, labels, strict=True)]
    return tuple(rule.threshold(HALF)[0] for rule in rules)


def all_keys(score, probs):
    """The keys of all labels, row after row."""
    return tuple(key for row in probs for key in keys(score, [row] * len(row), range(len(row))))


def lac(probs, labels):
    """LAC, one minus the label's probability; THR orders labels alike and leaves out the one."""
    return tuple(1 + key for key in keys(rs.Thr(), probs, labels))


def all_lac(probs):
    """LAC of all labels, row after row."""
    return tuple(1 + key for key in all_keys(rs.Thr(), probs))


def lac_of_logits(logits):
    """LAC of all labels, row after row, from logits."""
    cells = [(row, label) for row in logits for label in range(len(row))]
    rules = [rs.calibrate([row], [label], score=rs.Thr(), kind="logits") for row, label in cells]
    return tuple(1 + rule.threshold(HALF)[0] for rule in rules)


def drawn_keys(score, probs, labels, draws):
    """The key of one label per row, with the rows' draws given."""
    cells = LabelCells(Rows(np.array(probs, dtype=float), lambda: np.array(draws, dtype=float)), np.array(labels))
    (key,) = score.keys(cells)
    return plain(key)


def rule_of(values, labels=None, n_labels=2, condition=rs.Marginal(), groups=None):  # noqa: B008
    """A rule whose calibration keys are ``values``."""
    columns = np.zeros(len(values), dtype=int) if labels is None else np.asarray(labels)
    scores = np.zeros((len(values), n_labels))
    scores[np.arange(len(values)), columns] = -np.asarray(values, dtype=float)
    return rs.calibrate(scores, columns, score=rs.Thr(), condition=condition, kind="decision", groups=groups)


def threshold(values, alpha):
    """The last of ``values`` that stays; None where every label stays."""
    found = rule_of(values).threshold(alpha)
    return (None if found is None else found[0],)


def thresholds_by_label(values, labels, n_labels, alpha):
    """The last value that stays, for each true label."""
    rule = rule_of(values, labels, n_labels, rs.PerLabel())
    found = [rule.threshold(alpha, label=label) for label in range(n_labels)]
    return tuple(None if one is None else one[0] for one in found)


def threshold_exists(n, alpha):
    """Whether ``n`` calibration rows are enough to leave any label out."""
    return (threshold(np.arange(n), alpha)[0] is not None,)


def rows_needed(alphas):
    """The fewest calibration rows at which some label can be left out."""
    return tuple(level.rows_needed(level.exact_alpha(alpha)) for alpha in alphas)


def labels_with_too_few_rows(counts, alpha):
    """Which labels keep their place in every set, because calibration has too few rows of them."""
    labels = np.repeat(np.arange(len(counts)), counts)
    found = thresholds_by_label(np.arange(len(labels)), labels, len(counts), alpha)
    return (tuple(label for label, one in enumerate(found) if one is None),)


def p_values(calibration, values, groups=None, new_groups=None):
    """The p-values of all labels of rows of nonconformity scores, row after row."""
    condition = rs.Marginal() if groups is None else rs.PerGroup()
    rule = rule_of(calibration, n_labels=len(values[0]), condition=condition, groups=groups)
    return plain(rule.p_values(-np.asarray(values, dtype=float), groups=new_groups))


def p_values_of(score, probs, labels, news, condition=rs.Marginal(), groups=None, new_groups=None):  # noqa: B008
    """The p-values of all labels of new rows, row after row."""
    rule = rs.calibrate(probs, labels, score=score, condition=condition, groups=groups)
    return plain(rule.p_values(news, groups=new_groups))


def sets_of_values(calibration, values, alpha):
    """The sets of rows of nonconformity scores."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rs.RanksetWarning)  # some have too few rows, on purpose
        rule = rule_of(calibration, n_labels=len(values[0]))
        return labels_of(rule.predict(-np.asarray(values, dtype=float), alpha))


def sets_without_calibration(n_labels):
    """The p-values of a row whose group calibration never saw, and its set."""
    rule = rs.calibrate([[1.0] + [0.0] * (n_labels - 1)], [0], condition=rs.PerGroup(), groups=["seen"])
    row = [[1 / n_labels] * n_labels]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rs.RanksetWarning)  # it says that the group is new
        return (*plain(rule.p_values(row, groups=["new"])), *labels_of(rule.predict(row, 0.1, groups=["new"])))


def rule_below(score, quantile, n_labels):
    """A rule whose threshold at one half is ``quantile``, for scores that give a row's top label its probability."""
    row = [quantile, 1 - quantile] + [0.0] * (n_labels - 2)
    return rs.calibrate([row], [0], score=score)


def sets_below(score, probs, quantile):
    """The sets of rows where labels stay whose keys are at most ``quantile``; all of them below infinity."""
    rule = rule_below(score, min(quantile, 1.0), len(probs[0]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rs.RanksetWarning)  # infinity stands for too few rows
        return labels_of(rule.predict(probs, HALF if quantile < np.inf else 0.1))


def lac_sets(probs, quantiles):
    """The sets of rows where labels stay whose LAC is at most the quantile of their class."""
    rows = np.full((len(quantiles), len(quantiles)), 0.0)
    for label, quantile in enumerate(quantiles):
        rows[label] = quantile / (len(quantiles) - 1)
        rows[label, label] = 1 - quantile
    rule = rs.calibrate(rows, np.arange(len(quantiles)), score=rs.Thr(), condition=rs.PerLabel())
    return labels_of(rule.predict(probs, HALF))


def filled_sets(probs, quantile):
    """The sets of rows where labels stay whose LAC is at most ``quantile``, empty ones filled with the top label."""
    rule = rs.calibrate([[1 - quantile, quantile] + [0.0] * (len(probs[0]) - 2)], [0], score=rs.Thr())
    return labels_of(rule.predict(probs, HALF, empty="top"))


def evaluation(mask, labels, alpha=0.1, groups=None):
    sets = rs.PredictionSets.from_mask(np.array(mask, dtype=bool))
    return rs.evaluate(sets, labels, alpha, groups=groups)


def coverage(mask, labels):
    return (evaluation(mask, labels).coverage,)


def mean_size(mask):
    return (evaluation(mask, [0] * len(mask)).mean_size,)


def misses(mask, labels):
    """For every row, whether its label is not in its set."""
    return tuple(int(not hit) for hit in rs.PredictionSets.from_mask(np.array(mask, dtype=bool)).covers(labels))


def miss_rate(mask, labels):
    return (1 - evaluation(mask, labels).coverage,)


def wrong_labels(mask, labels):
    """For every row, how many labels of its set are wrong."""
    sets = rs.PredictionSets.from_mask(np.array(mask, dtype=bool))
    return plain(sets.sizes - sets.covers(labels))


def single_and_right(mask, labels):
    """The share of rows whose set is one label, and the right one."""
    found = evaluation(mask, labels)
    return (found.singleton_rate * found.singleton_hits if found.singleton_rate else 0.0,)


def coverage_by_stratum(mask, labels, strata):
    """The coverage of rows by the size of their set, ``strata`` giving the smallest size of each stratum."""
    names = np.searchsorted(strata, np.sum(mask, axis=1), side="right") - 1
    return tuple(share.coverage for share in evaluation(mask, labels, groups=names).groups)


def lowest_coverage_by_stratum(mask, labels, strata):
    return (min(coverage_by_stratum(mask, labels, strata)),)


def class_gap(covered, classes, alpha):
    """The mean distance of the classes' coverage from 1 - alpha, of rows known to be covered or not."""
    names, codes = np.unique(classes, return_inverse=True)
    mask = np.zeros((len(codes), max(len(names), 2)), dtype=bool)
    mask[np.arange(len(codes)), codes] = covered
    return (evaluation(mask, codes, alpha).class_gap,)


def sscv(covered, sizes, alpha):
    return (metrics.sscv(np.array(covered, dtype=bool), np.array(sizes), alpha),)


def macro_coverage(mask, labels):
    return (evaluation(mask, labels).macro_coverage,)


def class_gap_in_percent(mask, labels, alpha):
    return (100 * evaluation(mask, labels, alpha).class_gap,)


def classes_below(mask, labels, alpha):
    """How many classes are covered less often than 1 - alpha."""
    return (sum(share.coverage < 1 - alpha for share in evaluation(mask, labels, alpha).classes),)


def sscv_of_sets(mask, labels, alpha, strata=metrics.PAPER_STRATA):
    sets = rs.PredictionSets.from_mask(np.array(mask, dtype=bool))
    return (metrics.sscv(sets.covers(labels), sets.sizes, alpha, strata=strata),)
