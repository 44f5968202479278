"""``Tempered``: any score on probabilities after temperature scaling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core.arrays import SUM_TOLERANCE
from rankset.core.cells import Cells
from rankset.core.exponential import exp_of_nonpositive
from rankset.core.lexicographic import Keys
from rankset.core.logarithm import log_of_nonnegative
from rankset.inputs.matrix import Kind
from rankset.scores.aps import Aps
from rankset.scores.base import Score, checked_score
from rankset.scores.key_ranges import FeatureRanges, Range, ranges_of
from rankset.scores.parameters import check_temperature
from rankset.scores.reach import Reach, reach_of
from rankset.scores.recalibration.fit_rows import prepare_fit, probabilities_and_columns
from rankset.scores.recalibration.fit_scale import fit_scale
from rankset.scores.recalibration.logarithms import row_sums
from rankset.scores.recalibration.row_blocks import map_rows
from rankset.scores.recalibration.scale import simplest_inverse
from rankset.scores.wording import Wording, describe_label, describe_threshold
from rankset.scores.wrappers import Wrapper


@dataclass(frozen=True)
class Tempered(Wrapper):
    """Apply a score to probabilities after temperature scaling: p ** (1 / temperature), divided by the row's sum.

    A temperature above 1 makes the probabilities of a row more equal, a temperature below 1 makes the largest one
    larger. With logits, this is the same as softmax(logits / temperature). The order of the labels in a row does not
    change. (Two probabilities that differ by rounding errors only can become equal.) So ``Rank`` and ``TopK`` use the
    same ranks at every temperature. ``Aps``, ``Raps``, ``Saps``, ``Thr`` and ``Margin`` change.

    ``Tempered.fit`` estimates the temperature. Do not calibrate on the rows of the fit: the guarantee holds only if the
    temperature is fixed before calibration. The score needs probabilities or logits.

    Parameters
    ----------
    score : Score or str
        The score, or its name, that is applied to the new probabilities.
    temperature : float
        The temperature. 1 changes nothing.

    Raises
    ------
    KindError
        If ``score`` is not a score.
    ScoreError
        If ``temperature`` is not a number of at least 0.000001.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> score = rs.Tempered(rs.Aps(), temperature=0.5)
    >>> rs.calibrate(probs, labels, method=score).predict([[0.6, 0.3, 0.1, 0.0]], alpha=0.1).to_lists()
    [[0]]
    """

    score: Score
    temperature: float
    needs_probs: ClassVar[bool] = True
    takes_marginals: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "score", checked_score(self.score))
        check_temperature(self)

    @classmethod
    def fit(
        cls,
        probs: ArrayLike,
        labels: ArrayLike,
        *,
        score: Score = Aps(),  # noqa: B008
        kind: Kind = "probs",
    ) -> Tempered:
        """Fit the temperature by penalised maximum likelihood. Do not calibrate on the same rows.

        The penalty is (1 / temperature - 1)² / 2, so that few rows give a temperature near 1. With many rows it has no
        visible effect.

        Parameters
        ----------
        probs : array-like (n, K)
            Model outputs for rows that are not used for calibration.
        labels : array-like (n,)
            True labels of these rows, as column numbers.
        score : Score, default Aps()
            The score that is applied to the new probabilities. It does not affect the fit.
        kind : {"probs", "logits", "binary"}, default "probs"
            The type of values in ``probs``.

        Returns
        -------
        Tempered
            The score with the fitted temperature.

        Raises
        ------
        KindError, InputError, LabelError
            If the rows or labels are invalid, or if there are no rows.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> round(rs.Tempered.fit(probs, labels).temperature, 3)
        0.559
        """
        rows, columns = probabilities_and_columns(prepare_fit(probs, labels, kind))
        return cls(score, simplest_inverse(fit_scale(rows, columns)))

    @property
    def transforms(self) -> bool:
        """Whether rows change: always, unless the temperature is 1 and the inner score has no ``transform``."""
        return self.temperature != 1 or self._inner.transforms

    def transform(self, probs: NDArray[Any]) -> NDArray[Any]:
        """Return the new probabilities (n, K), after the ``transform`` of the inner score if it has one."""
        if self.temperature == 1:
            return self._transformed(probs)
        return self._transformed(map_rows(lambda rows: _tempered(rows, 1 / self.temperature), probs))

    def keys(self, cells: Cells) -> Keys:
        """Return the keys of the inner score."""
        return self.score.keys(cells)

    def describe(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return which labels are in a set, in words."""
        inner = describe_threshold(self.score, threshold, wording)
        return inner + self._which_probabilities

    def describe_label(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return when a label is in the set, in words about this label, "it"."""
        return describe_label(self.score, threshold, wording) + self._which_probabilities

    @property
    def _which_probabilities(self) -> str:
        """The last sentence of descriptions."""
        return "" if self.temperature == 1 else f". All probabilities are those at temperature {self.temperature:g}"

    def reach(self, bounds: Keys) -> Reach:
        """Return the ``Reach`` of the inner score."""
        return reach_of(self.score, bounds)

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        """Return the lowest and highest possible value of each key."""
        inner = features if self._inner.transforms else replace(features, prob=(0.0, 1 + SUM_TOLERANCE))
        return ranges_of(self.score, inner)


def _tempered(probs: NDArray[np.float64], power: float) -> NDArray[np.float64]:
    """Return rows raised to ``power`` and divided by their sums; exact zeros stay zeros."""
    powers = exp_of_nonpositive(power * log_of_nonnegative(probs / probs.max(axis=1, keepdims=True)))
    return powers / row_sums(powers)
