"""What a store holds: predictions and labels that came back, and how they are written as bytes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankset.core.arrays import is_whole
from rankset.errors import InputError, short_repr

DTYPES: dict[str, np.dtype[Any]] = {"f4": np.dtype("<f4"), "f8": np.dtype("<f8")}
"""Types of outputs, by their names in a store."""
CODES = np.dtype("<i4")
LONGEST_ID = 200
"""Most characters of an id."""


MOST_TURN = 2**30
"""Largest number of a turn."""


@dataclass(frozen=True)
class Prediction:
    """One row that was predicted.

    Attributes
    ----------
    id
        A text of its own for every row, of at most 200 characters.
    time
        Seconds since 1970.
    outputs
        The row as it was passed, float32 or float64: one number per class, or one number for the kind "binary".
    group
        The name of its group as JSON text; None if the condition of the rule uses no groups.
    codes
        Columns of the labels in its set, most likely first.
    alpha
        The alpha of the set.
    largest
        The largest probability, or other entry, of the row.
    accepted
        Whether a triage accepted the row; None if it was not asked.
    turn
        Which of the rules that servers of the store have had, in their order from 1 on; 0 if no server predicted it.

    Examples
    --------
    >>> import numpy as np
    >>> from rankset.serving import Prediction
    >>> row = Prediction("a1", 0.0, np.array([0.7, 0.2, 0.1]), None, np.array([0], dtype=np.int32), 0.1, 0.7)
    >>> row.accepted is None
    True
    """

    id: str
    time: float
    outputs: NDArray[Any]
    group: str | None
    codes: NDArray[np.int32]
    alpha: float
    largest: float
    accepted: bool | None = None
    turn: int = 0


@dataclass(frozen=True)
class Feedback:
    """The true label of a row that was predicted.

    Attributes
    ----------
    id
        The id of the row.
    label
        Column of the label.
    time
        Seconds since 1970.

    Examples
    --------
    >>> from rankset.serving import Feedback
    >>> Feedback("a1", 2, 60.0).label
    2
    """

    id: str
    label: int
    time: float


class Labelled(NamedTuple):
    """A row that was predicted, and its label.

    Attributes
    ----------
    prediction
        The row.
    feedback
        Its label.

    Examples
    --------
    >>> from rankset.serving import Labelled
    >>> Labelled._fields
    ('prediction', 'feedback')
    """

    prediction: Prediction
    feedback: Feedback


def check_text(what: str, text: object) -> None:
    """Raise an error if a database cannot store a text: not every one takes NUL or halves of surrogate pairs."""
    if not isinstance(text, str) or "\0" in text or any("\ud800" <= one <= "\udfff" for one in text):
        raise InputError(what, "be texts without NUL characters and lone surrogates", repr(text)[:80])


def check_id(name: object) -> None:
    """Raise an error if a row cannot have this id."""
    check_text("ids", name)
    if not 0 < len(str(name)) <= LONGEST_ID:
        raise InputError("ids", f"have 1 to {LONGEST_ID} characters", f"{len(str(name)):,} characters")


def columns_of(row: Prediction, width: int) -> dict[str, Any]:
    """Return what is written of a prediction; raise an error if it is none of ``width`` numbers."""
    check_id(row.id)
    if row.group is not None:
        check_text("groups", row.group)
    outputs = np.asarray(row.outputs)
    kind = f"f{outputs.dtype.itemsize}"
    if outputs.dtype.kind != "f" or kind not in DTYPES or outputs.shape != (width,):
        received = f"{outputs.dtype} of shape {outputs.shape}"
        raise InputError("outputs", f"be float32 or float64 of shape ({width},)", received)
    if not _can_be_outputs(outputs):
        raise InputError("outputs", "be numbers of one row, not NaN and below infinity", "others")
    if not is_whole(row.turn) or not 0 <= row.turn <= MOST_TURN:
        raise InputError("turn", f"be a whole number from 0 to {MOST_TURN:,}", short_repr(row.turn))
    largest = float(row.largest)
    return {
        "id": row.id,
        "time": float(row.time),
        "outputs": outputs.astype(DTYPES[kind], copy=False).tobytes(),
        "dtype": kind,
        "group": row.group,
        "codes": np.asarray(row.codes).astype(CODES, copy=False).tobytes(),
        "alpha": float(row.alpha),
        "largest": None if largest != largest else largest,  # noqa: PLR0124 - NaN is NULL in SQLite
        "accepted": None if row.accepted is None else bool(row.accepted),
        "turn": int(row.turn),
    }


def _can_be_outputs(outputs: NDArray[Any]) -> bool:
    """Return whether no entry is NaN or infinite; a class that cannot be has the logit -inf, but not all have it."""
    return not len(outputs) or bool(-math.inf < outputs.max() < math.inf)


def prediction_of(columns: Mapping[str, Any], width: int, n_columns: int) -> Prediction:
    """Return what ``columns_of`` wrote; raise ValueError, TypeError or KeyError if it cannot be right."""
    outputs = np.frombuffer(columns["outputs"], dtype=DTYPES[columns["dtype"]])
    codes = np.frombuffer(columns["codes"], dtype=CODES)
    if len(outputs) != width or (len(codes) and not 0 <= codes.min() <= codes.max() < n_columns):
        raise ValueError("a row in it has other outputs or labels than its rule")
    if not _can_be_outputs(outputs):
        raise ValueError("a row in it has outputs that are NaN or infinite")
    largest = columns["largest"]
    return Prediction(
        str(columns["id"]),
        float(columns["time"]),
        outputs,
        columns["group"],
        codes,
        float(columns["alpha"]),
        float("nan") if largest is None else float(largest),
        None if columns["accepted"] is None else bool(columns["accepted"]),
        int(columns["turn"]),
    )
