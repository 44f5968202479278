"""Groups that share rows: over the multiset of all rows, no p-value is too small too often."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankset as rs
from rankset.core import row_tails, shared_rows
from rankset.core.calibration import Calibration
from rankset.core.promise import Promise
from rankset.core.rank_counts import RankCounts
from rankset.core.shared_rows import SharedRows
from rankset.core.sharing import Borrowing, Sharing
from strategies import alphas, problems, problems_with_news

pytestmark = pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")

MULTISETS = 10_000
FEW = settings(max_examples=max(10, settings.default.max_examples // 6))
"""For laws that calibrate once for every row."""
NUMBERS = (0.5, 2.0, 5.0, 20.0, 100.0, 1e9)


@st.composite
def shared_conditions(draw, n_columns):
    numbers = st.sampled_from(NUMBERS)
    balanced = st.lists(st.sampled_from([1, 3, 0.25]), min_size=n_columns, max_size=n_columns).map(rs.Balanced)
    inner = draw(st.one_of(st.just(rs.PerLabel()), st.just(rs.PerGroup()), st.just(rs.PerLabelAndGroup()), balanced))
    if isinstance(inner, rs.Balanced) and draw(st.booleans()):
        return inner
    return rs.Pooled(inner, draw(numbers), draw(numbers))


def weights_of(condition, labels):
    """The weight of each row, as integers."""
    inner = condition.condition if isinstance(condition, rs.Pooled) else condition
    return inner._sharing(0).weights[labels].tolist() if isinstance(inner, rs.Balanced) else [1] * len(labels)


def most_often(p_values, weights):
    """The largest excess of the weight of rows whose p-value is at most a over its share, a; at most 0 by the law."""
    total = sum(weights)
    return max(
        Fraction(sum(w for p, w in zip(p_values, weights, strict=True) if p <= a), total) - a for a in set(p_values)
    )


@FEW
@given(problems(max_rows=9, max_columns=4, condition=st.none()), st.data())
def test_leaving_each_row_out_in_turn_no_p_value_is_too_small_too_often(problem, data):
    """Exact, through calibrate and p_values: for every a the weight of rows with p <= a is at most a of all."""
    condition = data.draw(shared_conditions(problem.probs.shape[1]))
    keywords = {"method": problem.score, "condition": condition}
    weights = weights_of(condition, problem.labels)
    found = []
    for row in range(problem.n):
        others = [one for one in range(problem.n) if one != row]
        groups = {"groups": [problem.groups[one] for one in others]} if condition.needs_groups else {}
        own = {"groups": [problem.groups[row]]} if condition.needs_groups else {}
        ids = None if problem.ids is None else [problem.ids[one] for one in others]
        rule = rs.calibrate(problem.probs[others], problem.labels[others], ids=ids, **groups, **keywords)
        own_id = None if problem.ids is None else [problem.ids[row]]
        p = rule.p_values(problem.probs[[row]], ids=own_id, **own)[0, problem.labels[row]]
        whole = sum(weights)
        found.append(Fraction(round(p * whole), whole))
        assert float(found[-1]) == p
    assert most_often(found, weights) <= 0


def excess(rng, make=SharedRows):
    """The largest excess over one random multiset with ties and empty groups; exact, because p-values are counts."""
    n, n_groups = int(rng.integers(2, 10)), int(rng.integers(1, 5))
    keys, groups = rng.integers(0, rng.integers(2, 12), n), rng.integers(0, n_groups, n)
    borrowing = Borrowing(*rng.choice(NUMBERS, 2)) if rng.random() < 0.9 else None
    weights = rng.integers(1, 9, n_groups) if rng.random() < 0.4 else None
    p_values = []
    for row in range(n):
        rest = np.arange(n) != row
        calibration = Calibration.of(groups[rest], (keys[rest].astype(float),), n_groups)
        rows = make(calibration, Sharing(borrowing, weights))
        place = np.array([len(set(keys[rest][keys[rest] < keys[row]].tolist()))])
        own = int(rows.weights[groups[row]])
        beyond = int(rows.beyond(groups[[row]], place)[0])
        p_values.append(Fraction(own + beyond, own + rows.total))
    return most_often(p_values, (np.ones(n_groups, int) if weights is None else weights)[groups].tolist())


@pytest.mark.slow
def test_the_law_holds_for_ten_thousand_multisets():
    rng = np.random.default_rng(21)
    assert max(excess(rng) for _ in range(MULTISETS)) <= 0


def test_the_law_holds_for_some_multisets_and_for_the_simpler_bound(monkeypatch):
    rng = np.random.default_rng(1)
    assert max(excess(rng) for _ in range(400)) <= 0
    monkeypatch.setattr(shared_rows, "MOST_ROWS", 0)
    assert max(excess(rng) for _ in range(400)) <= 0


class WithoutOwnRow(SharedRows):
    """A mistake: the new row is not counted."""

    def beyond(self, groups, places):
        return super().beyond(groups, places) - self.weights[groups]


class Exchanged(SharedRows):
    """A mistake: both strangenesses of a row are exchanged."""

    @property
    def _if_stranger(self):
        return np.log((self.n + 1) / np.maximum(self.n - self._before, 1))

    @property
    def _if_not(self):
        return np.log((self.n + 1) / (self.n - self._before + 1))


@pytest.mark.parametrize("mistake", [WithoutOwnRow, Exchanged])
def test_mistakes_break_the_law(mistake):
    rng = np.random.default_rng(2)
    assert max(excess(rng, mistake) for _ in range(600)) > 0


@given(problems_with_news(condition=st.just(rs.PerLabel()), max_rows=30))
def test_with_very_large_numbers_pooled_is_marginal(pair):
    problem, news = pair
    limit = problem.calibrate(condition=rs.Pooled(rs.PerLabel(), 1e12, 1e12))
    assert (news.p_values(limit) == news.p_values(problem.calibrate(condition=rs.Marginal()))).all()


@given(problems_with_news(condition=st.just(rs.Balanced([1.0])), max_columns=1))
def test_equal_weights_are_no_weights(pair):
    problem, news = pair
    ours, plain = problem.calibrate(), problem.calibrate(condition=rs.Marginal())
    assert np.allclose(news.p_values(ours), news.p_values(plain), rtol=1e-12)


@given(problems_with_news(shared=True, max_rows=30), st.sampled_from([0, 1 << 13]))
@settings(deadline=None)
def test_tables_and_single_cells_and_many_rows_agree(pair, most_rows):
    """The table of all places, and cells one by one, count the same rows; the simpler bound counts not fewer."""
    problem, _ = pair
    rule = problem.calibrate()
    if rule.spec.sharing is None:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared_rows, "MOST_ROWS", most_rows)
        rows = SharedRows(rule.calibration, rule.spec.sharing)
        groups, places = np.meshgrid(np.arange(-1, len(rows.sizes) - 1), np.arange(rows.n_places), indexing="ij")
        assert rows._table().tolist() == rows.beyond(groups, places).ravel().tolist()
    patch_free = SharedRows(rule.calibration, rule.spec.sharing)
    assert (rows.beyond(groups, places) >= patch_free.beyond(groups, places)).all()
    assert (np.diff(rows.beyond(groups, places), axis=1) <= 0).all()


@given(problems(shared=True), alphas)
def test_a_threshold_exists_from_the_smallest_alpha_on(problem, alpha):
    rule = problem.calibrate()
    if rule.spec.sharing is None:
        return
    level = Fraction(str(alpha)) if not isinstance(alpha, Fraction) else alpha
    everything = rule._thresholds(Promise(level)).everything
    assert [bool(one) for one in everything] == [
        rule._shared.smallest_alpha(group) > level for group in range(len(everything))
    ]


@given(st.permutations(range(9)), st.integers(0, 10_000))
def test_rank_counts_are_sums_of_weights(numbers, seed):
    rng = np.random.default_rng(seed)
    numbers, weights = np.array(numbers), rng.integers(1, 100, 9)
    counts = RankCounts(numbers, weights)
    positions, bounds = rng.integers(0, 10, 50), rng.integers(0, 11, 50)
    expected = [int(weights[p:][numbers[p:] < b].sum()) for p, b in zip(positions, bounds, strict=True)]
    assert counts.weight_from(positions, bounds).tolist() == expected


def test_buckets_find_what_a_search_finds():
    rng = np.random.default_rng(0)
    tails = row_tails.SortedTails(rng.random(500), np.zeros(500, int), np.ones(500, int))
    bounds = np.sort(np.concatenate([rng.random(300), tails.ordered[:100], [0.0, 1.0, 1 + 1e-12]]))
    assert tails.not_above_many(bounds).tolist() == tails.not_above(bounds).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("n", [99, 499])
def test_coverage_over_many_calibrations_is_between_the_promise_and_two_rows_more(n):
    """Groups of different difficulty and frequency, one of them empty; 1,000 calibrations at alpha 0.1."""
    rng = np.random.default_rng(n)
    shares, difficulty = np.array([0.5, 0.3, 0.15, 0.05, 0.0]), np.array([0.3, 1.0, 1.5, 3.0, 1.0])
    hits = []
    for _ in range(1000):
        groups = rng.choice(5, n + 200, p=shares)
        keys = rng.exponential(difficulty[groups])
        calibration = Calibration.of(groups[:n], (keys[:n],), 5)
        found = SharedRows(calibration, Sharing(Borrowing(200.0, 20.0))).thresholds(Promise(Fraction(1, 10)))
        hits.append(found.keep(groups[n:], (keys[n:],)).mean())
    error = np.std(hits) / np.sqrt(len(hits))
    assert 0.9 - 3 * error <= np.mean(hits) <= 0.9 + 2 / (n + 1) + 3 * error
