"""RuleSpec: what a rule asks of every row. Two calibrations can be merged where their specs agree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.conditions import Condition, checked_condition
from rankset.core.arrays import is_whole
from rankset.errors import KindError, LabelError, ScoreError
from rankset.inputs.matrix import Kind
from rankset.inputs.prepare import Prepared
from rankset.inputs.vocabulary import Array, Names, group_names
from rankset.scores.base import Score, checked_score
from rankset.scores.declarations import Traits, check_classes, traits

Ints = NDArray[np.int64]

NO_NAMES = Names(())
SHARED = ("score", "condition", "kind", "classes", "seed", "with_ids")
"""What two calibrations must have in common to be merged."""


@dataclass(frozen=True)
class RuleSpec:
    """Everything two calibrations must share to be merged, and the names of the row groups seen."""

    score: Score
    condition: Condition
    kind: Kind
    seed: int
    classes: Names
    with_ids: bool = False
    groups: Names = NO_NAMES

    @classmethod
    def of(cls, score: Score, condition: Condition, kind: Kind, seed: int, classes: Names) -> RuleSpec:
        """A spec whose parts were checked, one by one and against each other."""
        checked_score(score)
        checked_condition(condition)
        if kind == "decision" and traits(score).needs_probs:
            raise ScoreError.needs_probabilities(score)
        if not is_whole(seed) or not -(2**63) <= seed < 2**64:
            raise KindError.argument("seed", "a whole number of up to 64 bits", seed)
        names = None if isinstance(classes.values, range) else classes.values
        check_classes(score, names, len(classes.values))
        return cls(score, condition, kind, int(seed), classes)

    def __getstate__(self) -> dict[str, Any]:
        """What pickle takes along: the fields, and nothing that was computed from them."""
        return {name: getattr(self, name) for name in type(self).__dataclass_fields__}

    @cached_property
    def traits(self) -> Traits:
        """What the score declares about itself."""
        return traits(self.score)

    @property
    def n_columns(self) -> int:
        return len(self.classes.values)

    @property
    def n_groups(self) -> int:
        """How many thresholds there are."""
        return self.condition.count(len(self.classes.values), len(self.groups.values))

    def numbers(self, columns: Ints, row_groups: Ints) -> Ints:
        """The group of each cell."""
        return self.condition.numbers(columns, row_groups, len(self.classes.values), len(self.groups.values))

    def table(self) -> Ints:
        """The group of every (row group, column), not repeated along what the condition does not look at."""
        return self.numbers(np.arange(self.n_columns)[np.newaxis, :], np.arange(len(self.groups))[:, np.newaxis])

    def group_name(self, number: int, table: Ints) -> str:
        """What users call a group of the ``table``: a row group, a label (the first of its cluster), or both."""
        row, column = np.argwhere(table == number)[0]
        parts = [f"group {self.groups.values[row]!r}"] if self.condition.needs_groups else []
        if table.shape[1] > 1:
            parts.append(f"label {self.classes.values[column]!r}")
        return " × ".join(parts) or "all rows"

    def learning(self, data: Prepared) -> RuleSpec:
        """The spec of calibration rows with the groups and ids of ``data``."""
        groups = NO_NAMES if data.groups is None else group_names(data.groups)
        return replace(self, groups=groups, with_ids=data.ids is not None and self.traits.uses_noise)

    def with_groups(self, groups: Names) -> RuleSpec:
        return replace(self, groups=groups)

    def difference(self, other: RuleSpec) -> str | None:
        """The first thing in which two specs differ so that their calibrations cannot be merged."""
        ours, theirs = self.with_groups(other.groups), other
        return next((name for name in SHARED if getattr(ours, name) != getattr(theirs, name)), None)


def check_groups(condition: Condition, groups: object) -> None:
    """Refuses groups that ``condition`` does not look at, and their absence where it does."""
    if groups is None and condition.needs_groups:
        raise LabelError.groups_missing(condition)
    if groups is not None and not condition.needs_groups:
        raise LabelError.groups_unused(condition)


class HasSpec:
    """What everything with a spec tells of it."""

    spec: RuleSpec

    @property
    def classes(self) -> NDArray[Any]:
        """The class names, in column order."""
        return self.spec.classes.array

    @property
    def groups(self) -> Array:
        """The names of the row groups seen at calibration, sorted."""
        return self.spec.groups.array

    @property
    def score(self) -> Score:
        """How strange a label looks."""
        return self.spec.score

    @property
    def condition(self) -> Condition:
        """For whom coverage holds separately."""
        return self.spec.condition

    @property
    def kind(self) -> Kind:
        """What is expected of rows: "probs", "logits", "decision" or "binary"."""
        return self.spec.kind
