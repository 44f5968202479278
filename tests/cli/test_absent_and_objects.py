"""Files that say the true label is absent, and files whose rows are objects."""

import json
import re

import numpy as np
import pandas as pd
import pytest

import rankset as rs
from commands import fine, run
from rankset.errors import COMMAND_LINE, FileError, InputError, LabelError
from rankset.evaluation.evaluation_remarks import for_command_line
from refusals import check_refusal, failure

NAMES = ["sadness", "joy", "love", "anger", "fear", "surprise"]
LOGITS, TRUTH = rs.datasets.load("carer")
LOGITS, TRUTH = LOGITS[:300].astype(float), TRUTH[:300].astype(int)
ABSENT = np.arange(300) % 20 == 0
LABELS = [rs.ABSENT if gone else NAMES[label] for label, gone in zip(TRUTH, ABSENT, strict=True)]
RULE = rs.calibrate(LOGITS, LABELS, kind="logits", classes=NAMES)


def lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("logits.npy", LOGITS)
    (tmp_path / "classes.txt").write_text("\n".join(NAMES))
    return tmp_path


def label_files():
    """Files of labels, each with the text that its absent labels have."""
    words = [NAMES[label] for label in TRUTH]
    yield (
        "names.csv",
        "none",
        pd.DataFrame({"y": ["none" if gone else w for w, gone in zip(words, ABSENT, strict=True)]}),
    )
    yield "empty.csv", "", pd.DataFrame({"y": ["" if gone else w for w, gone in zip(words, ABSENT, strict=True)]})
    yield (
        "numbers.csv",
        "",
        pd.DataFrame({"y": ["" if gone else str(k) for k, gone in zip(TRUTH, ABSENT, strict=True)]}),
    )
    yield "minus.npy", "-1", np.where(ABSENT, -1, TRUTH)
    yield "nulls.jsonl", "", [None if gone else int(k) for k, gone in zip(TRUTH, ABSENT, strict=True)]
    yield "mixed.jsonl", "?", ["?" if gone else w for w, gone in zip(words, ABSENT, strict=True)]
    yield "nulls.parquet", "", pd.DataFrame({"y": [None if gone else w for w, gone in zip(words, ABSENT, strict=True)]})
    yield "some.parquet", "", pd.DataFrame({"y": pd.array(np.where(ABSENT, None, TRUTH), dtype="Int64")})


@pytest.mark.parametrize(("name", "text", "labels"), label_files(), ids=lambda one: one if isinstance(one, str) else "")
def test_the_text_of_an_absent_label(folder, name, text, labels):
    if name.endswith(".npy"):
        np.save(name, labels)
    elif name.endswith(".jsonl"):
        lines(folder / name, [{"y": label} for label in labels])
    elif name.endswith(".csv"):
        labels.to_csv(name, index=False)
    else:
        labels.to_parquet(name)
    shared = ["--absent", text]
    fine("calibrate", "logits.npy", name, *shared, "--kind", "logits", "--classes", "classes.txt", "-o", "a.rankset")
    assert rs.load("a.rankset") == RULE
    told = fine("evaluate", "a.rankset", "logits.npy", name, *shared, "--alpha", "0.2").stdout
    assert for_command_line(repr(rs.evaluate(RULE.predict(LOGITS, 0.2), LABELS))) in told
    done = run("calibrate", "logits.npy", name, "--kind", "logits", "--classes", "classes.txt", "-o", "b.rankset")
    assert done.exit_code == 1


def test_commands_name_the_level_that_can_be_attained(folder):
    np.save("y.npy", np.where(ABSENT, -1, TRUTH))
    shared = ["logits.npy", "y.npy", "--absent", "-1", "--kind", "logits"]
    told = fine("calibrate", *shared, "-o", "a.rankset").stdout
    assert "absent labels  15" in told
    assert "smallest alpha 16/301 (about 0.05316)" in told
    told = json.loads(fine("inspect", "a.rankset", "--json").stdout)
    assert told["absent_labels"] == 15
    assert told["levels"]["0.05"]["threshold"] is None
    assert told["levels"]["0.05"]["attained"] is False
    assert "attained" not in told["levels"]["0.1"]
    warned = fine("predict", "a.rankset", "logits.npy", "--alpha", "0.05", "-o", "sets.csv").stderr
    assert "cannot be attained for --alpha 0.05" in warned
    assert "15 of 300 calibration rows" in warned
    fine("compare", *shared, "--repeats", "2")
    fine("report", "a.rankset", "logits.npy", "y.npy", "--absent", "-1", "-o", "page.html")
    assert re.search(r'"absent": ?\{"calibration": ?15', (folder / "page.html").read_text())
    error = failure("calibrate", *shared, "--per-label", "-o", "b.rankset")
    check_refusal(error, LabelError.absent_condition(rs.PerLabel(), 0), file="y.npy")
    assert "--per-label" in error.render(COMMAND_LINE)


def test_groups_that_cannot_attain_a_level_are_counted(folder):
    frame = pd.DataFrame(LOGITS, columns=NAMES).assign(
        y=["none" if row < 40 else NAMES[label] for row, label in enumerate(TRUTH)],
        site=["north" if row < 150 else "south" for row in range(300)],
    )
    frame.to_csv("all.csv", index=False)
    asked = ["--label", "y", "--group", "site", "--absent", "none", "--kind", "logits"]
    fine("calibrate", "all.csv", *asked, "-o", "a.rankset")
    (level,) = json.loads(fine("inspect", "a.rankset", "--alpha", "0.1", "--json").stdout)["levels"].values()
    assert "absent from" in level.pop("rules")["group 'north'"]
    level.pop("follows")
    assert level == {"thresholds": 1, "groups_too_small": 0, "rows_needed": 9, "groups_with_absent_labels": 1}


