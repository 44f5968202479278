"""Values of kept columns as Python and JSON have them."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any

import numpy as np

UNITS = ("s", "ms", "us", "ns")
"""Units of durations in Arrow, each a thousandth of the one before."""
OFFSET = re.compile(r"([+-]\d\d)(\d\d)$")
"""The end of a time with an offset from UTC, as Arrow writes it."""


def python_values(column: Any) -> list[Any]:
    """Values of a kept column as Python objects: dates and times as ISO texts, None where a value is missing."""
    if not isinstance(column, np.ndarray):
        return _from_arrow(column)
    if column.dtype.kind != "M":
        return column.tolist()
    return [None if text == "NaT" else text for text in np.datetime_as_string(column).tolist()]


def json_value(value: Any) -> Any:
    """``value`` as JSON can write it: NaN as null, infinities as the texts "Infinity" and "-Infinity"."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else f"{'-' * (value < 0)}Infinity"
    if isinstance(value, np.ndarray):
        return [json_value(part) for part in value.tolist()]
    if isinstance(value, list | tuple):
        return [json_value(part) for part in value]
    if isinstance(value, dict):
        return {str(name): json_value(part) for name, part in value.items()}
    return value


def _from_arrow(column: Any) -> list[Any]:
    """Do the same for an Arrow column; durations become seconds."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):  # a repeated text stays one text in memory
        return [word for chunk in getattr(column, "chunks", [column]) for word in _decode_dictionary(chunk)]
    if pa.types.is_date(kind) or pa.types.is_time(kind) or pa.types.is_timestamp(kind):
        return _iso_texts(column)
    if pa.types.is_duration(kind):
        digits = UNITS.index(kind.unit) * 3
        counts = column.cast(pa.int64()).to_pylist()
        return [None if count is None else str(Decimal(count).scaleb(-digits)) for count in counts]
    return column.to_pylist()


def _decode_dictionary(chunk: Any) -> list[Any]:
    """Values of a dictionary array."""
    words = _from_arrow(chunk.dictionary)
    return [None if place is None else words[place] for place in chunk.indices.to_pylist()]


def _iso_texts(column: Any) -> list[str | None]:
    """Dates and times as ISO texts of one format, with the offset of their time zone."""
    import pyarrow as pa

    try:
        texts = column.cast(pa.string()).to_pylist()
    except pa.ArrowException:  # a time zone that is not known here
        texts = column.cast(pa.timestamp(column.type.unit, "UTC")).cast(pa.string()).to_pylist()
    return [None if text is None else OFFSET.sub(r"\1:\2", text.replace(" ", "T")) for text in texts]
