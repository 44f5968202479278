"""What spreadsheets and other systems leave in files: empty lines at the end, error values, letters in two parts."""

import unicodedata

import numpy as np
import pytest
from click.testing import CliRunner

import rankset as rs
from rankset.cli.commands import rankset
from rankset.errors import COMMAND_LINE, FileError, LabelError
from rankset.io.layout import Layout
from rankset.io.read_file import read_file
from refusals import check_refusal, failure, refused

ROWS = "a;b;Befund\n" + "0,6;0,4;a\n0,3;0,7;b\n" * 10


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text(ROWS)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(rankset, list(arguments))


# Lines


@pytest.mark.parametrize("end", [";;\n", ";;\n;;\n", ";;\r\n" * 1000, '"";"";""\n'])
def test_lines_of_empty_cells_at_the_end_are_no_rows(here, end):
    (here / "b.csv").write_text(ROWS + end, newline="")
    assert read_file("b.csv").table == read_file("a.csv").table


def test_other_lines_with_empty_cells_stay(here):
    (here / "b.csv").write_text("a;b\n;;\n".replace(";;", ";") + "1;2\n;3\n")
    assert read_file("b.csv").table.to_pydict() == {"a": ["", "1", ""], "b": ["", "2", "3"]}
    (here / "b.csv").write_text("a;b\n;\n;\n")
    assert len(read_file("b.csv").table) == 0


# Cells


@pytest.mark.parametrize("cell", ["#NV", "#N/A", "#DIV/0!", "#WERT!", "#NAME?"])
def test_error_values_of_spreadsheets_are_named(here, cell):
    (here / "b.csv").write_text(f"a;b\n0,5;0,5\n0,5;{cell}\n")
    with refused(FileError.error_value("b.csv", cell, 1, "b")):
        read_file("b.csv").scores()


def test_an_empty_label_names_the_option(here):
    (here / "b.csv").write_text(ROWS + "0,5;0,5;\n")
    error = failure("calibrate", "b.csv", "--label", "Befund", "-o", "r.rankset")
    check_refusal(error, LabelError, file="b.csv")
    assert "--absent ''" in error.render(COMMAND_LINE)
    assert run("calibrate", "b.csv", "--label", "Befund", "--absent", "", "-o", "r.rankset").exit_code == 0


# Names


@pytest.mark.parametrize("option", ["--label", "--group", "--drop", "--id"])
def test_a_similar_column_is_named(option):
    error = failure("calibrate", "a.csv", option, "befund", "-o", "r.rankset")
    assert "Did you mean 'Befund'?" in error.render(COMMAND_LINE)
    error = failure("calibrate", "a.csv", option, "Patientin", "-o", "r.rankset")
    assert "Did you mean" not in error.render(COMMAND_LINE)


def test_a_similar_sheet_is_named():
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "Daten"
    book.active.append(["a", "b"])
    book.save("a.xlsx")
    with pytest.raises(FileError, match=r"Did you mean 'Daten'\?"):
        Layout(sheet="daten").read_rows("a.xlsx")


def test_letters_in_two_parts_are_the_same_letters(here):
    names, parts = ["Bär", "Käfer", "x"], [unicodedata.normalize("NFD", name) for name in ("Bär", "Käfer", "x")]
    probs = np.tile(np.eye(3) * 0.7 + 0.1, (10, 1))
    rule = rs.calibrate(probs, np.array(names * 10, dtype=object), classes=names)
    lines = [",".join([*parts, "label"])]
    lines += [",".join([*map(str, row), parts[n % 3]]) for n, row in enumerate(probs.round(2).tolist())]
    (here / "mac.csv").write_text("\n".join(lines), encoding="utf-8")
    rows = Layout("label").read_rows("mac.csv", classes=names)
    assert rows.names == names
    assert rows.label_columns(rule.spec.classes).tolist() == [0, 1, 2] * 10
    rule.save("r.rankset")
    assert run("evaluate", "r.rankset", "mac.csv", "--label", "label").exit_code == 0
    (here / "both.csv").write_text(f"Bär,{parts[0]},Käfer,x\n0.1,0.1,0.7,0.1\n", encoding="utf-8")
    assert Layout().read_rows("both.csv", classes=names).ignored == [parts[0]]


def test_a_column_with_letters_in_two_parts_is_explained(here):
    (here / "b.csv").write_text(unicodedata.normalize("NFD", "a,b,Prüfung\n0.5,0.5,a\n"), encoding="utf-8")
    error = failure("calibrate", "b.csv", "--label", "Prüfung", "-o", "r.rankset")
    assert "look the same" in error.render(COMMAND_LINE)


# Commands


@pytest.mark.parametrize(
    "command", [("inspect", "a.csv"), ("predict", "a.csv", "r.rankset"), ("evaluate", "a.csv", "a.csv")]
)
def test_a_file_in_place_of_the_rule_is_named(command):
    check_refusal(failure(*command), FileError.no_rule("a.csv"))


@pytest.mark.parametrize(
    "wrong", [("--sep", "xx"), ("--decimal", "x"), ("--encoding", "klingon"), ("--auto", "abc"), ("--auto", "2")]
)
def test_wrong_values_of_options_end_with_2(wrong):
    done = run("calibrate", "a.csv", "--label", "Befund", *wrong, "-o", "r.rankset")
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1].startswith("Error: ")


def test_one_more_file_is_one_file(here):
    (here / "b.csv").write_text(ROWS)
    done = run("calibrate", "a.csv", "b.csv", "--label", "Befund", "-o", "r.rankset")
    assert "note: 1 more file of scores was read with separator ';' and decimal ','" in done.stderr
