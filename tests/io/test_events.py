"""Events: lines from parts of any size, and objects, which become the rows that the reader of tables makes of them."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankset.errors import FileError, LabelError
from rankset.inputs.vocabulary import Names
from rankset.io.events import Event, EventReader
from rankset.io.layout import Layout
from rankset.io.memory_budget import Budget
from rankset.io.readers.lines import lines_of, parse_line
from refusals import refused

NO_GROUPS = Names(())
BUDGET = Budget("-", 1 << 20)


def parts_of(parts):
    waiting = list(parts)
    return lambda size: waiting.pop(0) if waiting else b""


@given(st.lists(st.binary(min_size=1, max_size=7).map(lambda part: part.replace(b"\x01", b"\n"))), st.integers(1, 12))
def test_lines_do_not_depend_on_the_parts_in_which_they_come(parts, most):
    pieces = b"".join(parts).split(b"\n")
    wanted = [
        (number, piece if len(piece) <= most else None)
        for number, piece in enumerate(pieces, 1)
        if piece.strip() or len(piece) > most
    ]
    assert list(lines_of(parts_of(parts), most)) == wanted


def test_a_line_is_there_before_the_next_part_is_read():
    asked = []

    def read(size):
        asked.append(size)
        return b"one\ntwo\nthr" if len(asked) == 1 else b"ee" if len(asked) == 2 else b""

    found = lines_of(read)
    assert [next(found), next(found)] == [(1, b"one"), (2, b"two")]
    assert len(asked) == 1
    assert list(found) == [(3, b"three")]


def test_a_mark_at_the_start_of_a_file_is_no_part_of_its_text():
    assert parse_line(b'\xef\xbb\xbf{"id": 1}', BUDGET) == {"id": 1}


def reader(names, kind="probs", layout=None, groups=NO_GROUPS, *, needs_groups=False):
    return EventReader(Names(tuple(names)), kind, groups, layout or Layout(), needs_groups=needs_groups)


ROWS = [
    {"a": 0.25, "b": 0.5, "c": 0.25},
    {"c": 1, "b": 0, "a": 0, "more": "x"},
    {"p": [0.25, 0.25, 0.5]},
    {"p": {"b": 1.0}},
    {"p": {"b": 0.5, "c": 0.5, "a": None}},
    {"p": [True, False, False]},
]


@pytest.mark.parametrize("kind", ["probs", "logits", "decision"])
@pytest.mark.parametrize("row", ROWS)
def test_scores_are_those_of_the_reader_of_tables(row, kind, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row) + "\n")
    wanted = Layout().read_rows(str(path), classes=["a", "b", "c"], kind=kind).scores
    found = reader("abc", kind).event(row).scores
    np.testing.assert_array_equal(np.asarray(found, dtype=float), np.asarray(wanted, dtype=float))
    assert found.shape == (1, 3)


@pytest.mark.parametrize(
    ("classes", "label"),
    [
        (("a", "b"), "b"),
        (("a", "b"), 1),
        ((10, 20), 20),
        ((10, 20), "20"),
        (("10", "20"), 20),
        ((1, 2), 2.0),
        (("false", "true"), True),
        ((0, 1), 1),
        (("no", "caf\u00e9"), "cafe\u0301"),
    ],
)
def test_labels_are_spelled_as_the_reader_of_tables_spells_them(classes, label, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"p": [0.5, 0.5], "label": label}) + "\n")
    rows = Layout(label="label").read_rows(str(path), classes=list(classes))
    assert rows.label_columns(Names(classes)).tolist() == [1]
    made = reader(classes)
    for _ in range(2):  # the second time it is known
        assert made.event({"id": 1, "label": label}) == Event(1, None, None, classes[1])


def test_numbers_and_booleans_that_are_equal_are_different_labels():
    made = reader(("true", "1"))
    assert made.event({"id": 1, "label": True}).label == "true"
    assert made.event({"id": 1, "label": 1}).label == "1"
    with refused(LabelError):
        reader(("a", "b")).event({"id": 1, "label": True})


def test_names_that_are_composed_in_another_way():
    made = reader(("cafe\u0301", "tea"))
    assert made.event({"caf\u00e9": 0.25, "tea": 0.75}).scores.tolist() == [[0.25, 0.75]]


def test_groups_are_spelled_as_those_of_the_rule():
    made = reader("ab", groups=Names(("1", "x")), needs_groups=True)
    assert made.event({"p": [0.5, 0.5], "group": 1}).group == "1"
    assert made.event({"p": [0.5, 0.5], "group": "new"}).group == "new"
    assert made.event({"p": [0.5, 0.5]}).group is None
    assert reader("ab").event({"p": [0.5, 0.5], "group": 1}).group is None


def test_fields_that_are_dropped_are_no_scores():
    layout = Layout(drop=("meta",))
    assert reader("ab", layout=layout).event({"id": 1, "label": "a", "meta": {"x": 1}}) == Event(1, None, None, "a")
    with refused(FileError.several_scores(["p", "meta"])):
        reader("ab").event({"p": [0.5, 0.5], "meta": [1]})
