"""csv files as spreadsheets in several languages write them: separators, decimal commas, encodings."""

import codecs
import gzip
import json

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import rankset as rs
from rankset.cli.commands import rankset
from rankset.engines import shards
from rankset.errors import COMMAND_LINE, FileError, KindError, LabelError
from rankset.io.dialect import Dialect, Recognised
from rankset.io.layout import Layout
from rankset.io.read_file import read_file
from refusals import check_refusal, failure, like, refused

RNG = np.random.default_rng(7)
N = 40
NAMES = ["Bär", "Käfer", "Straße"]
PROBS = RNG.dirichlet(np.ones(3), N).round(6)
PROBS[:, 2] = 1 - PROBS[:, 0] - PROBS[:, 1]
PROBS = PROBS.round(6)
WORDS = [NAMES[RNG.choice(3, p=row / row.sum())] for row in PROBS]
RULE = rs.calibrate(PROBS, np.array(WORDS), classes=NAMES)


def table(sep, decimal, names=NAMES, words=WORDS):
    """Return the text of a file with the scores, a column of labels, and one of weights."""
    lines = [sep.join([*names, "Antwort", "Gewicht"])]
    for place, (row, word) in enumerate(zip(PROBS.tolist(), words, strict=True)):
        numbers = [f"{value}".replace(".", decimal) for value in row]
        lines.append(sep.join([*numbers, word, f"{place / 4}".replace(".", decimal)]))
    return "".join(f"{line}\r\n" for line in lines)


GERMAN, FRENCH, ENGLISH = table(";", ","), table("\t", ","), table(",", ".")
EXPORTS = {
    "german.csv": (GERMAN.encode("cp1252"), "separator ';', decimal ',' and encoding cp1252"),
    "german8.csv": (GERMAN.encode("utf-8-sig"), "separator ';' and decimal ','"),
    "french.tsv": (FRENCH.encode("utf-16"), "decimal ',' and encoding utf-16"),
    "french.txt": (FRENCH.encode("utf-16"), "separator a tab, decimal ',' and encoding utf-16"),
    "big.csv": (codecs.BOM_UTF16_BE + GERMAN.encode("utf-16-be"), "separator ';', decimal ',' and encoding utf-16"),
    "without_mark.csv": (GERMAN.encode("utf-16-le"), "separator ';', decimal ',' and encoding utf-16-le"),
    "wide.csv": (GERMAN.encode("utf-32"), "separator ';', decimal ',' and encoding utf-32"),
    "pipes.csv": (table("|", ",").encode(), "separator '|' and decimal ','"),
    "points.csv": (table(";", ".").encode(), "separator ';'"),
    "tabs.csv": (table("\t", ".").encode(), "separator a tab"),
    "commas.tsv": (table(",", ".").encode(), "separator ','"),
    "stated.csv": (b"sep=;\r\n" + GERMAN.encode("cp1252"), "separator ';', decimal ',' and encoding cp1252"),
    "packed.csv.gz": (gzip.compress(GERMAN.encode("cp1252")), "separator ';', decimal ',' and encoding cp1252"),
    "english.csv": (ENGLISH.encode("utf-8-sig"), None),
    "plain.csv": (ENGLISH.encode(), None),
    "ansi.csv": (ENGLISH.encode("cp1252"), "encoding cp1252"),
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments, stdin=None):
    done = CliRunner().invoke(rankset, [str(one) for one in arguments], input=stdin)
    assert done.exit_code == 0, done.output
    return done


COLUMNS = ("--label", "Antwort", "--drop", "Gewicht")


# What is recognised


@pytest.mark.parametrize("name", EXPORTS)
def test_every_export_is_read_and_said(here, name):
    data, recognised = EXPORTS[name]
    (here / name).write_bytes(data)
    done = run("calibrate", name, *COLUMNS, "-o", "r.rankset")
    assert rs.load("r.rankset") == RULE
    notes = done.stderr.splitlines()
    assert len(notes) == (recognised is not None)
    if recognised:
        assert notes[0].startswith(f"note: {name}: read with {recognised} (--")
    assert "note" not in done.stdout


def test_notes_stay_out_of_json(here):
    (here / "a.csv").write_bytes(EXPORTS["german.csv"][0])
    done = run("calibrate", "a.csv", *COLUMNS, "-o", "r.rankset", "--json")
    assert json.loads(done.stdout)["rows"] == N
    assert done.stderr.count("note:") == 1


