"""Recalibrations: scores with fitted numbers in them, learned on rows of their own and frozen ever after.

Each maps a row's probabilities to better ones and then does what ``Thr`` does. Fitted on rows that do not calibrate,
they are fixed functions of a row like any other score, so every guarantee holds. They work in logarithms: their
transformed probabilities are such.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core import ranking
from rankset.core.cells import Cells
from rankset.core.lexicographic import Keys
from rankset.errors import InputError, KindError, LabelError, ScoreError
from rankset.inputs.matrix import Kind
from rankset.inputs.prepare import Prepared, prepare
from rankset.inputs.ragged import Ragged
from rankset.scores.base import FeatureRanges, Range, Reach

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_RANKS = 100
"""Labels further down share this rank."""
LEAST_LOG = -60.0
ZERO_LOG = -14.0
"""The logarithm of an exact zero, at most: below every other of its row, and not so far that it decides alone."""
CENTRE = 0.3
"""Of the entropy, as a share of the largest possible."""

LARGEST = 1e6
"""No fitted number is larger than this."""

PRIOR = np.array([1.0, 0, 0, 0, 0, 0, 0])
"""The weights that change nothing."""
MOST_CELLS = 2_000_000
MOST_FACTOR_CELLS = 10_000_000
SHRINKAGES = (math.inf, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1)
ROUNDS = 3
CAUTION = 2.0
"""How many standard errors class factors must gain in likelihood to be used."""


@dataclass(frozen=True)
class Temperature:
    """THR after sharpening (``scale`` > 1) or flattening rows: probabilities to the power of ``scale``, normalised."""

    scale: float = 1.0
    features: ClassVar[tuple[str, ...]] = ("prob",)
    needs_probs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", _check(self, "scale", (self.scale,), 1)[0])

    @classmethod
    def fit(cls, probs: ArrayLike, labels: ArrayLike, *, kind: Kind = "probs") -> Temperature:
        """The scale under which these rows' labels are most likely; the rows must not calibrate."""
        rows, columns = _rows(_prepared(probs, labels, kind))
        return cls(_scale(logs(rows), columns))

    def transform(self, probs: Floats) -> Floats:
        """Logarithms of the new probabilities."""
        return _normalised(self.scale * logs(probs))

    def keys(self, cells: Cells) -> Keys:
        return (-cells.prob,)

    def reach(self, bounds: Keys) -> Reach:
        return Reach(prob=-bounds[0])

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        return (features.minus_prob,)


