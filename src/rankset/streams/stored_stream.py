"""Streams in files."""

from __future__ import annotations

import os
from typing import Any, Self

from rankset.io import container


class StoredStream:
    """Methods of ``Stream`` that write and read files."""

    _lock: Any

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state of the stream to a file, which ``Stream.load`` reads: window, level, waiting rows, alarms.

        Parameters
        ----------
        path
            Path of the file. An existing file is replaced, but only after the new file is complete.

        Raises
        ------
        StorageError
            If it cannot be stored, for example because its score is not part of rankset.
        FileError
            If the file cannot be written, for example because the disk is full.

        Examples
        --------
        >>> import tempfile, rankset as rs
        >>> probs, labels = rs.datasets.load("carer")
        >>> stream = rs.Stream(rs.calibrate(probs[:1000], labels[:1000], kind="logits"), alpha=0.1)
        >>> _ = stream.predict(probs[1000:1100])
        >>> with tempfile.NamedTemporaryFile(suffix=".rankset") as file:
        ...     stream.save(file.name)
        ...     rs.Stream.load(file.name).n_waiting
        100
        """
        from rankset.streams import stream_file

        with self._lock:
            header, arrays = stream_file.pack(self)  # type: ignore[arg-type]
        container.write(path, header, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what ``save`` wrote, and go on from there. No code from the file is executed.

        Parameters
        ----------
        path
            Path of the file.

        Returns
        -------
        Stream

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        StorageError
            If the file contains something else, is damaged, or was written by a later version of rankset.

        Examples
        --------
        >>> import tempfile, rankset as rs
        >>> probs, labels = rs.datasets.load("carer")
        >>> stream = rs.Stream(rs.calibrate(probs[:1000], labels[:1000], kind="logits"), alpha=0.1)
        >>> with tempfile.NamedTemporaryFile(suffix=".rankset") as file:
        ...     stream.save(file.name)
        ...     rs.Stream.load(file.name).alpha
        0.1
        """
        from rankset.streams import stream_file

        return stream_file.read(cls, path)  # type: ignore[return-value, arg-type]
