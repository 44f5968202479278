"""Stores in SQLite files and, where the environment names a server, in PostgreSQL."""

import contextlib
import os

import pytest

from served import RULE

POSTGRES = os.environ.get("RANKSET_TEST_POSTGRES")
"""The URL of a database whose tables tests may delete; ``run.py serve-test`` sets it."""


@pytest.fixture(scope="session")
def engine():
    """Connections of the tests themselves, which see every change at once."""
    if POSTGRES is None:
        pytest.skip("RANKSET_TEST_POSTGRES names no database")
    from sqlalchemy import create_engine

    from rankset.serving.storage.tables import metadata

    engine = create_engine(POSTGRES, isolation_level="AUTOCOMMIT")
    metadata.drop_all(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def file(tmp_path):
    return str(tmp_path / "served.db")


@pytest.fixture
def postgres(engine):
    """The URL of a database whose tables are empty or missing."""
    from sqlalchemy.exc import ProgrammingError

    from rankset.serving.storage.tables import metadata

    names = ", ".join(metadata.tables)
    with engine.connect() as connection, contextlib.suppress(ProgrammingError):
        connection.exec_driver_sql(f"TRUNCATE {names} RESTART IDENTITY")
    return POSTGRES


@pytest.fixture
def no_tables(engine):
    """The URL of a database without tables, before and after the test."""
    from rankset.serving.storage.tables import metadata

    metadata.drop_all(engine)
    yield POSTGRES
    metadata.drop_all(engine)


@pytest.fixture(params=["sqlite", "postgres"])
def where(request):
    return request.getfixturevalue("file" if request.param == "sqlite" else request.param)


@pytest.fixture
def opened():
    """Opens stores, and closes them in the end."""
    from rankset.serving import Store

    stores = []

    def open_store(place, rule=RULE, **options):
        stores.append(Store.open(place, rule=rule, **options))
        return stores[-1]

    yield open_store
    for store in stores:
        store.close()


@pytest.fixture
def store(where, opened):
    return opened(where)
