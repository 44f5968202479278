"""``describe``: what thresholds mean in words, for every score, condition and kind of rows."""

import re
from dataclasses import dataclass

import numpy as np
import pytest

import rankset as rs
from entry_points import GROUPS, LABELS, PROBS, N
from rankset.errors import KindError, LevelError, RuleError
from refusals import refused

SENTENCES = {
    "rank": (rs.Rank(), "keeps the 2 most likely labels, and a third if its probability is at least 0.1358"),
    "top": (rs.TopK(), "keeps the 3 most likely labels"),
    "thr": (rs.Thr(), "keeps labels with a probability of at least 0.1806"),
    "margin": (
        rs.Margin(),
        "keeps the most likely label, and every label whose probability is at most 0.2131 below the largest",
    ),
    "aps": (
        rs.Aps(),
        (
            "keeps labels from the most likely down until their probabilities add up to 0.8513; the label that exceeds "
            "this sum may be kept, by a random draw; a set can be empty"
        ),
    ),
    "aps without a draw": (
        rs.Aps(randomized=False),
        (
            "keeps labels from the most likely down as long as their probabilities add up to at most 0.9334; a set can "
            "be empty"
        ),
    ),
    "raps without a draw": (
        rs.Raps(0.1, 1, randomized=False),
        (
            "keeps labels from the most likely down as long as their probabilities, plus 0.1 for every rank after 1, "
            "add up to at most 1.114"
        ),
    ),
    "saps without a draw": (
        rs.Saps(0.2, randomized=False),
        (
            "keeps labels from the most likely down as long as the largest probability of the row, plus 0.2 for every "
            "rank after the first, amounts to at most 0.933; a set can be empty"
        ),
    ),
    "tie break": (
        rs.TieBreak(rs.TopK()),
        (
            "keeps the 2 most likely labels, and a third if the random number of the row, between 0 and 1, is at most "
            "0.848"
        ),
    ),
    "tie break of rank": (
        rs.TieBreak(rs.Rank()),
        (
            "keeps the 2 most likely labels, and a third if its probability is at least 0.1358. A label exactly at "
            "this limit is kept only if the random number of its row, between 0 and 1, is at most 0.4003"
        ),
    ),
    "temperature": (rs.Temperature(0.5), "keeps labels with a recalibrated probability of at least 0.1098"),
    "chosen": (rs.Chosen(rs.Thr(), "why not"), "keeps labels with a probability of at least 0.1806"),
    "seen": (
        rs.Seen(rs.Thr(), (0, 1), 4),
        "keeps the 2 classes seen in training, and other labels with a probability of at least 0.2634",
    ),
}


@pytest.mark.parametrize(("score", "sentence"), SENTENCES.values(), ids=SENTENCES.keys())
def test_sentences(score, sentence):
    assert rs.calibrate(*rs.datasets.load("marketing"), score=score).describe(0.1) == sentence


def test_other_classes_than_the_seen_ones_are_left_out_where_all_rows_are_of_seen_classes():
    rule = rs.calibrate(PROBS, LABELS % 2, score=rs.Seen(rs.Thr(), (0, 1), 3))
    told = rule.describe(0.1)
    assert told.startswith("leaves out all but the 2 classes seen in training: ")
    bound = float(rule.describe(0.1, digits=17).rpartition(" ")[2])
    shares = PROBS[:, :2] / PROBS[:, :2].sum(axis=1, keepdims=True)
    mask = rule.predict(PROBS, 0.1).mask
    assert not mask[:, 2].any()
    assert (mask[:, :2] == (shares >= bound)).mean() > 0.98  # the sum is exact in the rule, and rounded here


@dataclass(frozen=True)
class Gap:
    features = ("top", "prob")

    def keys(self, cells):
        return (cells.top - cells.prob,)


@dataclass(frozen=True)
class Worded(Gap):
    def keys(self, cells):
        return (cells.top - cells.prob, cells.prob)

    def describe(self, threshold, wording):
        return f"keeps by {wording.entry}: {' '.join(map(wording.number, threshold))}"


@dataclass(frozen=True)
class Doubled(rs.Thr):
    def keys(self, cells):
        return (-2 * cells.prob,)


