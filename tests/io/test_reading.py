"""What files are taken for, what their names and labels are, and how much memory reading them takes."""

import base64
import gzip
import io
import json
import os
import random
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from pyarrow import feather

import rankset as rs
from rankset.cli.commands import rankset
from rankset.engines import shards
from rankset.errors import COMMAND_LINE, FileError, InputError, KindError, LabelError, short_repr
from rankset.io import memory_budget, read_file
from rankset.io.columns import Columns
from rankset.io.readers import columnar
from refusals import check_refusal, failure, refused

RNG = np.random.default_rng(14)
N, K = 300, 3
PROBS = RNG.dirichlet(np.ones(K), N)
LABELS = np.array([RNG.choice(K, p=row) for row in PROBS])
NAMES = ["cat", "dog", "owl"]
WORDS = np.array(NAMES)[LABELS]
FRAME = pd.DataFrame(PROBS, columns=NAMES).assign(answer=WORDS)
HALVES = (slice(0, 100), slice(100, N))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments, stdin=None):
    return CliRunner().invoke(rankset, [str(argument) for argument in arguments], input=stdin)


def fine(*arguments, **options):
    done = run(*arguments, **options)
    assert done.exit_code == 0, done.output
    return done


# What a file is


def lists(part):
    return pa.table({"probs": PROBS[part].tolist(), "answer": LABELS[part]})


WRITERS = {
    "parquet": lambda part, path: pq.write_table(lists(part), path),
    "csv": lambda part, path: FRAME[part].to_csv(path, index=False),
    "npz": lambda part, path: np.savez(path, probs=PROBS[part], answer=LABELS[part], other=LABELS[part]),
}


@pytest.mark.parametrize("kind", WRITERS)
def test_with_label_every_file_is_scores(folder, kind):
    """Two files of scores and labels are 300 rows, not the scores of one and the labels of the other."""
    for number, part in enumerate(HALVES):
        WRITERS[kind](part, f"s{number}.{kind}")
    paths = (f"s0.{kind}", f"s1.{kind}", "--label", "answer", *(("--key", "probs") if kind == "npz" else ()))
    fine("calibrate", *paths, "-o", "rule.rankset")
    expected = (
        rs.calibrate(PROBS, WORDS, classes=NAMES) if kind == "csv" else rs.calibrate(PROBS, LABELS, classes=range(K))
    )
    assert rs.load("rule.rankset") == expected
    told = json.loads(fine("evaluate", "rule.rankset", *paths, "--json").stdout)["0.1"]
    truth = WORDS if kind == "csv" else LABELS
    assert told["coverage"] == rs.evaluate(expected.predict(PROBS, 0.1), truth).coverage
    assert "one file only, got 2 files" in run("compare", *paths).stderr


def test_a_file_of_labels_with_several_columns(folder):
    np.save("probs.npy", PROBS)
    pd.DataFrame({"case": range(N), "answer": LABELS, "guess": 0}).to_csv("answers.csv", index=False)
    labels = ("--labels", "answers.csv", "--label", "answer")
    fine("calibrate", "probs.npy", *labels, "-o", "rule.rankset")
    assert rs.load("rule.rankset") == rs.calibrate(PROBS, LABELS)
    assert "coverage" in fine("evaluate", "rule.rankset", "probs.npy", *labels).stdout
    assert "Thr()" in fine("compare", "probs.npy", *labels, "--repeats", "2").stdout
    check_refusal(
        failure("calibrate", "probs.npy", "answers.csv", "-o", "x.rankset"),
        FileError.one_column("answers.csv", ["case", "answer", "guess"]),
    )
    for number, part in enumerate(HALVES):
        np.save(f"p{number}.npy", PROBS[part])
        np.save(f"y{number}.npy", LABELS[part])
    several = ("p0.npy", "p1.npy", "--labels", "y0.npy", "--labels", "y1.npy")
    fine("calibrate", *several, "-o", "several.rankset")
    assert rs.load("several.rankset") == rs.load("rule.rankset")
    check_refusal(
        failure("calibrate", "probs.npy", "--labels", "rule.rankset", "-o", "rule.rankset", "--force"),
        FileError.own_input("rule.rankset"),
    )


def test_a_file_of_labels_is_not_taken_for_scores(folder):
    FRAME[NAMES].to_csv("scores.csv", index=False)
    FRAME[["answer"]].to_csv("labels.csv", index=False)
    FRAME.to_csv("both.csv", index=False)
    check_refusal(
        failure("calibrate", "scores.csv", "labels.csv", "--label", "answer", "-o", "x.rankset"),
        FileError.no_label_column("scores.csv", "answer", ["cat", "dog", "owl"]),
    )
    check_refusal(
        failure("calibrate", "both.csv", "labels.csv", "--label", "answer", "-o", "x.rankset"),
        FileError.labels_alone("labels.csv", "answer"),
    )
    assert run("calibrate", "a.csv", "b.csv", "c.csv", "-o", "x.rankset").exit_code == 2


@pytest.mark.parametrize("kind", ["parquet", "feather"])
@pytest.mark.parametrize("name", [None, "case"])
def test_an_index_of_pandas_is_no_class(folder, kind, name):
    frame = FRAME.set_index(pd.Index(np.arange(N) * 2.0, name=name))
    table = pa.Table.from_pandas(frame)
    assert table.num_columns == K + 2
    (pq.write_table if kind == "parquet" else feather.write_feather)(table, f"rows.{kind}")
    fine("calibrate", f"rows.{kind}", "--label", "answer", "-o", "rule.rankset")
    assert rs.load("rule.rankset") == rs.calibrate(PROBS, WORDS, classes=NAMES)
    alone = pa.Table.from_pandas(frame[["answer"]])
    (pq.write_table if kind == "parquet" else feather.write_feather)(alone, f"labels.{kind}")
    columns = read_file.read_file(f"labels.{kind}")
    assert columns.only_column().tolist() == WORDS.tolist()
    index = name or "__index_level_0__"
    fine("predict", "rule.rankset", f"rows.{kind}", "--keep", index, "-o", "sets.parquet")
    assert pq.read_table("sets.parquet").column(index).to_pylist() == frame.index.tolist()


# Names and labels as they are written


@pytest.mark.parametrize(
    "names",
    [
        ["007", "008", "009"],
        ["true", "false", "maybe"],
        ["1.0", "2.0", "3.0"],
        ["1e5", "2e5", "3e5"],
        ["+1", "+2", "+3"],
        ["2026-01-01", "2026-01-02", "2026-01-03"],
        ["10:00:00", "11:00:00", "12:00:00"],
        ["0", "-0", "00"],
        ["NA", "null", "nan"],
        ["10", "20", "30"],
    ],
    ids=lambda names: names[0],
)
def test_labels_match_their_own_header(folder, names):
    frame = pd.DataFrame(PROBS, columns=names).assign(answer=np.array(names)[LABELS])
    frame.to_csv("rows.csv", index=False)
    fine("calibrate", "rows.csv", "--label", "answer", "-o", "rule.rankset")
    rule = rs.load("rule.rankset")
    assert [str(name) for name in rule.classes] == names
    assert rule == rs.calibrate(PROBS, rule.classes[LABELS], classes=rule.classes.tolist())
    assert len(fine("predict", "rule.rankset", "rows.csv").stdout.splitlines()) == N + 1
    fine("evaluate", "rule.rankset", "rows.csv", "--label", "answer")
    frame.iloc[:100].to_csv("a.csv", index=False)
    frame.iloc[100:].to_csv("b.csv", index=False)
    assert shards.calibrate(["a.csv", "b.csv"], label="answer", workers=1) == rule


def test_labels_may_be_spelt_as_other_programs_do(folder):
    np.save("probs.npy", PROBS)
    expected = rs.calibrate(PROBS, LABELS)
    for name, labels in (("ints", LABELS), ("floats", LABELS.astype(float))):
        pd.DataFrame({"y": labels}).to_csv(f"{name}.csv", index=False)
        fine("calibrate", "probs.npy", f"{name}.csv", "-o", "rule.rankset", "--force")
        assert rs.load("rule.rankset") == expected
        fine("evaluate", "rule.rankset", "probs.npy", f"{name}.csv")
        assert shards.calibrate("probs.npy", f"{name}.csv", workers=1) == expected
    (folder / "names.txt").write_text("2.0\n1.0\n0.0\n")
    fine("calibrate", "probs.npy", "floats.csv", "--classes", "names.txt", "-o", "turned.rankset")
    turned = rs.load("turned.rankset")
    assert turned == rs.calibrate(PROBS, [f"{label}.0" for label in LABELS], classes=["2.0", "1.0", "0.0"])
    rows = zip(PROBS[:, :2] / PROBS[:, :2].sum(axis=1, keepdims=True), LABELS == 0, strict=True)
    lines = (json.dumps({"true": p, "false": 1 - p, "y": bool(label)}) + "\n" for (p, _), label in rows)
    (folder / "rows.jsonl").write_text("".join(lines))
    fine("calibrate", "rows.jsonl", "--label", "y", "-o", "bool.rankset")
    assert rs.load("bool.rankset").classes.tolist() == ["true", "false"]


