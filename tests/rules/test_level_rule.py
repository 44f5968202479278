"""A rule at one level: the sets of the rule, and nothing it cannot know."""

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest

import rankset as rs
from entry_points import GROUPS, LABELS, PROBS, N
from rankset.engines.worker_tasks import PredictionTask
from rankset.errors import KindError, LabelError, RuleError
from refusals import refused

CONDITIONS = {
    "marginal": (rs.Marginal(), None),
    "per label": (rs.PerLabel(), None),
    "per row": (rs.PerGroup(), GROUPS),
    "both": (rs.PerLabelAndGroup(rs.PerGroup(), rs.PerLabel()), GROUPS),
    "pooled": (rs.Pooled(rs.PerLabel()), None),
    "pooled per row": (rs.Pooled(rs.PerGroup()), GROUPS),
    "balanced": (rs.Balanced([1, 2, 3]), None),
}
MANY = np.tile(PROBS, (50, 1)), np.tile(LABELS, 50)


@pytest.mark.parametrize(("condition", "groups"), CONDITIONS.values(), ids=CONDITIONS.keys())
@pytest.mark.parametrize("score", [rs.Rank(), rs.Aps()], ids=repr)
@pytest.mark.parametrize("empty", ["allow", "top"])
@pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")
def test_a_level_rule_gives_the_sets_of_the_rule_also_after_a_journey(condition, groups, score, empty):
    ids = None if score == rs.Rank() else np.arange(N)
    rule = rs.calibrate(PROBS, LABELS, score=score, condition=condition, groups=groups, ids=ids)
    expected = rule.predict(PROBS, 0.2, groups=groups, ids=ids, empty=empty)
    at = rule.at(0.2)
    for one in (at, pickle.loads(pickle.dumps(at)), copy.deepcopy(at)):  # noqa: S301
        sets = one.predict(PROBS, groups=groups, ids=ids, empty=empty)
        assert sets == expected
        assert (sets.level, sets.law) == (expected.level, expected.law)
        parts = list(one.predict_parts(PROBS, groups=groups, ids=ids, empty=empty, rows=7))
        assert rs.PredictionSets.concat(parts) == expected


def test_a_level_rule_says_what_it_is_and_nothing_it_cannot_know():
    rule = rs.calibrate(PROBS, LABELS, condition=rs.PerGroup(), groups=GROUPS)
    at = rule.at("0.2")
    assert isinstance(at, rs.LevelRule)
    assert not isinstance(at, rs.Rule)
    assert repr(at) == "LevelRule(alpha=0.2, Rank(), PerGroup(), kind='probs', 3 classes, calibrated on 40 rows)"
    assert (at.alpha, at.n, at.kind, at.score, at.condition) == (0.2, N, "probs", rs.Rank(), rs.PerGroup())
    assert (at.classes.tolist(), at.groups.tolist()) == (rule.classes.tolist(), rule.groups.tolist())
    unknown = ("save", "merge", "update", "anew", "p_values", "tails", "threshold", "coverage_band", "rank_profile")
    assert [name for name in (*unknown, "expected_size", "calibration", "at") if hasattr(at, name)] == []
    with pytest.raises(TypeError):
        at.predict(PROBS, 0.1, groups=GROUPS)
    with refused(RuleError, what="a rule", received="LevelRule"):
        rule.merge(at)
    with refused(
        KindError,
        what="rule",
        received="LevelRule(alpha=0.2, Rank(), PerGroup(), kind='probs', 3 classes, calibrated on…",
        expected="be a Rule, the result of calibrate",
    ):
        PredictionTask.of(at, 0.2, "allow")
    with refused(LabelError, what="PerGroup()", received="no groups", expected="get the group of every row"):
        at.predict(PROBS)
    assert not hasattr(rule, "thinned")


def test_a_level_rule_is_as_small_as_its_thresholds():
    rule = rs.calibrate(*MANY)
    rule.predict(PROBS, 0.1)
    assert rule.classes.tolist() == [0, 1, 2]
    assert len(pickle.dumps(rule.at(0.1))) < 1100 < len(pickle.dumps(rule)) / 10
    per_label = rs.calibrate(*MANY, condition=rs.PerLabel())
    assert len(pickle.dumps(per_label.at(0.1))) < 1200
    for condition in (rs.Pooled(), rs.Balanced([1, 2, 3])):
        shared = rs.calibrate(*MANY, condition=condition)
        shared.predict(PROBS, 0.1)
        assert len(pickle.dumps(shared.at(0.1))) < 1400


def test_a_level_rule_warns_as_the_rule_does():
    rule = rs.calibrate(PROBS[:5], LABELS[:5])
    with pytest.warns(
        rs.RanksetWarning,
        match=r"at least 9 calibration rows are needed for alpha=0\.1, got 5. All sets contain every label",
    ):
        rule.at(0.1).predict(PROBS)
    by_group = rs.calibrate(PROBS, LABELS, condition=rs.PerGroup(), groups=GROUPS)
    with pytest.warns(rs.RanksetWarning, match="no calibration rows for group 'west'"):
        sets = by_group.at(0.1).predict(PROBS[:2], groups=["west", "north"])
    assert sets.sizes[0] == 3


def test_what_rules_hold_cannot_be_written_to_after_a_journey_either():
    rule = rs.calibrate(PROBS, LABELS)
    sets, at, rows = rule.predict(PROBS, 0.1), rule.at(0.1), rs.Ragged(PROBS, np.full(N, 3))
    assert rule.classes.tolist() == sets.classes.tolist() == [0, 1, 2]  # remembered now, and remembered by pickle

    def arrays(rule, sets, at, rows):
        yield from (*rule.calibration.keys, rule.calibration.offsets, rule.classes)
        yield from (sets.offsets, sets.codes, sets.classes)
        yield from (*at.thresholds.keys, at.thresholds.everything, at.counts, at.classes)
        yield rows.counts

    things = (rule, sets, at, rows)
    journeys = (lambda value: pickle.loads(pickle.dumps(value)), copy.deepcopy, copy.copy)  # noqa: S301
    for journey in journeys:
        there = [journey(thing) for thing in things]
        assert there[0] == rule
        assert there[1] == sets
        for array in arrays(*there):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0


@pytest.mark.filterwarnings("ignore:alpha is the allowed error rate")
def test_a_rule_keeps_its_last_levels_and_does_not_pickle_them():
    many = rs.calibrate(np.full((1, 1100), 1 / 1100), [0], condition=rs.PerLabel())
    few = rs.calibrate(PROBS, LABELS)
    for rule, most in ((many, 0), (few, 64)):
        before = pickle.dumps(rule)
        for percent in range(1, 90):
            rule.at(Fraction(percent, 100))
        assert len(rule._levels) <= most
        assert pickle.dumps(rule) == before
        assert pickle.loads(before) == rule  # noqa: S301
    assert few.at(0.1) is few.at("0.1")
