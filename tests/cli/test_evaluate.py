"""``rankset evaluate``: empty sets and groups."""

import rankset as rs
from commands import LABELS, LOGITS, VAL, fine


def test_evaluate_names_the_flag_that_fills_empty_sets(folder):
    rs.calibrate(LOGITS[VAL], LABELS[VAL], kind="logits", method=rs.Aps()).save("rule.rankset")
    told = fine("evaluate", "rule.rankset", "test_logits.npy", "test_labels.npy", "--alpha", "0.5").stdout
    assert "rankset predict --empty top gives none" in told
    assert "empty='top'" not in told


def test_groups_of_a_rule_without_groups_are_evaluated(folder):
    fine("calibrate", "val.csv", "--kind", "logits", "--label", "answer", "--drop", "site", "-o", "rule.rankset")
    assert "group 'a'" in fine("evaluate", "rule.rankset", "test.csv", "--label", "answer", "--group", "site").stdout