def test_groups_ids_and_kept_columns_stay_as_they_are_written(folder):
    sites = np.array(["007", "7"])[np.arange(N) % 2]
    frame = FRAME.assign(site=sites, case=[f"{number:04d}" for number in range(N)], dose=np.arange(N) / 4)
    frame.assign(visit=pd.array([1, None, 3] * 100, dtype="Int64")).to_csv("rows.csv", index=False)
    fine(
        "calibrate",
        "rows.csv",
        "--label",
        "answer",
        "--group",
        "site",
        *DROPPED,
        "-o",
        "r.rankset",
    )
    assert rs.load("r.rankset").spec.groups.values == ("007", "7")
    kept = ("--keep", "dose", "--keep", "visit")
    fine("predict", "r.rankset", "rows.csv", "--group", "site", "--id", "case", *kept, "-o", "sets.jsonl")
    first, second = [json.loads(line) for line in (folder / "sets.jsonl").read_text().splitlines()[:2]]
    assert (first["case"], first["dose"], first["visit"]) == ("0000", "0.0", 1)
    assert (second["case"], second["dose"], second["visit"]) == ("0001", "0.25", None)


DROPPED = ("--drop", "case", "--drop", "dose", "--drop", "visit")


def test_cells_that_are_no_numbers_are_told_with_their_row(folder):
    rule = rs.calibrate(PROBS, WORDS, classes=NAMES)
    rule.save("rule.rankset")
    for cell, refusal, column in (
        ("x", FileError.not_numbers("rows.csv", "dog", "'x'", 1), "dog"),
        ("", FileError.missing_cell("rows.csv", "dog", 1), "dog"),
        ("NA", FileError.missing_cell("rows.csv", "dog", 1), "dog"),
        ("true", FileError.not_numbers("rows.csv", "dog", "'true'", 1), "dog"),
        ("nan", InputError.missing("probs", 1, 1), 1),
    ):
        (folder / "rows.csv").write_text(f"cat,dog,owl\n0.5,0.25,0.25\n0.5,{cell},0.25\n")
        check_refusal(failure("predict", "rule.rankset", "rows.csv"), refusal, file="rows.csv", row=1, column=column)
    (folder / "rows.csv").write_text("cat,dog,owl\n 0.5,0.25 , 0.25\n")
    assert fine("predict", "rule.rankset", "rows.csv").stdout.count("\n") == 2


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.csv", b"cat,d\x81g,d\x8dg,answer\n0.5,0.25,0.25,cat\n"),
        ("a.csv", b"cat,dog,owl,answer\n0.5,0.25,0.25,c\x81t\n"),
        ("a.csv", b"cat,dog,owl,answer\n0.5,0.25,0.25,c\xed\xa0\x80t\n"),
        ("a.jsonl", b'{"cat": 0.5, "dog": 0.25, "owl": 0.25, "answer": "\\ud800"}\n'),
        ("a.jsonl", b'{"\\ud800": 0.5, "\\ud801": 0.25, "owl": 0.25, "answer": "owl"}\n'),
        ("a.jsonl", b'{"cat": 0.5, "dog": 0.25, "owl": 0.25, "answer": "\xed\xa0\x80"}\n'),
    ],
)
def test_names_that_are_no_text_are_refused(folder, name, data):
    (folder / name).write_bytes(data)
    error = failure("calibrate", name, "--label", "answer", "-o", "x.rankset")
    wanted = FileError.unreadable(name, "") if name == "a.jsonl" else FileError.unknown_encoding(name)
    check_refusal(error, FileError, file=name, expected=wanted.expected)


def test_other_files_of_names_that_are_no_text_are_refused(folder):
    np.save("probs.npy", PROBS[:2])
    np.save("labels.npy", LABELS[:2])
    (folder / "names.txt").write_bytes(b"a\x81\na\x8d\nb\n")
    check_refusal(
        failure("calibrate", "probs.npy", "labels.npy", "--classes", "names.txt", "-o", "x.rankset"),
        FileError,
        file="names.txt",
        expected=FileError.unknown_encoding("").expected,
    )
    (folder / "labels.txt").write_bytes(b"a\x81\na\x8d\n")
    check_refusal(
        failure("calibrate", "probs.npy", "labels.txt", "-o", "x.rankset"),
        FileError,
        file="labels.txt",
        expected=FileError.unknown_encoding("").expected,
    )
    words = pa.array([b"a\xff", b"a\xfe"]).view(pa.string())
    table = pa.table({"cat": [0.5, 0.5], "dog": [0.5, 0.5], "answer": words})
    pq.write_table(table, "rows.parquet")
    check_refusal(
        failure("calibrate", "rows.parquet", "--label", "answer", "-o", "x.rankset"),
        FileError,
        file="rows.parquet",
        expected="be readable",
    )


# Files that would end the process


ABORTS = base64.b85decode(
    "P(e~L6#x}16)Y?j1Qh@k1{DSz00002000040RR910002cKL7v#0002sKNSEKEEOy)6$BLk6$TXs8~^|S0ssI21OWg500000=sy4e00000;6D`v89X%r7"
    "zT4=Xk~3-6$Ahk3MDld0bu|Y3MB#<0b&3a1Q{F|EG7UP6$%+81^^it0bvyY76cYj7E&e%NgNdb6#x|i06ZxM872S(0000c02~zx86^e)85jX#6#y0l7E"
    "%^cCR#}x6#x|g6#@V}DFzuP00aO402ZVH76c{;7Nh|HC?IfQa&dKKbS-0Wa4lhSa&LDac4cyNX>V>IGBz$SE-@J_8~^|u000270000`K~ga"
)
"""A parquet file of two numbers in each of two columns, with one byte of its footer changed: asking pyarrow 26.0.1 for
its first row group's first column ends the process with SIGABRT."""


def test_a_damaged_footer_is_an_error(folder):
    (folder / "rows.parquet").write_bytes(ABORTS)
    code = "from rankset.io import read_file; read_file.read_file('rows.parquet')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert "FileError: rows.parquet: the file must be readable" in done.stderr


@pytest.mark.slow
def test_damaged_footers_give_an_answer_or_one_error(folder):
    rnd, data = random.Random(0), io.BytesIO()  # noqa: S311
    pq.write_table(lists(slice(0, 20)), data, row_group_size=5)
    whole = data.getvalue()
    first = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    refusals = 0
    for _ in range(300):
        changed = bytearray(whole)
        for _ in range(rnd.randint(1, 3)):
            changed[rnd.randrange(first, len(whole))] = rnd.randrange(256)
        (folder / "rows.parquet").write_bytes(bytes(changed))
        try:
            read_file.read_file("rows.parquet").scores(["answer"])
        except FileError:
            refusals += 1
    assert 50 < refusals < 300


def test_a_reader_that_dies_is_an_error_and_is_replaced(folder, monkeypatch):
    FRAME.to_parquet("rows.parquet")
    reader = columnar.ReaderProcess()
    whole = memory_budget.Budget("rows.parquet", 1 << 30)
    script = folder / "dies.py"
    script.write_text("import os, sys\nsys.stdin.buffer.readline()\nos.abort()\n")
    monkeypatch.setattr(columnar, "SCRIPT", script)
    with refused(
        FileError,
        what="the file",
        reason="the process that reads it crashed (exit code -6)",
        remedy="Check that the file is complete and that its suffix matches its format.",
        file="rows.parquet",
    ):
        reader.read_table("rows.parquet", "parquet", whole)
    monkeypatch.undo()
    table, _ = reader.read_table(str(folder / "rows.parquet"), "parquet", whole)
    assert table.num_rows == N
    assert reader.process.poll() is None
    reader.process.stdin.close()
    reader.process.wait(20)  # as after a long wait
    assert reader.read_table(str(folder / "rows.parquet"), "parquet", whole) == (table, 0)
    reader.end()


# Memory


BUDGET = 24 << 20


def packed(name, *parts):
    with gzip.open(name, "wb", 1) as file:
        for data, times in parts:
            for _ in range(times):
                file.write(data)


