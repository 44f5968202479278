"""The command line, as someone with files and no Python meets it."""

import gzip
import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from pyarrow import feather

import rankset as rs
from rankset import progress
from rankset.cli.commands import rankset
from rankset.errors import COMMAND_LINE, FileError, InputError, LevelError, RuleError
from rankset.evaluation.default_scores import DEFAULT_SCORES
from rankset.scores import NAMED_SCORES
from refusals import check_refusal, failure, like

NAMES = ["sadness", "joy", "love", "anger", "fear", "surprise"]
LOGITS, LABELS = rs.datasets.load("carer")
VAL, TEST = slice(0, 600), slice(600, 1000)
RULE = rs.calibrate(LOGITS[VAL], LABELS[VAL], kind="logits")
FRAME = pd.DataFrame(LOGITS.astype(float), columns=NAMES).assign(answer=np.array(NAMES)[LABELS], site=["a", "b"] * 1000)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, part in (("val", VAL), ("test", TEST)):
        np.save(f"{name}_logits.npy", LOGITS[part])
        np.save(f"{name}_labels.npy", LABELS[part])
        np.savez(f"{name}.npz", logits=LOGITS[part], labels=LABELS[part])
        FRAME[part].to_csv(f"{name}.csv", index=False)
        FRAME[part].to_csv(f"{name}.tsv", index=False, sep="\t")
        FRAME[part].to_csv(f"{name}.csv.gz", index=False)
        FRAME[part].to_parquet(f"{name}.parquet")
        FRAME[part].to_feather(f"{name}.feather")
        lines = "".join(json.dumps(row) + "\n" for row in FRAME[part].to_dict("records"))
        (tmp_path / f"{name}.jsonl").write_text(lines)
        (tmp_path / f"{name}.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    return tmp_path


def run(*arguments, stdin=None):
    return CliRunner().invoke(rankset, [str(argument) for argument in arguments], input=stdin)


def fine(*arguments, **options):
    done = run(*arguments, **options)
    assert done.exit_code == 0, done.output
    return done


def test_from_files_to_decisions(folder):
    fine("calibrate", "val_logits.npy", "val_labels.npy", "--kind", "logits", "-o", "rule.rankset")
    assert rs.load("rule.rankset") == RULE
    fine("predict", "rule.rankset", "test_logits.npy", "--alpha", "0.1", "-o", "sets.parquet")
    assert [list(row) for row in pq.read_table("sets.parquet")["labels"].to_pylist()] == RULE.predict(
        LOGITS[TEST], 0.1
    ).to_lists()
    told = fine(
        "evaluate", "rule.rankset", "test_logits.npy", "test_labels.npy", "--alpha", "0.05", "--alpha", "0.1"
    ).stdout
    for alpha in (0.05, 0.1):
        assert repr(rs.evaluate(RULE.predict(LOGITS[TEST], alpha), LABELS[TEST])) in told
    told = fine("compare", "val_logits.npy", "val_labels.npy", "--kind", "logits", "--repeats", "2").stdout
    assert repr(rs.compare(LOGITS[VAL], LABELS[VAL], 0.1, kind="logits", repeats=2)) in told
    told = fine("inspect", "rule.rankset").stdout
    assert "Rank()" in told
    assert "r* 2" in told
    fine("calibrate", "test_logits.npy", "test_labels.npy", "--kind", "logits", "-o", "other.rankset")
    fine("merge", "rule.rankset", "other.rankset", "-o", "both.rankset")
    assert rs.load("both.rankset") == RULE.update(LOGITS[TEST], LABELS[TEST])


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


def test_columns_are_matched_by_name(folder):
    fine("calibrate", "val.csv", "--kind", "logits", "--label", "answer", "--drop", "site", "-o", "rule.rankset")
    FRAME[TEST][NAMES[::-1]].to_csv("turned.csv", index=False)
    FRAME[TEST][NAMES].to_csv("plain.csv", index=False)
    assert fine("predict", "rule.rankset", "turned.csv").stdout == fine("predict", "rule.rankset", "plain.csv").stdout
    FRAME[TEST][NAMES[:5]].to_csv("less.csv", index=False)
    check_refusal(failure("predict", "rule.rankset", "less.csv"), FileError.no_class("less.csv", ["surprise"]))


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


def test_groups_scores_and_auto(folder):
    options = ("--label", "answer", "--kind", "logits")
    fine("calibrate", "val.csv", *options, "--group", "site", "--score", "thr", "-o", "g.rankset")
    assert rs.load("g.rankset").condition == rs.PerGroup()
    assert rs.load("g.rankset").score == rs.Thr()
    told = fine("evaluate", "g.rankset", "test.csv", "--label", "answer", "--group", "site").stdout
    assert "group 'a'" in told
    fine("calibrate", "val.csv", *options, "--drop", "site", "--auto", "0.1", "--per-label", "-o", "p.rankset")
    assert rs.load("p.rankset").condition == rs.PerLabel()
    assert "recalibrated on" in fine("inspect", "p.rankset").stdout


FILES = ("calibrate", "val_logits.npy", "val_labels.npy", "--kind", "logits")


@pytest.mark.parametrize("name", [*NAMED_SCORES, "LAC", "Raps"])
@pytest.mark.parametrize("option", ["--method", "--score"])
def test_methods_have_the_names_of_python(folder, option, name):
    fine(*FILES, option, name, "-o", "m.rankset")
    assert rs.load("m.rankset") == rs.calibrate(LOGITS[VAL], LABELS[VAL], method=name, kind="logits")


def test_method_auto_is_auto(folder):
    for alpha in ("0.1", "0.05"):
        expected = rs.auto(LOGITS[VAL], LABELS[VAL], alpha, kind="logits", seed=4)
        for way in (("--method", "auto", "--alpha", alpha), ("--score", "AUTO", "--alpha", alpha), ("--auto", alpha)):
            fine(*FILES, "--seed", "4", *way, "-o", "m.rankset", "--force")
            assert rs.load("m.rankset") == expected
    fine(*FILES, "--method", "auto", "-o", "m.rankset", "--force")
    assert rs.load("m.rankset") == rs.auto(LOGITS[VAL], LABELS[VAL], kind="logits")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ("--method", "aps", "--score", "thr"),
            "--method / --score takes one value, but was passed 2 times. Pass it once.",
        ),
        (("--method", "aps", "--method", "aps"), "Pass it once."),
        (("--method", "auto", "--alpha", "0.1", "--alpha", "0.2"), "--alpha takes one value, but was passed 2 times."),
        (("--method", "ap"), "'lac', 'share'"),
        (("--alpha", "0.1"), "--alpha works only with --method auto. A rule answers every alpha: use rankset predict"),
        (("--method", "aps", "--alpha", "0.1"), "--alpha works only with --method auto"),
        (("--method", "auto", "--auto", "0.1", "--alpha", "0.1"), "Remove --auto"),
        (("--method", "aps", "--auto", "0.1"), "Remove --auto"),
        (("--method", "auto", "--set", "penalty=1"), "Remove --set"),
    ],
)
def test_methods_that_contradict_each_other_are_refused(folder, options, words):
    done = run(*FILES, *options, "-o", "m.rankset")
    assert done.exit_code == 2
    assert words in " ".join(done.stderr.split())
    assert not Path("m.rankset").exists()


