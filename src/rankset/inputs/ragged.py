"""Rows with different numbers of candidates, such as questions with two to five answer options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.errors import InputError, KindError, warn
from rankset.inputs import frames, named_rows, options
from rankset.inputs.absent import ABSENT
from rankset.inputs.frames import ARRAY, Template
from rankset.inputs.matrix import as_numbers
from rankset.inputs.row_index import RowIndex, index_of
from rankset.inputs.row_selection import selected_rows
from rankset.inputs.value_checks import check_whole
from rankset.inputs.vocabulary import Array

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Ragged:
    """Rows with different numbers of candidates, such as questions with two to five answer options.

    The first ``counts[i]`` columns of row i are its candidates. The other columns of row i are padding. The values of
    the padding are never read. Padding columns have p-value 0 and are never in a set.

    Candidates can have names, others in every row. Then labels are names of candidates of their rows, and sets contain
    these names. If the true label of a row is not among its candidates, pass ``rankset.ABSENT`` as its label.

    Parameters
    ----------
    values : array-like (n, K)
        Padded matrix. If you have rows of different lengths, use ``Ragged.of`` instead.
    counts : array-like (n,)
        Number of candidates of each row.
    template : Template
        Data frame library and index of the results. It is set automatically.
    names : list of lists, optional
        For each row, the names of its candidates. They must be different within a row.

    Raises
    ------
    InputError
        If ``values`` and ``counts`` do not have the shapes above, if a count is not between 1 and K, or if a row does
        not have one name for every candidate.
    LabelError
        If a row has the same name twice.

    Notes
    -----
    ``ragged[rows]`` selects rows by a slice, row numbers or a boolean mask. If ``counts``, or the rows passed to
    ``Ragged.of``, are a pandas series, its index is kept. The index of labels, groups and ids must then be the same.
    Predicted sets have this index, too.

    New rows can have more candidates than any calibration row, if the condition is ``Marginal`` or ``PerGroup`` and the
    score is one of ``Rank``, ``Thr``, ``Aps``, ``Raps``, ``Saps``, ``TopK`` and ``Margin``, also within ``TieBreak`` or
    ``Tempered``. Other scores and conditions depend on the column of a label or on the number of columns. For these,
    and for ``Rule.update``, calibrate with ``classes=range(n)``, where n is the largest number of candidates.

    Every row needs at least one candidate. Give a row without candidates, such as a query without hits, one candidate
    of any name, and the label ``rankset.ABSENT`` at calibration. Do not leave such rows out: coverage would look better
    than it is.

    Examples
    --------
    >>> import rankset as rs
    >>> log_probs = [[-0.2, -1.8], [-1.1, -0.9, -1.4], [-2.0, -0.1], [-0.7, -0.9, -2.3]]
    >>> rule = rs.calibrate(rs.Ragged.of(log_probs), [0, 2, 1, 1], kind="logits")
    >>> rule.predict(rs.Ragged.of([[-0.5, -1.0], [-1.1, -1.2, -1.3]]), alpha=0.2).to_lists()
    [[0, 1], [0, 1, 2]]

    With names, from dictionaries:

    >>> capitals = rs.Ragged.of([{"Paris": 0.9, "Lyon": 0.1}, {"Rome": 0.6, "Milan": 0.3, "Turin": 0.1}] * 5)
    >>> rule = rs.calibrate(capitals, ["Paris", "Milan"] * 5)
    >>> rule.predict(rs.Ragged.of([{"Bern": 0.5, "Basel": 0.3, "Geneva": 0.2}]), alpha=0.2).to_lists()
    [['Bern', 'Basel']]
    """

    values: Array
    counts: Ints
    template: Template = field(default=ARRAY, kw_only=True)
    names: Array | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.template is ARRAY and index_of(self.counts) is not None:
            object.__setattr__(self, "template", Template(index=index_of(self.counts)))
        values, counts = as_numbers(self.values, "values"), as_numbers(self.counts, "counts")
        if values.ndim != 2:
            raise InputError.shape(
                "values", "(n, K)", values.shape, "For rows of different lengths use rankset.Ragged.of(rows)."
            )
        if counts.shape != values.shape[:1]:
            raise InputError.shape("counts", f"({len(values)},)", counts.shape, "Pass one count per row.")
        if counts.size and (counts.dtype.kind == "b" or not (counts == np.floor(counts)).all()):
            raise KindError.argument("counts", "integers", self.counts)
        wrong = (counts < 1) | (counts > values.shape[1])
        if wrong.any():
            row = int(wrong.argmax())
            raise InputError.candidates(row, int(counts[row]), values.shape[1])
        whole = counts.astype(np.int64)
        whole.flags.writeable = False
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "counts", whole)
        object.__setattr__(self, "names", _checked_names(self.names, whole, values.shape[1]))

    @classmethod
    def of(
        cls,
        rows: Iterable[ArrayLike | Mapping[Any, float]],
        names: Iterable[Iterable[object]] | None = None,
    ) -> Ragged:
        """Make a ``Ragged`` from rows of different lengths. Shorter rows are padded.

        Parameters
        ----------
        rows : iterable of array-likes or dictionaries
            For each row, the model outputs of its candidates. The index of a pandas series is kept. A dictionary maps
            the names of the candidates to their numbers. The counts of a ``collections.Counter`` become relative
            frequencies, for ``kind="probs"``. A list of tokens and log-probabilities, as APIs of language models return
            it, is read like a dictionary: ``[{"token": "A", "logprob": -0.1}, …]``, with ``"text"`` in place of
            ``"token"``, or ``[("A", -0.1), …]``. So is the object of a position that has such a list as
            ``top_logprobs``.
        names : iterable of lists, optional
            For each row, the names of its candidates, if the rows are no dictionaries.

        Returns
        -------
        Ragged
            The padded rows.

        Raises
        ------
        KindError
            If ``rows`` is not a list of rows.

        Examples
        --------
        >>> Ragged.of([[0.6, 0.4], [0.2, 0.3, 0.5]])
        Ragged(2 rows, 2 to 3 candidates)
        >>> Ragged.of([[0.6, 0.4], [0.2, 0.3, 0.5]], names=[["yes", "no"], ["red", "green", "blue"]])
        Ragged(2 rows, 2 to 3 candidates with names)
        """
        if frames.is_frame(rows) or isinstance(rows, str | bytes | Ragged) or not isinstance(rows, Iterable):
            raise KindError.argument("rows", "a list of rows, each a list of numbers", rows)
        index, listed = index_of(rows), list(rows)
        if named_rows.are_named(listed):
            if names is not None:
                raise KindError.argument("names", "None if the rows are dictionaries, which have names", names)
            read = [named_rows.read_row(row, number, "probs", "rows") for number, row in enumerate(listed)]
            listed, names = [list(row.values()) for row in read], [list(row) for row in read]
        arrays = [_numbers(row, number) for number, row in enumerate(cast("list[ArrayLike]", listed))]
        counts = np.array([len(array) for array in arrays], dtype=np.int64)
        values = np.zeros((len(arrays), counts.max(initial=0)), dtype=np.result_type(np.float16, *arrays))
        if arrays:
            values[np.arange(values.shape[1]) < counts[:, np.newaxis]] = np.concatenate(arrays)
        return cls(values, counts, template=Template(index=index), names=names)  # type: ignore[arg-type]

    def mark_absent(self, labels: ArrayLike) -> list[Any]:
        """Return the labels with ``rankset.ABSENT`` in place of those that are not among the candidates of their rows.

        Parameters
        ----------
        labels : array-like (n,)
            The true label of each row, as a name.

        Returns
        -------
        list
            One label per row, to be passed to ``calibrate``, ``Rule.update``, ``PredictionSets.covers`` or
            ``evaluate``. A warning says if all labels are absent.

        Raises
        ------
        KindError
            If the candidates have no names.

        Examples
        --------
        >>> sampled = Ragged.of([{"Paris": 0.9, "Lyon": 0.1}, {"Milan": 1.0}])
        >>> sampled.mark_absent(["Paris", "Rome"])
        ['Paris', rankset.ABSENT]
        """
        if self.names is None:
            raise KindError.no_candidate_names()
        index = RowIndex(self.template.index, numbered=self.template.numbered)
        marked = options.labels_or_absent(labels, self.names, index)
        if marked and all(label is ABSENT for label in marked):
            warn(
                "no label is among the candidates of its row, so all labels become rankset.ABSENT. If labels and "
                "candidates are spelled differently, pass both through rankset.normalise_answers."
            )
        return marked

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Restore a pickled or copied object and make its counts read-only again."""
        self.__dict__.update(state)
        self.counts.flags.writeable = False

    def __len__(self) -> int:
        return len(self.counts)

    def __getitem__(self, rows: slice | ArrayLike) -> Ragged:
        """Return the selected rows. A boolean pandas series must have the same index as the rows."""
        chosen = selected_rows(rows, len(self), self.template.index)
        if not isinstance(rows, slice) and np.asarray(rows).dtype.kind == "b":
            RowIndex(self.template.index, numbered=self.template.numbered).check(rows, "mask")
        values = self.values[rows if isinstance(rows, slice) else chosen]
        names = None if self.names is None else self.names[chosen]
        return Ragged(values, self.counts[chosen], template=self.template.rows(chosen), names=names)

    def __repr__(self) -> str:
        spread = f"{self.counts.min()} to {self.counts.max()}" if len(self) else "no"
        return f"Ragged({len(self):,} rows, {spread} candidates{' with names' * (self.names is not None)})"

    def _as_wide_as(self, n_columns: int) -> Array:
        """Return the values with ``n_columns`` columns, or more if a row has more candidates."""
        wanted = max(n_columns, int(self.counts.max(initial=0)))
        missing = wanted - self.values.shape[1]
        return self.values[:, :wanted] if missing <= 0 else np.pad(self.values, ((0, 0), (0, missing)))

    def _names_as_wide_as(self, n_columns: int) -> Array | None:
        """Return the names of the candidates with ``n_columns`` columns; None if they have none."""
        if self.names is None:
            return None
        wide = np.full((len(self), n_columns), None, dtype=object)
        shared = min(n_columns, self.names.shape[1])
        wide[:, :shared] = self.names[:, :shared]
        return wide


