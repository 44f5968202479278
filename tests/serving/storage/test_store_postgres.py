"""PostgreSQL that hangs, has another encoding or lost its tables, and addresses with passwords or mistakes."""

import contextlib
import os
import signal
import threading
import time

import pytest

pytest.importorskip("sqlalchemy")

from sqlalchemy import make_url

from rankset.errors import StorageError
from rankset.serving import Store
from rankset.serving.storage import writer as writing
from refusals import refused
from served import RULE, filled, label, prediction


@pytest.fixture
def database(engine):
    """Makes databases beside that of the tests, and returns their URLs."""
    names = []

    def make(encoding):
        names.append(f"rankset_{encoding.lower()}")
        with engine.connect() as connection:
            connection.exec_driver_sql(f"DROP DATABASE IF EXISTS {names[-1]}")
            connection.exec_driver_sql(f"CREATE DATABASE {names[-1]} ENCODING '{encoding}' TEMPLATE template0")
        return engine.url.set(database=names[-1]).render_as_string(hide_password=False)

    yield make
    with engine.connect() as connection:
        for name in names:
            connection.exec_driver_sql(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
@pytest.mark.parametrize("read_only", [False, True])
def test_a_database_of_another_encoding_is_refused(database, encoding, read_only):
    where = database(encoding)
    with refused(StorageError, expected="be a database with the encoding UTF8", received=encoding):
        Store.open(where, rule=RULE, read_only=read_only)
    import psycopg

    with psycopg.connect(where.replace("+psycopg", ""), client_encoding="UTF8") as other:
        assert other.execute("SELECT 1 FROM pg_tables WHERE tablename LIKE 'rankset%'").fetchall() == []


@pytest.mark.parametrize("name", ["password", "sslpassword", "PASSWORD"])
def test_passwords_in_the_query_of_a_url_are_not_shown(name):
    with pytest.raises(StorageError) as caught:
        Store.open(f"postgresql://127.0.0.1:1/none?user=someone&passfile=/kept&{name}=hidden1", rule=RULE)
    text = str(caught.value) + str(caught.value.where)
    assert "hidden1" not in text
    assert "someone" in text
    assert "kept" in text
    with pytest.raises(StorageError) as caught:
        Store.open(f"mysql://127.0.0.1/none?{name}=hidden1", rule=RULE)
    assert "hidden1" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["postgresql://u:p@h:bad/x", "postgresql://u:p@[::1/x", "postgresql://u:p@h:99999999/x"]
)
def test_addresses_that_cannot_be_read(url):
    with pytest.raises(StorageError) as caught:
        Store.open(url, rule=RULE)
    assert "u:p@" not in str(caught.value)


def test_a_server_that_hangs_does_not_keep_a_store_from_closing(postgres, engine, opened, monkeypatch):
    """Its processes are stopped, so that the driver waits for ever."""
    monkeypatch.setattr(writing, "PATIENCE", 1.0)
    store = Store.open(postgres, rule=RULE)
    filled(store, 3)
    with store._database.engine.connect() as one, store._database.engine.connect() as two:
        ours = [connection.exec_driver_sql("SELECT pg_backend_pid()").scalar() for connection in (one, two)]
    try:
        for process in ours:
            os.kill(process, signal.SIGSTOP)
    except PermissionError:
        pytest.skip("the server is not one that a test may stop")
    try:
        store.remember([prediction(3)])
        waiting = store.send([label(3)])
        time.sleep(0.5)
        store.remember([prediction(4)])
        later = store.send([label(4)])
        start = time.monotonic()
        closing = threading.Thread(target=store.close, daemon=True)
        closing.start()
        closing.join(10)
        assert not closing.is_alive()
        assert time.monotonic() - start < 8
        with refused(StorageError, expected="answer within 1 seconds when it is closed"):
            waiting.result(1)
        with refused(StorageError, expected="be open"):
            later.result(1)
        assert store.lost == 2
    finally:
        for process in ours:
            os.kill(process, signal.SIGCONT)
    store._writer._thread.join(10)
    assert not store._writer._thread.is_alive()
    assert store.lost == 2
    store.close()


