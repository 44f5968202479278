"""The range in which the coverage of a rule is expected."""

from __future__ import annotations

import math

from rankset.core import coverage_law
from rankset.core.alpha import Alpha, exact_alpha
from rankset.core.alpha_argument import takes_alpha
from rankset.core.calibration import Calibration
from rankset.core.promise import Promise, kept_rows
from rankset.errors import RuleError
from rankset.rules.group_choice import group_number
from rankset.rules.spec import RuleSpec
from rankset.rules.summaries import CoverageBand


class HasBand:
    """Methods of ``Rule`` about the range of coverage."""

    spec: RuleSpec
    calibration: Calibration

    @takes_alpha
    def coverage_band(
        self, alpha: Alpha, *, confidence: float = 0.9, group: object = None, label: object = None
    ) -> CoverageBand:
        """Return the range in which the coverage of this rule is expected.

        Coverage depends on which rows were used for calibration. If we repeated the calibration with other rows, the
        coverage would follow a Beta distribution. This method returns two quantiles of this distribution. If several
        calibration rows have the same score value, coverage can be higher. Then ``tied`` of the result is True.

        If calibration rows have the label ``rankset.ABSENT``, coverage is the smaller of two numbers: one that follows
        this Beta distribution, and the share of rows whose true label is among the candidates. The share is not known.
        So ``mean`` is NaN, and the band contains the coverage in at least ``confidence`` of calibrations. If alpha is
        below ``smallest_alpha()``, every candidate is in its set, ``attained`` of the result is False, and the band is
        about this share.

        Parameters
        ----------
        alpha
            The allowed error rate, strictly between 0 and 1.
        confidence
            Probability that the coverage is in the band, strictly between 0 and 1. It is not the confidence of
            ``predict``, which changes sets.
        group, label
            The group or the label whose threshold you want. Needed if the condition has several thresholds.

        Returns
        -------
        CoverageBand

        Raises
        ------
        LevelError
            If ``alpha`` or ``confidence`` is not strictly between 0 and 1.
        RuleError
            If a group or label is needed but not passed, is unknown, or is not used by the condition. Also if
            coverage is not proven, because the calibration rows are from a stratified split (``guaranteed``).

        Examples
        --------
        >>> import numpy as np, rankset as rs
        >>> tops = np.linspace(0.51, 0.99, 99)
        >>> rs.calibrate(np.column_stack((tops, 1 - tops)), np.zeros(99, int)).coverage_band(0.1)
        CoverageBand(90% within 0.8467 to 0.9442, mean 0.9000, n=99)
        """
        tails = coverage_law.tails(confidence)
        if not self.spec.guaranteed:
            raise RuleError.not_guaranteed()
        if self.spec.weighted:
            raise RuleError.band_of_weights()
        if self.spec.sharing is not None:
            raise RuleError.band_of_shared_rows(self.spec.condition)
        number = group_number(self.spec, group, label)
        n, absent = self.calibration.size_of(number)
        promise, shares = Promise(exact_alpha(alpha)), self.calibration.weights is not None
        k = kept_rows(n, promise, shares=shares)
        if absent and k > n - absent:
            low, high = coverage_law.share_range(n - absent, n, confidence)
            return CoverageBand(low, high, math.nan, confidence, n, attained=False, absent=absent)
        if k > n:
            return CoverageBand(1.0, 1.0, 1.0, confidence, n)
        if shares:
            low, high = coverage_law.outer_band(k, n, confidence)
            place = self.calibration.position(number, promise)
            tied = place <= 0 or self.calibration.tied(number, place)
            return CoverageBand(low, 1.0 if tied else high, math.nan, confidence, n, tied, outer=True)
        low, high = (coverage_law.beta_quantile(q, k, n + 1 - k) if k > 0 else 0.0 for q in tails)
        place = n - k + 1 if self.spec.below else k - (n - absent - len(self.calibration.of_group(number)[0]))
        tied = place <= 0 or self.calibration.tied(number, place)
        return CoverageBand(low, high, math.nan if absent else k / (n + 1), confidence, n, tied, absent=absent)