def test_what_was_passed_is_not_said(here):
    (here / "a.csv").write_bytes(EXPORTS["german.csv"][0])
    options = ("--sep", ";", "--decimal", ",", "--encoding", "windows-1252")
    assert not run("calibrate", "a.csv", *COLUMNS, *options, "-o", "r.rankset").stderr
    assert rs.load("r.rankset") == RULE
    done = run("calibrate", "a.csv", *COLUMNS, "--sep", ";", "-o", "r.rankset", "--force")
    assert "read with decimal ',' and encoding cp1252 (--decimal, --encoding set them)" in done.stderr


def test_standard_input_is_recognised_too(here):
    data = EXPORTS["german.csv"][0]
    done = run("calibrate", "-", *COLUMNS, "-o", "r.rankset", stdin=data)
    assert rs.load("r.rankset") == RULE
    assert "note: -: read with separator ';'" in done.stderr


@pytest.mark.parametrize("sep", ["tab", "\\t", "\t"])
def test_a_tab_has_a_name(here, sep):
    (here / "a.csv").write_bytes(EXPORTS["tabs.csv"][0])
    run("calibrate", "a.csv", *COLUMNS, "--sep", sep, "-o", "r.rankset")
    assert rs.load("r.rankset") == RULE


def test_scores_and_labels_are_recognised_on_their_own(here):
    (here / "rows.csv").write_bytes(table(";", ",").encode("cp1252"))
    (here / "one.csv").write_bytes(("Antwort\r\n" + "".join(f"{word}\r\n" for word in WORDS)).encode("cp1252"))
    (here / "two.csv").write_bytes(("Fall,Antwort\n" + "".join(f"7,{word}\n" for word in WORDS)).encode())
    (here / "lines.txt").write_bytes("".join(f"{word}\r\n" for word in WORDS).encode("utf-16"))
    (here / "tabs.txt").write_bytes(("Fall\tAntwort\n" + "".join(f"7\t{word}\n" for word in WORDS)).encode("utf-16"))
    rest = ("--drop", "Antwort", "--drop", "Gewicht", "-o", "r.rankset", "--force")
    for labels in ("one.csv", "lines.txt"):
        run("calibrate", "rows.csv", labels, *rest)
        assert rs.load("r.rankset") == RULE
    for labels in ("two.csv", "tabs.txt"):
        run("calibrate", "rows.csv", "--labels", labels, "--label", "Antwort", "--decimal", ",", *rest)
        assert rs.load("r.rankset") == RULE


def test_labels_with_commas_in_a_file_of_one_column(here):
    """Excel quotes a cell only if it contains the separator, which is a semicolon there."""
    names = ["Bär, groß", "Käfer", "Straße"]
    words = [names[NAMES.index(word)] for word in WORDS]
    (here / "rows.csv").write_text(table(";", ",", names, words), encoding="utf-8", newline="")
    (here / "labels.csv").write_text("Antwort\n" + "\n".join(words), encoding="utf-8")
    rest = ("--drop", "Antwort", "--drop", "Gewicht", "-o", "r.rankset")
    done = run("calibrate", "rows.csv", "labels.csv", *rest)
    assert rs.load("r.rankset") == rs.calibrate(PROBS, np.array(words), classes=names)
    assert "note: labels.csv: read as one column (--sep sets it)" in done.stderr


def test_class_files_are_decoded(here):
    np.save("probs.npy", PROBS)
    np.save("labels.npy", [NAMES.index(word) for word in WORDS])
    for encoding in ("cp1252", "utf-16", "utf-8-sig"):
        (here / "names.txt").write_bytes("\r\n".join(NAMES).encode(encoding))
        done = run("calibrate", "probs.npy", "labels.npy", "--classes", "names.txt", "-o", "r.rankset", "--force")
        assert rs.load("r.rankset").classes.tolist() == NAMES
        assert ("note: names.txt" in done.stderr) == (encoding != "utf-8-sig")
    (here / "names.txt").write_bytes("\r\n".join(NAMES).encode("mac_roman"))
    options = ("--classes", "names.txt", "--encoding", "mac_roman")
    run("calibrate", "probs.npy", "labels.npy", *options, "-o", "r.rankset", "--force")
    assert rs.load("r.rankset").classes.tolist() == NAMES


