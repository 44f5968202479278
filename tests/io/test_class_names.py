"""Files of class names: one name per line, or JSON."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import rankset as rs
from rankset.cli.commands import rankset
from rankset.errors import FileError
from rankset.io.class_names import read_class_names
from refusals import check_refusal, failure, refused

PROBS = np.eye(3)[np.arange(30) % 3] * 0.7 + 0.1
NAMES = ["cat", "Bär", "dog, wild"]


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("p.npy", PROBS)
    np.save("y.npy", np.arange(30) % 3)
    return tmp_path


@pytest.mark.parametrize(
    "value",
    [
        NAMES,
        {"0": "cat", "1": "Bär", "2": "dog, wild"},
        {"2": "dog, wild", "0": "cat", "1": "Bär"},
        {"model_type": "vit", "id2label": {"0": "cat", "1": "Bär", "2": "dog, wild"}, "label2id": {"cat": 0}},
        {"id2label": NAMES},
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_names_in_json_are_those_of_a_text_file(files, value, indent):
    (files / "names.json").write_text(json.dumps(value, ensure_ascii=False, indent=indent), encoding="utf-8")
    assert read_class_names("names.json") == NAMES
    asked = ["calibrate", "p.npy", "y.npy", "--classes", "names.json", "-o", "a.rankset"]
    assert CliRunner().invoke(rankset, asked).exit_code == 0
    assert rs.load("a.rankset").classes.tolist() == NAMES


@pytest.mark.parametrize("value", [{}, [], 3, "cat", {"0": "a", "2": "b"}, {"cat": 0}, [["a"]], {"id2label": None}])
def test_other_json_is_refused(files, value):
    (files / "names.json").write_text(json.dumps(value))
    with refused(FileError.no_class_names("names.json")):
        read_class_names("names.json")


def test_text_that_is_no_json_is_refused(files):
    (files / "names.json").write_text("cat\ndog\n")
    with refused(FileError.no_json("names.json")):
        read_class_names("names.json")


@pytest.mark.parametrize(("text", "names"), [("a,b,c\n", ["a,b,c"]), ("a\nb\nc\nd\n", list("abcd"))])
def test_another_number_of_names_is_an_error_about_names(files, text, names):
    (files / "names.txt").write_text(text)
    error = failure("calibrate", "p.npy", "y.npy", "--classes", "names.txt", "-o", "a.rankset")
    check_refusal(error, FileError.class_count(names, 3))


@pytest.mark.parametrize("command", [("--method", "auto"), ("--auto", "0.1")])
def test_ids_are_no_classes_where_the_score_is_chosen(files, command):
    lines = ["case,a,b,label"] + [f"{1000 + n},0.{n % 8 + 1},0.{9 - n % 8},{'ab'[n % 2]}" for n in range(60)]
    (files / "a.csv").write_text("\n".join(lines))
    asked = ["calibrate", "a.csv", "--label", "label", *command, "-o", "a.rankset", "--force"]
    assert CliRunner().invoke(rankset, [*asked, "--id", "case"]).exit_code == 0
    with_id = rs.load("a.rankset")
    assert CliRunner().invoke(rankset, [*asked, "--drop", "case"]).exit_code == 0
    assert with_id == rs.load("a.rankset")


def test_names_in_an_archive(files):
    np.savez("all.npz", probs=PROBS, labels=np.arange(30) % 3, classes=np.array(NAMES))
    assert read_class_names("all.npz") == NAMES
    asked = ["calibrate", "all.npz", "-o", "a.rankset"]
    told = CliRunner().invoke(rankset, asked)
    assert "note: all.npz: the array classes is not read. Pass --classes all.npz to use it." in told.output
    assert rs.load("a.rankset").classes.tolist() == [0, 1, 2]
    told = CliRunner().invoke(rankset, [*asked, "--classes", "all.npz", "--force"])
    assert told.exit_code == 0
    assert "is not read" not in told.output
    assert rs.load("a.rankset").classes.tolist() == NAMES


@pytest.mark.parametrize("names", [np.zeros((2, 2), int), np.array([0.5, 1.5])])
def test_arrays_that_hold_no_names_are_refused(files, names):
    np.savez("odd.npz", classes=names)
    with refused(FileError.no_array_of_names("odd.npz", "classes")):
        read_class_names("odd.npz")
    np.savez("none.npz", probs=PROBS)
    with refused(FileError.no_key("none.npz", "classes", ["probs"])):
        read_class_names("none.npz")
