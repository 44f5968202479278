"""Groups, worked out by hand."""

from dataclasses import dataclass

import numpy as np
import pytest

import rankset as rs
from rankset.errors import KindError, LabelError, RuleError, StorageError
from refusals import refused

COLUMNS = np.arange(3)[np.newaxis, :]
ROWS = np.array([[0], [1], [-1]])


def numbers(condition):
    return condition.numbers(COLUMNS, ROWS, 3, 2).tolist()


def test_marginal_has_one_group():
    assert rs.Marginal().count(3, 2) == 1
    assert numbers(rs.Marginal()) == [[0]]


def test_per_label_has_one_group_per_column_or_cluster():
    assert rs.PerLabel().count(3, 2) == 3
    assert numbers(rs.PerLabel()) == [[0, 1, 2]]
    clustered = rs.PerLabel(["b", "a", "b"])
    assert clustered.clusters == ("b", "a", "b")
    assert clustered.count(3, 2) == 2
    assert numbers(clustered) == [[1, 0, 1]]
    with refused(LabelError.clusters(4, 3)):
        clustered.count(4, 2)
    with refused(
        KindError,
        what="clusters",
        received="object",
        expected="be strings, numbers, booleans, or hashable objects that define __str__ or __repr__",
    ):
        rs.PerLabel([object()])


def test_per_row_has_one_group_per_name():
    assert rs.PerGroup().count(3, 2) == 2
    assert numbers(rs.PerGroup()) == [[0], [1], [-1]]


def test_crossing_numbers_every_combination_and_keeps_the_unseen_unseen():
    assert rs.PerLabelAndGroup(rs.PerGroup(), rs.PerLabel()).count(3, 2) == 6
    assert numbers(rs.PerLabelAndGroup(rs.PerGroup(), rs.PerLabel())) == [[0, 1, 2], [3, 4, 5], [-1, -1, -1]]
    assert numbers(rs.PerLabelAndGroup(rs.PerLabel(), rs.PerGroup())) == [[0, 2, 4], [1, 3, 5], [-1, -1, -1]]
    assert numbers(rs.PerLabelAndGroup(rs.Marginal(), rs.PerGroup())) == [[0], [1], [-1]]
    nested = rs.PerLabelAndGroup(rs.PerLabelAndGroup(rs.PerGroup(), rs.PerLabel(["b", "a", "b"])), rs.PerLabel())
    assert nested.count(3, 2) == 12
    assert numbers(nested)[:2] == [[3, 1, 5], [9, 7, 11]]


def test_crossing_needs_groups_where_either_side_does():
    assert rs.PerLabelAndGroup(rs.PerGroup(), rs.PerLabel()).needs_groups
    assert rs.PerLabelAndGroup(rs.PerLabel(), rs.PerGroup()).needs_groups
    assert not rs.PerLabelAndGroup(rs.PerLabel(), rs.Marginal()).needs_groups


@pytest.mark.parametrize("wrong", [rs.PerLabel, "PerLabel", None])
def test_crossing_takes_conditions_only(wrong):
    with refused(KindError, what="condition"):
        rs.PerLabelAndGroup(rs.PerGroup(), wrong)
    with refused(KindError, what="condition"):
        rs.PerLabelAndGroup(wrong, rs.PerGroup())


def test_clusters_share_a_threshold():
    probs = np.array([[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.3, 0.2, 0.5], [0.4, 0.4, 0.2]])
    rule = rs.calibrate(probs, [0, 1, 2, 0], condition=rs.PerLabel(["x", "y", "x"]), score=rs.Thr())
    assert rule.calibration.counts.tolist() == [3, 1]
    assert rule.threshold(0.5, label=0) == rule.threshold(0.5, label=2) == (-0.5,)
    assert rule.threshold(0.5, label=1) == (-0.5,)
    assert rule.threshold(0.3, label=2) == (-0.4,)


class PerSiteAndLabel:
    """A condition of one's own that forgets groups without calibration rows."""

    needs_groups = True

    def count(self, n_columns, n_row_groups):
        return n_columns * n_row_groups

    def numbers(self, columns, row_groups, n_columns, n_row_groups):
        return row_groups * n_columns + columns


class One(rs.Marginal):
    """Conditions of one's own whose numbers are given."""

    def __init__(self, answer, count=1):
        object.__setattr__(self, "answer", answer)
        object.__setattr__(self, "most", count)

    def count(self, n_columns, n_row_groups):
        return self.most

    def numbers(self, columns, row_groups, n_columns, n_row_groups):
        return self.answer