def test_json_lines_are_decoded(here):
    lines = [dict(zip(NAMES, row, strict=True)) | {"w": word} for row, word in zip(PROBS.tolist(), WORDS, strict=True)]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\r\n" for line in lines)
    for encoding in ("utf-16", "cp1252", "utf-8-sig", "utf-8"):
        (here / "a.jsonl").write_bytes(text.encode(encoding))
        run("calibrate", "a.jsonl", "--label", "w", "-o", "r.rankset", "--force")
        assert rs.load("r.rankset") == RULE


def test_a_late_letter_decides_the_encoding_of_the_whole_file(here):
    rows = "0.5,0.5,Bar\n" * 100_000
    (here / "a.csv").write_bytes(f"a,b,c\n{rows}0.5,0.5,Bär\n".encode("cp1252"))
    columns = read_file("a.csv")
    assert columns.recognised == Recognised(encoding="cp1252")
    assert columns.column("c")[-1] == "Bär"


def test_several_columns_without_a_header(here):
    text = GERMAN.split("\r\n", 1)[1]
    (here / "a.csv").write_bytes(text.encode("cp1252"))
    (here / "names.txt").write_text("\n".join(NAMES), encoding="utf-8")
    options = ("--no-header", "--label", "3", "--drop", "4", "--classes", "names.txt")
    done = run("calibrate", "a.csv", *options, "-o", "r.rankset")
    assert rs.load("r.rankset") == RULE
    assert "separator ';', decimal ','" in done.stderr


def test_one_column_of_decimal_commas(here):
    (here / "p.csv").write_text("ja\n" + "".join(f"{p}\n".replace(".", ",") for p in PROBS[:, 0]))
    (here / "y.csv").write_text("y\n" + "".join(f"{int(word == 'Bär')}\n" for word in WORDS))
    done = run("calibrate", "p.csv", "y.csv", "--kind", "binary", "-o", "r.rankset")
    labels = [int(word == "Bär") for word in WORDS]
    assert rs.load("r.rankset") == rs.calibrate(PROBS[:, 0], labels, kind="binary")
    assert "note: p.csv: read as one column with decimal ',' (--decimal sets it)" in done.stderr


def test_quoted_decimal_commas_between_commas(here):
    """As Google Sheets writes them in a German document."""
    lines = ["a,b", *(f'"{p:.3f}","{1 - p:.3f}"'.replace(".", ",") for p in (0.25, 0.5))]
    (here / "a.csv").write_text("\n".join(lines))
    columns = read_file("a.csv")
    assert columns.scores()[0].tolist() == [[0.25, 0.75], [0.5, 0.5]]
    assert columns.recognised == Recognised(decimal=",")


@given(
    st.lists(st.tuples(*[st.floats(-50, 50).map(lambda x: round(x, 6))] * 3), min_size=1, max_size=8),
    st.sampled_from([(",", "."), (";", ","), (";", "."), ("\t", ","), ("\t", "."), ("|", ","), ("|", ".")]),
)
def test_the_same_numbers_in_every_dialect(tmp_path_factory, rows, dialect):
    """A file is read as it was written, or refused as ambiguous; never read as other numbers."""
    sep, decimal = dialect
    path = tmp_path_factory.mktemp("dialect") / "a.csv"
    lines = [sep.join(str(value).replace(".", decimal) for value in row) for row in rows]
    path.write_text("\n".join([sep.join("xyz"), *lines]))
    assert read_file(str(path), dialect=Dialect(sep, decimal)).scores()[0].tolist() == [list(row) for row in rows]
    try:
        found = read_file(str(path)).scores()[0]
    except FileError as error:
        assert "in one way" in error.expected or "one decimal mark" in error.expected  # noqa: PT017
    else:
        assert found.tolist() == [list(row) for row in rows]


