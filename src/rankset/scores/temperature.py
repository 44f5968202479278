"""``Temperature``: THR after temperature scaling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.inputs.matrix import Kind
from rankset.inputs.prepare import Prepared
from rankset.scores.recalibration.fit_rows import prepare_fit, probabilities_and_columns
from rankset.scores.recalibration.fit_scale import fit_scale
from rankset.scores.recalibration.logarithms import log_probabilities, normalise
from rankset.scores.recalibration.row_blocks import map_rows
from rankset.scores.recalibration.scale import HasTemperature
from rankset.scores.thr import ProbabilityKeys
from rankset.scores.wording import Wording


@dataclass(frozen=True)
class Temperature(HasTemperature, ProbabilityKeys):
    """THR after temperature scaling: p ** (1 / temperature), divided by the sum of the row.

    Use ``Tempered`` for temperature scaling with another score. ``Tempered(Thr(), temperature)`` has nearly the same
    sets. This score compares logarithms, so it also tells probabilities apart that are too small for a float.

    Parameters
    ----------
    temperature : float, default 1.0
        The temperature. A value below 1 increases the largest probability of each row. A value above 1 decreases it.

    Attributes
    ----------
    scale : float
        1 / temperature. Rule files store this number. Two scores are equal if their ``scale`` is equal.

    Raises
    ------
    ScoreError
        If ``temperature`` is not a number of at least 0.000001.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> score = rs.Temperature.fit(probs[:100], labels[:100])
    >>> rs.calibrate(probs[100:], labels[100:], method=score).predict([[0.6, 0.3, 0.1, 0.0]], alpha=0.1).to_lists()
    [[0, 1]]
    """

    temperature: float = field(default=1.0, compare=False)
    scale: float = field(init=False, repr=False)
    needs_probs: ClassVar[bool] = True
    stored: ClassVar[tuple[str, ...]] = ("scale",)

    def __post_init__(self) -> None:
        self._set_scale()

    @classmethod
    def fit(cls, probs: ArrayLike, labels: ArrayLike, *, kind: Kind = "probs") -> Temperature:
        """Fit the temperature by penalised maximum likelihood. Do not calibrate on the same rows.

        The penalty is (1 / temperature - 1)² / 2, so that few rows give a temperature near 1. With many rows it has no
        visible effect.

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
        >>> round(rs.Temperature.fit(probs, labels).temperature, 3)
        0.559
        """
        return cls.fit_prepared(prepare_fit(probs, labels, kind))

    @classmethod
    def fit_prepared(cls, data: Prepared) -> Temperature:
        """Fit the temperature on rows that are already validated. For internal use; call ``fit`` instead.

        Parameters
        ----------
        data : Prepared
            Validated rows with labels, from ``rankset.inputs.prepare``.

        Returns
        -------
        Temperature
            The fitted score.

        Examples
        --------
        >>> import rankset as rs
        >>> from rankset.inputs.prepare import prepare
        >>> probs, labels = rs.datasets.load("marketing")
        >>> rs.Temperature.fit_prepared(prepare(probs, labels)) == rs.Temperature.fit(probs, labels)
        True
        """
        return cls.from_stored(fit_scale(*probabilities_and_columns(data)))

    def transform(self, probs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the logarithms of the recalibrated probabilities (n, K)."""
        return map_rows(lambda rows: normalise(self.scale * log_probabilities(rows)), probs)

    def describe(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return which labels are in a set, in words of the recalibrated probability."""
        return super().describe(threshold, wording.recalibrated())

    def describe_label(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return when a label is in the set, in words of the recalibrated probability."""
        return super().describe_label(threshold, wording.recalibrated())
