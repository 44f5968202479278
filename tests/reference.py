"""The slow, obvious implementation: one row, one label, one Python number at a time. The judge of the fast one."""

import math
from fractions import Fraction

import numpy as np

import rankset as rs
from rankset.core import noise
from rankset.core.exponential import exp_of_nonpositive


def ranking(row):
    """The columns of a row, most likely first, equal entries from the left."""
    return sorted(range(len(row)), key=lambda column: (-row[column], column))


def mass_before(row, label):
    """What the labels ranked before ``label`` add up to, on the grid of 2**-50."""
    total = Fraction(0)
    for column in ranking(row):
        if column == label:
            return total
        total += on_grid(row[column])
    raise AssertionError


def on_grid(prob):
    return Fraction(round(Fraction(prob) * 2**50), 2**50)


def as_seen(score, row):
    """A row as the score sees it: with ``Seen``, as shares of the probability of the seen classes."""
    if isinstance(score, rs.TieBreak | rs.RankLimited | rs.ClassOffsets | rs.FuzzyClasses):
        return as_seen(score.score, row)
    if isinstance(score, rs.Tempered):
        return as_seen(score.score, tempered(score.temperature, row))
    if not isinstance(score, rs.Seen):
        return row
    total = float(sum(on_grid(row[column]) for column in score.columns)) or 1.0
    return [value / total if column in score.columns else value * 2.0**-60 for column, value in enumerate(row)]


def tempered(temperature, row):
    """A row after temperature scaling, bit for bit; tests/scores/test_tempered.py compares it with other formulas."""
    return rs.Tempered(rs.Thr(), temperature).transform(np.array([row], dtype=np.float64))[0].tolist()


def key(score, row, label, draw):  # noqa: C901, PLR0912
    """The key of one (row, label) cell, a plain tuple."""
    row = [float(value) for value in row]
    rank = ranking(row).index(label) + 1
    ordered = sorted(row, reverse=True)
    match score:
        case rs.Rank():
            return (rank, *key(rs.Thr(score.shares), row, label, draw))
        case rs.TopK():
            return (rank,)
        case rs.Thr():
            return (-row[label] / (1.0 if score.shares is None else score.shares[label]),)
        case rs.Margin():
            rivals = [value for column, value in enumerate(row) if column != label]
            return (max(rivals, default=-np.inf) - row[label],)
        case rs.Aps():
            before, own = float(mass_before(row, label)), float(on_grid(row[label]))
            return (before + draw * own if score.randomized else before + own,)
        case rs.Raps():
            (mass,) = key(rs.Aps(score.randomized), row, label, draw)
            return (mass + score.penalty * max(rank - score.free_ranks, 0),)
        case rs.Saps():
            part = draw if score.randomized else 1.0
            return (part * ordered[0] if rank == 1 else ordered[0] + (rank - 2 + part) * score.weight,)
        case rs.Seen():
            return (int(label not in score.columns), *key(score.score, as_seen(score, row), label, draw))
        case rs.Tempered():
            return key(score.score, tempered(score.temperature, row), label, draw)
        case rs.TieBreak():
            return (*key(score.score, row, label, draw), draw)
        case rs.RankLimited():
            behind = ranking(as_seen(score.score, row)).index(label) + 1 > score.limits[label]
            return (int(behind), *key(score.score, row, label, draw))
        case rs.ClassOffsets():
            return (key(score.score, row, label, draw)[0] - score.offsets[label],)
        case rs.FuzzyClasses():
            return (share_below(score, key(score.score, row, label, draw)[0], label),)
    raise NotImplementedError(score)


def share_below(score, own, label):
    """The weighted share of fitting rows with a smaller key, added up from the smallest key, as floats are."""
    counts = score.counts
    columns = [column for column, count in enumerate(counts) for _ in range(count)]
    gaps = [((counts[label] / max(counts)) - count / max(counts)) ** 2 for count in counts]
    powers = np.array([-gap * (counts[label] + 1) / (2 * score.bandwidth) for gap in gaps])
    weights = exp_of_nonpositive(powers).tolist()
    below, total = 0.0, 0.0
    for value in sorted(set(score.fitted)):
        step = 0.0
        for fitted, column in zip(score.fitted, columns, strict=True):
            step += weights[column] if fitted == value else 0.0
        total += step
        below += step if value < own else 0.0
    return below / total


def label_key(score, row, label, draw):
    """The key of a row's true label; that of an absent label is after all others."""
    return (np.inf,) if label is rs.ABSENT else key(score, row, label, draw)


def group(condition, label, row_group):
    """Which rows a (row, label) cell is compared with, as any hashable thing."""
    match condition:
        case rs.Marginal():
            return ()
        case rs.PerLabel():
            return (label,) if condition.clusters is None else (condition.clusters[label],)
        case rs.PerGroup():
            return (row_group,)
        case rs.PerLabelAndGroup():
            first = group(condition.first, label, row_group)
            return (first, group(condition.second, label, row_group))
        case rs.Pooled():
            return group(condition.condition, label, row_group)
        case rs.Balanced() | rs.LabelShift():
            return (label,)
    raise NotImplementedError(condition)


