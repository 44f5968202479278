"""``PredictionSets``: the result of a prediction, one set of labels per row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core.alpha import Alpha, exact_alpha
from rankset.core.alpha_argument import takes_alpha
from rankset.core.arrays import Sealed, equal_values, is_whole
from rankset.core.lazy import lazy
from rankset.errors import KindError, LabelError, RuleError
from rankset.inputs.frames import ARRAY, Template
from rankset.inputs.row_index import RowIndex
from rankset.inputs.row_selection import row_number, selected_rows
from rankset.inputs.vocabulary import Names, class_names
from rankset.sets.coverage_law import CoverageLaw
from rankset.sets.forms import ListedSets, MarkedSets
from rankset.sets.mask import read_mask
from rankset.sets.option_names import joined_options, label_columns, names_of_cells
from rankset.sets.several_labels import SeveralLabels
from rankset.sets.text import as_html, as_text
from rankset.sets.to_frames import ToFrames

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class PredictionSets(Sealed, ToFrames, SeveralLabels):
    """Prediction sets, one set of labels per row. ``Rule.predict`` returns an object of this class.

    ``sets[3]`` is an array with the class names of row 3, most likely first. Iteration yields one such array per row.
    A slice, row numbers or a boolean mask select several rows. If the selection is not a slice, ``law`` becomes None.

    Parameters
    ----------
    offsets, codes : arrays of int
        The set of row i contains the columns ``codes[offsets[i]:offsets[i + 1]]``, most likely first.
    names
        Class names in column order.
    level
        Alpha as an exact fraction, or None if alpha is not known.
    law
        Parameters of the distribution of coverage, or None if the distribution is not known.
    template
        Data frame library and index of the results of ``to_frame`` and ``to_mask_frame``.
    options
        Names of the candidates of each row (n, K), None as padding, if ``Ragged`` rows with names were predicted.
        Then sets contain these names, and labels are these names.
    proven
        The coverage that is proven for the rule of these sets, if it is not 1 - alpha: 0 for a stratified split,
        ``CrossRule.guarantee(alpha)`` for several folds. None otherwise.
    confidence
        The probability that the promise holds for the calibration of the rule, if a confidence was passed to
        ``Rule.predict``. None otherwise.
    target
        The target of the rule, if rows can have several labels or labels have costs. None otherwise.
    by_label
        Whether the promise of the target holds for groups of labels separately, as with ``PerLabel()``, and not for
        all labels of a row together.
    balanced
        Whether the promise is about the mean of the coverage over classes, as with ``Balanced``, and not over rows.
    effective_rows
        If calibration rows have weights: how many rows of equal weight are as many. None otherwise.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> sets = rs.calibrate(probs[:130], labels[:130]).predict(probs[130:], alpha=0.1)
    >>> sets[0].tolist(), len(sets[sets.sizes == 2])
    ([3, 0, 2], 77)
    """

    offsets: Ints
    codes: NDArray[np.int32]
    names: Names
    level: Fraction | None = None
    law: CoverageLaw | None = None
    template: Template = ARRAY
    options: NDArray[Any] | None = None
    proven: float | None = None
    confidence: float | None = None
    target: Any = None
    by_label: bool = False
    balanced: bool = False
    effective_rows: float | None = None

    @classmethod
    def _of(cls, form: ListedSets | MarkedSets, **fields: Any) -> PredictionSets:  # noqa: ANN401
        """Return sets in one of their two forms; marks become ``offsets`` and ``codes`` when somebody asks for them."""
        made = object.__new__(cls)
        made.__dict__.update(fields, _form=form)
        return made

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        """Make ``offsets`` and ``codes``, if nobody has asked for them yet."""
        if name not in ("offsets", "codes") or "_form" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        offsets, codes = self._form.listed()
        self.__dict__.update(offsets=offsets, codes=codes, _form=ListedSets(offsets, codes, len(self.names)))
        self.__post_init__()
        return self.__dict__[name]

    @lazy
    def _form(self) -> ListedSets | MarkedSets:
        """The form in which the sets are kept."""
        return ListedSets(self.offsets, self.codes, len(self.names))

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone for pickling."""
        return {name: getattr(self, name) for name in type(self).__dataclass_fields__}

    @property
    def classes(self) -> NDArray[Any]:
        """Class names in column order (K,)."""
        return self.names.array

    @property
    def _index(self) -> RowIndex:
        """The index that labels and groups of these rows must have."""
        return RowIndex(self.template.index, numbered=self.template.numbered)

    @property
    def alpha(self) -> float | None:
        """The alpha of the sets, or None if it is not known."""
        return None if self.level is None else float(self.level)

    @classmethod
    @takes_alpha
    def from_mask(
        cls, mask: ArrayLike, classes: Sequence[object] | None = None, alpha: Alpha | None = None
    ) -> PredictionSets:
        """Make sets from a boolean matrix.

        Parameters
        ----------
        mask : array-like of bool (n, K) or data frame
            True if the label of the column is in the set of the row. Data frame columns are matched by class name.
        classes : sequence, optional
            Class names in column order.
        alpha : float, str or Fraction, optional
            The alpha of the sets.

        Returns
        -------
        PredictionSets
            The sets, with labels in column order.

        Raises
        ------
        KindError
            If ``mask`` is not a boolean matrix.

        Examples
        --------
        >>> import rankset as rs
        >>> rs.PredictionSets.from_mask([[True, True], [False, False]], ["cat", "dog"]).to_lists()
        [['cat', 'dog'], []]
        """
        array, classes, template = read_mask(mask, classes)
        offsets = np.concatenate(([0], array.sum(axis=1).cumsum())).astype(np.int64)
        level = None if alpha is None else exact_alpha(alpha)
        codes, names = array.nonzero()[1].astype(np.int32), class_names(classes, array.shape[1])
        return cls(offsets, codes, names, level, template=template)

    @classmethod
    def concat(cls, parts: Iterable[PredictionSets]) -> PredictionSets:
        """Join the sets of several batches into one object.

        Parameters
        ----------
        parts : iterable of PredictionSets
            Sets with the same classes, the same alpha and the same target.

        Returns
        -------
        PredictionSets
            All rows, in the order of the parts.

        Raises
        ------
        KindError, RuleError
            If ``parts`` is empty or contains other objects, or if the parts differ in classes, alpha or target.

        Examples
        --------
        >>> import rankset as rs
        >>> len(rs.PredictionSets.concat([rs.PredictionSets.from_mask([[True, False]])] * 3))
        3
        """
        batches = list(parts) if isinstance(parts, Iterable) else []
        if not batches or not all(isinstance(part, PredictionSets) for part in batches):
            raise KindError.argument("parts", "a list of at least one PredictionSets", batches)
        first, *rest = batches
        for part in rest:
            if part.target != first.target:
                raise RuleError.joined_targets(first.target, part.target)
            if (part.names, part.level) != (first.names, first.level):
                raise RuleError.unlike_sets(first.alpha, part.alpha)
        sizes = np.concatenate([[0], *(part.sizes for part in batches)])
        codes = np.concatenate([part.codes for part in batches])
        law = first.law if all(part.law == first.law for part in rest) else None
        template = Template.joined([part.template for part in batches])
        proven = min((part.proven for part in batches if part.proven is not None), default=None)
        options, sure = joined_options(batches), {part.confidence for part in batches}
        confidence, by_label = first.confidence if len(sure) == 1 else None, any(part.by_label for part in batches)
        own = (first.names, first.level, law, template, options, proven, confidence, first.target, by_label)
        balanced = any(part.balanced for part in batches)
        return cls(sizes.cumsum(), codes, *own, balanced=balanced, effective_rows=first.effective_rows)

    def __len__(self) -> int:
        return len(self._form)

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return iter(np.split(names_of_cells(self), self.offsets[1:-1]) if len(self) else ())

    __contains__ = None  # `label in sets` would be ambiguous: use covers

    @overload
    def __getitem__(self, index: int | np.integer[Any]) -> NDArray[Any]: ...
    @overload
    def __getitem__(self, index: slice | Sequence[int] | NDArray[Any]) -> PredictionSets: ...
    def __getitem__(self, index: Any) -> NDArray[Any] | PredictionSets:
        """Return the class names of one row, or a PredictionSets object with several rows."""
        if is_whole(index):
            row = row_number(int(index), len(self))
            names = self.classes if self.options is None else self.options[row]
            return names[self._form.row(row)]
        rows = selected_rows(index, len(self), self.template.index)
        if isinstance(index, slice):
            return self._take(rows)
        if np.ndim(index) == 0:
            return self[rows[0]]
        if np.asarray(index).dtype.kind == "b":
            self._index.check(index, "mask")
        return replace(self._take(rows), law=None)

    def __eq__(self, other: object) -> bool:
        """Return whether both objects have the same classes, and the same labels in the same order in every row."""
        if not isinstance(other, PredictionSets):
            return NotImplemented
        same_rows = np.array_equal(self.offsets, other.offsets) and np.array_equal(self.codes, other.codes)
        return same_rows and self.names == other.names and equal_values(self.options, other.options)

    __hash__ = None  # type: ignore[assignment]

    @property
    def sizes(self) -> Ints:
        """Number of labels in each set (n,)."""
        return self._form.sizes

    @property
    def mask(self) -> NDArray[np.bool_]:
        """Boolean matrix (n, K): True if the label of the column is in the set of the row."""
        return self._form.mask

    def covers(self, labels: ArrayLike) -> NDArray[np.bool_]:
        """Return whether each set contains the label of its row.

        Parameters
        ----------
        labels : array-like (n,)
            The true label of each row. ``rankset.ABSENT`` is in no set.

        Returns
        -------
        array of bool (n,)
            True if the set contains the label.

        Raises
        ------
        LabelError
            If the number of labels is not the number of rows, or if a label is not one of the classes.

        Examples
        --------
        >>> import rankset as rs
        >>> rs.PredictionSets.from_mask([[True, True], [True, False]], ["cat", "dog"]).covers(["dog", "dog"])
        array([ True, False])
        """
        try:
            return self._form.contains(label_columns(self, labels, self._index))
        except LabelError as error:
            error.about_sets()
            raise

    def _take(self, rows: Ints) -> PredictionSets:
        """Return some rows, with the law of all."""
        options = None if self.options is None else self.options[rows]
        form, template = self._form.rows(rows), self.template.rows(rows)
        if options is not None or type(self) is not PredictionSets:
            offsets, codes = form.listed()
            return replace(self, offsets=offsets, codes=codes, template=template, options=options)
        fields = {
            name: getattr(self, name)
            for name in (
                "names",
                "level",
                "law",
                "proven",
                "confidence",
                "target",
                "by_label",
                "balanced",
                "effective_rows",
            )
        }
        return self._of(form, template=template, options=options, **fields)

    _repr_html_ = as_html
    __repr__ = as_text
