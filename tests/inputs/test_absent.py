"""The label ABSENT in every route users take. What it does to the guarantee is in laws/test_absent.py."""

import copy
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import rankset as rs
from rankset.errors import KindError, LabelError
from rankset.evaluation.resampling import halves
from rankset.inputs.per_row import named_labels
from refusals import refused

RNG = np.random.default_rng(5)
PROBS = RNG.dirichlet(np.ones(4) / 2, 300)
TRUTH = [int(label) for label in (PROBS.cumsum(axis=1) > RNG.random((300, 1))).argmax(axis=1)]
LABELS = [rs.ABSENT if row % 15 == 0 else label for row, label in enumerate(TRUTH)]
NAMES = ["ant", "bee", "cat", "dog"]
WORDS = [label if label is rs.ABSENT else NAMES[label] for label in LABELS]
RULE = rs.calibrate(PROBS[:150], LABELS[:150])


def test_there_is_one_object():
    assert pickle.loads(pickle.dumps(rs.ABSENT)) is rs.ABSENT  # noqa: S301
    assert copy.deepcopy([rs.ABSENT])[0] is rs.ABSENT
    assert repr(rs.ABSENT) == "rankset.ABSENT"


@pytest.mark.parametrize(
    "labels", [LABELS, tuple(LABELS), np.array(LABELS, dtype=object), pd.Series(LABELS), pd.Series(WORDS), WORDS]
)
def test_labels_of_every_type(labels):
    classes = NAMES if labels is WORDS or "ant" in set(map(str, labels)) else None
    rule = rs.calibrate(PROBS, labels, classes=classes)
    assert rule.n == 300
    assert rule.calibration.n_absent == 20
    assert rule.calibration == rs.calibrate(PROBS, LABELS).calibration
    assert repr(rule).endswith("calibrated on 300 rows, 20 of them with an absent label)")
    assert "20 of them" in rule._repr_html_()


def test_other_rows_get_the_keys_that_they_have_alone():
    present = [row for row, label in enumerate(LABELS) if label is not rs.ABSENT]
    alone = rs.calibrate(PROBS[present], [LABELS[row] for row in present])
    rule = rs.calibrate(PROBS, LABELS)
    assert all(
        (ours == theirs).all() for ours, theirs in zip(rule.calibration.keys, alone.calibration.keys, strict=True)
    )
    assert alone.n == rule.n - 20


def test_column_numbers_stand_for_names_beside_absent_labels():
    named = named_labels(np.array([1, rs.ABSENT, 3], dtype=object), np.array(NAMES))
    assert named.tolist() == ["bee", rs.ABSENT, "dog"]


def test_the_level_that_can_be_attained_is_named_exactly():
    rule = rs.calibrate(PROBS[:25], [rs.ABSENT, *TRUTH[1:25]])
    assert rule.smallest_alpha() == Fraction(1, 13)
    with pytest.warns(rs.RanksetWarning) as caught:
        sets = rule.predict(PROBS, 0.05)
    assert str(caught[0].message) == (
        "coverage of 1 - alpha cannot be attained for alpha=0.05: the true label is absent from 1 of 25 calibration "
        "rows, so with these rows at least 7.7 % of sets must be allowed to miss "
        "(alpha of at least 1/13, about 0.07693). "
        "So all sets contain every label."
    )
    assert sets.mask.all()
    rule.predict(PROBS, "1/13")
    rule.predict(PROBS, "0.07693")
    assert rule.threshold(0.05) is None
    assert rule.rank_profile(0.05).absent == 1
    assert rule.rank_profile(0.05).distribution.sum() == pytest.approx(24 / 25)
    band = rule.coverage_band(0.05)
    assert not band.attained
    assert np.isnan(band.mean)
    assert band.absent == 1
    assert "cannot be attained" in repr(band)
    assert "cannot be attained" in rule._repr_html_()
    attained = rule.coverage_band(0.1)
    assert attained.attained
    assert np.isnan(attained.mean)
    assert "mean" not in repr(attained)
    assert "coverage is at most the share of labels among the candidates" in repr(attained)


