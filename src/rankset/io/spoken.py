"""Error texts of the library in the options of the command line."""

from __future__ import annotations

import re

SPOKEN = (
    (re.compile(r"\bkind='(\w+)'"), r"--kind \1"),
    (re.compile(r"\bclasses=(\[\.\.\.\]|range\([\d, ]+\))"), "--classes"),
    (re.compile(r"\bcondition=PerGroup\(\)"), "--group"),
    (re.compile(r"\bempty='top'"), "--empty top"),
    (re.compile(r"\bgroups="), "--group"),
    (re.compile(r"\bids="), "--id"),
)


def spoken(text: str) -> str:
    """What the library says, in the options of the command line."""
    for said, option in SPOKEN:
        text = said.sub(option, text)
    return text
