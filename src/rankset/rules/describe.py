"""Methods of a rule that use only its calibration: thresholds, the range of coverage, ranks."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from rankset import notebook
from rankset.core.alpha import Alpha, exact_alpha, smallest_alpha
from rankset.core.alpha_argument import takes_alpha
from rankset.core.calibration import Calibration
from rankset.core.masses import UNIT
from rankset.core.promise import Promise
from rankset.core.shared_rows import SharedRows
from rankset.errors import RuleError
from rankset.rules.bands import HasBand
from rankset.rules.group_choice import group_number, is_alone
from rankset.rules.level_rule import LevelRule
from rankset.rules.sentences import proven_by_sharing, threshold_of
from rankset.rules.spec import ONE_LABEL, RuleSpec, settings_text
from rankset.rules.summaries import RankProfile
from rankset.rules.tables import groups_table, levels_table

NOT_PROVEN = "coverage is not proven, because of a stratified split"


class DescribesRule(HasBand):
    """Methods of ``Rule`` that need no rows."""

    spec: RuleSpec
    calibration: Calibration
    at: Callable[..., LevelRule]

    @property
    def _shared(self) -> SharedRows | None:
        """The calibration rows as groups that share them see them; ``Rule`` has them from ``HasLevels``."""
        raise NotImplementedError

    @property
    def n(self) -> int:
        """Number of calibration rows."""
        return len(self.calibration)

    def __repr__(self) -> str:
        spec = self.spec
        caveats = (spec.traits.caveat, proven_by_sharing(spec) if spec.guaranteed else NOT_PROVEN)
        return (
            f"Rule({settings_text(spec)}, kind={spec.kind!r}, "
            f"{len(spec.classes):,} classes, calibrated on {self.n:,} rows{self._effective_note}{self._absent_note}"
            f"{''.join(f'; {caveat}' for caveat in caveats if caveat)})"
        )

    @property
    def effective_rows(self) -> float:
        """How many calibration rows of equal weight are as many as these; ``Rule`` has them from ``HasLevels``."""
        raise NotImplementedError

    @property
    def _effective_note(self) -> str:
        """How many rows of equal weight are as many, in words; empty if rows have no weights."""
        return f" that count as {self.effective_rows:,.0f}" if self.spec.tells_effective_rows else ""

    @property
    def _absent_note(self) -> str:
        """How many calibration rows have an absent label, or no label, in words; empty if none has."""
        absent = self.calibration.n_absent
        if self.set_aside:
            without = "in which every label is true" if self.spec.below else "without labels"
            return f", and {self.set_aside:,} rows {without} set aside"
        return f", {absent:,} of them with an absent label" if absent else ""

    @property
    def set_aside(self) -> int:
        """Number of rows that do not calibrate because they have no labels, if rows can have several labels.

        With the target ``CertainLabels``: rows in which every label is true.
        """
        return 0 if self.calibration.rows is None else self.calibration.rows.set_aside

    def _repr_html_(self) -> str:
        spec = self.spec
        thresholds = notebook.faint(f"{spec.n_groups:,} threshold{'s' * (spec.n_groups != 1)}")
        facts: list[tuple[object, ...]] = [
            ("score", repr(spec.score), notebook.faint(spec.traits.caveat or "")),
            ("condition", repr(spec.condition), thresholds),
            ("classes", f"{len(spec.classes):,}", notebook.chips(spec.classes.values[:10], spec.n_columns - 10)),
            ("kind", spec.kind, ""),
        ]
        if spec.target != ONE_LABEL:
            facts.insert(2, ("target", repr(spec.target), ""))
        if not spec.guaranteed:
            facts.append(("coverage", "not proven", notebook.faint("the calibration rows are from a stratified split")))
        elif (proven := proven_by_sharing(spec)) is not None:
            facts.append(("coverage", proven.removeprefix("coverage is "), ""))
        levels = (levels_table if spec.n_groups == 1 else groups_table)(self)
        return notebook.card(
            f"Rule, calibrated on {self.n:,} rows{self._effective_note}{self._absent_note}",
            notebook.table(facts),
            levels,
        )

    @takes_alpha
    def threshold(self, alpha: Alpha, *, group: object = None, label: object = None) -> tuple[float, ...] | None:
        """Return the threshold at ``alpha``: the largest score value that a label in the set can have.

        Parameters
        ----------
        alpha
            The allowed error rate, strictly between 0 and 1.
        group, label
            The group or the label whose threshold you want. Needed if the condition has several thresholds.

        Returns
        -------
        tuple of numbers
            A score value is a tuple: Thr has one number, Rank has two (rank, minus probability). None if
            there are too few calibration rows, or too many of them with an absent label. Then every set contains all
            labels. Minus infinity if every set is empty, which some targets allow.

        Raises
        ------
        LevelError
            If ``alpha`` is not strictly between 0 and 1.
        RuleError
            If a group or label is needed but not passed, is unknown, or is not used by the condition.

        Examples
        --------
        >>> import rankset as rs
        >>> rs.calibrate([[0.8, 0.2], [0.3, 0.7], [0.6, 0.4]], [0, 1, 1], method=rs.Thr()).threshold(0.5)
        (-0.7,)
        """
        number = self._group(group, label)
        if self.spec.below:
            return self._first_left_out(number, alpha)
        return self._last_kept(number, alpha)

    def _last_kept(self, number: int, alpha: Alpha) -> tuple[float, ...] | None:
        """Return the last key that is kept in a group; None if all are, minus infinity if none is."""
        if self._shared is not None:
            return threshold_of(self.at(alpha).thresholds, number)
        keys, k = self.calibration.of_group(number), self.calibration.position(number, Promise(exact_alpha(alpha)))
        if k <= 0:
            return (-math.inf,) * len(keys)
        return None if k > len(keys[0]) else tuple(key[k - 1].item() for key in keys)

    def _first_left_out(self, number: int, alpha: Alpha) -> tuple[float, ...] | None:
        """Return the threshold of a group if sets must not contain entries: the first key that is left out."""
        found = self.calibration.thresholds_below(Promise(exact_alpha(alpha)))
        if found.everything[number]:
            return None
        if found.nothing is not None and found.nothing[number]:
            return (-math.inf,) * len(found.keys)
        return tuple(key[number].item() for key in found.keys)

    def smallest_alpha(self, *, group: object = None, label: object = None) -> Fraction:
        """Return the smallest alpha at which sets leave labels out. At a smaller alpha every set contains all labels.

        With n calibration rows, of which m have the label ``rankset.ABSENT``, it is (m + 1) / (n + 1). If rows have
        weights, m and n are weights, and it is that of a new row of weight 1. It depends on
        these rows, and is no guarantee: if more labels are absent than alpha allows, sets miss as many, even where a
        lucky calibration has few of them. See ``calibrate`` for what is guaranteed.

        Parameters
        ----------
        group, label
            The group or the label whose threshold you want. Needed if the condition has several thresholds.

        Returns
        -------
        fractions.Fraction
            You can pass it as ``alpha``.

        Raises
        ------
        RuleError
            If a group or label is needed but not passed, is unknown, or is not used by the condition.

        Examples
        --------
        >>> import rankset as rs
        >>> rule = rs.calibrate([[0.9, 0.1]] * 25, [0] * 24 + [rs.ABSENT])
        >>> rule.smallest_alpha()
        Fraction(1, 13)
        """
        number = self._group(group, label)
        if self._shared is not None:
            return self._shared.smallest_alpha(number)
        rows = self.calibration.row_masses
        if rows is not None:
            lost = 0 if rows.absent is None else int(rows.absent[number])
            return Fraction(lost + UNIT, int(rows.by_group[number]) + UNIT)
        return smallest_alpha(*self.calibration.size_of(number))

    @takes_alpha
    def rank_profile(self, alpha: Alpha, *, group: object = None, label: object = None) -> RankProfile:
        """Return how often the true label had rank 1, 2, …, K in the calibration rows, and the largest rank in sets.

        Parameters
        ----------
        alpha
            The allowed error rate, strictly between 0 and 1.
        group, label
            The group or the label whose threshold you want. Needed if the condition has several thresholds.

        Returns
        -------
        RankProfile

        Raises
        ------
        LevelError
            If ``alpha`` is not strictly between 0 and 1.
        RuleError
            If the score does not order labels by rank, as Rank and TopK do. Also if a group or label is needed
            but not passed, is unknown, or is not used by the condition.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> rs.calibrate(probs, labels).rank_profile(0.1).r_star
        3
        """
        if not self.spec.traits.orders_by_rank:
            raise RuleError.no_ranks(self.spec.score)
        number = self._group(group, label)
        keys, alike = self.calibration.of_group(number), is_alone(self.spec, number)
        (_, absent), n_columns = self.calibration.size_of(number), self.spec.n_columns
        counts = np.bincount(keys[0].astype(np.int64), minlength=n_columns + 1)[1:]
        last = self._last_kept(number, alpha)
        if last is not None and math.isinf(last[0]):
            return RankProfile(0, None, counts, (0, 0) if alike else None, absent)
        if last is None:
            return RankProfile(n_columns, None, counts, (n_columns, n_columns) if alike else None, absent)
        r_star = int(last[0])
        prob = -last[1] if self.spec.traits.breaks_ties_by_prob else None
        least = r_star if len(keys) == 1 else r_star - 1
        return RankProfile(r_star, prob, counts, (least, r_star) if alike else None, absent)

    @takes_alpha
    def describe(
        self,
        alpha: Alpha,
        *,
        group: object = None,
        label: object = None,
        digits: int = 4,
        confidence: Alpha | None = None,
        next_rows: int | None = None,
        all_groups: bool = False,
    ) -> str:
        """Return in words which labels a set contains at ``alpha``: what the threshold means.

        Parameters
        ----------
        alpha
            The allowed error rate, strictly between 0 and 1.
        group, label
            The group or the label whose threshold you want. If the condition has several thresholds and you
            pass neither, the text has one line for each of the first ten.
        digits
            Number of significant digits, from 1 to 17. Numbers are rounded; with 17 digits they are exact.
        confidence, next_rows, all_groups
            As in ``predict``: the text is then about sets whose promise holds for this calibration.

        Returns
        -------
        str

        Raises
        ------
        LevelError
            If ``alpha`` is not strictly between 0 and 1.
        KindError
            If ``confidence`` is not strictly between 0 and 1.
        RuleError
            If a group or label is unknown or is not used by the condition.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> rs.calibrate(probs, labels, score=rs.Thr()).describe(0.1)
        'keeps labels with a probability of at least 0.1806'
        >>> rs.calibrate(probs, labels, score=rs.Thr()).describe(0.1, confidence=0.95)
        'keeps labels with a probability of at least 0.1654'
        >>> print(rs.calibrate(probs, labels, method="thr", condition=rs.PerLabel(["a", "a", "b", "b"])).describe(0.1))
        Every label has its own condition:
          labels 0, 1  in the set if its probability is at least 0.1695
          labels 2, 3  in the set if its probability is at least 0.1965
        """
        asked = self.at(alpha, confidence=confidence, next_rows=next_rows, all_groups=all_groups)
        return asked.describe(group=group, label=label, digits=digits)

    def _group(self, group: object, label: object) -> int:
        """Return the number of the group that a user means."""
        return group_number(self.spec, group, label)
