"""Weights of rows: what is taken and refused, what rules say, and what files hold. The laws are in ``tests/laws``."""

import pickle
import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import rankset as rs
from rankset.core.masses import LARGEST, UNIT
from rankset.errors import InputError, KindError, LabelError, RanksetWarning, RuleError, StorageError
from rankset.io import container
from refusals import like, refused

RNG = np.random.default_rng(5)
N, K = 300, 4
PROBS = RNG.dirichlet(np.ones(K), N)
LABELS = (PROBS.cumsum(axis=1) > RNG.random((N, 1))).argmax(axis=1)
WEIGHTS = RNG.uniform(0.5, 1.5, N)
NEW, OWN = PROBS[:50], WEIGHTS[:50]
SITES = np.array(["a", "b", "c"])[np.arange(N) % 3]


def made(**options):
    return rs.calibrate(PROBS, LABELS, **{"weights": WEIGHTS, "method": "thr", **options})


def sets_of(rule, alpha=0.1, **options):
    return rule.predict(NEW, alpha, **{"weights": OWN, **options}).to_lists()


class TestWhatIsTaken:
    @pytest.mark.parametrize(
        "weights",
        [
            WEIGHTS.tolist(),
            tuple(WEIGHTS),
            WEIGHTS.astype(object),
            pd.Series(WEIGHTS),
            pd.DataFrame({"weight": WEIGHTS}),
            WEIGHTS[:, np.newaxis],
        ],
        ids=["list", "tuple", "objects", "series", "frame", "column"],
    )
    def test_one_number_per_row_in_any_form(self, weights):
        assert made(weights=weights) == made()

    def test_integers_and_one_number(self):
        assert made(weights=np.full(N, 3, dtype=np.uint8)) == made(weights=3) == made(weights=np.float32(3))

    @pytest.mark.parametrize("value", [-1, -1e-300, np.inf, -np.inf, LARGEST / UNIT * 1.001])
    def test_numbers_out_of_range_are_refused(self, value):
        wrong = WEIGHTS.copy()
        wrong[7] = value
        with refused(InputError.weight(7, float(value), LARGEST // UNIT)):
            made(weights=wrong)
        with refused(InputError.weight(7, float(value), LARGEST // UNIT)):
            made().predict(PROBS, 0.1, weights=wrong)

    @pytest.mark.parametrize("value", [np.nan, None, pd.NA])
    def test_missing_numbers_are_refused(self, value):
        wrong = WEIGHTS.astype(object)
        wrong[3] = value
        with refused(LabelError.missing("weights", 3)):
            made(weights=wrong)

    @pytest.mark.parametrize("value", ["2", True, "a", 1j, [1]])
    def test_values_that_are_no_numbers_are_refused(self, value):
        wrong = WEIGHTS.astype(object)
        wrong[0] = value
        with pytest.raises(rs.RanksetError):
            made(weights=wrong)

    @pytest.mark.parametrize("weights", ["2", True, np.ones(N, dtype=bool), np.array(["1"] * N), {}, object()])
    def test_texts_and_booleans_are_refused(self, weights):
        with pytest.raises(rs.RanksetError):
            made(weights=weights)

    @pytest.mark.parametrize("weights", [WEIGHTS[:-1], [*WEIGHTS, 1], [], np.ones((N, 2))])
    def test_there_is_one_per_row(self, weights):
        with pytest.raises(rs.RanksetError):
            made(weights=weights)

    def test_another_order_of_rows_is_refused(self):
        frame = pd.DataFrame(PROBS, index=np.arange(N)[::-1])
        with pytest.raises(rs.RanksetError):
            rs.calibrate(frame, pd.Series(LABELS, index=frame.index), weights=pd.Series(WEIGHTS))

    def test_calibration_rows_have_some_weight(self):
        with refused(InputError.no_weight(N)):
            made(weights=0)
        with refused(like(InputError, what="weights")):
            made(weights=2.0**-18)
        assert made(weights=2.0**-15).n == N

    def test_the_sum_fits(self):
        with refused(like(InputError, what="weights")):
            rs.calibrate(np.tile(PROBS, (10, 1)), np.tile(LABELS, 10), weights=LARGEST / UNIT)

    def test_new_rows_can_have_no_weight(self):
        sets_of(made(), weights=0)

    def test_a_new_row_of_large_weight_keeps_every_label(self):
        with pytest.warns(RanksetWarning):
            found = made(weights=2.0**-10).predict(NEW, 0.1, weights=LARGEST / UNIT)
        assert found.sizes.tolist() == [K] * len(NEW)


class TestBothOrNone:
    def test_predict_needs_weights_if_rows_had_some(self):
        rule = made()
        for call in (rule.predict, rule.at(0.1).predict, rule.expected_size, rule.predict_parts):
            alpha = () if call == rule.at(0.1).predict else (0.1,)
            with refused(RuleError.weights_missing()):
                list(call(NEW, *alpha))
        with refused(RuleError.weights_missing()):
            rule.p_values(NEW)
        with refused(RuleError.weights_missing()):
            rule.update(NEW, LABELS[:50])

    def test_rules_without_weights_take_none(self):
        rule = rs.calibrate(PROBS, LABELS)
        with refused(RuleError.weights_unused()):
            rule.predict(NEW, 0.1, weights=OWN)
        with refused(RuleError.weights_unused()):
            rule.p_values(NEW, weights=1)

    def test_rules_with_and_without_weights_are_not_merged(self):
        plain = rs.calibrate(PROBS, LABELS, method="thr")
        for one, other in ((plain, made()), (made(), plain)):
            with refused(RuleError.merged_weights()):
                one.merge(other)

    def test_no_confidence_no_band_no_false_labels(self):
        with refused(RuleError.weights_and_confidence()):
            made().predict(NEW, 0.1, weights=OWN, confidence=0.95)
        with refused(RuleError.band_of_weights()):
            made().coverage_band(0.1)
        target = rs.CertainLabels()
        with refused(RuleError.weights_of_false_labels(target)):
            rs.calibrate(PROBS, PROBS > 0.4, kind="marginals", target=target, weights=WEIGHTS)

    def test_folds_have_no_weights(self):
        with refused(RuleError.folds_with_weights_of_rows()):
            rs.CrossRule((made(), made()))

    def test_other_functions_take_no_weights(self):
        for function in (rs.compare, rs.choose, rs.triage, rs.bounds, rs.precise):
            with pytest.raises(TypeError, match="weights"):
                function(PROBS, LABELS, weights=WEIGHTS)


class TestParts:
    def test_batches_parts_and_single_rows_give_the_same(self):
        whole = made()
        first = rs.calibrate(PROBS[:100], LABELS[:100], method="thr", weights=WEIGHTS[:100])
        assert first.update(PROBS[100:], LABELS[100:], weights=WEIGHTS[100:]) == whole
        parts = rs.PredictionSets.concat(list(whole.predict_parts(PROBS, 0.1, weights=WEIGHTS, rows=37)))
        assert parts == whole.predict(PROBS, 0.1, weights=WEIGHTS)
        assert parts.effective_rows == whole.effective_rows
        single = [whole.at(0.1)(row, weights=[own]).to_lists()[0] for row, own in zip(NEW, OWN, strict=True)]
        assert single == sets_of(whole)

    def test_files_are_the_same_bytes_whatever_was_merged_first(self, tmp_path):
        ends = [0, 30, 100, 230, N]
        some = [
            rs.calibrate(PROBS[a:b], LABELS[a:b], method="thr", weights=WEIGHTS[a:b] ** 3) for a, b in pairwise(ends)
        ]
        merged = [some[0].merge(*some[1:]), some[3].merge(some[1], some[0].merge(some[2])), made(weights=WEIGHTS**3)]
        for number, rule in enumerate(merged):
            rule.save(tmp_path / f"{number}.rankset")
        assert len({(tmp_path / f"{number}.rankset").read_bytes() for number in range(3)}) == 1

    def test_ids_and_weights(self):
        names = [f"row {number}" for number in range(N)]
        rule = made(method=rs.TieBreak(rs.Rank()), ids=names)
        cut = made(method=rs.TieBreak(rs.Rank()), ids=names).predict(NEW, 0.1, ids=names[:50], weights=OWN)
        assert cut == rule.predict(NEW, 0.1, ids=names[:50], weights=OWN)
        with refused(RuleError.ids("with", "without")):
            rule.predict(NEW, 0.1, weights=OWN)

    def test_rules_are_pickled(self):
        rule = made(condition=rs.Pooled())
        again, level = pickle.loads(pickle.dumps((rule, rule.at(0.1))))  # noqa: S301 - pickled a moment ago
        assert again == rule
        assert level.predict(NEW, weights=OWN).to_lists() == sets_of(rule)


class TestAbsentLabels:
    def test_heavy_rows_with_absent_labels_count_by_their_weight(self):
        labels = LABELS.astype(object)
        labels[:5] = rs.ABSENT
        weights = WEIGHTS.copy()
        weights[:5] = 1e-6
        kept = rs.calibrate(PROBS, labels, method="thr", weights=weights).predict(NEW, 0.05, weights=1).sizes
        assert kept.mean() < K
        weights[:5] = 30
        with pytest.warns(RanksetWarning):
            every = rs.calibrate(PROBS, labels, method="thr", weights=weights).predict(NEW, 0.05, weights=1).sizes
        assert set(every.tolist()) == {K}

    def test_they_are_stored(self, tmp_path):
        labels = LABELS.astype(object)
        labels[::40] = rs.ABSENT
        rule = rs.calibrate(PROBS, labels, weights=WEIGHTS, condition=rs.PerGroup(), groups=SITES)
        rule.save(tmp_path / "a.rankset")
        assert rs.load(tmp_path / "a.rankset") == rule
        half = rs.calibrate(
            PROBS[:150], labels[:150], weights=WEIGHTS[:150], condition=rs.PerGroup(), groups=SITES[:150]
        )
        rest = rs.calibrate(
            PROBS[150:], labels[150:], weights=WEIGHTS[150:], condition=rs.PerGroup(), groups=SITES[150:]
        )
        assert half.merge(rest) == rule


class TestWords:
    def test_effective_rows(self):
        rule = made()
        expected = WEIGHTS.sum() ** 2 / (WEIGHTS**2).sum()
        assert rule.effective_rows == pytest.approx(expected, rel=1e-6)
        assert f"calibrated on {N} rows that count as {expected:,.0f}; coverage is proven if the weights" in repr(rule)
        assert rs.calibrate(PROBS, LABELS).effective_rows == N
        assert rule.predict(NEW, 0.1, weights=1).effective_rows == rule.effective_rows

    def test_effective_rows_with_weights_of_classes_are_those_of_the_products(self):
        factors = np.array([1, 2, 3, 0.5])
        own = WEIGHTS * factors[LABELS]
        rule = made(condition=rs.LabelShift(factors))
        assert rule.effective_rows == pytest.approx(own.sum() ** 2 / (own**2).sum(), rel=1e-6)
        assert "if the weights of rows are right, and if the factors of the label shift are right" in repr(rule)

    def test_few_effective_rows_give_a_warning(self):
        uneven = np.where(np.arange(N) < 20, 100.0, 0.01)
        with pytest.warns(RanksetWarning, match="as few as 20 rows of equal weight"):
            made(weights=uneven).predict(NEW, 0.1, weights=OWN)
        with pytest.warns(RanksetWarning, match="use at least 1,000 such rows"):
            made().predict(NEW, 0.01, weights=OWN)

    def test_balanced_rules_say_what_they_said(self):
        rule = rs.calibrate(PROBS, LABELS, condition=rs.Balanced([1, 1, 1, 100]))
        assert "count as" not in repr(rule)
        assert rule.predict(NEW, 0.1).effective_rows is None
        assert rule.effective_rows < N

    def test_groups_with_little_weight_give_a_warning(self):
        weights = np.where(SITES == "b", 1e-4, WEIGHTS)
        rule = made(weights=weights, condition=rs.PerGroup(), groups=SITES)
        with pytest.warns(RanksetWarning, match="too little weight for alpha=0.1 and new rows of weight 1 in .*b"):
            sets = rule.predict(NEW, 0.1, groups=SITES[:50], weights=OWN)
        assert set(sets.sizes[SITES[:50] == "b"].tolist()) == {K}

    def test_thresholds_are_those_of_a_row_of_weight_one(self):
        rule = made()
        assert rule.describe(0.1).startswith("for new rows of weight 1: keeps labels with a probability of at least")
        (threshold,) = rule.threshold(0.1)
        sets = rule.predict(NEW, 0.1, weights=1)
        assert (sets.mask == (-threshold <= NEW)).all()
        assert "new rows of weight 1" in rule._repr_html_()

    @pytest.mark.parametrize("condition", [rs.PerLabel(), rs.PerGroup(), rs.Pooled(), rs.LabelShift([1, 2, 1, 1])])
    def test_rules_can_be_shown(self, condition):
        groups = SITES if condition.needs_groups else None
        rule = made(condition=condition, groups=groups, method="rank")
        assert "count as" in rule._repr_html_()
        assert "weight 1" in rule.describe(0.1)
        assert "weight 1" in rule.describe(0.0001)
        assert 0 < rule.smallest_alpha(**({"group": "a"} if groups is not None else {"label": 1})) < 1

    def test_evaluate_prints_effective_rows_and_no_range(self):
        rule = made()
        found = rs.evaluate(rule.predict(PROBS, 0.1, weights=WEIGHTS), LABELS)
        assert found.expected is None
        assert found.effective_rows == rule.effective_rows
        assert "with their weights the calibration rows count as" in str(found)
        assert "sampling variation" not in str(found)
        assert found.to_dict()["effective_rows"] == rule.effective_rows


class TestLabelShift:
    @pytest.mark.parametrize(
        "factors", [[], [0, 0], [-1, 1], [np.nan, 1], [np.inf, 1], "ab", 3, [[1, 2]], ["1", "2"], [True, 1]]
    )
    def test_factors_are_numbers(self, factors):
        with pytest.raises(KindError):
            rs.LabelShift(factors)

    @pytest.mark.parametrize("factors", [{0: 1, 1: 2}, {1, 2}, pd.Series([1, 2], index=["x", "y"])])
    def test_factors_with_an_order_of_their_own_are_refused(self, factors):
        with pytest.raises(KindError, match="order of its own"):
            rs.LabelShift(factors)

    def test_there_is_one_factor_per_class(self):
        with refused(LabelError.numbers_of_classes("LabelShift", K, 3)):
            made(condition=rs.LabelShift([1, 2, 3]))

    def test_only_ratios_matter(self):
        one, other = ([1, 2, 4, 0], [10, 20, 40, 0])
        assert sets_of(made(condition=rs.LabelShift(one))) == sets_of(made(condition=rs.LabelShift(other)))

    def test_from_shares(self):
        assert rs.LabelShift.from_shares([1, 1], [3, 1]).factors == (1.5, 0.5)
        for before, after in (([1, 0], [1, 1]), ([1], [1, 1]), ([1, 1], [0, 0])):
            with pytest.raises(KindError):
                rs.LabelShift.from_shares(before, after)

    def test_equal_factors_are_no_condition(self):
        even = rs.calibrate(PROBS, LABELS, method="thr", condition=rs.LabelShift([3] * K))
        assert (
            even.predict(NEW, 0.1).to_lists() == rs.calibrate(PROBS, LABELS, method="thr").predict(NEW, 0.1).to_lists()
        )

    def test_absent_labels_have_no_class(self):
        with pytest.raises(rs.RanksetError):
            rs.calibrate(PROBS, [rs.ABSENT, *LABELS[1:]], condition=rs.LabelShift([1] * K))

    @pytest.mark.parametrize("condition", [rs.LabelShift([1, 2, 3, 0.5]), rs.Pooled(rs.LabelShift([1, 2, 3, 0.5]))])
    def test_coverage_of_rows_with_other_shares_of_classes(self, condition):
        """New rows are drawn with the weights of their classes: a mean over many draws is close to what is promised."""
        rng = np.random.default_rng(0)
        factors = np.array([1, 2, 3, 0.5])
        covered = []
        for _ in range(40):
            probs = rng.dirichlet(np.ones(K), 1200)
            labels = (probs.cumsum(axis=1) > rng.random((1200, 1))).argmax(axis=1)
            rule = rs.calibrate(probs[:400], labels[:400], method="thr", condition=condition)
            new = rng.choice(np.arange(400, 1200), 800, p=(own := factors[labels[400:]]) / own.sum())
            covered.append(rule.predict(probs[new], 0.1).covers(labels[new]).mean())
        assert 0.89 < np.mean(covered) < 0.92


class TestFiles:
    @pytest.fixture
    def saved(self, tmp_path):
        made(condition=rs.PerGroup(), groups=SITES).save(tmp_path / "a.rankset")
        return tmp_path / "a.rankset"

    def forged(self, saved, change, **header):
        known, arrays = container.read(saved)
        arrays = {name: array.copy() for name, array in arrays.items()}
        change(arrays)
        saved.write_bytes(container.to_bytes(saved, {**known, **header}, arrays))
        return saved

    def test_the_format_number_is_5(self, saved):
        header, arrays = container.read(saved)
        assert header["format"] == 5
        assert {"masses", "group_masses", "squared_weights", "squared_fractions"} <= set(arrays)

    @pytest.mark.parametrize("name", ["masses", "group_masses", "squared_weights", "squared_fractions"])
    @pytest.mark.parametrize(
        "change",
        [
            lambda array: array[:-1],
            lambda array: -array - 1,
            lambda array: array + 1,
            lambda array: array * 0 + (1 << 62),
            lambda array: array.astype(np.float64),
            lambda array: np.zeros(0, dtype=np.int64),
        ],
        ids=["shorter", "negative", "larger", "huge", "floats", "empty"],
    )
    def test_contradictions_are_refused(self, saved, name, change):
        def forge(arrays):
            arrays[name] = change(arrays[name])

        with pytest.raises(StorageError):
            rs.load(self.forged(saved, forge))

    @pytest.mark.parametrize("name", ["masses", "group_masses", "squared_weights", "squared_fractions"])
    def test_every_array_is_needed(self, saved, name):
        with pytest.raises(StorageError):
            rs.load(self.forged(saved, lambda arrays: arrays.pop(name)))

    def test_weights_that_are_not_sorted_with_their_keys_are_refused(self, tmp_path):
        rs.calibrate(PROBS[:2], LABELS[:2], weights=[1, 2], method=rs.TopK()).save(tmp_path / "a.rankset")
        rule = rs.calibrate([[0.5, 0.5]] * 4, [0] * 4, weights=[1, 2, 3, 4], method="thr")
        rule.save(tmp_path / "a.rankset")

        def swap(arrays):
            arrays["masses"] = arrays["masses"][::-1].copy()

        with pytest.raises(StorageError):
            rs.load(self.forged(tmp_path / "a.rankset", swap))

    def test_other_formats_have_no_weights(self, saved):
        for number in (1, 2, 3, 4):
            with pytest.raises(StorageError):
                rs.load(self.forged(saved, lambda _: None, format=number))

    def test_false_labels_have_no_weights(self, tmp_path):
        rule = rs.calibrate(PROBS, PROBS > 0.4, kind="marginals", target=rs.CertainLabels())
        rule.save(tmp_path / "a.rankset")
        with pytest.raises(StorageError):
            rs.load(self.forged(tmp_path / "a.rankset", lambda _: None, format=5))

    def test_every_changed_byte_is_refused_or_gives_a_rule(self, saved):
        data = saved.read_bytes()
        rng = np.random.default_rng(0)
        for place in rng.integers(0, len(data), 300):
            damaged = bytearray(data)
            damaged[place] ^= int(rng.integers(1, 256))
            saved.write_bytes(damaged)
            try:
                rs.load(saved)
            except StorageError:
                continue

    def test_the_loaded_rule_answers_the_same(self, saved):
        rule, again = made(condition=rs.PerGroup(), groups=SITES), rs.load(saved)
        assert again == rule
        assert again.effective_rows == rule.effective_rows
        assert sets_of(again, groups=SITES[:50]) == sets_of(rule, groups=SITES[:50])
        assert re.search("that count as", repr(again))
