"""Read ``.npy`` files: one NumPy array. Files with Python objects are refused; nothing in them is executed."""

from __future__ import annotations

import io
import math
import mmap
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.errors import FileError

MAX_HEADER = 1 << 16
"""Most bytes of the header of an array."""


def read(file: Path) -> NDArray[Any]:
    """Map the array into memory; NumPy refuses a header that promises more than the file holds."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            return check_array(np.load(file, mmap_mode="r", allow_pickle=False))
    except ValueError as error:
        if "Object arrays" in str(error) or "Python objects" in str(error):
            raise FileError.pickled(str(file)) from None
        if "pickle" in str(error).lower():
            raise FileError.unreadable(str(file), "it does not start like an .npy file") from None
        raise


def read_bytes(data: bytes, path: str) -> NDArray[Any]:
    """Read the array from the bytes of a file; ``path`` names it in errors."""
    check_header(io.BytesIO(data), len(data), path, "it")
    return check_array(np.load(io.BytesIO(data), allow_pickle=False))


def check_array(loaded: Any) -> NDArray[Any]:
    """Return what NumPy loaded if it is one array with rows, else raise ``ValueError``."""
    if not isinstance(loaded, np.ndarray):
        loaded.close()
        raise ValueError("it contains several arrays, so its name must end in .npz")  # noqa: TRY004
    if loaded.ndim == 0:
        raise ValueError("it contains a single number")
    if loaded.dtype.itemsize == 0 and loaded.size:
        raise ValueError(f"its entries have the type {loaded.dtype}, which takes no bytes")
    return loaded


def check_header(stream: Any, size: int, path: str, name: str) -> None:
    """Refuse an array whose header is too long, announces Python objects, or promises more than ``size`` bytes."""
    version = np.lib.format.read_magic(stream)
    length = stream.read(2 if version == (1, 0) else 4)
    if int.from_bytes(length, "little") > MAX_HEADER:
        raise FileError.unreadable(path, f"{name} has a header of more than {MAX_HEADER:,} bytes")
    stream.seek(0)
    np.lib.format.read_magic(stream)
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read_header(stream)
    if dtype.hasobject:
        raise FileError.pickled(path)
    if dtype.itemsize == 0 and all(shape):
        raise FileError.unreadable(path, f"{name} has entries of the type {dtype}, which takes no bytes")
    if math.prod(shape) * dtype.itemsize > size:
        raise FileError.unreadable(path, f"{name} contains fewer bytes than its shape {shape} and type {dtype} need")


def release_pages(matrix: NDArray[Any]) -> None:
    """Release the pages of a memory map that were read; they would count as memory of this process."""
    mapped = getattr(matrix, "_mmap", None)
    if mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)
