"""When rules can be merged, and how their group numbers are brought together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankset.core.calibration import Calibration
from rankset.errors import RuleError
from rankset.inputs.row_weights import check_total
from rankset.inputs.vocabulary import Names
from rankset.rules.spec import RuleSpec


def check_specs(ours: RuleSpec, theirs: RuleSpec) -> None:
    """Raise an error if calibrations with these specs cannot be merged."""
    field = ours.difference(theirs)
    if field == "with_ids":
        raise RuleError.ids(*(("with", "without") if ours.with_ids else ("without", "with")))
    if field == "weighted":
        raise RuleError.merged_weights()
    if field == "target":
        raise RuleError.merged_targets(ours.target, theirs.target)
    if field is not None:
        raise RuleError.different(field, _plain_value(ours, field), _plain_value(theirs, field))


def renumbered(old: RuleSpec, calibration: Calibration, new: RuleSpec) -> Calibration:
    """Return the calibration with the group numbers of the ``new`` spec, which has all row groups of the old one."""
    if new.groups == old.groups:
        return calibration
    columns = np.arange(new.n_columns)[np.newaxis, :]
    codes = new.groups.codes(old.groups.array)[:, np.newaxis]
    table, wanted = np.broadcast_arrays(old.table(), new.numbers(columns, codes))
    numbers = np.zeros(old.n_groups, dtype=np.int64)
    numbers[table] = wanted
    if (numbers[table] != wanted).any():
        raise RuleError.regrouped(old.condition)
    return calibration.renumbered(numbers, new.n_groups)


def check_weights(calibrations: Sequence[Calibration]) -> None:
    """Raise an error if the weights of the rows of several calibrations cannot be added up exactly."""
    check_total(sum(float(one.row_masses.by_group.sum()) for one in calibrations if one.row_masses is not None))


def _plain_value(spec: RuleSpec, field: str) -> object:
    """Return the value of a field as error messages show it."""
    value = getattr(spec, field)
    return list(value.values) if isinstance(value, Names) else value
