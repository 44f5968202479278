"""Weights of rows by the outputs of two sources: cross-fitting, scale, independence of rows, and what is refused."""

import copy
import pickle

import numpy as np
import pytest

import rankset as rs
from rankset.errors import InputError, KindError, SplitError
from rankset.inputs.prepare import prepare
from rankset.shift import domain_fit
from rankset.shift.features import LARGEST, NAMES, features_of
from refusals import refused

pytestmark = pytest.mark.filterwarnings("ignore:.*hardly overlap:rankset.RanksetWarning")


def rows_of(n, seed, sharp=1.0, n_classes=4):
    return np.random.default_rng(seed).dirichlet(np.full(n_classes, 1 / sharp), n)


SOURCE, TARGET, OTHERS = rows_of(300, 0), rows_of(400, 1, 3), rows_of(50, 2)


def test_features_are_those_of_one_row():
    row = np.array([[0.1, 0.6, 0.0, 0.3]])
    found = features_of(prepare(row))[0]
    entropy = -sum(p * np.log(p) for p in (0.1, 0.6, 0.3))
    assert found == pytest.approx([*np.log([0.6, 0.3, 0.1, 1e-12, 1e-12]), entropy, 0.3])
    assert len(NAMES) == len(found) == LARGEST + 2


@pytest.mark.parametrize("n_classes", [2, 3, 5, 6, 40])
def test_features_do_not_depend_on_the_order_of_columns(n_classes):
    rows = rows_of(20, 0, n_classes=n_classes)
    np.testing.assert_array_equal(features_of(prepare(rows)), features_of(prepare(rows[:, ::-1])))


def test_no_row_is_judged_by_a_fit_that_saw_it():
    features = np.concatenate((features_of(prepare(SOURCE)), features_of(prepare(TARGET))))
    is_target = np.arange(len(features)) >= len(SOURCE)
    numbers = domain_fit.fold_numbers(is_target, 5, 0)
    before = domain_fit.left_out_logs(domain_fit.fit_folds(features, is_target, numbers), features, numbers)
    spoilt, wrong = features.copy(), is_target.copy()
    hit = np.flatnonzero(numbers == 2)
    spoilt[hit[1:]] += 100
    wrong[hit] = ~wrong[hit]
    after = domain_fit.left_out_logs(domain_fit.fit_folds(spoilt, wrong, numbers), spoilt, numbers)
    assert after[hit[0]] == before[hit[0]]  # its own fold does not matter
    assert not np.isclose(after[numbers != 2], before[numbers != 2]).any()  # the others' folds saw the change


def test_fits_that_saw_their_rows_are_noticed():
    """The planted mistake: with rows that do not differ, fits on all rows tell them apart, cross-fitted ones do not."""
    areas = {"honest": [], "planted": []}
    for seed in range(40):
        rng = np.random.default_rng(seed)
        features, is_target = rng.normal(size=(60, 7)), np.arange(60) >= 30
        numbers = domain_fit.fold_numbers(is_target, 5, seed)
        fits = domain_fit.fit_folds(features, is_target, numbers)
        all_rows = [domain_fit.LogRatio.fit(features, is_target)] * 5
        for name, own in (("honest", fits), ("planted", all_rows)):
            logs = domain_fit.left_out_logs(own, features, numbers)
            areas[name].append(domain_fit.area_under_curve(logs[~is_target], logs[is_target])[0])
    assert np.mean(areas["honest"]) < 0.53
    assert np.mean(areas["planted"]) > 0.6


def test_folds_are_even_in_both_sources():
    is_target = np.arange(103) >= 50
    numbers = domain_fit.fold_numbers(is_target, 5, 3)
    for own in (is_target, ~is_target):
        counts = np.bincount(numbers[own])
        assert len(counts) == 5
        assert np.ptp(counts) <= 1


def test_weights_of_a_row_depend_on_this_row_alone():
    shift = rs.shift.covariate(SOURCE, TARGET)
    together = shift.weights(OTHERS)
    np.testing.assert_array_equal(shift.weights(OTHERS[::-1]), together[::-1])
    np.testing.assert_array_equal(np.concatenate([shift.weights(row[None]) for row in OTHERS]), together)


def test_both_sources_have_one_scale():
    shift = rs.shift.covariate(SOURCE, TARGET)
    assert shift.source_weights.mean() == pytest.approx(1)
    assert shift.weights(SOURCE).mean() == pytest.approx(1)
    assert shift.target_weights.mean() > 1.5
    assert rs.shift.effective_rows(shift.source_weights) == pytest.approx(len(SOURCE) * shift.effective_share)


def test_the_true_ratio_is_found_where_it_has_the_form_of_the_model():
    rng = np.random.default_rng(0)
    pool = rows_of(60_000, 5, 2)
    true = np.exp(3 * pool.max(axis=1))
    true /= true.mean()
    source = pool[rng.choice(len(pool), 20_000)]
    target = pool[rng.choice(len(pool), 20_000, p=true / true.sum())]
    shift = rs.shift.covariate(source, target)
    loss = np.abs(shift.weights(pool) - true).mean() / 2
    assert loss < 0.05
    assert 0.3 < shift.coverage_loss / loss < 3


def test_sources_that_do_not_differ():
    shift = rs.shift.covariate(rows_of(2000, 3), rows_of(2000, 4))
    assert abs(shift.auc - 0.5) < 4 * shift.auc_error
    assert shift.effective_share > 0.97
    assert shift.n_clipped == 0