@pytest.mark.parametrize("condition", [PerSiteAndLabel(), rs.PerLabelAndGroup(PerSiteAndLabel(), rs.Marginal())])
def test_groups_without_calibration_rows_keep_every_label_whatever_a_condition_says(condition):
    rng = np.random.default_rng(0)
    probs, labels, sites = rng.dirichlet(np.ones(3), 300), rng.integers(0, 3, 300), rng.choice(["a", "b"], 300)
    rule = rs.calibrate(probs, labels, condition=condition, groups=sites)
    assert rule == rule.update(probs[:0], labels[:0], groups=sites[:0])
    with pytest.warns(rs.RanksetWarning, match="'new'"):
        assert rule.predict(probs[:2], 0.1, groups=["new", "new"]).sizes.tolist() == [3, 3]
    with pytest.warns(rs.RanksetWarning, match="'new'"):
        assert (rule.p_values(probs[:2], groups=["new", "new"]) == 1).all()
    known = rs.calibrate(probs, labels, condition=rs.PerLabelAndGroup(), groups=sites)
    assert known.predict(probs, 0.1, groups=sites) == rule.predict(probs, 0.1, groups=sites)


@pytest.mark.parametrize("answer", [1, -2, 0.0, np.array([[0.0]]), np.array([[3]])])
def test_group_numbers_that_cannot_be_are_refused(answer):
    with pytest.raises(rs.RanksetError):
        rs.calibrate([[0.7, 0.3], [0.4, 0.6]], [0, 1], condition=One(answer))


def test_a_plain_number_is_the_group_of_all_cells():
    rule = rs.calibrate([[0.7, 0.3], [0.4, 0.6]], [0, 1], condition=One(0))
    assert rule.predict([[0.7, 0.3]], 0.5) == rs.calibrate([[0.7, 0.3], [0.4, 0.6]], [0, 1]).predict([[0.7, 0.3]], 0.5)


class Own:
    """Conditions of one's own whose numbers are a function of the arguments."""

    def __init__(self, count, numbers, *, needs_groups):
        self.needs_groups, self._count, self._numbers = needs_groups, count, numbers

    def count(self, n_columns, n_row_groups):
        return self._count(n_columns, n_row_groups)

    def numbers(self, columns, row_groups, n_columns, n_row_groups):
        return self._numbers(columns, row_groups)


ROWS_OF_FOUR = np.random.default_rng(0).dirichlet(np.ones(4), 400)
FOUR = np.arange(400) % 4
SITES = np.array(["a", "b", "c", "a"] * 100)


@pytest.mark.parametrize(
    "numbers",
    [
        lambda _, rows: rows.ravel(),
        lambda _, rows: rows[:, 0],
        lambda _, rows: rows.T,
        lambda columns, _: np.arange(4)[columns.ravel()],
        lambda _, rows: np.zeros((7, 1), dtype=int),
    ],
)
@pytest.mark.parametrize("nested", [False, True])
def test_group_numbers_of_another_shape_are_refused(numbers, nested):
    own = Own(max, numbers, needs_groups=True)
    condition = rs.PerLabelAndGroup(own, rs.PerLabel()) if nested else own
    with pytest.raises(rs.RanksetError) as caught:
        rs.calibrate(ROWS_OF_FOUR, FOUR, condition=condition, groups=SITES)
    assert "broadcast" in caught.value.expected


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint64, np.int64])
@pytest.mark.parametrize("turned", [False, True])
def test_small_integers_as_group_numbers_do_not_overflow(dtype, turned):
    rng = np.random.default_rng(0)
    probs, labels, sites = rng.dirichlet(np.ones(100), 3000), np.arange(3000) % 100, np.array(["x", "y", "z"] * 1000)
    table = np.arange(100).astype(dtype)
    own = Own(lambda k, g: 100, lambda columns, _: table[columns], needs_groups=False)
    parts = (rs.PerGroup(), own) if turned else (own, rs.PerGroup())
    rule = rs.calibrate(probs, labels, condition=rs.PerLabelAndGroup(*parts), groups=sites)
    assert len(rule.calibration.counts) == 300
    assert sorted(rule.calibration.counts) == sorted(
        rs.calibrate(probs, labels, condition=rs.PerLabelAndGroup(), groups=sites).calibration.counts
    )


