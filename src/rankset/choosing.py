"""Which score? Every candidate on the same random halves of rows spent for it, and the best of them, frozen."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset import inputs, level, metrics, notebook, progress, sources
from rankset.conditions import Marginal
from rankset.errors import InputError, KindError, RuleError
from rankset.frames import ARRAY
from rankset.inputs import Kind
from rankset.level import Alpha
from rankset.names import in_order
from rankset.recipe import Batch, Recipe
from rankset.resampling import Ranked, halves
from rankset.scores import Aps, Margin, Rank, Raps, Saps, Score, Thr, checked_score

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Measure = Callable[[Bools, Ints, Ints, Fraction], float]
"""From which rows are covered, the sizes of their sets, their labels' columns, and alpha."""

FIXED: tuple[Score, ...] = (Rank(), Thr(), Aps(), Raps(penalty=0.2, free_ranks=2), Saps(weight=0.2))
"""The scores one would try: the paper's, with its parameters, and THR."""


def fixed(kind: Kind | None = None) -> tuple[Score, ...]:
    """Those of them that take such numbers; for plain scores those that only compare them."""
    if kind != "scores":
        return FIXED
    return (*(score for score in FIXED if not getattr(score, "needs_probs", False)), Margin())


NOTE = "± is the standard error of a mean over all these rows; more halves do not make it smaller, more rows do."

ENOUGH = 2.0
"""Standard errors beyond which a difference is not taken for noise."""


def _class_coverage(covered: Bools, columns: Ints) -> Floats:
    counts = np.bincount(columns)
    return np.bincount(columns, weights=covered)[counts > 0] / counts[counts > 0]


def _class_gap(covered: Bools, _sizes: Ints, columns: Ints, alpha: Fraction) -> float:
    return float(np.abs(_class_coverage(covered, columns) - float(1 - alpha)).mean())


MEASURES: Mapping[str, Measure] = {
    "size": lambda _covered, sizes, _columns, _alpha: float(sizes.mean()),
    "coverage": lambda covered, _sizes, _columns, _alpha: float(covered.mean()),
    "singletons": lambda _covered, sizes, _columns, _alpha: float((sizes == 1).mean()),
    "empty": lambda _covered, sizes, _columns, _alpha: float((sizes == 0).mean()),
    "SSCV": lambda covered, sizes, _columns, alpha: metrics.sscv(covered, sizes, alpha),
    "SSCV*": lambda covered, sizes, _columns, alpha: metrics.sscv(covered, sizes, alpha, strata=metrics.EMPTY_APART),
    "class gap": _class_gap,
}

OBJECTIVES: Mapping[str, Measure] = {
    "size": MEASURES["size"],
    "singletons": lambda _covered, sizes, _columns, _alpha: -float((sizes == 1).mean()),
    "sscv": MEASURES["SSCV*"],
    "worst_class": lambda covered, _sizes, columns, _alpha: -float(_class_coverage(covered, columns).min()),
}
"""What ``choose`` makes small."""


