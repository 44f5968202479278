"""Files whose rows have candidates of their own: ``--options``."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import rankset as rs
from commands import fine
from rankset.errors import COMMAND_LINE, FileError
from refusals import check_refusal, failure

RNG = np.random.default_rng(2)
SCORES = [RNG.dirichlet(np.ones(k)).tolist() for k in RNG.integers(2, 6, 120)]
NAMES = [[f"option {place} of {row}" for place in range(len(one))] for row, one in enumerate(SCORES)]
TRUTH = [names[int(RNG.integers(len(names)))] for names in NAMES]
ROWS = [
    {"options": names, "scores": scores, "answer": truth, "case": f"case {row}"}
    for row, (names, scores, truth) in enumerate(zip(NAMES, SCORES, TRUTH, strict=True))
]
RAGGED = rs.Ragged.of(SCORES, names=NAMES)
RULE = rs.calibrate(RAGGED[:80], TRUTH[:80])
WIDE = {"options": list("abcdefgh"), "scores": [0.3] + [0.1] * 7, "answer": "a", "case": "wide"}


def lines(path, rows):
    with Path(path).open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines("cal.jsonl", ROWS[:80])
    lines("new.jsonl", [*ROWS[80:], WIDE])


def calibrated(path="cal.jsonl", *more):
    fine("calibrate", path, "--label", "answer", "--options", "options", "--drop", "case", "-o", "r.rankset", *more)
    return rs.load("r.rankset")


def test_rules_and_sets_are_those_of_python():
    assert calibrated() == RULE
    fine("predict", "r.rankset", "new.jsonl", "--options", "options", "--alpha", 0.2, "--id", "case", "-o", "s.jsonl")
    with Path("s.jsonl").open(encoding="utf-8") as file:
        written = [json.loads(line) for line in file]
    wanted = RULE.predict(rs.Ragged.of([*SCORES[80:], WIDE["scores"]], names=[*NAMES[80:], WIDE["options"]]), 0.2)
    assert [row["labels"] for row in written] == wanted.to_lists()
    assert written[0]["case"] == "case 80"
    fine("predict", "r.rankset", "new.jsonl", "--options", "options", "-o", "s.csv")


def test_parquet_and_objects_are_read_alike():
    parquet.write_table(pa.Table.from_pylist(ROWS[:80]), "cal.parquet")
    assert calibrated("cal.parquet", "--force") == RULE
    lines(
        "objects.jsonl",
        [
            {"options": dict(zip(names, row, strict=True)), "answer": truth}
            for names, row, truth in zip(NAMES, SCORES, TRUTH, strict=True)
        ][:80],
    )
    fine("calibrate", "objects.jsonl", "--label", "answer", "--options", "options", "-o", "o.rankset")
    assert rs.load("o.rankset") == RULE


def test_other_commands_take_them():
    calibrated()
    shared = ("--label", "answer", "--options", "options")
    told = json.loads(fine("evaluate", "r.rankset", "new.jsonl", *shared, "--alpha", 0.2, "--json").stdout)
    new = rs.Ragged.of([*SCORES[80:], WIDE["scores"]], names=[*NAMES[80:], WIDE["options"]])
    covered = RULE.predict(new, 0.2).covers([*TRUTH[80:], "a"])
    assert told["0.2"]["coverage"] == covered.mean()
    assert "Rank" in fine("compare", "cal.jsonl", *shared, "--repeats", 2, "--no-auto").stdout
    fine("report", "r.rankset", "new.jsonl", *shared, "--id", "case", "-o", "one.html")
    fine("report", "cal.jsonl", "new.jsonl", *shared, "-o", "all.html")
    with Path("one.html").open(encoding="utf-8") as file:
        assert NAMES[80][0] in file.read()


def test_labels_outside_the_options_are_absent_or_refused():
    rows = [dict(row) for row in ROWS[:80]]
    rows[3]["answer"] = None
    lines("cal.jsonl", rows)
    rule = calibrated("cal.jsonl", "--absent", "")
    assert rule == rs.calibrate(RAGGED[:80], [*TRUTH[:3], rs.ABSENT, *TRUTH[4:80]])
    told = failure("calibrate", "cal.jsonl", "--label", "answer", "--options", "options", "-o", "x.rankset")
    assert "--absent ''" in told.render(COMMAND_LINE)


def test_several_files_are_refused():
    calibrated()
    told = failure("predict", "r.rankset", "cal.jsonl", "new.jsonl", "--options", "options")
    check_refusal(told, FileError.options_in_parts("cal.jsonl"))


@pytest.mark.parametrize(
    ("row", "error"),
    [
        ({"options": "ab", "scores": [0.5, 0.5], "answer": "a"}, FileError.no_options("bad.jsonl", "options")),
        ({"options": ["a", "b"], "scores": 0.5, "answer": "a"}, FileError.which_scores("bad.jsonl", [])),
        (
            {"options": ["a"], "scores": [0.5], "more": [1.0], "answer": "a"},
            FileError.which_scores("bad.jsonl", ["scores", "more"]),
        ),
        ({"scores": [0.5], "answer": "a"}, FileError.no_column("bad.jsonl", "options", ["scores", "answer"])),
    ],
)
def test_other_columns_are_refused(row, error):
    lines("bad.jsonl", [row, row])
    arguments = ("calibrate", "bad.jsonl", "--label", "answer", "--options", "options", "-o", "x.rankset")
    check_refusal(failure(*arguments), error)


def test_lists_of_different_lengths_name_the_option():
    lines("plain.jsonl", [{"scores": row["scores"], "answer": 0} for row in ROWS])
    told = failure("calibrate", "plain.jsonl", "--label", "answer", "-o", "x.rankset").render(COMMAND_LINE)
    assert "--options" in told
    assert "rankset.Ragged.of" in told
    assert "drop that row" not in told


def test_a_broken_line_is_named_as_editors_count():
    with Path("broken.jsonl").open("w", encoding="utf-8") as file:
        file.write('{"a": 1, "b": 0.5}\n\n{"a": 1 "b": 0.2}\n')
    told = failure("calibrate", "broken.jsonl", "--label", "a", "-o", "x.rankset").render(COMMAND_LINE)
    assert "line 3 is not valid JSON" in told
