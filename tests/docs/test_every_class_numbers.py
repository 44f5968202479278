"""The study of every-class.json measures what it says, its rivals are as published, and what is claimed holds."""

import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "experiments"))
import class_rivals
import every_class

NUMBERS = json.loads((every_class.DOCS / "every-class.json").read_text(encoding="utf-8"))
BALANCED = NUMBERS["balanced"]
TAILS = {cell["per_class"]: cell for cell in NUMBERS["long_tail"]}
MEANS = every_class.means([cell for cell in BALANCED if cell["model"] != "imagenet"])


def made_up(n, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    probs = rng.dirichlet(np.full(n_classes, 0.5), n)
    labels = np.array([rng.choice(n_classes, p=row) for row in probs])
    return probs, labels


def test_the_tables_are_those_of_the_numbers():
    pages = [page.read_text(encoding="utf-8") for page in every_class.PAGES]
    assert [every_class.refreshed(page, NUMBERS) for page in pages] == pages
    assert all(f"<!-- {name} -->" in pages[1] for name in every_class.tables(NUMBERS))
    for name, table in every_class.tables(NUMBERS).items():
        assert f"\n{table}\n" in every_class.refreshed(f"<!-- {name} -->\nold\n<!-- end -->", NUMBERS)


def test_pooled_evens_out_the_coverage_of_classes():
    for per_class, most in {5: 0.90, 10: 0.84, 20: 0.72, 50: 0.60}.items():
        assert MEANS[per_class]["Pooled"][1] <= most
        assert MEANS[per_class]["PerLabel"][0] > MEANS[per_class]["Pooled"][0]


def test_pooled_sets_are_little_larger_than_those_of_one_threshold():
    for per_class, most in {5: 1.03, 10: 1.04, 20: 1.07, 50: 1.11}.items():
        assert MEANS[per_class]["Pooled"][0] <= most


def test_auto_and_pooled_even_out_the_coverage_of_classes():
    for per_class, most in {5: 0.97, 10: 0.85, 20: 0.75, 50: 0.65}.items():
        assert MEANS[per_class]["auto + Pooled"][1] <= most


def test_coverage_over_all_rows_keeps_its_promise():
    for cell in [*BALANCED, *TAILS.values()]:
        for name in ("Marginal", "Pooled"):
            own = cell["methods"][name]
            margin = 3 * own["coverage_error"]
            assert 0.9 - margin <= own["coverage"] <= 0.9 + 2 / (cell["rows"] + 1) + margin, (cell["model"], name)


def test_with_a_long_tail():
    for per_class, most in {5: 0.48, 10: 0.45, 20: 0.41}.items():
        methods = TAILS[per_class]["methods"]
        assert methods["shares + Pooled"]["gap_ratio"] <= most
        for name in ("Balanced", "shares + Balanced", "shares + Pooled(Balanced)"):
            assert methods[name]["macro"] >= 0.9 - 3 * methods[name]["macro_error"]
        assert len(TAILS[per_class]["class_coverage"]["Marginal"]) == len(TAILS[per_class]["training_rows"])


def test_the_gap_has_no_bias():
    rng = np.random.default_rng(0)
    true, rows, found = np.array([0.8, 0.9, 0.95, 0.99]), np.array([12, 30, 7, 20]), []
    truth = np.repeat(np.arange(4), rows)
    for _ in range(20_000):
        covered = rng.random(len(truth)) < true[truth]
        found.append(every_class.numbers_of(truth, (np.ones(len(truth)), covered), 4)[0][3])
    error = np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found) - np.mean((true - 0.9) ** 2)) < 4 * error


def test_classes_without_new_rows_do_not_count():
    truth, covered = np.array([0, 0, 0, 2]), np.array([True, True, False, True])
    numbers, coverage = every_class.numbers_of(truth, (np.array([1, 2, 3, 2]), covered), 3)
    np.testing.assert_allclose(coverage, [2 / 3, np.nan, np.nan])
    np.testing.assert_allclose(numbers, (2, 0.75, 2 / 3, (2 / 3 - 0.9) ** 2 - 1 / 9, 1, 0))