def test_closing_waits_for_a_store_that_is_only_slow(file, monkeypatch):
    monkeypatch.setattr(writing, "PATIENCE", 0.5)
    store = Store.open(file, rule=RULE, max_bytes=1 << 20)
    write = store._writer._write
    monkeypatch.setattr(store._writer, "_write", lambda batch: time.sleep(0.2) or write(batch))
    store.remember([prediction(place) for place in range(150)])
    store.close()
    assert store.lost == 0
    assert not store._writer.hangs


def test_connections_over_tcp_end_when_the_server_is_silent(monkeypatch):
    import sqlalchemy

    from rankset.serving.storage import postgres as module

    seen = {}
    real = sqlalchemy.create_engine
    monkeypatch.setattr(
        module, "create_engine", lambda *args, **options: seen.update(options) or real(*args, **options)
    )
    with contextlib.suppress(StorageError):
        module.PostgresDatabase(make_url("postgresql://127.0.0.1:1/none"), read_only=True)
    assert seen["connect_args"]["tcp_user_timeout"] == 10_000
    assert seen["connect_args"]["keepalives"] == 1


def test_a_claim_whose_connection_ends_is_taken_again(postgres, engine):
    with Store.open(postgres, rule=RULE, alone=True) as store:
        for look in (store._database.keep_claim, store.check):  # without rows, and before what is written
            ended(engine)
            look()
            with pytest.raises(StorageError, match="another server uses it"):
                Store.open(postgres, rule=RULE, alone=True)
        assert filled(store, 2) == ["new"] * 2


def test_a_server_whose_claim_another_one_has_writes_nothing_until_that_ends(postgres, engine):
    with Store.open(postgres, rule=RULE, alone=True) as store:
        ended(engine)
        with Store.open(postgres, rule=RULE, alone=True) as other:
            for look in (store.check, store._database.keep_claim, store.check):
                with refused(StorageError, expected="be used by one server"):
                    look()
            assert filled(other, 1) == ["new"]
        store.check()
        assert filled(store, 3)[1:] == ["new"] * 2


def test_a_claim_is_not_taken_for_that_of_a_process_with_the_same_number(postgres, engine):
    """In a container numbers of processes begin anew at every start."""
    with Store.open(postgres, rule=RULE, alone=True) as store:
        ended(engine)
        with Store.open(postgres, rule=RULE, alone=True) as other:
            database = store._database
            database._process = {**database._process, "process": other._database._process["process"]}
            with refused(StorageError, expected="be used by one server"):
                store.check()


def test_a_claim_is_taken_again_after_postgresql_could_not_be_reached(postgres, engine, monkeypatch):
    with Store.open(postgres, rule=RULE, alone=True) as store:
        ended(engine)
        with monkeypatch.context() as away:
            away.setattr(store._database.engine, "connect", lambda: raises(StorageError.store_unreachable("x", "y")))
            with refused(StorageError, expected="be reachable"):
                store._database.keep_claim()
        store._database.keep_claim()
        with pytest.raises(StorageError, match="another server uses it"):
            Store.open(postgres, rule=RULE, alone=True)


def raises(error):
    raise error


def ended(engine):
    """End the connections that have claimed a store, as a restart of PostgreSQL does."""
    with engine.connect() as connection:
        connection.exec_driver_sql(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2"
        )


def test_options_of_a_url_are_kept(postgres, engine):
    with engine.connect() as connection:
        connection.exec_driver_sql("DROP SCHEMA IF EXISTS apart CASCADE")
        connection.exec_driver_sql("CREATE SCHEMA apart")
    url = make_url(postgres)
    apart = url.update_query_dict({"options": "-csearch_path=apart"}).render_as_string(hide_password=False)
    with Store.open(postgres, rule=RULE, alone=True) as first, Store.open(apart, rule=RULE, alone=True) as second:
        filled(first, 3)
        filled(second, 2)
        assert (first.rows, second.rows) == (3, 2)
    with engine.connect() as connection:
        connection.exec_driver_sql("DROP SCHEMA apart CASCADE")