# What stays as it was


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n0.5,0.5\n",
        "a,b\n3,5\n2,7\n",
        "a,b\n0,1\n1,0\n",
        "a;b,c\n0.5,0.5\n",
        'a,b\n"0.5","0.5"\n',
        "a,b\n1.234,5.678\n",
        "a,b|c\n1.5,2.5\n",
        "a\n0.5\n0.25\n",
        "a,b\n",
        "a,b\n\n0.5,0.5\n\n",
        "a,b\r0.5,0.5\r",
        "a,b\n1e-3,nan\n",
    ],
)
def test_usual_files_are_read_as_before_without_a_note(here, text):
    (here / "a.csv").write_text(text, newline="")
    columns = read_file("a.csv")
    assert not columns.recognised
    with_options = read_file("a.csv", dialect=Dialect(",", ".", "utf-8"))
    assert columns.names == with_options.names
    assert np.array_equal(columns.scores()[0], with_options.scores()[0], equal_nan=True)


# What is refused


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("a,b\n0,5\n0,25\n", FileError.halves("a.csv", "0,5")),
        ("a,b\n1,05\n2,50\n3,01\n", FileError.halves("a.csv", "1,05")),
        ("x|a;y\n1|b;3\n4|b;6\n", FileError.two_separators("a.csv", [";", "|"], [2, 2])),
        ("a;b\n1.234;5.678\n", FileError.thousands_or_decimals("a.csv", "1.234", 0, "a")),
        ("a\tb\n1,234\t5,678\n", FileError.thousands_or_decimals("a.csv", "1,234", 0, "a")),
        ("a;b\n0,5;0.5\n", FileError.two_marks("a.csv", "0.5", "0,5", 0, "b")),
        ("a;b\n0.5;0.5\n0,25;0.75\n", FileError.two_marks("a.csv", "0.5", "0,25", 0, "a")),
        ("a;b\n0,5;1.234,5\n", FileError.thousands("a.csv", "1.234,5", 0, "b")),
        ("a;b\n0,5;1 234,5\n", FileError.thousands("a.csv", "1 234,5", 0, "b")),
        ('a,b\n0.5,"1,234.5"\n', FileError.thousands("a.csv", "1,234.5", 0, "b")),
        ("a;b\n0,5;1.234.567\n", FileError.thousands("a.csv", "1.234.567", 0, "b")),
        ("a;b\n12,5 %;87,5 %\n", FileError.percent("a.csv", "12,5 %", 0, "a")),
        ("a,b\n12%,88%\n", FileError.percent("a.csv", "12%", 0, "a")),
        ("a;b\n0,5;x\n", FileError.not_numbers("a.csv", "b", "'x'", 0)),
        ("a;b\n0,5;\n", FileError.missing_cell("a.csv", "b", 0)),
        ("0,5;0,4\n0,25;0,75\n", FileError.no_header("a.csv", ["0,5", "0,4"])),
        ('"a;b"\n"0,5;0,5"\n', FileError.other_separator("a.csv", "a;b")),
        ("a;b\n0,5;0,5;0,5\n", like(FileError, expected="be readable")),
        ('a;b\n"0,5;0,5\n', like(FileError)),
    ],
)
def test_two_readings_and_other_numbers_are_refused(here, text, refusal):
    (here / "a.csv").write_text(text, newline="")
    with refused(refusal):
        read_file("a.csv").scores()


def test_both_readings_can_be_chosen(here):
    (here / "a.csv").write_text("a,b\n0,5\n0,25\n")
    assert read_file("a.csv", dialect=Dialect(sep=",")).scores()[0].tolist() == [[0, 5], [0, 25]]
    columns = read_file("a.csv", dialect=Dialect(decimal=","))
    assert columns.scores()[0].tolist() == [[0.5], [0.25]]
    assert columns.names == ["a,b"]
    assert read_file("a.csv", dialect=Dialect(decimal=".")).scores()[0].tolist() == [[0, 5], [0, 25]]
    (here / "b.csv").write_text("x|a;y\n1|b;3\n4|b;6\n")
    assert read_file("b.csv", dialect=Dialect(sep=";")).names == ["x|a", "y"]
    (here / "c.csv").write_text("a;b\n1.234;5.678\n")
    assert read_file("c.csv", dialect=Dialect(decimal=".")).scores()[0].tolist() == [[1.234, 5.678]]
    with refused(FileError.thousands("c.csv", "1.234.567", 1, "a")):
        (here / "c.csv").write_text("a;b\n1,5;2,5\n1.234.567;5\n")
        read_file("c.csv", dialect=Dialect(decimal=",")).scores()


