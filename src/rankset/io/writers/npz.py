"""Write sets as NumPy arrays (``.npz``)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.arrays import object_array
from rankset.errors import FileError, Place, located
from rankset.inputs.vocabulary import check_distinct
from rankset.io.memory_budget import Budget
from rankset.io.writers.base import KeptColumns, Writer
from rankset.io.writers.values import python_values
from rankset.sets import PredictionSets


class Npz(Writer):
    """Arrays offsets, codes and classes: row i holds the classes ``codes[offsets[i]:offsets[i + 1]]``."""

    def __init__(self, file: Any, path: str) -> None:
        super().__init__(file, path)
        self.parts: list[PredictionSets] = []
        self.kept: dict[str, list[NDArray[Any]]] = {}

    def add(self, sets: PredictionSets, kept: KeptColumns) -> None:
        if sets.options is not None:
            raise FileError.names_of_rows(self.path)
        self.parts.append(sets)
        self._keep(kept)

    def add_columns(self, own: KeptColumns, kept: KeptColumns) -> None:
        self._keep({**kept, **own})

    def _keep(self, columns: KeptColumns) -> None:
        for name, column in columns.items():
            values = column if isinstance(column, np.ndarray) else _from_arrow(column)
            self.kept.setdefault(name, []).append(self._texts(name, values) if values.dtype == object else values)

    def _texts(self, name: str, values: NDArray[Any]) -> NDArray[Any]:
        """Array of texts of Python objects."""
        if any(isinstance(value, list | dict | bytes | np.ndarray) for value in values.tolist()):
            raise FileError.no_array(self.path, name)
        longest = max((len(str(value)) for value in values.tolist()), default=0)
        Budget.of(self.path).check(4 * longest * len(values))  # an array of texts is as wide as the longest
        return values.astype(str)

    def close(self) -> None:
        kept: dict[str, Any] = {name: _concatenate(name, parts) for name, parts in self.kept.items()}
        own = self._arrays_of_sets() if self.parts else {}
        for taken in {*own, "file", "allow_pickle"} & set(kept):
            raise FileError.taken(taken)
        np.savez_compressed(self.file, **own, **kept)

    def _arrays_of_sets(self) -> dict[str, Any]:
        sets = PredictionSets.concat(self.parts)
        names = sets.classes
        if names.dtype == object:
            names = names.astype(str)  # NumPy drops zeros at the end of texts
            with located(Place(file=self.path)):
                check_distinct(sets.names, names.tolist(), "an npz file")
        return {"offsets": sets.offsets, "codes": sets.codes, "classes": names}


def _concatenate(name: str, parts: list[NDArray[Any]]) -> NDArray[Any]:
    try:
        return np.concatenate(parts)
    except TypeError:
        kinds = list(dict.fromkeys(str(part.dtype) for part in parts))
        raise FileError.other_type(name, kinds[0], kinds[1]) from None


def _from_arrow(column: Any) -> NDArray[Any]:
    """Array of an Arrow column; of Python objects if it has a time zone or missing values."""
    if getattr(column.type, "tz", None) is not None or column.null_count:
        return object_array(python_values(column))
    return column.to_numpy()
