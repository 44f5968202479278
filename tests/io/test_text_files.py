"""Text files: which format they have, and what empty cells and empty lines are."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import rankset as rs
from rankset.cli.commands import rankset
from rankset.errors import COMMAND_LINE, FileError, InputError, KindError, LabelError
from rankset.io.read_file import BINARY, FORMATS, SUFFIXES, read_file
from refusals import check_refusal, failure, refused

RNG = np.random.default_rng(24)
N = 60
PROBS = RNG.dirichlet(np.ones(3), N)
NAMES = ["cat", "dog", "owl"]
LABELS = np.array([RNG.choice(3, p=row) for row in PROBS])
WORDS = np.array(NAMES)[LABELS]
FRAME = pd.DataFrame(PROBS, columns=NAMES).assign(answer=WORDS)
RULE = rs.calibrate(PROBS, WORDS, classes=NAMES)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def calibrated(*arguments, stdin=None):
    options = ["calibrate", *arguments, "-o", "out.rankset", "--force"]
    done = CliRunner().invoke(rankset, options, input=stdin)
    assert done.exit_code == 0, done.output
    return rs.load("out.rankset")


# Formats


@pytest.mark.parametrize("name", ["rows.txt", "rows.tsv", "rows.jsonl", "rows.dat", "rows"])
def test_a_given_format_comes_before_the_suffix_of_a_text_file(here, name):
    FRAME.to_csv(name, index=False)
    assert calibrated(name, "--format", "csv", "--label", "answer") == RULE


def test_a_given_format_is_for_the_files_that_do_not_say_theirs(here):
    text = FRAME[NAMES].to_json(orient="records", lines=True, double_precision=15)
    (here / "rows.dat").write_text(FRAME[NAMES].to_csv(index=False))
    (here / "rows.txt").write_text(FRAME[NAMES].to_csv(index=False))
    (here / "labels.txt").write_text("\n".join(WORDS))
    (here / "answers.txt").write_text("\n".join(["answer", *WORDS]))
    FRAME[["answer"]].to_csv("labels.csv", index=False)
    np.save("labels.npy", LABELS)
    np.save("rows.npy", PROBS)
    assert calibrated("-", "labels.csv", "--format", "jsonl", stdin=text).n == N
    assert calibrated("-", "labels.npy", "--format", "jsonl", stdin=text).n == N
    for labels in ("labels.txt", "labels.csv", "labels.npy"):
        assert calibrated("rows.dat", labels, "--format", "csv") == RULE
    for labels in ("answers.txt", "labels.csv", "labels.npy"):  # all of these are csv, unless they are binary
        assert calibrated("rows.txt", labels, "--format", "csv") == RULE
    (here / "numbers.txt").write_text("\n".join(["answer", *map(str, LABELS)]))
    assert calibrated("rows.npy", "numbers.txt", "--format", "csv") == rs.calibrate(PROBS, LABELS)


def test_a_format_that_cannot_be_read_is_called_a_format(here):
    FRAME.to_csv("rows.dat", index=False)
    known = ", ".join(suffix[1:] for suffix in SUFFIXES)
    check_refusal(
        failure("calibrate", "rows.dat", "--format", "xls", "--label", "answer", "-o", "r.rankset"),
        KindError.argument("the format", f"one of {known}", "xls"),
        file="rows.dat",
    )
    check_refusal(
        failure("calibrate", "-", "--format", "npz", "--label", "answer", "-o", "r.rankset", stdin=""),
        KindError.argument("the format", f"one of {known.replace('npz, ', '')}", "npz"),
        file="-",
    )


def test_every_format_is_text_or_binary():
    texts = {".txt", ".csv", ".tsv", ".jsonl", ".ndjson"}
    assert texts | set(BINARY) == set(SUFFIXES)
    assert texts < set(FORMATS)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_called_a_pipe(here):
    os.mkfifo("rows.csv")
    with refused(FileError.pipe("rows.csv")):
        read_file("rows.csv")
    assert "pass - as the file" in FileError.pipe("rows.csv").render(COMMAND_LINE)
    FRAME.to_csv("all.csv", index=False)
    done = subprocess.run(
        ["/bin/bash", "-c", f"{sys.executable} -m rankset calibrate <(cat all.csv) --label answer -o r.rankset"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "got a pipe" in done.stderr


# Empty cells and lines


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_a_blank_group_is_missing(here, suffix):
    sites = ["north", "south", ""] * (N // 3)
    FRAME.assign(site=sites).to_csv(f"rows{suffix}", sep="\t" if suffix == ".tsv" else ",", index=False)
    refusal = FileError.missing_cell(f"rows{suffix}", "site", 2)
    rows = (f"rows{suffix}", "--label", "answer", "--group", "site")
    check_refusal(failure("calibrate", *rows, "-o", "r.rankset"), refusal)
    RULE.save("rule.rankset")
    check_refusal(failure("evaluate", "rule.rankset", *rows), refusal)


@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\r\n\r\n\r\n"])
@pytest.mark.parametrize("name", ["labels.csv", "labels.tsv", "labels.txt"])
def test_empty_lines_at_the_end_of_labels_are_no_labels(here, name, end):
    FRAME[NAMES].to_csv("rows.csv", index=False)
    lines = [*([] if name.endswith(".txt") else ["answer"]), *WORDS]
    (here / name).write_text("\n".join(lines) + end, newline="")
    assert calibrated("rows.csv", name) == RULE


def test_other_empty_lines_and_empty_texts_are_missing_labels(here):
    FRAME[NAMES].to_csv("rows.csv", index=False)
    (here / "inside.csv").write_text("\n".join(["answer", *WORDS[:5], "", *WORDS[6:], "", ""]))
    check_refusal(
        failure("calibrate", "rows.csv", "inside.csv", "-o", "r.rankset"),
        LabelError.unknown("labels", 5, [""], NAMES),
        file="inside.csv",
    )
    (here / "quoted.csv").write_text("\n".join(["answer", *WORDS, '""', "", ""]))  # how pandas writes a missing text
    check_refusal(
        failure("calibrate", "rows.csv", "quoted.csv", "-o", "r.rankset"),
        InputError.length("labels", N, N + 1),
        file="rows.csv",
    )
    (here / "none.csv").write_text("answer\n\n\n")
    assert read_file("none.csv").only_column().tolist() == []


# What commands say


def test_float_column_numbers_get_advice_for_the_command_line(here):
    FRAME[NAMES].to_csv("rows.csv", index=False)
    np.save("labels.npy", LABELS.astype(float))
    text = failure("calibrate", "rows.csv", "labels.npy", "-o", "r.rankset").render(COMMAND_LINE)
    assert "integers, 2 instead of 2.0" in text
    assert "np." not in text


def test_long_names_of_groups_are_cut(here):
    sites = ["s" * 5000, "north\tpole"] * (N // 2)
    FRAME.assign(site=sites).to_csv("rows.csv", index=False)
    RULE.save("rule.rankset")
    done = CliRunner().invoke(rankset, ["evaluate", "rule.rankset", "rows.csv", "--label", "answer", "--group", "site"])
    assert done.exit_code == 0, done.output
    assert max(map(len, done.stdout.splitlines())) < 300
    assert "group 'sssss" in done.stdout
    assert r"group 'north\tpole'" in done.stdout
