"""Predictions of a rule: sets at any alpha, p-values, and the expected size of sets."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core.alpha import Alpha, exact_alpha
from rankset.core.alpha_argument import takes_alpha
from rankset.core.calibration import Calibration
from rankset.errors import RuleError
from rankset.inputs.prepare import Prepared, prepare
from rankset.rules import all_labels
from rankset.rules.batch import warn_of_unseen_rows
from rankset.rules.levels import HasLevels
from rankset.rules.select import Empty
from rankset.rules.spec import RuleSpec
from rankset.rules.summaries import Estimate
from rankset.sets import PredictionSets


class PredictsSets(HasLevels):
    """Methods of ``Rule`` that predict."""

    spec: RuleSpec
    calibration: Calibration

    @takes_alpha
    def predict(
        self,
        probs: ArrayLike,
        alpha: Alpha,
        *,
        groups: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        empty: Empty = "allow",
        confidence: Alpha | None = None,
        next_rows: int | None = None,
        all_groups: bool = False,
    ) -> PredictionSets:
        """Return prediction sets that contain the true label with probability at least 1 - ``alpha``.

        The probability is a mean over calibrations: one calibration can have a coverage below 1 - alpha. With
        ``confidence=0.95`` this calibration has a coverage of at least 1 - alpha with probability 0.95. Sets are then
        larger. If the rule has another target, the promise is that of the target.

        If the true label of calibration rows was ``rankset.ABSENT``, the probability can be smaller: ``calibrate`` says
        what holds. If these rows are too many for this alpha, every candidate is in its set, and a warning names the
        smallest alpha at which sets leave candidates out.

        Parameters
        ----------
        probs
            Rows to predict. They must have the same kind and the same classes as the calibration rows.
        alpha
            The allowed error rate, strictly between 0 and 1, as a float, a string such as "0.1", or a Fraction.
        groups
            The group of each row. Needed if the condition uses groups.
        ids
            The id of each row. Needed if the score is randomised and the rule was calibrated with ids.
        weights
            The weight of each row, or one number for all rows. Needed if the rule was calibrated with weights, on the
            same scale.
        empty
            "allow" or "top". A set is empty if every label of the row is too unusual. With one threshold and the
            scores Rank and Margin, this happens only if the model is right on at least 1 - alpha of the calibration
            rows. With Thr, it happens if the largest probability of the row is below the threshold. With Aps, Raps
            and Saps, the random draw can leave out the most likely label. "allow" keeps empty sets. "top" puts the
            most likely label into them. This can only raise coverage.
        confidence
            Probability that the promise holds for this calibration, such as 0.95. By default the promise is about the
            mean over calibrations.
        next_rows
            With ``confidence``: the promise is about the share of missed rows among so many new rows. By default it is
            about the share among all future rows.
        all_groups
            With ``confidence``: the promise holds for all groups of the condition at once. By default it holds for
            each group, and the more groups there are, the more likely it is that it does not hold for one of them.

        Returns
        -------
        PredictionSets

        Raises
        ------
        LevelError
            If ``alpha`` is not strictly between 0 and 1.
        RanksetError
            If rows, groups or ids are invalid.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> rs.calibrate(probs, labels).predict([[0.6, 0.3, 0.1, 0.0]], alpha=0.1).to_lists()
        [[0, 1]]
        """
        if confidence is None and next_rows is None and not all_groups:
            at_level = self._at_level(exact_alpha(alpha))
            return at_level.predict(probs, groups=groups, ids=ids, weights=weights, empty=empty)
        asked = self.at(alpha, confidence=confidence, next_rows=next_rows, all_groups=all_groups)
        return asked.predict(probs, groups=groups, ids=ids, weights=weights, empty=empty)

    @takes_alpha
    def predict_parts(
        self,
        probs: ArrayLike,
        alpha: Alpha,
        *,
        groups: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        empty: Empty = "allow",
        rows: int | None = 100_000,
        confidence: Alpha | None = None,
        next_rows: int | None = None,
        all_groups: bool = False,
    ) -> Iterator[PredictionSets]:
        """Predict the sets in parts of ``rows`` rows. Use this if all sets together do not fit into memory.

        Parameters
        ----------
        probs, alpha, groups, ids, weights, empty, confidence, next_rows, all_groups
            As in ``predict``.
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
        >>> [len(sets) for sets in rs.calibrate(probs, labels).predict_parts(probs, 0.1, rows=100)]
        [100, 100, 60]
        """
        asked = self.at(alpha, confidence=confidence, next_rows=next_rows, all_groups=all_groups)
        return asked.predict_parts(probs, groups=groups, ids=ids, weights=weights, empty=empty, rows=rows)

    def p_values(
        self,
        probs: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        weights: ArrayLike | None = None,
    ) -> NDArray[np.float64]:
        """Return the p-value of each label of each row. Small p-values mean unusual labels.

        A label is in the set at alpha if and only if its p-value is larger than alpha.

        Parameters
        ----------
        probs, groups, ids, weights
            As in ``predict``.

        Returns
        -------
        numpy.ndarray (n, K)
            You can compare p-values with any alpha of up to 15 digits. Rounding errors do not change
            the result. With weights, p-values are rounded to 16 digits.

        Raises
        ------
        RanksetError
            If rows, groups or ids are invalid.

        Examples
        --------
        >>> import rankset as rs
        >>> rule = rs.calibrate([[0.8, 0.2], [0.3, 0.7], [0.6, 0.4]], [0, 1, 1], method=rs.Thr())
        >>> rule.p_values([[0.75, 0.25]])
        array([[0.75, 0.25]])
        """
        if self.spec.below:
            raise RuleError.no_p_values(self.spec.target)
        return self._p_values(self._prepare(probs, groups=groups, ids=ids, weights=weights))

    def _p_values(self, data: Prepared) -> NDArray[np.float64]:
        """Return the p-values of prepared rows; padding has p-value 0."""
        p_values = all_labels.p_values(self.spec, self._rows, data)
        warn_of_unseen_rows(self.spec, data)
        if data.counts is not None:
            p_values[np.arange(data.n_columns) >= data.counts[:, np.newaxis]] = 0.0
        return p_values

    def _tails(self, data: Prepared) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return for every label (n, K) how many calibration rows of its group have keys at least as large, and how
        many rows the group has."""
        return all_labels.tails(self.spec, self._rows, data)

    @takes_alpha
    def expected_size(
        self,
        probs: ArrayLike,
        alpha: Alpha,
        *,
        groups: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        empty: Empty = "allow",
    ) -> Estimate:
        """Estimate the mean size of the sets at ``alpha`` from rows without labels.

        Parameters
        ----------
        probs, alpha, groups, ids, weights, empty
            As in ``predict``.

        Returns
        -------
        Estimate
            The mean size and its standard error.

        Raises
        ------
        RuleError
            If there are no rows.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> rs.calibrate(probs, labels).expected_size(probs, 0.1)
        Estimate(mean=2.66154, error=0.0294, n=260)
        """
        return Estimate.of_sizes(self.predict(probs, alpha, groups=groups, ids=ids, weights=weights, empty=empty).sizes)

    def _prepare(
        self,
        probs: ArrayLike,
        labels: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        weights: ArrayLike | None = None,
    ) -> Prepared:
        """Check rows, which must have the columns of the calibration, and labels, groups, ids and weights."""
        classes = self.spec.classes_of(probs) if labels is None else self.spec.classes
        per_row = {"groups": groups, "ids": ids, "weights": weights}
        return prepare(probs, labels, kind=self.spec.kind, classes=classes, several=self.spec.several_labels, **per_row)
