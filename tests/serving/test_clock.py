"""A clock that is wrong for some time: alarms see the rows that come afterwards, also after a restart."""

import logging
import time

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("sqlalchemy")

import rankset as rs
from rankset.serving import Feedback, Prediction
from rankset.serving.clock import Clock
from rankset.serving.loaded import Answering, Loaded
from rankset.serving.storage import limits as limiting
from serving_process import CLASSES, LABELS, LOGITS, make_rule
from serving_requests import label, predict

DAY = 86400.0
RULE = make_rule()


class Shifted:
    """The time of the machine, shifted."""

    def __init__(self, seconds):
        self.seconds, self._now = seconds, time.time

    def __call__(self):
        return self._now() + self.seconds


@pytest.fixture
def clock(monkeypatch):
    made = Shifted(0.0)
    monkeypatch.setattr(time, "time", made)
    return made


def send(app, first, last, *, wrong):
    ids = [f"row {number}" for number in range(first, last)]
    assert predict(app, rows=LOGITS[first:last].tolist(), ids=ids)[0] == 200
    labels = [CLASSES[(label + wrong) % 6] for label in LABELS[first:last]]
    assert label(app, ids=ids, labels=labels)[1]["new"] == last - first


def raised(app):
    app.service.ledger.learner.settle()
    return {one.name for one in app.service.ledger.monitor.watching.alarms.raised}


def test_times_go_forward_unless_the_clock_was_set_back_by_much(clock):
    made = Clock()
    clock.seconds = 30.0
    first = made.times(3)
    clock.seconds = 0.0
    assert first == sorted(first)
    assert made.times()[0] > first[-1]
    clock.seconds = -3 * DAY
    assert first[0] - 4 * DAY < made.times()[0] < first[0] - 2 * DAY


@pytest.mark.parametrize("restarts", [0, 1, 2])
def test_a_clock_that_was_ahead_blinds_no_alarm(tmp_path, clock, restarts):
    clock.seconds = 3 * DAY
    app = rs.serving.app(RULE, store=tmp_path / "rows.db")
    send(app, 1000, 1005, wrong=0)
    clock.seconds = 0.0
    send(app, 1005, 1305, wrong=1)
    assert raised(app) == {"labels", "coverage"}
    counted = app.service.ledger.monitor.own.labels
    for _ in range(restarts):
        app.close()
        app = rs.serving.app(RULE, store=tmp_path / "rows.db")
        assert raised(app) == {"labels", "coverage"}
    assert app.service.ledger.monitor.own.labels == counted == 305
    app.close()


@pytest.mark.parametrize("back", [50.0, 3600.0, 3 * DAY])
@pytest.mark.parametrize("restarts", [0, 1])
def test_labels_of_the_rule_before_are_not_those_of_the_next_one(tmp_path, clock, back, restarts):
    clock.seconds = back
    first, second = Loaded(RULE, Answering(0.1)), Loaded(make_rule(500, 1000), Answering(0.1))
    app = rs.serving.app(RULE, store=tmp_path / "rows.db")
    assert predict(app, rows=LOGITS[1000:1200].tolist(), ids=[f"row {n}" for n in range(200)])[0] == 200
    app.service.ledger.follow(second)
    clock.seconds = 0.0
    send(app, 1300, 1304, wrong=0)
    labels = [CLASSES[(label + 1) % 6] for label in LABELS[1000:1200]]
    assert label(app, ids=[f"row {n}" for n in range(200)], labels=labels)[1]["new"] == 200
    for _ in range(restarts):
        app.close()
        app = rs.serving.app(second.rule, store=tmp_path / "rows.db")
    assert raised(app) == set()
    own = app.service.ledger.monitor.own
    assert (own.rows, own.labels) == (4, 4)
    app.service.ledger.follow(first)  # the first rule again: a new turn
    assert (raised(app), app.service.ledger.monitor.own.rows) == (set(), 0)
    app.close()


def test_a_clock_that_is_set_right_between_two_servers_blinds_no_later_one(tmp_path, clock):
    clock.seconds = 3 * DAY
    app = rs.serving.app(RULE, store=tmp_path / "rows.db")
    send(app, 1000, 1005, wrong=0)
    app.close()
    clock.seconds = 0.0
    for _ in range(2):
        app = rs.serving.app(RULE, store=tmp_path / "rows.db")
        if not raised(app):
            send(app, 1005, 1305, wrong=1)
        assert raised(app) == {"labels", "coverage"}
        app.close()


def test_another_rule_on_a_store_is_told(tmp_path, caplog):
    caplog.set_level(logging.INFO, "rankset.serving")
    app = rs.serving.app(RULE, store=tmp_path / "rows.db")
    send(app, 1000, 1010, wrong=0)
    app.close()
    rs.serving.app(RULE, store=tmp_path / "rows.db").close()
    assert "from before this rule" not in caplog.text
    rs.serving.app(make_rule(method="aps"), store=tmp_path / "rows.db").close()
    assert "has rows from before this rule: its numbers and alarms begin now" in caplog.text


def stored(where, rows):
    with rs.serving.Store.open(where, rule=RULE) as store:
        codes, now = np.array([0], dtype=np.int32), time.time()
        store.remember([Prediction(f"row {n}", now, LOGITS[n], None, codes, 0.1, 0.5) for n in range(rows)])
        assert set(store.feedback([Feedback(f"row {n}", 0, now) for n in range(rows)])) == {"new"}


def test_a_clock_that_is_ahead_at_the_start_may_be_set_right_before_rows_are_dropped(tmp_path, clock):
    stored(tmp_path / "rows.db", 100)
    clock.seconds = 400 * DAY
    with rs.serving.Store.open(tmp_path / "rows.db", rule=RULE, max_age=365 * DAY) as store:
        store.check()
        clock.seconds = 0.0
        assert store.prune() == 0
        assert store.rows == 100


def test_it_is_logged_if_most_rows_are_dropped_for_their_age(tmp_path, clock, monkeypatch, caplog):
    monkeypatch.setattr(limiting, "INTERVAL", 0.1)
    stored(tmp_path / "rows.db", 100)
    clock.seconds = 400 * DAY
    with rs.serving.Store.open(tmp_path / "rows.db", rule=RULE, max_age=365 * DAY) as store:
        end = time.monotonic() + 20
        while store.rows and time.monotonic() < end:
            time.sleep(0.05)
        assert store.rows == 0
    assert "100 of 100 rows are too old and are dropped" in caplog.text


def test_rows_come_after_labels_also_if_the_clock_is_set_back_a_little(monkeypatch):
    """So their order by time is the order in which they came."""
    clock, now = Clock(), [1000.0]
    monkeypatch.setattr(time, "time", lambda: now[0])
    times = clock.times(2)
    now[0] = 1030.0
    times.append(clock.label_time())
    now[0] = 1001.0
    times += [*clock.times(2), clock.label_time()]
    assert times == sorted(times)
    assert times[3] > times[2]
