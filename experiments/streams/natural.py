"""Streams in the order of time: tables with a label, and models that are trained once, or again and again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LENGTH = 11_000
"""Rows of a stream, with those that calibrate."""


def table(path: Path, most: int | None = None) -> tuple[Floats, Ints]:
    """Inputs and labels (from 0) of the first rows of a csv file with a head and the label in its last column."""
    values = np.loadtxt(path, delimiter=",", skiprows=1, max_rows=most)
    labels = values[:, -1].astype(np.int64)
    return values[:, :-1], labels - labels.min()


def trees() -> HistGradientBoostingClassifier:
    """Few small trees: what is learned from 5,000 rows of a drifting table is worth little in detail."""
    return HistGradientBoostingClassifier(max_iter=60, max_leaf_nodes=8, learning_rate=0.05, random_state=0)


def asked(train: tuple[Floats, Ints], new: Floats, n_classes: int) -> Floats:
    """Probabilities of a model, 0 for classes that did not train it."""
    model, probs = trees().fit(*train), np.zeros((len(new), n_classes))
    probs[:, model.classes_] = model.predict_proba(new)
    return probs


def trained_once(inputs: Floats, labels: Ints, training: int, n_classes: int) -> Floats:
    """Probabilities of the rows after the first ones, by a model of the first ones."""
    return asked((inputs[:training], labels[:training]), inputs[training:], n_classes)


def retrained(inputs: Floats, labels: Ints, training: int, n_classes: int) -> Floats:
    """The same by a model that is trained anew, on as many rows, every 500 rows."""
    parts = []
    for start in range(training, len(labels), 500):
        recent = slice(start - training, start)
        parts.append(asked((inputs[recent], labels[recent]), inputs[start : start + 500], n_classes))
    return np.concatenate(parts)


Model = Callable[[Floats, Ints, int, int], Floats]


@cache
def stream(path: Path, part: tuple[int, int, int], model: Model) -> tuple[Floats, Ints]:
    """Probabilities and labels of one part of a table: its start, rows that train, and rows of the table to read."""
    start, training, most = part
    inputs, labels = read(path, most)
    own = slice(start, start + training + LENGTH)
    probs = model(inputs[own], labels[own], training, int(labels.max()) + 1)
    return probs, labels[own][training:]


@cache
def read(path: Path, most: int) -> tuple[Floats, Ints]:
    """A table, read once."""
    return table(path, most)


TABLES: Mapping[str, tuple[str, int, int, int]] = {
    "Elec2 (2)": ("elec.csv", 5000, 9000, 45_312),
    "weather (2)": ("weather.csv", 4000, 1000, 18_159),
    "forest cover (7)": ("covtype.csv", 5000, 16_000, 64_000),
}
"""Tables by name: file, rows that train, how much later the stream of the next seed starts, and rows that are read."""

MODELS: Mapping[str, Model] = {"trained once": trained_once, "retrained": retrained}
NATURAL = [f"{name}, {how}" for name in TABLES for how in MODELS]


def natural(folder: Path, name: str, seed: int) -> tuple[Floats, Ints]:
    """Probabilities and labels of one stream; another seed is another part of the table."""
    title, how = name.rsplit(", ", 1)
    file, training, later, most = TABLES[title]
    return stream(folder / file, (seed % 4 * later, training, most), MODELS[how])
