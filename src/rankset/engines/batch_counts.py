"""How often each p-value occurs in a batch that lies in several places, and decisions about rows of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankset.core.calibration import Calibration
from rankset.decisions.accepting import AcceptsBatches, counted_by_group
from rankset.decisions.decisions import Decisions
from rankset.decisions.rows_in import rows_in
from rankset.decisions.selection import UNITS, Counted
from rankset.engines.partial_rules import Warnings, give_warnings
from rankset.inputs.vocabulary import Names, union
from rankset.rules.batch import unseen_groups, warn_of_unseen
from rankset.rules.spec import RuleSpec

Ints = NDArray[np.int64]


class BatchCounts(NamedTuple):
    """What is counted in some partitions of a batch.

    Attributes
    ----------
    counted : how often each value occurs, for every group of the condition.
    unseen : groups of rows that the triage does not know.
    warnings : warnings that all partitions gave; None if they have no rows.
    """

    counted: tuple[Counted, ...]
    unseen: Names = Names(())
    warnings: Warnings | None = None

    @classmethod
    def of_no_rows(cls, n_groups: int) -> BatchCounts:
        """Return the counts of no rows."""
        return cls((Counted.of(np.zeros(0, dtype=np.int64)),) * n_groups)

    @classmethod
    def together(cls, parts: Iterable[BatchCounts]) -> BatchCounts:
        """Return the counts of all parts."""
        several = list(parts)
        counted = tuple(Counted.together(list(group)) for group in zip(*(one.counted for one in several), strict=True))
        given = [one.warnings for one in several if one.warnings is not None]
        warnings = reduce(frozenset.intersection, given) if given else None
        return cls(counted, union(*(one.unseen for one in several)), warnings)

    def warn(self) -> None:
        """Give the warnings that all partitions gave."""
        give_warnings(self.warnings or frozenset())

    def warn_of_unseen(self) -> None:
        """Warn of groups that the triage does not know."""
        warn_of_unseen(tuple(self.unseen.values), outcome="These rows are not accepted.")


@dataclass(frozen=True)
class BatchTriage(AcceptsBatches):
    """What ``Triage.accept`` needs of a triage: the keys of wrong answers, and the number of rows of each group."""

    spec: RuleSpec
    wrong: Calibration
    sizes: Ints
    within: int | None

    @property
    def counts(self) -> Ints:
        """Number of rows of each group of the condition."""
        return self.sizes

    def count(self, scores: Any, *, groups: Any, ids: Any) -> BatchCounts:
        """Return how often each p-value occurs among rows."""
        data = rows_in(self.spec, scores, groups=groups, ids=ids)
        found, values, _ = self._values(data)
        counted = counted_by_group(found.groups, values, self.spec.n_groups)
        return BatchCounts(tuple(counted), Names(unseen_groups(self.spec, data)))

    def decide(
        self,
        scores: Any,
        errors: Sequence[Fraction],
        cuts: tuple[list[int], list[Fraction]],
        *,
        groups: Any,
        ids: Any,
    ) -> Decisions:
        """Return the decisions about rows, given what is accepted in each group of the whole batch."""
        data = rows_in(self.spec, scores, groups=groups, ids=ids)
        found, values, _ = self._values(data)
        return self._decisions(data, found, values, 1 if ids is None else UNITS, errors, cuts)
