"""What a store needs of its database, where SQLite and PostgreSQL differ."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, Table, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from rankset.errors import StorageError
from rankset.serving.storage import tables

PATIENCE = 5.0
"""Seconds that a lock of another process, or a connection, is waited for."""


class Database(ABC):
    """A database with the tables of a store. Everything it raises is a ``StorageError``."""

    shared = False
    """Whether other processes may write, too, and sizes are slow to find."""
    failures: tuple[type[Exception], ...] = (SQLAlchemyError,)
    """What the database raises."""
    engine: Engine
    where: str
    """The store as errors name it, without a password."""

    @abstractmethod
    def insert(self, table: Table) -> Any:
        """Return an INSERT statement that can say what happens to rows that are there already."""

    def insert_rows(self, connection: Connection, rows: list[dict[str, Any]]) -> int:
        """Write predictions whose ids are new, and return how many."""
        statement = self.insert(tables.predictions).on_conflict_do_nothing(index_elements=["id"])
        return int(connection.execute(statement, rows).rowcount)

    @abstractmethod
    def size(self) -> int:
        """Return the bytes that the store takes now."""

    @abstractmethod
    def claim(self) -> None:
        """Keep other servers from this store until it is closed or the process ends; raise an error if one uses it."""

    def keep_claim(self) -> None:  # noqa: B027 - that of a file ends with the process alone
        """Look after the claim, which may end with a connection."""

    @abstractmethod
    def explain(self, error: Exception) -> StorageError:
        """Return what an error of the database means."""

    def check_place(self) -> None:  # noqa: B027 - only files have a place
        """Raise an error if what is written now would be lost."""

    def give_back(self) -> None:  # noqa: B027 - PostgreSQL does so by itself
        """Return the space of deleted rows to the disk."""

    def sizes(self) -> tuple[int, int]:
        """Return the bytes of the file and of its log."""
        return self.size(), 0

    def free(self) -> int:
        """Return the bytes of pages that new rows can use."""
        return 0

    def empty_log(self) -> bool:
        """Move what the log holds to its place, and return whether the log is empty."""
        return True

    def cut(self, wanted: float) -> None:  # noqa: B027
        """Return so many bytes of deleted rows to the disk, if there are so many."""

    def live_size(self) -> int:
        """Return the bytes that rows take which are not deleted."""
        return self.size()

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Inside, everything is written together or not at all; afterwards it is on the disk."""
        self.check_place()
        with self.translated():
            with self.engine.connect().execution_options(writes=True) as connection, connection.begin():
                yield connection
            self.check_place()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Inside, rows can be read."""
        with self.translated(), self.engine.connect() as connection:
            yield connection

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Inside, errors of the database become errors of the store."""
        try:
            yield
        except self.failures as error:
            raise self.explain(error) from getattr(error, "orig", None)

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    def make_tables(self) -> None:
        """Make the tables that are missing."""
        with self.writing() as connection:
            tables.metadata.create_all(connection)


def open_database(where: str | os.PathLike[str], max_bytes: int | None, *, read_only: bool) -> Database:
    """Return the database of a path or a URL."""
    text = os.fspath(where)
    if "://" not in text:
        from rankset.serving.storage.sqlite import SqliteDatabase

        return SqliteDatabase(text, max_bytes, read_only=read_only)
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):  # ValueError: of the port
        raise StorageError.store_of_another_kind("the URL of the store", "a URL that cannot be read") from None
    if url.get_backend_name() == "sqlite":
        from rankset.serving.storage.sqlite import SqliteDatabase

        return SqliteDatabase(url.database or "", max_bytes, read_only=read_only)
    from rankset.serving.storage.postgres import PostgresDatabase

    return PostgresDatabase(url, read_only=read_only)
