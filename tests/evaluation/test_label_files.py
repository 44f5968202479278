"""Files of what ``precise`` and ``bounds`` return: the same answers after loading, and forged files are refused."""

import contextlib
import json
import struct
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import rankset as rs
from golden import make
from rankset.errors import StorageError
from rankset.evaluation import bounds_file, precise_file
from rankset.io import container
from refusals import refused

pytestmark = pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")

PROBS, LABELS = (array[:800] for array in rs.datasets.load("goemotions"))
CLASSES = rs.datasets.SEVERAL_LABELS["goemotions"].classes
SCORES = ["thr", "rank", rs.TieBreak(rs.Share()), rs.Margin()]


def precise(error=0.3, **options):
    return rs.precise(PROBS, LABELS, error=error, **{"classes": CLASSES, **options})


@pytest.mark.parametrize("score", SCORES, ids=repr)
def test_a_precise_rule_is_the_same_after_loading(score, tmp_path):
    for options in ({}, {"classes": None, "ids": np.arange(800), "seed": 7}, {"error": "1/7", "confidence": "0.8"}):
        rule = precise(method=score, **options)
        rule.save(tmp_path / "a.rankset")
        again = rs.PreciseRule.load(tmp_path / "a.rankset")
        assert again == rule
        assert repr(again) == repr(rule)
        assert (again.at is None) == (rule.at is None)
        ids = {"ids": np.arange(800)} if "ids" in options else {}
        assert again.predict(PROBS, **ids) == rule.predict(PROBS, **ids)
        again.save(tmp_path / "b.rankset")
        assert (tmp_path / "b.rankset").read_bytes() == (tmp_path / "a.rankset").read_bytes()
    assert precise(method=score) != precise(0.4, method=score)


def test_a_precise_rule_without_a_threshold_is_saved(tmp_path):
    rule = precise(0.001)
    assert rule.at is None
    rule.save(tmp_path / "a.rankset")
    again = rs.PreciseRule.load(tmp_path / "a.rankset")
    assert again == rule
    assert again.predict(PROBS).sizes.max() == 0


@pytest.mark.parametrize("options", [{}, {"condition": rs.PerLabel()}, {"classes": None, "method": "rank"}], ids=str)
def test_bounds_are_the_same_after_loading(options, tmp_path):
    both = rs.bounds(PROBS, LABELS, **{"classes": CLASSES, **options})
    both.save(tmp_path / "a.rankset")
    again = rs.LabelBounds.load(tmp_path / "a.rankset")
    assert again == both
    for ours, theirs in zip(both.predict(PROBS, alpha=0.3), again.predict(PROBS, alpha=0.3), strict=True):
        assert ours == theirs


def test_bounds_with_groups_and_ids_are_saved(tmp_path):
    groups = np.where(np.arange(800) % 3, "north", "south")
    asked = {"condition": rs.PerGroup(), "groups": groups, "ids": np.arange(800), "method": rs.TieBreak(rs.Thr())}
    both = rs.bounds(PROBS, LABELS, **asked)
    both.save(tmp_path / "a.rankset")
    assert rs.LabelBounds.load(tmp_path / "a.rankset") == both


def test_rules_that_do_not_belong_together_are_not_saved(tmp_path):
    both = rs.bounds(PROBS, LABELS)
    less = rs.bounds(PROBS[:500], LABELS[:500])
    other = rs.bounds(PROBS, LABELS, seed=5)
    for wrong in (
        rs.LabelBounds(both.possible, both.certain),
        rs.LabelBounds(both.certain, less.possible),
        rs.LabelBounds(both.certain, other.possible),
    ):
        with refused(StorageError, what="bounds in a file"):
            wrong.save(tmp_path / "a.rankset")
    assert not (tmp_path / "a.rankset").exists()


def test_every_reader_names_the_right_one(tmp_path):
    path = tmp_path / "a.rankset"
    rs.calibrate(PROBS, LABELS, target="recall", kind="marginals").save(path)
    with refused(StorageError.other_content(path, "a PreciseRule", "a Rule", "rankset.load", "rankset predict")):
        rs.PreciseRule.load(path)
    rs.bounds(PROBS, LABELS).save(path)
    with refused(StorageError.other_content(path, "a Rule", "a LabelBounds", "rankset.LabelBounds.load")):
        rs.load(path)
    precise().save(path)
    with refused(StorageError.other_content(path, "a LabelBounds", "a PreciseRule", "rankset.PreciseRule.load")):
        rs.LabelBounds.load(path)
    with refused(StorageError.other_content(path, "a Rule", "a PreciseRule", "rankset.PreciseRule.load")):
        rs.load(path)


def test_scores_of_ones_own_and_long_fractions_are_not_saved(tmp_path):
    class Own(rs.Thr):
        pass

    with refused(StorageError, what="scores and conditions in a file"):
        precise(method=Own()).save(tmp_path / "a.rankset")
    with refused(StorageError.long_share(1000)):
        precise(Fraction(3 * 10**1000 + 1, 10**1001)).save(tmp_path / "a.rankset")


def forged(made, path, changes, arrays):
    """Write a file with other fields or arrays (without those that are None), and a digest that fits."""
    pack = (
        precise_file.pack(made) if isinstance(made, rs.PreciseRule) else bounds_file.pack(made.certain, made.possible)
    )
    header = {**pack[0], **changes}
    kept = {name: array for name, array in {**pack[1], **arrays}.items() if array is not None}
    path.write_bytes(container.to_bytes(path, {k: v for k, v in header.items() if v is not ...}, kept))
    return path


