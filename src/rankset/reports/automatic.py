"""What may be decided automatically: how many test rows a batch and a gate would accept, at every error of a slider."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from rankset.conditions import Marginal
from rankset.core.promise_argument import exact_confidence
from rankset.decisions import walk
from rankset.decisions.confidences import named_confidence
from rankset.decisions.curve import CurvePoint
from rankset.decisions.triage import Triage, triage_prepared
from rankset.inputs.matrix import MARGINAL
from rankset.inputs.prepare import Prepared
from rankset.rules.spec import RuleSpec

ERRORS = tuple(Fraction(step, 200) for step in range(1, 61))
"""The errors of the slider: 0.5 %, 1 %, …, 30 %."""
BEYOND = tuple(Fraction(step, 100) for step in range(31, 100))
"""Larger errors, to find one that is attainable if no error of the slider is."""
FIRST = Fraction(1, 20)
"""The error that the page shows when it is opened."""


def automatic(data: Prepared) -> dict[str, Any]:
    """Return what the page shows of the triage of labelled rows, ready for JSON; nothing if rows have no one answer.

    The triage is that of ``rankset.triage`` for these rows without groups and ids.
    """
    if data.labels is None or data.kind in MARGINAL:
        return {}
    return {"automatic": {"kind": data.kind, **_of_triage(_triage(data))}}


def _triage(data: Prepared) -> Triage:
    spec = RuleSpec.of(named_confidence(None).score, Marginal(), data.kind, 0, data.classes)
    return triage_prepared(spec, replace(data, groups=None, ids=None), None, 1)


def _of_triage(triage: Triage) -> dict[str, Any]:
    curve = triage.curve(ERRORS)
    points = curve.points
    gates = [triage.threshold(error) if point.stream else None for error, point in zip(ERRORS, points, strict=True)]
    return {
        "rows": triage.n,
        "wrong": triage.n_wrong / triage.n,
        "confidence": curve.confidence,
        "errors": [point.error for point in points],
        "first": ERRORS.index(FIRST),
        "batch": [point.batch for point in points],
        "stream": [point.stream for point in points],
        "wrong_in_stream": [point.wrong for point in points],
        "tested": max((gate.n for gate in gates if gate is not None), default=0),
        "needed": [walk.rows_needed(error, 1 - exact_confidence(curve.confidence)) for error in ERRORS],
        "gates": [None if gate is None else gate.describe() for gate in gates],
        "beyond": _beyond(triage, points),
    }


def _beyond(triage: Triage, points: Sequence[CurvePoint]) -> dict[str, float | None]:
    """Return for each promise that accepts nothing at the errors of the slider the smallest larger error that accepts.

    None if no error does.
    """
    closed = [name for name in ("batch", "stream") if not any(getattr(point, name) for point in points)]
    larger = triage.curve(BEYOND).points if closed else ()
    return {name: next((point.error for point in larger if getattr(point, name)), None) for name in closed}
