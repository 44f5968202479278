"""Calibrate scores on labelled rows, then ask the rule for sets, p-values and what to expect of them."""

import math
import os
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset import beta, blocks, conditions, inputs, level, order, scores, storage
from rankset.calibration import Calibration, Thresholds
from rankset.conditions import Condition, Marginal
from rankset.errors import InputError, KindError, RanksetWarning, RuleError, ScoreError, StorageError, listed
from rankset.inputs import Kind
from rankset.level import Alpha
from rankset.names import Names, class_names, union
from rankset.recipe import Batch, Ints, Recipe, learned_groups, row_group_names
from rankset.scores import Rank, Score
from rankset.sets import PredictionSets

Empty = Literal["allow", "top"]


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
) -> "Rule":
    """A rule that turns scores into prediction sets, from scores (n, K) of rows whose labels are known.

    The rows must be new to the model and exchangeable with the rows to come; then every set contains its row's
    label with probability at least 1 - alpha, whatever the model.

    * ``score``: how strange a label looks; ``condition``: for whom coverage holds separately.
    * ``kind``: "probs"; "logits" (softmax in float64); "scores" (any numbers: order is enough for Rank, TopK, Thr,
      Margin); "binary" (the 1-D probability of the second class). The rule expects the same kind ever after.
    * ``classes``: names of the columns, in order; labels and sets speak in them (default 0 … K-1).
    * ``groups``: one name per row, for conditions that look at rows.
    * ``ids``: one per row, mixed into the noise of randomised scores where models repeat their outputs.

    >>> import rankset as rs
    >>> probs = [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.5, 0.3, 0.2], [0.2, 0.2, 0.6]]
    >>> rule = rs.calibrate(probs, ["cat", "dog", "dog", "fox"], classes=["cat", "dog", "fox"])
    >>> [labels.tolist() for labels in rule.predict([[0.6, 0.3, 0.1]], alpha=0.5)]
    [['cat']]
    """
    recipe, columns = _recipe(probs, score, condition, kind, classes, seed)
    return _calibrated(recipe, inputs.matrix(probs, recipe.kind, columns=columns), labels, groups, ids)


@dataclass(frozen=True)
class Estimate:
    """A mean over ``n`` rows with its standard error."""

    mean: float
    error: float
    n: int


@dataclass(frozen=True)
class CoverageBand:
    """Where the coverage of a rule lies, over all calibrations with ``n`` rows; ties only raise it."""

    low: float
    high: float
    mean: float
    confidence: float
    n: int


@dataclass(frozen=True)
class RankProfile:
    """The paper's view of a calibration: the distribution of the true label's rank, cut at r* and pi*.

    A set holds every label ranked before ``r_star``, and the one at ``r_star`` if its probability is at least
    ``pi_star`` (None: no such condition), so the mean size lies within ``size_bounds``.
    """

    r_star: int
    pi_star: float | None
    counts: NDArray[np.int64]
    size_bounds: tuple[int, int]

    @property
    def distribution(self) -> NDArray[np.float64]:
        """The share of calibration rows whose true label has rank 1, 2, …, K."""
        return self.counts / self.counts.sum()


