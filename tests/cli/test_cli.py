"""The command line as a whole: from files to decisions, help, options, errors and warnings of all commands."""

import io
import json
import os
import subprocess
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest

import rankset as rs
from commands import LABELS, LOGITS, RULE, TEST, VAL, fine, run
from rankset import progress
from rankset.cli.commands import COMMANDS
from rankset.errors import COMMAND_LINE, FileError, InputError, LevelError, RuleError
from refusals import check_refusal, failure, like


def test_from_files_to_decisions(folder):
    fine("calibrate", "val_logits.npy", "val_labels.npy", "--kind", "logits", "-o", "rule.rankset")
    assert rs.load("rule.rankset") == RULE
    fine("predict", "rule.rankset", "test_logits.npy", "--alpha", "0.1", "-o", "sets.parquet")
    assert [list(row) for row in pq.read_table("sets.parquet")["labels"].to_pylist()] == RULE.predict(
        LOGITS[TEST], 0.1
    ).to_lists()
    told = fine(
        "evaluate", "rule.rankset", "test_logits.npy", "test_labels.npy", "--alpha", "0.05", "--alpha", "0.1"
    ).stdout
    look = rs.exchangeable(RULE, LOGITS[TEST], LABELS[TEST], delta=0.01)
    for alpha in (0.05, 0.1):
        sets = RULE.predict(LOGITS[TEST], alpha)
        assert repr(rs.evaluate(sets, LABELS[TEST], exchangeability=look)) in told
    told = fine("compare", "val_logits.npy", "val_labels.npy", "--kind", "logits", "--repeats", "2").stdout
    assert repr(rs.compare(LOGITS[VAL], LABELS[VAL], 0.1, kind="logits", repeats=2)) in told
    told = fine("inspect", "rule.rankset").stdout
    assert "Rank()" in told
    assert "r* 2" in told
    fine("calibrate", "test_logits.npy", "test_labels.npy", "--kind", "logits", "-o", "other.rankset")
    fine("merge", "rule.rankset", "other.rankset", "-o", "both.rankset")
    assert rs.load("both.rankset") == RULE.update(LOGITS[TEST], LABELS[TEST])


def test_nothing_is_overwritten_or_left_half_written(folder):
    RULE.save("rule.rankset")
    (folder / "sets.csv").write_text("precious")
    error = failure("predict", "rule.rankset", "test_logits.npy", "-o", "sets.csv")
    check_refusal(error, FileError.exists("sets.csv"))
    assert error.render(COMMAND_LINE).endswith(" Pass --force to replace it.")
    assert (folder / "sets.csv").read_text() == "precious"
    bad = LOGITS[TEST].copy()
    bad[399, 2] = np.nan
    np.save("bad.npy", bad)
    error = failure("predict", "rule.rankset", "bad.npy", "--force", "-o", "sets.csv")
    check_refusal(error, InputError.missing("probs", 399, 2), file="bad.npy")
    assert (folder / "sets.csv").read_text() == "precious"
    fine("predict", "rule.rankset", "test_logits.npy", "--force", "-o", "sets.csv")
    assert (folder / "sets.csv").read_text() != "precious"
    before = (folder / "rule.rankset").read_bytes()
    assert run("calibrate", "val_logits.npy", "val_labels.npy", "-o", "rule.rankset").exit_code == 1
    assert (folder / "rule.rankset").read_bytes() == before
    assert not [path for path in folder.iterdir() if path.name.endswith(".draft")]


