"""``rankset compare --target`` and ``--cost``: the numbers of Python, from the same files as ``rankset calibrate``."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rankset as rs
from commands import fine, run
from rankset.errors import COMMAND_LINE, FileError, RuleError
from refusals import check_refusal, failure

RNG = np.random.default_rng(6)
CLASSES = ["joy", "grief", "pride", "fear"]
PROBS = RNG.random((60, 4)).round(6)
MARKS = (RNG.random((60, 4)) < PROBS).astype(int)
MARKS[3] = 0
CELLS = [";".join(np.array(CLASSES)[row > 0]) for row in MARKS]
ANSWERS = PROBS.argmax(axis=1)
SITES = np.array(["north", "south"])[np.arange(60) % 2]
FEW = ("--repeats", "3", "--no-auto", "--json")
LABELS = ("cells.csv", "--label", "tags", "--drop", "site", "--kind", "marginals")


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(PROBS, columns=CLASSES)
    frame.to_csv("p.csv", index=False)
    frame.assign(tags=CELLS, site=SITES).to_csv("cells.csv", index=False)
    frame.assign(tags=[cell.replace(";", "|") for cell in CELLS]).to_csv("bars.csv", index=False)
    np.save("p.npy", PROBS / PROBS.sum(axis=1, keepdims=True))
    np.save("answers.npy", ANSWERS)
    np.save("y.npy", MARKS)


def means_of(comparison):
    return {line.text: dict(zip(comparison.measures, line.means.tolist(), strict=True)) for line in comparison.lines}


def told_means(done, alpha):
    found = json.loads(done.stdout)[alpha]
    measures = {name: [key for key, one in facts.items() if isinstance(one, dict)] for name, facts in found.items()}
    return {name: {key: found[name][key]["mean"] for key in keys} for name, keys in measures.items()}


@pytest.mark.parametrize("target", ["recall", "all", "any", "missed:1"])
@pytest.mark.parametrize("form", [LABELS, ("p.csv", "y.npy", "--kind", "marginals")], ids=["cells", "0/1 array"])
def test_numbers_are_those_of_python(target, form):
    wanted = rs.compare(
        PROBS, MARKS, [0.2, 0.4], target=target, kind="marginals", repeats=3, scores=["share", "thr", "rank"]
    )
    done = fine("compare", *form, "--target", target, "--alpha", "0.2", "--alpha", "0.4", *FEW)
    for alpha in ("0.2", "0.4"):
        assert told_means(done, alpha) == means_of(wanted[alpha])


def test_separators_groups_and_labels_with_thresholds_of_their_own():
    some = {"target": "recall", "kind": "marginals", "repeats": 3, "classes": CLASSES}
    asked = ("--kind", "marginals", "--target", "recall", "--alpha", "0.4", "--score", "thr", *FEW)
    done = fine("compare", "bars.csv", "--label", "tags", "--label-sep", "|", *asked)
    assert told_means(done, "0.4") == means_of(rs.compare(PROBS, MARKS, 0.4, scores=["thr"], **some))
    done = fine("compare", "cells.csv", "--label", "tags", "--group", "site", *asked)
    wanted = rs.compare(PROBS, MARKS, 0.4, scores=["thr"], condition=rs.PerGroup(), groups=SITES, **some)
    assert told_means(done, "0.4") == means_of(wanted)
    done = fine("compare", *LABELS[:-2], "--per-label", *asked)
    wanted = rs.compare(PROBS, MARKS, 0.4, scores=["thr"], condition=rs.PerLabel(), **some)
    assert told_means(done, "0.4") == means_of(wanted)


def test_auto_is_compared_for_the_target():
    done = fine("compare", *LABELS, "--target", "all", "--alpha", "0.4", "--repeats", "2")
    assert "AllLabels()" in done.stdout
    assert "\nauto " in done.stdout
    assert "Share()" in done.stdout


def test_costs_with_names_and_numbers():
    costs = rs.Cost({3: 5}, others=1)
    probs = np.load("p.npy")
    wanted = rs.compare(probs, ANSWERS, 0.2, target=costs, repeats=3, scores=["rank", "thr"])
    done = fine("compare", "p.npy", "answers.npy", "--cost", "3=5", "--other-cost", "1", "--alpha", "0.2", *FEW)
    assert told_means(done, "0.2") == means_of(wanted)


def test_tables_and_pictures_show_the_mean_loss():
    asked = (*LABELS, "--target", "recall", "--alpha", "0.4", "--repeats", "2", "--no-auto")
    for name in ("table.csv", "table.tex", "scores.svg"):
        fine("compare", *asked, "-o", name)
    table = pd.read_csv("table.csv")
    assert set(table.metric) == {"risk", "recall", "all labels", "size", "empty"}
    assert "risk" in Path("table.tex").read_text(encoding="utf-8")
    assert Path("scores.svg").stat().st_size > 1000


def test_what_does_not_fit():
    check_refusal(failure("compare", "p.csv", "y.npy", "--kind", "marginals"), FileError.not_a_column("y.npy", (60, 4)))
    done = run("compare", *LABELS, "--target", "recall", "--metric", "SSCV")
    assert (done.exit_code, "Remove --metric." in done.stderr) == (2, True)
    done = run("compare", *LABELS, "--target", "recal")
    error = RuleError.option("target", "recal", ("one", "recall", "all", "any", "certain", "missed:1"))
    assert (done.exit_code, done.stderr.strip()) == (2, f"Error: {error.render(COMMAND_LINE)}")
    check_refusal(
        failure("compare", *LABELS, "--target", "certain"),
        RuleError.only_calibrate("a comparison of scores", rs.CertainLabels()),
    )
