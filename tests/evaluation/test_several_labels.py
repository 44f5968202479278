"""``evaluate`` for rows that can have several labels: every number equals a slow count."""

import math
from html import unescape

import numpy as np
import pytest

import rankset as rs
from rankset.core import coverage_law
from rankset.core.mean_interval import mean_interval
from rankset.errors import InputError, LabelError, RuleError, silent
from rankset.evaluation.advice import BOTH, FALSE_TOO_LOW, SEVERAL_TOO_HIGH, SEVERAL_TOO_LOW
from refusals import refused

RNG = np.random.default_rng(6)
N, K = 60, 5
SETS = RNG.random((N, K)) < 0.6
TRUTH = RNG.random((N, K)) < 0.35
TRUTH[:4] = False
NAMES = list("abcde")


def evaluated(target="recall", mask=SETS, truth=TRUTH):
    return rs.evaluate(rs.PredictionSets.from_mask(mask, NAMES), truth, alpha=0.2, target=target)


def rows():
    """Set and true labels of every row that has labels."""
    for kept, true in zip(SETS, TRUTH, strict=True):
        if true.any():
            yield {k for k in range(K) if kept[k]}, {k for k in range(K) if true[k]}


def test_every_number_is_a_slow_count():
    found = evaluated()
    pairs = list(rows())
    shares = [len(kept & true) / len(true) for kept, true in pairs]
    assert (found.n, found.set_aside) == (len(pairs), N - len(pairs))
    assert found.recall == found.observed == pytest.approx(np.mean(shares))
    assert found.recall_interval == mean_interval(found.recall, found.n, 0.9)
    assert found.all_labels == pytest.approx(np.mean([true <= kept for kept, true in pairs]))
    low, high = found.all_labels_interval
    assert low < found.all_labels < high
    assert found.any_label == pytest.approx(np.mean([bool(kept & true) for kept, true in pairs]))
    assert found.micro_recall == pytest.approx((SETS & TRUTH).sum() / TRUTH.sum())
    sizes = SETS.sum(axis=1)
    assert found.precision == pytest.approx(np.mean((SETS & TRUTH).sum(axis=1)[sizes > 0] / sizes[sizes > 0]))
    assert (found.mean_size, found.empty_rate) == (sizes.mean(), (sizes == 0).mean())
    for place, label in enumerate(found.labels):
        true = TRUTH[:, place]
        assert (label.name, label.n) == (NAMES[place], true.sum())
        assert label.recall == pytest.approx(SETS[true, place].mean())
        assert label.kept == pytest.approx(SETS[:, place].mean())
        assert label.false == pytest.approx(SETS[~true, place].mean())
    assert found.label_gap == pytest.approx(np.mean([abs(label.recall - 0.8) for label in found.labels]))
    assert found.lowest_label.recall == min(label.recall for label in found.labels)
    without, *others = found.by_number
    empty = ~TRUTH.any(axis=1)
    assert (without.name, without.n, without.kept) == ("0 labels", empty.sum(), SETS[empty].sum(axis=1).mean())
    assert math.isnan(without.recall)
    for group in others:
        number = int(group.name.split()[0])
        own = [pair for pair in pairs if (len(pair[1]) == number if number < 4 else len(pair[1]) >= 4)]
        assert group.n == len(own)
        assert group.recall == pytest.approx(np.mean([len(kept & true) / len(true) for kept, true in own]))
    missed = [len(true - kept) for kept, true in pairs]
    assert found.missed_more == tuple(pytest.approx(np.mean(np.array(missed) > m)) for m in range(max(missed) + 1))


@pytest.mark.parametrize("target", ["all", "any", "missed:1", "certain"])
def test_what_is_promised_depends_on_the_target(target):
    pairs = list(rows())
    known = {
        "all": np.mean([true <= kept for kept, true in pairs]),
        "any": np.mean([bool(kept & true) for kept, true in pairs]),
        "missed:1": np.mean([len(true - kept) <= 1 for kept, true in pairs]),
        "certain": np.mean([not (SETS[i] & ~TRUTH[i]).any() for i in range(N) if not TRUTH[i].all()]),
    }
    assert evaluated(target).observed == pytest.approx(known[target])


def test_the_range_to_expect_comes_from_the_rule():
    probs, labels = rs.datasets.load("goemotions")
    for target in ("recall", "all", "certain"):
        rule = rs.calibrate(probs[:2000], labels[:2000], target=target, kind="marginals")
        found = rs.evaluate(rule.predict(probs[2000:], alpha=0.1), labels[2000:])
        low, high = found.expected
        assert low < 0.9 < high < 1
        assert "sampling variation alone gives" in repr(found)
        assert rs.evaluate(rule.predict(probs[2000:], alpha=0.1), labels[2000:], alpha=0.2).expected is None
    assert evaluated().expected is None


