"""Files in which a comma separates cells and is the decimal mark too, and columns that are no classes."""

import numpy as np
import pytest
from click.testing import CliRunner

import rankset as rs
from rankset.cli.commands import rankset
from rankset.errors import FileError, InputError
from rankset.io.layout import Layout
from refusals import like, refused


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a command in an empty folder; files are passed by name."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments, **files):
        for name, text in files.items():
            (tmp_path / f"{name}.csv").write_text(text)
        return CliRunner().invoke(rankset, list(map(str, arguments)))

    return call


CALIBRATE = ("calibrate", "a.csv", "--label", "label", "-o", "rule.rankset", "--force")


@pytest.mark.parametrize(
    ("text", "columns", "cells", "line"),
    [
        ("a,b,label\n0,3,0,7,b\n0,6,0,4,a\n", 3, 5, "0,3,0,7,b"),
        ("a,b,label\n1,0,b\n0,6,0,4,a\n", 3, 5, "0,6,0,4,a"),
        ("a,b,label\n-1,25,3,b\n", 3, 4, "-1,25,3,b"),
    ],
)
def test_lines_with_decimal_commas_between_commas_name_both_readings(run, text, columns, cells, line):
    run("inspect", "none", a=text)
    with refused(FileError.cut_line("a.csv", columns, cells, line)):
        Layout(label="label").read_rows("a.csv")
    done = run(*CALIBRATE)
    assert done.exit_code == 1
    assert "decimal commas" in done.output
    assert "separator ';'" in done.output
    assert "--sep" in done.output


@pytest.mark.parametrize("text", ["a,b,label\n0.3,0.7,b,x\n", "a,b,label\n0.3,0.7\n", "a;b;label\n1;2;3;4\n"])
def test_other_lines_of_wrong_length_are_reported_as_before(run, text):
    run("inspect", "none", a=text)
    with refused(like(FileError, expected="be readable")):
        Layout(label="label").read_rows("a.csv")


@pytest.mark.parametrize("text", ["a,b,label\n0,5,a\n0,7,b\n1,2,a\n", "a,b,label\n0,5,a\n1,2,b\n"])
def test_parts_of_numbers_are_no_scores(run, text):
    done = run(*CALIBRATE, a=text)
    assert done.exit_code == 1
    assert "got 0,5, which can be whole numbers, or the parts of numbers with decimal commas at row 0" in done.output
    told = run(*CALIBRATE, "--sep", ",")
    assert "decimal commas" not in told.output
    assert "were taken as classes" in told.output
    assert run(*CALIBRATE, "--kind", "logits").exit_code == 0
    assert rs.load("rule.rankset").classes.tolist() == ["a", "b"]


@pytest.mark.parametrize("text", ["a,b,label\n0,1,b\n1,0,a\n", "a,b,label\n0.5,0.5,a\n0,1,b\n"])
def test_one_hot_rows_are_probabilities(run, text):
    assert run(*CALIBRATE, a=text).exit_code == 0


def test_honest_counts_are_told_about_kinds(run):
    done = run(*CALIBRATE, a="a,b,label\n12,5,a\n7,20,b\n")
    assert "decimal commas" not in done.output
    assert "--kind logits" in done.output


def test_columns_taken_as_classes_are_listed(run):
    done = run(*CALIBRATE, a="Nr;a;b;label\n1;0,3;0,7;b\n2;0,6;0,4;a\n")
    assert done.exit_code == 1
    assert "The columns 'Nr', 'a', 'b' were taken as classes." in done.output
    assert "--drop, --id or --group" in done.output
    assert done.output.index("--drop") < done.output.index("--kind logits")
    done = run(*CALIBRATE, "--id", "Nr")
    assert done.exit_code == 0
    assert "  classes        2: a, b\n" in done.output


def test_columns_are_listed_in_python_too(run):
    run("inspect", "none", a="Nr,a,b\n1,0.5,0.5\n")
    rows = Layout().read_rows("a.csv")
    with pytest.raises(InputError, match=r"'Nr', 'a', 'b' were taken.*Layout\(drop="), rows.name_file_in_errors():
        rs.calibrate(rows.scores, np.array([1]))
