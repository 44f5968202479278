"""The paper's experiment: half calibrates, half tests, many times; every method and alpha on the same halves."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset import blocks, inputs, level, order
from rankset.conditions import Marginal
from rankset.inputs import Kind
from rankset.level import Alpha
from rankset.metrics import EMPTY_APART, sscv
from rankset.names import class_names
from rankset.recipe import Batch, Recipe
from rankset.scores import Aps, Rank, Raps, Saps, Score, Thr

METHODS: Mapping[str, Score] = {
    "RANK": Rank(),
    "THR": Thr(),
    "APS": Aps(),
    "RAPS": Raps(penalty=0.2, free_ranks=2),
    "SAPS": Saps(weight=0.2),
}
"""The paper's methods with the parameters of the authors' notebooks, and THR, which its Table 1 leaves out."""

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


CELLS_RANKED = 2_000_000
"""How many cells are ranked anew, at most, for fresh draws."""


@dataclass(frozen=True)
class Results:
    """``values[method, alpha, measure, repetition]``, with the names along the first three axes."""

    methods: tuple[str, ...]
    alphas: tuple[Alpha, ...]
    measures: tuple[str, ...]
    values: NDArray[np.float64]

    def of(self, method: str, alpha: Alpha, measure: str) -> NDArray[np.float64]:
        """Every repetition."""
        return self.values[self.methods.index(method), self.alphas.index(alpha), self.measures.index(measure)]

    def mean(self, method: str, alpha: Alpha, measure: str) -> float:
        """The average over repetitions."""
        return float(self.of(method, alpha, measure).mean())


@dataclass(frozen=True)
class _Ranked:
    """Every cell's place in the score's order, found once: a score is a fixed function of the row.

    ``rows`` are the cells' rows in that order, ``ends[place]`` tells how many cells are not after a place, and
    ``labels`` are the places of the true labels' cells.
    """

    rows: Ints
    ends: Ints
    labels: Ints

    @classmethod
    def of(cls, batch: Batch, columns: Ints) -> "_Ranked":
        parts = [(part, *batch.all_keys(part)) for part in blocks.split(*batch.shape)]
        keys = tuple(np.concatenate(pieces) for pieces in zip(*(keys for *_, keys in parts), strict=True))
        rows = np.concatenate([part.start + cells.row for part, cells, *_ in parts])
        true = np.concatenate([cells.column for _, cells, *_ in parts]) == columns[rows]
        sorting = order.argsort(keys)
        new = np.zeros(len(sorting), dtype=np.bool_)
        for key in keys:
            ordered = key[sorting]
            new[1:] |= ordered[1:] != ordered[:-1]
        places = np.empty(len(sorting), dtype=np.int64)
        places[sorting] = new.cumsum()
        labels = np.empty(len(columns), dtype=np.int64)
        labels[rows[true]] = places[true]
        return cls(rows[sorting], np.append(np.flatnonzero(new), len(new)), labels)

    def sizes(self, place: int) -> Ints:
        """How many cells of each row are not after ``place``."""
        return np.bincount(self.rows[: self.ends[place]], minlength=len(self.labels))


def resample(
    values: ArrayLike,
    labels: ArrayLike,
    *,
    methods: Mapping[str, Score] = METHODS,
    alphas: Sequence[Alpha] = (0.1,),
    measures: Mapping[str, Measure] = MEASURES,
    repeats: int = 100,
    seed: int = 0,
    kind: Kind = "probs",
) -> Results:
    """Coverage, size and SSCV of each method at each alpha on ``repeats`` random halves of the rows.

    Scores that draw get fresh draws from half to half, as many sets of them as ``CELLS_RANKED`` allows: one set of
    draws for all halves would move every mean by the same chance.
    """
    source = inputs.matrix(values, inputs.known_kind(kind))
    n_columns = inputs.n_columns(source, kind)
    columns = inputs.label_codes(labels, class_names(None, n_columns), len(source))
    levels = [level.exact(alpha) for alpha in alphas]
    splits = list(halves(len(source), repeats, seed))
    answers = np.empty((len(methods), len(alphas), len(measures), repeats))

    for number, score in enumerate(methods.values()):
        drawn = max(1, min(repeats, CELLS_RANKED // (len(source) * n_columns)))
        recipes = [Recipe.of(score, Marginal(), kind, seed + draw, None, n_columns) for draw in range(drawn)]
        for start, recipe in enumerate(recipes if recipes[0].uses_noise else recipes[:1]):
            ranked = _Ranked.of(Batch.of(recipe, source, None, None), columns)
            for repeat in range(start, repeats, drawn if recipe.uses_noise else 1):
                answers[number, :, :, repeat] = _measured(ranked, *splits[repeat], levels, measures)
    return Results(tuple(methods), tuple(alphas), tuple(measures), answers)


def halves(n: int, repeats: int, seed: int) -> Iterable[tuple[Ints, Ints]]:
    """Random halves of ``n`` rows, the first to calibrate."""
    rng = np.random.default_rng(seed)
    for _ in range(repeats):
        rows = rng.permutation(n)
        yield rows[: n // 2], rows[n // 2 :]


def _measured(
    ranked: _Ranked, cal: Ints, test: Ints, levels: Sequence[Fraction], measures: Mapping[str, Measure]
) -> list[list[float]]:
    known, asked = np.sort(ranked.labels[cal]), ranked.labels[test]
    answers = []
    for alpha in levels:
        k = level.position(len(cal), alpha)
        place = len(ranked.ends) - 1 if k > len(cal) else int(known[k - 1])
        covered, sizes = asked <= place, ranked.sizes(place)[test]
        answers.append([measure(covered, sizes, alpha) for measure in measures.values()])
    return answers
