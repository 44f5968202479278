"""Every entry_point of the library, by what it takes; and rows, labels and groups to pass through it."""

from re import escape

import numpy as np
import pytest

import rankset as rs

N, K = 40, 3
RNG = np.random.default_rng(7)
PROBS = RNG.dirichlet(np.ones(K), N)
LABELS = RNG.integers(0, K, N)
LOGITS = np.log(PROBS)
GROUPS = np.array(["north", "south"] * (N // 2))
NAMES = ["cat", "dog", "fox"]
GRID = RNG.multinomial(16, np.ones(K) / K, N) / 16
"""Probabilities that every float type holds exactly."""
EVERY_SCORE = (rs.Rank(), rs.TopK(), rs.Thr(), rs.Margin(), rs.Aps(), rs.Raps(), rs.Saps(), rs.TieBreak(rs.Rank()))

VALUES = {"probs": PROBS, "logits": LOGITS, "decision": LOGITS, "binary": PROBS[:, 0]}
TRUTH = {kind: LABELS % 2 if kind == "binary" else LABELS for kind in VALUES}


def calibrated(kind="probs"):
    return rs.calibrate(VALUES[kind], TRUTH[kind], kind=kind)


def by_group():
    return rs.calibrate(PROBS, LABELS, condition=rs.PerGroup(), groups=GROUPS)


ROW_ENTRY_POINTS = {
    "calibrate": lambda rows, kind="probs": rs.calibrate(rows, TRUTH[kind][:N], kind=kind),
    "predict": lambda rows, kind="probs": calibrated(kind).predict(rows, 0.1),
    "p_values": lambda rows, kind="probs": calibrated(kind).p_values(rows),
    "expected_size": lambda rows, kind="probs": calibrated(kind).expected_size(rows, 0.1),
    "update": lambda rows, kind="probs": calibrated(kind).update(rows, TRUTH[kind][:N]),
}
NEW_ROW_ENTRY_POINTS = {name: entry_point for name, entry_point in ROW_ENTRY_POINTS.items() if name != "calibrate"}
LABEL_ENTRY_POINTS = {
    "calibrate": lambda labels, classes=None: rs.calibrate(PROBS, labels, classes=classes),
    "update": lambda labels, classes=None: named(classes).update(PROBS, labels),
    "covers": lambda labels, classes=None: named(classes).predict(PROBS, 0.1).covers(labels),
    "evaluate": lambda labels, classes=None: rs.evaluate(named(classes).predict(PROBS, 0.1), labels),
}
GROUP_ENTRY_POINTS = {
    "calibrate": lambda groups: rs.calibrate(PROBS, LABELS, condition=rs.PerGroup(), groups=groups),
    "predict": lambda groups: by_group().predict(PROBS, 0.1, groups=groups),
    "p_values": lambda groups: by_group().p_values(PROBS, groups=groups),
    "expected_size": lambda groups: by_group().expected_size(PROBS, 0.1, groups=groups),
    "update": lambda groups: by_group().update(PROBS, LABELS, groups=groups),
    "evaluate": lambda groups: rs.evaluate(calibrated().predict(PROBS, 0.1), LABELS, groups=groups),
}
ID_ENTRY_POINTS = {
    "calibrate": lambda ids: rs.calibrate(PROBS, LABELS, ids=ids),
    "predict": lambda ids: calibrated().predict(PROBS, 0.1, ids=ids),
    "p_values": lambda ids: calibrated().p_values(PROBS, ids=ids),
    "expected_size": lambda ids: calibrated().expected_size(PROBS, 0.1, ids=ids),
    "update": lambda ids: calibrated().update(PROBS, LABELS, ids=ids),
}


def named(classes):
    labels = LABELS if classes is None else np.array(classes, dtype=object)[LABELS]
    return rs.calibrate(PROBS, labels, classes=classes)


def entry_points(table):
    return pytest.mark.parametrize("entry_point", table.values(), ids=table.keys())


def changed(array, place, value):
    copy = array.copy()
    copy[place] = value
    return copy


def said(*words):
    """A pattern that finds these words, in this order."""
    return ".*".join(map(escape, words))


def read_only(rows):
    copy = rows.copy()
    copy.flags.writeable = False
    return copy


def only_warning(caught):
    """The one thing said, as text."""
    (warning,) = caught
    return str(warning.message)
