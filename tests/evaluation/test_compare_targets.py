"""compare, choose and auto with a target: risk on random halves, and rows that fit never calibrate."""

from dataclasses import dataclass, replace
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest

import rankset as rs
from rankset.errors import silent
from rankset.evaluation import auto_for_target
from rankset.evaluation.target_trial import TargetTrial
from rankset.inputs.prepare import prepare
from refusals import refused

PROBS, MASK = rs.datasets.load("goemotions")
OPTIONS = {"kind": "marginals", "target": "recall"}


def missed_share(sets, mask):
    return 1 - np.nanmean(sets.recall(mask))  # NaN: the row has no labels


def missed_any(sets, mask):
    return 1 - sets.covers_all(mask).mean()


@pytest.mark.parametrize(("target", "risk"), [("recall", missed_share), ("all", missed_any)])
def test_numbers_are_those_of_rules_on_the_same_halves(target, risk):
    probs, mask = PROBS[:400], MASK[:400]
    found = rs.compare(probs, mask, [0.1, 0.2], scores=["thr", "rank"], target=target, kind="marginals", repeats=3)
    rng = np.random.default_rng(0)
    for split in range(3):
        order = rng.permutation(400)
        cal, test = order[:200], order[200:]
        for place, method in enumerate(("thr", "rank")):
            rule = rs.calibrate(probs[cal], mask[cal], method=method, target=target, kind="marginals")
            for alpha in (0.1, 0.2):
                sets = rule.predict(probs[test], alpha)
                told = dict(zip(found[alpha].measures, found[alpha].values[place, :, split], strict=True))
                assert told["risk"] == pytest.approx(risk(sets, mask[test]))
                assert told["recall"] == pytest.approx(sets.recall(mask[test]).mean())
                assert told["all labels"] == pytest.approx(sets.covers_all(mask[test]).mean())
                assert told["size"] == sets.sizes.mean()
                assert told["empty"] == (sets.sizes == 0).mean()


def test_the_risk_of_every_label_is_that_of_all_rows_and_labels():
    probs, mask = PROBS[:600, :5], MASK[:600, :5]
    found = rs.compare(probs, mask, 0.3, scores=["thr"], condition=rs.PerLabel(), repeats=2, **OPTIONS)
    order = np.random.default_rng(0).permutation(600)
    cal, test = order[:300], order[300:]
    rule = rs.calibrate(probs[cal], mask[cal], method="thr", condition=rs.PerLabel(), **OPTIONS)
    kept = rule.predict(probs[test], 0.3).mask
    assert found.values[0, 0, 0] == pytest.approx(1 - kept[mask[test].astype(bool)].mean())


def test_risk_is_near_alpha_and_rank_is_larger():
    found = rs.compare(PROBS, MASK, 0.1, scores=["share", "thr", "rank"], repeats=10, **OPTIONS)
    risks, sizes = found.means[:, 0], found.means[:, found.measures.index("size")]
    assert (np.abs(risks - 0.1) < 0.01).all()
    assert found.smallest == rs.Share()
    assert sizes[2] > sizes[1] > sizes[0]
    assert found.target == rs.Recall()
    assert (found.errors[:, 0] < found.spread[:, 0]).all()  # the risk of halves hardly depends on the rows
    assert found.tied_with_smallest == (rs.Share(), rs.Thr())


def drawn(n, rng):
    """Rows whose probabilities are noisy; a tenth of them has no labels."""
    logits = rng.normal(-0.5, 2, (n, 6)) + rng.normal(0, 1, (n, 1))
    mask = rng.random((n, 6)) < 1 / (1 + np.exp(-logits))
    mask[rng.random(n) < 0.1] = False
    return 1 / (1 + np.exp(-(logits + rng.normal(0, 1, (n, 6))))), mask


@pytest.mark.parametrize(("target", "alpha"), [("recall", 0.1), ("any", 0.2), ("missed:1", 0.2)])
@pytest.mark.slow
def test_standard_errors_are_those_over_fresh_data_sets(target, alpha):
    """80 data sets tell the true error within 8 %, one standard error."""
    rng, means, errors, gaps = np.random.default_rng(3), [], [], []
    options = {"scores": ["thr", "rank"], "kind": "marginals", "repeats": 10}
    for _ in range(80):
        found = rs.compare(*drawn(200, rng), alpha, target=target, **options)
        means.append(found.means)
        errors.append(found.errors)
        gaps.append(found.contrast([1, -1]))
    true, told = np.std(means, axis=0, ddof=1), np.sqrt(np.mean(np.square(errors), axis=0))
    ratios = told[true > 0] / true[true > 0]
    assert 0.75 < ratios.min() <= ratios.max() < 1.4
    values, wide = np.array(gaps).T
    assert 0.75 < np.sqrt((wide**2).mean()) / values.std(ddof=1) < 1.4


