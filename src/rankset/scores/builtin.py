"""Scores: how strange a label looks in its row, as keys that are compared like tuples (smaller is kept first).

A score is a small frozen value with one method, ``keys(cells)``; it sees cells and nothing else, so the same
formula serves calibration and prediction. Optional members tell more about it:

* ``transform(probs) -> probs`` maps the rows first (a recalibration is a transform plus ``Thr``);
* ``needs_probs = True`` keeps it away from ``kind="scores"``;
* ``reach(bounds) -> Reach`` promises how far labels whose keys stay within bounds can lie down their row, so that
  sets are found without sorting the rest;
* ``ranges(features) -> ((low, high), …)``, one pair per key: between which numbers keys lie whatever the row, so that a
  file with impossible keys is refused;
* ``caveat``, a sentence shown with every rule that uses it.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core.arrays import SUM_TOLERANCE
from rankset.core.cells import Cells, LabelCells, Rows, on_grid
from rankset.core.lexicographic import Keys
from rankset.errors import InputError, KindError, ScoreError
from rankset.inputs.matrix import label_codes
from rankset.inputs.row_index import RowIndex
from rankset.inputs.vocabulary import class_names, in_order


@runtime_checkable
class Score(Protocol):
    """Anything with ``keys(cells)``: a tuple of arrays, most significant first, larger for stranger labels.

    ``help(rankset.Cells)`` lists what cells have. Optional members: ``transform(probs)`` maps the rows first (of
    ``Ragged`` rows it gets the candidates alone, rows of one width at a time), ``needs_probs = True`` keeps the score
    away from ``kind="scores"``, ``reach(bounds)`` saves sorting whole rows (see ``rankset.Reach``), ``caveat`` is a
    sentence shown with every rule that uses it.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Gap:
    ...     '''How far the label lies below the row's best.'''
    ...     def keys(self, cells):
    ...         return (cells.top - cells.prob,)
    >>> isinstance(Gap(), Score)
    True
    """

    def keys(self, cells: Cells) -> tuple[NDArray[Any], ...]:
        """The keys of the given cells."""


Limit = NDArray[Any] | float


@dataclass(frozen=True)
class Reach:
    """How far down its row a label can lie that stays: what a score's ``reach(bounds)`` returns.

    ``bounds`` are thresholds as ``keys`` makes them, a tuple of arrays with one entry per threshold. A label whose keys
    stay within one of them has a rank of at most ``rank``, a mass of at most ``before`` ranked before it, a probability
    of at least ``prob``, and lies at most ``behind`` below the second largest entry of its row. Limits are numbers or
    arrays like those of ``bounds``. Looser ones cost time; one that is too tight drops labels and voids the guarantee.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Unlikely:
    ...     def keys(self, cells):
    ...         return (-cells.prob,)
    ...     def reach(self, bounds):
    ...         return Reach(prob=-bounds[0])
    """

    rank: Limit = math.inf
    before: Limit = math.inf
    prob: Limit = -math.inf
    behind: Limit = math.inf


Range = tuple[float, float]
"""The least and the largest value something can have."""


@dataclass(frozen=True)
class Features:
    """Between which numbers the features of cells lie: what ``ranges`` makes the ranges of keys from."""

    prob: Range
    mass: Range
    rank: Range

    @classmethod
    def of(cls, score: "Score", kind: str, n_columns: int) -> "Features":
        """Those of rows of ``kind`` with ``n_columns`` labels, as ``score`` sees them."""
        most = 1 + SUM_TOLERANCE
        prob = (-math.inf, math.inf) if kind == "scores" else (0.0, most)
        return cls((-math.inf, 0.0) if transforms(score) else prob, (0.0, most), (1.0, float(n_columns)))

    @property
    def minus_prob(self) -> Range:
        low, high = self.prob
        return -high, -low


@dataclass(frozen=True)
class Rank:
    """RANK of Luo & Zhou: the label's rank first, then its probability, the larger the better."""

    def keys(self, cells: Cells) -> Keys:
        return cells.rank, -cells.prob

    def reach(self, bounds: Keys) -> Reach:
        return Reach(rank=bounds[0])

    def ranges(self, features: Features) -> tuple[Range, ...]:
        return features.rank, features.minus_prob