def test_a_target_of_ones_own_has_no_promised_number():
    class Own:
        def entries(self, labels):
            return np.arange(len(labels)), None

    found = evaluated(Own())
    assert found.observed is None
    assert "observed" in repr(found)


GROUPS = np.array(["north", "south", "empty"])[[2, 2, *(RNG.random(N - 2) < 0.4).astype(int)]]
"""No row of the group "empty" has a label."""


@pytest.mark.parametrize("target", ["recall", "all", "any", "missed:1", "certain"])
def test_every_number_of_a_group_is_that_of_its_rows_alone(target):
    sets = rs.PredictionSets.from_mask(SETS, NAMES)
    found = rs.evaluate(sets, TRUTH, alpha=0.2, target=target, groups=GROUPS)
    assert [one.name for one in found.groups] == ["empty", "north", "south"]
    assert sum(one.n for one in found.groups) == found.n
    assert sum(one.set_aside for one in found.groups) == found.set_aside
    for one in found.groups[1:]:
        own = one.name == GROUPS
        alone = rs.evaluate(sets[own], TRUTH[own], alpha=0.2, target=target)
        assert (one.n, one.set_aside) == (alone.n, alone.set_aside)
        assert one.observed == pytest.approx(alone.observed)
        assert one.recall == pytest.approx(alone.recall)
        assert one.recall_interval == pytest.approx(alone.recall_interval)
        assert one.all_labels == pytest.approx(alone.all_labels)
        assert one.all_labels_interval == alone.all_labels_interval
        assert one.mean_size == pytest.approx(alone.mean_size)
    empty = found.groups[0]
    assert (empty.n, empty.set_aside, empty.recall_interval, empty.all_labels_interval) == (0, 2, (0, 1), (0, 1))
    assert math.isnan(empty.recall)
    assert math.isnan(empty.all_labels)
    assert empty.mean_size == SETS[:2].sum(axis=1).mean()
    assert (empty.observed is None) == (target != "certain")


def test_groups_are_printed_and_written():
    found = rs.evaluate(rs.PredictionSets.from_mask(SETS, NAMES), TRUTH, alpha=0.2, target="recall", groups=GROUPS)
    one = found.groups[1]
    low, high = one.recall_interval
    assert "Recall of groups, with 90% intervals" in repr(found)
    assert f"group 'north'       {one.recall:>8.4f}  {low:.4f} to {high:.4f}, all labels" in repr(found)
    assert "group 'empty'              –  0.0000 to 1.0000, all labels –, 0 rows" in repr(found)
    frame = found.to_frame("pandas", of="groups")
    assert frame["group"].tolist() == ["empty", "north", "south"]
    assert frame["recall_low"].tolist() == [one.recall_interval[0] for one in found.groups]
    assert frame["all_labels_high"].tolist() == [one.all_labels_interval[1] for one in found.groups]
    assert found.to_dict()["groups"][1]["name"] == "north"
    assert "north" in found._repr_html_()
    assert "groups" not in repr(evaluated())
    assert evaluated().to_frame("pandas", of="groups").shape == (0, 9)


def test_groups_of_another_order_are_refused():
    pd = pytest.importorskip("pandas")
    truth = pd.DataFrame(TRUTH.astype(int), columns=NAMES)
    sets = rs.PredictionSets.from_mask(SETS, NAMES)
    groups = pd.Series(GROUPS, index=truth.index[::-1])
    with pytest.raises(InputError, match="index"):
        rs.evaluate(sets, truth.set_index(truth.index + 1), alpha=0.2, target="recall", groups=groups)


def test_it_can_be_printed_and_written():
    found = evaluated()
    assert found.to_dict()["target"] == "Recall()"
    frame = found.to_frame("pandas").set_index("metric")
    assert frame.columns.tolist() == ["value", "low", "high", "explanation"]
    assert frame.value["size"] == found.mean_size
    assert frame.loc["recall", ["low", "high"]].tolist() == list(found.recall_interval)
    assert found.to_frame("polars", of="labels").shape == (5, 7)
    with refused(RuleError.option("of", "groups?", ("metrics", "labels", "groups"))):
        found.to_frame(of="groups?")
    assert "<table" in found._repr_html_()
    assert str(found).startswith(
        f"Evaluation of {found.n} rows with labels at alpha=0.2, target Recall(), {found.set_aside}"
    )