def test_updates_are_calibrations_at_once_also_where_a_condition_joins_groups():
    joins = Own(lambda k, g: 2, lambda _, rows: np.array([0, 0, 1])[rows], needs_groups=True)
    whole = rs.calibrate(np.tile(ROWS_OF_FOUR, (2, 1)), np.tile(FOUR, 2), condition=joins, groups=np.tile(SITES, 2))
    rule = rs.calibrate(ROWS_OF_FOUR, FOUR, condition=joins, groups=SITES)
    for part in (SITES != "b", SITES == "b"):
        rule = rule.update(ROWS_OF_FOUR[part], FOUR[part], groups=SITES[part])
    assert rule == whole
    some = SITES != "b"
    other = rs.calibrate(ROWS_OF_FOUR[some], FOUR[some], condition=joins, groups=SITES[some])
    with pytest.raises(rs.RanksetError) as caught:  # "a" and "c" are together in one of them, and apart in the other
        whole.merge(other)
    assert "in the same way" in caught.value.expected


@dataclass(frozen=True)
class PerSevereLabel:
    """Labels below ``first`` share a threshold, the others have one each."""

    first: int
    needs_groups = False

    def count(self, n_columns, n_row_groups):
        return n_columns - self.first + 1

    def numbers(self, columns, row_groups, n_columns, n_row_groups):
        return np.maximum(columns - self.first + 1, 0)


READS_ROWS = {
    "rows": Own(lambda k, g: 1, lambda columns, rows: rows, needs_groups=False),
    "rows and labels": Own(lambda k, g: k, lambda columns, rows: rows + columns, needs_groups=False),
    "rows of zeros": Own(lambda k, g: k, lambda columns, rows: np.zeros_like(rows) + columns, needs_groups=False),
    "one number": Own(lambda k, g: 1, lambda columns, rows: np.int64(0), needs_groups=False),
    "joined": rs.PerLabelAndGroup(Own(lambda k, g: 1, lambda _, rows: rows, needs_groups=False), PerSevereLabel(2)),
}
"""Conditions that use the groups of rows, though they do not ask for any: all rows are then of group 0."""


@pytest.mark.parametrize("condition", READS_ROWS.values(), ids=READS_ROWS.keys())
def test_conditions_that_read_row_groups_without_asking_for_them_are_described(condition):
    rule = rs.calibrate(ROWS_OF_FOUR, FOUR, condition=condition)
    several = rule.spec.table().shape[1] > 1
    options = {"label": 1} if several else {}
    same = rs.calibrate(ROWS_OF_FOUR[FOUR == 1], FOUR[FOUR == 1]) if several else rs.calibrate(ROWS_OF_FOUR, FOUR)
    if isinstance(condition, rs.PerLabelAndGroup):
        below = FOUR < 2
        same = rs.calibrate(ROWS_OF_FOUR[below], FOUR[below])
    assert rule.threshold(0.1, **options) == same.threshold(0.1)
    assert rule.coverage_band(0.1, **options) == same.coverage_band(0.1)
    assert rule.rank_profile(0.1, **options).counts.tolist() == same.rank_profile(0.1).counts.tolist()
    assert rule.describe(0.1, **options).endswith(
        same.describe(0.1).rpartition("if ")[2] if several else same.describe(0.1)
    )
    assert repr(rule)
    assert rule._repr_html_()
    assert rule.describe(0.1)
    if several:
        with refused(RuleError.which_group(condition, rule.spec.n_groups, ["label"])):
            rule.threshold(0.1)
    with refused(RuleError.group_unused(condition, "group")):
        rule.coverage_band(0.1, group="a", **options)


ANSWERS = {
    "threshold": lambda rule, **options: rule.threshold(0.1, **options),
    "coverage_band": lambda rule, **options: rule.coverage_band(0.1, **options),
    "rank_profile": lambda rule, **options: rule.rank_profile(0.1, **options),
    "describe": lambda rule, **options: rule.describe(0.1, **options).rpartition(" its ")[2],
}


