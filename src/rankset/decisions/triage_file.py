"""Triages as files: the spec and two calibrations, each checked like that of a rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankset.core.arrays import is_whole
from rankset.decisions.rows_in import MOST_WITHIN
from rankset.io import container
from rankset.rules import rule_file

if TYPE_CHECKING:
    from rankset.decisions.triage import Triage

FORMAT = 4
"""Format number of files of triages."""
HALVES = ("right", "wrong")


def pack(triage: Triage) -> tuple[container.Header, container.Arrays]:
    """Return the header and the arrays of a triage."""
    header, _ = rule_file.pack(triage.spec, triage.right)
    header |= {"what": "triage", "format": FORMAT, "within": triage.within}
    arrays: container.Arrays = {}
    for half in HALVES:
        own = rule_file.arrays_of(getattr(triage, half))
        arrays |= {f"{half}_{name}": array for name, array in own.items()}
    return header, arrays


def unpack(header: container.Header, arrays: container.Arrays) -> Triage:
    """Return the triage that ``pack`` packed; raise ValueError if something does not fit."""
    from rankset.decisions.triage import Triage

    within = header.pop("within")
    if within is not None and (not is_whole(within) or not 1 <= within <= MOST_WITHIN):
        raise ValueError(f"its field within must be an integer from 1 to {MOST_WITHIN:,} or null, got {within!r}")
    header |= {"what": "rule", "format": container.FORMAT}
    halves = []
    for half in HALVES:
        own = {name.removeprefix(f"{half}_"): arrays.pop(name) for name in list(arrays) if name.startswith(f"{half}_")}
        halves.append(rule_file.unpack(dict(header), own))
    if arrays:
        raise ValueError(f"it has unknown arrays: {', '.join(sorted(arrays))}")
    (spec, right), (_, wrong) = halves
    return Triage(spec, right, wrong, within)
