"""The file and its log never take more than their limit, however fast rows come, and labels need not wait long."""

import contextlib
import sqlite3
import threading
import time
import uuid
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sqlalchemy")

import rankset as rs
from rankset.errors import StorageError
from rankset.serving import Feedback, Prediction
from refusals import refused

MB = 1 << 20
RANDOM = np.random.default_rng(3)


def rule_of(k):
    probs = RANDOM.dirichlet(np.ones(k), 60)
    return rs.calibrate(probs, RANDOM.integers(0, k, 60))


def rows_of(k, n, codes=3):
    outputs = RANDOM.dirichlet(np.ones(k))
    found = np.arange(min(k, codes), dtype=np.int32)
    return [Prediction(str(uuid.uuid4()), time.time(), outputs, None, found, 0.1, 0.5) for _ in range(n)]


class Watch:
    """Looks at the size of a file and its log all the time."""

    def __init__(self, file):
        self.files, self.peak, self.looks = (Path(file), Path(f"{file}-wal")), 0, 0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def _look(self):
        while not self._end.wait(0.001):
            total = 0
            for name in self.files:
                with contextlib.suppress(FileNotFoundError):
                    total += name.stat().st_size
            self.peak, self.looks = max(self.peak, total), self.looks + 1

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()


def flood(store, k, seconds, n):
    """Send rows from two threads as fast as they are taken, and labels of the last ones; return how long each took."""
    end, waits, told = time.monotonic() + seconds, [], []

    def send():
        while time.monotonic() < end:
            store.remember(rows_of(k, n))
            time.sleep(0.002)

    threads = [threading.Thread(target=send) for _ in range(2)]
    for thread in threads:
        thread.start()
    while time.monotonic() < end:
        row = rows_of(k, 1)[0]
        store.remember([row])
        start = time.monotonic()
        told += store.feedback([Feedback(row.id, 0, time.time())])
        waits.append(time.monotonic() - start)
    for thread in threads:
        thread.join()
    return waits, told


@pytest.mark.parametrize(
    ("most", "k", "n"), [(MB, 3, 50), (MB, 1000, 200), (8 * MB, 1000, 1000), (50 * MB, 1000, 1000)]
)
def test_a_flood_of_rows_stays_within_the_limit(file, opened, most, k, n):
    """With labels for its last rows, which are answered meanwhile."""
    store = opened(file, rule=rule_of(k), max_bytes=most)
    while store.bytes < 0.6 * most:
        store.remember(rows_of(k, n))
        store.check()
    lost = store.lost
    with Watch(file) as watch:
        waits, told = flood(store, k, 3.0, n)
        store.check()
    assert watch.looks > 50
    assert 0.6 * most < watch.peak <= most
    assert store.bytes <= most
    assert store.lost > lost
    assert set(told) <= {"new", "unknown"}  # "unknown" if its row came too fast
    row = rows_of(k, 1)[0]
    store.remember([row])
    assert store.feedback([Feedback(row.id, 0, 1.0)]) == ["new"]
    assert max(waits) < 10


def test_many_small_rows_and_labels_in_any_order_stay_within_the_limit(file, opened):
    """Every row and every label changes another page of the indexes."""
    store = opened(file, rule=rule_of(2), max_bytes=MB)
    with Watch(file) as watch:
        for _ in range(60):
            rows = rows_of(2, 100)
            store.remember(rows)
            store.feedback([Feedback(rows[place].id, 0, time.time()) for place in RANDOM.permutation(100)[:60]])
    assert 0.5 * MB < watch.peak <= MB
    assert store.lost == 0
    assert 1000 < store.rows < 8000
    assert store.labels < store.rows


@pytest.mark.parametrize(("most", "k", "n"), [(11 * MB // 10, 6, 400), (2 * MB, 6, 500), (5 * MB, 1000, 200)])
def test_rows_of_one_request_that_fit_are_kept(file, opened, most, k, n):
    """Also if the log that they need is larger than the limit: it is written in parts."""
    store = opened(file, rule=rule_of(k), max_bytes=most)
    with Watch(file) as watch:
        store.remember(rows_of(k, n))
        store.check()
    assert (store.rows, store.lost) == (n, 0)
    assert watch.peak <= most


@pytest.mark.parametrize("k", [100, 180])
def test_rows_that_share_pages_may_wait_together(file, opened, k):
    store = opened(file, rule=rule_of(k), max_bytes=100_000_000)
    store.remember(rows_of(k, 10_000))
    store.check()
    assert (store.rows, store.lost) == (10_000, 0)


def test_a_reader_that_holds_the_log_does_not_make_it_grow_beyond_the_limit(file, opened):
    store = opened(file, rule=rule_of(1000), max_bytes=MB)
    store.remember(rows_of(1000, 5))
    store.check()
    with Watch(file) as watch, contextlib.closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM rankset_predictions").fetchall()
        for _ in range(10):
            store.remember(rows_of(1000, 30))
            time.sleep(0.1)
        with refused(StorageError, expected="have space within its limit") as caught:
            store.check()
        assert caught.value.try_again
        assert other.execute("SELECT count(*) FROM rankset_predictions").fetchone() == (5,)
        other.execute("ROLLBACK")
        row = rows_of(1000, 1)[0]
        store.check()
        store.remember([row])
        assert store.feedback([Feedback(row.id, 0, 1.0)]) == ["new"]
    assert watch.peak <= MB
    assert store.lost > 0


def test_a_row_that_is_larger_than_the_limit_is_lost_and_others_are_not(file, opened):
    store = opened(file, rule=rule_of(100_000), max_bytes=MB)
    store.remember(rows_of(100_000, 2))
    store.check()
    assert (store.rows, store.lost) == (0, 2)


def test_labels_are_stored_although_rows_cannot_be_dropped(file, opened, monkeypatch):
    store = opened(file, rule=rule_of(3), max_bytes=MB)
    known = rows_of(3, 20)
    store.remember(known)
    while store.bytes < 0.6 * MB:
        store.remember(rows_of(3, 100))
        store.check()

    def fails(_wanted):
        raise StorageError.store_failed(file, "a test")

    monkeypatch.setattr(store._limits, "_drop", fails)
    for _ in range(30):
        store.remember(rows_of(3, 100))
        with contextlib.suppress(StorageError):
            store.check()
    assert store.feedback([Feedback(row.id, 0, 1.0) for row in known]) == ["new"] * 20
    assert store.bytes <= MB
