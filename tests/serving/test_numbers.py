"""Numbers of the server beside slow and obvious ones: what is stored, counted, shown and limited."""

import asyncio
import io
import json
import math

import numpy as np
import pytest

import rankset as rs

pytest.importorskip("starlette")

from rankset.core.coverage_law import binomial_interval
from rankset.errors import RuleError
from rankset.serving import access as access_module
from rankset.serving.access import Access, Token, session_of
from rankset.serving.live_numbers import live_numbers
from rankset.streams.over_time import binomial_band
from serving_process import CLASSES, LABELS, LOGITS, TOKEN, make_rule
from serving_requests import asked, label, predict

ROWS = LOGITS[1000:].astype(np.float64)
NAMED = [CLASSES[one] for one in LABELS[1000:]]


@pytest.fixture
def app(tmp_path):
    app = rs.serving.app(make_rule(), store=tmp_path / "rows.db", limits=rs.serving.Limits(rows=1200, body=300_000))
    yield app
    app.close()


def post(app, path, body, kind=b"application/json"):
    status, answer = asyncio.run(asked(app, "POST", path, body, [(b"content-type", kind)]))
    return status, json.loads(answer)


def numbers_of(app):
    """All metrics, by name and labels."""
    _, text = asyncio.run(asked(app, "GET", "/metrics"))
    lines = [line for line in text.decode().splitlines() if not line.startswith("#")]
    return {line.rpartition(" ")[0].removeprefix("rankset_"): float(line.rpartition(" ")[2]) for line in lines}


def served(app, count, start=0, **options):
    """Predict rows and send their labels."""
    ids = list(range(start, start + count))
    answer = predict(app, rows=ROWS[start : start + count].tolist(), ids=ids, **options)[1]
    assert label(app, ids=ids, labels=NAMED[start : start + count])[1]["new"] == count
    assert app.service.ledger.learner.settle()
    return answer


def test_metrics_count_what_was_answered(app):
    sets = served(app, 300)["sets"]
    served(app, 50, start=300, alpha=0.3)
    found = numbers_of(app)
    sizes = [len(one) for one in sets]
    for end in (0, 1, 2, 3, 5):
        assert found[f'set_size_bucket{{le="{end}"}}'] == sum(size <= end for size in sizes)
    assert (found["set_size_sum"], found["set_size_count"]) == (sum(sizes), 300)
    missed = sum(name not in one for name, one in zip(NAMED, sets, strict=False))
    assert (found["labels_total"], found["misses_total"]) == (300, missed)
    assert found['feedback_total{answer="new"}'] == 350
    times = [found[name] for name in found if name.startswith('request_seconds_bucket{route="/predict"')]
    assert times == sorted(times)
    assert times[-1] == found['request_seconds_count{route="/predict"}'] == 2


def test_the_live_page_shows_these_numbers(app):
    sets = served(app, 300)["sets"]
    served(app, 100, start=300, alpha=0.3)
    monitor = app.service.ledger.monitor
    told = live_numbers(app.service.loaded, monitor, app.service.metrics.now())
    assert told["size"] == sum(map(len, sets)) / 300
    shares = [one["coverage"] for one in told["classes"]]
    assert shares == sorted(shares)
    for one in told["classes"]:
        rows = [row for row in range(300) if NAMED[row] == one["name"]]
        covered = sum(one["name"] in sets[row] for row in rows)
        low, high = binomial_interval(covered, len(rows), 0.95)
        assert (one["labels"], one["coverage"]) == (len(rows), round(covered / len(rows), 4))
        assert (one["low"], one["high"]) == (round(low, 4), round(high, 4))
    low, high = binomial_band(np.array([50]), 0.9)
    assert set(told["blocks"]["low"]) == {float(f"{low[0]:.5g}")}
    assert set(told["blocks"]["high"]) == {float(f"{high[0]:.5g}")}
    for one in told["alarms"]:
        own = getattr(monitor.watching, one["name"])
        assert one["evidence"] == round(own.log / math.log(10), 4)
        assert one["limit"] == round(math.log10(20 if one["name"] == "coverage" else 40), 4)


def test_what_is_stored_of_a_row(tmp_path):
    groups = np.array(["north", "söuth"] * 500)
    rule = make_rule(condition=rs.PerGroup(), groups=groups)
    app = rs.serving.app(rule, store=tmp_path / "rows.db")
    predict(app, rows=ROWS[:2].tolist(), ids=["a", "b"], groups=["söuth", "north"], alpha=0.2)
    app.service.ledger.store.check()
    first, second = app.service.ledger.store.history()
    assert [json.loads(one.group) for one in (first, second)] == ["söuth", "north"]
    assert first.outputs.tolist() == ROWS[0].tolist()
    powers = np.exp(ROWS[0] - ROWS[0].max())
    assert first.largest == pytest.approx((powers / powers.sum()).max(), rel=1e-12)
    sets = rule.predict(ROWS[:2], alpha=0.2, groups=["söuth", "north"])
    assert (first.codes.tolist(), second.codes.tolist()) == (
        sets.codes[: sets.sizes[0]].tolist(),
        sets.codes[sets.sizes[0] :].tolist(),
    )
    assert first.alpha == 0.2
    app.close()