@pytest.mark.parametrize("method", ["rank", "thr", rs.TopK()])
def test_standard_errors_of_one_label_per_row_are_those_of_coverage(method):
    probs, labels = rs.datasets.load("carer")
    one = rs.compare(probs[:600], labels[:600], 0.1, scores=[method], kind="logits", repeats=5)
    for target in ("all", "any", "recall"):
        mask = np.eye(probs.shape[1])[labels[:600]]
        found = rs.compare(probs[:600], mask, 0.1, scores=[method], kind="logits", repeats=5, target=target)
        for measure, other in (("risk", "coverage"), ("recall", "coverage"), ("size", "size"), ("empty", "empty")):
            error = found.variances[0, found.measures.index(measure)] ** 0.5
            assert error == pytest.approx(one.variances[0, one.measures.index(other)] ** 0.5, rel=0.15, abs=5e-4)


def test_rows_without_labels_count_for_sizes_only_and_blocks_do_not_matter(monkeypatch):
    probs, mask = drawn(300, np.random.default_rng(4))
    whole = rs.compare(probs, mask, 0.2, scores=["thr"], repeats=3, **OPTIONS)
    monkeypatch.setenv("RANKSET_BLOCK_BYTES", "40000")
    again = rs.compare(probs, mask, 0.2, scores=["thr"], repeats=3, **OPTIONS)
    assert again.variances == pytest.approx(whole.variances)
    labelled = mask.any(axis=1)
    only = rs.compare(probs[labelled], mask[labelled], 0.2, scores=["thr"], repeats=3, **OPTIONS)
    assert whole.variances[0, :3] == pytest.approx(only.variances[0, :3], rel=0.1)


def test_standard_errors_are_not_claimed_where_they_are_not_known():
    few = {"scores": ["thr"], "repeats": 3, **OPTIONS}
    for more in ({"condition": rs.PerLabel()}, {"condition": rs.PerGroup(), "groups": ["a", "b"] * 200}):
        found = rs.compare(PROBS[:400], MASK[:400], 0.2, **more, **few)
        assert np.isnan(found.errors).all()
        assert "No standard errors: they are known for one threshold" in " ".join(str(found).split())
    with pytest.warns(rs.RanksetWarning):
        small = rs.compare(PROBS[:30], MASK[:30], 0.05, **few)
    assert np.isnan(small.errors).all()


def test_tables_say_what_was_promised():
    found = rs.compare(PROBS[:400], MASK[:400], scores=["thr", "rank"], repeats=2, **OPTIONS)
    text = str(found)
    assert text.startswith("Comparison of 2 scores on 2 random halves of 400 rows, alpha=0.1, Recall()")
    assert "Promise" in text
    assert "The risk of random halves hardly depends on the rows" in " ".join(text.split())
    assert "small groups" not in text
    assert found.to_frame("pandas")["risk"].tolist() == found.means[:, 0].tolist()
    assert "risk & recall" in found.to_latex()


def test_default_candidates():
    found = rs.compare(PROBS[:300], MASK[:300], repeats=1, **OPTIONS)
    assert [line.name for line in found.lines] == ["Share", "THR", "RANK", "auto"]
    rows, labels = rs.datasets.load("marketing")
    cost = rs.compare(rows, labels, target=rs.Cost({0: 1, 1: 1, 2: 1, 3: 10}), repeats=20)
    assert [line.name for line in cost.lines] == ["RANK", "THR", "auto"]
    assert cost.measures == ("risk", "size", "empty")
    assert (cost.means[:, 0] < 0.13).all()


