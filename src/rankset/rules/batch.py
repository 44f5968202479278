"""Batch: prepared rows and the spec of the rule that reads them, block by block. All rows it returns are checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NoReturn, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankset.core import kernels, noise, parallel
from rankset.core.cells import Cells, LabelCells, RankedCells
from rankset.core.kernels.compiled import CompiledLoops
from rankset.core.kernels.loaded import LIST_ROWS, READ_ENTRIES, READ_LABELS
from rankset.core.lexicographic import Keys
from rankset.core.matrix_cells import MatrixCells, RankedMatrix
from rankset.core.narrow import MOST_COLUMNS, NarrowCells
from rankset.core.ranking import likeliest
from rankset.core.ranks import LabelRanks
from rankset.core.rows import Rows
from rankset.errors import RuleError, ScoreError, join_names, warn
from rankset.inputs.matrix import SUM_TO_ONE, plain_dtype
from rankset.inputs.prepare import Prepared
from rankset.inputs.vocabulary import Array, Name, group_names
from rankset.rules.spec import RuleSpec, check_groups
from rankset.rules.weighted_rows import LevelOfRows
from rankset.scores.application import keys_of, transform_rows
from rankset.scores.base import Score

Ints = NDArray[np.int64]
Result = TypeVar("Result")
ALL_ROWS = np.zeros(1, dtype=np.int64)
"""The row group of all rows where there are no groups."""

LIGHT = 8
"""Size of blocks of which little is read, in blocks of the default size."""


class LoopResult(Protocol):
    """What a compiled loop returns."""

    @property
    def clear(self) -> bool:
        """Whether all values are certainly valid."""

    @property
    def draws(self) -> NDArray[np.float64] | None:
        """The noise of the rows; None if the loop did not draw."""


LoopResultT = TypeVar("LoopResultT", bound=LoopResult)


@dataclass(frozen=True)
class Batch:
    """Prepared rows and the spec by which they are read.

    Attributes
    ----------
    spec : score, condition and names of the rule.
    data : the rows.
    row_groups : the number of each row's group, -1 for groups without calibration rows; one entry if all rows share it.
    noise_seed : what the noise of the rows is made from.
    compiled : the compiled loops; None for the plain path.
    level : which cells are kept, if rows have weights; None otherwise.
    """

    spec: RuleSpec
    data: Prepared
    row_groups: Ints
    noise_seed: noise.NoiseSeed
    compiled: CompiledLoops | None = None
    level: LevelOfRows | None = None

    @classmethod
    def of(cls, spec: RuleSpec, data: Prepared) -> Batch:
        """Combine rows and spec; raise an error if groups or ids are missing, or passed where they are not used."""
        if (data.groups is None) == spec.condition.needs_groups:
            check_groups(spec.condition, data.groups)
        draws = spec.traits.uses_noise
        if draws and spec.with_ids != (data.ids is not None):
            calibrated, received = ("with", "without") if spec.with_ids else ("without", "with")
            raise RuleError.ids(calibrated, received)
        if spec.weighted != (data.masses is not None):
            raise RuleError.weights_missing() if spec.weighted else RuleError.weights_unused()
        codes = ALL_ROWS if data.groups is None else spec.groups.codes(data.groups)
        noise_seed = noise.NoiseSeed.of(spec.seed, data.ids) if draws else noise.NO_NOISE
        compiled = kernels.choose(len(data.matrix), len(spec.classes.values), _needed(spec, data))
        return cls(spec, data, codes, noise_seed, compiled)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and classes."""
        return len(self.data.matrix), len(self.data.classes.values)

    @property
    def padded(self) -> bool:
        """Whether rows have different numbers of candidates."""
        return self.data.counts is not None

    @property
    def wide(self) -> bool:
        """Whether a row has more candidates than the rule has classes."""
        return len(self.data.classes.values) > len(self.spec.classes.values)

    def by_width(self) -> Iterator[tuple[Ints, Batch]]:
        """Return the rows of a wide batch in parts of one width each, and the numbers of the rows of each part.

        So the sets of a row do not depend on the number of candidates of the other rows.
        """
        data, narrow = self.data.with_checked_values(), len(self.spec.classes.values)
        widths = np.full(len(data), narrow) if data.counts is None else np.maximum(data.counts, narrow)
        for width in np.unique(widths).tolist():
            rows, spec = np.flatnonzero(widths == width), self.spec.as_wide_as(width)
            some = data.take(rows)
            options = None if some.options is None else some.options[:, :width]
            some = replace(some, matrix=some.matrix[:, :width], classes=spec.classes, options=options)
            yield rows, replace(Batch.of(spec, some), level=self.level)

    def part(self, rows: slice) -> Batch:
        """Return consecutive rows; error messages keep counting from the first row of all."""
        groups = self.row_groups if len(self.row_groups) == 1 else self.row_groups[rows]
        return replace(self, data=self.data.part(rows), row_groups=groups, noise_seed=self.noise_seed.rows(rows))

    def map_blocks(self, function: Callable[[slice], Result]) -> list[Result]:
        """Return ``function`` of every block, in row order.

        Compiled loops get blocks of twice the size. Rows with few columns come in small blocks, which stay in the cache
        while they are read column by column.
        """
        scale = 1 / 8 if self.narrow else 1 if self.compiled is None else 2
        return parallel.map_blocks(function, *self.shape, scale)

    @property
    def narrow(self) -> bool:
        """Whether rows have so few columns that they are ranked column by column; loops are faster for many rows.

        The cells are then in memory that is used again. A score of a user's own may keep or change them, or predict.
        """
        n_rows, n_columns = self.shape
        small = self.compiled is None or n_rows * n_columns < kernels.WORTHWHILE
        return small and n_columns <= MOST_COLUMNS and self.spec.built_in

    def all_label_keys(self, labels: Ints) -> list[tuple[Ints, Keys]]:
        """Return groups and keys of one label per row, block by block.

        Blocks are larger if only the entries of labels are read: nothing of the size of a block is made.
        """
        function = partial(self.label_keys, labels)
        light = self._loops_check and self.spec.traits.features <= {"column", "prob"}
        return parallel.map_blocks(function, *self.shape, LIGHT) if light else self.map_blocks(function)

    def label_keys(self, labels: Ints, part: slice) -> tuple[Ints, Keys]:
        """Return group and keys of one label per row of a block."""
        cells = self._label_cells(part, labels[part])
        return np.broadcast_to(self.groups(cells, part), len(labels[part])), keys_of(self.spec.score, cells)

    def all_keys(self, part: slice) -> tuple[RankedCells, Ints, Keys]:
        """Return cells, groups and keys of all labels of each row of a block, most likely first."""
        cells = RankedCells(self.block(part))
        return cells, self.groups(cells, part), keys_of(self.spec.score, cells)

    def matrix_keys(self, part: slice, loops: CompiledLoops | None) -> tuple[Ints | slice, Ints, Keys]:
        """Return position in the block, group and keys of all labels of each row of a block, in any order."""
        rows, traits = self.block(part), self.spec.traits
        cells: MatrixCells | RankedMatrix
        if not (traits.uses_rank or traits.uses_mass):
            cells = MatrixCells(rows)
        elif loops is None:
            cells = RankedMatrix(rows)
        else:
            found = loops.rank_all(rows.probs, rows.noise_seed, masses=self._sums_masses)
            cells = RankedMatrix(rows.with_noise(found.draws), found)
        return cells.flat, self.groups(cells, part), keys_of(self.spec.score, cells)

    def likeliest_cells(
        self, part: slice, rank: float, mass: float, cutoffs: Callable[[Rows], Array | None]
    ) -> RankedCells | NarrowCells:
        """Return the most likely cells of a block within these limits, and few others (see ``ranking.likeliest``)."""
        most = mass if self.spec.kind in SUM_TO_ONE else np.inf
        if self.narrow:
            rows = self.block(part)
            return NarrowCells(rows, rank, most, cutoffs(rows))
        if self.compiled is None:
            rows = self.block(part)
            return RankedCells(rows, likeliest(rows.probs, rank, most, cutoffs(rows)))
        loops, masses = self.compiled, self._sums_masses
        rows, found = self._read(
            part, lambda rows: loops.likeliest(rows.probs, rank, most, cutoffs(rows), rows.noise_seed, masses=masses)
        )
        return RankedCells(rows, found)

    def _label_cells(self, part: slice, labels: Ints) -> LabelCells:
        """Return the labels' cells, by a compiled loop if the score uses ranks or masses or if the loop checks rows."""
        loops, masses, ranks = self.compiled, self._sums_masses, _counts(self.spec)
        if loops is None or not (ranks or self._loops_check):
            return LabelCells(self.block(part), labels)

        def read(rows: Rows) -> LabelRanks:
            if ranks:
                return loops.label_ranks(rows.probs, labels, rows.noise_seed, masses=masses)
            return loops.label_entries(rows.probs, labels)

        rows, found = self._read(part, read)
        return LabelCells(rows, labels, found)

    def _read(self, part: slice, loop: Callable[[Rows], LoopResultT]) -> tuple[Rows, LoopResultT]:
        """Return rows and what a compiled loop found in them.

        The loops check probabilities while they read them, if these are not transformed first. Everything else is
        checked before.
        """

        def run(block: Array) -> tuple[tuple[Rows, LoopResultT], bool]:
            rows = self._rows(part, block)
            found = loop(rows)
            return (rows.with_noise(found.draws), found), found.clear

        if self._loops_check:
            return self.data.rows_read_by(run, part)
        return run(self.data.rows(part))[0]

    @property
    def _loops_check(self) -> bool:
        """Whether compiled loops check the rows that they read."""
        return self.spec.kind == "probs" and not self.spec.traits.transforms

    def block(self, part: slice) -> Rows:
        """Return a block of rows, checked, as the score wants them."""
        return self._rows(part, self.data.rows(part))

    def _rows(self, part: slice, probs: Array) -> Rows:
        """Return a block of rows as the score wants them, with their noise."""
        spec, traits = self.spec, self.spec.traits
        noise_seed = self.noise_seed.rows(part) if traits.uses_noise else None
        draw = partial(refuse_to_draw, spec.score) if noise_seed is None else partial(noise.draws, probs, noise_seed)
        if traits.transforms:
            counts = None if self.data.counts is None else self.data.counts[part]
            seen = transform_rows(spec.score, probs, counts)
        else:
            seen = probs
        additive = spec.kind in SUM_TO_ONE
        return Rows(
            seen,
            draw,
            additive=additive,
            summed=additive and not traits.transforms,
            start=self.data.start + part.start,
            noise_seed=None if traits.transforms else noise_seed,
        )

    @property
    def _sums_masses(self) -> bool:
        """Whether compiled loops may add up probabilities."""
        return self.spec.kind in SUM_TO_ONE and not self.spec.traits.transforms and self.spec.traits.uses_mass

    def groups(self, cells: Cells, part: slice) -> Ints:
        """Return the group of each cell of a block; a single number if all cells share it."""
        if self.spec.shared_group is not None:
            return self.spec.shared_group
        codes = self.row_groups if len(self.row_groups) == 1 else self.row_groups[part][cells.row]
        return self.spec.numbers(cells.column[:, np.newaxis], codes[:, np.newaxis])[:, 0]

    def keep(self, groups: Ints, keys: Keys, cells: RankedCells | NarrowCells, part: slice) -> NDArray[np.bool_]:
        """Return which cells of a block are in the sets of their rows, which have weights."""
        assert self.level is not None
        assert self.data.masses is not None
        return self.level.keep(groups, keys, cells.row, self.data.masses[part])

    def candidates(self, cells: RankedCells | NarrowCells, part: slice) -> NDArray[np.bool_] | None:
        """Return which cells are candidates of their rows and no padding; None if all are."""
        return None if self.data.counts is None else cells.column < self.data.counts[part][cells.row]

    def groups_in(self, part: slice) -> Ints:
        """Return the groups that cells of a block can have."""
        codes = np.unique(self.row_groups if len(self.row_groups) == 1 else self.row_groups[part])
        return self.spec.numbers(np.arange(self.shape[1])[np.newaxis, :], codes[:, np.newaxis])


