"""A store that fails or hangs while rows are served: what is answered, logged, and learned afterwards."""

import asyncio
import json
import logging
import threading
import time

import pytest

import rankset as rs

pytest.importorskip("starlette")

from rankset.errors import StorageError
from rankset.serving import known_ids, learner, ledger, looks
from rankset.serving.loaded import Answering, Loaded
from serving_process import LOGITS, make_rule
from serving_requests import asked, label, predict

ADDRESS = "connection to server at db.internal, user 'rankset', failed"


@pytest.fixture
def app(tmp_path):
    app = rs.serving.app(make_rule(), store=tmp_path / "rows.db", limits=rs.serving.Limits(seconds=1.0))
    predict(app, rows=LOGITS[:3].tolist(), ids=["a", "b", "c"])
    yield app
    app.close()


def got(app, path):
    status, body = asyncio.run(asked(app, "GET", path))
    return status, body.decode()


def test_a_store_that_fails_is_told_without_its_address_and_logged_without_traceback(app, monkeypatch, caplog):
    def fails(*_arguments):
        raise StorageError.store_unreachable("postgresql://db", ADDRESS)

    with monkeypatch.context() as patch:
        patch.setattr(app.service.ledger.store._writer, "_write", fails)
        status, answer = label(app, ids=["a"], labels=["joy"])
        ready = got(app, "/readyz")
    assert (status, answer["what"]) == (503, "the store")
    assert "db.internal" not in json.dumps(answer) + ready[1]
    assert ready[0] == 503
    assert app.service.ledger.learner.settle()
    assert ADDRESS in caplog.text
    assert not any(record.exc_info for record in caplog.records)
    assert label(app, ids=["a"], labels=["joy"])[1]["new"] == 1
    assert json.loads(got(app, "/readyz")[1])["learning"] == "ok"


def test_labels_that_could_not_be_read_are_learned_with_the_next_ones(app, monkeypatch, caplog):
    def fails(*_arguments):
        raise StorageError.store_unreachable("postgresql://db", ADDRESS)

    monitor = app.service.ledger.monitor
    with monkeypatch.context() as patch:
        patch.setattr(learner, "labels_after", fails)
        assert label(app, ids=["a"], labels=["joy"])[1]["new"] == 1
        assert app.service.ledger.learner.settle()
    assert monitor.ever.labels == 0
    assert json.loads(got(app, "/readyz")[1])["learning"].startswith("some rows")
    assert [record.levelno for record in caplog.records if "learned later" in record.message] == [logging.WARNING]
    assert label(app, ids=["b"], labels=["joy"])[1]["new"] == 1
    assert app.service.ledger.learner.settle()
    assert monitor.ever.labels == 2
    assert json.loads(got(app, "/readyz")[1])["learning"] == "ok"


def test_labels_that_were_read_are_learned_if_the_next_ones_cannot_be_read(app, monkeypatch):
    monitor, reader = app.service.ledger.monitor, app.service.ledger.store._reader
    read = reader._part

    def once(statement):
        if monitor_read:
            raise StorageError.store_unreachable("postgresql://db", ADDRESS)
        monitor_read.append(statement)
        return read(statement)

    monitor_read = []
    with monkeypatch.context() as patch:
        patch.setattr(reader, "_part", once)
        assert label(app, ids=["a", "b"], labels=["joy", "joy"])[1]["new"] == 2
        assert app.service.ledger.learner.settle()
    assert monitor.ever.labels == 2
    assert label(app, ids=["c"], labels=["joy"])[1]["new"] == 1
    assert app.service.ledger.learner.settle()
    assert monitor.ever.labels == 3


@pytest.fixture
def hanging(app, monkeypatch):
    """The store waits until the test ends."""
    goes_on = threading.Event()
    store, real = app.service.ledger.store, app.service.ledger.store._writer._write

    def write(batch):
        goes_on.wait(30)
        return real(batch)

    monkeypatch.setattr(store._writer, "_write", write)
    monkeypatch.setattr(type(store), "bytes", property(lambda _: goes_on.wait(30)))
    monkeypatch.setattr(looks, "SECONDS", 0.2)
    yield app
    goes_on.set()


def test_a_store_that_hangs_is_not_waited_for(hanging):
    begun = time.monotonic()
    for _ in range(6):
        status, body = got(hanging, "/readyz")
        assert (status, json.loads(body)["store"]) == (503, "the store must answer within 0.2 seconds")
        assert got(hanging, "/metrics")[0] == 200
    assert predict(hanging, rows=LOGITS[:1].tolist())[0] == 200
    status, answer = label(hanging, ids=["a"], labels=["joy"])
    assert (status, answer["detail"].split(".")[0]) == (503, "the store must answer within 1 seconds, got no answer")
    assert time.monotonic() - begun < 20


def test_rows_are_predicted_while_a_new_rule_waits_for_the_store(app, monkeypatch):
    goes_on = threading.Event()
    monkeypatch.setattr(ledger, "turn_of", lambda _store, _digest: 2 * goes_on.wait(30))
    other_rule = Loaded(make_rule(500, 1000), Answering(0.1))
    follower = threading.Thread(target=app.service.ledger.follow, args=(other_rule,))
    follower.start()
    try:
        answered = threading.Event()
        other = threading.Thread(target=lambda: predict(app, rows=LOGITS[:1].tolist()) and answered.set())
        other.start()
        assert answered.wait(10)
    finally:
        goes_on.set()
        follower.join(30)
        other.join(30)


def test_a_store_that_hangs_when_it_is_asked_for_ids_keeps_nobody_waiting(app, monkeypatch):
    """The ids of rows are many, so that old ones are known to the store alone."""
    monkeypatch.setattr(known_ids, "IDS", 2)
    monkeypatch.setattr(known_ids, "PATIENCE", 0.2)
    store, hangs = app.service.ledger.store, threading.Event()
    app.service.ledger._ids._last.most = 2
    store.check()
    known, asks = store.known, []

    def slow(names):
        asks.append(names)
        hangs.wait(30)
        return known(names)

    async def meanwhile():
        work = asyncio.create_task(asked(app, "POST", "/predict", body("d"), JSON))
        await asyncio.sleep(0.05)
        health = await asked(app, "GET", "/healthz")
        told = work.done()
        return health[0], told, (await work)[0]

    assert predict(app, rows=LOGITS[:1].tolist(), ids=["a"])[0] == 409  # the store knows it
    monkeypatch.setattr(store, "known", slow)
    assert asyncio.run(meanwhile()) == (200, False, 200)
    assert [predict(app, rows=LOGITS[:1].tolist(), ids=[name])[0] for name in "ef"] == [200, 200]
    assert asks == [["d"]]  # it is not asked again while it hangs
    hangs.set()
    monkeypatch.setattr(store, "known", known)
    app.service.ledger._ids._late.result(10)
    assert predict(app, rows=LOGITS[:1].tolist(), ids=["a"])[0] == 409


JSON = [(b"content-type", b"application/json")]


def body(name):
    return json.dumps({"rows": LOGITS[:1].tolist(), "ids": [name]}).encode()
