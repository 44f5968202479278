"""Rows with different numbers of candidates: what goes in, what is refused. The laws are in laws/test_ragged.py."""

import math
import pickle
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

import rankset as rs
from rankset.errors import InputError, KindError, LabelError, ScoreError
from refusals import like, refused

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


@pytest.mark.parametrize("condition", [rs.PerLabel(), rs.PerGroup()], ids=repr)
def test_a_group_that_keeps_every_label_keeps_no_padding(condition):
    groups = {"groups": ["a", "b"] * 100} if condition.needs_groups else {}
    rule = rs.calibrate(RAGGED, LABELS, kind="logits", condition=condition, **groups)
    with pytest.warns(rs.RanksetWarning, match="no label is left out|always in the set"):
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


@pytest.mark.slow
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
    ("ask", "refusal"),
    [
        (lambda: rs.Ragged([[1.0, 2.0]], [3]), InputError.candidates(0, 3, 2)),
        (lambda: rs.Ragged([[1.0, 2.0]], [0]), InputError.candidates(0, 0, 2)),
        (lambda: rs.Ragged([[1.0, 2.0]], [1, 2]), InputError.shape("counts", "(1,)", (2,), "Pass one count per row.")),
        (lambda: rs.Ragged([[1.0, 2.0]], [1.5]), KindError.argument("counts", "integers", [1.5])),
        (
            lambda: rs.Ragged([1.0, 2.0], [1, 1]),
            InputError.shape("values", "(n, K)", (2,), "For rows of different lengths use rankset.Ragged.of(rows)."),
        ),
        (lambda: rs.Ragged.of([[1.0], []]), InputError.candidates(1, 0, 1)),
        (
            lambda: rs.Ragged.of([[1.0], "no"]),
            KindError.not_a_matrix("row 1", "str", "Pass an array or a list of rows."),
        ),
        (lambda: rs.Ragged.of([[1.0], [[2.0]]]), InputError.row_shape(1, (1, 1))),
        (lambda: rs.calibrate([[0.5, 0.5], [1.0]], [0, 0]), InputError.ragged("probs")),
        (lambda: rs.calibrate(RAGGED, [4] * 200, kind="logits"), LabelError.padding(1, 4, 2)),
        (
            lambda: rs.calibrate(RAGGED, LABELS, kind="logits", classes="AB"),
            KindError.argument("classes", "a list of names in column order", "AB"),
        ),
        (lambda: rs.calibrate(RAGGED, LABELS, kind="logits", classes=["A", "B"]), LabelError.class_count(5, 2)),
        (lambda: rs.calibrate(RAGGED, LABELS, kind="binary"), InputError.ragged_binary()),
        (
            lambda: rs.CrossRule((rs.calibrate(RAGGED, LABELS, kind="logits"),)).p_values([RAGGED]),
            InputError.no_pooling(),
        ),
        (lambda: rs.calibrate(rs.Ragged.of([[np.nan, 1.0]]), [0], kind="logits"), InputError.missing("probs", 0, 0)),
        (lambda: rs.Ragged.of(5), KindError.argument("rows", "a list of rows, each a list of numbers", 5)),
        (
            lambda: rs.Ragged.of(RAGGED),
            like(
                KindError,
                what="rows",
                received="Ragged(200 rows, 2 to 5 candidates)",
                expected="be a list of rows, each a list of numbers",
            ),
        ),
        (
            lambda: rs.Ragged.of(pd.DataFrame([[1.0, 2.0]])),
            like(
                KindError, what="rows", received="0 1 0 1.0 2.0", expected="be a list of rows, each a list of numbers"
            ),
        ),
        (
            lambda: rs.Ragged(pd.DataFrame([[1.0, 2.0]]), [2]),
            KindError.not_a_matrix("values", "a data frame", "Pass frame[classes].to_numpy()."),
        ),
        (
            lambda: rs.Ragged(np.ma.array([[1.0, 2.0]], mask=[[0, 1]]), [2]),
            KindError.not_a_matrix("values", "a masked array", "Fill the masked entries, or drop their rows."),
        ),
        (
            lambda: rs.Ragged([[1.0, 2.0]], np.ma.array([2], mask=[1])),
            KindError.not_a_matrix("counts", "a masked array", "Fill the masked entries, or drop their rows."),
        ),
        (lambda: rs.Ragged([[1.0, 2.0]] * 3, [[1], [1, 2], 3]), InputError.ragged("counts")),
        (
            lambda: rs.Ragged.of([np.ma.array([0.5, 0.5], mask=[0, 1])]),
            KindError.not_a_matrix("row 0", "a masked array", "Fill the masked entries, or drop their rows."),
        ),
        (
            lambda: rs.calibrate(RAGGED, LABELS, kind="logits", condition=rs.PerLabel()).predict(
                rs.Ragged.of([[0] * 7]), 0.1
            ),
            InputError.more_candidates(5, 7),
        ),
        (
            lambda: rs.calibrate(RAGGED, LABELS, kind="logits", method=rs.Average()).predict(
                rs.Ragged.of([[0] * 7]), 0.1
            ),
            InputError.more_candidates(5, 7),
        ),
        (
            lambda: rs.calibrate(
                RAGGED, np.array(list("abcde"))[LABELS], kind="logits", classes=list("abcde")
            ).p_values(rs.Ragged.of([[0] * 7])),
            InputError.more_candidates(5, 7),
        ),
        (
            lambda: rs.calibrate(RAGGED, LABELS, kind="logits").update(rs.Ragged.of([[0] * 7]), [0]),
            InputError.more_candidates(5, 7),
        ),
    ],
)
def test_what_cannot_be_is_refused(ask, refusal):
    with refused(refusal):
        ask()


