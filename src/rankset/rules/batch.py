"""Batch: prepared rows, read block by block as a spec says. Whatever it gives out was checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankset.core import kernels, noise, parallel
from rankset.core.cells import Cells, LabelCells, RankedCells, Rows
from rankset.core.kernels.compiled import CompiledLoops, RankedColumns
from rankset.core.lexicographic import Keys
from rankset.core.ranking import likeliest
from rankset.errors import RuleError, ScoreError, join_names, warn
from rankset.inputs.prepare import Prepared
from rankset.inputs.probabilities import from_kind
from rankset.inputs.vocabulary import Array, Name, group_names
from rankset.rules.spec import RuleSpec, check_groups
from rankset.scores.application import keys_of, transform_rows
from rankset.scores.base import Score

Ints = NDArray[np.int64]
Result = TypeVar("Result")
ALL_ROWS = np.zeros(1, dtype=np.int64)
"""The row group of all rows, where there are none."""


class Reading(Protocol):
    """What a compiled loop read."""

    @property
    def clear(self) -> bool:
        """Whether all values are beyond doubt."""

    @property
    def draws(self) -> NDArray[np.float64] | None:
        """The rows' draws, where it made them."""


Read = TypeVar("Read", bound=Reading)


@dataclass(frozen=True)
class Batch:
    """Prepared rows and the spec by which they are read."""

    spec: RuleSpec
    data: Prepared
    row_groups: Ints
    noise_seed: noise.NoiseSeed
    compiled: CompiledLoops | None = None

    @classmethod
    def of(cls, spec: RuleSpec, data: Prepared) -> Batch:
        """Rows of which something is asked, with groups and ids where the spec looks at them, and only there."""
        check_groups(spec.condition, data.groups)
        draws = spec.traits.uses_noise
        if draws and spec.with_ids != (data.ids is not None):
            told, received = ("with", "without") if spec.with_ids else ("without", "with")
            raise RuleError.ids(told, received)
        codes = ALL_ROWS if data.groups is None else spec.groups.codes(data.groups)
        noise_seed = noise.NoiseSeed.of(spec.seed, data.ids) if draws else noise.NO_NOISE
        return cls(spec, data, codes, noise_seed, kernels.choose(len(data.matrix), spec.n_columns))

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.data.matrix), len(self.spec.classes.values)

    @property
    def padded(self) -> bool:
        """Whether rows have different numbers of candidates."""
        return self.data.counts is not None

    def part(self, rows: slice) -> Batch:
        """Some of the rows, which keep their numbers in what errors say."""
        groups = self.row_groups if len(self.row_groups) == 1 else self.row_groups[rows]
        return replace(self, data=self.data.part(rows), row_groups=groups, noise_seed=self.noise_seed.rows(rows))

    def map_blocks(self, function: Callable[[slice], Result]) -> list[Result]:
        """``function`` of every block, in row order; compiled loops like larger blocks."""
        return parallel.map_blocks(function, *self.shape, 1 if self.compiled is None else 2)

    def label_keys(self, labels: Ints, part: slice) -> tuple[Ints, Keys]:
        """Group and keys of the given label of each row of a block."""
        cells = self._label_cells(part, labels[part])
        return np.broadcast_to(self.groups(cells, part), len(labels[part])), keys_of(self.spec.score, cells)

    def all_keys(self, part: slice) -> tuple[RankedCells, Ints, Keys]:
        """Cells, groups and keys of every label of each row of a block, most likely first."""
        cells = RankedCells(self._rows(part, self.data.block(part)))
        return cells, self.groups(cells, part), keys_of(self.spec.score, cells)

    def likeliest_cells(
        self, part: slice, rank: float, mass: float, cutoffs: Callable[[Rows], Array | None]
    ) -> RankedCells:
        """The cells of a block within these limits, most likely first, and few others (see ``ranking.likeliest``)."""
        additive = self.spec.kind != "decision"
        most = mass if additive else np.inf
        if self.compiled is None:
            rows = self._rows(part, self.data.block(part))
            return RankedCells(rows, RankedColumns(*likeliest(rows.probs, rank, most, cutoffs(rows))))
        compiled, masses = self.compiled, self._sums_masses
        rows, found = self._read(
            part, lambda rows: compiled.likeliest(rows.probs, rank, most, cutoffs(rows), rows.noise_seed, masses=masses)
        )
        return RankedCells(rows, found)

    def _label_cells(self, part: slice, labels: Ints) -> LabelCells:
        """The labels' cells, by the compiled loop where the score looks at what it reads."""
        traits = self.spec.traits
        if self.compiled is None or not (traits.uses_mass or traits.uses_rank):
            return LabelCells(self._rows(part, self.data.block(part)), labels)
        compiled, masses = self.compiled, self._sums_masses
        rows, read = self._read(part, lambda rows: compiled.read(rows.probs, labels, rows.noise_seed, masses=masses))
        return LabelCells(rows, labels, read)

    def _read(self, part: slice, loop: Callable[[Rows], Read]) -> tuple[Rows, Read]:
        """Rows read by a compiled loop. It checks values while it reads them; what it leaves in doubt is checked here.

        Loops check probabilities only, and only where they see them as they came.
        """
        waiting = self.spec.kind == "probs" and not self.spec.traits.transforms
        block = self.data.block(part, waiting=waiting)
        rows = self._rows(part, block)
        read = loop(rows)
        if waiting and not read.clear:
            self.data.check(block, part)
        return rows.with_noise(read.draws), read

    def _rows(self, part: slice, block: Array) -> Rows:
        """A block of rows as the score wants to see them."""
        spec, traits = self.spec, self.spec.traits
        probs = from_kind(block, spec.kind)
        noise_seed = self.noise_seed.rows(part) if traits.uses_noise else None
        draw = partial(_refuse_to_draw, spec.score) if noise_seed is None else partial(noise.draws, probs, noise_seed)
        if traits.transforms:
            counts = None if self.data.counts is None else self.data.counts[part]
            seen = transform_rows(spec.score, probs, counts)
        else:
            seen = probs
        additive = spec.kind != "decision"
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
        return self.spec.kind != "decision" and not self.spec.traits.transforms and self.spec.traits.uses_mass

    def groups(self, cells: Cells, part: slice) -> Ints:
        """The group of each cell of one block; a single number where all share it."""
        codes = self.row_groups if len(self.row_groups) == 1 else self.row_groups[part][cells.row]
        return self.spec.numbers(cells.column[:, np.newaxis], codes[:, np.newaxis])[:, 0]

    def candidates(self, cells: RankedCells, part: slice) -> NDArray[np.bool_] | None:
        """Which cells are no padding; None where all are."""
        return None if self.data.counts is None else cells.column < self.data.counts[part][cells.row]

    def groups_in(self, part: slice) -> Ints:
        """The groups that cells of one block can have."""
        codes = np.unique(self.row_groups if len(self.row_groups) == 1 else self.row_groups[part])
        return self.spec.numbers(np.arange(self.shape[1])[np.newaxis, :], codes[:, np.newaxis])


def unseen_groups(spec: RuleSpec, data: Prepared) -> tuple[Name, ...]:
    """The groups of rows that calibration never saw."""
    if data.groups is None or not (unseen := spec.groups.codes(data.groups) < 0).any():
        return ()
    return tuple(group_names(data.groups[unseen]).values)


def warn_of_unseen(spec: RuleSpec, data: Prepared) -> None:
    """Tells which of the rows' groups calibration never saw; they keep every label."""
    tell_unseen(unseen_groups(spec, data))


def tell_unseen(names: Sequence[Name]) -> None:
    """Warns of groups that calibration never saw."""
    if names:
        warn(f"no calibration rows for group{'s' * (len(names) > 1)} {join_names(names)}: every label is kept.")


def _refuse_to_draw(score: Score) -> NDArray[np.float64]:
    """For a score that looks at the noise and has not declared it."""
    raise ScoreError.undeclared_noise(score)
