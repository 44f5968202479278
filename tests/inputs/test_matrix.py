"""Rows that are wrong, at every door that takes rows."""

import numpy as np
import pytest
from scipy import sparse

import rankset as rs
from entry_points import (
    EVERY_SCORE,
    LABELS,
    LOGITS,
    NEW_ROW_DOORS,
    PROBS,
    ROW_DOORS,
    VALUES,
    K,
    N,
    by_group,
    calibrated,
    changed,
    entry_points,
    said,
)
from rankset.errors import InputError, KindError, RuleError
from refusals import refused


@entry_points(ROW_DOORS)
@pytest.mark.parametrize("kind", ["probs", "logits", "decision"])
def test_a_nan_is_named_with_its_row_and_column(door, kind):
    with refused(InputError.missing("probs", 31, 2)):
        door(changed(VALUES[kind], (31, 2), np.nan), kind)


@entry_points(ROW_DOORS)
def test_a_nan_among_binary_probabilities_is_named_with_its_row(door):
    with refused(InputError.missing("probs", 31, 0)):
        door(changed(PROBS[:, 0], 31, np.nan), "binary")


@entry_points(ROW_DOORS)
@pytest.mark.parametrize("kind", ["probs", "logits", "decision"])
def test_plus_infinity_is_named_with_its_row_and_column(door, kind):
    with refused(InputError.infinite("probs", 5, 1, inf)):
        door(changed(VALUES[kind], (5, 1), np.inf), kind)


@entry_points(ROW_DOORS)
def test_infinities_of_both_signs_in_one_row_are_an_error_and_no_numpy_warning(door):
    rows = changed(changed(PROBS, (5, 1), np.inf), (5, 2), -np.inf)
    with refused(InputError.negative("probs", 5, 2, -inf, nan)):
        door(rows)


@entry_points(ROW_DOORS)
@pytest.mark.parametrize("kind", ["logits", "decision"])
def test_a_row_of_nothing_but_minus_infinity_is_refused(door, kind):
    with refused(InputError.all_minus_infinity("probs", 8)):
        door(changed(LOGITS, 8, -np.inf), kind)


def test_a_logit_of_minus_infinity_is_a_probability_of_zero():
    logits = changed(LOGITS, (8, 1), -np.inf)
    rule = rs.calibrate(logits, LABELS, kind="logits")
    assert rs.softmax(logits)[8, 1] == 0
    assert rule == rs.calibrate(changed(LOGITS, (8, 1), -1e9), LABELS, kind="logits")


@entry_points(ROW_DOORS)
@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (changed(PROBS, (4, 2), -0.25), ("got -0.25 at row 4, column 2", "sum", "look like logits", "kind='logits'")),
        (changed(PROBS, (4, 2), -np.inf), ("got -inf at row 4, column 2", "kind='logits'")),
        (changed(PROBS, (4, 2), -1e-12), ("got -1e-12 at row 4, column 2", "rounding: pass np.clip(probs, 0, None)")),
        (LOGITS, ("at row 0, column", "in a row with sum", "look like logits: pass kind='logits'")),
        (
            changed(PROBS, 6, PROBS[6] * 1.02),
            ("within 0.01, got row 6 with sum 1.02", "kind='logits'", "kind='decision'"),
        ),
        (changed(PROBS, 6, 0), ("got row 6 with sum 0.", "kind='logits'")),
        (PROBS * 100, ("got row 0 with sum 100", "percentages: divide by 100")),
        (np.full((N, K), 4.0), ("got row 0 with sum 12", "If they are logits pass kind='logits'")),
        (np.full((N, K), 1e308), ("got row 0 with sum inf",)),
        (np.full((N, K), 60_000, dtype=np.float16), ("got row 0 with sum 180000",)),
        ((PROBS * 100).astype(np.float32), ("got row 0 with sum 100", "divide by 100")),
        (np.full((N, K), 1), ("got row 0 with sum 3",)),
    ],
)
def test_rows_that_are_not_probabilities_are_refused_with_a_guess_at_what_they_are(door, rows, words):
    with pytest.raises(InputError, match=said(*words)):
        door(rows)


@entry_points(NEW_ROW_DOORS)
def test_rows_on_another_scale_than_the_calibration_are_refused(door):
    with refused(InputError.negative("probs", 0, 2, -1.398134418422915, -3.386151812372546)):
        door(LOGITS)
    with refused(InputError.row_sum("probs", 0, 100.0)):
        door(PROBS * 100)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize(("factor", "fits"), [(1.009, True), (0.991, True), (1.012, False), (0.988, False)])