def _checked_names(names: Any, counts: Ints, n_columns: int) -> Array | None:  # noqa: ANN401
    """Return names of candidates as an array (n, K), padded with None, as those of another ``Ragged`` are."""
    if names is None:
        return None
    if isinstance(names, np.ndarray) and names.shape == (len(counts), n_columns):
        names = [row[:count] for row, count in zip(names, counts.tolist(), strict=True)]
    listed = list(names) if isinstance(names, Iterable) and not isinstance(names, str | bytes | Mapping) else None
    if listed is None or any(isinstance(row, str | bytes) or not isinstance(row, Iterable) for row in listed):
        raise KindError.argument("names", "one list of names per row", names)
    if len(listed) != len(counts):
        raise InputError.length("names", len(counts), len(listed))
    return named_rows.padded_names([list(row) for row in listed], counts, n_columns)


def fill_padding(block: Array, counts: Ints, padding: float) -> Array:
    """Return a block of rows with the value ``padding`` in the columns after the candidates."""
    return np.where(np.arange(block.shape[1]) < counts[:, np.newaxis], block, block.dtype.type(padding))


def _numbers(row: ArrayLike, number: int) -> Array:
    """Return one row as a vector of numbers."""
    array = as_numbers(row, f"row {number}")
    if array.ndim != 1:
        raise InputError.row_shape(number, array.shape)
    check_whole(array[np.newaxis], number, name="rows")
    return array.astype(np.float32) if array.dtype.kind == "V" else array