def test_auto_needs_one_file(folder):
    done = run("calibrate", "val.csv", "test.csv", "--label", "answer", "--method", "auto", "-o", "m.rankset")
    assert done.exit_code == 2
    assert "--method auto works with one file only" in done.stderr
    error = failure(*FILES, "--method", "auto", "--alpha", "5", "-o", "m.rankset")
    check_refusal(error, LevelError, what="alpha", received="'5'")


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


def test_nothing_is_overwritten_or_left_half_written(folder):
    RULE.save("rule.rankset")
    (folder / "sets.csv").write_text("precious")
    error = failure("predict", "rule.rankset", "test_logits.npy", "-o", "sets.csv")
    check_refusal(error, FileError.exists("sets.csv"))
    assert error.render(COMMAND_LINE).endswith(" Pass --force to replace it.")
    assert (folder / "sets.csv").read_text() == "precious"
    bad = LOGITS[TEST].copy()
    bad[399, 2] = np.nan
    np.save("bad.npy", bad)
    error = failure("predict", "rule.rankset", "bad.npy", "--force", "-o", "sets.csv")
    check_refusal(error, InputError.missing("probs", 399, 2), file="bad.npy")
    assert (folder / "sets.csv").read_text() == "precious"
    fine("predict", "rule.rankset", "test_logits.npy", "--force", "-o", "sets.csv")
    assert (folder / "sets.csv").read_text() != "precious"
    before = (folder / "rule.rankset").read_bytes()
    assert run("calibrate", "val_logits.npy", "val_labels.npy", "-o", "rule.rankset").exit_code == 1
    assert (folder / "rule.rankset").read_bytes() == before
    assert not [path for path in folder.iterdir() if path.name.endswith(".draft")]


