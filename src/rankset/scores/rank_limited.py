"""``RankLimited``: a score in front of which stands whether a label is ranked within the limit of its class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core.alpha import Alpha, exact_alpha
from rankset.core.alpha_argument import takes_alpha
from rankset.core.arrays import is_whole
from rankset.core.cells import Cells
from rankset.core.lexicographic import Keys
from rankset.errors import ScoreError
from rankset.inputs.matrix import Kind
from rankset.scores.application import as_tuple
from rankset.scores.base import Score, checked_score
from rankset.scores.declarations import checked_traits
from rankset.scores.fitting_keys import label_columns, label_ranks, rows_to_fit
from rankset.scores.key_ranges import FeatureRanges, Range, ranges_of
from rankset.scores.parameters import by_column
from rankset.scores.reach import REACHES, Reach, reach_of
from rankset.scores.thr import Thr
from rankset.scores.wording import Wording, can_be_empty, describe_label, describe_threshold
from rankset.scores.wrappers import Wrapper

EXPECTED = "one integer of at least 1 and below 2**31 per class, in column order"


@dataclass(frozen=True, repr=False)
class RankLimited(Wrapper):
    """Labels that are ranked behind the limit of their class come last; all others are compared by a score.

    Use it with ``condition=PerLabel()``: RC3P (Shi et al. 2024), with a threshold per class that is exact. A class that
    is nearly always among the first three labels of the rows in which it is true is then not in sets of rows where it
    is the tenth. RC3P replaces the quantile of a class by one at a smaller level, computed from the error of the ranks;
    here the rank is part of the score, so coverage of every class is at least 1 - alpha however the limits were found.

    ``RankLimited.fit`` finds the limits. Do not calibrate on the rows of the fit: the guarantee holds only if the
    limits are fixed before calibration.

    Parameters
    ----------
    score : Score or str
        The score, or its name, by which labels are compared.
    limits : sequence of int
        The largest rank of each class that does not come last, in column order; at least 1.

    Raises
    ------
    KindError
        If ``score`` is not a score.
    ScoreError
        If ``limits`` are not integers of at least 1 in column order, or if ``score`` is for another number of classes.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> score = rs.RankLimited.fit(probs[:100], labels[:100], alpha=0.1)
    >>> score.limits
    (3, 4, 3, 2)
    >>> rule = rs.calibrate(probs[100:], labels[100:], method=score, condition=rs.PerLabel())
    >>> rule.predict([[0.4, 0.3, 0.2, 0.1]], alpha=0.1).to_lists()
    [[0, 1]]
    """

    score: Score
    limits: tuple[int, ...]
    key_features: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "score", checked_score(self.score))
        values = by_column(self, "limits", EXPECTED)
        if not values or not all(is_whole(value) and 1 <= value < 2**31 for value in values):
            raise ScoreError.parameter("RankLimited", "limits", EXPECTED, self.limits)
        object.__setattr__(self, "limits", tuple(map(int, values)))
        checked_traits(self.score, None, len(self.limits))

    def __repr__(self) -> str:
        return f"RankLimited({self.score!r}, limits of {len(self.limits):,} classes)"

    @classmethod
    @takes_alpha
    def fit(
        cls,
        probs: ArrayLike,
        labels: ArrayLike,
        alpha: Alpha = 0.1,
        *,
        score: Score | str = Thr(),  # noqa: B008
        kind: Kind = "probs",
    ) -> RankLimited:
        """Find the limits of all classes. Do not calibrate on the same rows.

        The limit of a class is the smallest k for which fewer than alpha of its rows have it behind rank k. A class
        without rows has no limit: its limit is the number of classes.

        Parameters
        ----------
        probs : array-like (n, K)
            Model outputs for rows that are not used for calibration.
        labels : array-like (n,)
            True labels of these rows, as column numbers.
        alpha : float, default 0.1
            The alpha for which sets will be made. Sets can be made for every other alpha, too.
        score : Score or str, default Thr()
            The score by which labels are compared.
        kind : {"probs", "logits", "binary"}, default "probs"
            The type of values in ``probs``.

        Returns
        -------
        RankLimited
            The score with the limits.

        Raises
        ------
        KindError, InputError, LabelError
            If the rows or labels are invalid, or if there are no rows.
        LevelError
            If ``alpha`` does not lie between 0 and 1.

        Examples
        --------
        >>> import rankset as rs
        >>> rs.RankLimited.fit([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3]], [0, 2], score="rank").limits
        (1, 3, 2)
        """
        measure, level = checked_score(score), exact_alpha(alpha)
        data = rows_to_fit(probs, labels, kind, measure)
        ranks, columns = label_ranks(measure, data), label_columns(data)
        limits = [data.n_columns] * data.n_columns
        for column in np.unique(columns).tolist():
            own = np.sort(ranks[columns == column])
            limits[column] = int(own[len(own) - math.ceil(level * len(own))])
        return cls(measure, tuple(limits))

    @cached_property
    def _limits(self) -> NDArray[np.int64]:
        return np.array(self.limits, dtype=np.int64)

    @property
    def features(self) -> frozenset[str]:
        """Names of the features that ``keys`` reads."""
        return self._inner.features | {"rank", "column"}

    @property
    def n_columns(self) -> int:
        """Number of classes."""
        return len(self.limits)

    def keys(self, cells: Cells) -> tuple[NDArray[Any], ...]:
        """Return 1 for labels that are ranked behind the limit of their class and 0 for others, then the inner keys."""
        behind = (cells.rank > self._limits[cells.column]).astype(np.int64)
        return behind, *as_tuple(self.score.keys(cells))

    def reach(self, bounds: Keys) -> Reach:
        """Return the ``Reach`` of the inner score up to the largest limit.

        If labels behind their limits can be in a set, all labels before it are, so there are no limits.
        """
        inner, unlimited = reach_of(self.score, bounds[1:]), Reach()
        narrow = {name: getattr(inner, name) for name in REACHES}
        narrow["rank"] = np.minimum(narrow["rank"], max(self.limits))
        return Reach(*(np.where(bounds[0] > 0, getattr(unlimited, name), narrow[name]) for name in REACHES))

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        """Return the lowest and highest possible value of each key."""
        return (0.0, 1.0), *ranges_of(self.score, features)

    def can_be_empty(self, threshold: Sequence[float], n_columns: int | None) -> bool:
        """Return whether all labels of a row can be left out. The most likely one is never behind its limit."""
        by_class = "column" in self._inner.features  # then the label that it keeps first can be behind its limit
        return threshold[0] <= 0 and (by_class or can_be_empty(self.score, threshold[1:], n_columns))

    def describe(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return which labels are in a set, in words."""
        inner = describe_threshold(self.score, threshold[1:], wording)
        if threshold[0] > 0:
            return f"keeps labels within the rank limits of their classes; of the other labels, it {inner}"
        return f"leaves out all but the labels within the rank limits of their classes; of these, it {inner}"

    def describe_label(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return when a label is in the set, in words about this label, "it"."""
        inner = describe_label(self.score, threshold[1:], wording)
        return f"its rank is within its limit, {'or' if threshold[0] > 0 else 'and'} {inner}"
