"""Confidence scores by name, and the choice among them on rows of their own (``confidence="auto"``)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankset.core import parallel
from rankset.core.arrays import is_real
from rankset.core.cells import LabelCells
from rankset.core.rows import Rows
from rankset.decisions import answers
from rankset.errors import KindError
from rankset.inputs.prepare import Prepared
from rankset.scores import Correctness, Entropy, Margin, Score, Thr, TopTwo, checked_score, is_auto
from rankset.scores.application import keys_of

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

NAMED: dict[str, Score] = {"top": Thr(), "margin": Margin(), "two": TopTwo(), "entropy": Entropy()}
"""Confidence scores by name."""

FEWEST = 1000
"""With fewer rows nothing is fitted: fewer rows for the promise would cost more than a fit gains."""
SHARE = 0.3
MOST_FITTING = 20_000
FOLDS = 2
MOST_OFFSETS = 2000
"""With more classes none gets a number of its own: a fit takes time in the cube of their number."""
ERRORS = (0.01, 0.02, 0.05, 0.1)
"""Errors at which confidences are compared."""


class Named(NamedTuple):
    """A confidence score, the name that users passed, and whether "auto" is to replace it by a chosen one."""

    score: Score
    name: object
    chosen: bool = False

    @property
    def simple(self) -> bool:
        """Whether it needs nothing but the confidence of the answer."""
        return self.score == Thr() and not self.chosen


class Fitted(NamedTuple):
    """A chosen confidence score, and the rows that were not used to choose it."""

    score: Score
    others: Ints


def named_confidence(confidence: Score | str | None) -> Named:
    """Return the confidence score that users mean."""
    if confidence is None:
        return Named(Thr(), "top")
    if is_auto(confidence):
        return Named(Thr(), "auto", chosen=True)
    if isinstance(confidence, str):
        name = confidence.strip().lower()
        if name in NAMED:
            return Named(NAMED[name], name)
        names = ", ".join(repr(known) for known in (*NAMED, "auto"))
        raise KindError.argument("confidence", f"one of {names}, or a score", confidence)
    if is_real(confidence):
        expected = "how sure the model is: 'top', 'margin', 'entropy', 'auto' or a score"
        raise KindError.argument("confidence", f"{expected}; a probability belongs to threshold", confidence)
    return Named(checked_score(confidence, "confidence"), confidence)


def fitting_rows(data: Prepared, right: Bools | None, within: int, seed: int) -> Fitted:
    """Fit confidence scores on a part of the rows, and choose the one that accepts most there, with folds."""
    n = len(data)
    count = min(int(SHARE * n), MOST_FITTING) if n >= FEWEST else 0
    if not count or data.kind == "decision" or data.n_columns < 2 or data.counts is not None:
        return Fitted(Thr(), np.arange(n))
    order = np.random.default_rng(seed % 2**64).permutation(n)
    chosen, others = np.sort(order[:count]), np.sort(order[count:])
    some = data.take(chosen)
    columns = answers.most_likely(some)
    good = answers.right_answers(some, columns, within) if right is None else right[chosen]
    parts = parallel.map_blocks(some.rows, len(some), some.n_columns)
    return Fitted(_best(np.concatenate(parts), columns, good), others)


def _best(probs: NDArray[np.floating], columns: Ints, right: Bools) -> Score:
    """Return the confidence score that accepts most; the first of equally good ones."""
    plain: tuple[Score, ...] = (Thr(), Margin(), Entropy())
    candidates = [(_accepted(_order(score, probs, columns), right), score) for score in plain]
    folds = np.arange(len(probs)) % FOLDS
    for offsets in (False, True)[: 1 + (probs.shape[1] <= MOST_OFFSETS)]:
        doubts = np.empty(len(probs))
        for fold in range(FOLDS):
            train, held = folds != fold, folds == fold
            fitted = Correctness.fit_rows(probs[train], columns[train], right[train], class_offsets=offsets)
            doubts[held] = _keys(fitted, probs[held], columns[held])[0]
        whole = Correctness.fit_rows(probs, columns, right, class_offsets=offsets)
        candidates.append((_accepted(np.argsort(doubts, kind="stable"), right), whole))
    return max(candidates, key=lambda one: one[0])[1]


def _keys(score: Score, probs: NDArray[np.floating], columns: Ints) -> tuple[NDArray[np.float64], ...]:
    rows = Rows(probs, lambda: np.zeros(len(probs)), summed=True)
    return keys_of(score, LabelCells(rows, columns))


def _order(score: Score, probs: NDArray[np.floating], columns: Ints) -> Ints:
    return np.lexsort(_keys(score, probs, columns)[::-1])


def _accepted(order: Ints, right: Bools) -> float:
    """Return the mean share of rows that are accepted at the errors, if rows are accepted in this order."""
    wrong = 1 + np.cumsum(~right[order])
    taken = np.arange(1, len(order) + 1)
    counts = [np.flatnonzero(wrong <= error * taken) for error in ERRORS]
    return float(np.mean([0 if not len(fits) else (fits[-1] + 1) / len(order) for fits in counts]))
