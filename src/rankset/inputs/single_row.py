"""One row of numbers, passed without a matrix around it."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankset.core.arrays import is_real
from rankset.inputs import tensors
from rankset.inputs.row_index import index_of, is_default


def as_rows(values: Any) -> Any:  # noqa: ANN401
    """Return one row as rows with one entry, and everything else as it is.

    One row is an array, a tensor, a list or a tuple of K numbers, a dictionary of numbers by class name, or a series of
    numbers whose index has the class names.
    """
    if type(values) is np.ndarray:
        return values[np.newaxis] if values.ndim == 1 and values.dtype.kind != "O" else values
    if isinstance(values, list | tuple):
        return [values] if values and all(map(is_real, values)) else values
    if isinstance(values, dict):
        return [values] if all(map(is_real, values.values())) else values
    if getattr(values, "ndim", 0) != 1 or getattr(getattr(values, "dtype", None), "kind", "f") not in "fiu":
        return values
    if (names := index_of(values)) is None:
        return tensors.unwrap(values)[np.newaxis]
    numbers = values.to_numpy()
    return numbers[np.newaxis] if is_default(names) else [dict(zip(names.tolist(), numbers.tolist(), strict=True))]
