"""What is sent to workers (Dask, Spark, processes): a task, which they run on each partition of the rows.

A ``CalibrationTask`` turns a partition into a ``PartialRule``, a ``PredictionTask`` into sets. Both are pickled.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rankset.conditions import Condition, Marginal
from rankset.core.alpha import Alpha
from rankset.core.arrays import object_array
from rankset.engines.partial_rules import PartialRule
from rankset.errors import NOWHERE, KindError, Place, RanksetWarning, Text, located, once
from rankset.evaluation.calibrate import calibrate_part
from rankset.evaluation.default_scores import default_score
from rankset.inputs.matrix import Kind
from rankset.inputs.per_row import named_labels
from rankset.inputs.vocabulary import in_order
from rankset.io.parse_cells import whole_numbers_or_names
from rankset.rules.level_rule import LevelRule
from rankset.rules.rule import Rule
from rankset.rules.select import Empty
from rankset.scores import Rank, Score, method_of
from rankset.sets import PredictionSets
from rankset.targets import OneLabel, Target, checked_target
from rankset.targets.base import has_several_labels


@dataclass(frozen=True)
class Partition:
    """Some of the rows; errors name them by ``where`` and count rows from ``first_row``."""

    scores: Any
    labels: Any = None
    groups: Any = None
    ids: Any = None
    where: Place = NOWHERE
    first_row: int = 0

    def __len__(self) -> int:
        return len(self.scores)


@dataclass(frozen=True)
class CalibrationTask:
    """Calibrates a rule on each partition."""

    score: Score = field(default_factory=Rank)
    condition: Condition = field(default_factory=Marginal)
    kind: Kind = "probs"
    classes: Sequence[object] | None = None
    seed: int = 0
    target: Target = field(default_factory=OneLabel)

    @classmethod
    def of(
        cls,
        method: Score | str | None,
        score: Score | str | None,
        condition: Condition,
        kind: Kind,
        classes: Iterable[object] | None,
        seed: int,
        target: Target | str,
    ) -> CalibrationTask:
        """Return the task for the arguments of ``calibrate``."""
        wanted = checked_target(target)
        chosen = method_of(method, score, default_score(kind, wanted))
        if chosen is None:
            raise KindError.auto_in_parts()
        return cls(chosen, condition, kind, None if classes is None else list(in_order(classes)), seed, wanted)

    @property
    def several_labels(self) -> bool:
        """Whether rows can have several labels."""
        return has_several_labels(self.target)

    def with_classes_of(self, columns: Sequence[str], *, whole_labels: bool) -> CalibrationTask:
        """Return the task with the names of columns as classes, unless classes are given.

        Names become numbers if the labels are whole numbers and all names are. A single column holds lists, or
        probabilities of the second class; its name is no class.
        """
        if self.classes is not None or len(columns) == 1:
            return self
        return replace(self, classes=whole_numbers_or_names(columns) if whole_labels else list(columns))

    def run(self, partition: Partition) -> PartialRule:
        """Return the rule of one partition."""
        if len(partition) == 0:
            return PartialRule(None)
        names = None if self.classes is None else object_array(self.classes)
        with located(partition.where, partition.first_row), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", RanksetWarning)
            rule = calibrate_part(
                partition.scores,
                partition.labels if self.several_labels else named_labels(partition.labels, names),
                self.score,
                self.condition,
                self.target,
                kind=self.kind,
                classes=self.classes,
                groups=partition.groups,
                ids=partition.ids,
                seed=self.seed,
            )
        return PartialRule(rule, frozenset(_text(one.message) for one in caught))


@dataclass(frozen=True)
class PredictionTask:
    """Predicts the sets of each partition; holds the thresholds of one level, not the whole rule."""

    rule: LevelRule
    empty: Empty = "allow"

    @classmethod
    def of(
        cls,
        rule: Rule,
        alpha: Alpha,
        empty: Empty,
        *,
        confidence: Alpha | None = None,
        next_rows: int | None = None,
        all_groups: bool = False,
    ) -> PredictionTask:
        """Return the task for the arguments of ``predict``, checked on no rows."""
        if not isinstance(rule, Rule):
            raise KindError.argument("rule", "a Rule, the result of calibrate", rule)
        task = cls(rule.at(alpha, confidence=confidence, next_rows=next_rows, all_groups=all_groups), empty)
        task.no_sets()
        return task

    @property
    def classes(self) -> list[Any]:
        """Classes of the rule."""
        return self.rule.classes.tolist()

    def run(self, partition: Partition) -> PredictionSets:
        """Return the sets of one partition."""
        with located(partition.where, partition.first_row), once():
            return self.rule.predict(partition.scores, groups=partition.groups, ids=partition.ids, empty=self.empty)

    def no_sets(self) -> PredictionSets:
        """Return the sets of no rows."""
        columns = () if self.rule.kind == "binary" else (self.rule.spec.n_columns,)
        none: list[Any] = []
        groups, ids = self.rule.condition.needs_groups, self.rule.spec.with_ids
        return self.run(Partition(np.empty((0, *columns)), groups=none if groups else None, ids=none if ids else None))


def _text(warning: Warning | str) -> tuple[Text, ...]:
    """Return the words of a warning, with options as data."""
    return warning.text if isinstance(warning, RanksetWarning) else (str(warning),)
