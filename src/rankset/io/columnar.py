"""Parquet and Arrow files as tables, read by a process that may die (``columnar_process``).

What such a file says of itself cannot be trusted: two changed bytes can abort the process that looks at it, and some
kilobytes can unpack to gigabytes within one batch. The process has a limit on its memory, and is kept for later files.
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

SCRIPT = Path(__file__).with_name("columnar_process.py")
SHARE = 4
"""The process gets the budget divided by this."""
LEAST = 64 << 20
"""Bytes the process may always take."""


class Ended(Exception):  # noqa: N818
    """The process is no more."""


@dataclass
class Reader:
    """The process, started when it is first needed, and again after it ended."""

    process: subprocess.Popen[bytes] | None = None
    owner: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def table(self, path: str, kind: str, budget: Budget) -> tuple[Any, int]:
        """The table of a file of this ``kind``, "parquet" or "arrow", and how many of its bytes take no memory."""
        request = {"path": str(Path(path).absolute()), "kind": kind, "memory": max(LEAST, budget.limit // SHARE)}
        with self.lock:
            try:
                mark, answer = self._asked(request, budget)
            except Ended:
                code = self.end()
                if code == 0:  # it had waited long enough, just when it was asked
                    mark, answer = self._asked(request, budget)
                else:
                    reason = f"reading it ended the process that reads it (exit code {code})"
                    raise FileError.unreadable(budget.path, reason) from None
            except BaseException:
                self.end()  # the rest of the answer is not wanted
                raise
        if mark == b"M":
            raise FileError.too_large(budget.path, budget.limit, None)
        if mark == b"E":
            raise FileError.unreadable(budget.path, answer)
        if mark == b"C":
            answer = _mapped(path)
        return answer, answer.nbytes if mark == b"C" else 0

    def _asked(self, request: dict[str, Any], budget: Budget) -> tuple[bytes, Any]:
        """The last mark of the answer to a request, and what came with it."""
        import pyarrow as pa
        from pyarrow import ipc

        process = self._started()
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
                needed += needed_for(parts[-1])
                budget.check(needed)
            if mark == b"E":
                size = int.from_bytes(process.stdout.read(4), "little")
                return mark, process.stdout.read(size).decode("utf-8", "replace")
        except (OSError, pa.ArrowException) as error:
            raise Ended from error
        if not mark:
            raise Ended
        return mark, pa.concat_tables(parts) if mark == b"D" else None

    def _started(self) -> subprocess.Popen[bytes]:
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
        """Lets go of the process, and ends it if it was started here and not before a fork; tells its exit code."""
        process, self.process = self.process, None
        if process is None:
            return None
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            with suppress(OSError):
                pipe.close()
        if self.owner != os.getpid():
            process.returncode = 0  # whoever started it waits for it
            return None
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.2)  # it may be about to end by itself, with a code that tells why
        process.kill()
        return process.wait()


READER = Reader()
atexit.register(READER.end)


def needed_for(table: Any) -> int:
    """Bytes of some rows, and of the matrix that is made of them."""
    size = int(table.nbytes)
    return size + max(size, 8 * table.num_rows * table.num_columns)


def _mapped(path: str) -> Any:
    """An Arrow file that was checked, and takes no memory of its own."""
    import pyarrow as pa
    from pyarrow import ipc

    return ipc.open_file(pa.memory_map(path)).read_all()