@dataclass(frozen=True)
class TopK:
    """The label's rank alone: every set is the top k labels, for one k."""

    def keys(self, cells: Cells) -> Keys:
        return (cells.rank,)

    def reach(self, bounds: Keys) -> Reach:
        return Reach(rank=bounds[0])

    def ranges(self, features: Features) -> tuple[Range, ...]:
        return (features.rank,)


@dataclass(frozen=True)
class Thr:
    """THR, also LAC (Sadinle et al. 2019): the label's probability, the larger the better."""

    def keys(self, cells: Cells) -> Keys:
        return (-cells.prob,)

    def reach(self, bounds: Keys) -> Reach:
        return Reach(prob=-bounds[0])

    def ranges(self, features: Features) -> tuple[Range, ...]:
        return (features.minus_prob,)


@dataclass(frozen=True)
class Margin:
    """How far the label lies below its best rival.

    Differences of probabilities vanish among unlikely labels: with many classes prefer it on logits,
    ``kind="scores"``.
    """

    def keys(self, cells: Cells) -> Keys:
        return (np.where(cells.rank == 1, cells.second, cells.top) - cells.prob,)

    def reach(self, bounds: Keys) -> Reach:
        return Reach(behind=bounds[0])

    def ranges(self, features: Features) -> tuple[Range, ...]:
        low, high = features.prob
        alone = features.rank[1] == 1  # a single label has no rival, and a key of -inf
        return ((-math.inf if alone else low - high, high - low),)


@dataclass(frozen=True)
class Aps:
    """APS (Romano et al. 2020): the mass of the labels ranked before, plus a random part of the label's own.

    ``randomized=False`` counts the label's own mass in full and draws nothing: sets are larger and cover more than
    asked, much more with confident models, whose masses crowd near 1.
    """

    randomized: bool = True
    needs_probs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _flag(self, "randomized")

    def keys(self, cells: Cells) -> Keys:
        if not self.randomized:
            return (cells.mass,)
        before = cells.before
        return (before + cells.noise * (cells.mass - before),)

    def reach(self, bounds: Keys) -> Reach:
        return Reach(before=bounds[0])

    def ranges(self, features: Features) -> tuple[Range, ...]:
        return (features.mass,)


@dataclass(frozen=True)
class Raps:
    """RAPS (Angelopoulos et al. 2021): APS plus ``penalty`` for every rank beyond the first ``free_ranks``."""

    penalty: float = 0.01
    free_ranks: int = 5
    randomized: bool = True
    needs_probs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _number(self, "penalty")
        _count(self, "free_ranks")
        _flag(self, "randomized")

    def keys(self, cells: Cells) -> Keys:
        (mass,) = Aps(self.randomized).keys(cells)
        return (mass + self.penalty * np.maximum(cells.rank - self.free_ranks, 0),)

    def reach(self, bounds: Keys) -> Reach:
        return Reach(rank=self.free_ranks + _steps(bounds[0], self.penalty), before=bounds[0])

    def ranges(self, features: Features) -> tuple[Range, ...]:
        low, high = features.mass
        return ((low, high + self.penalty * max(features.rank[1] - self.free_ranks, 0)),)


@dataclass(frozen=True)
class Saps:
    """SAPS (Huang et al. 2024): only the row's largest probability counts, then ``weight`` for every rank."""

    weight: float = 0.2
    randomized: bool = True
    needs_probs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _number(self, "weight")
        _flag(self, "randomized")

    def keys(self, cells: Cells) -> Keys:
        part = cells.noise if self.randomized else 1.0
        later = cells.top + (cells.rank - 2 + part) * self.weight
        return (np.where(cells.rank == 1, part * cells.top, later),)

    def reach(self, bounds: Keys) -> Reach:
        return Reach(rank=2 + _steps(bounds[0], self.weight))

    def ranges(self, features: Features) -> tuple[Range, ...]:
        return ((0.0, features.prob[1] + (features.rank[1] - 1) * self.weight),)