def slow_logs(row):
    """Logarithms, those of zeros a little below all others, one number at a time."""
    known = [math.log(value) for value in row if value > 0]
    return [max(math.log(value) if value > 0 else min(min(known) - 1, -14.0), -60.0) for value in row]


def slow_normalised(scores):
    total = math.log(sum(math.exp(score - max(scores)) for score in scores)) + max(scores)
    return [score - total for score in scores]


def slow_temperature(score, row):
    return slow_normalised([log / score.temperature for log in slow_logs(row)])


def slow_recalibrated(score, row):
    logs = slow_temperature(score, row)
    undecided = -sum(math.exp(log) * log for log in logs) / math.log(max(2, len(row))) - 0.3
    order = sorted(range(len(row)), key=lambda column: (-row[column], column))
    w = score.weights
    scores = []
    for column, log in enumerate(logs):
        rank = order.index(column) + 1
        value = (w[0] + w[4] * undecided) * log - (w[1] + w[5] * undecided) * math.log(rank)
        value += (w[2] + w[6] * undecided) * (rank == 1) + w[3] / 10 * max(log, -14.0) ** 2
        scores.append(value + (score.factors[column] if score.factors else 0.0))
    return slow_normalised(scores)


WEIGHTS = (0.8, 0.3, 0.5, 0.2, 0.4, -0.3, 0.6)
FITTED = [
    (rs.Temperature(0.05), slow_temperature),
    (rs.Temperature(2.0), slow_temperature),
    (rs.Recalibrated(0.3, WEIGHTS), slow_recalibrated),
    (rs.Recalibrated(0.3, WEIGHTS, (0.1, -0.4, 0.3, 0.0, 0.7, -1.0)), slow_recalibrated),
]
SHARES = [RNG.multinomial(8, np.ones(k) / k) / 8 for k in RNG.integers(1, 7, 60)]
TRUE = [int(RNG.integers(len(row))) for row in SHARES]


