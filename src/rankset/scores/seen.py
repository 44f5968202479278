"""``Seen``: any score on the classes that were seen, the other classes after them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core.arrays import is_whole
from rankset.core.cells import Cells, on_grid
from rankset.core.lexicographic import Keys
from rankset.errors import InputError, KindError, ScoreError
from rankset.inputs.per_row import label_codes
from rankset.inputs.row_index import RowIndex
from rankset.inputs.vocabulary import class_names, in_order
from rankset.scores.application import as_tuple, transform_rows
from rankset.scores.base import REACHES, Reach, Score, Traits, checked_score, checked_traits, reach, traits
from rankset.scores.builtin import Thr
from rankset.scores.parameters import check_count

NEXT_TO_NOTHING = 2.0**-60


@dataclass(frozen=True, repr=False)
class Seen:
    """Any score on the classes that were seen; labels of the other classes come after all of theirs.

    Each row is first divided by the probability of the seen classes. ``columns`` are their columns, of ``n_columns`` in
    all. ``Seen.fit`` finds them in labels, for example those the model was trained on, but never those of the rows that
    calibrate: the list must be fixed before the calibration, then the guarantee holds as for every score. Labels of the
    other classes stay in sets only where more calibration rows have such labels than alpha lets out, so these classes,
    taken alone, are mostly not covered. It needs probabilities or logits. ``names`` are those of all classes,
    in column order, if they are known; a calibration with other names, or in another order, is refused.
    """

    score: Score
    columns: tuple[int, ...]
    n_columns: int
    names: tuple[Any, ...] | None = field(default=None, compare=False)
    needs_probs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checked_score(self.score)
        check_count(self, "n_columns")
        expected = f"different columns, each a whole number from 0 to {self.n_columns - 1}"
        given: Any = self.columns
        if not isinstance(given, Iterable) or isinstance(given, str | bytes):
            raise ScoreError.parameter("Seen", "columns", expected, given)
        columns = tuple(given)
        whole = all(map(is_whole, columns))
        if not whole or len(set(columns)) < len(columns) or not all(0 <= column < self.n_columns for column in columns):
            raise ScoreError.parameter("Seen", "columns", expected, given)
        object.__setattr__(self, "columns", tuple(sorted(map(int, columns))))
        checked_traits(self.score, None, self.n_columns)
        names: Any = self.names
        if names is not None:
            if not isinstance(names, Iterable) or isinstance(names, str | bytes) or len(tuple(names)) != self.n_columns:
                raise ScoreError.parameter("Seen", "names", f"{self.n_columns} names in column order", names)
            object.__setattr__(self, "names", tuple(names))

    @classmethod
    def fit(cls, labels: ArrayLike, classes: int | Iterable[object], score: Score = Thr()) -> Seen:  # noqa: B008
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

    @cached_property
    def _inner(self) -> Traits:
        return traits(self.score)

    @property
    def features(self) -> frozenset[str]:
        return self._inner.features | {"column"}

    def check_names(self, names: Sequence[object]) -> None:
        """Refuses class names, in column order, that are not those it was fitted for."""
        numbered = self.names is None and all(type(name) is int for name in names)
        known: Any = range(self.n_columns) if numbered else self.names
        if known is not None and list(known) != list(names):
            raise ScoreError.fitted_names(self, known, names)
        if hasattr(self.score, "check_names"):
            self.score.check_names(names)

    @property
    def caveat(self) -> str | None:
        return self._inner.caveat

    def transform(self, probs: NDArray[Any]) -> NDArray[Any]:
        """Probabilities among the seen classes; those of the others so small that they hardly count, in their order."""
        if probs.shape[1] > self.n_columns:
            raise ScoreError.fitted_columns(self, self.n_columns, probs.shape[1])
        unseen = self._unseen[: probs.shape[1]] == 1
        totals = on_grid(np.where(unseen, 0.0, probs)).sum(axis=1, keepdims=True)
        shares = probs / np.where(totals > 0, totals, 1.0)
        among_seen = np.where(unseen, probs * NEXT_TO_NOTHING, shares)
        return transform_rows(self.score, among_seen) if self._inner.transforms else among_seen

    def keys(self, cells: Cells) -> tuple[NDArray[Any], ...]:
        return self._unseen[cells.column], *as_tuple(self.score.keys(cells))

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
