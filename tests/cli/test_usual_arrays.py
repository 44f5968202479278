"""Arrays of .npz files that have usual names are found by all commands."""

import numpy as np
import pytest

import rankset as rs
from commands import fine
from rankset.errors import COMMAND_LINE, FileError
from refusals import check_refusal, failure

RNG = np.random.default_rng(3)
PROBS = RNG.dirichlet(np.ones(3), 200)
LABELS = np.array([RNG.choice(3, p=row) for row in PROBS])


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("mine.npz", probs=PROBS, labels=LABELS)
    np.savez("new.npz", probs=PROBS[::-1], labels=LABELS[::-1])
    np.savez("logits.npz", logits=np.log(PROBS) - 3, y=LABELS)
    np.savez("unclear.npz", probs=PROBS, scores=PROBS, labels=LABELS)
    np.savez("told.npz", logits=PROBS, y=LABELS)


def test_calibrate_finds_scores_and_labels():
    done = fine("calibrate", "mine.npz", "-o", "a.rankset")
    assert rs.load("a.rankset") == rs.calibrate(PROBS, LABELS)
    assert "note: mine.npz: read with --key probs and --label labels" in done.stderr
    done = fine("calibrate", "logits.npz", "-o", "b.rankset")
    assert rs.load("b.rankset") == rs.calibrate(np.log(PROBS) - 3, LABELS, kind="logits")
    assert "--key logits and --label y and --kind logits" in done.stderr


def test_what_options_say_is_as_before():
    done = fine("calibrate", "told.npz", "--label", "y", "-o", "a.rankset")
    assert rs.load("a.rankset") == rs.calibrate(PROBS, LABELS)
    assert "note" not in done.stderr


def test_the_other_commands_find_them_too():
    fine("calibrate", "mine.npz", "-o", "a.rankset")
    named = ("--key", "probs", "--label", "labels")
    assert (
        fine("compare", "mine.npz", "--repeats", "3").stdout
        == fine("compare", "mine.npz", *named, "--repeats", "3").stdout
    )
    found, told = (fine("evaluate", "a.rankset", "new.npz", *more).stdout for more in ((), named))
    assert found == told
    assert fine("predict", "a.rankset", "new.npz").stdout == fine("predict", "a.rankset", "new.npz", *named[:2]).stdout
    fine("report", "a.rankset", "new.npz", "-o", "a.html")
    fine("report", "mine.npz", "new.npz", "-o", "b.html")
    fine("report", "mine.npz", "new.npz", *named, "-o", "c.html")


def test_several_usual_names_are_not_guessed():
    error = failure("calibrate", "unclear.npz", "-o", "a.rankset")
    check_refusal(error, FileError.which_key("unclear.npz", ["probs", "scores"]))
    assert "--key" in error.render(COMMAND_LINE)
    assert "--label" in error.render(COMMAND_LINE)
