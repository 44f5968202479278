"""How much memory reading one file may take: told by the user, else half of what is free."""

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
"""The environment variable that tells the budget where nothing else does."""
SHARE = 2
"""The default is what is free, divided by this."""
LEAST = 32 << 20
"""The default is never below this, so that small files can be read on a full machine."""
UNKNOWN = 4 << 30
"""What counts as free where the system does not tell."""
UNITS = {"": 1, "B": 1}
UNITS |= {unit: 1000**place for place, unit in enumerate(("KB", "MB", "GB", "TB"), 1)}
UNITS |= {unit: 1024**place for place, unit in enumerate(("KIB", "MIB", "GIB", "TIB"), 1)}
SIZE = re.compile(r"\s*([0-9]{1,15}(?:\.[0-9]{1,15})?)\s*([A-Za-z]*)\s*")

_told: ContextVar[int | None] = ContextVar("_told", default=None)


def parsed(text: str) -> int:
    """A size in bytes: a plain number, or one with a unit.

    >>> parsed("500MB"), parsed("1.5 GiB"), parsed("4096")
    (500000000, 1610612736, 4096)
    """
    found = SIZE.fullmatch(text)
    if found is None or found[2].upper() not in UNITS or float(found[1]) <= 0:
        raise KindError.argument("max memory", "a number of bytes above 0, as 500MB, 2GB, 1.5GiB or 2000000000", text)
    return max(1, int(float(found[1]) * UNITS[found[2].upper()]))


def tell(limit: int | None) -> None:
    """Sets the budget of this process; None: that of the environment, else the default."""
    _told.set(limit)


@contextmanager
def told(limit: int | None) -> Iterator[None]:
    """Inside, the budget is ``limit`` bytes, unless it is None."""
    before = _told.get()
    tell(before if limit is None else limit)
    try:
        yield
    finally:
        tell(before)


def limit() -> int:
    """Bytes that reading one file may take now."""
    known = _told.get()
    if known is not None:
        return known
    text = os.environ.get(VARIABLE, "")
    return parsed(text) if text.strip() else max(LEAST, free() // SHARE)


@dataclass(frozen=True)
class Budget:
    """The bytes that reading the file ``path`` may take; ``taken`` are those that count beside what is checked."""

    path: str
    limit: int
    taken: int = 0

    @classmethod
    def of(cls, path: str) -> Budget:
        """The budget that holds now."""
        return cls(path, limit())

    def beside(self, size: int) -> Budget:
        """The same, with ``size`` more bytes taken; fewer, if some of what is checked takes no memory."""
        return Budget(self.path, self.limit, self.taken + size)

    def check(self, needed: float) -> None:
        """Refuses the file if it takes more."""
        if self.taken + needed > self.limit:
            raise FileError.too_large(self.path, self.limit, self.taken + int(needed))


def free() -> int:
    """Bytes this process can still get: the least of free memory, what its control group leaves, and its own limit."""
    known = [size for size in (_available(), _left_by_group(), _left_by_limit()) if size is not None]
    return max(0, min(known, default=UNKNOWN))


def _available() -> int | None:
    with suppress(OSError, ValueError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    with suppress(AttributeError, OSError, ValueError):  # no /proc: half of what the machine has
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    return None


def _left_by_group() -> int | None:
    """What the control group (a container's limit) leaves; files in the page cache give way and do not count."""
    for folder, most, used, kept in (
        (_group(), "memory.max", "memory.current", ("inactive_file", "active_file")),
        (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes", "memory.usage_in_bytes", ("total_inactive_file",)),
    ):
        with suppress(OSError, ValueError):
            limit = int((folder / most).read_text(encoding="ascii"))  # "max" is no number: no limit
            stat = dict(line.split() for line in (folder / "memory.stat").read_text(encoding="ascii").splitlines())
            cached = sum(int(stat.get(name, 0)) for name in kept)
            return limit - int((folder / used).read_text(encoding="ascii")) + cached
    return None


def _group() -> Path:
    """The folder of this process's control group (version 2)."""
    root = Path("/sys/fs/cgroup")
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
            folder = root / line.removeprefix("0::").lstrip("/")
            if line.startswith("0::") and (folder / "memory.max").exists():
                return folder
    return root


def _left_by_limit() -> int | None:
    """What the process's limit on its address space (ulimit -v) leaves."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        return None if most == resource.RLIM_INFINITY else most - pages * resource.getpagesize()
    return None
