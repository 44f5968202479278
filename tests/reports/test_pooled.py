"""What Pooled would do for the classes, and what reports, tables and pictures say of rules that share rows."""

import numpy as np
import pytest

import rankset as rs
from rankset.reports import pooled

pytest.importorskip("plotly")

LOGITS, LABELS = rs.datasets.load("carer")
CAL, NEW = slice(0, 700), slice(700, 1300)
COUNTS = [4666, 5362, 1304, 2159, 1937, 572]


def rule_of(condition=None, score="thr", **options):
    asked = {} if condition is None else {"condition": condition}
    return rs.calibrate(LOGITS[CAL], LABELS[CAL], kind="logits", method=score, **asked, **options)


def told_of(rule, rows=NEW, **options):
    return rs.reports.study_rules([rule], LOGITS[rows], LABELS[rows], **options).data["scores"][0]


@pytest.mark.parametrize("score", [rs.Thr(), rs.Rank(), rs.Aps()], ids=repr)
def test_the_numbers_are_those_of_compare_on_the_same_halves(score):
    told = told_of(rule_of(score=score))["pooled"]
    assert (told["halves"], told["rows"]) == (5, 300)
    conditions = [rs.Marginal(), rs.Pooled()]
    asked = {"scores": [score], "kind": "logits", "repeats": 5}
    found = rs.compare(LOGITS[NEW], LABELS[NEW], 0.1, condition=conditions, **asked)
    for key, name in (("gap", "RMS class gap"), ("size", "size")):
        means = [one.values[0, one.measures.index(name)] for one in found]
        assert told[key][9] == pytest.approx([np.mean(one) for one in means], abs=5.1e-5)


def test_coverage_by_class_is_that_of_rules_of_the_halves():
    told = told_of(rule_of())["pooled"]["coverage"][19]
    rows, labels = LOGITS[NEW], LABELS[NEW]
    rng, hits, counts = np.random.default_rng(0), np.zeros(6), np.zeros(6)
    for _ in range(5):
        order = rng.permutation(600)
        cal, test = order[:300], order[300:]
        rule = rs.calibrate(rows[cal], labels[cal], kind="logits", method="thr", condition=rs.Pooled())
        covered = rule.predict(rows[test], 0.2).covers(labels[test])
        hits += np.bincount(labels[test], covered, 6)
        counts += np.bincount(labels[test], minlength=6)
    assert told == pytest.approx((hits / counts).tolist(), abs=5.1e-5)


def test_levels_for_which_halves_are_too_small_have_no_numbers():
    told = told_of(rule_of(), slice(700, 820), alpha="0.015")["pooled"]
    known = [one is not None for one in told["gap"]]
    assert known == [one is not None for one in told["coverage"]] == [one is not None for one in told["size"]]
    assert known.index(True) == 2  # 60 rows are enough for alpha = 0.02, not for 0.01 and 0.015


def test_it_is_left_out_where_it_makes_no_sense(monkeypatch):
    sites = np.array(["north", "south"] * 650)
    others = [rs.PerLabel(), rs.Pooled(), rs.Balanced(COUNTS)]
    assert all("pooled" not in told_of(rule_of(one)) for one in others)
    by_site = rule_of(rs.PerGroup(), groups=sites[CAL])
    assert "pooled" not in told_of(by_site, groups=sites[NEW])
    assert "pooled" not in told_of(rule_of(), slice(700, 799))
    one_class = np.flatnonzero(LABELS == 1)[:300]
    assert "pooled" not in told_of(rule_of(), one_class)
    monkeypatch.setattr(pooled, "MOST_CELLS", 2 * 600 * 6)
    assert told_of(rule_of())["pooled"]["halves"] == 2
    monkeypatch.setattr(pooled, "MOST_CELLS", 600 * 6 - 1)
    assert "pooled" not in told_of(rule_of())


def test_groups_of_the_rows_and_blocks_change_nothing(monkeypatch):
    expected = told_of(rule_of())["pooled"]
    assert told_of(rule_of(), groups=["a", "b"] * 300)["pooled"] == expected
    monkeypatch.setenv("RANKSET_BLOCK_BYTES", "800")
    assert told_of(rule_of())["pooled"] == expected


MACRO = "coverage is proven on average over classes, if the given shares of classes are right"


@pytest.mark.parametrize(
    ("condition", "about", "words"),
    [
        (rs.Pooled(), "rows", "coverage is proven over all rows; of each label only approximately"),
        (
            rs.Balanced(COUNTS),
            "classes",
            MACRO,
        ),
        (
            rs.Pooled(rs.Balanced(COUNTS)),
            "classes",
            f"{MACRO}; of each class only approximately",
        ),
        (rs.Pooled(rs.Marginal()), "rows", "coverage is proven over all rows"),
    ],
    ids=repr,
)
def test_rules_that_share_rows_say_what_is_proven(condition, about, words):
    rule = rule_of(condition)
    assert repr(rule).endswith(f"calibrated on 700 rows; {words})")
    assert words.removeprefix("coverage is ") in rule._repr_html_()
    told = told_of(rule)
    assert (told["guarantee"]["about"], told["guarantee"]["shared"]) == (about, words)
    assert told["guarantee"]["smallest"] == told["guarantee"]["rows"] == 700
    assert not {"band", "tied", "sure"} & set(told)


def test_groups_are_named_as_such():
    sites = np.array(["north", "south"] * 350)
    assert repr(rule_of(rs.Pooled(rs.PerGroup()), groups=sites)).endswith(
        "over all rows; of each group only approximately)"
    )


def test_evaluations_of_balanced_sets_are_about_macro_coverage():
    sets = rule_of(rs.Balanced(COUNTS)).predict(LOGITS[NEW], 0.1)
    parts = rs.PredictionSets.concat([sets[:9], sets[9:]])
    for some in (sets, parts, sets[np.arange(600)]):
        assert some.balanced
        lines = repr(rs.evaluate(some, LABELS[NEW])).splitlines()
        (coverage,) = [line for line in lines if line.strip().startswith("coverage ")]
        (macro,) = [line for line in lines if line.strip().startswith("macro coverage")]
        assert "not promised: the promise is about macro coverage" in coverage
        assert "target 0.9; mean over classes" in macro
    told = rs.evaluate(sets, LABELS[NEW]).to_dict()
    assert told["balanced"] is True
    plain = rs.evaluate(rule_of(rs.Pooled()).predict(LOGITS[NEW], 0.1), LABELS[NEW])
    assert "balanced" not in plain.to_dict()
    assert "target 0.9" in repr(plain)
    assert "not promised" not in repr(plain)


def test_pictures_have_no_band_and_no_line_that_is_not_proven():
    plt = pytest.importorskip("matplotlib.pyplot")
    for condition, promised in ((rs.Pooled(), True), (rs.Pooled(rs.Marginal()), True), (rs.Balanced(COUNTS), False)):
        display = rs.CoverageDisplay.from_rule(rule_of(condition), LOGITS[NEW], LABELS[NEW])
        assert display.band is None
        assert display.promised == promised
        plt.close("all")
