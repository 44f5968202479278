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
from rankset.inputs.normalise import normalise_answers
from rankset.inputs.per_row import is_missing, names_per_row
from rankset.inputs.row_index import RowIndex, index_of
from rankset.inputs.value_checks import check_rows, check_whole
from rankset.inputs.vocabulary import Array, Names, class_names, in_order

Floats = NDArray[np.float64]


def softmax(logits: ArrayLike) -> Floats:
    """Return the softmax of each row of ``logits``, computed in float64.

    Parameters
    ----------
    logits : array-like (n, K)
        Logits, one column per class.

    Returns
    -------
    numpy.ndarray (n, K) of float64
        Probabilities. Every row sums to 1.

    Raises
    ------
    InputError
        If a row contains NaN or +inf, or if all entries of a row are -inf.

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


def frequencies(answers: Iterable[Iterable[object]], classes: Iterable[object], *, normalise: bool = False) -> Any:  # noqa: ANN401
    """Return the relative frequency of each class among the sampled answers of each row.

    Use this if you sample several answers per question from a language model.

    Parameters
    ----------
    answers : iterable
        For each row, a list of answers or a ``collections.Counter`` of answers.
    classes : sequence
        The possible answers, in column order.
    normalise : bool, default False
        Whether answers and classes are compared without case, spaces around them, and punctuation at their end, as by
        ``normalise_answers``. The columns keep the names of ``classes``.

    Returns
    -------
    numpy.ndarray (n, K) or pandas.DataFrame
        Relative frequencies. If ``answers`` is a pandas series, the result is a data frame with the same index.
        ``calibrate`` then raises an error if the index of the labels is different.

    Raises
    ------
    InputError
        If a row has no answers.
    LabelError
        If an answer is not one of ``classes``.

    Notes
    -----
    Different rows often have equal frequencies, so scores are often tied. To break these ties at random, use
    ``TieBreak(Rank())`` and pass ``ids=``.

    If the possible answers are not known beforehand, pass the counts of each row to ``Ragged.of``.

    Examples
    --------
    >>> frequencies([["yes", "no", "yes", "yes"], ["no", "no"]], classes=["no", "yes"])
    array([[0.25, 0.75],
           [1.  , 0.  ]])
    >>> frequencies([["Yes.", " yes", "NO", "yes"]], classes=["No", "Yes"], normalise=True)
    array([[0.25, 0.75]])
    """
    if not isinstance(normalise, bool):
        raise KindError.argument("normalise", "True or False", normalise)
    if is_frame(answers) or not isinstance(answers, Iterable):
        raise KindError.argument("answers", "a list that contains one list of answers per row", answers)
    rows = [_answers(row) for row in answers]
    listed = in_order(classes)
    names = class_names(listed, len(listed))
    compared = class_names(normalise_answers(listed), len(listed)) if normalise else names
    counts = np.zeros((len(rows), len(names)))
    for number, row in enumerate(rows):
        counts[number] = _shares(normalise_answers(row) if normalise else row, compared, number)
    index = index_of(answers)
    if index is None:
        return counts
    columns = {name: counts[:, place] for place, name in enumerate(names.values)}
    return Template("pandas", index).filled(columns)


def _shares(row: list[Any], names: Names, number: int) -> Floats:
    """Return the share of each name among the answers of one row."""
    if not row:
        raise InputError.no_answers(number)
    known = [answer for answer in row if not is_missing(answer)]
    codes = names.codes(names_per_row(known, len(known), RowIndex(), name="answers"))
    if len(known) < len(row) or (codes < 0).any():
        unknown = [answer for answer, code in zip(known, codes, strict=True) if code < 0]
        raise LabelError.unknown("answers", number, unknown or [None], tuple(names.values))
    return np.bincount(codes, minlength=len(names)) / len(row)


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


def _sigmoid(rows: Floats) -> Floats:
    """Return 1 / (1 + exp(-x)), computed with powers of at most 1 only."""
    with np.errstate(under="ignore"):
        powers = exp_of_nonpositive(-np.abs(rows))
        return np.where(rows < 0, powers, 1.0) / (1.0 + powers)


CONVERSIONS: Final[dict[Kind, Callable[[Array], Array]]] = {
    "probs": _as_they_are,
    "decision": _as_they_are,
    "logits": _softmax,
    "binary": _both_classes,
    "marginals": _as_they_are,
    "marginal_logits": _sigmoid,
}
