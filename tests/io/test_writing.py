"""What is written, and how: whole files or none, distinct names, cells that are no formulas, JSON that is JSON."""

import contextlib
import csv
import errno
import io
import json
import os
import shutil
import time
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import rankset as rs
from rankset.cli.commands import rankset
from rankset.core import parallel
from rankset.errors import COMMAND_LINE, FileError, LabelError, join_names
from rankset.io import atomic, memory_budget, write_sets
from rankset.io.writers import csv as csv_writer
from rankset.io.writers import parquet as parquet_writer
from rankset.io.writers.values import python_values
from rankset.paper.numbers import Numbers
from refusals import check_refusal, failure, refused

PROBS = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])
MASK = np.array([[True, True, False], [False, True, False], [False, False, True]])


def refuse(*_arguments, **_options):
    raise OSError(1, "Operation not permitted")


@pytest.fixture(params=["nameless", "named", "without links"])
def way(request, monkeypatch, tmp_path):
    """Every way a draft can go: without a name, with one, and where the file system has no links."""
    if request.param == "named":
        monkeypatch.setattr(atomic, "DESCRIPTORS", tmp_path / "none")
    if request.param == "without links":
        monkeypatch.setattr(os, "link", refuse)
    return request.param


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def put(path, data, *, force):
    with atomic.open_output(path, force=force) as file:
        file.write(data)


def test_a_draft_becomes_its_file(tmp_path, way):
    before = os.umask(0o027)
    try:
        put(tmp_path / "new", b"whole", force=False)
    finally:
        os.umask(before)
    assert (tmp_path / "new").read_bytes() == b"whole"
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640
    with refused(FileError.exists(str(tmp_path / "new"))):
        put(tmp_path / "new", b"other", force=False)
    (tmp_path / "new").chmod(0o600)
    put(tmp_path / "new", b"replaced", force=True)
    assert (tmp_path / "new").read_bytes() == b"replaced"
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o600
    assert files(tmp_path) == ["new"]


def test_a_draft_that_fails_leaves_nothing(tmp_path, way):
    for force in (True, False):
        with pytest.raises(TypeError), atomic.open_output(tmp_path / "new", force=force) as file:
            file.writelines([b"half", 0])
    assert files(tmp_path) == []
    nowhere = tmp_path / "nowhere" / "new"
    with refused(FileError.unwritable(str(nowhere), "No such file or directory")):
        put(nowhere, b"", force=True)


@pytest.mark.parametrize("force", [True, False])
def test_what_came_meanwhile_is_replaced_only_by_force(tmp_path, way, force):
    def meanwhile():
        with atomic.open_output(tmp_path / "new", force=force) as file:
            file.write(b"ours")
            (tmp_path / "new").write_bytes(b"theirs")

    if force:
        meanwhile()
    else:
        with refused(FileError.exists(str(tmp_path / "new"))):
            meanwhile()
    assert (tmp_path / "new").read_bytes() == (b"ours" if force else b"theirs")
    assert files(tmp_path) == ["new"]


def test_old_drafts_of_the_same_file_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic, "DESCRIPTORS", tmp_path / "none")
    old, young, other = (atomic._free_name(tmp_path / name) for name in ("new", "new", "other"))
    for path in (old, young, other):
        path.touch()
    for path in (old, other):
        os.utime(path, (time.time() - 2 * atomic.STALE,) * 2)
    put(tmp_path / "new", b"whole", force=True)
    assert files(tmp_path) == sorted(["new", young.name, other.name])
    atomic.remove_drafts()
    assert files(tmp_path) == ["new"]