@dataclass(frozen=True, repr=False)
class Recalibrated:
    """THR on probabilities that know how often labels of such a rank, in such a row, of such a class turn out true.

    A conditional logit of the (tempered) log-probability, the rank, being first, and how undecided the row is, with a
    factor for every class. It contains THR (``weights`` 1, 0, 0, …) and, in the limit, RANK.
    """

    scale: float = 1.0
    weights: tuple[float, ...] = tuple(PRIOR.tolist())
    factors: tuple[float, ...] = ()
    features: ClassVar[tuple[str, ...]] = ("prob",)
    needs_probs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name, length in (("weights", len(PRIOR)), ("factors", None)):
            values = getattr(self, name)
            if not isinstance(values, Iterable) or isinstance(values, str | bytes):
                raise ScoreError.parameter(type(self).__name__, name, "a list of numbers", values)
            object.__setattr__(self, name, _check(self, name, values, length))
        object.__setattr__(self, "scale", _check(self, "scale", (self.scale,), 1)[0])

    def __repr__(self) -> str:
        weights = ", ".join(f"{weight:.3g}" for weight in self.weights)
        factors = f", factors of {len(self.factors):,} classes" if self.factors else ""
        return f"Recalibrated(scale={self.scale:.3g}, weights=({weights}){factors})"

    @property
    def n_columns(self) -> int | None:
        """How many classes it was fitted for; None where it has no class factors."""
        return len(self.factors) or None

    @classmethod
    def fit(
        cls, probs: ArrayLike, labels: ArrayLike, *, kind: Kind = "probs", class_factors: bool = True
    ) -> Recalibrated:
        """The recalibration under which these rows' labels are most likely; the rows must not calibrate.

        ``class_factors=False`` for data with another mix of classes to come.
        """
        return cls.fit_prepared(_prepared(probs, labels, kind), class_factors=class_factors)

    @classmethod
    def fit_prepared(cls, data: Prepared, *, class_factors: bool) -> Recalibrated:
        """The same for prepared rows with labels."""
        rows, columns = _rows(data)
        scale = _scale(logs(rows), columns)
        most = max(200, MOST_FACTOR_CELLS // rows.shape[1])
        features = Features.of(rows[:most], scale)
        weights, factors = _fitted(features, columns[:most], class_factors=class_factors)
        return cls(scale, tuple(weights.tolist()), tuple(factors.tolist()) if factors.any() else ())

    def transform(self, probs: Floats) -> Floats:
        """Logarithms of the new probabilities."""
        width = probs.shape[1]
        if self.factors and width > len(self.factors):
            raise ScoreError.fitted_columns(self, len(self.factors), width)
        scores = Features.of(probs, self.scale).scored(np.array(self.weights))
        return _normalised(scores + np.array(self.factors[:width]) if self.factors else scores)

    def keys(self, cells: Cells) -> Keys:
        return (-cells.prob,)

    def reach(self, bounds: Keys) -> Reach:
        return Reach(prob=-bounds[0])

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        return (features.minus_prob,)


@dataclass(frozen=True)
class Features:
    """What is known of every cell of some rows: its tempered log-probability, log-rank and whether it is first; and
    of every row: how undecided it is."""

    log: Floats
    log_rank: Floats
    first: Ints
    undecided: Floats

    @classmethod
    def of(cls, probs: Floats, scale: float) -> Features:
        """The features of rows of probabilities, tempered by ``scale``."""
        log = _normalised(scale * logs(probs))
        entropy = -(np.exp(log) * log).sum(axis=1) / math.log(max(2, probs.shape[1]))
        log_rank, first = _log_ranks(probs)
        return cls(log, log_rank, first, entropy - CENTRE)

    def scored(self, weights: Floats) -> Floats:
        """The weighted sum of the features of every cell."""
        by_log, by_rank, by_first = (
            (weights[place] + weights[place + 4] * self.undecided)[:, np.newaxis] for place in range(3)
        )
        scores = by_log * self.log
        scores -= by_rank * self.log_rank
        scores += weights[3] / 10 * np.square(np.maximum(self.log, ZERO_LOG))
        scores[np.arange(len(scores)), self.first] += by_first[:, 0]
        return scores

    def some(self, rows: slice) -> Features:
        """Some of the rows."""
        return Features(self.log[rows], self.log_rank[rows], self.first[rows], self.undecided[rows])

    def stacked(self) -> Floats:
        """All features (n, K, 7), for fitting."""
        is_first = np.zeros_like(self.log)
        is_first[np.arange(len(is_first)), self.first] = 1
        curved = np.square(np.maximum(self.log, ZERO_LOG)) / 10
        plain = np.stack((self.log, -self.log_rank, is_first), axis=2)
        return np.concatenate((plain, curved[:, :, np.newaxis], plain * self.undecided[:, None, None]), axis=2)


FITTED: tuple[type[Any], ...] = (Temperature, Recalibrated)
"""The scores of this room, which files may name."""


def logs(probs: Floats) -> Floats:
    """Logarithms; those of exact zeros a little below the smallest other of their row, all of them finite."""
    with np.errstate(divide="ignore"):
        answer = np.log(probs)
    zero = np.isneginf(answer)
    if zero.any():
        lowest = np.where(zero, np.inf, answer).min(axis=1, keepdims=True)
        answer = np.where(zero, np.minimum(lowest - 1, ZERO_LOG), answer)
    return np.maximum(answer, LEAST_LOG)


def _normalised(scores: Floats) -> Floats:
    """Log-probabilities from scores."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def _log_ranks(probs: Floats) -> tuple[Floats, Ints]:
    """The logarithm of every rank, that of the last of them from ``MOST_RANKS`` on; and the first column."""
    n_rows, n_columns = probs.shape
    found = ranking.likeliest(probs, MOST_RANKS, math.inf, None)
    columns, sizes = found.columns, found.sizes
    starts = sizes.cumsum() - sizes
    ranks = np.arange(len(columns)) - np.repeat(starts, sizes)
    table = np.log(np.arange(1, MOST_RANKS + 1))
    answer = np.full(probs.shape, table[min(n_columns, MOST_RANKS) - 1])
    answer.reshape(-1)[np.repeat(np.arange(n_rows) * n_columns, sizes) + columns] = table[
        np.minimum(ranks, MOST_RANKS - 1)
    ]
    return answer, columns[starts]


def _scale(log: Floats, columns: Ints) -> float:
    """The most likely power, with a normal prior around 1."""
    rows = slice(0, max(200, MOST_CELLS // log.shape[1]))
    log, own = log[rows], log[rows][np.arange(len(log[rows])), columns[rows]]
    scale = 1.0
    for _ in range(50):
        probs = np.exp(_normalised(scale * log))
        mean = (probs * log).sum(axis=1)
        spread = (probs * np.square(log - mean[:, np.newaxis])).sum()
        step = ((own - mean).sum() - (scale - 1)) / (spread + 1)
        new = float(np.clip(scale + np.clip(step, -scale / 2, scale), 0.02, 50.0))
        if abs(new - scale) < 1e-6 * scale:
            break
        scale = new
    return scale


def _fitted(features: Features, columns: Ints, *, class_factors: bool) -> tuple[Floats, Floats]:
    """Weights and class factors, in turns."""
    n_columns = features.log.shape[1]
    some = slice(0, max(200, min(2000, MOST_CELLS // n_columns)))
    stacked, own = features.some(some).stacked(), columns[some]
    factors = np.zeros(n_columns)
    weights = _weights(stacked, own, factors, PRIOR)
    if not class_factors:
        return weights, factors
    shrinkage = _shrinkage(features.scored(weights), columns)
    for _ in range(ROUNDS if shrinkage < math.inf else 0):
        before = factors
        factors = _factors(features.scored(weights), columns, shrinkage)
        weights = _weights(stacked, own, factors, weights)
        if np.abs(factors - before).max() < 1e-3:
            break
    return weights, factors


def _weights(stacked: Floats, columns: Ints, factors: Floats, start: Floats) -> Floats:
    """The most likely weights for given class factors, by Newton's method with step halving."""
    n, n_columns, n_features = stacked.shape
    flat = stacked.reshape(-1, n_features)
    own = stacked[np.arange(n), columns]

    def value(weights: Floats) -> tuple[float, Floats]:
        log = _normalised((flat @ weights).reshape(n, n_columns) + factors)
        likelihood = log[np.arange(n), columns].sum() - np.square(weights - PRIOR).sum() / 2
        return float(likelihood), log

    weights = start
    best, log = value(weights)
    for _ in range(30):
        probs = np.exp(log)
        means = np.einsum("nk,nkf->nf", probs, stacked)
        slope = (own - means).sum(axis=0) - (weights - PRIOR)
        curve = (flat * probs.reshape(-1, 1)).T @ flat - means.T @ means + np.eye(n_features)
        step = np.linalg.solve(curve, slope)
        for _halving in range(20):
            found, new_log = value(weights + step)
            if found >= best:
                break
            step = step / 2
        else:
            break
        gain, weights, best, log = found - best, weights + step, found, new_log
        if gain < 1e-4:
            break
    return weights


def _factors(scores: Floats, columns: Ints, shrinkage: float, rounds: int = 12) -> Floats:
    """A factor for every class that brings expected to observed counts, shrunk towards none."""
    n_columns = scores.shape[1]
    counts = np.bincount(columns, minlength=n_columns)
    factors = np.zeros(n_columns)
    shifted = np.exp(scores - scores.max(axis=1, keepdims=True))
    for _ in range(rounds):
        raised = np.exp(factors)
        totals = shifted @ raised
        unraised = (shifted / totals[:, np.newaxis]).sum(axis=0)  # expected counts, divided by the class's own factor
        new = np.log((counts + shrinkage) / (unraised + shrinkage))
        change = np.abs(new - factors).max()
        factors = new
        if change < 1e-3:
            break
    return factors


def _shrinkage(scores: Floats, columns: Ints) -> float:
    """How much factors are shrunk so that one half of the rows foretells the other best; inf: no factors at all."""
    half = len(scores) // 2
    folds = ((slice(0, half), slice(half, None)), (slice(half, None), slice(0, half)))

    def likelihoods(shrinkage: float) -> Floats:
        """Of every row, with factors learned on the other half."""
        parts = []
        for learn, check in folds:
            factors = 0.0 if shrinkage == math.inf else _factors(scores[learn], columns[learn], shrinkage, rounds=5)
            log = _normalised(scores[check] + factors)
            parts.append(log[np.arange(len(log)), columns[check]])
        return np.concatenate(parts)

    if half == 0:
        return math.inf
    known = {shrinkage: likelihoods(shrinkage) for shrinkage in SHRINKAGES}
    best = max(known, key=lambda shrinkage: known[shrinkage].sum())
    gain = known[best] - known[math.inf]
    return best if gain.sum() > CAUTION * math.sqrt(np.square(gain).sum()) else math.inf


def _prepared(probs: ArrayLike, labels: ArrayLike, kind: Kind) -> Prepared:
    """Rows to fit on."""
    if isinstance(probs, Ragged):
        raise KindError.argument("probs", "a matrix, whose rows all have the same candidates, to fit on", probs)
    data = prepare(probs, labels, kind=kind)
    if not isinstance(data.classes.values, range):
        remedy = "Pass frame[classes].to_numpy(), its columns in the order of the classes."
        raise KindError.not_a_matrix("probs", "columns with names, which a fit does not keep", remedy)
    if kind == "decision":
        raise KindError.argument("kind", "'probs', 'logits' or 'binary' to fit on", kind)
    if len(data) == 0:
        raise InputError.no_rows()
    return data


def _rows(data: Prepared) -> tuple[Floats, Ints]:
    """Probabilities of rows to fit on, and the columns of their labels."""
    if data.labels is None:
        raise LabelError.not_one_dimensional("labels", "NoneType")
    return data.rows(slice(0, len(data))).astype(np.float64), data.labels


def _check(score: object, name: str, values: Iterable[Any], length: int | None) -> tuple[float, ...]:
    """``values`` as floats, if they are as many as they should be and none is beyond all measure."""
    given = list(values)
    real = all(isinstance(value, int | float | np.number) and not isinstance(value, bool) for value in given)
    fits = real and all(abs(value) <= LARGEST for value in given) and length in (None, len(given))
    if not fits or (name == "scale" and given[0] <= 0):
        count = {None: "numbers", 1: "a number above 0,"}.get(length, f"{length} numbers")
        raise ScoreError.parameter(type(score).__name__, name, f"{count} of at most {LARGEST:g}", getattr(score, name))
    return tuple(float(value) for value in given)
