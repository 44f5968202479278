"""What a calibration says about all labels of all rows, in column order: p-values and the counts behind them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core import kernels, parallel
from rankset.core.calibration import Calibration
from rankset.core.shared_rows import SharedRows
from rankset.core.shared_tables import SharedTable
from rankset.inputs.prepare import Prepared
from rankset.rules.batch import Batch
from rankset.rules.spec import RuleSpec
from rankset.rules.weighted_rows import weighted_p_values

Ints = NDArray[np.int64]
Arrays = Sequence[NDArray[Any]]
Tables = Sequence[NDArray[Any] | SharedTable]
RowsOfGroups = Calibration | SharedRows

NUMBERS_PER_LABEL = 10
"""Keys and places of a label take the memory of about this many entries: blocks are so much smaller."""

SETS_PER_P_VALUE = 4
"""p-values take about this many times as long as sets."""


def p_values(spec: RuleSpec, calibration: RowsOfGroups, data: Prepared) -> NDArray[np.float64]:
    """Return the p-value of every label (n, K)."""
    answer = np.empty((len(data), data.n_columns))
    if data.masses is not None:
        _fill_weighted(Batch.of(spec, data), calibration, answer)
        return answer
    _fill(Batch.of(spec, data), calibration, (calibration.tables(answer.size).p_values,), (answer,))
    return answer


def tails(spec: RuleSpec, calibration: RowsOfGroups, data: Prepared) -> tuple[Ints, Ints]:
    """Return for every label (n, K) how many calibration rows of its group have keys at least as large, and how many
    rows the group has."""
    shape = len(data), data.n_columns
    tables = calibration.tables(shape[0] * shape[1])
    larger, sizes = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    _fill(Batch.of(spec, data), calibration, (tables.larger, tables.sizes), (larger, sizes))
    return larger, sizes


def _fill(batch: Batch, calibration: RowsOfGroups, tables: Tables, answers: Arrays) -> None:
    """Fill each of ``answers`` (n, K) with the entries of its table at the places of all labels."""
    if not batch.wide:
        _fill_blocks(batch, calibration, tables, answers)
        return
    for rows, one in batch.by_width():
        parts = [np.empty(one.shape, dtype=answer.dtype) for answer in answers]
        _fill_blocks(one, calibration, tables, parts)
        for answer, part in zip(answers, parts, strict=True):
            answer[rows, : one.shape[1]] = part


def _fill_blocks(batch: Batch, calibration: RowsOfGroups, tables: Tables, answers: Arrays) -> None:
    """Do the same for a batch whose columns are the classes of its spec."""
    n_rows, n_columns = batch.shape
    loops = kernels.choose(SETS_PER_P_VALUE * n_rows, n_columns)
    search, spread = (None, _spread) if loops is None else (loops.places, loops.spread)

    def fill(part: slice) -> None:
        flat, groups, keys = batch.matrix_keys(part, loops)
        places = calibration.places(groups, keys, search)
        for table, answer in zip(tables, answers, strict=True):
            into = answer[part].reshape(-1)
            if isinstance(flat, slice):
                table.take(places, out=into, mode="clip")
            elif isinstance(table, SharedTable):
                _spread(table, places, flat, into)
            else:
                spread(table, places, flat, into)

    parallel.map_blocks(fill, n_rows, NUMBERS_PER_LABEL * n_columns)


def _fill_weighted(batch: Batch, calibration: RowsOfGroups, answer: NDArray[np.float64]) -> None:
    """Fill ``answer`` (n, K) with the p-values of rows that have weights."""
    if batch.wide:
        for rows, one in batch.by_width():
            part = np.empty(one.shape)
            _fill_weighted(one, calibration, part)
            answer[rows, : one.shape[1]] = part
        return
    n_rows, n_columns = batch.shape
    loops, own = kernels.choose(SETS_PER_P_VALUE * n_rows, n_columns), batch.data.masses
    assert own is not None

    def fill(part: slice) -> None:
        flat, groups, keys = batch.matrix_keys(part, loops)
        places = calibration.places(groups, keys, None if loops is None else loops.places)
        of_cells = np.repeat(own[part], n_columns)[flat]
        answer[part].reshape(-1)[flat] = weighted_p_values(calibration, groups, places, of_cells)

    parallel.map_blocks(fill, n_rows, NUMBERS_PER_LABEL * n_columns)


def _spread(table: NDArray[Any] | SharedTable, places: NDArray[Any], flat: Ints, answer: NDArray[Any]) -> None:
    """Put the entries of ``table`` at ``places`` where the cells are."""
    answer[flat] = table.take(places, mode="clip")
