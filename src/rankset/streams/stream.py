"""``Stream``: sets for rows that keep coming, a level that follows the labels, and alarms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core.alpha import Alpha
from rankset.core.alpha_argument import takes_alpha
from rankset.core.calibration import Thresholds
from rankset.core.promise import Promise
from rankset.errors import KindError, RuleError
from rankset.inputs.per_row import label_codes
from rankset.inputs.prepare import Prepared, prepare
from rankset.inputs.row_index import RowIndex
from rankset.inputs.single_row import as_rows
from rankset.rules.batch import Batch
from rankset.rules.level_rule import LevelRule
from rankset.rules.rule import Rule
from rankset.rules.spec import HasSpec
from rankset.sets import PredictionSets
from rankset.sets.forms import ListedSets
from rankset.streams.alarms import Alarms
from rankset.streams.followed_rule import checked_rule, first_window, largest_entries, sorted_keys
from rankset.streams.history import History
from rankset.streams.levels import Adaptive, LevelMethod, checked_method
from rankset.streams.row_keys import RowKeys
from rankset.streams.row_names import row_names
from rankset.streams.settings import checked_settings
from rankset.streams.stored_stream import StoredStream
from rankset.streams.waiting import Answer, OneRow, SeveralRows, Waiting
from rankset.streams.watching import Watching

WINDOW, WAITING = 1000, 100_000
DELTA, TOLERANCE = 0.05, 0.01
USUAL = Adaptive()


@dataclass(frozen=True)
class Learned:
    """What ``Stream.update`` did with labels.

    Attributes
    ----------
    rows
        Number of labels that were learned from.
    misses
        How many of these labels were not in the set of their row.
    repeated
        Number of labels of rows that have a label already. They were ignored.
    unknown
        Number of labels whose id belongs to no waiting row: never predicted, or so long ago that it was dropped.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("carer")
    >>> stream = rs.Stream(rs.calibrate(probs[:1000], labels[:1000], kind="logits"), alpha=0.1)
    >>> _ = stream.predict(probs[1000:1100])
    >>> stream.update(labels[1000:1100]).rows
    100
    """

    rows: int
    misses: int
    repeated: int = 0
    unknown: int = 0


class Stream(StoredStream, HasSpec):
    """Sets for rows that keep coming, while their distribution may change.

    The last labelled rows calibrate (the window), and the level follows what the sets missed. So the share of missed
    labels stays near alpha for every sequence of rows, also if they drift: ``bound`` says how near it must be. Alarms
    say when rows no longer look like before.

    What is proven: for ``Adaptive``, the bound, for every sequence, over the rows whose labels came; and the
    probability of a false alarm. Not proven: coverage of a single row, of a class, or of a short period.

    Parameters
    ----------
    rule : Rule
        A rule for one label per row, without weights, with any score and condition. Its calibration rows are the first
        window. Row groups that it does not know keep every label, and do not enter the window.
    alpha : float
        The share of labels that sets may miss, strictly between 0 and 1.
    window : int or None
        Number of labelled rows that calibrate: the last ones. None: all rows, so memory grows with the stream.
    level : Adaptive, Fixed, Decaying or Experts
        How the level follows misses.
    delta : float
        Probability of a false alarm. The alarms about labels and outputs share it, that about coverage has its own.
    tolerance : float
        The alarm about coverage is raised if sets miss more often than alpha + tolerance.
    outputs : array-like, optional
        Outputs of the calibration rows of the rule. With them the alarm about outputs knows what is usual before the
        first row.
    waiting : int
        Most rows that wait for their labels. If there are more, the oldest ones are dropped: their labels are unknown.
    seed : int
        Seed of the order in which calibration rows leave the window, and of draws for equal keys in alarms.

    Raises
    ------
    KindError
        If ``rule`` is no rule, or a number is out of range.
    RuleError
        If the rule has several labels per row, weights, or absent labels.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("carer")
    >>> rule = rs.calibrate(probs[:1000], labels[:1000], kind="logits")
    >>> stream = rs.Stream(rule, alpha=0.1)
    >>> for start in range(1000, 2000, 100):
    ...     sets = stream.predict(probs[start : start + 100])
    ...     learned = stream.update(labels[start : start + 100])
    >>> stream
    Stream(alpha=0.1, Rank(), Marginal(), level 0.1034, window of 1,000 rows; 1,000 rows, 1,000 labels, miss rate \
0.099, at most 0.367 from alpha for every sequence; no alarm)
    """

    @takes_alpha
    def __init__(
        self,
        rule: Rule,
        alpha: Alpha,
        *,
        window: int | None = WINDOW,
        level: LevelMethod = USUAL,
        delta: float = DELTA,
        tolerance: float = TOLERANCE,
        outputs: ArrayLike | None = None,
        waiting: int = WAITING,
        seed: int = 0,
    ) -> None:
        spec = checked_rule(rule, "a stream").spec
        own = checked_settings(alpha, window, waiting, delta, tolerance, seed)
        self._alpha, self.method, self.seed = own.alpha, checked_method(level), own.seed
        self._set_up(spec, first_window(rule, own.window, own.seed), own.waiting, own.delta, own.tolerance)
        self._watching.label_rows.start(sorted_keys(rule))
        if outputs is not None:
            self._watching.output_rows.start(sorted((-value,) for value in largest_entries(self._prepare(outputs))))

    def _set_up(self, spec: Any, window: Any, waiting: int, delta: float, tolerance: float) -> None:  # noqa: ANN401
        """Make the parts of a stream that has seen no rows."""
        self.spec = replace(spec, guaranteed=False)
        self._window, self._waiting, self._history = window, Waiting(waiting), History()
        self._state = self.method._start(self._alpha)
        self._watching = Watching(float(self._alpha), delta, tolerance, self.seed)
        self._lock = RLock()
        self._last: list[object] = []
        self._last_index: Any = None
        self.n_rows = 0
        self._one = RowKeys.of(self.spec, window.thresholds((1, 2)))
        self._known: tuple[tuple[int, int], int, LevelRule] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for copies and pickles; ``save`` writes files that later versions read."""
        return {name: value for name, value in vars(self).items() if name not in {"_lock", "_own", "_known"}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over the state of another stream."""
        self.__dict__.update(state)
        self._lock, self._known = RLock(), None

    def __repr__(self) -> str:
        raised = ", ".join(alarm.name for alarm in self.alarms.raised)
        rate = "no labels" if not self.n_labels else f"{self.n_labels:,} labels, miss rate {self.miss_rate:.3g}"
        bound = self.bound
        near = "" if bound is None or bound >= 0.5 else f", at most {bound:.3g} from alpha for every sequence"
        return (
            f"Stream(alpha={self.alpha:g}, {self.spec.score!r}, {self.spec.condition!r}, level {self.level:.4g}, "
            f"window of {len(self._window):,} rows; {self.n_rows:,} rows, {rate}{near}; "
            f"{'ALARM: ' + raised if raised else 'no alarm'})"
        )

    def _repr_html_(self) -> str:
        from rankset.streams.tables import stream_card

        return stream_card(self)

    @property
    def alpha(self) -> float:
        """The share of labels that sets may miss."""
        return float(self._alpha)

    @property
    def level(self) -> float:
        """The alpha of the next set. At 0 or less it has every label, at 1 or more none."""
        return float(self.exact_level)

    @property
    def exact_level(self) -> Fraction:
        """The level as an exact fraction."""
        return Fraction(*self._state.parts)

    @property
    def n_labels(self) -> int:
        """Number of rows whose labels came."""
        return self._state.rows

    @property
    def n_waiting(self) -> int:
        """Number of rows that wait for their labels."""
        return len(self._waiting)

    @property
    def misses(self) -> int:
        """Number of labels that were not in the set of their row."""
        return self._state.misses

    @property
    def miss_rate(self) -> float:
        """Share of the labels that were not in the set of their row; NaN if there are none."""
        return self.misses / self.n_labels if self.n_labels else math.nan

    @property
    def bound(self) -> float | None:
        """Largest possible distance of ``miss_rate`` from alpha, for every sequence of rows; None if there is none.

        With one step for all labels it is (max(alpha, 1 - alpha) + step (1 + d)) / (step T), where T is the number of
        labels and d how many rows whose labels came waited at the same time, at most.
        """
        found = self._state.bound
        return None if found is None else float(found)

    @property
    def delay(self) -> int:
        """Largest number of rows that came between a row and its label."""
        return self._state.delay

    @property
    def alarms(self) -> Alarms:
        """What the alarms say now."""
        return self._watching.alarms

    @property
    def history(self) -> dict[str, NDArray[np.float64]]:
        """Numbers over time as columns, one entry per block of rows.

        "row" is the number of rows up to the end of the block; "rows", "labels", "sizes" and "misses" are sums over the
        block; "level", "log_labels", "log_outputs" and "log_coverage" are known at its end.
        """
        return self._history.columns()

    def __contains__(self, name: object) -> bool:
        """Return whether a row with this id was predicted, and is waiting or among the last rows with labels."""
        return row_names([name], 1)[0] in self._waiting

    def restart_alarms(self) -> None:
        """Start all alarms anew, after you have looked into one. They then compare rows from now on with each other.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("carer")
        >>> stream = rs.Stream(rs.calibrate(probs[:1000], labels[:1000], kind="logits"), alpha=0.1)
        >>> _ = stream.predict(probs[1000:1100] / 5)
        >>> stream.restart_alarms()
        >>> stream.alarms.outputs.rows
        0
        """
        watching = self._watching
        self._watching = Watching(self.alpha, watching.delta, watching.tolerance, self.seed)
        self._watching.draws.count = watching.draws.count
        self._watching.begin(self.n_rows)

    def predict(
        self, outputs: ArrayLike, *, groups: ArrayLike | None = None, ids: ArrayLike | None = None
    ) -> PredictionSets:
        """Return the sets of new rows at the present level, and remember the rows until their labels come.

        Parameters
        ----------
        outputs
            Rows as in ``Rule.predict``, or one row.
        groups
            The group of each row, if the condition uses groups.
        ids
            The id of each row, a number or a text, by which ``update`` finds it. By default the number of the row, from
            0 on.

        Returns
        -------
        PredictionSets

        Raises
        ------
        RanksetError
            If rows or groups are invalid, or an id was used before. The stream then stays as it was.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("carer")
        >>> stream = rs.Stream(rs.calibrate(probs[:1000], labels[:1000], kind="logits"), alpha=0.1)
        >>> stream.predict(probs[1000:1002], ids=["a", "b"]).to_lists()
        [[2], [1]]
        """
        with self._lock:
            if groups is None and self._one is not None and type(outputs) is np.ndarray:
                alone = self._predict_one(outputs if outputs.ndim == 2 else outputs[np.newaxis], ids)
                if alone is not None:
                    return alone
            return self._predict(outputs, groups, ids)

    def _predict_one(self, matrix: NDArray[Any], ids: ArrayLike | None) -> PredictionSets | None:
        """Return the set of a single row; None if it must go the general path."""
        assert self._one is not None
        found = self._one.keys(matrix)
        if found is None:
            return None
        name: object = self.n_rows if ids is None else row_names(ids, 1)[0]
        if name in self._waiting:
            return None
        largest, columns, keys = found
        kept = self._window.keep(keys, self._state.parts)
        codes = columns[kept].astype(np.int32)
        self._remember([name], OneRow(matrix.copy(), columns, keys, kept), [largest], len(codes))
        return PredictionSets._of(ListedSets.of_one(codes, self.spec.n_columns), **self._own)

    @cached_property
    def _own(self) -> dict[str, Any]:
        """What sets of single rows have besides their labels."""
        return self._level_rule()._own

    def _predict(self, outputs: ArrayLike, groups: ArrayLike | None, ids: ArrayLike | None) -> PredictionSets:
        """Return the sets of any rows."""
        rows = outputs if self.spec.kind == "binary" else as_rows(outputs)
        data = self._prepare(rows, groups, ids if self.spec.with_ids else None)
        n = len(data)
        names = list(range(self.n_rows, self.n_rows + n)) if ids is None else row_names(ids, n)
        known = next((name for name in names if name in self._waiting), None)
        if known is not None:
            raise RuleError.row_known(known)
        level_rule = self._level_rule()
        sets = level_rule._predict(Batch.of(self.spec, data), "allow", None, data.answers)
        largest = largest_entries(data)
        held = SeveralRows(_copied(data), sets._form)
        self._remember(names, held, largest, int(sets.sizes.sum()))
        self._last_index = data.index.index
        return sets

    def _prepare(
        self,
        outputs: Any,  # noqa: ANN401
        groups: ArrayLike | None = None,
        ids: ArrayLike | None = None,
    ) -> Prepared:
        """Check rows, which must have the columns of the rule."""
        data = prepare(outputs, kind=self.spec.kind, classes=self.spec.classes, groups=groups, ids=ids)
        if data.options is not None:
            raise RuleError.names_in_stream()
        return data

    def _level_rule(self) -> LevelRule:
        """Return the thresholds of the window at the present level."""
        level = self._state.parts
        if self._known is not None and self._known[:2] == (level, self._window.changes):
            return self._known[2]
        counts = np.zeros(self.spec.n_groups, dtype=np.int64)
        made = LevelRule(self.spec, self._alpha, self._thresholds(level), counts, None)
        self._known = (level, self._window.changes, made)
        return made

    def _thresholds(self, level: tuple[int, int]) -> Thresholds:
        """Return the thresholds of all groups at a level, which can be outside 0 to 1."""
        if self.spec.sharing is None or not 0 < level[0] < level[1]:
            return self._window.thresholds(level)
        return Rule(self.spec, self._window.calibration())._thresholds(Promise(Fraction(*level)))

    def _remember(self, names: Sequence[object], rows: Any, largest: list[float], size: int) -> None:  # noqa: ANN401
        """Take over rows that were predicted."""
        self._waiting.add(names, rows, self.n_rows)
        self._watching.see_outputs(largest, self.n_rows)
        self.n_rows += len(names)
        self._last, self._last_index = list(names), None
        self._history.add((len(names), 0, size, 0), (self._float_level, *self._watching.logs))

    @property
    def _float_level(self) -> float:
        above, below = self._state.parts
        return above / below

    def update(self, labels: ArrayLike, *, ids: ArrayLike | None = None) -> Learned:
        """Learn from labels of rows that were predicted, in any order, whenever they come.

        The level moves by whether the sets, as they were given out, missed the labels; the rows enter the window.

        Parameters
        ----------
        labels
            The true labels, as class names or column numbers. One label can be passed as a list with one entry.
        ids
            The ids of their rows. By default the rows of the last call of ``predict``.

        Returns
        -------
        Learned
            Labels of rows that have one already, and of rows that are not waiting, are counted and ignored.

        Raises
        ------
        LabelError
            If a label is no class, or there are more or fewer labels than ids. The stream then stays as it was.
        InputError
            If the index of labels without ids says that they are in another order than the rows, or of other rows.
        RuleError
            If ids are not passed and the number of labels is not that of the last rows, or if an id comes twice.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("carer")
        >>> stream = rs.Stream(rs.calibrate(probs[:1000], labels[:1000], kind="logits"), alpha=0.1)
        >>> _ = stream.predict(probs[1000:1003], ids=["a", "b", "c"])
        >>> stream.update([labels[1002], labels[1000]], ids=["c", "a"])
        Learned(rows=2, misses=1, repeated=0, unknown=0)
        >>> stream.update([labels[1000], 1], ids=["a", "z"])
        Learned(rows=0, misses=0, repeated=1, unknown=1)
        """
        with self._lock:
            n = len(self._last) if ids is None else _length(ids)
            if n is None:
                raise KindError.argument("ids", "a list with one id for each label", ids)
            columns = self._columns(labels, n, named=ids is not None)
            names = self._last if ids is None else row_names(ids, n)
            return self._learn(names, columns)

    def _columns(self, labels: Any, n: int, *, named: bool) -> list[int]:  # noqa: ANN401
        """Return the columns of labels; raise an error if they are not as many as rows, or no classes."""
        plain = type(labels) is np.ndarray and labels.dtype.kind in "iu" and isinstance(self.spec.classes.values, range)
        if plain and labels.shape == (n,):
            found: list[int] = labels.tolist()
            if not found or (min(found) >= 0 and max(found) < self.spec.n_columns):
                return found
        count = _length(labels)
        if not named and count is not None and count != n:
            raise RuleError.no_rows_to_label(count, n)
        index = RowIndex(None if named else self._last_index)
        columns = label_codes(labels, self.spec.classes, n, index, by_position=True)
        if (columns < 0).any():
            raise RuleError.absent_in_stream(int((columns < 0).argmax()))
        codes: list[int] = columns.tolist()
        return codes

    def _learn(self, names: Sequence[object], columns: list[int]) -> Learned:
        """Learn from labels, which were checked, in their order."""
        here = [place for place, name in enumerate(names) if name in self._waiting.rows]
        repeated = sum(name in self._waiting.labelled for name in names)
        answers = self._answers([names[place] for place in here], [columns[place] for place in here])
        for place, answer in zip(here, answers, strict=True):
            self._learn_one(self._waiting.take(names[place]).number, answer)
        misses = sum(answer.missed for answer in answers)
        self._history.add((0, len(here), 0, misses), (self._float_level, *self._watching.logs))
        return Learned(len(here), misses, repeated, len(names) - len(here) - repeated)

    def _answers(self, names: Sequence[object], columns: Sequence[int]) -> list[Answer]:
        """Return what labels say about waiting rows, in their order; rows of one call are looked at together."""
        calls: dict[int, list[int]] = {}
        places = [self._waiting.rows[name] for name in names]
        for number, place in enumerate(places):
            calls.setdefault(id(place.rows), []).append(number)
        found: dict[int, Answer] = {}
        for numbers in calls.values():
            rows, wanted = places[numbers[0]].rows, [columns[number] for number in numbers]
            some = rows.answers(self.spec, [places[number].place for number in numbers], wanted)
            found.update(zip(numbers, some, strict=True))
        return [found[number] for number in range(len(names))]

    def _learn_one(self, number: int, answer: Answer) -> None:
        """Learn from the label of one row with this number."""
        known = answer.group >= 0
        p_value = 1.0
        if known and not hasattr(self._state, "units"):
            p_value = self._window.p_value(answer.group if self.spec.sharing is None else None, answer.keys)
        self._state.learn(answer.missed, p_value, self.n_rows - 1 - number)
        if known:
            self._window.add(answer.group, answer.keys)
        self._watching.see_label(answer.keys, answer.missed, number, self.n_rows - 1)


def _length(values: Any) -> int | None:  # noqa: ANN401
    """Return the number of entries of a list, array, tensor, series or frame; None for everything else."""
    try:
        return None if isinstance(values, str | bytes) else len(values)
    except TypeError:
        return None


def _copied(data: Prepared) -> Prepared:
    """Return rows that do not change with arrays of the caller."""
    groups, ids, counts = (None if one is None else np.array(one) for one in (data.groups, data.ids, data.counts))
    return replace(data, matrix=np.array(data.matrix), groups=groups, ids=ids, counts=counts)
