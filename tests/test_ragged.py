"""Rows with different numbers of candidates: what goes in, what is refused. The laws are in laws/test_ragged.py."""

import numpy as np
import pandas as pd
import pytest

import rankset as rs

RNG = np.random.default_rng(3)
ROWS = [np.log(RNG.dirichlet(np.ones(k))) for k in RNG.integers(2, 6, 200)]
LABELS = [int(RNG.integers(len(row))) for row in ROWS]
COUNTS = np.array([len(row) for row in ROWS])
RAGGED = rs.Ragged.of(ROWS)


def test_rows_are_padded_to_the_longest():
    assert RAGGED.values.shape == (200, 5)
    assert RAGGED.counts.tolist() == COUNTS.tolist()
    assert repr(RAGGED) == "Ragged(200 rows, 2 to 5 candidates)"
    assert rs.Ragged.of([[1, 2], [3]]).values.tolist() == [[1, 2], [3, 0]]


def test_a_padded_matrix_and_its_counts_are_the_same_as_the_rows():
    matrix = np.full((200, 5), -100.0)
    for row, values in enumerate(ROWS):
        matrix[row, : len(values)] = values
    rule = rs.calibrate(RAGGED, LABELS, kind="logits")
    assert rule == rs.calibrate(rs.Ragged(matrix, COUNTS), LABELS, kind="logits")
    assert rule == rs.calibrate(rs.Ragged(matrix.tolist(), COUNTS.tolist()), LABELS, kind="logits")
    sets = rule.predict(rs.Ragged(matrix, COUNTS), 0.05)
    assert sets == rule.predict(RAGGED, 0.05)
    assert (sets.sizes <= COUNTS).all()
    assert (sets.sizes == COUNTS).any()


@pytest.mark.parametrize("condition", [rs.PerLabel(), rs.PerRow()], ids=repr)
def test_a_group_that_keeps_every_label_keeps_no_padding(condition):
    groups = {"groups": ["a", "b"] * 100} if condition.needs_groups else {}
    rule = rs.calibrate(RAGGED, LABELS, kind="logits", condition=condition, **groups)
    with pytest.warns(rs.RanksetWarning, match="keep every label"):
        sets = rule.predict(RAGGED, 0.001, **groups)
    assert sets.sizes.tolist() == COUNTS.tolist()


def test_classes_may_be_more_than_the_longest_row():
    rule = rs.calibrate(
        rs.Ragged.of(ROWS), np.array(list("ABCDEF"))[LABELS], kind="logits", classes=["A", "B", "C", "D", "E", "F"]
    )
    assert rule.predict(rs.Ragged.of([[-1.0, -1.5]]), 0.01).to_lists() == [["A", "B"]]
    assert len(rule.predict(rs.Ragged.of([]), 0.1)) == 0
    assert rule.update(RAGGED, np.array(list("ABCDEF"))[LABELS]).n == 400


def test_columns_of_padding_alone_do_not_matter():
    rule = rs.calibrate(RAGGED, LABELS, kind="logits")
    wider = rs.Ragged(np.pad(RAGGED.values, ((0, 0), (0, 4))), COUNTS)
    assert rule.predict(wider, 0.1) == rule.predict(RAGGED, 0.1)


def test_rows_are_picked_as_from_an_array():
    rule = rs.calibrate(RAGGED[:100], LABELS[:100], kind="logits")
    sets = rule.predict(RAGGED, 0.1)
    for rows in (slice(5, 20), [3, 1], COUNTS > 3):
        assert rule.predict(RAGGED[rows], 0.1) == sets[rows]
    with pytest.raises(ValueError, match="read-only"):
        RAGGED.counts[0] = 1


class Inverse:
    """A score that turns rows around, padding included."""

    def transform(self, probs):
        return 1 - probs

    def keys(self, cells):
        return (-cells.prob,)


def test_no_padding_where_empty_sets_are_filled():
    rule = rs.calibrate(rs.Ragged([[0.9, 0.1, 0]] * 30, [2] * 30), [1] * 30, score=Inverse())
    sets = rule.predict(rs.Ragged([[0.99, 0.01, 7], [0.6, 0.4, 7]], [2, 2]), 0.1, empty="top")
    assert sets.to_lists() == [[1], [1]]


