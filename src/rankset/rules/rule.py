"""Calibrate scores on labelled rows, then ask the rule for sets, p-values and what to expect of them."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset import notebook
from rankset.conditions import Condition, Marginal
from rankset.core import coverage_law
from rankset.core.alpha import Alpha, exact_alpha, threshold_position
from rankset.core.calibration import Calibration
from rankset.errors import InputError, LabelError, RuleError, warn
from rankset.inputs.matrix import (
    Kind,
    as_matrix,
    class_count,
    id_words,
    known_kind,
    label_codes,
    look_like_probs,
    names_per_row,
)
from rankset.inputs.row_index import RowIndex
from rankset.inputs.source import Source, open_source
from rankset.inputs.vocabulary import Name, Names, union
from rankset.io import container
from rankset.rules import rule_file
from rankset.rules.level_rule import LevelRule
from rankset.rules.select import Empty
from rankset.rules.spec import Batch, HasRecipe, Recipe, learned_groups, row_group_names
from rankset.rules.summaries import CoverageBand, Estimate, RankProfile
from rankset.scores import builtin as scores
from rankset.scores.builtin import Rank, Score
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
    * ``kind``: "probs"; "logits" (softmax in float64); "scores" (any numbers that compare between rows, such as
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
    source = open_source(probs, classes)
    if source.counts is not None and kind == "binary":
        raise InputError.ragged_binary()
    matrix = as_matrix(source.values, known_kind(kind))
    if kind == "logits" and look_like_probs(matrix):
        warn("these logits look like probabilities: every row sums to 1. If they are, pass kind='probs'.")
    recipe = Recipe.of(score, condition, kind, seed, source.classes, class_count(matrix, kind))
    return _calibrated(recipe, replace(source, values=matrix), labels, groups, ids)


@dataclass(frozen=True)
class Rule(HasRecipe):
    """A calibrated rule: a recipe and its sorted calibration keys. It holds no level: alpha belongs to the question."""

    recipe: Recipe
    calibration: Calibration

    def __repr__(self) -> str:
        recipe = self.recipe
        caveat = scores.caveat(recipe.score)
        return (
            f"Rule({recipe.score!r}, {recipe.condition!r}, kind={recipe.kind!r}, "
            f"{len(recipe.classes):,} classes, calibrated on {self.n:,} rows{f'; {caveat}' if caveat else ''})"
        )

    def _repr_html_(self) -> str:
        recipe = self.recipe
        facts: list[tuple[object, ...]] = [
            ("score", repr(recipe.score), notebook.faint(scores.caveat(recipe.score) or "")),
            (
                "condition",
                repr(recipe.condition),
                notebook.faint(f"{recipe.n_groups:,} threshold{'s' * (recipe.n_groups != 1)}"),
            ),
            ("classes", f"{len(recipe.classes):,}", notebook.chips(recipe.classes.values[:10], recipe.n_columns - 10)),
            ("kind", recipe.kind, ""),
        ]
        title = f"Rule, calibrated on {self.n:,} rows"
        if recipe.n_groups > 1:
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
        return self.recipe == other.recipe and self.calibration == other.calibration

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
        return LevelRule(self.recipe, exact, thresholds, counts, self._law(exact))

    def _law(self, alpha: Fraction) -> CoverageLaw | None:
        """What is known beforehand of coverage at ``alpha``, where there is one threshold."""
        if self.recipe.n_groups > 1:
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
        batch = Batch.asked(self.recipe, self.source(probs), groups, ids)
        batch.warn_of_unseen(groups)
        stranger, sizes = self._tails(batch)
        p_values = (1 + stranger) / (1 + sizes)
        if batch.counts is not None:
            p_values[np.arange(batch.shape[1]) >= batch.counts[:, np.newaxis]] = 0.0
        return p_values

    def tails(
        self, probs: ArrayLike, *, groups: ArrayLike | None = None, ids: ArrayLike | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """What p-values are made of, to be pooled: (n, K) counts of the label's calibration rows at least as strange,
        and of all of them."""
        source = self.source(probs)
        if source.counts is not None:
            raise InputError.no_pooling()
        return self._tails(Batch.asked(self.recipe, source, groups, ids))

    def _tails(self, batch: Batch) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        stranger, sizes = np.empty(batch.shape, dtype=np.int64), np.empty(batch.shape, dtype=np.int64)

        def fill(part: slice) -> None:
            cells, numbers, keys = batch.all_keys(part)
            counted = self.calibration.tails(numbers, keys)
            for answer, counts in zip((stranger, sizes), counted, strict=True):
                answer[part].reshape(-1)[cells.flat] = counts

        batch.mapped(fill)
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
        if not scores.orders_by_rank(self.recipe.score):
            raise RuleError.no_ranks(self.recipe.score)
        number = self._group(group, label)
        keys, alike = self.calibration.of_group(number), self._alone(number)
        n, n_columns = len(keys[0]), self.recipe.n_columns
        counts = np.bincount(keys[0].astype(np.int64), minlength=n_columns + 1)[1:]
        k = threshold_position(n, exact_alpha(alpha))
        if k > n:
            return RankProfile(n_columns, None, counts, (n_columns, n_columns) if alike else None)
        r_star = int(keys[0][k - 1])
        prob = float(-keys[1][k - 1]) if scores.breaks_ties_by_prob(self.recipe.score) else None
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
        source = self.source(probs)
        if len(source.values) == 0:
            label_codes(labels, self.recipe.classes, 0, source.index)
            return self
        return self.merge(self.anew(probs, labels, groups=groups, ids=ids))

    def anew(
        self,
        probs: ArrayLike,
        labels: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        ids: ArrayLike | None = None,
    ) -> Rule:
        """A new rule that asks the same question, calibrated on these rows alone."""
        return _calibrated(self.recipe, self.source(probs), labels, groups, ids)

    def merge(self, *others: Rule) -> Rule:
        """One rule of all calibrations, exactly as if calibrated at once on all rows; no row may be in two of them."""
        everyone = (self, *others)
        for other in others:
            self.check_alike(other)
        if len({id(rule) for rule in everyone}) < len(everyone):
            raise RuleError.itself()
        recipe = self.recipe.with_groups(union(*(rule.recipe.groups for rule in everyone)))
        first, *rest = (rule._renumbered(recipe) for rule in everyone)
        return Rule(recipe, first.merge(*rest))

    def check_alike(self, other: Rule) -> None:
        """Refuses to merge with a rule that asks another question."""
        if not isinstance(other, Rule):
            raise RuleError.not_a_rule(other)
        what = self.recipe.difference(other.recipe)
        if what == "with_ids":
            raise RuleError.ids(*(("with", "without") if self.recipe.with_ids else ("without", "with")))
        if what is not None:
            raise RuleError.different(what, _said(self.recipe, what), _said(other.recipe, what))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the rule to ``path``: data only, readable by ``load`` in this and every later version."""
        container.write(path, *rule_file.pack(self.recipe, self.calibration))

    def source(self, probs: ArrayLike) -> Source:
        """``probs`` with the columns of the calibration."""
        return self.recipe.source(probs)

    def unseen(self, groups: ArrayLike | None) -> set[Name]:
        """The names among ``groups`` that calibration never saw."""
        return self.recipe.unseen(groups)

    def _group(self, group: object, label: object) -> int:
        """The number of the group a user means."""
        recipe, table = self.recipe, self.recipe.table()
        if group is not None and not recipe.condition.needs_groups:
            raise RuleError.group_unused(recipe.condition, "group")
        if label is not None and table.shape[1] == 1:
            raise RuleError.group_unused(recipe.condition, "label")
        row = _place("group", recipe.groups, group) if recipe.condition.needs_groups else 0
        column = _place("label", recipe.classes, label) if table.shape[1] > 1 else 0
        if row is None or column is None:
            needed = [
                *(["group=…"] if recipe.condition.needs_groups else []),
                *(["label=…"] if table.shape[1] > 1 else []),
            ]
            raise RuleError.which_group(recipe.condition, recipe.n_groups, " and ".join(needed))
        return int(np.broadcast_to(table, (max(1, len(recipe.groups)), recipe.n_columns))[row, column])

    def _alone(self, number: int) -> bool:
        """Whether all labels of a row that has a group's threshold have the same one."""
        table = self.recipe.table()
        rows = (table == number).any(axis=1)
        return bool((table[rows] == number).all())

    def _renumbered(self, recipe: Recipe) -> Calibration:
        """The calibration with the group numbers of ``recipe``, which knows more row groups."""
        if recipe.groups == self.recipe.groups:
            return self.calibration
        columns = np.arange(recipe.n_columns)[np.newaxis, :]
        codes = recipe.groups.codes(self.recipe.groups.array)[:, np.newaxis]
        numbers = np.zeros(self.recipe.n_groups, dtype=np.int64)
        numbers[self.recipe.table()] = recipe.numbers(columns, codes)
        return self.calibration.renumbered(numbers, recipe.n_groups)


