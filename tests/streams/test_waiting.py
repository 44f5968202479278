"""Rows that wait, and ids of rows with labels, when there are as many as are kept."""

import time

import numpy as np

import rankset as rs
from rankset.streams.waiting import OneRow, Waiting

ROWS, LABELS = rs.datasets.load("carer")
ROW = OneRow(ROWS[:1], np.arange(6), (np.zeros(6),), np.ones(6, dtype=bool))


def seconds(waiting, first, count):
    start = time.perf_counter()
    for number in range(first, first + count):
        waiting.add([number], ROW, number)
        waiting.take(number)
    return time.perf_counter() - start


def test_the_oldest_id_is_found_as_quickly_after_many_rows():
    waiting = Waiting(50_000)
    early = min(seconds(waiting, first, 1000) for first in range(0, 20_000, 1000))
    seconds(waiting, 20_000, 190_000)
    late = np.median([seconds(waiting, first, 1000) for first in range(210_000, 260_000, 1000)])
    assert late < 8 * early
    assert len(waiting.labelled) == 50_000
    assert next(iter(waiting.labelled)) == 210_000


def test_a_stream_of_a_file_forgets_the_oldest_ids_too(tmp_path):
    stream = rs.Stream(rs.calibrate(ROWS[:100], LABELS[:100], kind="logits"), alpha=0.1, waiting=5)
    for _ in range(2):
        for start in range(100, 120, 4):
            stream.predict(ROWS[start : start + 4])
            stream.update(LABELS[start : start + 4])
        stream.predict(ROWS[120:127], ids=[f"{stream.n_rows} {place}" for place in range(7)])
        stream.save(tmp_path / "a.rankset")
        stream = rs.Stream.load(tmp_path / "a.rankset")
    assert list(stream._waiting.labelled) == list(range(42, 47))
    assert list(stream._waiting.rows) == [f"47 {place}" for place in range(2, 7)]
    assert stream._waiting.dropped == 9
