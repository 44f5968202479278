"""Levels of a rule: its thresholds at one alpha, with or without a confidence, and the law of coverage."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

from rankset.core.alpha import Alpha, exact_alpha
from rankset.core.alpha_argument import takes_alpha
from rankset.core.calibration import Calibration, Thresholds
from rankset.core.masses import UNIT, effective_rows
from rankset.core.promise import Promise, kept_rows
from rankset.core.promise_argument import promise_of
from rankset.core.shared_rows import SharedRows
from rankset.errors import RuleError
from rankset.rules.level_rule import LevelRule
from rankset.rules.spec import RuleSpec
from rankset.rules.weighted_rows import WeightedLevel
from rankset.sets import CoverageLaw

MOST_LEVELS = 64
MOST_THRESHOLDS = 1000
"""A rule keeps its last LevelRules, at most MOST_LEVELS of them, unless one has more than MOST_THRESHOLDS."""


class HasLevels:
    """Methods of ``Rule`` that find thresholds."""

    spec: RuleSpec
    calibration: Calibration

    @takes_alpha
    def at(
        self,
        alpha: Alpha,
        *,
        confidence: Alpha | None = None,
        next_rows: int | None = None,
        all_groups: bool = False,
    ) -> LevelRule:
        """Return a small rule for one alpha. Use it in programs that only predict at this alpha.

        Parameters
        ----------
        alpha
            The allowed error rate, strictly between 0 and 1.
        confidence, next_rows, all_groups
            As in ``predict``.

        Returns
        -------
        LevelRule
            It stores the thresholds for this alpha and no calibration rows. It can be called like a function, with one
            row or with a matrix.

        Raises
        ------
        LevelError
            If ``alpha`` is not strictly between 0 and 1.
        KindError
            If ``confidence`` is not strictly between 0 and 1.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> rule = rs.calibrate(probs, labels)
        >>> ask = rule.at(0.1)
        >>> ask(probs) == rule.predict(probs, 0.1), ask(probs[0])[0].tolist()
        (True, [1, 3, 0])
        """
        if confidence is None and next_rows is None and not all_groups:
            return self._at_level(exact_alpha(alpha))
        if self.spec.sharing is not None:
            raise RuleError.shared_rows_and_confidence(self.spec.condition)
        if self.spec.weighted:
            raise RuleError.weights_and_confidence()
        groups, shares = len(self.calibration.offsets) - 1, self.calibration.weights is not None
        asked = promise_of(alpha, confidence, next_rows, all_groups=all_groups, n_groups=groups, shares=shares)
        known = self._levels.get(asked)
        return self._keeping(asked, asked) if known is None else known

    def _at_level(self, alpha: Fraction) -> LevelRule:
        """Return the rule for the mean over calibrations; the last ones are remembered."""
        known = self._levels.get(alpha)
        return self._keeping(Promise(alpha), alpha) if known is None else known

    def _keeping(self, promise: Promise, name: Promise | Fraction) -> LevelRule:
        """Return the rule that keeps a promise, and remember it by ``name``."""
        calibration = self.calibration
        below = self.spec.below
        thresholds = calibration.thresholds_below(promise) if below else self._thresholds(promise)
        counts = calibration.counts
        law, absent = self._law(promise), calibration.absent
        sure = None if promise.confidence is None else promise
        weighted = WeightedLevel(self._rows, promise.alpha) if self.spec.weighted else None
        few = self.effective_rows if self.spec.tells_effective_rows else None
        made = LevelRule(self.spec, promise.alpha, thresholds, counts, law, absent, sure, weighted, few)
        if len(calibration.offsets) <= MOST_THRESHOLDS:
            if len(self._levels) >= MOST_LEVELS:
                self._levels.clear()
            self._levels[name] = made
        return made

    @cached_property
    def _levels(self) -> dict[Promise | Fraction, LevelRule]:
        """The last rules at one level: services ask for one row at a time, always at the same level."""
        return {}

    def _thresholds(self, promise: Promise) -> Thresholds:
        """Return the threshold of each group."""
        return self._rows.thresholds(promise)

    @property
    def _rows(self) -> Calibration | SharedRows:
        """The calibration rows as the condition sees them."""
        return self.calibration if self._shared is None else self._shared

    @cached_property
    def effective_rows(self) -> float:
        """How many calibration rows of equal weight are as many as these: (sum of weights)² / sum of squared weights.

        Without weights it is the number of calibration rows. If it is small, coverage depends on few rows.
        """
        rows = self.calibration.row_masses
        if not self.spec.reweighted:
            return float(len(self.calibration))
        if self._shared is not None:
            return self._shared.effective_rows
        assert rows is not None
        return effective_rows(float(rows.by_group.sum()) / UNIT, rows.squared)

    @cached_property
    def _shared(self) -> SharedRows | None:
        """The calibration rows as groups that share them see them; None if they do not."""
        return None if self.spec.sharing is None else SharedRows(self.calibration, self.spec.sharing)

    def _law(self, promise: Promise) -> CoverageLaw | None:
        """Return the law of coverage, if it is proven, there is one threshold, and rows are missed or not."""
        shares = self.calibration.weights is not None
        if self.spec.n_groups > 1 or self._unproven or (shares and not self.spec.several_labels):
            return None
        n, absent = self.calibration.size_of(0)
        k = kept_rows(n, promise, shares=shares)
        if shares:
            place, entries = self.calibration.position(0, promise), len(self.calibration.keys[0])
            return CoverageLaw(k, n, exact=place > entries or not self.calibration.tied(0, place), outer=True)
        if self.spec.below:
            return CoverageLaw(k, n, exact=k > n or not self.calibration.tied(0, n - k + 1))
        if self.calibration.rows is not None:
            return self._law_of_rows(promise, n)
        if absent and k > n - absent:
            return CoverageLaw(k, n, exact=False, absent=absent)
        return CoverageLaw(k, n, exact=k > n or not self.calibration.tied(0, k), absent=absent)

    @property
    def _unproven(self) -> bool:
        """Whether the range of coverage is not known."""
        return not self.spec.guaranteed or self.spec.sharing is not None or self.spec.weighted

    def _law_of_rows(self, promise: Promise, n: int) -> CoverageLaw:
        """Return the law if entries are not rows: rows without an entry can never be missed, so they come first."""
        place, entries = self.calibration.position(0, promise), len(self.calibration.keys[0])
        k = place + n - entries
        exact = place > entries or (place > 0 and not self.calibration.tied(0, place))
        return CoverageLaw(max(k, 0), n, exact=exact)