def test_what_cannot_be_evaluated_is_refused():
    with refused(InputError.no_rows_to_evaluate()):
        evaluated(truth=np.zeros((N, K), bool))
    with refused(InputError.length("groups", N, N - 1)):
        rs.evaluate(rs.PredictionSets.from_mask(SETS), TRUTH, alpha=0.1, target="recall", groups=["a"] * (N - 1))
    with refused(RuleError.option("of", "rows", ("metrics", "labels", "groups"))):
        evaluated().to_frame(of="rows")
    with pytest.raises(rs.errors.LabelError, match=r"target=rankset\.Recall"):
        rs.evaluate(rs.PredictionSets.from_mask(SETS), TRUTH, alpha=0.1)


@pytest.mark.parametrize("n", [20, 400])
@pytest.mark.parametrize("mean", [0.0, 0.05, 0.5, 1.0])
def test_intervals_of_means_contain_the_expected_value(n, mean):
    rng, runs = np.random.default_rng(9), 400
    draws = rng.beta(1, 1 / mean - 1, (runs, n)) if 0 < mean < 1 else np.full((runs, n), mean)
    inside = 0
    for one in draws.mean(axis=1):
        low, high = mean_interval(float(one), n, 0.9)
        inside += low <= mean <= high
    assert inside / runs >= 0.9 - 3 * math.sqrt(0.09 / runs)


P, Y = (array[:600] for array in rs.datasets.load("goemotions"))
CERTAIN = rs.calibrate(P, Y, target="certain", kind="marginals")


@pytest.mark.parametrize(
    "ask",
    [
        lambda: rs.compare(P, Y, alpha=0.1, target="certain", kind="marginals"),
        lambda: rs.auto(P, Y, 0.1, target="certain", kind="marginals"),
        lambda: rs.calibrate(P, Y, method="auto", target="certain", kind="marginals"),
        lambda: rs.choose(["thr", "share"], P, Y, 0.1, target="certain", kind="marginals"),
        lambda: rs.reports.study_rules([CERTAIN], P, Y, alpha=0.1),
        lambda: CERTAIN.p_values(P),
        lambda: CERTAIN.predict(P, 0.1, empty="top"),
        lambda: CERTAIN.at(0.1)(P, empty="top"),
        lambda: rs.CrossRule((CERTAIN, rs.calibrate(P, Y, target="certain", kind="marginals"))),
    ],
)
def test_certain_labels_are_refused_where_sets_are_made_larger_or_compared(ask):
    with pytest.raises(RuleError):
        ask()


def test_a_promise_for_groups_of_labels_is_not_one_about_rows():
    for condition, by_label in ((rs.PerLabel(), True), (rs.PerGroup(), False), (rs.Marginal(), False)):
        groups = {"groups": ["a", "b"] * 300} if condition.needs_groups else {}
        rule = rs.calibrate(P, Y, target="recall", kind="marginals", condition=condition, **groups)
        with silent():
            sets = rule.predict(P, 0.1, **groups)
        found = rs.evaluate(sets, Y)
        assert found.by_label is sets[:5].by_label is by_label
        assert (found.observed is None) is by_label
        assert (
            "promised: a true label is in the set with probability at least 0.9, separately" in repr(found)
        ) is by_label


def test_sets_with_costs_are_judged_by_their_cost():
    probs, labels = rs.datasets.load("marketing")
    target = rs.Cost({0: 1, 1: 2, 2: 4}, others=8)
    sets = rs.calibrate(probs[:130], labels[:130], target=target).predict(probs[130:], 0.2)
    found, missed = rs.evaluate(sets, labels[130:]), ~sets.covers(labels[130:])
    assert found.cost == pytest.approx(np.mean(missed * np.array([1, 2, 4, 8])[labels[130:]]) / 8)
    assert found.to_dict()["cost"] == found.cost
    assert "not promised, because labels have costs" in repr(found)
    assert "at most 0.2 is promised on average" in repr(found)
    plain = rs.evaluate(rs.PredictionSets.from_mask(sets.mask), labels[130:], alpha=0.2)
    assert plain.cost is None
    assert "cost" not in plain.to_dict()


def test_both_bounds_get_half_of_alpha_and_half_of_the_doubt():
    both = rs.bounds(P, Y)
    for confidence, half in ((None, None), (0.9, 0.95)):
        certain, possible = both.predict(P, 0.2, confidence=confidence)
        assert certain == both.certain.predict(P, 0.1, confidence=half)
        assert possible == both.possible.predict(P, 0.1, confidence=half)


