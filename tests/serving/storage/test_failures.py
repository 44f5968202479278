"""Full disks, locks, files that vanish, damage: callers are told, what was acknowledged stays, the server goes on."""

import contextlib
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy")

from sqlalchemy import create_engine

import rankset as rs
from rankset.errors import StorageError, StoreFull
from rankset.serving.following import turn_of
from rankset.serving.storage import sqlite as sqlite_store
from rankset.serving.storage import writer as writing
from refusals import refused
from served import RULE, K, filled, label, prediction


@pytest.fixture
def impatient(monkeypatch):
    """Locks are waited for a moment only."""
    monkeypatch.setattr(sqlite_store, "PATIENCE", 0.2)
    monkeypatch.setattr(writing, "PAUSE", 0.05)


def acknowledge_until_full(store, acknowledged, most=100_000):
    """Send rows with labels until the store is full; remember which were acknowledged."""
    for first in range(0, most, 10):
        places = range(first, first + 10)
        store.remember([prediction(place) for place in places])
        try:
            assert store.feedback([label(place) for place in places]) == ["new"] * 10
        except StoreFull as error:
            return error
        acknowledged += [f"row-{place}" for place in places]
    raise AssertionError("the disk was never full")


def answered(store):
    return [pair.feedback.id for pair in store.labelled()]


