"""What every engine asks of a part of the rows, and how answers become one rule."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rankset.conditions import Condition, Marginal
from rankset.core.alpha import Alpha
from rankset.errors import NOWHERE, FileError, InputError, KindError, Place, RanksetWarning, Text, located, once, warn
from rankset.inputs.matrix import Kind, named_labels, object_array
from rankset.io import arrow
from rankset.io.layout import Layout, as_numbers
from rankset.io.read_scores import Columns
from rankset.rules.level_rule import LevelRule
from rankset.rules.rule import Rule, calibrate
from rankset.rules.select import Empty
from rankset.scores import Rank, Score
from rankset.sets import PredictionSets

FAN = 16
"""How many rules are merged at a time."""


@dataclass(frozen=True)
class Part:
    """Some of the rows, and what is known of them."""

    scores: Any
    labels: Any = None
    groups: Any = None
    ids: Any = None
    where: Place = NOWHERE
    first_row: int = 0

    def __len__(self) -> int:
        return len(self.scores)


@dataclass(frozen=True)
class Answer:
    """The rule of some parts (None: they had no rows), and what every one of them warned of."""

    rule: Rule | None
    said: frozenset[tuple[Text, ...]] = frozenset()


@dataclass(frozen=True)
class Calibrating:
    """The question a calibration asks of every part."""

    score: Score = field(default_factory=Rank)
    condition: Condition = field(default_factory=Marginal)
    kind: Kind = "probs"
    classes: Sequence[object] | None = None
    seed: int = 0

    def about(self, columns: Sequence[str], *, whole: bool) -> Calibrating:
        """The question with the classes of some columns: as told, else their names, as numbers where labels are
        ``whole`` numbers; a single column holds lists, or probabilities of the second class, and names no class."""
        if self.classes is not None or len(columns) == 1:
            return self
        return replace(self, classes=as_numbers(columns) if whole else list(columns))

    def of(self, part: Part) -> Answer:
        """The rule of one part."""
        if len(part) == 0:
            return Answer(None)
        with located(part.where, part.first_row), warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", RanksetWarning)
            rule = calibrate(
                part.scores,
                named_labels(part.labels, None if self.classes is None else object_array(self.classes)),
                score=self.score,
                condition=self.condition,
                kind=self.kind,
                classes=self.classes,
                groups=part.groups,
                ids=part.ids,
                seed=self.seed,
            )
        return Answer(rule, frozenset(_text(one.message) for one in said))


def _text(warning: Warning | str) -> tuple[Text, ...]:
    return warning.text if isinstance(warning, RanksetWarning) else (str(warning),)


def joined(answers: Iterable[Answer]) -> Answer:
    """One rule of those of many parts."""
    rules, said = [], []
    for answer in answers:
        if answer.rule is not None:
            rules.append(answer.rule)
            said.append(answer.said)
    if not rules:
        return Answer(None)
    return Answer(rules[0].merge(*rules[1:]) if len(rules) > 1 else rules[0], frozenset.intersection(*said))


def finished(answer: Answer) -> Rule:
    """The rule of all parts; what all of them warned of is said now."""
    if answer.rule is None:
        raise InputError.no_rows()
    for text in sorted(answer.said, key=str):
        warn(*text)
    return answer.rule


@dataclass(frozen=True)
class Predicting:
    """The question a prediction asks of every part."""

    rule: LevelRule
    empty: Empty = "allow"

    @classmethod
    def at(cls, rule: Rule, alpha: Alpha, empty: Empty) -> Predicting:
        """The question with no more of the rule than it needs."""
        if not isinstance(rule, Rule):
            raise KindError.argument("rule", "a Rule, as calibrate returns it", rule)
        question = cls(rule.at(alpha), empty)
        question.nothing()
        return question

    @property
    def classes(self) -> list[Any]:
        """The rule's classes."""
        return self.rule.classes.tolist()

    def of(self, part: Part) -> PredictionSets:
        """The sets of one part."""
        with located(part.where, part.first_row), once():
            return self.rule.predict(part.scores, groups=part.groups, ids=part.ids, empty=self.empty)

    def nothing(self) -> PredictionSets:
        """The sets of no rows."""
        columns = () if self.rule.kind == "binary" else (self.rule.spec.n_columns,)
        none: list[Any] = []
        groups, ids = self.rule.condition.needs_groups, self.rule.spec.with_ids
        return self.of(Part(np.empty((0, *columns)), groups=none if groups else None, ids=none if ids else None))


def part_of(
    columns: Columns,
    layout: Layout,
    first_row: int = 0,
    *,
    where: Place = NOWHERE,
    classes: Sequence[object] | None = None,
    kind: Kind = "probs",
) -> Part:
    """Rows of a table that is in memory."""
    with located(where, first_row):
        rows = layout.rows_of(columns, classes=classes, kind=kind)
        rows.check_order(classes)
        rows = rows.spelt(classes)
    return Part(rows.scores, rows.labels, rows.groups, rows.ids, where, first_row)


def with_sets(table: Any, sets: PredictionSets, kept: Sequence[str]) -> Any:
    """The kept columns of a table, and its sets."""
    answer = arrow.table(sets)
    for place, name in enumerate(kept):
        if name in arrow.OWN:
            raise FileError.taken(name)
        answer = answer.add_column(place, name, table.column(name))
    return answer


def score_names(
    names: Sequence[str], layout: Layout, columns: str | Sequence[str] | None, classes: Sequence[object] | None = None
) -> list[str]:
    """The columns that hold scores: those that were told, else those called as ``classes``, else all that are left."""
    apart = [name for name in (layout.label, layout.group, layout.identity, *layout.keep) if name is not None]
    told = None if columns is None else [columns] if isinstance(columns, str) else [str(name) for name in columns]
    if told is None and classes is not None and {str(name) for name in classes} <= set(names):
        told = [str(name) for name in classes]
    picked = [name for name in names if name not in apart] if told is None else list(told)
    for name in (*picked, *apart):
        if name not in names:
            raise FileError.no_column("", name, names)
    if not picked:
        raise FileError.no_scores("", names)
    return picked
