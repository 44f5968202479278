"""``Monitor``: what a server has seen, as numbers over time, numbers of classes, and alarms.

It learns from rows and labels in the order in which a store has them. So it is the same after a restart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby, islice
from threading import Lock
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from rankset.errors import silent
from rankset.inputs.prepare import prepare
from rankset.rules.batch import Batch
from rankset.rules.rule import Rule
from rankset.rules.spec import RuleSpec
from rankset.serving.row_blocks import RowBlocks
from rankset.serving.rows import Labelled, Prediction
from rankset.streams.bag import Draws
from rankset.streams.followed_rule import sorted_keys
from rankset.streams.sorted_tuples import Tuple
from rankset.streams.stream import DELTA, TOLERANCE
from rankset.streams.watching import Watching
from rankset.streams.window import tuples_of

Ints = NDArray[np.int64]
SIZES = (0, 1, 2, 3, 5, 10, 20, 50, 100, 1000)
"""Upper ends of the sizes of sets that are counted together."""


class Monitor:
    """Numbers and alarms of a server.

    ``rows``, ``labels`` and ``misses`` are about rows at the usual alpha: coverage of other levels is another question.
    The alarm about outputs sees all rows, and that about labels all labels. Alarms see rows that came ``since`` the
    rule is served: the rule before was another one, and this one may have been calibrated on its rows.
    """

    def __init__(self, rule: Rule, alpha: float, since: float = 0.0, delta: float = DELTA) -> None:
        self.alpha, self._delta = alpha, delta
        self.lock = Lock()
        self.history = RowBlocks()
        self.seen = 0
        self.accepted = self.decided = 0
        self.class_labels: Ints = np.zeros(rule.spec.n_columns, dtype=np.int64)
        self.class_misses: Ints = np.zeros(rule.spec.n_columns, dtype=np.int64)
        self.sizes = [0] * (len(SIZES) + 1)
        self.rows = self.labels = self.misses = self.size_sum = 0
        self.follow(rule, since)

    def follow(self, rule: Rule, since: float) -> None:
        """Start the alarms anew, for a rule that is served since this time."""
        made = Watching(self.alpha, self._delta, TOLERANCE, seed=0)
        made.output_rows.draws = Draws(1)  # so that the order of rows and labels among each other changes nothing
        made.label_rows.start(sorted_keys(rule))
        with self.lock:
            self.rule, self.since, self.watching = rule, since, made

    def learn(self, events: Sequence[Prediction | Labelled]) -> None:
        """Learn from rows and labels in their order; keys of all labels are found together."""
        keys = iter(label_keys(self.rule.spec, [one for one in events if isinstance(one, Labelled)]))
        for is_row, some in groupby(events, key=lambda one: isinstance(one, Prediction)):
            part: list[Any] = list(some)
            if is_row:
                self.predicted(part)
            else:
                self._learn_labels(part, list(islice(keys, len(part))))

    def predicted(self, rows: Sequence[Prediction]) -> None:
        """Learn from rows that were predicted."""
        usual = [(row.time, len(row.codes)) for row in rows if row.alpha == self.alpha]
        for _, size in usual:
            self.sizes[next((place for place, end in enumerate(SIZES) if size <= end), len(SIZES))] += 1
        with self.lock:
            told = [row.largest for row in rows if row.time >= self.since and not math.isnan(row.largest)]
            self.watching.see_outputs(told, self.seen)
            self.seen += len(rows)
            self.decided += sum(row.accepted is not None for row in rows)
            self.accepted += sum(row.accepted is True for row in rows)
            self.rows, self.size_sum = self.rows + len(usual), self.size_sum + sum(size for _, size in usual)
            lasts = (self.alpha, *self.watching.logs)
            for time, size in usual:
                self.history.add_row(time, size, lasts)

    def decides(self, accepted: int, rows: int) -> None:
        """Count rows that the triage decided without a prediction."""
        with self.lock:
            self.decided, self.accepted = self.decided + rows, self.accepted + accepted

    def labelled(self, pairs: Sequence[Labelled]) -> None:
        """Learn from labels of rows that were predicted."""
        self._learn_labels(pairs, label_keys(self.rule.spec, pairs))

    def _learn_labels(self, pairs: Sequence[Labelled], keys: Sequence[Tuple]) -> None:
        with self.lock:
            for pair, key in zip(pairs, keys, strict=True):
                self._learn_one(pair, key)

    def _learn_one(self, pair: Labelled, keys: Tuple) -> None:
        row, column = pair.prediction, pair.feedback.label
        usual, missed = row.alpha == self.alpha, column not in row.codes
        if row.time >= self.since:
            self.watching.see_keys(keys, self.seen - 1, self.seen - 1)
            if usual:
                self.watching.see_miss(missed, self.seen - 1, self.seen - 1)
        if usual:
            self.class_labels[column] += 1
            self.class_misses[column] += missed
            self.labels, self.misses = self.labels + 1, self.misses + missed
            self.history.add_label(row.time, missed, (self.alpha, *self.watching.logs))


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
