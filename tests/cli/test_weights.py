"""Weights of rows and ``--label-shift`` on the command line."""

import json
from pathlib import Path

import numpy as np
import pytest

import rankset as rs
from commands import FRAME, LABELS, LOGITS, NAMES, TEST, VAL, fine, run
from rankset.errors import FileError, InputError, RuleError
from refusals import check_refusal, failure, like

WEIGHTS = np.random.default_rng(0).uniform(0.5, 1.5, len(LOGITS)).round(3)
FACTORS = dict(zip(NAMES, (1, 0.5, 2, 1, 0, 3), strict=True))
TABLE = (
    "calibrate",
    "val.csv",
    "--label",
    "answer",
    "--kind",
    "logits",
    "--drop",
    "site",
    "-o",
    "a.rankset",
    "--force",
)
WEIGHTED = (*TABLE, "--weights", "weight")


@pytest.fixture(autouse=True)
def rows(folder):
    frame = FRAME.assign(weight=WEIGHTS)
    for name, part in (("val", VAL), ("test", TEST)):
        frame[part].to_csv(f"{name}.csv", index=False)
        frame[part].to_parquet(f"{name}.parquet")
        np.savez(f"{name}.npz", logits=LOGITS[part], labels=LABELS[part], weight=WEIGHTS[part])
    lines = [f"{name};{FACTORS[name]}" for name in reversed(NAMES)]
    (folder / "factors.csv").write_text("\n".join(["class;factor", *lines]))
    (folder / "factors.json").write_text(json.dumps(FACTORS))
    (folder / "counts.json").write_text(json.dumps(dict.fromkeys(NAMES, 10)))
    (folder / "names.txt").write_text("\n".join(NAMES))
    return folder


def expected(**options):
    labels = np.array(NAMES)[LABELS[VAL]]
    return rs.calibrate(LOGITS[VAL].astype(float), labels, kind="logits", classes=NAMES, **options)


def sets_of(rule, **options):
    return [[str(label) for label in one] for one in rule.predict(LOGITS[TEST].astype(float), 0.1, **options)]


def written():
    return [json.loads(line)["labels"] for line in Path("sets.jsonl").read_text(encoding="utf-8").splitlines()]


def test_calibrate_and_predict_with_a_column():
    told = fine(*WEIGHTED).stdout
    rule = expected(weights=WEIGHTS[VAL])
    assert rs.load("a.rankset") == rule
    assert f"effective rows {rule.effective_rows:.1f}" in told
    assert "promise        coverage of at least 1 - alpha if the weights of rows are right" in told
    fine("predict", "a.rankset", "test.csv", "--weights", "weight", "-o", "sets.jsonl")
    assert written() == sets_of(rule, weights=WEIGHTS[TEST])


def test_parts_of_a_file_and_npz(monkeypatch):
    fine(
        "calibrate",
        "val.npz",
        "--key",
        "logits",
        "--label",
        "labels",
        "--kind",
        "logits",
        "--weights",
        "weight",
        "-o",
        "n.rankset",
    )
    plain = rs.calibrate(LOGITS[VAL], LABELS[VAL], kind="logits", weights=WEIGHTS[VAL])
    assert rs.load("n.rankset") == plain
    monkeypatch.setattr("rankset.cli.predict.rows_of_part", lambda _: 7)
    fine("predict", "n.rankset", "test.npz", "--key", "logits", "--weights", "weight", "-o", "sets.jsonl")
    assert written() == [one.tolist() for one in plain.predict(LOGITS[TEST], 0.1, weights=WEIGHTS[TEST])]


def test_a_number_is_the_weight_of_all_rows_unless_a_column_has_its_name():
    fine(*TABLE, "--drop", "weight", "--weights", "2")
    assert rs.load("a.rankset") == expected(weights=2)
    fine("predict", "a.rankset", "test_logits.npy", "--weights", "2", "-o", "sets.jsonl")
    assert written() == sets_of(expected(weights=2), weights=2)
    frame = FRAME.assign(**{"2": WEIGHTS})
    frame[VAL].to_csv("val.csv", index=False)
    fine(*TABLE, "--weights", "2")
    assert rs.load("a.rankset") == expected(weights=WEIGHTS[VAL])


