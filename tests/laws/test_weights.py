"""Weights of rows: over the multiset of all rows, rows with small p-values never weigh too much."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankset as rs
import reference
from rankset.core import masses
from rankset.core.calibration import Calibration
from rankset.core.entries import Entries
from rankset.core.masses import UNIT, RowMasses
from rankset.core.promise import Promise
from rankset.core.shared_rows import SharedRows
from rankset.core.sharing import Borrowing, Sharing
from strategies import alphas, conditions, problems, problems_with_news

pytestmark = pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")

MULTISETS = 10_000
FEW = settings(max_examples=max(10, settings.default.max_examples // 6))
"""For laws that calibrate once for every row."""
NUMBERS = (0.5, 2.0, 5.0, 20.0, 100.0, 1e9)
WEIGHTS = (0, 0.25, 1, 1, 1, 2.5, 3, 7, 1 / 3, 1000)

row_weights = st.sampled_from(WEIGHTS)


def units(weight):
    """A weight as the library rounds it."""
    return round(Fraction(weight) * UNIT)


def combined_weight(condition, label, row_group, weight):
    """The weight of a cell, in units: that of its row, times that of its class if the condition has such weights."""
    inner = condition.condition if isinstance(condition, rs.Pooled) else condition
    if not isinstance(inner, rs.Balanced | rs.LabelShift):
        return units(weight)
    return max(1, round(units(weight) * (reference.weight(inner, reference.group(inner, label, row_group)) / UNIT)))


def most_often(p_values, weights):
    """The largest excess of the weight of rows whose p-value is at most a over its share, a; at most 0 by the law."""
    total = sum(weights)
    return max(
        Fraction(sum(w for p, w in zip(p_values, weights, strict=True) if p <= a), total) - a for a in set(p_values)
    )


def drawn_weights(data, n):
    found = data.draw(st.lists(row_weights, min_size=n, max_size=n))
    return found if any(found[1:]) and any(found[:-1]) else [one + 1 for one in found]


@FEW
@given(problems(max_rows=8, max_columns=4), st.data(), alphas)
def test_leaving_each_row_out_in_turn_missed_rows_weigh_at_most_alpha(problem, data, alpha):
    """Exact, through calibrate and predict, for every score and condition: the law that carries the guarantee."""
    weights = drawn_weights(data, problem.n)
    own = [
        combined_weight(problem.condition, *of_row)
        for of_row in zip(problem.labels, problem.groups, weights, strict=True)
    ]
    missed = 0
    for row in range(problem.n):
        others = problem.rows([one for one in range(problem.n) if one != row])
        kept = [one for place, one in enumerate(weights) if place != row]
        if not any(kept):
            continue
        rule, new = others.calibrate(weights=kept), problem.rows([row])
        sets = new.predict(rule, alpha, weights=[weights[row]])
        missed += 0 if sets.covers(new.labels)[0] else own[row]
    assert missed <= Fraction(str(alpha)) * sum(own)


@given(problems_with_news(max_rows=12), st.data(), alphas)
def test_sets_and_p_values_are_those_of_the_reference(pair, data, alpha):
    problem, news = pair
    weights, own = drawn_weights(data, problem.n), data.draw(st.lists(row_weights, min_size=news.n, max_size=news.n))
    rule = problem.calibrate(weights=weights)
    expected = reference.weighted_p_values(problem, weights, news, own, combined_weight)
    found = rule.p_values(news.probs, ids=news.ids, weights=own, **news.keywords)
    assert np.allclose(found, np.array(expected, dtype=float).reshape(found.shape), rtol=1e-13)
    level = Fraction(str(alpha))
    sets = news.predict(rule, alpha, weights=own)
    assert [sorted(one.tolist()) for one in sets] == [
        [label for label, p in enumerate(row) if p > level] for row in expected
    ]


@given(problems_with_news(), alphas)
def test_equal_weights_are_no_weights(pair, alpha):
    problem, news = pair
    if isinstance(problem.condition, rs.Balanced | rs.LabelShift | rs.Pooled):
        return  # their products with weights are rounded
    plain, weighted = problem.calibrate(), problem.calibrate(weights=2)
    assert news.predict(plain, alpha).to_lists() == news.predict(weighted, alpha, weights=2).to_lists()
    assert (news.p_values(plain) == weighted.p_values(news.probs, ids=news.ids, weights=2, **news.keywords)).all()


@given(problems(min_rows=4), st.data())
def test_parts_of_rows_are_merged_exactly(problem, data):
    weights = drawn_weights(data, problem.n)
    cut = data.draw(st.integers(1, problem.n - 1))
    first, second = problem.rows(range(cut)), problem.rows(range(cut, problem.n))
    merged = first.calibrate(weights=weights[:cut] if any(weights[:cut]) else [1] * cut)
    weights = [*(weights[:cut] if any(weights[:cut]) else [1] * cut), *weights[cut:]]
    rest = weights[cut:] if any(weights[cut:]) else [1] * (problem.n - cut)
    weights = [*weights[:cut], *rest]
    assert merged.merge(second.calibrate(weights=rest)) == problem.calibrate(weights=weights)


def excess(rng, make=SharedRows, *, drop=False):
    """The largest excess over one random multiset with ties, empty groups, weights of rows and of groups, exactly."""
    n, n_groups = int(rng.integers(2, 10)), int(rng.integers(1, 5))
    keys, groups = rng.integers(0, rng.integers(2, 12), n), rng.integers(0, n_groups, n)
    sharing = Sharing(
        Borrowing(*rng.choice(NUMBERS, 2)) if rng.random() < 0.8 else None,
        rng.integers(1, UNIT, n_groups) if rng.random() < 0.4 else None,
    )
    shared = sharing.borrowing is not None or sharing.weights is not None
    own = rng.integers(0, 9, n) * int(rng.integers(1, UNIT))
    p_values, weights = [], []
    for row in range(n):
        rest = np.arange(n) != row
        entries = Entries(groups[rest], (keys[rest].astype(float),), None, own[rest])
        calibration = Calibration.of_weighted([entries], n_groups, RowMasses.of(groups[rest], own[rest], n_groups))
        rows = make(calibration, sharing) if shared else calibration
        places, mine = rows.places(groups[[row]], (keys[[row]].astype(float),)), _own(rows, groups[row], own[row])
        if shared:
            larger, whole = int(rows.beyond(groups[[row]], places % rows.n_places)[0]), rows.total
        else:
            tables = rows.tables(1)
            larger, whole = int(tables.larger.take(places)[0]), int(tables.sizes.take(places)[0])
        p_values.append(Fraction(larger + mine * (not drop), whole + mine) if whole + mine else Fraction(1))
        weights.append(mine)
    return _excess_in_groups(p_values, weights, np.zeros(n, int) if shared else groups)


def _own(rows, group, mass):
    return int(rows.own_masses(np.array([group]), np.array([mass]))[0])


def _excess_in_groups(p_values, weights, groups):
    found = [Fraction(-1)]
    for group in set(groups.tolist()):
        inside = [place for place in range(len(weights)) if groups[place] == group]
        if any(weights[place] for place in inside):
            found.append(most_often([p_values[place] for place in inside], [weights[place] for place in inside]))
    return max(found)


@pytest.mark.slow
def test_the_law_holds_for_ten_thousand_multisets():
    rng = np.random.default_rng(22)
    assert max(excess(rng) for _ in range(MULTISETS)) <= 0


def test_the_law_holds_for_some_multisets():
    rng = np.random.default_rng(1)
    assert max(excess(rng) for _ in range(400)) <= 0


def test_dropping_the_weight_of_the_new_row_breaks_the_law():
    rng = np.random.default_rng(2)
    assert max(excess(rng, drop=True) for _ in range(400)) > 0


@given(
    st.fractions(min_value=Fraction(1, 10**12), max_value=1 - Fraction(1, 10**12)),
    st.lists(st.tuples(st.integers(0, masses.MOST), st.integers(0, masses.LARGEST)), min_size=1, max_size=5),
)
def test_limits_are_exact(alpha, pairs):
    totals, own = (np.array(values, dtype=np.int64) for values in zip(*pairs, strict=True))
    expected = [
        (total + mine) * alpha.numerator // alpha.denominator - mine if total + mine else -1 for total, mine in pairs
    ]
    assert masses.limits(alpha, totals, own).tolist() == expected


@given(st.data(), alphas)
def test_thresholds_keep_what_the_integers_keep(data, alpha):
    """The thresholds for one weight of new rows are those of the formula, group by group, absent labels included."""
    n, n_groups = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 3))
    keys = np.array(data.draw(st.lists(st.integers(0, 6), min_size=n, max_size=n)), dtype=float)
    groups = np.array(data.draw(st.lists(st.integers(0, n_groups - 1), min_size=n, max_size=n)))
    own = np.array([units(one) for one in data.draw(st.lists(row_weights, min_size=n, max_size=n))])
    absent = np.array(data.draw(st.lists(st.sampled_from([False, False, True]), min_size=n, max_size=n)))
    new, level = units(data.draw(row_weights)), Fraction(str(alpha))
    entries = Entries(groups[~absent], (keys[~absent],), None, own[~absent])
    lost = np.bincount(groups[absent], minlength=n_groups)
    calibration = Calibration.of_weighted([entries], n_groups, RowMasses.of(groups, own, n_groups, absent), None, lost)
    thresholds = calibration.thresholds(Promise(level), new)
    for group in range(n_groups):
        for key in range(-1, 8):
            inside = groups == group
            beyond = int(own[inside & (absent | (keys >= key))].sum())
            whole = int(own[inside].sum()) + new
            wanted = beyond + new > level * whole or not whole
            kept = thresholds.keep(np.array([group]), (np.array([float(key)]),))[0]
            assert kept == wanted


def test_conditions_of_the_laws_have_weights_of_classes():
    """The strategies draw ``LabelShift``, alone and inside ``Pooled``."""
    found = set()

    @settings(max_examples=300, database=None)
    @given(conditions(3))
    def look(condition):
        found.add(type(condition))
        found.add(type(getattr(condition, "condition", None)))

    look()
    assert rs.LabelShift in found


def loss_of(target, kept, truth):
    """The loss of a row with the true labels ``truth`` whose set is ``kept``, exactly."""
    missed = [label for label in truth if label not in kept]
    match target:
        case rs.Recall():
            return Fraction(len(missed), len(truth))
        case rs.AllLabels():
            return Fraction(bool(missed))
        case rs.AtMostMissed():
            return Fraction(len(missed) > target.m)
        case rs.AnyLabel():
            return Fraction(len(missed) == len(truth))
        case rs.Cost():
            return sum((Fraction(COSTS[label], max(COSTS)) for label in missed), Fraction(0))
    raise NotImplementedError(target)


COSTS = (1, 7, 3)
TARGETS = [rs.Recall(), rs.AllLabels(), rs.AtMostMissed(1), rs.AnyLabel(), rs.Cost(dict(enumerate(COSTS)))]


@pytest.mark.parametrize("target", TARGETS, ids=repr)
@FEW
@given(st.data(), alphas)
def test_leaving_each_row_out_in_turn_the_weighted_loss_is_at_most_alpha(target, data, alpha):
    """Exact for every target about true labels, with ties, and with weights that no unit divides."""
    n = data.draw(st.integers(2, 8))
    several = not isinstance(target, rs.Cost)
    entries = st.lists(st.sampled_from([0.125, 0.25, 0.5, 0.75]), min_size=3, max_size=3)
    rows = np.array(data.draw(st.lists(entries, min_size=n, max_size=n)))
    rows = rows if several else rows / rows.sum(axis=1, keepdims=True)
    sizes = st.sets(st.integers(0, 2), min_size=1, max_size=3 if several else 1)
    truths = [sorted(one) for one in data.draw(st.lists(sizes, min_size=n, max_size=n))]
    weights = drawn_weights(data, n)
    labels = [one if several else one[0] for one in truths]
    kind = "marginals" if several else "probs"
    lost = Fraction(0)
    for row in range(n):
        rest = [one for one in range(n) if one != row]
        own = [weights[one] for one in rest]
        if not any(own):
            continue
        options = {"kind": kind, "target": target, "method": "thr", "classes": range(3) if several else None}
        rule = rs.calibrate(rows[rest], [labels[one] for one in rest], weights=own, **options)
        (kept,) = rule.predict(rows[[row]], alpha, weights=[weights[row]]).to_lists()
        lost += units(weights[row]) * loss_of(target, kept, truths[row])
    assert lost <= Fraction(str(alpha)) * sum(map(units, weights))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, masses.LARGEST)), min_size=1, max_size=6))
def test_squared_weights_are_added_up_exactly(pairs):
    places, own = (np.array(values, dtype=np.int64) for values in zip(*pairs, strict=True))
    whole, fractions = masses.squares_at(places, own, 4).tolist()
    for place in range(4):
        expected = sum(mass * mass >> 20 for where, mass in pairs if where == place)
        assert (whole[place] << masses.FRACTION_BITS) + fractions[place] == expected
    parts = [RowMasses.of(places[a::2], own[a::2], 4) for a in (0, 1)]
    assert RowMasses.together(parts).same(RowMasses.of(places, own, 4))


def test_multisets_of_the_law_have_every_kind_of_groups():
    """Of ten thousand, so many have groups with rows of their own (one or several), shared rows, weights of groups."""
    kinds = {"alone": 0, "own groups": 0, "borrowing": 0, "weights of groups": 0}

    def noted(calibration, sharing):
        kinds["borrowing"] += sharing.borrowing is not None
        kinds["weights of groups"] += sharing.weights is not None
        return SharedRows(calibration, sharing)

    rng = np.random.default_rng(22)
    for _ in range(200):
        before = sum(kinds.values())
        state = rng.bit_generator.state
        excess(rng, noted)
        if sum(kinds.values()) == before:
            again = np.random.default_rng()
            again.bit_generator.state = state
            again.integers(2, 10)
            kinds["alone" if again.integers(1, 5) == 1 else "own groups"] += 1
    assert all(count >= 3 for count in kinds.values()), kinds
