"""Labels of rows that can have several of them, as files hold them: types of columns, orders, and limits of memory."""

import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from rankset.errors import FileError, LabelError
from rankset.io import memory_budget
from rankset.io.layout import Layout
from refusals import refused

CLASSES = ["a", "b", "c"]
SCORES = np.arange(12).reshape(4, 3) / 20
LISTS = [["a"], [], ["c", "a"], ["b"]]
LAYOUT = Layout("tags", several=True)


def table(tags):
    return pa.table({name: SCORES[:, place] for place, name in enumerate(CLASSES)} | {"tags": tags})


def read(tmp_path, tags, layout=LAYOUT, **options):
    parquet.write_table(table(tags), tmp_path / "rows.parquet", **options)
    return layout.read_rows(str(tmp_path / "rows.parquet")).labels_for(CLASSES)


@pytest.mark.parametrize("kind", [pa.list_(pa.string()), pa.large_list(pa.large_string())])
def test_lists_of_every_type_and_of_several_chunks(tmp_path, kind):
    assert read(tmp_path, pa.array(LISTS, kind), row_group_size=1) == LISTS
    longer = pa.array([["x"], *LISTS, ["x"]], kind)
    assert read(tmp_path, longer.slice(1, 4)) == LISTS


def test_lists_of_one_length_and_of_categories(tmp_path):
    pairs = [["a", "b"], ["b", "c"], ["c", "a"], ["a", "c"]]
    assert read(tmp_path, pa.array(pairs, pa.list_(pa.string(), 2))) == pairs
    cells = pa.array(["a", "", "c;a", "b"]).dictionary_encode()
    assert read(tmp_path, cells) == LISTS
    assert read(tmp_path, pa.array(["a", None, "c; a", " b "])) == LISTS
    assert read(tmp_path, pa.array(["a", None, "c//a", "b"]), Layout("tags", several=True, label_sep="//")) == LISTS


def test_numbers_are_columns(tmp_path):
    assert read(tmp_path, pa.array([[0], [], [2, 0], [1]])) == LISTS
    with refused(LabelError, row=2):
        read(tmp_path, pa.array([[0], [], [2, 3], [1]]))


MARKS = [[True, False, False], [False, False, False], [True, False, True], [False, True, False]]


def test_lists_of_booleans_have_one_for_every_class(tmp_path):
    found = [sorted(row) for row in LISTS]
    assert [sorted(row) for row in read(tmp_path, pa.array(MARKS))] == found
    path = tmp_path / "rows.jsonl"
    lines = [
        dict(zip(CLASSES, scores, strict=True)) | {"tags": tags}
        for scores, tags in zip(SCORES.tolist(), MARKS, strict=True)
    ]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert [sorted(row) for row in LAYOUT.read_rows(str(path)).labels_for(CLASSES)] == found
    parquet.write_table(pa.table({"scores": SCORES.tolist(), "tags": MARKS}), tmp_path / "lists.parquet")
    assert LAYOUT.read_rows(str(tmp_path / "lists.parquet")).labels_for(None).tolist() == MARKS
    with refused(LabelError.booleans("labels", 1, "0 booleans for 3 classes"), file=str(tmp_path / "rows.parquet")):
        read(tmp_path, pa.array([MARKS[0], [], *MARKS[2:]]))
    with refused(LabelError.missing_in_list("labels", 2), file=str(tmp_path / "rows.parquet")):
        read(tmp_path, pa.array([MARKS[0], [], [True, None, False], []]))


def test_booleans_can_be_names(tmp_path):
    columns = {"true": SCORES[:, 0], "false": SCORES[:, 1], "tags": pa.array([[True], [], [False, True], [False]])}
    parquet.write_table(pa.table(columns), tmp_path / "rows.parquet")
    rows = LAYOUT.read_rows(str(tmp_path / "rows.parquet"))
    assert rows.labels_for(["true", "false"]) == [["true"], [], ["false", "true"], ["false"]]


def test_columns_that_hold_no_lists(tmp_path):
    for tags in (pa.array([0, 1, 2, 0]), pa.array([0.5, 1, 2, 0]), pa.array([True, False, True, True])):
        with refused(LabelError, what="labels", file=str(tmp_path / "rows.parquet")):
            read(tmp_path, tags)
    with refused(FileError.nested(str(tmp_path / "rows.parquet"), "tags", "list<element: list<element: string>>")):
        read(tmp_path, pa.array([[["a"]], [], [], []]))
    with refused(LabelError, row=2):
        read(tmp_path, pa.array([["a"], [], ["b", None], []]))


def test_a_matrix_without_names_follows_the_columns_of_the_file(tmp_path):
    marks = np.array([[1, 0, 0], [0, 0, 0], [1, 0, 1], [0, 1, 0]])
    np.save(tmp_path / "y.npy", marks)
    lines = [dict(zip(CLASSES, row, strict=True)) for row in SCORES.tolist()]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    several = Layout(several=True)
    rows = several.read_rows(str(path), str(tmp_path / "y.npy"), ["c", "b", "a"])
    assert rows.labels_for(["c", "b", "a"]) == [["a"], [], ["a", "c"], ["b"]]
    assert (rows.scores == SCORES[:, ::-1]).all()
    lines[2] = dict(reversed(lines[2].items()))
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    with refused(LabelError.lines_in_several_orders(str(path)), file=str(tmp_path / "y.npy")):
        several.read_rows(str(path), str(tmp_path / "y.npy"))


def test_names_that_are_composed_otherwise_are_matched(tmp_path):
    (tmp_path / "p.csv").write_text("Caf\u00e9,b\n0.5,0.1\n0.2,0.3\n", encoding="utf-8")
    (tmp_path / "y.csv").write_text("b,Cafe\u0301\n0,1\n1,1\n", encoding="utf-8")
    rows = Layout(several=True).read_rows(str(tmp_path / "p.csv"), str(tmp_path / "y.csv"))
    assert rows.labels_for(rows.classes) == [["Caf\u00e9"], ["b", "Caf\u00e9"]]


def test_memory_is_counted(tmp_path):
    tags = pa.array([["a", "b"]] * 50_000)
    big = pa.table({"a": np.zeros(50_000), "b": np.zeros(50_000), "tags": tags})
    parquet.write_table(big, tmp_path / "big.parquet")
    with memory_budget.use_limit(3_000_000), pytest.raises(FileError, match="memory"):
        LAYOUT.read_rows(str(tmp_path / "big.parquet"))
