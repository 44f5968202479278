"""Rows that are wrong, at every entry_point that takes rows."""

import numpy as np
import pytest
from scipy import sparse

import rankset as rs
from entry_points import (
    EVERY_SCORE,
    LABELS,
    LOGITS,
    NEW_ROW_ENTRY_POINTS,
    PROBS,
    ROW_ENTRY_POINTS,
    VALUES,
    K,
    N,
    by_group,
    calibrated,
    changed,
    entry_points,
)
from rankset.errors import InputError, KindError, RuleError
from refusals import like, refused


@entry_points(ROW_ENTRY_POINTS)
@pytest.mark.parametrize("kind", ["probs", "logits", "decision"])
def test_a_nan_is_named_with_its_row_and_column(entry_point, kind):
    with refused(InputError.missing("probs", 31, 2)):
        entry_point(changed(VALUES[kind], (31, 2), np.nan), kind)


@entry_points(ROW_ENTRY_POINTS)
def test_a_nan_among_binary_probabilities_is_named_with_its_row(entry_point):
    with refused(InputError.missing("probs", 31, 0)):
        entry_point(changed(PROBS[:, 0], 31, np.nan), "binary")


@entry_points(ROW_ENTRY_POINTS)
@pytest.mark.parametrize("kind", ["probs", "logits", "decision"])
def test_plus_infinity_is_named_with_its_row_and_column(entry_point, kind):
    with refused(InputError.infinite("probs", 5, 1, np.inf)):
        entry_point(changed(VALUES[kind], (5, 1), np.inf), kind)


@entry_points(ROW_ENTRY_POINTS)
def test_infinities_of_both_signs_in_one_row_are_an_error_and_no_numpy_warning(entry_point):
    rows = changed(changed(PROBS, (5, 1), np.inf), (5, 2), -np.inf)
    with refused(InputError.negative("probs", 5, 2, -np.inf, np.nan)):
        entry_point(rows)


@entry_points(ROW_ENTRY_POINTS)
@pytest.mark.parametrize("kind", ["logits", "decision"])
def test_a_row_of_nothing_but_minus_infinity_is_refused(entry_point, kind):
    with refused(InputError.all_minus_infinity("probs", 8)):
        entry_point(changed(LOGITS, 8, -np.inf), kind)


def test_a_logit_of_minus_infinity_is_a_probability_of_zero():
    logits = changed(LOGITS, (8, 1), -np.inf)
    rule = rs.calibrate(logits, LABELS, kind="logits")
    assert rs.softmax(logits)[8, 1] == 0
    assert rule == rs.calibrate(changed(LOGITS, (8, 1), -1e9), LABELS, kind="logits")


@entry_points(ROW_ENTRY_POINTS)
@pytest.mark.parametrize(
    ("rows", "refusal"),
    [
        (changed(PROBS, (4, 2), -0.25), InputError.negative("probs", 4, 2, -0.25, 0.2615639218334549)),
        (changed(PROBS, (4, 2), -np.inf), InputError.negative("probs", 4, 2, -np.inf, -np.inf)),
        (changed(PROBS, (4, 2), -1e-12), InputError.negative("probs", 4, 2, -1e-12, 0.5115639218324549)),
        (LOGITS, InputError.negative("probs", 0, 2, -1.398134418422915, -3.386151812372546)),
        (
            changed(PROBS, 6, PROBS[6] * 1.02),
            InputError.row_sum("probs", 6, 1.02),
        ),
        (changed(PROBS, 6, 0), InputError.row_sum("probs", 6, 0.0)),
        (PROBS * 100, InputError.row_sum("probs", 0, 100.0)),
        (np.full((N, K), 4.0), InputError.row_sum("probs", 0, 12.0)),
        (np.full((N, K), 1e308), InputError.row_sum("probs", 0, np.inf)),
        (np.full((N, K), 60_000, dtype=np.float16), InputError.row_sum("probs", 0, 180000.0)),
        ((PROBS * 100).astype(np.float32), InputError.row_sum("probs", 0, 99.99999809265137)),
        (np.full((N, K), 1), InputError.row_sum("probs", 0, 3.0)),
    ],
)
def test_rows_that_are_not_probabilities_are_refused_with_a_guess_at_what_they_are(entry_point, rows, refusal):
    with refused(refusal):
        entry_point(rows)