def test_json_for_machines(folder):
    RULE.save("rule.rankset")
    told = json.loads(fine("inspect", "rule.rankset", "--json").stdout)
    assert told["rows"] == 600
    assert told["levels"]["0.1"]["r_star"] == RULE.rank_profile(0.1).r_star
    told = json.loads(fine("evaluate", "rule.rankset", "test_logits.npy", "test_labels.npy", "--json").stdout)
    assert told["0.1"]["coverage"] == rs.evaluate(RULE.predict(LOGITS[TEST], 0.1), LABELS[TEST]).coverage
    told = json.loads(
        fine("compare", "val.npz", "val_labels.npy", "--key", "logits", "--kind", "logits", "--json").stdout
    )
    assert told["0.1"]["Thr()"]["size"]["mean"] > 0


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


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        (["calibrate", "val_logits.npy", "-o", "x.rankset"], FileError.no_labels()),
        (
            ["calibrate", "val_logits.npy", "val_labels.npy", "--label", "answer", "-o", "x.rankset"],
            FileError.no_label_column("val_logits.npy", "answer", []),
        ),
        (
            ["calibrate", "val.csv", "--label", "nope", "-o", "x.rankset"],
            like(FileError, file="val.csv", expected="include the label column 'nope'"),
        ),
        (
            ["calibrate", "val.csv", "--label", "answer", "-o", "x.rankset"],
            like(FileError, file="val.csv", what="scores", column="site"),
        ),
        (
            ["calibrate", "val_logits.npy", "val_labels.npy", "-o", "x.rankset"],
            like(InputError, file="val_logits.npy", what="probs", row=0),
        ),
        (
            ["calibrate", "val_logits.npy", "test_labels.npy", "--kind", "logits", "-o", "x.rankset"],
            like(InputError, what="labels", expected="have one entry for each of the 600 rows", received="400 entries"),
        ),
        (["predict", "none.rankset", "val_logits.npy"], FileError.missing("none.rankset")),
        (["predict", "val.csv", "val_logits.npy"], FileError.no_rule("val.csv")),
        (["predict", "rule.rankset", "none.npy"], FileError.missing("none.npy")),
        (
            ["predict", "rule.rankset", "val_logits.npy", "--alpha", "10"],
            LevelError.out_of_range("10", "Did you mean 0.1?"),
        ),
        (
            ["predict", "rule.rankset", "val_logits.npy", "-o", "x.doc"],
            like(FileError, file="x.doc", what="the name of the file"),
        ),
        (
            ["predict", "rule.rankset", "val_logits.npy", "-o", "no/where/x.csv"],
            like(FileError, file="no/where/x.csv", expected="be writable"),
        ),
        (["merge", "rule.rankset", "rule.rankset", "-o", "x.rankset"], RuleError.itself()),
    ],
)
def test_mistakes_are_told_in_a_line(folder, arguments, refusal):
    RULE.save("rule.rankset")
    check_refusal(failure(*arguments), refusal)
    done = run(*arguments)
    assert done.exit_code == (2 if "--alpha" in arguments else 1)
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""


@pytest.mark.parametrize(
    "command", ["calibrate", "predict", "evaluate", "compare", "inspect", "merge", "report", "demo", "paper"]
)
def test_every_help_has_an_example(command):
    told = fine(command, "--help").stdout
    assert f"rankset {command}" in told.split("Usage", 1)[1].split("\n", 1)[1]