def test_every_row_of_a_large_request_is_stored_and_learned_once(app):
    status, _ = post(app, "/predict", npy(LOGITS[:1200]), b"application/x-npy")
    assert status == 200
    assert app.service.ledger.learner.settle()
    app.service.ledger.store.check()
    assert (app.service.ledger.store.rows, app.service.ledger.monitor.ever.seen) == (1200, 1200)


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def test_limits_are_reached_before_they_are_exceeded(app):
    assert post(app, "/predict", npy(LOGITS[:1201]), b"application/x-npy")[0] == 413
    ids = [f"never {one}" for one in range(1200)]
    assert label(app, ids=ids, labels=[0] * 1200)[1]["unknown"] == 1200
    status, told = label(app, ids=[*ids, "more"], labels=[0] * 1201)
    assert (status, told["what"]) == (413, "the number of labels")
    body = json.dumps({"rows": ROWS[:1].tolist()}).encode()
    assert post(app, "/predict", body.ljust(300_000))[0] == 200
    assert post(app, "/predict", body.ljust(300_001))[0] == 413


def test_rows_that_only_the_triage_saw_are_counted(tmp_path):
    triage = rs.triage(LOGITS[:1000], LABELS[:1000], kind="logits", classes=CLASSES)
    app = rs.serving.app(make_rule(), triage=triage)
    body = {"rows": ROWS[:100].tolist(), "error": 0.05}
    accepted = sum(post(app, "/triage", json.dumps(body).encode())[1]["accepted"])
    assert 0 < accepted < 100
    found = numbers_of(app)
    assert (found['accepted_total{accepted="yes"}'], found['accepted_total{accepted="no"}']) == (
        accepted,
        100 - accepted,
    )
    app.close()


def test_after_a_restart_labels_are_learned_once(tmp_path):
    where = tmp_path / "rows.db"
    app = rs.serving.app(make_rule(), store=where)
    served(app, 10)
    app.close()
    with rs.serving.Store.open(where, rule=make_rule()) as store:
        with store._database.writing() as connection:
            connection.exec_driver_sql("DELETE FROM rankset_feedback WHERE number <= 6")
        store.check()
    again = rs.serving.app(make_rule(), store=where)
    assert again.service.ledger.monitor.ever.labels == 4
    assert label(again, ids=[0], labels=[NAMED[0]])[1]["new"] == 1
    assert again.service.ledger.learner.settle()
    assert again.service.ledger.monitor.ever.labels == 5
    again.close()


def test_a_new_triage_is_loaded_with_the_rule(tmp_path):
    make_rule().save(tmp_path / "rule.rankset")
    rs.triage(LOGITS[:1000], LABELS[:1000], kind="logits", classes=CLASSES).save(tmp_path / "triage.rankset")
    app = rs.serving.app(tmp_path / "rule.rankset", triage=tmp_path / "triage.rankset")
    assert app.service.loaded.triage.n == 1000
    rs.triage(LOGITS[:700], LABELS[:700], kind="logits", classes=CLASSES).save(tmp_path / "triage.rankset")
    assert asyncio.run(app.service.reload())
    assert app.service.loaded.triage.n == 700
    app.close()


def test_a_rule_with_another_use_of_groups_is_not_loaded(tmp_path):
    make_rule().save(tmp_path / "rule.rankset")
    app = rs.serving.app(tmp_path / "rule.rankset")
    before = app.service.loaded
    make_rule(condition=rs.PerGroup(), groups=["a", "b"] * 500).save(tmp_path / "rule.rankset")
    assert not asyncio.run(app.service.reload())
    assert app.service.loaded is before
    with pytest.raises(RuleError, match="use groups as the rule before"):
        app.service.files.load(before)
    app.close()


def test_rules_with_other_rows_have_other_digests(tmp_path):
    digests = []
    for last in (999, 1000):
        app = rs.serving.app(make_rule(0, last))
        digests.append(app.service.loaded.digest)
        app.close()
    assert digests[0] != digests[1]


class Time:
    def __init__(self):
        self.now = 1000.0

    def monotonic(self):
        return self.now


@pytest.fixture
def time(monkeypatch):
    made = Time()
    monkeypatch.setattr(access_module, "time", made)
    return made


def cookie(session):
    return f"rankset_session={session}".encode()


def knows(access, session):
    return access._knows(cookie(session))


def test_a_session_ends_after_twelve_hours(time):
    access = Access(Token(TOKEN))
    session = access.open_session(TOKEN)
    assert session_of(cookie(session)) == session
    time.now += 12 * 3600 - 1
    assert knows(access, session)
    time.now += 2
    assert not knows(access, session)


def test_the_oldest_session_is_forgotten_for_a_new_one():
    access = Access(Token(TOKEN))
    sessions = [access.open_session(TOKEN) for _ in range(101)]
    assert [knows(access, one) for one in sessions] == [False] + [True] * 100


def test_wrong_tokens_must_wait_a_minute(time):
    access = Access(Token(TOKEN))
    statuses = []
    for pause in [0.0] * 10 + [1.0, 58.0, 2.0]:
        time.now += pause
        with pytest.raises(rs.RanksetError) as caught:
            access.open_session("wrong", "10.0.0.1")
        statuses.append(caught.value.status)
    assert statuses == [401] * 10 + [429, 429, 401]


def test_tokens_are_compared_in_constant_time(monkeypatch):
    compared = []
    monkeypatch.setattr(access_module.hmac, "compare_digest", lambda *both: compared.append(both) or False)
    assert not Token(TOKEN).equals(TOKEN.encode())
    assert compared == [(TOKEN.encode(), TOKEN.encode())]


@pytest.mark.parametrize("host", ["evil-localhost", "localhost.evil", "evil.localhost:80", "127.0.0.1.evil", ""])
def test_names_of_hosts_are_compared_as_a_whole(host):
    access = Access(None, ("localhost", "127.0.0.1"))
    assert not access.allows_host(host.encode())
    assert access.allows_host(b"LocalHost:8000")
