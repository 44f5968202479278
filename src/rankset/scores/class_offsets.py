"""``ClassOffsets``: a score minus a number of the class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core.alpha import Alpha, exact_alpha, threshold_position
from rankset.core.alpha_argument import takes_alpha
from rankset.core.arrays import as_float
from rankset.core.cells import Cells
from rankset.core.lexicographic import Keys
from rankset.errors import KindError, ScoreError
from rankset.inputs.matrix import Kind
from rankset.inputs.prepare import Prepared
from rankset.scores.application import as_tuple
from rankset.scores.base import Score, checked_score
from rankset.scores.declarations import checked_traits, declared
from rankset.scores.fitting_keys import check_single_key, label_columns, label_keys, rows_to_fit
from rankset.scores.key_ranges import FeatureRanges, Range, ranges_of
from rankset.scores.parameters import LARGEST_FITTED, by_column, is_fitted_number
from rankset.scores.reach import Reach, reach_of
from rankset.scores.thr import Thr
from rankset.scores.wording import Wording, can_be_empty
from rankset.scores.wrappers import Wrapper

EXPECTED = f"one number per class in column order, with absolute values of at most {LARGEST_FITTED:g}"
ROUNDING = 1e-12
"""Upper bound for the relative rounding error of a difference of two float64; the true error is smaller."""


@dataclass(frozen=True, repr=False)
class ClassOffsets(Wrapper):
    """The nonconformity score is that of another score minus the offset of the class.

    A class with a larger offset is more often in sets. ``ClassOffsets.fit`` takes offsets between the threshold of the
    class and the threshold of all classes: Interp-Q (Ding, Fermanian & Salmon 2025). As published, Interp-Q has no
    guarantee. Calibrated on other rows than those of the fit, coverage over all rows is at least 1 - alpha, as with
    every score; coverage of single classes is not promised.

    Parameters
    ----------
    score : Score or str
        The score, or its name. It must have one key, as all scores but ``Rank``, ``TieBreak``, ``Seen`` and
        ``RankLimited`` do.
    offsets : sequence of float
        The offset of each class, in column order.

    Raises
    ------
    KindError
        If ``score`` is not a score.
    ScoreError
        If ``offsets`` are not numbers in column order, or if ``score`` has several keys or is for another number of
        classes.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> score = rs.ClassOffsets.fit(probs[:100], labels[:100], alpha=0.1)
    >>> [round(offset, 3) for offset in score.offsets]
    [-0.185, -0.167, -0.161, -0.171]
    >>> rs.calibrate(probs[100:], labels[100:], method=score).predict([[0.6, 0.2, 0.2, 0.0]], alpha=0.1).to_lists()
    [[0, 1, 2]]
    """

    score: Score
    offsets: tuple[float, ...]
    key_features: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "score", checked_score(self.score))
        values = by_column(self, "offsets", EXPECTED)
        if not values or not all(map(is_fitted_number, values)):
            raise ScoreError.parameter("ClassOffsets", "offsets", EXPECTED, self.offsets)
        object.__setattr__(self, "offsets", tuple(map(float, values)))
        checked_traits(self.score, None, len(self.offsets))
        check_single_key(self.score, len(self.offsets), "ClassOffsets")

    def __repr__(self) -> str:
        return f"ClassOffsets({self.score!r}, offsets of {len(self.offsets):,} classes)"

    @classmethod
    @takes_alpha
    def fit(
        cls,
        probs: ArrayLike,
        labels: ArrayLike,
        alpha: Alpha = 0.1,
        *,
        score: Score | str = Thr(),  # noqa: B008
        weight: float = 0.5,
        kind: Kind = "probs",
    ) -> ClassOffsets:
        """Compute the offsets of all classes. Do not calibrate on the same rows.

        The offset of a class is ``weight`` times the threshold of its rows plus 1 - ``weight`` times the threshold of
        all rows. A class with too few rows for a threshold gets the largest possible score in its place, if the score
        has one (0 for ``Thr``), else the largest score of all rows.

        Parameters
        ----------
        probs : array-like (n, K)
            Model outputs for rows that are not used for calibration.
        labels : array-like (n,)
            True labels of these rows, as column numbers.
        alpha : float, default 0.1
            The alpha for which sets will be made. Sets can be made for every other alpha, too.
        score : Score or str, default Thr()
            The score. It must have one key.
        weight : float, default 0.5
            Between 0 and 1. With 0 all classes have the same offset, with 1 offsets are the thresholds of the classes.
        kind : {"probs", "logits", "binary"}, default "probs"
            The type of values in ``probs``.

        Returns
        -------
        ClassOffsets
            The score with the offsets.

        Raises
        ------
        KindError, InputError, LabelError, ScoreError
            If the rows, labels, score or weight are invalid, or if there are no rows.
        LevelError
            If ``alpha`` does not lie between 0 and 1.

        Examples
        --------
        >>> import rankset as rs
        >>> rows, labels = [[0.75, 0.25]] * 9 + [[0.5, 0.5]], [0] * 9 + [1]
        >>> rs.ClassOffsets.fit(rows, labels, alpha=0.1).offsets
        (-0.625, -0.25)
        """
        measure, level = checked_score(score), exact_alpha(alpha)
        if not 0 <= as_float(weight) <= 1:
            raise KindError.argument("weight", "a number from 0 to 1", weight)
        data = rows_to_fit(probs, labels, kind, measure)
        check_single_key(measure, data.n_columns, "ClassOffsets")
        keys, columns = label_keys(measure, data), label_columns(data)
        highest = _largest_key(measure, data, keys)
        overall = _threshold(keys, level, highest)
        own = [_threshold(keys[columns == column], level, highest) for column in range(data.n_columns)]
        return cls(measure, tuple(weight * threshold + (1 - weight) * overall for threshold in own))

    @cached_property
    def _offsets(self) -> NDArray[np.float64]:
        return np.array(self.offsets)

    @property
    def features(self) -> frozenset[str]:
        """Names of the features that ``keys`` reads."""
        return self._inner.features | {"column"}

    @property
    def n_columns(self) -> int:
        """Number of classes."""
        return len(self.offsets)

    def keys(self, cells: Cells) -> tuple[NDArray[Any], ...]:
        """Return the key of the inner score minus the offset of the class."""
        (key,) = as_tuple(self.score.keys(cells))
        return (key - self._offsets[cells.column],)

    def reach(self, bounds: Keys) -> Reach:
        """Return the ``Reach`` of the inner score for the largest offset."""
        largest = max(self.offsets)
        limit = bounds[0] + largest
        slack = ROUNDING * (1 + np.abs(bounds[0]) + abs(largest))
        return reach_of(self.score, (np.where(np.isfinite(slack), limit + slack, limit),))

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        """Return the lowest and highest possible value of the key."""
        inner = ranges_of(self.score, features)
        return tuple((low - max(self.offsets), high - min(self.offsets)) for low, high in inner)

    def can_be_empty(self, threshold: Sequence[float], n_columns: int | None) -> bool:
        """Return whether the most likely label can be left out if its class has the smallest offset."""
        lowest = (threshold[0] + min(self.offsets),)
        return declared(self.score, "can_be_empty") is None or can_be_empty(self.score, lowest, n_columns)

    def describe(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return which labels are in a set, in words."""
        limit = wording.number(threshold[0])
        return (
            f"keeps labels for which the score value of {self.score!r} minus the offset of the class is at most {limit}"
        )


def _largest_key(score: Score, data: Prepared, keys: NDArray[np.float64]) -> float:
    """Return the largest key that a label can have; if it is not known, the largest of ``keys``."""
    ranges = ranges_of(score, FeatureRanges.of(score, data.kind, data.n_columns))
    highest = ranges[0][1] if ranges else math.inf
    return highest if math.isfinite(highest) else float(keys.max())


def _threshold(keys: NDArray[np.float64], alpha: Fraction, highest: float) -> float:
    """Return the threshold of some rows, or ``highest`` if there are too few."""
    place = threshold_position(len(keys), alpha)
    return highest if place > len(keys) else float(np.sort(keys)[place - 1])
