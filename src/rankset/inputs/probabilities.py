"""Probabilities from logits, from one probability per row, and from sampled answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core import parallel
from rankset.core.exponential import exp_of_nonpositive
from rankset.errors import InputError, KindError, LabelError
from rankset.inputs.frames import Template, is_frame
from rankset.inputs.matrix import Kind, as_matrix, plain_rows
from rankset.inputs.per_row import is_missing, names_per_row
from rankset.inputs.row_index import RowIndex, index_of
from rankset.inputs.value_checks import check_rows, check_whole
from rankset.inputs.vocabulary import Array, class_names, in_order

Floats = NDArray[np.float64]


def softmax(logits: ArrayLike) -> Floats:
    """Return the probabilities of ``logits`` (n, K), in float64.

    Parameters
    ----------
    logits : array-like (n, K)

    Returns
    -------
    numpy.ndarray (n, K) of float64; every row sums to 1.

    Raises
    ------
    InputError : if a row contains NaN or +inf, or only -inf.

    Examples
    --------
    >>> softmax([[0.0, 0.0], [1000.0, 0.0]])
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    source = as_matrix(logits, "logits", name="logits")

    def block(part: slice) -> Floats:
        rows = source[part]
        check_whole(rows, part.start, name="logits")
        rows = plain_rows(rows, "logits")
        check_rows(rows, "logits", part.start, "logits")
        return _softmax(rows)

    parts = parallel.map_blocks(block, *source.shape)
    return np.concatenate(parts) if parts else np.empty(source.shape)


def frequencies(answers: Iterable[Iterable[object]], classes: Iterable[object]) -> Any:  # noqa: ANN401
    """Return how often each class occurs among the sampled answers of each row.

    Use this where a language model is sampled several times per question.

    Parameters
    ----------
    answers : for each row a list of answers, or a ``Counter`` of them.
    classes : the possible answers, in column order.

    Returns
    -------
    numpy.ndarray (n, K) of frequencies; for a pandas series of answers a data frame with its index, so that labels in
    another order are refused.

    Raises
    ------
    InputError : if a row has no answers.
    LabelError : if an answer is not among ``classes``.

    Notes
    -----
    Frequencies often tie. ``TieBreak(Rank())`` with ``ids=`` breaks ties by a random draw.

    Examples
    --------
    >>> frequencies([["yes", "no", "yes", "yes"], ["no", "no"]], classes=["no", "yes"])
    array([[0.25, 0.75],
           [1.  , 0.  ]])
    """
    if is_frame(answers) or not isinstance(answers, Iterable):
        raise KindError.argument("answers", "a list that contains one list of answers per row", answers)
    rows = [_answers(row) for row in answers]
    listed = in_order(classes)
    names = class_names(listed, len(listed))
    counts = np.zeros((len(rows), len(names)))
    for number, row in enumerate(rows):
        if not row:
            raise InputError.no_answers(number)
        known = [answer for answer in row if not is_missing(answer)]
        codes = names.codes(names_per_row(known, len(known), RowIndex(), name="answers"))
        if len(known) < len(row) or (codes < 0).any():
            unknown = [answer for answer, code in zip(known, codes, strict=True) if code < 0]
            raise LabelError.unknown("answers", number, unknown or [None], tuple(names.values))
        counts[number] = np.bincount(codes, minlength=len(names)) / len(row)
    index = index_of(answers)
    if index is None:
        return counts
    columns = {name: counts[:, place] for place, name in enumerate(names.values)}
    return Template("pandas", index).filled(columns)


def _answers(row: Iterable[object]) -> Any:  # noqa: ANN401
    """Return the answers of one row as a list."""
    if isinstance(row, Counter):
        return list(row.elements())
    if (
        isinstance(row, str | bytes | Mapping | set | frozenset)
        or not isinstance(row, Iterable)
        or getattr(row, "ndim", 1) == 0
    ):
        raise KindError.argument("answers", "one list of answers, or one Counter of answers, per row", row)
    return list(row)


def from_kind(rows: Array, kind: Kind) -> Array:
    """Return checked rows of ``kind`` as the matrix (n, K) that scores use."""
    return CONVERSIONS[kind](rows)


def _as_they_are(rows: Array) -> Array:
    return rows


def _softmax(rows: Floats) -> Floats:
    with np.errstate(over="ignore", under="ignore"):  # a difference beyond all floats is -inf, and its power 0
        powers = exp_of_nonpositive(rows - rows.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)


def _both_classes(rows: Floats) -> Floats:
    return np.column_stack((1.0 - rows, rows))


CONVERSIONS: Final[dict[Kind, Callable[[Array], Array]]] = {
    "probs": _as_they_are,
    "decision": _as_they_are,
    "logits": _softmax,
    "binary": _both_classes,
}