def bombs():
    """Small files that would take 150 MB and more to read."""
    zeros, rows = np.zeros(1_000_000), pa.table({"cat": np.zeros(1_000_000)})
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "<f8", "fortran_order": False, "shape": (20_000_000,)})
    with (
        zipfile.ZipFile("array.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("x.npy", "w", force_zip64=True) as file,
    ):
        file.write(head.getvalue())
        for _ in range(20):
            file.write(zeros)
    with zipfile.ZipFile("array.npz", "a") as archive:
        archive.writestr("y.npy", head.getvalue().replace(b"(20000000,)", b"(0,)       "))
    packed("rows.csv.gz", (b"cat,dog\n", 1), (b"0,1\n" * 100_000, 150))
    packed("columns.csv.gz", (b",".join(b"c%d" % number for number in range(100_000)) + b"\n", 1))
    packed("line.csv.gz", (b"a" * 1_000_000, 150))
    packed("rows.jsonl.gz", (b'{"p":[' + b"0," * 9_999 + b"0]}\n", 4_000))
    packed("line.jsonl.gz", (b'{"p":[', 1), (b"[]," * 100_000, 60), (b"[]]}\n", 1))
    packed("labels.txt.gz", (b"ab\n" * 100_000, 100))
    packed("rows.parquet.gz", (b"\0" * 1_000_000, 150))
    for kind, times in (("parquet", 25), ("feather", 25)):
        if kind == "parquet":
            with pq.ParquetWriter("rows.parquet", rows.schema, compression="zstd") as writer:
                for _ in range(times):
                    writer.write_table(rows)
        else:
            with (
                pa.OSFile("rows.feather", "wb") as file,
                pa.ipc.new_file(file, rows.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer,
            ):
                for _ in range(times):
                    writer.write_table(rows)
    long = pa.ListArray.from_arrays(np.array([0, 12_000_000], dtype=np.int32), np.zeros(12_000_000))
    pq.write_table(pa.table({"p": long}), "list.parquet", compression="zstd")
    feather.write_feather(pa.table({"p": long}), "list.feather", compression="zstd")
    words = pa.DictionaryArray.from_arrays(np.zeros(150, dtype=np.int32), ["x" * 1_000_000])
    nested = pa.ListArray.from_arrays(np.array([0, 150], dtype=np.int32), words.dictionary_decode())
    pq.write_table(pa.table({"p": nested}), "texts.parquet")
    lines = [b'{"a":0.5,"b":0.3,"y":0}\n' * 30_000, json.dumps({f"k{number}": 1 for number in range(4_000)}).encode()]
    (Path("sparse.jsonl")).write_bytes(b"".join(lines))
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([12_000_000], pa.int32()), pa.array([0.5]))
    with pa.OSFile("runs.arrow", "wb") as file, pa.ipc.new_file(file, pa.schema({"a": runs.type})) as writer:
        writer.write_table(pa.table({"a": runs}))


MEASURED = """
    import resource, sys
    from click.testing import CliRunner
    from rankset.io.readers import columnar
    from rankset.cli.commands import rankset
    def peak():
        return max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) << 10
    for name in ("small.csv", "small.parquet", *sys.argv[2:]):
        asked = ["calibrate", name, "--label", "y"]
        if "label" in name:
            asked = ["calibrate", "probs.npy", name]
        if name == "names.txt":
            asked = ["calibrate", "probs.npy", "probs.npy", "--classes", name]
        done = CliRunner().invoke(rankset, [*asked, "-o", "x.rankset", "--force", "--max-memory", sys.argv[1]])
        columnar.READER.end()
        print(name, done.exit_code, peak(), done.stderr.strip().replace(chr(10), "|"), sep="\\t")
"""


@pytest.mark.slow
def test_bombs_are_refused_before_they_take_memory(folder):
    bombs()
    np.save("probs.npy", PROBS)
    pd.DataFrame({"a": [0.5], "b": [0.5], "y": ["a"]}).to_csv("small.csv", index=False)
    pd.DataFrame({"a": [0.5], "b": [0.5], "y": ["a"]}).to_parquet("small.parquet")
    names = sorted(
        path.name for path in folder.iterdir() if path.name not in ("probs.npy", "small.csv", "small.parquet")
    )
    assert len(names) == 15
    assert all((folder / name).stat().st_size < 4_000_000 for name in names)
    code = [sys.executable, "-c", textwrap.dedent(MEASURED), str(BUDGET), *names]
    done = subprocess.run(code, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    told = {line.split("\t")[0]: line.split("\t")[1:] for line in done.stdout.splitlines()}
    before = int(told["small.parquet"][1])
    assert told["small.csv"][0] == told["small.parquet"][0] == "0"
    assert set(told) == {"small.csv", "small.parquet", *names}
    for name in names:
        code, peak, said = told[name]
        assert code == "1", (name, told[name])
        assert name in said
        assert "|" not in said
        assert f"take at most {BUDGET:,} bytes of memory" in said or name == "line.csv.gz", said
        assert int(peak) - before < 2.5 * BUDGET, (name, told[name], before)


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "txt", "npy", "parquet", "arrow"])
def test_standard_input_has_a_budget(folder, kind):
    rs.calibrate(PROBS, WORDS, classes=NAMES).save("rule.rankset")
    told = ("predict", "rule.rankset", "-", "--format", kind, "--max-memory", "1MB")
    check_refusal(
        failure(*told, stdin=b"0" * 600_000), FileError, file="-", expected="take at most 1,000,000 bytes of memory"
    )


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "txt", "npz", "parquet", "feather"])
def test_every_reader_takes_what_it_is_allowed(folder, kind):
    many = pd.DataFrame(np.tile(PROBS, (100, 1)), columns=NAMES)
    match kind:
        case "csv" | "tsv":
            many.to_csv(f"rows.{kind}", index=False, sep="," if kind == "csv" else "\t")
        case "jsonl":
            many.to_json("rows.jsonl", orient="records", lines=True)
        case "npz":
            np.savez("rows.npz", x=many)
        case "txt":
            (folder / "rows.txt").write_text("cat\n" * len(many))
        case "parquet":
            many.to_parquet("rows.parquet")
        case "feather":
            feather.write_feather(pa.Table.from_pandas(many), "rows.feather", compression="lz4")
    np.save("probs.npy", many.to_numpy())
    rs.calibrate(PROBS, WORDS, classes=NAMES).save("rule.rankset")
    told = ("calibrate", "probs.npy", "rows.txt") if kind == "txt" else ("predict", "rule.rankset", f"rows.{kind}")
    output = ("-o", "x.rankset") if kind == "txt" else ("-o", "sets.csv")
    error = failure(*told, *output, "--max-memory", "300 kB")
    check_refusal(error, FileError, file=f"rows.{kind}", expected="take at most 300,000 bytes of memory")
    assert "--max-memory" in error.render(COMMAND_LINE)
    assert "--" not in str(error)
    if kind != "txt":
        fine(*told, *output, "--max-memory", "20MB")
    fine("predict", "rule.rankset", "probs.npy", "--max-memory", "1B", "-o", "mapped.csv")


def test_an_arrow_file_that_is_mapped_takes_no_memory(folder):
    rs.calibrate(PROBS, LABELS).save("rule.rankset")
    many = np.tile(PROBS, (500, 1))
    rows = pa.FixedSizeListArray.from_arrays(many.ravel(), K)
    with pa.OSFile("rows.arrow", "wb") as file, pa.ipc.new_file(file, pa.schema([("p", rows.type)])) as writer:
        writer.write_table(pa.table({"p": rows}))
    assert (folder / "rows.arrow").stat().st_size > 3_000_000
    fine("predict", "rule.rankset", "rows.arrow", "--max-memory", "100kB", "-o", "sets.csv")
    matrix, _ = read_file.read_file("rows.arrow").scores()
    assert matrix.tolist() == many.tolist()
    feather.write_feather(pa.table({"p": rows}), "packed.arrow", compression="zstd")
    check_refusal(
        failure("predict", "rule.rankset", "packed.arrow", "--max-memory", "100kB"),
        FileError,
        file="packed.arrow",
        expected="take at most 100,000 bytes of memory",
    )


@pytest.mark.parametrize(
    ("text", "names", "rows"),
    [
        ("a,b\n", ["a", "b"], 0),
        ("\n\na,b\n1,2\n", ["a", "b"], 1),
        ("a,b\r1,2\r3,4\r", ["a", "b"], 2),
        ("\ufeffa,b\r\n1,2\r\n", ["a", "b"], 1),
        ('"a\nb","c,""d"""\n1,2\n', ["a\nb", 'c,"d"'], 1),
    ],
)
def test_headings_of_every_kind(folder, text, names, rows):
    (folder / "rows.csv").write_text(text, newline="")
    columns = read_file.read_file("rows.csv")
    assert columns.names == names
    assert columns.scores()[0].shape == (rows, 2)