def draws(rows, ids=None, seed=0):
    words = None if ids is None else np.asarray(ids, dtype=np.uint64)
    return noise.draws(np.asarray(rows, dtype=np.float64), noise.NoiseSeed.of(seed, words)).tolist()


def p_values(problem, rows, row_groups, ids=None):
    """Exact p-values of every label of ``rows``, as fractions, by comparing with every calibration row."""
    calibration = [
        (group(problem.condition, label, name), label_key(problem.score, row, label, draw))
        for row, label, name, draw in zip(
            problem.probs, problem.labels, problem.groups, draws(problem.probs, problem.ids), strict=True
        )
    ]
    return [
        [_p_value(calibration, problem, row, label, name, draw) for label in range(len(row))]
        for row, name, draw in zip(rows, row_groups, draws(rows, ids), strict=True)
    ]


def _p_value(calibration, problem, row, label, name, draw):
    own_group, own_key = group(problem.condition, label, name), key(problem.score, row, label, draw)
    if isinstance(problem.condition, rs.Pooled | rs.Balanced | rs.LabelShift):
        return shared_p_value(calibration, problem.condition, own_group, own_key)
    peers = [other for where, other in calibration if where == own_group]
    return Fraction(1 + sum(other >= own_key for other in peers), 1 + len(peers))


def weight(condition, own_group):
    """The weight of a row of a group: with ``Balanced``, inversely proportional to the share of its class."""
    if isinstance(condition, rs.Pooled):
        return weight(condition.condition, own_group)
    if isinstance(condition, rs.LabelShift):
        return max(1, round(2**30 * Fraction(condition.factors[own_group[0]]) / Fraction(max(condition.factors))))
    if not isinstance(condition, rs.Balanced):
        return 1
    least, own = (Fraction(share) for share in (min(condition.shares), condition.shares[own_group[0]]))
    return max(1, round(2**30 * least / own))


def shared_p_value(calibration, condition, own_group, own_key):
    """The p-value of a cell whose group shares rows with all others: (group, key) of all calibration rows are given."""
    weights = [weight(condition, where) for where, _ in calibration]
    own_weight = weight(condition, own_group)
    beyond = sum(
        row_weight
        for row_weight, is_beyond in zip(weights, rows_beyond(calibration, condition, own_group, own_key), strict=True)
        if is_beyond
    )
    return Fraction(own_weight + beyond, own_weight + sum(weights))


def rows_beyond(calibration, condition, own_group, own_key):
    """Which calibration rows are at least as unusual as the cell, each seen by its own group."""
    if isinstance(condition, rs.Balanced | rs.LabelShift):
        return [key >= own_key for _, key in calibration]
    n = len(calibration) + 1

    def strangeness(key, new_counts):
        return math.log(n / (sum(other >= key for _, other in calibration) + new_counts))

    def tail(where, key, strange, others, extra):
        peers = [other for group, other in calibration if group == where]
        units = strange * (condition.tilt + len(peers) + extra) / (condition.tilt + others + strange)
        own = sum(other >= key for other in peers) + extra
        return (own + condition.borrow * math.exp(-units)) / (len(peers) + extra + condition.borrow)

    new = strangeness(own_key, 1)
    mine = sum(strangeness(key, key < own_key) for where, key in calibration if where == own_group)
    bound = tail(own_group, own_key, new, mine, 1) * (1 + 1e-12)
    answer = []
    for number, (where, key) in enumerate(calibration):
        if where == own_group:
            answer.append(key >= own_key)
            continue
        others = (
            strangeness(other, 1)
            for place, (group, other) in enumerate(calibration)
            if group == where and place != number
        )
        answer.append(tail(where, key, strangeness(key, key < own_key), sum(others), 0) <= bound)
    return answer


def weighted_p_values(problem, weights, news, own, weight_of):
    """Exact p-values of all labels of new rows, if rows have weights; ``weight_of`` returns that of a cell."""
    condition, shared = problem.condition, isinstance(problem.condition, rs.Pooled | rs.Balanced | rs.LabelShift)
    calibration, masses = [], []
    for row, label, name, draw, mine in zip(
        problem.probs, problem.labels, problem.groups, draws(problem.probs, problem.ids), weights, strict=True
    ):
        calibration.append((group(condition, label, name), label_key(problem.score, row, label, draw)))
        masses.append(weight_of(condition, label, name, mine))

    def p_value(row, label, name, draw, mine):
        own_group, own_key = group(condition, label, name), key(problem.score, row, label, draw)
        new = weight_of(condition, label, name, mine)
        inside = [shared or where == own_group for where, _ in calibration]
        if shared:
            beyond = rows_beyond(calibration, condition, own_group, own_key)
        else:
            beyond = [counts and other >= own_key for counts, (_, other) in zip(inside, calibration, strict=True)]
        whole = new + sum(mass for mass, counts in zip(masses, inside, strict=True) if counts)
        part = new + sum(mass for mass, counts in zip(masses, beyond, strict=True) if counts)
        return Fraction(part, whole) if whole else Fraction(1)

    rows = zip(news.probs, news.groups, draws(news.probs, news.ids), own, strict=True)
    return [[p_value(row, label, name, draw, mine) for label in range(len(row))] for row, name, draw, mine in rows]
