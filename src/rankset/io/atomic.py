"""Files that are written whole or not at all: the one writer of rules, sets, reports and demo files."""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import IO

from rankset.errors import FileError

Target = str | os.PathLike[str]

STALE = 24 * 3600.0
"""Seconds after which a draft that nobody writes to is taken for that of a process that was killed."""

DESCRIPTORS = Path("/proc/self/fd")

_drafts: set[Path] = set()
"""The named drafts of this process that are being written."""


@contextmanager
def draft(path: Target, *, force: bool) -> Iterator[IO[bytes]]:
    """An open file whose bytes stand at ``path`` once the block ends; if the block fails, nothing has changed.

    On Linux the file has no name until it is complete, so nothing is left even if the process is killed. Elsewhere it
    is a hidden ``.….draft`` beside ``path``; one that a killed process left is removed by the next writer to ``path``
    after a day. A file that is replaced hands its permissions on; a link stays, and what it points to is replaced.

    Raises ``FileError`` if ``path`` exists and ``force`` is false, or if it is a pipe or a device, ``OSError`` if the
    system refuses.
    """
    check(path, force=force)
    target = Path(os.path.realpath(path))
    name: Path | None = None
    try:
        with _said_of(path):
            file = _nameless(target.parent)
            if file is None:
                name = _free_name(target)
                file = name.open("xb")
        with file:
            if target.exists() and hasattr(os, "fchmod"):  # before a byte is in it; Windows has it since 3.13
                os.fchmod(file.fileno(), target.stat().st_mode & 0o777)
            yield file
            file.flush()
            os.fsync(file.fileno())
            if name is None:
                name = _named(file, target)
        if name is not None:
            _put(name, target, path, force=force)
    finally:
        if name is not None:
            _drafts.discard(name)
            with suppress(OSError):
                name.unlink()


def check(path: Target, *, force: bool) -> None:
    """Refuses what ``draft`` would refuse, before any work is done."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if target.exists() and not target.is_file():
        raise FileError.unwritable(os.fspath(path), "it is no regular file")
    if target.exists() and not force:
        raise FileError.exists(os.fspath(path))


def abandon() -> None:
    """Removes the named drafts of this process, which is about to end without cleaning up."""
    for name in list(_drafts):
        with suppress(OSError):
            name.unlink()


@contextmanager
def _said_of(path: Target) -> Iterator[None]:
    """Inside, errors of the system name the file the user knows."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from None


def _nameless(folder: Path) -> IO[bytes] | None:
    """An open file in ``folder`` that has no name; None where the system or the file system has no such files."""
    if not hasattr(os, "O_TMPFILE") or not DESCRIPTORS.is_dir():
        return None
    try:
        return os.fdopen(os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o666), "w+b")
    except OSError:  # if the folder is to blame, opening a named file tells so
        return None


def _free_name(target: Path) -> Path:
    """A new name for a draft beside ``target``; drafts of the same target that are old are removed."""
    start = f".{blake2b(os.fsencode(target.name), digest_size=8).hexdigest()}-"
    for old in target.parent.glob(f"{start}*.draft"):
        with suppress(OSError):
            if time.time() - old.stat().st_mtime > STALE:
                old.unlink()
    name = target.with_name(f"{start}{os.urandom(8).hex()}.draft")
    _drafts.add(name)
    return name


def _named(file: IO[bytes], target: Path) -> Path | None:
    """Gives a nameless file the name of ``target`` (None), or where that is taken a name beside it."""
    with suppress(FileExistsError):
        try:
            _link(file, target)
        except FileExistsError:
            raise
        except OSError:  # no links here: what is written is copied
            return _copied(file, _free_name(target))
        return None
    name = _free_name(target)
    _link(file, name)
    return name


def _copied(file: IO[bytes], name: Path) -> Path:
    with name.open("xb") as copy:
        os.fchmod(copy.fileno(), os.fstat(file.fileno()).st_mode & 0o777)
        file.seek(0)
        shutil.copyfileobj(file, copy)
        copy.flush()
        os.fsync(copy.fileno())
    return name


def _link(file: IO[bytes], name: Path) -> None:
    # with a folder given, Python lets the system follow the link that stands for the descriptor
    os.link(DESCRIPTORS / str(file.fileno()), name, src_dir_fd=file.fileno())


def _put(name: Path, target: Path, path: Target, *, force: bool) -> None:
    """Moves a finished draft to its place, without replacing anything that was not to be replaced."""
    if force:
        name.replace(target)
        return
    try:
        target.hardlink_to(name)
    except FileExistsError:
        raise FileError.exists(os.fspath(path)) from None
    except OSError:  # a file system without links
        check(path, force=force)
        name.replace(target)
