"""``--target`` and ``--cost``: several labels per row and costs, from every form of file."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from openpyxl import Workbook
from pyarrow import parquet

import rankset as rs
from commands import fine, run
from rankset.errors import COMMAND_LINE, FileError, LabelError, RuleError
from rankset.rules.sentences import group_sentences
from refusals import check_refusal, failure, like, refused

RNG = np.random.default_rng(5)
CLASSES = ["joy", "grief", "pride", "fear"]
PROBS = RNG.random((80, 4)).round(6)
MARKS = (RNG.random((80, 4)) < PROBS).astype(int)
MARKS[3] = 0
LISTS = [[CLASSES[k] for k in np.flatnonzero(row)] for row in MARKS]
CELLS = [";".join(names) for names in LISTS]
FRAME = pd.DataFrame(PROBS, columns=CLASSES)
TARGETS = {"recall": rs.Recall(), "all": rs.AllLabels(), "any": rs.AnyLabel(), "missed:1": rs.AtMostMissed(1)}
RULE = rs.calibrate(PROBS, MARKS, target="recall", kind="marginals", classes=CLASSES)
SEVERAL = ("--kind", "marginals", "--target", "recall")


def calibrated(*arguments):
    fine("calibrate", *arguments, "-o", "rule.rankset", "--force")
    return rs.load("rule.rankset")


def workbook(path, frame):
    book = Workbook()
    book.active.append(list(frame.columns))
    for row in frame.values.tolist():
        book.active.append(row)
    book.save(path)


def write(table, path):
    parquet.write_table(table, path)


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("p.npy", PROBS)
    np.save("y.npy", MARKS)
    np.savez("both.npz", probs=PROBS, labels=MARKS.astype(bool))
    np.savez("y.npz", MARKS.astype(float))
    Path("classes.txt").write_text("\n".join(CLASSES), encoding="utf-8")
    FRAME.to_csv("p.csv", index=False)
    FRAME.assign(tags=CELLS).to_csv("cells.csv", index=False)
    FRAME.assign(tags=CELLS).to_csv("cells2.csv", index=False, sep=";")
    FRAME.assign(tags=[cell.replace(";", " | ") for cell in CELLS]).to_csv("bars.csv", index=False)
    marks = pd.DataFrame(MARKS, columns=CLASSES)[sorted(CLASSES)]
    marks.to_csv("y.csv", index=False)
    marks.astype(bool).to_csv("true.csv", index=False)
    marks.assign(case=range(80)).to_csv("cases.csv", index=False)
    FRAME.assign(case=range(80)).to_csv("p_cases.csv", index=False)
    workbook("y.xlsx", marks)
    workbook("cells.xlsx", FRAME.assign(tags=[cell or None for cell in CELLS]))
    write(pa.Table.from_pandas(marks.astype(bool), preserve_index=False), "y.parquet")
    write(pa.Table.from_pandas(FRAME.assign(tags=LISTS), preserve_index=False), "lists.parquet")
    lists = pa.array([np.flatnonzero(row).tolist() for row in MARKS], pa.large_list(pa.int32()))
    write(pa.table({"scores": PROBS.tolist(), "tags": lists}), "numbers.parquet")
    with Path("lists.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(
            json.dumps({"scores": dict(zip(CLASSES, scores, strict=True)), "tags": names}) + "\n"
            for scores, names in zip(PROBS.tolist(), LISTS, strict=True)
        )
    Path("tags.txt").write_text("\n".join([*CELLS, ""]), encoding="utf-8")


FORMS = {
    "0/1 array": ("p.npy", "y.npy", "--classes", "classes.txt"),
    "0/1 array in npz": ("p.npy", "y.npz", "--classes", "classes.txt"),
    "two arrays in npz": ("both.npz", "--classes", "classes.txt"),
    "0/1 array beside names": ("p.csv", "y.npy"),
    "0/1 columns in another order": ("p.csv", "y.csv"),
    "True and False": ("p.csv", "true.csv"),
    "0/1 columns beside an array": ("p.npy", "y.csv", "--classes", "classes.txt"),
    "0/1 columns and ids": ("p_cases.csv", "cases.csv", "--id", "case"),
    "0/1 columns in a workbook": ("p.csv", "y.xlsx"),
    "0/1 columns in parquet": ("p.csv", "y.parquet"),
    "cells": ("cells.csv", "--label", "tags"),
    "cells in csv with semicolons": ("cells2.csv", "--label", "tags"),
    "cells of a workbook": ("cells.xlsx", "--label", "tags"),
    "cells with bars": ("bars.csv", "--label", "tags", "--label-sep", "|"),
    "cells of another file": ("p.npy", "--labels", "cells.csv", "--label", "tags", "--classes", "classes.txt"),
    "lists": ("lists.parquet", "--label", "tags"),
    "lists in lines of JSON": ("lists.jsonl", "--label", "tags", "--classes", "classes.txt"),
    "lists of another file": ("p.csv", "--labels", "lists.parquet", "--label", "tags"),
    "column numbers": ("numbers.parquet", "--label", "tags", "--classes", "classes.txt"),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_all_forms_of_labels_give_the_rule_of_python(form):
    assert calibrated(*form, *SEVERAL) == RULE
    labels = [word for word in form if word not in {"--classes", "classes.txt"}]
    found = json.loads(fine("evaluate", "rule.rankset", *labels, "--alpha", "0.2", "--json").stdout)["0.2"]
    wanted = rs.evaluate(RULE.predict(PROBS, 0.2), MARKS).to_dict()
    assert found["recall"] == wanted["recall"]
    assert [one["name"] for one in found["labels"]] == CLASSES
    assert (found["target"], found["set_aside"]) == ("Recall()", int((MARKS.sum(axis=1) == 0).sum()))


@pytest.mark.filterwarnings("ignore:AtMostMissed:rankset.RanksetWarning")
@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("condition", [(), ("--per-label",)])
def test_targets_have_names(name, condition):
    wanted = {"condition": rs.PerLabel()} if condition else {}
    found = calibrated("cells.csv", "--label", "tags", "--kind", "marginals", "--target", name, *condition)
    assert found == rs.calibrate(PROBS, LISTS, target=TARGETS[name], kind="marginals", classes=CLASSES, **wanted)
    assert found.score == (rs.Share() if name == "recall" else rs.Thr())


def test_a_score_can_be_chosen_and_numbers_are_names_where_columns_are_numbers():
    FRAME.set_axis(["0", "1", "2", "3"], axis=1).assign(
        tags=[" ; ".join(str(k) for k in np.flatnonzero(row)) for row in MARKS]
    ).to_csv("numbers.csv", index=False)
    found = calibrated("numbers.csv", "--label", "tags", *SEVERAL, "--method", "thr")
    assert found == rs.calibrate(PROBS, MARKS, target="recall", kind="marginals", method="thr")
    assert found.classes.tolist() == [0, 1, 2, 3]


def test_folders_and_merged_rules():
    for folder in ("scores", "labels"):
        Path(folder).mkdir()
    for part in (0, 1):
        rows = slice(40 * part, 40 * part + 40)
        FRAME[rows].to_csv(f"scores/{part}.csv", index=False)
        pd.DataFrame(MARKS[rows], columns=CLASSES).to_csv(f"labels/{part}.csv", index=False)
        FRAME[rows].assign(tags=CELLS[rows]).to_csv(f"half{part}.csv", index=False)
        fine("calibrate", f"half{part}.csv", "--label", "tags", *SEVERAL, "-o", f"{part}.rankset")
    assert calibrated("scores", "labels", *SEVERAL) == RULE
    assert calibrated("half0.csv", "half1.csv", "--label", "tags", *SEVERAL) == RULE
    told = fine("merge", "0.rankset", "1.rankset", "-o", "merged.rankset").stdout
    assert rs.load("merged.rankset") == RULE
    assert "target         Recall()\n" in told
    assert f"rows without labels {RULE.set_aside}\n" in told
    found = json.loads(fine("evaluate", "merged.rankset", "half0.csv", "half1.csv", "--label", "tags", "--json").stdout)
    assert found["0.1"]["recall"] == rs.evaluate(RULE.predict(PROBS, 0.1), MARKS).recall


def test_sets_are_those_of_python():
    RULE.save("rule.rankset")
    fine("predict", "rule.rankset", "p.csv", "--alpha", "0.2", "--confidence", "0.8", "-o", "sets.jsonl")
    lines = Path("sets.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["labels"] for line in lines] == RULE.predict(PROBS, 0.2, confidence=0.8).to_lists()


def test_what_is_promised_is_shown():
    RULE.save("rule.rankset")
    told = fine("inspect", "rule.rankset", "--alpha", "0.2", "--confidence", "0.8").stdout
    assert "promise: the expected share of a row's true labels that the set contains is at least 0.8\n" in told
    assert f"with confidence 0.8: {RULE.at(0.2, confidence=0.8).describe()}\n" in told
    facts = json.loads(fine("inspect", "rule.rankset", "--json").stdout)
    assert facts["target"] == "Recall()"
    assert facts["levels"]["0.1"]["sure"] == {
        "confidence": "0.95",
        "rule": RULE.at(0.1, confidence=0.95).describe(),
    }
    rs.calibrate(PROBS, MARKS, target="all", kind="marginals", condition=rs.PerLabel()).save("labels.rankset")
    told = fine("inspect", "labels.rankset", "--alpha", "0.2").stdout
    each = "a true label is in the set with probability at least 0.8, separately for every label"
    assert f"promise: {each} (or group of labels with one threshold)\n" in told
    at = rs.load("labels.rankset").at(0.2, confidence=0.95)
    _, lines = told.split("with confidence 0.95:\n")
    assert [line.split(": ")[1] for line in lines.splitlines()] == [one.sentence for one in group_sentences(at)]


def test_errors_name_options():
    one = pd.DataFrame(PROBS / PROBS.sum(axis=1, keepdims=True), columns=CLASSES)
    one.assign(answer=[CLASSES[k] for k in MARKS.argmax(axis=1)]).to_csv("one.csv", index=False)
    told = failure("calibrate", "one.csv", "--label", "answer", "--cost", "fear=10", "-o", "x.rankset")
    assert "as --other-cost" in told.render(COMMAND_LINE)
    FRAME.assign(answer=[", ".join(names) for names in LISTS]).to_csv("commas.csv", index=False)
    told = failure("calibrate", "commas.csv", "--label", "answer", *SEVERAL, "-o", "x.rankset")
    assert "Pass --label-sep ','." in told.render(COMMAND_LINE)
    rs.calibrate(PROBS, MARKS, target="certain", kind="marginals", classes=CLASSES).save("certain.rankset")
    FRAME.to_csv("new.csv", index=False)
    told = failure("predict", "certain.rankset", "new.csv", "--empty", "top", "-o", "sets.csv")
    assert "empty must be allow (--empty allow)" in told.render(COMMAND_LINE)
    with refused(RuleError.precise_only()):
        rs.calibrate(PROBS, MARKS, target="precision", kind="marginals")


def test_costs():
    truth = MARKS.argmax(axis=1)
    one = pd.DataFrame(PROBS / PROBS.sum(axis=1, keepdims=True), columns=CLASSES)
    one.assign(answer=[CLASSES[k] for k in truth]).to_csv("one.csv", index=False)
    read = pd.read_csv("one.csv")[CLASSES].to_numpy()
    found = calibrated("one.csv", "--label", "answer", "--cost", "fear=10", "--cost", "joy=0.5", "--other-cost", "1")
    assert found == rs.calibrate(read, truth, classes=CLASSES, target=rs.Cost({"fear": 10, "joy": "0.5"}, others=1))
    told = fine("inspect", "rule.rankset", "--alpha", "0.1").stdout
    assert "promise: the expected cost of missing the true label is at most 0.1 of the largest cost\n" in told
    np.save("truth.npy", truth)
    np.save("one.npy", read)
    costs = [word for name, cost in zip(range(4), (1, 1, 1, 10), strict=True) for word in ("--cost", f"{name}={cost}")]
    wanted = rs.calibrate(read, truth, target=rs.Cost({0: 1, 1: 1, 2: 1, 3: 10}))
    assert calibrated("one.npy", "truth.npy", *costs) == wanted
    for folder in ("scores", "labels"):
        Path(folder).mkdir()
    for part in (0, 1):
        np.save(f"scores/{part}.npy", read[40 * part : 40 * part + 40])
        np.save(f"labels/{part}.npy", truth[40 * part : 40 * part + 40])
    assert calibrated("scores", "labels", *costs) == wanted


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("p.csv", "y.npy"), FileError.not_a_column("y.npy", (80, 4))),
        (("p.csv", "y.csv"), FileError.one_column("y.csv", sorted(CLASSES))),
        (
            ("lists.parquet", "--label", "tags"),
            FileError.nested("lists.parquet", "tags", "list<element: string>"),
        ),
        (("cells.csv", "--label", "tags", "--absent", ""), like(LabelError, what="labels", file="cells.csv")),
    ],
)
def test_several_labels_are_never_guessed(arguments, error):
    found = failure("calibrate", *arguments, "--kind", "marginals", "-o", "rule.rankset")
    check_refusal(found, error)
    told = "If rows can have several labels, pass --target recall or --target all."
    assert told in found.render(COMMAND_LINE)


def cells(**changes):
    """A csv file of scores whose cells of labels have changes, by row."""
    changed = dict(enumerate(CELLS)) | {int(row[1:]): cell for row, cell in changes.items()}
    FRAME.assign(tags=list(changed.values())).to_csv("wrong.csv", index=False)
    return ("wrong.csv", "--label", "tags")


def marks(row, column, value):
    frame = pd.DataFrame(MARKS, columns=CLASSES).astype(object)
    frame.loc[row, column] = value
    frame.to_csv("wrong_y.csv", index=False)
    return ("p.csv", "wrong_y.csv")


def array(values):
    np.save("wrong.npy", values)
    return ("p.csv", "wrong.npy")


def columns(names):
    pd.DataFrame(MARKS, columns=CLASSES)[names].to_csv("wrong_y.csv", index=False)
    return ("p.csv", "wrong_y.csv")


def identified():
    frame = pd.DataFrame(MARKS, columns=CLASSES)
    frame.insert(0, "id", [f"r{row}" for row in range(len(frame))])
    frame.to_csv("wrong_y.csv", index=False)
    return ("p.csv", "wrong_y.csv")


def empty_lines():
    Path("wrong_y.csv").write_text("\n".join(["tags", *CELLS[:5], "", *CELLS[6:78], "", ""]))
    return ("p.csv", "wrong_y.csv")


def zeros_and_ones():
    write(pa.Table.from_pandas(FRAME.assign(tags=MARKS.tolist()), preserve_index=False), "wrong.parquet")
    return ("wrong.parquet", "--label", "tags")


def missing_list():
    write(pa.Table.from_pandas(FRAME.assign(tags=[*LISTS[:7], None, *LISTS[8:]])), "wrong.parquet")
    return ("wrong.parquet", "--label", "tags")


MISTAKES = {
    "unknown": (lambda: cells(r5="joy;anger"), ("wrong.csv: labels must be among", "'anger', first at row 5.")),
    "repeated": (
        lambda: cells(r6="joy;joy"),
        ("wrong.csv: labels must contain every label", "'joy' more", "at row 6."),
    ),
    "no name": (
        lambda: cells(r7="joy;;fear"),
        (
            "wrong.csv: every cell of labels must contain names separated by ';', got 'joy;;fear'",
            "row 7, column 'tags'",
        ),
    ),
    "number": (
        lambda: marks(4, "fear", 2),
        ("wrong_y.csv: labels must be a matrix of 0 and 1", "row 4, column 'fear'"),
    ),
    "empty": (lambda: marks(4, "fear", None), ("wrong_y.csv: every cell must have", "row 4, column 'fear'")),
    "shape": (
        lambda: array(MARKS[:, :3]),
        ("wrong.npy: labels must have shape (80, 4) as a 0/1 matrix, got",),
    ),
    "rows": (lambda: array(MARKS[:70]), ("wrong.npy: labels must have one entry for each of the 80 rows, got 70",)),
    "half": (lambda: array(MARKS / 2), ("wrong.npy: labels must be a matrix of 0 and 1, got 0.5 at row",)),
    "NaN": (
        lambda: array(np.where(MARKS > 5, 1, np.nan)),
        ("wrong.npy: labels must not contain NaN", "row 0, column 0"),
    ),
    "one each": (
        lambda: array(MARKS.argmax(axis=1)),
        ("wrong.npy: labels must be a 0/1 matrix", "leave out --target."),
    ),
    "columns": (
        lambda: columns(["joy", "fear", "pride"]),
        ("wrong_y.csv: a 0/1 matrix of labels must have one column for every class", "'grief'"),
    ),
    "a column beside the classes": (
        identified,
        ("wrong_y.csv: a 0/1 matrix of labels must have", "got the unknown columns 'id'. Write", "no other columns."),
    ),
    "empty lines at the end": (
        empty_lines,
        ("wrong_y.csv: labels must have one entry for each of the 80 rows, got 78", 'write "" in a csv file.'),
    ),
    "zeros": (zeros_and_ones, ("wrong.parquet: labels must say clearly what they are", "lists of 4 numbers 0 and 1")),
    "null": (missing_list, ("wrong.parquet: every cell must have a value", "row 7, column 'tags'")),
    "no column": (lambda: ("p.csv", "--label", "tags"), ("p.csv", "'tags'")),
    "absent": (lambda: ("cells.csv", "--label", "tags", "--absent", "none"), ("left out if rows can have several",)),
}


@pytest.mark.parametrize(("make", "told"), MISTAKES.values(), ids=MISTAKES.keys())
def test_mistakes_are_told_in_one_line_with_their_place(make, told):
    done = run("calibrate", *make(), *SEVERAL, "-o", "rule.rankset")
    assert done.exit_code == 1, done.output
    assert done.stderr.count("\n") == 1
    for words in told:
        assert words in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("--target", "some"), 2, "'recall', 'all', 'any', 'certain', 'missed:1', got 'some'"),
        (("--target", "all", "--cost", "joy=1"), 2, "--cost is a target of its own. Remove --target or --cost."),
        (("--other-cost", "1"), 2, "--other-cost works only with --cost NAME=NUMBER."),
        (("--cost", "joy"), 2, "'joy' has no =. Pass NAME=NUMBER once for every label."),
        (("--cost", "joy=1", "--cost", "joy=2"), 2, "'joy' has two costs."),
        (("--cost", "joy=much"), 1, "the cost of 'joy' must be a finite number of at least 0"),
        (("--target", "recall", "--label-sep", ""), 1, "the separator of labels must be at least one character"),
    ],
)
def test_options_that_do_not_fit(arguments, code, told):
    done = run("calibrate", "cells.csv", "--label", "tags", "--kind", "marginals", *arguments, "-o", "rule.rankset")
    assert done.exit_code == code, done.output
    assert told in done.stderr


def test_a_target_of_parts_takes_no_next_rows():
    RULE.save("rule.rankset")
    done = run("predict", "rule.rankset", "p.csv", "--alpha", "0.1", "--confidence", "0.9", "--next-rows", "5")
    assert done.exit_code == 2
    assert "next_rows must be left out for targets that count parts of rows, such as Recall(), got 5." in done.stderr


def test_a_report_of_scores_refuses_several_labels():
    found = failure("report", "p.csv", "y.npy", "p.csv", "y.npy", "-o", "page.html", "--target", "all")
    check_refusal(found, RuleError.command_of_one_label("report", "--target all"))


def test_a_report_of_a_rule_with_several_labels():
    RULE.save("rule.rankset")
    fine("report", "rule.rankset", "p.csv", "y.npy", "-o", "page.html")
    assert "Recall()" in Path("page.html").read_text(encoding="utf-8")


def test_auto_takes_a_target():
    rule = calibrated("cells.csv", "--label", "tags", *SEVERAL, "--method", "auto")
    assert rule.target == rs.Recall()
    assert isinstance(rule.score, rs.Chosen)


def test_groups_are_for_rules_that_have_them():
    sites = np.array(["north", "south"])[np.arange(80) % 2]
    FRAME.assign(tags=CELLS, site=sites).to_csv("sites.csv", index=False)
    asked = ("sites.csv", "--label", "tags", "--group", "site")
    wanted = {"condition": rs.PerGroup(), "groups": sites, "classes": CLASSES}
    rule = calibrated(*asked, *SEVERAL)
    assert rule == rs.calibrate(PROBS, LISTS, target="recall", kind="marginals", **wanted)
    found = json.loads(fine("evaluate", "rule.rankset", *asked, "--alpha", "0.2", "--json").stdout)["0.2"]
    assert found["recall"] == rs.evaluate(rule.predict(PROBS, 0.2, groups=sites), MARKS).recall
    RULE.save("plain.rankset")
    done = run("evaluate", "plain.rankset", *asked)
    assert (done.exit_code, "Remove --group." in done.stderr) == (2, True)
