"""Compare ids of rows in two files, which may write the same id in different ways."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.arrays import object_array
from rankset.inputs.per_row import is_missing, whole_of_text
from rankset.inputs.vocabulary import plain, texts

MOMENT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ]([0-9]{2}:[0-9]{2})(:[0-9]{2}(?:\.([0-9]+))?)?(Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)
"""A date, perhaps with a time and a time zone, as ISO 8601 and pandas write them."""
BOOLEANS = {"true": 1, "false": 0}


def differing_rows(ours: NDArray[Any], theirs: NDArray[Any]) -> NDArray[np.bool_]:
    """Return in which rows two columns of ids differ; 7 and "7", true and "True", a date and its text are equal."""
    differ = np.asarray(ours != theirs, dtype=np.bool_)
    if not differ.any() or {ours.dtype.kind, theirs.dtype.kind} <= set("iuf"):
        return differ
    return np.asarray(_one_spelling(ours) != _one_spelling(theirs), dtype=np.bool_)


def have_common_id(ours: NDArray[Any], theirs: NDArray[Any]) -> bool:
    """Return whether one id is in both columns, in any row."""
    return not set(_one_spelling(ours).tolist()).isdisjoint(_one_spelling(theirs).tolist())


def _one_spelling(ids: NDArray[Any]) -> NDArray[Any]:
    """Return the ids as integers and texts that are equal for equal ids."""
    return object_array([_spell_id(value) for value in texts(ids).tolist()])


def _spell_id(value: object) -> int | str | None:
    """Return an id as an integer if it is a whole number or a boolean, as UTC if it is a date, else as text."""
    if is_missing(value):
        return None
    name = plain(value, "ids") if isinstance(value, int | float | date | np.generic) else _text(value)
    if isinstance(name, float):
        return int(name) if name.is_integer() else str(name)
    if not isinstance(name, str):
        return int(name)
    if name.lower() in BOOLEANS:
        return BOOLEANS[name.lower()]
    moment = MOMENT.fullmatch(name)
    return whole_of_text(name) if moment is None else _spell_moment(moment)


def _text(value: object) -> str:
    return value.decode(errors="surrogateescape") if isinstance(value, bytes) else str(value)


def _spell_moment(moment: re.Match[str]) -> str:
    """Return a date as ISO text in UTC; its own text if there is no such date. A date without a zone counts as UTC."""
    day, minutes, seconds, fraction, zone = moment.groups()
    clock = f"{minutes or '00:00'}{(seconds or ':00')[:3]}"
    try:
        found = datetime.fromisoformat(f"{day}T{clock}{zone or '+00:00'}").astimezone(UTC)
    except (ValueError, OverflowError):
        return moment[0]
    return f"{found:%Y-%m-%dT%H:%M:%S}.{(fraction or '').rstrip('0')}"