def test_scores_of_ones_own_are_described_by_themselves_or_by_numbers():
    (gap,) = rs.calibrate(PROBS, LABELS, score=Gap()).threshold(0.1)
    told = rs.calibrate(PROBS, LABELS, score=Gap()).describe(0.1)
    assert told == f"keeps labels whose score value is at most {gap:.4g}"
    assert rs.calibrate(PROBS, LABELS, score=Worded()).describe(0.1).startswith("keeps by probability: ")
    broken = rs.calibrate(PROBS, LABELS, score=rs.TieBreak(Gap())).describe(0.1)
    assert broken.startswith(f"keeps labels whose score value is at most {gap:.4g}. A label exactly at this limit ")
    doubled = rs.calibrate(PROBS, LABELS, score=Doubled())
    (bound,) = doubled.threshold(0.1)
    assert doubled.describe(0.1) == f"keeps labels whose score value is at most {bound:.4g}"


def test_values_are_not_called_probabilities():
    rule = rs.calibrate(np.log(PROBS), LABELS, kind="decision")
    assert "with the largest values, and a third if its value is at least -" in rule.describe(0.1)
    assert "probability" in rs.calibrate(np.log(PROBS), LABELS, kind="logits").describe(0.1)


def test_too_few_rows_keep_every_label():
    rule = rs.calibrate(PROBS[:9], LABELS[:9])
    assert rule.describe(0.05) == "keeps every label: alpha=0.05 needs at least 19 calibration rows, got 9"


def test_every_group_has_its_line():
    rule = rs.calibrate(PROBS, LABELS, condition=rs.PerGroup(), groups=GROUPS)
    told = rule.describe(0.2).splitlines()
    assert told[0] == "The set of a row follows the rule of its group:"
    assert told[1:] == [f"  group '{name}'  {rule.describe(0.2, group=name)}" for name in ("north", "south")]
    by_label = rs.calibrate(PROBS, LABELS, condition=rs.PerLabel(["a", "b", "a"]))
    told = by_label.describe(0.2).splitlines()
    assert told[0] == "Every label has its own condition:"
    assert [line[:14] for line in told[1:]] == ["  labels 0, 2 ", "  label 1     "]
    alone = by_label.describe(0.2, label=2)
    assert alone.startswith("labels 0, 2: in the set if it is ")
    assert told[1].endswith(alone.partition(": ")[2])


LABEL_SENTENCES = {
    "rank": (
        rs.Rank(),
        r"it is one of the 2 most likely labels, or it is the third and its probability is at least \S+",
    ),
    "top": (rs.TopK(), "it is one of the 3 most likely labels"),
    "thr": (rs.Thr(), r"its probability is at least \S+"),
    "margin": (rs.Margin(), r"its probability is at most \S+ below the largest"),
    "aps": (
        rs.Aps(),
        r"a random share of its probability and the probabilities of all more likely labels add up to at most \S+",
    ),
    "aps without a draw": (
        rs.Aps(randomized=False),
        r"its probability and the probabilities of all more likely labels add up to at most \S+",
    ),
    "raps without a draw": (
        rs.Raps(0.1, 1, randomized=False),
        (
            r"its probability and the probabilities of all more likely labels, plus 0\.1 for every rank after 1 up to "
            r"its own, add up to at most \S+"
        ),
    ),
    "average": (rs.Average(), r"1 x \(1 - probability\) \+ .* is at most \S+"),
    "tempered": (
        rs.Tempered(rs.Thr(), 1.5),
        r"its probability is at least [\d.]+\. All probabilities are those at temperature 1\.5",
    ),
    "temperature": (rs.Temperature(0.5), r"its recalibrated probability is at least \S+"),
    "chosen": (rs.Chosen(rs.TopK(), "why not"), "it is one of the 3 most likely labels"),
    "tie break": (
        rs.TieBreak(rs.TopK()),
        (
            r"it is one of the 2 most likely labels, or it is the third and the random number of its row, between 0 "
            r"and 1, is at most \S+"
        ),
    ),
    "seen": (rs.Seen(rs.Thr(), (0, 1), 4), "this rule keeps it: keeps the 2 classes seen in training.*"),
}