def test_names_of_classes_have_a_budget(folder):
    np.save("probs.npy", PROBS)
    np.save("labels.npy", LABELS)
    (folder / "names.txt").write_text("ab\n" * 100_000)
    check_refusal(
        failure(
            "calibrate", "probs.npy", "labels.npy", "--classes", "names.txt", "--max-memory", "5MB", "-o", "x.rankset"
        ),
        FileError,
        file="names.txt",
        expected="take at most 5,000,000 bytes of memory",
    )


def test_many_columns_are_read(folder):
    names = [f"c{number}" for number in range(10_000)]
    row = ",".join(["0.0001"] * 10_000)
    (folder / "wide.csv").write_text(",".join(names) + "\n" + f"{row}\n" * 2)
    with memory_budget.use_limit(150 << 20):  # ten times as many fit into 1.5 GB
        matrix, found = read_file.read_file("wide.csv").scores()
    assert matrix.shape == (2, 10_000)
    assert found == names


def test_the_budget_is_told_or_half_of_what_is_free(monkeypatch):
    monkeypatch.delenv(memory_budget.VARIABLE, raising=False)
    assert memory_budget.LEAST <= memory_budget.limit() <= max(memory_budget.LEAST, memory_budget.free())
    monkeypatch.setenv(memory_budget.VARIABLE, "500MB")
    assert memory_budget.limit() == 500_000_000
    with memory_budget.use_limit(7):
        assert memory_budget.limit() == 7
        with memory_budget.use_limit(None):
            assert memory_budget.limit() == 7
    assert memory_budget.limit() == 500_000_000
    for wrong in ("lots", "-1", "0", "1PB", "1e9", "GB", "9" * 5000):
        monkeypatch.setenv(memory_budget.VARIABLE, wrong)
        with refused(KindError, what="max memory", received=short_repr(wrong)):
            memory_budget.limit()
    done = run("predict", "a.rankset", "b.csv", "--max-memory", "lots")
    assert (done.exit_code, "--max-memory must be a positive number of bytes" in done.stderr) == (2, True)


