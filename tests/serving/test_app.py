"""``rankset.serving.app`` and ``rankset serve``: what can be passed, other kinds of rules, and a full disk."""

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import rankset as rs
from rankset.errors import KindError, RuleError

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from rankset.serving.loaded import Answering, Files, Loaded
from rankset.serving.predictions import answer, asked_of
from refusals import refused
from serving_process import CLASSES, LABELS, LOGITS, TOKEN, make_rule
from serving_requests import asked, label, predict

SCORES = [rs.Rank(), rs.Thr(), rs.Aps(), rs.Raps(), rs.Margin(), rs.TopK()]


@pytest.mark.parametrize("score", SCORES, ids=repr)
def test_every_score(score, tmp_path):
    rule = make_rule(score=score)
    app = rs.serving.app(rule, store=tmp_path / "rows.db")
    rows = LOGITS[1000:1030].astype(np.float64)
    status, answer = predict(app, rows=rows.tolist(), ids=list(range(30)))
    assert (status, answer["sets"]) == (200, rule.predict(rows, alpha=0.1).to_lists())
    assert label(app, ids=list(range(30)), labels=LABELS[1000:1030].tolist())[1]["new"] == 30
    assert app.service.ledger.learner.settle()
    assert app.service.ledger.monitor.watching.labels.rows == 30
    app.close()


def test_groups(tmp_path):
    groups = np.where(LABELS[:1000] % 2, "a", "b")
    rule = make_rule(condition=rs.PerGroup(), groups=groups)
    app = rs.serving.app(rule, store=tmp_path / "rows.db")
    rows, new = LOGITS[1000:1040].astype(np.float64), ["a", "b", "c", "a"] * 10
    status, answer = predict(app, rows=rows.tolist(), groups=new, ids=list(range(40)))
    with pytest.warns(rs.RanksetWarning):
        wanted = rule.predict(rows, alpha=0.1, groups=new).to_lists()
    assert (status, answer["sets"]) == (200, wanted)
    assert label(app, ids=[3, 2], labels=["joy", "love"])[1]["new"] == 2
    assert app.service.ledger.learner.settle()
    assert app.service.ledger.learner.trouble is None
    assert predict(app, rows=rows.tolist())[0] == 422
    assert predict(app, rows=rows.tolist(), groups=["a"])[0] == 422
    app.close()
    again = rs.serving.app(rule, store=tmp_path / "rows.db")
    assert again.service.ledger.monitor.ever.labels == 2
    again.close()


def test_an_id_is_known_long_after_its_row(tmp_path, monkeypatch):
    monkeypatch.setattr("rankset.serving.known_ids.IDS", 10)
    app = rs.serving.app(make_rule(), store=tmp_path / "rows.db")
    rows = LOGITS[1000:1030].astype(np.float64).tolist()
    assert predict(app, rows=rows, ids=list(range(30)))[0] == 200
    app.service.ledger.store.check()
    status, answer = predict(app, rows=rows[:2], ids=["new", 3])
    assert (status, answer["what"], answer["row"]) == (409, "ids", 1)
    assert predict(app, rows=rows[:2], ids=["new", "newer"])[0] == 200
    app.close()


def test_rows_whose_ids_are_stored_are_counted_as_lost(tmp_path):
    app = rs.serving.app(make_rule(), store=tmp_path / "rows.db")
    rows = LOGITS[1000:1002].astype(np.float64).tolist()
    assert predict(app, rows=rows, ids=["a", "b"])[0] == 200
    store = app.service.ledger.store
    store.check()
    store.remember([next(store.history())])
    store.check()
    assert (store.rows, store.lost) == (2, 1)
    assert app.service.troubles == ["Rows that could not be stored: 1."]
    app.close()


def blocks_of(app):
    assert app.service.ledger.learner.settle()
    columns = app.service.ledger.monitor.history.columns()
    return {name: values.tolist() for name, values in columns.items()}


