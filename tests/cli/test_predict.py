"""``rankset predict``: inputs, outputs, and columns beside the sets."""

import gzip
import io
import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import rankset as rs
from commands import FRAME, LABELS, LOGITS, NAMES, RULE, TEST, VAL, fine, run
from rankset.errors import FileError
from refusals import check_refusal, failure


def test_columns_are_matched_by_name(folder):
    fine("calibrate", "val.csv", "--kind", "logits", "--label", "answer", "--drop", "site", "-o", "rule.rankset")
    FRAME[TEST][NAMES[::-1]].to_csv("turned.csv", index=False)
    FRAME[TEST][NAMES].to_csv("plain.csv", index=False)
    assert fine("predict", "rule.rankset", "turned.csv").stdout == fine("predict", "rule.rankset", "plain.csv").stdout
    FRAME[TEST][NAMES[:5]].to_csv("less.csv", index=False)
    check_refusal(failure("predict", "rule.rankset", "less.csv"), FileError.no_class("less.csv", ["surprise"]))


def test_standard_input_and_output(folder):
    fine("calibrate", "val_logits.npy", "val_labels.npy", "--kind", "logits", "-o", "rule.rankset")
    lines = pd.DataFrame(LOGITS[TEST].astype(float)).to_csv(index=False)
    told = fine("predict", "rule.rankset", "-", "--alpha", "0.2", stdin=lines).stdout
    rows = pd.read_csv(io.StringIO(told), keep_default_na=False)
    assert rows["size"].tolist() == RULE.predict(LOGITS[TEST], 0.2).sizes.tolist()
    objects = FRAME[TEST][NAMES].rename(columns=dict(zip(NAMES, map(str, range(6)), strict=True)))
    text = "".join(json.dumps(row) + "\n" for row in objects.to_dict("records"))
    assert fine("predict", "rule.rankset", "-", "--format", "jsonl", "--alpha", "0.2", stdin=text).stdout == told


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "npz", "csv.gz", "jsonl.gz"])
def test_every_kind_of_output(folder, kind, monkeypatch):
    monkeypatch.setattr("rankset.cli.parts.PART_BYTES", 24 * 100)  # several parts
    RULE.save("rule.rankset")
    fine("predict", "rule.rankset", "test_logits.npy", "--alpha", "0.05", "-o", f"sets.{kind}")
    expected = RULE.predict(LOGITS[TEST], 0.05)
    if kind == "npz":
        with np.load("sets.npz") as arrays:
            assert arrays["codes"].tolist() == expected.codes.tolist()
            assert arrays["offsets"].tolist() == expected.offsets.tolist()
        return
    path = folder / f"sets.{kind}"
    if kind == "parquet":
        sizes = pq.read_table(path)["size"].to_pylist()
    elif "jsonl" in kind:
        text = gzip.decompress(path.read_bytes()) if kind.endswith("gz") else path.read_bytes()
        sizes = [json.loads(line)["size"] for line in text.splitlines()]
    else:
        sizes = pd.read_csv(path)["size"].tolist()
    assert sizes == expected.sizes.tolist()


def test_row_numbers_count_from_the_start_of_the_file(folder, monkeypatch):
    monkeypatch.setattr("rankset.cli.parts.PART_BYTES", 24 * 100)  # several parts
    RULE.save("rule.rankset")
    bad = LOGITS[TEST].copy()
    bad[399, 2] = np.nan
    np.save("bad.npy", bad)
    said = run("predict", "rule.rankset", "bad.npy").stderr
    assert "Error: bad.npy: probs must not contain NaN, got NaN at row 399, column 2." in said
    np.save("labels.npy", np.append(LABELS[TEST][:-1], 6))
    said = run("evaluate", "rule.rankset", "test_logits.npy", "labels.npy").stderr
    assert "labels.npy: labels must be column numbers, integers from 0 to 5" in said


def test_one_level_is_one_level(folder):
    RULE.save("rule.rankset")
    done = run("predict", "rule.rankset", "test_logits.npy", "--alpha", "0.1", "--alpha", "0.2")
    assert done.exit_code == 2
    assert "--alpha takes one value, but was passed 2 times. Pass it once." in done.stderr


def test_ids_and_other_columns_stand_beside_the_sets(folder):
    FRAME[TEST].assign(case=[f"c{number}" for number in range(400)]).to_csv("cases.csv", index=False)
    fine("calibrate", "val.csv", "--kind", "logits", "--label", "answer", "--drop", "site", "-o", "rule.rankset")
    expected = rs.load("rule.rankset").predict(FRAME[TEST][NAMES], 0.1)
    for kind in ("csv", "jsonl", "parquet", "npz"):
        fine("predict", "rule.rankset", "cases.csv", "--id", "case", "--keep", "site", "-o", f"sets.{kind}")
    read = [
        pd.read_csv("sets.csv"),
        pd.read_json("sets.jsonl", lines=True),
        pd.read_parquet("sets.parquet"),
    ]
    for frame in read:
        assert frame.columns.tolist() == ["case", "site", "size", "top", "labels"]
        assert frame["case"].tolist()[:2] == ["c0", "c1"]
        assert frame["site"].tolist() == ["a", "b"] * 200
        assert frame["size"].tolist() == expected.sizes.tolist()
    with np.load("sets.npz") as arrays:
        assert arrays["case"].tolist()[:2] == ["c0", "c1"]
    FRAME[TEST].rename(columns={"site": "size"}).to_csv("taken.csv", index=False)
    check_refusal(failure("predict", "rule.rankset", "taken.csv", "--keep", "size"), FileError.taken("size"))


def test_names_of_outputs_tell_what_they_are(folder):
    files = ("val_logits.npy", "val_labels.npy", "--kind", "logits")
    check_refusal(failure("calibrate", *files, "-o", "rule.txt"), FileError.suffix("rule.txt", ".rankset"))
    rs.calibrate(LOGITS[VAL], np.array(list("ab|cde"))[LABELS[VAL]], classes=list("ab|cde"), kind="logits").save(
        "p.rankset"
    )
    check_refusal(
        failure("predict", "p.rankset", "test_logits.npy"), FileError.separator_in_name("standard output", "|")
    )


def test_a_first_part_of_empty_sets_can_be_written(folder, monkeypatch):
    monkeypatch.setattr("rankset.cli.parts.PART_BYTES", 8 * 2 * 50)
    sure = np.tile([[1.0, 0.0]], (50, 1))
    rs.calibrate(sure, ["yes"] * 50, score=rs.Thr(), classes=["yes", "no"]).save("rule.rankset")
    np.save("new.npy", np.vstack([np.full((50, 2), 0.5), sure]))
    fine("predict", "rule.rankset", "new.npy", "-o", "sets.parquet")
    assert pq.read_table("sets.parquet")["size"].to_pylist() == [0] * 50 + [1] * 50