def test_a_rule_replaces_files_only_and_keeps_their_permissions(tmp_path, way):
    rule, path = rs.calibrate(PROBS, [0, 1, 2]), tmp_path / "a.rankset"
    os.mkfifo(path)
    with refused(FileError.unwritable(str(path), "it is not a regular file")):
        rule.save(path)
    assert path.is_fifo()
    path.unlink()
    path.touch(mode=0o600)
    rule.save(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert rs.load(path) == rule


def leave_half(folder, error):
    (folder / "file").touch()
    raise error


class TestFolders:
    def test_a_folder_appears_when_it_is_complete(self, tmp_path):
        with atomic.open_folder(tmp_path / "a" / "new") as folder:
            (folder / "file").touch()
            assert not (tmp_path / "a" / "new").exists()
        assert [path.name for path in tmp_path.rglob("*")] == ["a", "new", "file"]
        before = os.umask(0)
        os.umask(before)
        assert (tmp_path / "a" / "new").stat().st_mode & 0o777 == 0o777 & ~before

    def test_an_empty_folder_stays_and_is_filled(self, tmp_path):
        (tmp_path / "new").mkdir(mode=0o700)
        known = (tmp_path / "new").stat()
        with atomic.open_folder(tmp_path / "new") as folder:
            (folder / "inner").mkdir()
            (folder / "inner" / "file").touch()
        now = (tmp_path / "new").stat()
        assert (now.st_ino, now.st_mode) == (known.st_ino, known.st_mode)
        assert [path.name for path in (tmp_path / "new").rglob("*")] == ["inner", "file"]

    @pytest.mark.parametrize("error", [TypeError, KeyboardInterrupt])
    @pytest.mark.parametrize("empty", [True, False], ids=["empty", "new"])
    def test_a_folder_that_fails_leaves_nothing(self, tmp_path, empty, error):
        if empty:
            (tmp_path / "new").mkdir()
        with pytest.raises(error), atomic.open_folder(tmp_path / "new") as folder:
            leave_half(folder, error)
        assert [path.name for path in tmp_path.rglob("*")] == ["new"] * empty

    def test_a_move_that_fails_leaves_an_empty_folder_empty(self, tmp_path, monkeypatch):
        move = Path.rename
        monkeypatch.setattr(Path, "rename", lambda path, to: refuse() if path.name == "b" else move(path, to))
        (tmp_path / "new").mkdir()
        with (
            refused(FileError.unwritable(str(tmp_path / "new"), "Operation not permitted")),
            atomic.open_folder(tmp_path / "new") as folder,
        ):
            (folder / "a").mkdir()
            (folder / "b").touch()
        assert [path.name for path in tmp_path.rglob("*")] == ["new"]

    def test_a_copy_that_fails_says_why(self, tmp_path):
        (tmp_path / "source").mkdir()
        (tmp_path / "source" / "file").touch()
        with (
            refused(FileError.unwritable(str(tmp_path / "new"), "[Errno 1] Operation not permitted")),
            atomic.open_folder(tmp_path / "new") as folder,
        ):
            shutil.copytree(tmp_path / "source", folder / "copy", copy_function=refuse)
        assert files(tmp_path) == ["source"]

    def test_folders_that_a_killed_process_left_are_removed(self, tmp_path):
        old = atomic._free_name(tmp_path / "new")
        (old / "inner").mkdir(parents=True)
        os.utime(old, (time.time() - 2 * atomic.STALE,) * 2)
        with atomic.open_folder(tmp_path / "new"):
            pass
        assert files(tmp_path) == ["new"]

    def test_a_folder_with_files_is_refused(self, tmp_path):
        with (
            refused(FileError.folder_taken(str(tmp_path.parent), "files in it")),
            atomic.open_folder(tmp_path.parent),
        ):
            pass


RULE = rs.calibrate(PROBS, [0, 1, 2])
WRITERS = {
    "rule": RULE.save,
    "triage": rs.triage(PROBS, [0, 1, 1]).save,
    "stream": rs.Stream(RULE, alpha=0.5, window=3).save,
    "numbers of the paper": Numbers({}).save,
    "ONNX": lambda path: pytest.importorskip("onnx") and RULE.to_onnx(path, alpha=0.5),
}
FULL = os.strerror(errno.ENOSPC)


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_a_full_disk_is_the_same_error_for_every_writer(small_disk, write):
    path = small_disk / "output"
    path.write_bytes(b"old")
    with contextlib.suppress(OSError), (small_disk / "ballast").open("wb", buffering=0) as ballast:
        while ballast.write(bytes(4096)):
            pass
    with refused(FileError.unwritable(str(path), FULL)):
        write(path)
    assert path.read_bytes() == b"old"
    assert files(small_disk) == ["ballast", "output"]
    (small_disk / "ballast").unlink()
    write(path)
    assert path.read_bytes() != b"old"


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_a_disk_that_is_full_at_the_end_is_the_same_error_for_every_writer(tmp_path, monkeypatch, write):
    def refuse_all(_):
        raise OSError(errno.ENOSPC, FULL)

    monkeypatch.setattr(os, "fsync", refuse_all)
    with refused(FileError.unwritable(str(tmp_path / "output"), FULL)):
        write(tmp_path / "output")
    assert files(tmp_path) == []


ONE_TEXT = [(1, "1", "b"), (True, "True", "b"), (0.5, "0.5", "b"), ("\ud800", "\\ud800", "b")]


@pytest.mark.parametrize("names", ONE_TEXT, ids=ascii)
def test_class_names_that_would_become_one_are_refused(tmp_path, names):
    sets = rs.PredictionSets.from_mask(MASK, names)
    for kind in (".csv", ".csv.gz", ".parquet", ".npz"):
        if kind == ".npz" and names[0] == "\ud800":
            continue  # NumPy holds it
        file = None if kind == ".parquet" else str(tmp_path / f"sets{kind}")
        with refused(LabelError, what="class names", received=join_names(names[:2]), file=file):
            write_sets.write_sets(tmp_path / f"sets{kind}", [(sets, {})])
    assert files(tmp_path) == []
    write_sets.write_sets(tmp_path / "sets.jsonl", [(sets, {})])
    assert labels(tmp_path / "sets.jsonl") == [list(names[:2]), [names[1]], [names[2]]]


@pytest.mark.parametrize("names", [("\ud800", "?", "\udfff"), (2**70, -(2**70), 5), ("a", "a\0", "b")], ids=ascii)
def test_class_names_stay_apart(tmp_path, names):
    sets = rs.PredictionSets.from_mask(MASK, names)
    for kind in (".csv", ".parquet", ".jsonl", ".npz"):
        if kind == ".npz" and names[1] == "a\0":
            with refused(LabelError.one_text("an npz file", names[:2]), file=str(tmp_path / "sets.npz")):
                write_sets.write_sets(tmp_path / "sets.npz", [(sets, {})])
            continue
        write_sets.write_sets(tmp_path / f"sets{kind}", [(sets, {})])
        (first, second), (also_second,), (third,) = labels(tmp_path / f"sets{kind}")
        assert second == also_second
        assert len({first, second, third}) == 3


def labels(path):
    """The labels of all sets in a file."""
    if path.suffix == ".csv":
        return [row["labels"].split("|") for row in csv.DictReader(io.StringIO(path.read_text(), newline=""))]
    if path.suffix == ".jsonl":
        return [json.loads(line)["labels"] for line in path.read_text().splitlines()]
    if path.suffix == ".parquet":
        return pq.read_table(path)["labels"].to_pylist()
    with np.load(path) as arrays:
        names = arrays["classes"].tolist()
        rows = np.split(arrays["codes"], arrays["offsets"][1:-1])
    return [[names[code] for code in row] for row in rows]


FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", " =1", "-inf", "＝1", '=HYPERLINK("x")']
HARMLESS = ["-1.5", "+3", "-1e-5", "a=b", "", "'", "1-2", "é🦊"]


def test_cells_for_spreadsheets_are_no_formulas(tmp_path):
    texts = FORMULAS + HARMLESS
    rows = len(texts)
    sets = rs.PredictionSets.from_mask(np.ones((rows, 2), bool), ["-a=", "b"])
    beside = {"@id": np.array(texts, dtype=object), "x": np.linspace(-2, -1, rows), "n": np.arange(rows) - 9}
    for name, style in (("plain", csv_writer.PLAIN), ("excel", csv_writer.EXCEL)):
        write_sets.write_sets(tmp_path / f"{name}.csv", [(sets, beside)], style=style)
    plain, excel = (
        list(csv.DictReader(io.StringIO((tmp_path / f"{name}.csv").read_bytes().decode(code), newline="")))
        for name, code in (("plain", "utf-8"), ("excel", "utf-8-sig"))
    )
    assert (tmp_path / "excel.csv").read_bytes().startswith(b"\xef\xbb\xbf")
    assert not (tmp_path / "plain.csv").read_bytes().startswith(b"\xef\xbb\xbf")
    assert [row["@id"] for row in plain] == texts
    assert [row["'@id"] for row in excel] == [f"'{text}" for text in FORMULAS] + HARMLESS
    assert {row["top"] for row in excel} == {"'-a="}
    assert {row["labels"] for row in excel} == {"'-a=|b"}
    for name, column in beside.items():
        if name != "@id":
            assert [float(row[name]) for row in excel] == column.tolist()


def test_excel_is_an_option_of_predict(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ["=a", "b", "c"]
    rs.calibrate(np.tile(PROBS, (9, 1)), names * 9, classes=names).save("rule.rankset")
    frame = pd.DataFrame(PROBS, columns=names).assign(case=["-x", "y", "z"])
    frame.to_csv("new.csv", index=False)

    def run(*arguments):
        return CliRunner().invoke(rankset, ["predict", "rule.rankset", "new.csv", "--id", "case", *arguments])

    assert run("--excel", "-o", "sets.csv").exit_code == 0
    assert (tmp_path / "sets.csv").read_text(encoding="utf-8-sig").splitlines()[1] == "'-x,1,'=a,'=a"
    assert run("--excel").stdout_bytes.decode("utf-8-sig").splitlines()[1] == "'-x,1,'=a,'=a"
    assert run().stdout_bytes.decode().splitlines()[1] == "-x,1,=a,=a"
    for output in ("sets.jsonl", "sets.parquet", "sets/"):
        error = failure("predict", "rule.rankset", "new.csv", "--id", "case", "--excel", "-o", output)
        check_refusal(error, FileError.not_for_spreadsheets(output))
        assert "--excel" in error.render(COMMAND_LINE)
        assert not (tmp_path / output).exists()


def refuse_constant(name):
    raise AssertionError(f"{name} is not JSON")


def test_json_lines_are_json(tmp_path):
    sets = rs.PredictionSets.from_mask(MASK, [np.inf, -np.inf, 0.5])
    beside = {
        "x": np.array([np.nan, np.inf, 1.5]),
        "y": np.array([None, -np.inf, [np.nan, {"z": np.inf}]], dtype=object),
        "when": np.array(["2026-01-02", "NaT", "2026-01-02T03:04:05"], dtype="M8[ns]"),
    }
    write_sets.write_sets(tmp_path / "sets.jsonl", [(sets, beside)])
    lines = (tmp_path / "sets.jsonl").read_text().splitlines()
    rows = [json.loads(line, parse_constant=refuse_constant) for line in lines]
    assert [row["x"] for row in rows] == [None, "Infinity", 1.5]
    assert [row["y"] for row in rows] == [None, "-Infinity", [None, {"z": "Infinity"}]]
    assert [row["when"] for row in rows] == ["2026-01-02T00:00:00.000000000", None, "2026-01-02T03:04:05.000000000"]
    assert [row["labels"] for row in rows] == [["Infinity", "-Infinity"], ["-Infinity"], [0.5]]
    assert [row["top"] for row in rows] == ["Infinity", "-Infinity", 0.5]


def test_the_demo_writes_all_its_files_or_none(tmp_path):
    (tmp_path / "classes.txt").write_text("mine")
    check_refusal(failure("demo", tmp_path), FileError.exists(str(tmp_path / "classes.txt")))
    assert files(tmp_path) == ["classes.txt"]
    assert CliRunner().invoke(rankset, ["demo", str(tmp_path), "--force"]).exit_code == 0
    assert len(files(tmp_path)) == 5


@pytest.mark.parametrize("option", ["--keep", "--id"])
def test_kept_times_keep_their_zone_and_have_one_format(tmp_path, monkeypatch, option):
    monkeypatch.chdir(tmp_path)
    zoned = pd.date_range("2024-06-01 00:30", periods=3, freq="90min", tz="Europe/Berlin")
    frame = pd.DataFrame(PROBS, columns=list("abc")).assign(
        zoned=zoned, day=pd.date_range("2024-06-01", periods=3, freq="12h")
    )
    frame.to_parquet("rows.parquet")
    frame.assign(zoned=zoned.where([True, False, True])).to_parquet("gap.parquet")
    rs.calibrate(PROBS, list("abc"), classes=list("abc")).save("rule.rankset")

    def written(rows, output, column="zoned"):
        arguments = ["predict", "rule.rankset", rows, option, column, "-o", output, "--force"]
        assert CliRunner().invoke(rankset, arguments).exit_code == 0
        return output

    texts = pd.read_csv(written("rows.parquet", "sets.csv"))["zoned"]
    assert texts.tolist()[:2] == ["2024-06-01T00:30:00.000000+02:00", "2024-06-01T02:00:00.000000+02:00"]
    assert (pd.to_datetime(texts) == zoned).all()
    if option == "--keep":
        assert pd.read_csv(written("gap.parquet", "gap.csv"))["zoned"].tolist() == [texts[0], np.nan, texts[2]]
    lines = [json.loads(line)["zoned"] for line in Path(written("rows.parquet", "sets.jsonl")).read_text().splitlines()]
    assert lines == texts.tolist()
    assert pq.read_table(written("rows.parquet", "sets.parquet")).schema.field("zoned").type.tz == "Europe/Berlin"
    assert np.load(written("rows.parquet", "sets.npz"))["zoned"].tolist() == texts.tolist()
    days = pd.read_csv(written("rows.parquet", "sets.csv", "day"), parse_dates=["day"])["day"]
    assert (days == frame["day"]).all()
    assert (np.load(written("rows.parquet", "sets.npz", "day"))["day"] == frame["day"].to_numpy()).all()


def test_a_time_zone_that_is_not_known_is_written_as_utc(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    when = pa.array([0, 1, 2], pa.timestamp("s", "Nowhere/Town"))
    pq.write_table(pa.table({**dict(zip("abc", PROBS.T, strict=True)), "when": when}), "rows.parquet")
    rs.calibrate(PROBS, list("abc"), classes=list("abc")).save("rule.rankset")
    arguments = ["predict", "rule.rankset", "rows.parquet", "--keep", "when", "-o", "s.csv"]
    assert CliRunner().invoke(rankset, arguments).exit_code == 0
    assert pd.read_csv("s.csv")["when"].tolist() == [f"1970-01-01T00:00:0{second}.000Z" for second in range(3)]


KEPT = {
    "int32": (pa.int32(), [1, 2, 3], [None, 2, 3]),
    "null first": (pa.int64(), [None] * 3, [1, 2, 3]),
    "decimal": (pa.decimal128(12, 2), [Decimal("1.10")] * 3, [Decimal("100.10")] * 3),
    "float32": (pa.float32(), [0.1] * 3, [None, 0.1, 0.2]),
    "uint64": (pa.uint64(), [2**64 - 1] * 3, [2**64 - 1, None, 3]),
    "duration": (pa.duration("ns"), [1, 1_500_000_000, 3], [None, 1, 3]),
    "lists of times": (pa.list_(pa.timestamp("us", "Europe/Berlin")), [[0], [1, None], None], [[5]] * 3),
}


@pytest.mark.parametrize(("kind", "first", "second"), KEPT.values(), ids=KEPT)
def test_kept_columns_of_several_files_keep_their_type(tmp_path, monkeypatch, kind, first, second):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(parallel, "cores", lambda: 1)  # no processes
    scores = dict(zip("abc", PROBS.T, strict=True))
    for name, values in (("1", first), ("2", second)):
        pq.write_table(pa.table({**scores, "k": pa.array(values, kind)}), f"{name}.parquet")
    rs.calibrate(PROBS, list("abc"), classes=list("abc")).save("rule.rankset")
    arguments = ["predict", "rule.rankset", "1.parquet", "2.parquet", "--keep", "k", "-o"]
    done = CliRunner().invoke(rankset, [*arguments, "sets.parquet"])
    assert done.exit_code == 0, done.output
    column = pq.read_table("sets.parquet").column("k")
    expected = pa.chunked_array([pa.array(values, kind) for values in (first, second)])
    assert column.type == kind
    assert column.combine_chunks() == expected.combine_chunks()
    for output in ("sets.csv", "sets.jsonl"):
        assert CliRunner().invoke(rankset, [*arguments, output]).exit_code == 0
    if kind == pa.duration("ns"):
        assert pd.read_csv("sets.csv", dtype=str)["k"].tolist()[:2] == ["1E-9", "1.500000000"]


def test_kept_columns_that_do_not_go_together_in_an_array_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(parallel, "cores", lambda: 1)  # no processes
    scores = dict(zip("abc", PROBS.T, strict=True))
    for name, kind in (("1", pa.timestamp("us")), ("2", pa.float64())):
        pq.write_table(pa.table({**scores, "k": pa.array([1, 2, 3]).cast(kind)}), f"{name}.parquet")
    rs.calibrate(PROBS, list("abc"), classes=list("abc")).save("rule.rankset")
    error = failure("predict", "rule.rankset", "1.parquet", "2.parquet", "--keep", "k", "-o", "s.npz")
    check_refusal(error, FileError.other_type("k", "datetime64[us]", "float64"))


def test_repeated_texts_are_not_all_in_memory_at_once(tmp_path, monkeypatch):
    texts = pa.DictionaryArray.from_arrays([0, 1, None, 0], ["a" * 3000, "b" * 10])
    values = python_values(pa.chunked_array([texts, texts]))
    assert [value and value[0] for value in values] == ["a", "b", None, "a"] * 2
    assert values[0] is values[3]
    monkeypatch.setattr(parquet_writer, "MAX_TEXT_BYTES", 6000)
    sets = rs.PredictionSets.from_mask(np.ones((4, 2), dtype=bool))
    write_sets.write_sets(tmp_path / "sets.parquet", [(sets, {"note": pa.chunked_array([texts])})])
    assert pq.ParquetFile(tmp_path / "sets.parquet").num_row_groups == 2
    table = pq.read_table(tmp_path / "sets.parquet")
    assert table.column("note").to_pylist() == values[:4]
    assert table.column("size").to_pylist() == [2] * 4
    with (
        memory_budget.use_limit(10_000),
        refused(FileError.too_large(str(tmp_path / "sets.npz"), 10_000, 48_000)),
    ):
        write_sets.write_sets(tmp_path / "sets.npz", [(sets, {"note": pa.chunked_array([texts])})])


def test_columns_that_parquet_cannot_hold_are_refused(tmp_path):
    sets = rs.PredictionSets.from_mask(np.ones((2, 2), dtype=bool))
    with refused(FileError, file=str(tmp_path / "sets.parquet"), expected="be writable"):
        write_sets.write_sets(tmp_path / "sets.parquet", [(sets, {"note": pa.chunked_array([pa.array([{}, {}])])})])
    assert list(tmp_path.iterdir()) == []
