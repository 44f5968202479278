"""What a score is, and what it may declare about itself."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rankset.core.arrays import SUM_TOLERANCE
from rankset.core.cells import FEATURES, Cells
from rankset.core.lexicographic import Keys
from rankset.errors import KindError, ScoreError


@runtime_checkable
class Score(Protocol):
    """Anything with ``keys(cells)``: a tuple of arrays, most significant first, larger for stranger labels.

    ``help(rankset.Cells)`` lists what cells have. A score may declare more about itself, as attributes or properties:

    * ``features``: the names of what ``keys`` looks at, out of ``column, prob, rank, mass, before, top, second,
      noise``. A score that declares nothing gets all of them. One that looks at noise without declaring it fails.
    * ``needs_probs = True``: it makes no sense for ``kind="decision"``.
    * ``key_features``: what its keys are, most significant first, where they are features as they are. ``("rank",
      "prob")`` for ``Rank``; rules tell their rank profile where the first one is the rank.
    * ``transform(probs)``: rows are mapped first; of ``Ragged`` rows it gets the candidates alone.
    * ``reach(bounds)``: how far down their row labels can lie that stay, so that rows need not be sorted as a whole
      (see ``rankset.Reach``).
    * ``ranges(features)``: between which numbers keys lie, so that a file with impossible keys is refused.
    * ``n_columns``: the number of classes it was fitted for.
    * ``caveat``: a sentence that is shown with every rule that uses it.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Gap:
    ...     '''How far the label lies below the row's best.'''
    ...     features = ("top", "prob")
    ...     def keys(self, cells):
    ...         return (cells.top - cells.prob,)
    >>> isinstance(Gap(), Score)
    True
    """

    def keys(self, cells: Cells) -> tuple[NDArray[Any], ...]:
        """The keys of the given cells."""


@dataclass(frozen=True)
class Traits:
    """What a score declares about itself, with defaults for what it does not.

    ``uses_noise``: keys depend on the rows' draws; ``uses_mass``: on sums of probabilities; ``uses_rank``: on ranks.
    ``orders_by_rank``: the first key is the rank; ``breaks_ties_by_prob``: the second key is the probability.
    """

    features: frozenset[str]
    needs_probs: bool
    key_features: tuple[str, ...]
    transforms: bool
    n_columns: int | None
    caveat: str | None
    uses_noise: bool
    uses_mass: bool
    uses_rank: bool
    orders_by_rank: bool
    breaks_ties_by_prob: bool


def traits(score: Score) -> Traits:
    """What ``score`` declares about itself."""
    features, keys = _features(score), tuple(_declared(score, "key_features", ()))
    return Traits(
        features,
        bool(getattr(score, "needs_probs", False)),
        keys,
        bool(getattr(score, "transforms", hasattr(score, "transform"))),
        getattr(score, "n_columns", None),
        getattr(score, "caveat", None),
        uses_noise="noise" in features,
        uses_mass=not features.isdisjoint(("mass", "before")),
        uses_rank="rank" in features,
        orders_by_rank=keys[:1] == ("rank",),
        breaks_ties_by_prob=keys[1:2] == ("prob",),
    )


def _declared(score: Score, name: str, default: Any = None) -> Any:  # noqa: ANN401
    """What ``score`` declares about its keys; what a class declares does not hold where its keys were replaced."""
    own = getattr(score, "__dict__", {})
    outdated = "keys" in own and name not in own
    return default if outdated or name in _outdated(type(score)) else getattr(score, name, default)


@cache
def _outdated(kind: type) -> frozenset[str]:
    """Declarations that come from classes behind the one whose ``keys`` are used, where they replace other keys."""
    owners = [one for one in kind.__mro__ if "keys" in vars(one)]
    if len(owners) < 2:
        return frozenset()
    before = kind.__mro__[: kind.__mro__.index(owners[0]) + 1]
    return frozenset(name for name in ABOUT_KEYS if not any(name in vars(one) for one in before))


ABOUT_KEYS = ("features", "key_features", "reach", "ranges")


def _features(score: Score) -> frozenset[str]:
    declared = _declared(score, "features", FEATURES)
    if isinstance(declared, str | bytes) or not isinstance(declared, Iterable) or not FEATURES.issuperset(declared):
        raise ScoreError.features(score, sorted(FEATURES), declared)
    return frozenset(declared)


def checked_score(score: object, name: str = "score") -> Score:
    """``score`` itself, if it is one."""
    if isinstance(score, type):
        raise KindError.class_instead_of_object(name, score)
    if isinstance(score, str):
        raise KindError.argument(name, f"an object such as rankset.{_meant(score)}()", score)
    if isinstance(score, Mapping) or not callable(getattr(score, "keys", None)):
        raise KindError.argument(name, "a score such as Rank() or Aps(), an object with keys(cells)", score)
    return cast("Score", score)


def _meant(name: str) -> str:
    """The score that somebody means who passes its name."""
    from rankset.scores import BUILT_IN

    return next((kind.__name__ for kind in BUILT_IN if kind.__name__.lower() == name.lower()), "Rank")


def checked_traits(score: Score, names: Sequence[object] | None, n_columns: int) -> Traits:
    """Return what ``score`` declares; raise an error if it is no score, or was fitted for other classes."""
    found = traits(checked_score(score))
    if found.n_columns is not None and found.n_columns != n_columns:
        raise ScoreError.fitted_columns(score, found.n_columns, n_columns)
    if names is not None and hasattr(score, "check_names"):
        score.check_names(names)
    return found


# How far down a row labels can lie that stay

Limit = NDArray[Any] | float


@dataclass(frozen=True)
class Reach:
    """How far down its row a label can lie that stays: what a score's ``reach(bounds)`` returns.

    ``bounds`` are thresholds as ``keys`` makes them, a tuple of arrays with one entry per threshold. A label whose keys
    stay within one of them has a rank of at most ``rank``, a mass of at most ``before`` ranked before it, a probability
    of at least ``prob``, and lies at most ``behind`` below the second largest entry of its row. Limits are numbers or
    arrays like those of ``bounds``. Looser ones cost time; one that is too tight drops labels and voids the guarantee.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Unlikely:
    ...     features = ("prob",)
    ...     def keys(self, cells):
    ...         return (-cells.prob,)
    ...     def reach(self, bounds):
    ...         return Reach(prob=-bounds[0])
    """

    rank: Limit = math.inf
    before: Limit = math.inf
    prob: Limit = -math.inf
    behind: Limit = math.inf


REACHES = ("rank", "before", "prob", "behind")


def reach(score: Score, bounds: Keys) -> Reach:
    """How far labels can lie down their row whose keys stay within ``bounds``, as ``score`` declares."""
    with np.errstate(all="ignore"):  # infinite limits are fine
        declared = _declared(score, "reach")
        found = Reach() if declared is None else declared(bounds)
    if not isinstance(found, Reach):
        raise ScoreError.reach(score, "a rankset.Reach", type(found).__name__)
    return Reach(*(_limit(score, name, getattr(found, name), bounds[0]) for name in REACHES))


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


# Between which numbers keys lie

Range = tuple[float, float]
"""The least and the largest value something can have."""


@dataclass(frozen=True)
class FeatureRanges:
    """Between which numbers the features of cells lie: what ``ranges`` makes the ranges of keys from."""

    prob: Range
    mass: Range
    rank: Range

    @classmethod
    def of(cls, score: Score, kind: str, n_columns: int) -> FeatureRanges:
        """Those of rows of ``kind`` with ``n_columns`` labels, as ``score`` sees them."""
        most = 1 + SUM_TOLERANCE
        prob = (-math.inf, math.inf) if kind == "decision" else (0.0, most)
        return cls((-math.inf, 0.0) if traits(score).transforms else prob, (0.0, most), (1.0, float(n_columns)))

    @property
    def minus_prob(self) -> Range:
        low, high = self.prob
        return -high, -low


def ranges(score: Score, features: FeatureRanges) -> tuple[Range, ...]:
    """Between which numbers each key of ``score`` lies; () where it does not tell."""
    declared = _declared(score, "ranges")
    return () if declared is None else declared(features)
