"""Clients that are slow, half-closed, too many, or that send what is no HTTP: raw sockets against a real server."""

import contextlib
import json
import os
import socket
import struct
import time
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from serving_process import LOGITS, Served, make_rule, received

SECONDS = 1.0
HEAD = b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
BODY = json.dumps({"rows": LOGITS[:1].tolist()}).encode()


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("connections")
    make_rule().save(folder / "rule.rankset")
    limits = ("--max-seconds", SECONDS, "--max-headers", 4096, "--max-body", "100KB", "--max-connections", 40)
    made = Served.start(folder / "rule.rankset", folder, *limits)
    yield made
    made.stop()


def status_of(answer):
    return int(answer.split(b" ", 2)[1]) if answer else None


def closed_within(connection, seconds):
    start = time.monotonic()
    answer = received(connection, seconds + 5)
    assert time.monotonic() - start < seconds, "the connection stayed open"
    return answer


def is_well(served):
    assert served.post("/predict", {"rows": LOGITS[:1].tolist()}).status == 200


def test_silent_connections_are_closed(served):
    with served.socket() as connection:
        assert closed_within(connection, SECONDS + 3) == b""
    is_well(served)


@pytest.mark.parametrize("start", [b"P", b"POST /predict HTTP/1.1\r\nHost: local", b"GET / HTTP/1.1\r\n"])
def test_slow_heads_are_refused(served, start):
    with served.socket() as connection:
        connection.sendall(start)
        assert status_of(closed_within(connection, SECONDS + 3)) == 408


def test_heads_byte_by_byte_are_refused_in_time(served):
    with served.socket() as connection:
        start = time.monotonic()
        try:
            for byte in b"GET /rule HTTP/1.1\r\nX-Slow: " + b"a" * 1000:
                connection.sendall(bytes([byte]))
                time.sleep(0.05)
                if time.monotonic() - start > SECONDS + 4:
                    pytest.fail("it was listened to for too long")
        except (BrokenPipeError, ConnectionResetError):
            pass
        assert time.monotonic() - start < SECONDS + 4


def test_slow_bodies_are_refused(served):
    with served.socket() as connection:
        connection.sendall(HEAD % 100 + b'{"rows": ')
        answer = closed_within(connection, SECONDS + 3)
        assert status_of(answer) == 408
        assert b"be sent whole within 1 seconds" in answer


def test_a_body_that_is_not_wanted_and_never_comes(served):
    with served.socket() as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n")
        assert status_of(closed_within(connection, SECONDS + 12)) == 200


def test_a_client_that_closes_its_side_gets_its_answer(served):
    with served.socket() as connection:
        connection.sendall(HEAD % len(BODY) + BODY)
        connection.shutdown(socket.SHUT_WR)
        assert b'"sets"' in closed_within(connection, 3)


def test_half_a_request_and_a_closed_side_end_at_once(served):
    for part in (b"POST /pre", HEAD % 100, HEAD % 100 + b"{"):
        with served.socket() as connection:
            connection.sendall(part)
            connection.shutdown(socket.SHUT_WR)
            closed_within(connection, 1)
    is_well(served)


def test_resets_are_survived(served):
    for part in (b"", b"POST /pre", HEAD % 100, HEAD % len(BODY) + BODY):
        connection = served.socket()
        connection.sendall(part)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
    is_well(served)


LONG_HEADS = {
    "header": (b"GET /rule HTTP/1.1\r\nHost: localhost\r\nX: %s\r\n\r\n", b""),
    "path": (b"GET /%s HTTP/1.1\r\nHost: localhost\r\n\r\n", b""),
    "query": ((HEAD % len(BODY)).replace(b"/predict", b"/predict?id=%s"), BODY),
}


@pytest.mark.parametrize("name", LONG_HEADS)
@pytest.mark.parametrize(("more", "wanted"), [(0, False), (1, True), (2000, True), (70_000, True), (300_000, True)])
@pytest.mark.parametrize("piece", [1500, 4000, 1_000_000])
def test_long_heads_are_refused(served, name, more, wanted, piece):
    """However they come: in one piece or in several, in a header, the path or the query."""
    start, body = LONG_HEADS[name]
    head = start % (b"a" * (4096 + more - len(start % b"")))
    assert len(head) == 4096 + more
    with served.socket() as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sent = head + body
        for first in range(0, len(sent), piece):
            connection.sendall(sent[first : first + piece])
            time.sleep(0.002 if piece < 100_000 else 0)
        connection.shutdown(socket.SHUT_WR)
        answer = received(connection, 5)
    assert (status_of(answer) == 431) == wanted, answer
    if wanted:
        assert b"Send ids and groups in a body of JSON" in answer
    assert "Traceback" not in served.logged()


