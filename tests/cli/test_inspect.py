"""``rankset inspect``: what is told about a rule."""

import json

import numpy as np

import rankset as rs
from commands import LABELS, LOGITS, RULE, TEST, VAL, fine, run


def test_what_inspect_says_of_groups(folder):
    fine("calibrate", "val_logits.npy", "val_labels.npy", "--kind", "logits", "--per-label", "-o", "rule.rankset")
    told = fine("inspect", "rule.rankset", "--alpha", "0.01").stdout
    counts = np.bincount(LABELS[VAL])
    assert f"6 groups of {counts.min()} to {counts.max()} rows" in told
    assert f"thresholds {(counts >= 99).sum()}, groups too small {(counts < 99).sum()}" in told

    told = fine("inspect", "rule.rankset").stdout
    rule = rs.load("rule.rankset")
    assert "Every label has its own condition:" in told
    assert rule.describe(0.1, label=3) in told
    assert "condition      per label\n" in told
    facts = json.loads(fine("inspect", "rule.rankset", "--json").stdout)
    assert facts["levels"]["0.1"]["rules"]["label 3"] in told


def test_inspect_says_how_many_thresholds_it_does_not_show(folder):
    rng = np.random.default_rng(0)
    groups = np.array([f"g{place:02}" for place in range(12)] * 10)
    probs, labels = rng.dirichlet(np.ones(3), 120), rng.integers(0, 3, 120)
    rs.calibrate(probs, labels, groups=groups, condition=rs.PerGroup()).save("rule.rankset")
    told = fine("inspect", "rule.rankset", "--alpha", "0.1").stdout
    assert "group 'g09'" in told
    assert "group 'g10'" not in told
    assert " and 2 more\n" in told
    assert json.loads(fine("inspect", "rule.rankset", "--json").stdout)["levels"]["0.1"]["more_rules"] == 2
    rs.calibrate(probs, labels, groups=groups, condition=rs.PerLabelAndGroup()).save("rule.rankset")
    assert "condition      per label and group\n" in fine("inspect", "rule.rankset").stdout
    facts = json.loads(fine("inspect", "rule.rankset", "--json").stdout)
    assert facts["condition"] == "PerLabelAndGroup()"
    assert facts["condition_in_words"] == "per label and group"


def test_inspect_says_in_words_what_sets_contain(folder):
    RULE.save("rule.rankset")
    told = fine("inspect", "rule.rankset", "--alpha", "0.1", "--alpha", "0.0001").stdout
    assert f"  alpha 0.1    {RULE.describe(0.1)}\n" in told
    assert "alpha 0.0001 keeps every label: alpha=0.0001 needs at least 9999 calibration rows, got 600" in told
    facts = json.loads(fine("inspect", "rule.rankset", "--json").stdout)
    assert facts["levels"]["0.2"]["rule"] == RULE.describe(0.2)


def test_inspect_says_how_sure_the_range_of_coverage_is_and_whether_ties_raise_it(folder):
    RULE.save("rule.rankset")
    rs.calibrate(LOGITS[VAL], LABELS[VAL], kind="logits", method=rs.TopK()).save("ties.rankset")
    band, ties = RULE.coverage_band(0.1), rs.load("ties.rankset").coverage_band(0.1)
    assert not band.tied
    assert ties.tied
    told = fine("inspect", "rule.rankset", "--alpha", "0.1").stdout
    assert f"coverage {band.low:.4g} to {band.high:.4g} in 90% of calibrations" in told
    told = fine("inspect", "ties.rankset", "--alpha", "0.1").stdout
    assert f"coverage {ties.low:.4g} to {ties.high:.4g} or more in 90% of calibrations" in told
    for path, tied in (("rule.rankset", False), ("ties.rankset", True)):
        assert json.loads(fine("inspect", path, "--json").stdout)["levels"]["0.1"]["tied"] is tied


def test_inspect_and_merge_tell_a_rule_of_a_stratified_split(folder):
    RULE._without_guarantee().save("rule.rankset")
    rs.calibrate(LOGITS[TEST], LABELS[TEST], kind="logits").save("other.rankset")
    told = fine("inspect", "rule.rankset").stdout
    assert "coverage       not proven: the calibration rows are from a stratified split" in told
    assert "of calibrations" not in told
    facts = json.loads(fine("inspect", "rule.rankset", "--json").stdout)
    assert facts["guaranteed"] is False
    assert "coverage" not in facts["levels"]["0.1"]
    fine("merge", "other.rankset", "rule.rankset", "-o", "both.rankset")
    assert not rs.load("both.rankset").guaranteed
    assert "guaranteed" not in json.loads(fine("inspect", "other.rankset", "--json").stdout)


def test_inspect_tells_rows_in_which_every_label_is_true(folder):
    probs = np.random.default_rng(0).random((40, 3))
    labels = probs > 0.3
    rule = rs.calibrate(probs, labels, target="certain", kind="marginals")
    rule.save("certain.rankset")
    facts = json.loads(fine("inspect", "certain.rankset", "--json").stdout)
    assert facts["rows_with_true_labels_only"] == rule.set_aside == labels.all(axis=1).sum() > 0
    assert "rows_without_labels" not in facts


def test_inspect_tells_what_a_triage_is(folder):
    fine("triage", "val_logits.npy", "--labels", "val_labels.npy", "--kind", "logits", "--save", "triage.rankset")
    saved = json.loads(
        fine(
            "triage",
            "val_logits.npy",
            "--labels",
            "val_labels.npy",
            "--kind",
            "logits",
            "--save",
            "b.rankset",
            "--json",
        ).stdout
    )
    facts = json.loads(fine("inspect", "triage.rankset", "--json").stdout)
    assert facts == {**saved, "file": "triage.rankset"}
    assert "wrong answers" in fine("inspect", "triage.rankset").stdout
    done = run("inspect", "triage.rankset", "--alpha", "0.1")
    assert (done.exit_code, "rankset triage --error" in done.stderr) == (2, True)
