"""Whole numbers among labels: column numbers only where nothing contradicts that."""

import json
import struct
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import rankset as rs
from rankset.engines import shards
from rankset.engines.frame_columns import partition_of
from rankset.errors import COMMAND_LINE, FileError, LabelError
from rankset.inputs.column_numbers import two_readings
from rankset.io.columns import Columns
from rankset.io.layout import Layout
from rankset.io.readers import jsonl
from refusals import check_refusal, failure, refused

RNG = np.random.default_rng(21)
N, K = 120, 12
PROBS = RNG.dirichlet(np.ones(K), N)
LABELS = np.array([RNG.choice(K, p=row) for row in PROBS])
WORDS = ["ape", "bee", "cat", "dog", "elk", "fox", "gnu", "hen", "ibis", "jay", "kiwi", "lynx"]
RULE = rs.calibrate(PROBS, np.array(WORDS)[LABELS], classes=WORDS)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def calibrated(*arguments):
    from click.testing import CliRunner

    from rankset.cli.commands import rankset

    done = CliRunner().invoke(rankset, ["calibrate", *arguments, "-o", "out.rankset", "--force"])
    assert done.exit_code == 0, done.output
    return rs.load("out.rankset")


def write_best_first(path, labels, rows=slice(None), **more):
    """JSON lines as pipelines of Hugging Face write them: the most likely class first."""
    with path.open("w") as file:
        for probs, label in zip(PROBS[rows], np.asarray(labels)[rows].tolist(), strict=True):
            order = np.argsort(-probs, kind="stable")
            file.write(json.dumps({WORDS[k]: probs[k] for k in order} | {"label": label} | more) + "\n")


def test_column_numbers_need_one_order_of_fields(here):
    write_best_first(here / "best.jsonl", LABELS)
    refusal = LabelError.lines_in_several_orders("best.jsonl")
    check_refusal(failure("calibrate", "best.jsonl", "--label", "label", "-o", "r.rankset"), refusal)
    check_refusal(failure("compare", "best.jsonl", "--label", "label"), refusal)
    RULE.save("rule.rankset")
    check_refusal(failure("evaluate", "rule.rankset", "best.jsonl", "--label", "label"), refusal)
    write_best_first(here / "named.jsonl", np.array(WORDS)[LABELS])
    named = calibrated("named.jsonl", "--label", "label")
    assert sorted(named.classes) == WORDS
    assert named.calibration == RULE.calibration


def test_given_class_names_decide_what_column_numbers_mean(here):
    (here / "names.txt").write_text("\n".join(WORDS))
    write_best_first(here / "best.jsonl", LABELS)
    assert calibrated("best.jsonl", "--label", "label", "--classes", "names.txt") == RULE
    (here / "parts").mkdir()
    for number, rows in enumerate((slice(0, 50), slice(50, N))):
        write_best_first(here / "parts" / f"{number}.jsonl", LABELS, rows)
    assert calibrated("parts", "--label", "label", "--classes", "names.txt") == RULE
    with refused(LabelError.lines_in_several_orders("parts/0.jsonl")):
        shards.calibrate("parts", label="label", workers=1)


def test_fields_that_are_no_scores_may_move_or_be_absent(here):
    with (here / "rows.jsonl").open("w") as file:
        for place, (probs, label) in enumerate(zip(PROBS, LABELS.tolist(), strict=True)):
            scores, more = dict(zip(WORDS, probs, strict=True)), {"label": label}
            note = {"note": "x"} if place % 3 == 1 else {}
            file.write(json.dumps(note | scores | more if place % 2 else more | scores | note) + "\n")
    assert calibrated("rows.jsonl", "--label", "label", "--drop", "note") == RULE


def test_too_many_orders_count_as_several(here, monkeypatch):
    write_best_first(here / "best.jsonl", LABELS)
    monkeypatch.setattr(jsonl, "MAX_ORDERED", 3 * K)
    check_refusal(
        failure("calibrate", "best.jsonl", "--label", "label", "-o", "r.rankset"),
        LabelError.lines_in_several_orders("best.jsonl"),
    )


SORTED = sorted(f"class_{number}" for number in range(K))


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
def test_numbers_in_names_must_not_contradict_column_numbers(here, suffix):
    numbers = [int(name.removeprefix("class_")) for name in SORTED]
    frame = pd.DataFrame(PROBS[:, numbers], columns=SORTED).assign(label=LABELS)
    (here / "parts").mkdir()
    for number, rows in enumerate((slice(0, 50), slice(50, N))):
        path = here / "parts" / f"{number}{suffix}"
        if suffix == ".jsonl":
            frame[rows].to_json(path, orient="records", lines=True)
        else:
            getattr(frame[rows], f"to_{suffix[1:]}")(path, index=False)
    one = f"parts/0{suffix}"
    refusal = LabelError.number_in_name(one, 2, "class_10", "class_2")
    check_refusal(failure("calibrate", one, "--label", "label", "-o", "r.rankset"), refusal)
    check_refusal(failure("calibrate", "parts", "--label", "label", "-o", "r.rankset"), refusal)
    with refused(refusal, file=None):  # frames of Dask and Spark
        partition_of(Columns("", table=pa.Table.from_pandas(frame)), Layout("label"), classes=SORTED)


def test_numbers_in_names_that_count_columns_from_0_are_no_contradiction(here):
    names = [f"class_{number}" for number in range(K)]
    pd.DataFrame(PROBS, columns=names).assign(label=LABELS).to_csv("rows.csv", index=False)
    assert calibrated("rows.csv", "--label", "label") == rs.calibrate(PROBS, np.array(names)[LABELS], classes=names)
    named = np.array([f"class_{label}" for label in LABELS])
    numbers = [int(name.removeprefix("class_")) for name in SORTED]
    pd.DataFrame(PROBS[:, numbers], columns=SORTED).assign(label=named).to_csv("rows.csv", index=False)
    assert calibrated("rows.csv", "--label", "label").calibration == RULE.calibration


