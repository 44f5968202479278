"""Nesting, duality, merging, isolation, storage: what must hold between the answers of rules."""

import tempfile
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankset as rs
import reference
from rankset.core import lexicographic
from rankset.core.alpha import exact_alpha
from rankset.core.calibration import Calibration
from rankset.core.promise import Promise
from rankset.core.sorted_keys import SortedKeys
from rankset.rules.batch import Batch
from strategies import alphas, problems, problems_with_news

pytestmark = pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")


@given(problems_with_news(), alphas)
def test_sets_are_those_of_the_slow_obvious_reference(pair, alpha):
    problem, news = pair
    sets = news.predict(problem.calibrate(), alpha)
    expected = reference.p_values(problem, news.probs, news.groups, news.ids)
    for row, p_values in enumerate(expected):
        ranking = reference.ranking(reference.as_seen(problem.score, news.probs[row].tolist()))
        kept = [label for label in ranking if p_values[label] > exact_alpha(alpha)]
        assert sets[row].tolist() == kept


@given(problems_with_news())
def test_p_values_are_those_of_the_slow_obvious_reference(pair):
    problem, news = pair
    expected = reference.p_values(problem, news.probs, news.groups, news.ids)
    ours = news.p_values(problem.calibrate())
    assert ours.tolist() == [[float(p) for p in row] for row in expected]


@dataclass(frozen=True)
class Undeclared:
    """A score that looks at features it does not declare."""

    inner: rs.Score
    features = ("prob", "noise")

    def keys(self, cells):
        return (*self.inner.keys(cells), cells.top - cells.second, -cells.column)


@pytest.mark.parametrize("inner", [rs.Rank(), rs.Aps(), rs.Margin()], ids=repr)
@given(problems_with_news(condition=st.just(rs.Marginal()), score=st.just(rs.Thr())))
def test_p_values_count_the_calibration_keys_that_are_at_least_as_large(inner, pair):
    """Also where ranks and masses are used without being declared: features do not depend on the order of cells."""
    problem, news = pair
    rule = rs.calibrate(problem.probs, problem.labels, method=Undeclared(inner))
    data = rule._prepare(news.probs)
    cells, _, keys = Batch.of(rule.spec, data).all_keys(slice(0, len(data)))
    known, expected = list(zip(*rule.calibration.keys, strict=True)), np.empty(news.probs.shape)
    for place, key in zip(cells.flat, zip(*keys, strict=True), strict=True):
        expected.flat[place] = (1 + sum(key <= other for other in known)) / (1 + len(known))
    assert rule.p_values(news.probs).tobytes() == expected.tobytes()


@given(problems_with_news(), alphas, alphas)
def test_sets_shrink_as_alpha_grows(pair, one, other):
    problem, news = pair
    rule = problem.calibrate()
    smaller, larger = sorted((one, other), key=exact_alpha)
    assert not (news.predict(rule, larger).mask & ~news.predict(rule, smaller).mask).any()


@given(problems_with_news(), st.integers(1, 999))
def test_a_label_is_kept_exactly_when_its_p_value_exceeds_alpha(pair, thousandths):
    problem, news = pair
    rule, alpha = problem.calibrate(), thousandths / 1000
    assert (news.predict(rule, alpha).mask == (news.p_values(rule) > alpha)).all()


@given(problems_with_news(), alphas)
def test_filling_empty_sets_adds_the_most_likely_label_to_them_and_nothing_else(pair, alpha):
    problem, news = pair
    rule = problem.calibrate()
    plain, filled = news.predict(rule, alpha), news.predict(rule, alpha, empty="top")
    for row, (ours, theirs) in enumerate(zip(plain, filled, strict=True)):
        seen = reference.as_seen(problem.score, news.probs[row].tolist())
        expected = ours.tolist() or reference.ranking(seen)[:1]
        assert theirs.tolist() == expected


