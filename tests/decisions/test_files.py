"""Files of triages: the same after loading, and forged or damaged files are refused."""

import contextlib
import json

import numpy as np
import pytest

import rankset as rs
from golden import make
from rankset.decisions import triage_file
from rankset.errors import StorageError
from rankset.io import container
from rankset.rules.rule_file import CONTENTS
from refusals import refused, said

LOGITS, LABELS = (array[:300] for array in rs.datasets.load("carer"))
GROUPS = np.where(np.arange(300) % 3, "north", "süd")
CASES = {
    "plain": {},
    "names": {"classes": ["a", "b", "c", "d", "e", 'q"\n']},
    "labels": {"condition": rs.PerLabel()},
    "groups": {"condition": rs.PerGroup(), "groups": GROUPS},
    "two keys": {"confidence": "two", "within": 3},
    "entropy": {"confidence": "entropy"},
    "fitted": {"confidence": rs.Correctness((0.5, 1.0, -0.25, 0.125), (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)), "seed": -7},
    "draws": {"confidence": rs.TieBreak(rs.Rank()), "ids": np.arange(300)},
}


def made(**options):
    return rs.triage(LOGITS, LABELS, kind="logits", **options)


@pytest.mark.parametrize("name", CASES)
def test_a_triage_is_the_same_after_loading(name, tmp_path):
    triage = made(**CASES[name])
    triage.save(tmp_path / "a.rankset")
    again = rs.Triage.load(tmp_path / "a.rankset")
    assert again == triage
    assert repr(again) == repr(triage)
    again.save(tmp_path / "b.rankset")
    assert (tmp_path / "b.rankset").read_bytes() == (tmp_path / "a.rankset").read_bytes()


def test_confidences_and_only_right_answers_are_saved(tmp_path):
    for right in (np.ones(50, dtype=bool), np.zeros(50, dtype=bool), np.arange(50) % 2 == 0):
        triage = rs.triage(np.linspace(-3, 7, 50), right)
        triage.save(tmp_path / "a.rankset")
        assert rs.Triage.load(tmp_path / "a.rankset") == triage
        assert rs.Triage.load(tmp_path / "a.rankset").within is None


def test_every_reader_names_the_right_one(tmp_path):
    made().save(tmp_path / "a.rankset")
    with refused(StorageError.other_content(tmp_path / "a.rankset", "a Rule", *CONTENTS["triage"])):
        rs.load(tmp_path / "a.rankset")
    rs.calibrate(LOGITS, LABELS, kind="logits").save(tmp_path / "a.rankset")
    with refused(StorageError.other_content(tmp_path / "a.rankset", "a Triage", *CONTENTS["rule"])):
        rs.Triage.load(tmp_path / "a.rankset")


def test_scores_of_ones_own_are_not_saved(tmp_path):
    class Own(rs.Thr):
        pass

    assert "Own" in said(made(confidence=Own()).save, tmp_path / "a.rankset")


TRIAGE = made()
HEADER, ARRAYS = triage_file.pack(TRIAGE.spec, TRIAGE.right, TRIAGE.wrong, TRIAGE.within)
NOTHING = {"right.key0": np.zeros(0), "right.offsets": np.zeros(2, dtype=np.int64)}
FORGED = {
    "within 0": ({"within": 0}, {}),
    "within a text": ({"within": "1"}, {}),
    "within true": ({"within": True}, {}),
    "too large": ({"within": 10**9}, {}),
    "no within": ({"within": ...}, {}),
    "a target": ({"target": {"name": "Recall"}}, {}),
    "another format": ({"format": 1}, {}),
    "nothing known": ({"what": "wonder"}, {}),
    "an unknown score": ({"score": {"name": "os.system"}}, {}),
    "another score": ({"score": {"name": "TopTwo"}}, {}),
    "not sorted": ({}, {"right.key0": ARRAYS["right.key0"][::-1]}),
    "NaN": ({}, {"wrong.key0": np.full(len(TRIAGE.wrong), np.nan)}),
    "a probability above one": ({}, {"wrong.key0": np.full(len(TRIAGE.wrong), -1.5)}),
    "a missing half": ({}, {"wrong.key0": None, "wrong.offsets": None}),
    "a further array": ({}, {"wrong.key9": np.array([0.5])}),
    "an array of no half": ({}, {"both.key0": np.array([0.5])}),
    "absent rows": ({}, {"wrong.absent": np.array([1])}),
    "no rows": ({}, NOTHING | {"wrong.key0": np.zeros(0), "wrong.offsets": np.zeros(2, dtype=np.int64)}),
}


def forged(path, changes, arrays):
    header = {name: value for name, value in {**HEADER, **changes}.items() if value is not ...}
    kept = {name: array for name, array in {**ARRAYS, **arrays}.items() if array is not None}
    path.write_bytes(container.to_bytes(path, header, kept))
    return path


@pytest.mark.parametrize("name", FORGED)
def test_forged_files_are_refused(name, tmp_path):
    assert rs.Triage.load(forged(tmp_path / "good.rankset", {}, {})) == TRIAGE
    with pytest.raises(StorageError):
        rs.Triage.load(forged(tmp_path / "bad.rankset", *FORGED[name]))


def test_damaged_files_are_refused(tmp_path):
    path, triage = tmp_path / "a.rankset", rs.triage(LOGITS[:20], LABELS[:20], kind="logits")
    triage.save(path)
    data = path.read_bytes()
    for length in range(0, len(data), 7):
        path.write_bytes(data[:length])
        with pytest.raises(StorageError):
            rs.Triage.load(path)
    for place in range(0, len(data), 3):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with contextlib.suppress(StorageError):
            assert rs.Triage.load(path) == triage  # a blank in the padding of the header


@pytest.mark.parametrize("name", make.TRIAGES)
def test_files_of_an_earlier_day_give_the_answers_of_that_day(name):
    path = make.DECISIONS / f"format4-{name}.rankset"
    case = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert make.decided(rs.Triage.load(path), case["rows"]) == case["decided"]
