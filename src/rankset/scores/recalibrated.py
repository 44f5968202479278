"""``Recalibrated``: THR on probabilities that are recalibrated with rank, row entropy and class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.errors import ScoreError
from rankset.inputs.matrix import Kind
from rankset.inputs.prepare import Prepared
from rankset.scores.parameters import check_fitted_numbers
from rankset.scores.recalibration.features import Features
from rankset.scores.recalibration.fit_class_factors import fit_weights_and_factors
from rankset.scores.recalibration.fit_rows import prepare_fit, probabilities_and_columns
from rankset.scores.recalibration.fit_scale import fit_scale
from rankset.scores.recalibration.fit_weights import PRIOR
from rankset.scores.recalibration.logarithms import normalise
from rankset.scores.recalibration.row_blocks import map_rows
from rankset.scores.recalibration.scale import HasTemperature
from rankset.scores.thr import ProbabilityKeys
from rankset.scores.wording import Wording

MOST_CELLS = 10_000_000
"""Rows times classes to fit on, at most (but at least 200 rows)."""


@dataclass(frozen=True, repr=False)
class Recalibrated(HasTemperature, ProbabilityKeys):
    """THR on probabilities that are recalibrated with rank, row entropy and class.

    A conditional logit model computes the new probabilities. Its features are the log-probability after temperature
    scaling, the rank, whether the label has rank 1, and the entropy of the row. It can also have a factor for each
    class. With the default parameters, the score is equivalent to THR. ``Recalibrated.fit`` estimates the parameters.

    Parameters
    ----------
    temperature : float, default 1.0
        The temperature, as in ``Temperature``.
    weights : sequence of 7 floats
        Weights of seven features. The first four are the log-probability, minus the log-rank, an indicator of rank 1,
        and the squared log-probability divided by 10. The last three are the first three features multiplied by the
        scaled entropy of the row. The default weights do not change the probabilities.
    factors : sequence of float, default ()
        Logarithm of the factor of each class. Empty if the model has no class factors.

    Attributes
    ----------
    scale : float
        1 / temperature. Rule files store this number.

    Raises
    ------
    ScoreError
        If a parameter is not a number or is larger than 1,000,000, or if the number of weights is not 7.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> score = rs.Recalibrated.fit(probs[:100], labels[:100])
    >>> rs.calibrate(probs[100:], labels[100:], method=score).predict([[0.6, 0.3, 0.1, 0.0]], alpha=0.1).to_lists()
    [[0, 1]]
    """

    temperature: float = field(default=1.0, compare=False)
    weights: tuple[float, ...] = tuple(PRIOR.tolist())
    factors: tuple[float, ...] = ()
    scale: float = field(init=False)
    needs_probs: ClassVar[bool] = True
    stored: ClassVar[tuple[str, ...]] = ("scale", "weights", "factors")

    def __post_init__(self) -> None:
        check_fitted_numbers(self, "weights", len(PRIOR))
        check_fitted_numbers(self, "factors")
        self._set_scale()

    def __repr__(self) -> str:
        weights = ", ".join(f"{weight:.3g}" for weight in self.weights)
        factors = f", factors of {len(self.factors):,} classes" if self.factors else ""
        return f"Recalibrated(temperature={self.temperature:.3g}, weights=({weights}){factors})"

    @property
    def n_columns(self) -> int | None:
        """Number of classes in the fit, or None if there are no class factors."""
        return len(self.factors) or None

    @classmethod
    def fit(
        cls, probs: ArrayLike, labels: ArrayLike, *, kind: Kind = "probs", class_factors: bool = True
    ) -> Recalibrated:
        """Fit the parameters by penalised maximum likelihood. Do not calibrate on the same rows.

        Parameters
        ----------
        probs : array-like (n, K)
            Model outputs for rows that are not used for calibration.
        labels : array-like (n,)
            True labels of these rows, as column numbers.
        kind : {"probs", "logits", "binary"}, default "probs"
            The type of values in ``probs``.
        class_factors : bool, default True
            Whether to fit a factor for each class. Pass False if class frequencies will be different in new data.

        Returns
        -------
        Recalibrated
            The fitted score.

        Raises
        ------
        KindError, InputError, LabelError
            If the rows or labels are invalid, or if there are no rows.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> rs.Recalibrated.fit(probs, labels, class_factors=False).n_columns is None
        True
        """
        return cls.fit_prepared(prepare_fit(probs, labels, kind), class_factors=class_factors)

    @classmethod
    def fit_prepared(cls, data: Prepared, *, class_factors: bool) -> Recalibrated:
        """Fit the parameters on rows that are already validated. For internal use; call ``fit`` instead.

        Parameters
        ----------
        data : Prepared
            Validated rows with labels, from ``rankset.inputs.prepare``.
        class_factors : bool
            As in ``fit``.

        Returns
        -------
        Recalibrated
            The fitted score.

        Examples
        --------
        >>> import rankset as rs
        >>> from rankset.inputs.prepare import prepare
        >>> probs, labels = rs.datasets.load("marketing")
        >>> fitted = rs.Recalibrated.fit_prepared(prepare(probs, labels), class_factors=True)
        >>> fitted == rs.Recalibrated.fit(probs, labels)
        True
        """
        rows, columns = probabilities_and_columns(data)
        scale = fit_scale(rows, columns)
        most = max(200, MOST_CELLS // rows.shape[1])
        features = Features.of_many(rows[:most], scale)
        weights, factors = fit_weights_and_factors(features, columns[:most], class_factors=class_factors)
        fitted = tuple(factors.tolist()) if factors.any() else ()
        return cls.from_stored(scale, weights=tuple(weights.tolist()), factors=fitted)

    def transform(self, probs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the logarithms of the recalibrated probabilities (n, K)."""
        width = probs.shape[1]
        if self.factors and width > len(self.factors):
            raise ScoreError.fitted_columns(self, len(self.factors), width)
        weights, factors = np.array(self.weights), np.array(self.factors[:width])

        def logs(rows: NDArray[np.float64]) -> NDArray[np.float64]:
            scores = Features.of(rows, self.scale).weighted_sum(weights)
            return normalise(scores + factors if self.factors else scores)

        return map_rows(logs, probs)

    def describe(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return which labels are in a set, in words of the recalibrated probability."""
        return super().describe(threshold, wording.recalibrated())

    def describe_label(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return when a label is in the set, in words of the recalibrated probability."""
        return super().describe_label(threshold, wording.recalibrated())