def test_json_for_machines(folder):
    RULE.save("rule.rankset")
    told = json.loads(fine("inspect", "rule.rankset", "--json").stdout)
    assert told["rows"] == 600
    assert told["levels"]["0.1"]["r_star"] == RULE.rank_profile(0.1).r_star
    told = json.loads(fine("evaluate", "rule.rankset", "test_logits.npy", "test_labels.npy", "--json").stdout)
    assert told["0.1"]["coverage"] == rs.evaluate(RULE.predict(LOGITS[TEST], 0.1), LABELS[TEST]).coverage
    told = json.loads(
        fine("compare", "val.npz", "val_labels.npy", "--key", "logits", "--kind", "logits", "--json").stdout
    )
    assert told["0.1"]["Thr()"]["size"]["mean"] > 0


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        (["calibrate", "val_logits.npy", "-o", "x.rankset"], FileError.no_labels()),
        (
            ["calibrate", "val_logits.npy", "val_labels.npy", "--label", "answer", "-o", "x.rankset"],
            FileError.no_label_column("val_logits.npy", "answer", []),
        ),
        (
            ["calibrate", "val.csv", "--label", "nope", "-o", "x.rankset"],
            like(FileError, file="val.csv", expected="include the label column 'nope'"),
        ),
        (
            ["calibrate", "val.csv", "--label", "answer", "-o", "x.rankset"],
            like(FileError, file="val.csv", what="scores", column="site"),
        ),
        (
            ["calibrate", "val_logits.npy", "val_labels.npy", "-o", "x.rankset"],
            like(InputError, file="val_logits.npy", what="probs", row=0),
        ),
        (
            ["calibrate", "val_logits.npy", "test_labels.npy", "--kind", "logits", "-o", "x.rankset"],
            like(InputError, what="labels", expected="have one entry for each of the 600 rows", received="400 entries"),
        ),
        (["predict", "none.rankset", "val_logits.npy"], FileError.missing("none.rankset")),
        (["predict", "val.csv", "val_logits.npy"], FileError.no_rule("val.csv")),
        (["predict", "rule.rankset", "none.npy"], FileError.missing("none.npy")),
        (
            ["predict", "rule.rankset", "val_logits.npy", "--alpha", "10"],
            LevelError.out_of_range("10", "Did you mean 0.1?"),
        ),
        (
            ["predict", "rule.rankset", "val_logits.npy", "-o", "x.doc"],
            like(FileError, file="x.doc", what="the name of the file"),
        ),
        (
            ["predict", "rule.rankset", "val_logits.npy", "-o", "no/where/x.csv"],
            like(FileError, file="no/where/x.csv", expected="be writable"),
        ),
        (["merge", "rule.rankset", "rule.rankset", "-o", "x.rankset"], RuleError.itself()),
    ],
)
def test_mistakes_are_told_in_a_line(folder, arguments, refusal):
    RULE.save("rule.rankset")
    check_refusal(failure(*arguments), refusal)
    done = run(*arguments)
    assert done.exit_code == (2 if "--alpha" in arguments else 1)
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_has_an_example(command):
    told = fine(command, "--help").stdout
    assert f"rankset {command}" in told.split("Usage", 1)[1].split("\n", 1)[1]


def test_the_nearest_command_is_suggested():
    assert "Did you mean 'evaluate'?" in run("evaluat").stderr
    assert "'calibrate', 'recalibrate'" in run("calibrat").stderr
    assert "--alpha" in run("predict", "a", "b", "--alpah", "0.1").stderr


def test_an_alpha_above_one_half_is_warned_of_once(folder):
    RULE.save("rule.rankset")
    scores, labels = ("test_logits.npy", "test_labels.npy"), ("val_logits.npy", "val_labels.npy", "--kind", "logits")
    for command in (
        ("predict", "rule.rankset", scores[0], "--alpha", "0.95"),
        ("evaluate", "rule.rankset", *scores, "--alpha", "0.1", "--alpha", "0.95"),
        ("inspect", "rule.rankset", "--alpha", "0.95"),
        ("report", "rule.rankset", *scores, "--alpha", "0.95", "-o", "page.html"),
        ("compare", *labels, "--alpha", "0.95", "--repeats", "2"),
        ("calibrate", *labels, "--auto", "0.95", "-o", "auto.rankset"),
    ):
        told = fine(*command).stderr
        assert told.count("Did you mean --alpha 0.05?") == 1, command
    for command in (("inspect", "rule.rankset"), ("report", "rule.rankset", *scores, "-o", "other.html")):
        assert "Did you mean" not in fine(*command).stderr


@pytest.mark.parametrize(
    ("option", "value", "meant"),
    [
        ("--confidence", "0.95", "--alpha 0.05"),
        ("--confidence-level", "90", "--alpha 0.1"),
        ("--coverage", "0.9", "--alpha 0.1"),
        ("--significance", "0.05", "--alpha 0.05"),
        ("--level", "x", "--alpha 0.05 for 95% coverage"),
    ],
)
@pytest.mark.parametrize("command", ["predict", "evaluate", "compare", "inspect", "report"])
def test_options_of_other_libraries_are_explained(folder, command, option, value, meant):
    if option == "--confidence" and command in ("predict", "evaluate", "inspect"):
        pytest.skip("it is an option there: see test_confidence.py")
    done = run(command, "rule.rankset", "test_logits.npy", option, value)
    assert done.exit_code == 2
    assert f"No such option: {option}. Did you mean {meant}? alpha is the allowed error rate." in done.stderr
    assert option not in fine(command, "--help").stdout


def test_warnings_are_one_line(folder):
    fine("calibrate", "val_logits.npy", "val_labels.npy", "--kind", "logits", "-o", "rule.rankset")
    done = fine("predict", "rule.rankset", "test_logits.npy", "--alpha", "0.001")
    wanted = "Warning: at least 999 calibration rows are needed for --alpha 0.001, got 600. "
    assert done.stderr == f"{wanted}All sets contain every label.\n"
    (folder / "copy.rankset").write_bytes((folder / "rule.rankset").read_bytes())
    done = fine("merge", "rule.rankset", "copy.rankset", "-o", "both.rankset")
    assert done.stderr.startswith("Warning: rule.rankset and copy.rankset contain the same calibration")


