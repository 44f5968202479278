"""Rows of a request, predicted: what was asked, and the sets with all that is remembered of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from rankset.core.alpha import exact_alpha
from rankset.errors import silent
from rankset.inputs.matrix import AS_THEY_ARE, plain_rows
from rankset.inputs.probabilities import from_kind
from rankset.serving.json_bodies import PredictBody, TriageBody, check_repeated, decode
from rankset.serving.loaded import Loaded
from rankset.serving.npy_bodies import read_npy
from rankset.serving.refusals import Refused
from rankset.serving.rows import Prediction, check_id
from rankset.serving.rows_in import matrix_of, rows_of
from rankset.streams.row_names import row_names

Matrix = NDArray[Any]
ID_BYTES = 12
"""Random bytes of an id that the server makes."""


@dataclass(frozen=True)
class Asked:
    """Rows of a request. ``names`` are the ids as they are stored, ``ids`` as they are answered."""

    matrix: Matrix
    alpha: Fraction
    ids: Sequence[Any]
    names: Sequence[str]
    given: bool
    groups: list[Any] | None = None
    error: Fraction | None = None


@dataclass(frozen=True)
class Answered:
    """The sets of rows, as columns and as what is answered; which rows are accepted, if a triage was asked."""

    asked: Asked
    offsets: list[int]
    codes: NDArray[np.int32]
    largest: list[float]
    accepted: list[bool] | None

    def body(self, names: list[Any]) -> dict[str, Any]:
        """Return the answer to the request."""
        columns, ends = self.codes.tolist(), self.offsets
        labels = [names[column] for column in columns]
        sets = [labels[start:end] for start, end in pairwise(ends)]
        found = {"sets": sets, "sizes": [len(one) for one in sets], "ids": self.asked.ids}
        found |= {"alpha": float(self.asked.alpha)}
        return found if self.accepted is None else {**found, "accepted": self.accepted}

    def predictions(self, first: int, times: Sequence[float]) -> list[Prediction]:
        """Return what is remembered of rows from ``first`` on, one for each time."""
        asked, ends, alpha = self.asked, self.offsets, float(self.asked.alpha)
        matrix = asked.matrix[:, np.newaxis] if asked.matrix.ndim == 1 else asked.matrix
        groups = [None] * len(matrix) if asked.groups is None else [written(group) for group in asked.groups]
        accepted: Sequence[bool | None] = self.accepted or [None] * len(matrix)
        return [
            Prediction(asked.names[row], time, matrix[row], groups[row], codes, alpha, self.largest[row], accepted[row])
            for row, time in enumerate(times, first)
            for codes in (self.codes[ends[row] : ends[row + 1]],)
        ]


def written(group: object) -> str:
    """Return the name of a group as JSON."""
    return msgspec.json.encode(group).decode()


def asked_in_json(body: bytes, loaded: Loaded, most: int) -> Asked:
    """Return what a body of JSON asks to predict."""
    found = decode(body, PredictBody)
    check_repeated(body, ("rows", "alpha", "ids", "groups", "error"))
    matrix = rows_of(found.rows, loaded.rule.spec, most)
    return asked_of(matrix, loaded, found.alpha, found.ids, found.groups, found.error)


def asked_in_npy(body: bytes, query: Any, loaded: Loaded, most: int) -> Asked:
    """Return what a body of one array asks to predict; the query has alpha, error, and ids and groups one by one."""
    unknown = sorted(set(query) - {"alpha", "id", "group", "error"})
    if unknown:
        raise Refused.field("the query", "have alpha, error, id and group alone", repr(unknown[0][:100]))
    matrix = matrix_of(read_npy(body), loaded.rule.spec, most)
    numbers = {name: _number(query.getlist(name), name) for name in ("alpha", "error")}
    ids, groups = query.getlist("id") or None, query.getlist("group") or None
    return asked_of(matrix, loaded, numbers["alpha"], ids, groups, numbers["error"])


def _number(values: list[str], name: str) -> float | None:
    if not values:
        return None
    try:
        (text,) = values
        return float(text if text.isascii() else "no number")
    except ValueError:
        raise Refused.field(name, "be one number", repr(", ".join(values)[:100])) from None


def asked_of(
    matrix: Matrix, loaded: Loaded, alpha: float | None, ids: Any, groups: list[Any] | None, error: float | None
) -> Asked:
    """Return checked members of a request; ids are made if there are none."""
    level = loaded.alpha if alpha is None else exact_alpha(alpha)
    if error is not None and loaded.triage is None:
        raise Refused.no_triage()
    wrong = None if error is None else exact_alpha(error)
    if ids is None:
        made = os.urandom(ID_BYTES * len(matrix)).hex()
        names = [made[start : start + 2 * ID_BYTES] for start in range(0, len(made), 2 * ID_BYTES)]
        return Asked(matrix, level, names, names, given=False, groups=groups, error=wrong)
    texts = [str(name) for name in row_names(ids, len(matrix))]
    for text in texts:
        check_id(text)
    return Asked(matrix, level, ids, texts, given=True, groups=groups, error=wrong)


def is_quick(asked: Asked, loaded: Loaded, most: int) -> bool:
    """Whether rows are predicted at once, without a thread of their own: few numbers, and thresholds are known."""
    known = asked.alpha in loaded.levels and (asked.error is None or asked.error in loaded.gates)
    return known and asked.matrix.size <= most


def answer(loaded: Loaded, asked: Asked) -> Answered:
    """Predict rows; the sets are those of ``Rule.predict``."""
    spec = loaded.rule.spec
    ids = asked.ids if asked.given and spec.with_ids else None
    with silent():
        sets = loaded.levels[asked.alpha].predict(
            asked.matrix, groups=asked.groups, ids=ids, empty=loaded.answering.empty
        )
        accepted = None if asked.error is None else accepts(loaded, asked)
    rows = plain_rows(asked.matrix, spec.kind)
    rows = rows if spec.kind in AS_THEY_ARE else from_kind(rows, spec.kind)
    largest = rows.max(axis=1).astype(np.float64).tolist() if len(rows) else []
    return Answered(asked, sets.offsets.tolist(), sets.codes, largest, accepted)


def accepts(loaded: Loaded, asked: Asked) -> list[bool]:
    """Return which rows the triage accepts at the error that was asked."""
    assert asked.error is not None
    triage = loaded.triage
    assert triage is not None
    ids = asked.ids if asked.given and triage.spec.with_ids else None
    groups = asked.groups if triage.spec.condition.needs_groups else None
    if not len(asked.matrix):
        return []
    with silent():
        return loaded.gates[asked.error].accepts(asked.matrix, groups=groups, ids=ids).tolist()


def asked_of_triage(body: bytes, loaded: Loaded, most: int) -> Asked:
    """Return what a body of JSON asks to accept."""
    if loaded.triage is None:
        raise Refused.no_triage()
    found = decode(body, TriageBody)
    check_repeated(body, ("rows", "error", "groups", "ids"))
    spec = loaded.triage.spec
    asked = asked_of(rows_of(found.rows, spec, most), loaded, None, found.ids, found.groups, found.error)
    return replace(asked, groups=found.groups if spec.condition.needs_groups else None)


def triage_body(loaded: Loaded, asked: Asked) -> dict[str, Any]:
    """Return which rows are accepted, and the most likely labels of all."""
    assert asked.error is not None
    gate = loaded.gates[asked.error]
    rows = plain_rows(asked.matrix, gate.spec.kind)
    accepted = accepts(loaded, asked)
    rows = rows if gate.spec.kind in AS_THEY_ARE else from_kind(rows, gate.spec.kind)
    labels = [loaded.names[column] for column in rows.argmax(axis=1).tolist()] if len(rows) else []
    return {
        "accepted": accepted,
        "labels": labels,
        "error": float(asked.error),
        "confidence": gate.confidence,
        "rule": gate.describe(),
    }
