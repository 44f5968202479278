"""Read parquet (``.parquet``), Arrow (``.arrow``) and Feather (``.feather``) files.

A separate process reads them (``columnar_process``), because what such a file says of itself cannot be trusted: two
changed bytes can abort the process that reads it, and a few kilobytes can decompress to gigabytes within one batch.
The process has a limit on its memory. It is kept for later files.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rankset.errors import FileError
from rankset.io.memory_budget import Budget
from rankset.io.readers.table import Table, TableReader
from rankset.io.source import Source

SCRIPT = Path(__file__).with_name("columnar_process.py")
SHARE = 4
"""The process may take the budget divided by this."""
MIN_MEMORY = 64 << 20
"""Bytes that the process may always take."""


def reader(kind: str) -> TableReader:
    """Return the reader of files of one ``kind``, "parquet" or "arrow"."""

    def read(source: Source) -> Table:
        with source.on_disk() as file:
            table, mapped = READER.read_table(str(file), kind, source.budget)
            return Table(table, mapped_bytes=mapped)

    return read


class ProcessEndedError(Exception):
    """The process ended before it had answered."""


@dataclass
class ReaderProcess:
    """The process, started at first use, and again after it ended."""

    process: subprocess.Popen[bytes] | None = None
    owner: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def read_table(self, path: str, kind: str, budget: Budget) -> tuple[Any, int]:
        """Return the Arrow table of a file, and how many of its bytes are mapped and take no memory."""
        memory = max(MIN_MEMORY, budget.limit // SHARE)
        request = {"path": str(Path(path).absolute()), "kind": kind, "memory": memory}
        with self.lock:
            try:
                mark, answer = self._ask(request, budget)
            except ProcessEndedError:
                code = self.end()
                if code == 0:  # its waiting time was over just when the request was sent
                    mark, answer = self._ask(request, budget)
                else:
                    reason = f"the process that reads it crashed (exit code {code})"
                    raise FileError.unreadable(budget.path, reason) from None
            except BaseException:
                self.end()  # the rest of the answer would be taken for the next one
                raise
        if mark == b"M":
            raise FileError.too_large(budget.path, budget.limit, None)
        if mark == b"E":
            raise FileError.unreadable(budget.path, answer)
        if mark == b"C":
            answer = _map_file(path)
        return answer, answer.nbytes if mark == b"C" else 0

    def _ask(self, request: dict[str, Any], budget: Budget) -> tuple[bytes, Any]:
        """Send a request; return the last mark of the answer, and the table or the error text."""
        import pyarrow as pa
        from pyarrow import ipc

        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        parts: list[Any] = []
        needed = 0
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            while (mark := process.stdout.read(1)) == b"T":
                with ipc.open_stream(process.stdout) as stream:
                    parts.append(stream.read_all())
                needed += _needed_bytes(parts[-1])
                budget.check(needed)
            if mark == b"E":
                size = int.from_bytes(process.stdout.read(4), "little")
                return mark, process.stdout.read(size).decode("utf-8", "replace")
        except (OSError, pa.ArrowException) as error:
            raise ProcessEndedError from error
        if not mark:
            raise ProcessEndedError
        return mark, pa.concat_tables(parts) if mark == b"D" else None

    def _running(self) -> subprocess.Popen[bytes]:
        """Return the process; start it if it does not run, or belongs to the process this one was forked from."""
        if self.process is None or self.owner != os.getpid() or self.process.poll() is not None:
            self.end()
            self.owner = os.getpid()
            path = os.pathsep.join(folder for folder in sys.path if folder)
            self.process = subprocess.Popen(  # noqa: S603 - our own script
                [sys.executable, "-P", str(SCRIPT)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": path, "ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "1"},
            )
        return self.process

    def end(self) -> int | None:
        """End the process and return its exit code; one that was started before a fork is only forgotten."""
        process, self.process = self.process, None
        if process is None:
            return None
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            with suppress(OSError):
                pipe.close()
        if self.owner != os.getpid():
            process.returncode = 0  # the process that started it waits for it
            return None
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.2)  # it may be ending by itself, with an exit code that says why
        process.kill()
        return process.wait()


READER = ReaderProcess()
atexit.register(READER.end)


def _needed_bytes(table: Any) -> int:
    """Bytes of some rows and of the matrix that is made of them."""
    size = int(table.nbytes)
    return size + max(size, 8 * table.num_rows * table.num_columns)


def _map_file(path: str) -> Any:
    """Arrow table of a file that the process has checked; it stays in the file and takes no memory."""
    import pyarrow as pa
    from pyarrow import ipc

    return ipc.open_file(pa.memory_map(path)).read_all()