def test_completion():
    words = {"_RANKSET_COMPLETE": "bash_complete", "COMP_WORDS": "rankset cal", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "rankset"], env={**os.environ, **words}, capture_output=True, text=True, check=False
    )
    assert "calibrate" in done.stdout


def test_a_bar_only_on_a_terminal_and_after_a_while(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for file, patience, seen in ((Terminal(), 0, True), (Terminal(), 60, False), (io.StringIO(), 0, False)):
        monkeypatch.setattr(sys, "stderr", file)
        monkeypatch.setattr("rankset.progress.DELAY", patience)
        with progress.track("calibrating"):
            rs.calibrate(LOGITS[VAL], LABELS[VAL], kind="logits")
        assert ("calibrating" in file.getvalue()) == seen


def test_a_rule_needs_nothing_heavy(tmp_path):
    RULE.save(tmp_path / "rule.rankset")
    heavy = ("sklearn", "pandas", "torch", "scipy", "matplotlib", "pyarrow", "click", "numba")
    code = "import sys, rankset; rankset.load(sys.argv[1]); print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "rule.rankset")], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "rankset.rules.rule" in loaded
    assert not set(heavy) & set(loaded)


def test_names_cannot_give_orders_to_a_terminal(folder):
    names = ["a\x1b]0;owned\x07", "b\x9b31m", "\u202eturned", "two\nlines", "\ud800", "x" * 10_000]
    rs.calibrate(LOGITS[VAL], np.array(names)[LABELS[VAL]], classes=names, kind="logits").save("rule.rankset")
    told = fine("inspect", "rule.rankset").stdout
    assert all(letter.isprintable() or letter == "\n" for letter in told)
    assert len(told) < 2000
    (folder / "bad.csv").write_bytes(b"a,b\n\x1b]0;owned\x07,1,2\n")
    said = run("predict", "rule.rankset", "bad.csv").stderr
    assert "\x1b" not in said
    assert len(said.splitlines()) == 1


def test_outputs_replace_files_only(folder):
    files = ("val_logits.npy", "val_labels.npy", "--kind", "logits")
    os.mkfifo("pipe.rankset")
    check_refusal(
        failure("calibrate", *files, "-o", "pipe.rankset", "--force"),
        FileError.unwritable("pipe.rankset", "it is not a regular file"),
    )
    RULE.save("rule.rankset")
    os.mkfifo("pipe.csv")
    check_refusal(
        failure("predict", "rule.rankset", "test_logits.npy", "-o", "pipe.csv", "--force"),
        FileError.unwritable("pipe.csv", "it is not a regular file"),
    )
    check_refusal(
        failure("merge", "rule.rankset", "-o", "rule.rankset", "--force"), FileError.own_input("rule.rankset")
    )
    (folder / "sets.csv").touch(mode=0o600)
    (folder / "link.csv").symlink_to("sets.csv")
    fine("predict", "rule.rankset", "test_logits.npy", "-o", "link.csv", "--force")
    assert (folder / "link.csv").is_symlink()
    assert (folder / "sets.csv").stat().st_mode & 0o777 == 0o600
    assert (folder / "sets.csv").read_text().startswith("size,")


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        (("--drop", "nope"), like(FileError, file="val.csv", expected="include 'nope'")),
        (("--key", "x"), FileError.no_arrays("val.csv", "x")),
        (("--group", "answer"), FileError.one_column_twice("answer")),
    ],
)
def test_options_are_never_ignored(folder, arguments, refusal):
    options = ("calibrate", "val.csv", "--label", "answer", "--kind", "logits", "-o", "x.rankset")
    check_refusal(failure(*options, *arguments), refusal)


def test_what_was_not_foreseen_is_one_line_too(folder, monkeypatch):
    RULE.save("rule.rankset")

    def broken(*_arguments, **_options):
        raise ZeroDivisionError("never")

    monkeypatch.setattr("rankset.cli.predict.stream_sets", broken)
    done = run("predict", "rule.rankset", "test_logits.npy")
    assert (
        done.stderr
        == "Error: unexpected ZeroDivisionError: never. Set RANKSET_TRACEBACK=1 to see where, and please report it.\n"
    )
    assert fine("inspect", "rule.rankset", "--alpha", "1e-400")
    assert (
        "Warning: at least 10^400 calibration rows"
        in fine("evaluate", "rule.rankset", "test_logits.npy", "test_labels.npy", "--alpha", "1e-400").stderr
    )