def test_a_passed_mark_is_kept_to(here):
    (here / "a.csv").write_text("a;b\n0,5;0,5\n")
    with refused(FileError.other_mark("a.csv", "0,5", 0, "a", ".")):
        read_file("a.csv", dialect=Dialect(decimal=".")).scores()
    (here / "b.csv").write_text("a;b\n0.5;0.5\n")
    with refused(FileError.other_mark("b.csv", "0.5", 0, "a", ",")):
        read_file("b.csv", dialect=Dialect(decimal=",")).scores()


@pytest.mark.parametrize(
    ("options", "refusal"),
    [
        (("--sep", ""), like(KindError, what="the separator", received="''")),
        (("--sep", "ab"), like(KindError, what="the separator", received="'ab'")),
        (("--sep", '"'), like(KindError, what="the separator")),
        (("--sep", "\n"), like(KindError, what="the separator")),
        (("--sep", "."), like(KindError, what="the separator")),
        (("--sep", "ä"), like(KindError, what="the separator")),
        (("--decimal", ";"), like(KindError, what="the decimal mark", received="';'")),
        (("--sep", ",", "--decimal", ","), like(KindError, what="the separator", received="','")),
        (("--encoding", "nope"), like(KindError, what="the encoding", received="'nope'")),
        (("--encoding", ""), like(KindError, what="the encoding")),
        (("--encoding", "rot13"), like(KindError, what="the encoding")),
        (("--encoding", "base64"), like(KindError, what="the encoding")),
        (("--encoding", "unicode_escape"), like(KindError, what="the encoding")),
        (("--encoding", "ascii"), FileError.undecodable("a.csv", "ascii")),
        (("--encoding", "utf-8"), FileError.undecodable("a.csv", "utf-8")),
        (("--encoding", "utf-16"), FileError.undecodable("a.csv", "utf-16")),
        (("--sheet", "1"), FileError.no_workbook("a.csv")),
    ],
)
def test_options_that_cannot_be_are_refused(here, options, refusal):
    (here / "a.csv").write_bytes(EXPORTS["german.csv"][0])
    error = failure("calibrate", "a.csv", *COLUMNS, *options, "-o", "r.rankset")
    check_refusal(error, refusal)
    assert options[0] in error.render(COMMAND_LINE) or "--encoding" in error.render(COMMAND_LINE)


def test_separators_are_for_csv_files(here):
    np.save("a.npy", PROBS)
    np.save("y.npy", [0] * N)
    check_refusal(
        failure("calibrate", "a.npy", "y.npy", "--sep", ";", "-o", "r.rankset"), FileError.no_separators("a.npy")
    )


def test_two_encodings_are_refused_with_both(here):
    (here / "a.csv").write_bytes("Bär,b\n0.5,0.5\n".encode() + "0.5,Bär\n".encode("cp1252"))
    with refused(FileError.two_encodings("a.csv", "ä", "Ã¤")):
        read_file("a.csv")
    assert read_file("a.csv", dialect=Dialect(encoding="cp1252")).names == ["BÃ¤r", "b"]


@pytest.mark.parametrize(
    "data",
    [
        b"a;b\n0,5;\0\n",
        b"\xff\xfea",
        b"\xff\xfe",
        b"sep=;",
        b"sep=;\n",
        b'"',
        b";",
        b"\0" * 999,
        b"\xef\xbb\xbf",
        b"a;b\n" + b'"' * 99,
        b"a;b\n" + b"x" * 300_000,
        "a;b\n0,5;0,5".encode("utf-16")[:-1],
        b"\x81;b\n",
        b"a|b\n0,5|\r0,5\n",
        b"a;b\n;;;;\n",
    ],
)
def test_hostile_bytes_are_refused_or_have_no_rows(here, data):
    (here / "a.csv").write_bytes(data)
    try:
        assert len(read_file("a.csv").scores()[0]) == 0
    except FileError as error:
        assert error.where.file == "a.csv"  # noqa: PT017


def test_a_header_alone_has_no_rows(here):
    (here / "a.csv").write_bytes("Bär;Käfer\r\n".encode("cp1252"))
    matrix, names = read_file("a.csv").scores()
    assert matrix.shape == (0, 2)
    assert names == ["Bär", "Käfer"]


