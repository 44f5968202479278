"""Device and mode of a PyTorch model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rankset.errors import needs_extra


def device_of(model: Any) -> Any:
    """Return the device of the first parameter of ``model``; None if it has none."""
    parameters = getattr(model, "parameters", None)
    first = None if parameters is None else next(iter(parameters()), None)
    return None if first is None else first.device


def to_device(values: Any, device: Any) -> Any:
    """Move tensors to ``device``, also those inside mappings, lists and tuples; return other objects unchanged."""
    if device is None:
        return values
    if isinstance(values, Mapping):
        return {name: to_device(value, device) for name, value in values.items()}
    if isinstance(values, list | tuple):
        entries = [to_device(value, device) for value in values]
        return type(values)(*entries) if hasattr(values, "_fields") else type(values)(entries)
    return values.to(device) if hasattr(values, "detach") else values


@contextmanager
def evaluation_mode(model: Any) -> Iterator[None]:
    """Switch to evaluation mode without gradients; afterwards every submodule is in the mode it was in before."""
    with needs_extra("rankset.torch"):
        import torch

    modules = list(model.modules()) if isinstance(model, torch.nn.Module) else []
    modes = [module.training for module in modules]
    try:
        if modules:
            model.eval()
        with torch.no_grad():
            yield
    finally:
        for module, mode in zip(modules, modes, strict=True):
            module.training = mode