@entry_points(NEW_ROW_ENTRY_POINTS)
def test_rows_on_another_scale_than_the_calibration_are_refused(entry_point):
    with refused(InputError.negative("probs", 0, 2, -1.398134418422915, -3.386151812372546)):
        entry_point(LOGITS)
    with refused(InputError.row_sum("probs", 0, 100.0)):
        entry_point(PROBS * 100)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize(("factor", "fits"), [(1.009, True), (0.991, True), (1.012, False), (0.988, False)])
def test_rows_may_miss_a_sum_of_one_by_a_hundredth_whatever_the_dtype(dtype, factor, fits):
    rows = (np.full((N, K), 1 / K) * factor).astype(dtype)
    if fits:
        assert len(calibrated().predict(rows, 0.1)) == N
    else:
        with refused(InputError, what="probs", row=0, expected="have rows that sum to 1 within 0.01"):
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
        with refused(InputError, what="probs", row=7, expected="have rows that sum to 1 within 0.01"):
            rule.predict(bad, 0.1)
        with refused(InputError, what="probs", row=7, expected="have rows that sum to 1 within 0.01"):
            rs.calibrate(bad, np.arange(len(rows)) % 3, score=score)


@entry_points(ROW_ENTRY_POINTS)
@pytest.mark.parametrize(
    ("rows", "refusal"),
    [
        (PROBS[:, 0] * 100, InputError.not_in_unit_interval("probs", 0, 30.745014424701218, 83.36763620642445)),
        (changed(PROBS[:, 0], 3, 1.2), InputError.not_in_unit_interval("probs", 3, 1.2, 1.2)),
        (changed(PROBS[:, 0], 3, -0.1), InputError.not_in_unit_interval("probs", 3, -0.1, 0.8336763620642446)),
        (changed(PROBS[:, 0], 3, np.inf), InputError.not_in_unit_interval("probs", 3, np.inf, np.inf)),
        (
            PROBS,
            like(
                InputError,
                what="probs",
                received="shape (40, 3)",
                expected="have shape (n,) for kind='binary'",
                remedy="Pass only the probability of the second class. Or pass kind='probs' for a matrix.",
            ),
        ),
    ],
)
def test_binary_probabilities_outside_the_unit_interval_are_refused(entry_point, rows, refusal):
    with refused(refusal):
        entry_point(rows, "binary")


@entry_points(ROW_ENTRY_POINTS)
@pytest.mark.parametrize("threads", ["1", "3"])
def test_the_first_bad_row_is_named_however_many_blocks_and_threads_there_are(entry_point, threads, monkeypatch):
    monkeypatch.setenv("RANKSET_BLOCK_BYTES", "72")
    monkeypatch.setenv("RANKSET_THREADS", threads)
    with refused(InputError.missing("probs", 17, 0)):
        entry_point(changed(changed(PROBS, (17, 0), np.nan), (36, 1), np.nan))