def test_recoded_text_counts_against_the_budget(here):
    rows = "0,5;0,25;0,25;Bär\r\n" * 60_000
    (here / "a.csv").write_bytes(f"x;y;z;Antwort\r\n{rows}".encode("utf-16"))
    options = ("calibrate", "a.csv", "--label", "Antwort", "-o", "r.rankset", "--max-memory")
    check_refusal(failure(*options, "2MB"), like(FileError, what="reading the file"))


# Every command, and many files


def test_every_command_reads_them(here):
    (here / "val.csv").write_bytes(EXPORTS["german.csv"][0])
    (here / "test.tsv").write_bytes(EXPORTS["french.tsv"][0])
    RULE.save("rule.rankset")
    plain = run("evaluate", "rule.rankset", "val.csv", *COLUMNS, "--alpha", "0.2").stdout
    assert run("evaluate", "rule.rankset", "val.csv", *COLUMNS, "--alpha", "20%").stdout == plain
    assert run("evaluate", "rule.rankset", "test.tsv", *COLUMNS, "--alpha", "0,2").stdout == plain
    done = run("compare", "val.csv", *COLUMNS, "--repeats", "2", "--alpha", "20 %")
    assert "note: val.csv: read with separator ';', decimal ','" in done.stderr
    run("calibrate", "val.csv", *COLUMNS, "--auto", "20%", "-o", "auto.rankset")
    run("inspect", "rule.rankset", "--alpha", "5%", "--alpha", "0,1")
    done = run("report", "val.csv", "test.tsv", *COLUMNS, "--alpha", "20%", "-o", "a.html")
    assert done.stderr.count("note:") == 2
    assert r"K\u00e4fer" in (here / "a.html").read_text(encoding="utf-8")


def test_many_files_are_told_once_per_kind(here):
    (here / "rows").mkdir()
    for number in range(4):
        (here / f"rows/{number}.csv").write_bytes(EXPORTS["german.csv"][0])
    (here / "rows/4.csv").write_bytes(EXPORTS["plain.csv"][0])
    done = run("calibrate", "rows", *COLUMNS, "-o", "r.rankset")
    assert rs.load("r.rankset") == rs.calibrate(np.tile(PROBS, (5, 1)), np.array(WORDS * 5), classes=NAMES)
    words = "read with separator ';', decimal ',' and encoding cp1252"
    assert [line.partition(" (")[0] for line in done.stderr.splitlines()] == [
        f"note: rows/0.csv: {words}",
        f"note: 3 more files of scores were {words}",
    ]
    shards.write(RULE, "rows", "sets", 0.1, suffix=".csv", layout=Layout(identity="Gewicht"), workers=1)
    assert (here / "sets/0.csv").read_text(encoding="utf-8").splitlines()[2].startswith('"0,25",')
    layout = Layout("Antwort", drop=("Gewicht",), sep=";", decimal=",", encoding="cp1252")
    assert shards.calibrate("rows/0.csv", layout=layout) == RULE


# What is written for Excel


def predicted(here, name, *options):
    (here / name).write_bytes(EXPORTS[name][0])
    RULE.save("rule.rankset")
    return run("predict", "rule.rankset", name, "--keep", "Gewicht", *options)


@pytest.mark.parametrize("name", ["german.csv", "french.tsv", "pipes.csv"])
def test_excel_gets_what_it_writes_itself(here, name):
    text = predicted(here, name, "--excel").stdout_bytes
    assert text.startswith(codecs.BOM_UTF8)
    lines = text.decode("utf-8-sig").split("\r\n")
    assert lines[0] == "Gewicht;size;top;labels"
    assert lines[2].startswith("0,25;")
    (here / "sets.csv").write_bytes(text)
    again = read_file("sets.csv")
    assert again.names == ["Gewicht", "size", "top", "labels"]


@pytest.mark.parametrize("name", ["english.csv", "points.csv", "ansi.csv", "commas.tsv"])
def test_excel_with_decimal_points_gets_commas(here, name):
    lines = predicted(here, name, "--excel").stdout_bytes.decode("utf-8-sig").split("\r\n")
    assert lines[0] == "Gewicht,size,top,labels"
    assert lines[2].startswith("0.25,")


