"""Who has a place among the requests that are worked on, and how many bytes of bodies are kept."""

import asyncio
import contextlib
import json
import socket
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

import rankset as rs
from rankset.serving import Limits
from rankset.serving.protocol import CUT
from serving_process import CLASSES, LABELS, LOGITS, TOKEN, Served, make_rule
from serving_requests import asked

SESSION = b"POST /session HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
PREDICT = SESSION.replace(b"/session", b"/predict").replace(
    b"\r\n\r\n", f"\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode()
)
TYPE = {"Content-Type": "application/json"}
BODY = {"rows": LOGITS[:1].tolist()}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("places")
    make_rule().save(folder / "rule.rankset")
    limits = ("--max-concurrency", 2, "--max-body", "100KB")
    served = Served.start(folder / "rule.rankset", folder, *limits, token=TOKEN)
    yield served
    served.stop()


def is_well(served):
    assert served.post("/predict", BODY).status == 200
    assert served.get("/readyz").status == 200


@pytest.mark.parametrize("head", [SESSION % 50, PREDICT % 50], ids=["session", "predict"])
def test_who_does_not_send_its_body_takes_no_place(guarded, head):
    with contextlib.ExitStack() as stack:
        for _ in range(10):
            stack.enter_context(guarded.socket()).sendall(head)
        for _ in range(3):
            is_well(guarded)
            assert guarded.number("requests_in_flight") == 1


def test_who_has_no_token_can_send_little(guarded):
    for size, status in ((4096, 401), (4097, 413), (99_000, 413)):
        body = json.dumps({"token": ""}).encode()
        body = body.replace(b'""', b'"' + b"x" * (size - len(body)) + b'"')
        headers = {"Content-Type": "application/json"}
        assert guarded.post("/session", body, headers=headers, token=None).status == status


def test_bodies_that_are_awaited_are_bounded_together(guarded):
    """Two bodies of 100 kB fit: the limit of bytes of a body for each request that is worked on."""
    with contextlib.ExitStack() as stack:
        for _ in range(4):
            stack.enter_context(guarded.socket()).sendall(PREDICT % 99_000 + b"x" * 39_999)
        assert guarded.until(lambda: guarded.post("/predict", b"x" * 90_000, headers=TYPE).status == 503)
        refused = guarded.post("/predict", b"x" * 90_000, headers=TYPE)
        assert (refused.status, refused.headers["retry-after"]) == (503, "1")
        is_well(guarded)
    assert guarded.until(lambda: guarded.post("/predict", b"x" * 90_000, headers=TYPE).status == 400)


def test_answers_that_are_not_taken_are_bounded_together_and_keep_nobody_waiting(tmp_path):
    """Small requests can have large answers: objects need not name every class."""
    rs.calibrate(np.full((5, 20_000), 1 / 20_000), [0] * 5, classes=[f"class number {n}" for n in range(20_000)]).save(
        tmp_path / "rule.rankset"
    )
    limits = ("--max-concurrency", 4, "--max-body", "10MB", "--max-seconds", 5, "--store", "none")
    served = Served.start(tmp_path / "rule.rankset", tmp_path, *limits)
    body = json.dumps({"rows": [{"class number 0": 1}] * 20, "alpha": 1e-9}).encode()
    refused = 'requests_total{route="/predict",status="503"}'
    head = f"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    with contextlib.ExitStack() as stack:
        silent = [stack.enter_context(served.socket()) for _ in range(12)]
        for one in silent:
            one.sendall(head.encode() + b"\r\n\r\n" + body)
        assert served.until(lambda: (served.number(refused) or 0) >= 1)
        assert served.post("/predict", {"rows": [{"class number 0": 1}]}).status in {200, 503}
        assert served.get("/readyz").status == 200
        assert served.number("requests_in_flight") <= 2  # answers that are being sent take no place
    assert served.until(lambda: served.post("/predict", body, headers=TYPE).status == 200)
    found = served.post("/predict", body, headers=TYPE)
    assert (len(found.content) > 5_000_000, int(found.headers["content-length"])) == (True, len(found.content))
    assert found.json["sizes"] == [20_000] * 20
    served.stop()


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="connections are seen on Linux alone")
@pytest.mark.parametrize("behind", [b"", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" * 2])
def test_who_does_not_take_an_answer_is_cut_off(tmp_path, behind):
    """Connections would be taken for ever, so that nobody is answered; also if other requests stand behind it."""
    names = [f"{name}{name * 30}" for name in CLASSES]  # more than the system keeps for a client
    rs.calibrate(LOGITS[:500], np.array(names)[LABELS[:500]], kind="logits", classes=names).save(
        tmp_path / "rule.rankset"
    )
    limits = (
        "--max-connections",
        6,
        "--max-seconds",
        1,
        "--store",
        "none",
        "--max-body",
        "40MB",
        "--max-rows",
        100_000,
    )
    served = Served.start(tmp_path / "rule.rankset", tmp_path, *limits)
    body = json.dumps({"rows": LOGITS[:2000].round(2).tolist() * 10, "alpha": 1e-9}).encode()
    head = f"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    with contextlib.ExitStack() as stack:
        for _ in range(4):
            silent = stack.enter_context(socket.socket())
            silent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            silent.settimeout(30)
            silent.connect(("127.0.0.1", served.port))
            silent.sendall(head.encode() + b"\r\n\r\n" + body + behind)
        assert served.until(lambda: connections(served) == 4)
        assert served.until(lambda: connections(served) == 0, 30)
        assert served.get("/healthz").status == 200
    answer = served.post("/predict", body, headers=TYPE)
    assert (answer.status, len(answer.content) > 10_000_000) == (200, True)
    assert "ASGI callable" not in served.logged()
    served.stop()


def test_a_request_that_was_answered_refers_to_no_connection():
    """With a cycle of references, memory grows until Python looks for cycles."""
    app, scopes = rs.serving.app(make_rule()), []

    async def served(scope, receive, send):
        scopes.append(scope)
        scope[CUT] = lambda: None
        await app(scope, receive, send)

    for path in ("/healthz", "/none"):
        asyncio.run(asked(served, "GET", path))
    assert [CUT in scope for scope in scopes] == [False, False]
    app.close()


def connections(served):
    """How many connections of others the server has."""
    links = [str(one.readlink()) for one in Path(f"/proc/{served.process.pid}/fd").iterdir() if one.is_symlink()]
    inodes = {link[8:-1] for link in links if link.startswith("socket:[")}
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return len([row for row in rows if row[9] in inodes and row[3] == "01"])


def test_requests_that_are_worked_on_are_bounded():
    app = rs.serving.app(make_rule(), limits=Limits(concurrency=2))
    headers = [(b"content-type", b"application/json")]

    async def run():
        going_on = asyncio.Event()
        answer = app.service.predict

        async def slow(*arguments):
            await going_on.wait()
            return await answer(*arguments)

        app.service.predict = slow
        body = json.dumps(BODY).encode()
        waiting = [asyncio.ensure_future(asked(app, "POST", "/predict", body, headers)) for _ in range(2)]
        await asyncio.sleep(0.05)
        refused = [(await asked(app, *one))[0] for one in (("POST", "/predict", body, headers), ("GET", "/rule"))]
        healthy = (await asked(app, "GET", "/healthz"))[0]
        going_on.set()
        return refused, healthy, [status for status, _ in await asyncio.gather(*waiting)]

    assert asyncio.run(run()) == ([503, 503], 200, [200, 200])
    assert (app.service.metrics.in_flight, app._places.bytes) == (0, 0)
    app.close()
