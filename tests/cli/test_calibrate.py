"""``rankset calibrate``: methods, parameters, classes and auto."""

from pathlib import Path

import pytest

import rankset as rs
from commands import LABELS, LOGITS, NAMES, VAL, fine, run
from rankset.errors import FileError, LevelError
from rankset.evaluation.default_scores import DEFAULT_SCORES
from rankset.scores import NAMED_SCORES
from refusals import check_refusal, failure


def test_groups_scores_and_auto(folder):
    options = ("--label", "answer", "--kind", "logits")
    fine("calibrate", "val.csv", *options, "--group", "site", "--score", "thr", "-o", "g.rankset")
    assert rs.load("g.rankset").condition == rs.PerGroup()
    assert rs.load("g.rankset").score == rs.Thr()
    told = fine("evaluate", "g.rankset", "test.csv", "--label", "answer", "--group", "site").stdout
    assert "group 'a'" in told
    fine("calibrate", "val.csv", *options, "--drop", "site", "--auto", "0.1", "--per-label", "-o", "p.rankset")
    assert rs.load("p.rankset").condition == rs.PerLabel()
    assert "recalibrated on" in fine("inspect", "p.rankset").stdout


FILES = ("calibrate", "val_logits.npy", "val_labels.npy", "--kind", "logits")


@pytest.mark.parametrize("name", [*NAMED_SCORES, "LAC", "Raps"])
@pytest.mark.parametrize("option", ["--method", "--score"])
def test_methods_have_the_names_of_python(folder, option, name):
    fine(*FILES, option, name, "-o", "m.rankset")
    assert rs.load("m.rankset") == rs.calibrate(LOGITS[VAL], LABELS[VAL], method=name, kind="logits")


def test_method_auto_is_auto(folder):
    for alpha in ("0.1", "0.05"):
        expected = rs.auto(LOGITS[VAL], LABELS[VAL], alpha, kind="logits", seed=4)
        for way in (("--method", "auto", "--alpha", alpha), ("--score", "AUTO", "--alpha", alpha), ("--auto", alpha)):
            fine(*FILES, "--seed", "4", *way, "-o", "m.rankset", "--force")
            assert rs.load("m.rankset") == expected
    fine(*FILES, "--method", "auto", "-o", "m.rankset", "--force")
    assert rs.load("m.rankset") == rs.auto(LOGITS[VAL], LABELS[VAL], kind="logits")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ("--method", "aps", "--score", "thr"),
            "--method / --score takes one value, but was passed 2 times. Pass it once.",
        ),
        (("--method", "aps", "--method", "aps"), "Pass it once."),
        (("--method", "auto", "--alpha", "0.1", "--alpha", "0.2"), "--alpha takes one value, but was passed 2 times."),
        (("--method", "ap"), "'lac', 'share'"),
        (("--alpha", "0.1"), "--alpha works only with --method auto. A rule answers every alpha: use rankset predict"),
        (("--method", "aps", "--alpha", "0.1"), "--alpha works only with --method auto"),
        (("--method", "auto", "--auto", "0.1", "--alpha", "0.1"), "Remove --auto"),
        (("--method", "aps", "--auto", "0.1"), "Remove --auto"),
        (("--method", "auto", "--set", "penalty=1"), "Remove --set"),
    ],
)
def test_methods_that_contradict_each_other_are_refused(folder, options, words):
    done = run(*FILES, *options, "-o", "m.rankset")
    assert done.exit_code == 2
    assert words in " ".join(done.stderr.split())
    assert not Path("m.rankset").exists()


def test_auto_needs_one_file(folder):
    done = run("calibrate", "val.csv", "test.csv", "--label", "answer", "--method", "auto", "-o", "m.rankset")
    assert done.exit_code == 2
    assert "--method auto works with one file only" in done.stderr
    error = failure(*FILES, "--method", "auto", "--alpha", "5", "-o", "m.rankset")
    check_refusal(error, LevelError, what="alpha", received="'5'")


def test_parameters_of_scores(folder):
    files = ("val_logits.npy", "val_labels.npy", "--kind", "logits")
    fine("calibrate", *files, "--score", "raps", "-o", "a.rankset")
    assert rs.load("a.rankset").score == DEFAULT_SCORES[3]
    fine("calibrate", *files, "--score", "raps", "--set", "penalty=0.5", "--set", "free_ranks=1", "-o", "b.rankset")
    assert rs.load("b.rankset").score == rs.Raps(penalty=0.5, free_ranks=1)
    assert (
        "has no parameter 'weight'"
        in run("calibrate", *files, "--score", "raps", "--set", "weight=1", "-o", "c.rankset").stderr
    )
    assert run("calibrate", *files, "--score", "raps", "--set", "penalty=x", "-o", "c.rankset").exit_code == 1
    assert run("calibrate", *files, "--score", "raps", "--auto", "0.1", "-o", "c.rankset").exit_code == 2


def test_told_classes_and_headings_must_agree(folder):
    (folder / "turned.txt").write_text("\n".join(NAMES[::-1]))
    options = ("--label", "answer", "--drop", "site", "--kind", "logits")
    fine("calibrate", "val.csv", *options, "--classes", "turned.txt", "-o", "turned.rankset")
    fine("calibrate", "val.csv", *options, "-o", "rule.rankset")
    assert rs.load("turned.rankset").classes.tolist() == NAMES[::-1]
    told = [fine("predict", f"{name}.rankset", "test.csv").stdout for name in ("turned", "rule")]
    assert told[0] == told[1]
    (folder / "other.txt").write_text("\n".join("abcdef"))
    check_refusal(
        failure("calibrate", "val.csv", *options, "--classes", "other.txt", "-o", "x.rankset"),
        FileError.other_names(["a", "b", "c", "d", "e", "f"], ["sadness", "joy", "love", "anger", "fear", "surprise"]),
    )


def test_a_chosen_score_draws_nothing(folder):
    options = ("calibrate", "val.csv", "--label", "answer", "--kind", "logits", "-o", "x.rankset")
    fine(*options, "--auto", "0.1", "--id", "site")
    with_ids = rs.load("x.rankset")
    fine(*options, "--auto", "0.1", "--drop", "site", "--force")
    assert with_ids == rs.load("x.rankset")