def test_several_files_and_folders(folder):
    frame = FRAME.assign(weight=WEIGHTS)
    for number, part in enumerate((slice(0, 250), slice(250, 600))):
        (folder / "parts").mkdir(exist_ok=True)
        frame[part].to_parquet(folder / f"parts/{number}.parquet", index=False)
    fine(
        "calibrate",
        "parts",
        "--label",
        "answer",
        "--kind",
        "logits",
        "--drop",
        "site",
        "--weights",
        "weight",
        "-o",
        "a.rankset",
    )
    assert rs.load("a.rankset") == expected(weights=WEIGHTS[VAL])
    fine("predict", "a.rankset", "parts", "--weights", "weight", "-o", "sets.jsonl")
    labels = [
        [str(one) for one in row]
        for row in expected(weights=WEIGHTS[VAL]).predict(LOGITS[VAL].astype(float), 0.1, weights=WEIGHTS[VAL])
    ]
    assert written() == labels
    fine("predict", "a.rankset", "parts", "--weights", "weight", "-o", "out/")
    assert (folder / "out/0.parquet").exists()


def test_evaluate_and_inspect():
    fine(*WEIGHTED)
    rule = expected(weights=WEIGHTS[VAL])
    told = fine("evaluate", "a.rankset", "test.csv", "--label", "answer", "--weights", "weight").stdout
    assert f"count as {rule.effective_rows:,.0f} rows of equal weight" in told
    assert "sampling variation" not in told
    assert (
        "Promise: the set contains the true label with probability at least 0.9, if the weights of rows are right"
        in told
    )
    found = json.loads(
        fine("evaluate", "a.rankset", "test.csv", "--label", "answer", "--weights", "weight", "--json").stdout
    )
    assert found["0.1"]["effective_rows"] == rule.effective_rows
    shown = fine("inspect", "a.rankset").stdout
    assert "for new rows of weight 1" in shown
    assert "in 90% of calibrations" not in shown
    check_refusal(failure("inspect", "a.rankset", "--confidence", "0.9"), RuleError.weights_and_confidence())


def test_merge():
    frame = FRAME.assign(weight=WEIGHTS)
    frame[:250].to_csv("one.csv", index=False)
    frame[250:600].to_csv("two.csv", index=False)
    for name in ("one", "two"):
        fine("calibrate", f"{name}.csv", *TABLE[2:-2], f"{name}.rankset", "--weights", "weight")
    fine("merge", "one.rankset", "two.rankset", "-o", "both.rankset")
    assert rs.load("both.rankset") == expected(weights=WEIGHTS[VAL])
    fine("calibrate", "two.csv", *TABLE[2:-2], "two.rankset", "--drop", "weight", "--force")
    check_refusal(failure("merge", "one.rankset", "two.rankset", "-o", "c.rankset"), RuleError.merged_weights())


def test_report():
    pytest.importorskip("plotly")
    fine(*WEIGHTED)
    fine("report", "a.rankset", "test.csv", "--label", "answer", "--weights", "weight", "-o", "a.html")
    assert "if the weights of rows are right" in Path("a.html").read_text(encoding="utf-8")
    done = run(
        "report", "val.csv", "test.csv", "--label", "answer", "--weights", "weight", "--kind", "logits", "-o", "b.html"
    )
    assert "--weights works only with rules" in done.output


def test_what_is_missing_is_told():
    fine(*WEIGHTED)
    error = failure("predict", "a.rankset", "test.csv")
    check_refusal(error, RuleError.weights_missing())
    assert "--weights" in run("predict", "a.rankset", "test.csv").output
    fine(*TABLE, "--drop", "weight")
    check_refusal(failure("predict", "a.rankset", "test.csv", "--weights", "weight"), RuleError.weights_unused())
    check_refusal(failure(*TABLE, "--weights", "nowhere"), like(FileError))
    check_refusal(failure(*TABLE, "--weights", "answer"), like(FileError, what="labels, groups and ids"))
    assert run("compare", "val.csv", "--label", "answer", "--weights", "weight").exit_code == 2


