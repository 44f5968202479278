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

from rankset.errors import Place, short_repr, silent
from rankset.inputs.matrix import AS_THEY_ARE, plain_rows
from rankset.inputs.probabilities import from_kind
from rankset.rules.spec import RuleSpec
from rankset.serving.json_bodies import PredictBody, TriageBody, check_repeated, decode
from rankset.serving.loaded import Loaded
from rankset.serving.npy_bodies import read_npy
from rankset.serving.queries import Query, share_asked, share_in
from rankset.serving.refusals import Refused
from rankset.serving.request_limits import Limits
from rankset.serving.row_bounds import check_bounds, check_lists
from rankset.serving.rows_in import matrix_of, rows_of
from rankset.serving.storage.rows import Prediction, check_id
from rankset.streams.row_names import row_names

Matrix = NDArray[Any]
ID_BYTES = 12
"""Random bytes of an id that the server makes."""
LEAST_ID, MOST_ID = -(2**63), 2**63 - 1
"""Integers that are ids draw the same as numbers and as texts; others do not."""


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

    def predictions(self, first: int, times: Sequence[float], turn: int) -> list[Prediction]:
        """Return what is remembered of rows from ``first`` on, one for each time."""
        asked, ends, alpha = self.asked, self.offsets, float(self.asked.alpha)
        matrix = asked.matrix[:, np.newaxis] if asked.matrix.ndim == 1 else asked.matrix
        groups = [None] * len(matrix) if asked.groups is None else [written(group) for group in asked.groups]
        accepted: Sequence[bool | None] = self.accepted or [None] * len(matrix)
        names, largest = asked.names, self.largest
        return [
            Prediction(names[row], time, matrix[row], groups[row], codes, alpha, largest[row], accepted[row], turn)
            for row, time in enumerate(times, first)
            for codes in (self.codes[ends[row] : ends[row + 1]],)
        ]


def written(group: object) -> str:
    """Return the name of a group as JSON."""
    return msgspec.json.encode(group).decode()


def asked_in_json(body: bytes, query: Query, loaded: Loaded, limits: Limits) -> Asked:
    """Return what a body of JSON asks to predict; alpha and error can also stand in the query."""
    check_lists(body, limits.rows)
    found = decode(body, PredictBody)
    check_bounds(found.rows, loaded.rule.spec, limits.rows)
    check_repeated(body, ("rows", "alpha", "ids", "groups", "error"))
    alpha, error = share_asked(query, "alpha", found.alpha), share_asked(query, "error", found.error)
    matrix = rows_of(found.rows, loaded.rule.spec, limits.rows, limits.numbers)
    return asked_of(matrix, loaded, alpha, found.ids, found.groups, error)


def asked_in_npy(body: bytes, query: Query, loaded: Loaded, limits: Limits) -> Asked:
    """Return what a body of one array asks to predict; the query has alpha, error, and ids and groups one by one."""
    matrix = matrix_of(read_npy(body), loaded.rule.spec, limits.rows)
    ids, groups = (list(query.get(name, ())) or None for name in ("id", "group"))
    return asked_of(matrix, loaded, share_in(query, "alpha"), ids, groups, share_in(query, "error"))


def asked_of(
    matrix: Matrix, loaded: Loaded, alpha: Fraction | None, ids: Any, groups: list[Any] | None, error: Fraction | None
) -> Asked:
    """Return checked members of a request; ids are made if there are none."""
    level = loaded.alpha if alpha is None else alpha
    if error is not None and loaded.triage is None:
        raise Refused.no_triage()
    if ids is None:
        made = os.urandom(ID_BYTES * len(matrix)).hex()
        names = [made[start : start + 2 * ID_BYTES] for start in range(0, len(made), 2 * ID_BYTES)]
        return Asked(matrix, level, names, names, given=False, groups=groups, error=error)
    texts = stored_names(ids, len(matrix))
    return Asked(matrix, level, ids, texts, given=True, groups=groups, error=error)


def stored_names(ids: Sequence[Any], count: int) -> list[str]:
    """Return ids as they are stored, as texts; raise an error if one cannot be stored, or if two are equal."""
    for row, name in enumerate(ids):
        if isinstance(name, int) and not LEAST_ID <= name <= MOST_ID:
            remedy = "Send larger numbers as texts, in quotes."
            raise Refused.field("ids", "be texts or integers of 64 bits", short_repr(name), Place(row=row), remedy)
    texts = [str(name) for name in row_names(ids, count)]
    for text in texts:
        check_id(text)
    return texts


def is_quick(asked: Asked, loaded: Loaded, most: int) -> bool:
    """Whether rows are predicted at once, without a thread of their own: few numbers, and thresholds are known."""
    known = asked.alpha in loaded.levels and (asked.error is None or asked.error in loaded.gates)
    return known and asked.matrix.size <= most


def answer(loaded: Loaded, asked: Asked) -> Answered:
    """Predict rows; the sets are those of ``Rule.predict``."""
    spec = loaded.rule.spec
    if not len(asked.matrix):
        return Answered(asked, [0], np.zeros(0, dtype=np.int32), [], None if asked.error is None else [])
    ids = _ids_for(spec, asked)
    with silent():
        sets = loaded.levels[asked.alpha].predict(
            asked.matrix, groups=asked.groups, ids=ids, empty=loaded.answering.empty
        )
        accepted = None if asked.error is None else accepts(loaded, asked)
    rows = plain_rows(asked.matrix, spec.kind)
    rows = rows if spec.kind in AS_THEY_ARE else from_kind(rows, spec.kind)
    largest = rows.max(axis=1).astype(np.float64).tolist()
    return Answered(asked, sets.offsets.tolist(), sets.codes, largest, accepted)


def _ids_for(spec: RuleSpec, asked: Asked) -> Sequence[Any] | None:
    """Return the ids of rows if their draws depend on them; raise ``Refused`` if the client sent none."""
    if not spec.with_ids:
        return None
    if not asked.given:
        raise Refused.no_ids()
    return asked.ids


def accepts(loaded: Loaded, asked: Asked) -> list[bool]:
    """Return which rows the triage accepts at the error that was asked."""
    assert asked.error is not None
    triage = loaded.triage
    assert triage is not None
    if not len(asked.matrix):
        return []
    ids = _ids_for(triage.spec, asked)
    groups = asked.groups if triage.spec.condition.needs_groups else None
    with silent():
        return loaded.gates[asked.error].accepts(asked.matrix, groups=groups, ids=ids).tolist()


def asked_of_triage(body: bytes, query: Query, loaded: Loaded, limits: Limits) -> Asked:
    """Return what a body of JSON asks to accept; error can also stand in the query."""
    if loaded.triage is None:
        raise Refused.no_triage()
    check_lists(body, limits.rows)
    found = decode(body, TriageBody)
    check_bounds(found.rows, loaded.triage.spec, limits.rows)
    check_repeated(body, ("rows", "error", "groups", "ids"))
    error = share_asked(query, "error", None if found.error is msgspec.UNSET else found.error)
    if error is None:
        raise Refused.no_error()
    spec = loaded.triage.spec
    matrix = rows_of(found.rows, spec, limits.rows, limits.numbers)
    asked = asked_of(matrix, loaded, None, found.ids, found.groups, error)
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