def test_groups_attain_their_own_levels():
    groups = ["north", "south"] * 150
    rule = rs.calibrate(PROBS, LABELS, condition=rs.PerGroup(), groups=groups)
    absent = [sum(label is rs.ABSENT for label in LABELS[start::2]) for start in (0, 1)]
    assert [rule.smallest_alpha(group=name) for name in ("north", "south")] == [Fraction(m + 1, 151) for m in absent]
    only_north = [rs.ABSENT if row % 2 == 0 and row < 100 else label for row, label in enumerate(TRUTH)]
    rule = rs.calibrate(PROBS, only_north, condition=rs.PerGroup(), groups=groups)
    with pytest.warns(rs.RanksetWarning, match="50 of 150 calibration rows for group 'north'"):
        sets = rule.predict(PROBS, 0.1, groups=groups)
    assert (sets.sizes[::2] == 4).all()
    assert (sets.sizes[1::2] < 4).any()


def test_all_labels_may_be_absent():
    rule = rs.calibrate(PROBS[:20], [rs.ABSENT] * 20)
    assert rule.smallest_alpha() == 1
    assert rule.coverage_band(0.1).low == 0.0
    with pytest.warns(rs.RanksetWarning, match="20 of 20"):
        sets = rule.predict(PROBS, 0.1)
    assert sets.mask.all()
    assert (rule.p_values(PROBS) == 1).all()
    assert rs.evaluate(sets, TRUTH).expected[0] == 0.0


@pytest.mark.parametrize("condition", [rs.PerLabel(), rs.PerLabel(list("aabb")), rs.PerLabelAndGroup()], ids=repr)
def test_conditions_on_labels_refuse_it(condition):
    groups = ["north", "south"] * 150 if condition.needs_groups else None
    for call in (rs.calibrate, rs.auto):
        with refused(LabelError.absent_condition(condition, 15)):
            call(PROBS, [TRUTH[0], *LABELS[1:]], condition=condition, groups=groups)
    with refused(LabelError.absent_condition(rs.PerLabel(), 0)):
        rs.calibrate(np.ones((3, 1)), [rs.ABSENT, 0, 0], condition=rs.PerLabel())


def test_missing_labels_are_still_refused_with_a_hint():
    for missing in (None, np.nan, pd.NA):
        with refused(LabelError.missing("labels", 1)):
            rs.calibrate(PROBS[:3], [0, missing, rs.ABSENT])
    assert "rankset.ABSENT" in str(LabelError.missing("labels", 1))
    assert "ABSENT" not in str(LabelError.missing("groups", 1))


def test_it_is_no_class_no_group_and_no_id():
    with refused(KindError.absent("class names")):
        rs.calibrate(PROBS, TRUTH, classes=["a", "b", "c", rs.ABSENT])
    for name in ("groups", "ids"):
        with refused(KindError.absent(name)):
            rs.calibrate(PROBS, TRUTH, condition=rs.PerGroup(), **{"groups": ["a"] * 300, name: [rs.ABSENT] * 300})


def test_errors_about_other_labels_name_their_rows():
    with refused(LabelError.out_of_range("labels", 2, 7, 4)):
        rs.calibrate(PROBS[:3], [rs.ABSENT, 0, 7])
    with refused(LabelError.unknown("labels", 2, ["elk"], tuple(NAMES))):
        rs.calibrate(PROBS[:3], [rs.ABSENT, "ant", "elk"], classes=NAMES)


def test_an_evaluation_counts_it_as_missed_and_as_no_class():
    sets = RULE.predict(PROBS[150:], 0.2)
    told = rs.evaluate(sets, LABELS[150:], groups=["all"] * 150)
    absent = np.array([label is rs.ABSENT for label in LABELS[150:]])
    covered = sets.covers(LABELS[150:])
    assert not covered[absent].any()
    assert (covered[~absent] == sets.covers(TRUTH[150:])[~absent]).all()
    assert told.coverage == covered.mean()
    assert told.absent == told.to_dict()["absent"] == 10
    assert sum(share.n for share in told.classes) == 140
    assert told.groups[0].n == 150
    assert told.macro_coverage == rs.evaluate(sets[~absent], np.array(LABELS[150:], object)[~absent]).macro_coverage
    assert "not among the candidates in 10 of 150 rows" in repr(told)
    assert told.attained
    with pytest.warns(rs.RanksetWarning):
        low = rs.evaluate(RULE.predict(PROBS[150:], 0.01), LABELS[150:])
    assert not low.attained
    assert "target 0.99 cannot be attained" in repr(low)
    assert "sampling variation" not in repr(low)
    assert "every candidate is in its set; the true label is among them in" in repr(low)
    assert low.expected[1] < 1
    assert np.isnan(rs.evaluate(sets[:1], [rs.ABSENT]).worst_class_coverage)


