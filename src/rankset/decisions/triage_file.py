"""Triages as files: a spec and two calibrations. Everything in a file is checked here, as in files of rules."""

from __future__ import annotations

import os

from rankset.core.arrays import is_whole
from rankset.core.calibration import Calibration
from rankset.decisions.rows_in import MOST_WITHIN
from rankset.io import container
from rankset.rules import rule_file
from rankset.rules.spec import RuleSpec

WHAT = "triage"
FORMAT = rule_file.FORMAT_WITH_TARGET
HALVES = ("right", "wrong")
OWN_FIELDS = {"within"}


def pack(
    spec: RuleSpec, right: Calibration, wrong: Calibration, within: int | None
) -> tuple[container.Header, container.Arrays]:
    """Return the header and the arrays of a triage; names of arrays begin with that of their half."""
    fields = {**rule_file.spec_header(spec), "keys": len(right.keys), "within": within}
    arrays: container.Arrays = {}
    for half, calibration in zip(HALVES, (right, wrong), strict=True):
        arrays |= {f"{half}.{name}": array for name, array in rule_file.arrays_of(calibration).items()}
    return {"what": WHAT, "format": FORMAT, **fields}, arrays


def check_content(path: str | os.PathLike[str], header: container.Header) -> None:
    """Raise an error if a file contains something else."""
    rule_file.check_content(path, header, WHAT)


def unpack(header: container.Header, arrays: container.Arrays) -> tuple[RuleSpec, Calibration, Calibration, int | None]:
    """Return what ``pack`` packed; raise ValueError if something does not fit."""
    if header.get("what") != WHAT or header["format"] != FORMAT:
        raise ValueError("it does not contain a triage")
    container.check_fields("its header", header, rule_file.HEADER_FIELDS | OWN_FIELDS)
    within = header["within"]
    if within is not None and (not is_whole(within) or not 1 <= within <= MOST_WITHIN):
        raise ValueError(f"its field within must be an integer from 1 to {MOST_WITHIN:,} or null, got {within!r}")
    if any(name.partition(".")[0] not in HALVES for name in arrays):
        raise ValueError("its arrays belong to no half")
    own = {name: value for name, value in header.items() if name not in OWN_FIELDS}
    halves = [_half(own, half, arrays) for half in HALVES]
    (spec, right), (_, wrong) = halves
    if not len(right) + len(wrong):
        raise ValueError("it has no rows")
    return spec, right, wrong, within


def _half(header: container.Header, half: str, arrays: container.Arrays) -> tuple[RuleSpec, Calibration]:
    """Return one of the calibrations, checked like that of a rule."""
    own = {name.partition(".")[2]: array for name, array in arrays.items() if name.partition(".")[0] == half}
    return rule_file.unpack({**header, "what": "rule", "format": container.FORMAT}, own)
