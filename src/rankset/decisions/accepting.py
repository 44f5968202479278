"""Decisions of a triage about a batch of rows."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core.calibration import Calibration
from rankset.decisions import answers, selection
from rankset.decisions.decisions import Decisions, RowAnswers
from rankset.decisions.errors_by_group import Errors, errors_of
from rankset.decisions.rows_in import rows_in
from rankset.decisions.selection import Counted
from rankset.errors import warn
from rankset.inputs.prepare import Prepared
from rankset.rules.batch import unseen_groups, warn_of_unseen
from rankset.rules.spec import RuleSpec

Ints = NDArray[np.int64]

DEFAULT_CONFIDENCE = 0.95


class AcceptsBatches:
    """Methods of ``Triage`` that decide about a batch."""

    spec: RuleSpec
    right: Calibration
    wrong: Calibration
    within: int | None

    @property
    def counts(self) -> Ints:
        """Number of rows of each group of the condition."""
        return self.right.counts + self.wrong.counts

    def accept(
        self,
        probs: ArrayLike,
        error: Errors,
        *,
        groups: ArrayLike | None = None,
        ids: ArrayLike | None = None,
    ) -> Decisions:
        """Return which rows of a batch are accepted: the expected share of wrong ones among them is at most ``error``.

        The p-value of a row is (1 + wrong rows of ``triage`` at least as sure) / (n + 1). The rows with the smallest
        p-values are accepted, as many as Benjamini and Hochberg allow (conformal selection, Jin and Candès 2023). The
        promise is about the batch as a whole, so pass all rows that are decided together. A batch of which nothing is
        accepted counts as one without errors. With groups or predicted labels the promise holds in each of them, not
        for all of them together.

        Parameters
        ----------
        probs
            The rows of the batch, as in ``triage``.
        error
            Largest expected share of wrong answers among the accepted ones, strictly between 0 and 1. With
            ``condition=PerLabel()`` or ``PerGroup()`` it can be a dictionary with an error for each label or group.
        groups
            The group of each row. Needed if the condition uses groups.
        ids
            The id of each row. With ids, rows that are exactly as sure as wrong rows are accepted a little more often:
            a random number of the row decides which part of these rows counts.

        Returns
        -------
        Decisions

        Raises
        ------
        RanksetError
            If rows, groups, ids or errors are invalid.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("carer")
        >>> triage = rs.triage(probs[:1000], labels[:1000], kind="logits")
        >>> triage.accept(probs[1000:], error=0.05).share
        0.726
        """
        errors = errors_of(self.spec, error)
        data = rows_in(self.spec, probs, groups=groups, ids=ids)
        found, values, units = self._values(data)
        counted = counted_by_group(found.groups, values, self.spec.n_groups)
        cuts = self.cuts(counted, units, errors)
        warn_of_unseen(unseen_groups(self.spec, data), outcome="These rows are not accepted.")
        return self._decisions(data, found, values, units, errors, cuts)

    def _values(self, data: Prepared) -> tuple[answers.Answers, Ints, int]:
        """Return the answers of rows, their p-values in units, and the units."""
        found = answers.answers_of(self.spec, data)
        if not len(data):
            return found, np.zeros(0, dtype=np.int64), 1
        draws = answers.draws_of(self.spec, data)
        values = selection.p_values_in_units(self.wrong, found.groups, found.keys, draws)
        return found, values, 1 if draws is None else selection.UNITS

    def cuts(
        self, counted: Sequence[Counted], units: int, errors: Sequence[Fraction]
    ) -> tuple[list[int], list[Fraction]]:
        """Return for each group the largest value that is accepted, and the smallest error that accepts a row.

        Parameters
        ----------
        counted : list of Counted
            For each group, how often each value occurs in the batch.
        units : int
            The units of the values.
        errors : list of Fraction
            The allowed error of each group.

        Returns
        -------
        list of int, list of Fraction

        Examples
        --------
        >>> import numpy as np, rankset as rs
        >>> from fractions import Fraction
        >>> from rankset.decisions.selection import Counted
        >>> triage = rs.triage([0.9, 0.8, 0.7, 0.2], [True, True, False, False])
        >>> batch = Counted.of(np.array([1, 1, 2, 3]))  # p-values of four rows, in fifths
        >>> triage.cuts([batch], 1, [Fraction(1, 2)])
        ([1], [Fraction(2, 5)])
        """
        sizes = self.counts.tolist()
        largest = [
            selection.largest_accepted(batch, n, units, error)
            for batch, n, error in zip(counted, sizes, errors, strict=True)
        ]
        smallest = [selection.smallest_error(batch, n, units) for batch, n in zip(counted, sizes, strict=True)]
        if counted and not any(largest) and any(len(batch.values) for batch in counted):
            _warn_of_nothing(self.counts, errors, smallest, ids=units > 1)
        return largest, smallest

    def _decisions(
        self,
        data: Prepared,
        found: answers.Answers,
        values: Ints,
        units: int,
        errors: Sequence[Fraction],
        cuts: tuple[list[int], list[Fraction]],
    ) -> Decisions:
        """Return the decisions about rows, given what is accepted in each group of the whole batch."""
        known = found.groups >= 0
        limits = np.append(np.array(cuts[0], dtype=np.int64), 0)[found.groups]
        sizes = np.append(self.counts, 0)[found.groups]
        p_values = np.where(known, values / (units * (sizes + 1.0)), 1.0)
        accepted = known & (values <= limits)
        rows = RowAnswers(found.columns, found.groups, data, np.minimum(p_values, 1.0), self.within, self.counts)
        return Decisions(accepted, tuple(errors), tuple(cuts[1]), None, self.spec, rows)


def counted_by_group(groups: Ints, values: Ints, n_groups: int) -> list[Counted]:
    """Return how often each value occurs in each group; rows of other groups are left out."""
    if n_groups == 1:
        return [Counted.of(values[groups >= 0])]
    order = np.argsort(groups, kind="stable")
    bounds = np.searchsorted(groups[order], np.arange(n_groups + 1))
    return [Counted.of(values[order[bounds[number] : bounds[number + 1]]]) for number in range(n_groups)]


def _warn_of_nothing(counts: Ints, errors: Sequence[Fraction], smallest: Sequence[Fraction], *, ids: bool) -> None:
    """Warn that no row of a batch is accepted, and say at which error one would be."""
    n, asked, best = int(counts.sum()), float(min(errors)), float(min(smallest))
    few = float(Fraction(1, int(counts.max(initial=0)) + 1))
    ever = "" if ids else f", and {few:.2%} for any rows"
    attainable = f"The smallest attainable error is {best:.2%} for these rows{ever}."
    warn(f"no row can be accepted at an error of {asked:.12g} with {n:,} calibration rows. {attainable}")
