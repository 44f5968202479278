"""``rankset calibrate --tie-break``: ties between rows, as sampled answers make them, settled by a draw."""

import numpy as np
import pandas as pd
import pytest

import rankset as rs
from commands import fine, run

NAMES = ["A", "B", "C", "D"]
RNG = np.random.default_rng(0)
TRUE = RNG.integers(0, 4, 400)
PROBS = np.array([RNG.multinomial(5, np.where(np.arange(4) == label, 0.7, 0.1)) / 5 for label in TRUE])
CASES = np.array([f"case {row}" for row in range(400)])
FRAME = pd.DataFrame(PROBS, columns=NAMES).assign(case=CASES, answer=np.array(NAMES)[TRUE])
OLD, NEW = slice(0, 200), slice(200, 400)
IDS = ("--id", "case")
READ = ("--label", "answer", *IDS)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FRAME[OLD].to_csv("old.csv", index=False)
    FRAME[NEW].to_csv("new.csv", index=False)


def in_python(score, **options):
    return rs.calibrate(PROBS[OLD], FRAME["answer"][OLD], method=score, classes=NAMES, **options)


@pytest.mark.parametrize(
    ("options", "score"),
    [
        ((), rs.TieBreak(rs.Rank())),
        (("--method", "topk"), rs.TieBreak(rs.TopK())),
        (("--method", "raps", "--set", "penalty=0.5"), rs.TieBreak(rs.Raps(penalty=0.5, free_ranks=2))),
        (("--method", "thr", "--temperature", "2"), rs.TieBreak(rs.Tempered(rs.Thr(), 2.0))),
    ],
)
def test_the_rule_is_the_one_of_python(options, score):
    told = fine("calibrate", "old.csv", *READ, "--tie-break", *options, "-o", "rule.rankset").output
    rule = rs.load("rule.rankset")
    assert rule == in_python(score, ids=CASES[OLD])
    assert f"score          {score!r}" in told
    fine("predict", "rule.rankset", "new.csv", *IDS, "--drop", "answer", "--alpha", "0.1", "-o", "sets.jsonl")
    sets = pd.read_json("sets.jsonl", lines=True)["labels"].tolist()
    assert sets == rule.predict(PROBS[NEW], alpha=0.1, ids=CASES[NEW]).to_lists()


def test_ties_are_settled():
    fine("calibrate", "old.csv", *READ, "-o", "tied.rankset")
    fine("calibrate", "old.csv", *READ, "--tie-break", "-o", "settled.rankset")
    tied, settled = (
        rs.load(f"{name}.rankset").predict(PROBS[NEW], 0.1, ids=CASES[NEW]) for name in ("tied", "settled")
    )
    assert settled.sizes.mean() < tied.sizes.mean()
    assert settled.covers(FRAME["answer"][NEW].to_numpy()).mean() >= 0.85
    fine("evaluate", "settled.rankset", "new.csv", *READ, "--alpha", "0.1")


def test_without_ids_equal_rows_stay_tied():
    fine("calibrate", "old.csv", "--label", "answer", "--drop", "case", "--tie-break", "-o", "rule.rankset")
    assert rs.load("rule.rankset") == in_python(rs.TieBreak(rs.Rank()))


def test_several_files_and_seeds():
    FRAME[:120].to_csv("part_a.csv", index=False)
    FRAME[120:200].to_csv("part_b.csv", index=False)
    shared = (*READ, "--tie-break", "--temperature", "0.5", "--seed", "7", "-o")
    fine("calibrate", "part_a.csv", "part_b.csv", *shared, "rule.rankset")
    assert rs.load("rule.rankset") == in_python(rs.TieBreak(rs.Tempered(rs.Rank(), 0.5)), ids=CASES[OLD], seed=7)


@pytest.mark.parametrize("auto", [("--auto", "0.1"), ("--method", "auto")])
def test_not_with_auto(auto):
    done = run("calibrate", "old.csv", *READ, "--tie-break", *auto, "-o", "rule.rankset")
    assert done.exit_code == 2
    assert "Remove --set, --temperature and --tie-break." in done.stderr


def test_help_says_what_it_needs():
    told = " ".join(fine("calibrate", "--help").output.split())
    assert "--tie-break Settle ties between rows by a random draw. Pass --id to calibrate and predict" in told
