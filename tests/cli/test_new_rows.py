"""``rankset precise`` and ``rankset bounds``: rows with labels and new rows in, the sets of Python out."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from openpyxl import load_workbook

import rankset as rs
from commands import fine, run
from rankset.errors import FileError
from refusals import check_refusal, failure, like

PROBS, MARKS = rs.datasets.load("goemotions")
CLASSES = rs.datasets.SEVERAL_LABELS["goemotions"].classes
OLD, NEW = slice(0, 1500), slice(1500, 1800)
OLD_FILES = {"cells": ("old.csv", "--label", "tags"), "0/1 array": ("old.npy", "old_y.npy", "--classes", "classes.txt")}


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(PROBS, columns=CLASSES)
    tags = [";".join(np.array(CLASSES)[row > 0]) for row in MARKS]
    frame.assign(tags=tags)[OLD].to_csv("old.csv", index=False)
    frame.assign(tags=tags)[OLD].to_csv("other.csv", index=False)
    backwards = frame[list(CLASSES[::-1])].assign(case=[f"c{number}" for number in range(len(frame))])
    backwards[NEW].to_csv("new.csv", index=False)
    np.save("old.npy", PROBS[OLD])
    np.save("old_y.npy", MARKS[OLD])
    np.save("new.npy", PROBS[NEW])
    (tmp_path / "classes.txt").write_text("\n".join(CLASSES), encoding="utf-8")


def lists_of(cells):
    return [cell.split("|") if cell else [] for cell in cells.fillna("")]


@pytest.mark.parametrize("old", OLD_FILES.values(), ids=OLD_FILES)
@pytest.mark.parametrize("new", ["new.csv", "new.npy"])
def test_sets_with_few_false_labels_are_those_of_python(old, new):
    done = fine("precise", *old, "--new", new, "--error", "0.25", "--confidence", "0.8", "-o", "sets.jsonl")
    wanted = rs.precise(PROBS[OLD], MARKS[OLD], error=0.25, confidence=0.8, classes=CLASSES)
    found = [json.loads(line)["labels"] for line in Path("sets.jsonl").read_text("utf-8").splitlines()]
    assert found == wanted.predict(PROBS[NEW]).to_lists()
    assert any(found)
    assert done.stderr.strip() == f"sets.jsonl: 300 sets, {wanted!r}"


def test_columns_are_copied_and_parts_are_joined(monkeypatch):
    monkeypatch.setattr("rankset.cli.parts.PART_BYTES", 28 * 8 * 40)
    done = fine("precise", *OLD_FILES["cells"], "--new", "new.csv", "--keep", "case", "--error", "20%", "--seed", "3")
    wanted = rs.precise(PROBS[OLD], MARKS[OLD], error=0.2, classes=CLASSES, seed=3).predict(PROBS[NEW])
    lines = [line.split(",") for line in done.stdout.splitlines()]
    assert lines[0] == ["case", "size", "top", "labels"]
    assert [line[0] for line in lines[1:]] == [f"c{number}" for number in range(1500, 1800)]
    assert [line[3].split("|") if line[3] else [] for line in lines[1:]] == wanted.to_lists()


def test_sets_are_empty_where_no_threshold_passes():
    done = fine("precise", *OLD_FILES["cells"], "--new", "new.csv", "--keep", "case", "--error", "0.001", "-o", "s.csv")
    assert "all sets are empty. Pass more rows, a larger --error or a smaller --confidence." in done.stderr
    table = pd.read_csv("s.csv")
    assert (table["size"] == 0).all()
    assert len(table) == 300


@pytest.mark.parametrize("old", OLD_FILES.values(), ids=OLD_FILES)
@pytest.mark.parametrize("sure", [None, "0.9"])
def test_both_bounds_are_those_of_python(old, sure, monkeypatch):
    monkeypatch.setattr("rankset.cli.parts.PART_BYTES", 28 * 8 * 40)
    asked = () if sure is None else ("--confidence", sure)
    done = fine("bounds", *old, "--new", "new.csv", "--keep", "case", "--alpha", "0.3", *asked, "-o", "b.parquet")
    words = "alpha = 0.3" if sure is None else "alpha = 0.3 with confidence 0.9"
    assert done.stderr.strip() == f"b.parquet: bounds of 300 rows at {words}"
    both = rs.bounds(PROBS[OLD], MARKS[OLD], classes=CLASSES).predict(PROBS[NEW], 0.3, confidence=sure)
    table = pd.read_parquet("b.parquet")
    assert list(table.columns) == ["case", "certain", "size", "top", "labels"]
    assert [list(one) for one in table.certain] == both.certain.to_lists()
    assert [list(one) for one in table.labels] == both.possible.to_lists()
    assert both.certain.sizes.any()


def test_bounds_in_every_format():
    both = rs.bounds(PROBS[OLD], MARKS[OLD], classes=CLASSES).predict(PROBS[NEW], 0.1)
    wanted = [both.certain.to_lists(), both.possible.to_lists()]
    asked = ("bounds", *OLD_FILES["cells"], "--new", "new.csv")
    for name in ("b.csv", "b.csv.gz", "b.xlsx", "b.jsonl", "b.jsonl.gz"):
        fine(*asked, "-o", name)
    for name in ("b.csv", "b.csv.gz"):
        table = pd.read_csv(name)
        assert [lists_of(table[column]) for column in ("certain", "labels")] == wanted
    rows = list(load_workbook("b.xlsx").active.values)
    assert rows[0] == ("certain", "size", "top", "labels")
    assert [[(row[place] or "").split("|") if row[place] else [] for row in rows[1:]] for place in (0, 3)] == wanted
    for name in ("b.jsonl", "b.jsonl.gz"):
        table = pd.read_json(name, lines=True)
        assert [table.certain.tolist(), table.labels.tolist()] == wanted
    assert fine(*asked).stdout.splitlines() == Path("b.csv").read_text("utf-8").splitlines()


def test_bounds_of_groups():
    sites = np.array(["north", "south"])[np.arange(len(PROBS)) % 2]
    old, new = pd.read_csv("old.csv").assign(site=sites[OLD]), pd.read_csv("new.csv").assign(site=sites[NEW])
    old.to_csv("old_sites.csv", index=False)
    new.to_csv("new_sites.csv", index=False)
    fine("bounds", "old_sites.csv", "--label", "tags", "--group", "site", "--new", "new_sites.csv", "-o", "b.jsonl")
    both = rs.bounds(PROBS[OLD], MARKS[OLD], classes=CLASSES, condition=rs.PerGroup(), groups=sites[OLD])
    wanted = both.predict(PROBS[NEW], 0.1, groups=sites[NEW])
    table = pd.read_json("b.jsonl", lines=True)
    assert [table.certain.tolist(), table.labels.tolist()] == [wanted.certain.to_lists(), wanted.possible.to_lists()]


def test_what_does_not_fit():
    asked = (*OLD_FILES["cells"], "--new", "new.csv")
    suffixes = ".csv, .csv.gz, .xlsx, .jsonl, .jsonl.gz or .parquet"
    check_refusal(failure("bounds", *asked, "-o", "b.npz"), FileError.suffix("b.npz", suffixes))
    check_refusal(failure("bounds", *asked, "-o", "old.csv"), FileError.own_input("old.csv"))
    check_refusal(failure("precise", *asked, "--error", "0.1", "-o", "new.csv"), FileError.own_input("new.csv"))
    check_refusal(failure("bounds", *asked, "--keep", "certain"), FileError.taken("certain"))
    check_refusal(failure("precise", *asked[:-1], "gone.csv", "--error", "0.1"), like(FileError, file="gone.csv"))
    for wrong in (("--error", "2"), ("--error", "0.1", "--confidence", "1"), ()):
        assert run("precise", *asked, *wrong).exit_code == 2
    done = run("bounds", *asked, "--confidence", "0.9")
    assert (done.exit_code, "pass --alpha 0.1 instead" in done.stderr) == (2, True)
    done = run("precise", "old.csv", "other.csv", "--label", "tags", "--new", "new.csv", "--error", "0.1")
    assert (done.exit_code, "one file of SCORES only, got 2 files" in done.stderr) == (2, True)
