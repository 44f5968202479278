"""What is sent to workers for decisions: tasks that make a triage, count the p-values of a batch, or decide about rows.

The promise for a batch is about all of its rows, wherever they lie. A ``CountTask`` counts the p-values of each
partition. Counts are added up, the cut is found once (``CountTask.accepting``), and an ``AcceptTask`` applies it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Self

from rankset.conditions import Condition
from rankset.decisions.confidences import named_confidence
from rankset.decisions.decisions import Decisions
from rankset.decisions.errors_by_group import Errors, errors_of
from rankset.decisions.gate import Gate
from rankset.decisions.one_answer import ANSWER
from rankset.decisions.rows_in import check_within
from rankset.decisions.selection import UNITS
from rankset.decisions.triage import Triage, triage
from rankset.engines.batch_counts import BatchCounts, BatchTriage
from rankset.engines.worker_tasks import LearningTask, Partition, ResultTask, warnings_noted
from rankset.errors import KindError, RuleError, located, once, silent
from rankset.inputs.matrix import Kind
from rankset.inputs.vocabulary import in_order
from rankset.io.sets_table import class_array
from rankset.rules.spec import RuleSpec
from rankset.scores import Score, Thr


@dataclass(frozen=True)
class TriageTask(LearningTask[Triage]):
    """Makes a triage of each partition; ``given``: users say which answers are right."""

    score: Score = field(default_factory=Thr)
    within: int = 1
    given: bool = False

    answers: ClassVar[bool] = True

    @classmethod
    def of(
        cls,
        confidence: Score | str | None,
        score: Score | str | None,
        condition: Condition,
        kind: Kind,
        classes: Iterable[object] | None,
        seed: int,
        within: int,
        *,
        labels: object,
        correct: object,
        absent: str | None = None,
    ) -> TriageTask:
        """Return the task for the arguments of ``triage``."""
        if confidence is not None and score is not None:
            raise KindError.method_twice(confidence, score)
        wanted = named_confidence(confidence if score is None else score)
        if wanted.chosen:
            raise KindError.auto_confidence_in_parts()
        check_within(within)
        if labels is not None and correct is not None:
            raise RuleError.answers_twice()
        if labels is None and correct is None:
            raise RuleError.no_answers()
        if correct is not None and absent is not None:
            raise KindError.argument("absent", "None if correct says which answers are right", absent)
        names = None if classes is None else list(in_order(classes))
        return cls(wanted.score, condition, kind, names, seed, within, correct is not None)

    @property
    def correct(self) -> bool:
        """Whether the column of labels says which answers are right."""
        return self.given

    def after(self, first: Triage) -> Self:
        """Return the task for all further files, given the triage of the first one."""
        return self if first.spec.classes == ANSWER else super().after(first)

    def learn(self, partition: Partition) -> Triage:
        """Return the triage of rows."""
        return triage(
            partition.scores,
            partition.labels,
            correct=partition.correct,
            within=self.within,
            confidence=self.score,
            condition=self.condition,
            kind=self.kind,
            classes=self.classes,
            groups=partition.groups,
            ids=partition.ids,
            seed=self.seed,
        )


def _columns_of(spec: RuleSpec, *more: str) -> tuple[str, ...]:
    """Return the names of the columns of a table of decisions."""
    return ("accepted", *(["label"] if spec.classes != ANSWER else []), *more)


def _classes_of(spec: RuleSpec) -> list[Any] | None:
    """Return the names of the columns of rows; None if there is one confidence per row."""
    return None if spec.classes == ANSWER else spec.classes.array.tolist()


class DecisionTask(ResultTask[Decisions]):
    """Decides about the rows of each partition."""

    answers: ClassVar[bool] = True

    @property
    def classes(self) -> list[Any] | None:
        """Names of the columns; None if there is one confidence per row."""
        return _classes_of(self.spec)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of a table of decisions."""
        return _columns_of(self.spec)

    def table(self, results: Decisions) -> Any:
        """Return an Arrow table with the columns of ``Decisions.to_frame``."""
        import pyarrow as pa

        found = {"accepted": pa.array(results.accepted)}
        if "label" in self.columns:
            found["label"] = class_array(self.spec.classes).take(pa.array(results.answers.columns))
        if results.answers.p_values is not None:
            found["p_value"] = pa.array(results.p_values)
        return pa.table(found)


