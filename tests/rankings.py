"""Entries to rank, with ties of every kind, and the obvious way to rank them."""

import numpy as np

LEVELS = {
    "distinct": lambda rng, shape: rng.random(shape),
    "few values": lambda rng, shape: rng.integers(0, 4, shape) / 4,
    "all equal": lambda rng, shape: np.full(shape, 0.25),
    "mostly zero": lambda rng, shape: rng.random(shape) * (rng.random(shape) < 0.1),
    "signed with both zeros and infinities": lambda rng, shape: rng.choice([-np.inf, -2.0, -0.0, 0.0, 3.5], shape),
}


def obvious(values):
    return np.array([sorted(range(len(row)), key=lambda column: (-row[column], column)) for row in values.tolist()])
