"""Which score? Every candidate on the same random halves of rows spent for it, and the best of them, frozen."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset import notebook, progress
from rankset.conditions import Marginal
from rankset.core.alpha import Alpha, exact_alpha, rows_needed
from rankset.core.arrays import is_whole
from rankset.errors import InputError, KindError, LabelError, Option, RuleError, warn
from rankset.evaluation import metrics
from rankset.evaluation.resampling import Ranked, RowMeasure, halves
from rankset.inputs.frames import ARRAY
from rankset.inputs.matrix import Kind
from rankset.inputs.prepare import Prepared, prepare
from rankset.rules.batch import Batch
from rankset.rules.spec import RuleSpec
from rankset.scores import Aps, Margin, Rank, Raps, Saps, Score, Thr, checked_score, traits

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Measure = Callable[[Bools, Ints, Ints, Fraction], float]
"""From which rows are covered, the sizes of their sets, their labels' columns, and alpha."""

FIXED: tuple[Score, ...] = (Rank(), Thr(), Aps(), Raps(penalty=0.2, free_ranks=2), Saps(weight=0.2))
"""The scores one would try: the paper's, with its parameters, and THR."""


def fixed(kind: Kind | None = None) -> tuple[Score, ...]:
    """Those of them that take such numbers; for plain scores those that only compare them."""
    if kind != "decision":
        return FIXED
    return (*(score for score in FIXED if not traits(score).needs_probs), Margin())


NOTE = (
    "± is one standard error: how far the number would move with other rows of the same kind and other halves. The "
    "coverage of such halves hardly depends on the rows, so its ± is small. Numbers without ± have none we could check."
)

NOTE_OF_ONE = (
    "One random half has no standard errors: how far the numbers would move with another half is not known, so no "
    "difference is told from noise. Pass repeats=20 or more."
)

ENOUGH = 2.0
"""Standard errors beyond which a difference is not taken for noise."""


def _class_coverage(covered: Bools, columns: Ints) -> Floats:
    counts = np.bincount(columns)
    return np.bincount(columns, weights=covered)[counts > 0] / counts[counts > 0]


def _class_gap(covered: Bools, _sizes: Ints, columns: Ints, alpha: Fraction) -> float:
    return float(np.abs(_class_coverage(covered, columns) - float(1 - alpha)).mean())


def _mean_of(measure: RowMeasure) -> Measure:
    return lambda covered, sizes, _columns, _alpha: float(measure(covered, sizes).mean())


PER_ROW: Mapping[str, RowMeasure] = {
    "size": lambda _covered, sizes: sizes,
    "coverage": lambda covered, _sizes: covered,
    "singletons": lambda _covered, sizes: sizes == 1,
    "empty": lambda _covered, sizes: sizes == 0,
}
"""The measures that are means over rows; they have a standard error."""

MEASURES: Mapping[str, Measure] = {
    **{name: _mean_of(measure) for name, measure in PER_ROW.items()},
    "SSCV": lambda covered, sizes, _columns, alpha: metrics.sscv(covered, sizes, alpha),
    "SSCV*": lambda covered, sizes, _columns, alpha: metrics.sscv(covered, sizes, alpha, strata=metrics.EMPTY_APART),
    "class gap": _class_gap,
    "worst class": lambda covered, _sizes, columns, _alpha: float(_class_coverage(covered, columns).min()),
}

OBJECTIVES: Mapping[str, Measure] = {
    "size": MEASURES["size"],
    "singletons": lambda *outcome: -MEASURES["singletons"](*outcome),
    "sscv": MEASURES["SSCV*"],
    "worst_class": lambda *outcome: -MEASURES["worst class"](*outcome),
}
"""What ``choose`` makes small."""