@dataclass(frozen=True)
class Average:
    """Weighted averages of the scores of THR, APS and RANK (Luo & Zhou, arXiv 2407.10230).

    Of one minus the probability, of the mass ranked before with a random part of the label's own (all of it with
    ``randomized=False``), and of the rank as a share of the number of classes.
    """

    thr: float = 1.0
    aps: float = 1.0
    rank: float = 1.0
    randomized: bool = True
    needs_probs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name in ("thr", "aps", "rank"):
            _number(self, name)
        _flag(self, "randomized")

    def keys(self, cells: Cells) -> Keys:
        before = cells.before
        part = cells.noise if self.randomized else 1.0
        mass = before + part * (cells.mass - before)
        n_columns = cells.rows.probs.shape[1]
        return (self.thr * (1 - cells.prob) + self.aps * mass + self.rank / n_columns * cells.rank,)

    def ranges(self, features: Features) -> tuple[Range, ...]:
        least, most = features.prob
        low, high = features.mass
        return ((self.thr * (1 - most) + self.aps * low, self.thr * (1 - least) + self.aps * high + self.rank),)


class Wrapper:
    """What scores around a score share: they see rows as the inner one does, and say what it says."""

    score: Score
    transparent: ClassVar[bool] = True
    """Whether the inner score's keys come first, and rows are what it makes of them."""

    @property
    def needs_probs(self) -> bool:
        return needs_probs(self.score)

    @property
    def caveat(self) -> str | None:
        return caveat(self.score)

    def transform(self, probs: NDArray[Any]) -> NDArray[Any]:
        return transformed(self.score, probs)


@dataclass(frozen=True)
class TieBreak(Wrapper):
    """Any score, with its remaining ties between rows settled by each row's own draw.

    Identical rows share their draw; pass ``ids=`` to tell them apart, then no tie is left.
    """

    score: Score

    def __post_init__(self) -> None:
        checked_score(self.score)

    def keys(self, cells: Cells) -> tuple[NDArray[Any], ...]:
        return *_tuple(self.score.keys(cells)), cells.noise

    def reach(self, bounds: Keys) -> Reach:
        return reach(self.score, bounds[:-1])

    def ranges(self, features: Features) -> tuple[Range, ...]:
        return *ranges(self.score, features), (0.0, 1.0)


@dataclass(frozen=True, repr=False)
class Chosen(Wrapper):
    """A score, and in words how it was chosen."""

    score: Score
    why: str

    def __post_init__(self) -> None:
        checked_score(self.score)
        if not isinstance(self.why, str):
            raise KindError.argument("why", "a text", self.why)

    def __repr__(self) -> str:
        return f"{self.score!r}: {self.why}"

    def keys(self, cells: Cells) -> Keys:
        return self.score.keys(cells)

    def reach(self, bounds: Keys) -> Reach:
        return reach(self.score, bounds)

    def ranges(self, features: Features) -> tuple[Range, ...]:
        return ranges(self.score, features)


NEXT_TO_NOTHING = 2.0**-60