def test_the_nearest_command_is_suggested():
    assert "Did you mean 'calibrate'?" in run("calibrat").stderr
    assert "--alpha" in run("predict", "a", "b", "--alpah", "0.1").stderr


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


def test_numbers_of_columns_stand_for_names(folder):
    (folder / "names.txt").write_text("\n".join(NAMES))
    options = ("--classes", "names.txt", "--kind", "logits")
    fine("calibrate", "val_logits.npy", "val_labels.npy", *options, "-o", "rule.rankset")
    expected = rs.calibrate(LOGITS[VAL], np.array(NAMES)[LABELS[VAL]], classes=NAMES, kind="logits")
    assert rs.load("rule.rankset") == expected
    fine("evaluate", "rule.rankset", "test_logits.npy", "test_labels.npy")


def test_what_inspect_says_of_groups(folder):
    fine("calibrate", "val_logits.npy", "val_labels.npy", "--kind", "logits", "--per-label", "-o", "rule.rankset")
    told = fine("inspect", "rule.rankset", "--alpha", "0.01").stdout
    counts = np.bincount(LABELS[VAL])
    assert f"6 groups of {counts.min()} to {counts.max()} rows" in told
    assert f"thresholds {(counts >= 99).sum()}, groups too small {(counts < 99).sum()}" in told

    told = fine("inspect", "rule.rankset").stdout
    rule = rs.load("rule.rankset")
    assert "Every label has its own condition:" in told
    assert rule.describe(0.1, label=3) in told
    assert "condition      per label\n" in told
    facts = json.loads(fine("inspect", "rule.rankset", "--json").stdout)
    assert facts["levels"]["0.1"]["rules"]["label 3"] in told


def test_inspect_says_how_many_thresholds_it_does_not_show(folder):
    rng = np.random.default_rng(0)
    groups = np.array([f"g{place:02}" for place in range(12)] * 10)
    probs, labels = rng.dirichlet(np.ones(3), 120), rng.integers(0, 3, 120)
    rs.calibrate(probs, labels, groups=groups, condition=rs.PerGroup()).save("rule.rankset")
    told = fine("inspect", "rule.rankset", "--alpha", "0.1").stdout
    assert "group 'g09'" in told
    assert "group 'g10'" not in told
    assert " and 2 more\n" in told
    assert json.loads(fine("inspect", "rule.rankset", "--json").stdout)["levels"]["0.1"]["more_rules"] == 2
    rs.calibrate(probs, labels, groups=groups, condition=rs.PerLabelAndGroup()).save("rule.rankset")
    assert "condition      per label and group\n" in fine("inspect", "rule.rankset").stdout
    facts = json.loads(fine("inspect", "rule.rankset", "--json").stdout)
    assert facts["condition"] == "PerLabelAndGroup()"
    assert facts["condition_in_words"] == "per label and group"


def test_inspect_says_in_words_what_sets_contain(folder):
    RULE.save("rule.rankset")
    told = fine("inspect", "rule.rankset", "--alpha", "0.1", "--alpha", "0.0001").stdout
    assert f"  alpha 0.1    {RULE.describe(0.1)}\n" in told
    assert "alpha 0.0001 keeps every label: alpha=0.0001 needs at least 9999 calibration rows, got 600" in told
    facts = json.loads(fine("inspect", "rule.rankset", "--json").stdout)
    assert facts["levels"]["0.2"]["rule"] == RULE.describe(0.2)


def test_inspect_says_how_sure_the_range_of_coverage_is_and_whether_ties_raise_it(folder):
    RULE.save("rule.rankset")
    rs.calibrate(LOGITS[VAL], LABELS[VAL], kind="logits", method=rs.TopK()).save("ties.rankset")
    band, ties = RULE.coverage_band(0.1), rs.load("ties.rankset").coverage_band(0.1)
    assert not band.tied
    assert ties.tied
    told = fine("inspect", "rule.rankset", "--alpha", "0.1").stdout
    assert f"coverage {band.low:.4g} to {band.high:.4g} in 90% of calibrations" in told
    told = fine("inspect", "ties.rankset", "--alpha", "0.1").stdout
    assert f"coverage {ties.low:.4g} to {ties.high:.4g} or more in 90% of calibrations" in told
    for path, tied in (("rule.rankset", False), ("ties.rankset", True)):
        assert json.loads(fine("inspect", path, "--json").stdout)["levels"]["0.1"]["tied"] is tied


