"""What every engine asks of a part of the rows, and how answers become one rule."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rankset import arrow, inputs, level
from rankset.conditions import Condition, Marginal
from rankset.conformal import Rule, calibrate
from rankset.errors import InputError, RanksetWarning, located, once, warn
from rankset.files import Columns
from rankset.inputs import Kind
from rankset.level import Alpha
from rankset.scores import Rank, Score
from rankset.selection import Empty
from rankset.sets import PredictionSets
from rankset.tables import Layout

FAN = 16
"""How many rules are merged at a time."""


@dataclass(frozen=True)
class Part:
    """Some of the rows, and what is known of them."""

    scores: Any
    labels: Any = None
    groups: Any = None
    ids: Any = None
    where: str = ""
    first_row: int = 0

    def __len__(self) -> int:
        return len(self.scores)


@dataclass(frozen=True)
class Answer:
    """The rule of some parts (None: they had no rows), and what every one of them warned of."""

    rule: Rule | None
    said: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Calibrating:
    """The question a calibration asks of every part."""

    score: Score = field(default_factory=Rank)
    condition: Condition = field(default_factory=Marginal)
    kind: Kind = "probs"
    classes: Sequence[object] | None = None
    seed: int = 0

    def of(self, part: Part) -> Answer:
        """The rule of one part."""
        if len(part) == 0:
            return Answer(None)
        with located(part.where, part.first_row), warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", RanksetWarning)
            rule = calibrate(
                part.scores,
                inputs.named_labels(part.labels, None if self.classes is None else inputs.objects(self.classes)),
                score=self.score,
                condition=self.condition,
                kind=self.kind,
                classes=self.classes,
                groups=part.groups,
                ids=part.ids,
                seed=self.seed,
            )
        return Answer(rule, frozenset(str(one.message) for one in said))


def joined(answers: Iterable[Answer]) -> Answer:
    """One rule of those of many parts."""
    known = [answer for answer in answers if answer.rule is not None]
    if not known:
        return Answer(None)
    first, *rest = (answer.rule for answer in known)
    said = frozenset.intersection(*(answer.said for answer in known))
    return Answer(first.merge(*rest) if rest else first, said)


def finished(answer: Answer) -> Rule:
    """The rule of all parts; what all of them warned of is said now."""
    if answer.rule is None:
        raise InputError.no_rows()
    for message in sorted(answer.said):
        warn(message)
    return answer.rule


@dataclass(frozen=True)
class Predicting:
    """The question a prediction asks of every part."""

    rule: Rule
    alpha: Alpha
    empty: Empty = "allow"

    def __post_init__(self) -> None:
        level.exact(self.alpha)

    def of(self, part: Part) -> PredictionSets:
        """The sets of one part."""
        with located(part.where, part.first_row), once():
            return self.rule.predict(part.scores, self.alpha, groups=part.groups, ids=part.ids, empty=self.empty)


def part_of(
    table: Any, layout: Layout, where: str, first_row: int = 0, classes: Sequence[object] | None = None
) -> Part:
    """Rows of an Arrow table."""
    with located("", first_row):
        rows = layout.rows_of(Columns(where, table=table), classes=classes)
    names = rows.names if classes is None else None
    if classes is not None and rows.names is not None:
        rows = rows.in_order_of([str(name) for name in classes])
    return Part(rows.scores, rows.labels, rows.groups, rows.ids, where, first_row), names


def with_sets(table: Any, sets: PredictionSets, kept: Sequence[str]) -> Any:
    """The kept columns of a table, and its sets."""
    answer = arrow.table(sets)
    for name in kept:
        answer = answer.add_column(kept.index(name), name, table.column(name))
    return answer