@entry_points(ROW_ENTRY_POINTS)
@pytest.mark.parametrize(
    ("rows", "refusal"),
    [
        (
            PROBS[0],
            like(
                InputError,
                what="probs",
                received="shape (3,)",
                expected="have shape (n, K)",
                remedy="For one row pass values.reshape(1, -1). "
                "If the values are probabilities of the second of two classes, pass kind='binary'.",
            ),
        ),
        (
            PROBS[np.newaxis],
            InputError.shape("probs", "(n, K)", (1, 40, 3), "Pass one row per sample and one column per class."),
        ),
        (np.array(0.5), InputError.shape("probs", "(n, K)", (), "Pass one row per sample and one column per class.")),
        (np.zeros((4, 0)), InputError.shape("probs", "(n, K)", (4, 0), "Pass one column per class.")),
        ([[0.5, 0.5, 0.0], [1.0, 0.0]], InputError.ragged("probs")),
        (np.array([[0.5, 0.5, 0.0], [1.0, 0.0]], dtype=object), InputError.ragged("probs")),
        (changed(PROBS.astype(object), (3, 1), "0.2"), KindError.cell("probs", 3, 1, "0.2")),
        (changed(PROBS.astype(object), (3, 1), None), KindError.cell("probs", 3, 1, None)),
        (
            changed(PROBS.astype(object), (3, 1), 1j),
            like(
                KindError,
                what="probs",
                received="1j",
                row=3,
                column=1,
                expected="contain only numbers",
            ),
        ),
        (
            changed(PROBS.astype(object), (3, 1), 10**400),
            like(
                KindError,
                what="probs",
                received="1000000000000000000000000000000000000000000000000000000000000000000000000000000…",
                row=3,
                column=1,
            ),
        ),
        (changed(PROBS.astype(object), (3, 1), np.nan), InputError.missing("probs", 3, 1)),
        (
            PROBS + 0j,
            KindError.not_a_matrix(
                "probs", "an array of complex128", "If only the real part is needed, pass values.real."
            ),
        ),
        (
            np.zeros(N, dtype=[("cat", float), ("dog", float)]),
            KindError.not_a_matrix("probs", "a structured array", "Pass a plain matrix, one column per class."),
        ),
        (np.zeros((N, K), dtype="V8"), KindError.not_a_matrix("probs", "an array of |V8", "Pass an array of floats.")),
        (
            np.ma.array(PROBS, mask=PROBS > 0.5),
            KindError.not_a_matrix("probs", "a masked array", "Fill the masked entries, or drop their rows."),
        ),
        (sparse.csr_matrix(PROBS), KindError.not_a_matrix("probs", "a sparse matrix", "Pass values.toarray().")),
        (sparse.coo_array(PROBS), KindError.not_a_matrix("probs", "a sparse matrix", "Pass values.toarray().")),
        (PROBS.astype(str), KindError.not_a_matrix("probs", "an array of <U32", "Pass values.astype(float).")),
        (
            np.zeros((N, K), dtype="M8[D]"),
            KindError.not_a_matrix("probs", "an array of datetime64[D]", "Pass an array of floats."),
        ),
        ((row for row in PROBS), KindError.not_a_matrix("probs", "generator", "Pass an array or a list of rows.")),
        ({"cat": 0.5}, KindError.not_a_matrix("probs", "dict", "Pass an array or a list of rows.")),
        (None, KindError.not_a_matrix("probs", "NoneType", "Pass an array or a list of rows.")),
        (0.5, KindError.not_a_matrix("probs", "float", "Pass an array or a list of rows.")),
        ("probs.npy", KindError.not_a_matrix("probs", "str", "Pass an array or a list of rows.")),
    ],
)
def test_what_is_no_matrix_of_real_numbers_is_refused_with_what_to_pass(entry_point, rows, refusal):
    with refused(refusal):
        entry_point(rows)


@entry_points(NEW_ROW_ENTRY_POINTS)
@pytest.mark.parametrize("rows", [PROBS[:, :2], np.hstack([PROBS, PROBS]), np.zeros((0, 2))])
def test_another_number_of_columns_is_refused_with_both_numbers(entry_point, rows):
    with refused(InputError.columns("probs", 3, rows.shape[1])):
        entry_point(rows)


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
    known = "'probs', 'logits', 'decision', 'binary', 'marginals', 'marginal_logits'"
    with refused(RuleError, what="kind", expected=f"be one of {known}"):
        rs.calibrate(PROBS, LABELS, kind=kind)
