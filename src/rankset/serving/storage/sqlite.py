"""A store in one SQLite file, with a write-ahead log beside it."""

from __future__ import annotations

import math
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, create_engine, event
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import DatabaseError, SQLAlchemyError
from sqlalchemy.pool import QueuePool

from rankset.errors import FileError, RanksetError, StorageError, StoreFull
from rankset.io import container
from rankset.rules import rule_file
from rankset.serving.storage import tables
from rankset.serving.storage.database import PATIENCE, Database
from rankset.serving.storage.pieces import PAGE

READER = 0.2
"""Seconds that readers are waited for before the log is emptied."""
CHECKED = 256 << 20
"""Files up to this size are looked through for damage when they are opened."""
REFUSED = (sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE)
"""Codes of writes that the system refuses, other than by the usual "no space left"."""
CLOSED = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)
"""Codes of files that this user must not use."""
SETTINGS = (f"busy_timeout = {int(PATIENCE * 1000)}", "trusted_schema = OFF", "foreign_keys = ON")
"""Settings of every connection."""
ALONE = ("BEGIN EXCLUSIVE", "CREATE TABLE server (number)")
"""Locks a file for this process, which is seen to be writable. Nothing is committed, so it stays as it is."""
WAL = b"\x02\x02"
"""Bytes 18 and 19 of a file that has a log while somebody uses it."""
DEFINED = {"table", "index"}
"""What a file may define. A view or trigger would be executed."""