@given(problems(), st.data())
def test_merging_parts_is_calibrating_at_once(problem, data):
    cuts = sorted(data.draw(st.lists(st.integers(1, problem.n - 1), min_size=1, max_size=2, unique=True)))
    bounds = [0, *cuts, problem.n]
    parts = [problem.rows(range(*pair)).calibrate() for pair in pairwise(bounds)]
    whole = problem.calibrate()
    left, right = parts[0], parts[-1]
    for part in parts[1:]:
        left = left.merge(part)
    for part in reversed(parts[:-1]):
        right = part.merge(right)
    backwards = parts[-1]
    for part in reversed(parts[:-1]):
        backwards = backwards.merge(part)
    assert left == whole
    assert right == whole
    assert backwards == whole
    assert [key.tobytes() for key in left.calibration.keys] == [key.tobytes() for key in whole.calibration.keys]


@given(problems())
def test_updating_is_calibrating_at_once(problem):
    first, rest = problem.rows(range(1)), problem.rows(range(1, problem.n))
    updated = first.calibrate().update(rest.probs, rest.labels, ids=rest.ids, **rest.keywords)
    assert updated == problem.calibrate()
    assert updated.update(rest.probs[:0], [], **({"groups": []} if problem.keywords else {})) == updated


@given(problems())
def test_an_empty_calibration_is_the_identity_of_merging(problem):
    calibration = problem.calibrate().calibration
    nothing = Calibration.of(
        np.zeros(0, dtype=np.int64), tuple(key[:0] for key in calibration.keys), len(calibration.counts)
    )
    for merged in (calibration.merge(nothing), nothing.merge(calibration)):
        assert [key.tobytes() for key in merged.keys] == [key.tobytes() for key in calibration.keys]
        assert merged.offsets.tobytes() == calibration.offsets.tobytes()
    assert nothing.thresholds(Promise(Fraction(1, 2))).everything.all()


@given(problems_with_news(condition=st.just(rs.PerGroup())), alphas, st.randoms(use_true_random=False))
def test_a_group_answers_as_if_it_were_alone(pair, alpha, random):
    problem, news = pair
    chosen = random.choice(problem.groups)
    alone = problem.rows(row for row in range(problem.n) if problem.groups[row] == chosen)
    asked = news.rows(row for row in range(news.n) if news.groups[row] == chosen)
    assert asked.predict(problem.calibrate(), alpha) == asked.predict(alone.calibrate(), alpha)


@given(problems_with_news(condition=st.just(rs.PerLabel())), alphas)
def test_a_labels_place_in_sets_depends_on_its_own_calibration_rows_only(pair, alpha):
    problem, news = pair
    label = int(problem.labels[0])
    alone = problem.rows(row for row in range(problem.n) if problem.labels[row] == label)
    together, separate = (news.predict(part.calibrate(), alpha).mask[:, label] for part in (problem, alone))
    assert (together == separate).all()


@given(problems_with_news(), alphas)
def test_a_rule_survives_storage(pair, alpha):
    problem, news = pair
    rule = problem.calibrate()
    with tempfile.TemporaryDirectory() as folder:
        rule.save(Path(folder) / "rule.rankset")
        again = rs.load(Path(folder) / "rule.rankset")
    assert again == rule
    assert news.predict(again, alpha) == news.predict(rule, alpha)
    assert news.p_values(again).tobytes() == news.p_values(rule).tobytes()


numbers = st.one_of(st.integers(-3, 3), st.sampled_from([-np.inf, -0.5, -0.0, 0.0, 0.5, np.inf]))


@given(
    st.integers(1, 3).flatmap(lambda width: st.lists(st.tuples(*[numbers] * width), min_size=1, max_size=20)), st.data()
)
def test_our_order_is_pythons_order_of_tuples(tuples, data):
    keys = tuple(np.array(column, dtype=np.float64) for column in zip(*tuples, strict=True))
    ranking = lexicographic.argsort(keys)
    assert [tuples[row] for row in ranking] == sorted(tuples)
    bound = data.draw(st.tuples(*[numbers] * len(keys)))
    assert lexicographic.not_after(keys, tuple(np.array(part) for part in bound)).tolist() == [
        t <= bound for t in tuples
    ]
    sorted_keys = SortedKeys(tuple(key[ranking] for key in keys))
    place = sorted_keys.before(tuple(np.array([part], dtype=np.float64) for part in bound))
    assert place.tolist() == [sum(t < bound for t in tuples)]
