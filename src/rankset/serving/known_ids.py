"""``KnownIds``: which ids were predicted before. The last ones are known here, the store knows the others."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import Future, ThreadPoolExecutor

from rankset.errors import StorageError
from rankset.serving.storage.store import Store
from rankset.streams.waiting import LastNames

IDS = 100_000
"""So many ids of rows are known without asking the store."""
PATIENCE = 3.0
"""Seconds that the store is waited for, at most."""
THREADS = 4
"""As many as ask: no question waits for another one."""


class KnownIds:
    """The ids of rows. The store is asked in threads of their own, and not waited for if it hangs."""

    def __init__(self, store: Store | None) -> None:
        self._store, self._last = store, LastNames(IDS)
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="rankset ids")
        self._late: Future[set[str]] | None = None

    def __contains__(self, name: str) -> bool:
        """Whether an id is one of the last ones."""
        return name in self._last

    def add(self, name: str) -> None:
        """Add the id of a new row."""
        self._last.add(name)

    @property
    def asks_store(self) -> bool:
        """Whether the store must be asked, too: there were so many ids that they are not all known without it."""
        hangs = self._late is not None and not self._late.done()
        return self._store is not None and len(self._last) >= IDS and self._store.trouble is None and not hangs

    def stored(self, names: Sequence[str]) -> AbstractSet[str]:
        """Return which ids the store has, if it must be asked. It may be waited for, so call it in a thread.

        If the store fails or does not answer, predictions go on: a row whose id it has already is counted as lost.
        """
        if not self.asks_store:
            return frozenset()
        assert self._store is not None
        asked = self._threads.submit(self._store.known, names)
        try:
            return asked.result(PATIENCE)
        except TimeoutError:
            self._late = asked
        except StorageError:
            pass
        return frozenset()

    def close(self) -> None:
        """End the threads when they are done."""
        self._threads.shutdown(wait=False, cancel_futures=True)