@pytest.mark.parametrize(
    ("target", "change", "side", "questions"),
    [
        ("recall", lambda truth: np.roll(truth, 1, axis=0), "too low", SEVERAL_TOO_LOW),
        ("all", lambda truth: truth | np.roll(truth, 1, axis=1), "too low", SEVERAL_TOO_LOW),
        ("all", lambda truth: truth & (np.arange(6) > 3), "too high", SEVERAL_TOO_HIGH),
        ("certain", lambda truth: truth & (np.arange(6) > 2), "too low", FALSE_TOO_LOW),
        ("recall", lambda truth: truth, None, ()),
    ],
)
def test_an_observed_value_outside_its_range_tells_what_to_check(target, change, side, questions):
    rng = np.random.default_rng(2)
    probs = rng.beta(0.4, 0.6, (1200, 6))
    truth = rng.random(probs.shape) < probs
    truth[:, 0] = True
    rule = rs.calibrate(probs[:600], truth[:600], target=target, kind="marginals", method="thr")
    told = rs.evaluate(rule.predict(probs[600:], 0.2), change(truth[600:]))
    for text in (repr(told), unescape(told._repr_html_())):
        assert ("OUTSIDE" in text, "inside" in text) == (side is not None, side is None)
        head = f"The observed value is {side}. Chance alone does this in at most 0.05 of cases. Check:"
        assert (head in text) is (side is not None)
        asked = (*questions, *BOTH) if side else ()
        assert all(question in text for question in asked)
        others = {*SEVERAL_TOO_HIGH, *SEVERAL_TOO_LOW, *FALSE_TOO_LOW, *BOTH}.difference(asked)
        assert not any(question in text for question in others)


def test_labels_that_no_row_has_are_in_the_frame_and_have_no_recall():
    truth = TRUTH.copy()
    truth[:, 2] = False
    found = evaluated(truth=truth)
    assert [one.name for one in found.unseen] == ["c"]
    assert "c" not in [one.name for one in found.labels]
    frame = found.to_frame("pandas", of="labels").set_index("label")
    assert frame.index.tolist() == ["a", "b", "d", "e", "c"]
    assert frame.loc["c", ["rows", "low", "high", "false"]].tolist() == [0, 0.0, 1.0, SETS[:, 2].mean()]
    hits, rows = int((SETS & truth)[:, 0].sum()), int(truth[:, 0].sum())
    assert frame.loc["a", ["low", "high"]].tolist() == list(coverage_law.binomial_interval(hits, rows, 0.9))


def test_long_names_do_not_move_the_numbers():
    names = ["x" * 30, "b", "c", "d", "e"]
    sets = rs.PredictionSets.from_mask(SETS, names)
    lines = repr(rs.evaluate(sets, TRUTH, alpha=0.2, target="recall")).split("Labels with the lowest recall\n")[1]
    assert len({line.index(" 0.") for line in lines.splitlines()}) == 1


def test_sets_with_few_false_labels_are_not_judged_by_recall():
    found = evaluated("certain")
    assert "label gap" not in repr(found)
    assert f"Evaluation of {N} rows, {found.observed_rows} of them with a false label, at alpha=0.2" in repr(found)
    _, lines = repr(found).split("Labels with the largest share of rows without them whose sets contain them\n")
    worst = max(range(K), key=lambda k: SETS[~TRUTH[:, k], k].mean())
    share, rows = SETS[~TRUTH[:, worst], worst].mean(), (~TRUTH[:, worst]).sum()
    assert lines.splitlines()[0].split() == [NAMES[worst], f"{share:.4f}", str(rows), "rows", "without", "it"]


def test_what_is_proven_of_folds_is_told():
    half = slice(0, 300), slice(300, 600)
    for target in ("any", "all"):
        folds = rs.CrossRule(tuple(rs.calibrate(P[part], Y[part], target=target, kind="marginals") for part in half))
        found = rs.evaluate(folds.predict([P, P], 0.1), Y)
        assert found.proven == folds.guarantee(0.1) < 0.9
        assert "promised: " not in repr(found)
        assert "usual, but not proven: the set contains" in repr(found)
        assert f"0.9 is usual for these sets; at least {found.proven:.4f} is proven" in repr(found)
        assert rs.evaluate(folds.predict([P, P], 0.1), Y, alpha=0.2).proven is None