@pytest.mark.parametrize(("score", "slow"), FITTED, ids=lambda part: getattr(part, "__name__", repr(part)))
def test_fitted_scores_see_the_candidates_alone(score, slow):
    rule = rs.calibrate(rs.Ragged.of(SHARES), TRUE, score=score, classes=range(6))
    keys = [-slow(score, row.tolist())[label] for row, label in zip(SHARES, TRUE, strict=True)]
    (found,) = rule.calibration.keys
    assert found == pytest.approx(sorted(keys), abs=1e-9)
    p_values = rule.p_values(rs.Ragged.of(SHARES))
    for row, told in zip(SHARES, p_values, strict=True):
        own = [-log for log in slow(score, row.tolist())]
        low, high = ([(1 + sum(key >= value + off for key in keys)) / 61 for value in own] for off in (1e-9, -1e-9))
        assert (np.array(low) - 1e-12 <= told[: len(row)]).all()  # equal keys may differ in their last bits
        assert (told[: len(row)] <= np.array(high) + 1e-12).all()
        assert not told[len(row) :].any()


@dataclass(frozen=True)
class Smoothed:
    """A score of a user's own, whose transform looks at whole rows, and whose keys are sums."""

    def transform(self, probs):
        return (probs + 0.1) / (probs + 0.1).sum(axis=1, keepdims=True)

    def keys(self, cells):
        return (cells.mass,)


@pytest.mark.parametrize(
    "score",
    [
        rs.Temperature(0.05),
        rs.Recalibrated(0.3, WEIGHTS),
        rs.TieBreak(rs.Temperature(0.05)),
        rs.Chosen(rs.Temperature(0.05), "by hand"),
        Smoothed(),
    ],
    ids=repr,
)
def test_a_ragged_row_is_the_same_row_alone(score):
    """Keys of rows of one width, among rows of other widths and as a narrow matrix, bit for bit."""
    wide = rs.calibrate(rs.Ragged.of(SHARES), TRUE, score=score, classes=range(6))
    narrow = []
    for width in range(1, 7):
        rows = [row for row in range(60) if len(SHARES[row]) == width]
        rule = rs.calibrate([SHARES[row] for row in rows], [TRUE[row] for row in rows], score=score)
        narrow += rule.calibration.keys[0].tolist()
    assert wide.calibration.keys[0].tolist() == sorted(narrow)


def test_seen_classes_of_a_ragged_row_are_recalibrated_without_padding():
    score = rs.Seen(rs.Temperature(0.05), (0, 2, 5), 6)
    rule = rs.calibrate(rs.Ragged.of(SHARES), TRUE, score=score, classes=range(6))
    seen = [row for row in range(60) if TRUE[row] in (0, 2, 5)]
    keys = []
    for row in seen:
        total = sum(share for column, share in enumerate(SHARES[row]) if column in (0, 2, 5)) or 1.0
        shares = [
            share / total if column in (0, 2, 5) else share * 2.0**-60 for column, share in enumerate(SHARES[row])
        ]
        keys.append(-slow_temperature(score.score, shares)[TRUE[row]])
    first, second = rule.calibration.keys
    assert second[first == 0] == pytest.approx(sorted(keys), abs=1e-9)


def test_fitted_scores_keep_to_their_number_of_classes():
    five = rs.Recalibrated(1.0, WEIGHTS, (0.1,) * 5)
    for rows in (np.full((9, 4), 0.25), rs.Ragged.of([[0.5, 0.5]] * 9), np.full((9, 6), 1 / 6)):
        with refused(
            ScoreError, what="Recalibrated(temperature=1, weights=(0.8, 0.3, 0.5, 0.2, 0.4, -0.3, 0.6), facto…"
        ):
            rs.calibrate(rows, [0] * 9, score=five)
    for fit in (rs.Temperature.fit, rs.Recalibrated.fit):
        with refused(
            KindError,
            what="probs",
            received="Ragged(200 rows, 2 to 5 candidates)",
            expected="be a matrix with the same candidates in all rows for a fit",
        ):
            fit(RAGGED, LABELS, kind="logits")


