"""Triages in files."""

from __future__ import annotations

import os
from typing import Self

from rankset.core.calibration import Calibration
from rankset.decisions import triage_file
from rankset.io import container
from rankset.rules.spec import RuleSpec


class Stored:
    """Methods of ``Triage`` that write and read files."""

    spec: RuleSpec
    right: Calibration
    wrong: Calibration
    within: int | None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the triage to a file, which ``Triage.load`` reads.

        Parameters
        ----------
        path
            Path of the file. An existing file is replaced, but only after the new file is complete.

        Raises
        ------
        StorageError
            If it cannot be stored, for example because its confidence score is not part of rankset.
        FileError
            If the file cannot be written, for example because the disk is full.

        Examples
        --------
        >>> import tempfile, rankset as rs
        >>> probs, labels = rs.datasets.load("carer")
        >>> with tempfile.NamedTemporaryFile(suffix=".rankset") as file:
        ...     rs.triage(probs, labels, kind="logits").save(file.name)
        ...     rs.Triage.load(file.name).n_wrong
        268
        """
        container.write(path, *triage_file.pack(self.spec, self.right, self.wrong, self.within))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what ``save`` wrote. No code from the file is executed.

        Parameters
        ----------
        path
            Path of the file.

        Returns
        -------
        Triage

        Raises
        ------
        StorageError
            If the file is damaged, contains something else, or was written by a later version of rankset.

        Examples
        --------
        >>> import tempfile, rankset as rs
        >>> probs, labels = rs.datasets.load("carer")
        >>> triage = rs.triage(probs, labels, kind="logits")
        >>> with tempfile.NamedTemporaryFile(suffix=".rankset") as file:
        ...     triage.save(file.name)
        ...     rs.Triage.load(file.name) == triage
        True
        """
        header, arrays = container.read(path)
        triage_file.check_content(path, header)
        with container.damage_as_error(path):
            return cls(*triage_file.unpack(header, arrays))  # type: ignore[call-arg]