@pytest.mark.parametrize("cell", ["", "-1", "many", "nan", "inf"])
def test_cells_that_are_no_weights_are_refused(cell):
    frame = FRAME.assign(weight=WEIGHTS.astype(object))[VAL].copy()
    frame.iloc[4, frame.columns.get_loc("weight")] = cell
    frame.to_csv("val.csv", index=False)
    error = failure(*WEIGHTED)
    assert error.where.file == "val.csv"
    assert error.where.row == 4


def test_weights_with_a_decimal_comma():
    FRAME.assign(weight=WEIGHTS)[VAL].to_csv("val.csv", index=False, sep=";", decimal=",")
    fine(*WEIGHTED)
    assert rs.load("a.rankset") == expected(weights=WEIGHTS[VAL])


@pytest.mark.parametrize("file", ["factors.csv", "factors.json"])
@pytest.mark.parametrize("pooled", [(), ("--pooled",)])
def test_label_shift_takes_factors_by_name(file, pooled):
    told = fine(*TABLE, "--drop", "weight", "--label-shift", file, *pooled).stdout
    condition = rs.LabelShift(list(FACTORS.values()))
    rule = expected(condition=rs.Pooled(condition) if pooled else condition)
    assert rs.load("a.rankset") == rule
    assert "if the factors of the label shift are right" in told
    assert "effective rows" in told


def test_label_shift_with_weights():
    fine(*WEIGHTED, "--label-shift", "factors.csv")
    assert rs.load("a.rankset") == expected(condition=rs.LabelShift(list(FACTORS.values())), weights=WEIGHTS[VAL])


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--balanced", "--training-counts", "counts.json"), "Remove --balanced"),
        (("--per-label",), "Remove --balanced, --per-label"),
        (("--group", "site"), "and --group"),
    ],
)
def test_label_shift_is_about_all_rows(options, told):
    assert told in run(*TABLE, "--label-shift", "factors.csv", *options).output


def test_label_shift_of_several_files_needs_names(folder):
    (folder / "parts").mkdir()
    for number, part in enumerate((slice(0, 250), slice(250, 600))):
        FRAME[part].to_parquet(folder / f"parts/{number}.parquet", index=False)
    options = (
        "--label",
        "answer",
        "--kind",
        "logits",
        "--drop",
        "site",
        "-o",
        "a.rankset",
        "--label-shift",
        "factors.csv",
    )
    assert "needs the class names" in run("calibrate", "parts", *options).output
    fine("calibrate", "parts", *options, "--classes", "names.txt")
    assert rs.load("a.rankset") == expected(condition=rs.LabelShift(list(FACTORS.values())))


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('{"sadness": -1}', FileError.no_factor("f.json", "sadness", -1, 1e15)),
        ('{"sadness": "1"}', FileError.no_factor("f.json", "sadness", "1", 1e15)),
        ('{"sadness": true}', FileError.no_factor("f.json", "sadness", True, 1e15)),  # noqa: FBT003
        ('{"sadness": NaN}', FileError.no_factor("f.json", "sadness", float("nan"), 1e15)),
        ('{"sadness": 1, "sadness": 2}', FileError.class_counted_twice("f.json", "sadness", "factors of classes")),
        ('{"sadness": [1]}', like(FileError, what="a file of factors of classes that ends in .json")),
        ("[1]", FileError.no_object_of_counts("f.json", "other values", "factors of classes")),
        ('{"sadness": 1}', FileError.classes_without_count("f.json", NAMES[1:], "factors of classes")),
        ('{"sad": 1}', FileError.counts_of_others("f.json", ["sad"], NAMES, "factors of classes")),
    ],
)
def test_files_that_hold_no_factors_are_refused(folder, text, error):
    (folder / "f.json").write_text(text)
    check_refusal(failure(*TABLE, "--drop", "weight", "--label-shift", "f.json"), error)


def test_all_factors_zero_are_refused(folder):
    (folder / "f.json").write_text(json.dumps(dict.fromkeys(NAMES, 0)))
    assert failure(*TABLE, "--drop", "weight", "--label-shift", "f.json").what == "factors"


def test_weights_of_new_rows_are_checked():
    fine(*WEIGHTED)
    FRAME.assign(weight=-1.0)[TEST].to_csv("test.csv", index=False)
    check_refusal(
        failure("predict", "a.rankset", "test.csv", "--weights", "weight"),
        InputError.weight(0, -1.0, 1 << 20),
        file="test.csv",
    )
