"""Write sets as JSON lines (``.jsonl``): one object per row."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from rankset.io.writers.base import KeptColumns, Writer
from rankset.io.writers.values import json_value, python_values
from rankset.sets import PredictionSets


class JsonLines(Writer):
    """Fields size, top and labels. NaN and missing values are null, infinities the texts "Infinity", "-Infinity"."""

    def add(self, sets: PredictionSets, kept: KeptColumns) -> None:
        columns = _json_columns(kept)
        names = np.array([*map(json_value, sets.names.values), None], dtype=object)[:-1]
        codes = np.split(sets.codes, sets.offsets[1:-1]) if len(sets) else ()
        for place, some in enumerate(codes):
            labels = names[some].tolist() if sets.options is None else json_value(sets.options[place][some])
            row = {name: column[place] for name, column in columns.items()}
            row |= {"size": len(labels), "top": labels[0] if labels else None, "labels": labels}
            self._write_row(row)

    def add_columns(self, own: KeptColumns, kept: KeptColumns) -> None:
        columns = _json_columns({**kept, **own})
        for values in zip(*columns.values(), strict=True):
            self._write_row(dict(zip(columns, values, strict=True)))

    def _write_row(self, row: dict[str, Any]) -> None:
        self.file.write(json.dumps(row, default=str, allow_nan=False).encode() + b"\n")


def _json_columns(columns: KeptColumns) -> dict[str, list[Any]]:
    return {name: [json_value(value) for value in python_values(column)] for name, column in columns.items()}
