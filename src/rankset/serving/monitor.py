"""``Monitor``: what a server has seen, as numbers over time, numbers of classes, and alarms.

It learns from rows and labels in the order in which a store has them. So it is the same after a restart.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from itertools import groupby, islice
from threading import Lock
from typing import Any, NamedTuple, Self

import msgspec
import numpy as np

from rankset.errors import silent
from rankset.inputs.prepare import prepare
from rankset.rules.batch import Batch
from rankset.rules.rule import Rule
from rankset.rules.spec import RuleSpec
from rankset.serving.row_blocks import RowBlocks
from rankset.serving.row_numbers import RowNumbers
from rankset.serving.storage.rows import Labelled, Prediction
from rankset.serving.totals import Totals
from rankset.streams.bag import Draws
from rankset.streams.followed_rule import sorted_keys
from rankset.streams.sorted_tuples import Tuple
from rankset.streams.stream import DELTA, TOLERANCE
from rankset.streams.watching import Watching
from rankset.streams.window import tuples_of

SIZES = (0, 1, 2, 3, 5, 10, 20, 50, 100, 1000)
"""Upper ends of the sizes of sets that are counted together."""


class Seen(NamedTuple):
    """What the monitor learns from a row that was predicted.

    Attributes
    ----------
    time : seconds since 1970.
    turn : which of the rules that were served, in their order.
    alpha, size : the level of its set, and how many labels are in it.
    largest : the largest probability, or other entry.
    accepted : whether a triage accepted it; None if it was not asked.
    """

    time: float
    turn: int
    alpha: float
    size: int
    largest: float
    accepted: bool | None

    @classmethod
    def of(cls, row: Prediction) -> Self:
        return cls(row.time, row.turn, row.alpha, len(row.codes), row.largest, row.accepted)


class Monitor:
    """Numbers and alarms of a server.

    Numbers of rows, labels and misses are about rows at the usual alpha: coverage of other levels is another question.
    The alarm about outputs sees all rows, and that about labels all labels.

    Attributes
    ----------
    ever : counts of everything that was seen, for metrics.
    own : counts of rows of the ``turn`` of the rule that is served. The rule before was another one, and this one may
        have been calibrated on its rows. Alarms see the same rows.
    raised : seconds since 1970 at which each alarm was raised, by its name.
    """

    def __init__(
        self, rule: Rule, alpha: float, turn: int = 0, usual: Sequence[float] = (), delta: float = DELTA
    ) -> None:
        self.alpha, self._delta = alpha, delta
        self.lock = Lock()
        self.history, self._numbers = RowBlocks(), RowNumbers()
        self.ever = Totals(rule.spec.n_columns)
        self.sizes = [0] * (len(SIZES) + 1)
        self.follow(rule, turn, usual)

    def follow(self, rule: Rule, turn: int, usual: Sequence[float] = ()) -> None:
        """Start the alarms anew, for rows of this turn.

        ``usual`` are the largest entries of its calibration rows, if they are known.
        """
        made = Watching(self.alpha, self._delta, TOLERANCE, seed=0)
        made.output_rows.draws = Draws(1)  # so that the order of rows and labels among each other changes nothing
        made.label_rows.start(sorted_keys(rule))
        if len(usual):
            made.output_rows.start(sorted((-value,) for value in usual))
        with self.lock:
            self.rule, self.turn, self.watching = rule, turn, made
            self.own = Totals(rule.spec.n_columns)
            self.raised: dict[str, float] = {}

    def learn(self, events: Sequence[Prediction | Labelled]) -> None:
        """Learn from rows and labels in their order; keys of all labels are found together."""
        keys = iter(label_keys(self.rule.spec, [one for one in events if isinstance(one, Labelled)]))
        for is_row, some in groupby(events, key=lambda one: isinstance(one, Prediction)):
            part: list[Any] = list(some)
            if is_row:
                self.predicted([Seen.of(row) for row in part])
            else:
                self._learn_labels(part, list(islice(keys, len(part))))

    def predicted(self, rows: Sequence[Seen]) -> None:
        """Learn from rows that were predicted, one by one: how they are divided into requests changes nothing."""
        with self.lock:
            for row in rows:
                own, size = row.turn == self.turn, row.size if row.alpha == self.alpha else None
                if own:
                    self._see_row(row)
                self._numbers.add(row.time)
                for totals in (self.ever, self.own) if own else (self.ever,):
                    totals.add_row(size, row.accepted)
                if size is not None:
                    self.sizes[bisect_left(SIZES, size)] += 1
                    self.history.add_row(row.time, size, (self.alpha, *self.watching.logs), row.turn)

    def _see_row(self, row: Seen) -> None:
        """Let the alarms learn from the next row of this rule."""
        if not self.own.seen:
            self.watching.begin(self._numbers.count)
        if math.isnan(row.largest):
            return
        self.watching.see_outputs((row.largest,), self._numbers.count)
        if self.watching.outputs.raised_at is not None:
            self.raised.setdefault("outputs", row.time)

    def decides(self, accepted: int, rows: int) -> None:
        """Count rows that the triage decided without a prediction."""
        with self.lock:
            for totals in (self.ever, self.own):
                totals.add_decided(rows, accepted)

    def labelled(self, pairs: Sequence[Labelled]) -> None:
        """Learn from labels of rows that were predicted."""
        self._learn_labels(pairs, label_keys(self.rule.spec, pairs))

    def _learn_labels(self, pairs: Sequence[Labelled], keys: Sequence[Tuple]) -> None:
        with self.lock:
            for pair, key in zip(pairs, keys, strict=True):
                self._learn_one(pair, key)

    def _learn_one(self, pair: Labelled, keys: Tuple) -> None:
        row, column = pair.prediction, pair.feedback.label
        usual, own, missed = row.alpha == self.alpha, row.turn == self.turn, column not in row.codes
        if own:
            self._see_label(pair, keys, missed if usual else None)
        for totals in (self.ever, self.own) if own else (self.ever,):
            if usual:
                totals.add_label(column, missed)
            if row.accepted:
                totals.add_checked(_top_column(row, self.rule.spec.kind) != column)
        if usual:
            self.history.add_label(row.time, missed, (self.alpha, *self.watching.logs), row.turn)

    def _see_label(self, pair: Labelled, keys: Tuple, missed: bool | None) -> None:  # noqa: FBT001
        """Let the alarms learn from a label; ``missed`` is None if its row has another level."""
        number, now = self._numbers.of(pair.prediction.time), self._numbers.last(pair.feedback.time)
        self.watching.see_keys(keys, number, now)
        if missed is not None:
            self.watching.see_miss(missed, number, now)
        for name in ("labels", "coverage"):
            if getattr(self.watching, name).raised_at is not None:
                self.raised.setdefault(name, pair.feedback.time)


def _top_column(row: Prediction, kind: str) -> int:
    """Return the column of the most likely label."""
    outputs = row.outputs
    return int(outputs[0] > 1 - outputs[0]) if kind == "binary" else int(outputs.argmax())


def label_keys(spec: RuleSpec, pairs: Sequence[Labelled]) -> list[Tuple]:
    """Return the keys of labels of rows of any type."""
    found: dict[int, Tuple] = {}
    for dtype in {pair.prediction.outputs.dtype for pair in pairs}:
        places = [place for place, pair in enumerate(pairs) if pair.prediction.outputs.dtype == dtype]
        found.update(zip(places, _keys_of(spec, [pairs[place] for place in places]), strict=True))
    return [found[place] for place in range(len(pairs))]


def _keys_of(spec: RuleSpec, pairs: Sequence[Labelled]) -> list[Tuple]:
    """Return the keys of labels of rows of one type."""
    rows = [pair.prediction for pair in pairs]
    matrix = np.array([row.outputs for row in rows])
    matrix = matrix[:, 0] if spec.kind == "binary" else matrix
    groups = [msgspec.json.decode(row.group or "null") for row in rows] if spec.condition.needs_groups else None
    ids = [row.id for row in rows] if spec.with_ids else None
    labels = np.array([pair.feedback.label for pair in pairs], dtype=np.int64)
    with silent():
        data = prepare(matrix, kind=spec.kind, classes=spec.classes, groups=groups, ids=ids)
        parts = Batch.of(spec, data).all_label_keys(labels)
    return [one for _, part in parts for one in tuples_of(part)]
