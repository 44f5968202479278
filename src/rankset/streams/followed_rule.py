"""The rule that a stream follows: what it can be, its first window, and the start of its alarms."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankset.errors import KindError, RuleError
from rankset.rules.rule import Rule
from rankset.rules.spec import ONE_LABEL
from rankset.streams.bag import uniform_order
from rankset.streams.sorted_tuples import Tuple
from rankset.streams.window import Window, tuples_of


def checked_rule(rule: object, what: str) -> Rule:
    """Return a rule that a stream, or a test of exchangeability, can follow; raise an error for others."""
    if not isinstance(rule, Rule):
        hint = ", such as classifier.rule_" if hasattr(rule, "rule_") else ""
        raise KindError.argument("rule", f"a Rule, as returned by calibrate{hint}", rule)
    if rule.spec.target != ONE_LABEL:
        raise RuleError.followed(what, "have one true label per row", rule.spec.target)
    if rule.spec.tells_effective_rows:
        received = "weights" if rule.spec.weighted else rule.spec.condition
        raise RuleError.followed(what, "have calibration rows without weights, for new rows like them", received)
    if rule.calibration.absent is not None:
        raise RuleError.followed(what, "have no calibration rows with the label ABSENT", "such rows")
    return rule


def first_window(rule: Rule, size: int | None, seed: int) -> Window:
    """Return a window of calibration rows, at most ``size`` of them, which leave in a random order."""
    calibration = rule.calibration
    window = Window(size, rule.spec.n_groups, tuple(key.dtype for key in calibration.keys))
    chosen = np.array(uniform_order(len(calibration), seed)[: size or len(calibration)], dtype=np.int64)
    keys = tuples_of(tuple(key[chosen] for key in calibration.keys))
    window.fill(zip(calibration.groups[chosen].tolist(), keys, strict=True))
    return window


def sorted_keys(rule: Rule) -> list[Tuple]:
    """Return the keys of all calibration rows of all groups, in ascending order."""
    return sorted(tuples_of(rule.calibration.keys))


def largest_entries(data: Any) -> list[float]:  # noqa: ANN401
    """Return the largest probability, or other entry, of each prepared row."""
    if len(data) == 0:
        return []
    rows = data.rows(slice(0, len(data)))
    if data.counts is not None:
        rows = np.where(np.arange(rows.shape[1]) < data.counts[:, np.newaxis], rows, -np.inf)
    return rows.max(axis=1).astype(np.float64).tolist()