@pytest.mark.parametrize("score", [rs.Rank(), rs.Thr(), rs.Aps()], ids=repr)
def test_a_comparison_measures_what_calibrating_and_predicting_gives(score):
    result = rs.compare(PROBS, LABELS, 0.2, scores=[score], repeats=3)
    labels = np.array(LABELS, dtype=object)
    for split, (cal, test) in enumerate(halves(300, 3, 0)):
        sets = rs.calibrate(PROBS[cal], labels[cal], score=score).predict(PROBS[test], 0.2)
        told = rs.evaluate(sets, labels[test])
        assert [told[name] for name in result.measures] == pytest.approx(
            result.values[0, :, split].tolist(), nan_ok=True
        )
    assert np.isfinite(result.errors[0, 0])


@pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")
def test_a_comparison_at_a_level_that_no_half_attains_keeps_every_label():
    many = [rs.ABSENT if row % 2 == 0 else label for row, label in enumerate(TRUTH)]
    result = rs.compare(PROBS, many, 0.05, repeats=2)
    assert (result.values[:, result.measures.index("size")] == 4).all()
    with pytest.warns(rs.RanksetWarning, match="absent from 150 of 300 rows"):
        rs.compare(PROBS, many, 0.05, repeats=2)


def test_choosing_and_fitting_leave_it_out():
    present = [row for row, label in enumerate(LABELS) if label is not rs.ABSENT]
    kept = [LABELS[row] for row in present]
    assert rs.Temperature.fit(PROBS, LABELS) == rs.Temperature.fit(PROBS[present], kept)
    assert rs.Recalibrated.fit(PROBS, LABELS) == rs.Recalibrated.fit(PROBS[present], kept)
    assert rs.Seen.fit(["a", rs.ABSENT], ["a", "b"]).columns == (0,)
    rule = rs.auto(PROBS, LABELS, 0.2, share=0.5)
    assert 0 < rule.calibration.n_absent < 20
    assert "where it can be attained" in repr(rule)
    assert isinstance(rs.choose([rs.Rank(), rs.Thr()], PROBS, LABELS, 0.2), rs.Rank | rs.Thr)
    nothing = rs.auto(PROBS, [rs.ABSENT] * 300, 0.2, share=0.5)
    assert nothing.score.score == rs.Thr()


def test_a_report_does_not_claim_what_cannot_be_attained():
    study = rs.reports.study_rules([RULE], PROBS[150:], LABELS[150:])
    assert study.data["absent"] == {"calibration": 10, "rows": 10, "least": 11 / 151}
    (score,) = study.data["scores"]
    assert score["absent"] == 10
    assert score["tied"][0]
    assert sum(study.data["counts"]) == 140
    sets = RULE.predict(PROBS[150:], 0.2)
    at = study.data["alphas"].index(0.2)
    assert score["metrics"]["coverage"][at] == pytest.approx(sets.covers(LABELS[150:]).mean(), abs=1e-5)
    assert {row["label"] for row in score["ambiguous"]} <= {-1, 0, 1, 2, 3}
    plain = rs.reports.study_rules([rs.calibrate(PROBS, TRUTH)], PROBS, TRUTH).data
    assert "absent" not in plain
    assert "absent" not in plain["scores"][0]


def test_displays_take_it():
    pytest.importorskip("matplotlib")
    display = rs.RankDisplay.from_rule(RULE, 0.2)
    assert display.absent == 10
    assert display.counts.sum() == 140
    sets = RULE.predict(PROBS[150:], 0.2)
    shown = rs.CoverageDisplay.from_rule(RULE, PROBS[150:], LABELS[150:], alphas=[0.01, 0.2])
    assert shown.coverage[1] == sets.covers(LABELS[150:]).mean()
    assert shown.band[1][0] == 1.0
    assert shown.band[0][0] < 0.93


def test_a_classifier_refuses_it():
    sklearn = pytest.importorskip("sklearn.linear_model")
    with refused(LabelError.absent_class("a classifier", 0)):
        rs.ConformalClassifier(sklearn.LogisticRegression()).fit(PROBS, LABELS)