@pytest.mark.parametrize(("score", "sentence"), LABEL_SENTENCES.values(), ids=LABEL_SENTENCES.keys())
def test_sentences_about_one_label(score, sentence):
    probs, labels = rs.datasets.load("marketing")
    names = np.array(["joy", "sadness", "fear", "anger"])
    if isinstance(score, rs.Seen):
        names = np.arange(4)
    rule = rs.calibrate(probs, names[labels], score=score, classes=names, condition=rs.PerLabel())
    assert re.fullmatch(f"label {names.tolist()[2]!r}: in the set if {sentence}", rule.describe(0.1, label=names[2]))


def test_labels_with_too_few_rows_are_always_in_the_set():
    rule = rs.calibrate(PROBS, LABELS, condition=rs.PerLabel())
    assert re.search(
        r"label 1 +always in the set: alpha=0\.001 needs at least 999 calibration rows", rule.describe(0.001)
    )


def test_the_temperature_is_a_sentence_of_its_own():
    told = rs.calibrate(*rs.datasets.load("marketing"), score=rs.Tempered(rs.Aps(), 1.5)).describe(0.1)
    assert "may be kept, by a random draw. All probabilities are those at temperature 1.5" in told


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (rs.PerLabel(), "PerLabel()"),
        (rs.PerLabel(["a", 1]), "PerLabel(clusters=('a', 1))"),
        (rs.PerLabelAndGroup(), "PerLabelAndGroup()"),
        (rs.PerLabelAndGroup(rs.PerGroup(), rs.PerGroup()), "PerLabelAndGroup(first=PerGroup(), second=PerGroup())"),
    ],
)
def test_defaults_of_conditions_are_not_shown(condition, text):
    assert repr(condition) == text


def test_many_groups_are_cut_short():
    groups = [f"g{row}" for row in range(N)]
    rule = rs.calibrate(PROBS, LABELS, condition=rs.PerGroup(), groups=groups)
    told = rule.describe(0.2).splitlines()
    assert len(told) == 12
    assert told[-1] == f"  … and {N - 10} more"
    assert "and 30 more thresholds" in rule._repr_html_()


def test_notebooks_show_the_sentences():
    rule = rs.calibrate(PROBS, LABELS)
    assert rule.describe(0.1) in rule._repr_html_()
    grouped = rs.calibrate(PROBS, LABELS, condition=rs.PerGroup(), groups=GROUPS)
    assert grouped.describe(0.1, group="north") in grouped._repr_html_()


@pytest.mark.parametrize("digits", [0, 18, 2.5, "4", True])
def test_digits_that_cannot_be(digits):
    with refused(KindError.argument("digits", "an integer from 1 to 17", digits)):
        rs.calibrate(PROBS, LABELS).describe(0.1, digits=digits)


@pytest.mark.parametrize("more", [{}, {"next_rows": 40}, {"all_groups": True}])
def test_a_promise_about_this_calibration_has_its_own_threshold(more):
    rule = rs.calibrate(PROBS, LABELS, method="thr", condition=rs.PerGroup(), groups=GROUPS)
    told = rule.describe(0.3, confidence=0.9, digits=17, **more)
    assert told == rule.at(0.3, confidence=0.9, **more).describe(digits=17)
    assert told != rule.describe(0.3, digits=17)
    with refused(KindError.argument("confidence", "a number strictly between 0 and 1, such as 0.95", 1.5)):
        rule.describe(0.3, confidence=1.5)


def test_what_describe_refuses():
    rule = rs.calibrate(PROBS, LABELS)
    with refused(RuleError.group_unused(rs.Marginal(), "group")):
        rule.describe(0.1, group="north")
    with refused(LevelError):
        rule.describe(0)
    grouped = rs.calibrate(PROBS, LABELS, condition=rs.PerGroup(), groups=GROUPS)
    with refused(RuleError.no_such_name("group", "west", ("north", "south"))):
        grouped.describe(0.1, group="west")


def test_zero_has_no_sign():
    rule = rs.calibrate([[1.0, 0.0], [0.5, 0.5]] * 20, [1, 0] * 20, method="thr")
    assert rule.describe(0.1) == "keeps labels with a probability of at least 0"
    assert rs.Wording().number(-0.0) == "0"


def test_labels_that_share_rows_need_all_rows_together():
    rows = np.arange(120) % N
    rule = rs.calibrate(PROBS[rows], LABELS[rows], condition=rs.Pooled(rs.PerLabel()))
    told = rule.describe(0.001)
    assert told.count("needs at least 999 calibration rows, got 120") == PROBS.shape[1]
