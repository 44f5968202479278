"""``Temperature``: THR after temperature scaling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.inputs.matrix import Kind
from rankset.scores.parameters import check_fitted_scale
from rankset.scores.recalibration.fit_rows import prepare_fit, probabilities_and_columns
from rankset.scores.recalibration.fit_scale import fit_scale
from rankset.scores.recalibration.logarithms import log_probabilities, normalise
from rankset.scores.thr import ProbabilityKeys


@dataclass(frozen=True)
class Temperature(ProbabilityKeys):
    """THR after temperature scaling: probabilities are raised to the power ``scale`` and divided by their sum.

    Parameters
    ----------
    scale : float, default 1.0
        Exponent (1 / temperature). Values above 1 increase the largest probability of each row. Values below 1
        decrease the largest probability of each row.

    Raises
    ------
    ScoreError
        If ``scale`` is not a number > 0, or if it is larger than 1,000,000.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> score = rs.Temperature.fit(probs[:100], labels[:100])
    >>> rs.calibrate(probs[100:], labels[100:], method=score).predict([[0.6, 0.3, 0.1, 0.0]], alpha=0.1).to_lists()
    [[0, 1]]
    """

    scale: float = 1.0
    needs_probs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_fitted_scale(self, "scale")

    @classmethod
    def fit(cls, probs: ArrayLike, labels: ArrayLike, *, kind: Kind = "probs") -> Temperature:
        """Fit ``scale`` by maximum likelihood. Do not calibrate on the same rows.

        Parameters
        ----------
        probs : array-like (n, K)
            Model outputs for rows that are not used for calibration.
        labels : array-like (n,)
            True labels of these rows, as column numbers.
        kind : {"probs", "logits", "binary"}, default "probs"
            The type of values in ``probs``.

        Returns
        -------
        Temperature
            The fitted score.

        Raises
        ------
        KindError, InputError, LabelError
            If the rows or labels are invalid, or if there are no rows.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> round(rs.Temperature.fit(probs, labels).scale, 3)
        1.788
        """
        rows, columns = probabilities_and_columns(prepare_fit(probs, labels, kind))
        return cls(fit_scale(log_probabilities(rows), columns))

    def transform(self, probs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the logarithms of the recalibrated probabilities (n, K)."""
        return normalise(self.scale * log_probabilities(probs))
