"""``Recalibrated``: THR on probabilities recalibrated by rank, row entropy and class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.errors import ScoreError
from rankset.inputs.matrix import Kind
from rankset.inputs.prepare import Prepared
from rankset.scores.parameters import check_fitted_numbers, check_fitted_scale
from rankset.scores.recalibration.features import Features
from rankset.scores.recalibration.fit_class_factors import fit_weights_and_factors
from rankset.scores.recalibration.fit_rows import prepare_fit, probabilities_and_columns
from rankset.scores.recalibration.fit_scale import fit_scale
from rankset.scores.recalibration.fit_weights import PRIOR
from rankset.scores.recalibration.logarithms import log_probabilities, normalise
from rankset.scores.thr import ProbabilityKeys

MOST_CELLS = 10_000_000
"""Rows times classes to fit on, at most (but at least 200 rows)."""


@dataclass(frozen=True, repr=False)
class Recalibrated(ProbabilityKeys):
    """THR on probabilities recalibrated by rank, row entropy and class.

    The new probabilities come from a conditional logit model. Its features are the log-probability after temperature
    scaling, the rank, whether the label is first, and the entropy of the row; every class may have a factor. THR is
    the special case with weights 1, 0, 0, …; RANK is a limit. ``Recalibrated.fit`` finds the numbers.

    Parameters
    ----------
    scale : float, default 1.0
        Power of the probabilities, as in ``Temperature``.
    weights : sequence of 7 floats
        Weights of the features. The default changes nothing.
    factors : sequence of float, default ()
        Logarithm of a factor for every class; empty for none.

    Raises
    ------
    ScoreError
        If a parameter is not a number, too large, or the number of weights is not 7.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> score = rs.Recalibrated.fit(probs[:100], labels[:100])
    >>> rs.calibrate(probs[100:], labels[100:], score=score).predict([[0.6, 0.3, 0.1, 0.0]], alpha=0.1).to_lists()
    [[0, 1]]
    """

    scale: float = 1.0
    weights: tuple[float, ...] = tuple(PRIOR.tolist())
    factors: tuple[float, ...] = ()
    needs_probs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_fitted_numbers(self, "weights", len(PRIOR))
        check_fitted_numbers(self, "factors")
        check_fitted_scale(self, "scale")

    def __repr__(self) -> str:
        weights = ", ".join(f"{weight:.3g}" for weight in self.weights)
        factors = f", factors of {len(self.factors):,} classes" if self.factors else ""
        return f"Recalibrated(scale={self.scale:.3g}, weights=({weights}){factors})"

    @property
    def n_columns(self) -> int | None:
        """Number of classes the score was fitted for; None without class factors."""
        return len(self.factors) or None

    @classmethod
    def fit(
        cls, probs: ArrayLike, labels: ArrayLike, *, kind: Kind = "probs", class_factors: bool = True
    ) -> Recalibrated:
        """Return the recalibration under which the labels of these rows are most likely. These rows must not calibrate.

        Parameters
        ----------
        probs : array-like (n, K)
            What the model says of rows that do not calibrate.
        labels : array-like (n,)
            Their labels, as column numbers.
        kind : {"probs", "logits", "binary"}, default "probs"
            What ``probs`` are.
        class_factors : bool, default True
            Whether to fit a factor for every class. Pass False if classes will be more or less frequent in new data.

        Returns
        -------
        Recalibrated
            The fitted score.

        Raises
        ------
        KindError, InputError, LabelError
            If rows or labels cannot be used for a fit.

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
        """Return the same as ``fit`` for prepared rows. For internal use.

        Parameters
        ----------
        data : Prepared
            Rows with labels.
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
        scale = fit_scale(log_probabilities(rows), columns)
        most = max(200, MOST_CELLS // rows.shape[1])
        features = Features.of(rows[:most], scale)
        weights, factors = fit_weights_and_factors(features, columns[:most], class_factors=class_factors)
        return cls(scale, tuple(weights.tolist()), tuple(factors.tolist()) if factors.any() else ())

    def transform(self, probs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Logarithms of the recalibrated probabilities (n, K)."""
        width = probs.shape[1]
        if self.factors and width > len(self.factors):
            raise ScoreError.fitted_columns(self, len(self.factors), width)
        scores = Features.of(probs, self.scale).weighted_sum(np.array(self.weights))
        return normalise(scores + np.array(self.factors[:width]) if self.factors else scores)
