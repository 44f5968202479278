"""A recipe: what is asked of every row, from raw numbers to keys and groups, block by block.

Calibration and prediction follow the same recipe, so the key of (x, y) is the same number in both.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.conditions import Condition, checked_condition
from rankset.core import kernels, noise, parallel
from rankset.core.cells import Cells, LabelCells, RankedCells, Rows
from rankset.core.kernels.twins import Twins
from rankset.core.lexicographic import Keys
from rankset.errors import InputError, KindError, LabelError, RuleError, ScoreError, listed, warn
from rankset.inputs import ragged
from rankset.inputs.matrix import (
    Kind,
    as_matrix,
    check_rows,
    check_whole,
    id_words,
    known_kind,
    names_per_row,
    plain_rows,
)
from rankset.inputs.probabilities import from_kind
from rankset.inputs.row_index import RowIndex
from rankset.inputs.source import Source, open_source
from rankset.inputs.vocabulary import Array, Name, Names, class_names, group_names
from rankset.scores import builtin as scores
from rankset.scores.builtin import Score

Ints = NDArray[np.int64]
Result = TypeVar("Result")

NO_NAMES = Names(())


@dataclass(frozen=True)
class Recipe:
    """Everything two calibrations must share to be merged, and the names of the row groups seen."""

    score: Score
    condition: Condition
    kind: Kind
    seed: int
    classes: Names
    with_ids: bool = False
    groups: Names = NO_NAMES

    @classmethod
    def of(
        cls,
        score: Score,
        condition: Condition,
        kind: str,
        seed: int,
        classes: Iterable[object] | None,
        n_columns: int,
    ) -> "Recipe":
        """A recipe whose parts were checked, one by one and against each other."""
        scores.checked_score(score)
        checked_condition(condition)
        known = known_kind(kind)
        if known == "scores" and scores.needs_probs(score):
            raise ScoreError.needs_probabilities(score)
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not -(2**63) <= seed < 2**64:
            raise KindError.argument("seed", "a whole number of up to 64 bits", seed)
        scores.check_columns(score, n_columns)
        names = class_names(classes, n_columns)
        if not isinstance(names.values, range):
            scores.check_names(score, names.values)
        return cls(score, condition, known, int(seed), names)

    @property
    def n_columns(self) -> int:
        return len(self.classes)

    @property
    def n_groups(self) -> int:
        """How many thresholds there are."""
        return self.condition.count(self.n_columns, len(self.groups))

    def numbers(self, columns: Ints, row_groups: Ints) -> Ints:
        """The group of each cell."""
        return self.condition.numbers(columns, row_groups, self.n_columns, len(self.groups))

    def table(self) -> Ints:
        """The group of every (row group, column), not repeated along what the condition does not look at."""
        return self.numbers(np.arange(self.n_columns)[np.newaxis, :], np.arange(len(self.groups))[:, np.newaxis])

    def group_name(self, number: int, table: Ints) -> str:
        """What users call a group of the ``table``: a row group, a label (the first of its cluster), or both."""
        row, column = np.argwhere(table == number)[0]
        parts = [f"group {self.groups.values[row]!r}"] if self.condition.needs_groups else []
        if table.shape[1] > 1:
            parts.append(f"label {self.classes.values[column]!r}")
        return " × ".join(parts) or "all rows"

    @cached_property
    def looks_at(self) -> frozenset[str]:
        """The features of cells that sets depend on."""
        return scores.looks_at(self.score, self.n_columns)

    @property
    def uses_noise(self) -> bool:
        """Whether sets depend on the rows' draws."""
        return "noise" in self.looks_at

    @property
    def uses_mass(self) -> bool:
        """Whether sets depend on sums of probabilities."""
        return bool(self.looks_at & {"mass", "before"})

    def learning(self, groups: Names, ids: ArrayLike | None) -> "Recipe":
        """The recipe of calibration rows with these row groups and ids."""
        return replace(self, groups=groups, with_ids=ids is not None and self.uses_noise)

    def with_groups(self, groups: Names) -> "Recipe":
        return replace(self, groups=groups)

    def difference(self, other: "Recipe") -> str | None:
        """The first thing in which two recipes differ so that their calibrations cannot be merged."""
        ours, theirs = self.with_groups(other.groups), other
        return next((name for name in SHARED if getattr(ours, name) != getattr(theirs, name)), None)

    def source(self, probs: ArrayLike) -> Source:
        """New rows, with the columns of the calibration."""
        source = open_source(probs, self.classes.values)
        if source.counts is not None and self.kind == "binary":
            raise InputError.ragged_binary()
        if source.counts is not None and source.values.shape[1] > self.n_columns:
            raise InputError.more_candidates(self.n_columns, source.values.shape[1])
        return replace(source, values=as_matrix(source.values, self.kind, columns=self.n_columns))

    def unseen(self, groups: ArrayLike | None) -> set[Name]:
        """The names among ``groups`` that calibration never saw."""
        if groups is None or not self.condition.needs_groups:
            return set()
        names = names_per_row(groups, np.size(np.asarray(groups, dtype=object)), RowIndex())
        return set(learned_groups(names).values) - set(self.groups.values)

    def keys(self, cells: Cells) -> Keys:
        with np.errstate(all="ignore"):  # infinite keys are fine, NaN is an error below
            keys = self.score.keys(cells)
        return scores.comparable(keys, cells, self.score)