@dataclass(frozen=True, repr=False, eq=False)
class Comparison:
    """How scores did on the same halves of ``n`` rows at ``alpha``; print it for a table.

    ``values[score, measure, repetition]``; "worst class" is the coverage of the class that is covered least.
    ``variances[score, measure]`` is how much a mean over all halves varies from one data set of ``n`` rows to another,
    NaN for measures that are not means over rows; ``size_covariances[score, score]`` is the same for pairs of sizes.

    How they are found: a row that tests adds its own value; a row that calibrates moves the threshold, up or down, and
    with it every mean. Over all halves every row does both equally often, so the variance is that of the sum of its two
    effects, divided by ``n``. The two cancel for coverage. Drawing ``repeats`` halves instead of all adds the variance
    over these, divided by their number.
    """

    scores: tuple[Score, ...]
    measures: tuple[str, ...]
    values: Floats
    alpha: float
    n: int
    variances: Floats
    size_covariances: Floats

    @property
    def means(self) -> Floats:
        """The average of every measure (score, measure)."""
        return self.values.mean(axis=2)

    @property
    def errors(self) -> Floats:
        """The standard errors of the means; NaN for measures without one, infinite for a single half."""
        return np.sqrt(self.variances + _halves_variance(self.values))

    @property
    def smallest(self) -> Score:
        """The score with the smallest sets."""
        return self.scores[self._smallest]

    @property
    def like_the_smallest(self) -> tuple[Score, ...]:
        """The scores whose sets are larger than the smallest by no more than noise explains, the smallest included.

        All of them with a single half, whose noise is not known.
        """
        weights = np.eye(len(self.scores))
        weights[:, self._smallest] -= 1
        gaps = [self.contrast(row) for row in weights]
        return tuple(
            score for score, (gap, error) in zip(self.scores, gaps, strict=True) if gap <= ENOUGH * error or gap == 0
        )

    def contrast(self, weights: ArrayLike) -> tuple[float, float]:
        """A sum of the scores' mean sizes times ``weights``, one each, and its standard error.

        (1, -1) is the difference of two scores; sizes on the same rows vary together, so its error is smaller than
        theirs.
        """
        weighted = np.asarray(weights, dtype=np.float64)
        if weighted.shape != (len(self.scores),):
            raise KindError.argument("weights", f"{len(self.scores)} numbers, one per score", weights)
        sizes = weighted @ self._sizes
        variance = max(0.0, float(weighted @ self.size_covariances @ weighted)) + float(_halves_variance(sizes))
        return float(sizes.mean()), float(np.sqrt(variance))

    @property
    def _smallest(self) -> int:
        return int(self._sizes.mean(axis=1).argmin())

    @property
    def _sizes(self) -> Floats:
        return self.values[:, self.measures.index("size")]

    def _rows(self) -> list[tuple[str, ...]]:
        near = self.like_the_smallest if self._repeats > 1 else ()
        return [
            (
                f"{score!r}",
                *(_told(mean, error) for mean, error in zip(means, errors, strict=True)),
                "smallest" if score == self.smallest else "tied, within noise" if score in near else "",
            )
            for score, means, errors in zip(self.scores, self.means, self.errors, strict=True)
        ]

    @property
    def _repeats(self) -> int:
        return self.values.shape[2]

    @property
    def _title(self) -> str:
        halves = f"{self._repeats} random {'half' if self._repeats == 1 else 'halves'}"
        return f"Comparison of {len(self.scores)} scores on {halves} of {self.n:,} rows, alpha={self.alpha:g}"

    @property
    def _note(self) -> str:
        return NOTE_OF_ONE if self._repeats == 1 else NOTE

    def __repr__(self) -> str:
        table = [("", *self.measures, ""), *self._rows()]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table
        ]
        return "\n".join([self._title, *lines, self._note])

    def _repr_html_(self) -> str:
        return notebook.card(
            self._title, notebook.table(self._rows(), ("score", *self.measures, "")), notebook.faint(self._note)
        )

    def to_frame(self, backend: str | None = None) -> Any:  # noqa: ANN401
        """A data frame with a row per score: every measure and its standard error, NaN where it has none, infinite for
        a single half."""
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
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rs.compare(probs, labels, 0.1, scores=[rs.Rank(), rs.Thr()]).smallest
    Thr()
    """
    candidates = _checked(scores, "scores")
    return compare_prepared(prepare(probs, labels, kind=kind, classes=classes), alpha, candidates, repeats, seed)


def compare_prepared(
    data: Prepared, alpha: Alpha, candidates: tuple[Score, ...], repeats: int = 20, seed: int = 0
) -> Comparison:
    """The comparison of scores on prepared rows with labels."""
    trial = Trial.of(data, exact_alpha(alpha), repeats, seed)
    values, effects = [], []
    for ranked in trial.ranked(candidates):
        values.append(trial.values(ranked, MEASURES.values()))
        effects.append(sum(ranked.influences(trial.n // 2, trial.alpha, list(PER_ROW.values()))))
    summed = np.array(effects)  # score, measure, row
    variances = np.full((len(candidates), len(MEASURES)), np.nan)
    variances[:, [list(MEASURES).index(name) for name in PER_ROW]] = summed.var(axis=2) / trial.n
    sizes = summed[:, list(PER_ROW).index("size")]
    covariances = np.cov(sizes, bias=True).reshape(len(sizes), len(sizes)) / trial.n
    return Comparison(
        candidates, tuple(MEASURES), np.array(values), float(trial.alpha), trial.n, variances, covariances
    )


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
    >>> probs, labels = rs.datasets.load("marketing")
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
    trial = Trial.of(prepare(probs, labels, kind=kind, classes=classes), exact_alpha(alpha), repeats, seed)
    means = [trial.values(ranked, [measure]).mean() for ranked in trial.ranked(scores)]
    return scores[int(np.argmin(means))]


@dataclass(frozen=True)
class Trial:
    """Checked rows with labels, and the halves that scores are tried on."""

    data: Prepared
    columns: Ints
    seed: int
    splits: list[tuple[Ints, Ints]]
    alpha: Fraction

    @classmethod
    def of(cls, data: Prepared, alpha: Fraction, repeats: int, seed: int) -> Trial:
        """A trial on prepared rows with labels."""
        if not is_whole(repeats) or repeats < 1:
            raise KindError.argument("repeats", "a whole number, at least 1", repeats)
        n = len(data)
        if n < 2:
            raise InputError.no_rows_to_evaluate()
        if data.labels is None:
            raise LabelError.not_one_dimensional("labels", "NoneType")
        if n // 2 < rows_needed(alpha):
            warn(
                f"need n ≥ {2 * rows_needed(alpha)} to compare scores at ",
                Option("alpha", float(alpha)),
                f", got {n}: half of them leaves no label out, so all scores look alike.",
            )
        checked = RuleSpec.of(Thr(), Marginal(), data.kind, seed, data.classes)
        splits = list(halves(n, repeats, checked.seed % 2**64))
        plain = replace(data.with_checked_values(), groups=None, ids=None)
        return cls(plain, data.labels, checked.seed, splits, alpha)

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.columns)

    def ranked(self, scores: Sequence[Score]) -> Iterator[Ranked]:
        """The cells of all rows in the order of each score."""
        count = progress.counter(len(scores))
        for score in scores:
            spec = RuleSpec.of(score, Marginal(), self.data.kind, self.seed, self.data.classes)
            yield Ranked.of(Batch.of(spec, self.data), self.columns)
            count()

    def values(self, ranked: Ranked, measures: Iterable[Measure]) -> Floats:
        """Every measure on every half (measure, half)."""
        wanted = list(measures)
        answers = np.empty((len(wanted), len(self.splits)))
        for repeat, (cal, test) in enumerate(self.splits):
            outcome = ranked.outcome(cal, test, self.alpha)
            for place, measure in enumerate(wanted):
                answers[place, repeat] = _finite(measure(*outcome, self.columns[test], self.alpha))
        return answers


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


def _halves_variance(values: Floats) -> Floats:
    """How much means over the last axis vary because that many halves were drawn, and not all of them."""
    repeats = values.shape[-1]
    return values.var(axis=-1, ddof=1) / repeats if repeats > 1 else np.full(values.shape[:-1], np.inf)


def _told(mean: float, error: float) -> str:
    return f"{mean:.4f} ±{error:.4f}" if np.isfinite(error) else f"{mean:.4f}"
