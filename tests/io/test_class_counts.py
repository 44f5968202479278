"""Files with the number of training rows of each class: csv or JSON."""

import gzip
import json
from contextlib import suppress

import pytest

from rankset.errors import FileError, RanksetError
from rankset.io.class_counts import LARGEST, counts_in_order, read_class_counts
from rankset.io.dialect import Dialect
from refusals import like, refused

COUNTS = {"cat": 120.0, "Bär": 80.0, "dog, wild": 3.0}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("header", ["", "class{}count\n"])
@pytest.mark.parametrize("sep", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_tables_with_and_without_header(folder, header, sep, encoding, end):
    text = header.format(sep) + f'cat{sep}120\nBär{sep} 80\n"dog, wild"{sep}3\n\n'
    (folder / "a.csv").write_bytes(text.replace("\n", end).encode(encoding))
    assert read_class_counts("a.csv") == COUNTS


def test_the_suffix_of_a_table_does_not_matter(folder):
    (folder / "a.txt").write_text("0\t5\n1\t2.5\n")
    assert read_class_counts("a.txt") == {"0": 5, "1": 2.5}
    (folder / "a.csv.gz").write_bytes(gzip.compress(b"0;5\n1;2\n"))
    assert read_class_counts("a.csv.gz") == {"0": 5, "1": 2}


def test_a_given_dialect_comes_first(folder):
    (folder / "a.csv").write_text("a;b,5\nc;d,2\n")
    assert read_class_counts("a.csv", Dialect(sep=",")) == {"a;b": 5, "c;d": 2}
    (folder / "a.csv").write_text("a;0,5\nb;1\n")
    assert read_class_counts("a.csv", Dialect(decimal=",")) == {"a": 0.5, "b": 1}


@pytest.mark.parametrize("indent", [None, 2])
def test_json(folder, indent):
    (folder / "a.json").write_text(json.dumps(COUNTS, ensure_ascii=False, indent=indent), encoding="utf-8")
    assert read_class_counts("a.json") == COUNTS


def test_counts_are_put_into_the_order_of_the_columns():
    assert counts_in_order({"b": 2, "a": 1}, ["a", "b"], "f") == (1, 2)
    assert counts_in_order({"1": 2, "0": 1}, range(2), "f") == (1, 2)
    with refused(FileError.classes_without_count("f", ["c", "d"])):
        counts_in_order({"b": 2, "a": 1}, "abcd", "f")
    with refused(FileError.counts_of_others("f", ["c"], ["a", "b"])):
        counts_in_order({"b": 2, "a": 1, "c": 3}, "ab", "f")


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("a.csv", "cat,5\ndog,1\ncat,2\n", FileError.class_counted_twice("a.csv", "cat")),
        ("a.json", '{"cat": 5, "dog": 1, "cat": 5}', FileError.class_counted_twice("a.json", "cat")),
        *(
            ("a.csv", f"dog,1\ncat,{text}\n", FileError.no_count("a.csv", "cat", value, LARGEST))
            for text, value in [
                ("0", 0.0),
                ("-2", -2.0),
                ("many", "many"),
                ("", ""),
                ("inf", float("inf")),
                ("1_0", "1_0"),
            ]
        ),
        ("a.csv", "cat;1,000\ndog;2,000\n", FileError.no_count("a.csv", "dog", "2,000", LARGEST)),
        ("a.csv", "class,count\n", FileError.no_count("a.csv", "class", "count", LARGEST)),
        *(
            ("a.json", f'{{"cat": {text}}}', FileError.no_count("a.json", "cat", value, LARGEST))
            for text, value in [("0", 0), ("true", True), ("null", None), ('"5"', "5"), ("1e999", float("inf"))]
        ),
        ("a.csv", "cat\ndog\n", FileError.no_columns_of_counts("a.csv", "cat", 0)),
        ("a.csv", "\ncat,5,1\ndog,2,1\n", FileError.no_columns_of_counts("a.csv", "cat,5,1", 1)),
        ("a.csv", ",\n,\n", FileError.no_columns_of_counts("a.csv", ",", 0)),
        ("a.csv", "", FileError.unreadable("a.csv", "it is empty")),
        ("a.csv", " \n\t\n", FileError.unreadable("a.csv", "it is empty")),
        ("a.json", "cat,5", FileError.no_object_of_counts("a.json", "other text")),
        ("a.json", "[5, 2]", FileError.no_object_of_counts("a.json", "other values")),
        ("a.json", "{}", FileError.no_object_of_counts("a.json", "an empty object")),
        ("a.json", '{"a": {"b": 1}}', FileError.no_object_of_counts("a.json", "a list or an object for the class 'a'")),
    ],
)
def test_other_files_are_refused(folder, name, text, error):
    (folder / name).write_text(text)
    with refused(error):
        read_class_counts(name)


def test_missing_files_are_refused():
    with refused(FileError.missing("none.csv")):
        read_class_counts("none.csv")


@pytest.mark.parametrize(
    "data",
    [
        b"\x00" * 100,
        b"\xff\xfe\x00",
        b"a,\x00\n",
        b'"' * 999,
        b'"a,5\nb,6\n',
        b"a" * 200_000 + b",5\n",
        b"a,5\rb,6\r",
        b"a," + b"9" * 5000,
        b'{"a": ' + b"[" * 5000,
        b'{"a": ' + b"[" * 900 + b"]" * 900 + b"}",
        b'{"a": ' + b"9" * 5000 + b"}",
        b'{"a": NaN}',
        b'{"\\ud800": 0}',
        b"\x1f\x8b\x08broken",
    ],
)
@pytest.mark.parametrize("name", ["a.csv", "a.json", "a.csv.gz"])
def test_hostile_files_give_an_answer_or_an_error_of_the_library(folder, name, data):
    (folder / name).write_bytes(data)
    found = {}
    with suppress(RanksetError):
        found = read_class_counts(name)
    assert all(0 < count <= LARGEST for count in found.values())


def test_memory_is_limited(folder, monkeypatch):
    (folder / "a.csv").write_text("".join(f"class {n},{n + 1}\n" for n in range(50_000)))
    monkeypatch.setenv("RANKSET_MAX_MEMORY", "100000")
    with refused(like(FileError, what="reading the file")):
        read_class_counts("a.csv")
