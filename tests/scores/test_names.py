"""Scores by name: the argument ``method=`` takes a score, its name, or "auto", wherever scores are taken."""

import numpy as np
import pytest

import rankset as rs
from rankset.errors import COMMAND_LINE, InputError, KindError, LevelError, ScoreError
from rankset.evaluation.default_scores import DEFAULT_SCORES
from rankset.scores import BUILT_IN, NAMED_SCORES
from rankset.scores.names import NEED_ARGUMENTS
from refusals import refused

PROBS, LABELS = rs.datasets.load("marketing")
LOGITS, TRUTH = (part[:1200] for part in rs.datasets.load("carer"))
KNOWN = tuple(NAMED_SCORES)


@pytest.mark.parametrize("name", KNOWN)
def test_a_name_is_its_score(name):
    expected = rs.calibrate(PROBS, LABELS, method=NAMED_SCORES[name])
    for spelled in (name, name.upper(), f" {name.title()} "):
        assert rs.calibrate(PROBS, LABELS, method=spelled) == expected
        assert rs.calibrate(PROBS, LABELS, score=spelled) == expected
    assert rs.calibrate(PROBS, LABELS, score=NAMED_SCORES[name]) == expected


def test_names_are_those_of_classes_with_the_parameters_of_the_paper():
    assert NAMED_SCORES["lac"] == NAMED_SCORES["thr"] == rs.Thr()
    assert {type(score).__name__.lower() for score in NAMED_SCORES.values()} == {*NAMED_SCORES} - {"lac"}
    assert [NAMED_SCORES[name] for name in ("rank", "thr", "aps", "raps", "saps")] == list(DEFAULT_SCORES)
    assert NAMED_SCORES["raps"] == rs.paper.METHODS["RAPS"]
    assert NAMED_SCORES["saps"] == rs.paper.METHODS["SAPS"]
    assert {kind.__name__.lower() for kind in BUILT_IN} == ({*NAMED_SCORES} - {"lac"}) | {*NEED_ARGUMENTS}


def test_rank_is_the_default():
    assert rs.calibrate(PROBS, LABELS).score == rs.calibrate(PROBS, LABELS, method=None).score == rs.Rank()


TAKE_NAMES = {
    "calibrate": lambda name: rs.calibrate(PROBS, LABELS, method=name).score,
    "choose": lambda name: rs.choose([name], PROBS, LABELS),
    "compare": lambda name: rs.compare(PROBS, LABELS, scores=[name], repeats=2).scores[0],
    "Choice": lambda name: rs.Choice([name]).candidates[0],
    "TieBreak": lambda name: rs.TieBreak(name).score,
    "Chosen": lambda name: rs.Chosen(name, "a reason").score,
    "Seen": lambda name: rs.Seen(name, (0, 1), 4).score,
    "Seen.fit": lambda name: rs.Seen.fit([0, 1], 4, name).score,
    "shards": lambda name: (
        rs.engines.shards.CalibrationTask.of(name, None, rs.Marginal(), "probs", None, 0, rs.OneLabel()).score
    ),
}


@pytest.mark.parametrize("take", TAKE_NAMES.values(), ids=TAKE_NAMES.keys())
def test_every_function_that_takes_scores_takes_names(take):
    assert take("SAPS") == rs.Saps(weight=0.2)
    with pytest.raises(ScoreError, match="Did you mean 'margin'") as caught:
        take("margins")
    assert caught.value.expected.endswith(f"({', '.join(KNOWN)})")
    with pytest.raises(KindError, match="parentheses"):
        take(rs.Saps)


@pytest.mark.parametrize("function", [rs.choose, lambda scores, *rows: rs.compare(*rows, scores=scores)])
def test_a_name_alone_is_no_list_of_scores(function):
    with pytest.raises(KindError, match="a list of at least one score, got 'rank'"):
        function("rank", PROBS, LABELS)


def test_names_that_are_none_say_which_there_are():
    with refused(ScoreError.unknown_name("method", "ranks", KNOWN, "rank")):
        rs.calibrate(PROBS, LABELS, method="ranks")
    with refused(ScoreError.unknown_name("score", "xyzxyz", KNOWN, "")):
        rs.calibrate(PROBS, LABELS, score="xyzxyz")
    with pytest.raises(ScoreError, match="Did you mean 'auto'"):
        rs.calibrate(PROBS, LABELS, method="atuo")
    for name, example in NEED_ARGUMENTS.items():
        with refused(ScoreError.no_name("method", name, example)):
            rs.calibrate(PROBS, LABELS, method=name)


def test_only_one_of_the_two_names_of_the_argument_is_passed():
    with refused(KindError.method_twice("aps", rs.Rank())) as caught:
        rs.calibrate(PROBS, LABELS, method="aps", score=rs.Rank())
    assert "got 'aps' as method= and Rank() as score=" in str(caught.value)
    assert "--method" in caught.value.render(COMMAND_LINE)


@pytest.mark.parametrize("spelled", ["auto", "Auto", " AUTO "])
def test_auto_in_calibrate_is_auto(spelled):
    told = {"kind": "logits", "condition": rs.PerLabel(), "seed": 3, "classes": list("abcdef")}
    labels = np.array(list("abcdef"))[TRUTH]
    for alpha in (0.1, 0.05):
        expected = rs.auto(LOGITS, labels, alpha, **told)
        assert rs.calibrate(LOGITS, labels, method=spelled, alpha=alpha, **told) == expected
        assert rs.calibrate(LOGITS, labels, score=spelled, alpha=alpha, **told) == expected
    assert rs.calibrate(LOGITS, labels, method=spelled, **told) == rs.auto(LOGITS, labels, **told)
    groups = ["north", "south"] * 600
    by_group = {"kind": "logits", "condition": rs.PerGroup(), "groups": groups}
    assert rs.calibrate(LOGITS, TRUTH, method=spelled, **by_group) == rs.auto(LOGITS, TRUTH, **by_group)


def test_alpha_belongs_to_predict():
    for method in (None, "aps", rs.Thr()):
        with refused(LevelError.not_at_calibration(0.1)) as caught:
            rs.calibrate(PROBS, LABELS, method=method, alpha=0.1)
    assert "rule.predict(probs, alpha=...)" in str(caught.value)
    with refused(LevelError.out_of_range(5, "Did you mean 0.05?")):
        rs.calibrate(PROBS, LABELS, method="auto", alpha=5)


def test_auto_takes_no_ids_and_is_no_score():
    with refused(KindError.ids_with_auto()):
        rs.calibrate(PROBS, LABELS, method="auto", ids=range(260))
    for argument, take in (
        ("candidates", lambda: rs.choose(["rank", "auto"], PROBS, LABELS)),
        ("scores", lambda: rs.Choice(["rank", "auto"])),
        ("score", lambda: rs.TieBreak("auto")),
    ):
        with refused(ScoreError.auto_is_no_score(argument)):
            take()


def test_what_is_wrong_with_rows_is_told_first_by_auto_as_by_others():
    for method in ("auto", "rank"):
        with pytest.raises(InputError, match="NaN"):
            rs.calibrate([[0.5, float("nan")]] * 9, [0] * 9, method=method)
