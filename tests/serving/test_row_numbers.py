"""Numbers of rows by the times at which they came."""

import numpy as np
import pytest

pytest.importorskip("starlette")

from rankset.serving import row_numbers
from rankset.serving.row_numbers import RowNumbers


def test_every_known_row_is_found(monkeypatch):
    """Beside a plain dictionary, with a clock that is set back now and then."""
    monkeypatch.setattr(row_numbers, "MOST", 100)
    rng, known, expected, now = np.random.default_rng(0), RowNumbers(), {}, 1e9
    for number in range(5000):
        now += rng.random() if rng.random() < 0.98 else -50 * rng.random()
        known.add(now)
        expected[now] = number
        if number % 97 == 0:
            recent = {time: place for time, place in expected.items() if place > number - 100}
            assert {time: known.of(time) for time in recent} == recent
    assert known.count == 5000


def test_rows_that_are_not_known_count_as_the_oldest_known_one(monkeypatch):
    monkeypatch.setattr(row_numbers, "MOST", 10)
    known = RowNumbers()
    assert known.of(3.0) == 0
    for number in range(20):
        known.add(float(number))
    assert (known.of(3.0), known.of(3.5), known.of(10.0), known.of(19.0), known.of(19.5)) == (10, 10, 10, 19, 10)


def test_the_last_row_at_a_time():
    known = RowNumbers()
    assert known.last(5.0) == 0
    for time in (1.0, 2.0, 5.0, 3.0, 4.0):  # the clock is set back after the third row
        known.add(time)
    assert [known.last(time) for time in (0.5, 1.0, 1.5, 2.9, 3.0, 3.5, 9.0)] == [0, 0, 0, 1, 3, 3, 4]


def test_of_two_rows_at_one_time_the_later_one_is_found():
    known = RowNumbers()
    for time in (1.0, 2.0, 1.0, 2.0, 3.0):
        known.add(time)
    assert [known.of(time) for time in (1.0, 2.0, 3.0)] == [2, 3, 4]
