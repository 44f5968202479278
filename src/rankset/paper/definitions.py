"""The paper's three definitions of RANK on the same halves: the score, the printed rule, the class-column score."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.evaluation.calibrate import calibrate
from rankset.evaluation.resampling import halves
from rankset.inputs.matrix import Kind
from rankset.paper.class_column import ClassColumn
from rankset.paper.numbers import round_number
from rankset.paper.outputs import Outputs
from rankset.paper.printed import printed_rule
from rankset.sets import PredictionSets

DEFINITIONS = ("score", "printed", "class-column")
GENERATOR = "confident errors"
"""Name of the generated rows among the data sets."""
GENERATED_ROWS = 2000

Ints = NDArray[np.int64]
Predict = Callable[[NDArray[Any]], PredictionSets]


def measure_definitions(outputs: Outputs | None, alpha: str, repeats: int, seed: int) -> dict[str, Any]:
    """Return coverage and size of the three definitions of RANK on the same halves of a data set.

    None stands for generated rows, on which the printed rule fails.
    """
    measured: dict[str, list[tuple[float, float]]] = {definition: [] for definition in DEFINITIONS}
    for values, labels, kind, cal, test in _halves_of(outputs, repeats, seed):
        rules = _three_rules(values[cal], labels[cal], alpha, kind)
        for definition, predict in zip(DEFINITIONS, rules, strict=True):
            sets = predict(values[test])
            measured[definition].append((float(sets.covers(labels[test]).mean()), float(sets.sizes.mean())))
    return {
        definition: dict(zip(("coverage", "size"), map(round_number, np.mean(pairs, axis=0).tolist()), strict=True))
        for definition, pairs in measured.items()
    }


def _halves_of(
    outputs: Outputs | None, repeats: int, seed: int
) -> Iterator[tuple[NDArray[Any], Ints, Kind, Ints, Ints]]:
    """Outputs, labels, kind and halves of a data set, or of new generated rows each time."""
    if outputs is None:
        rng = np.random.default_rng(seed)
        for cal, test in halves(GENERATED_ROWS, repeats, seed):
            yield *confident_errors(rng, GENERATED_ROWS), "probs", cal, test
    else:
        for cal, test in halves(len(outputs.labels), repeats, seed):
            yield outputs.values, outputs.labels, outputs.kind, cal, test


def _three_rules(values: NDArray[Any], labels: Ints, alpha: str, kind: Kind) -> tuple[Predict, Predict, Predict]:
    """The predictions of the three definitions, calibrated on the same rows."""
    rule = calibrate(values, labels, kind=kind)
    column = calibrate(values, labels, kind=kind, method=ClassColumn.fit(values, kind=kind))
    return (
        lambda new: rule.predict(new, alpha),
        printed_rule(values, labels, alpha, kind=kind).predict,
        lambda new: column.predict(new, alpha),
    )


def confident_errors(rng: np.random.Generator, n: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return probabilities (n, 3) and labels for which the printed rule fails.

    80 % of the rows are right with a top probability of 0.5 to 0.8. The others are wrong with 0.9 to 0.99, and their
    label ranks second.
    """
    wrong = rng.random(n) < 0.2
    top = np.where(wrong, rng.uniform(0.9, 0.99, n), rng.uniform(0.5, 0.8, n))
    probs = np.column_stack((top, (1 - top) * 0.7, (1 - top) * 0.3))
    return probs, wrong.astype(np.int64)