def test_rows_may_miss_a_sum_of_one_by_a_hundredth_whatever_the_dtype(dtype, factor, fits):
    rows = (np.full((N, K), 1 / K) * factor).astype(dtype)
    if fits:
        assert len(calibrated().predict(rows, 0.1)) == N
    else:
        with pytest.raises(InputError, match=said("sum to 1 within 0.01, got row 0")):
            calibrated().predict(rows, 0.1)


@pytest.mark.parametrize("plain", ["0", "1"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("score", [rs.Rank(), rs.Thr(), rs.Aps(randomized=False)], ids=repr)
def test_a_sum_that_misses_by_a_hundredth_exactly_is_near_enough_however_it_is_rounded(
    score, dtype, plain, monkeypatch
):
    monkeypatch.setattr("rankset.core.kernels.WORTHWHILE", 0)
    monkeypatch.setenv("RANKSET_PLAIN", plain)
    rng = np.random.default_rng(0)
    hundredths = [[0.33, 0.33, 0.33], [0.37, 0.61, 0.01], [0.1, 0.2, 0.71], [0.7, 0.21, 0.1], [0.99, 0.0, 0.0]]
    split = rng.multinomial(99, np.ones(3) / 3, 200) / 100, rng.multinomial(101, np.ones(3) / 3, 200) / 100
    scaled = rng.dirichlet(np.ones(3), 200) * 0.99
    rows = np.concatenate((hundredths, *split, scaled)).astype(dtype)
    assert (np.abs(rows.sum(axis=1, dtype=np.float64) - 1) > 0.01).any()
    rule = rs.calibrate(rows, np.arange(len(rows)) % 3, score=score)
    assert len(rule.predict(rows, 0.1)) == len(rows)
    off = 1e-9 if dtype is np.float64 else 1e-6
    for wrong in (0.99 - off, 1.01 + off):
        bad = changed(rows, 7, np.array([wrong - 0.5, 0.25, 0.25]))
        with pytest.raises(InputError, match=said("sum to 1 within 0.01, got row 7")):
            rule.predict(bad, 0.1)
        with pytest.raises(InputError, match=said("sum to 1 within 0.01, got row 7")):
            rs.calibrate(bad, np.arange(len(rows)) % 3, score=score)


@entry_points(ROW_DOORS)
@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (PROBS[:, 0] * 100, ("second class between 0 and 1", "percentages: divide by 100")),
        (changed(PROBS[:, 0], 3, 1.2), ("got 1.2 at row 3", "sigmoid", "kind='logits'")),
        (changed(PROBS[:, 0], 3, -0.1), ("got -0.1 at row 3", "sigmoid", "kind='logits'")),
        (changed(PROBS[:, 0], 3, np.inf), ("got inf at row 3",)),
        (PROBS, ("have shape (n,) for kind='binary', got shape (40, 3)", "kind='probs'")),
    ],
)
def test_binary_probabilities_outside_the_unit_interval_are_refused(door, rows, words):
    with pytest.raises(InputError, match=said(*words)):
        door(rows, "binary")


@entry_points(ROW_DOORS)
@pytest.mark.parametrize("threads", ["1", "3"])
def test_the_first_bad_row_is_named_however_many_blocks_and_threads_there_are(door, threads, monkeypatch):
    monkeypatch.setenv("RANKSET_BLOCK_BYTES", "72")
    monkeypatch.setenv("RANKSET_THREADS", threads)
    with refused(InputError.missing("probs", 17, 0)):
        door(changed(changed(PROBS, (17, 0), np.nan), (36, 1), np.nan))


