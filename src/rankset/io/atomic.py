"""Atomic writing: a file is complete or is not there. All files of rules, sets, reports and demos are written here.

Where the system refuses, because the disk is full or the folder is closed, ``FileError`` names the file.
"""

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
"""Seconds after its last change, after which a draft counts as left by a process that was killed."""

DESCRIPTORS = Path("/proc/self/fd")

_drafts: set[Path] = set()
"""Drafts of this process that have a name and are being written."""


@contextmanager
def open_output(path: Target, *, force: bool) -> Iterator[IO[bytes]]:
    """Open a file that is put at ``path`` when the block ends; if the block fails, nothing has changed.

    On Linux the file has no name until it is complete, so nothing is left even if the process is killed. Elsewhere it
    is a hidden ``.….draft`` beside ``path``; if a killed process leaves one, the next writer to ``path`` removes it
    after a day. The new file gets the permissions of the one it replaces. If ``path`` is a link, its target is
    replaced.

    Raises ``FileError`` if ``path`` exists and ``force`` is false, if it is a pipe or a device, or if the system
    refuses; a broken pipe stays one.
    """
    with refusals_as_errors(path), _open_draft(path, force=force) as file:
        yield file


@contextmanager
def refusals_as_errors(path: Target) -> Iterator[None]:
    """Turn what the system raises while ``path`` is written into a ``FileError``; a broken pipe stays one."""
    try:
        yield
    except BrokenPipeError:
        raise
    except shutil.Error as error:  # from copytree: a list of source, target and words
        raise FileError.unwritable(os.fspath(path), str(error.args[0][0][-1])) from None
    except OSError as error:
        raise FileError.unwritable(os.fspath(path), error.strerror or str(error)) from None


@contextmanager
def open_folder(path: Target) -> Iterator[Path]:
    """Give an empty folder, which is what stands at ``path`` when the block ends; if it fails, nothing has changed.

    ``path`` must be an empty folder or not exist, and folders above it are made. A new folder is written beside its
    place and then renamed. An empty folder stays where it is, because it may be a mounted disk: its files are written
    to a folder inside and then moved up.
    """
    check_folder(path)
    target = Path(os.path.realpath(path))
    made = [folder for folder in target.parents if not folder.exists()]
    with refusals_as_errors(path):
        target.parent.mkdir(parents=True, exist_ok=True)
        name = _free_name(target / target.name if target.exists() else target)
        try:
            name.mkdir()
            yield name
            _move_folder(name, target)
        except BaseException:
            _remove(name)
            for folder in made:
                with suppress(OSError):
                    folder.rmdir()
            raise
        finally:
            _drafts.discard(name)


def check_folder(path: Target) -> None:
    """Raise ``FileError`` if ``open_folder`` cannot write to ``path``, before any work is done."""
    target = Path(os.path.realpath(path))
    with refusals_as_errors(path):
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise FileError.folder_taken(os.fspath(path), "files in it" if target.is_dir() else "a file")


@contextmanager
def _open_draft(path: Target, *, force: bool) -> Iterator[IO[bytes]]:
    """Do the same as ``open_output``, but raise ``OSError`` where the system refuses."""
    _check_target(path, force=force)
    target = Path(os.path.realpath(path))
    name: Path | None = None
    try:
        file = _open_nameless(target.parent)
        if file is None:
            name = _free_name(target)
            file = name.open("xb")
        with file:
            if target.exists():  # before anything is written
                _set_mode(file, target.stat().st_mode)
            yield file
            file.flush()
            os.fsync(file.fileno())
            if name is None:
                name = _give_name(file, target)
        if name is not None:
            _move(name, target, path, force=force)
    finally:
        if name is not None:
            _drafts.discard(name)
            _remove(name)


def _check_target(path: Target, *, force: bool) -> None:
    """Raise an error if nothing can be put at ``path``, before any work is done."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if target.exists() and not target.is_file():
        raise FileError.unwritable(os.fspath(path), "it is not a regular file")
    if target.exists() and not force:
        raise FileError.exists(os.fspath(path))


def remove_drafts() -> None:
    """Remove the named drafts of this process, which is about to end without cleaning up."""
    for name in list(_drafts):
        _remove(name)


def _remove(draft: Path) -> None:
    """Remove a draft, a file or a folder, if it is there."""
    if draft.is_dir():
        shutil.rmtree(draft, ignore_errors=True)
    with suppress(OSError):
        draft.unlink()


def _open_nameless(folder: Path) -> IO[bytes] | None:
    """Open a file in ``folder`` that has no name; return None where there are no such files."""
    if not hasattr(os, "O_TMPFILE") or not DESCRIPTORS.is_dir():
        return None
    try:
        return os.fdopen(os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o666), "w+b")
    except OSError:  # if the folder is the reason, opening a named file fails too
        return None


def _free_name(target: Path) -> Path:
    """Return a new name for a draft beside ``target``, and remove old drafts of the same target."""
    start = f".{blake2b(os.fsencode(target.name), digest_size=8).hexdigest()}-"
    for old in target.parent.glob(f"{start}*.draft"):
        with suppress(OSError):
            if time.time() - old.stat().st_mtime > STALE:
                _remove(old)
    name = target.with_name(f"{start}{os.urandom(8).hex()}.draft")
    _drafts.add(name)
    return name


def _give_name(file: IO[bytes], target: Path) -> Path | None:
    """Give a nameless file the name of ``target`` and return None; if that is taken, return another name beside it."""
    with suppress(FileExistsError):
        try:
            _link(file, target)
        except FileExistsError:
            raise
        except OSError:  # a file system without links
            return _copy(file, _free_name(target))
        return None
    name = _free_name(target)
    _link(file, name)
    return name


def _copy(file: IO[bytes], name: Path) -> Path:
    """Copy an open file to ``name``, with its permissions."""
    with name.open("xb") as copy:
        _set_mode(copy, os.fstat(file.fileno()).st_mode)
        file.seek(0)
        shutil.copyfileobj(file, copy)
        copy.flush()
        os.fsync(copy.fileno())
    return name


def _set_mode(file: IO[bytes], mode: int) -> None:
    """Set the permissions of an open file; Windows cannot before Python 3.13."""
    if hasattr(os, "fchmod"):
        os.fchmod(file.fileno(), mode & 0o777)


def _link(file: IO[bytes], name: Path) -> None:
    """Give a nameless file a name."""
    # only with src_dir_fd does Python let the system follow the link in /proc that stands for the descriptor
    os.link(DESCRIPTORS / str(file.fileno()), name, src_dir_fd=file.fileno())


def _move(name: Path, target: Path, path: Target, *, force: bool) -> None:
    """Move a complete draft to ``target``; fail if the target appeared meanwhile, unless ``force``."""
    if force:
        name.replace(target)
        return
    try:
        target.hardlink_to(name)
    except FileExistsError:
        raise FileError.exists(os.fspath(path)) from None
    except OSError:  # a file system without links
        _check_target(path, force=force)
        name.replace(target)


def _move_folder(name: Path, target: Path) -> None:
    """Move a complete folder to ``target``, or what is in it if there is an empty folder already."""
    if name.parent != target:
        name.rename(target)
        return
    files = sorted(name.iterdir())
    try:
        for file in files:
            file.rename(target / file.name)
        name.rmdir()
    except OSError:
        for file in files:
            _remove(target / file.name)
        raise
