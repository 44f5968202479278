"""Memory that reading one file may take: the limit the user set, else half of the free memory."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from rankset.errors import FileError, KindError

VARIABLE = "RANKSET_MAX_MEMORY"
"""Environment variable with the limit; used where the process has set none."""
SHARE = 2
"""The default limit is the free memory divided by this."""
LEAST = 32 << 20
"""Smallest default limit in bytes, so that small files can be read on a full machine."""
UNKNOWN = 4 << 30
"""Free memory in bytes that is assumed where the system does not report it."""
UNITS = {"": 1, "B": 1}
UNITS |= {unit: 1000**place for place, unit in enumerate(("KB", "MB", "GB", "TB"), 1)}
UNITS |= {unit: 1024**place for place, unit in enumerate(("KIB", "MIB", "GIB", "TIB"), 1)}
SIZE = re.compile(r"\s*([0-9]{1,15}(?:\.[0-9]{1,15})?)\s*([A-Za-z]*)\s*")

_set_limit: ContextVar[int | None] = ContextVar("_set_limit", default=None)


def parse_size(text: str, what: str = "max memory") -> int:
    """Return the number of bytes that ``text`` says, with or without a unit; ``what`` names it in errors.

    >>> parse_size("500MB"), parse_size("1.5 GiB"), parse_size("4096")
    (500000000, 1610612736, 4096)
    """
    found = SIZE.fullmatch(text)
    if found is None or found[2].upper() not in UNITS or float(found[1]) <= 0:
        raise KindError.argument(what, "a positive number of bytes, such as 500MB, 2GB, 1.5GiB or 2000000000", text)
    return max(1, int(float(found[1]) * UNITS[found[2].upper()]))


def set_limit(limit: int | None) -> None:
    """Set the limit of this process in bytes; with None the environment variable or the default holds."""
    _set_limit.set(limit)


@contextmanager
def use_limit(limit: int | None) -> Iterator[None]:
    """Set the limit to ``limit`` bytes inside the block; None keeps the present limit."""
    before = _set_limit.get()
    set_limit(before if limit is None else limit)
    try:
        yield
    finally:
        set_limit(before)


def limit() -> int:
    """Return the bytes that reading one file may take now."""
    known = _set_limit.get()
    if known is not None:
        return known
    text = os.environ.get(VARIABLE, "")
    return parse_size(text) if text.strip() else max(LEAST, free() // SHARE)


@dataclass(frozen=True)
class Budget:
    """Bytes that reading the file ``path`` may take; ``taken`` bytes are in use besides those passed to ``check``."""

    path: str
    limit: int
    taken: int = 0

    @classmethod
    def of(cls, path: str) -> Budget:
        """Return the budget of a file under the present limit."""
        return cls(path, limit())

    def with_taken(self, size: int) -> Budget:
        """Return the same budget with ``size`` more bytes in use; negative if some checked bytes take no memory."""
        return Budget(self.path, self.limit, self.taken + size)

    def check(self, needed: float) -> None:
        """Raise ``FileError`` if ``needed`` bytes more than those in use exceed the limit."""
        if self.taken + needed > self.limit:
            raise FileError.too_large(self.path, self.limit, self.taken + int(needed))


def free() -> int:
    """Return the bytes this process can still get: the least of free memory, control group and process limit."""
    known = [size for size in (_free_on_machine(), _free_in_cgroup(), _free_in_process()) if size is not None]
    return max(0, min(known, default=UNKNOWN))


def _free_on_machine() -> int | None:
    """Memory that the machine has available; half of its memory where there is no ``/proc``."""
    with suppress(OSError, ValueError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    with suppress(AttributeError, OSError, ValueError):  # no /proc
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    return None


def _free_in_cgroup() -> int | None:
    """Memory left by the control group (the limit of a container); the page cache counts as free."""
    for folder, most, used, kept in (
        (_cgroup_folder(), "memory.max", "memory.current", ("inactive_file", "active_file")),
        (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes", "memory.usage_in_bytes", ("total_inactive_file",)),
    ):
        with suppress(OSError, ValueError):
            limit = int((folder / most).read_text(encoding="ascii"))  # "max" means no limit, and is no number
            stat = dict(line.split() for line in (folder / "memory.stat").read_text(encoding="ascii").splitlines())
            cached = sum(int(stat.get(name, 0)) for name in kept)
            return limit - int((folder / used).read_text(encoding="ascii")) + cached
    return None


def _cgroup_folder() -> Path:
    """Folder of this process's control group (version 2)."""
    root = Path("/sys/fs/cgroup")
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
            folder = root / line.removeprefix("0::").lstrip("/")
            if line.startswith("0::") and (folder / "memory.max").exists():
                return folder
    return root


def _free_in_process() -> int | None:
    """Memory left by the limit on the address space of this process (``ulimit -v``)."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        return None if most == resource.RLIM_INFINITY else most - pages * resource.getpagesize()
    return None
