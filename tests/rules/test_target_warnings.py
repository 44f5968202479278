"""Warnings about targets: promises that say nothing, and too few rows for labels that are certain."""

import warnings

import numpy as np
import pytest

import rankset as rs
from rankset.errors import COMMAND_LINE

PROBS, MASK = rs.datasets.load("goemotions")
PROBS, MASK = PROBS[:, :6], MASK[:, :6].copy()
MASK[::2, 0] = 1
CERTAIN = {"target": "certain", "kind": "marginals"}


def told(action):
    """Return the warnings of an action as texts."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        action()
    return [str(one.message) for one in caught]


def calibrated(target, condition, **more):
    return rs.calibrate(PROBS[:300], MASK[:300], target=target, kind="marginals", condition=condition, **more)


@pytest.mark.parametrize(
    ("m", "condition", "start", "end"),
    [
        (
            1,
            rs.PerLabel(),
            ": these groups have at most 1 label, of which 1 may be missed.",
            "leave out the condition.",
        ),
        (
            3,
            rs.PerLabel(),
            ": these groups have at most 1 label, of which 3 may be missed.",
            "leave out the condition.",
        ),
        (
            2,
            rs.PerLabel([0, 0, 0, 1, 1, 2]),
            " in 2 of 3 groups: these groups have at most 2 labels, of which 2 may be missed.",
            "leave out the condition.",
        ),
        (6, rs.Marginal(), ": there are at most 6 labels, of which 6 may be missed.", "Pass target='recall'."),
    ],
)
def test_a_target_that_promises_nothing_is_warned_of(m, condition, start, end):
    (text,) = told(lambda: calibrated(rs.AtMostMissed(m), condition))
    assert text.startswith(f"AtMostMissed(m={m}) with {condition!r} promises nothing{start} Pass target='recall'")
    assert text.endswith(end)


@pytest.mark.parametrize(
    ("target", "condition"),
    [
        (rs.AtMostMissed(0), rs.PerLabel()),
        (rs.AtMostMissed(1), rs.PerLabel([0, 0, 0, 1, 1, 1])),
        (rs.AtMostMissed(5), rs.Marginal()),
        (rs.Recall(), rs.PerLabel()),
    ],
)
def test_other_targets_and_groups_are_not(target, condition):
    assert told(lambda: calibrated(target, condition)) == []


def test_groups_of_rows_have_all_labels():
    groups = ["a", "b"] * 150
    assert told(lambda: calibrated("missed:1", rs.PerGroup(), groups=groups)) == []
    both = rs.PerLabelAndGroup(rs.PerGroup(), rs.PerLabel())
    assert len(told(lambda: calibrated("missed:1", both, groups=groups))) == 1


def test_auto_and_compare_warn_too_and_the_command_line_has_its_own_words():
    with pytest.warns(rs.RanksetWarning, match="promises nothing") as caught:
        rs.auto(PROBS[:300], MASK[:300], target="missed:1", kind="marginals", condition=rs.PerLabel())
    assert "Pass --target recall;" in caught[0].message.render(COMMAND_LINE)
    options = {"target": "missed:1", "kind": "marginals", "condition": rs.PerLabel(), "scores": ["thr"], "repeats": 2}
    (text,) = told(lambda: rs.compare(PROBS[:300], MASK[:300], 0.1, **options))
    assert text.startswith("AtMostMissed(m=1) with PerLabel() promises nothing: ")


def test_certain_labels_need_rows():
    rule = rs.calibrate(PROBS[:8], MASK[:8], **CERTAIN)
    wanted = ["at least 9 calibration rows are needed for alpha=0.1, got 8. All sets are empty."]
    assert told(lambda: rule.predict(PROBS[:5], 0.1)) == wanted
    assert told(lambda: rule.at(0.1)(PROBS[0])) == wanted
    assert not rule.at(0.2).predict(PROBS[:5]).mask.all()
    assert told(lambda: rule.predict(PROBS[:5], 0.2)) == []
    (text,) = told(lambda: rule.predict(PROBS[:5], 0.2, confidence=0.9))
    assert (
        text == "at least 11 calibration rows are needed for alpha=0.2 and confidence=0.9, got 8. All sets are empty."
    )


def test_certain_labels_of_groups_need_rows():
    groups = np.array(["a"] * 50 + ["b"] * 5)
    rule = rs.calibrate(PROBS[:55], MASK[:55], condition=rs.PerGroup(), groups=groups, **CERTAIN)
    needed = "at least 9 calibration rows are needed for alpha=0.1"
    few = f"{needed}, got 5 for group 'b'. In these groups every label is left out."
    assert told(lambda: rule.predict(PROBS[:3], 0.1, groups=["a", "b", "b"])) == [few]
    assert told(lambda: rule.predict(PROBS[:2], 0.1, groups=["a", "a"])) == []
    unseen = "no calibration rows for group 'c'. Sets for these rows are empty."
    assert told(lambda: rule.predict(PROBS[:2], 0.1, groups=["a", "c"])) == [unseen]
    with pytest.warns(rs.RanksetWarning):
        assert not rule.predict(PROBS[:3], 0.1, groups=["b", "b", "c"]).sizes.any()