def test_inspect_and_merge_tell_a_rule_of_a_stratified_split(folder):
    RULE._without_guarantee().save("rule.rankset")
    rs.calibrate(LOGITS[TEST], LABELS[TEST], kind="logits").save("other.rankset")
    told = fine("inspect", "rule.rankset").stdout
    assert "coverage       not proven: the calibration rows are from a stratified split" in told
    assert "of calibrations" not in told
    facts = json.loads(fine("inspect", "rule.rankset", "--json").stdout)
    assert facts["guaranteed"] is False
    assert "coverage" not in facts["levels"]["0.1"]
    fine("merge", "other.rankset", "rule.rankset", "-o", "both.rankset")
    assert not rs.load("both.rankset").guaranteed
    assert "guaranteed" not in json.loads(fine("inspect", "other.rankset", "--json").stdout)


def test_evaluate_names_the_flag_that_fills_empty_sets(folder):
    rs.calibrate(LOGITS[VAL], LABELS[VAL], kind="logits", method=rs.Aps()).save("rule.rankset")
    told = fine("evaluate", "rule.rankset", "test_logits.npy", "test_labels.npy", "--alpha", "0.5").stdout
    assert "rankset predict --empty top gives none" in told
    assert "empty='top'" not in told


def test_an_alpha_above_one_half_is_warned_of_once(folder):
    RULE.save("rule.rankset")
    scores, labels = ("test_logits.npy", "test_labels.npy"), ("val_logits.npy", "val_labels.npy", "--kind", "logits")
    for command in (
        ("predict", "rule.rankset", scores[0], "--alpha", "0.95"),
        ("evaluate", "rule.rankset", *scores, "--alpha", "0.1", "--alpha", "0.95"),
        ("inspect", "rule.rankset", "--alpha", "0.95"),
        ("report", "rule.rankset", *scores, "--alpha", "0.95", "-o", "page.html"),
        ("compare", *labels, "--alpha", "0.95", "--repeats", "2"),
        ("calibrate", *labels, "--auto", "0.95", "-o", "auto.rankset"),
    ):
        told = fine(*command).stderr
        assert told.count("Did you mean --alpha 0.05?") == 1, command
    for command in (("inspect", "rule.rankset"), ("report", "rule.rankset", *scores, "-o", "other.html")):
        assert "Did you mean" not in fine(*command).stderr


@pytest.mark.parametrize(
    ("option", "value", "meant"),
    [
        ("--confidence", "0.95", "--alpha 0.05"),
        ("--confidence-level", "90", "--alpha 0.1"),
        ("--coverage", "0.9", "--alpha 0.1"),
        ("--significance", "0.05", "--alpha 0.05"),
        ("--level", "x", "--alpha 0.05 for 95% coverage"),
    ],
)
@pytest.mark.parametrize("command", ["predict", "evaluate", "compare", "inspect", "report"])
def test_options_of_other_libraries_are_explained(folder, command, option, value, meant):
    if option == "--confidence" and command in ("predict", "evaluate", "inspect"):
        pytest.skip("it is an option there: see test_confidence.py")
    done = run(command, "rule.rankset", "test_logits.npy", option, value)
    assert done.exit_code == 2
    assert f"No such option: {option}. Did you mean {meant}? alpha is the allowed error rate." in done.stderr
    assert option not in fine(command, "--help").stdout


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


def test_groups_of_a_rule_without_groups_are_evaluated(folder):
    fine("calibrate", "val.csv", "--kind", "logits", "--label", "answer", "--drop", "site", "-o", "rule.rankset")
    assert "group 'a'" in fine("evaluate", "rule.rankset", "test.csv", "--label", "answer", "--group", "site").stdout


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