@dataclass(frozen=True, repr=False)
class Seen(Wrapper):
    """Any score on the classes that were seen; labels of the other classes come after all of theirs.

    Each row is first divided by the probability of the seen classes. ``columns`` are their columns, of ``n_columns`` in
    all. ``Seen.fit`` finds them in labels, for example those the model was trained on, but never those of the rows that
    calibrate: the list must be fixed before the calibration, then the guarantee holds as for every score. Labels of the
    other classes stay in sets only where more calibration rows have such labels than alpha lets out, so these classes,
    taken alone, are mostly not covered. It needs probabilities or logits, no ``kind="scores"``. ``names`` are those of
    all classes, in column order, if they are known; a calibration with other names, or in another order, is refused.
    """

    score: Score
    columns: tuple[int, ...]
    n_columns: int
    names: tuple[Any, ...] | None = field(default=None, compare=False)
    transparent: ClassVar[bool] = False

    def __post_init__(self) -> None:
        checked_score(self.score)
        _count(self, "n_columns")
        expected = f"different columns, each a whole number from 0 to {self.n_columns - 1}"
        given: Any = self.columns
        if not isinstance(given, Iterable) or isinstance(given, str | bytes):
            raise ScoreError.parameter("Seen", "columns", expected, given)
        columns = tuple(given)
        whole = all(isinstance(column, int | np.integer) and not isinstance(column, bool) for column in columns)
        if not whole or len(set(columns)) < len(columns) or not all(0 <= column < self.n_columns for column in columns):
            raise ScoreError.parameter("Seen", "columns", expected, given)
        object.__setattr__(self, "columns", tuple(sorted(map(int, columns))))
        if n_columns(self.score) not in (None, self.n_columns):
            raise ScoreError.fitted_columns(self.score, cast("int", n_columns(self.score)), self.n_columns)
        names: Any = self.names
        if names is not None:
            if not isinstance(names, Iterable) or isinstance(names, str | bytes) or len(tuple(names)) != self.n_columns:
                raise ScoreError.parameter("Seen", "names", f"{self.n_columns} names in column order", names)
            object.__setattr__(self, "names", tuple(names))

    @classmethod
    def fit(cls, labels: ArrayLike, classes: int | Iterable[object], score: Score = Thr()) -> "Seen":  # noqa: B008
        """``score`` with the classes that occur in ``labels`` first; rows with these labels must not calibrate.

        ``classes``: how many there are, or their names in column order.

        >>> Seen.fit(["cat", "fox", "cat"], ["ant", "cat", "fox", "owl"])
        Seen(Thr(), 2 of 4 classes)
        """
        if isinstance(classes, bool):
            raise KindError.argument("classes", "the number of classes, or their names in column order", classes)
        values = range(int(classes)) if isinstance(classes, int | np.integer) else in_order(classes)
        if not hasattr(labels, "__len__"):
            raise KindError.argument("labels", "a list or an array of labels", labels)
        if len(cast("Any", labels)) == 0:
            raise InputError.no_rows()
        codes = label_codes(labels, class_names(values, len(values)), len(cast("Any", labels)), RowIndex())
        names = None if isinstance(values, range) else values
        return cls(score, tuple(np.unique(codes).tolist()), len(values), names)

    def __repr__(self) -> str:
        return f"Seen({self.score!r}, {len(self.columns):,} of {self.n_columns:,} classes)"

    @property
    def needs_probs(self) -> bool:
        return True

    def transform(self, probs: NDArray[Any]) -> NDArray[Any]:
        """Probabilities among the seen classes; those of the others so small that they hardly count, in their order."""
        if probs.shape[1] > self.n_columns:
            raise ScoreError.fitted_columns(self, self.n_columns, probs.shape[1])
        unseen = self._unseen[: probs.shape[1]] == 1
        totals = on_grid(np.where(unseen, 0.0, probs)).sum(axis=1, keepdims=True)
        shares = probs / np.where(totals > 0, totals, 1.0)
        return transformed(self.score, np.where(unseen, probs * NEXT_TO_NOTHING, shares))

    def keys(self, cells: Cells) -> tuple[NDArray[Any], ...]:
        return self._unseen[cells.column], *_tuple(self.score.keys(cells))

    @property
    def _unseen(self) -> NDArray[np.int64]:
        """1 for columns that were not seen."""
        unseen = np.ones(self.n_columns, dtype=np.int64)
        unseen[list(self.columns)] = 0
        return unseen

    def reach(self, bounds: Keys) -> Reach:
        inner = reach(self.score, bounds[1:])
        none = Reach()  # where unseen classes stay, so does every label of the others
        limits = ((getattr(none, name), getattr(inner, name)) for name in REACHES)
        return Reach(*(np.where(bounds[0] > 0, free, limit) for free, limit in limits))


BUILT_IN: tuple[type[Any], ...] = (Rank, TopK, Thr, Margin, Aps, Raps, Saps, Average, TieBreak, Chosen, Seen)
"""The scores a file may name."""


def checked_score(score: object, name: str = "score") -> Score:
    """``score`` itself, if it is one."""
    if isinstance(score, type):
        raise KindError.class_instead_of_object(name, score)
    if isinstance(score, str):
        meant = next((kind.__name__ for kind in BUILT_IN if kind.__name__.lower() == score.lower()), "Rank")
        raise KindError.argument(name, f"an object such as rankset.{meant}()", score)
    if isinstance(score, BUILT_IN):  # asking a protocol takes long
        return score
    if not isinstance(score, Score):
        raise KindError.argument(name, "a score such as Rank() or Aps(), an object with keys(cells)", score)
    return score