@entry_points(ROW_DOORS)
@pytest.mark.parametrize(
    ("rows", "error", "words"),
    [
        (PROBS[0], InputError, ("have shape (n, K), got shape (3,)", "reshape(1, -1)", "kind='binary'")),
        (PROBS[np.newaxis], InputError, ("have shape (n, K), got shape (1, 40, 3)", "one column per class")),
        (np.array(0.5), InputError, ("have shape (n, K), got shape ()",)),
        (np.zeros((4, 0)), InputError, ("got shape (4, 0)", "at least one column")),
        ([[0.5, 0.5, 0.0], [1.0, 0.0]], InputError, ("rows of one length",)),
        (np.array([[0.5, 0.5, 0.0], [1.0, 0.0]], dtype=object), InputError, ("rows of one length",)),
        (changed(PROBS.astype(object), (3, 1), "0.2"), KindError, ("numbers only, got '0.2' at row 3, column 1",)),
        (changed(PROBS.astype(object), (3, 1), None), KindError, ("numbers only, got None at row 3, column 1",)),
        (changed(PROBS.astype(object), (3, 1), 1j), KindError, ("numbers only, got 1j at row 3, column 1",)),
        (changed(PROBS.astype(object), (3, 1), 10**400), KindError, ("got 1000", "… at row 3, column 1")),
        (changed(PROBS.astype(object), (3, 1), np.nan), InputError, ("got NaN at row 3, column 1",)),
        (PROBS + 0j, KindError, ("got an array of complex128", "values.real")),
        (np.zeros(N, dtype=[("cat", float), ("dog", float)]), KindError, ("got a structured array", "plain matrix")),
        (np.zeros((N, K), dtype="V8"), KindError, ("got an array of |V8", "Pass an array of floats")),
        (np.ma.array(PROBS, mask=PROBS > 0.5), KindError, ("got a masked array", "Fill or drop")),
        (sparse.csr_matrix(PROBS), KindError, ("got a sparse matrix", "values.toarray()")),
        (sparse.coo_array(PROBS), KindError, ("got a sparse matrix", "values.toarray()")),
        (PROBS.astype(str), KindError, ("got an array of <U", "values.astype(float)")),
        (np.zeros((N, K), dtype="M8[D]"), KindError, ("got an array of datetime64[D]", "floats")),
        ((row for row in PROBS), KindError, ("got generator", "a list of rows")),
        ({"cat": 0.5}, KindError, ("got dict", "a list of rows")),
        (None, KindError, ("got NoneType", "a list of rows")),
        (0.5, KindError, ("got float", "a list of rows")),
        ("probs.npy", KindError, ("got str", "a list of rows")),
    ],
)
def test_what_is_no_matrix_of_real_numbers_is_refused_with_what_to_pass(door, rows, error, words):
    with pytest.raises(error, match=said("probs must ", *words)):
        door(rows)


@entry_points(NEW_ROW_DOORS)
@pytest.mark.parametrize("rows", [PROBS[:, :2], np.hstack([PROBS, PROBS]), np.zeros((0, 2))])
def test_another_number_of_columns_is_refused_with_both_numbers(door, rows):
    words = said("the 3 columns of the calibration", f"got {rows.shape[1]}", "in the order used to calibrate")
    with pytest.raises(InputError, match=words):
        door(rows)


def test_calibration_without_rows_is_refused():
    with refused(InputError.no_rows()):
        rs.calibrate(np.zeros((0, K)), [])
    with refused(InputError, what="probs", received="shape (0,)", remedy="Pass at least one row."):
        rs.calibrate([], [])
    with refused(InputError.no_rows()):
        rs.calibrate([], [], kind="binary")


@pytest.mark.parametrize("rows", [[], np.zeros((0, K)), np.zeros((0, K), dtype=np.float32)])
@pytest.mark.parametrize("score", EVERY_SCORE, ids=repr)
def test_no_test_rows_give_an_empty_answer_of_the_right_shape(rows, score):
    rule = rs.calibrate(PROBS, LABELS, score=score)
    sets = rule.predict(rows, 0.1)
    assert (len(sets), sets.mask.shape, list(sets)) == (0, (0, K), [])
    assert rule.p_values(rows).shape == (0, K)
    assert sets.covers([]).shape == (0,)
    assert rule.update(rows, []) == rule


def test_no_test_rows_pass_through_binary_rules_and_rules_with_groups():
    assert calibrated("binary").predict([], 0.1).mask.shape == (0, 2)
    assert by_group().predict([], 0.1, groups=[]).mask.shape == (0, K)
    assert by_group().p_values([], groups=[]).shape == (0, K)


def test_an_average_over_no_rows_is_refused():
    with refused(RuleError.no_unlabelled_rows()):
        calibrated().expected_size([], 0.1)
    with refused(InputError.no_rows_to_evaluate()):
        rs.evaluate(calibrated().predict([], 0.1), [])


@pytest.mark.parametrize("kind", ["prob", "PROBS", None, 3, ["probs"], np.array(["probs", "logits"])], ids=repr)
def test_an_unknown_kind_is_refused_with_the_known_ones(kind):
    with pytest.raises(RuleError, match="kind must be one of 'probs', 'logits', 'decision', 'binary', got"):
        rs.calibrate(PROBS, LABELS, kind=kind)
