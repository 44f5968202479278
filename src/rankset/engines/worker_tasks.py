"""What is sent to workers (Dask, Spark, processes): a task, which they run on each partition of the rows.

A ``CalibrationTask`` turns a partition into a ``PartialRule``, a ``PredictionTask`` into sets. Both are pickled.
``decision_tasks`` has the tasks of triages and decisions, which have the same two base classes.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np

from rankset.conditions import Condition, Marginal
from rankset.core.alpha import Alpha
from rankset.core.arrays import object_array
from rankset.decisions.decisions import Decisions
from rankset.engines.partial_rules import PartialRule, RuleT, merge_partial_rules
from rankset.errors import NOWHERE, KindError, Place, RanksetWarning, Text, located, once
from rankset.evaluation.calibrate import calibrate_part
from rankset.evaluation.default_scores import default_score
from rankset.inputs.matrix import Kind
from rankset.inputs.per_row import named_labels
from rankset.inputs.vocabulary import in_order
from rankset.io.parse_cells import whole_numbers_or_names
from rankset.io.sets_table import SET_COLUMNS, sets_table
from rankset.rules.level_rule import LevelRule
from rankset.rules.rule import Rule
from rankset.rules.select import Empty
from rankset.rules.spec import RuleSpec
from rankset.scores import Rank, Score, method_of
from rankset.sets import PredictionSets
from rankset.targets import OneLabel, Target, checked_target
from rankset.targets.base import has_several_labels
from rankset.targets.cost import costs_like

ResultT = TypeVar("ResultT", PredictionSets, Decisions)


@dataclass(frozen=True)
class Partition:
    """Some of the rows; errors name them by ``where`` and count rows from ``first_row``."""

    scores: Any
    labels: Any = None
    groups: Any = None
    ids: Any = None
    where: Place = NOWHERE
    first_row: int = 0
    correct: Any = None
    weights: Any = None

    def __len__(self) -> int:
        return len(self.scores)


@contextmanager
def warnings_noted(partition: Partition) -> Iterator[set[tuple[Text, ...]]]:
    """Inside, warnings are not given but added to the set, when the block ends; errors name the partition."""
    noted: set[tuple[Text, ...]] = set()
    with located(partition.where, partition.first_row), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RanksetWarning)
        yield noted
    noted.update(_text(one.message) for one in caught)


@dataclass(frozen=True)
class LearningTask(ABC, Generic[RuleT]):
    """Makes a rule, or a triage, of each partition. All of them can be merged."""

    score: Score
    condition: Condition = field(default_factory=Marginal)
    kind: Kind = "probs"
    classes: Sequence[object] | None = None
    seed: int = 0

    answers: ClassVar[bool] = False
    """Whether a single column holds one confidence per row, as for a triage."""

    @property
    def correct(self) -> bool:
        """Whether the column of labels says which answers are right."""
        return False

    @property
    def several_labels(self) -> bool:
        """Whether rows can have several labels."""
        return False

    def with_classes_of(self, columns: Sequence[str], *, whole_labels: bool) -> Self:
        """Return the task with the names of columns as classes, unless classes are given.

        Names become numbers if the labels are whole numbers and all names are. A single column holds lists,
        probabilities of the second class, or confidences; its name is no class.
        """
        if self.classes is not None or len(columns) == 1:
            return self
        return replace(self, classes=whole_numbers_or_names(columns) if whole_labels else list(columns))

    def with_classes(self, classes: Sequence[object] | None, columns: Sequence[object]) -> Self:  # noqa: ARG002
        """Return the task for the classes of the first file, which has these columns."""
        return replace(self, classes=classes)

    def after(self, first: RuleT) -> Self:
        """Return the task for all further files, given the result of the first one."""
        return replace(self, classes=first.classes.tolist())

    def run(self, partition: Partition) -> PartialRule[RuleT]:
        """Return the rule or triage of one partition."""
        if len(partition) == 0:
            return self.nothing()
        names = None if self.classes is None else object_array(self.classes)
        by_name = partition.labels is not None and not self.several_labels
        labels = named_labels(partition.labels, names) if by_name else partition.labels
        with warnings_noted(partition) as noted:
            rule = self.learn(replace(partition, labels=labels))
        return PartialRule(rule, frozenset(noted))

    def nothing(self) -> PartialRule[RuleT]:
        """Return the result of no rows."""
        return PartialRule(None)

    @abstractmethod
    def learn(self, partition: Partition) -> RuleT:
        """Return the rule or triage of rows."""

    @staticmethod
    def merge(parts: Iterable[PartialRule[RuleT]]) -> PartialRule[RuleT]:
        """Return the rule or triage of several partitions."""
        return merge_partial_rules(parts)


@dataclass(frozen=True)
class CalibrationTask(LearningTask[Rule]):
    """Calibrates a rule on each partition."""

    score: Score = field(default_factory=Rank)
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

    def with_classes(self, classes: Sequence[object] | None, columns: Sequence[object]) -> Self:
        """Return the task for the classes of the first file, with costs by their names."""
        return replace(self, classes=classes, target=costs_like(self.target, classes or columns))

    def after(self, first: Rule) -> Self:
        """Return the task for all further files, given the rule of the first one."""
        return replace(super().after(first), target=first.spec.target)

    def learn(self, partition: Partition) -> Rule:
        """Return the rule of rows."""
        return calibrate_part(
            partition.scores,
            partition.labels,
            self.score,
            self.condition,
            self.target,
            kind=self.kind,
            classes=self.classes,
            groups=partition.groups,
            ids=partition.ids,
            seed=self.seed,
            weights=partition.weights,
        )


class ResultTask(ABC, Generic[ResultT]):
    """Computes something for every row of a partition: sets, or decisions."""

    answers: ClassVar[bool] = False
    correct: ClassVar[bool] = False
    several_labels: ClassVar[bool] = False

    @property
    @abstractmethod
    def spec(self) -> RuleSpec:
        """Condition, kind and names by which rows are read."""

    @property
    def kind(self) -> Kind:
        """What the numbers of the rows are."""
        return self.spec.kind

    @property
    def classes(self) -> list[Any] | None:
        """Names of the columns; None if they have no names."""
        return self.spec.classes.array.tolist()

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of a table of results."""

    @abstractmethod
    def run(self, partition: Partition) -> ResultT:
        """Return the results of one partition."""

    @abstractmethod
    def table(self, results: ResultT) -> Any:
        """Return an Arrow table with one row of results per row."""

    def nothing(self) -> ResultT:
        """Return the results of no rows."""
        spec = self.spec
        width: tuple[int, ...] = () if self.kind == "binary" or self.classes is None else (spec.n_columns,)
        needed = {"groups": spec.condition.needs_groups, "ids": spec.with_ids, "weights": spec.weighted}
        per_row: dict[str, Any] = {name: [] for name, some in needed.items() if some}
        return self.run(Partition(np.empty((0, *width)), **per_row))


@dataclass(frozen=True)
class PredictionTask(ResultTask[PredictionSets]):
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
        task.nothing()
        return task

    @property
    def spec(self) -> RuleSpec:
        """The spec of the rule."""
        return self.rule.spec

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of a table of sets."""
        return SET_COLUMNS

    def run(self, partition: Partition) -> PredictionSets:
        """Return the sets of one partition."""
        with located(partition.where, partition.first_row), once():
            per_row = {"groups": partition.groups, "ids": partition.ids, "weights": partition.weights}
            return self.rule.predict(partition.scores, empty=self.empty, **per_row)

    def table(self, results: PredictionSets) -> Any:
        """Return an Arrow table of sets."""
        return sets_table(results)


def _text(warning: Warning | str) -> tuple[Text, ...]:
    """Return the words of a warning, with options as data."""
    return warning.text if isinstance(warning, RanksetWarning) else (str(warning),)