def test_labels_wait_for_rows_that_are_not_learned_yet(tmp_path):
    app = rs.serving.app(make_rule(), store=tmp_path / "rows.db")
    with app.service.ledger.monitor.lock:
        for first in range(0, 150, 50):
            ids = list(range(first, first + 50))
            assert predict(app, rows=LOGITS[1000 + first : 1050 + first].tolist(), ids=ids)[0] == 200
            assert label(app, ids=ids, labels=LABELS[1000 + first : 1050 + first].tolist())[1]["new"] == 50
    live = blocks_of(app)
    assert live["labels"] == live["rows"] == [50, 50, 50]
    app.close()
    again = rs.serving.app(make_rule(), store=tmp_path / "rows.db")
    assert blocks_of(again) == live
    again.close()


def test_a_large_request_beside_small_ones_keeps_rows_and_labels_together(tmp_path):
    app = rs.serving.app(make_rule(), store=tmp_path / "rows.db")
    rows, labels = np.tile(LOGITS[1000:], (3, 1)), np.tile(LABELS[1000:], 3).tolist()
    large = threading.Thread(target=predict, args=(app,), kwargs={"rows": rows.tolist(), "ids": list(range(3000))})
    large.start()
    for number in range(40):
        assert predict(app, rows=rows[:1].tolist(), ids=[f"one {number}"])[0] == 200
    large.join()
    names = [*range(3000), *(f"one {number}" for number in range(40))]
    assert label(app, ids=names, labels=[*labels, *[labels[0]] * 40])[1]["new"] == 3040
    live = blocks_of(app)
    assert live["labels"] == live["rows"]
    times = [one.time for one in app.service.ledger.store.history() if isinstance(one, rs.serving.Prediction)]
    assert times == sorted(times)
    app.close()


def test_rows_that_another_rule_predicted_meanwhile_are_predicted_again():
    app = rs.serving.app(make_rule())
    before = app.service.loaded
    other = Loaded(make_rule(500, 1000), Answering(0.1))
    rows = LOGITS[1000:1010].astype(np.float64)
    asked = asked_of(rows, before, None, None, None, None)
    app.service.ledger.follow(other)
    assert not app.service.ledger.take(answer(before, asked), before)
    found = asyncio.run(app.service.predict(before, asked))
    wanted = other.rule.predict(rows, alpha=0.1)
    assert found.codes.tolist() == wanted.codes.tolist()
    assert found.offsets == wanted.offsets.tolist()
    assert app.service.ledger.learner.settle()
    assert app.service.ledger.monitor.own.seen == 10
    app.close()


def test_ids_that_would_draw_otherwise_as_texts_are_refused(tmp_path):
    app = rs.serving.app(make_rule(), store=tmp_path / "rows.db")
    rows = LOGITS[1000:1002].tolist()
    for call in (lambda ids: predict(app, rows=rows, ids=ids), lambda ids: label(app, ids=ids, labels=[0, 0])):
        assert call([2**63 - 1, -(2**63)])[0] == 200
        status, answer = call([1, 2**63])
        assert (status, answer["what"], answer["row"]) == (422, "ids", 1)
        assert "texts" in answer["remedy"]
    app.close()


@pytest.mark.parametrize(
    "options", [{}, {"condition": rs.PerGroup(), "groups": ["a", "b"] * 500}, {"ids": range(1000)}]
)
def test_no_rows_need_no_groups_and_no_ids(options):
    app = rs.serving.app(make_rule(score="aps", **options))
    assert predict(app, rows=[]) == (200, {"sets": [], "sizes": [], "ids": [], "alpha": 0.1})
    app.close()


