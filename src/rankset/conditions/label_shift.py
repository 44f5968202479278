"""``LabelShift``: the classes of new rows have other shares than those of the calibration rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from rankset.conditions.base import Ints
from rankset.conditions.class_weights import WeighsClasses, numbers_of_classes
from rankset.core.masses import UNIT
from rankset.core.sharing import Sharing
from rankset.errors import KindError


@dataclass(frozen=True)
class LabelShift(WeighsClasses):
    """The classes have other shares in new rows than in the calibration rows, and these are known or estimated.

    Every calibration row has the weight of its class, its share in new rows divided by its share in calibration rows,
    and so has every label of a new row.

    What is proven: the sets of new rows contain the true label with probability at least 1 - alpha, if the factors are
    right and rows of one class are the same as before. If they are not right, see ``rankset.shift.labels`` and
    ``docs/understand/shift.md``. ``Pooled(LabelShift(factors))`` proves the same, usually with smaller sets. If every
    class has many calibration rows, ``PerLabel()`` needs no factors: it holds under every label shift.

    Parameters
    ----------
    factors : sequence of numbers
        For each class, in column order, its share in new rows divided by its share in calibration rows. Only their
        ratios matter. They are rounded to multiples of the largest one divided by 2**30, and are at least that. Do not
        estimate them from the calibration rows: then the promise holds only approximately.

    Raises
    ------
    KindError
        If ``factors`` is not a list of numbers from 0 on, or if all of them are 0.
    LabelError
        When the rule is made: if there is not one factor for each class.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("carer")
    >>> rare = rs.LabelShift([1, 1, 1, 1, 5, 5])                    # fear and surprise are five times as frequent now
    >>> rule = rs.calibrate(probs[:1000], labels[:1000], kind="logits", method="thr", condition=rare)
    >>> rule
    Rule(Thr(), LabelShift(6 classes, factors from 1 to 5), kind='logits', 6 classes, calibrated on 1,000 rows that \
count as 557; coverage is proven if the factors of the label shift are right)
    >>> len(rule.predict(probs[1000:], alpha=0.1))
    1000
    """

    factors: tuple[float, ...]
    trusted = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "factors", numbers_of_classes("factors", self.factors, zeros=True))

    @classmethod
    def from_shares(cls, before: Sequence[float], after: Sequence[float]) -> LabelShift:
        """Return the condition for known shares, or numbers of rows, of the classes.

        Parameters
        ----------
        before : sequence of numbers
            Share of each class in the calibration rows, in column order, all of them positive.
        after : sequence of numbers
            Share of each class in the new rows.

        Returns
        -------
        LabelShift

        Raises
        ------
        KindError
            If one of them is not a list of such numbers, or if they have different lengths.

        Examples
        --------
        >>> import rankset as rs
        >>> rs.LabelShift.from_shares([500, 500], [0.9, 0.1]).factors
        (1.8, 0.2)
        """
        old, new = numbers_of_classes("before", before), numbers_of_classes("after", after, zeros=True)
        if len(old) != len(new):
            raise KindError.argument("after", f"a list of {len(old)} numbers, as many as before", after)
        source, target = (tuple(map(Fraction, some)) for some in (old, new))
        scale = sum(source) / sum(target)
        return cls(tuple(float(scale * after / before) for before, after in zip(source, target, strict=True)))

    def __repr__(self) -> str:
        least, most = min(self.factors), max(self.factors)
        return f"LabelShift({len(self.factors):,} classes, factors from {least:.4g} to {most:.4g})"

    @cached_property
    def _weights(self) -> Ints:
        """The weight of a row of each class: proportional to its factor, at least 1."""
        most = Fraction(max(self.factors))
        return np.array([max(1, round(UNIT * Fraction(one) / most)) for one in self.factors], dtype=np.int64)

    def _sharing(self, n_columns: int) -> Sharing:  # noqa: ARG002
        """Return how groups share rows: keys are compared as they are, with weights."""
        return Sharing(weights=self._weights)