def test_the_index_of_a_series_of_rows_is_kept_and_checked():
    names = [f"row {number}" for number in range(200)]
    series, labels = pd.Series(ROWS, index=names), pd.Series(LABELS, index=names)
    rows = rs.Ragged.of(series)
    rule = rs.calibrate(rows, labels, kind="logits")
    assert rule == rs.calibrate(RAGGED, LABELS, kind="logits")
    sets = rule.predict(rows, 0.1)
    assert sets.to_frame().index.tolist() == names
    for wrong in (labels[::-1], labels.rename(lambda name: f"{name}!")):
        for ask in (
            lambda wrong=wrong: rs.calibrate(rows, wrong, kind="logits"),
            lambda wrong=wrong: rs.calibrate(rs.Ragged(RAGGED.values, pd.Series(COUNTS, names)), wrong, kind="logits"),
            lambda wrong=wrong: rs.compare(rows, wrong, kind="logits", scores=[rs.Thr()], repeats=2),
            lambda wrong=wrong: rs.evaluate(sets, wrong),
        ):
            with refused(InputError, what="labels"):
                ask()
    some = [5, 3, 11]
    assert rule.predict(rows[some], 0.1).to_frame().index.tolist() == [names[row] for row in some]
    rs.calibrate(rows[some], labels.iloc[some], kind="logits")
    with refused(InputError.other_order("labels", "the rows")):
        rs.calibrate(rows[some], labels.iloc[some][::-1], kind="logits")
    assert rs.calibrate(pickle.loads(pickle.dumps(rows)), labels, kind="logits") == rule  # noqa: S301


def test_rows_picked_from_a_default_index_go_with_any_labels():
    """As for frames: row numbers say nothing about the rows."""
    picked = rs.Ragged.of(pd.Series(ROWS))[[5, 3, 11]]
    labels = pd.Series([LABELS[row] for row in (5, 3, 11)], index=["x", "y", "z"])
    assert rs.calibrate(picked, labels, kind="logits").n == 3


def test_the_index_of_a_series_of_answers_is_kept():
    answers = pd.Series([["a", "b"], ["b"], ["b", "a", "b", "b"]], index=["x", "y", "z"])
    found = rs.frequencies(answers, ["a", "b"])
    assert found.to_dict("index") == {"x": {"a": 0.5, "b": 0.5}, "y": {"a": 0, "b": 1}, "z": {"a": 0.25, "b": 0.75}}
    assert found.to_numpy().tolist() == rs.frequencies(answers.tolist(), ["a", "b"]).tolist()
    labels = pd.Series(["a", "b", "b"], index=["x", "y", "z"])
    assert rs.calibrate(found, labels).n == 3
    with refused(InputError.other_order("labels", "the rows")):
        rs.calibrate(found, labels[::-1])


@pytest.mark.parametrize("dtype", [None, np.int64, np.uint64])
def test_whole_numbers_that_floats_lose_are_refused(dtype):
    rows = [[1, 2], [3, 2**53 + 1, 2**53]]
    rows = rows if dtype is None else [np.array(row, dtype=dtype) for row in rows]
    with refused(InputError.not_exact("rows", 1, 1, 9007199254740993)):
        rs.Ragged.of(rows)
    assert rs.Ragged.of([[2**53, 2**60]]).values.tolist() == [[2.0**53, 2.0**60]]


def test_a_mask_with_an_index_is_in_the_order_of_the_rows():
    rows = rs.Ragged.of(pd.Series([[0.5, 0.5], [0.2, 0.8], [1.0]], index=list("abc")))
    mask = pd.Series([True, False, False], index=list("abc"))
    assert list(rows[mask].template.index) == ["a"]
    with refused(InputError.other_order("mask", "the rows")):
        rows[mask[::-1]]