def test_the_confidence_of_sets_is_told():
    rule = rs.calibrate(P, Y, target="recall", kind="marginals")
    plain, sure = rule.predict(P, 0.1), rule.predict(P, 0.1, confidence=0.95)
    assert "confidence" not in repr(plain) + repr(rs.evaluate(plain, Y))
    assert ", alpha=0.1, confidence=0.95, " in repr(sure)
    found = rs.evaluate(sure, Y)
    assert found.sure == found.to_dict()["sure"] == 0.95
    assert "at alpha=0.1 with confidence 0.95, target Recall()" in repr(found)
    assert "promised for this calibration with confidence 0.95: the expected share" in repr(found)
    one = rs.calibrate(P, Y.argmax(axis=1), kind="marginals").predict(P, 0.1, confidence=0.95)
    found = rs.evaluate(one, Y.argmax(axis=1))
    assert found.to_dict()["sure"] == 0.95
    assert "promised for this calibration with confidence 0.95: at least 0.9" in repr(found)
    for error in (0.3, 0.001):  # with the second no threshold passes
        with silent():
            tidy = rs.precise(P, Y, error=error, confidence=0.8).predict(P)
        assert tidy.confidence == 0.8
        assert "an empty set counts as 1" in repr(rs.evaluate(tidy, Y))


PROMISES = {
    "recall": "a true label is in the set with probability at least 0.9, separately for every label (or",
    "all": "a true label is in the set with probability at least 0.9, separately for every label (or",
    "any": "a true label is in the set with probability at least 0.9, separately for every label;",
    "missed:0": "a true label is in the set with probability at least 0.9, separately for every label (or",
    "missed:1": "at most 1 of a row's true labels among them are missed with probability at least 0.9; nothing",
    "certain": "a label that is false is left out with probability at least 0.9, separately for every label",
}


@pytest.mark.parametrize("target", PROMISES)
def test_what_is_promised_for_every_label_can_be_understood(target):
    with silent():
        rule = rs.calibrate(P, Y, target=target, kind="marginals", condition=rs.PerLabel())
        found = rs.evaluate(rule.predict(P, 0.1), Y)
    assert PROMISES[target] in repr(found)
    assert "of a row with probability" not in repr(found)


def test_the_band_of_a_cost_is_not_called_coverage():
    probs, labels = rs.datasets.load("marketing")
    band = rs.calibrate(probs, labels, target=rs.Cost({0: 1}, others=3)).coverage_band(0.1)
    assert repr(band).startswith("CoverageBand(1 - expected loss, at least 90% within ")


def test_logits_of_single_labels_are_not_taken_for_softmax_silently():
    logits = np.log(P.astype(float).clip(1e-6, 1 - 1e-6))
    calls = (
        lambda kind, labels: rs.calibrate(logits, labels, target="recall", kind=kind),
        lambda kind, labels: rs.auto(logits, labels, 0.1, target="recall", kind=kind),
        lambda kind, labels: rs.compare(logits, labels, 0.1, scores=["thr"], repeats=1, target="recall", kind=kind),
    )
    one = [[label] for label in Y.argmax(axis=1)]
    for call in calls:
        with pytest.warns(rs.RanksetWarning, match=r"pass kind='marginal_logits'\."):
            call("logits", Y)
        call("marginal_logits", Y)
        call("logits", one)


def test_costs_of_column_numbers_are_costs_of_names():
    logits, labels = rs.datasets.load("carer")
    names = list(rs.datasets.DATASETS["carer"].classes)
    by_number = rs.Cost({names.index("fear"): 10}, others=1)
    rule = rs.calibrate(logits, labels, kind="logits", classes=names, target=by_number)
    assert rule.target == rs.Cost({"fear": 10}, others=1)
    assert rule == rs.calibrate(logits, labels, kind="logits", classes=names, target=rule.target)
    numbered = ["a1", "a2", "a3", "a4", "a5", "a6"]  # 1 can be the first or the second class
    with refused(LabelError.costs([], [4])):
        rs.calibrate(logits, np.array(numbered)[labels], kind="logits", classes=numbered, target=by_number)


def test_labels_with_few_rows_are_said_to_be_always_in_the_set():
    rule = rs.calibrate(P[:60], Y[:60], target="recall", kind="marginals", condition=rs.PerLabel())
    with pytest.warns(rs.RanksetWarning, match=r"These labels are always in the set\."):
        rule.predict(P, 0.1)


