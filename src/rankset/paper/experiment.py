"""The paper's experiment: half calibrates, half tests, many times; every method and alpha on the same halves."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.conditions import Marginal
from rankset.core.alpha import Alpha, exact_alpha
from rankset.errors import LabelError
from rankset.evaluation.metrics import EMPTY_APART, sscv
from rankset.evaluation.resampling import Ranked, halves
from rankset.inputs.matrix import Kind
from rankset.inputs.prepare import prepare
from rankset.rules.batch import Batch
from rankset.rules.spec import RuleSpec
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
    data = prepare(values, labels, kind=kind).with_checked_values()
    if data.labels is None:
        raise LabelError.not_one_dimensional("labels", "NoneType")
    levels = [exact_alpha(alpha) for alpha in alphas]
    splits = list(halves(len(data), repeats, seed))
    answers = np.empty((len(methods), len(alphas), len(measures), repeats))
    drawn = max(1, min(repeats, CELLS_RANKED // (len(data) * data.n_columns)))
    for number, score in enumerate(methods.values()):
        specs = [RuleSpec.of(score, Marginal(), data.kind, seed + draw, data.classes) for draw in range(drawn)]
        draws = specs[0].traits.uses_noise
        for start, spec in enumerate(specs if draws else specs[:1]):
            ranked = Ranked.of(Batch.of(spec, data), data.labels)
            for repeat in range(start, repeats, drawn if draws else 1):
                for place, alpha in enumerate(levels):
                    covered, sizes = ranked.outcome(*splits[repeat], alpha)
                    answers[number, place, :, repeat] = [
                        measure(covered, sizes, alpha) for measure in measures.values()
                    ]
    return Results(tuple(methods), tuple(alphas), tuple(measures), answers)
