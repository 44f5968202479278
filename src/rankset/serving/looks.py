"""``Looks``: whether the store can be written, and its size, asked without waiting for a store that hangs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from rankset.errors import PYTHON, RanksetError
from rankset.errors.fields import render_text
from rankset.serving.storage.store import Store

SECONDS = 3.0
"""A store that takes longer is not waited for."""


class Looks:
    """Looks at a store in threads of their own, one of each kind at a time: who comes meanwhile shares its answer."""

    def __init__(self, store: Store | None) -> None:
        self._store, self._bytes = store, 0
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="rankset store")
        self._running: dict[str, Future[Any]] = {}

    async def trouble(self) -> str | None:
        """Return what the store must do and does not; None if it can be written, or if there is none."""
        if self._store is None:
            return None
        try:
            await self._look("check", self._store.check)
        except TimeoutError:
            return f"answer within {SECONDS:g} seconds"
        except RanksetError as error:
            return render_text(error.expected, PYTHON)
        return None

    async def size(self) -> int:
        """Return the bytes of the store; if it does not answer, those of the last look."""
        if self._store is not None:
            try:
                self._bytes = await self._look("size", self._measured)
            except (TimeoutError, RanksetError):
                return self._bytes
        return self._bytes

    def _measured(self) -> int:
        assert self._store is not None
        return self._store.bytes

    async def _look(self, name: str, work: Callable[[], Any]) -> Any:
        running = self._running.get(name)
        if running is None or running.done():
            running = self._running[name] = self._threads.submit(work)
        waiting = asyncio.wrap_future(running)
        waiting.add_done_callback(seen)
        async with asyncio.timeout(SECONDS):
            return await asyncio.shield(waiting)

    def close(self) -> None:
        """End the threads when they are done."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def seen(done: asyncio.Future[Any]) -> None:
    """Look at the error of a store for which nobody waits any more; asyncio would write it to the log otherwise."""
    if not done.cancelled():
        done.exception()