@dataclass(frozen=True)
class Rule:
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

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rule):
            return NotImplemented
        arrays = zip(self._arrays().values(), other._arrays().values(), strict=False)
        return self.recipe == other.recipe and all(np.array_equal(ours, theirs) for ours, theirs in arrays)

    __hash__ = None  # type: ignore[assignment]

    @property
    def n(self) -> int:
        """How many rows calibrated the rule."""
        return len(self.calibration)

    @property
    def classes(self) -> NDArray[Any]:
        """The class names, in column order."""
        return self.recipe.classes.array

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
        if empty not in ("allow", "top"):
            raise RuleError.option("empty", empty, ("allow", "top"))
        exact = level.exact(alpha)
        batch = self._batch(probs, groups, ids)
        self._warn_of_small_groups(batch, exact)
        offsets, codes = select(batch, self.calibration.thresholds(exact), empty)
        known = self.n if self.recipe.n_groups == 1 else None
        return PredictionSets(offsets, codes, self.recipe.classes, exact, known)

    def p_values(
        self, probs: ArrayLike, *, groups: ArrayLike | None = None, ids: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """How usual each label looks (n, K): a label is in the set at ``alpha`` exactly when its p-value exceeds it.

        Exactly, for every alpha that is written with up to 15 digits.
        """
        batch = self._batch(probs, groups, ids)
        answer = np.empty(batch.shape)

        def fill(part: slice) -> None:
            cells, numbers, keys = batch.all_keys(part)
            np.put_along_axis(answer[part], cells.column, self.calibration.p_values(numbers, keys), axis=1)

        for _ in blocks.mapped(fill, *batch.shape):
            pass
        return answer

    def expected_size(
        self,
        probs: ArrayLike,
        alpha: Alpha,
        *,
        groups: ArrayLike | None = None,
        ids: ArrayLike | None = None,
    ) -> Estimate:
        """The mean size sets will have at ``alpha``, estimated on rows without labels."""
        sizes = self.predict(probs, alpha, groups=groups, ids=ids).sizes
        if len(sizes) == 0:
            raise RuleError.no_unlabelled_rows()
        error = sizes.std(ddof=1) / math.sqrt(len(sizes)) if len(sizes) > 1 else math.inf
        return Estimate(float(sizes.mean()), float(error), len(sizes))

    def coverage_band(
        self, alpha: Alpha, *, confidence: float = 0.9, group: object = None, label: object = None
    ) -> CoverageBand:
        """Where coverage will lie: exact Beta quantiles over all calibrations of this size, here or in one group.

        >>> import numpy as np, rankset as rs
        >>> rule = rs.calibrate(np.full((99, 2), 0.5), np.zeros(99, int))
        >>> band = rule.coverage_band(0.1)
        >>> round(band.low, 3), band.mean, round(band.high, 3)
        (0.847, 0.9, 0.944)
        """
        if not 0 < confidence < 1:
            raise KindError.argument("confidence", "a share between 0 and 1", confidence)
        n = len(self.calibration.of_group(self._group(group, label))[0])
        k = level.position(n, level.exact(alpha))
        if k > n:
            return CoverageBand(1.0, 1.0, 1.0, confidence, n)
        tail = (1 - confidence) / 2
        low, high = (beta.beta_quantile(q, k, n + 1 - k) for q in (tail, 1 - tail))
        return CoverageBand(low, high, k / (n + 1), confidence, n)

    def rank_profile(self, alpha: Alpha, *, group: object = None, label: object = None) -> RankProfile:
        """r*, pi* and the rank distribution of the calibration (of one group, where there are several)."""
        if not scores.orders_by_rank(self.recipe.score):
            raise RuleError.no_ranks(self.recipe.score)
        keys = self.calibration.of_group(self._group(group, label))
        n, n_columns = len(keys[0]), self.recipe.n_columns
        counts = np.bincount(keys[0].astype(np.int64), minlength=n_columns + 1)[1:]
        k = level.position(n, level.exact(alpha))
        if k > n:
            return RankProfile(n_columns, None, counts, (n_columns, n_columns))
        r_star = int(keys[0][k - 1])
        pi_star = float(-keys[1][k - 1]) if scores.breaks_ties_by_prob(self.recipe.score) else None
        return RankProfile(r_star, pi_star, counts, (r_star if len(keys) == 1 else r_star - 1, r_star))

    def update(
        self,
        probs: ArrayLike,
        labels: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        ids: ArrayLike | None = None,
    ) -> "Rule":
        """A new rule, calibrated on these rows as well."""
        source = inputs.matrix(probs, self.recipe.kind, columns=self.recipe.n_columns)
        if len(source) == 0:
            return self
        return self.merge(_calibrated(self.recipe, source, labels, groups, ids))

    def merge(self, other: "Rule") -> "Rule":
        """One rule of both calibrations, exactly as if calibrated at once."""
        what = self.recipe.difference(other.recipe)
        if what is not None:
            raise RuleError.different(what, _said(self.recipe, what), _said(other.recipe, what))
        recipe = self.recipe.with_groups(union(self.recipe.groups, other.recipe.groups))
        return Rule(recipe, self._renumbered(recipe).merge(other._renumbered(recipe)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the rule to ``path``: data only, readable by ``load`` in this and every later version."""
        recipe = self.recipe
        header: storage.Header = {
            "what": "rule",
            "score": storage.described(recipe.score, scores.BUILT_IN),
            "condition": storage.described(recipe.condition, conditions.BUILT_IN),
            "kind": recipe.kind,
            "seed": recipe.seed,
            "classes": len(recipe.classes) if isinstance(recipe.classes.values, range) else recipe.classes.values,
            "groups": recipe.groups.values,
            "keys": len(self.calibration.keys),
        }
        storage.write(path, header, self._arrays())

    def _arrays(self) -> storage.Arrays:
        keys = {f"key{place}": key for place, key in enumerate(self.calibration.keys)}
        return {"offsets": self.calibration.offsets, **keys}

    def _batch(self, probs: ArrayLike, groups: ArrayLike | None, ids: ArrayLike | None) -> Batch:
        source = inputs.matrix(probs, self.recipe.kind, columns=self.recipe.n_columns)
        names = row_group_names(self.recipe.condition, groups, len(source))
        batch = Batch.of(self.recipe, source, names, ids)
        if names is not None and (batch.row_groups < 0).any():
            unseen = learned_groups(names[batch.row_groups < 0]).values
            _warn(f"no calibration rows for {listed(tuple(unseen))}: these groups keep every label.")
        return batch

    def _warn_of_small_groups(self, batch: Batch, alpha: Fraction) -> None:
        counts, needed = self.calibration.counts, level.rows_needed(alpha)
        if counts.min(initial=needed) >= needed:
            return
        columns = np.arange(batch.shape[1])[np.newaxis, :]
        used = np.unique(self.recipe.numbers(columns, np.unique(batch.row_groups)[:, np.newaxis]))
        small = [number for number in used[used >= 0].tolist() if counts[number] < needed]
        if not small:
            return
        got = ", ".join(f"{counts[number]} for {self.recipe.group_name(number)}" for number in small[:5])
        more = f" and {len(small) - 5:,} more groups" if len(small) > 5 else ""
        _warn(
            f"need n ≥ {needed} for alpha={float(alpha):g}, got "
            f"{counts[0] if self.recipe.n_groups == 1 else got + more}: every label is kept there."
        )

    def _group(self, group: object, label: object) -> int:
        """The number of the group a user means."""
        recipe, table = self.recipe, self.recipe.table()
        row = _place(recipe.groups, group) if recipe.condition.needs_groups else 0
        column = _place(recipe.classes, label) if table.shape[1] > 1 else 0
        if row is None or column is None:
            needed = [
                *(["group=…"] if recipe.condition.needs_groups else []),
                *(["label=…"] if table.shape[1] > 1 else []),
            ]
            raise RuleError.which_group(recipe.condition, recipe.n_groups, " and ".join(needed))
        return int(np.broadcast_to(table, (max(1, len(recipe.groups)), recipe.n_columns))[row, column])

    def _renumbered(self, recipe: Recipe) -> Calibration:
        """The calibration with the group numbers of ``recipe``, which knows more row groups."""
        if recipe.groups == self.recipe.groups:
            return self.calibration
        columns = np.arange(recipe.n_columns)[np.newaxis, :]
        codes = recipe.groups.codes(self.recipe.groups.array)[:, np.newaxis]
        numbers = np.zeros(self.recipe.n_groups, dtype=np.int64)
        numbers[self.recipe.table()] = recipe.numbers(columns, codes)
        return self.calibration.renumbered(numbers, recipe.n_groups)


HEADER_FIELDS = {"format", "what", "score", "condition", "kind", "seed", "classes", "groups", "keys"}

MOST_CLASSES = np.iinfo(np.int32).max
"""Codes of sets are int32; a file must not make anybody count further."""


def load(path: str | os.PathLike[str]) -> Rule:
    """The rule that ``Rule.save`` wrote."""
    header, arrays = storage.read(path)
    with storage.unpacking(path):
        if header.get("what") != "rule":
            raise StorageError.unreadable(path, "it does not hold a rule")
        storage.check_fields("its header", header, HEADER_FIELDS)
        recipe = _loaded_recipe(header)
        return Rule(recipe, _checked_calibration(recipe, arrays, header["keys"]))


def select(batch: Batch, thresholds: Thresholds, empty: Empty = "allow") -> tuple[Ints, NDArray[np.int32]]:
    """Offsets and codes of the sets of all rows of ``batch`` that ``thresholds`` cut out."""
    parts = list(blocks.mapped(partial(_selected, batch, thresholds, empty), *batch.shape))
    sizes = np.concatenate([np.zeros(1, dtype=np.int64), *(sizes for sizes, _ in parts)])
    codes = np.concatenate([np.zeros(0, dtype=np.int32), *(codes for _, codes in parts)])
    return sizes.cumsum(), codes


def _recipe(
    probs: ArrayLike,
    score: Score,
    condition: Condition,
    kind: str,
    classes: Iterable[object] | None,
    seed: int,
) -> tuple[Recipe, int]:
    known = inputs.known_kind(kind)
    scores.checked_score(score)
    conditions.checked_condition(condition)
    if known == "scores" and scores.needs_probs(score):
        raise ScoreError.needs_probabilities(score)
    columns = 2 if known == "binary" else inputs.matrix(probs, known).shape[1]
    return Recipe(score, condition, known, _checked_seed(seed), class_names(classes, columns)), columns


def _calibrated(
    recipe: Recipe, source: NDArray[Any], labels: ArrayLike, groups: ArrayLike | None, ids: ArrayLike | None
) -> Rule:
    if len(source) == 0:
        raise InputError.no_rows()
    columns = inputs.label_codes(labels, recipe.classes, len(source))
    names = row_group_names(recipe.condition, groups, len(source))
    recipe = recipe.with_groups(learned_groups(names))
    batch = Batch.of(recipe, source, names, ids)
    count = recipe.n_groups
    parts = list(blocks.mapped(partial(batch.label_keys, columns), *batch.shape))
    numbers = np.concatenate([numbers for numbers, _ in parts])
    keys = tuple(np.concatenate(pieces) for pieces in zip(*(keys for _, keys in parts), strict=True))
    return Rule(recipe, Calibration.of(numbers, keys, count))


def _selected(batch: Batch, thresholds: Thresholds, empty: Empty, part: slice) -> tuple[Ints, NDArray[np.int32]]:
    """Sizes and codes of the sets of one block."""
    cells, numbers, keys = batch.all_keys(part)
    kept = thresholds.keep(numbers, keys)
    if empty == "top":
        kept[~kept.any(axis=1), 0] = True
    return kept.sum(axis=1), cells.column[kept].astype(np.int32)


def _place(names: Names, name: object) -> int | None:
    """Where ``name`` stands in the vocabulary; None if it was not given."""
    if name is None:
        return None
    code = int(names.codes(inputs.names_per_row(np.array([name]), 1))[0])
    if code < 0:
        raise RuleError.no_such_group(name, tuple(names.values))
    return code


def _checked_seed(seed: object) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise KindError.argument("seed", "a whole number", seed)
    return int(seed)


def _loaded_recipe(header: storage.Header) -> Recipe:
    """The recipe a file describes, through the door every recipe comes through."""
    names = None if type(header["classes"]) is int else _loaded_names(header["classes"])
    count = header["classes"] if names is None else len(names)
    if not 0 < count <= MOST_CLASSES:
        raise ValueError(f"a rule has between 1 and {MOST_CLASSES:,} classes, it has {count:,}")
    score = storage.rebuilt(header["score"], scores.BUILT_IN)
    condition = storage.rebuilt(header["condition"], conditions.BUILT_IN)
    recipe, columns = _recipe(np.empty((0, count)), score, condition, header["kind"], names, header["seed"])
    groups = _loaded_names(header["groups"])
    recipe = recipe.with_groups(learned_groups(np.array([*groups, None], dtype=object)[:-1]))
    if columns != count or list(recipe.groups.values) != groups or bool(groups) != condition.needs_groups:
        raise ValueError("its classes, groups, kind and condition do not fit together")
    return recipe


def _loaded_names(names: object) -> list[Any]:
    """Names from a file, if they are plain and distinct."""
    if not isinstance(names, list) or not all(isinstance(name, str | int | float) for name in names):
        raise ValueError("its names are not a list of strings, numbers and booleans")
    if len(set(names)) < len(names):
        raise ValueError("its names are not distinct")
    return names


def _checked_calibration(recipe: Recipe, arrays: storage.Arrays, n_keys: object) -> Calibration:
    """A calibration from a file, if its arrays can be one; what they must be like shows a rule of one row."""
    example = calibrate([[0.5, 0.5]], [0], score=recipe.score)._arrays()
    if {name: array.dtype for name, array in arrays.items()} != {name: array.dtype for name, array in example.items()}:
        raise ValueError(f"its arrays are not those of {recipe.score!r}")
    offsets, *keys = (arrays[name] for name in example)
    n = len(keys[0])
    fits = n_keys == len(keys) and len(offsets) == recipe.n_groups + 1 and offsets[0] == 0 and offsets[-1] == n
    # Differences could overflow and pass; a comparison cannot.
    if not fits or (offsets[1:] < offsets[:-1]).any() or any(len(key) != n or np.isnan(key).any() for key in keys):
        raise ValueError("its arrays do not fit together")
    if scores.orders_by_rank(recipe.score) and not ((keys[0] >= 1) & (keys[0] <= recipe.n_columns)).all():
        raise ValueError(f"its ranks do not lie between 1 and {recipe.n_columns:,}")
    calibration = Calibration(tuple(keys), offsets)
    grouped = (calibration.groups, *keys)
    if not order.not_after(tuple(key[:-1] for key in grouped), tuple(key[1:] for key in grouped)).all():
        raise ValueError("its keys are not sorted")
    return calibration


def _said(recipe: Recipe, what: str) -> object:
    value = getattr(recipe, what)
    return list(value.values) if isinstance(value, Names) else value


def _warn(message: str) -> None:
    warnings.warn(message, RanksetWarning, stacklevel=4)