def _needed(spec: RuleSpec, data: Prepared) -> tuple[tuple[str, str], ...]:
    """Return the loops that read these rows, with the dtype of the rows."""
    dtype = "d" if spec.traits.transforms else plain_dtype(data.matrix, data.kind).char
    return (LIST_ROWS, dtype), (READ_LABELS if _counts(spec) else READ_ENTRIES, dtype)


def _counts(spec: RuleSpec) -> bool:
    """Return whether the score uses ranks or masses of labels."""
    return spec.traits.uses_mass or spec.traits.uses_rank


def unseen_groups(spec: RuleSpec, data: Prepared) -> tuple[Name, ...]:
    """Return the groups of rows that have no calibration rows."""
    if data.groups is None or not (unseen := spec.groups.codes(data.groups) < 0).any():
        return ()
    return tuple(group_names(data.groups[unseen]).values)


def warn_of_unseen_rows(spec: RuleSpec, data: Prepared) -> None:
    """Warn of groups of rows that have no calibration rows, with what their sets contain."""
    shared = "Their thresholds are made from the rows of the other groups." if spec.sharing is not None else ""
    warn_of_unseen(unseen_groups(spec, data), below=spec.below, outcome=shared)


def warn_of_unseen(names: Sequence[Name], *, below: bool = False, outcome: str = "") -> None:
    """Warn of groups that have no calibration rows; ``below`` as in ``RuleSpec``, ``outcome`` what else rows get."""
    if names:
        groups = f"group{'s' * (len(names) > 1)} {join_names(names)}"
        kept = "are empty" if below else "contain every label"
        warn(f"no calibration rows for {groups}. {outcome or f'Sets for these rows {kept}.'}")


def refuse_to_draw(score: Score, *_row: Array) -> NoReturn:
    """Raise the error for a score that uses noise without declaring it."""
    raise ScoreError.undeclared_noise(score)
