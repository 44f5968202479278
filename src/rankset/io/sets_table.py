"""Sets as Arrow tables, without a Python object per label."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.errors import FileError, needs_extra
from rankset.inputs.vocabulary import Names, distinct, distinct_texts
from rankset.sets import PredictionSets
from rankset.sets.option_names import names_of_cells

SET_COLUMNS = ("size", "top", "labels")
"""Names of the columns of sets; columns that are kept beside them must have other names."""


def sets_table(sets: PredictionSets) -> Any:
    """Arrow table with a row per set: its labels, their number, and the most likely one (null in an empty set)."""
    pa, sizes = _pyarrow(), sets.sizes
    names, codes = _names_and_codes(sets)
    lists = pa.LargeListArray if len(sets.codes) >= 2**31 else pa.ListArray
    offsets = sets.offsets if lists is pa.LargeListArray else sets.offsets.astype(np.int32)
    labels = lists.from_arrays(pa.array(offsets), names.take(pa.array(codes)))
    firsts = np.append(codes, 0)[sets.offsets[:-1]]
    firsts = pa.array(firsts, mask=sizes == 0)
    return pa.table({"labels": labels, "size": pa.array(sizes), "top": names.take(firsts)})


def _names_and_codes(sets: PredictionSets) -> tuple[Any, NDArray[Any]]:
    """Arrow array of names, and the place of the name of each label of each set in it."""
    if sets.options is None:
        return class_array(sets.names), sets.codes
    known, places = distinct(names_of_cells(sets))
    return class_array(Names(tuple(known))), places


def class_array(names: Names) -> Any:
    """Arrow array of class names: as they are if Arrow has one type for all of them, else as distinct texts."""
    pa, values = _pyarrow(), list(names.values)
    if len({type(value) for value in values}) == 1:
        try:
            return pa.array(values)
        except (OverflowError, UnicodeEncodeError):  # beyond 64 bits, or half of a surrogate pair
            pass
    return pa.array(distinct_texts(names, "an Arrow table"))


def check_kept_names(names: Iterable[str], taken: Iterable[str] = SET_COLUMNS) -> None:
    """Refuse kept columns that have the name of a column of the output."""
    for name in names:
        if name in {*taken}:
            raise FileError.taken(name)


def _pyarrow() -> Any:
    with needs_extra("Arrow tables"):
        import pyarrow as pa
    return pa
