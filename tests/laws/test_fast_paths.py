"""What scores of a user's own may do: change and keep cells, predict meanwhile, round differently."""

import numpy as np
import pytest

import rankset as rs

RNG = np.random.default_rng(11)


def softmax_rows(n_rows, n_columns, dtype=np.float64):
    return RNG.dirichlet(np.full(n_columns, 0.4), n_rows).astype(dtype)


def true_labels(probs):
    return (probs.cumsum(axis=1, dtype=float) > RNG.random((len(probs), 1)) * 0.99).argmax(axis=1)


class Predicting:
    """Predicts other rows while its keys are computed."""

    def __init__(self, inner=None):
        self.inner = inner

    def keys(self, cells):
        first = cells.prob, cells.mass, cells.rank, cells.before, cells.top, cells.noise
        if self.inner is not None:
            self.inner(softmax_rows(2000, 6))
        return (first[1] - 0.3 * first[0] + first[2] + first[3] + first[4] + first[5], cells.column)


class Changing:
    """Changes what it was given."""

    features = ("before", "mass", "prob", "rank")

    def keys(self, cells):
        before = cells.before
        before *= 0.5
        return (before + cells.before + cells.mass, -cells.prob)


class Rounded:
    """Mass before the label, one rounding away from ours; its reach is as narrow."""

    features = ("mass", "prob", "rank")

    def __init__(self, *, limited):
        if limited:
            self.reach = lambda bounds: rs.Reach(before=bounds[0])

    def keys(self, cells):
        return (cells.mass - cells.prob,)


class Complement:
    """One minus the probability, rounded."""

    features = ("prob", "rank")

    def __init__(self, *, limited):
        if limited:
            self.reach = lambda bounds: rs.Reach(prob=1 - bounds[0])

    def keys(self, cells):
        return (1 - cells.prob,)


@pytest.mark.parametrize("n_rows", [1, 700, 2000])
def test_a_score_may_predict_while_its_keys_are_computed(n_rows):
    probs, new = softmax_rows(500, 6), softmax_rows(n_rows, 6)
    labels = true_labels(probs)
    inner = rs.calibrate(probs, labels, method="aps").at(0.2)
    alone, meanwhile = (
        rs.calibrate(probs, labels, method=Predicting(rule)).predict(new, 0.2) for rule in (None, inner)
    )
    assert alone == meanwhile


@pytest.mark.parametrize("n_rows", [1, 700, 2000])
def test_a_score_may_change_its_cells(n_rows):
    probs, new = softmax_rows(500, 6), softmax_rows(n_rows, 6)
    rule = rs.calibrate(probs, true_labels(probs), method=Changing())
    expected = [
        rule.predict(new[number : number + 1].tolist() * 2, 0.2)[0].tolist() for number in range(min(n_rows, 50))
    ]
    assert rule.predict(new, 0.2).to_lists()[:50] == expected


@pytest.mark.parametrize("kind", [Rounded, Complement])
@pytest.mark.parametrize("n_columns", [4, 10, 20])
def test_a_reach_may_be_narrow_by_a_rounding(kind, n_columns):
    probs = softmax_rows(400, n_columns)
    labels = true_labels(probs)
    with_reach, without = (rs.calibrate(probs, labels, method=kind(limited=limited)) for limited in (True, False))
    for alpha in (0.05, 0.1, 0.3):
        ask, expected = with_reach.at(alpha), without.predict(probs, alpha).to_lists()
        assert [ask(row)[0].tolist() for row in probs] == expected


@pytest.mark.parametrize("method", ["thr", "rank", "aps"])
def test_tiny_probabilities_raise_no_alarm(method):
    probs = softmax_rows(3000, 5)
    probs[:, 4] = 1e-300
    probs[:, 0] += 1 - probs.sum(axis=1)
    probs, labels = np.abs(probs), np.full(3000, 4)
    short = probs.astype(np.float32)
    with np.errstate(all="raise"):
        rule = rs.calibrate(probs, labels, method=method)
        for rows in (probs, short, short[:1]):
            assert rule.predict(rows, 0.1).covers(labels[: len(rows)]).shape == (len(rows),)


class Noted(rs.PredictionSets):
    """Sets with a note of their own."""

    note = "hello"


def test_slices_of_a_subclass_are_of_the_subclass():
    probs = softmax_rows(50, 6)
    sets = rs.calibrate(probs, true_labels(probs), method="thr").predict(probs, 0.2)
    noted = Noted(sets.offsets, sets.codes, sets.names)
    assert type(noted[:3]) is Noted
    assert noted[:3].to_lists() == sets[:3].to_lists()


def test_names_of_candidates_in_a_slice_are_read_only():
    rows = rs.Ragged.of([[0.5, 0.5], [0.25, 0.25, 0.5]], names=[["a", "b"], ["a", "c", "d"]])
    sets = rs.calibrate(rows, ["a", "d"], method="thr").predict(rows, 0.4)
    assert not sets[:1].options.flags.writeable


@pytest.mark.parametrize("n_columns", [5, 40, 100])
def test_compiled_loops_know_ids(n_columns, monkeypatch):
    pytest.importorskip("numba")
    probs, ids = softmax_rows(300, n_columns, np.float32), np.arange(300)[::-1]
    labels = true_labels(probs)
    found = []
    for plain, worthwhile in ((1, 1 << 23), (0, 0)):
        monkeypatch.setenv("RANKSET_PLAIN", str(plain))
        monkeypatch.setattr("rankset.core.kernels.WORTHWHILE", worthwhile)
        rule = rs.calibrate(probs, labels, method="aps", ids=ids)
        sets = rule.predict(probs, 0.2, ids=ids)
        found.append((rule.calibration.keys[0].tobytes(), sets.to_lists(), rule.p_values(probs, ids=ids).tobytes()))
    assert found[0] == found[1]


@pytest.mark.parametrize("target", [rs.OneLabel(), rs.AllLabels(), rs.CertainLabels()], ids=repr)
def test_marks_in_a_lower_precision_keep_the_threshold(target):
    """A threshold between two float32 numbers must not be rounded to the lower one."""
    between = float(np.float32(0.3)) + 2.0**-40
    long, labels = np.array([[between, 1 - between]] * 9), np.zeros(9, int)
    several = np.eye(2, dtype=bool)[labels if target != rs.CertainLabels() else 1 - labels]
    rule = rs.calibrate(long, labels if target == rs.OneLabel() else several, method="thr", target=target)
    ask = rule.at(0.5)
    short = np.array([[0.3, 0.7], [np.nextafter(np.float32(0.3), np.float32(1)), 0.7]], dtype=np.float32)
    marked = ask.predict(np.tile(short, (50, 1)))
    assert marked.mask[:2, 0].tolist() == [False, True]
    if not rule.spec.below:
        listed = ask.predict(np.tile(short, (50, 1)), empty="top")
        assert np.array_equal(marked.mask[:, 0], listed.mask[:, 0])
