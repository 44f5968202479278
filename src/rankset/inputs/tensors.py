"""Tensors of torch, JAX and other DLPack libraries as NumPy arrays; no framework is imported here."""

from typing import Any

import numpy as np


def unwrap(values: Any) -> Any:  # noqa: ANN401
    """Return a tensor as an array, sharing memory where possible; return anything else unchanged.

    A torch tensor may require gradients, be on another device, or be bfloat16, which becomes float32.
    """
    if isinstance(values, np.ndarray | list | tuple):
        return values
    if hasattr(values, "detach") and hasattr(values, "cpu"):
        return _from_torch(values.detach().cpu())
    if hasattr(values, "__dlpack__") and not hasattr(values, "__array__"):
        return np.from_dlpack(values)
    return values


def _from_torch(tensor: Any) -> Any:  # noqa: ANN401
    narrow = str(tensor.dtype) == "torch.bfloat16"
    return np.asarray(tensor.float() if narrow else tensor)
