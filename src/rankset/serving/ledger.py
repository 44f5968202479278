"""``Ledger``: rows and labels go into the store and to the monitor in one order, each under the rule that is served."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from threading import Lock

from rankset.serving.clock import Clock
from rankset.serving.following import last_label, turn_of
from rankset.serving.known_ids import KnownIds
from rankset.serving.learner import Learner
from rankset.serving.loaded import Loaded
from rankset.serving.monitor import Monitor, Seen
from rankset.serving.predictions import Answered
from rankset.serving.refusals import Refused
from rankset.serving.storage.rows import Feedback, Labelled, Prediction
from rankset.serving.storage.store import Store

log = logging.getLogger("rankset.serving")

PART = 500
"""Rows that are written together. Others wait meanwhile."""
PATIENCE = 1.0
"""Seconds that a part of a large request waits for the store, and for the monitor, at most."""
MANY = 100_000
"""If a store has so many rows, learning from them takes some seconds before the server listens, and is logged."""
LONGEST = 60.0
"""Seconds that a new rule waits for large requests, at most."""


class Ledger:
    """Where rows and labels are written down. Methods can be called by all threads.

    Attributes
    ----------
    loaded : the rule that is served now.
    store : where rows and labels are kept; None if they are not.
    monitor : numbers and alarms.
    learner : the thread that teaches the monitor.
    """

    def __init__(self, loaded: Loaded, store: Store | None) -> None:
        self.loaded, self.store, self._lock = loaded, store, Lock()
        self._ids, self._clock, self._unfinished = KnownIds(store), Clock(), 0
        self._turn = 0 if store is None else turn_of(store, loaded.digest)
        self.monitor = Monitor(loaded.rule, float(loaded.alpha), self._turn, loaded.usual)
        label = 0 if store is None else self._remember_again(store)
        self.learner = Learner(self.monitor, store, label, self._clock.last)
        if self.monitor.ever.seen and not self.monitor.own.seen and store is not None:
            log.info("%s has rows from before this rule: its numbers and alarms begin now", store.where)

    def _remember_again(self, store: Store) -> int:
        """Learn what the store holds, as it was learned when it came; return the number of its last label."""
        if store.rows > MANY:
            log.info("learning from %d rows and %d labels of the store %s", store.rows, store.labels, store.where)
        part: list[Prediction | Labelled] = []
        for one in store.history():
            if isinstance(one, Prediction):
                self._ids.add(one.id)
            self._clock.last = max(self._clock.last, one.time if isinstance(one, Prediction) else one.feedback.time)
            part.append(one)
            if len(part) == PART:
                self.monitor.learn(part)
                part = []
        self.monitor.learn(part)
        return last_label(store)

    def take(self, answered: Answered, loaded: Loaded, gone: Callable[[], bool] = lambda: False) -> bool:
        """Write rows down; return False if another rule is served by now, so that they must be predicted again.

        Raise ``Refused`` if one was predicted before. ``gone`` tells whether nobody waits for the answer any more: then
        the rows of a large request do not wait for each other.
        """
        asked, n = answered.asked, len(answered.asked.names)
        stored = self._ids.stored(asked.names) if asked.given else ()
        with self._lock:
            if loaded is not self.loaded:
                return False
            if asked.given:
                known = (row for row, name in enumerate(asked.names) if name in self._ids or name in stored)
                if (row := next(known, None)) is not None:
                    raise Refused.known_id(asked.ids[row], row)
            for name in asked.names:
                self._ids.add(name)
            turn = self._turn
            self._put(answered.predictions(0, self._clock.times(min(n, PART)), turn))
            self._unfinished += n > PART
        if n > PART:
            self._put_rest(answered, turn, gone)
        return True

    @property
    def asks_store(self) -> bool:
        """Whether ``take`` asks the store for ids that were sent, and may wait for it."""
        return self._ids.asks_store

    def _put_rest(self, answered: Answered, turn: int, gone: Callable[[], bool]) -> None:
        """Write many rows in parts, as fast as the store and the monitor take them, if they answer."""
        n, waits = len(answered.asked.names), True
        try:
            for start in range(PART, n, PART):
                if waits and not gone():
                    self.learner.wait_for_few(PATIENCE)
                    waits = self.store is None or self.store.settle(PATIENCE)
                with self._lock:
                    self._put(answered.predictions(start, self._clock.times(min(PART, n - start)), turn))
        finally:
            with self._lock:
                self._unfinished -= 1

    def _put(self, rows: Sequence[Prediction]) -> None:
        if not rows:
            return
        if self.store is not None:
            self.store.remember(rows)
        self.learner.rows([Seen.of(row) for row in rows])

    def label(self, ids: Sequence[str], columns: Sequence[int]) -> Future[list[str]]:
        """Write labels down; the answers come when they are on the disk."""
        assert self.store is not None
        with self._lock:
            now = self._clock.label_time()
            found = self.store.send([Feedback(*one, now) for one in zip(ids, columns, strict=True)])
        found.add_done_callback(self._labels_came)
        return found

    def _labels_came(self, written: Future[list[str]]) -> None:
        if not written.cancelled() and written.exception() is None:
            self.learner.labels()

    def follow(self, loaded: Loaded) -> None:
        """Serve another rule from now on; if it is the same one, its numbers and alarms go on.

        Rows that come from now on are those of the new rule, so nothing is switched while a large request is written.
        The store is told first: it must be able to say of which rule rows are.
        """
        if self.store is not None:
            self.store.check()
            turn = turn_of(self.store, loaded.digest)
        else:
            turn = self._turn + (loaded.digest != self.loaded.digest)
        end = time.monotonic() + LONGEST
        while not self._switched(loaded, turn, late=time.monotonic() > end):
            time.sleep(0.02)

    def _switched(self, loaded: Loaded, turn: int, *, late: bool) -> bool:
        """Serve another rule, if no large request is being written or it is too late to wait."""
        with self._lock:
            if self._unfinished and not late:
                return False
            if turn != self._turn:
                self.learner.follow(loaded.rule, turn, loaded.usual)
            self.loaded, self._turn = loaded, turn
        return True

    def close(self) -> None:
        """Learn what waits, write what waits, and end the thread."""
        self.learner.close()
        self._ids.close()
        if self.store is not None:
            self.store.close()
