"""What a calibration says about all labels of all rows, in column order: p-values and the counts behind them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.calibration import Calibration
from rankset.core.lexicographic import Keys
from rankset.inputs.prepare import Prepared
from rankset.rules.batch import Batch
from rankset.rules.spec import RuleSpec

Ints = NDArray[np.int64]
AskTable = Callable[[Ints, Keys], tuple[NDArray[Any], ...]]

PIECE = 1 << 17
"""Number of cells whose keys fit into the cache of a core."""


def p_values(spec: RuleSpec, calibration: Calibration, data: Prepared) -> NDArray[np.float64]:
    """Return the p-value of every label (n, K)."""
    answer = np.empty((len(data), data.n_columns))
    _fill(Batch.of(spec, data), lambda groups, keys: (calibration.p_values(groups, keys),), (answer,))
    return answer


def tails(spec: RuleSpec, calibration: Calibration, data: Prepared) -> tuple[Ints, Ints]:
    """Return for every label (n, K) how many calibration rows of its group have keys at least as large, and how many
    rows the group has."""
    shape = len(data), data.n_columns
    larger, sizes = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    _fill(Batch.of(spec, data), calibration.tails, (larger, sizes))
    return larger, sizes


def _fill(batch: Batch, ask: AskTable, answers: Sequence[NDArray[Any]]) -> None:
    """Fill ``answers`` (n, K) with what ``ask`` returns for the groups and keys of all labels."""
    if not batch.wide:
        _fill_blocks(batch, ask, answers)
        return
    for rows, one in batch.by_width():
        parts = [np.empty(one.shape, dtype=answer.dtype) for answer in answers]
        _fill_blocks(one, ask, parts)
        for answer, part in zip(answers, parts, strict=True):
            answer[rows, : one.shape[1]] = part


def _fill_blocks(batch: Batch, ask: AskTable, answers: Sequence[NDArray[Any]]) -> None:
    """Do the same for a batch whose columns are the classes of its spec, in pieces of blocks."""
    step = max(1, PIECE // batch.shape[1])

    def fill(block: slice) -> None:
        for start in range(block.start, block.stop, step):
            part = slice(start, min(start + step, block.stop))
            flat, groups, keys = batch.matrix_keys(part)
            for answer, found in zip(answers, ask(groups, keys), strict=True):
                answer[part].reshape(-1)[flat] = found

    batch.map_blocks(fill)
