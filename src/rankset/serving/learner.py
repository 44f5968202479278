"""``Learner``: the thread of a server that learns from rows and labels, in the order in which they were written."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import Any

from rankset.errors import StorageError
from rankset.rules.rule import Rule
from rankset.serving.following import labels_after
from rankset.serving.monitor import Monitor, Seen
from rankset.serving.storage.rows import Labelled
from rankset.serving.storage.store import Store

log = logging.getLogger("rankset.serving")

PART = 500
"""Labels that are learned together."""
BEHIND = 20_000
"""If so many rows wait to be learned, requests wait a little."""
MOST = 500_000
"""If so many rows wait, further ones are not learned: the store has them, and a restart learns them."""


class Learner:
    """Teaches a monitor. Methods can be called by all threads, and return at once unless they say that they wait.

    Attributes
    ----------
    trouble : why some rows could not be learned; None if all could.
    learned : is called by the thread after it has learned something.
    unread : why labels that are stored could not be read to learn from them. They are read with the next ones.
    """

    def __init__(self, monitor: Monitor, store: Store | None, label: int, learned: float) -> None:
        self.monitor, self._store, self._label, self._learned = monitor, store, label, learned
        self._newest = learned
        self._queue: SimpleQueue[Any] = SimpleQueue()
        self._behind, self._lock, self._few = 0, Lock(), Event()
        self._few.set()
        self.trouble: str | None = None
        self.unread: str | None = None
        self.learned: Callable[[], None] = lambda: None
        self._told: set[str] = set()
        self._thread = Thread(target=self._learn, name="rankset monitor", daemon=True)
        self._thread.start()

    def rows(self, rows: Sequence[Seen]) -> None:
        """Learn rows; call it in the order in which they were written."""
        with self._lock:
            if self._behind > MOST:
                self.trouble = "rows came faster than the alarms could learn from them"
                return
            self._behind += len(rows)
            self._newest = rows[-1].time
            if self._behind > BEHIND:
                self._few.clear()
        self._queue.put(rows)

    def labels(self) -> None:
        """Learn labels that the store has."""
        self._queue.put("labels")

    def follow(self, rule: Rule, turn: int, usual: Sequence[float]) -> None:
        """Learn for another rule from now on."""
        self._queue.put((rule, turn, usual))

    @property
    def few_wait(self) -> bool:
        """Whether few rows wait to be learned."""
        return self._few.is_set()

    def wait_for_few(self, seconds: float) -> None:
        """Wait until few rows wait to be learned, but not longer than some seconds."""
        self._few.wait(seconds)

    def settle(self, seconds: float = 10.0) -> bool:
        """Wait until everything that came before has been learned; return whether it was."""
        done = Event()
        self._queue.put(done)
        return done.wait(seconds)

    def close(self) -> None:
        """Learn what waits, and end the thread; wait for it."""
        self._queue.put(None)
        if self._thread.is_alive():
            self._thread.join(10.0)

    def _learn(self) -> None:
        """Learn from what comes, until None comes."""
        self._tell_alarms()
        while (news := self._queue.get()) is not None:
            try:
                self._learn_one(news)
                self._tell_alarms()
                self.learned()
            except StorageError as error:
                self.unread = f"{error}"
                log.warning("labels are learned later, because they could not be read: %s", error)
            except Exception as error:
                self.trouble = f"{type(error).__name__}: {error}"
                log.exception("the alarms could not learn from some rows")

    def _learn_one(self, news: Any) -> None:
        if isinstance(news, Event):
            news.set()
        elif news == "labels":
            self._learn_labels()
        elif isinstance(news, tuple):
            self.monitor.follow(*news)
        else:
            try:
                self.monitor.predicted(news)
            finally:
                self._learned_rows(news)

    def _learned_rows(self, rows: Sequence[Seen]) -> None:
        with self._lock:
            self._learned = rows[-1].time
            self._behind -= len(rows)
            if self._behind <= BEHIND:
                self._few.set()

    def _learn_labels(self) -> None:
        """Learn from labels that came since the last look, and whose rows have been learned."""
        assert self._store is not None
        part: list[tuple[int, Labelled]] = []
        try:
            for number, pair in labels_after(self._store, self._label):
                with self._lock:
                    waits = self._learned < pair.prediction.time <= self._newest
                if waits:
                    break  # behind its row in the queue comes the news of this label
                part.append((number, pair))
                if len(part) == PART:
                    self._learn_part(part)
                    part = []
        finally:  # those that were read are learned, also if the next ones could not be read
            self._learn_part(part)
        self.unread = None

    def _learn_part(self, part: Sequence[tuple[int, Labelled]]) -> None:
        if part:
            self.monitor.labelled([pair for _, pair in part])
            self._label = part[-1][0]

    def _tell_alarms(self) -> None:
        """Log alarms that were raised since the last look."""
        raised = set(self.monitor.raised)
        for one in self.monitor.watching.alarms if raised - self._told else ():
            if one.name in raised - self._told:
                log.warning("%s", one)
        self._told = raised
