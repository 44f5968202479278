"""Factors of classes from outputs: shares are recovered, errors are right, checks notice what they can."""

import numpy as np
import pytest

import rankset as rs
from rankset.errors import InputError, KindError, LabelError
from rankset.scores.recalibration.logarithms import log_probabilities
from rankset.shift.factors_by_bbse import solved_factors
from rankset.shift.recalibrated_rows import Biases
from rankset.shift.shares_by_em import em_step, most_likely_shares
from refusals import refused

SOURCE = np.array([0.4, 0.3, 0.2, 0.1])
TARGET = np.array([0.1, 0.2, 0.3, 0.4])
CENTRES = np.random.default_rng(0).normal(0, 1.3, (4, 3))


def problem(n, shares, seed, *, distort=True):
    """Rows of four normal classes: probabilities by the law of SOURCE, exact or with a bias and a temperature."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(4, n, p=shares)
    points = CENTRES[labels] + rng.normal(size=(n, 3))
    logits = points @ CENTRES.T - np.square(CENTRES).sum(axis=1) / 2 + np.log(SOURCE)
    return rs.softmax(1.7 * logits + [0.5, 0, 0, -0.7] if distort else logits), labels


def test_em_recovers_shares_where_probabilities_are_exact():
    probs, labels = problem(200_000, TARGET, 0, distort=False)
    found = most_likely_shares(probs / SOURCE, SOURCE)
    np.testing.assert_allclose(found, np.bincount(labels) / len(labels), atol=0.005)


def test_em_ends_where_slow_em_ends():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        ratios = rng.dirichlet(np.full(6, 0.3), 80) * 6
        slow = np.full(6, 1 / 6)
        for _ in range(20_000):
            slow = em_step(ratios, slow)
        np.testing.assert_allclose(most_likely_shares(ratios, np.full(6, 1 / 6)), slow, atol=1e-4)


def test_biases_are_the_most_likely_ones_with_their_penalty():
    probs, labels = problem(500, SOURCE, 0)
    logs = log_probabilities(probs)
    fit = Biases.fit_logs(logs, labels)
    assert fit.slopes(logs, labels).sum(axis=0) == pytest.approx([fit.scale - 1, *fit.biases], abs=1e-6)
    assert fit.scale == pytest.approx(1 / 1.7, rel=0.25)
    many = Biases.fit_logs(log_probabilities(problem(50_000, SOURCE, 1)[0]), problem(50_000, SOURCE, 1)[1])
    assert many.scale == pytest.approx(1 / 1.7, rel=0.03)


@pytest.mark.parametrize("method", ["em", "bbse"])
def test_both_estimates_find_the_shares(method):
    shift = rs.shift.labels(*problem(20_000, SOURCE, 0), problem(20_000, TARGET, 1)[0], method=method)
    np.testing.assert_allclose(shift.shares, TARGET, atol=0.05)
    np.testing.assert_allclose(shift.factors, TARGET / SOURCE, rtol=0.3)
    np.testing.assert_allclose(np.array(shift.factors) * shift.source_shares, shift.shares)
    assert sum(shift.shares) == pytest.approx(1)
    assert shift.doubts == ()
    assert shift.condition == rs.LabelShift(shift.factors)


def test_without_recalibration_the_shares_would_be_wrong():
    probs, _ = problem(20_000, TARGET, 1)
    raw = most_likely_shares(probs / SOURCE, SOURCE)
    assert np.abs(raw - TARGET).sum() > 0.15


@pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")
def test_standard_errors_are_the_spread_over_fresh_rows():
    found = []
    for seed in range(150):
        rows = *problem(400, SOURCE, 2 * seed), problem(300, TARGET, 2 * seed + 1)[0]
        shift = rs.shift.labels(*rows)
        found.append((shift.factors, shift.errors, shift.others, shift.other_errors))
    factors, errors, others, other_errors = np.array(found).transpose(1, 0, 2)
    np.testing.assert_allclose(np.sqrt(np.square(errors).mean(axis=0)), factors.std(axis=0), rtol=0.3)
    np.testing.assert_allclose(np.sqrt(np.square(other_errors).mean(axis=0)), others.std(axis=0), rtol=0.3)
    losses = np.abs(factors - TARGET / SOURCE) @ SOURCE / 2
    estimated = rs.shift.labels(*rows).coverage_loss
    assert estimated == pytest.approx(losses.mean(), rel=0.3)


def test_moves_of_bbse_are_its_derivatives():
    probs, labels = problem(200, SOURCE, 0)
    new = problem(100, TARGET, 1)[0]
    factors, from_labelled, from_new = solved_factors(probs, labels, new)
    np.testing.assert_allclose(from_labelled.sum(axis=0), 0, atol=1e-9)
    again = solved_factors(probs, labels, np.concatenate((new, new[:1])))[0]
    np.testing.assert_allclose(again - factors, from_new[0] * 100 / 101, rtol=1e-6)


@pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")
def test_checks_fail_rarely_without_a_change_and_see_other_outputs():
    doubts = [rs.shift.labels(*problem(400, SOURCE, s), problem(400, TARGET, s + 999)[0]) for s in range(100)]
    assert sum(bool(shift.doubts) for shift in doubts) <= 3
    flatter = np.sqrt(problem(2000, TARGET, 1)[0])
    with pytest.warns(rs.RanksetWarning, match="not a mix"):
        shift = rs.shift.labels(*problem(2000, SOURCE, 0), flatter / flatter.sum(axis=1, keepdims=True))
    assert shift.output_gap > 5
    assert "in doubt" in repr(shift)
    assert "in doubt" in str(shift)


def test_estimates_that_disagree_are_told():
    probs, labels = problem(5000, SOURCE, 0)
    new, _ = problem(5000, SOURCE, 1)
    hard = np.full(new.shape, 0.01)
    hard[np.arange(len(new)), np.argsort(new, axis=1)[:, 1]] = 0.97  # sure of what was second
    with pytest.warns(rs.RanksetWarning):
        shift = rs.shift.labels(probs, labels, hard)
    assert shift.doubts


def test_a_class_that_is_gone_has_a_factor_near_zero_and_can_calibrate():
    gone = np.array([0.5, 0.3, 0.2, 0.0])
    shift = rs.shift.labels(*problem(5000, SOURCE, 0), problem(5000, gone, 1)[0])
    assert shift.factors[3] < 0.25
    assert np.isfinite(shift.errors).all()
    new, labels = problem(3000, gone, 3)
    rule = rs.calibrate(*problem(3000, SOURCE, 2), method="thr", condition=shift.condition)
    assert 0.88 < rule.predict(new, alpha=0.1).covers(labels).mean() < 0.93


@pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")
def test_classes_without_labelled_rows_keep_the_factor_1():
    probs, labels = problem(2000, SOURCE, 0)
    kept = labels != 2
    shift = rs.shift.labels(probs[kept], labels[kept], problem(1000, TARGET, 1)[0])
    assert shift.factors[2] == shift.others[2] == 1
    assert np.isnan(shift.errors[2])
    assert shift.shares[2] == shift.source_shares[2] == 0
    assert np.isfinite(shift.coverage_loss)
    assert "1 classes have no labelled rows" in str(shift)
    assert len(shift.condition.factors) == 4


def test_names_frames_logits_and_absent_labels():
    probs, labels = problem(600, SOURCE, 0)
    new = problem(500, TARGET, 1)[0]
    plain, names = rs.shift.labels(probs, labels, new), np.array(list("abcd"))
    named = rs.shift.labels(probs, names[labels], new, classes=names)
    assert named.factors == plain.factors
    assert named.classes == tuple("abcd")
    logits = rs.shift.labels(np.log(probs), labels, np.log(new), kind="logits")
    np.testing.assert_allclose(logits.factors, plain.factors, rtol=1e-6)
    some = [*labels[:-1].tolist(), rs.ABSENT]
    assert rs.shift.labels(probs, some, new).n_fit == 599
    pd = pytest.importorskip("pandas")
    frames = [pd.DataFrame(rows, columns=list("abcd")) for rows in (probs, new)]
    assert rs.shift.labels(frames[0], names[labels], frames[1][list("dcba")]).factors == plain.factors


@pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")
def test_binary_outputs():
    probs, labels = problem(2000, SOURCE, 0)
    first = labels < 2
    binary = probs[:, 2:].sum(axis=1)
    shift = rs.shift.labels(binary, (~first).astype(int), problem(2000, TARGET, 1)[0][:, 2:].sum(axis=1), kind="binary")
    assert len(shift.factors) == 2
    assert shift.factors[1] > 1.5


def test_many_classes_are_shown_shortly():
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.full(50, 0.1), 1500)
    labels = np.array([rng.choice(50, p=row) for row in probs])
    shift = rs.shift.labels(probs[:1000], labels[:1000], probs[1000:])
    assert len(str(shift).splitlines()) < 40
    assert "and 20 classes with factors closer to 1" in str(shift)
    assert shift._repr_html_().count("<tr>") == 31


PROBS, LABELS = problem(60, SOURCE, 0)
NEW = problem(40, TARGET, 1)[0]


@pytest.mark.parametrize(
    ("call", "wanted", "fields"),
    [
        (lambda: rs.shift.labels(PROBS, LABELS, PROBS), InputError.same_rows("fit_outputs", "target_outputs"), {}),
        (lambda: rs.shift.labels(PROBS, LABELS, NEW[:, :3]), InputError.columns("probs", 4, 3), {}),
        (lambda: rs.shift.labels(PROBS, LABELS, NEW[:0]), InputError, {"what": "target_outputs"}),
        (lambda: rs.shift.labels(PROBS[:0], LABELS[:0], NEW), InputError, {"what": "fit_outputs"}),
        (lambda: rs.shift.labels(PROBS, [rs.ABSENT] * 60, NEW), InputError, {"what": "fit_outputs"}),
        (lambda: rs.shift.labels(PROBS, LABELS * 0 + 2, NEW), InputError.one_class(2), {}),
        (lambda: rs.shift.labels(PROBS, LABELS[:-1], NEW), InputError, {"what": "labels"}),
        (lambda: rs.shift.labels(PROBS, LABELS + 9, NEW), LabelError, {}),
        (lambda: rs.shift.labels(PROBS, LABELS, NEW * np.nan), InputError, {"row": 0}),
        (lambda: rs.shift.labels(PROBS, LABELS, NEW, kind="decision"), KindError, {"what": "kind"}),
        (lambda: rs.shift.labels(PROBS, LABELS, NEW, kind="marginals"), KindError, {"what": "kind"}),
        (lambda: rs.shift.labels(PROBS, LABELS, NEW, method="EM"), KindError, {"what": "method"}),
        (lambda: rs.shift.labels(rs.Ragged.of(PROBS.tolist()), LABELS, NEW), KindError, {}),
    ],
)
def test_what_is_refused(call, wanted, fields):
    with refused(wanted, **fields):
        call()
