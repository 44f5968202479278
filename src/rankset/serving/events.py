"""Live pages that are open: each gets the numbers when they change, at most once a second."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from rankset.serving.refusals import Refused

PAUSE = 1.0
"""Seconds between two messages, at least."""
HEARTBEAT = 15.0
"""Seconds between two messages, at most."""


class Listeners:
    """Open live pages, a limited number of them. The numbers are made once for all of them."""

    def __init__(self, most: int, numbers: Callable[[], Awaitable[bytes]]) -> None:
        self.most, self._numbers = most, numbers
        self.count = 0
        self._made: tuple[float, bytes] = (-PAUSE, b"")
        self._news, self._lock = asyncio.Event(), asyncio.Lock()
        self._end = asyncio.Event()

    def wake(self) -> None:
        """Tell that numbers have changed."""
        self._news.set()

    def close(self) -> None:
        """End all messages."""
        self._end.set()
        self._news.set()

    async def _latest(self) -> bytes:
        """Return the numbers, made at most once in half a ``PAUSE`` for all listeners."""
        async with self._lock:
            made, found = self._made
            now = time.monotonic()
            if now - made >= PAUSE / 2:
                found = await self._numbers()
                self._made = (now, found)
            return found

    @contextmanager
    def one_more(self) -> Iterator[None]:
        """Inside, one more page is open; raise ``Refused`` if there are too many."""
        if self.count >= self.most:
            raise Refused.busy("live page")
        self.count += 1
        try:
            yield
        finally:
            self.count -= 1

    async def messages(self) -> AsyncIterator[bytes]:
        """Return the messages for one page, as server-sent events."""
        while not self._end.is_set():
            self._news.clear()
            yield b"event: numbers\ndata: " + await self._latest() + b"\n\n"
            await self._wait()
        yield b"event: end\ndata: {}\n\n"

    async def _wait(self) -> None:
        """Wait for news: a pause, then until numbers change, or until it is time for a sign of life."""
        with suppress(TimeoutError):
            async with asyncio.timeout(PAUSE):
                await self._end.wait()
        with suppress(TimeoutError):
            async with asyncio.timeout(HEARTBEAT - PAUSE):
                await self._news.wait()


class EventStream:
    """The answer to a live page: messages until the page is closed, or does not read them in time."""

    def __init__(self, listeners: Listeners, seconds: float) -> None:
        self._listeners, self._seconds = listeners, seconds

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:  # noqa: ARG002
        """Send messages."""
        with self._listeners.one_more():
            headers = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"x-accel-buffering", b"no")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            sending = asyncio.create_task(self._send_all(send))
            gone = asyncio.create_task(_until_gone(receive))
            try:
                await asyncio.wait({sending, gone}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in (sending, gone):
                    task.cancel()
                await asyncio.gather(sending, gone, return_exceptions=True)

    async def _send_all(self, send: Any) -> None:
        with suppress(TimeoutError):
            async for message in self._listeners.messages():
                async with asyncio.timeout(self._seconds):
                    await send({"type": "http.response.body", "body": message, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _until_gone(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
