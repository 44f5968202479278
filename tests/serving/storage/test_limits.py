"""A store is bounded by age and by size, and drops the oldest rows, without starving labels or new rows."""

import time

import numpy as np
import pytest

pytest.importorskip("sqlalchemy")

import rankset as rs
from rankset.serving import Labelled, Prediction
from rankset.serving.storage import limits as limiting
from refusals import refused
from served import K, filled, label, prediction

MB = 1 << 20


def ids(store):
    return [one.id for one in store.history() if isinstance(one, Prediction)]


def test_old_rows_are_dropped_with_their_labels(where, opened):
    store = opened(where, max_age=3600)
    now = time.time()
    store.remember([prediction(n, time=now - 4000 + n) for n in range(30)])
    store.remember([prediction(n, time=now - 10) for n in range(30, 40)])
    store.feedback([label(n) for n in range(20, 35)])
    assert store.prune() == 30
    assert (ids(store), store.rows, store.labels) == ([f"row-{n}" for n in range(30, 40)], 10, 5)
    assert store.prune() == 0
    assert store.feedback([label(0)]) == ["unknown"]


def test_old_rows_are_dropped_without_being_asked(where, opened):
    store = opened(where, max_age=1.5)
    store.remember([prediction(n, time=time.time()) for n in range(30)])
    store.check()
    start = time.monotonic()
    while ids(store) and time.monotonic() < start + 30:
        time.sleep(0.05)
    assert 1 < time.monotonic() - start < 10
    assert store.rows == 0


def test_many_old_rows_are_dropped_in_steps(where, opened, monkeypatch):
    monkeypatch.setattr(limiting, "STEP", 100)
    store = opened(where, max_age=3600)
    filled(store, 950, labelled=10)
    assert store.prune() == 950
    assert (store.rows, store.labels, ids(store)) == (0, 0, [])


def test_numbers_are_not_given_twice(where, opened):
    """The order of labels would be wrong if a new one got the number of a dropped one."""
    store = opened(where, max_age=3600)
    filled(store, 5)
    assert store.prune() == 5
    now = time.time()
    store.remember([prediction(n, time=now) for n in range(5)])
    store.check()
    assert min(number for number, _ in store._reader._predictions([])) == 6


@pytest.mark.parametrize(("labelled", "kept"), [(200, "labels"), (3600, "rows")])
def test_of_rows_with_and_without_label_those_are_dropped_of_which_there_are_more(file, opened, labelled, kept):
    """Neither do many rows without label push out the labelled ones, nor the other way round."""
    store = opened(file, max_bytes=MB)
    outputs = np.full(K, 1 / K)
    for first in range(0, 8_000, 200):
        rows = [prediction(n, outputs=outputs) for n in range(first, first + 200)]
        store.remember(rows)
        if labelled == 200 and first == 0:
            store.feedback([label(n) for n in range(200)])
        elif labelled == 3600:
            store.feedback([label(n) for n in range(first, first + 180)])
        store.check()
    assert store.prune() >= 0
    found = {one.id for one in store.history() if isinstance(one, Prediction)}
    assert len(found) < 8_000
    assert "row-7999" in found
    answered = {one.feedback.id for one in store.history() if isinstance(one, Labelled)}
    if kept == "labels":
        assert answered == {f"row-{n}" for n in range(200)}
    else:
        assert {f"row-{n}" for n in range(8_000) if n % 200 >= 180} <= found - answered
        assert "row-7979" in answered
        assert "row-0" not in found


def test_the_file_and_its_log_stay_below_the_limit(file, opened):
    """Watched at every step, while twice the limit is written, with labels in between."""
    store = opened(file, max_bytes=MB)
    sizes, outputs = [], np.full(K, 1 / K)
    for first in range(0, 15_000, 150):
        store.remember([prediction(n, outputs=outputs) for n in range(first, first + 150)])
        store.feedback([label(first)])
        sizes.append(store.bytes)
    assert store.lost == 0
    assert max(sizes) <= MB
    assert max(sizes) > 0.8 * MB
    store.prune()  # ends what is being dropped
    assert len(ids(store)) == store.rows > 3000
    store.close()
    assert 0 < opened(file).bytes <= MB


def test_a_smaller_limit_shrinks_a_store(where, opened):
    store = opened(where)
    filled(store, 10_000, labelled=10)
    before = store.bytes
    store.close()
    store = opened(where, max_bytes=MB)
    assert before > MB
    store.prune()
    assert store._database.live_size() <= 0.8 * MB
    assert len(ids(store)) == store.rows < 9000
    assert ids(store)[-1] == "row-9999"
    assert store.labels == 10
    if "://" not in where:
        assert store.bytes <= 0.9 * MB


def test_labels_need_not_wait_until_all_is_dropped(file, opened, monkeypatch):
    """Dropping takes turns with labels that wait."""
    monkeypatch.setattr(limiting, "STEP", 400)
    store = opened(file)
    filled(store, 20_000, labelled=0)
    store.close()
    store = opened(file, max_bytes=MB)
    store.remember([prediction(n) for n in range(20_000, 20_050)])
    waits = []
    while store.bytes > 0.9 * MB or len(waits) < 5:
        start = time.monotonic()
        assert store.feedback([label(20_000 + len(waits))]) == ["new"]
        waits.append(time.monotonic() - start)
        assert len(waits) < 50
    assert len(waits) > 2
    assert max(waits) < 3


@pytest.mark.parametrize("options", [{"max_age": 0}, {"max_age": -1}, {"max_age": float("nan")}, {"max_bytes": 1000}])
def test_limits_that_make_no_sense_are_refused(file, opened, options):
    with refused(rs.errors.InputError, what=next(iter(options))):
        opened(file, **options)