def test_sources_without_common_rows_are_clipped():
    shift = rs.shift.covariate(np.tile([0.9, 0.1], (50, 1)), np.tile([0.6, 0.4], (50, 1)), clip=5)
    assert shift.auc == 1
    assert shift.n_clipped == 50
    assert shift.weights([[0.6, 0.4]])[0] == pytest.approx(shift.clip / shift.mean_ratio)


def test_area_under_the_curve_counts_pairs():
    rng = np.random.default_rng(0)
    source, target = rng.integers(0, 5, 30).astype(float), rng.integers(1, 6, 20).astype(float)
    pairs = np.mean([(b > a) + 0.5 * (a == b) for a in source for b in target])
    assert domain_fit.area_under_curve(source, target)[0] == pytest.approx(pairs)
    found = [domain_fit.area_under_curve(rng.normal(size=40), rng.normal(0.5, 1, 60)) for _ in range(400)]
    areas, errors = np.array(found).T
    assert np.std(areas) == pytest.approx(errors.mean(), rel=0.1)


@pytest.mark.parametrize(
    ("kind", "make"),
    [
        ("logits", np.log),
        ("binary", lambda probs: probs[:, 0]),
        ("marginals", lambda probs: probs),
        ("marginal_logits", lambda probs: np.log(probs) - np.log1p(-probs)),
    ],
)
def test_every_kind_of_probabilities(kind, make):
    shift = rs.shift.covariate(make(SOURCE), make(TARGET), kind=kind)
    assert shift.weights(make(OTHERS)).shape == (50,)
    if kind == "logits":
        np.testing.assert_allclose(shift.weights(make(OTHERS)), rs.shift.covariate(SOURCE, TARGET).weights(OTHERS))


def test_frames_and_ragged_rows():
    pd = pytest.importorskip("pandas")
    names = list("abcd")
    frames = [pd.DataFrame(rows, columns=names) for rows in (SOURCE, TARGET, OTHERS)]
    shift, plain = rs.shift.covariate(*frames[:2]), rs.shift.covariate(SOURCE, TARGET)
    np.testing.assert_array_equal(shift.weights(frames[2][names[::-1]]), plain.weights(OTHERS))
    ragged = [rs.Ragged.of([row.tolist() for row in rows]) for rows in (SOURCE, TARGET, OTHERS)]
    np.testing.assert_allclose(rs.shift.covariate(*ragged[:2]).weights(ragged[2]), plain.weights(OTHERS))
    assert rs.shift.covariate(*ragged[:2]).weights(rs.Ragged.of([[0.5, 0.5], [0.2, 0.3, 0.5]])).shape == (2,)


def test_what_is_shown_and_kept():
    shift = rs.shift.covariate(SOURCE, TARGET)
    assert "300 and 400 rows" in repr(shift)
    assert str(shift).splitlines()[1] == "  rows            300 of the source, 400 of the target"
    assert "AUC" in shift._repr_html_()
    for other in (copy.deepcopy(shift), pickle.loads(pickle.dumps(shift))):  # noqa: S301
        np.testing.assert_array_equal(other.weights(OTHERS), shift.weights(OTHERS))
    with pytest.raises(ValueError, match="read-only"):
        shift.source_weights[0] = 1


@pytest.mark.parametrize(
    ("call", "wanted", "fields"),
    [
        (lambda: rs.shift.covariate(SOURCE, SOURCE), InputError.same_rows("source_outputs", "target_outputs"), {}),
        (lambda: rs.shift.covariate(SOURCE, SOURCE.copy()), InputError, {"received": "the same rows twice"}),
        (lambda: rs.shift.covariate(SOURCE, TARGET[:, :3] / 0.9), InputError.columns("probs", 4, 3), {}),
        (lambda: rs.shift.covariate(SOURCE, TARGET[:0]), InputError, {"what": "target_outputs"}),
        (lambda: rs.shift.covariate(SOURCE[:3], TARGET), InputError.too_few_rows_of_source("source_outputs", 5, 3), {}),
        (lambda: rs.shift.covariate([[0.5, np.nan]] * 9, [[0.5, 0.5]] * 9), InputError, {"row": 0, "column": 1}),
        (lambda: rs.shift.covariate(SOURCE, TARGET, kind="decision"), KindError, {"what": "kind"}),
        (lambda: rs.shift.covariate(SOURCE, TARGET, folds=1), SplitError, {"what": "folds of covariate"}),
        (lambda: rs.shift.covariate(SOURCE, TARGET, folds=True), SplitError, {"what": "folds of covariate"}),
        (lambda: rs.shift.covariate(SOURCE, TARGET, clip=1), KindError, {"what": "clip"}),
        (lambda: rs.shift.covariate(SOURCE, TARGET).weights(OTHERS[:, :2]), InputError.columns("probs", 4, 2), {}),
    ],
)
def test_what_is_refused(call, wanted, fields):
    with refused(wanted, **fields):
        call()


def test_sources_that_hardly_overlap_give_a_warning():
    sure, unsure = np.tile([0.98, 0.01, 0.01], (60, 1)), np.tile([0.4, 0.3, 0.3], (60, 1))
    with pytest.warns(rs.RanksetWarning, match="hardly overlap"):
        rs.shift.covariate(sure, unsure)
