"""What a score declares about itself (``Traits``), with defaults for what it does not declare."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from rankset.core.cells import FEATURES
from rankset.errors import ScoreError
from rankset.scores.base import Score

ABOUT_KEYS = ("features", "key_features", "reach", "ranges", "describe", "describe_label", "can_be_empty")
"""Declarations that describe ``keys``. They do not hold for a subclass with other keys."""


@dataclass(frozen=True)
class Traits:
    """What a score declares about itself. ``rankset.Score`` explains the first six fields.

    ``transforms``: the score has a ``transform``. ``uses_noise``, ``uses_mass``, ``uses_rank``: keys depend on the
    random number of the row, on sums of probabilities, on ranks. ``orders_by_rank``: the first key is the rank.
    ``breaks_ties_by_prob``: the second key is the probability. ``takes_marginals``: rows may be probabilities of single
    labels, which do not sum to 1.
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
    takes_marginals: bool = True


def traits(score: Score) -> Traits:
    """Return the traits of ``score``, with defaults for attributes that it does not have."""
    features, keys = _features(score), tuple(declared(score, "key_features", ()))
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
        takes_marginals=bool(getattr(score, "takes_marginals", not getattr(score, "needs_probs", False))),
    )


def declared(score: Score, name: str, default: Any = None) -> Any:  # noqa: ANN401
    """Return the declaration ``name`` of ``score``, one of ``ABOUT_KEYS``.

    Return ``default`` if there is none, or if it belongs to other ``keys`` than those of ``score``: a subclass, or an
    object, with keys of its own must declare anew.
    """
    own = getattr(score, "__dict__", {})
    outdated = "keys" in own and name not in own
    return default if outdated or name in _outdated(type(score)) else getattr(score, name, default)


@cache
def _outdated(kind: type) -> frozenset[str]:
    """Declarations that a class inherits from behind the class whose ``keys`` it uses."""
    owners = [one for one in kind.__mro__ if "keys" in vars(one)]
    if len(owners) < 2:
        return frozenset()
    up_to_keys = kind.__mro__[: kind.__mro__.index(owners[0]) + 1]
    return frozenset(name for name in ABOUT_KEYS if not any(name in vars(one) for one in up_to_keys))


def _features(score: Score) -> frozenset[str]:
    features = declared(score, "features", FEATURES)
    if isinstance(features, str | bytes) or not isinstance(features, Iterable) or not FEATURES.issuperset(features):
        raise ScoreError.features(score, sorted(FEATURES), features)
    return frozenset(features)


def checked_traits(score: Score, names: Sequence[object] | None, n_columns: int) -> Traits:
    """Return what ``score`` declares; raise an error if it was fitted for other ``names`` or another number of them."""
    found = traits(score)
    if found.n_columns is not None and found.n_columns != n_columns:
        raise ScoreError.fitted_columns(score, found.n_columns, n_columns)
    check_names(score, names)
    return found


def check_names(score: Score, names: Sequence[object] | None) -> None:
    """Raise a ScoreError if ``score`` was fitted for other class names; do nothing if it does not check them."""
    if names is not None and hasattr(score, "check_names"):
        score.check_names(names)
