"""Data frames of pandas, polars and Arrow, read through narwhals: columns are classes, rows keep their index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core import arrays
from rankset.errors import InputError, KindError, LabelError, PackageError
from rankset.inputs.row_index import is_default
from rankset.inputs.vocabulary import Name, in_order, plain

BACKENDS = ("pandas", "polars", "pyarrow")


@dataclass(frozen=True)
class Template:
    """The form of a frame of answers.

    Attributes
    ----------
    backend : the library of the frame; None if rows were no frame.
    index : the index of its rows; None if they have none.
    numbered : whether the index is the default 0 … n-1 or a part of it, which says nothing about the rows.
    """

    backend: str | None = None
    index: Any = None
    numbered: bool = False

    def __post_init__(self) -> None:
        if self.index is not None and not self.numbered and is_default(self.index):
            object.__setattr__(self, "numbered", True)

    @classmethod
    def joined(cls, templates: Sequence[Template]) -> Template:
        """Return the template of rows that come in several parts."""
        first, *rest = templates
        if any(one.backend != first.backend or (one.index is None) != (first.index is None) for one in rest):
            return ARRAY
        if first.index is None:
            return first
        index = first.index.append([one.index for one in rest])
        return replace(first, index=index, numbered=any(one.numbered for one in templates))

    def rows(self, rows: NDArray[np.int64]) -> Template:
        """Return the template of some of the rows."""
        return self if self.index is None else replace(self, index=self.index[rows])

    def filled(self, data: Mapping[Name, Any], backend: str | None = None) -> Any:  # noqa: ANN401
        """Return a frame of ``data``, made by the library ``backend`` or, if that is None, by the template's."""
        nw = _narwhals(PackageError.narwhals_for_results)
        wanted = backend or self.backend or next(filter(find_spec, BACKENDS), BACKENDS[0])
        if wanted not in BACKENDS:
            raise KindError.argument("backend", f"one of {', '.join(BACKENDS)}", backend)
        if wanted == "pandas":
            columns = {str(place): _objects(column) for place, column in enumerate(data.values())}
        else:
            columns = {str(name): column for name, column in data.items()}
        if len(columns) < len(data):
            raise LabelError.same_text(wanted, tuple(data))
        try:
            frame = nw.from_dict(columns, backend=wanted).to_native()
        except ImportError:
            raise PackageError.backend(wanted) from None
        except (TypeError, ValueError, OverflowError) as error:
            raise KindError.frame_refused(wanted, str(error)) from error
        if wanted == "pandas":
            frame.columns = list(data)
            frame.index = frame.index if self.index is None else self.index
        return frame


ARRAY = Template()
"""The template of rows that are an array."""


def _objects(column: Any) -> Any:  # noqa: ANN401
    """Return a list with missing entries as an object array: pandas would turn its integers into floats."""
    if not isinstance(column, list) or None not in column:
        return column
    return arrays.object_array(column)


def is_frame(values: object) -> bool:
    """Return whether ``values`` is a table with named columns."""
    kind = type(values)
    return (hasattr(kind, "columns") or hasattr(kind, "column_names")) and hasattr(kind, "shape")


def as_table(values: Any) -> Any:  # noqa: ANN401
    """Return ``values``; an Arrow record batch becomes a table, which narwhals can read."""
    kind = type(values)
    if kind.__name__ != "RecordBatch" or not kind.__module__.startswith("pyarrow"):
        return values
    import pyarrow as pa

    return pa.Table.from_batches([values])


def only_column(values: Any) -> Any:  # noqa: ANN401
    """Return the column of a frame with one column, as a series with the index of the frame; None for other frames."""
    if values.shape[1] != 1:
        return None
    if hasattr(values, "iloc"):
        return values.iloc[:, 0]
    frame = _narwhals().from_native(as_table(values), eager_only=True)
    return frame.get_column(frame.columns[0]).to_native()