SHARED = ("score", "condition", "kind", "classes", "seed", "with_ids")


class HasRecipe:
    """What everything with a recipe tells of it."""

    recipe: Recipe

    @property
    def classes(self) -> NDArray[Any]:
        """The class names, in column order."""
        return self.recipe.classes.array

    @property
    def groups(self) -> NDArray[Any]:
        """The names of the row groups seen at calibration, sorted."""
        return self.recipe.groups.array

    @property
    def score(self) -> Score:
        """How strange a label looks."""
        return self.recipe.score

    @property
    def condition(self) -> Condition:
        """For whom coverage holds separately."""
        return self.recipe.condition

    @property
    def kind(self) -> Kind:
        """What is expected of rows: "probs", "logits", "scores" or "binary"."""
        return self.recipe.kind


@dataclass(frozen=True)
class Batch:
    """Rows as users passed them, read block by block as the recipe says."""

    recipe: Recipe
    matrix: Array
    row_groups: Ints
    dice: noise.Dice
    twins: Twins | None = None
    counts: Ints | None = None
    start: int = 0

    @classmethod
    def of(
        cls,
        recipe: Recipe,
        values: ArrayLike,
        groups: Array | None = None,
        words: NDArray[np.uint64] | None = None,
        counts: Ints | None = None,
    ) -> "Batch":
        """``groups`` come as checked names, because calibration learns its vocabulary from them first; ids as words."""
        matrix = as_matrix(values, recipe.kind, columns=recipe.n_columns)
        if recipe.with_ids != (words is not None) and recipe.uses_noise:
            told, received = ("with", "without") if recipe.with_ids else ("without", "with")
            raise RuleError.ids(told, received)
        codes = np.zeros(1, dtype=np.int64) if groups is None else recipe.groups.codes(groups)
        dice = noise.Dice.of(recipe.seed, words) if recipe.uses_noise else noise.NO_DICE
        return cls(recipe, matrix, codes, dice, kernels.chosen(len(matrix), recipe.n_columns), counts)

    @classmethod
    def asked(cls, recipe: Recipe, source: Source, groups: ArrayLike | None, ids: ArrayLike | None) -> "Batch":
        """New rows of which something is asked, with their groups and ids."""
        n_rows = len(source.values)
        names = row_group_names(recipe.condition, groups, n_rows, source.index)
        return cls.of(recipe, source.values, names, id_words(ids, n_rows, source.index), source.counts)

    def warn_of_unseen(self, groups: ArrayLike | None) -> None:
        """Tells which of the rows' groups calibration never saw."""
        if (self.row_groups < 0).any():
            warn_of_unseen(self.recipe.unseen(groups))

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.matrix), self.recipe.n_columns

    def part(self, rows: slice) -> "Batch":
        """Some of the rows, which keep their numbers in what errors say."""
        return replace(
            self,
            matrix=self.matrix[rows],
            row_groups=self.row_groups if len(self.row_groups) == 1 else self.row_groups[rows],
            dice=self.dice.rows(rows),
            counts=None if self.counts is None else self.counts[rows],
            start=self.start + rows.start,
        )

    def mapped(self, function: Callable[[slice], Result]) -> list[Result]:
        """``function`` of every block, in row order; compiled loops like larger blocks."""
        return parallel.mapped(function, *self.shape, 1 if self.twins is None else 2)

    def rows(self, part: slice) -> Rows:
        """The rows of one block, converted, as the score wants to see them, and checked unless they can wait."""
        recipe = self.recipe
        counts = None if self.counts is None else self.counts[part]
        check_whole(self.matrix[part], self.start + part.start, counts)
        block = plain_rows(self.matrix[part], recipe.kind)
        if counts is not None:
            block = ragged.blanked(block, counts, 0.0 if recipe.kind == "probs" else -np.inf)
        if not self.checks_can_wait:
            check_rows(block, recipe.kind, self.start + part.start)
        probs = from_kind(block, recipe.kind)
        dice = self.dice.rows(part)
        draw = partial(noise.draws, probs, dice) if recipe.uses_noise else partial(_refuse_to_draw, recipe.score)
        as_it_is = not scores.transforms(recipe.score)
        additive = recipe.kind != "scores"
        return Rows(
            scores.transformed(recipe.score, probs)
            if counts is None
            else scores.transformed_candidates(recipe.score, probs, counts),
            draw,
            additive=additive,
            summed=additive and as_it_is,
            start=self.start + part.start,
            twins=self.twins,
            dice=dice if recipe.uses_noise and as_it_is else None,
        )

    @property
    def checks_can_wait(self) -> bool:
        """Whether compiled loops check values while they read them anyway."""
        return self.twins is not None and self.recipe.kind == "probs" and not scores.transforms(self.recipe.score)

    def check(self, rows: Rows) -> None:
        """The check that could wait, where the loops were in doubt."""
        if self.checks_can_wait:
            check_rows(rows.probs, self.recipe.kind, rows.start)

    def groups(self, cells: Cells, part: slice) -> Ints:
        """The group of each cell of one block; a single number where all share it."""
        codes = self.row_groups if len(self.row_groups) == 1 else self.row_groups[part][cells.row]
        return self.recipe.numbers(cells.column[:, np.newaxis], codes[:, np.newaxis])[:, 0]

    def candidates(self, cells: RankedCells, part: slice) -> NDArray[np.bool_] | None:
        """Which cells are no padding; None where all are."""
        return None if self.counts is None else cells.column < self.counts[part][cells.row]

    def groups_in(self, part: slice) -> Ints:
        """The groups that cells of one block can have."""
        codes = np.unique(self.row_groups if len(self.row_groups) == 1 else self.row_groups[part])
        return self.recipe.numbers(np.arange(self.recipe.n_columns)[np.newaxis, :], codes[:, np.newaxis])

    def label_keys(self, labels: Ints, part: slice) -> tuple[Ints, Keys]:
        """Group and keys of the given label of each row."""
        cells = self._label_cells(self.rows(part), labels[part])
        keys = self.recipe.keys(cells)
        return np.broadcast_to(self.groups(cells, part), len(cells)), keys

    def _label_cells(self, rows: Rows, labels: Ints) -> LabelCells:
        """The labels' cells, as read by the compiled loop where the score looks at what it reads."""
        recipe = self.recipe
        if rows.twins is None or not (recipe.uses_mass or "rank" in recipe.looks_at):
            self.check(rows)
            return LabelCells(rows, labels)
        read = rows.twins.read(rows.probs, labels, rows.dice, masses=rows.summed and recipe.uses_mass)
        if not read.clear:
            self.check(rows)
        return LabelCells(rows.with_noise(read.draws), labels, read)

    def all_keys(self, part: slice) -> tuple[RankedCells, Ints, Keys]:
        """Cells, groups and keys of every label of each row, most likely first."""
        rows = self.rows(part)
        self.check(rows)
        cells = RankedCells(rows)
        return cells, self.groups(cells, part), self.recipe.keys(cells)


def _refuse_to_draw(score: Score) -> NDArray[np.float64]:
    """For a score that did not look at the noise when it was watched, and now does."""
    raise ScoreError.sometimes_noise(score)


def row_group_names(condition: Condition, groups: ArrayLike | None, n_rows: int, index: RowIndex) -> Array | None:
    """The rows' group names, present exactly where ``condition`` looks at them."""
    if groups is None and condition.needs_groups:
        raise LabelError.groups_missing(condition)
    if groups is not None and not condition.needs_groups:
        raise LabelError.groups_unused(condition)
    return None if groups is None else names_per_row(groups, n_rows, index)


def warn_of_unseen(groups: set[Name]) -> None:
    """Tells which groups keep every label, because calibration never saw them."""
    names = sorted(groups, key=lambda name: (isinstance(name, str), name))
    noun = "group" if len(names) == 1 else "groups"
    warn(f"no calibration rows for {noun} {listed(names)}: every label is kept.")


def learned_groups(names: Array | None) -> Names:
    """The vocabulary of the row groups calibration sees."""
    return NO_NAMES if names is None else group_names(names)
