"""Predictions of a rule for one alpha: single rows, small matrices and large ones, the same sets on every way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core.arrays import is_whole
from rankset.core.calibration import Thresholds
from rankset.core.promise import Promise
from rankset.errors import KindError, RuleError
from rankset.inputs.frames import ARRAY, Template
from rankset.inputs.prepare import Prepared, prepare
from rankset.inputs.single_row import as_rows
from rankset.rules.batch import Batch, warn_of_unseen_rows
from rankset.rules.marking import DirectMarks, marked, smallest_prob
from rankset.rules.one_row import codes_of_one
from rankset.rules.select import EMPTY, Empty, select, select_weighted, shared_reach
from rankset.rules.small_groups import warn_of_kept_groups, warn_of_small_groups
from rankset.rules.spec import ONE_LABEL, RuleSpec
from rankset.rules.weighted_rows import WeightedLevel, warn_of_few_effective_rows
from rankset.scores.reach import Reach
from rankset.sets import CoverageLaw, PredictionSets
from rankset.sets.forms import ListedSets, MarkedSets
from rankset.targets.base import forbids_more_labels

Ints = NDArray[np.int64]


class PredictsAtLevel:
    """Methods of ``LevelRule`` that predict."""

    spec: RuleSpec
    level: Fraction
    thresholds: Thresholds
    counts: Ints
    law: CoverageLaw | None
    absent: Ints | None
    promise: Promise | None
    weighted: WeightedLevel | None
    effective_rows: float | None

    @cached_property
    def _reach(self) -> Reach:
        """How far down a row the labels of a set can be."""
        return shared_reach(self.spec, self.thresholds)

    def _short_path(self, matrix: NDArray[Any]) -> ListedSets | MarkedSets | None:
        """Return the sets of a single row, or of a small matrix if the probability alone decides; None otherwise."""
        if matrix.shape[:1] == (1,):
            codes = self._codes_of_one(matrix)
            return None if codes is None else ListedSets.of_one(codes, len(self.spec.classes.values))
        return None if self._direct_marks is None else self._direct_marks.form(matrix)

    @cached_property
    def _codes_of_one(self) -> Callable[[NDArray[Any]], NDArray[np.int32] | None]:
        """The function that returns the columns of the set of a single row; None if it needs the general path."""
        return codes_of_one(self.spec, self.thresholds, self._reach)

    @cached_property
    def _direct_marks(self) -> DirectMarks | None:
        """The marks of matrices that need no other preparation; None if the rule needs it."""
        least = self._smallest_prob if self.spec.kind == "probs" else None
        return None if least is None else DirectMarks(self.spec, least)

    @cached_property
    def _smallest_prob(self) -> float | None:
        """The smallest probability of a label in a set; None if not the probability alone decides."""
        return smallest_prob(self.spec, self.thresholds, self._reach)

    @cached_property
    def _own(self) -> dict[str, Any]:
        """What sets of rows without index and names of their own have besides their labels."""
        fields = {"names": self.spec.classes, "level": self.level, "law": self.law, "proven": self._proven}
        sure = self._promise.confidence
        promised = {
            "confidence": None if sure is None else float(sure),
            "target": None if self.spec.target == ONE_LABEL else self.spec.target,
            "by_label": self.spec.promises_by_label,
            "balanced": self.spec.balanced,
            "effective_rows": self.effective_rows,
        }
        return {**fields, **promised, "template": ARRAY, "options": None}

    def __call__(
        self,
        probs: ArrayLike | Mapping[Any, Any],
        *,
        groups: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        empty: Empty = "allow",
    ) -> PredictionSets:
        """Return the prediction sets of a matrix of rows, or of one row.

        Parameters
        ----------
        probs
            Rows as in ``Rule.predict``, or one row: a list, array or tensor of K numbers, or a dictionary or series of
            numbers by class name; a class that a dictionary lacks has probability 0. One row is predicted like a matrix
            with one row. An array of float32 or float64 is fastest. For kind "binary", a list of numbers is a list of
            rows.
        groups, ids, weights, empty
            As in ``Rule.predict``. For one row, ``groups`` and ``ids`` are lists with one entry.

        Returns
        -------
        PredictionSets
            ``ask(row)[0]`` are the labels of the set of one row, most likely first.

        Raises
        ------
        RanksetError
            If rows, groups or ids are invalid.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> ask = rs.calibrate(probs, labels).at(0.1)
        >>> ask(probs[0]).to_lists(), len(ask(probs))
        ([[1, 3, 0]], 260)
        """
        if self.spec.kind != "binary" and (type(probs) is not np.ndarray or probs.ndim != 2):
            probs = as_rows(probs)
        return self.predict(cast("ArrayLike", probs), groups=groups, ids=ids, weights=weights, empty=empty)

    def predict(
        self,
        probs: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        empty: Empty = "allow",
    ) -> PredictionSets:
        """Return the prediction sets of these rows. They are the same as those of ``Rule.predict`` at this alpha.

        Parameters
        ----------
        probs, groups, ids, weights, empty
            As in ``Rule.predict``.

        Returns
        -------
        PredictionSets

        Raises
        ------
        RanksetError
            If rows, groups or ids are invalid.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> len(rs.calibrate(probs, labels).at(0.1).predict(probs))
        260
        """
        if type(probs) is np.ndarray and self._is_plain and groups is ids is weights is None and empty == "allow":
            form = self._short_path(probs)
            if form is not None:
                return PredictionSets._of(form, **self._own)
        return self._sets_of(self._prepare(probs, groups, ids, weights, empty), empty)

    def _sets_of(self, data: Prepared, empty: Empty) -> PredictionSets:
        """Return the sets of prepared rows."""
        batch = self._batch(data)
        return self._predict(batch, empty, self._law(batch, empty), data.answers)

    def _predict(self, batch: Batch, empty: Empty, law: CoverageLaw | None, template: Template) -> PredictionSets:
        """Return the sets of prepared rows."""
        data = batch.data
        own = {**self._own, "names": data.classes, "law": law, "template": template, "options": data.options}
        if empty == "allow" and self._smallest_prob is not None and self.weighted is None:
            form = marked(batch, self._smallest_prob)
            if form is not None:
                return PredictionSets._of(form, **own)
        if self.weighted is not None:
            return PredictionSets(*select_weighted(batch, self.weighted, empty), **own)
        return PredictionSets(*select(batch, self.thresholds, self._reach, empty), **own)

    def predict_parts(
        self,
        probs: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        empty: Empty = "allow",
        rows: int | None = 100_000,
    ) -> Iterator[PredictionSets]:
        """Predict the sets in parts of ``rows`` rows. Use this if all sets together do not fit into memory.

        Parameters
        ----------
        probs, groups, ids, weights, empty
            As in ``Rule.predict``.
        rows
            Number of rows in each part. None predicts all rows in one part.

        Returns
        -------
        iterator of PredictionSets
            Types and shapes are checked by this call. The values of a part are checked when
            the part is predicted.

        Raises
        ------
        RanksetError
            If rows, groups or ids are invalid.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> [len(sets) for sets in rs.calibrate(probs, labels).at(0.1).predict_parts(probs, rows=100)]
        [100, 100, 60]
        """
        if rows is not None and (not is_whole(rows) or rows < 1):
            raise KindError.argument("rows", "an integer of at least 1, or None for all rows at once", rows)
        data = self._prepare(probs, groups, ids, weights, empty)
        batch = self._batch(data)
        law, n, answers = self._law(batch, empty), len(data.matrix), data.answers

        def sets_of(part: slice) -> PredictionSets:
            template = answers.rows(np.arange(part.start, part.stop))
            return self._predict(batch.part(part), empty, law, template)

        step = rows or max(n, 1)
        return (sets_of(slice(start, min(start + step, n))) for start in range(0, max(n, 1), step))

    def _prepare(
        self,
        probs: ArrayLike,
        groups: ArrayLike | None,
        ids: ArrayLike | None,
        weights: ArrayLike | None,
        empty: Empty,
    ) -> Prepared:
        """Check all that users pass to predict."""
        self._check_empty(empty)
        classes = self.spec.classes_of(probs)
        return prepare(probs, kind=self.spec.kind, classes=classes, groups=groups, ids=ids, weights=weights)

    def _check_empty(self, empty: Empty) -> None:
        """Raise an error if ``empty`` is no option, or does not fit the target."""
        if not isinstance(empty, str) or empty not in EMPTY:
            raise RuleError.option("empty", empty, EMPTY)
        if empty == "top" and forbids_more_labels(self.spec.target):
            raise RuleError.top_into_empty(self.spec.target)

    def _batch(self, data: Prepared) -> Batch:
        """Return the rows to predict; warn of groups that keep every label, or none, because they have too few rows."""
        batch = Batch.of(self.spec, data)
        if data.groups is not None:
            warn_of_unseen_rows(self.spec, data)
        if self.effective_rows is not None:
            warn_of_few_effective_rows(self.effective_rows, self.level)
        self._warn_of_small_groups(batch.row_groups[: batch.shape[0]])
        return batch

    def _warn_of_small_groups(self, row_groups: NDArray[np.int64] | None = None) -> None:
        """Warn of groups that keep every label, or none: of those of some rows, or of all groups of the rule."""
        if row_groups is None:
            row_groups = np.arange(len(self.spec.groups) if self.spec.condition.needs_groups else 1)
        unsettled = self.thresholds.nothing if self.spec.below else self.thresholds.everything
        if unsettled is None or not unsettled[:-1].any():
            return
        if self.weighted is not None:
            warn_of_kept_groups(self.spec, self.level, unsettled, row_groups)
        else:
            warn_of_small_groups(self.spec, self._promise, self.counts, row_groups, self.absent)

    @property
    def _is_plain(self) -> bool:
        """Whether rows have no weights."""
        return self.weighted is None

    @property
    def _promise(self) -> Promise:
        """What is promised."""
        return self.promise or Promise(self.level)

    @property
    def _proven(self) -> float | None:
        """The proven coverage, if it is not 1 - alpha."""
        return None if self.spec.guaranteed else 0.0

    def _law(self, batch: Batch, empty: Empty) -> CoverageLaw | None:
        """Return the law of coverage of these rows, if one is known; filling empty sets only raises coverage."""
        if self.law is None or (batch.row_groups < 0).any():
            return None
        return self.law if empty == "allow" else replace(self.law, exact=False)