@dataclass(frozen=True, repr=False, eq=False)
class Comparison:
    """How scores did on the same halves of ``n`` rows at ``alpha``; print it for a table.

    ``values[score, measure, repetition]``. A mean over half of the rows varies around that over all rows about as much
    as the latter varies around the truth, so the spread over repetitions serves as standard error.
    """

    scores: tuple[Score, ...]
    measures: tuple[str, ...]
    values: Floats
    alpha: float
    n: int

    @property
    def means(self) -> Floats:
        """The average of every measure (score, measure)."""
        return self.values.mean(axis=2)

    @property
    def errors(self) -> Floats:
        """Its standard error."""
        return _error(self.values)

    @property
    def smallest(self) -> Score:
        """The score with the smallest sets."""
        return self.scores[int(self._sizes.mean(axis=1).argmin())]

    @property
    def like_the_smallest(self) -> tuple[Score, ...]:
        """The scores whose sets are larger than the smallest by no more than noise explains, the smallest included."""
        sizes = self._sizes
        gaps = sizes - sizes[sizes.mean(axis=1).argmin()]
        near = gaps.mean(axis=1) <= ENOUGH * _error(gaps)
        return tuple(score for score, is_near in zip(self.scores, near, strict=True) if is_near)

    @property
    def _sizes(self) -> Floats:
        return self.values[:, self.measures.index("size")]

    def _rows(self) -> list[tuple[str, ...]]:
        near = self.like_the_smallest
        return [
            (
                f"{score!r}",
                *(f"{mean:.4f} ±{error:.4f}" for mean, error in zip(means, errors, strict=True)),
                "smallest" if score == self.smallest else "tied, within noise" if score in near else "",
            )
            for score, means, errors in zip(self.scores, self.means, self.errors, strict=True)
        ]

    @property
    def _title(self) -> str:
        return (
            f"Comparison of {len(self.scores)} scores on {self.values.shape[2]} random halves of {self.n:,} rows, "
            f"alpha={self.alpha:g}"
        )

    def __repr__(self) -> str:
        table = [("", *self.measures, ""), *self._rows()]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table
        ]
        return "\n".join([self._title, *lines, NOTE])

    def _repr_html_(self) -> str:
        return notebook.card(
            self._title, notebook.table(self._rows(), ("score", *self.measures, "")), notebook.faint(NOTE)
        )

    def to_frame(self, backend: str | None = None) -> Any:  # noqa: ANN401
        """A data frame with a row per score: every measure and its standard error."""
        columns: dict[Any, Any] = {"score": [repr(score) for score in self.scores]}
        for place, measure in enumerate(self.measures):
            columns |= {measure: self.means[:, place], f"{measure} error": self.errors[:, place]}
        return ARRAY.filled(columns, backend)


def compare(
    probs: ArrayLike,
    labels: ArrayLike,
    alpha: Alpha = 0.1,
    *,
    scores: Iterable[Score] = FIXED,
    kind: Kind = "probs",
    classes: Iterable[object] | None = None,
    repeats: int = 20,
    seed: int = 0,
) -> Comparison:
    """Every score on the same random halves of these rows: one half calibrates, the other tests.

    The rows are spent: a score chosen after a look at the table is calibrated on other rows.

    >>> import rankset as rs
    >>> probs, labels = rs.paper.scores("marketing")
    >>> rs.compare(probs, labels, 0.1, scores=[rs.Rank(), rs.Thr()]).smallest
    Thr()
    """
    candidates = _checked(scores, "scores")
    values, n = _outcomes(candidates, probs, labels, alpha, MEASURES.values(), kind, classes, repeats, seed)
    return Comparison(candidates, tuple(MEASURES), values, float(level.exact(alpha)), n)


def grid(kind: Callable[..., Score], **values: Iterable[Any]) -> tuple[Score, ...]:
    """A score for every combination of parameters.

    >>> import rankset as rs
    >>> grid(rs.Raps, penalty=[0.01, 0.1], free_ranks=[1])
    (Raps(penalty=0.01, free_ranks=1, randomized=True), Raps(penalty=0.1, free_ranks=1, randomized=True))
    """
    for name, options in values.items():
        if isinstance(options, str | bytes) or not isinstance(options, Iterable):
            raise KindError.argument(name, "a list of values to try", options)
    if not isinstance(kind, type):
        raise KindError.argument("kind", "a score's class, such as rankset.Raps", kind)
    known = [field.name for field in fields(kind)] if is_dataclass(kind) else list(values)
    for name, options in values.items():
        if name not in known:
            raise KindError.argument(name, f"a parameter of {kind.__name__} ({', '.join(known)})", options)
    return tuple(kind(**dict(zip(values, chosen, strict=True))) for chosen in itertools.product(*values.values()))


