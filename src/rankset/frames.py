"""Data frames of pandas, polars and Arrow, through narwhals: columns are classes, rows keep their index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.errors import InputError, KindError
from rankset.names import Name, in_order, plain

BACKENDS = ("pandas", "polars", "pyarrow")


@dataclass(frozen=True)
class Template:
    """What a frame of answers should look like: whose it is, and its rows' index, if they have one."""

    backend: str | None = None
    index: Any = None

    def rows(self, rows: NDArray[np.int64]) -> Template:
        """The template of some of the rows."""
        return self if self.index is None else replace(self, index=self.index[rows])

    def filled(self, data: Mapping[str, Any], backend: str | None = None) -> Any:  # noqa: ANN401
        """A frame of ``data``, of the library ``backend`` if not of the template's own."""
        nw = _narwhals()
        wanted = backend or self.backend or next(filter(find_spec, BACKENDS), BACKENDS[0])
        if wanted not in BACKENDS:
            raise KindError.argument("backend", f"one of {', '.join(BACKENDS)}", backend)
        try:
            frame = nw.from_dict(dict(data), backend=wanted).to_native()
        except ImportError:
            raise KindError.no_backend(wanted) from None
        if self.index is not None and wanted == "pandas":
            frame.index = self.index
        return frame


ARRAY = Template()
"""For rows that came as an array."""


def is_frame(values: object) -> bool:
    """Whether ``values`` are a table with named columns."""
    kind = type(values)
    return (hasattr(kind, "columns") or hasattr(kind, "column_names")) and hasattr(kind, "shape")


def matched(values: Any, classes: Iterable[object] | None, name: str = "probs") -> tuple[Any, Any, Template]:  # noqa: ANN401
    """The matrix of a frame with one column per class, its classes, and what answers should look like.

    Columns are put into the order of ``classes``, by name; without ``classes`` they are the classes.
    """
    nw = _narwhals()
    try:
        frame = nw.from_native(values, eager_only=True)
    except TypeError:
        raise KindError.not_a_matrix(
            name, type(values).__name__, "Collect it, or pass frame[classes].to_numpy()."
        ) from None
    columns = {plain(column, "columns"): place for place, column in enumerate(frame.columns)}
    wanted = list(columns) if classes is None else list(in_order(classes))
    if set(wanted) != set(columns):
        raise InputError.frame_columns(name, *_differences(wanted, columns))
    matrix = _numbers(frame, name)[:, [columns[value] for value in wanted]]
    template = Template(frame.implementation.value, nw.maybe_get_index(frame))
    return matrix, wanted, template


def _numbers(frame: Any, name: str) -> NDArray[Any]:  # noqa: ANN401
    """The cells of a frame, if they are numbers and none is missing."""
    columns = list(frame.iter_columns())
    for place, column in enumerate(columns):
        if not column.dtype.is_numeric():
            raise KindError.frame_column(name, column.name, str(column.dtype))
        if column.is_null().any():
            raise InputError.missing(name, int(column.is_null().to_numpy().argmax()), place)
    return np.column_stack([column.to_numpy() for column in columns])


def _differences(wanted: list[Name], columns: Mapping[Name, int]) -> tuple[list[Name], list[Name]]:
    """The classes without a column, and the columns that are no class."""
    return [name for name in wanted if name not in columns], [name for name in columns if name not in set(wanted)]


def _narwhals() -> Any:  # noqa: ANN401
    try:
        import narwhals
    except ImportError:
        raise KindError.no_narwhals() from None
    return narwhals
