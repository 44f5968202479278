"""Rules: what a user writes, and the answers."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from click.testing import CliRunner

import rankset as rs
from rankset.cli.commands import rankset
from rankset.core.alpha import exact_alpha
from rankset.core.promise import Promise
from rankset.errors import InputError, KindError, LabelError, RuleError
from refusals import like, refused


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 400)
    logits = rng.normal(size=(400, 3))
    logits[np.arange(400), labels] += 1.5
    return rs.softmax(logits), labels


def test_the_snippet_of_the_readme_runs_as_written(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    probs, labels, new_probs, true_labels = data[0][:200], data[1][:200], data[0][200:], data[1][200:]
    rule = rs.calibrate(probs, labels)
    sets = rule.predict(new_probs, alpha=0.1)
    assert all(len(labels) == size for labels, size in zip(sets, sets.sizes, strict=True))
    assert sets.mask.shape == (200, 3)
    assert sets.covers(true_labels).mean() > 0.8
    tight = rule.predict(new_probs, alpha=0.01)
    assert (tight.sizes >= sets.sizes).all()
    assert ((rule.p_values(new_probs) > 0.1) == sets.mask).all()
    profile = rule.rank_profile(0.1)
    low, high = profile.size_bounds
    assert low <= rule.expected_size(new_probs, alpha=0.1).mean <= high
    assert rule.coverage_band(0.1).low < 0.9 < rule.coverage_band(0.1).high
    logits = np.log(probs)
    rs.calibrate(
        logits, labels, kind="logits", score=rs.Raps(penalty=0.2, free_ranks=2), condition=rs.PerLabel()
    ).predict(np.log(new_probs), alpha=0.1)
    names = np.array(["cat", "dog", "fox"])
    named = rs.calibrate(probs, names[labels], classes=["cat", "dog", "fox"])
    assert set(named.predict(new_probs, alpha=0.1)[0]) <= set(names)
    hospital, new_hospital = ["a", "b"] * 100, ["b", "a"] * 100
    by_row = rs.calibrate(probs, labels, condition=rs.PerGroup(), groups=hospital)
    by_row.predict(new_probs, alpha=0.1, groups=new_hospital)
    assert rule.update(new_probs, true_labels).n == 400
    both = rule.merge(rs.calibrate(new_probs, true_labels))
    assert both == rs.calibrate(*data)
    rule.save("rule.rankset")
    assert rs.load("rule.rankset") == rule
    assert "coverage" in repr(rs.evaluate(sets, true_labels, alpha=0.1))


def test_sets_list_the_most_likely_label_first():
    rule = rs.calibrate([[0.5, 0.3, 0.2]] * 9, [2] * 9)
    assert rule.predict([[0.2, 0.5, 0.3]], 0.1).to_lists() == [[1, 2, 0]]


def test_a_users_own_score_needs_keys_only(data):
    class Gap:
        def keys(self, cells):
            return (cells.top - cells.prob,)

    rule = rs.calibrate(*data, score=Gap())
    assert rule.predict(data[0], 0.1).covers(data[1]).mean() >= 0.9
    assert rs.calibrate(*data, score=rs.TieBreak(Gap())).p_values(data[0]).shape == (400, 3)


def test_a_score_may_transform_its_rows_first(data):
    class Sharper:
        def transform(self, probs):
            powers = probs**2
            return powers / powers.sum(axis=1, keepdims=True)

        def keys(self, cells):
            return (-cells.prob,)

    squared = data[0] ** 2 / (data[0] ** 2).sum(axis=1, keepdims=True)
    expected = rs.calibrate(squared, data[1], score=rs.Thr()).predict(squared, 0.1)
    assert rs.calibrate(*data, score=Sharper()).predict(data[0], 0.1) == expected
    broken = rs.TieBreak(rs.TieBreak(Sharper()))
    assert rs.calibrate(*data, score=broken).threshold(0.1)[0] == rs.calibrate(*data, score=Sharper()).threshold(0.1)[0]


def test_a_transform_whose_masses_would_not_add_exactly_is_refused(data):
    class Tenfold:
        def transform(self, probs):
            return probs * 10

        def keys(self, cells):
            return (cells.mass,)

    with refused(InputError.not_addable(0, 0.6028266307558483, 10.0)):
        rs.calibrate(*data, score=Tenfold())


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (
            {"score": rs.Thr()},
            like(
                RuleError,
                what="rules that are used together",
                received="Rank() and Thr()",
                expected="have the same score",
                remedy="Calibrate all rules with the same score.",
            ),
        ),
        (
            {"condition": rs.PerLabel()},
            like(
                RuleError,
                what="rules that are used together",
                received="Marginal() and PerLabel()",
                expected="have the same condition",
                remedy="Calibrate all rules with the same condition.",
            ),
        ),
        ({"kind": "decision"}, RuleError.different("kind", "probs", "decision")),
        ({"seed": 1}, RuleError.different("seed", 0, 1)),
        ({"classes": ["a", "b", "c"]}, RuleError.different("classes", [0, 1, 2], ["a", "b", "c"])),
    ],
)
def test_rules_of_different_questions_do_not_merge(data, change, what):
    probs, labels = data
    other = rs.calibrate(probs, np.array(["a", "b", "c"])[labels] if "classes" in change else labels, **change)
    with refused(what):
        rs.calibrate(probs, labels).merge(other)


def test_merging_takes_the_union_of_groups_whatever_their_order(data):
    probs, labels = data
    condition = rs.PerLabelAndGroup(rs.PerLabel(), rs.PerGroup())
    names = np.where(np.arange(400) < 150, "south", np.where(np.arange(400) < 300, "north", "west"))
    first = rs.calibrate(probs[:150], labels[:150], condition=condition, groups=names[:150])
    rest = rs.calibrate(probs[150:], labels[150:], condition=condition, groups=names[150:])
    assert rest.merge(first) == first.merge(rest) == rs.calibrate(probs, labels, condition=condition, groups=names)


def test_one_groups_coverage_and_ranks_can_be_asked_for(data):
    probs, labels = data
    names = np.where(np.arange(400) < 99, "small", "large")
    rule = rs.calibrate(probs, labels, condition=rs.PerGroup(), groups=names)
    assert rule.coverage_band(0.1, group="small") == rs.calibrate(probs[:99], labels[:99]).coverage_band(0.1)
    assert rule.rank_profile(0.1, group="small").counts.sum() == 99
    per_label = rs.calibrate(probs, labels, condition=rs.PerLabel())
    assert per_label.coverage_band(0.1, label=1).n == (labels == 1).sum()
    both = rs.calibrate(probs, labels, condition=rs.PerLabelAndGroup(rs.PerGroup(), rs.PerLabel()), groups=names)
    assert both.coverage_band(0.1, group="small", label=2).n == (labels[:99] == 2).sum()
    with refused(RuleError.which_group(both.condition, 6, ("group", "label"))):
        both.coverage_band(0.1, group="small")
    with refused(RuleError.no_such_name("group", "tiny", ("large", "small"))):
        rule.coverage_band(0.1, group="tiny")


def test_the_rank_profile_of_topk_has_no_probability_and_a_size_of_its_own(data):
    profile = rs.calibrate(*data, score=rs.TopK()).rank_profile(0.1)
    assert profile.threshold_prob is None
    assert profile.size_bounds == (profile.r_star, profile.r_star)
    broken = rs.calibrate(*data, score=rs.TieBreak(rs.TopK())).rank_profile(0.1)
    assert broken.threshold_prob is None
    assert broken.size_bounds == (profile.r_star - 1, profile.r_star)


def test_sizes_are_bounded_only_where_a_row_has_one_threshold(data):
    probs, labels = data
    groups = np.where(np.arange(400) % 2, "odd", "even")
    both = rs.PerLabelAndGroup(rs.PerGroup(), rs.PerLabel())
    per_label = rs.calibrate(probs, labels, condition=rs.PerLabel())
    bounds = [per_label.rank_profile(0.1, label=label) for label in range(3)]
    assert [profile.size_bounds for profile in bounds] == [None] * 3
    assert rs.calibrate(probs[:5], labels[:5], condition=rs.PerLabel()).rank_profile(0.1, label=0).size_bounds is None
    crossed = rs.calibrate(probs, labels, condition=both, groups=groups)
    assert crossed.rank_profile(0.1, group="odd", label=1).size_bounds is None
    by_row = rs.calibrate(probs, labels, condition=rs.PerGroup(), groups=groups)
    for group in ("odd", "even"):
        low, high = by_row.rank_profile(0.1, group=group).size_bounds
        sizes = by_row.predict(probs, 0.1, groups=groups).sizes[groups == group]
        assert ((sizes >= low) & (sizes <= high)).all()
    one_cluster = rs.calibrate(probs, labels, condition=rs.PerLabel(clusters=[0, 0, 0]))
    assert one_cluster.rank_profile(0.1, label=1).size_bounds == rs.calibrate(*data).rank_profile(0.1).size_bounds


def test_sizes_are_told_of_rows_with_all_candidates_because_others_may_have_smaller_sets(tmp_path):
    rng = np.random.default_rng(5)
    values = rng.normal(size=(300, 5))
    rule = rs.calibrate(values, rng.integers(0, 5, 300), kind="decision")
    low, high = rule.rank_profile(0.1).size_bounds
    assert rule.predict(rs.Ragged(values, np.full(300, 2)), 0.1).sizes.max() == 2 < low
    rule.save(tmp_path / "rule.rankset")
    told = CliRunner().invoke(rankset, ["inspect", str(tmp_path / "rule.rankset"), "--alpha", "0.1"]).stdout
    assert f"r* {high}, sizes of rows with all candidates {low} to {high}" in told


def test_the_threshold_of_a_profile_is_taken_from_labels_at_r_star_and_the_papers_pi_star_from_all_rows(data):
    probs, labels = data
    profile, printed = rs.calibrate(probs, labels).rank_profile(0.1), rs.paper.printed_rule(probs, labels, 0.1)
    ranks = (probs > probs[np.arange(400), labels][:, np.newaxis]).sum(axis=1) + 1
    own = np.sort(probs[np.arange(400), labels][ranks == profile.r_star])[::-1]
    needed = 401 - int(401 * 0.1) - (ranks < profile.r_star).sum()
    assert profile.threshold_prob == own[needed - 1]
    assert profile.r_star == printed.r_star
    assert profile.threshold_prob != printed.pi_star
    assert not hasattr(profile, "pi_star")


def test_a_rank_profile_of_too_few_rows_keeps_everything(data):
    profile = rs.calibrate(data[0][:5], data[1][:5]).rank_profile(0.1)
    assert (profile.r_star, profile.threshold_prob, profile.size_bounds) == (3, None, (3, 3))


def test_a_rank_profile_needs_a_score_that_ranks(data):
    with refused(
        RuleError, what="rank_profile", received="the score Thr()", remedy="Calibrate with the score Rank() or TopK()."
    ):
        rs.calibrate(*data, score=rs.Thr()).rank_profile(0.1)


def test_the_expected_size_has_the_standard_error_of_a_mean(data):
    rule = rs.calibrate(*data)
    sizes = rule.predict(data[0], 0.1).sizes
    estimate = rule.expected_size(data[0], 0.1)
    assert estimate.mean == sizes.mean()
    assert estimate.error == pytest.approx(sizes.std(ddof=1) / 20)
    assert rule.expected_size(data[0][:1], 0.1).error == np.inf
    with refused(RuleError.no_unlabelled_rows()):
        rule.expected_size(data[0][:0], 0.1)


def test_a_coverage_band_of_too_few_rows_is_certain(data):
    band = rs.calibrate(data[0][:5], data[1][:5]).coverage_band(0.1)
    assert (band.low, band.mean, band.high) == (1, 1, 1)


def test_a_repr_tells_score_condition_kind_and_size(data):
    assert repr(rs.calibrate(*data)) == "Rule(Rank(), Marginal(), kind='probs', 3 classes, calibrated on 400 rows)"


def test_binary_problems_take_the_probability_of_the_second_class():
    second = np.array([0.1, 0.9, 0.4, 0.8, 0.3, 0.7, 0.2, 0.6, 0.55])
    labels = np.array([0, 1, 0, 1, 0, 1, 0, 1, 0])
    rule = rs.calibrate(second, labels, kind="binary")
    matrix = rs.calibrate(np.column_stack((1 - second, second)), labels)
    assert rule.predict([0.97], 0.2).to_lists() == matrix.predict([[1 - 0.97, 0.97]], 0.2).to_lists() == [[1]]


def test_seeds_change_the_draws_of_randomised_scores(data):
    one, other = (rs.calibrate(*data, score=rs.Aps(), seed=seed).predict(data[0], 0.2) for seed in (0, 1))
    assert one != other
    assert rs.calibrate(*data, seed=0).predict(data[0], 0.2) == rs.calibrate(*data, seed=1).predict(data[0], 0.2)


def test_rules_and_sets_are_values(data):
    rule = rs.calibrate(*data)
    assert rule == rs.calibrate(*data)
    assert rule != rs.calibrate(data[0][:-1], data[1][:-1])
    assert rule != "rule"
    with pytest.raises(AttributeError):
        rule.spec = None


def test_warnings_point_at_the_users_own_line(data):
    rule = rs.calibrate(data[0][:5], data[1][:5])
    for ask in (lambda: rule.predict(data[0], 0.1), lambda: rule.expected_size(data[0], 0.1)):
        with pytest.warns(rs.RanksetWarning) as caught:
            ask()
        assert [warning.filename for warning in caught] == [__file__]


def test_no_rows_no_warning(data):
    assert len(rs.calibrate(data[0][:5], data[1][:5]).predict(data[0][:0], 0.1)) == 0


def test_a_tiny_level_keeps_everything(data):
    with pytest.warns(
        rs.RanksetWarning, match=r"at least 1e\+300 calibration rows are needed for alpha=1e-300, got 400"
    ):
        assert rs.calibrate(*data).predict(data[0], 1e-300).sizes.min() == 3


def test_what_a_rule_cannot_use_is_refused_not_ignored(data):
    rule = rs.calibrate(*data)
    with refused(
        RuleError,
        what="group",
        received="a group for Marginal()",
        expected="not be passed if the rule does not have one threshold per group",
    ):
        rule.coverage_band(0.1, group="north")
    with refused(
        RuleError,
        what="label",
        received="a label for Marginal()",
        expected="not be passed if the rule does not have one threshold per label",
    ):
        rule.rank_profile(0.1, label=1)
    with refused(InputError.length("labels", 0, 2)):
        rule.update(data[0][:0], [1, 2])
    with refused(RuleError.not_a_rule(None)):
        rule.merge(None)


@pytest.mark.parametrize("confidence", ["x", None, 0, 1, 90])
def test_a_confidence_is_a_share(data, confidence):
    rule = rs.calibrate(*data)
    with refused(KindError, what="confidence", expected="be a number between 0 and 1"):
        rule.coverage_band(0.1, confidence=confidence)
    with refused(KindError, what="confidence", expected="be a number between 0 and 1"):
        rs.evaluate(rule.predict(data[0], 0.1), data[1], confidence=confidence)


def test_numbers_beyond_all_floats_apart_are_no_trouble():
    assert rs.softmax([[1e308, -1e308]]).tolist() == [[1.0, 0.0]]
    rule = rs.calibrate([[1.7e308, -1.7e308]] * 4, [0, 0, 0, 1], score=rs.Margin(), kind="decision")
    assert rule.predict([[1.7e308, -1.7e308]], 0.5).to_lists() == [[0]]


def test_ids_are_given_both_times_or_never(data):
    probs, labels = data
    numbers = np.arange(len(labels))
    with_ids, without = (rs.calibrate(probs, labels, score=rs.Aps(), ids=ids) for ids in (numbers, None))
    for ask in (with_ids.p_values, lambda p: with_ids.predict(p, 0.1), lambda p: with_ids.update(p, labels)):
        with refused(RuleError.ids("with", "without")):
            ask(probs)
    for ask in (
        without.p_values,
        lambda p, ids: without.predict(p, 0.1, ids=ids),
        lambda p, ids: without.update(p, labels, ids=ids),
    ):
        with refused(RuleError.ids("without", "with")):
            ask(probs, ids=numbers)
    with refused(RuleError.ids("with", "without")):
        with_ids.merge(without)
    assert rs.calibrate(probs, labels, ids=numbers).predict(probs, 0.1) == rs.calibrate(probs, labels).predict(
        probs, 0.1
    )


def test_identical_rows_are_covered_only_because_ids_come_both_times():
    rng = np.random.default_rng(1)
    probs, numbers = np.tile([0.6, 0.4], (4000, 1)), np.arange(4000)
    labels = (rng.random(4000) < 0.4).astype(int)
    rule = rs.calibrate(probs[:2000], labels[:2000], score=rs.Aps(), ids=numbers[:2000])
    covered = rule.predict(probs[2000:], 0.1, ids=numbers[2000:]).covers(labels[2000:])
    assert covered.mean() == pytest.approx(0.9, abs=0.04)


def test_rows_may_calibrate_once(data):
    rule = rs.calibrate(*data)
    with refused(RuleError.itself()):
        rule.merge(rule)


def test_a_rule_tells_what_it_is_and_where_it_cuts(data):
    rule = rs.calibrate(*data, score=rs.Thr())
    assert (rule.score, rule.condition, rule.kind, rule.groups.tolist()) == (rs.Thr(), rs.Marginal(), "probs", [])
    (key,) = rule.threshold(0.1)
    assert ((data[0] >= -key) == rule.predict(data[0], 0.1).mask).all()
    assert rs.calibrate(data[0][:5], data[1][:5]).threshold(0.1) is None


def test_a_band_says_where_ties_raise_coverage(data):
    assert not rs.calibrate(*data).coverage_band(0.1).tied
    tied = rs.calibrate(*data, score=rs.TopK()).coverage_band(0.1)
    assert tied.tied
    assert "tied: coverage may be higher" in repr(tied)


def test_what_a_rule_holds_cannot_be_changed_by_accident(data):
    rule = rs.calibrate(*data)
    with pytest.raises(ValueError, match="read-only"):
        rule.calibration.keys[0][0] = 7


def test_many_threads_may_ask_one_rule_at_many_levels(data):
    rule = rs.calibrate(*data)
    levels = [f"{level / 1000:.3f}" for level in range(1, 300)]
    expected = [rule.calibration.thresholds(Promise(exact_alpha(alpha))).everything.tolist() for alpha in levels]
    with ThreadPoolExecutor(16) as pool:
        for _ in range(5):
            got = list(
                pool.map(
                    lambda alpha: rule.calibration.thresholds(Promise(exact_alpha(alpha))).everything.tolist(), levels
                )
            )
            assert got == expected


def test_a_condition_of_ones_own_must_number_its_groups():
    class Beyond:
        needs_groups = False

        def count(self, n_columns, n_row_groups):
            return 1

        def numbers(self, columns, row_groups, n_columns, n_row_groups):
            return np.full((1, 1), self.number)

    condition = Beyond()
    for condition.number in (-1, 1, 0.5):
        with refused(
            LabelError, what="a condition", expected="return group numbers from 0 to 0 for the calibration rows"
        ):
            rs.calibrate([[0.5, 0.5]], [0], condition=condition)


def test_an_absent_labels_rank_profile_is_empty_not_a_division_by_zero(data):
    rule = rs.calibrate(data[0], data[1] % 2, condition=rs.PerLabel())
    assert rule.rank_profile(0.1, label=2).distribution.tolist() == [0, 0, 0]
