"""A store in a PostgreSQL database, by its URL."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from threading import Lock
from typing import Any

from sqlalchemy import URL, Connection, Table, create_engine, event, func, select, text
from sqlalchemy.dialects import postgresql
from sqlalchemy.exc import DBAPIError, NoSuchModuleError

from rankset.errors import StorageError, StoreFull, needs_extra
from rankset.serving.storage import tables
from rankset.serving.storage.database import PATIENCE, Database

BACKENDS = ("postgresql", "postgres")
DRIVER = "postgresql+psycopg"
OVERHEAD = 250
"""Bytes of a row beside its outputs and its set: other columns, headers, and its places in three indexes."""
LOCK = 0x72616E6B736574
"""Number of the lock under which tables are made: "rankset" in ASCII."""
SERVER = 0x72616E6B
"""First number of the lock of a server, "rank" in ASCII; the second one is that of the table."""
AGAIN = 0.05
"""Seconds until the next try to lock."""
SOON = 0.5
"""Seconds in which PostgreSQL gives back the lock of a connection that was closed."""
SEVERAL = "Multiple connection attempts failed"
"""Words above the list of what happened at every address of a host."""
SECRET = re.compile(r"^(ssl)?password$|secret|token", re.IGNORECASE)
"""Parameters in a URL whose values are not shown; "passfile" names a file."""
ALIVE = {"keepalives": 1, "keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3}
"""How soon a connection over TCP ends that gives no sign of life."""
SIGNS = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
"""How soon PostgreSQL notices that a machine is gone, and gives back its locks."""
HOLDS = text(
    "SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory' AND granted "
    "AND pid = :process AND backend_start = :start AND classid = :server "
    "AND objid::int4 = '{table}'::regclass::oid::int4 AND objsubid = 2".replace("{table}", tables.about.name)
).bindparams(server=SERVER)
"""Whether a process of PostgreSQL holds the lock of a server: its number alone may be used again after a restart."""
PROCESS = text("SELECT pid AS process, backend_start AS start FROM pg_stat_activity WHERE pid = pg_backend_pid()")
SAMPLE = 1000
"""Last rows whose outputs and sets are measured."""


def one_line(said: str) -> str:
    """Return what psycopg says in one line, without the questions that it asks."""
    lines = (" ".join(line.split()).removeprefix("- ").rstrip(".:") for line in said.splitlines())
    told = [line for line in lines if line.strip("^") and not line.endswith("?") and SEVERAL not in line]
    return "; ".join(told) or "no reason was given"


def _said(error: Any) -> str:
    """Return what PostgreSQL says without its details, which may have values of rows in them."""
    return getattr(getattr(error, "diag", None), "message_primary", None) or str(error)


def shown(url: URL) -> str:
    """Return a URL without passwords, wherever they stand in it."""
    query = {name: "***" if SECRET.search(name) else value for name, value in url.query.items()}
    return url.set(query=query).render_as_string(hide_password=True)


class PostgresDatabase(Database):
    """Three tables. A commit is on the disk of the server when it returns."""

    shared = True

    def __init__(self, url: URL, *, read_only: bool) -> None:
        if url.get_backend_name() not in BACKENDS:
            raise StorageError.store_of_another_kind(shown(url), f"a database of {url.get_backend_name()}")
        self.where = shown(url)
        milliseconds = int(PATIENCE * 1000)
        settings = {"synchronous_commit": "on", "lock_timeout": milliseconds, "statement_timeout": 6 * milliseconds}
        settings |= {f"tcp_{name}": value for name, value in SIGNS.items()}
        given = url.query.get("options", ())
        own = [f"-c {name}={value}" for name, value in settings.items()]
        options = " ".join([*([given] if isinstance(given, str) else given), *own])
        with needs_extra("a store in PostgreSQL", "postgres"):
            try:
                self.engine = create_engine(
                    url.set(drivername=DRIVER),
                    pool_pre_ping=True,
                    pool_size=3,
                    connect_args={
                        "options": options,
                        "connect_timeout": int(PATIENCE),
                        "client_encoding": "UTF8",
                        "tcp_user_timeout": 2 * milliseconds,
                        **ALIVE,
                    },
                )
            except NoSuchModuleError as error:
                raise StorageError.store_unreachable(self.where, str(error)) from None
        self._claim: Connection | None = None
        self._process: Mapping[Any, Any] = {}
        self._wanted, self._claiming = False, Lock()
        event.listen(self.engine, "connect", self._check_encoding, insert=True)  # before SQLAlchemy asks anything
        try:
            if not read_only:
                self.make_tables()
            with self.reading() as connection:
                connection.execute(select(tables.about.c.name).limit(1))
        except BaseException:
            self.close()
            raise

    def _check_encoding(self, connection: Any, _record: object) -> None:
        """Raise an error if the database cannot hold every id."""
        encoding = connection.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            connection.close()
            raise StorageError.store_encoding(self.where, str(encoding))

    def make_tables(self) -> None:
        """Make the tables that are missing; of several servers that start together, one makes them."""
        with self.writing() as connection:
            connection.execute(select(func.pg_advisory_xact_lock(LOCK)))
            tables.metadata.create_all(connection)

    def claim(self) -> None:
        """Hold a lock in a connection of its own: PostgreSQL gives it back however the process ends."""
        if not self._wanted:
            self._take_claim(PATIENCE)
            self._wanted = True

    def keep_claim(self) -> None:
        """Claim the store again if PostgreSQL was restarted, also if nothing is written."""
        if self._wanted:
            with self.reading() as connection:
                self._check_claim(connection)

    def _check_claim(self, connection: Connection) -> None:
        """Claim the store again if the connection that holds the claim has ended; raise an error if another server has.

        Every transaction looks, because a restart of PostgreSQL ends the claim without a sign. If there is a restart
        after the look, the transaction ends with it.
        """
        with self._claiming:
            if self._claim is not None and connection.execute(HOLDS, dict(self._process)).first() is not None:
                return
            self._drop_claim()
            self._take_claim(SOON)

    def _drop_claim(self) -> None:
        if self._claim is not None:
            with suppress(*self.failures):
                self._claim.invalidate()
            self._claim = None

    def _take_claim(self, seconds: float) -> None:
        """Get the lock within some seconds; raise an error if another server has it."""
        with self.translated(), ExitStack() as stack:
            connection = self.engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            stack.callback(connection.close)
            if not _locked(connection, seconds):
                raise StorageError.store_in_use(self.where)
            self._process = connection.execute(PROCESS).mappings().one()
            self._claim = connection
            stack.pop_all()

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Inside, everything is written together or not at all, unless another server has claimed the store."""
        with super().writing() as connection:
            if self._wanted:
                self._check_claim(connection)
            yield connection

    def close(self) -> None:
        """Close all connections, and let another server use the store."""
        self._wanted = False
        self._drop_claim()
        super().close()

    def insert(self, table: Table) -> Any:
        """Return an INSERT statement."""
        return postgresql.insert(table)

    def insert_rows(self, connection: Connection, rows: list[dict[str, Any]]) -> int:
        """Write predictions whose ids are new, and return how many, which psycopg does not tell otherwise."""
        statement = self.insert(tables.predictions).on_conflict_do_nothing(index_elements=["id"])
        return len(connection.execute(statement.returning(tables.predictions.c.number), rows).all())

    def size(self) -> int:
        """Return the bytes of the tables and their indexes."""
        with self.reading() as connection:
            sizes = [func.pg_total_relation_size(table.name) for table in tables.metadata.sorted_tables]
            return sum(connection.execute(select(*sizes)).one())

    def live_size(self) -> int:
        """Return the rows times the bytes of the last ones: PostgreSQL keeps the space of deleted rows for new ones."""
        rows = tables.predictions
        last = select(rows.c.outputs, rows.c.codes).order_by(rows.c.number.desc()).limit(SAMPLE).subquery()
        length = func.octet_length(last.c.outputs) + func.octet_length(last.c.codes)
        with self.reading() as connection:
            mean = connection.execute(select(func.avg(length))).scalar()
            count = connection.execute(select(func.count()).select_from(rows)).scalar_one()
        return int(count * (float(mean or 0) + OVERHEAD))

    def explain(self, error: Exception) -> StorageError:
        """Return what an error of PostgreSQL means."""
        cause = error.orig if isinstance(error, DBAPIError) else error
        state, reason = getattr(cause, "sqlstate", None) or "", one_line(_said(cause))
        if state == "53100":
            return StoreFull.of(self.where, reason)
        if state in {"55P03", "57014", "40P01"}:
            return StorageError.store_locked(self.where, PATIENCE)
        if state in {"25006", "42501"}:
            return StorageError.store_read_only(self.where, reason)
        if state[:2] in {"", "08", "28", "3D", "53", "57"}:
            return StorageError.store_unreachable(self.where, reason)
        if state[:2] in {"42", "XX"}:
            return StorageError.store_damaged(self.where, reason)
        return StorageError.store_failed(self.where, reason)


def _locked(connection: Connection, seconds: float) -> bool:
    """Return whether a connection gets the lock of a server within some seconds."""
    lock = select(func.pg_try_advisory_lock(SERVER, text(f"'{tables.about.name}'::regclass::oid::int4")))
    end = time.monotonic() + seconds
    while not connection.execute(lock).scalar():
        if time.monotonic() >= end:
            return False
        time.sleep(AGAIN)
    return True
