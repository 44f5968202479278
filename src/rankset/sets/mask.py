"""Read boolean matrices that define prediction sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.errors import KindError
from rankset.inputs.frames import ARRAY, Template, is_frame, match_columns
from rankset.inputs.matrix import is_masked


def read_mask(
    mask: ArrayLike, classes: Sequence[object] | None
) -> tuple[NDArray[Any], Sequence[object] | None, Template]:
    """Return a boolean matrix (n, K), the class names of its columns or None, and the template of its data frame."""
    template = ARRAY
    if is_frame(mask):
        mask, classes, template = match_columns(mask, classes, name="mask")
    try:
        array = np.asarray(mask)
    except ValueError:
        raise KindError.argument("mask", "a boolean matrix (n, K)", "rows of different lengths") from None
    if is_masked(mask):
        raise KindError.argument("mask", "a boolean matrix (n, K)", "a masked array")
    if array.ndim != 2 or array.dtype.kind != "b":
        raise KindError.argument("mask", "a boolean matrix (n, K)", f"{array.dtype} of shape {array.shape}")
    return array, classes, template
