"""The report of rules with several labels per row, and of promises with a confidence."""

import numpy as np
import pytest

import rankset as rs
from rankset.errors import InputError, KindError, LabelError, RuleError
from refusals import refused

pytest.importorskip("plotly")

PROBS, LABELS = rs.datasets.load("goemotions")
CLASSES = rs.datasets.SEVERAL_LABELS["goemotions"].classes
CAL, NEW = slice(0, 1000), slice(1000, 1600)
TRUTH = LABELS[NEW].copy()
TRUTH[::7] = 0


def calibrated(target, **options):
    return rs.calibrate(PROBS[CAL], LABELS[CAL], target=target, kind="marginals", classes=CLASSES, **options)


TARGETS = ("recall", "all", "any", "missed:1")
RULES = [*(calibrated(target) for target in TARGETS), calibrated("all", method="topk")]
STUDY = rs.report(RULES, PROBS[NEW], TRUTH, alpha="0.015").study.data


@pytest.mark.parametrize("number", range(len(RULES)), ids=(*TARGETS, "ties"))
def test_every_number_is_the_librarys(number):
    rule, told = RULES[number], STUDY["scores"][number]
    for place in (0, 1, 10, 30, 50):
        alpha = f"{STUDY['alphas'][place]:g}"
        found = rs.evaluate(rule.predict(PROBS[NEW], alpha), TRUTH)
        sure = rs.evaluate(rule.predict(PROBS[NEW], alpha, confidence=0.95), TRUTH)
        measured = {name: values[place] for name, values in told["metrics"].items()}
        assert measured == {
            "recall": found.recall,
            "all labels": found.all_labels,
            "any label": found.any_label,
            "micro recall": found.micro_recall,
            "precision": None if np.isnan(found.precision) else found.precision,
            "size": found.mean_size,
            "empty": found.empty_rate,
        }
        assert told["observed"][place] == found.observed
        assert told["band"][place] == list(found.expected)
        assert told["recall_interval"][place] == list(found.recall_interval)
        assert told["all_interval"][place] == list(found.all_labels_interval)
        assert told["label_recall"][place] == [round(one.recall, 4) for one in found.labels]
        assert told["label_kept"][place] == [round(one.kept, 4) for one in found.labels]
        assert [row[:2] for row in told["by_number"][place]] == [[one.name, one.n] for one in found.by_number]
        assert told["sure"]["size"][place] == sure.mean_size
        assert told["sure"]["observed"][place] == sure.observed
    assert told["guarantee"] == {
        "condition": "for all rows",
        "groups": 1,
        "rows": rule.n,
        "smallest": rule.n,
        "set_aside": rule.set_aside,
    }
    assert (STUDY["rows"], STUDY["set_aside"]) == (600, int((TRUTH.sum(axis=1) == 0).sum()))
    assert STUDY["alpha"] == 0.015
    assert [STUDY["classes"][column] for column in told["label_columns"]] == [one.name for one in found.labels]


def test_rules_with_other_targets_have_names_of_their_own():
    names = [one["label"] for one in STUDY["scores"]]
    assert names == [
        "Share, Recall()",
        "THR, AllLabels()",
        "THR, AnyLabel()",
        "THR, AtMostMissed(m=1)",
        "TopK, AllLabels()",
    ]
    assert "{}" in STUDY["scores"][0]["promise"]
    assert [one["measure"] for one in STUDY["scores"]] == [
        "recall",
        "all labels",
        "any label",
        "at most 1 missed",
        "all labels",
    ]
    assert not any(one["by_label"] for one in STUDY["scores"])


def test_groups_have_a_table():
    groups = np.where(np.arange(600) % 3, "north", "south")
    groups[::7][:3] = "empty"  # rows without labels
    rule = calibrated("all")
    made = rs.report(rule, PROBS[NEW], TRUTH, groups=groups)
    (told,) = made.study.data["scores"]
    assert told["group_names"] == ["empty", "north", "south"]
    for place in (0, 9, 30):
        sets = rule.predict(PROBS[NEW], f"{made.study.data['alphas'][place]:g}")
        found = rs.evaluate(sets, TRUTH, groups=groups).groups
        assert told["group_rows"] == [one.n for one in found]
        wanted = [[one.observed, one.recall, one.all_labels, one.mean_size] for one in found[1:]]
        assert told["by_group"][place][1:] == wanted
        assert told["by_group"][place][0][:3] == [None, None, None]
    assert 'id="groups-section"' in made.html
    assert "by_group" not in STUDY["scores"][0]


@pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")
def test_with_several_thresholds_no_confidence_is_shown():
    rule = calibrated("all", condition=rs.PerLabel())
    (told,) = rs.report(rule, PROBS[NEW], TRUTH).study.data["scores"]
    assert "sure" not in told
    assert "band" not in told
    assert set(told["observed"]) == {None}
    assert told["by_label"]
    assert told["promise"] == rs.AllLabels().promise_by_label
    assert told["guarantee"]["groups"] == 28
    assert told["guarantee"]["rows"] == rule.n


def test_estimators_write_the_same_page(tmp_path):
    common = LABELS[CAL].sum(axis=0) > 40
    rows, labels = PROBS.astype(float), LABELS[:, common]
    model = rs.ConformalClassifier(target="recall", random_state=0).fit(rows[CAL], labels[CAL])
    made = model.report(rows[NEW], TRUTH[:, common], tmp_path / "model.html")
    again = rs.report(model.rule_, model.predict_proba(rows[NEW]), TRUTH[:, common]).study
    assert made.study == again
    assert "What the sets contain, against alpha" in made.html
    folds = rs.ConformalClassifier(target="all", split=rs.CrossConformal(3), random_state=0)
    (told,) = folds.fit(rows[CAL], labels[CAL]).report(rows[NEW], TRUTH[:, common]).study.data["scores"]
    assert told["proven"][9] == folds.rule_.guarantee(0.1)
    assert told["guarantee"]["rows"] + told["guarantee"]["set_aside"] == 1000
    assert "sure" not in told


def test_what_cannot_be_reported_is_told():
    probs, labels = rs.datasets.load("marketing")
    cost = rs.Cost({0: 1, 1: 4, 2: 1, 3: 2})
    with refused(RuleError.report_of_target(cost)):
        rs.report(rs.calibrate(probs, labels, target=cost), probs, labels)
    with refused(LabelError):
        rs.report(RULES[0], PROBS[NEW], TRUTH.argmax(axis=1))
    with refused(InputError.no_rows_to_evaluate()):
        rs.report(RULES[0], PROBS[NEW], np.zeros_like(TRUTH))
    model = rs.ConformalClassifier(target=cost, random_state=0).fit(probs, labels)
    with refused(RuleError.report_of_target(cost)):
        model.report(probs, labels)
    one = rs.calibrate(PROBS[CAL], LABELS[CAL].argmax(axis=1), kind="marginals", classes=CLASSES)
    with refused(RuleError.different("number of labels per row", rs.Recall(), rs.OneLabel())):
        rs.report([RULES[0], one], PROBS[NEW], TRUTH)
    with refused(KindError):
        rs.report([], PROBS[NEW], TRUTH)


@pytest.mark.parametrize("score", ["rank", "thr", "aps"])
def test_one_label_per_row_shows_both_promises(score):
    probs, labels = rs.datasets.load("carer")
    rule = rs.calibrate(probs[:700], labels[:700], kind="logits", method=score)
    (told,) = rs.report(rule, probs[700:1300], labels[700:1300]).study.data["scores"]
    for place in (0, 4, 9, 29):
        sets = rule.predict(probs[700:1300], f"{(place + 1) / 100:g}", confidence=0.95)
        assert told["sure"]["size"][place] == sets.sizes.mean()
        assert told["sure"]["coverage"][place] == sets.covers(labels[700:1300]).mean()
    groups = rs.calibrate(probs[:700], labels[:700], kind="logits", condition=rs.PerLabel())
    assert "sure" not in rs.report(groups, probs[700:1300], labels[700:1300]).study.data["scores"][0]


def test_scores_are_compared_for_a_target():
    made = rs.report_scores(PROBS[CAL], LABELS[CAL], PROBS[NEW], TRUTH, kind="marginals", target="recall")
    assert [one["label"] for one in made.study.data["scores"]] == ["Share, Recall()", "THR, Recall()", "RANK, Recall()"]
    assert made.study.data["scores"][0]["observed"] == STUDY_OF_RECALL["observed"]
    with refused(LabelError):
        rs.report_scores(PROBS[CAL], LABELS[CAL], PROBS[NEW], TRUTH, kind="marginals")


STUDY_OF_RECALL = rs.report(RULES[0], PROBS[NEW], TRUTH).study.data["scores"][0]
