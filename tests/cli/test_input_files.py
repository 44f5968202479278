"""Files that commands read: every format, damaged files, and columns without names."""

import gzip
import io
import json
import os
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather

import rankset as rs
from commands import FRAME, LABELS, LOGITS, NAMES, RULE, TEST, VAL, fine, run
from rankset.errors import FileError
from refusals import check_refusal, failure, like

KINDS = ["csv", "tsv", "csv.gz", "parquet", "feather", "jsonl", "jsonl.gz"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_gives_the_same_rule(folder, kind):
    options = ("--kind", "logits", "--label", "answer", "--drop", "site")
    fine("calibrate", f"val.{kind}", *options, "-o", "rule.rankset")
    expected = rs.calibrate(FRAME[VAL][NAMES], FRAME[VAL]["answer"], kind="logits")
    assert rs.load("rule.rankset") == expected
    done = fine("predict", "rule.rankset", f"test.{kind}", "-o", "sets.jsonl")
    assert "400 sets at alpha = 0.1" in done.stderr
    sets = [json.loads(line)["labels"] for line in (folder / "sets.jsonl").read_text().splitlines()]
    assert sets == expected.predict(FRAME[TEST][NAMES], 0.1).to_lists()


def test_arrays_keys_lists_and_names(folder):
    for name, where in (("a", ("val_labels.npy", "--key", "logits")), ("d", ("--label", "labels"))):
        fine("calibrate", "val.npz", *where, "--kind", "logits", "-o", f"{name}.rankset")
        assert rs.load(f"{name}.rankset") == RULE
    pairs = zip(LOGITS[VAL].tolist(), LABELS[VAL].tolist(), strict=True)
    lines = "".join(json.dumps({"scores": row, "y": label}) + "\n" for row, label in pairs)
    (folder / "lists.jsonl").write_text(lines)
    fine("calibrate", "lists.jsonl", "--label", "y", "--kind", "logits", "-o", "b.rankset")
    assert rs.load("b.rankset") == RULE
    (folder / "names.txt").write_text("\n".join(NAMES) + "\n")
    np.save("words.npy", np.array(NAMES)[LABELS[VAL]])
    fine("calibrate", "val_logits.npy", "words.npy", "--classes", "names.txt", "--kind", "logits", "-o", "c.rankset")
    assert rs.load("c.rankset").classes.tolist() == NAMES


def zipped(entries):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return data.getvalue()


def npy(header):
    data = io.BytesIO()
    np.lib.format.write_array_header_1_0(data, header)
    return data.getvalue()


def saved(write):
    data = io.BytesIO()
    write(data)
    return data.getvalue()


def wild():
    """A feather file with an offset that points far behind its texts."""
    table = pa.table({"t": ["one", "two", "six"]})
    data = bytearray(saved(lambda file: feather.write_feather(table, file, compression="uncompressed")))
    offsets = np.array([0, 3, 6, 9], dtype=np.int32).tobytes()
    place = data.index(offsets)
    data[place + 4 : place + 8] = np.int32(1 << 30).tobytes()
    return bytes(data)


WILD = wild()


UNREADABLE = like(FileError, what="the file", expected="be readable")


HUGE = npy({"descr": "<f8", "fortran_order": False, "shape": (10**12, 10)})


@pytest.mark.parametrize(
    ("name", "data", "refusal"),
    [
        ("a.npy", b"", UNREADABLE),
        ("a.npy", HUGE, UNREADABLE),
        ("a.npy", b"\x93NUMPY\x01\x00junk", UNREADABLE),
        ("a.npz", b"PK nonsense", UNREADABLE),
        ("a.npz", zipped({"x.npy": HUGE}), UNREADABLE),
        ("a.npz", zipped({"x.npy": b"\0" * 50_000_000}), like(FileError)),
        ("a.npz", zipped({"../../x.txt": b"1"}), FileError.which_key("a.npz", [])),
        ("a.csv", b"a,b\n1,2\n3\n", UNREADABLE),
        ("a.csv", b"a,b\n1,x\n", FileError.not_numbers("a.csv", "b", "'x'", 0)),
        ("a.csv", b"a,b\n1,\n", FileError.missing_cell("a.csv", "b", 0)),
        ("a.csv", b"\xff\xfe\x00", like(FileError)),
        ("a.jsonl", b'{"a": 1\n', UNREADABLE),
        ("a.jsonl", b'{"a": [1, 2]}\n{"a": [1]}\n', FileError.ragged("a.jsonl", "a", 1)),
        ("a.jsonl.gz", b"not packed", UNREADABLE),
        ("a.parquet", b"PAR1", UNREADABLE),
        ("a.jsonl", b"null\n", UNREADABLE),
        ("a.jsonl", b'{"p":' + b"[" * 20_000, UNREADABLE),
        ("a.jsonl", b'{"a": 1}\n{"b": 1}\n', FileError.missing_cell("a.jsonl", "a", 1)),
        ("a.jsonl", b'{"a": [0.5, 0.5]}\n{"a": [0.5, null]}\n', FileError.missing_cell("a.jsonl", "a", 1)),
        ("a.csv", b"a,a,b\n1,2,3\n", FileError.same_names("a.csv", "a")),
        ("a.npy", saved(lambda file: np.savez(file, x=np.zeros(3))), UNREADABLE),
        ("a.npy", saved(lambda file: np.save(file, 5)), UNREADABLE),
        ("a.npy", b"\0" * 200, UNREADABLE),
        ("a.npz", zipped({"x.npy": b"\x93NUMPY\x02\x00\xff\xff\xff\x00" + b" " * 20}), UNREADABLE),
        ("a.feather", WILD, UNREADABLE),
        ("a.xlsx", b"", UNREADABLE),
        ("a.xls", b"", FileError.other_spreadsheet("a.xls", ".xls")),
        ("a.doc", b"", like(FileError, what="the name of the file")),
        ("a", b"", like(FileError, what="the name of the file")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_hostile_and_damaged_files_are_told_in_a_line(folder, name, data, refusal):
    RULE.save("rule.rankset")
    (folder / name).write_bytes(data)
    done = run("predict", "rule.rankset", name, "-o", "sets.csv")
    assert done.exit_code == 1, done.output
    assert len(done.stderr.strip().splitlines()) == 1
    check_refusal(failure("predict", "rule.rankset", name, "-o", "sets.csv"), refusal, file=name)
    assert not (folder / "sets.csv").exists()


def test_pickles_are_never_loaded(folder):
    class Evil:
        def __reduce__(self):
            return os.mkdir, ("owned",)

    np.save("evil.npy", np.array([Evil()], dtype=object), allow_pickle=True)
    np.savez("evil.npz", x=np.array([Evil()], dtype=object))
    RULE.save("rule.rankset")
    for name in ("evil.npy", "evil.npz"):
        check_refusal(failure("predict", "rule.rankset", name), FileError.pickled(name))
    assert not (folder / "owned").exists()


def test_numbers_of_columns_stand_for_names(folder):
    (folder / "names.txt").write_text("\n".join(NAMES))
    options = ("--classes", "names.txt", "--kind", "logits")
    fine("calibrate", "val_logits.npy", "val_labels.npy", *options, "-o", "rule.rankset")
    expected = rs.calibrate(LOGITS[VAL], np.array(NAMES)[LABELS[VAL]], classes=NAMES, kind="logits")
    assert rs.load("rule.rankset") == expected
    fine("evaluate", "rule.rankset", "test_logits.npy", "test_labels.npy")


def test_one_column_of_probabilities(folder):
    probs = rs.softmax(LOGITS)[:, 1]
    pd.DataFrame({"p": probs[VAL], "y": (LABELS[VAL] == 1).astype(int)}).to_csv("binary.csv", index=False)
    fine("calibrate", "binary.csv", "--label", "y", "--kind", "binary", "-o", "rule.rankset")
    assert rs.load("rule.rankset") == rs.calibrate(probs[VAL], LABELS[VAL] == 1, kind="binary", classes=[0, 1])
    pd.DataFrame({"p": probs[TEST]}).to_csv("new.csv", index=False)
    assert fine("predict", "rule.rankset", "new.csv").stdout.startswith("size,top,labels\n")


def test_numbers_that_are_no_probabilities(folder):
    told = fine("compare", "val_logits.npy", "val_labels.npy", "--kind", "decision").stdout
    assert "Margin()" in told
    assert "Aps" not in told


def test_tables_without_names(folder):
    FRAME[VAL][NAMES].assign(y=LABELS[VAL]).to_csv("bare.csv", index=False, header=False)
    check_refusal(
        failure("calibrate", "bare.csv", "--label", "6", "--kind", "logits", "-o", "a.rankset"),
        FileError.no_label_column(
            "bare.csv",
            "6",
            [
                "6.766103744506836",
                "0.8408593535423279",
                "-3.735703945159912",
                "-1.4278981685638428",
                "-3.6994199752807617",
                "-4.540248394012451",
                "0",
            ],
        ),
    )
    fine("calibrate", "bare.csv", "--label", "6", "--no-header", "--kind", "logits", "-o", "a.rankset")
    assert rs.load("a.rankset") == rs.calibrate(FRAME[VAL][NAMES].to_numpy(), LABELS[VAL], kind="logits")
    FRAME[VAL][NAMES].to_csv("bare2.csv", index=False, header=False)
    check_refusal(
        failure("calibrate", "bare2.csv", "val_labels.npy", "--kind", "logits", "-o", "b.rankset"),
        FileError.no_header(
            "bare2.csv",
            [
                "6.766103744506836",
                "0.8408593535423279",
                "-3.735703945159912",
                "-1.4278981685638428",
                "-3.6994199752807617",
                "-4.540248394012451",
            ],
        ),
    )
    FRAME[VAL][NAMES].to_csv("index.csv")
    check_refusal(
        failure("calibrate", "index.csv", "val_labels.npy", "--kind", "logits", "-o", "b.rankset"),
        FileError.no_name("index.csv"),
    )
    fine("calibrate", "index.csv", "val_labels.npy", "--drop", "", "--kind", "logits", "-o", "b.rankset")
    FRAME[VAL][NAMES].to_csv("semicolons.csv", index=False, sep=";")
    check_refusal(
        failure("calibrate", "semicolons.csv", "val_labels.npy", "--sep", ",", "--kind", "logits", "-o", "c.rankset"),
        FileError.other_separator("semicolons.csv", "sadness;joy;love;anger;fear;surprise"),
    )
    fine("calibrate", "semicolons.csv", "val_labels.npy", "--kind", "logits", "-o", "c.rankset")
    (folder / "labels.txt").write_text("\n".join(FRAME[VAL]["answer"]))
    fine(
        "calibrate",
        "val.csv",
        "labels.txt",
        "--drop",
        "site",
        "--drop",
        "answer",
        "--kind",
        "logits",
        "-o",
        "d.rankset",
    )
    assert rs.load("d.rankset") == rs.calibrate(FRAME[VAL][NAMES], FRAME[VAL]["answer"], kind="logits")


def test_a_cut_download_ends(tmp_path):
    """A packed table of several blocks that breaks off: one line, and the process ends."""
    RULE.save(tmp_path / "rule.rankset")
    whole = gzip.compress(b"a,b,c,d,e,f\n" + b"0.1,0.1,0.2,0.2,0.3,0.1\n" * 1_000_000, compresslevel=1)
    (tmp_path / "cut.csv.gz").write_bytes(whole[: len(whole) * 9 // 10])
    command = [sys.executable, "-m", "rankset", "predict", "rule.rankset", "cut.csv.gz", "-o", "sets.csv"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "sets.csv").exists()


def test_labels_in_a_text_file_may_be_numbers(folder):
    (folder / "labels.txt").write_text("".join(f"{label}\n" for label in LABELS[VAL]))
    fine("calibrate", "val_logits.npy", "labels.txt", "--kind", "logits", "-o", "rule.rankset")
    assert rs.load("rule.rankset") == RULE


def test_an_array_from_standard_input(folder):
    RULE.save("rule.rankset")
    data = (folder / "test_logits.npy").read_bytes()
    told = fine("predict", "rule.rankset", "-", "--format", "npy", stdin=data).stdout
    assert told == fine("predict", "rule.rankset", "test_logits.npy", "-o", "-").stdout
