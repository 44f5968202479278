"""``rankset compare --pooled`` and ``--conditions``."""

import csv
import json

import pytest

import rankset as rs
from commands import LABELS, LOGITS, VAL, fine, run
from rankset.evaluation.condition_comparison import condition_columns

ASKED = ("compare", "val_logits.npy", "val_labels.npy", "--kind", "logits", "--repeats", "2", "--score", "thr")
GROUPED = ("compare", "val.csv", "--label", "answer", "--kind", "logits", "--repeats", "2", "--score", "thr")
CONDITIONS = [rs.Marginal(), rs.PerLabel(), rs.Pooled()]
FOUND = rs.compare(LOGITS[VAL], LABELS[VAL], 0.2, scores=["thr"], kind="logits", condition=CONDITIONS, repeats=2)


def test_pooled(folder):
    told = fine(*ASKED, "--pooled", "--alpha", "0.2", "--json").stdout
    pooled = rs.compare(LOGITS[VAL], LABELS[VAL], 0.2, scores=["thr"], kind="logits", condition=rs.Pooled(), repeats=2)
    place = pooled.measures.index("size")
    assert json.loads(told)["0.2"]["Thr()"]["size"]["mean"] == pooled.lines[0].means[place]
    assert "Pooled(PerGroup())" in fine(*GROUPED, "--group", "site", "--pooled").stdout


def test_conditions_are_those_of_python(folder):
    assert fine(*ASKED, "--conditions", "--alpha", "0.2").stdout == f"{FOUND!r}\n"
    facts = json.loads(fine(*ASKED, "--conditions", "--alpha", "0.2", "--json").stdout)
    assert list(facts) == [repr(one) for one in CONDITIONS]
    assert all(list(one) == ["Thr()"] for one in facts.values())
    with_groups = json.loads(fine(*GROUPED, "--group", "site", "--conditions", "--json").stdout)
    assert list(with_groups)[3:] == ["PerGroup()", "Pooled(PerGroup())"]


def test_tables(folder):
    fine(*ASKED, "--conditions", "--alpha", "0.2", "-o", "a.csv")
    with (folder / "a.csv").open(newline="") as file:
        head, *rows = csv.reader(file)
    columns = condition_columns(FOUND.comparisons)
    assert head == list(columns)
    assert [row[0] for row in rows] == [repr(one) for one in CONDITIONS]
    place = head.index("size")
    assert [float(row[place]) for row in rows] == pytest.approx(columns["size"].tolist(), rel=1e-12)
    openpyxl = pytest.importorskip("openpyxl")
    fine(*ASKED, "--conditions", "--alpha", "0.2", "-o", "a.xlsx")
    sheet = list(openpyxl.load_workbook("a.xlsx").active.values)
    assert list(sheet[0]) == head
    assert [row[place] for row in sheet[1:]] == pytest.approx(columns["size"].tolist(), rel=1e-12)


@pytest.mark.parametrize("options", [(), ("--metric", "SSCV")])
def test_pictures(folder, options):
    fine(*ASKED, "--conditions", *options, "-o", "a.svg")
    text = (folder / "a.svg").read_text()
    for words in ("RMS class gap", "for all rows", "per label, pooled"):
        assert f"<!-- {words} -->" in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("-o", "a.tex"), "-o writes .csv, .xlsx or a picture (.png, .svg, .pdf), and no .tex."),
        (("--alpha", "0.1", "--alpha", "0.2"), "--conditions works with one --alpha only, got 2."),
        (("--per-label",), "Remove these two."),
        (("--pooled",), "Remove these two."),
        (("--target", "recall"), "--conditions works only for one label per row without costs, got Recall()."),
    ],
)
def test_what_is_refused(folder, options, words):
    done = run(*ASKED, "--conditions", *options)
    assert done.exit_code == 2
    assert words in " ".join(done.output.split())