def test_the_budget_knows_a_limit_of_the_process():
    code = """
        import resource
        from rankset.io import memory_budget
        before = memory_budget.free()
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
        print(before, memory_budget.free())
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    before, after = map(int, done.stdout.split())
    assert 0 < after < min(before + 1, 3 << 30)


def test_the_budget_knows_a_limit_of_the_group(tmp_path, monkeypatch):
    for name, text in (
        ("memory.max", "1000000\n"),
        ("memory.current", "700000\n"),
        ("memory.stat", "anon 1\ninactive_file 200000\nactive_file 50000\n"),
    ):
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(memory_budget, "_cgroup_folder", lambda: tmp_path)
    assert memory_budget.free() == 550_000
    (tmp_path / "memory.max").write_text("max\n")
    assert memory_budget.free() > 1_000_000


def test_processes_share_the_budget(folder):
    for number in range(3):
        FRAME.to_csv(f"s{number}.csv", index=False)
    with (
        memory_budget.use_limit(100_000),
        refused(
            FileError,
            what="reading the file",
            received="at least 74,966 bytes",
            expected="take at most 50,000 bytes of memory",
        ),
    ):
        shards.calibrate([f"s{number}.csv" for number in range(3)], label="answer", workers=2)


# What one file holds does not decide what a name in another one means


def joined(path="rule.rankset"):
    return rs.load(path)


def numbered(names, rows=slice(None), **others):
    frame = pd.DataFrame(PROBS, columns=names).assign(answer=np.array(names)[LABELS], **others)
    return frame[rows]


def test_whole_numbers_are_names_where_they_are_names(folder):
    names = ["1", "2", "x"]
    frame = numbered(names)
    frame.to_csv("all.csv", index=False)
    fine("calibrate", "all.csv", "--label", "answer", "-o", "rule.rankset")
    expected = rs.calibrate(PROBS, frame["answer"].to_numpy(), classes=names)
    assert joined() == expected
    frame[frame["answer"] == "x"].to_csv("a.csv", index=False)
    frame[frame["answer"] != "x"].to_csv("b.csv", index=False)
    for files_of in (("a.csv", "b.csv"), ("b.csv", "a.csv")):
        fine("calibrate", *files_of, "--label", "answer", "-o", "rule.rankset", "--force")
        assert joined() == expected
    told = json.loads(fine("evaluate", "rule.rankset", "b.csv", "--label", "answer", "--json").stdout)["0.1"]
    rest = frame["answer"] != "x"
    sets = expected.predict(PROBS[rest], 0.1)
    assert told["coverage"] == sets.covers(frame["answer"][rest].to_numpy()).mean()


def test_whole_numbers_that_are_names_in_part_are_refused(folder):
    frame = pd.DataFrame(PROBS, columns=["1", "2", "x"]).assign(answer=LABELS)
    frame.to_csv("a.csv", index=False)
    check_refusal(
        failure("calibrate", "a.csv", "--label", "answer", "-o", "rule.rankset"),
        LabelError.unknown("labels", 0, ["0"], ("1", "2", "x")),
        file="a.csv",
    )
    frame[LABELS == 0].to_csv("zeros.csv", index=False)
    numbered(["1", "2", "x"]).to_csv("first.csv", index=False)
    check_refusal(
        failure("calibrate", "first.csv", "zeros.csv", "--label", "answer", "-o", "rule.rankset"),
        LabelError.unknown("labels", 0, ["0"], ("1", "2", "x")),
        file="zeros.csv",
    )
    numbers = frame.rename(columns={"1": "a", "2": "b"})
    numbers.to_csv("b.csv", index=False)
    fine("calibrate", "b.csv", "--label", "answer", "-o", "rule.rankset")
    assert joined() == rs.calibrate(PROBS, np.array(["a", "b", "x"])[LABELS], classes=["a", "b", "x"])


def test_classes_that_are_told_mean_the_same_in_one_file_and_in_several(folder):
    (folder / "names.txt").write_text("1\n2\n3\n")
    np.save("p.npy", PROBS)
    np.save("y.npy", LABELS + 1)
    for number, half in enumerate(HALVES):
        np.save(f"p{number}.npy", PROBS[half])
        np.save(f"y{number}.npy", LABELS[half] + 1)
    fine("calibrate", "p.npy", "y.npy", "--classes", "names.txt", "-o", "one.rankset")
    parts = ["p0.npy", "p1.npy", "--labels", "y0.npy", "--labels", "y1.npy"]
    fine("calibrate", *parts, "--classes", "names.txt", "-o", "two.rankset")
    assert joined("one.rankset") == joined("two.rankset") == rs.calibrate(PROBS, LABELS + 1, classes=[1, 2, 3])


def test_files_of_one_name_in_several_folders_find_their_labels(folder):
    for number, half in enumerate(HALVES):
        for kind, values in (("d", PROBS[half]), ("l", LABELS[half])):
            (folder / f"{kind}{number}").mkdir()
            np.save(f"{kind}{number}/part.npy", values)
    np.save("other.npy", LABELS[HALVES[1]])
    scores = ["d0/part.npy", "d1/part.npy"]
    fine("calibrate", *scores, "--labels", "l0/part.npy", "--labels", "l1/part.npy", "-o", "rule.rankset")
    assert joined() == rs.calibrate(PROBS, LABELS)
    check_refusal(
        failure("calibrate", *scores, "--labels", "l0/part.npy", "--labels", "other.npy", "-o", "b.rankset"),
        FileError.same_stem("d0/part.npy"),
    )


def test_one_file_under_two_names_is_one_file(folder):
    FRAME.to_csv("a.csv", index=False)
    check_refusal(
        failure("calibrate", "a.csv", "./a.csv", "--label", "answer", "-o", "r.rankset"), FileError.twice("./a.csv")
    )


def test_columns_of_classes_come_before_a_column_of_lists(folder):
    FRAME.to_parquet("plain.parquet")
    FRAME.assign(emb=list(PROBS[:, ::-1])).to_parquet("both.parquet")
    fine("calibrate", "plain.parquet", "--label", "answer", "-o", "rule.rankset")
    one, other = (
        fine("evaluate", "rule.rankset", file, "--label", "answer").stdout for file in ("plain.parquet", "both.parquet")
    )
    assert one == other
    check_refusal(
        failure("calibrate", "both.parquet", "--label", "answer", "-o", "b.rankset"),
        FileError.lists_and_columns("both.parquet", "emb", ["cat", "dog", "owl"]),
    )
    fine("calibrate", "both.parquet", "--label", "answer", "--drop", "emb", "-o", "b.rankset")
    assert joined("b.rankset") == joined()


def test_an_index_that_contradicts_is_refused(folder):
    index = [f"row {number}" for number in range(N)]
    pd.DataFrame(PROBS, index=index).rename(columns=str).to_parquet("p.parquet")
    labels = pd.DataFrame({"answer": LABELS}, index=index)
    labels.to_parquet("y.parquet")
    labels[::-1].to_parquet("turned.parquet")
    fine("calibrate", "p.parquet", "y.parquet", "-o", "rule.rankset")
    check_refusal(
        failure("calibrate", "p.parquet", "turned.parquet", "-o", "b.rankset"),
        FileError.other_order("turned.parquet", "p.parquet", 0),
    )


def test_line_breaks_in_cells_make_no_rows(folder):
    record = '0.1,0.9,a,"x\n0.5,0.5,a,y"\n'
    (folder / "a.csv").write_text("a,b,answer,note\n" + record * 40_000)
    with memory_budget.use_limit(24 << 20):  # several blocks
        assert len(read_file.read_file("a.csv").column("answer")) == 40_000


def test_groups_have_the_same_names_in_every_file(folder):
    groups = np.array(["1", "2", "north"])[np.arange(N) % 3]
    frame = FRAME.assign(site=groups)
    frame.to_csv("all.csv", index=False)
    frame[groups != "north"].to_csv("a.csv", index=False)
    frame[groups == "north"].to_csv("b.csv", index=False)
    options = ["--label", "answer", "--group", "site"]
    fine("calibrate", "all.csv", *options, "-o", "all.rankset")
    fine("calibrate", "a.csv", "b.csv", *options, "-o", "parts.rankset")
    assert joined("all.rankset") == joined("parts.rankset")
    assert joined("all.rankset").groups.tolist() == ["1", "2", "north"]
    expected = joined("all.rankset").predict(PROBS, 0.1, groups=groups)
    typed = frame[groups != "north"].assign(site=np.arange(N)[groups != "north"] % 3 + 1)
    typed.to_parquet("typed.parquet")
    for file in ("a.csv", "typed.parquet"):
        fine("predict", "all.rankset", file, "--group", "site", "-o", "sets.npz", "--force")
        assert (np.load("sets.npz")["codes"] == expected[groups != "north"].codes).all()


def test_ids_draw_alike_as_numbers_and_as_texts(folder):
    ids = [str(number) for number in range(N - 1)] + ["last"]
    frame = FRAME.assign(case=ids)
    frame.to_csv("all.csv", index=False)
    frame[:100].to_csv("a.csv", index=False)
    frame[100:].to_csv("b.csv", index=False)
    options = ["--label", "answer", "--id", "case", "--score", "aps"]
    fine("calibrate", "all.csv", *options, "-o", "all.rankset")
    fine("calibrate", "a.csv", "b.csv", *options, "-o", "parts.rankset")
    assert joined("all.rankset") == joined("parts.rankset")
    assert rs.calibrate(PROBS[:9], LABELS[:9], score=rs.Aps(), ids=range(9)) == rs.calibrate(
        PROBS[:9], LABELS[:9], score=rs.Aps(), ids=list("012345678")
    )


@pytest.mark.filterwarnings("ignore:Feather V1:DeprecationWarning")
def test_an_old_feather_file_is_checked_too(folder):
    feather.write_feather(pa.Table.from_pandas(FRAME), "a.feather", version=1)
    fine("calibrate", "a.feather", "--label", "answer", "-o", "a.rankset")
    whole = (folder / "a.feather").read_bytes()
    draw = random.Random(5)  # noqa: S311
    code = """
        import sys
        from rankset.io.layout import Layout
        from rankset.errors import RanksetError
        for number in range(40):
            try:
                Layout(label="answer").read_rows(f"{number}.feather")
            except RanksetError:
                pass
    """
    for number in range(40):
        data = bytearray(whole)
        for _ in range(draw.randint(1, 3)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        (folder / f"{number}.feather").write_bytes(data)
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_arrays_packed_by_other_methods_are_refused(folder):
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        with zipfile.ZipFile("a.npz", "w", method) as archive, archive.open("p.npy", "w") as file:
            np.save(file, PROBS)
        np.save("y.npy", LABELS)
        check_refusal(
            failure("calibrate", "a.npz", "y.npy", "-o", "a.rankset"),
            FileError.unreadable("a.npz", "'p' is compressed by an unknown method (known: deflate)"),
        )


def test_many_columns_of_one_name_are_told_at_once(folder):
    names = [*(f"c{number}" for number in range(30_000)), "z", "z"]
    (folder / "wide.csv").write_text(",".join(names) + "\n" + ",".join(["0"] * len(names)) + "\n")
    with (
        memory_budget.use_limit(1 << 30),
        refused(FileError.same_names("wide.csv", "z")),
    ):
        read_file.read_file("wide.csv")


def test_a_kept_column_may_begin_empty(folder, monkeypatch):
    monkeypatch.setattr("rankset.cli.parts.PART_BYTES", 8 * K * 10)
    notes = [None] * (N - 5) + ["late"] * 5
    FRAME.assign(note=notes, file=1).to_parquet("a.parquet")
    fine("calibrate", "a.parquet", "--label", "answer", "--drop", "note", "--drop", "file", "-o", "a.rankset")
    fine("predict", "a.rankset", "a.parquet", "--keep", "note", "-o", "sets.parquet")
    assert pq.read_table("sets.parquet").column("note").to_pylist() == notes
    check_refusal(
        failure("predict", "a.rankset", "a.parquet", "--keep", "file", "-o", "s.npz"), FileError.taken("file")
    )


def test_without_a_heading_columns_go_by_their_places(folder):
    logits = np.log(PROBS)
    rows = np.column_stack((LABELS, logits))
    for number, half in enumerate(HALVES):
        pd.DataFrame(rows[half]).astype({0: int}).to_csv(f"{number}.csv", index=False, header=False)
    options = ["--label", "0", "--no-header", "--kind", "logits"]
    fine("calibrate", "0.csv", *options, "-o", "rule.rankset")
    expected = rs.calibrate(logits[HALVES[0]], LABELS[HALVES[0]], kind="logits")
    assert (joined().calibration == expected.calibration) is True
    told = json.loads(fine("evaluate", "rule.rankset", "1.csv", *options[:3], "--json").stdout)["0.1"]
    assert told["coverage"] == expected.predict(logits[HALVES[1]], 0.1).covers(LABELS[HALVES[1]]).mean()
    fine("calibrate", "0.csv", "1.csv", *options, "-o", "both.rankset")
    both = rs.calibrate(logits, LABELS, kind="logits")
    assert joined("both.rankset").threshold(0.1) == pytest.approx(both.threshold(0.1))


def test_a_class_cannot_be_something_else_as_well(folder):
    np.save("p.npy", PROBS)
    np.save("y.npy", LABELS)
    fine("calibrate", "p.npy", "y.npy", "-o", "rule.rankset")
    pd.DataFrame(np.column_stack((LABELS, PROBS))).rename(columns=str).astype({"0": int}).to_csv("a.csv", index=False)
    check_refusal(failure("evaluate", "rule.rankset", "a.csv", "--label", "0"), FileError.class_apart("a.csv", "0"))
    check_refusal(failure("predict", "rule.rankset", "a.csv", "--drop", "0"), FileError.class_apart("a.csv", "0"))


def test_an_index_of_row_numbers_in_another_order_is_refused(folder):
    index = pd.RangeIndex(10, 10 + N)
    pd.DataFrame(PROBS, index=index).rename(columns=str).to_parquet("p.parquet")
    labels = pd.DataFrame({"answer": LABELS}, index=index)
    labels.to_parquet("y.parquet")
    labels[::-1].to_parquet("turned.parquet")
    labels.reset_index(drop=True).to_parquet("plain.parquet")
    fine("calibrate", "p.parquet", "y.parquet", "-o", "rule.rankset")
    fine("calibrate", "p.parquet", "plain.parquet", "-o", "plain.rankset")
    check_refusal(
        failure("calibrate", "p.parquet", "turned.parquet", "-o", "b.rankset"),
        FileError.other_order("turned.parquet", "p.parquet", 0),
    )


def test_names_do_not_depend_on_the_order_of_files(folder):
    frame = pd.DataFrame(PROBS, columns=["0", "1", "2"]).assign(answer=LABELS, site=LABELS % 2)
    frame[:100].to_csv("a.csv", index=False)
    frame[100:].astype({"answer": str}).to_parquet("b.parquet")
    expected = rs.calibrate(PROBS, LABELS)
    for some in (("a.csv", "b.parquet"), ("b.parquet", "a.csv")):
        fine("calibrate", *some, "--label", "answer", "--drop", "site", "-o", "rule.rankset", "--force")
        assert joined().calibration == expected.calibration
    check_refusal(
        failure("calibrate", "a.csv", "b.parquet", "--label", "answer", "--group", "site", "-o", "g.rankset"),
        FileError.mixed_groups([0, "0"]),
    )


def test_one_file_is_one_file_and_standard_input_comes_alone(folder):
    FRAME.to_csv("a.csv", index=False)
    (folder / "hard.csv").hardlink_to(folder / "a.csv")
    check_refusal(
        failure("calibrate", "a.csv", "hard.csv", "--label", "answer", "-o", "r.rankset"), FileError.twice("hard.csv")
    )
    text = (folder / "a.csv").read_text()
    check_refusal(
        failure("calibrate", "a.csv", "-", "--label", "answer", "-o", "r.rankset", stdin=text), FileError.stdin_alone()
    )


def test_kept_cells_stay_as_they_are(folder):
    FRAME.to_csv("c.csv", index=False)
    fine("calibrate", "c.csv", "--label", "answer", "-o", "r.rankset")
    cells = ["1234567890123456789", "1234567890123456790", "1.10", "12e4", "1e999", "007"]
    FRAME[:6].assign(case=cells).to_csv("k.csv", index=False)
    fine("predict", "r.rankset", "k.csv", "--keep", "case", "-o", "sets.csv")
    assert pd.read_csv("sets.csv", dtype=str)["case"].tolist() == cells


def test_empty_lines_of_one_column_are_no_lines_that_are_left_out(folder):
    lines = [f"{value:.4f}" for value in PROBS[:60, 0]]
    (folder / "p.csv").write_text("\n".join(["p", *lines[:5], "", *lines[5:]]) + "\n")
    np.save("y.npy", LABELS[:60] % 2)
    check_refusal(
        failure("calibrate", "p.csv", "y.npy", "--kind", "binary", "-o", "r.rankset"),
        FileError.missing_cell("p.csv", "p", 5),
    )
    (folder / "bare.csv").write_text("\n".join(lines) + "\n")
    check_refusal(
        failure("calibrate", "bare.csv", "y.npy", "--kind", "binary", "-o", "r.rankset"),
        FileError.no_header("bare.csv", ["0.7259"]),
    )
    fine("calibrate", "bare.csv", "y.npy", "--kind", "binary", "--no-header", "-o", "r.rankset")


@pytest.mark.parametrize("turned", ["scores", "labels"])
def test_a_default_index_beside_the_same_numbers_in_another_order_is_refused(folder, turned):
    order = RNG.permutation(N)
    scores, labels = pd.DataFrame(PROBS).rename(columns=str), pd.DataFrame({"answer": LABELS})
    scores.iloc[order if turned == "scores" else slice(None)].to_parquet("p.parquet")
    labels.iloc[order if turned == "labels" else slice(None)].to_parquet("y.parquet")
    check_refusal(
        failure("calibrate", "p.parquet", "y.parquet", "-o", "r.rankset"),
        FileError.other_order("y.parquet", "p.parquet", 0),
    )


def test_kept_arrays_have_an_entry_per_row(folder):
    np.save("p.npy", PROBS)
    np.save("y.npy", LABELS)
    fine("calibrate", "p.npy", "y.npy", "-o", "r.rankset")
    np.savez("a.npz", probs=PROBS, more=np.arange(N + 2), fewer=np.arange(3))
    for name, count in (("more", N + 2), ("fewer", 3)):
        error = failure("predict", "r.rankset", "a.npz", "--key", "probs", "--keep", name, "-o", "sets.npz")
        check_refusal(error, InputError.length(name, N, count), file="a.npz")


# Names of columns and of groups


@pytest.mark.parametrize(("names", "labels"), [(None, ("0", "1")), (["no", "yes"], ("no", "yes"))])
def test_a_column_called_as_the_second_class_is_its_probability(folder, names, labels):
    truth = np.array(labels)[LABELS % 2]
    frame = pd.DataFrame({labels[1]: PROBS[:, 0], "site": LABELS, "answer": truth})
    frame.to_csv("all.csv", index=False)
    for number, half in enumerate(HALVES):
        frame[half].to_csv(f"{number}.csv", index=False)
    (folder / "names.txt").write_text("".join(f"{name}\n" for name in names or ()))
    options = ["--kind", "binary", "--label", "answer", *(["--classes", "names.txt"] if names else ["--drop", "site"])]
    fine("calibrate", "all.csv", *options, "-o", "rule.rankset")
    fine("calibrate", "0.csv", "1.csv", *options, "-o", "parts.rankset")
    expected = rs.calibrate(PROBS[:, 0], LABELS % 2, kind="binary")
    assert joined().calibration == joined("parts.rankset").calibration == expected.calibration
    fine("predict", "rule.rankset", "all.csv", "-o", "sets.npz")
    assert (np.load("sets.npz")["codes"] == expected.predict(PROBS[:, 0], 0.1).codes).all()


def test_a_single_column_called_as_the_first_class_is_refused(folder):
    frame = pd.DataFrame({"no": PROBS[:, 0], "answer": np.array(["no", "yes"])[LABELS % 2]})
    frame.to_csv("a.csv", index=False)
    (folder / "names.txt").write_text("no\nyes\n")
    options = ["--kind", "binary", "--label", "answer"]
    check_refusal(
        failure("calibrate", "a.csv", *options, "--classes", "names.txt", "-o", "rule.rankset"),
        FileError.first_class("a.csv", "no"),
    )
    pd.DataFrame({"0": PROBS[:, 0], "answer": LABELS % 2}).to_csv("b.csv", index=False)
    check_refusal(failure("calibrate", "b.csv", *options, "-o", "rule.rankset"), FileError.first_class("b.csv", "0"))


@pytest.mark.parametrize("names", [["2.0", "0.0", "1.0"], ["02", "00", "01"]])
def test_numbers_that_may_be_names_or_columns_are_refused(folder, names):
    frame = pd.DataFrame(PROBS, columns=names).assign(answer=LABELS)
    frame.to_csv("a.csv", index=False)
    refusal = FileError.numbers_or_names("a.csv", names)
    check_refusal(failure("calibrate", "a.csv", "--label", "answer", "-o", "rule.rankset"), refusal)
    frame.assign(answer=np.array(names)[LABELS]).to_csv("named.csv", index=False)
    fine("calibrate", "named.csv", "--label", "answer", "-o", "rule.rankset")
    check_refusal(failure("evaluate", "rule.rankset", "a.csv", "--label", "answer"), refusal)


def test_without_a_heading_kept_columns_may_have_the_number_of_a_class(folder):
    rows = pd.DataFrame(np.column_stack((PROBS, LABELS))).astype({3: int})
    rows[[3, 0, 1, 2]].to_csv("a.csv", index=False, header=False)
    fine("calibrate", "a.csv", "--label", "0", "--no-header", "-o", "rule.rankset")
    fine("predict", "rule.rankset", "a.csv", "--no-header", "--keep", "0", "-o", "sets.npz")
    assert (np.load("sets.npz")["0"] == LABELS).all()
    assert (np.load("sets.npz")["codes"] == joined().predict(PROBS, 0.1).codes).all()


def test_groups_of_whole_floats_are_those_of_texts(folder):
    frame = FRAME.assign(site=LABELS % 2)
    frame[:150].to_csv("a.csv", index=False)
    frame[150:].astype({"site": float}).to_parquet("b.parquet")
    options = ["--label", "answer", "--group", "site"]
    check_refusal(
        failure("calibrate", "a.csv", "b.parquet", *options, "-o", "rule.rankset"), FileError.mixed_groups([0.0, "0"])
    )
    fine("calibrate", "a.csv", *options, "-o", "rule.rankset")
    done = fine("predict", "rule.rankset", "b.parquet", "--group", "site", "-o", "sets.npz")
    assert "warning" not in done.stderr.lower()
    expected = joined().predict(PROBS[150:], 0.1, groups=(LABELS[150:] % 2).astype(str))
    assert (np.load("sets.npz")["codes"] == expected.codes).all()


def test_comparing_indexes_has_a_budget(folder):
    rows = 4_000_000
    index = {"kind": "range", "name": None, "start": 5, "stop": 5 + rows, "step": 1}
    metadata = {"pandas": json.dumps({"index_columns": [index], "columns": []})}
    table = pa.table({"a": pa.nulls(rows)}).replace_schema_metadata(metadata)
    with refused(FileError, file="a.parquet", expected="take at most 1,048,576 bytes of memory"):
        Columns("a.parquet", table=table, budget=memory_budget.Budget("a.parquet", 1 << 20)).index_values()


def test_labels_of_arrays_of_texts_and_one_hot_rows(folder):
    np.save("p.npy", PROBS)
    np.save("y.npy", LABELS.astype(str))
    fine("calibrate", "p.npy", "y.npy", "-o", "rule.rankset")
    assert joined() == rs.calibrate(PROBS, LABELS)
    np.savez("a.npz", p=PROBS, y=np.eye(K)[LABELS])
    check_refusal(
        failure("calibrate", "a.npz", "--key", "p", "--label", "y", "-o", "b.rankset"),
        LabelError.one_hot("labels", (300, 3)),
        file="a.npz",
    )


def test_hidden_files_of_a_folder_are_left_out(folder):
    (folder / "shards").mkdir()
    FRAME[:150].to_csv("shards/a.csv", index=False)
    FRAME[150:].to_csv("shards/b.csv", index=False)
    (folder / "shards/._a.csv").write_text("left by another program")
    fine("calibrate", "shards", "--label", "answer", "-o", "rule.rankset")
    assert joined() == rs.calibrate(PROBS, WORDS, classes=NAMES)


def test_kept_lists_are_refused_by_npz(folder):
    FRAME.drop(columns="answer").assign(note=[[1, 2]] * N).to_parquet("a.parquet")
    rs.calibrate(PROBS, WORDS, classes=NAMES).save("rule.rankset")
    check_refusal(
        failure("predict", "rule.rankset", "a.parquet", "--keep", "note", "-o", "sets.npz"),
        FileError.no_array("sets.npz", "note"),
    )


@pytest.mark.skipif(sys.platform != "linux", reason="other systems know no such file names")
def test_file_names_that_are_no_text(folder):
    name = os.fsdecode(b"a\xff.csv")
    FRAME.to_csv(name, index=False)
    fine("calibrate", name, "--label", "answer", "-o", "rule.rankset")
    assert joined() == rs.calibrate(PROBS, WORDS, classes=NAMES)


def test_labels_called_by_numbers_are_names_in_any_order_of_columns(folder):
    names = ["1", "2", "other"]
    frame = numbered(names)
    frame.to_csv("all.csv", index=False)
    known = frame["answer"] != "other"
    frame[known][["other", "1", "2", "answer"]].to_csv("turned.csv", index=False)
    fine("calibrate", "all.csv", "--label", "answer", "-o", "rule.rankset")
    told = json.loads(fine("evaluate", "rule.rankset", "turned.csv", "--label", "answer", "--json").stdout)["0.1"]
    expected = rs.calibrate(PROBS, frame["answer"].to_numpy(), classes=names).predict(PROBS[known], 0.1)
    assert told["coverage"] == expected.covers(frame["answer"][known].to_numpy()).mean()


def test_float_ids_draw_alike_in_every_file(folder):
    frame = FRAME.assign(case=np.arange(N) * 1.0)
    frame.to_csv("a.csv", index=False)
    frame.to_parquet("a.parquet")
    options = ["--label", "answer", "--id", "case", "--score", "aps"]
    fine("calibrate", "a.csv", *options, "-o", "a.rankset")
    fine("calibrate", "a.parquet", *options, "-o", "b.rankset")
    assert joined("a.rankset") == joined("b.rankset")


def test_merging_rules_whose_groups_are_written_differently_is_refused(folder):
    frame = FRAME.assign(site=LABELS % 2)
    frame[:150].to_csv("a.csv", index=False)
    frame[150:].to_parquet("b.parquet")
    for file in ("a.csv", "b.parquet"):
        fine("calibrate", file, "--label", "answer", "--group", "site", "-o", f"{file}.rankset")
    check_refusal(
        failure("merge", "a.csv.rankset", "b.parquet.rankset", "-o", "both.rankset"), FileError.mixed_groups([0, "0"])
    )


@pytest.mark.parametrize("kind", [pl.String, pl.Categorical, pl.Enum(["x" * 5000, "y"])], ids=str)
@pytest.mark.parametrize("compression", ["uncompressed", "zstd"])
def test_texts_of_polars_are_read_and_kept(folder, kind, compression):
    notes = ["x" * 5000, "y", None] * (N // 3)
    frame = pl.DataFrame({**dict(zip(NAMES, PROBS.T, strict=True)), "answer": WORDS, "note": notes})
    frame.with_columns(pl.col("note").cast(kind)).write_ipc("a.arrow", compression=compression)
    fine("calibrate", "a.arrow", "--label", "answer", "--drop", "note", "-o", "rule.rankset")
    assert joined() == rs.calibrate(PROBS, WORDS, classes=NAMES)
    for output in ("sets.parquet", "sets.csv", "sets.jsonl"):
        fine("predict", "rule.rankset", "a.arrow", "--drop", "answer", "--keep", "note", "-o", output)
    assert pq.read_table("sets.parquet").column("note").to_pylist() == notes
    assert read_notes("sets.jsonl") == notes
    assert read_scores_size("a.arrow") < 100_000  # texts that rows share are one text in memory


def read_notes(path):
    return [json.loads(line)["note"] for line in Path(path).read_text().splitlines()]


def read_scores_size(path):
    return read_file.read_file(path).table.column("note").nbytes


@pytest.mark.parametrize("values", [pa.array([[1, 2], [3]] * 3), pa.array([["a"], []] * 3)])
def test_lists_that_rows_may_share_are_read(folder, values):
    shared = pa.array(values.to_pylist(), pa.list_view(values.type.value_type))
    table = pa.table({**dict(zip(NAMES, PROBS[:6].T, strict=True)), "note": shared})
    feather.write_feather(table, "a.feather")
    assert read_file.read_file("a.feather").table.column("note").to_pylist() == values.to_pylist()


def test_objects_with_ever_other_fields_are_texts(folder):
    tops = [{f"token {(7 * row + place) % 5000}": -1.5 for place in range(10)} for row in range(N)]
    lines = [
        json.dumps({**row, "top": top, "few": {"a": 1}})
        for row, top in zip(FRAME.to_dict("records"), tops, strict=True)
    ]
    (folder / "rows.jsonl").write_text("\n".join(lines))
    table = read_file.read_file("rows.jsonl").table
    assert table.nbytes < 500_000
    assert [json.loads(text) for text in table.column("top").to_pylist()] == tops
    fine("calibrate", "rows.jsonl", "--label", "answer", "--drop", "top", "--drop", "few", "-o", "rule.rankset")
    assert joined() == rs.calibrate(PROBS, WORDS, classes=NAMES)
    lines[0], lines[-1] = (json.dumps({**json.loads(line), "few": None}) for line in (lines[0], lines[-1]))
    (folder / "rows.jsonl").write_text("\n".join(lines))
    fine("predict", "rule.rankset", "rows.jsonl", "--keep", "few", "-o", "sets.csv")
    assert pd.read_csv("sets.csv")["few"][1] == '{"a": 1}'
    check_refusal(
        failure("calibrate", "rows.jsonl", "--label", "answer", "-o", "b.rankset"),
        FileError.not_numbers("rows.jsonl", "top", "string"),
    )


def test_dictionaries_of_many_values_are_read_once(folder):
    ids = [f"patient {number:06}" for number in range(30_000)]
    frame = pl.DataFrame({"a": [0.5] * 30_000, "b": [0.5] * 30_000, "id": ids}).with_columns(
        pl.col("id").cast(pl.Categorical)
    )
    frame.with_columns(text=pl.lit("x")).write_ipc("a.arrow")
    table = read_file.read_file("a.arrow").table
    assert table.column("id").to_pylist() == ids
    assert table.column("id").nbytes < 3_000_000
    whole = pa.table({"id": pa.array(ids).dictionary_encode()})
    with pa.OSFile("b.arrow", "wb") as file, pa.ipc.new_stream(file, whole.schema) as stream:
        stream.write_table(whole, max_chunksize=500)
    table = read_file.read_file("b.arrow").table
    assert table.column("id").to_pylist() == ids
    assert table.column("id").nbytes < 3_000_000


@pytest.mark.parametrize(
    "kind", [pl.List(pl.Categorical), pl.List(pl.Enum(["x", "y"])), pl.Struct({"k": pl.Categorical})], ids=str
)
def test_nested_categories_of_polars_are_read(folder, kind):
    values = [{"k": "x"}, {"k": None}] if isinstance(kind, pl.Struct) else [["x", "y"], []]
    pl.DataFrame({"a": [0.5, 0.5], "note": pl.Series(values, dtype=kind)}).write_ipc("a.arrow")
    assert read_file.read_file("a.arrow").table.column("note").to_pylist() == values


def test_times_beside_texts_of_polars_keep_their_nanoseconds(folder):
    when = pl.Series([1, 1_700_000_000_000_000_001]).cast(pl.Datetime("ns"))
    frame = pl.DataFrame({"a": [0.5, 0.5], "note": pl.DataFrame({"t": ["x", "y"], "at": when}).to_struct()})
    frame.write_ipc("a.arrow")
    column = read_file.read_file("a.arrow").table.column("note").combine_chunks()
    assert column.field("at").cast(pa.int64()).to_pylist() == [1, 1_700_000_000_000_000_001]


def test_an_arrow_stream_is_read(folder):
    table = pa.Table.from_pandas(FRAME, preserve_index=False)
    with pa.OSFile("a.arrow", "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table, max_chunksize=100)
    fine("calibrate", "a.arrow", "--label", "answer", "-o", "rule.rankset")
    assert joined() == rs.calibrate(PROBS, WORDS, classes=NAMES)
    data = (folder / "a.arrow").read_bytes()
    (folder / "a.arrow").write_bytes(data[: len(data) // 2])
    check_refusal(
        failure("calibrate", "a.arrow", "--label", "answer", "-o", "b.rankset"),
        FileError,
        file="a.arrow",
        expected="be readable",
    )


def test_empty_lines_at_the_end_of_a_text_are_no_lines(folder):
    np.save("p.npy", PROBS)
    np.save("y.npy", LABELS[:, np.newaxis])
    (folder / "names.txt").write_text("\n".join(NAMES) + "\n\n\n")
    (folder / "words.txt").write_text("\n".join(WORDS) + "\n\n")
    for labels in ("words.txt", "y.npy"):
        fine("calibrate", "p.npy", labels, "--classes", "names.txt", "-o", "rule.rankset", "--force")
        assert joined() == rs.calibrate(PROBS, WORDS, classes=NAMES)


@pytest.mark.parametrize("notes", [(1, "x"), (1.5, "n/a"), ("x", 1), (True, 7), ({"a": 1}, "x"), ([1], 2), (2**70, 1)])
@pytest.mark.parametrize("memory", [None, 1 << 20])
def test_columns_that_nobody_asked_for_may_be_of_several_types(folder, notes, memory):
    rows = FRAME.to_dict("records") * (40 if memory else 1)
    lines = [json.dumps({**row, "note": notes[place >= len(rows) - 5]}) for place, row in enumerate(rows)]
    (folder / "rows.jsonl").write_text("\n".join(lines) + "\n")
    rs.calibrate(PROBS, WORDS, classes=NAMES).save("rule.rankset")
    with memory_budget.use_limit(memory and 40 * memory):  # several parts
        fine("predict", "rule.rankset", "rows.jsonl", "--drop", "answer", "--keep", "note", "-o", "sets.csv")
    kept = pd.read_csv("sets.csv", dtype=str, keep_default_na=False)["note"]
    first, last = (note if isinstance(note, str) else json.dumps(note) for note in notes)
    assert kept.iloc[0] in (first, str(notes[0]))
    assert kept.iloc[-1] in (last, str(notes[1]))
    expected = joined().predict(np.tile(PROBS, (len(rows) // N, 1)), 0.1)
    assert pd.read_csv("sets.csv")["size"].tolist() == expected.sizes.tolist()


def test_scores_of_several_types_are_told_with_their_column(folder):
    rows = FRAME.drop(columns="answer").to_dict("records")
    rows[7]["dog"] = "n/a"
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    rs.calibrate(PROBS, WORDS, classes=NAMES).save("rule.rankset")
    check_refusal(
        failure("predict", "rule.rankset", "rows.jsonl", "-o", "sets.csv"),
        FileError.not_numbers("rows.jsonl", "dog", "string"),
    )


def test_quoted_cells_at_the_end_of_one_column_are_rows(folder):
    rs.calibrate(PROBS[:, 0], LABELS % 2, kind="binary").save("rule.rankset")
    (folder / "p.csv").write_text('p\n0.5\n0.25\n""\n""\n')
    check_refusal(
        failure("predict", "rule.rankset", "p.csv", "-o", "sets.csv"), FileError.missing_cell("p.csv", "p", 2)
    )


def test_lines_may_lack_fields(folder):
    rows = FRAME.to_dict("records")
    rows = [{**row, "note": place} if place % 3 == 0 else row for place, row in enumerate(rows)]
    rows = [dict(reversed(row.items())) if place > 150 else row for place, row in enumerate(rows)]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    fine("calibrate", "rows.jsonl", "--label", "answer", "--drop", "note", "-o", "rule.rankset")
    assert joined() == rs.calibrate(PROBS, WORDS, classes=NAMES)
    fine("predict", "rule.rankset", "rows.jsonl", "--keep", "note", "-o", "sets.jsonl")
    kept = [json.loads(line)["note"] for line in (folder / "sets.jsonl").read_text().splitlines()]
    assert kept == [row.get("note") for row in rows]
    del rows[7]["dog"]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    check_refusal(
        failure("predict", "rule.rankset", "rows.jsonl", "-o", "b.csv"), FileError.missing_cell("rows.jsonl", "dog", 7)
    )


def test_fields_of_other_orders_and_types_in_several_parts(folder):
    rows = FRAME.to_dict("records") * 40
    rows = [{**row, "note": place} if place < 6000 else {"note": "x", **row} for place, row in enumerate(rows)]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with memory_budget.use_limit(40 << 20):  # several parts
        table = read_file.read_file("rows.jsonl").table
    assert table.column("note").to_pylist() == [str(row["note"]) for row in rows]
    lines = (json.dumps({**row, "note": 2**60 + 1 if place < 6000 else 0.5}) for place, row in enumerate(rows))
    (folder / "numbers.jsonl").write_text("\n".join(lines))
    with memory_budget.use_limit(40 << 20):
        kept = read_file.read_file("numbers.jsonl").table.column("note").to_pylist()
    assert (kept[0], kept[-1]) == (str(2**60 + 1), "0.5")
    assert table.column("dog").to_pylist() == [row["dog"] for row in rows]


def test_lines_of_ever_new_fields_have_a_budget(folder):
    lines = (json.dumps({f"field {number}": 1, "a": 0.5, "b": 0.5}) + "\n" for number in range(20_000))
    (folder / "rows.jsonl").write_text("".join(lines))
    with (
        memory_budget.use_limit(100 << 20),
        refused(FileError, file="rows.jsonl", expected="take at most 104,857,600 bytes of memory"),
    ):
        read_file.read_file("rows.jsonl")


# Scores and labels in two files


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("answers", [LABELS, WORDS])
def test_a_label_column_beside_the_scores_is_no_class_if_labels_have_a_file(folder, suffix, answers):
    writer = f"to_{suffix}"
    getattr(FRAME.assign(answer=answers), writer)(f"s.{suffix}", index=False)
    getattr(FRAME[["answer"]], writer)(f"l.{suffix}", index=False)
    fine("calibrate", f"s.{suffix}", "--labels", f"l.{suffix}", "--label", "answer", "-o", "r.rankset")
    assert rs.load("r.rankset") == rs.calibrate(PROBS, WORDS, classes=NAMES)


def test_a_label_column_with_a_number_as_name_does_not_hide_a_class(folder):
    pd.DataFrame(PROBS).to_csv("s.csv", index=False)
    pd.DataFrame(LABELS).to_csv("l.csv", index=False)
    expected = rs.calibrate(PROBS, LABELS)
    for more in ((), ("--no-header",)):
        fine("calibrate", "s.csv", "--labels", "l.csv", "--label", "0", "-o", "r.rankset", "--force", *more)
        assert rs.load("r.rankset") == expected
        pd.DataFrame(PROBS).to_csv("s.csv", index=False, header=False)
        pd.DataFrame(LABELS).to_csv("l.csv", index=False, header=False)


def test_an_error_in_labels_names_the_file_of_labels(folder):
    for number, part in enumerate(HALVES):
        for kind in ("scores", "labels"):
            (folder / kind).mkdir(exist_ok=True)
        np.save(f"scores/{number}.npy", PROBS[part])
        np.save(f"labels/{number}.npy", np.where(np.arange(len(LABELS[part])) == 3, 7 * number, LABELS[part]))
    error = LabelError.out_of_range("labels", 3, 7, K)
    for workers in (1, 2):
        with refused(error, file="labels/1.npy"):
            shards.calibrate("scores", "labels", workers=workers)
    check_refusal(
        failure("calibrate", "scores/1.npy", "--labels", "labels/1.npy", "-o", "r.rankset"), error, file="labels/1.npy"
    )
    frame = FRAME.assign(site=["x", None] * (N // 2))
    frame.drop(columns="answer").to_parquet("s.parquet")
    frame[["answer"]].to_parquet("l.parquet")
    arguments = ("s.parquet", "--labels", "l.parquet", "--label", "answer", "--group", "site", "-o", "r.rankset")
    check_refusal(failure("calibrate", *arguments), LabelError.missing("groups", 1), file="s.parquet")
