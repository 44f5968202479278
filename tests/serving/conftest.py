"""Stores in SQLite files and, where the environment names a server, in PostgreSQL."""

import os

import pytest

pytest.importorskip("sqlalchemy")

from rankset.serving import Store
from rankset.serving.tables import metadata
from served import RULE

POSTGRES = os.environ.get("RANKSET_TEST_POSTGRES")
"""The URL of a database whose tables tests may delete; ``run.py serve-test`` sets it."""


def empty_postgres():
    """The URL of the database, after its tables were deleted."""
    from sqlalchemy import create_engine

    if POSTGRES is None:
        pytest.skip("RANKSET_TEST_POSTGRES names no database")
    engine = create_engine(POSTGRES)
    metadata.drop_all(engine)
    engine.dispose()
    return POSTGRES


@pytest.fixture
def file(tmp_path):
    return str(tmp_path / "served.db")


@pytest.fixture
def postgres():
    return empty_postgres()


@pytest.fixture(params=["sqlite", "postgres"])
def where(request, tmp_path):
    return empty_postgres() if request.param == "postgres" else str(tmp_path / "served.db")


@pytest.fixture
def opened():
    """Opens stores, and closes them in the end."""
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
