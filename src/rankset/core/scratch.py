"""Memory that each thread reuses for its next block: reserving it anew takes longer than most work on it."""

import math
import threading
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_KEPT = threading.local()


def scratch(shape: tuple[int, ...], dtype: DTypeLike, slot: str = "") -> NDArray[Any]:
    """Return an uninitialised array, valid until the same thread asks for the same ``dtype`` and ``slot`` again."""
    kind, size = np.dtype(dtype), math.prod(shape)
    kept: dict[str, NDArray[Any]] = _KEPT.__dict__
    array = kept.get(slot + kind.str)
    if array is None or array.size < size:
        array = kept[slot + kind.str] = np.empty(size, dtype=kind)
    return array[:size].reshape(shape)
