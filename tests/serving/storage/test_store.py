"""What a store takes comes back exactly, in its order, from several threads, and after it was closed."""

import json
import math
import os
import re
import threading
import time
from concurrent.futures import wait
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("sqlalchemy")

import rankset as rs
from rankset.serving import Feedback, Labelled, Prediction, Store
from rankset.serving.storage import postgres as postgres_store
from rankset.serving.storage import sqlite as sqlite_store
from rankset.serving.storage import writer as writing
from refusals import refused
from served import LABELS, PROBS, RULE, K, filled, label, prediction


def same(found, given):
    """Whether two predictions are equal, bit for bit."""
    arrays = all(
        getattr(found, name).dtype == getattr(given, name).dtype
        and getattr(found, name).tobytes() == getattr(given, name).tobytes()
        for name in ("outputs", "codes")
    )
    names = ("id", "time", "group", "alpha", "accepted", "turn")
    largest = found.largest == given.largest or (math.isnan(found.largest) and math.isnan(given.largest))
    return arrays and largest and all(getattr(found, name) == getattr(given, name) for name in names)


ROWS = [
    prediction(0),
    prediction(1, dtype=np.float32, accepted=True),
    prediction(2, group=json.dumps("Zürich – 北京"), accepted=False),
    Prediction(
        "ü" * 200, -1.25, np.array([-0.0, 5e-324, 1.0, 1e308, -np.inf]), None, np.zeros(0, np.int32), 0.3, math.nan
    ),
    Prediction("big-endian", 1e10, PROBS[4].astype(">f8"), "1", np.arange(K, dtype=">i8"), 1e-9, math.inf),
]


def test_rows_and_labels_come_back_as_they_were(where, opened):
    store = opened(where)
    store.remember(ROWS)
    assert store.feedback([Feedback(row.id, place, 2.5 * place) for place, row in enumerate(ROWS)]) == ["new"] * len(
        ROWS
    )
    store.close()
    again = opened(where)
    pairs = list(again.labelled())
    little = [*ROWS[:4], Prediction("big-endian", 1e10, PROBS[4], "1", np.arange(K, dtype=np.int32), 1e-9, math.inf)]
    assert all(same(pair.prediction, row) for pair, row in zip(pairs, little, strict=True))
    assert [pair.feedback for pair in pairs] == [Feedback(row.id, n, 2.5 * n) for n, row in enumerate(ROWS)]
    assert (again.rows, again.labels, again.lost) == (len(ROWS), len(ROWS), 0)


def test_a_label_is_new_repeated_or_unknown_and_the_first_stays(store):
    store.remember([prediction(0), prediction(1)])
    rows = [Feedback("row-0", 1, 1.0), Feedback("row-9", 2, 1.0), Feedback("row-0", 3, 1.0), Feedback("row-1", 2, 1.0)]
    assert store.feedback(rows) == ["new", "unknown", "repeated", "new"]
    assert store.feedback([Feedback("row-1", 4, 9.0)]) == ["repeated"]
    assert [(pair.feedback.id, pair.feedback.label) for pair in store.labelled()] == [("row-0", 1), ("row-1", 2)]
    assert store.labels == 2
    assert store.feedback([]) == []


def test_of_two_rows_with_one_id_the_first_stays(store):
    store.remember([prediction(0, name="a"), prediction(1, name="a")])
    store.check()
    store.remember([prediction(2, name="a")])
    store.check()
    assert [same(row, prediction(0, name="a")) for row in store.history()] == [True]
    assert store.rows == 1


def test_many_labels_in_one_call(store):
    n = 1201
    assert filled(store, n) == ["new"] * n
    assert store.feedback([label(place) for place in range(n)]) == ["repeated"] * n
    assert [pair.feedback.id for pair in store.labelled()] == [f"row-{place}" for place in range(n)]
    assert (store.rows, store.labels) == (n, n)


def test_history_is_in_order_of_time_and_a_label_never_comes_before_its_row(store):
    store.remember([prediction(place) for place in range(4)])
    store.feedback([label(2, time=2.5), label(0, time=2.7)])
    store.remember([prediction(4, time=0.5)])  # the clock was set back
    store.feedback([label(4, time=0.1)])
    found = [
        f"{type(one).__name__[0]}{(one.prediction if isinstance(one, Labelled) else one).id[-1]}"
        for one in store.history()
    ]
    assert found == ["P0", "P1", "P2", "L2", "L0", "P3", "P4", "L4"]


