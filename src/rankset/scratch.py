"""Memory that each thread uses again for its next block: asking the system for it costs more than most work on it."""

import threading
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_KEPT = threading.local()


def scratch(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """An array with anything in it, for use until the same thread asks for the same ``dtype`` again."""
    kind, size = np.dtype(dtype), int(np.prod(shape))
    kept: dict[str, NDArray[Any]] = _KEPT.__dict__
    if kind.str not in kept or kept[kind.str].size < size:
        kept[kind.str] = np.empty(size, dtype=kind)
    return kept[kind.str][:size].reshape(shape)
