"""Targets in rules and files: costs of any size, bands with ties, and files that no rows can have."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

import rankset as rs
from rankset.core.weights import LARGEST
from rankset.errors import COMMAND_LINE, KindError, LabelError, RuleError, ScoreError, StorageError
from rankset.io import container
from rankset.rules import rule_file
from rankset.rules.sentences import promise_sentence
from refusals import refused

pytestmark = pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")

RNG = np.random.default_rng(0)
MARGINALS = RNG.random((90, 4))
TRUTH = RNG.random((90, 4)) < MARGINALS
PROBS, LABELS = RNG.dirichlet(np.ones(4), 90), RNG.integers(0, 4, 90)


def several(target, **options):
    return rs.calibrate(MARGINALS, TRUTH, target=target, kind="marginals", **options)


COSTS = {
    "decimals": {0: 3.1415926, 1: 2.7182818, 2: 1.4142135, 3: 1},
    "fractions": {0: "1/3", 1: "2/7", 2: 1, 3: Fraction(1, 2)},
    "numpy": dict(zip(np.unique(LABELS), np.array([1, 2, 3, 4]), strict=True)),
    "zeros": {0: 0, 1: 0.0, 2: "0", 3: 5},
}


@pytest.mark.parametrize("name", COSTS)
def test_rules_with_costs_are_saved_and_loaded(name, tmp_path):
    rule = rs.calibrate(PROBS, LABELS, target=rs.Cost(COSTS[name]))
    rule.save(tmp_path / "a.rankset")
    assert rs.load(tmp_path / "a.rankset") == rule
    half = rs.calibrate(PROBS[:40], LABELS[:40], target=rs.Cost(dict(reversed(COSTS[name].items()))))
    assert half.merge(rs.calibrate(PROBS[40:], LABELS[40:], target=rs.Cost(COSTS[name]))) == rule


def test_thresholds_with_costs_are_exact():
    costs = {0: "3.1415926", 1: "2.7182818", 2: "1.4142135", 3: "1"}
    rule = rs.calibrate(PROBS, LABELS, target=rs.Cost(costs), method="thr")
    shares = [Fraction(costs[label]) / Fraction(costs[0]) for label in LABELS.tolist()]
    entries = sorted(zip((-PROBS[range(90), LABELS]).tolist(), shares, strict=True))
    for place in range(1, 91):
        beyond = sum((share for _, share in entries[place:]), Fraction(0))
        for nudge, known in ((0, place), (Fraction(1, 10**40), place), (-Fraction(1, 10**40), place + 1)):
            alpha = (beyond + 1) / 91 + nudge
            if 0 < alpha < 1 and known <= 90:
                assert rule.threshold(alpha) == (entries[known - 1][0],)


@pytest.mark.parametrize(
    "cost", ["1e-99999999", "1e99999999", "1" * 1001, "", "much", -1, float("nan"), float("inf"), True]
)
def test_costs_that_are_no_numbers_are_refused_at_once(cost):
    expected = "a finite number of at least 0, with at most 1,000 digits"
    with refused(KindError.argument("the cost of 0", expected, cost)):
        rs.Cost({0: cost, 1: 1})


def test_costs_that_are_too_different_are_refused():
    target = rs.Cost({0: "1/999999999999989", 1: "999999999999987/7"}, others=1)
    with refused(LabelError.fine_costs(target.costs, LARGEST)):
        rs.calibrate(PROBS, LABELS, target=target)


def test_bands_of_recall_are_open_above_if_keys_tie():
    rows = np.where(RNG.random((200, 2)) < 0.5, 0.9, 0.1)
    rule = rs.calibrate(rows, np.ones((200, 2)), target="recall", kind="marginals", method="thr")
    assert rule.coverage_band(0.3).high == 1
    assert rs.evaluate(rule.predict(rows, 0.3), np.ones((200, 2))).expected[1] == 1
    assert several("recall").coverage_band(0.3).high < 1


@pytest.mark.parametrize("alpha", ["0.99999999999999999", "0." + "9" * 330, "0.5"])
@pytest.mark.parametrize("confidence", ["0." + "9" * 330, "0.95"])
def test_extreme_levels_have_an_answer(alpha, confidence):
    assert len(several("recall").at(alpha, confidence=confidence).predict(MARGINALS)) == 90


def forged(rule, path, *, header=None, **arrays):
    """Write a rule file with other arrays or fields, and a digest that fits."""
    known, kept = rule_file.pack(rule.spec, rule.calibration)
    path.write_bytes(container.to_bytes(path, {**known, **(header or {})}, {**kept, **arrays}))
    return path


MILLION = np.array([10**6])

FORGED = {
    "more rows, all": (rs.AllLabels(), {"header": {"labelled": 10**6}, "rows": MILLION}),
    "more rows, recall": (rs.Recall(), {"header": {"labelled": 10**6}, "rows": MILLION}),
    "more rows, certain": (rs.CertainLabels(), {"header": {"labelled": 10**6}, "rows": MILLION}),
    "more labelled rows": (rs.AllLabels(), {"header": {"labelled": 10**15}}),
    "absent labels": (rs.AllLabels(), {"absent": np.array([3])}),
    "sizes beyond the classes": (rs.Recall(), {"sizes": np.full(int(TRUTH.sum()), 1 << 30)}),
    "weights of other costs": (rs.Cost({0: 1, 1: 2, 2: 3, 3: 4}), {"weights": np.full(90, 7)}),
    "another target": (rs.Recall(), {"header": {"target": {"name": "AllLabels"}}}),
    "costs of another class": (
        rs.Cost({0: 1, 1: 2, 2: 3, 3: 4}),
        {"header": {"target": {"name": "Cost", "names": ["zz"], "costs": ["1"], "others": None}}},
    ),
}


MARGINAL = {"kind": "marginals", "method": "thr"}
FREE = rs.Cost({0: 1, 1: 2, 2: 3, 3: 0})
COUNTS = np.bincount(LABELS, minlength=4)
PER_LABEL = rs.calibrate(PROBS, LABELS, target=FREE, condition=rs.PerLabel())

FORGED_RULES = {
    "other rows per label": (PER_LABEL, {"rows": COUNTS + np.array([1, -1, 0, 0])}),
    "more rows of a label with a cost": (PER_LABEL, {"rows": COUNTS + np.array([1, 0, 0, -1])}),
    "costs of another label": (PER_LABEL, {"weights": np.repeat([2, 1, 3], COUNTS[:3])}),
    "fewer rows in all": (PER_LABEL, {"header": {"labelled": 89}}),
    "labelled rows of one label": (rs.calibrate(MARGINALS, LABELS, **MARGINAL), {"header": {"labelled": 7}}),
    "rows aside of one label": (rs.calibrate(MARGINALS, LABELS, **MARGINAL), {"header": {"set_aside": 7}}),
    "too many missed": (several("missed:1"), {"header": {"target": {"name": "AtMostMissed", "m": 2**70}}}),
    "as many missed as classes": (several("missed:1"), {"header": {"target": {"name": "AtMostMissed", "m": 4}}}),
}


@pytest.mark.parametrize("name", FORGED_RULES)
def test_files_of_rules_that_no_rows_can_have_are_refused(name, tmp_path):
    rule, changes = FORGED_RULES[name]
    assert rs.load(forged(rule, tmp_path / "good.rankset")) == rule
    with pytest.raises(StorageError):
        rs.load(forged(rule, tmp_path / "bad.rankset", **changes))


SMALL = ["1.2345678901e-30", "2.4691357802e-30", 1.2345678901e-30, "1.2345678901e-30"]


@pytest.mark.parametrize(
    "costs",
    [
        SMALL,
        [cost * 10**15 for cost in map(Fraction, map(str, SMALL))],
        [5e-324, 1e-323, 0, 5e-324],
        [1e300, 2e300, 0, 1e300],
    ],
)
def test_costs_of_any_size_are_read_as_they_are_written(costs, tmp_path):
    rule = rs.calibrate(PROBS, LABELS, target=rs.Cost(dict(enumerate(costs))))
    rule.save(tmp_path / "rule.rankset")
    assert rs.load(tmp_path / "rule.rankset") == rule
    ones = rs.Cost({0: 1, 1: 2, 2: 1 if costs is SMALL or costs[2] else 0, 3: 1})
    assert rule.calibration == rs.calibrate(PROBS, LABELS, target=ones).calibration


def test_costs_that_are_too_fine_are_shown_as_they_were_typed():
    with pytest.raises(LabelError, match=r"got '1\.2345678901234567e-06', '1'\."):
        rs.calibrate(PROBS[:, :2], LABELS % 2, target=rs.Cost({0: 1.2345678901234567e-06, 1: 1}), kind="decision")


@pytest.mark.parametrize("m", [np.int64(1), np.uint64(1), np.uint8(1)])
def test_numbers_of_numpy_may_be_missed(m, tmp_path):
    rule = several(rs.AtMostMissed(m))
    rule.save(tmp_path / "rule.rankset")
    assert rs.load(tmp_path / "rule.rankset") == rule == several("missed:1")


@pytest.mark.parametrize("m", [-1, 2**31, 2**63, 1.0, True])
def test_other_numbers_may_not(m):
    with refused(KindError.argument("m", "an integer of at least 0 and below 2**31", m)):
        rs.AtMostMissed(m)


@pytest.mark.parametrize("name", FORGED)
def test_files_that_no_rows_can_have_are_refused(name, tmp_path):
    target, changes = FORGED[name]
    rule = rs.calibrate(PROBS, LABELS, target=target) if isinstance(target, rs.Cost) else several(target)
    assert rs.load(forged(rule, tmp_path / "good.rankset")) == rule
    with pytest.raises(StorageError):
        rs.load(forged(rule, tmp_path / "bad.rankset", **changes))


def test_zeros_and_ones_of_numpy_are_not_guessed_either():
    marks, probs = np.array([[1, 0], [0, 1]] * 20), np.array([[0.9, 0.2], [0.3, 0.8]] * 20)
    for labels in (list(marks), [list(row) for row in marks]):
        with refused(LabelError.zeros_and_ones("labels", 2)):
            rs.calibrate(probs, labels, target="all", kind="marginals")
    with pytest.raises(KindError, match="a masked array"):
        rs.calibrate(probs, np.ma.array(marks, mask=probs < 0.5), target="all", kind="marginals")


@pytest.mark.parametrize("others", [{"target": "all"}, {"target": "all", "method": "share"}, {"target": "missed:1"}])
def test_rules_of_different_targets_are_told_apart_before_anything_else(others):
    ours, theirs = several("recall"), several(**others)
    with refused(RuleError.merged_targets(ours.target, theirs.target)) as caught:
        ours.merge(theirs)
    assert str(caught.value) == (
        f"rules that are merged must have the same target, got Recall() and {theirs.target!r}. They promise different "
        "things. Calibrate all rules with the same target= and the same method, or use each rule by itself."
    )
    assert "the same --target and --method, or" in caught.value.render(COMMAND_LINE)


def test_sets_of_different_targets_are_not_joined():
    sets = {name: several(name).predict(MARGINALS[:5], 0.3) for name in ("recall", "all")}
    with refused(RuleError.joined_targets(rs.Recall(), rs.AllLabels())) as caught:
        rs.PredictionSets.concat(sets.values())
    assert "must have the same target, got Recall() and AllLabels(). They promise" in str(caught.value)
    own = rs.PredictionSets.from_mask(sets["recall"].mask)
    with refused(RuleError.joined_targets(rs.Recall(), None)) as caught:
        rs.PredictionSets.concat([sets["recall"], own])
    assert "got Recall() and no target." in str(caught.value)
    with refused(RuleError.unlike_sets(0.3, 0.2)):
        rs.PredictionSets.concat([sets["all"], several("all").predict(MARGINALS[:5], 0.2)])


def test_joined_sets_promise_something_about_labels_one_by_one_if_some_do():
    plain = several("recall", method="thr").predict(MARGINALS[:5], 0.3)
    each = several("recall", method="thr", condition=rs.PerLabel()).predict(MARGINALS[:5], 0.3)
    assert rs.PredictionSets.concat([plain, each]).by_label
    assert rs.PredictionSets.concat([each, plain]).by_label
    assert not rs.PredictionSets.concat([plain, plain]).by_label


@dataclass(frozen=True)
class RecallOfSomeBlocks:
    """``Recall``, but without weights where every row has one label, as a target may."""

    def entries(self, labels):
        if (labels.sizes == 1).all():
            return np.arange(len(labels)), None
        return rs.Recall().entries(labels)


def test_targets_may_leave_out_weights_of_some_rows():
    one = np.eye(3)[RNG.integers(0, 3, 30)]
    probs, labels = RNG.random((60, 3)), np.vstack([one, np.ones((30, 3))])
    options = {"kind": "marginals", "method": "thr"}
    first, last, whole = (
        rs.calibrate(probs[part], labels[part], target=RecallOfSomeBlocks(), **options)
        for part in (slice(0, 30), slice(30, 60), slice(0, 60))
    )
    recall = rs.calibrate(probs, labels, target="recall", **options)
    for merged in (first.merge(last), last.merge(first), first.update(probs[30:], labels[30:]), whole):
        assert merged == whole
        assert merged.calibration == recall.calibration
    assert first.calibration.weights is None


@pytest.mark.parametrize("found", [None, 3, (np.zeros(1, int),)])
def test_targets_return_places_and_weights(found):
    target = type("Wrong", (), {"entries": lambda self, labels: found})()
    with refused(ScoreError.target(target, "a pair, places and weights", type(found).__name__)):
        rs.calibrate(MARGINALS, TRUTH, target=target, **MARGINAL)


def test_promises_of_own_targets_may_have_braces():
    target = type("Own", (rs.Recall,), {"promise": "{sure} {} of 100% {0}"})()
    rule = rs.calibrate(MARGINALS, TRUTH, target=target, **MARGINAL)
    assert promise_sentence(rule.target, 0.2) == "{sure} 0.8 of 100% {0}"
    assert "{sure} 0.8 of 100% {0}" in str(rs.evaluate(rule.predict(MARGINALS, 0.2), TRUTH))


def test_blocks_of_rows_may_have_no_weights():
    one = np.eye(3)[RNG.integers(0, 3, 200_000)]
    probs, labels = RNG.random((400_000, 3)), np.vstack([one, np.ones((200_000, 3))])
    rules = [
        rs.calibrate(probs, labels, target=target, kind="marginals", method="thr")
        for target in (RecallOfSomeBlocks(), "recall")
    ]
    assert rules[0].calibration == rules[1].calibration