def test_a_target_of_ones_own_has_its_own_losses():
    @dataclass(frozen=True)
    class Half:
        """Every missed label costs half of its share."""

        def entries(self, labels):
            sizes = np.repeat(labels.sizes, labels.sizes)
            return labels.order, (np.ones(len(labels), dtype=np.int64), 2 * sizes)

    options = {"kind": "marginals", "scores": ["thr"], "repeats": 4}
    half = rs.compare(PROBS[:600], MASK[:600], 0.1, target=Half(), **options)
    recall = rs.compare(PROBS[:600], MASK[:600], 0.2, target="recall", **options)
    assert abs(half.means[0, 0] - recall.means[0, 0] / 2) < 0.01


def test_halves_need_labels():
    mask = np.zeros((40, PROBS.shape[1]), dtype=bool)
    mask[:2] = MASK[:2]
    with refused(rs.errors.LabelError.no_labels_in_a_half(2, 40)), silent():
        rs.compare(PROBS[:40], mask, scores=["thr"], **OPTIONS)


def test_choosing_takes_the_smallest_sets():
    scores = rs.grid(rs.Marginals, score=[rs.Thr(), rs.Rank()])
    assert rs.choose(scores, PROBS[:500], MASK[:500], repeats=4, **OPTIONS) == scores[0]
    with pytest.raises(rs.errors.RuleError, match="size"):
        rs.choose(scores, PROBS[:500], MASK[:500], objective="sscv", **OPTIONS)


def test_what_cannot_be_compared():
    with pytest.raises(rs.errors.KindError, match="metrics"):
        rs.compare(PROBS[:100], MASK[:100], metrics=["size"], **OPTIONS)
    with pytest.raises(rs.errors.KindError, match="repeats"):
        rs.compare(PROBS[:100], MASK[:100], repeats=0, **OPTIONS)
    with pytest.raises(rs.errors.InputError):
        rs.compare(PROBS[:1], MASK[:1], **OPTIONS)
    with pytest.raises(rs.errors.ScoreError, match="Share, Thr"):
        rs.compare(PROBS[:100], MASK[:100], scores=["aps"], **OPTIONS)
    with pytest.warns(rs.RanksetWarning, match="at least 198 rows with labels"):
        rs.compare(PROBS[:100], MASK[:100], 0.01, scores=["thr"], repeats=1, **OPTIONS)


@pytest.mark.parametrize(("target", "score"), [("recall", rs.Share()), ("all", rs.Thr()), ("any", rs.Thr())])
def test_nothing_is_fitted_on_few_rows(target, score):
    for n, why in ((499, "500 are needed"), (1000, "fewer than 10 each")):
        rule = rs.auto(PROBS[:n], MASK[:n], target=target, kind="marginals")
        plain = rs.calibrate(PROBS[:n], MASK[:n], method=score, target=target, kind="marginals")
        assert rule.n == n
        assert why in rule.score.why
        assert rule.predict(PROBS[n : n + 50], 0.1) == plain.predict(PROBS[n : n + 50], 0.1)


def test_rows_without_labels_do_not_count_as_rows_with_labels():
    mask = MASK[:900].copy()
    mask[:450] = 0
    rule = rs.auto(PROBS[:900], mask, **OPTIONS)
    assert "450 rows have labels" in rule.score.why
    assert (rule.n, rule.set_aside) == (450, 450)