def test_several_hundred_thousand_rows_take_compiled_loops_too(monkeypatch):
    values = np.tile(RAGGED.values, (40, 1))
    rows, labels = rs.Ragged(values, np.tile(COUNTS, 40)), np.tile(LABELS, 40)

    def asked():
        rule = rs.calibrate(rows, labels, kind="logits", score=rs.Aps())
        return rule, rule.predict(rows, 0.1)

    monkeypatch.setattr("rankset.core.kernels.WORTHWHILE", 1)
    compiled = asked()
    monkeypatch.setenv("RANKSET_PLAIN", "1")
    assert compiled == asked()


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda: rs.Ragged([[1.0, 2.0]], [3]), ValueError, "1 to 2 candidates, got 3 at row 0"),
        (lambda: rs.Ragged([[1.0, 2.0]], [0]), ValueError, "got 0 at row 0"),
        (lambda: rs.Ragged([[1.0, 2.0]], [1, 2]), ValueError, r"counts must have shape \(1,\), got shape \(2,\)"),
        (lambda: rs.Ragged([[1.0, 2.0]], [1.5]), TypeError, "counts must be whole numbers"),
        (lambda: rs.Ragged([1.0, 2.0], [1, 1]), ValueError, "use Ragged.of"),
        (lambda: rs.Ragged.of([[1.0], []]), ValueError, "got 0 at row 1"),
        (lambda: rs.Ragged.of([[1.0], "no"]), TypeError, "row 1 must be"),
        (lambda: rs.Ragged.of([[1.0], [[2.0]]]), ValueError, r"row 1 must have shape \(k,\), got shape \(1, 1\)"),
        (lambda: rs.calibrate([[0.5, 0.5], [1.0]], [0, 0]), ValueError, r"pass rankset\.Ragged\.of\(rows\)"),
        (lambda: rs.calibrate(RAGGED, [4] * 200, kind="logits"), ValueError, "got 4 at row .*, which has"),
        (lambda: rs.calibrate(RAGGED, LABELS, kind="logits", classes="AB"), TypeError, "classes"),
        (lambda: rs.calibrate(RAGGED, LABELS, kind="logits", classes=["A", "B"]), ValueError, "5 columns"),
        (lambda: rs.calibrate(RAGGED, LABELS, kind="binary"), ValueError, "kind='binary'"),
        (lambda: rs.calibrate(RAGGED, LABELS, kind="logits").tails(RAGGED), ValueError, "whole rows only, got Ragged"),
        (lambda: rs.calibrate(rs.Ragged.of([[np.nan, 1.0]]), [0], kind="logits"), ValueError, "NaN at row 0, column 0"),
        (lambda: rs.Ragged.of(5), TypeError, "a list of rows"),
        (lambda: rs.Ragged.of(RAGGED), TypeError, "a list of rows"),
        (lambda: rs.Ragged.of(pd.DataFrame([[1.0, 2.0]])), TypeError, "a list of rows"),
        (lambda: rs.Ragged(pd.DataFrame([[1.0, 2.0]]), [2]), TypeError, "a data frame"),
        (lambda: rs.Ragged(np.ma.array([[1.0, 2.0]], mask=[[0, 1]]), [2]), TypeError, "a masked array"),
        (lambda: rs.Ragged([[1.0, 2.0]], np.ma.array([2], mask=[1])), TypeError, "a masked array"),
        (lambda: rs.Ragged([[1.0, 2.0]] * 3, [[1], [1, 2], 3]), ValueError, "counts"),
        (lambda: rs.Ragged.of([np.ma.array([0.5, 0.5], mask=[0, 1])]), TypeError, "a masked array"),
        (
            lambda: rs.calibrate(RAGGED, LABELS, kind="logits").predict(rs.Ragged.of([[0] * 7]), 0.1),
            ValueError,
            "range.7",
        ),
    ],
)
def test_what_cannot_be_is_refused(ask, error, words):
    with pytest.raises(error, match=words):
        ask()