def test_a_full_disk_is_told_and_nothing_acknowledged_is_lost(small_disk, opened, monkeypatch):
    monkeypatch.setattr(writing, "PAUSE", 0.05)
    store = opened(small_disk / "served.db")
    (small_disk / "ballast").write_bytes(bytes(1 << 20))
    acknowledged = []
    error = acknowledge_until_full(store, acknowledged)
    assert error.try_again
    assert len(acknowledged) > 100
    waiting = len(acknowledged)
    with refused(StoreFull, what="the store", expected="have space for what is written to it"):
        for _ in range(50):
            store.check()
    (small_disk / "ballast").unlink()
    store.check()
    assert store.feedback([label(waiting)]) == ["new"], "rows that waited are written when there is space"
    assert answered(store) == [*acknowledged, f"row-{waiting}"]
    assert store.lost == 0
    store.close()
    with contextlib.closing(sqlite3.connect(small_disk / "served.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_predictions_go_on_while_the_disk_is_full_and_are_counted(small_disk, opened, monkeypatch):
    monkeypatch.setattr(writing, "MOST_ROWS", 500)
    monkeypatch.setattr(writing, "PAUSE", 0.05)
    store = opened(small_disk / "served.db")
    acknowledge_until_full(store, [])
    start = time.monotonic()
    for first in range(200_000, 210_000, 100):
        store.remember([prediction(place) for place in range(first, first + 100)])
    assert time.monotonic() - start < 5
    assert 9_000 < store.lost < 10_000


def test_a_store_that_is_opened_on_a_full_disk_is_refused(small_disk, opened):
    with contextlib.suppress(OSError):
        (small_disk / "ballast").write_bytes(bytes(4 << 20))
    with refused(StoreFull):
        opened(small_disk / "served.db")


def test_a_file_system_that_becomes_read_only(small_disk, opened):
    store = opened(small_disk / "served.db")
    filled(store, 3)
    store.close()
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    with refused(StorageError, expected="be writable"):
        opened(small_disk / "served.db")


def test_a_store_is_read_from_a_file_system_that_cannot_be_written(small_disk, opened):
    file = small_disk / "served.db"
    store = opened(file)
    filled(store, 3)
    store.close()
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    assert opened(file, read_only=True).labels == 3


def test_a_log_that_cannot_be_read_is_told(small_disk, opened, tmp_path):
    store = opened(tmp_path / "served.db")
    filled(store, 3)
    for name in ("served.db", "served.db-wal"):
        shutil.copy2(tmp_path / name, small_disk / name)
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    with refused(StorageError, expected="be readable") as caught:
        opened(small_disk / "served.db", read_only=True)
    assert "-wal" in str(caught.value.remedy)


@pytest.mark.parametrize("name", ["rankset_feedback", "rankset_predictions"])
def test_tables_that_were_dropped_are_noticed(no_tables, file, opened, name):
    for place in (no_tables, file):
        url = place if "://" in place else f"sqlite:///{place}"
        store, engine = opened(place), create_engine(url)
        store.check()
        with engine.begin() as other:
            other.exec_driver_sql(f"DROP TABLE {name}" + (" CASCADE" if "://" in place else ""))
        engine.dispose()
        with refused(StorageError, expected="be a complete store of rankset"):
            store.check()


def test_a_limit_of_pages(file, opened, monkeypatch):
    """As if the disk were full, on every system."""
    connect = sqlite_store.SqliteDatabase._connect

    def limited(database):
        connection = connect(database)
        connection.execute("PRAGMA max_page_count = 60")
        return connection

    monkeypatch.setattr(sqlite_store.SqliteDatabase, "_connect", limited)
    store, acknowledged = opened(file), []
    acknowledge_until_full(store, acknowledged)
    assert answered(store) == acknowledged
    assert len(acknowledged) > 50


LIMITED = """
import resource, sys
sys.path.insert(0, {tests!r})
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
from rankset.errors import StoreFull
from rankset.serving import Store
from served import RULE, label, prediction
store = Store.open({file!r}, rule=RULE)
for first in range(0, 100_000, 10):
    store.remember([prediction(place) for place in range(first, first + 10)])
    try:
        store.feedback([label(place) for place in range(first, first + 10)])
    except StoreFull as error:
        print("full after", first, error.reason, flush=True)
        break
"""


@pytest.mark.skipif(os.name != "posix", reason="limits of files are those of POSIX")
def test_a_limit_of_the_size_of_files(file, opened):
    code = LIMITED.format(tests=str(Path(__file__).parents[2]), file=file)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    count = int(re.match(r"full after (\d+) disk I/O error", done.stdout)[1])
    assert answered(opened(file)) == [f"row-{place}" for place in range(count)]


def test_a_lock_of_another_process_is_waited_for_and_then_told(file, opened, impatient):
    store = opened(file)
    filled(store, 3)
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        store.remember([prediction(3)])
        with refused(StorageError, expected="be free for writing") as caught:
            store.feedback([label(3)])
        assert caught.value.try_again
        assert len(list(store.labelled())) == 3, "reading goes on"
        other.execute("ROLLBACK")
    assert store.feedback([label(3)]) == ["new"]
    assert store.lost == 0


@pytest.mark.skipif(os.name != "posix", reason="elsewhere open files cannot be moved")
@pytest.mark.parametrize("which", ["served.db", "served.db-wal"])
@pytest.mark.parametrize("how", ["deleted", "moved", "replaced"])
def test_a_file_that_vanishes_while_it_is_in_use(tmp_path, opened, monkeypatch, how, which):
    """SQLite would go on to write to a file that nobody finds any more."""
    monkeypatch.setattr(writing, "PAUSE", 0.05)
    store = opened(tmp_path / "served.db")
    filled(store, 3)
    away = tmp_path / "away"
    shutil.copy2(tmp_path / which, away) if how == "deleted" else (tmp_path / which).rename(away)
    if how == "deleted":
        (tmp_path / which).unlink()
    elif how == "replaced":
        shutil.copy2(away, tmp_path / which)
    store.remember([prediction(3)])
    for call in (lambda: store.feedback([label(3)]), store.check):
        with refused(StorageError, expected="stay in its place") as caught:
            call()
        assert which in str(caught.value.reason)
    if how == "moved":
        away.rename(tmp_path / which)
        store.check()
        assert store.feedback([label(3)])[0] in {"new", "repeated"}
        assert answered(store)[-1] == "row-3"


def test_a_store_whose_file_was_deleted_starts_anew(file, opened):
    filled(opened(file), 3)
    Path(file).unlink()
    for name in ("-wal", "-shm"):
        Path(file + name).unlink(missing_ok=True)
    assert opened(file).rows == 0


@pytest.mark.parametrize("damage", ["text", "cut", "zeros", "pages"])
def test_a_damaged_file_is_refused(file, opened, damage):
    store = opened(file)
    filled(store, 500)
    store.close()
    whole = Path(file).read_bytes()
    middle = len(whole) // 2
    found = {
        "text": b"this is no database, but a file of text" * 100,
        "cut": whole[:middle],
        "zeros": whole[:100] + bytes(len(whole) - 100),
        "pages": whole[:8192] + bytes(range(256)) * ((len(whole) - 8192) // 256),
    }[damage]
    Path(file).write_bytes(found)
    for options in ({}, {"read_only": True}):
        with refused(StorageError, expected="be a complete store of rankset", file=file) as caught:
            opened(file, **options)
        assert not caught.value.try_again
    assert Path(file).read_bytes() == found, "a damaged file is left as it was"


OUTPUTS = "UPDATE rankset_predictions SET outputs = x'{}'"
DAMAGED_ROWS = {
    "short outputs": "UPDATE rankset_predictions SET outputs = x'00'",
    "another type": "UPDATE rankset_predictions SET dtype = 'f2'",
    "outputs that are text": "UPDATE rankset_predictions SET outputs = 'abc'",
    "outputs that are NaN": OUTPUTS.format("000000000000f87f" * K),
    "outputs that are infinite": OUTPUTS.format("000000000000f07f" * K),
    "no class that can be": OUTPUTS.format("000000000000f0ff" * K),
    "codes": "UPDATE rankset_predictions SET codes = x'FFFFFF7F'",
    "a label beyond the classes": "UPDATE rankset_feedback SET label = 99",
    "a label that is text": "UPDATE rankset_feedback SET label = 'cat'",
    "a time that is text": "UPDATE rankset_predictions SET time = 'noon'",
}


@pytest.mark.parametrize("what", DAMAGED_ROWS)
def test_rows_that_cannot_be_right_are_refused_when_they_are_read(file, opened, what):
    store = opened(file)
    filled(store, 2)
    with contextlib.closing(sqlite3.connect(file)) as other:
        other.execute(DAMAGED_ROWS[what])
        other.commit()
    with refused(StorageError, expected="be a complete store of rankset"):
        list(store.labelled())


HOSTILE = {
    "trigger": "CREATE TRIGGER t AFTER INSERT ON rankset_feedback BEGIN DELETE FROM rankset_feedback; END",
    "view": "CREATE VIEW v AS SELECT 1",
    "table": "CREATE TABLE other (a)",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_file_that_defines_something_else_is_refused(file, opened, what):
    """A trigger would be executed."""
    opened(file).close()
    with contextlib.closing(sqlite3.connect(file)) as other:
        other.execute(HOSTILE[what])
    with refused(StorageError, expected="be a complete store of rankset"):
        opened(file)


def test_a_store_that_does_not_say_of_which_rule_its_rows_are_is_refused(where, opened):
    """They could be of another one."""
    filled(opened(where), 2)
    url = where if "://" in where else f"sqlite:///{where}"
    engine = create_engine(url)
    with engine.begin() as other:
        other.exec_driver_sql("DELETE FROM rankset_about")
    engine.dispose()
    with refused(StorageError, reason="it has rows, but does not say of which rule"):
        opened(where)


def test_an_entry_of_a_store_that_is_nested_too_far_is_as_none(file):
    with rs.serving.Store.open(file, rule=RULE) as store, contextlib.closing(sqlite3.connect(file)) as other:
        other.execute("INSERT INTO rankset_about VALUES ('served', ?)", ["[" * 100_000])
        other.commit()
        assert [turn_of(store, digest) for digest in ("a", "a", "b", "b", "a")] == [1, 1, 2, 2, 3]


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_database_of_another_program_is_left_as_it_is(file, opened, mode):
    """The name of the default store may be that of a file of somebody else."""
    with contextlib.closing(sqlite3.connect(file)) as other:
        other.execute(f"PRAGMA journal_mode = {mode}")
        other.execute("CREATE TABLE mine (a)")
        other.commit()
    before = Path(file).read_bytes()
    with refused(StorageError, remedy="Pass the path of another file. Nothing was changed in this one."):
        opened(file)
    assert Path(file).read_bytes() == before
    with contextlib.closing(sqlite3.connect(file)) as other:
        assert other.execute("PRAGMA journal_mode").fetchone() == (mode,)


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        ("1", "have format 2, got format 1. Move it away"),
        ("3", "have format 2, got format 3. Upgrade"),
        ("", "be a complete store"),
        ("x" * 99, "be a"),
    ],
)
def test_a_store_of_another_format_is_refused(file, opened, number, expected):
    opened(file).close()
    with contextlib.closing(sqlite3.connect(file)) as other:
        other.execute("UPDATE rankset_about SET value = ? WHERE name = 'format'", (number,))
        other.commit()
    with pytest.raises(StorageError, match=expected):
        opened(file)


@pytest.mark.parametrize("value", ["", "[1]", "[" * 100_000, '{"kind": "probs"}'])
def test_a_store_that_does_not_know_its_rule_is_refused(file, opened, value):
    opened(file).close()
    with contextlib.closing(sqlite3.connect(file)) as other:
        other.execute("UPDATE rankset_about SET value = ? WHERE name = 'rule'", (value,))
        other.commit()
    with refused(StorageError):
        opened(file)


@pytest.mark.parametrize("path", ["missing/served.db", "."])
def test_paths_that_cannot_be_a_store_are_refused(tmp_path, opened, path):
    with refused(rs.errors.FileError, expected="be writable"):
        opened(tmp_path / path)


def test_one_bad_row_does_not_stop_the_others(where, opened, caplog):
    """It can only be one that gets past all checks: here the columns are changed behind them."""
    store = opened(where)
    row = dict.fromkeys(("id", "time", "outputs", "dtype", "group", "codes", "alpha", "largest", "accepted", "turn"))
    store.remember([prediction(place) for place in range(10)])
    store._writer.add([{**row, "outputs": b""}])
    store.remember([prediction(place) for place in range(10, 20)])
    assert store.feedback([label(place) for place in range(20)]) == ["new"] * 20
    store.check()
    assert (store.rows, store.lost, store.trouble) == (20, 1, None)
    assert [record.getMessage().count("take what is written to it") for record in caplog.records] == [1]


def test_who_loses_the_file_of_its_lock_writes_no_more(file, opened):
    """Another server could lock a new one."""
    store = opened(file, alone=True)
    filled(store, 2)
    Path(f"{file}-server").unlink()
    other = opened(file, alone=True)
    store.remember([prediction(3)])
    assert other.rows == 2
    for call in (store.check, lambda: store.feedback([label(1)])):
        with refused(StorageError, expected="stay in its place"):
            call()
    other.check()
    known = other.known([prediction(place).id for place in range(5)])
    assert known == {prediction(0).id, prediction(1).id}


@pytest.mark.parametrize("damage", ["garbage", "a folder"])
def test_a_damaged_file_of_a_server_is_named(file, opened, damage):
    """Not the store: it is as it was."""
    filled(opened(file), 2)
    beside = Path(f"{file}-server")
    if damage == "garbage":
        beside.write_bytes(b"this is no database" * 50)
    else:
        beside.mkdir()
    with refused(StorageError) as caught:
        opened(file, alone=True)
    assert "served.db-server beside it" in caught.value.expected
    assert caught.value.remedy.endswith("you can delete served.db-server.")
    assert opened(file).rows == 2


def test_a_file_of_a_server_that_cannot_be_written_claims_nothing(file, opened, monkeypatch):
    opened(file, alone=True).close()
    connected = sqlite_store._connected

    def read_only(name, *more):
        return connected(name.replace("-server?mode=rwc", "-server?mode=ro"), *more)

    monkeypatch.setattr(sqlite_store, "_connected", read_only)
    with refused(StorageError) as caught:
        opened(file, alone=True)
    assert "served.db-server beside it" in caught.value.expected


def test_a_database_of_another_program_at_rest_gets_no_log(file, opened, tmp_path):
    with contextlib.closing(sqlite3.connect(file)) as other:
        other.execute("PRAGMA journal_mode = wal")
        other.execute("CREATE TABLE mine (a)")
        other.commit()
    with refused(StorageError, expected="be a complete store of rankset"):
        opened(file)
    assert [one.name for one in tmp_path.iterdir()] == ["served.db"]


@pytest.mark.parametrize("name", ["application_id", "user_version"])
def test_an_empty_database_of_another_program_is_refused(file, opened, name):
    with contextlib.closing(sqlite3.connect(file)) as other:
        other.execute(f"PRAGMA {name} = 7")
        other.commit()
    before = Path(file).read_bytes()
    with refused(StorageError, expected="be a complete store of rankset"):
        opened(file)
    assert Path(file).read_bytes() == before


def test_an_unexpected_error_does_not_end_the_writer(store, monkeypatch):
    def fail(_batch):
        raise ZeroDivisionError

    with monkeypatch.context() as broken:
        broken.setattr(store._writer, "_write", fail)
        with refused(StorageError, expected="take what is written to it"):
            store.check()
    assert filled(store, 3) == ["new"] * 3


def test_connections_that_the_server_ends_are_made_anew(postgres, engine, opened):
    store = opened(postgres)
    filled(store, 3)
    with engine.connect() as other:
        other.exec_driver_sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datid > 0"
        )
    store.remember([prediction(3)])
    assert store.feedback([label(3)]) == ["new"]
    assert len(answered(store)) == 4


def test_a_lock_in_postgresql_is_waited_for_and_then_told(postgres, opened, monkeypatch):
    monkeypatch.setattr("rankset.serving.storage.postgres.PATIENCE", 1.0)
    store = opened(postgres)
    filled(store, 3)
    with store._database.engine.connect() as other:
        other.exec_driver_sql("LOCK TABLE rankset_feedback IN EXCLUSIVE MODE")
        store.remember([prediction(3)])
        with refused(StorageError, expected="be free for writing") as caught:
            store.feedback([label(3)])
        assert caught.value.try_again
    assert store.feedback([label(3)]) == ["new"]


def test_a_database_for_reading_only(postgres, engine, opened):
    opened(postgres).close()
    with engine.connect() as other:
        other.exec_driver_sql("ALTER ROLE CURRENT_USER SET default_transaction_read_only = on")
        try:
            with refused(StorageError, expected="be writable"):
                opened(postgres)
        finally:
            other.exec_driver_sql("ALTER ROLE CURRENT_USER RESET default_transaction_read_only")


def test_tables_of_others_are_refused(no_tables, engine, opened):
    with engine.connect() as other:
        other.exec_driver_sql("CREATE TABLE rankset_about (a int)")
    with refused(StorageError, expected="be a complete store of rankset"):
        opened(no_tables)