@pytest.mark.parametrize("first", [0, 1])
def test_numbers_in_names_that_count_from_1_leave_labels_two_readings(here, first):
    names = [f"prob_{number + 1}" for number in range(K)]
    rows = LABELS + first < K  # labels 1 to K-1 are column numbers as well
    frame = pd.DataFrame(PROBS[rows], columns=names).assign(label=LABELS[rows] + first)
    frame.to_csv("rows.csv", index=False)
    refusal = LabelError.number_in_name("rows.csv", 1, "prob_2", "prob_1")
    check_refusal(failure("calibrate", "rows.csv", "--label", "label", "-o", "r.rankset"), refusal)
    named = np.array(names)[LABELS[rows]]
    frame.assign(label=named).to_csv("rows.csv", index=False)
    assert calibrated("rows.csv", "--label", "label") == rs.calibrate(PROBS[rows], named, classes=names)
    frame.rename(columns=lambda name: name.removeprefix("prob_")).assign(label=LABELS[rows] + 1).to_csv("rows.csv")
    numbers = range(1, K + 1)  # labels that are the names have one reading
    expected = rs.calibrate(PROBS[rows], LABELS[rows] + 1, classes=numbers)
    assert calibrated("rows.csv", "--label", "label", "--drop", "") == expected


def test_the_remedies_for_labels_that_start_at_1_work(here):
    pd.DataFrame(PROBS, columns=WORDS).assign(label=LABELS + 1).to_csv("rows.csv", index=False)
    error = failure("calibrate", "rows.csv", "--label", "label", "-o", "r.rankset")
    check_refusal(error, LabelError.one_based("labels", int((LABELS == K - 1).argmax()), K), file="rows.csv")
    assert "subtract 1 from each, or write class names" in error.render(COMMAND_LINE)
    for labels in (LABELS, np.array(WORDS)[LABELS]):
        pd.DataFrame(PROBS, columns=WORDS).assign(label=labels).to_csv("rows.csv", index=False)
        assert calibrated("rows.csv", "--label", "label") == RULE


@pytest.mark.parametrize(
    ("names", "readings"),
    [
        (["c1", "c0"], (0, "c1", "c0")),
        (["v2_c0_p", "v2_c2_p", "v2_c1_p"], (1, "v2_c2_p", "v2_c1_p")),
        (["c0", "c1", "c5"], (2, "c5", "c2")),
        (["c2", "c3", "c4"], (2, "c4", "c2")),
        (["c01", "c00"], (0, "c01", "c00")),
        (["c0", "c1", "c2"], None),
        (["c1", "c2", "c3"], (1, "c2", "c1")),
        (["c01", "c02", "c03"], (1, "c02", "c01")),
        (["1 star", "2 stars", "3 stars"], (1, "2 stars", "1 star")),
        (["0 stars", "1 star", "2 stars"], None),
        (["none (0)", "some (2)"], (1, "some (2)", "some (1)")),
        (["1 star", "1 stars", "2 stars"], None),  # one number twice
        (["1 star", "2 stars", "5 stars"], None),
        (["1 or 2 stars", "3 stars"], None),
        (["y2019", "y2021", "y2020"], None),  # no column has such a number
        (["y2019", "x2020"], None),
        (["a1", "b0"], (0, "a1", "b0")),
        (["a0", "a1", "b"], None),
        (["cat", "dog"], None),
        ([f"c{'9' * 5000}", "c0"], None),
    ],
)
def test_two_readings_of_a_number(names, readings):
    assert two_readings(names) == readings


@pytest.mark.parametrize("suffix", ["parquet", "feather", "jsonl"])
def test_lists_as_labels_are_refused_with_file_and_column(tmp_path, monkeypatch, suffix):
    monkeypatch.chdir(tmp_path)
    rows = [{"cat": 0.5, "dog": 0.3, "fox": 0.2, "answer": ["cat"]}] * 20
    if suffix == "jsonl":
        Path("ml.jsonl").write_text("\n".join(map(json.dumps, rows)))
    else:
        table = pa.Table.from_pylist(rows)
        pq.write_table(table, "ml.parquet") if suffix == "parquet" else feather.write_feather(table, "ml.feather")
    found = failure("calibrate", f"ml.{suffix}", "--label", "answer", "-o", "r.rankset")
    check_refusal(found, FileError, file=f"ml.{suffix}", column="answer", expected="be names or numbers")


@pytest.mark.parametrize("suffix", ["npy", "npz"])
def test_entries_of_no_bytes_are_refused_before_they_take_memory(tmp_path, monkeypatch, suffix):
    monkeypatch.chdir(tmp_path)
    header = "{'descr': '<U0', 'fortran_order': False, 'shape': (4000000000,), }"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
    np.save("s.npy", np.full((200, 3), 1 / 3))
    command = ("calibrate", "s.npy", "u0.npy", "-o", "r.rankset")
    if suffix == "npy":
        Path("u0.npy").write_bytes(content)
    else:
        with zipfile.ZipFile("u0.npz", "w") as archive:
            archive.writestr("scores.npy", Path("s.npy").read_bytes())
            archive.writestr("labels.npy", content)
        command = ("calibrate", "u0.npz", "--key", "scores", "--label", "labels", "-o", "r.rankset")
    check_refusal(failure(*command), FileError, file=f"u0.{suffix}", expected="be readable")
