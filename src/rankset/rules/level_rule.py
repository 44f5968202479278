"""``LevelRule``: a rule for one alpha. It stores thresholds instead of calibration rows, and predicts all sets."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.arrays import Sealed, is_whole
from rankset.core.calibration import Thresholds
from rankset.core.promise import Promise
from rankset.errors import KindError
from rankset.rules.group_choice import group_number
from rankset.rules.predict_at_level import PredictsAtLevel
from rankset.rules.sentences import group_sentences, one_sentence, text_of_groups
from rankset.rules.spec import HasSpec, RuleSpec, settings_text
from rankset.rules.to_onnx import LevelToOnnx
from rankset.rules.weighted_rows import WeightedLevel
from rankset.scores.wording import MOST_DIGITS
from rankset.sets import CoverageLaw

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class LevelRule(Sealed, PredictsAtLevel, LevelToOnnx, HasSpec):
    """A rule for one alpha, returned by ``Rule.at(alpha)``. It can only predict sets.

    Call it like a function, with one row or with a matrix: ``ask = rule.at(0.1)``, then ``ask(row)``. Everything that
    does not depend on the rows is settled beforehand, so this is the fastest way to predict one row.

    It stores the thresholds for this alpha and no calibration rows. So it is small: about 1 KB when pickled, if there
    is one threshold. Use ``Rule`` for everything else: p-values, other values of alpha, merging, saving and coverage
    bands.

    Attributes
    ----------
    spec
        Score, condition, kind, seed, and the names of classes and groups.
    level
        Alpha as an exact fraction.
    thresholds
        For each group, the largest score value of a label that can be in a set.
    counts
        Number of calibration rows in each group.
    law
        The distribution of coverage. None if there are several thresholds, or if nothing is proven (``guaranteed``).
    absent
        Number of calibration rows in each group whose true label is ``rankset.ABSENT``. None if there are none.
    promise
        The confidence with which alpha holds for this calibration. None if alpha is a mean over calibrations.
    weighted
        The calibration rows and their weights. None if rows have no weights. ``thresholds`` are then those of a new
        row of weight 1.
    effective_rows
        How many calibration rows of equal weight are as many as these. None if rows have no weights.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rs.calibrate(probs, labels).at(0.1)
    LevelRule(alpha=0.1, Rank(), Marginal(), kind='probs', 4 classes, calibrated on 260 rows)
    >>> ask = rs.calibrate(probs, labels).at(0.1)
    >>> ask([0.6, 0.3, 0.1, 0.0])[0].tolist()
    [0, 1]
    """

    spec: RuleSpec
    level: Fraction
    thresholds: Thresholds
    counts: Ints
    law: CoverageLaw | None
    absent: Ints | None = None
    promise: Promise | None = None
    weighted: WeightedLevel | None = None
    effective_rows: float | None = None

    def __repr__(self) -> str:
        spec, asked = self.spec, self.promise
        sure = "" if asked is None or asked.confidence is None else f", confidence={float(asked.confidence):g}"
        return (
            f"LevelRule(alpha={self.alpha:g}{sure}, {settings_text(spec)}, kind={spec.kind!r}, "
            f"{len(spec.classes):,} classes, calibrated on {self.n:,} rows)"
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone for pickling, nothing that is computed from them."""
        return {name: getattr(self, name) for name in type(self).__dataclass_fields__}

    @property
    def alpha(self) -> float:
        """The allowed error rate of the sets."""
        return float(self.level)

    @property
    def n(self) -> int:
        """Number of calibration rows."""
        return int(self.counts.sum())

    def describe(self, *, group: object = None, label: object = None, digits: int = 4) -> str:
        """Return in words which labels a set contains. The text is the same as that of ``Rule.describe`` at this alpha.

        Parameters
        ----------
        group, label, digits
            As in ``Rule.describe``.

        Returns
        -------
        str

        Raises
        ------
        RuleError
            If a group or label is unknown or is not used by the condition.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> rs.calibrate(probs, labels).at(0.1).describe()
        'keeps the 2 most likely labels, and a third if its probability is at least 0.1358'
        """
        if not is_whole(digits) or not 1 <= digits <= MOST_DIGITS:
            raise KindError.argument("digits", f"an integer from 1 to {MOST_DIGITS}", digits)
        if group is None and label is None and self.spec.n_groups > 1:
            found = group_sentences(self, digits)
            return self._of_weight_one + text_of_groups(self.spec, found)
        alone = group is None and label is None and self.spec.n_groups == 1
        number = 0 if alone else group_number(self.spec, group, label)
        return self._of_weight_one + one_sentence(self, number, digits)

    @property
    def _of_weight_one(self) -> str:
        return "for new rows of weight 1: " if self.weighted is not None else ""