@pytest.mark.parametrize("ask", ANSWERS.values(), ids=ANSWERS.keys())
def test_thresholds_of_an_own_condition_are_asked_for_by_group_and_label(ask):
    condition = rs.PerLabelAndGroup(rs.PerGroup(), PerSevereLabel(2))
    rule = rs.calibrate(ROWS_OF_FOUR, FOUR, condition=condition, groups=SITES)
    some = (SITES == "a") & (FOUR < 2)
    alone = rs.calibrate(ROWS_OF_FOUR[some], FOUR[some])
    assert (
        str(ask(rule, group="a", label=0))
        .replace("size_bounds=None", "")
        .endswith(str(ask(alone)).replace(f"size_bounds={alone.rank_profile(0.1).size_bounds}", ""))
    )
    with refused(RuleError.no_such_name("label", 9, (0, 1, 2, 3))):
        ask(rule, group="a", label=9)
    with refused(RuleError.no_such_name("group", "z", ("a", "b", "c"))):
        ask(rule, group="z", label=0)
    with refused(RuleError.which_group(condition, 9, ["group", "label"])):
        ask(rule, group="a", label=None)


def test_groups_of_an_own_condition_are_named_by_all_their_labels():
    rule = rs.calibrate(ROWS_OF_FOUR, FOUR, condition=PerSevereLabel(2))
    assert [line.split("  ")[1] for line in rule.describe(0.1).splitlines()[1:]] == [
        "labels 0, 1",
        "label 2",
        "label 3",
    ]
    with pytest.warns(rs.RanksetWarning, match="200 for labels 0, 1, 100 for label 2, 100 for label 3"):
        rule.predict(ROWS_OF_FOUR[:1], 0.001)


def test_an_own_condition_is_not_saved(tmp_path):
    with refused(StorageError):
        rs.calibrate(ROWS_OF_FOUR, FOUR, condition=PerSevereLabel(2)).save(tmp_path / "rule.rankset")


def test_clusters_by_class_name_are_told_how_to_be_passed():
    clusters = {"flu": "viral", "cold": "viral", "strep": "bacterial"}
    with refused(KindError.clusters_by_name(clusters)) as caught:
        rs.PerLabel(clusters)
    assert "[clusters[name] for name in classes]" in str(caught.value)
    assert rs.PerLabel([clusters[name] for name in clusters]).clusters == ("viral", "viral", "bacterial")