def test_a_jackknife_of_a_mean_is_its_standard_error():
    values = np.random.default_rng(0).random(50)
    assert every_class.jackknife(values, np.ones(50)) == pytest.approx(values.std(ddof=1) / np.sqrt(50))


@pytest.mark.parametrize("alpha", [0.1, 0.25])
def test_rc3p_is_the_definition(alpha):
    probs, labels = made_up(150, 4)
    mask = class_rivals.rc3p(probs, labels, alpha, 0)(probs[:40])
    ranks = (probs[:, :, None] <= probs[:, None, :]).sum(axis=2)
    for label in range(4):
        own = labels == label
        cut = next(k for k in range(1, 5) if (ranks[own, label] > k).mean() < alpha)
        level = alpha - (ranks[own, label] > cut).mean()
        strange = sorted(1 - probs[own, label])
        position = math.ceil((len(strange) + 1) * (1 - level) - 1e-9)
        limit = strange[position - 1] if position <= len(strange) else math.inf
        np.testing.assert_array_equal(mask[:, label], (1 - probs[:40, label] <= limit) & (ranks[:40, label] <= cut))


def test_interpolated_thresholds_lie_halfway():
    probs, labels = made_up(300, 3)
    mask = class_rivals.interpolated(probs, labels, 0.1, 0)(probs)
    strange = -probs[np.arange(300), labels]
    every = class_rivals.threshold(strange, 0.1)
    for label in range(3):
        limit = (every + class_rivals.threshold(strange[labels == label], 0.1)) / 2
        np.testing.assert_array_equal(mask[:, label], -probs[:, label] <= limit)


def test_few_rows_make_no_clusters_and_many_make_some():
    probs, labels = made_up(4000, 100)
    few = class_rivals.clustered(probs[:500], labels[:500], 0.1, 0)(probs[500:])
    one = class_rivals.threshold(-probs[np.arange(500), labels[:500]], 0.1)
    np.testing.assert_array_equal(few, -probs[500:] <= one)
    mask = class_rivals.clustered(probs[:3000], labels[:3000], 0.1, 0)(probs[3000:])
    covered = mask[np.arange(1000), labels[3000:]].mean()
    assert 0.86 < covered < 0.94
    assert not np.array_equal(mask, class_rivals.clustered(probs[:3000], labels[:3000], 0.1, 1)(probs[3000:]))


def test_fuzzy_covers_and_knows_no_classes_of_equal_size():
    probs, labels = made_up(2000, 5)
    mask = class_rivals.fuzzy(probs[:1000], labels[:1000], 0.1, 0)(probs[1000:])
    assert 0.85 < mask[np.arange(1000), labels[1000:]].mean() < 0.95
    wide = class_rivals.fuzzy(probs[:1000], labels[:1000], 0.1, 0, bandwidth=1e6)(probs)
    least = np.where(wide, probs, np.inf).min(axis=0)
    most = np.where(wide, -np.inf, probs).max(axis=0)
    assert most.max() < least.min()  # one threshold for all classes


@pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")
def test_the_study_measures_every_method():
    probs, labels = made_up(1000, 4)
    probs = probs * [0.2, 1, 1, 4]  # a model that is unfair to the first class
    probs /= probs.sum(axis=1, keepdims=True)
    for counts in ((), tuple(np.bincount(labels).tolist())):
        cell = every_class.measured(every_class.Model("small", probs, labels, counts), 20, 3)
        assert cell["rows"] == 80
        assert set(class_rivals.RIVALS) < set(cell["methods"])
        assert cell["methods"]["Marginal"]["gap_ratio"] == 1
        assert all(0.7 < one["coverage"] <= 1 for one in cell["methods"].values())
        assert ("class_coverage" in cell) == bool(counts)