def test_the_passed_mark_decides_for_other_formats(here):
    pa = pytest.importorskip("pyarrow")
    columns = dict(zip(NAMES, PROBS.T, strict=True)) | {"w": np.arange(N) / 4}
    pa.parquet = pytest.importorskip("pyarrow.parquet")
    pa.parquet.write_table(pa.table(columns), "a.parquet")
    RULE.save("rule.rankset")
    options = ("predict", "rule.rankset", "a.parquet", "--keep", "w", "--excel")
    lines = run(*options, "--decimal", ",").stdout_bytes.decode("utf-8-sig").split("\r\n")
    assert lines[0] == "w;size;top;labels"
    assert lines[2].startswith("0,25;")
    assert run(*options).stdout_bytes.decode("utf-8-sig").split("\r\n")[2].startswith("0.25,")


def test_formulas_are_escaped_and_numbers_are_not(here):
    (here / "a.csv").write_text("k;Bär;Käfer;Straße\n-1,5;0,5;0,25;0,25\n=1+1;0,5;0,25;0,25\n", encoding="utf-8")
    RULE.save("rule.rankset")
    lines = (
        run("predict", "rule.rankset", "a.csv", "--id", "k", "--excel").stdout_bytes.decode("utf-8-sig").split("\r\n")
    )
    assert [line.split(";")[0] for line in lines[1:3]] == ["-1,5", "'=1+1"]


def test_plain_output_is_the_same_for_every_dialect(here):
    plain = [line.split(",", 1) for line in predicted(here, "plain.csv").stdout.splitlines()]
    german = predicted(here, "german.csv").stdout.splitlines()
    assert german == [",".join([f'"{w}"'.replace(".", ",") if "." in w else w, rest]) for w, rest in plain]


def test_labels_that_are_wrong_are_told_with_their_letters(here):
    (here / "a.csv").write_bytes(GERMAN.replace("Bär;0", "Ärger;0").encode("cp1252"))
    error = failure("calibrate", "a.csv", *COLUMNS, "-o", "r.rankset")
    check_refusal(error, LabelError, file="a.csv")
    assert "Ärger" in error.render(COMMAND_LINE)


# Which marks the output has


def excel_lines(*arguments):
    return run("predict", "rule.rankset", *arguments).stdout_bytes.decode("utf-8-sig").split("\r\n")


def test_workbooks_can_become_csv_with_commas(here):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in ([*NAMES, "w"], *([*row, place / 4] for place, row in enumerate(PROBS.tolist()))):
        book.active.append(row)
    book.save("a.xlsx")
    RULE.save("rule.rankset")
    german = excel_lines("a.xlsx", "--keep", "w", "--excel", "--decimal", ",")
    assert german[0] == "w;size;top;labels"
    assert german[2].startswith("0,25;")
    assert excel_lines("a.xlsx", "--keep", "w", "--excel", "--decimal", ",", "--sep", ";") == german
    assert excel_lines("a.xlsx", "--keep", "w", "--excel-decimal", ",") == german
    assert excel_lines("a.xlsx", "--keep", "w", "--excel", "--sep", ";")[2].startswith("0.25;")
    assert excel_lines("a.xlsx", "--keep", "w", "--excel")[2].startswith("0.25,")
    check_refusal(failure("predict", "rule.rankset", "a.xlsx", "--sep", ";"), FileError.no_separators("a.xlsx"))


@pytest.mark.parametrize("name", ["english.csv", "german.csv"])
def test_the_mark_for_excel_can_differ_from_the_mark_that_was_read(here, name):
    def lines(mark):
        return predicted(here, name, "--excel-decimal", mark).stdout_bytes.decode("utf-8-sig").split("\r\n")

    assert lines(",")[0] == "Gewicht;size;top;labels"
    assert lines(",")[2].startswith("0,25;")
    assert lines(".")[0] == "Gewicht,size,top,labels"
    assert lines(".")[2].startswith("0.25,")


def test_whole_numbers_between_semicolons_stay_between_semicolons(here):
    (here / "a.csv").write_text("k;Bär;Käfer;Straße\n-1,5;1;0;0\n=1+1;0;1;0\n", encoding="utf-8")
    RULE.save("rule.rankset")
    assert [line.split(";")[0] for line in excel_lines("a.csv", "--id", "k", "--excel")[:3]] == ["k", "-1,5", "'=1+1"]