def test_large_requests_do_not_wait_for_a_store_that_is_locked(tmp_path):
    app = rs.serving.app(make_rule(), store=tmp_path / "rows.db")
    rows = np.tile(LOGITS[1000:], (4, 1)).tolist()
    lock = sqlite3.connect(tmp_path / "rows.db", isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    start = time.monotonic()
    status, answer = predict(app, rows=rows)
    assert (status, len(answer["sets"])) == (200, 4000)
    assert time.monotonic() - start < 4, "one part waits a second, the seven others do not"
    lock.execute("ROLLBACK")
    lock.close()
    app.service.ledger.store.check()
    assert (app.service.ledger.store.rows, app.service.ledger.store.lost) == (4000, 0)
    app.close()


def test_rows_that_nobody_waits_for_are_not_written(tmp_path, monkeypatch):
    app = rs.serving.app(make_rule(), store=tmp_path / "rows.db", limits=rs.serving.Limits(seconds=0.2))

    def slow(loaded, asked):
        time.sleep(1.0)
        return answer(loaded, asked)

    monkeypatch.setattr("rankset.serving.service.answer", slow)
    rows, ids = LOGITS[1000:2000].tolist(), list(range(1000))
    status, told = predict(app, rows=rows, ids=ids)
    assert (status, told["remedy"]) == (503, "Send fewer rows at once, with new ids.")
    monkeypatch.undo()
    time.sleep(1.2)
    assert predict(app, rows=rows[:10], ids=ids[:10])[0] == 200
    app.service.ledger.store.check()
    assert app.service.ledger.store.rows == 10
    app.close()


def test_rows_that_come_faster_than_they_are_learned_take_no_memory(monkeypatch):
    monkeypatch.setattr("rankset.serving.learner.MOST", 30)
    app = rs.serving.app(make_rule())
    with app.service.ledger.monitor.lock:
        for _ in range(10):
            assert predict(app, rows=LOGITS[1000:1010].tolist())[0] == 200
    assert app.service.ledger.learner.settle()
    assert app.service.ledger.monitor.ever.seen < 60
    assert app.service.troubles == ["The alarms could not learn from some rows. The log says why."]
    app.close()


def test_a_clock_that_was_wrong_once_spoils_no_times(tmp_path, monkeypatch):
    now = time.time()
    monkeypatch.setattr("rankset.serving.clock.time.time", lambda: now + 86400)
    rows = LOGITS[1000:1010].tolist()
    for day in (0, 1):
        app = rs.serving.app(make_rule(), store=tmp_path / "rows.db")
        assert predict(app, rows=rows, ids=[f"{day} {one}" for one in range(10)])[0] == 200
        assert label(app, ids=[f"{day} {one}" for one in range(10)], labels=[0] * 10)[1]["new"] == 10
        assert app.service.ledger.learner.settle()
        assert app.service.ledger.monitor.ever.labels == 10 * (day + 1)
        app.close()
        monkeypatch.setattr("rankset.serving.clock.time.time", lambda: now + 5)
    with rs.serving.Store.open(tmp_path / "rows.db", rule=make_rule()) as store:
        times = [one.time - now for one in store.history() if isinstance(one, rs.serving.Prediction)]
        assert sorted(round(one) for one in times) == [5] * 10 + [86400] * 10


def test_a_class_with_the_word_group_is_no_group():
    names = [f"age group {one}" for one in range(6)]
    rule = rs.calibrate(LOGITS[:1000], [names[one] for one in LABELS[:1000]], kind="logits", classes=names)
    app = rs.serving.app(rule)
    status, told = predict(app, rows=[{"age group 9": 1.0}])
    assert status == 422
    assert "Leave groups out" not in told["remedy"]
    status, told = predict(app, rows=LOGITS[:1].tolist(), groups=["a"])
    assert (status, told["remedy"]) == (422, "Leave groups out: this rule has none.")
    app.close()


def test_ids_that_draw():
    ids = np.arange(1000)
    rule = make_rule(score=rs.TieBreak(rs.Thr()), ids=ids)
    app = rs.serving.app(rule)
    rows = LOGITS[1000:1040].astype(np.float64)
    status, answer = predict(app, rows=rows.tolist(), ids=list(range(5000, 5040)))
    assert (status, answer["sets"]) == (200, rule.predict(rows, alpha=0.1, ids=range(5000, 5040)).to_lists())
    assert predict(app, rows=rows.tolist())[0] == 422
    app.close()


def test_binary(tmp_path):
    probs, labels = np.linspace(0, 1, 200), (np.linspace(0, 1, 200) + np.tile([0, 0.3], 100) > 0.6).astype(int)
    rule = rs.calibrate(probs, labels, kind="binary")
    app = rs.serving.app(rule, store=tmp_path / "rows.db")
    wanted = rule.predict(np.array([0.2, 0.55, 0.9]), alpha=0.1).to_lists()
    assert predict(app, rows=[0.2, 0.55, 0.9], ids=["a", "b", "c"])[1]["sets"] == wanted
    assert predict(app, rows=[[0.2], [0.55], [0.9]])[1]["sets"] == wanted
    assert predict(app, rows=[1.5])[0] == 422
    assert label(app, ids=["a", "c"], labels=[0, 1])[1]["new"] == 2
    assert app.service.ledger.learner.settle()
    assert app.service.ledger.monitor.ever.labels == 2
    app.close()


def test_names_of_classes_can_be_numbers_and_halves_of_pairs():
    probs = np.tile([[0.6, 0.3, 0.1]], (30, 1))
    app = rs.serving.app(rs.calibrate(probs, [10] * 30, classes=[10, "10", "\ud800"]))
    assert predict(app, rows=[{"10": 0.7, "\\ud800": 0.3}])[0] == 422
    status, answer = predict(app, rows=[[0.6, 0.3, 0.1]], alpha=0.01)
    assert (status, answer["sets"]) == (200, [[10, "10", "\\ud800"]])
    numbers = rs.serving.app(rs.calibrate(probs, [7] * 30, classes=[7, 8, 9]))
    assert predict(numbers, rows=[{"7": 0.7, "8": 0.3}])[1]["sets"] == [[7]]
    assert predict(numbers, rows={"7": [0.7], "9": [0.0], "8": [0.3]})[1]["sets"] == [[7]]
    app.close()
    numbers.close()


def test_rules_that_cannot_be_watched_are_refused():
    several = rs.calibrate(np.eye(3), np.eye(3, dtype=int), target=rs.Recall(), kind="marginals")
    with pytest.raises(RuleError, match="a server"):
        rs.serving.app(several)
    other = rs.triage(LOGITS[:100], LABELS[:100], kind="logits")
    with pytest.raises(RuleError, match="triage"):
        rs.serving.app(make_rule(), triage=other)


@pytest.mark.parametrize("token", ["", "short", "with spaces in the middle", "é" * 20, 7, "line\nline\nline\nline"])
def test_weak_tokens_are_refused_and_not_shown(token):
    with pytest.raises(KindError, match="16 to 4,096") as caught:
        rs.serving.app(make_rule(), token=token)
    assert token == "" or str(token) not in str(caught.value)


def test_the_token_is_not_in_texts_of_objects():
    app = rs.serving.app(make_rule(), token=TOKEN)
    assert TOKEN not in repr(app) + repr(app.access.token) + str(vars(app.access))
    with pytest.raises(TypeError):
        app.access.token.__reduce__()
    app.close()


@pytest.mark.parametrize(
    "limits", [{"rows": 0}, {"body": -1}, {"seconds": 0}, {"seconds": float("nan")}, {"rows": 1.5}]
)
def test_limits_are_positive(limits):
    with pytest.raises(KindError):
        rs.serving.Limits(**limits)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full disk here")
def test_a_store_that_is_full_says_so(tmp_path):
    app = rs.serving.app(make_rule(), store=tmp_path / "rows.db")
    rows = LOGITS[1000:1010].astype(np.float64)
    assert predict(app, rows=rows.tolist(), ids=list(range(10)))[0] == 200
    app.service.ledger.store.check()
    connection = app.service.ledger.store._database
    with connection.engine.connect() as one:  # pages are counted: no more of them
        pages = one.exec_driver_sql("PRAGMA page_count").scalar()
    writer = app.service.ledger.store._writer
    real = writer._write

    def full(batch):
        with connection.writing() as one:
            one.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
            one.exec_driver_sql("CREATE TABLE filler (content BLOB)")
            one.exec_driver_sql("INSERT INTO filler VALUES (zeroblob(10000000))")
        return real(batch)

    writer._write = full
    status, answer = label(app, ids=[1], labels=["joy"])
    assert status == 507
    assert answer["title"] == "Insufficient Storage"
    assert predict(app, rows=rows[:1].tolist())[0] == 200
    writer._write = real
    assert label(app, ids=[1], labels=["joy"])[0] == 200
    app.close()


def test_labels_are_written_also_if_nobody_waits_any_more(tmp_path):
    app = rs.serving.app(make_rule(), store=tmp_path / "rows.db", limits=rs.serving.Limits(seconds=0.2))
    predict(app, rows=LOGITS[:2].tolist(), ids=["a", "b"])
    writer = app.service.ledger.store._writer
    real = writer._write

    def slow(batch):
        time.sleep(1)
        return real(batch)

    writer._write = slow
    status, answer = label(app, ids=["a"], labels=["joy"])
    assert (status, answer["what"]) == (503, "the store")
    assert "again" in answer["remedy"]
    writer._write = real
    time.sleep(1.5)
    assert label(app, ids=["a", "b"], labels=["joy", "joy"])[1]["answers"] == ["repeated", "new"]
    app.close()


def command(rule, *arguments, **variables):
    known = {name: value for name, value in os.environ.items() if name != "RANKSET_TOKEN"}
    done = subprocess.run(
        [sys.executable, "-m", "rankset", "serve", str(rule), *map(str, arguments)],
        env={**known, **variables},
        capture_output=True,
        text=True,
        timeout=60,
        cwd=rule.parent,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


def test_other_addresses_need_a_token(tmp_path):
    make_rule().save(tmp_path / "rule.rankset")
    for host in ("0.0.0.0", "::", "192.0.2.1"):  # noqa: S104
        code, said = command(tmp_path / "rule.rankset", "--host", host, "--port", 0)
        assert (code, "RANKSET_TOKEN" in said) == (2, True)
    code, said = command(tmp_path / "rule.rankset", "--host", "0.0.0.0", RANKSET_TOKEN="too-short")  # noqa: S104, S106
    assert code != 0
    assert "too-short" not in said
    assert "RANKSET_TOKEN must be a text of 16 to 4,096 letters of ASCII" in said


def test_what_cannot_be_served_is_said_in_one_line(tmp_path):
    make_rule().save(tmp_path / "rule.rankset")
    (tmp_path / "broken.rankset").write_bytes(b"nonsense")
    several = rs.calibrate([[0.7, 0.3]] * 30, np.array([[1, 0]] * 30), target="recall", kind="marginals")
    several.save(tmp_path / "several.rankset")
    rs.triage(LOGITS[:100], LABELS[:100], kind="logits").save(tmp_path / "triage.rankset")
    rs.calibrate(np.full((30, 3), 1 / 3), np.zeros(30, dtype=int)).save(tmp_path / "three.rankset")
    rs.serving.Store.open(tmp_path / "three.db", rule=make_rule()).close()
    for arguments, told in [
        ((tmp_path / "nothing.rankset",), "No such file"),
        ((tmp_path / "broken.rankset",), "the file must be a rankset file"),
        ((tmp_path / "several.rankset",), "Such rules are not served. Use rankset.load(...).predict"),
        ((tmp_path / "rule.rankset", "--triage", tmp_path / "rule.rankset"), "a Triage, got a Rule. Make one with"),
        (
            (tmp_path / "rule.rankset", "--triage", tmp_path / "rule.rankset"),
            "rankset triage and --save triage.rankset",
        ),
        ((tmp_path / "triage.rankset",), "got a Triage. Pass this file as --triage FILE, and a rule"),
        (
            (tmp_path / "rule.rankset", "--store", tmp_path / "a.db", "--max-size", "2"),
            "--max-size must be at least 1,048,576",
        ),
        ((tmp_path / "rule.rankset", "--store", "mysql://host/name"), "Pass the path of a file, or a URL such as"),
        ((tmp_path / "rule.rankset", "--max-body", "10XB"), "--max-body must be a positive number of bytes"),
        ((tmp_path / "rule.rankset", "--max-size", "lots"), "--max-size must be a positive number of bytes"),
        ((tmp_path / "rule.rankset", "--store", ""), "--store is empty"),
        ((tmp_path / "rule.rankset", "--store", ":memory:"), "a database in memory, which ends with the process"),
        ((tmp_path / "rule.rankset", "--store", "None", "--max-age", "90d"), "--store none keeps nothing"),
        ((tmp_path / "nothere.rankset",), "No such file or directory. Check the path."),
        ((tmp_path / "rule.rankset", "--store", "none", "--max-age", "90d"), "--store none keeps nothing"),
        ((tmp_path / "rule.rankset", "--store", "none", "--max-size", "2GB"), "--store none keeps nothing"),
        (
            (tmp_path / "three.rankset",),
            "three.db: the store must have the kind of the rule",
        ),
        (
            (tmp_path / "three.rankset",),
            "another store for this rule. --store FILE names another store, --store none keeps nothing.",
        ),
        ((tmp_path / "rule.rankset", "--store", tmp_path / "a.db", "--max-age", "90"), "days, hours, minutes or"),
        ((tmp_path / "rule.rankset", "--store", tmp_path / "no" / "rows.db"), "folder"),
        ((tmp_path / "rule.rankset", "--store", tmp_path / "rule.rankset"), "store"),
        ((tmp_path / "rule.rankset", "--alpha", "2"), "alpha"),
        ((tmp_path / "rule.rankset", "--max-age", "soon"), "90d"),
        ((tmp_path / "rule.rankset", "--workers", "4"), "No such option"),
    ]:
        code, said = command(*arguments, "--port", 0)
        assert code in (1, 2), arguments
        assert told in said, (arguments, said)


def test_a_port_that_is_taken(tmp_path):
    import socket

    make_rule().save(tmp_path / "rule.rankset")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, said = command(tmp_path / "rule.rankset", "--port", taken.getsockname()[1])
    assert code == 1
    assert "in use. Pass another port with --port" in said
    assert "Usage" not in said


def test_classes_are_those_of_the_data_set():
    assert len(CLASSES) == LOGITS.shape[1]


def small_groups():
    """A rule with many rows of one group, and few of the other."""
    groups = np.where(np.arange(500) < 490, "many", "few")
    return rs.calibrate(LOGITS[:500], LABELS[:500], kind="logits", condition=rs.PerGroup(), groups=groups)


@pytest.mark.parametrize(
    ("rule", "alpha", "told"),
    [
        (small_groups, 0.05, "at least 19 calibration rows are needed for alpha=0.05, got 10 for group 'few'."),
        (small_groups, 0.2, None),
        (make_rule, 0.05, None),
        (lambda: rs.calibrate(LOGITS[:5], LABELS[:5], kind="logits"), 0.05, "got 5. All sets contain every label."),
    ],
)
def test_too_few_calibration_rows_are_told_before_the_first_request(rule, alpha, told, caplog):
    app = rs.serving.app(rule(), alpha=alpha)
    assert (told is None) == (not caplog.messages)
    assert told is None or told in caplog.text
    assert any("Too few calibration rows" in one for one in app.service.troubles) == (told is not None)
    app.close()
    caplog.clear()


def test_too_few_calibration_rows_of_a_new_rule_are_told(tmp_path, caplog):
    few = rs.calibrate(LOGITS[:5], np.array(CLASSES)[LABELS[:5]], kind="logits", classes=CLASSES)
    make_rule().save(tmp_path / "rule.rankset")
    app = rs.serving.app(tmp_path / "rule.rankset", alpha=0.1)
    assert "needed" not in caplog.text
    few.save(tmp_path / "rule.rankset")
    assert asyncio.run(app.service.reload())
    assert "at least 9 calibration rows are needed for alpha=0.1, got 5" in caplog.text
    app.close()


def test_the_rule_says_what_happens_to_empty_sets():
    for empty, told in (("allow", False), ("top", True)):
        app = rs.serving.app(rs.calibrate(LOGITS[:500], LABELS[:500], kind="logits", method="thr"), empty=empty)
        _, body = asyncio.run(asked(app, "GET", "/rule?alpha=0.5"))
        assert json.loads(body)["sets"].endswith(". An empty set gets the most likely label instead") == told
        app.close()


def test_large_answers_are_sent_in_parts_whatever_was_asked(tmp_path):
    """So their bytes are counted until the client has taken them."""
    app, parts = rs.serving.app(make_rule(), store=tmp_path / "rows.db"), []
    ids = [f"{number:0190}" for number in range(2000)]
    messages = [{"type": "http.request", "body": json.dumps({"ids": ids, "labels": ["joy"] * 2000}).encode()}]

    async def receive():
        return messages.pop() if messages else {"type": "http.disconnect"}

    async def send(message):
        parts.append((len(message.get("body", b"")), app._places.bytes))

    headers = [(b"host", b"localhost"), (b"content-type", b"application/json"), (b"transfer-encoding", b"chunked")]
    scope = {"type": "http", "method": "POST", "path": "/feedback", "query_string": b"", "headers": headers}
    asyncio.run(app(scope, receive, send))
    sizes, held = zip(*parts[1:], strict=True)
    assert sum(sizes) > 400_000
    assert max(sizes) <= 65_536
    assert min(held) > 390_000
    assert app._places.bytes == 0
    app.close()


OTHER_RULES = {
    "kind": (
        rs.calibrate(np.exp(LOGITS[:300]) / np.exp(LOGITS[:300]).sum(1, keepdims=True), LABELS[:300], classes=CLASSES),
        "have the kind of the rule before, 'logits'",
        "'probs'",
    ),
    "number of classes": (
        rs.calibrate(LOGITS[:300, :5], LABELS[:300] % 5, kind="logits", classes=CLASSES[:5]),
        "have the classes of the rule before, 6",
        "5",
    ),
    "names": (
        rs.calibrate(LOGITS[:300], LABELS[:300], kind="logits", classes=[*CLASSES[:4], "x", "y"]),
        "have the classes of the rule before, with 'fear' in column 4",
        "'x'",
    ),
}


@pytest.mark.parametrize("what", OTHER_RULES)
def test_what_differs_in_a_new_rule_is_named(tmp_path, what):
    rule, expected, received = OTHER_RULES[what]
    rule.save(tmp_path / "rule.rankset")
    before = Loaded(make_rule(), Answering(0.1))
    with refused(RuleError, what="the new rule", expected=expected, received=received):
        Files(tmp_path / "rule.rankset", None, Answering(0.1)).load(before)


def test_a_rule_that_is_not_served_is_named_with_its_file(tmp_path):
    rows, truths = np.full((40, 3), 0.5), np.eye(3)[np.arange(40) % 3]
    rs.calibrate(rows, truths, target="recall", kind="marginals").save(tmp_path / "several.rankset")
    with refused(RuleError, what="the rule of a server", file=str(tmp_path / "several.rankset")):
        rs.serving.app(tmp_path / "several.rankset")
