"""Connections with limits that uvicorn has not: seconds for a request, bytes of headers, number of connections.

Requests are parsed by h11, also if httptools is installed: with that, uvicorn keeps any number of requests that a
client sends at once, and takes headers that come after a body for those of the request.
"""

from __future__ import annotations

from typing import Any

from rankset.serving.refusals import MEDIA_TYPE, Refused, encoded, phrase, problem
from rankset.serving.request_limits import Limits

CUT = "rankset_cut"
"""Where the scope of a request has what ends its connection at once."""
GRACE = 1.0
"""Seconds after which a connection is closed if its endpoint has not refused it before."""
OVERHEAD, SPARE = 2, 65_536
"""On the wire a request may take so many times the bytes of its body, its head, and so many bytes more."""
PIECE = 16_384
"""Bytes that are parsed at once. Then other requests have their turn, because tiny chunks take long to parse."""


def limited(base: type[Any], limits: Limits) -> type[Any]:
    """Return a protocol of uvicorn, that with h11, to which limits are added."""
    return type(f"Limited{base.__name__}", (LimitedMixin, base), {"limits": limits})


class LimitedMixin:
    """What is added to a protocol of uvicorn.

    A connection is in one of three states: the head of a request is awaited (also before the first and after the last
    one), its body is awaited, or it came whole and is worked on. A timer runs in the first two, from the first byte on;
    idle connections between requests are closed by uvicorn.
    """

    limits: Limits
    transport: Any
    conn: Any
    cycle: Any
    loop: Any
    connections: Any

    def connection_made(self, transport: Any) -> None:
        """Start the timer; refuse the connection if there are too many."""
        super().connection_made(transport)  # type: ignore[misc]
        transport.max_size = PIECE  # of a transport of asyncio
        self._count_bodies()
        self._timer: Any = None
        self._end: Any = None
        self._bytes = self._coming = self._decoded = 0
        self._lost = self._dropping = False
        if len(self.connections) > self.limits.connections:
            self._refuse(Refused.busy("connection"))
        else:
            self._start_timer()

    def _count_bodies(self) -> None:
        """Count the bytes of bodies without those of chunks around them."""
        next_event = self.conn.next_event

        def counted() -> Any:
            event = next_event()
            self._decoded += len(getattr(event, "data", b""))
            return event

        self.conn.next_event = counted

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timers, which would keep all that the connection refers to in memory."""
        self._lost = True
        self._stop_timer()
        if self._end is not None:
            self._end.cancel()
            self._end = None
        super().connection_lost(exc)  # type: ignore[misc]

    def data_received(self, data: bytes) -> None:
        """Take bytes, and look at the state afterwards."""
        if self.transport.is_closing():
            return
        if self._dropping:
            self._drop(len(data))
            return
        if self._in_head and not self._bytes:
            data = data.lstrip(b"\r\n")  # empty lines before a request mean nothing
            if not data:
                return
        before, self._coming = self.cycle, len(data)
        super().data_received(data)  # type: ignore[misc]
        if self.cycle is not before:
            self._bytes = self._decoded = 0
            self._stop_timer()
            self.cycle.scope[CUT] = self._cut
        self._bytes += len(data)
        if self._is_whole:
            self._stop_timer()
            return
        if self._timer is None:
            self._start_timer()
        self._check_bytes()

    @property
    def _is_whole(self) -> bool:
        """Whether a request came whole and is not answered yet."""
        return self.cycle is not None and not self.cycle.more_body and not self.cycle.response_complete

    @property
    def _in_head(self) -> bool:
        """Whether the head of a request is awaited."""
        return self.cycle is None or (self.cycle.response_complete and not self.cycle.more_body)

    def _check_bytes(self) -> None:
        """Refuse a head that is too long; close the connection of a body that is."""
        if self._in_head and self._bytes > self.limits.headers:
            self._refuse_head()
        elif self._bytes > OVERHEAD * self._decoded + self.limits.headers + SPARE:
            self.transport.abort()

    def _refuse_head(self) -> None:
        """Refuse a head that is too long; what still comes is dropped for a moment, so that the client sees why."""
        self._refuse(Refused.long_head(self.limits.headers), at_once=False)

    def _drop(self, count: int) -> None:
        """Drop bytes of a client that was refused; not without end."""
        self._bytes += count
        if self._bytes > 8 * self.limits.headers + 1_000_000:
            self.transport.abort()

    def eof_received(self) -> bool:
        """Answer a client that has sent its whole request and then closed its side; close all others."""
        if self._is_whole and self.cycle.scope["path"] != "/events":
            self.cycle.keep_alive = False
            return True
        return False

    def _start_timer(self) -> None:
        self._timer = self.loop.call_later(self.limits.seconds + GRACE, self._too_slow)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _too_slow(self) -> None:
        """Close a connection that did not send its request in time."""
        self._timer = None
        if self._in_head and self._bytes:
            self._refuse(Refused.slow(self.limits.seconds))
        else:
            self.close_soon()

    def on_response_complete(self) -> None:
        """Give a client some time to read the answer before its connection is cut."""
        super().on_response_complete()  # type: ignore[misc]
        if self.cycle is not None:
            self.cycle.scope[CUT] = self._cut  # the next request may have come already
        if self.transport.is_closing():
            self._cut_later()
        elif self.cycle is not None and not self.cycle.more_body:
            self._bytes = 0

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection, also if its client does not read."""
        super().timeout_keep_alive_handler()  # type: ignore[misc]
        self._cut_later()

    def close_soon(self) -> None:
        """Close the connection; cut it if the client does not read what was written."""
        if not self.transport.is_closing():
            self.transport.close()
        self._cut_later()

    def _cut_later(self) -> None:
        if not self._lost and self._end is None:
            self._end = self.loop.call_later(self.limits.seconds, self._cut)

    def _cut(self) -> None:
        if not self._lost:
            self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """Refuse bytes that are no HTTP, or that a parser refuses because they are too many."""
        if self._in_head and self._bytes + self._coming > self.limits.headers:
            self._refuse_head()
            return
        self._refuse(Refused.of(400, "the request", "be HTTP", reason=msg[0].lower() + msg[1:].rstrip(".")))

    def _refuse(self, error: Refused, *, at_once: bool = True) -> None:
        """Write an error without an endpoint, and close the connection at once or in a moment."""
        if self.transport.is_closing() or self._dropping:
            return
        body = encoded(problem(error))
        lines = [f"HTTP/1.1 {error.status} {phrase(error.status)}", f"content-type: {MEDIA_TYPE}"]
        lines += [f"content-length: {len(body)}", "connection: close"]
        lines += [f"{name}: {value}" for name, value in error.headers if name != "connection"]
        self.transport.write("\r\n".join([*lines, "", ""]).encode() + body)
        if at_once or not self.transport.can_write_eof():
            self.close_soon()
            return
        self._stop_timer()
        self._dropping = True
        self.transport.write_eof()
        self.loop.call_later(GRACE, self.close_soon)
