"""``load``: read a rule from a file."""

from __future__ import annotations

import os
from importlib import import_module

from rankset.io import container
from rankset.rules import rule_file
from rankset.rules.rule import Rule


def load(path: str | os.PathLike[str]) -> Rule:
    """Read a rule from a file written by ``Rule.save``. No code from the file is executed.

    Parameters
    ----------
    path
        Path of the file.

    Returns
    -------
    Rule

    Raises
    ------
    StorageError
        If the file is damaged, does not contain a rule, or was written by a later version of rankset.

    Examples
    --------
    >>> import tempfile, rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> with tempfile.NamedTemporaryFile(suffix=".rankset") as file:
    ...     rs.calibrate(probs, labels).save(file.name)
    ...     rs.load(file.name)
    Rule(Rank(), Marginal(), kind='probs', 4 classes, calibrated on 260 rows)
    """
    header, arrays = container.read(path)
    with container.damage_as_error(path):
        if header.get("what") == "triage":
            return import_module("rankset.decisions.triage_file").unpack(header, arrays)
        return Rule(*rule_file.unpack(header, arrays))
