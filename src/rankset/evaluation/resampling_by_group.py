"""Random halves with a threshold per group of a condition: what ``resampling.SortedCells`` does for one threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from rankset.core.alpha import threshold_positions
from rankset.errors import LabelError
from rankset.evaluation.cell_keys import all_cells
from rankset.evaluation.group_thresholds import ThresholdLaw, is_settled, threshold_law
from rankset.evaluation.metrics import Bools, Floats, Formula, Ints, MeanOverRows
from rankset.evaluation.resampling import Split, label_places, sort_cells
from rankset.rules.batch import Batch


@dataclass(frozen=True)
class GroupedCells:
    """All cells sorted by group and then by a score: the cells that a threshold keeps are the first ones of its group.

    Equal cells of a group share a place. ``rows`` are the rows of the cells in sorted order, ``ends[place]`` is the
    number of cells up to a place, ``labels`` are the places of the true labels' cells, one per row, and ``firsts`` are
    the first places of the groups, with the number of places at the end. Cells that the condition leaves without a
    group are the last group. No label is in it, so it keeps all of them. If labels are absent (``absent``), every group
    has one more place at its end, without cells: that of its absent labels.
    """

    rows: Ints
    ends: Ints
    labels: Ints
    firsts: Ints
    absent: bool = False

    @classmethod
    def of(cls, batch: Batch, columns: Ints) -> GroupedCells:
        """Sort all cells of ``batch``; ``columns`` are the columns of the rows' labels."""
        keys, rows, true, groups = all_cells(batch, columns)
        count, known = batch.spec.n_groups, groups[true]
        if known.min(initial=0) < 0:
            raise LabelError.group_numbers(batch.spec.condition, count, f"{known.min()} to {known.max()}")
        groups = np.where(groups < 0, count, groups)
        sorting, new = sort_cells((groups, *keys))
        starts = np.flatnonzero(np.append(True, new[1:]))  # the first cell of each place
        firsts = np.searchsorted(groups[sorting][starts], np.arange(count + 2))
        ends = np.append(starts[1:], len(new))
        cells = cls(rows[sorting], ends, label_places(sorting, new, rows, true, len(columns)), firsts)
        if (columns >= 0).all():
            return cells
        row_groups = np.empty(len(columns), dtype=np.int64)
        row_groups[rows] = groups
        return cells._with_absent(columns < 0, row_groups)

    def _with_absent(self, absent: Bools, row_groups: Ints) -> GroupedCells:
        """The same cells, with one more place in each group for the labels of ``absent`` rows."""
        firsts = self.firsts + np.arange(len(self.firsts))
        ends = np.insert(self.ends, self.firsts[1:], self._cells_before(self.firsts[1:]))
        labels = np.where(absent, firsts[row_groups + 1] - 1, self.labels + row_groups)
        return GroupedCells(self.rows, ends, labels, firsts, absent=True)

    def measure(self, splits: Sequence[Split], labels: Ints, alpha: Fraction, formulas: Sequence[Formula]) -> Floats:
        """Return every formula on every split, as an array (formula, split).

        The first half of a split calibrates at ``alpha``, the second one tests; ``labels`` are the columns of all rows'
        labels.
        """
        answers = np.empty((len(formulas), len(splits)))
        own_groups = self._groups_of(self.labels)
        for number, (cal, test) in enumerate(splits):
            lasts = self._thresholds(self.labels[cal], alpha)
            sizes = np.bincount(self._rows_kept(lasts), minlength=len(self.labels))[test]
            covered, columns = self.labels[test] <= lasts[own_groups[test]], labels[test]
            for row, formula in enumerate(formulas):
                answers[row, number] = formula(covered, sizes, columns, alpha)
        return answers

    def effects(self, n_cal: int, alpha: Fraction, formulas: Sequence[MeanOverRows]) -> Floats:
        """Return what each row adds to the mean of each formula over all halves, in which it tests or calibrates.

        As an array (formula, row). Only counts of hits and of labels are sums over groups. For other formulas, such as
        the share of sets with one label, the entries are NaN. All are NaN if a group is so small that it keeps
        everything in some of the halves, or if labels are absent.
        """
        answers = np.full((len(formulas), len(self.labels)), np.nan)
        sizes = {0, *np.bincount(self._groups_of(self.labels)).tolist()}
        if self.absent or not all(is_settled(size, alpha) for size in sizes):
            return answers
        laws = {size: threshold_law(size, len(self.labels), n_cal, alpha) for size in sizes}
        for place, formula in enumerate(formulas):
            if formula.counts is not None:
                answers[place] = self._effects(laws, hits=formula.counts == "hits")
        return answers

    def _effects(self, laws: Mapping[int, ThresholdLaw], *, hits: bool) -> Floats:
        """The effects on coverage, or on the mean size: the sum of what happens in each group."""
        n = len(self.labels)
        effects, own_groups = np.zeros(n), self._groups_of(self.labels)
        members = np.split(own_groups.argsort(kind="stable"), np.bincount(own_groups).cumsum())
        for group, (first, after) in enumerate(zip(self.firsts[:-1], self.firsts[1:], strict=True)):
            if first == after:
                continue
            mine = members[group] if group < len(members) else np.empty(0, dtype=np.int64)
            start, end = self._cells_before(first), self._cells_before(after)
            law, known = laws[len(mine)], np.sort(self.labels[mine])
            if hits:
                effects[mine] += law.reached(known, self.labels[mine])
                kept = np.append(np.searchsorted(known, known, side="right"), len(mine))
            else:
                widths = self.ends[first:after] - np.append(start, self.ends[first : after - 1])
                chances = law.reached(known, np.arange(first, after)).repeat(widths)
                effects += np.bincount(self.rows[start:end], weights=chances, minlength=n)
                kept = np.append(self.ends[known], end) - start
            effects[mine] -= _pulled(law, np.diff(kept) / n, known, self.labels[mine])
        return effects

    def _thresholds(self, known: Ints, alpha: Fraction) -> Ints:
        """The last place that each group keeps, if ``known`` are the places of the calibration rows' labels."""
        ordered = np.sort(known)
        offsets = np.searchsorted(ordered, self.firsts)
        counts = np.diff(offsets)
        positions = threshold_positions(counts, alpha)
        everything = positions > counts
        within = np.where(everything, 0, offsets[:-1] + positions - 1)
        lasts = self.firsts[1:] - 1 - int(self.absent)
        return np.where(everything, lasts, np.minimum(ordered[within], lasts))

    def _rows_kept(self, lasts: Ints) -> Ints:
        """The rows of the cells that are kept, if ``lasts`` are the last places of the groups."""
        starts, ends = self._cells_before(self.firsts[:-1]), self._cells_before(lasts + 1)
        return np.concatenate([self.rows[start:end] for start, end in zip(starts, ends, strict=True)])

    def _cells_before(self, places: Ints) -> Ints:
        """The number of cells before each place."""
        return np.append(0, self.ends)[places]

    def _groups_of(self, places: Ints) -> Ints:
        """The group of each place."""
        return np.searchsorted(self.firsts, places, side="right") - 1


def _pulled(law: ThresholdLaw, changes: Floats, known: Ints, labels: Ints) -> Floats:
    """How much is lost of a mean for each row of a group that calibrates, by pulling the threshold of the group.

    ``changes[x]`` is the change of the mean from the threshold at the x-th of the sorted places ``known`` to the next.
    """
    sums = np.append((changes * law.pulls)[::-1].cumsum()[::-1], 0.0)
    return sums[np.searchsorted(known, labels)] + float(changes @ law.shifts)