def shifted(n, seed):
    """Probabilities that are far too small for some labels: a fit makes sets much smaller."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(-1, 2, (n, 6))
    mask = rng.random((n, 6)) < 1 / (1 + np.exp(-logits))
    return 1 / (1 + np.exp(-(logits - np.array([0, 3, 0, 3, 0, 3])))), mask


def test_a_fit_is_chosen_where_it_pays_and_its_rows_never_calibrate():
    probs, mask = shifted(3000, 0)
    seen = []
    real = rs.Marginals.fit_prepared

    def watched(data, score):
        seen.append(data)
        return real(data, score)

    with mock.patch.object(rs.Marginals, "fit_prepared", watched):
        rule = rs.auto(probs, mask, **OPTIONS)
    assert isinstance(rule.score.score, rs.Marginals)
    assert rule.score.score.score == rs.Share()
    assert [len(data) for data in seen] == [450, 900]
    assert rule.n + rule.set_aside == 2100
    rest = {row.tobytes() for row in probs} - {row.tobytes() for row in seen[1].matrix}
    assert len(rest) == 2100
    rows = np.array([row.tobytes() in rest for row in probs])
    again = rs.calibrate(probs[rows], mask[rows], method=rule.score, **OPTIONS)
    assert again == rule
    new_probs, new_mask = shifted(3000, 1)
    plain = rs.calibrate(probs, mask, **OPTIONS).predict(new_probs, 0.1)
    sets = rule.predict(new_probs, 0.1)
    assert sets.sizes.mean() < 0.95 * plain.sizes.mean()
    assert abs(missed_share(sets, new_mask) - 0.1) < 0.02


def test_a_fit_that_loses_is_not_used():
    probs, mask = shifted(3000, 0)
    bad = rs.Marginals(weights=(-1.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    with mock.patch.object(rs.Marginals, "fit_prepared", lambda _data, score: replace(bad, score=score)):
        rule = rs.auto(probs, mask, **OPTIONS)
    assert rule.score.score in (rs.Share(), rs.Thr())
    assert "not smaller" in rule.score.why


def test_calibrate_with_auto_is_auto():
    probs, mask = shifted(1000, 2)
    made = rs.calibrate(probs, mask, method="auto", target="all", kind="marginals", alpha=0.2, seed=3)
    assert made == rs.auto(probs, mask, 0.2, target=rs.AllLabels(), kind="marginals", seed=3)
    assert isinstance(made.score, rs.Chosen)


def test_other_kinds_choose_between_rank_and_thr():
    probs, labels = rs.datasets.load("carer")
    mask = np.eye(probs.shape[1])[labels]
    rule = rs.auto(probs[:1000], mask[:1000], target="all", kind="logits")
    assert rule.score.score in (rs.Rank(), rs.Thr())
    assert rule.n == 800
    cost = rs.auto(probs[:1000], labels[:1000], target=rs.Cost({0: 5}, others=1), kind="logits")
    assert cost.n == 800


def test_groups_and_shares():
    probs, mask = shifted(1200, 2)
    groups = np.arange(1200) % 2
    rule = rs.auto(probs, mask, condition=rs.PerGroup(), groups=groups, share=0.5, **OPTIONS)
    assert rule.n + rule.set_aside == 600
    assert rule.predict(probs[:4], 0.1, groups=groups[:4]).sizes.shape == (4,)
    with pytest.raises(rs.errors.LabelError):
        rs.auto(probs, mask, condition=rs.PerGroup(), **OPTIONS)
    with pytest.raises(rs.errors.KindError, match="share"):
        rs.auto(probs, mask, share=1, **OPTIONS)


def test_auto_in_a_comparison_is_its_route_on_each_half():
    probs, mask = shifted(1400, 3)
    found = rs.compare(probs, mask, 0.1, scores=["thr", "auto"], repeats=2, **OPTIONS)
    order = np.random.default_rng(0).permutation(1400)
    rule = rs.auto(probs[order[:700]], mask[order[:700]], 0.1, **OPTIONS)
    sets = rule.predict(probs[order[700:]], 0.1)
    assert found.auto_values[found.measures.index("size"), 0] == sets.sizes.mean()


def test_the_mean_loss_of_auto_keeps_the_promise():
    probs, mask = shifted(60_000, 5)
    losses, fitted = [], 0
    for part in np.split(np.arange(60_000), 60):
        rule = rs.auto(probs[part[:700]], mask[part[:700]], **OPTIONS)
        fitted += isinstance(rule.score.score, rs.Marginals)
        losses.append(missed_share(rule.predict(probs[part[700:]], 0.1), mask[part[700:]]))
    assert fitted > 20
    assert np.mean(losses) <= 0.1 + 3 * np.std(losses) / np.sqrt(60)


def test_judging_uses_other_rows_than_fitting():
    """Scores are compared on rows on which the compared fit was not fitted."""
    probs, mask = shifted(2000, 7)
    parts = {}
    real_fit, real_trial = rs.Marginals.fit_prepared, TargetTrial.of

    def fit(data, score):
        parts.setdefault("fit", data.matrix)
        return real_fit(data, score)

    def trial(data, *rest):
        parts["judged"] = data.matrix
        return real_trial(data, *rest)

    with mock.patch.object(rs.Marginals, "fit_prepared", fit), mock.patch.object(TargetTrial, "of", trial):
        data = prepare(probs, mask, kind="marginals", several=True).with_checked_values()
        auto_for_target.auto_for_target(data, Fraction(1, 10), rs.Marginal(), rs.Recall())
    fitted, judged = ({row.tobytes() for row in parts[name]} for name in ("fit", "judged"))
    assert not fitted & judged
