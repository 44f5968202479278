"""Workbooks (.xlsx): sheets, cells of every type, formulas, hostile files, and sets written as .xlsx."""

import datetime as dt
import gzip
import re
import sys
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner

import rankset as rs
from rankset.cli.commands import rankset
from rankset.engines import shards
from rankset.engines.shard_paths import expand_paths
from rankset.errors import COMMAND_LINE, FileError, LabelError, PackageError
from rankset.io.layout import Layout
from rankset.io.read_file import read_file
from rankset.io.write_sets import write_sets
from rankset.io.writers import xlsx as writer
from rankset.io.writers.csv import excel_style
from refusals import check_refusal, failure, like, refused

openpyxl = pytest.importorskip("openpyxl")

RNG = np.random.default_rng(8)
N = 30
NAMES = ["Bär", "Käfer", "Öl"]
PROBS = RNG.dirichlet(np.ones(3), N).round(12)  # openpyxl writes 16 digits
WORDS = [NAMES[RNG.choice(3, p=row / row.sum())] for row in PROBS]
RULE = rs.calibrate(PROBS, np.array(WORDS), classes=NAMES)
ROWS = [[*NAMES, "Antwort"], *([*row, word] for row, word in zip(PROBS.tolist(), WORDS, strict=True))]
SHEET = "xl/worksheets/sheet1.xml"
HEAD = '<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
END = "</sheetData></worksheet>"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def save(path, **sheets):
    """Write a workbook with the rows of every sheet."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def patch(path, **parts):
    """Replace parts of a workbook; ``sheet`` is its first sheet."""
    changes = {SHEET if name == "sheet" else name: text for name, text in parts.items()}
    with zipfile.ZipFile(path) as archive:
        old = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in (old | changes).items():
            archive.writestr(name, data)
    return path


def run(*arguments, stdin=None):
    done = CliRunner().invoke(rankset, [str(one) for one in arguments], input=stdin)
    assert done.exit_code == 0, done.output
    return done


def calibrated(*arguments, **more):
    run("calibrate", *arguments, "-o", "r.rankset", "--force", **more)
    return rs.load("r.rankset")


# Reading


def test_a_workbook_is_read_like_a_csv_file(here):
    save("a.xlsx", Tabelle1=ROWS)
    done = run("calibrate", "a.xlsx", "--label", "Antwort", "-o", "r.rankset")
    assert rs.load("r.rankset") == RULE
    assert not done.stderr
    data = (here / "a.xlsx").read_bytes()
    assert calibrated("-", "--format", "xlsx", "--label", "Antwort", stdin=data) == RULE
    (here / "b.xlsx.gz").write_bytes(gzip.compress(data))
    assert calibrated("b.xlsx.gz", "--label", "Antwort") == RULE
    (here / "c.xlsm").write_bytes(data)
    assert calibrated("c.xlsm", "--label", "Antwort") == RULE


def test_scores_and_labels_in_two_workbooks(here):
    save("a.xlsx", s=[row[:3] for row in ROWS])
    save("y.xlsx", s=[["y"], *([NAMES.index(word)] for word in WORDS)])
    assert calibrated("a.xlsx", "y.xlsx") == RULE
    save("z.xlsx", s=[["y"], *([float(NAMES.index(word))] for word in WORDS)])  # 7.0 is 7
    assert calibrated("a.xlsx", "z.xlsx") == RULE
    assert read_file("z.xlsx").only_column().dtype.kind == "i"


def test_sheets_are_chosen_by_name_or_number(here):
    save("a.xlsx", Notizen=[["Hallo"]], Daten=ROWS, leer=[])
    with refused(FileError.which_sheet("a.xlsx", ["Notizen", "Daten"])):
        read_file("a.xlsx")
    for sheet in ("Daten", "2"):
        assert calibrated("a.xlsx", "--sheet", sheet, "--label", "Antwort") == RULE
    for sheet in ("daten", "0", "4", "-1", "²"):
        check_refusal(
            failure("calibrate", "a.xlsx", "--sheet", sheet, "--label", "Antwort", "-o", "x.rankset"),
            FileError.no_sheet("a.xlsx", sheet, ["Notizen", "Daten", "leer"]),
        )
    assert "--sheet" in FileError.which_sheet("a.xlsx", ["a", "b"]).render(COMMAND_LINE)
    save("b.xlsx", Tabelle1=[], Daten=ROWS)
    assert calibrated("b.xlsx", "--label", "Antwort") == RULE
    save("c.xlsx", **{"2": ROWS, "x": [["Hallo"]]})
    assert calibrated("c.xlsx", "--sheet", "2", "--label", "Antwort") == RULE  # names before numbers


def test_hidden_sheets_do_not_count(here):
    save("a.xlsx", Listen=[["x"]], Daten=ROWS)
    book = openpyxl.load_workbook("a.xlsx")
    book["Listen"].sheet_state = "hidden"
    book.save("a.xlsx")
    assert calibrated("a.xlsx", "--label", "Antwort") == RULE


def test_cells_of_every_type(here):
    day = dt.datetime(2024, 2, 29)  # noqa: DTZ001 - cells have no time zone
    save(
        "a.xlsx",
        s=[
            ["text", "whole", "number", "yes", "day", "moment", "time", 7, True],
            ["007", 7, 0.1, True, day, day.replace(hour=5), dt.time(1, 2), "x", "=x"[1:]],
            ["1,5", 7.0, 1e-9, False, day.date(), day, dt.time(0, 0), "", None],
        ],
    )
    columns = read_file("a.xlsx")
    assert columns.names == ["text", "whole", "number", "yes", "day", "moment", "time", "7", "TRUE"]
    found = {name: columns.column(name).tolist() for name in columns.names}
    assert found["text"] == ["007", "1,5"]
    assert found["whole"] == [7, 7]
    assert found["number"] == ["0.1", "1e-09"]
    assert found["yes"] == ["TRUE", "FALSE"]
    assert found["day"] == ["2024-02-29", "2024-02-29"]
    assert found["moment"] == ["2024-02-29T05:00:00", "2024-02-29"]
    assert found["7"] == ["x", ""]


def test_empty_rows_and_columns_around_the_cells_are_left_out(here):
    rows = [[], [None], *([None, None, *row, None, ""] for row in ROWS), [], [None, None, None]]
    save("a.xlsx", s=rows)
    assert read_file("a.xlsx").names == ROWS[0]
    assert calibrated("a.xlsx", "--label", "Antwort") == RULE
    save("b.xlsx", s=ROWS[1:])
    (here / "names.txt").write_text("\n".join(NAMES), encoding="utf-8")
    assert calibrated("b.xlsx", "--no-header", "--label", "3", "--classes", "names.txt") == RULE
    save("c.xlsx", s=[*ROWS[:4], [], *ROWS[4:]])
    check_refusal(
        failure("calibrate", "c.xlsx", "--label", "Antwort", "-o", "x.rankset"),
        FileError.missing_cell("c.xlsx", "Bär", 3),
    )
    for rows in ([], [["a", "b"]]):
        save("d.xlsx", s=rows)
        assert len(read_file("d.xlsx").table) == 0


def test_a_wrong_size_in_the_file_is_not_believed(here):
    save("a.xlsx", s=ROWS)
    with zipfile.ZipFile("a.xlsx") as archive:
        text = archive.read(SHEET).decode()
    patch("a.xlsx", sheet=re.sub(r'<dimension ref="[^"]*"', '<dimension ref="A1:B2"', text))
    assert calibrated("a.xlsx", "--label", "Antwort") == RULE


def test_formulas_without_values_are_refused_where_they_are_needed(here):
    save("a.xlsx", s=[["a", "b", "y", "note"], [0.5, "=1-A2", 0, "=A2"], [0.5, 0.5, 1, None]])
    options = ("calibrate", "a.xlsx", "--label", "y", "--drop", "note", "-o", "x.rankset")
    check_refusal(failure(*options), FileError.formula("a.xlsx", "b", 0))
    check_refusal(failure(*options[:3], "note", "--drop", "y", *options[-2:]), FileError.formula("a.xlsx", "note", 0))
    save("b.xlsx", s=[["a", "b", "y", "note"], [0.5, 0.5, 0, "=A2"], [0.5, 0.5, 1, None]])
    assert calibrated("b.xlsx", "--label", "y", "--drop", "note").n == 2
    with zipfile.ZipFile("a.xlsx") as archive:
        text = archive.read(SHEET).decode()
    patch("a.xlsx", sheet=re.sub(r"<f>1-A2</f><v ?/?>(</v>)?", "<f>1-A2</f><v>0.5</v>", text))
    assert calibrated(*options[1:-2]).n == 2


def test_what_a_cell_holds_is_told_with_its_row(here):
    save("a.xlsx", s=[["a", "b"], [0.5, 0.5], [0.5, "#N/A"]])
    with refused(FileError.error_value("a.xlsx", "#N/A", 1, "b")):
        read_file("a.xlsx").scores()
    save("a.xlsx", s=[["a", "b"], [0.5, "0,5"]])
    with refused(FileError.two_marks("a.xlsx", "0.5", "0,5", 0, "a")):
        read_file("a.xlsx").scores()
    save("a.xlsx", s=[["a", "a"], [0.5, 0.5]])
    with refused(FileError.same_names("a.xlsx", "a")):
        read_file("a.xlsx")


@pytest.mark.parametrize("suffix", [".xls", ".xlsb", ".ods", ".numbers"])
def test_other_workbooks_are_refused_with_what_to_do(here, suffix):
    (here / f"a{suffix}").write_bytes(b"")
    error = failure("calibrate", f"a{suffix}", "--label", "y", "-o", "x.rankset")
    check_refusal(error, FileError.other_spreadsheet(f"a{suffix}", suffix))
    assert ".xlsx or csv" in str(error)


def test_the_extra_is_named_where_it_is_missing(here, monkeypatch):
    save("a.xlsx", s=ROWS)
    RULE.save("rule.rankset")
    np.save("new.npy", PROBS)
    for module in [name for name in sys.modules if name.partition(".")[0] == "openpyxl"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with refused(PackageError.to_read("openpyxl", "a.xlsx")):
        read_file("a.xlsx")
    assert "rankset[excel]" in str(PackageError.to_read("openpyxl", "a.xlsx"))
    check_refusal(
        failure("predict", "rule.rankset", "new.npy", "-o", "sets.xlsx"), PackageError.to_write("openpyxl", "sets.xlsx")
    )
    assert not (here / "sets.xlsx").exists()


def test_folders_of_workbooks(here):
    (here / "rows").mkdir()
    save("rows/0.xlsx", s=ROWS[:11])
    save("rows/1.xlsx", s=[ROWS[0], *ROWS[11:]])
    (here / "rows/~$1.xlsx").write_bytes(b"lock")
    assert shards.calibrate("rows", label="Antwort", workers=1) == RULE
    (here / "rows/0.csv").write_text("a,b\n0.5,0.5\n")
    assert expand_paths("rows") == ["rows/0.csv"]  # workbooks beside other files are notes, as before


# Hostile files


def sheet_of(text):
    return {"sheet": f"{HEAD}{text}{END}"}


HOSTILE = {
    "entities": {
        "sheet": HEAD.replace("<work", '<!DOCTYPE x [<!ENTITY a "b">]><work') + "<row><c><v>&a;</v></c></row>" + END
    },
    "other encoding": {"sheet": HEAD.replace('"1.0"', '"1.0" encoding="cp037"') + END},
    "utf-16": {"sheet": (HEAD + END).encode("utf-16")},
    "broken": {"sheet": HEAD},
    "row number": sheet_of('<row r="1"><c r="A1"><v>1</v></c></row><row r="99999999999"><c><v>1</v></c></row>'),
    "no number": sheet_of("<row><c><v>a</v></c></row>"),
    "no text": sheet_of('<row><c t="s"><v>99</v></c></row>'),
    "column": sheet_of('<row r="1"><c r="ZZZZZZ1"><v>1</v></c></row>'),
}
LARGE = {
    "one row": sheet_of("<row>" + "<c><v>1</v></c>" * 200_000 + "</row>"),
    "empty rows": sheet_of("<row/>" * 200_000),
    "long text": sheet_of('<row><c t="inlineStr"><is><t>' + "a" * 10_000_000 + "</t></is></c></row>"),
    "wide rows": sheet_of('<row r="1"><c r="A1"><v>1</v></c></row>' + '<row><c r="XFD2"><v>1</v></c></row>' * 300),
    "texts": {"xl/sharedStrings.xml": "<sst>" + "<si/>" * 300_000 + "</sst>"},
    "styles": {"xl/styles.xml": "<a>" + "<b/>" * 50_000 + "</a>"},
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_damaged_and_hostile_workbooks_are_refused(here, kind):
    patch(save("a.xlsx", s=ROWS), **HOSTILE[kind])
    check_refusal(failure("calibrate", "a.xlsx", "--label", "y", "-o", "x.rankset"), FileError, file="a.xlsx")


@pytest.mark.parametrize("data", [b"", b"PK", b"\xd0\xcf\x11\xe0", b"a,b\n0.5,0.5\n"])
def test_what_is_no_workbook_is_refused(here, data):
    (here / "a.xlsx").write_bytes(data)
    with refused(like(FileError, expected="be readable"), file="a.xlsx"):
        read_file("a.xlsx")


@pytest.mark.parametrize("kind", LARGE)
def test_the_budget_holds_before_a_workbook_is_parsed(here, kind):
    patch(save("a.xlsx", s=ROWS), **LARGE[kind])
    options = ("calibrate", "a.xlsx", "--label", "y", "-o", "x.rankset", "--max-memory", "20MB")
    check_refusal(failure(*options), like(FileError, what="reading the file"))


# Writing


def cells(path):
    return [list(row) for row in openpyxl.load_workbook(path).active.iter_rows(values_only=True)]


def test_sets_are_written_as_a_workbook(here):
    save(
        "a.xlsx",
        s=[
            ["Fall", *NAMES, "Gewicht", "Tag"],
            *([f"{place:03}", *row, place / 4, dt.date(2024, 1, 1)] for place, row in enumerate(PROBS.tolist())),
        ],
    )
    RULE.save("rule.rankset")
    options = (
        "predict",
        "rule.rankset",
        "a.xlsx",
        "--id",
        "Fall",
        "--keep",
        "Gewicht",
        "--keep",
        "Tag",
        "--alpha",
        "20%",
    )
    done = run(*options, "-o", "sets.xlsx")
    assert "30 sets" in done.stderr
    sets = RULE.predict(PROBS, 0.2)
    assert cells("sets.xlsx") == [
        ["Fall", "Gewicht", "Tag", "size", "top", "labels"],
        *(
            [
                f"{place:03}",
                place / 4,
                "2024-01-01",
                len(labels),
                labels[0] if labels else None,
                "|".join(labels) or None,
            ]
            for place, labels in enumerate(list(map(list, sets)))
        ),
    ]
    run(*options, "--excel", "-o", "sets.xlsx", "--force")  # is for spreadsheets already
    check_refusal(failure(*options, "-o", "sets.xlsx"), FileError.exists("sets.xlsx"))


def test_a_decimal_comma_becomes_a_number_and_an_id_does_not(here):
    header = ["Fall", "Tag", "Version", "Fest", "Gewicht", *NAMES]
    lines = [";".join(header), "007;12.05;1,50;1,50;0,25;0,5;0,25;0,25", "008;13.05;1,5;1,25;1;0,5;0,25;0,25"]
    (here / "a.csv").write_text("\n".join(lines), encoding="utf-8")
    RULE.save("rule.rankset")
    keep = [word for name in header[1:5] for word in ("--keep", name)]
    run("predict", "rule.rankset", "a.csv", "--id", "Fall", *keep, "-o", "s.xlsx")
    wanted = [["007", "12.05", "1,50", 1.5, 0.25], ["008", "13.05", "1,5", 1.25, 1]]
    assert [row[:5] for row in cells("s.xlsx")[1:]] == wanted
    assert openpyxl.load_workbook("s.xlsx").active["D2"].number_format == "0.00"
    (target,) = shards.write(RULE, "a.csv", "sets", 0.1, suffix=".xlsx", layout=Layout(keep=tuple(header[:5])))
    assert [row[:5] for row in cells(target)[1:]] == wanted


def ids_in_workbook(*files):
    run("predict", "rule.rankset", *files, "--id", "case", "-o", "ids.xlsx", "--force")
    return [row[0] for row in cells("ids.xlsx")[1:]]


def frame_of_ids(ids):
    return pd.DataFrame({"case": ids} | dict(zip(NAMES, PROBS[: len(ids)].T, strict=True)))


def test_ids_of_text_files_are_texts_in_every_workbook(here):
    RULE.save("rule.rankset")
    ids = {"a": ["000", "199"], "b": ["200", "299"], "c": ["1.5", "2.50"], "d": ["1234567890123456", "1"]}
    for name, some in ids.items():
        frame_of_ids(some).to_csv(f"{name}.csv", index=False)
        frame_of_ids(some).to_csv(f"{name}.tsv", index=False, sep="\t")
        frame_of_ids(some).to_csv(f"{name}.txt", index=False, sep="\t")
        frame_of_ids(some).to_json(f"{name}.jsonl", orient="records", lines=True, force_ascii=False)
        frame_of_ids(some).to_parquet(f"{name}.parquet")
        for suffix in ("csv", "tsv", "txt", "jsonl", "parquet"):
            assert ids_in_workbook(f"{name}.{suffix}") == some
    assert ids_in_workbook("a.csv", "b.csv") == ids["a"] + ids["b"]
    frame_of_ids([200, 299]).to_parquet("numbers.parquet")
    assert ids_in_workbook("numbers.parquet", "b.csv") == ids["b"] * 2  # numbers beside texts are texts
    (target,) = shards.write(RULE, "b.csv", "sets", 0.1, suffix=".xlsx", layout=Layout(identity="case"))
    assert [row[0] for row in cells(target)[1:]] == ids["b"]
    (here / "gap.csv").write_text("case," + ",".join(NAMES) + "\n1,1,0,0\n,0,1,0\n", encoding="utf-8")
    run("predict", "rule.rankset", "gap.csv", "--keep", "case", "-o", "gap.xlsx")
    assert [row[0] for row in cells("gap.xlsx")[1:]] == [1, None]  # other columns may be numbers


def test_ids_that_are_numbers_stay_numbers(here):
    RULE.save("rule.rankset")
    frame_of_ids([200, 299]).to_parquet("a.parquet")
    frame_of_ids([200, 299]).to_json("a.jsonl", orient="records", lines=True, force_ascii=False)
    save("a.xlsx", s=[["case", *NAMES], *([id_, *PROBS[0]] for id_ in (200, 299))])
    np.savez("a.npz", scores=PROBS[:2], case=[200, 299])
    for suffix in ("parquet", "jsonl", "xlsx"):
        found = ids_in_workbook(f"a.{suffix}")
        assert (found, {type(id_) for id_ in found}) == ([200, 299], {int})
    run("predict", "rule.rankset", "a.npz", "--key", "scores", "--id", "case", "-o", "npz.xlsx")
    assert [row[0] for row in cells("npz.xlsx")[1:]] == [200, 299]


def test_texts_are_texts(here):
    names = ["=1+1", "#N/A", "\x01\ud800", "a\nb"]
    probs = np.eye(4) * 0.8 + 0.05
    rule = rs.calibrate(np.tile(probs, (20, 1)), np.array(names * 20, dtype=object), classes=names)
    kept = {
        "k": np.array(["=cmd|' /C calc'!A0", "+1", "@x", ""], dtype=object),
        "n": np.array([1.5, np.nan, np.inf, -2]),
    }
    write_sets(here / "s.xlsx", [(rule.predict(probs, 0.3), kept)])
    with zipfile.ZipFile("s.xlsx") as archive:
        assert "<f>" not in archive.read(SHEET).decode()
    found = cells("s.xlsx")
    assert [row[0] for row in found] == ["k", "=cmd|' /C calc'!A0", "+1", "@x", None]
    assert [row[1] for row in found] == ["n", 1.5, "nan", "inf", -2]
    assert [row[3] for row in found] == ["top", "=1+1", "#N/A", r"\x01\ud800", "a\nb"]
    columns = read_file("s.xlsx")
    assert columns.column("top").tolist() == ["=1+1", "#N/A", r"\x01\ud800", "a\nb"]
    assert not columns.formulas


def test_numbers_of_classes_are_numbers(here):
    rule = rs.calibrate(PROBS, [NAMES.index(word) for word in WORDS])
    write_sets(here / "s.xlsx", [(rule.predict(PROBS, 0.2), {})])
    assert {type(row[1]) for row in cells("s.xlsx")[1:]} <= {int, type(None)}


def test_what_a_workbook_cannot_hold_is_refused(here, monkeypatch):
    sets = RULE.predict(PROBS, 0.2)
    with refused(FileError.long_cell(str(here / "s.xlsx"), 32_767, 40_000)):
        write_sets(here / "s.xlsx", [(sets, {"k": np.array(["a" * 40_000] * N, dtype=object)})])
    monkeypatch.setattr(writer, "MAX_ROWS", 10)
    with refused(like(FileError, what="an .xlsx file")):
        write_sets(here / "s.xlsx", [(sets, {})])
    assert not list(here.iterdir())


def test_layouts_of_python_choose_sheets(here):
    save("a.xlsx", Notizen=[["Hallo"]], Daten=ROWS)
    assert shards.calibrate("a.xlsx", layout=Layout("Antwort", sheet="Daten")) == RULE
    targets = shards.write(RULE, "a.xlsx", "sets", 0.1, suffix=".xlsx", layout=Layout(sheet="Daten"))
    assert [path.name for path in targets] == ["a.xlsx"]


def test_a_column_without_a_name_is_not_dropped(here):
    rows = [["", *ROWS[0]], *([number, *row] for number, row in enumerate(ROWS[1:]))]
    save("a.xlsx", s=[[None, *rows[0][1:]], *rows[1:]])
    assert read_file("a.xlsx").names == ["", *ROWS[0]]
    assert calibrated("a.xlsx", "--label", "Antwort", "--drop", "") == RULE
    save("b.xlsx", s=[[None, 1.5, 2.5], [0.5, 1.0, 2.0]])
    check_refusal(failure("predict", "r.rankset", "b.xlsx", "--no-header", "-o", "s.csv"), FileError)


def test_one_long_text_in_many_cells_is_counted_in_each(here, monkeypatch):
    save("a.xlsx", s=[["a", "b"], *[["x" * 30_000] * 2] * 2000])
    monkeypatch.setenv("RANKSET_MAX_MEMORY", "100MB")
    with refused(FileError, what="reading the file"):
        read_file("a.xlsx")


def test_candidates_keep_their_names(here):
    rows = rs.Ragged.of([{"Bern": 0.7, "Basel": 0.3}, {"Rom": 0.5, "Turin": 0.3, "Pisa": 0.2}] * 10)
    sets = rs.calibrate(rows, ["Basel", "Turin"] * 10).predict(rows, alpha=0.1)
    write_sets(here / "s.xlsx", [(sets, {})])
    cells = list(openpyxl.load_workbook("s.xlsx").active.iter_rows(values_only=True))
    assert cells[1][1:] == ("Bern", "Bern|Basel")


@pytest.mark.parametrize("text", ["Bär", "0"])
def test_the_text_of_absent_labels_is_no_class(here, text):
    header = "Bär,ok\n" if text == "Bär" else "0,1\n"
    (here / "a.csv").write_text(header + "0.5,0.5\n" * 20, encoding="utf-8")
    (here / "y.csv").write_text("y\n" + f"{text}\n" * 20, encoding="utf-8")
    check_refusal(
        failure(*("calibrate", "a.csv", "--labels", "y.csv", "--label", "y", "--absent", text, "-o", "x.rankset")),
        LabelError.absent_is_class(text),
        file="a.csv",
    )


def test_kept_numbers_with_a_point_and_a_zero_are_numbers(here):
    rule = rs.calibrate([[0.6, 0.4]] * 20, [0] * 20)
    write_sets(
        here / "s.xlsx", [(rule.predict([[0.6, 0.4]] * 3, alpha=0.1), {"own": pa.array(["0.0", "0.125", "1.0"])})]
    )
    cells = list(openpyxl.load_workbook("s.xlsx").active.iter_rows(values_only=True))
    assert [row[0] for row in cells] == ["own", 0, 0.125, 1]


def numbers_in_workbook(here, texts, decimal="."):
    kept = {"k": np.array(texts, dtype=object)}
    sets = RULE.predict(PROBS[: len(texts)], 0.2)
    write_sets(here / "k.xlsx", [(sets, kept)], style=excel_style(decimal, read=decimal), force=True)
    return [row[0] for row in cells("k.xlsx")[1:]]


@pytest.mark.parametrize("decimal", [".", ","])
def test_kept_numbers_with_an_exponent_are_numbers(here, decimal):
    RULE.save("rule.rankset")
    sep = ";" if decimal == "," else ","
    texts = [["0.348154", "0.651846", "0"], ["4.7e-05", "0.999953", "0.0"], ["0.25", "0.75", "0E+00"]]
    lines = [sep.join(NAMES), *(sep.join(row).replace(".", decimal) for row in texts)]
    (here / "a.csv").write_text("\n".join(lines), encoding="utf-8")
    keep = [word for name in NAMES for word in ("--keep", name)]  # columns of classes may be kept as well
    run("predict", "rule.rankset", "a.csv", *keep, "--excel", "-o", "s.xlsx")
    assert [row[:3] for row in cells("s.xlsx")[1:]] == [[float(text) for text in row] for row in texts]


@pytest.mark.parametrize(
    ("texts", "are_numbers"),
    [
        (["0.000000000000000123", "-1.5E-7"], True),  # zeros at the start are no digits
        (["123456789012345", "0.5"], True),
        (["999999999999999e-300", "1.50e+10"], True),
        (["1.50", "2.25", "1e-07"], True),
        (["1234567890123456", "0.5"], False),
        (["0.1234567890123456", "0.5"], True),  # as programs write a double
        (["1234567890123456.5", "0.5"], False),
        (["1e-400", "0.5"], False),
        (["1e+400", "0.5"], False),
        (["5e-324", "0.5"], False),
        (["007", "0.5"], False),
        (["12e4", "0.5"], False),
        (["1.e-05", "0.5"], False),
        (["0,5", "0.5"], False),
        (["nan", "0.5"], False),
        (["1.50", "1.5"], False),  # may be versions
    ],
)
def test_kept_texts_are_numbers_if_no_digit_is_lost(here, texts, are_numbers):
    wanted = [float(text) for text in texts] if are_numbers else texts
    assert numbers_in_workbook(here, texts) == wanted
    german = [text.translate(str.maketrans(".,", ",.")) for text in texts]
    assert numbers_in_workbook(here, german, ",") == (wanted if are_numbers else german)


def test_whole_numbers_of_more_than_15_digits_are_texts(here):
    found = numbers_in_workbook(here, [999_999_999_999_999, -4_111_111_111_111_111])
    assert found == [999_999_999_999_999, "-4111111111111111"]


def test_a_comparison_of_an_english_file_for_a_german_spreadsheet(here):
    pytest.importorskip("narwhals")
    rng = np.random.default_rng(0)
    rows = "".join(f"{p:.3f},{1 - p:.3f},{'ab'[int(rng.random() > p)]}\n" for p in rng.random(60).round(3))
    (here / "en.csv").write_text("a,b,y\n" + rows, encoding="utf-8")
    asked = ("compare", "en.csv", "--label", "y", "--repeats", "2", "--alpha", "0.3", "--no-auto")
    run(*asked, "--excel-decimal", ",", "-o", "t.csv")
    text = (here / "t.csv").read_text(encoding="utf-8-sig")
    assert text.startswith("alpha;score;metric;mean;")
    assert "\n0,3;RANK;coverage;0," in text
