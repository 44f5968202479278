"""Sorted tuples against a plain sorted list."""

import numpy as np

from rankset.streams import sorted_tuples
from rankset.streams.sorted_tuples import SortedTuples


def test_insertion_and_removal_keep_the_order(monkeypatch):
    monkeypatch.setattr(sorted_tuples, "LONG", 8)
    rng = np.random.default_rng(0)
    start = [(int(one), 0.5) for one in rng.integers(0, 30, 40)]
    ours, plain = SortedTuples(start), sorted(start)
    for _ in range(3000):
        if rng.random() < 0.5 or not plain:
            one = (int(rng.integers(0, 30)), float(rng.integers(0, 3)))
            ours.add(one)
            plain = sorted([*plain, one])
        else:
            one = plain.pop(int(rng.integers(len(plain))))
            ours.remove(one)
        assert len(ours) == len(plain)
        probe = (int(rng.integers(-1, 31)), 1.0)
        assert ours.before(probe) == sum(other < probe for other in plain)
        if plain:
            place = int(rng.integers(len(plain)))
            assert ours[place] == plain[place]
    assert list(ours) == plain


def test_it_can_become_empty_and_grow_again():
    ours = SortedTuples()
    for _ in range(3):
        ours.add((1,))
        ours.remove((1,))
    assert len(ours) == 0
    assert ours.before((5,)) == 0
