"""The laws of targets: leave-one-out in exact fractions, through calibrate and predict, with planted mistakes.

Every law is judged by a slow reference: losses of sets are computed from masks and lists of labels, and thresholds by
trying every key.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankset as rs
from rankset.core import calibration, promise
from rankset.core.alpha import exact_alpha
from strategies import PER_SCORE

pytestmark = pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")

SCORES = [rs.Share(), rs.Thr(), rs.Rank(), rs.TopK(), rs.Margin(), rs.TieBreak(rs.Rank()), rs.TieBreak(rs.Share())]
UNFITTED = rs.Marginals(rs.Share(), weights=(0.7, 0.2, -0.4, 0.1, -0.2, 0.1))
SCORES += [UNFITTED, rs.TieBreak(rs.Marginals(rs.Rank(), weights=UNFITTED.weights))]
WITH_SUMS = [rs.Aps(), rs.Raps(penalty=0.1, free_ranks=1), rs.Saps(randomized=False), rs.Tempered(rs.Aps(), 1.5)]
TARGETS = [rs.Recall(), rs.AllLabels(), rs.AtMostMissed(1), rs.AtMostMissed(2), rs.AnyLabel()]
CONDITIONS = [rs.Marginal(), rs.PerLabel(), rs.PerGroup(), rs.PerLabelAndGroup()]
GROUPS = ["north", "south"]

alphas = st.sampled_from([0.1, "0.15", 0.25, Fraction(1, 3), 0.4, 0.5, 0.58, 0.75, 0.9])


@dataclass(frozen=True)
class Rows:
    """Rows that can have several labels."""

    probs: np.ndarray
    mask: np.ndarray
    groups: np.ndarray
    kind: str

    def __len__(self):
        return len(self.mask)

    def without(self, row):
        rest = np.arange(len(self)) != row
        return Rows(self.probs[rest], self.mask[rest], self.groups[rest], self.kind)

    def calibrate(self, score, target, condition):
        groups = self.groups if condition.needs_groups else None
        options = {"method": score, "target": target, "condition": condition, "groups": groups, "kind": self.kind}
        return rs.calibrate(self.probs, self.mask, **options)

    def predict(self, rule, row, alpha, **options):
        groups = self.groups[[row]] if rule.condition.needs_groups else None
        return rule.predict(self.probs[[row]], alpha, groups=groups, **options).mask[0]


@st.composite
def several(draw, kind="marginals", most_columns=5):
    n, k = draw(st.integers(2, 9)), draw(st.integers(1, most_columns))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    steps = draw(st.sampled_from([2, 4, 10, 1000]))
    probs = rng.integers(0, steps + 1, (n, k)) / steps
    if kind == "probs":
        probs = (probs + 1e-3) / (probs + 1e-3).sum(axis=1, keepdims=True)
    mask = rng.random((n, k)) < draw(st.sampled_from([0.2, 0.5, 0.9]))
    return Rows(probs, mask, rng.choice(GROUPS, n), kind)


def loss_of(target, kept, truth):
    """The loss of a set: which of the true columns ``truth`` are missed, as an exact fraction."""
    missed = [column for column in truth if not kept[column]]
    if isinstance(target, rs.Recall):
        return Fraction(len(missed), len(truth))
    most = {rs.AllLabels: 0, rs.AnyLabel: len(truth) - 1}.get(type(target), getattr(target, "m", None))
    return Fraction(len(missed) > most)


def groups_of(rows, row, condition):
    """The columns of each group of a row that have a true label."""
    found = {}
    for column in np.flatnonzero(rows.mask[row]).tolist():
        by_label = isinstance(condition, rs.PerLabel | rs.PerLabelAndGroup)
        name = (column if by_label else None, rows.groups[row] if condition.needs_groups else None)
        found.setdefault(name, []).append(column)
    return found


def excess(rows, score, target, condition, alpha):
    """The largest excess of the mean loss over alpha in a group, if each row is left out in turn."""
    losses = {}
    for row in range(len(rows)):
        others, found = rows.without(row), groups_of(rows, row, condition)
        if not found:
            continue
        if others.mask.any():
            kept = rows.predict(others.calibrate(score, target, condition), row, alpha)
        else:
            kept = np.ones(rows.mask.shape[1], dtype=bool)
        for name, truth in found.items():
            losses.setdefault(name, []).append(loss_of(target, kept, truth))
    return max((Fraction(sum(own), len(own)) for own in losses.values()), default=Fraction(0)) - exact_alpha(alpha)


@PER_SCORE
@pytest.mark.parametrize("target", TARGETS, ids=repr)
@pytest.mark.parametrize("condition", CONDITIONS, ids=repr)
@given(rows=several(), alpha=alphas, score=st.sampled_from(SCORES))
def test_leaving_each_row_out_in_turn_loses_at_most_alpha_in_every_group(target, condition, rows, alpha, score):
    assert excess(rows, score, target, condition, alpha) <= 0


@PER_SCORE
@pytest.mark.parametrize("target", TARGETS, ids=repr)
@given(rows=several(kind="probs"), alpha=alphas, score=st.sampled_from(WITH_SUMS))
def test_so_do_scores_that_add_up_probabilities(target, rows, alpha, score):
    assert excess(rows, score, target, rs.Marginal(), alpha) <= 0


@st.composite
def with_fitted(draw):
    """Rows, and a score that was fitted on other rows, with a matrix for the dependence of labels."""
    rows = draw(several())
    rng, k = np.random.default_rng(draw(st.integers(0, 2**32))), rows.mask.shape[1]
    inner = draw(st.sampled_from([rs.Thr(), rs.Share()]))
    fitted = rs.Marginals.fit(rng.random((30, k)), rng.random((30, k)) < 0.4, score=inner)
    if k == 1:
        return rows, fitted
    return rows, replace(fitted, means=(0.0,) * k, deviations=(1.0,) * k, matrix=tuple(rng.normal(size=k * k)))


@PER_SCORE
@pytest.mark.parametrize("target", TARGETS, ids=repr)
@given(made=with_fitted(), alpha=alphas, condition=st.sampled_from(CONDITIONS))
def test_so_do_scores_that_were_fitted_on_other_rows(target, made, alpha, condition):
    rows, score = made
    assert excess(rows, score, target, condition, alpha) <= 0


@PER_SCORE
@given(rows=several(most_columns=60), alpha=alphas)
def test_rows_with_many_labels_keep_the_law(rows, alpha):
    assert excess(rows, rs.Thr(), rs.Recall(), rs.Marginal(), alpha) <= 0


@st.composite
def costs(draw):
    k = draw(st.integers(2, 4))
    values = draw(st.lists(st.sampled_from([0, 1, "0.5", 3, Fraction(1, 3), 10]), min_size=k, max_size=k))
    return dict(enumerate(values if any(map(Fraction, values)) else [1] * k))


@given(costs(), st.integers(0, 2**32), alphas, st.sampled_from([rs.Thr(), rs.Rank(), rs.TieBreak(rs.Thr())]))
def test_the_expected_cost_is_at_most_alpha_times_the_largest(known, seed, alpha, score):
    rng, k = np.random.default_rng(seed), len(known)
    n = int(rng.integers(2, 12))
    probs, labels = rng.dirichlet(np.ones(k), n).round(1), rng.integers(0, k, n)
    probs[:, 0] += 1 - probs.sum(axis=1)
    probs = np.abs(probs) / np.abs(probs).sum(axis=1, keepdims=True)
    exact, total = {label: Fraction(cost) for label, cost in known.items()}, Fraction(0)
    for row in range(n):
        rest = np.arange(n) != row
        rule = rs.calibrate(probs[rest], labels[rest], method=score, target=rs.Cost(known))
        total += exact[labels[row]] * (not rule.predict(probs[[row]], alpha).mask[0, labels[row]])
    assert total <= n * exact_alpha(alpha) * max(exact.values())


def allowed_without_the_new_row(asked, n):
    return asked.alpha * n


MISTAKES = {
    "the new row is not counted": mock.patch.object(promise.Promise, "allowed", allowed_without_the_new_row),
    "one entry too early": mock.patch.object(
        calibration.weights, "first_within", lambda w, a, real=calibration.weights.first_within: max(0, real(w, a) - 1)
    ),
    "labels are counted as rows": mock.patch.object(
        calibration.Calibration, "counts", property(lambda self: np.diff(self.offsets))
    ),
    "rows without labels count": mock.patch.object(
        calibration.Calibration, "counts", property(lambda self: self.rows.by_group + self.rows.set_aside)
    ),
    "labels count a tenth each": mock.patch.object(
        rs.Recall, "entries", lambda _, labels: (labels.order, (np.ones(len(labels), int), np.full(len(labels), 10)))
    ),
    "ties are left out": mock.patch.object(
        calibration.lexicographic, "not_after", lambda keys, bounds: keys[0] < bounds[0]
    ),
}


def violations(seeds, alpha="0.25"):
    """In how many of some small data sets the law of recall is violated."""
    count = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n, k = int(rng.integers(3, 9)), int(rng.integers(2, 6))
        probs = rng.integers(0, 5, (n, k)) / 4
        rows = Rows(probs, rng.random((n, k)) < 0.4, np.array(["all"] * n), "marginals")
        count += excess(rows, rs.Thr(), rs.Recall(), rs.Marginal(), alpha) > 0
    return count


def test_the_law_finds_no_violation_without_a_mistake():
    assert violations(range(150)) == 0


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_law_catches(mistake):
    with MISTAKES[mistake]:
        assert violations(range(150)) > 0


def test_labels_that_count_one_each_are_wrong_in_both_directions():
    """Pooling all true labels, the common shortcut, is no guarantee where rows with few labels are the hard ones."""
    probs = np.array([[0.9, 0.9, 0.9, 0.9, 0.1]] * 6 + [[0.1, 0.1, 0.1, 0.1, 0.2]] * 4)
    mask = np.array([[1, 1, 1, 1, 0]] * 6 + [[0, 0, 0, 0, 1]] * 4)
    rows = Rows(probs, mask, np.array(["all"] * 10), "marginals")
    assert excess(rows, rs.Thr(), rs.Recall(), rs.Marginal(), "0.2") <= 0
    pooled = [(p, row) for row in range(10) for p in probs[row][mask[row] == 1]]
    cut = sorted(p for p, _ in pooled)[int(len(pooled) * 0.2) - 1]
    assert np.mean([np.mean(probs[row][mask[row] == 1] <= cut) for row in range(10)]) > 0.2


def test_rows_without_labels_must_not_count():
    rows = Rows(
        np.array([[0.9], [0.2], [0.5], [0.5]]), np.array([[1], [1], [0], [0]]), np.array(["all"] * 4), "marginals"
    )
    assert rows.calibrate(rs.Thr(), rs.Recall(), rs.Marginal()).n == 2
    assert excess(rows, rs.Thr(), rs.Recall(), rs.Marginal(), "0.4") <= 0


@pytest.mark.parametrize("target", TARGETS[:2] + TARGETS[4:], ids=repr)
@pytest.mark.parametrize("condition", CONDITIONS, ids=repr)
@PER_SCORE
@given(seed=st.integers(0, 2**32), score=st.sampled_from([rs.Thr(), rs.Rank(), rs.Aps(), rs.TieBreak(rs.Margin())]))
def test_one_label_per_row_gives_the_rule_of_one_label(target, condition, seed, score):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 40)), int(rng.integers(2, 6))
    probs, labels = rng.dirichlet(np.ones(k), n), rng.integers(0, k, n)
    groups = {"groups": rng.choice(GROUPS, n)} if condition.needs_groups else {}
    one = rs.calibrate(probs, labels, method=score, condition=condition, **groups)
    other = rs.calibrate(probs, np.eye(k)[labels], method=score, condition=condition, target=target, **groups)
    assert all(np.array_equal(a, b) for a, b in zip(one.calibration.keys, other.calibration.keys, strict=True))
    assert np.array_equal(one.calibration.offsets, other.calibration.offsets)
    for alpha in (0.05, 0.1, 0.3, 0.5, 0.9):
        assert one.predict(probs, alpha, **groups) == other.predict(probs, alpha, **groups)
    assert np.array_equal(one.p_values(probs, **groups), other.p_values(probs, **groups))


@PER_SCORE
@pytest.mark.parametrize("target", TARGETS, ids=repr)
@given(rows=several(), alpha=alphas, score=st.sampled_from(SCORES), condition=st.sampled_from(CONDITIONS))
def test_a_label_is_kept_if_its_level_is_above_alpha(target, rows, alpha, score, condition):
    if not rows.mask.any():
        return
    rule = rows.calibrate(score, target, condition)
    groups = rows.groups if condition.needs_groups else None
    p_values, sets = rule.p_values(rows.probs, groups=groups), rule.predict(rows.probs, alpha, groups=groups)
    assert np.array_equal(p_values > float(exact_alpha(alpha)), sets.mask)


def test_levels_are_exact_where_common_denominators_overflow():
    rng, k = np.random.default_rng(5), 53
    sizes = np.arange(1, k + 1)
    mask = np.arange(k) < sizes[:, np.newaxis]
    probs = rng.integers(0, 30, (k, k)) / 30
    rule = rs.calibrate(probs, mask, target=rs.Recall(), method="thr", kind="marginals")
    keys = [(-probs[i, j], Fraction(1, int(sizes[i]))) for i in range(k) for j in range(sizes[i])]
    found = rule.p_values(probs[:1])[0]
    for column in range(k):
        tail = sum((weight for key, weight in keys if key >= -probs[0, column]), Fraction(0))
        assert found[column] == float((1 + tail) / (1 + k))
    for alpha in (Fraction(1, 54), Fraction(1, 10), Fraction(37, 100)):
        assert np.array_equal(found > float(alpha), rule.predict(probs[:1], alpha).mask[0])


@PER_SCORE
@pytest.mark.parametrize("target", TARGETS, ids=repr)
@given(rows=several(), seed=st.integers(0, 99), score=st.sampled_from(SCORES), condition=st.sampled_from(CONDITIONS))
def test_parts_in_any_order_merge_to_the_same_bytes(target, rows, seed, score, condition, tmp_path_factory):
    order = np.random.default_rng(seed).permutation(len(rows))
    cut = len(rows) // 2
    shuffled = Rows(rows.probs[order], rows.mask[order], rows.groups[order], rows.kind)
    parts = [
        Rows(*(getattr(shuffled, name)[some] for name in ("probs", "mask", "groups")), rows.kind)
        for some in (slice(0, cut), slice(cut, None))
    ]
    if not all(part.mask.any() for part in parts):
        return
    whole = rows.calibrate(score, target, condition)
    first, second = (part.calibrate(score, target, condition) for part in parts)
    folder = tmp_path_factory.mktemp("rules")
    for name, rule in (("whole", whole), ("merged", first.merge(second))):
        rule.save(folder / name)
    assert (folder / "whole").read_bytes() == (folder / "merged").read_bytes()
    assert rs.load(folder / "merged") == whole
    groups = parts[1].groups if condition.needs_groups else None
    assert first.update(parts[1].probs, parts[1].mask, groups=groups) == whole


def wrong_rows(rows, score, condition, alpha):
    """For each group, whether the set of each row with a false label has one, if the row is left out."""
    found = {}
    for row in range(len(rows)):
        others = rows.without(row)
        if not (~others.mask).any():
            continue
        kept = rows.predict(others.calibrate(score, rs.CertainLabels(), condition), row, alpha)
        false = Rows(rows.probs, ~rows.mask, rows.groups, rows.kind)
        for name, columns in groups_of(false, row, condition).items():
            found.setdefault(name, []).append(bool(kept[columns].any()))
    return found


@PER_SCORE
@pytest.mark.parametrize("condition", CONDITIONS, ids=repr)
@given(rows=several(), alpha=alphas, score=st.sampled_from(SCORES))
def test_certain_labels_are_wrong_in_at_most_alpha_of_rows(condition, rows, alpha, score):
    for wrong in wrong_rows(rows, score, condition, alpha).values():
        if len(wrong) > 1:  # a group of one row has no other row to learn from, and keeps nothing
            assert sum(wrong) <= len(wrong) * exact_alpha(alpha)


def test_the_law_of_certain_labels_catches_a_threshold_that_is_kept_itself():
    strict = calibration.lexicographic.not_after
    late = mock.patch.object(
        calibration.Threshold, "keep", lambda self, keys: strict(keys, self._keys) & (not self._nothing)
    )

    def violations_of(seeds):
        count = 0
        for seed in seeds:
            rng = np.random.default_rng(seed)
            n, k = int(rng.integers(3, 9)), int(rng.integers(2, 5))
            probs, mask = rng.integers(0, 4, (n, k)) / 3, rng.random((n, k)) < 0.4
            rows = Rows(probs, mask, np.array(["all"] * n), "marginals")
            wrong = wrong_rows(rows, rs.Thr(), rs.Marginal(), "0.3")
            count += any(sum(own) > len(own) * Fraction(3, 10) for own in wrong.values() if len(own) > 1)
        return count

    assert violations_of(range(100)) == 0
    with late:
        assert violations_of(range(100)) > 0


@PER_SCORE
@pytest.mark.parametrize("target", TARGETS, ids=repr)
@given(rows=several(), alpha=alphas)
def test_the_threshold_is_the_smallest_that_keeps_the_promise(target, rows, alpha):
    """Every true probability is tried as a threshold, and the losses of all rows are added up as fractions."""
    labelled = [row for row in range(len(rows)) if rows.mask[row].any()]
    if not labelled:
        return
    found = rows.calibrate(rs.Thr(), target, rs.Marginal()).threshold(alpha)
    allowed = exact_alpha(alpha) * (len(labelled) + 1) - 1
    keeping = []
    for least in [np.inf, *sorted(set(rows.probs[rows.mask].tolist()), reverse=True)]:
        losses = [loss_of(target, rows.probs[row] >= least, np.flatnonzero(rows.mask[row])) for row in labelled]
        if sum(losses) <= allowed:
            keeping.append(least)
    assert found == ((-max(keeping),) if allowed >= 0 else None)


def test_share_is_the_part_of_the_labels_that_are_expected():
    probs = np.array([[0.5, 0.25, 0.25], [0.75, 0.5, 0.0]])
    keys = rs.calibrate(probs, np.ones((2, 3)), target="recall", kind="marginals", method="share").calibration.keys[0]
    known = [row[k] / (1 + sum(row) - row[k]) for row in probs.tolist() for k in range(3)]
    assert keys.tolist() == sorted(-share for share in known)


def test_padding_is_no_false_label():
    probs, mask = [[0.9, 0.2], [0.7, 0.6, 0.1], [0.8, 0.3]], [[0], [0, 1], [0]]
    ragged = rs.calibrate(rs.Ragged.of(probs), mask, target="certain", kind="decision", method="thr")
    assert ragged.calibration.keys[0].tolist() == [-0.3, -0.2, -0.1]