def test_a_comparison_with_thresholds_per_label_explains_its_risk():
    for condition, told in ((rs.PerLabel(), True), (rs.Marginal(), False)):
        with silent():
            asked = {"scores": ["thr"], "target": "recall", "kind": "marginals", "repeats": 3}
            found = rs.compare(P, Y, 0.1, condition=condition, **asked)
        assert ("so risk is not 1 - recall" in repr(found).replace("\n", " ")) is told


def test_with_a_threshold_per_label_the_costly_label_is_missed_in_at_most_alpha_of_its_rows():
    logits, labels = rs.datasets.load("carer")
    names = list(rs.datasets.DATASETS["carer"].classes)
    place = names.index("fear")
    asked = {"kind": "logits", "classes": names, "condition": rs.PerLabel()}
    costly = rs.calibrate(logits[:1000], labels[:1000], target=rs.Cost({"fear": 10}, others=1), **asked)
    plain = rs.calibrate(logits[:1000], labels[:1000], **asked)
    with silent():
        for alpha in (0.01, 0.05):
            same, wider = plain.predict(logits, alpha), plain.predict(logits, 10 * alpha)
            sets = costly.predict(logits, alpha)
            assert (sets.mask[:, place] == same.mask[:, place]).all()
            assert (sets.mask >= wider.mask).all()  # a label of cost 1 is missed in at most 10 alpha of its rows


def certain(seed, share, n=400):
    """Return a rule and new rows: most labels are true; a ``share`` of rows can have false ones."""
    rng = np.random.default_rng(seed)
    truth = np.ones((2 * n, 2), dtype=bool)
    truth[rng.random(2 * n) < share] = False
    probs = np.clip(truth * 0.3 + rng.random((2 * n, 2)) * 0.7, 0, 1)
    rule = rs.calibrate(probs[:n], truth[:n], target="certain", kind="marginals")
    return rule, probs[n:], truth[n:]


def test_what_is_expected_of_certain_labels_is_about_rows_with_a_false_label():
    outside = 0
    for seed in range(200):
        rule, probs, truth = certain(seed, 0.1)
        found = rs.evaluate(rule.predict(probs, 0.2), truth)
        assert found.observed_rows == (~truth).any(axis=1).sum()
        outside += not found.expected[0] <= found.observed <= found.expected[1]
    assert outside <= 30  # 10 % of 200, and more than two standard deviations
    assert str(found).startswith(
        f"Evaluation of 400 rows, {found.observed_rows} of them with a false label, at alpha=0.2"
    )


@pytest.mark.filterwarnings("error")
def test_certain_labels_without_rows_that_count():
    rule, probs, _ = certain(0, 0.5)
    found = rs.evaluate(rule.predict(probs, 0.2), np.ones((400, 2)))
    assert (found.observed, found.observed_rows, found.expected) == (None, 0, None)
    assert "sampling variation" not in str(found)


@pytest.mark.filterwarnings("error")
def test_certain_labels_of_rows_without_labels():
    rule, probs, _ = certain(0, 0.5)
    sets = rule.predict(probs, 0.2)
    found = rs.evaluate(sets, np.zeros((400, 2)), groups=np.arange(400) % 2)
    assert (found.n, found.set_aside, found.observed_rows) == (0, 400, 400)
    assert found.observed == (sets.sizes == 0).mean()
    assert math.isnan(found.recall)
    assert math.isnan(found.label_gap)
    assert math.isnan(found.micro_recall)
    assert (found.labels, found.lowest_label, found.missed_more) == ((), None, ())
    assert found.recall_interval == found.all_labels_interval == (0, 1)
    assert "Evaluation of 400 rows" in unescape(found._repr_html_())
    assert found.to_dict()["observed_rows"] == 400
    with refused(InputError.no_rows_to_evaluate()):
        rs.evaluate(sets, np.zeros((400, 2)), target="all")


def test_a_certain_label_that_is_not_possible_shows_a_false_statement():
    rng = np.random.default_rng(0)
    truth = rng.random((2000, 3)) < 0.4
    probs = 0.5 * truth + 0.5 * rng.random((2000, 3))
    alpha, new = 0.4, slice(1000, 2000)
    certain, possible = rs.bounds(probs[:1000], truth[:1000]).predict(probs[new], alpha)
    contradicted = (certain.mask & ~possible.mask).any(axis=1)
    wrong = (certain.mask & ~truth[new]).any(axis=1) | ~possible.covers_all(truth[new])
    assert 0.05 < contradicted.mean() <= wrong.mean() < alpha + 0.05
    assert wrong[contradicted].all()