def choose(
    candidates: Iterable[Score],
    probs: ArrayLike,
    labels: ArrayLike,
    alpha: Alpha = 0.1,
    *,
    objective: str | Measure = "size",
    kind: Kind = "probs",
    classes: Iterable[object] | None = None,
    repeats: int = 20,
    seed: int = 0,
) -> Score:
    """The best of ``candidates`` on random halves of these rows, which must not calibrate afterwards.

    ``objective``: "size" (mean size), "singletons" (share of sets with one label), "sscv" (with empty sets apart),
    "worst_class" (coverage of the class covered least), or a function of (covered, sizes, columns of the labels, alpha)
    that is made small. The first of equals wins.

    >>> import rankset as rs
    >>> probs, labels = rs.paper.scores("marketing")
    >>> score = rs.choose(rs.grid(rs.Saps, weight=[0.05, 0.2, 0.5]), probs[:130], labels[:130])
    >>> rs.calibrate(probs[130:], labels[130:], score=score).n
    130
    """
    if isinstance(objective, str) and objective not in OBJECTIVES:
        raise RuleError.option("objective", objective, tuple(OBJECTIVES))
    if not isinstance(objective, str) and not callable(objective):
        raise KindError.argument("objective", f"one of {', '.join(OBJECTIVES)}, or a function", objective)
    measure = OBJECTIVES[objective] if isinstance(objective, str) else objective
    scores = _checked(candidates, "candidates")
    values, _ = _outcomes(scores, probs, labels, alpha, [measure], kind, classes, repeats, seed)
    return scores[int(values[:, 0].mean(axis=1).argmin())]


def _outcomes(
    scores: Sequence[Score],
    probs: ArrayLike,
    labels: ArrayLike,
    alpha: Alpha,
    measures: Iterable[Measure],
    kind: Kind,
    classes: Iterable[object] | None,
    repeats: int,
    seed: int,
) -> tuple[Floats, int]:
    """Every measure of every score in every repetition, and the number of rows."""
    if isinstance(repeats, bool) or not isinstance(repeats, int | np.integer) or repeats < 1:
        raise KindError.argument("repeats", "a whole number, at least 1", repeats)
    names = None if classes is None else in_order(classes)
    source, asked, wanted = sources.opened(probs, names), level.exact(alpha), list(measures)
    matrix = inputs.matrix(source.values, inputs.known_kind(kind))
    if len(matrix) < 2:
        raise InputError.no_rows_to_evaluate()
    first = Recipe.of(scores[0], Marginal(), kind, seed, source.classes, inputs.n_columns(matrix, kind))
    columns = inputs.label_codes(labels, first.classes, len(matrix), source.index)
    source.check_candidates(columns, first.classes)
    splits = list(halves(len(matrix), repeats, first.seed % 2**64))
    answers = np.empty((len(scores), len(wanted), repeats))
    count = progress.counter(len(scores))
    for number, score in enumerate(scores):
        recipe = Recipe.of(score, Marginal(), kind, seed, None, first.n_columns)
        ranked = Ranked.of(Batch.of(recipe, matrix, None, None, source.counts), columns)
        for repeat, (cal, test) in enumerate(splits):
            covered, sizes = ranked.outcome(cal, test, asked)
            for place, measure in enumerate(wanted):
                answers[number, place, repeat] = _finite(measure(covered, sizes, columns[test], asked))
        count()
    return answers, len(matrix)


def _checked(scores: Iterable[Score], name: str) -> tuple[Score, ...]:
    several = tuple(scores) if isinstance(scores, Iterable) else ()
    if not several:
        raise KindError.argument(name, "a list of at least one score", scores)
    return tuple(checked_score(score, name) for score in several)


def _finite(value: object) -> float:
    """What a measure returned, if it is a number."""
    if not isinstance(value, int | float | np.number) or not np.isfinite(value):
        raise KindError.argument("objective", "a function that returns a finite number", value)
    return float(value)


def _error(values: Floats) -> Floats:
    return values.std(axis=-1, ddof=1) if values.shape[-1] > 1 else np.full(values.shape[:-1], np.inf)