def template(values: object) -> Template:
    """Return the form that answers about the rows of ``values`` should have."""
    if not is_frame(values):
        return ARRAY
    try:
        import narwhals as nw
    except ImportError:
        return ARRAY
    frame = nw.from_native(as_table(values), eager_only=True, pass_through=True)
    return Template(frame.implementation.value, nw.maybe_get_index(frame)) if isinstance(frame, nw.DataFrame) else ARRAY


def match_columns(values: Any, classes: Iterable[object] | None, name: str = "probs") -> tuple[Any, Any, Template]:  # noqa: ANN401
    """Return the matrix of a frame, its classes, and the form of answers.

    Columns are matched to ``classes`` by name. Without ``classes`` the columns are the classes.
    """
    frame = _opened(values, name)
    columns = {plain(column, "columns"): place for place, column in enumerate(frame.columns)}
    wanted = list(columns) if classes is None else list(in_order(classes))
    if set(wanted) != set(columns):
        raise InputError.frame_columns(name, *_differences(wanted, columns))
    matrix = _numbers(frame, name)[:, [columns[value] for value in wanted]]
    return matrix, wanted, template(values)


def second_class(values: Any, classes: Iterable[object] | None, name: str = "probs") -> tuple[Any, Any, Template]:  # noqa: ANN401
    """Return the probabilities of the second class, from a frame with one column, its classes, and the form of answers.

    The column may have any name but that of the first class. A number, such as the default
    0 of pandas, is no name. Frames with more columns are read by ``match_columns``.
    """
    frame = _opened(values, name)
    if len(frame.columns) != 1:
        return match_columns(values, classes, name)
    wanted = None if classes is None else list(in_order(classes))
    column = plain(frame.columns[0], "columns")
    if wanted is not None and isinstance(column, str) and column == wanted[0]:
        raise InputError.first_class(name, column)
    return _numbers(frame, name), wanted, template(values)


def _opened(values: Any, name: str) -> Any:  # noqa: ANN401
    """Return a frame as narwhals reads it; raise an error if it cannot, or if two columns have one name."""
    nw = _narwhals()
    try:
        frame = nw.from_native(as_table(values), eager_only=True)
        names = list(frame.columns)
    except (TypeError, nw.exceptions.NarwhalsError) as error:
        received = f"a {type(values).__name__} that narwhals cannot read ({' '.join(str(error).split())[:80]})"
        raise KindError.not_a_matrix(name, received, "Pass frame[classes].to_numpy().") from None
    if len(set(names)) < len(names):
        raise LabelError.duplicates([column for column, count in Counter(names).items() if count > 1])
    return frame


def _numbers(frame: Any, name: str) -> NDArray[Any]:  # noqa: ANN401
    """Return the cells of a frame; raise an error if one is missing or no number."""
    columns = list(frame.iter_columns())
    if not columns:
        raise InputError.shape(name, "(n, K)", (len(frame), 0), "Pass one column per class.")
    if len(frame) == 0:
        return np.empty((0, len(columns)))
    for place, column in enumerate(columns):
        if not (column.dtype.is_numeric() or str(column.dtype) in ("Boolean", "Object")):
            raise KindError.frame_column(name, column.name, str(column.dtype))
        if column.is_null().any():
            raise InputError.missing(name, int(column.is_null().to_numpy().argmax()), place)
    stacked = [column.to_numpy() for column in columns]
    if len({column.dtype for column in stacked}) > 1:  # then NumPy makes floats of whole numbers
        for place, column in enumerate(stacked):
            lost = arrays.lost_in_floats(column)
            if lost is not None:
                row = int(lost.argmax())
                raise InputError.not_exact(name, row, place, int(column[row]))
    return np.column_stack(stacked)


def _differences(wanted: list[Name], columns: Mapping[Name, int]) -> tuple[list[Name], list[Name]]:
    """Return the classes without a column, and the columns that are no class."""
    return [name for name in wanted if name not in columns], [name for name in columns if name not in set(wanted)]


def _narwhals(missing: Callable[[], PackageError] = PackageError.narwhals) -> Any:  # noqa: ANN401
    """Import narwhals, or raise an error that says how to install it."""
    try:
        import narwhals
    except ImportError:
        raise missing() from None
    return narwhals
