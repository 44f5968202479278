"""PredictionSets: the answer handed to users, one set of labels per row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset import notebook
from rankset.core.alpha import Alpha, exact_alpha
from rankset.core.arrays import Sealed
from rankset.errors import KindError, RuleError
from rankset.inputs.frames import ARRAY, Template, is_frame, match_columns
from rankset.inputs.matrix import is_masked
from rankset.inputs.per_row import label_codes
from rankset.inputs.row_index import RowIndex
from rankset.inputs.row_selection import row_number, selected_rows
from rankset.inputs.vocabulary import Names, class_names, short

Ints = NDArray[np.int64]
SHOWN_ROWS = 5
SHOWN_LABELS = 10


@dataclass(frozen=True)
class CoverageLaw:
    """What is known of coverage beforehand: thresholds at the k-th of n keys; without ``exact`` a lower limit only."""

    k: int
    n: int
    exact: bool


@dataclass(frozen=True, eq=False, repr=False)
class PredictionSets(Sealed):
    """Sets of labels in compressed rows: row i holds ``codes[offsets[i]:offsets[i + 1]]``, most likely first.

    Iterating gives each row's class names; ``mask``, ``sizes`` and ``covers`` give arrays over all rows; slices,
    row numbers and boolean arrays pick rows. ``level`` and ``law`` tell where the sets come from, where it is known.

    A slice keeps the ``law`` of coverage. Rows picked by number or by a boolean lose it: it holds for rows as they
    come, and not for those picked by what is known of them, such as the size of their sets.

    >>> sets = PredictionSets.from_mask([[True, False, True], [False, False, False]], classes=["cat", "dog", "fox"])
    >>> [row.tolist() for row in sets]
    [['cat', 'fox'], []]
    >>> sets.covers(["fox", "fox"])
    array([ True, False])
    """

    offsets: Ints
    codes: NDArray[np.int32]
    names: Names
    level: Fraction | None = None
    law: CoverageLaw | None = None
    template: Template = ARRAY

    @property
    def classes(self) -> NDArray[Any]:
        """The class names, in column order."""
        return self.names.array

    @property
    def _index(self) -> RowIndex:
        """What labels and groups of these rows must agree with."""
        return RowIndex(self.template.index, numbered=self.template.numbered)

    @property
    def alpha(self) -> float | None:
        """The level the sets were made for, where it is known."""
        return None if self.level is None else float(self.level)

    @classmethod
    def from_mask(
        cls, mask: ArrayLike, classes: Sequence[object] | None = None, alpha: Alpha | None = None
    ) -> PredictionSets:
        """Sets from a boolean matrix (n, K), labels in column order.

        Columns of a data frame are classes, as ``to_mask_frame`` writes them; they are matched to ``classes`` by name.
        """
        template = ARRAY
        if is_frame(mask):
            mask, classes, template = match_columns(mask, classes, name="mask")
        try:
            array = np.asarray(mask)
        except ValueError:
            raise KindError.argument("mask", "a boolean matrix (n, K)", "rows of different lengths") from None
        if is_masked(mask):
            raise KindError.argument("mask", "a boolean matrix (n, K)", "a masked array")
        if array.ndim != 2 or array.dtype.kind != "b":
            received = f"{array.dtype} of shape {array.shape}"
            raise KindError.argument("mask", "a boolean matrix (n, K)", received)
        offsets = np.concatenate(([0], array.sum(axis=1).cumsum())).astype(np.int64)
        exact = None if alpha is None else exact_alpha(alpha)
        codes, names = array.nonzero()[1].astype(np.int32), class_names(classes, array.shape[1])
        return cls(offsets, codes, names, exact, template=template)

    @classmethod
    def concat(cls, parts: Iterable[PredictionSets]) -> PredictionSets:
        """The sets of several batches as one, rows in the order of the parts.

        >>> len(PredictionSets.concat([PredictionSets.from_mask([[True, False]])] * 3))
        3
        """
        everyone = list(parts) if isinstance(parts, Iterable) else []
        if not everyone or not all(isinstance(part, PredictionSets) for part in everyone):
            raise KindError.argument("parts", "a list of at least one PredictionSets", everyone)
        first, *rest = everyone
        for part in rest:
            if part.names != first.names or part.level != first.level:
                raise RuleError.unlike_sets(first.alpha, part.alpha)
        sizes = np.concatenate([[0], *(part.sizes for part in everyone)])
        codes = np.concatenate([part.codes for part in everyone])
        law = first.law if all(part.law == first.law for part in rest) else None
        return cls(
            sizes.cumsum(), codes, first.names, first.level, law, Template.joined([part.template for part in everyone])
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return iter(np.split(self.classes[self.codes], self.offsets[1:-1]) if len(self) else ())

    __contains__ = None  # a label is in a set, not among sets: ask covers

    @overload
    def __getitem__(self, index: int | np.integer[Any]) -> NDArray[Any]: ...
    @overload
    def __getitem__(self, index: slice | Sequence[int] | NDArray[Any]) -> PredictionSets: ...
    def __getitem__(
        self, index: int | np.integer[Any] | slice | Sequence[int] | NDArray[Any]
    ) -> NDArray[Any] | PredictionSets:
        """One row's class names, or the sets of several rows."""
        if isinstance(index, int | np.integer) and not isinstance(index, bool):
            row = row_number(int(index), len(self))
            return self.classes[self.codes[self.offsets[row] : self.offsets[row + 1]]]
        rows = selected_rows(index, len(self))
        if isinstance(index, slice):
            return self._rows(rows)
        if np.ndim(index) == 0:
            return self[rows[0]]
        if np.asarray(index).dtype.kind == "b":
            self._index.check(index, "mask")
        return replace(self._rows(rows), law=None)

    def __eq__(self, other: object) -> bool:
        """Whether both hold the same labels in the same order for the same rows."""
        if not isinstance(other, PredictionSets):
            return NotImplemented
        return (
            np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.codes, other.codes)
            and self.names == other.names
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def sizes(self) -> Ints:
        """How many labels each set has (n,)."""
        return np.diff(self.offsets)

    @property
    def mask(self) -> NDArray[np.bool_]:
        """Which labels are in which set (n, K)."""
        mask = np.zeros((len(self), len(self.names)), dtype=np.bool_)
        mask[self._row_numbers, self.codes] = True
        return mask

    def covers(self, labels: ArrayLike) -> NDArray[np.bool_]:
        """Whether each row's set contains its label (n,)."""
        codes = label_codes(labels, self.names, len(self), self._index)
        found = np.zeros(len(self), dtype=np.bool_)
        found[self._row_numbers[self.codes == codes[self._row_numbers]]] = True
        return found

    def to_lists(self) -> list[list[Any]]:
        """Each row's class names as plain lists."""
        return [row.tolist() for row in self]

    def to_frame(self, backend: str | None = None) -> Any:  # noqa: ANN401
        """A data frame with a row per set: its labels, how many they are, and the most likely of them (None: no label).

        It is of the library, and has the index, of the frame that was predicted; else of ``backend``, "pandas",
        "polars" or "pyarrow", by default the first of them that is installed.
        """
        labels = self.to_lists()
        tops = [row[0] if row else None for row in labels]
        return self.template.filled({"labels": labels, "size": self.sizes, "top": tops}, backend)

    def to_mask_frame(self, backend: str | None = None) -> Any:  # noqa: ANN401
        """A data frame with a row per set and a boolean column per class, otherwise like ``to_frame``."""
        return self.template.filled(dict(zip(self.names.values, self.mask.T, strict=True)), backend)

    @property
    def _row_numbers(self) -> Ints:
        """The row of every entry of ``codes``."""
        return np.repeat(np.arange(len(self)), self.sizes)

    def _rows(self, rows: Ints) -> PredictionSets:
        sizes = self.sizes[rows]
        offsets = np.concatenate(([0], sizes.cumsum())).astype(np.int64)
        picked = np.repeat(self.offsets[rows] - offsets[:-1], sizes) + np.arange(offsets[-1])
        return replace(self, offsets=offsets, codes=self.codes[picked], template=self.template.rows(rows))

    @property
    def _summary(self) -> str:
        asked = "" if self.alpha is None else f", alpha={float(self.alpha):g}"
        mean = f", mean size {self.sizes.mean():.3g}" if len(self) else ""
        return f"{len(self):,} rows, {len(self.names):,} classes{asked}{mean}"

    def _repr_html_(self) -> str:
        shown = self[:SHOWN_ROWS]
        rows: list[tuple[object, ...]] = [
            (row, len(labels), notebook.chips(map(short, labels[:SHOWN_LABELS].tolist()), len(labels) - SHOWN_LABELS))
            for row, labels in enumerate(shown)
        ]
        if len(self) > SHOWN_ROWS:
            rows.append(("…", "", notebook.faint(f"{len(self) - SHOWN_ROWS:,} more rows")))
        return notebook.card(f"PredictionSets: {self._summary}", notebook.table(rows, ("row", "size", "labels")))

    def __repr__(self) -> str:
        lines = [f"PredictionSets({self._summary})"]
        lines += [f"  {row}: {_braces(labels)}" for row, labels in enumerate(self[:SHOWN_ROWS])]
        return "\n".join([*lines, "  …"] if len(self) > SHOWN_ROWS else lines)


def _braces(labels: NDArray[Any]) -> str:
    shown = ", ".join(short(name) for name in labels[:SHOWN_LABELS].tolist())
    return f"{{{shown}, … {len(labels)} labels}}" if len(labels) > SHOWN_LABELS else f"{{{shown}}}"
