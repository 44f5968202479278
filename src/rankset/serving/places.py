"""``Places``: how many requests are worked on at once, and how many bytes bodies, rows and answers have together."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

from rankset.serving.metrics import Metrics
from rankset.serving.refusals import Refused
from rankset.serving.request_limits import Limits

KEY = "rankset_place"
"""Where the scope of a request has its place."""


BYTES = 24
"""Bytes that a number of a row takes, and its label in the answer, about."""
FEW = 4096
"""Fewer numbers are not counted."""


def hold_rows(scope: MutableMapping[str, Any], numbers: int) -> None:
    """Keep the bytes of rows and of their answer until it is sent; raise ``Refused`` if all have too many."""
    place = scope.get(KEY)
    if place is not None and numbers > FEW:
        place.hold_rows(BYTES * numbers)


class Places:
    """The places of a server. A request has one while it is worked on, and none while its body is awaited.

    So a client that does not send its body keeps nobody from being answered. Connections and seconds bound those that
    wait; the bytes of all bodies, awaited and worked on, and of their rows and answers are bounded here.
    """

    def __init__(self, metrics: Metrics, limits: Limits) -> None:
        self.metrics, self.most = metrics, limits.concurrency
        self.most_bytes = limits.concurrency * limits.body
        self.most_rows = max(self.most_bytes, BYTES * limits.numbers)  # each request alone is answered
        self.bytes = self.rows = 0

    @contextmanager
    def place(self, scope: MutableMapping[str, Any]) -> Iterator[None]:
        """Give a request a place; raise ``Refused`` if there is none."""
        found = scope[KEY] = Place(self)
        try:
            found.take()
            yield
        finally:
            found.end()


class Place:
    """The place of one request, and the bytes of its body, its rows and its answer."""

    def __init__(self, places: Places) -> None:
        self._places, self._taken, self._bytes, self._rows = places, False, 0, 0

    def take(self) -> None:
        """Begin to work on the request."""
        if self._places.metrics.in_flight >= self._places.most:
            raise Refused.busy("request")
        self._places.metrics.in_flight += 1
        self._taken = True

    def leave(self) -> None:
        """Work on nothing while the body is awaited."""
        self._places.metrics.in_flight -= self._taken
        self._taken = False

    def hold(self, count: int) -> None:
        """Keep so many more bytes of the body until the request is answered."""
        if self._places.bytes + count > self._places.most_bytes:
            raise Refused.busy("request")
        self._places.bytes += count
        self._bytes += count

    def hold_rows(self, count: int) -> None:
        """Keep so many bytes of rows and their answer until it is sent."""
        if self._places.rows + count > self._places.most_rows:
            raise Refused.busy("request")
        self._places.rows += count
        self._rows += count

    def end(self) -> None:
        """Give back the place and the bytes."""
        self.leave()
        self._places.bytes -= self._bytes
        self._places.rows -= self._rows
        self._bytes = self._rows = 0
