"""Thousands of hostile requests: no server error, no crash, no traceback, and it still answers."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

import rankset as rs
from hostile_requests import Client, Hostile, misbehave
from serving_process import CLASSES, LABELS, LOGITS, TOKEN, Served, make_rule

EACH = 1000
THREADS = 4


@pytest.mark.parametrize("token", [None, TOKEN])
def test_no_request_breaks_the_server(tmp_path, token):
    make_rule().save(tmp_path / "rule.rankset")
    rs.triage(LOGITS[:1000], LABELS[:1000], kind="logits", classes=CLASSES).save(tmp_path / "triage.rankset")
    options = ("--store", tmp_path / "rows.db", "--triage", tmp_path / "triage.rankset", "--max-seconds", 2)
    served = Served.start(tmp_path / "rule.rankset", tmp_path, *options, token=token)

    def send(seed):
        hostile, client, found = Hostile(seed, CLASSES, token), Client(served.port), Counter()
        for number in range(EACH):
            request = hostile.request()
            status, body = client.ask(request)
            found[status] += 1
            assert status is None or status < 500, (request[:2000], status, body[:2000])
            assert status is not None or b"\x01" in request or len(request) > 4000, request[:2000]
            assert b"Traceback" not in body
            if number % 100 == 0:
                misbehave(served.port, hostile, 1.0)
        client.close()
        return found

    with ThreadPoolExecutor(THREADS) as pool:
        statuses = sum(pool.map(send, range(THREADS)), Counter())
    assert {200, 400, 404, 405, 415, 422} <= set(statuses)
    assert (401 in statuses) == (token is not None)
    assert served.post("/predict", {"rows": LOGITS[:1].tolist()}).status == 200
    assert served.get("/readyz").json["ready"]
    log = served.logged()
    assert "Traceback" not in log
    assert TOKEN not in log
    assert served.stop() == 143
