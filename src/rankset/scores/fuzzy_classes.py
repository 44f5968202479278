"""``FuzzyClasses``: the share of fitting rows with a smaller score, above all of classes as rare as the label."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core.arrays import as_float, is_whole
from rankset.core.cells import Cells
from rankset.core.exponential import exp_of_nonpositive
from rankset.core.lexicographic import Keys
from rankset.errors import ScoreError
from rankset.inputs.matrix import Kind
from rankset.scores.application import as_tuple
from rankset.scores.base import Score, checked_score
from rankset.scores.declarations import checked_traits
from rankset.scores.fitting_keys import check_single_key, label_columns, label_keys, rows_to_fit
from rankset.scores.key_ranges import FeatureRanges, Range
from rankset.scores.parameters import by_column, check_fitted_numbers
from rankset.scores.reach import REACHES, Reach, reach_of
from rankset.scores.thr import Thr
from rankset.scores.wording import Wording
from rankset.scores.wrappers import Wrapper

MOST_ROWS = 50_000
"""Rows to fit on, at most: a table has a number for each of them and each number of rows that a class has."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class FuzzyClasses(Wrapper):
    """The nonconformity score is the weighted share of fitting rows whose score is smaller than that of the label.

    Rows of classes that are about as rare as the class of the label count most: fuzzy classwise prediction sets (Fuzzy;
    Ding, Fermanian & Salmon 2025), here recalibrated on other rows. So a rare class borrows rows from other rare
    classes, and a frequent class has its own scale. Coverage over all rows is at least 1 - alpha, as with every score;
    coverage of single classes is not promised.

    With n rows of a class in the fit, and m rows of the most frequent class, the rarity of a class is n / m. For a
    label of a class with n rows, a row of another class counts exp(-d² (n + 1) / (2 ``bandwidth``)), where d is the
    difference between the rarities of the two classes. The more rows a class has, the fewer other classes count.
    Classes with equally many rows have the same scale.

    Parameters
    ----------
    score : Score or str
        The score, or its name. It must have one key, as all scores but ``Rank``, ``TieBreak``, ``Seen`` and
        ``RankLimited`` do.
    fitted : sequence of float
        The scores of the true labels of the fitting rows, class after class; at most 50,000.
    counts : sequence of int
        How many of them each class has, in column order.
    bandwidth : float, default 0.1
        How different the rarity of classes may be that count: a number above 0.

    Raises
    ------
    KindError
        If ``score`` is not a score.
    ScoreError
        If a parameter is invalid, or if ``score`` has several keys or is for another number of classes.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> score = rs.FuzzyClasses.fit(probs[:100], labels[:100])
    >>> score
    FuzzyClasses(Thr(), fitted to 100 rows of 4 classes)
    >>> rs.calibrate(probs[100:], labels[100:], method=score).predict([[0.6, 0.2, 0.2, 0.0]], alpha=0.1).to_lists()
    [[0, 1, 2]]
    """

    score: Score
    fitted: tuple[float, ...]
    counts: tuple[int, ...]
    bandwidth: float = 0.1
    key_features: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "score", checked_score(self.score))
        if not 0 < as_float(self.bandwidth) < math.inf:
            raise ScoreError.parameter("FuzzyClasses", "bandwidth", "a finite number above 0", self.bandwidth)
        object.__setattr__(self, "bandwidth", float(self.bandwidth))
        check_fitted_numbers(self, "fitted")
        if not 0 < len(self.fitted) <= MOST_ROWS:
            raise ScoreError.parameter("FuzzyClasses", "fitted", f"1 to {MOST_ROWS:,} numbers", self.fitted)
        expected = f"one number of rows per class in column order, {len(self.fitted):,} in all"
        counts = by_column(self, "counts", expected)
        if not all(is_whole(count) and count >= 0 for count in counts) or sum(counts) != len(self.fitted):
            raise ScoreError.parameter("FuzzyClasses", "counts", expected, self.counts)
        object.__setattr__(self, "counts", tuple(map(int, counts)))
        keys = np.array(self.fitted)
        object.__setattr__(self, "fitted", tuple(keys[np.lexsort((keys, self._columns))].tolist()))
        checked_traits(self.score, None, self.n_columns)
        check_single_key(self.score, self.n_columns, "FuzzyClasses")

    @property
    def n_columns(self) -> int:
        """Number of classes."""
        return len(self.counts)

    @property
    def _columns(self) -> Ints:
        """The column of the class of each fitting row."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    def __repr__(self) -> str:
        return f"FuzzyClasses({self.score!r}, fitted to {len(self.fitted):,} rows of {self.n_columns:,} classes)"

    @classmethod
    def fit(
        cls,
        probs: ArrayLike,
        labels: ArrayLike,
        *,
        score: Score | str = Thr(),  # noqa: B008
        bandwidth: float = 0.1,
        kind: Kind = "probs",
    ) -> FuzzyClasses:
        """Keep the scores of the true labels of some rows. Do not calibrate on the same rows.

        Parameters
        ----------
        probs : array-like (n, K)
            Model outputs for rows that are not used for calibration. The first 50,000 of them are used.
        labels : array-like (n,)
            True labels of these rows, as column numbers.
        score : Score or str, default Thr()
            The score. It must have one key.
        bandwidth : float, default 0.1
            How different the rarity of classes may be that count.
        kind : {"probs", "logits", "binary"}, default "probs"
            The type of values in ``probs``.

        Returns
        -------
        FuzzyClasses
            The fitted score.

        Raises
        ------
        KindError, InputError, LabelError, ScoreError
            If the rows, labels, score or bandwidth are invalid, or if there are no rows.

        Examples
        --------
        >>> import rankset as rs
        >>> rs.FuzzyClasses.fit([[0.75, 0.25], [0.5, 0.5]], [0, 1]).fitted
        (-0.75, -0.5)
        """
        measure = checked_score(score)
        data = rows_to_fit(probs, labels, kind, measure)
        if len(data) > MOST_ROWS:
            data = data.take(np.arange(MOST_ROWS))
        check_single_key(measure, data.n_columns, "FuzzyClasses")
        keys, columns = label_keys(measure, data), label_columns(data)
        counts = np.bincount(columns, minlength=data.n_columns)
        return cls(measure, tuple(keys[np.argsort(columns)].tolist()), tuple(counts.tolist()), bandwidth)

    @cached_property
    def _steps(self) -> tuple[Ints, Floats, Floats]:
        """Return the line of every class in a table, distinct scores, and the table of shares below each of them."""
        sizes, lines = np.unique(self.counts, return_inverse=True)
        rarity = sizes / sizes.max()
        distinct, places = np.unique(np.array(self.fitted), return_inverse=True)
        gaps = (rarity[:, np.newaxis] - rarity) ** 2 * (sizes[:, np.newaxis] + 1) / (2 * self.bandwidth)
        weights = exp_of_nonpositive(-gaps)
        size_of_row = lines[self._columns]
        table = np.zeros((len(sizes), len(distinct) + 1))
        for line, weight in enumerate(weights):
            table[line, 1:] = np.cumsum(np.bincount(places, weight[size_of_row], minlength=len(distinct)))
        table /= np.maximum(table[:, -1:], np.finfo(np.float64).tiny)
        return lines.astype(np.int64), distinct, table

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields for pickling, without the table that is computed from them."""
        return {name: value for name, value in vars(self).items() if name != "_steps"}

    @property
    def features(self) -> frozenset[str]:
        """Names of the features that ``keys`` reads."""
        return self._inner.features | {"column"}

    def keys(self, cells: Cells) -> tuple[NDArray[Any], ...]:
        """Return the weighted share of fitting rows whose score is smaller than that of the label."""
        (key,) = as_tuple(self.score.keys(cells))
        lines, distinct, table = self._steps
        return (table[lines[cells.column], np.searchsorted(distinct, key, side="left")],)

    def reach(self, bounds: Keys) -> Reach:
        """Return the ``Reach`` of the inner score at the largest score that any class can have in a set."""
        _, distinct, table = self._steps
        last = np.max([np.searchsorted(line, bounds[0], side="right") for line in table], axis=0) - 1
        largest = distinct[np.clip(last, 0, len(distinct) - 1)]
        inner, unlimited = reach_of(self.score, (largest,)), Reach()
        limits = ((getattr(unlimited, name), getattr(inner, name)) for name in REACHES)
        return Reach(*(np.where(last >= len(distinct), free, limit) for free, limit in limits))

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:  # noqa: ARG002
        """Return the lowest and highest possible value of the key."""
        return ((0.0, 1.0),)

    def can_be_empty(self, threshold: Sequence[float], n_columns: int | None) -> bool:  # noqa: ARG002
        """Return whether all labels of a row can be too unusual, as far as is known."""
        return threshold[0] < 1

    def describe(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return which labels are in a set, in words."""
        share = wording.number(threshold[0])
        return (
            f"keeps labels for which at most {share} of the fitting rows, weighted by how rare their classes are, have "
            f"a smaller score value of {self.score!r}"
        )
