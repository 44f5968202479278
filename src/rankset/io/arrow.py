"""Sets as Arrow tables, without a Python object per label."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankset.errors import KindError
from rankset.inputs.vocabulary import Names, distinct_texts
from rankset.sets import PredictionSets

OWN = ("labels", "size", "top")
"""The columns of sets."""


def table(sets: PredictionSets) -> Any:
    """A row per set: its labels, how many they are, and the most likely of them (null: no label)."""
    pa, names, sizes = _pyarrow(), class_array(sets.names), sets.sizes
    lists = pa.LargeListArray if len(sets.codes) >= 2**31 else pa.ListArray
    offsets = sets.offsets if lists is pa.LargeListArray else sets.offsets.astype(np.int32)
    labels = lists.from_arrays(pa.array(offsets), names.take(pa.array(sets.codes)))
    firsts = np.append(sets.codes, 0)[sets.offsets[:-1]]
    firsts = pa.array(firsts, mask=sizes == 0)
    return pa.table({"labels": labels, "size": pa.array(sizes), "top": names.take(firsts)})


def class_array(names: Names) -> Any:
    """Class names as an Arrow array: as they are where Arrow has one type for all of them, else as distinct texts."""
    pa, values = _pyarrow(), list(names.values)
    if len({type(value) for value in values}) == 1:
        try:
            return pa.array(values)
        except (OverflowError, UnicodeEncodeError):  # beyond 64 bits, or half of a surrogate pair
            pass
    return pa.array(distinct_texts(names, "an Arrow table"))


def _pyarrow() -> Any:
    try:
        import pyarrow as pa
    except ImportError:
        raise KindError.no_backend("pyarrow") from None
    return pa
