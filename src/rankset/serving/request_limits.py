"""What a server allows its clients: sizes, numbers and seconds."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from rankset.core.arrays import as_float
from rankset.errors import KindError

BYTES = 4
"""Bytes of a short number in JSON, and of a number in an array of float32."""
LEAST = 100_000
"""So many numbers are always allowed: those of one row of as many classes."""


@dataclass(frozen=True)
class Limits:
    """Limits of a server. Requests beyond them are refused; nothing else changes.

    Attributes
    ----------
    body
        Bytes of the body of a request.
    rows
        Rows of a request.
    seconds
        Seconds for a request, and for a client to send it whole.
    concurrency
        Requests that are worked on at once. Further ones are told to come again.
    connections
        Open connections.
    headers
        Bytes of all headers of a request.
    listeners
        Open live pages.

    Examples
    --------
    >>> Limits(rows=100).rows
    100
    """

    body: int = 10_000_000
    rows: int = 10_000
    seconds: float = 30.0
    concurrency: int = 64
    connections: int = 512
    headers: int = 16_384
    listeners: int = 20

    @property
    def numbers(self) -> int:
        """Rows times classes of a request: a body of so many short numbers is as large as ``body`` allows.

        Objects need not name every class, so few bytes can be many numbers.
        """
        return max(self.body // BYTES, LEAST)

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            whole = field.name != "seconds"
            number = as_float(value)
            if not (math.isfinite(number) and number > 0) or (whole and type(value) is not int):
                expected = "an integer of at least 1" if whole else "a number above 0"
                raise KindError.argument(f"limit {field.name}", expected, value)