class SqliteDatabase(Database):
    """One file. A commit is on the disk when it returns, and survives the end of the process and of the machine."""

    failures = (SQLAlchemyError, sqlite3.Error)

    def __init__(self, path: str, max_bytes: int | None, *, read_only: bool) -> None:
        self.where, self.path, self._read_only = path, Path(path), read_only
        self._pages_of_log = 1000 if max_bytes is None else max(10, min(1000, max_bytes // PAGE // 20))
        self._known: dict[Path, tuple[int, int] | None] = {}
        self._claim: sqlite3.Connection | None = None
        self._check_path()
        self.engine = create_engine("sqlite://", creator=self._connect, poolclass=QueuePool, pool_size=2)
        event.listen(self.engine, "begin", _begin)
        try:
            with self.translated():
                self._open()
        except BaseException:
            self.close()
            raise
        if not read_only:
            self._known = {file: _identity(file) for file in self._files()}

    def _check_path(self) -> None:
        """Raise an error if there can be no file."""
        if self._read_only and not self.path.exists():
            raise StorageError.store_missing(self.where)
        if self.where == ":memory:":
            raise StorageError.store_of_another_kind(self.where, "a database in memory, which ends with the process")
        if self.path.exists() and not self.path.is_file():
            refuse = StorageError.store_unreadable if self._read_only else FileError.unwritable
            raise refuse(self.where, "it is not a regular file")
        if not self.path.absolute().parent.is_dir():
            raise FileError.no_folder(self.where)

    def _open(self) -> None:
        """Look at the file before anything is written to it, and make the tables if they are missing."""
        if self.path.exists():
            with closing(self._reader(at_rest=self._is_at_rest())) as connection:
                self._check_content(connection)
        if not self._read_only:
            self.make_tables()

    def _check_content(self, connection: sqlite3.Connection) -> None:
        """Raise an error if a file is not a store, or is damaged."""
        found = connection.execute("SELECT type, name, tbl_name FROM sqlite_master").fetchall()
        known = {table.name for table in tables.metadata.tables.values()} | {"sqlite_sequence"}
        strange = [name for kind, name, table in found if kind not in DEFINED or table not in known]
        strange += [name for name in ("application_id", "user_version") if _number_of(connection, name)]
        if strange:
            raise StorageError.store_of_another_program(self.where, strange[0])
        if self.path.stat().st_size <= CHECKED:
            (answer,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            if answer != "ok":
                raise StorageError.store_damaged(self.where, str(answer))

    def _connect(self) -> sqlite3.Connection:
        """Return a new connection, on which _begin writes BEGIN."""
        return self._reader() if self._read_only else self._writer()

    def _is_at_rest(self) -> bool:
        """Return whether a file has no log although users would make one."""
        with self.path.open("rb") as file:
            return file.read(20)[18:] == WAL and not self._files()[1].exists()

    def _reader(self, *, at_rest: bool = False) -> sqlite3.Connection:
        """Return a connection that changes nothing, and makes no log of a file ``at_rest``."""
        name = f"{self.path.resolve().as_uri()}?mode=ro"
        if at_rest or (not os.access(self.path.parent, os.W_OK) and not self._files()[1].exists()):
            name += "&immutable=1"  # nobody has it open, and SQLite cannot make the files of a log
        return _connected(name, SETTINGS)

    def _writer(self) -> sqlite3.Connection:
        """Return a connection that makes the file if it is missing."""
        settings = [] if self._size_of_file() else ["auto_vacuum = INCREMENTAL"]  # it would write to the file
        settings += ["journal_mode = WAL", "synchronous = FULL"]
        settings += [f"wal_autocheckpoint = {self._pages_of_log}", f"journal_size_limit = {self._pages_of_log * PAGE}"]
        return _connected(f"{self.path.resolve().as_uri()}?mode=rwc", [*SETTINGS, *settings])

    def claim(self) -> None:
        """Lock an empty file beside the store: the system unlocks it however the process ends.

        The file stays, because another process may wait for it when it is deleted, and a third one would make its own.
        """
        if self._claim is not None:
            return
        file = self.path.resolve()
        beside = file.with_name(f"{file.name}-server")
        with self.translated():
            try:
                self._claim = _connected(f"{beside.as_uri()}?mode=rwc", [*SETTINGS, "journal_mode = MEMORY"], ALONE)
            except sqlite3.Error as error:
                if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
                    raise StorageError.store_in_use(self.where) from None
                raise StorageError.store_not_claimed(self.where, beside.name, str(error)) from None
        self._known[beside] = _identity(beside)

    def close(self) -> None:
        """Close all connections, and let another server use the store."""
        super().close()
        if self._claim is not None:
            self._claim.close()
            self._claim = None

    def insert(self, table: Table) -> Any:
        """Return an INSERT statement."""
        return sqlite.insert(table)

    def _size_of_file(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def _files(self) -> list[Path]:
        """Return the file and its log."""
        return [self.path, self.path.with_name(f"{self.path.name}-wal")]

    def check_place(self) -> None:
        """Raise an error if a file was moved, replaced or deleted: SQLite would go on to write to the old one."""
        for file, known in self._known.items():
            if _identity(file) != known:
                raise StorageError.store_gone(self.where, file.name)

    def size(self) -> int:
        """Return the bytes of the file and its log."""
        return sum(self.sizes())

    def sizes(self) -> tuple[int, int]:
        """Return the bytes of the file and of its log."""
        file, logged = (_bytes_of(one) for one in self._files())
        return file, logged

    def live_size(self) -> int:
        """Return the bytes of pages that are in use."""
        with self.reading() as connection:
            return (_number(connection, "page_count") - _number(connection, "freelist_count")) * PAGE

    def free(self) -> int:
        """Return the bytes of pages that new rows can use."""
        with self.reading() as connection:
            return _number(connection, "freelist_count") * PAGE

    def empty_log(self) -> bool:
        """Move what the log holds to the file, and return whether the log is empty: a reader may need it."""
        if not self.sizes()[1]:
            return True
        with self.reading() as connection:
            cursor = connection.connection.cursor()
            cursor.execute(f"PRAGMA busy_timeout = {int(READER * 1000)}")
            try:
                return not cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            finally:
                cursor.execute(f"PRAGMA busy_timeout = {int(PATIENCE * 1000)}")

    def cut(self, wanted: float) -> None:
        """Cut free pages off the file, in parts, so that the log stays small."""
        wanted = min(wanted, self.free())
        while wanted > 0:
            with self.reading() as connection:
                cursor = connection.connection.cursor()
                cursor.executescript(f"PRAGMA incremental_vacuum({self._pages_of_log // 2})")  # execute frees one page
            wanted -= self._pages_of_log // 2 * PAGE
            if not self.empty_log():
                return

    def give_back(self) -> None:
        """Empty the log, and cut all free pages off the file."""
        self.empty_log()
        self.cut(math.inf)

    def explain(self, error: Exception) -> StorageError:
        """Return what an error of SQLite means."""
        cause = error.orig if isinstance(error, DatabaseError) else error
        code = getattr(cause, "sqlite_errorcode", None)
        kind = None if code is None else code & 0xFF
        if kind == sqlite3.SQLITE_FULL:
            return StoreFull.of(self.where, str(cause))
        if code in REFUSED:
            return StoreFull.of(self.where, f"{cause}: the disk, a quota or the size of a file is at its limit")
        if kind in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return StorageError.store_locked(self.where, PATIENCE)
        if kind in CLOSED:
            refuse = StorageError.store_unreadable if self._read_only else StorageError.store_read_only
            return refuse(self.where, str(cause))
        if kind in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or str(cause).startswith("no such table"):
            return self._damaged(str(cause))
        return StorageError.store_failed(self.where, str(cause))

    def _damaged(self, reason: str) -> StorageError:
        """Return the error for a file that is no database, or a damaged one."""
        content = _content_of(self.path)
        if content is not None:
            return StorageError.store_is_file(self.where, content)
        return StorageError.store_damaged(self.where, reason)


def _connected(name: str, settings: Sequence[str], then: Sequence[str] = ()) -> sqlite3.Connection:
    """Return a new connection with these settings, on which these statements were executed."""
    connection = sqlite3.connect(name, uri=True, check_same_thread=False, isolation_level=None)
    try:
        for setting in settings:
            connection.execute(f"PRAGMA {setting}")
        for statement in then:
            connection.execute(statement)
    except BaseException:
        connection.close()
        raise
    return connection


def _begin(connection: Connection) -> None:
    """Begin a transaction: those that write take the lock at once, so that none fails in the middle."""
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _content_of(file: Path) -> str | None:
    """Return what a file of rankset contains, such as a Rule; None if it is another file."""
    with suppress(RanksetError, OSError):
        found = rule_file.CONTENTS.get(str(container.read(file)[0].get("what")))
        return None if found is None else found[0]
    return None


def _number(connection: Connection, name: str) -> int:
    """Return a number that SQLite keeps of the file."""
    return int(connection.exec_driver_sql(f"PRAGMA {name}").scalar_one())


def _number_of(connection: sqlite3.Connection, name: str) -> int:
    """Do the same for a connection without SQLAlchemy."""
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def _bytes_of(file: Path) -> int:
    """Return the bytes of a file; none if it is missing."""
    try:
        return file.stat().st_size
    except OSError:
        return 0


def _identity(file: Path) -> tuple[int, int] | None:
    """Return which file has this name; None if none has."""
    try:
        found = os.stat(file)  # noqa: PTH116
    except OSError:
        return None
    return found.st_dev, found.st_ino