def test_history_and_labels_since_a_time(store):
    filled(store, 10)
    found = list(store.history(since=6.0))
    rows = [one.id for one in found if isinstance(one, Prediction)]
    labels = [one.feedback.id for one in found if isinstance(one, Labelled)]
    assert (rows, labels) == ([f"row-{n}" for n in (6, 7, 8, 9)],) * 2
    assert [pair.prediction.id for pair in store.labelled(since=8.0)] == ["row-8", "row-9"]
    assert [pair.prediction.id for pair in store.labelled(last=3)] == ["row-7", "row-8", "row-9"]
    assert [pair.prediction.id for pair in store.labelled(since=4.0, last=50)] == [f"row-{n}" for n in range(4, 10)]
    assert [pair.prediction.id for pair in store.labelled(since=5.0, last=2)] == ["row-8", "row-9"]


def test_reading_in_parts_gives_every_row_once(store, monkeypatch):
    monkeypatch.setattr("rankset.serving.storage.reading.PART", 7)
    filled(store, 50, labelled=31)
    found = list(store.history())
    rows = [one.id for one in found if isinstance(one, Prediction)]
    assert rows == [f"row-{n}" for n in range(50)]
    assert sum(isinstance(one, Labelled) for one in found) == 31
    assert store.counts() == {(None, True): 31, (None, False): 19}


def test_predictions_are_written_within_a_moment_without_being_asked(where, opened):
    store, other = opened(where), opened(where)
    start = time.monotonic()
    store.remember([prediction(0)])
    while not list(other.history()) and time.monotonic() < start + 10:
        time.sleep(0.01)
    assert time.monotonic() - start < 5
    assert store.rows == 1


