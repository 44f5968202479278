"""Calibrate scores on labelled rows, then ask the rule for sets, p-values and what to expect of them."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset import notebook
from rankset.conditions import Condition, Marginal
from rankset.core import coverage_law
from rankset.core.alpha import Alpha, exact_alpha, threshold_position
from rankset.core.calibration import Calibration
from rankset.errors import InputError, LabelError, Option, RuleError, warn
from rankset.inputs.matrix import Kind, look_like_probs, names_per_row
from rankset.inputs.prepare import Prepared, prepare
from rankset.inputs.row_index import RowIndex
from rankset.inputs.vocabulary import Names, union
from rankset.io import container
from rankset.rules import rule_file
from rankset.rules.batch import Batch, warn_of_unseen
from rankset.rules.level_rule import LevelRule
from rankset.rules.select import Empty
from rankset.rules.spec import HasSpec, RuleSpec
from rankset.rules.summaries import CoverageBand, Estimate, RankProfile
from rankset.scores import Rank, Score
from rankset.sets import CoverageLaw, PredictionSets

SHOWN_LEVELS = (0.01, 0.05, 0.1, 0.2)


def calibrate(
    probs: ArrayLike,
    labels: ArrayLike,
    *,
    score: Score = Rank(),  # noqa: B008
    condition: Condition = Marginal(),  # noqa: B008
    kind: Kind = "probs",
    classes: Iterable[object] | None = None,
    groups: ArrayLike | None = None,
    ids: ArrayLike | None = None,
    seed: int = 0,
) -> Rule:
    """A rule that turns scores into prediction sets, from scores (n, K) of rows whose labels are known.

    The rows must be new to the model and exchangeable with the rows to come; then every set contains its row's
    label with probability at least 1 - alpha, whatever the model.

    * ``score``: how strange a label looks; ``condition``: for whom coverage holds separately.
    * ``kind``: "probs"; "logits" (softmax in float64); "decision" (any numbers that compare between rows, such as
      margins or similarities, for Rank, TopK, Thr and Margin); "binary" (the 1-D probability of the second class).
      The rule expects the same kind ever after.
    * ``classes``: names of the columns, in order; labels and sets speak in them (default 0 … K-1, or the columns of
      a data frame; those are matched by name, here and ever after). A mapping of column numbers to names does, too.
    * ``labels``, ``groups`` and ``ids`` are in the order of the rows. Those that have an index (pandas) must have that
      of the rows, or the default 0 … n-1: the same entries in another order are refused, and so is another index.
    * ``groups``: one name per row, for conditions that look at rows.
    * ``ids``: one per row, mixed into the draws of randomised scores where models repeat their outputs; then
      ``predict`` needs them too. ``seed`` chooses among the possible draws.

    >>> import rankset as rs
    >>> probs = [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.5, 0.3, 0.2], [0.2, 0.2, 0.6]]
    >>> rule = rs.calibrate(probs, ["cat", "dog", "dog", "fox"], classes=["cat", "dog", "fox"])
    >>> [labels.tolist() for labels in rule.predict([[0.6, 0.3, 0.1]], alpha=0.5)]
    [['cat']]
    """
    data = prepare(probs, labels, kind=kind, classes=classes, groups=groups, ids=ids)
    if kind == "logits" and look_like_probs(data.matrix):
        warn(
            "these logits look like probabilities: every row sums to 1. If they are, pass ",
            Option("kind", "probs"),
            ".",
        )
    return calibrate_prepared(RuleSpec.of(score, condition, data.kind, seed, data.classes), data)


@dataclass(frozen=True)
class Rule(HasSpec):
    """A calibrated rule: a spec and its sorted calibration keys. It holds no level: alpha belongs to the question."""

    spec: RuleSpec
    calibration: Calibration

    def __repr__(self) -> str:
        spec = self.spec
        caveat = spec.traits.caveat
        return (
            f"Rule({spec.score!r}, {spec.condition!r}, kind={spec.kind!r}, "
            f"{len(spec.classes):,} classes, calibrated on {self.n:,} rows{f'; {caveat}' if caveat else ''})"
        )

    def _repr_html_(self) -> str:
        spec = self.spec
        facts: list[tuple[object, ...]] = [
            ("score", repr(spec.score), notebook.faint(spec.traits.caveat or "")),
            (
                "condition",
                repr(spec.condition),
                notebook.faint(f"{spec.n_groups:,} threshold{'s' * (spec.n_groups != 1)}"),
            ),
            ("classes", f"{len(spec.classes):,}", notebook.chips(spec.classes.values[:10], spec.n_columns - 10)),
            ("kind", spec.kind, ""),
        ]
        title = f"Rule, calibrated on {self.n:,} rows"
        if spec.n_groups > 1:
            return notebook.card(title, notebook.table(facts))
        return notebook.card(title, notebook.table(facts), self._levels_html())

    def _levels_html(self) -> str:
        """Where coverage will lie at some levels."""
        bands = [(alpha, self.coverage_band(alpha)) for alpha in SHOWN_LEVELS]
        rows = [
            (f"{alpha:g}", notebook.bar(band.low, f"{band.low:.4f} to {band.high:.4f}{' or more' * band.tied}"))
            for alpha, band in bands
        ]
        return notebook.table(rows, ("alpha", "coverage, in 90% of calibrations"))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rule):
            return NotImplemented
        return self.spec == other.spec and self.calibration == other.calibration

    __hash__ = None  # type: ignore[assignment]

    @property
    def n(self) -> int:
        """How many rows calibrated the rule."""
        return len(self.calibration)

    def at(self, alpha: Alpha) -> LevelRule:
        """The rule at one level, for programs that only predict there.

        Parameters
        ----------
        alpha : the level, strictly between 0 and 1.

        Returns
        -------
        A ``LevelRule``, which holds the thresholds at this level and no calibration.

        Raises
        ------
        LevelError : where ``alpha`` is not a level.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> rule = rs.calibrate(probs, labels)
        >>> rule.at(0.1).predict(probs) == rule.predict(probs, 0.1)
        True
        """
        exact, counts = exact_alpha(alpha), self.calibration.counts
        thresholds = self.calibration.thresholds(exact)
        return LevelRule(self.spec, exact, thresholds, counts, self._law(exact))

    def _law(self, alpha: Fraction) -> CoverageLaw | None:
        """What is known beforehand of coverage at ``alpha``, where there is one threshold."""
        if self.spec.n_groups > 1:
            return None
        k = threshold_position(self.n, alpha)
        return CoverageLaw(k, self.n, exact=k > self.n or not self.calibration.tied(0, k))

    def predict(
        self,
        probs: ArrayLike,
        alpha: Alpha,
        *,
        groups: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        empty: Empty = "allow",
    ) -> PredictionSets:
        """Sets that contain the label with probability at least 1 - ``alpha``.

        A set may be empty, which says that no label looks usual enough; ``empty="top"`` puts the most likely
        label into such sets.
        """
        return self.at(alpha).predict(probs, groups=groups, ids=ids, empty=empty)

    def predict_parts(
        self,
        probs: ArrayLike,
        alpha: Alpha,
        *,
        groups: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        empty: Empty = "allow",
        rows: int | None = 100_000,
    ) -> Iterator[PredictionSets]:
        """The same sets, those of ``rows`` rows at a time: for more sets than memory holds.

        >>> import numpy as np, rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> [len(sets) for sets in rs.calibrate(probs, labels).predict_parts(probs, 0.1, rows=100)]
        [100, 100, 60]
        """
        return self.at(alpha).predict_parts(probs, groups=groups, ids=ids, empty=empty, rows=rows)

    def p_values(
        self, probs: ArrayLike, *, groups: ArrayLike | None = None, ids: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """How usual each label looks (n, K): a label is in the set at ``alpha`` exactly when its p-value exceeds it.

        Exactly, for every alpha that is written with up to 15 digits.
        """
        data = self._prepare(probs, groups=groups, ids=ids)
        return self._p_values(data)

    def _p_values(self, data: Prepared) -> NDArray[np.float64]:
        """The p-values of prepared rows."""
        stranger, sizes = self._tails(data)
        warn_of_unseen(self.spec, data)
        p_values = (1 + stranger) / (1 + sizes)
        if data.counts is not None:
            p_values[np.arange(data.n_columns) >= data.counts[:, np.newaxis]] = 0.0
        return p_values

    def _tails(self, data: Prepared) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """What p-values are made of (n, K): how many of the label's calibration rows are at least as strange, and how
        many there are."""
        batch = Batch.of(self.spec, data)
        stranger, sizes = np.empty(batch.shape, dtype=np.int64), np.empty(batch.shape, dtype=np.int64)

        def fill(part: slice) -> None:
            cells, numbers, keys = batch.all_keys(part)
            counted = self.calibration.tails(numbers, keys)
            for answer, counts in zip((stranger, sizes), counted, strict=True):
                answer[part].reshape(-1)[cells.flat] = counts

        batch.map_blocks(fill)
        return stranger, sizes

    def expected_size(
        self,
        probs: ArrayLike,
        alpha: Alpha,
        *,
        groups: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        empty: Empty = "allow",
    ) -> Estimate:
        """The mean size this rule's sets will have at ``alpha``, estimated on rows without labels."""
        sizes = self.predict(probs, alpha, groups=groups, ids=ids, empty=empty).sizes
        if len(sizes) == 0:
            raise RuleError.no_unlabelled_rows()
        error = sizes.std(ddof=1) / math.sqrt(len(sizes)) if len(sizes) > 1 else math.inf
        return Estimate(float(sizes.mean()), float(error), len(sizes))

    def coverage_band(
        self, alpha: Alpha, *, confidence: float = 0.9, group: object = None, label: object = None
    ) -> CoverageBand:
        """Where coverage will lie: exact Beta quantiles over all calibrations of this size, here or in one group.

        Ties raise coverage above this law; the band says so where the calibration shows them.

        >>> import numpy as np, rankset as rs
        >>> tops = np.linspace(0.51, 0.99, 99)
        >>> rs.calibrate(np.column_stack((tops, 1 - tops)), np.zeros(99, int)).coverage_band(0.1)
        CoverageBand(90% within 0.8467 to 0.9442, mean 0.9000, n=99)
        """
        tails = coverage_law.tails(confidence)
        number = self._group(group, label)
        n = len(self.calibration.of_group(number)[0])
        k = threshold_position(n, exact_alpha(alpha))
        if k > n:
            return CoverageBand(1.0, 1.0, 1.0, confidence, n)
        low, high = (coverage_law.beta_quantile(q, k, n + 1 - k) for q in tails)
        return CoverageBand(low, high, k / (n + 1), confidence, n, self.calibration.tied(number, k))

    def threshold(self, alpha: Alpha, *, group: object = None, label: object = None) -> tuple[float, ...] | None:
        """The last key that stays at ``alpha``, as the score makes keys; None where every label stays.

        >>> import rankset as rs
        >>> rs.calibrate([[0.8, 0.2], [0.3, 0.7], [0.6, 0.4]], [0, 1, 1], score=rs.Thr()).threshold(0.5)
        (-0.7,)
        """
        keys = self.calibration.of_group(self._group(group, label))
        k = threshold_position(len(keys[0]), exact_alpha(alpha))
        return None if k > len(keys[0]) else tuple(key[k - 1].item() for key in keys)

    def rank_profile(self, alpha: Alpha, *, group: object = None, label: object = None) -> RankProfile:
        """r*, the probability needed at r*, and the rank distribution of the calibration (of one group, where there
        are several)."""
        if not self.spec.traits.orders_by_rank:
            raise RuleError.no_ranks(self.spec.score)
        number = self._group(group, label)
        keys, alike = self.calibration.of_group(number), self._alone(number)
        n, n_columns = len(keys[0]), self.spec.n_columns
        counts = np.bincount(keys[0].astype(np.int64), minlength=n_columns + 1)[1:]
        k = threshold_position(n, exact_alpha(alpha))
        if k > n:
            return RankProfile(n_columns, None, counts, (n_columns, n_columns) if alike else None)
        r_star = int(keys[0][k - 1])
        prob = float(-keys[1][k - 1]) if self.spec.traits.breaks_ties_by_prob else None
        least = r_star if len(keys) == 1 else r_star - 1
        return RankProfile(r_star, prob, counts, (least, r_star) if alike else None)

    def update(
        self,
        probs: ArrayLike,
        labels: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        ids: ArrayLike | None = None,
    ) -> Rule:
        """A new rule, calibrated on these rows as well."""
        data = self._prepare(probs, labels, groups=groups, ids=ids)
        return self if len(data) == 0 else self.merge(calibrate_prepared(self.spec, data))

    def _calibrate_like(
        self,
        probs: ArrayLike,
        labels: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        ids: ArrayLike | None = None,
    ) -> Rule:
        """A new rule that asks the same question, calibrated on these rows alone."""
        return calibrate_prepared(self.spec, self._prepare(probs, labels, groups=groups, ids=ids))

    def merge(self, *others: Rule) -> Rule:
        """One rule of all calibrations, exactly as if calibrated at once on all rows; no row may be in two of them."""
        everyone = (self, *others)
        for other in others:
            self._check_alike(other)
        if len({id(rule) for rule in everyone}) < len(everyone):
            raise RuleError.itself()
        spec = self.spec.with_groups(union(*(rule.spec.groups for rule in everyone)))
        first, *rest = (rule._renumbered(spec) for rule in everyone)
        return Rule(spec, first.merge(*rest))

    def _check_alike(self, other: Rule) -> None:
        """Refuses to merge with a rule that asks another question."""
        if not isinstance(other, Rule):
            raise RuleError.not_a_rule(other)
        what = self.spec.difference(other.spec)
        if what == "with_ids":
            raise RuleError.ids(*(("with", "without") if self.spec.with_ids else ("without", "with")))
        if what is not None:
            raise RuleError.different(what, _said(self.spec, what), _said(other.spec, what))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the rule to ``path``: data only, readable by ``load`` in this and every later version."""
        container.write(path, *rule_file.pack(self.spec, self.calibration))

    def _prepare(
        self,
        probs: ArrayLike,
        labels: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        ids: ArrayLike | None = None,
    ) -> Prepared:
        """Rows with the columns of the calibration, and what comes with them."""
        return prepare(probs, labels, kind=self.spec.kind, classes=self.spec.classes, groups=groups, ids=ids)

    def _group(self, group: object, label: object) -> int:
        """The number of the group a user means."""
        spec, table = self.spec, self.spec.table()
        if group is not None and not spec.condition.needs_groups:
            raise RuleError.group_unused(spec.condition, "group")
        if label is not None and table.shape[1] == 1:
            raise RuleError.group_unused(spec.condition, "label")
        row = _place("group", spec.groups, group) if spec.condition.needs_groups else 0
        column = _place("label", spec.classes, label) if table.shape[1] > 1 else 0
        if row is None or column is None:
            needed = [
                *(["group"] if spec.condition.needs_groups else []),
                *(["label"] if table.shape[1] > 1 else []),
            ]
            raise RuleError.which_group(spec.condition, spec.n_groups, needed)
        return int(np.broadcast_to(table, (max(1, len(spec.groups)), spec.n_columns))[row, column])

    def _alone(self, number: int) -> bool:
        """Whether all labels of a row that has a group's threshold have the same one."""
        table = self.spec.table()
        rows = (table == number).any(axis=1)
        return bool((table[rows] == number).all())

    def _renumbered(self, spec: RuleSpec) -> Calibration:
        """The calibration with the group numbers of ``spec``, which knows more row groups."""
        if spec.groups == self.spec.groups:
            return self.calibration
        columns = np.arange(spec.n_columns)[np.newaxis, :]
        codes = spec.groups.codes(self.spec.groups.array)[:, np.newaxis]
        numbers = np.zeros(self.spec.n_groups, dtype=np.int64)
        numbers[self.spec.table()] = spec.numbers(columns, codes)
        return self.calibration.renumbered(numbers, spec.n_groups)