def test_parameters_of_scores(folder):
    files = ("val_logits.npy", "val_labels.npy", "--kind", "logits")
    fine("calibrate", *files, "--score", "raps", "-o", "a.rankset")
    assert rs.load("a.rankset").score == DEFAULT_SCORES[3]
    fine("calibrate", *files, "--score", "raps", "--set", "penalty=0.5", "--set", "free_ranks=1", "-o", "b.rankset")
    assert rs.load("b.rankset").score == rs.Raps(penalty=0.5, free_ranks=1)
    assert (
        "has no parameter 'weight'"
        in run("calibrate", *files, "--score", "raps", "--set", "weight=1", "-o", "c.rankset").stderr
    )
    assert run("calibrate", *files, "--score", "raps", "--set", "penalty=x", "-o", "c.rankset").exit_code == 1
    assert run("calibrate", *files, "--score", "raps", "--auto", "0.1", "-o", "c.rankset").exit_code == 2


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


def test_warnings_are_one_line(folder):
    fine("calibrate", "val_logits.npy", "val_labels.npy", "--kind", "logits", "-o", "rule.rankset")
    done = fine("predict", "rule.rankset", "test_logits.npy", "--alpha", "0.001")
    wanted = "Warning: at least 999 calibration rows are needed for --alpha 0.001, got 600. "
    assert done.stderr == f"{wanted}All sets contain every label.\n"
    (folder / "copy.rankset").write_bytes((folder / "rule.rankset").read_bytes())
    done = fine("merge", "rule.rankset", "copy.rankset", "-o", "both.rankset")
    assert done.stderr.startswith("Warning: rule.rankset and copy.rankset contain the same calibration")


def test_names_of_outputs_tell_what_they_are(folder):
    files = ("val_logits.npy", "val_labels.npy", "--kind", "logits")
    check_refusal(failure("calibrate", *files, "-o", "rule.txt"), FileError.suffix("rule.txt", ".rankset"))
    rs.calibrate(LOGITS[VAL], np.array(list("ab|cde"))[LABELS[VAL]], classes=list("ab|cde"), kind="logits").save(
        "p.rankset"
    )
    check_refusal(
        failure("predict", "p.rankset", "test_logits.npy"), FileError.separator_in_name("standard output", "|")
    )


def test_completion():
    words = {"_RANKSET_COMPLETE": "bash_complete", "COMP_WORDS": "rankset cal", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "rankset"], env={**os.environ, **words}, capture_output=True, text=True, check=False
    )
    assert "calibrate" in done.stdout