def test_threads_can_send_labels_together(store):
    """Every label is acknowledged once, and eight threads need far fewer commits than labels."""
    commits = []
    writes = store._database.writing
    store._database.writing = lambda: commits.append(1) or writes()
    answers = {}

    def work(first):
        for place in range(first, 400, 8):
            store.remember([prediction(place)])
            answers[place] = store.feedback([label(place), label(place)])

    threads = [threading.Thread(target=work, args=(first,)) for first in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {place: ["new", "repeated"] for place in range(400)}
    assert {pair.feedback.id: pair.feedback.label for pair in store.labelled()} == {
        f"row-{n}": int(LABELS[n]) for n in range(400)
    }
    assert len(commits) < 400


def test_two_stores_in_one_place_agree_about_labels(where, opened):
    one, two = opened(where), opened(where)
    one.remember([prediction(place) for place in range(50)])
    one.check()
    first, second = (store.send([label(place) for place in range(50)]) for store in (one, two))
    wait([first, second])
    told = [{a, b} for a, b in zip(first.result(), second.result(), strict=True)]
    assert told == [{"new", "repeated"}] * 50


def test_a_call_that_is_cancelled_does_no_harm(store):
    store.remember([prediction(0), prediction(1)])
    for _ in range(20):
        store.send([label(0)]).cancel()
    assert store.feedback([label(1)]) == ["new"]


def test_rows_that_come_too_fast_are_lost_and_counted(store, monkeypatch):
    monkeypatch.setattr(writing, "MOST_ROWS", 10)
    gate = threading.Event()
    writes = store._writer._write
    monkeypatch.setattr(store._writer, "_write", lambda batch: gate.wait() and writes(batch))
    store.remember([prediction(0)])
    while store._writer._rows:
        time.sleep(0.001)
    start = time.monotonic()
    store.remember([prediction(place) for place in range(1, 100)])
    assert time.monotonic() - start < 1
    gate.set()
    store.check()
    assert (store.rows, store.lost) == (11, 89)


def test_memory_of_waiting_rows_is_bounded_by_bytes_too(store, monkeypatch):
    monkeypatch.setattr(writing, "MOST_BYTES", 5 * 170)
    monkeypatch.setattr(writing, "DELAY", 60)
    store.remember([prediction(place) for place in range(100)])
    assert store.lost == 95
    store.check()
    assert store.rows == 5


@pytest.mark.parametrize("name", ["", "x" * 201, "a\0b", "\ud800", 5, None])
def test_ids_that_a_database_cannot_hold_are_refused(store, name):
    with refused(rs.errors.InputError, what="ids"):
        store.remember([Prediction(name, 0.0, PROBS[0], None, np.zeros(1, np.int32), 0.1, 0.5)])
    with refused(rs.errors.InputError, what="ids"):
        store.feedback([Feedback(name, 0, 0.0)])
    store.check()
    assert store.rows == 0


@pytest.mark.parametrize(
    "outputs",
    [PROBS[0][:4], PROBS[:1], PROBS[0].astype(np.float16), np.arange(K)],
    ids=["short", "matrix", "half", "int"],
)
def test_rows_of_another_form_are_refused(store, outputs):
    with refused(rs.errors.InputError, what="outputs"):
        store.remember([Prediction("a", 0.0, outputs, None, np.zeros(1, np.int32), 0.1, 0.5)])


@pytest.mark.parametrize("value", [-1, K, 0.5, "0", None, True])
def test_labels_that_are_no_columns_are_refused(store, value):
    with refused(rs.errors.InputError, what="labels"):
        store.feedback([Feedback("a", value, 0.0)])


def test_a_closed_store_takes_nothing(store):
    store.remember([prediction(0)])
    store.close()
    assert store.rows == 1
    with refused(rs.errors.StorageError, expected="be open"):
        store.feedback([label(0)])
    store.remember([prediction(1)])
    assert store.lost == 1
    store.close()


def test_closing_writes_what_waits(where, opened):
    opened(where).close()
    with Store.open(where, rule=RULE) as store:
        store.remember([prediction(place) for place in range(30)])
    assert opened(where).rows == 30


def test_a_store_for_reading_cannot_be_written(where, opened):
    writes = opened(where)
    filled(writes, 5)
    reads = opened(where, read_only=True)
    assert len(list(reads.labelled())) == reads.labels == 5
    for call in (lambda: reads.feedback([label(0)]), lambda: reads.remember([]), reads.check, reads.prune):
        with refused(rs.errors.StorageError, expected="be opened for writing"):
            call()


@pytest.mark.skipif(os.name != "posix", reason="elsewhere files cannot have such names")
def test_files_can_have_any_name(tmp_path, opened, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = "ü b?mode=ro#%41&.db"
    filled(opened(name), 3)
    assert (tmp_path / name).stat().st_size
    assert opened(tmp_path / name, read_only=True).labels == 3
    filled(opened(f"sqlite:///{tmp_path}/other.db"), 3)
    assert opened("other.db").labels == 3


def test_a_store_is_no_database_in_memory(tmp_path, opened, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with refused(rs.errors.StorageError, expected="be an SQLite file or a PostgreSQL database"):
        opened(":memory:")
    assert not list(tmp_path.iterdir())


def test_a_folder_is_no_store(tmp_path, opened):
    with refused(rs.errors.StorageError, expected="be readable", reason="it is not a regular file"):
        opened(tmp_path, read_only=True)


def test_outputs_that_are_no_numbers_are_refused(store):
    for value in (np.nan, np.inf):
        with refused(rs.errors.InputError, what="outputs"):
            store.remember([prediction(1, outputs=np.array([0.1, value, 0.2, 0.3, 0.4]))])


def test_a_store_for_reading_must_exist(file, no_tables, opened):
    with refused(rs.errors.StorageError, expected="exist", file=file):
        opened(file, read_only=True)
    with refused(rs.errors.StorageError, expected="be a complete store of rankset"):
        opened(no_tables, read_only=True)


OTHERS = {
    "the classes": rs.calibrate(PROBS[:, :4] / PROBS[:, :4].sum(1, keepdims=True), LABELS % 4),
    "the classes by name": rs.calibrate(PROBS, LABELS, classes=list("abcde")),
    "the kind": rs.calibrate(np.log(PROBS), LABELS, kind="logits"),
    "rows like those": rs.calibrate(PROBS, LABELS, condition=rs.PerGroup(), groups=["a", "b"] * 200),
}


@pytest.mark.parametrize("what", OTHERS)
def test_a_store_of_another_rule_is_refused(where, opened, what):
    filled(opened(where), 3)
    with pytest.raises(rs.errors.StorageError, match=f"must have {what.removesuffix(' by name')} of the rule"):
        opened(where, rule=OTHERS[what])
    assert opened(where).rows == 3


def test_classes_without_names_are_told_by_their_number(where, opened):
    opened(where, rule=OTHERS["the classes by name"])
    with refused(rs.errors.StorageError, expected="have the classes of the rule, 5 classes without names"):
        opened(where)


def test_one_server_uses_a_store(where, opened, monkeypatch):
    """Two would each count and watch a part of the rows."""
    monkeypatch.setattr(sqlite_store, "SETTINGS", ("busy_timeout = 200",))
    monkeypatch.setattr(postgres_store, "PATIENCE", 0.2)
    first = opened(where, alone=True)
    with refused(rs.errors.StorageError, expected="be used by one server") as caught:
        opened(where, alone=True)
    assert caught.value.try_again
    filled(first, 3, labelled=2)
    first.check()
    assert opened(where, read_only=True).labels == 2
    other = opened(where)
    assert other.rows == 3
    for _ in range(2):
        with refused(rs.errors.StorageError, expected="be used by one server"):
            rs.serving.app(RULE, store=other)
    first.close()
    rs.serving.app(RULE, store=other).close()
    assert opened(where, alone=True).rows == 3


@pytest.mark.parametrize("turn", ["x", None, math.nan, -1, 2**70, 1.5])
def test_a_turn_is_a_number(store, turn):
    with refused(rs.errors.InputError, what="turn"):
        store.remember([replace(prediction(0), turn=turn)])


def test_a_store_that_was_closed_or_is_read_has_no_server(where, opened):
    first = opened(where)
    with refused(rs.errors.StorageError, expected="be opened for writing"):
        rs.serving.app(RULE, store=opened(where, read_only=True))
    first.close()
    with refused(rs.errors.StorageError, expected="be open"):
        rs.serving.app(RULE, store=first)


def test_a_store_stays_open_if_its_server_cannot_be_made(where, opened):
    mine = opened(where)
    with refused(rs.errors.LevelError):
        rs.serving.app(RULE, store=mine, alpha=7)
    filled(mine, 2)
    assert mine.rows == 2


def test_a_rule_with_other_rows_or_another_score_can_use_a_store(where, opened):
    filled(opened(where), 3)
    assert opened(where, rule=rs.calibrate(PROBS, LABELS, method="aps")).rows == 3


def test_rules_with_several_labels_have_no_store(file, opened):
    several = rs.calibrate(PROBS, np.eye(K)[LABELS], target="all")
    with refused(rs.errors.RuleError, what="the rule of a store"):
        opened(file, rule=several)
    with refused(rs.errors.KindError, what="rule"):
        opened(file, rule="rule.rankset")


def test_binary_rules_have_one_number_per_row(where, opened):
    rule = rs.calibrate(PROBS[:, 0], LABELS % 2, kind="binary")
    store = opened(where, rule=rule)
    store.remember([prediction(0, outputs=np.array([0.25]))])
    assert store.feedback([Feedback("row-0", 1, 0.0)]) == ["new"]
    assert next(store.labelled()).prediction.outputs.tolist() == [0.25]


def test_what_is_acknowledged_is_on_the_disk(file, postgres, opened):
    """The settings that make a commit durable; that they work is what SQLite and PostgreSQL promise."""
    with opened(file)._database.engine.connect() as connection:
        pragmas = [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("journal_mode", "synchronous")]
    assert pragmas == ["wal", 2]
    with opened(postgres)._database.engine.connect() as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"


def test_passwords_are_not_shown():
    with pytest.raises(rs.errors.StorageError) as caught:
        Store.open("postgresql://user:secret@127.0.0.1:1/none", rule=RULE)
    assert caught.value.try_again
    assert "secret" not in str(caught.value)
    assert "user" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not re.search(r"[.?:;,]\s*[.?:;,]|Is the server", str(caught.value))


def test_what_the_driver_says_becomes_one_line():
    from rankset.serving.storage.postgres import one_line

    asked = "Is the server running on that host and accepting TCP/IP connections?"
    assert one_line(f"connection failed: Connection refused\n\t{asked}") == "connection failed: Connection refused"
    several = f"Multiple connection attempts failed. All failures were:\n- a: refused\n\t{asked}\n- b:  unknown.\n"
    assert one_line(several) == "a: refused; b: unknown"
    assert one_line("\n") == "no reason was given"


@pytest.mark.parametrize("url", ["mysql://host/name", "nonsense://"])
def test_other_databases_are_refused(url):
    remedy = "Pass the path of a file, or a URL such as postgresql://user@host/name."
    with refused(rs.errors.StorageError, expected="be an SQLite file or a PostgreSQL database", remedy=remedy):
        Store.open(url, rule=RULE)