class TestSharingRows:
    """``Pooled`` and ``Balanced``: what they take, and what rules with them refuse."""

    PROBS, LABELS = rs.datasets.load("marketing")
    EXPECTED = "a list of positive numbers, one per class, in column order"

    @pytest.mark.parametrize("name", ["borrow", "tilt"])
    @pytest.mark.parametrize("value", [0, -1, 5e-324, np.nan, np.inf, 1e13, "5", None, True])
    def test_numbers_are_within_their_range(self, name, value):
        with refused(KindError.argument(name, "a number from 1e-06 to 1e+12", value)):
            rs.Pooled(**{name: value})

    @pytest.mark.parametrize(
        "shares",
        [
            [],
            [1, 0],
            [1, -1],
            [1, np.nan],
            [1, np.inf],
            [10**400],
            "12",
            b"ab",
            3,
            np.array(5),
            [[1], [2]],
            [1, 1e13],
            None,
        ],
    )
    def test_shares_are_positive_numbers(self, shares):
        with pytest.raises(KindError):
            rs.Balanced(shares)

    @pytest.mark.parametrize("shares", [{0: 3, 1: 1}, {3, 1}, "counts"], ids=["dict", "set", "series"])
    def test_shares_with_an_order_of_their_own_are_refused(self, shares):
        pandas = pytest.importorskip("pandas")
        given = pandas.Series([1, 1, 0]).value_counts() if shares == "counts" else shares
        for call in (rs.Balanced, lambda some: rs.auto(self.PROBS, self.LABELS, objective="macro", shares=some)):
            with refused(KindError.numbers_by_name("shares", self.EXPECTED, given)):
                call(given)

    def test_shares_of_any_scale_and_type_are_the_same_weights(self):
        known = rs.Balanced([4, 1, 2, 1])._sharing(4).weights.tolist()
        for shares in (np.array([0.5, 0.125, 0.25, 0.125]), (4e250, 1e250, 2e250, 1e250), iter([8, 2, 4, 2])):
            assert rs.Balanced(shares)._sharing(4).weights.tolist() == known
        assert repr(rs.Balanced([1e308] * 4)) == "Balanced(4 classes, shares from 0.25 to 0.25)"

    def test_there_is_one_share_per_class(self):
        with refused(LabelError.numbers_of_classes("Balanced", 4, 3)):
            rs.calibrate(self.PROBS, self.LABELS, condition=rs.Balanced([1, 2, 3]))

    @pytest.mark.parametrize("classes", [0, -1, 10**12])
    def test_fit_takes_a_possible_number_of_classes(self, classes):
        with refused(KindError.argument("classes", "a number of classes from 1 to 4,194,304", classes)):
            rs.Balanced.fit([0, 1], classes)

    def test_fit_counts_classes(self):
        assert rs.Balanced.fit(["b", "a", "b"], ["a", "b"]).shares == (1.0, 2.0)
        with refused(KindError.class_without_rows("c")):
            rs.Balanced.fit(["b", "a"], ["a", "b", "c"])
        with refused(KindError.argument("labels", "a list or an array of labels", np.array(3))):
            rs.Balanced.fit(np.array(3), 2)

    def test_a_subclass_shares_rows_too(self):
        @dataclass(frozen=True)
        class Own(rs.Pooled):
            """A subclass that changes nothing."""

        ours = rs.calibrate(self.PROBS, self.LABELS, condition=Own())
        assert (
            ours.p_values(self.PROBS)
            == rs.calibrate(self.PROBS, self.LABELS, condition=rs.Pooled()).p_values(self.PROBS)
        ).all()

    @pytest.mark.parametrize("outer", [rs.Pooled, rs.PerLabelAndGroup], ids=lambda kind: kind.__name__)
    def test_conditions_inside_do_not_share_rows(self, outer):
        with refused(KindError.shared_rows_inside(outer.__name__, rs.Pooled())):
            outer(rs.Pooled())

    def test_what_is_not_proven_is_refused(self):
        rule = rs.calibrate(self.PROBS, self.LABELS, condition=rs.Pooled())
        with refused(RuleError.shared_rows_and_confidence(rs.Pooled())):
            rule.predict(self.PROBS, 0.1, confidence=0.9)
        with refused(RuleError.band_of_shared_rows(rs.Pooled())):
            rule.coverage_band(0.1, label=1)
        with refused(RuleError.shared_rows_need_one_label(rs.Pooled(), rs.Cost({0: 1}, others=2))):
            rs.calibrate(self.PROBS, self.LABELS, condition=rs.Pooled(), target=rs.Cost({0: 1}, others=2))
        with refused(RuleError.decisions_by_shared_rows(rs.Pooled())):
            rs.triage(self.PROBS, self.LABELS, condition=rs.Pooled())

    def test_a_rule_with_one_group_is_described(self):
        for condition in (rs.PerLabel(["a"] * 4), rs.Pooled(rs.PerLabel(["a"] * 4))):
            rule = rs.calibrate(self.PROBS, self.LABELS, method="thr", condition=condition)
            assert rule.describe(0.1) == "keeps labels with a probability of at least 0.1806"

    def test_groups_without_rows_borrow(self):
        groups = ["north"] * 130 + ["south"] * 130
        rule = rs.calibrate(self.PROBS, self.LABELS, condition=rs.Pooled(rs.PerGroup()), groups=groups)
        with pytest.warns(rs.RanksetWarning, match="made from the rows of the other groups"):
            sets = rule.predict(self.PROBS[:2], 0.1, groups=["west", "west"])
        assert (sets.sizes < 4).all()

    def test_few_rows_keep_every_label_with_one_warning(self):
        rule = rs.calibrate(self.PROBS[:8], self.LABELS[:8], condition=rs.Pooled())
        with pytest.warns(rs.RanksetWarning, match="at least 9 calibration rows are needed for alpha=0.1, got 8"):
            assert (rule.predict(self.PROBS, 0.1).sizes == 4).all()

    def test_objectives_of_auto(self):
        counts = [1, 1, 2, 1]
        rule = rs.auto(self.PROBS, self.LABELS, objective="macro", shares=counts)
        assert rule.condition == rs.Pooled(rs.Balanced(counts))
        assert "macro coverage of at least 1 - alpha holds" in repr(rule)
        for options in (
            {"objective": "macro"},
            {"shares": counts},
            {"objective": "classes"},
            {"objective": "macro", "shares": counts, "condition": rs.PerLabel()},
        ):
            with pytest.raises(KindError):
                rs.auto(self.PROBS, self.LABELS, **options)