def load(path: str | os.PathLike[str]) -> Rule:
    """The rule that ``Rule.save`` wrote."""
    header, arrays = container.read(path)
    with container.unpacking(path):
        return Rule(*rule_file.unpack(header, arrays))


def _calibrated(
    recipe: Recipe, source: Source, labels: ArrayLike, groups: ArrayLike | None, ids: ArrayLike | None
) -> Rule:
    n_rows = len(source.values)
    if n_rows == 0:
        raise InputError.no_rows()
    columns = label_codes(labels, recipe.classes, n_rows, source.index)
    source.check_candidates(columns, recipe.classes)
    names = row_group_names(recipe.condition, groups, n_rows, source.index)
    words = id_words(ids, n_rows, source.index)
    recipe = recipe.learning(learned_groups(names), ids)
    batch = Batch.of(recipe, source.values, names, words, source.counts)
    count = recipe.n_groups
    parts = batch.mapped(partial(batch.label_keys, columns))
    for numbers, _ in parts:
        if numbers.dtype.kind not in "iu" or numbers.min() < 0 or numbers.max() >= count:
            raise LabelError.group_numbers(recipe.condition, count, f"{numbers.min()} to {numbers.max()}")
    return Rule(recipe, Calibration.of_parts(parts, count))


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


def _said(recipe: Recipe, what: str) -> object:
    value = getattr(recipe, what)
    return list(value.values) if isinstance(value, Names) else value
