"""One clear error for every file that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rankset.errors import FileError, PackageError


@contextmanager
def unreadable_as_error(path: str) -> Iterator[None]:
    """Turn everything that libraries raise inside about a damaged or mislabelled file into one ``FileError``."""
    try:
        yield
    except (FileError, PackageError):
        raise
    except MemoryError:
        raise FileError.unreadable(path, "it does not fit into memory") from None
    except Exception as error:  # noqa: BLE001 - a damaged file can make anything go wrong
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise FileError.unreadable(path, reason) from None
