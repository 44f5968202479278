"""``Seen``: applies a score to the classes seen in training. All other classes come after these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core.arrays import is_whole
from rankset.core.cells import Cells
from rankset.core.grid import on_grid
from rankset.core.lexicographic import Keys
from rankset.errors import ScoreError
from rankset.inputs.label_counts import columns_of_labels
from rankset.scores.application import as_tuple, transform_rows
from rankset.scores.base import Score, checked_score
from rankset.scores.declarations import Traits, check_names, checked_traits, traits
from rankset.scores.parameters import check_count, list_parameter
from rankset.scores.reach import REACHES, Reach, reach_of
from rankset.scores.thr import Thr
from rankset.scores.wording import Wording, can_be_empty, describe_threshold, in_numbers

UNSEEN_FACTOR = 2.0**-60
"""Factor for the probabilities of unseen classes."""


@dataclass(frozen=True, repr=False)
class Seen:
    """Apply a score to the classes seen in training. Unseen classes are more unusual than all seen classes.

    The probabilities of each row are first divided by the total probability of the seen classes. ``Seen.fit`` finds
    the seen classes in a list of labels, for example the labels of the training rows. Do not use the labels of
    calibration rows: the guarantee holds only if the list of seen classes is fixed before calibration.

    A set contains labels of unseen classes only if the fraction of calibration rows with unseen classes is larger
    than about alpha. Otherwise, a row with an unseen class is not covered: its set does not contain its true label. The
    score needs probabilities or logits.

    Parameters
    ----------
    score : Score
        The score applied to the seen classes.
    columns : sequence of int
        Columns of the seen classes.
    n_columns : int
        Number of all classes, seen and unseen.
    names : sequence, optional
        Names of all classes in column order. If given, calibration with different names or a different order raises
        an error.

    Raises
    ------
    KindError
        If ``score`` is not a score.
    ScoreError
        If ``columns``, ``n_columns`` or ``names`` is invalid, or if they contradict each other.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> score = rs.Seen(rs.Thr(), columns=[0, 1, 2], n_columns=4)
    >>> rs.calibrate(probs, labels, method=score).predict([[0.1, 0.2, 0.1, 0.6]], alpha=0.3).to_lists()
    [[1]]
    """

    score: Score
    columns: tuple[int, ...]
    n_columns: int
    names: tuple[Any, ...] | None = field(default=None, compare=False)
    needs_probs: ClassVar[bool] = True
    takes_marginals: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "score", checked_score(self.score))
        check_count(self, "n_columns")
        expected = f"different column numbers from 0 to {self.n_columns - 1}"
        columns = list_parameter(self, "columns", expected)
        distinct = all(map(is_whole, columns)) and len(set(columns)) == len(columns)
        if not distinct or not all(0 <= column < self.n_columns for column in columns):
            raise ScoreError.parameter("Seen", "columns", expected, self.columns)
        object.__setattr__(self, "columns", tuple(sorted(map(int, columns))))
        checked_traits(self.score, None, self.n_columns)
        if self.names is not None:
            self._check_number_of_names()

    def _check_number_of_names(self) -> None:
        expected = f"{self.n_columns} names in column order"
        names = list_parameter(self, "names", expected)
        if len(names) != self.n_columns:
            raise ScoreError.parameter("Seen", "names", expected, self.names)
        object.__setattr__(self, "names", names)

    @classmethod
    def fit(cls, labels: ArrayLike, classes: int | Iterable[object], score: Score = Thr()) -> Seen:  # noqa: B008
        """Return a score whose seen classes are the classes in ``labels``. Do not calibrate on the same rows.

        Parameters
        ----------
        labels : array-like
            Labels of rows that are not used for calibration, for example of the training rows.
        classes : int or sequence
            Number of classes, or class names in column order.
        score : Score, default Thr()
            The score applied to the seen classes.

        Returns
        -------
        Seen
            A score for all classes, seen and unseen.

        Raises
        ------
        KindError
            If ``labels`` or ``classes`` has the wrong type.
        InputError
            If there are no labels.
        LabelError
            If a label is not one of ``classes``.

        Examples
        --------
        >>> import rankset as rs
        >>> rs.Seen.fit(["cat", "fox", "cat"], ["ant", "cat", "fox", "owl"])
        Seen(Thr(), 2 of 4 classes)
        """
        values, codes = columns_of_labels(labels, classes)
        names = None if isinstance(values, range) else tuple(values)
        return cls(score, tuple(np.unique(codes).tolist()), len(values), names)

    def __repr__(self) -> str:
        return f"Seen({self.score!r}, {len(self.columns):,} of {self.n_columns:,} classes)"

    @cached_property
    def _inner(self) -> Traits:
        return traits(self.score)

    @property
    def features(self) -> frozenset[str]:
        """Names of the features that ``keys`` reads."""
        return self._inner.features | {"column"}

    @property
    def caveat(self) -> str | None:
        """The caveat of the inner score, or None."""
        return self._inner.caveat

    def check_names(self, names: Sequence[object]) -> None:
        """Raise a ScoreError if the class names, in column order, differ from the class names used in the fit."""
        numbered = self.names is None and all(type(name) is int for name in names)
        known: Any = range(self.n_columns) if numbered else self.names
        if known is not None and list(known) != list(names):
            raise ScoreError.fitted_names(self, known, names)
        check_names(self.score, names)

    def transform(self, probs: NDArray[Any]) -> NDArray[Any]:
        """Divide the rows by the total probability of the seen classes. Probabilities of unseen classes become tiny."""
        if probs.shape[1] > self.n_columns:
            raise ScoreError.fitted_columns(self, self.n_columns, probs.shape[1])
        unseen = self._unseen[: probs.shape[1]] == 1
        totals = on_grid(np.where(unseen, 0.0, probs)).sum(axis=1, keepdims=True)
        shares = probs / np.where(totals > 0, totals, 1.0)
        among_seen = np.where(unseen, probs * UNSEEN_FACTOR, shares)
        return transform_rows(self.score, among_seen) if self._inner.transforms else among_seen

    def keys(self, cells: Cells) -> tuple[NDArray[Any], ...]:
        """Return 0 for seen and 1 for unseen classes, then the keys of the inner score."""
        return self._unseen[cells.column], *as_tuple(self.score.keys(cells))

    @property
    def _unseen(self) -> NDArray[np.int64]:
        """Array (K,): 1 for each column of an unseen class, 0 for each column of a seen class."""
        unseen = np.ones(self.n_columns, dtype=np.int64)
        unseen[list(self.columns)] = 0
        return unseen

    def reach(self, bounds: Keys) -> Reach:
        """Return the ``Reach`` of the inner score, or a ``Reach`` without limits if unseen classes can be in a set."""
        inner = reach_of(self.score, bounds[1:])
        unlimited = Reach()
        limits = ((getattr(unlimited, name), getattr(inner, name)) for name in REACHES)
        return Reach(*(np.where(bounds[0] > 0, free, limit) for free, limit in limits))

    def can_be_empty(self, threshold: Sequence[float], n_columns: int | None) -> bool:  # noqa: ARG002
        """Return whether the inner score can leave out the most likely of the seen classes."""
        return threshold[0] <= 0 and can_be_empty(self.score, threshold[1:], len(self.columns))

    def describe(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return which labels are in a set, in words."""
        count = f"{len(self.columns):,} class{'es' * (len(self.columns) != 1)} seen in training"
        if threshold[0] <= 0:
            inner = describe_threshold(self.score, threshold[1:], wording)
            return (
                f"leaves out all but the {count}: counts the probabilities of the others as almost 0, divides those of "
                f"the {count} by their sum, and {inner}"
            )
        if self._inner.key_features == ("prob",) and not self._inner.transforms:
            others = wording.number(-threshold[1] / UNSEEN_FACTOR)
            return f"keeps the {count}, and other labels with a probability of at least {others}"
        return f"keeps the {count}; of the other labels, it {in_numbers(threshold[1:], wording)}"
