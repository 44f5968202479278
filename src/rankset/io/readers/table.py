"""What every reader of tables returns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from rankset.io.dialect import Recognised
from rankset.io.source import Source

ARRAY_BYTES = 512
"""Bytes that an Arrow array takes besides its values."""


class Table(NamedTuple):
    """An Arrow table that was read from a file.

    ``has_names``: its columns have names of their own, not only numbers. ``is_text``: its cells are texts as the file
    has them. ``mapped_bytes``: how many of its bytes are mapped from the file and take no memory. ``line_orders``: the
    names of the columns in the orders of lines that differ from the first line; None if there are too many.
    ``sep``: the separator of cells. ``recognised``: what was recognised in the file. ``formulas``: columns of a
    workbook that have formulas without stored values, with the first row of each.
    """

    table: Any
    has_names: bool = True
    is_text: bool = False
    mapped_bytes: int = 0
    line_orders: Collection[tuple[str, ...]] | None = ()
    sep: str | None = None
    recognised: Recognised | None = None
    formulas: Mapping[str, int] = MappingProxyType({})


TableReader = Callable[[Source], Table]