ANY_WIDTH = [
    rs.Rank(),
    rs.Thr(),
    rs.TopK(),
    rs.Margin(),
    rs.Aps(),
    rs.Aps(randomized=False),
    rs.Raps(),
    rs.Saps(),
    rs.TieBreak(rs.TopK()),
    rs.Tempered(rs.Aps(), 2.0),
]


def wider_rows(generator, n, most):
    return [generator.dirichlet(np.ones(generator.integers(1, most + 1))) for _ in range(n)]


@pytest.mark.parametrize("score", ANY_WIDTH, ids=repr)
@pytest.mark.parametrize("grouped", [False, True])
def test_new_rows_can_have_more_candidates_than_any_calibration_row(score, grouped):
    generator = np.random.default_rng(5)
    rows, new = wider_rows(generator, 80, 4), wider_rows(generator, 60, 9)
    labels = [int(generator.integers(len(row))) for row in rows]
    condition, names = (rs.PerGroup(), ["a", "b"]) if grouped else (rs.Marginal(), None)
    groups, new_groups = (names * 40, names * 30) if names else (None, None)
    rule = rs.calibrate(rs.Ragged.of(rows), labels, method=score, condition=condition, groups=groups)
    sets = rule.predict(rs.Ragged.of(new), 0.2, groups=new_groups)
    p_values = rule.p_values(rs.Ragged.of(new), groups=new_groups)
    assert p_values.shape == sets.mask.shape == (60, max(map(len, new)))
    assert sets.mask.tolist() == (p_values > 0.2).tolist()
    assert len(rule.classes) == 4
    for number, row in enumerate(new):
        group = None if new_groups is None else [new_groups[number]]
        alone = rule.predict(rs.Ragged.of([row]), 0.2, groups=group)
        assert alone.to_lists()[0] == sets.to_lists()[number]
    parts = list(rule.predict_parts(rs.Ragged.of(new), 0.2, groups=new_groups, rows=7))
    assert [one for part in parts for one in part.to_lists()] == sets.to_lists()
    filled = rule.predict(rs.Ragged.of(new), 0.2, groups=new_groups, empty="top")
    assert filled.sizes.min() >= 1
    wrong = rs.Ragged.of([*new[:30], [0.5] * 12])
    with pytest.raises(InputError, match="30"):
        rule.predict(wrong, 0.2, groups=None if new_groups is None else new_groups[:31])


def test_wider_rows_get_the_sets_of_a_rule_that_knew_their_width():
    generator = np.random.default_rng(6)
    rows, new = wider_rows(generator, 80, 4), wider_rows(generator, 60, 9)
    labels = [int(generator.integers(len(row))) for row in rows]
    for score in (rs.Rank(), rs.Thr(), rs.TopK(), rs.Margin(), rs.Aps(randomized=False)):
        wide = rs.calibrate(rs.Ragged.of(rows), labels, method=score, classes=range(9))
        narrow = rs.calibrate(rs.Ragged.of(rows), labels, method=score)
        made = [rule.predict(rs.Ragged.of(new), 0.2).to_lists() for rule in (wide, narrow)]
        assert made[0] == made[1]


def test_wider_rows_with_names_are_evaluated():
    rows = [{"Paris": 0.9, "Lyon": 0.1}, {"Rome": 0.6, "Milan": 0.3, "Turin": 0.1}] * 10
    rule = rs.calibrate(rs.Ragged.of(rows), ["Paris", "Milan"] * 10)
    new = rs.Ragged.of([{"Bern": 0.4, "Basel": 0.3, "Geneva": 0.15, "Chur": 0.1, "Uri": 0.05}, {"A": 1.0}])
    sets = rule.predict(new, 0.2)
    assert sets.to_lists() == [["Bern", "Basel"], ["A"]]
    assert rs.evaluate(sets, ["Uri", "A"]).coverage == 0.5