def test_a_bar_only_on_a_terminal_and_after_a_while(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for file, patience, seen in ((Terminal(), 0, True), (Terminal(), 60, False), (io.StringIO(), 0, False)):
        monkeypatch.setattr(sys, "stderr", file)
        monkeypatch.setattr("rankset.progress.DELAY", patience)
        with progress.track("calibrating"):
            rs.calibrate(LOGITS[VAL], LABELS[VAL], kind="logits")
        assert ("calibrating" in file.getvalue()) == seen


def test_a_rule_needs_nothing_heavy(tmp_path):
    RULE.save(tmp_path / "rule.rankset")
    heavy = ("sklearn", "pandas", "torch", "scipy", "matplotlib", "pyarrow", "click", "numba")
    code = "import sys, rankset; rankset.load(sys.argv[1]); print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "rule.rankset")], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "rankset.rules.rule" in loaded
    assert not set(heavy) & set(loaded)


def test_names_cannot_give_orders_to_a_terminal(folder):
    names = ["a\x1b]0;owned\x07", "b\x9b31m", "\u202eturned", "two\nlines", "\ud800", "x" * 10_000]
    rs.calibrate(LOGITS[VAL], np.array(names)[LABELS[VAL]], classes=names, kind="logits").save("rule.rankset")
    told = fine("inspect", "rule.rankset").stdout
    assert all(letter.isprintable() or letter == "\n" for letter in told)
    assert len(told) < 2000
    (folder / "bad.csv").write_bytes(b"a,b\n\x1b]0;owned\x07,1,2\n")
    said = run("predict", "rule.rankset", "bad.csv").stderr
    assert "\x1b" not in said
    assert len(said.splitlines()) == 1


def test_outputs_replace_files_only(folder):
    files = ("val_logits.npy", "val_labels.npy", "--kind", "logits")
    os.mkfifo("pipe.rankset")
    check_refusal(
        failure("calibrate", *files, "-o", "pipe.rankset", "--force"),
        FileError.unwritable("pipe.rankset", "it is not a regular file"),
    )
    RULE.save("rule.rankset")
    os.mkfifo("pipe.csv")
    check_refusal(
        failure("predict", "rule.rankset", "test_logits.npy", "-o", "pipe.csv", "--force"),
        FileError.unwritable("pipe.csv", "it is not a regular file"),
    )
    check_refusal(
        failure("merge", "rule.rankset", "-o", "rule.rankset", "--force"), FileError.own_input("rule.rankset")
    )
    (folder / "sets.csv").touch(mode=0o600)
    (folder / "link.csv").symlink_to("sets.csv")
    fine("predict", "rule.rankset", "test_logits.npy", "-o", "link.csv", "--force")
    assert (folder / "link.csv").is_symlink()
    assert (folder / "sets.csv").stat().st_mode & 0o777 == 0o600
    assert (folder / "sets.csv").read_text().startswith("size,")


def test_told_classes_and_headings_must_agree(folder):
    (folder / "turned.txt").write_text("\n".join(NAMES[::-1]))
    options = ("--label", "answer", "--drop", "site", "--kind", "logits")
    fine("calibrate", "val.csv", *options, "--classes", "turned.txt", "-o", "turned.rankset")
    fine("calibrate", "val.csv", *options, "-o", "rule.rankset")
    assert rs.load("turned.rankset").classes.tolist() == NAMES[::-1]
    told = [fine("predict", f"{name}.rankset", "test.csv").stdout for name in ("turned", "rule")]
    assert told[0] == told[1]
    (folder / "other.txt").write_text("\n".join("abcdef"))
    check_refusal(
        failure("calibrate", "val.csv", *options, "--classes", "other.txt", "-o", "x.rankset"),
        FileError.other_names(["a", "b", "c", "d", "e", "f"], ["sadness", "joy", "love", "anger", "fear", "surprise"]),
    )


def test_a_first_part_of_empty_sets_can_be_written(folder, monkeypatch):
    monkeypatch.setattr("rankset.cli.parts.PART_BYTES", 8 * 2 * 50)
    sure = np.tile([[1.0, 0.0]], (50, 1))
    rs.calibrate(sure, ["yes"] * 50, score=rs.Thr(), classes=["yes", "no"]).save("rule.rankset")
    np.save("new.npy", np.vstack([np.full((50, 2), 0.5), sure]))
    fine("predict", "rule.rankset", "new.npy", "-o", "sets.parquet")
    assert pq.read_table("sets.parquet")["size"].to_pylist() == [0] * 50 + [1] * 50


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        (("--drop", "nope"), like(FileError, file="val.csv", expected="include 'nope'")),
        (("--key", "x"), FileError.no_arrays("val.csv", "x")),
        (("--group", "answer"), FileError.one_column_twice("answer")),
    ],
)
def test_options_are_never_ignored(folder, arguments, refusal):
    options = ("calibrate", "val.csv", "--label", "answer", "--kind", "logits", "-o", "x.rankset")
    check_refusal(failure(*options, *arguments), refusal)


def test_a_chosen_score_draws_nothing(folder):
    options = ("calibrate", "val.csv", "--label", "answer", "--kind", "logits", "-o", "x.rankset")
    fine(*options, "--auto", "0.1", "--id", "site")
    with_ids = rs.load("x.rankset")
    fine(*options, "--auto", "0.1", "--drop", "site", "--force")
    assert with_ids == rs.load("x.rankset")


def test_what_was_not_foreseen_is_one_line_too(folder, monkeypatch):
    RULE.save("rule.rankset")

    def broken(*_arguments, **_options):
        raise ZeroDivisionError("never")

    monkeypatch.setattr("rankset.cli.predict.stream_sets", broken)
    done = run("predict", "rule.rankset", "test_logits.npy")
    assert (
        done.stderr
        == "Error: unexpected ZeroDivisionError: never. Set RANKSET_TRACEBACK=1 to see where, and please report it.\n"
    )
    assert fine("inspect", "rule.rankset", "--alpha", "1e-400")
    assert (
        "Warning: at least 10^400 calibration rows"
        in fine("evaluate", "rule.rankset", "test_logits.npy", "test_labels.npy", "--alpha", "1e-400").stderr
    )
