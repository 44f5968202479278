"""The paper's experiment: half calibrates, half tests, many times; every method and alpha on the same halves."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset import blocks, inputs, level
from rankset.calibration import Calibration
from rankset.conditions import Marginal
from rankset.inputs import Kind
from rankset.level import Alpha
from rankset.metrics import EMPTY_APART, sscv
from rankset.names import class_names
from rankset.order import Keys
from rankset.recipe import Batch, Recipe
from rankset.scores import Aps, Rank, Raps, Saps, Score, Thr

METHODS: Mapping[str, Score] = {
    "RANK": Rank(),
    "THR": Thr(),
    "APS": Aps(),
    "RAPS": Raps(penalty=0.2, free_ranks=2),
    "SAPS": Saps(weight=0.2),
}
"""The paper's methods with its parameters, and THR, which its Table 1 leaves out."""

Ints = NDArray[np.int64]
Measure = Callable[[NDArray[np.bool_], Ints, Fraction], float]

MEASURES: Mapping[str, Measure] = {
    "coverage": lambda covered, _sizes, _alpha: float(covered.mean()),
    "size": lambda _covered, sizes, _alpha: float(sizes.mean()),
    "SSCV": sscv,
    "SSCV*": partial(sscv, strata=EMPTY_APART),
    "empty": lambda _covered, sizes, _alpha: float((sizes == 0).mean()),
}
"""What is measured on each half, from (covered, sizes, alpha); SSCV* has empty sets as a stratum of their own."""

ONE_GROUP = np.zeros((1, 1), dtype=np.int64)


@dataclass(frozen=True)
class Results:
    """``values[method, alpha, measure, repetition]``, with the names along the first three axes."""

    methods: tuple[str, ...]
    alphas: tuple[Alpha, ...]
    measures: tuple[str, ...]
    values: NDArray[np.float64]

    def mean(self, method: str, alpha: Alpha, measure: str) -> float:
        """The average over repetitions."""
        place = self.methods.index(method), self.alphas.index(alpha), self.measures.index(measure)
        return float(self.values[place].mean())


@dataclass(frozen=True)
class _Scored:
    """Keys of all cells (n, K) and of the true labels' (n,), computed once: a score is a fixed function of the row."""

    everything: Keys
    labels: Keys

    @classmethod
    def of(cls, batch: Batch, columns: Ints) -> "_Scored":
        parts = list(blocks.split(*batch.shape))
        everything = _joined([batch.all_keys(part)[2] for part in parts])
        return cls(
            tuple(key.reshape(batch.shape) for key in everything),
            _joined([batch.label_keys(columns, part)[1] for part in parts]),
        )


def resample(
    probs: ArrayLike,
    labels: ArrayLike,
    *,
    methods: Mapping[str, Score] = METHODS,
    alphas: Sequence[Alpha] = (0.1,),
    measures: Mapping[str, Measure] = MEASURES,
    repeats: int = 100,
    seed: int = 0,
    kind: Kind = "probs",
) -> Results:
    """Coverage, size and SSCV of each method at each alpha on ``repeats`` random halves of the rows."""
    source = inputs.matrix(probs, inputs.known_kind(kind))
    n_columns = inputs.n_columns(source, kind)
    columns = inputs.label_codes(labels, class_names(None, n_columns), len(source))
    recipes = [Recipe.of(score, Marginal(), kind, seed, None, n_columns) for score in methods.values()]
    scored = [_Scored.of(Batch.of(recipe, source, None, None), columns) for recipe in recipes]
    levels = [level.exact(alpha) for alpha in alphas]
    rng = np.random.default_rng(seed)
    values = np.empty((len(methods), len(alphas), len(measures), repeats))
    for repeat in range(repeats):
        rows = rng.permutation(len(source))
        halves = rows[: len(rows) // 2], rows[len(rows) // 2 :]
        for method, keys in enumerate(scored):
            values[method, :, :, repeat] = _measured(keys, *halves, levels, measures)
    return Results(tuple(methods), tuple(alphas), tuple(measures), values)


def _measured(
    scored: _Scored, cal: Ints, test: Ints, levels: Sequence[Fraction], measures: Mapping[str, Measure]
) -> list[list[float]]:
    calibration = Calibration.of(np.zeros(len(cal), dtype=np.int64), _rows(scored.labels, cal), 1)
    cells, truths = _rows(scored.everything, test), _rows(scored.labels, test)
    answers = []
    for alpha in levels:
        thresholds = calibration.thresholds(alpha)
        sizes = thresholds.keep(ONE_GROUP, cells).sum(axis=1)
        covered = thresholds.keep(ONE_GROUP[0], truths)
        answers.append([measure(covered, sizes, alpha) for measure in measures.values()])
    return answers


def _rows(keys: Keys, rows: Ints) -> Keys:
    return tuple(key[rows] for key in keys)


def _joined(parts: list[Keys]) -> Keys:
    return tuple(np.concatenate(pieces) for pieces in zip(*parts, strict=True))
