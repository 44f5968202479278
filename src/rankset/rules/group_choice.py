"""Which threshold of a rule users mean by a group and a label."""

from __future__ import annotations

import numpy as np

from rankset.errors import RuleError
from rankset.inputs.per_row import names_per_row
from rankset.inputs.row_index import RowIndex
from rankset.inputs.vocabulary import Names
from rankset.rules.spec import RuleSpec


def group_number(spec: RuleSpec, group: object, label: object) -> int:
    """Return the number of the threshold of a ``group`` and a ``label``, either of them None if it is not given."""
    table = spec.table()
    if group is not None and not spec.condition.needs_groups:
        raise RuleError.group_unused(spec.condition, "group")
    if label is not None and table.shape[1] == 1:
        raise RuleError.group_unused(spec.condition, "label")
    row = _place("group", spec.groups, group) if spec.condition.needs_groups else 0
    column = _place("label", spec.classes, label) if table.shape[1] > 1 else 0
    if row is None or column is None:
        needed = [
            *(["group"] if spec.condition.needs_groups else []),
            *(["label"] if table.shape[1] > 1 else []),
        ]
        raise RuleError.which_group(spec.condition, spec.n_groups, needed)
    return int(np.broadcast_to(table, (max(1, len(spec.groups)), spec.n_columns))[row, column])


def is_alone(spec: RuleSpec, number: int) -> bool:
    """Return whether all labels of a row share one threshold, in the rows that use threshold ``number``."""
    table = spec.table()
    rows = (table == number).any(axis=1)
    return bool((table[rows] == number).all())


def _place(what: str, names: Names, name: object) -> int | None:
    """Return the place of ``name`` in the vocabulary; None if no name is given."""
    if name is None:
        return None
    wanted = np.empty(1, dtype=object)
    wanted[0] = name
    code = int(names.codes(names_per_row(wanted, 1, RowIndex()))[0])
    if code < 0:
        raise RuleError.no_such_name(what, name, tuple(names.values))
    return code