def test_large_bodies_are_refused_and_the_client_sees_why(served):
    answer = served.post("/predict", b"x" * 300_000, headers={"Content-Type": "application/json"})
    assert answer.status == 413
    with served.socket() as connection:
        connection.sendall(HEAD % 10**12)
        assert status_of(closed_within(connection, 3)) == 413
    with served.socket() as connection:  # chunks without an end
        connection.sendall((HEAD % 0).replace(b"Content-Length: 0", b"Transfer-Encoding: chunked"))
        try:
            for _ in range(1000):
                connection.sendall(b"10000\r\n" + b"x" * 65536 + b"\r\n")
        except (BrokenPipeError, ConnectionResetError):
            pass
        else:
            pytest.fail("60 MB were taken")
    is_well(served)


@pytest.mark.parametrize(
    "said",
    [
        b"\x00\x01\x02\x03\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 50,
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST /predict HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"CONNECT evil:1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET http://[::1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ],
)
def test_what_is_no_request_gets_no_server_error(served, said):
    with served.socket() as connection:
        connection.sendall(said)
        connection.shutdown(socket.SHUT_WR)
        status = status_of(received(connection))
        assert status is None or status < 500
    is_well(served)
    assert "Traceback" not in served.logged()


@pytest.mark.parametrize("body", [BODY, json.dumps({"rows": LOGITS[:500].tolist()}).encode()], ids=["small", "large"])
@pytest.mark.parametrize("piece", [10, 100_000])
def test_who_asks_for_another_protocol_is_answered_in_this_one(served, piece, body):
    """So do curl --http2 and the client of Java, for the first request."""
    other = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQA\r\n\r\n"
    last = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    head = (HEAD % len(body)).replace(b"\r\n\r\n", b"\r\n" + other)
    with served.socket() as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for start in range(0, len(head), piece):
            connection.sendall(head[start : start + piece])
            time.sleep(0.001)
        connection.sendall(body + head + body + last)
        answer = received(connection)
    assert answer.count(b"HTTP/1.1 200 OK") == 3
    assert answer.count(b'"sets"') == 2
    assert "Traceback" not in served.logged()


CHUNKED = (
    b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
)


def test_a_request_with_two_lengths_is_refused_and_nothing_behind_it_is_answered(served):
    chunk = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
    with served.socket() as connection:
        connection.sendall(CHUNKED + b"Content-Length: %d\r\n\r\n" % len(chunk) + chunk + HEAD % len(BODY) + BODY)
        answer = received(connection)
    assert status_of(answer) == 400
    assert answer.count(b"HTTP/1.1") == 1
    assert b"got both" in answer


def test_headers_behind_a_body_are_not_those_of_the_request(served):
    head = CHUNKED.replace(b"Content-Type: application/json\r\n", b"") + b"Connection: close\r\n\r\n"
    with served.socket() as connection:
        connection.sendall(head + b"%x\r\n%s\r\n0\r\nContent-Type: application/json\r\n\r\n" % (len(BODY), BODY))
        assert status_of(received(connection)) == 415


def resident(served):
    """Megabytes of memory of the server."""
    pages = int(Path(f"/proc/{served.process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def test_a_body_in_tiny_chunks_ends_and_others_are_answered_meanwhile(served):
    chunk, sent = b"1\r\n \r\n", 0
    with served.socket() as connection, contextlib.suppress(ConnectionError):
        connection.sendall(CHUNKED + b"\r\n")
        for _ in range(200):
            connection.sendall(chunk * 1000)
            sent += 1000
            assert served.get("/healthz").status == 200
    assert sent < 100_000
    is_well(served)


def test_usual_chunks_are_taken(served):
    parts = [BODY[start : start + 40] for start in range(0, len(BODY), 40)]
    with served.socket() as connection:
        connection.sendall(CHUNKED + b"Connection: close\r\n\r\n")
        for part in [*parts[:-1], parts[-1] + b" " * 60_000]:
            connection.sendall(b"%x\r\n%s\r\n" % (len(part), part))
        connection.sendall(b"0\r\n\r\n")
        assert status_of(received(connection)) == 200


@pytest.mark.parametrize(
    ("target", "host", "status"),
    [
        (b"http://127.0.0.1/healthz", b"127.0.0.1", 200),
        (b"HTTP://localhost:80/rule?alpha=0.2", b"localhost", 200),
        (b"http://localhost", b"localhost", 200),
        (b"http://evil.example/healthz", b"localhost", 421),
        (b"http://localhost/healthz", b"evil.example", 200),
        (b"ftp://localhost/healthz", b"localhost", 404),
    ],
)
def test_targets_with_a_host_are_those_of_this_host(served, target, host, status):
    with served.socket() as connection:
        connection.sendall(b"\r\n\r\nGET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" % (target, host))
        assert status_of(received(connection)) == status


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is seen on Linux alone")
def test_closed_connections_stay_in_no_memory(tmp_path):
    """A timer that cuts a connection would keep it, with its headers, for ``--max-seconds``."""
    make_rule().save(tmp_path / "rule.rankset")
    made = Served.start(tmp_path / "rule.rankset", tmp_path, "--max-seconds", 600, "--store", "none")
    asked = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX: %s\r\n\r\n" % (b"a" * 15_000)

    def ask(count):
        for _ in range(count):
            with made.socket() as connection:
                connection.sendall(asked)
                assert b"200 OK" in received(connection)
        return resident(made)

    before = ask(500)
    assert ask(3000) < before + 20
    made.stop()


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is seen on Linux alone")
def test_requests_that_are_sent_at_once_are_not_all_parsed(tmp_path):
    """Parsed requests take many times the memory of their bytes."""
    make_rule().save(tmp_path / "rule.rankset")
    made = Served.start(tmp_path / "rule.rankset", tmp_path, "--store", "none")
    assert made.get("/healthz").status == 200
    before = resident(made)
    with contextlib.ExitStack() as stack:
        for _ in range(30):
            connection = stack.enter_context(made.socket())
            connection.settimeout(0.2)
            with contextlib.suppress(TimeoutError):  # the server does not take them all
                connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" * 5000)
        assert made.get("/healthz").status == 200
        assert resident(made) < before + 60
    made.stop()


def test_several_requests_at_once_on_one_connection(served):
    asked = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with served.socket() as connection:
        connection.sendall(asked * 5 + asked.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        assert received(connection).count(b"200 OK") == 6


def test_too_many_connections_are_told_to_come_again(served):
    open_ones = []
    try:
        for _ in range(40):
            open_ones.append(served.socket())
            open_ones[-1].sendall(b"GET /rule HTTP/1.1\r\n")
        with served.socket() as one_more:
            answer = received(one_more, 3)
            assert status_of(answer) == 503
            assert b"retry-after: 1" in answer
    finally:
        for connection in open_ones:
            connection.close()
    assert served.until(lambda: served.get("/healthz").status == 200)


def test_a_client_that_does_not_read_is_cut_off(served):
    """It asks for much, and reads nothing: memory of its answers must not stay."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(10)
    connection.connect(("127.0.0.1", served.port))
    try:
        connection.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 2000)
    except TimeoutError:
        pass  # it is not read any more
    except (BrokenPipeError, ConnectionResetError):
        pass
    is_well(served)
    time.sleep(0.1)
    is_well(served)
    connection.close()


def test_live_pages_are_limited(tmp_path):
    make_rule().save(tmp_path / "rule.rankset")
    served = Served.start(tmp_path / "rule.rankset", tmp_path, "--max-listeners", 2)
    asked = b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with served.socket() as one, served.socket() as two, served.socket() as three:
        for connection in (one, two):
            connection.sendall(asked)
            assert status_of(connection.recv(4096)) == 200
        three.sendall(asked)
        assert status_of(three.recv(4096)) == 503
        one.close()
        assert served.until(lambda: served.number("listeners") == 1)
    served.stop()
