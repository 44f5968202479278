"""Rows that a server has predicted, for tests of the store."""

import numpy as np

import rankset as rs
from rankset.serving import Feedback, Prediction

K = 5
_random = np.random.default_rng(7)
PROBS = _random.dirichlet(np.ones(K), 400)
LABELS = np.array([_random.choice(K, p=row) for row in PROBS])
RULE = rs.calibrate(PROBS[:100], LABELS[:100])


def prediction(place, *, name=None, time=None, dtype=np.float64, group=None, accepted=None, outputs=None):
    """The row ``place`` of the data as a server remembers it."""
    row = PROBS[place % len(PROBS)].astype(dtype) if outputs is None else outputs
    codes = np.argsort(-row)[: 1 + place % 3].astype(np.int32)
    moment = float(place) if time is None else time
    return Prediction(name or f"row-{place}", moment, row, group, codes, 0.1, float(row.max()), accepted)


def label(place, *, name=None, time=None):
    """The label of the row ``place``."""
    moment = place + 0.5 if time is None else time
    return Feedback(name or f"row-{place}", int(LABELS[place % len(LABELS)]), moment)


def filled(store, n, labelled=None, **options):
    """Put ``n`` rows into a store, and labels of the first ones, by default of all."""
    store.remember([prediction(place, **options) for place in range(n)])
    answers = store.feedback([label(place) for place in range(n if labelled is None else labelled)])
    store.check()
    return answers