def load(path: str | os.PathLike[str]) -> Rule:
    """The rule that ``Rule.save`` wrote."""
    header, arrays = container.read(path)
    with container.unpacking(path):
        return Rule(*rule_file.unpack(header, arrays))


def calibrate_prepared(spec: RuleSpec, data: Prepared) -> Rule:
    """The rule of prepared rows with labels; what they have in groups and ids becomes part of its spec."""
    if len(data.matrix) == 0:
        raise InputError.no_rows()
    if data.labels is None:
        raise LabelError.not_one_dimensional("labels", "NoneType")
    spec = spec.learning(data)
    batch = Batch.of(spec, data)
    count = spec.n_groups
    parts = batch.map_blocks(partial(batch.label_keys, data.labels))
    for numbers, _ in parts:
        if numbers.dtype.kind not in "iu" or numbers.min() < 0 or numbers.max() >= count:
            raise LabelError.group_numbers(spec.condition, count, f"{numbers.min()} to {numbers.max()}")
    return Rule(spec, Calibration.of_parts(parts, count))


def _place(what: str, names: Names, name: object) -> int | None:
    """Where ``name`` stands in the vocabulary; None if it was not given."""
    if name is None:
        return None
    asked = np.empty(1, dtype=object)
    asked[0] = name
    code = int(names.codes(names_per_row(asked, 1, RowIndex()))[0])
    if code < 0:
        raise RuleError.no_such_name(what, name, tuple(names.values))
    return code


def _said(spec: RuleSpec, what: str) -> object:
    value = getattr(spec, what)
    return list(value.values) if isinstance(value, Names) else value