FORGED_PRECISE = {
    "a larger confidence": ({"confidence": 0.99999}, {}),
    "more false labels": ({"false_share": 0.29999}, {}),
    "fewer rows": ({"n": 20}, {}),
    "no rows": ({"n": 0}, {}),
    "too many rows": ({"n": 1 << 60}, {}),
    "rows in text": ({"n": "640"}, {}),
    "a smaller error": ({"error": "1/100"}, {}),
    "an error that is no fraction": ({"error": 0.3}, {}),
    "an error that is large": ({"error": "1e999999999"}, {}),
    "an error that is not reduced": ({"error": "6/20"}, {}),
    "an error of zero": ({"error": "1/0"}, {}),
    "an error above one": ({"error": "3/2"}, {}),
    "no threshold": ({"tested": 0}, {}),
    "too many thresholds": ({"tested": 10_001}, {}),
    "true thresholds": ({"tested": True}, {}),
    "no numbers": ({"recall": None}, {}),
    "NaN": ({"recall": float("nan")}, {}),
    "recall above one": ({"recall": 1.5}, {}),
    "more labels than classes": ({"mean_size": 29.0}, {}),
    "a threshold of another score": ({"score": {"name": "Rank"}}, {}),
    "a probability above one": ({}, {"key0": np.array([-1.5])}),
    "a missing threshold": ({}, {"key0": None}),
    "two thresholds": ({}, {"key0": np.array([-0.5, -0.5])}),
    "NaN as a threshold": ({}, {"key0": np.array([np.nan])}),
    "another array": ({}, {"key1": np.array([0.5])}),
    "another condition": ({"condition": {"name": "PerLabel", "clusters": None}}, {}),
    "a target": ({"target": {"name": "Recall"}}, {}),
    "another format": ({"format": 3}, {}),
    "no error": ({"error": ...}, {}),
    "nothing known": ({"what": "wonder"}, {}),
    "an unknown score": ({"score": {"name": "os.system"}}, {}),
    "too many classes": ({"classes": 1 << 40}, {}),
}


@pytest.mark.parametrize("name", FORGED_PRECISE)
def test_forged_precise_rules_are_refused(name, tmp_path):
    rule = precise()
    assert rs.PreciseRule.load(forged(rule, tmp_path / "good.rankset", {}, {})) == rule
    with pytest.raises(StorageError):
        rs.PreciseRule.load(forged(rule, tmp_path / "bad.rankset", *FORGED_PRECISE[name]))


BOTH = rs.bounds(PROBS, LABELS)
HEADER, ARRAYS = bounds_file.pack(BOTH.certain, BOTH.possible)
FORGED_BOUNDS = {
    "turned": ({"certain": HEADER["possible"], "possible": HEADER["certain"]}, {}),
    "twice the same": ({"certain": HEADER["possible"]}, {}),
    "another format inside": ({"certain": {**HEADER["certain"], "format": 1}}, {}),
    "no rule inside": ({"certain": 7}, {}),
    "other contents inside": ({"certain": {**HEADER["certain"], "what": "precise"}}, {}),
    "another seed": ({"certain": {**HEADER["certain"], "seed": 3}}, {}),
    "other classes": ({"certain": {**HEADER["certain"], "classes": 29}}, {}),
    "more rows set aside": ({"certain": {**HEADER["certain"], "set_aside": 4}}, {}),
    "without guarantee": ({"certain": {**HEADER["certain"], "guaranteed": False}}, {}),
    "not sorted": ({}, {"certain.key0": ARRAYS["certain.key0"][::-1]}),
    "an array of no rule": ({}, {"other.key0": np.array([0.5])}),
    "an array without a rule": ({}, {"key0": np.array([0.5])}),
    "a further array": ({}, {"certain.key9": np.array([0.5])}),
    "a missing array": ({}, {"possible.rows": None}),
    "a missing rule": ({"possible": ...}, {}),
    "another format": ({"format": 3}, {}),
    "a further field": ({"more": 1}, {}),
}


@pytest.mark.parametrize("name", FORGED_BOUNDS)
def test_forged_bounds_are_refused(name, tmp_path):
    assert rs.LabelBounds.load(forged(BOTH, tmp_path / "good.rankset", {}, {})) == BOTH
    with pytest.raises(StorageError):
        rs.LabelBounds.load(forged(BOTH, tmp_path / "bad.rankset", *FORGED_BOUNDS[name]))


@pytest.mark.parametrize("reader", [rs.PreciseRule, rs.LabelBounds], ids=["precise", "bounds"])
def test_damaged_files_are_refused(reader, tmp_path):
    path, made = tmp_path / "a.rankset", precise() if reader is rs.PreciseRule else rs.bounds(PROBS[:40], LABELS[:40])
    made.save(path)
    data = path.read_bytes()
    assert struct.unpack_from("<Q", data)[0] < len(data)
    for length in range(0, len(data), 7):
        path.write_bytes(data[:length])
        with pytest.raises(StorageError):
            reader.load(path)
    for place in range(0, len(data), 3):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with contextlib.suppress(StorageError):
            assert reader.load(path) == made  # a blank in the padding of the header


@pytest.mark.parametrize("name", ["precise", "bounds"])
def test_files_of_an_earlier_day_give_the_answers_of_that_day(name):
    path = make.LABELS / f"format4-{name}.rankset"
    case = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    reader = rs.PreciseRule if name == "precise" else rs.LabelBounds
    assert make.label_sets(reader.load(path), case["rows"]) == case["sets"]


def test_another_level_is_another_rule():
    rule = precise()
    assert replace(rule, at=replace(rule.at, level=Fraction(1, 9))) != rule
    assert rule != "rule"