@dataclass(frozen=True)
class GateTask(DecisionTask):
    """Decides by the threshold of a gate."""

    gate: Gate

    @classmethod
    def of(cls, gate: Gate) -> GateTask:
        """Return the task for the argument of ``decide``."""
        if not isinstance(gate, Gate):
            raise KindError.argument("gate", "a Gate, the result of Triage.threshold", gate)
        return cls(gate)

    @property
    def spec(self) -> RuleSpec:
        """The spec of the gate."""
        return self.gate.spec

    def run(self, partition: Partition) -> Decisions:
        """Return the decisions about one partition."""
        with located(partition.where, partition.first_row), once():
            return self.gate.decide(partition.scores, groups=partition.groups, ids=partition.ids)


@dataclass(frozen=True)
class AcceptTask(DecisionTask):
    """Accepts the rows of each partition up to the cuts of the whole batch."""

    batch: BatchTriage
    errors: tuple[Fraction, ...]
    cuts: tuple[list[int], list[Fraction]]

    @property
    def spec(self) -> RuleSpec:
        """The spec of the triage."""
        return self.batch.spec

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of a table of decisions."""
        return _columns_of(self.spec, "p_value")

    def run(self, partition: Partition) -> Decisions:
        """Return the decisions about one partition. The ``CountTask`` has given all warnings."""
        with located(partition.where, partition.first_row), silent():
            return self.batch.decide(
                partition.scores, self.errors, self.cuts, groups=partition.groups, ids=partition.ids
            )


@dataclass(frozen=True)
class CountTask:
    """Counts the p-values of each partition of a batch."""

    batch: BatchTriage
    errors: tuple[Fraction, ...]

    answers: ClassVar[bool] = True
    correct: ClassVar[bool] = False
    several_labels: ClassVar[bool] = False

    @classmethod
    def of(cls, found: Triage, error: Errors) -> CountTask:
        """Return the task for the arguments of ``accept``."""
        if not isinstance(found, Triage):
            raise KindError.argument("triage", "a Triage, the result of triage", found)
        return cls(
            BatchTriage(found.spec, found.wrong, found.counts, found.within), tuple(errors_of(found.spec, error))
        )

    @property
    def kind(self) -> Kind:
        """What the numbers of the rows are."""
        return self.batch.spec.kind

    @property
    def classes(self) -> list[Any] | None:
        """Names of the columns; None if there is one confidence per row."""
        return _classes_of(self.batch.spec)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of a table of decisions, which the ``AcceptTask`` will make."""
        return _columns_of(self.batch.spec, "p_value")

    def run(self, partition: Partition) -> BatchCounts:
        """Return the counts of one partition."""
        if len(partition) == 0:
            return self.nothing()
        with warnings_noted(partition) as noted:
            counts = self.batch.count(partition.scores, groups=partition.groups, ids=partition.ids)
        return counts._replace(warnings=frozenset(noted))

    def nothing(self) -> BatchCounts:
        """Return the counts of no rows."""
        return BatchCounts.of_no_rows(self.batch.spec.n_groups)

    merge = staticmethod(BatchCounts.together)

    def accepting(self, counts: BatchCounts, *, with_ids: bool) -> AcceptTask:
        """Return the task that accepts rows, given the counts of all partitions; give the warnings of ``accept``."""
        counts.warn()
        cuts = self.batch.cuts(counts.counted, UNITS if with_ids else 1, self.errors)
        counts.warn_of_unseen()
        return AcceptTask(self.batch, self.errors, cuts)