def needs_probs(score: Score) -> bool:
    """Whether ``score`` makes sense for probabilities only."""
    return bool(getattr(score, "needs_probs", False))


def looks_at(score: Score, n_columns: int) -> frozenset[str]:
    """The features of cells that ``score`` uses, found out by showing it a row."""
    simple = type(score) in BUILT_IN and not isinstance(score, Wrapper)
    return _known(cast("Any", score), n_columns) if simple else _watched(score, n_columns)


def _watched(score: Score, n_columns: int) -> frozenset[str]:
    seen: set[str] = set()

    class Watched(LabelCells):
        def __getattribute__(self, name: str) -> Any:  # noqa: ANN401
            seen.add(name)
            return super().__getattribute__(name)

    rows = Rows(transformed(score, np.full((1, n_columns), 1 / n_columns)), lambda: np.zeros(1))
    with np.errstate(all="ignore"):
        score.keys(Watched(rows, np.zeros(1, dtype=np.int64)))
    return frozenset(seen & FEATURES)


_known = lru_cache(_watched)
FEATURES = frozenset({"column", "prob", "rank", "mass", "before", "top", "second", "noise"})


def reach(score: Score, bounds: Keys) -> Reach:
    """How far labels can lie down their row whose keys stay within ``bounds``, as ``score`` knows."""
    with np.errstate(all="ignore"):  # infinite limits are fine
        found = cast("Any", score).reach(bounds) if hasattr(score, "reach") else Reach()
    if not isinstance(found, Reach):
        raise ScoreError.reach(score, "a rankset.Reach", type(found).__name__)
    return Reach(*(_limit(score, name, getattr(found, name), bounds[0]) for name in REACHES))


REACHES = ("rank", "before", "prob", "behind")


def _limit(score: Score, name: str, limit: object, bounds: NDArray[Any]) -> NDArray[np.float64]:
    """A limit for each of ``bounds``."""
    expected = f"numbers or arrays of shape {bounds.shape}, none NaN"
    try:
        limits = np.broadcast_to(np.asarray(limit, dtype=np.float64), bounds.shape)
    except (TypeError, ValueError):
        raise ScoreError.reach(score, expected, f"{name}={limit!r}") from None
    if np.isnan(limits).any():
        raise ScoreError.reach(score, expected, f"{name}={limit!r}")
    return limits


def ranges(score: Score, features: Features) -> tuple[Range, ...]:
    """Between which numbers each key of ``score`` lies; () where it does not tell."""
    return cast("Any", score).ranges(features) if hasattr(score, "ranges") else ()


def caveat(score: Score) -> str | None:
    """What users of ``score`` must be told, if anything."""
    return getattr(score, "caveat", None)


def n_columns(score: Score) -> int | None:
    """How many classes ``score`` was fitted for; None where it does not care."""
    own = getattr(score, "n_columns", None)
    return n_columns(score.score) if own is None and isinstance(score, Wrapper) else own


def check_columns(score: Score, received: int) -> None:
    """Refuses another number of classes than ``score`` was fitted for."""
    known = n_columns(score)
    if known is not None and known != received:
        raise ScoreError.fitted_columns(score, known, received)


def check_names(score: Score, names: Sequence[object]) -> None:
    """Refuses class names, in column order, that are not those ``score`` was fitted for, where it knows them."""
    known = getattr(score, "names", None)
    if isinstance(score, Seen) and known is None and all(type(name) is int for name in names):
        known = range(score.n_columns)
    if known is not None and list(known) != list(names):
        raise ScoreError.fitted_names(score, known, names)
    if isinstance(score, Wrapper):
        check_names(score.score, names)


def transforms(score: Score) -> bool:
    """Whether ``score`` maps rows first."""
    if isinstance(score, Wrapper) and score.transparent:
        return transforms(score.score)
    return hasattr(score, "transform")


def transformed_candidates(score: Score, probs: NDArray[Any], counts: NDArray[np.int64]) -> NDArray[Any]:
    """The same for rows of which only the first ``counts`` columns are candidates: ``score`` sees those alone.

    Behind them stands 0, or -inf in rows with negative entries, so that padding never ranks before a candidate.
    """
    if not transforms(score):
        return probs
    answer = np.empty(probs.shape)
    for count in np.unique(counts).tolist():
        rows = counts == count
        seen = transformed(score, np.ascontiguousarray(probs[rows][:, :count]))
        answer[rows, :count] = seen
        answer[rows, count:] = np.where(seen.min(axis=1, keepdims=True) < 0, -np.inf, 0.0)
    return answer