def objects(drop=lambda row, column: False):
    """Rows as objects, in which some entries are left out."""
    return [
        {NAMES[k]: value for k, value in enumerate(row) if not drop(number, k)}
        for number, row in enumerate(LOGITS.tolist())
    ]


def test_rows_as_objects(folder):
    rows, words = (
        objects(lambda row, column: (row + column) % 4 == 0 and TRUTH[row] != column),
        [NAMES[k] for k in TRUTH],
    )
    rows = [dict(reversed(row.items())) if number % 3 else row for number, row in enumerate(rows)]
    lines(
        folder / "rows.jsonl",
        [{"case": i, "s": row, "y": w} for i, (row, w) in enumerate(zip(rows, words, strict=True))],
    )
    expected = rs.calibrate(rows, words, kind="logits")
    asked = ["--label", "y", "--drop", "case", "--kind", "logits"]
    fine("calibrate", "rows.jsonl", *asked, "-o", "a.rankset")
    assert rs.load("a.rankset") == expected
    fine("predict", "a.rankset", "rows.jsonl", "--id", "case", "--alpha", "0.2", "-o", "sets.jsonl")
    assert pd.read_json("sets.jsonl", lines=True)["labels"].tolist() == expected.predict(rows, 0.2).to_lists()
    pd.DataFrame({"s": rows, "y": words}).to_parquet("rows.parquet")
    fine("calibrate", "rows.parquet", "--label", "y", "--kind", "logits", "-o", "b.rankset")
    assert rs.load("b.rankset") == expected
    (folder / "more.txt").write_text("\n".join([*NAMES, "pride"]))
    fine("calibrate", "rows.jsonl", *asked, "--classes", "more.txt", "-o", "c.rankset")
    assert rs.load("c.rankset") == rs.calibrate(rows, words, kind="logits", classes=[*NAMES, "pride"])
    (folder / "parts").mkdir()
    for part in range(3):
        lines(
            folder / "parts" / f"{part}.jsonl",
            [{"s": row, "y": w} for row, w in zip(rows[part::3], words[part::3], strict=True)],
        )
    fine("calibrate", "parts", "--label", "y", "--kind", "logits", "-o", "d.rankset")
    assert rs.load("d.rankset") == expected


def test_objects_with_very_many_names(folder):
    rng = np.random.default_rng(0)
    rows = [
        {f"c{k}": float(v) for k, v in zip(rng.choice(500, 4, replace=False), rng.random(4), strict=True)}
        for _ in range(80)
    ]
    truth = [next(iter(row)) for row in rows]
    lines(folder / "rows.jsonl", [{"s": row, "y": label} for row, label in zip(rows, truth, strict=True)])
    fine("calibrate", "rows.jsonl", "--label", "y", "--kind", "logits", "-o", "a.rankset")
    assert rs.load("a.rankset") == rs.calibrate(rows, truth, kind="logits")


def test_mistakes_in_objects_are_told_in_a_line(folder):
    rows = [{"s": {"A": 0.5, "B": 0.5}, "y": "A"}] * 20
    lines(folder / "rows.jsonl", rows)
    fine("calibrate", "rows.jsonl", "--label", "y", "-o", "a.rankset")
    lines(folder / "new.jsonl", [{"s": {"A": 0.5, "B": 0.5}}, {"s": {"A": 0.5, "Z": 0.5}}])
    error = failure("predict", "a.rankset", "new.jsonl")
    check_refusal(error, InputError.unknown_names("column 's'", 1, ["Z"], ["A", "B"]), file="new.jsonl")
    lines(folder / "binary.jsonl", rows)
    error = failure("calibrate", "binary.jsonl", "--label", "y", "--kind", "binary", "-o", "b.rankset")
    check_refusal(error, InputError.named_binary("column 's'"), file="binary.jsonl")
    lines(folder / "null.jsonl", [*rows, {"s": None, "y": "A"}])
    error = failure("calibrate", "null.jsonl", "--label", "y", "-o", "c.rankset")
    check_refusal(error, FileError.no_object("null.jsonl", "s", 20))
    lines(folder / "numbers.jsonl", [{**row, "y": 0} for row in rows])
    error = failure("calibrate", "numbers.jsonl", "--label", "y", "-o", "d.rankset")
    check_refusal(error, LabelError.lines_in_several_orders("numbers.jsonl"))
    lines(folder / "both.jsonl", [{**row, "p": 0.1, "q": 0.2} for row in rows])
    error = failure("calibrate", "both.jsonl", "--label", "y", "-o", "e.rankset")
    check_refusal(error, FileError.lists_and_columns("both.jsonl", "s", ["p", "q"]))


def test_the_memory_of_objects_is_counted_before_it_is_taken(folder):
    rows = [{"s": {f"answer {row}": -1.0, f"other {row}": -2.0}, "y": f"answer {row}"} for row in range(3000)]
    lines(folder / "rows.jsonl", rows)
    asked = ["calibrate", "rows.jsonl", "--label", "y", "--kind", "logits"]
    error = failure(*asked, "--max-memory", "20MB", "-o", "a.rankset")
    assert isinstance(error, FileError)
    assert "20" in error.render(COMMAND_LINE)
    fine(*asked, "--max-memory", "1GB", "-o", "b.rankset")
