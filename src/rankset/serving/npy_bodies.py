"""Bodies as one NumPy array. The header is read by a pattern; nothing in it is evaluated."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.serving.refusals import Refused

MAGIC = b"\x93NUMPY"
LONGEST = 4096
DESCRIPTION = re.compile(rb"'descr': '([<>|=]?[biufcOSUVmM?]\d{0,3})'")
SHAPE = re.compile(rb"'shape': \(([\d, ]{0,60})\)")
HEADER = re.compile(
    rb"\{'descr': '([<>])f([48])', 'fortran_order': (True|False), 'shape': \((\d{1,15}),(?: (\d{1,15}))?,?\),? *\}\s*"
)


def read_npy(body: bytes) -> NDArray[Any]:
    """Return the array of a body of float32 or float64; raise ``Refused`` for everything else."""
    if body[:6] != MAGIC or len(body) < 12 or body[6] not in (1, 2, 3):
        raise Refused.of(400, "the body", "be an .npy file", reason="it does not start like one")
    width = 2 if body[6] == 1 else 4
    start = 8 + width + int.from_bytes(body[8 : 8 + width], "little")
    header = HEADER.fullmatch(body[8 + width : start]) if start <= min(len(body), LONGEST) else None
    if header is None:
        raise _other_array(body[8 + width : min(start, LONGEST)])
    order, size, fortran, rows, columns = header.groups()
    shape = (int(rows),) if columns is None else (int(rows), int(columns))
    count = 1
    for length in shape:
        count *= length
    if count * int(size) != len(body) - start:
        received = f"{len(body) - start:,} bytes for the shape {shape}"
        raise Refused.of(400, "the array", f"have {count * int(size):,} bytes", received)
    found = np.frombuffer(body, dtype=f"{order.decode()}f{size.decode()}", offset=start)
    native = found.astype(found.dtype.newbyteorder("="), copy=False)
    return native.reshape(shape, order="F" if fortran == b"True" else "C")


def _other_array(header: bytes) -> Refused:
    """Return the error for an array of another type or shape."""
    named, shape = DESCRIPTION.search(header), SHAPE.search(header)
    expected = "be float32 or float64, with one or two axes"
    if named is None:
        return Refused.of(422, "the array", expected, "another type or header", "Send a matrix of numbers.")
    try:
        received = str(np.dtype(named[1].decode()))
    except TypeError:
        received = named[1].decode()
    axes = None if shape is None else len([one for one in shape[1].split(b",") if one.strip()])
    if received in ("float32", "float64", ">f4", ">f8"):
        remedy = "Send a matrix with the numbers of each row in a row of its own, as numpy.save writes it."
        return Refused.of(
            422, "the array", expected, "another header" if axes in (None, 1, 2) else f"{axes} axes", remedy
        )
    return Refused.of(422, "the array", expected, received, 'Send array.astype("float64").')