def transformed(score: Score, probs: NDArray[Any]) -> NDArray[Any]:
    """The rows as ``score`` wants to see them."""
    if not transforms(score):
        return probs
    answer = np.asarray(cast("Any", score).transform(probs.astype(np.float64)))
    if answer.shape != probs.shape or answer.dtype.kind not in "fiub":
        raise ScoreError.transform(score, probs.shape, f"{answer.dtype} of shape {answer.shape}")
    answer = np.ascontiguousarray(answer, dtype=np.float64)
    if np.isnan(answer).any():
        raise ScoreError.transform(score, probs.shape, "NaN")
    return answer


def orders_by_rank(score: Score) -> bool:
    """Whether the first key of ``score`` is the rank."""
    if isinstance(score, Wrapper):
        return score.transparent and orders_by_rank(score.score)
    return type(score) in (Rank, TopK)


def breaks_ties_by_prob(score: Score) -> bool:
    """Whether the second key of ``score`` is the probability."""
    if isinstance(score, Wrapper):
        return score.transparent and breaks_ties_by_prob(score.score)
    return type(score) is Rank


def comparable(keys: object, cells: Cells, score: Score) -> Keys:
    """What ``score`` returned for ``cells``, as int64 and float64 arrays with one entry each, none NaN."""
    return tuple(_comparable(_shaped(key, len(cells)), score, cells) for key in _tuple(keys))


def _tuple(keys: object) -> tuple[Any, ...]:
    if not isinstance(keys, tuple) or not keys:
        raise ScoreError.keys("a tuple of arrays", type(keys).__name__)
    return keys


def _shaped(key: object, length: int) -> NDArray[Any]:
    if isinstance(key, np.ma.MaskedArray):
        raise ScoreError.keys("arrays without masked entries", "a masked array")
    try:
        array = np.asarray(key)
    except ValueError:
        raise ScoreError.keys("arrays of real numbers", "rows of different lengths") from None
    if array.shape == (length,):
        return array
    if array.ndim == 0:
        return np.full(length, array)
    raise ScoreError.keys(f"arrays with one entry per cell, shape ({length},)", f"shape {array.shape}")


def _comparable(key: NDArray[Any], score: Score, cells: Cells) -> NDArray[Any]:
    if key.dtype.kind in "iub":
        if key.dtype == np.uint64 and key.max(initial=0) > np.iinfo(np.int64).max:
            raise ScoreError.keys("integers below 2**63", f"{key.max()}")
        return key.astype(np.int64, copy=False)
    if key.dtype.kind != "f":
        raise ScoreError.keys("arrays of real numbers", f"an array of {key.dtype}")
    if np.isnan(key).any():
        row = np.arange(len(cells.rows.probs))[cells.row][int(np.isnan(key).argmax())]
        raise ScoreError.nan_key(score, cells.rows.start + int(row))
    return key.astype(np.float64, copy=False) + 0.0


def _steps(bounds: NDArray[Any], step: float) -> Limit:
    """How many steps fit into ``bounds``, and one more for rounding."""
    return np.floor(bounds / step) + 1 if step > 0 else math.inf


def _number(score: object, name: str) -> None:
    value = getattr(score, name)
    real = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    try:
        number = float(value) if real else math.nan
    except OverflowError:
        number = math.inf
    if not 0 <= number < math.inf:
        raise ScoreError.parameter(type(score).__name__, name, "a finite number, at least 0", value)
    object.__setattr__(score, name, number)


def _count(score: object, name: str) -> None:
    value = getattr(score, name)
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 <= value < 2**31:
        raise ScoreError.parameter(type(score).__name__, name, "a whole number, at least 0 and below 2**31", value)
    object.__setattr__(score, name, int(value))


def _flag(score: object, name: str) -> None:
    value = getattr(score, name)
    if not isinstance(value, bool | np.bool_):
        raise ScoreError.parameter(type(score).__name__, name, "True or False", value)
    object.__setattr__(score, name, bool(value))
