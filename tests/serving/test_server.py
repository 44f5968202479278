"""The server, over HTTP: the sets of Python, labels, triage, problems, the token, and its life."""

import asyncio
import contextlib
import http.client
import io
import json
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import rankset as rs

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from rankset.errors import StorageError
from rankset.serving.server import Server
from rankset.serving.storage.bounds import last_bounds
from refusals import refused
from serving_process import CLASSES, LABELS, LOGITS, NAMES, TOKEN, Served, make_rule, received

NEW, LATER = LOGITS[1000:1100], LOGITS[1000:]
RULE = make_rule()


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    RULE.save(folder / "rule.rankset")
    rs.triage(LOGITS[:1000], LABELS[:1000], kind="logits", classes=CLASSES).save(folder / "triage.rankset")
    options = ("--store", folder / "rows.db", "--triage", folder / "triage.rankset", "--max-rows", 2000)
    made = Served.start(folder / "rule.rankset", folder, *options)
    yield made
    assert made.stop() == 128 + signal.SIGTERM


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


NPY = {"Content-Type": "application/x-npy"}


@pytest.mark.parametrize("alpha", [None, 0.02, 0.1, 0.35])
def test_sets_are_those_of_python(served, alpha):
    body = {"rows": NEW.tolist()} | ({} if alpha is None else {"alpha": alpha})
    answer = served.post("/predict", body).json
    wanted = RULE.predict(NEW.astype(np.float64), alpha=alpha or 0.1)
    assert answer["sets"] == wanted.to_lists()
    assert answer["sizes"] == wanted.sizes.tolist()
    assert answer["alpha"] == (alpha or 0.1)
    assert len(set(answer["ids"])) == 100


def test_labels_of_a_set_stand_in_the_order_of_their_p_values(served):
    sets = served.post("/predict", {"rows": NEW.tolist(), "alpha": 0.01}).json["sets"]
    p_values = RULE.p_values(NEW.astype(np.float64))
    places = {name: place for place, name in enumerate(CLASSES)}
    for row, labels in enumerate(sets):
        found = [p_values[row, places[name]] for name in labels]
        assert found == sorted(found, reverse=True)


def test_single_rows_get_the_sets_they_get_together(served):
    at_once = served.post("/predict", {"rows": NEW.tolist(), "alpha": 0.05}).json["sets"]
    alone = [served.post("/predict", {"rows": [row.tolist()], "alpha": 0.05}).json["sets"][0] for row in NEW[:20]]
    assert alone == at_once[:20]


@pytest.mark.parametrize("dtype", ["<f4", "<f8", ">f4", ">f8"])
def test_arrays_keep_their_type(served, dtype):
    rows = NEW.astype(dtype)
    for array in (rows, np.asfortranarray(rows)):
        answer = served.post("/predict?alpha=0.05", npy(array), headers=NPY).json
        assert answer["sets"] == RULE.predict(rows.astype(dtype[1:]), alpha=0.05).to_lists()


def test_ids_of_arrays_stand_in_the_query(served):
    answer = served.post("/predict?id=q1&id=q2&alpha=0.2", npy(NEW[:2]), headers=NPY).json
    assert (answer["ids"], answer["alpha"]) == (["q1", "q2"], 0.2)


def test_rows_by_class_name(served):
    rows = NEW[:3].astype(np.float64)
    wanted = RULE.predict(rows, alpha=0.1).to_lists()
    turned = list(CLASSES)[::-1]
    objects = [dict(zip(turned, row[::-1], strict=True)) for row in rows.tolist()]
    columns = {name: rows[:, place].tolist() for place, name in enumerate(CLASSES)}
    for form in (rows.tolist(), objects, columns, dict(reversed(columns.items()))):
        assert served.post("/predict", {"rows": form}).json["sets"] == wanted


def test_no_rows_have_no_sets(served):
    assert served.post("/predict", {"rows": []}).json == {"sets": [], "sizes": [], "ids": [], "alpha": 0.1}


def test_many_rows_at_once(served):
    rows = np.tile(NEW, (20, 1))
    assert (
        served.post("/predict", {"rows": rows.tolist()}).json["sets"]
        == RULE.predict(rows.astype(float), alpha=0.1).to_lists()
    )
    more = served.post("/predict", {"rows": np.tile(NEW, (21, 1)).tolist()})
    assert more.status == 413
    assert more.json["received"] == "2,100"


def test_labels_by_name_and_by_column_are_new_repeated_or_unknown(served):
    served.post("/predict", {"rows": NEW[:4].tolist(), "ids": ["f1", "f2", 3, "4"]})
    told = served.post("/feedback", {"ids": ["f2", "f1", "nobody"], "labels": ["joy", "love", "joy"]}).json
    assert told == {"ids": ["f2", "f1", "nobody"], "answers": ["new", "new", "unknown"], "new": 2, "repeated": 0} | {
        "unknown": 1
    }
    assert served.post("/feedback", {"ids": ["f2", "3", 4], "labels": [1, 2, 0]}).json["answers"] == [
        "repeated",
        "new",
        "new",
    ]


def test_an_id_is_predicted_once(served):
    assert served.post("/predict", {"rows": NEW[:1].tolist(), "ids": ["once"]}).status == 200
    again = served.post("/predict", {"rows": NEW[:2].tolist(), "ids": ["other", "once"]})
    assert again.status == 409
    assert again.headers["content-type"] == "application/problem+json"
    assert (again.json["what"], again.json["row"]) == ("ids", 1)
    assert served.post("/predict", {"rows": NEW[:1].tolist(), "ids": ["other"]}).status == 200


def test_triage_is_the_gate_of_python(served):
    gate = rs.triage(LOGITS[:1000], LABELS[:1000], kind="logits", classes=CLASSES).threshold(error=0.05)
    rows = NEW.astype(np.float64)
    answer = served.post("/triage", {"rows": rows.tolist(), "error": 0.05}).json
    assert answer["accepted"] == gate.accepts(rows).tolist()
    assert answer["labels"] == list(gate.decide(rows).labels)
    assert (answer["error"], answer["confidence"], answer["rule"]) == (0.05, 0.95, gate.describe())
    both = served.post("/predict", {"rows": rows.tolist(), "error": 0.05}).json
    assert both["accepted"] == answer["accepted"]
    assert both["sets"] == RULE.predict(rows, alpha=0.1).to_lists()


def test_the_rule_in_words(served):
    facts = served.get("/rule?alpha=0.05").json
    assert facts["sets"] == RULE.describe(0.05)
    assert (facts["score"], facts["n"], facts["kind"]) == ("Rank()", 1000, "logits")
    assert facts["classes"] == list(CLASSES)


@pytest.mark.parametrize(
    ("body", "status", "what", "place"),
    [
        ({"rows": [[1.0, 2.0]]}, 422, "each row", (0, None)),
        ({"rows": [[1, 2, 3, 4, 5, 6], [1, 2, 3, None, 5, 6]]}, 422, "rows", (1, 3)),
        ({"rows": [[1, 2, 3, 4, 5, "6"]]}, 422, "rows", (0, 5)),
        ({"rows": [[True] * 6]}, 422, "rows", (0, 0)),
        ({"rows": [1, 2, 3, 4, 5, 6]}, 422, "rows", (None, None)),
        ({"rows": "text"}, 422, "rows", (None, None)),
        ({"rows": [{"cat": 1.0}]}, 422, "each row", (0, None)),
        ({"rows": {"joy": [1.0]}}, 422, "columns of rows", (None, None)),
        ({}, 422, "the body", (None, None)),
        ([], 422, "the body", (None, None)),
        ({"rows": [], "more": 1}, 422, "the body", (None, None)),
        ({"rows": NEW[:1].tolist(), "alpha": 2}, 422, "alpha", (None, None)),
        ({"rows": NEW[:1].tolist(), "alpha": "0.1"}, 422, "alpha", (None, None)),
        ({"rows": NEW[:1].tolist(), "ids": []}, 422, "ids", (None, None)),
        ({"rows": NEW[:2].tolist(), "ids": ["a", "a"]}, 422, "ids", (None, None)),
        ({"rows": NEW[:1].tolist(), "ids": ["x" * 201]}, 422, "ids", (None, None)),
        ({"rows": NEW[:1].tolist(), "ids": ["\x00"]}, 422, "ids", (None, None)),
        ({"rows": NEW[:1].tolist(), "ids": [1.5]}, 422, "ids", (0, None)),
        ({"rows": NEW[:1].tolist(), "groups": ["a"]}, 422, "groups", (None, None)),
        (b'{"rows": [[NaN,0,0,0,0,0]]}', 400, "the body", (None, None)),
        (b'{"rows": [[Infinity,0,0,0,0,0]]}', 400, "the body", (None, None)),
        (b'{"rows": [[1e999,0,0,0,0,0]]}', 422, "rows", (0, 0)),
        (b'{"rows": [[1' + b"0" * 400 + b",0,0,0,0,0]]}", 422, "rows", (0, 0)),
        (b'{"rows": [], "alpha": 1e999}', 422, "alpha", (None, None)),
        (b'{"rows": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", 400, "the body", (None, None)),
        (b'{"rows": [], "rows": []}', 422, "an object", (None, None)),
        (b'{"rows": [], "\\u0072ows": []}', 422, "an object", (None, None)),
        (b'{"rows": [{"joy": 1, "joy": 2}]}', 422, "an object", (None, None)),
        (b'{"rows": [], "ids": ["\xff"]}', 400, "the body", (None, None)),
        (b'{"rows": [], "ids": ["\\ud800"]}', 400, "the body", (None, None)),
        (b"\xef\xbb\xbf{}", 400, "the body", (None, None)),
        (b"", 400, "the body", (None, None)),
        (b"{", 400, "the body", (None, None)),
    ],
)
def test_what_cannot_be_right_is_a_problem(served, body, status, what, place):
    answer = served.post("/predict", body, headers={"Content-Type": "application/json"})
    told = answer.json
    assert (answer.status, told["status"]) == (status, status)
    assert answer.headers["content-type"] == "application/problem+json"
    assert told["what"] == what
    assert (told.get("row"), told.get("column")) == place
    assert told["detail"].startswith(what)
    assert "Traceback" not in told["detail"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"ids": ["f1"], "labels": []}, 422),
        ({"ids": ["f1"], "labels": ["cat"]}, 422),
        ({"ids": ["f1"], "labels": [6]}, 422),
        ({"ids": ["f1"], "labels": [-1]}, 422),
        ({"ids": ["f1"], "labels": [None]}, 422),
        ({"ids": ["f1"], "labels": [["joy"]]}, 422),
        ({"ids": ["f1", "f1"], "labels": ["joy", "joy"]}, 422),
        ({"ids": [10**400], "labels": ["joy"]}, 422),
        ({"labels": ["joy"]}, 422),
        (b"nonsense", 400),
    ],
)
def test_labels_that_cannot_be_right_are_a_problem(served, body, status):
    answer = served.post("/feedback", body, headers={"Content-Type": "application/json"})
    assert (answer.status, answer.headers["content-type"]) == (status, "application/problem+json")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\x93NUMPY",
        npy(NEW)[:-1],
        npy(NEW) + b"x",
        npy(NEW[:, :5]),
        npy(NEW[0]),
        npy(NEW.astype(np.int64)),
        npy(np.array(["a"])),
        npy(NEW.astype(np.float16)),
        npy(np.full((1, 6), np.nan)),
        npy(NEW[:1]).replace(b"(1, 6)", b"(999999999999999, 6)"[:6]),
        b"\x93NUMPY\x01\x00\xff\xff" + b"{" * 70_000,
    ],
)
def test_arrays_that_cannot_be_right_are_a_problem(served, body):
    answer = served.post("/predict", body, headers=NPY)
    assert answer.status in (400, 422)
    assert answer.json["detail"]


def test_paths_methods_types_and_lengths(served):
    assert served.get("/nothing").status == 404
    assert (served.get("/predict").status, served.get("/predict").headers["allow"]) == (405, "POST")
    assert served.post("/predict", b"{}", headers={"Content-Type": "text/plain"}).status == 415
    assert served.post("/predict", b"{}", headers={"Content-Type": "application/json; charset=latin-1"}).status == 415
    assert served.post("/predict", b"x" * 10_000_001, headers={"Content-Type": "application/json"}).status == 413
    with served.socket() as connection:
        head = (
            b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
        )
        connection.sendall(head)
        assert received(connection).startswith(b"HTTP/1.1 411 ")


def test_bodies_can_come_in_chunks(served):
    body = json.dumps({"rows": NEW[:1].tolist()}).encode()
    head = (
        b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
    )
    with served.socket() as connection:
        connection.sendall(head + b"Connection: close\r\n\r\n")
        for byte in body:
            connection.sendall(b"1\r\n%c\r\n" % byte)
        connection.sendall(b"0\r\n\r\n")
        assert b'"sets"' in received(connection)


def test_other_names_of_the_host_are_refused(served):
    assert served.get("/rule", headers={"Host": "evil.example"}).status == 421
    assert served.get("/rule", headers={"Host": "localhost:1"}).status == 200


def test_every_answer_forbids_what_pages_need_not(served):
    for path in ("/", "/docs", "/rule", "/nothing"):
        headers = served.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert "server" not in headers


def test_metrics_count_and_have_no_words_of_clients(served):
    served.get("/secret-path-of-a-client")
    before = served.number('rows_total{route="/predict"}')
    served.post("/predict", {"rows": NEW[:7].tolist()})
    assert served.number('rows_total{route="/predict"}') == before + 7
    text = served.get("/metrics").content.decode()
    assert "secret-path" not in text
    assert 'rankset_requests_total{route="other",status="404"}' in text
    for name in ("set_size_bucket", "misses_total", "alarm_log_wealth", "store_lost_total", "store_bytes"):
        assert f"rankset_{name}" in text
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert all(float(line.rpartition(" ")[2]) >= -100 for line in lines)


def test_the_description_names_all_paths(served):
    paths = served.get("/openapi.json").json["paths"]
    page = served.get("/docs").content.decode()
    for path, ways in paths.items():
        for method in ways:
            assert f"<code>{method.upper()} {path}</code>" in page
            known = served.ask(method.upper(), path, b"" if method == "post" else None) if path != "/events" else None
            assert known is None or known.status not in (404, 405)


def test_the_description_explains_members_and_the_query_of_arrays(served):
    told = served.get("/openapi.json").json["paths"]["/predict"]["post"]
    members = told["requestBody"]["content"]["application/json"]["schema"]["properties"]
    for name in ("alpha", "error", "groups", "ids"):
        assert members[name]["description"]
        assert members[name]["examples"]
    assert [one["name"] for one in told["parameters"]] == ["alpha", "error", "id", "group"]
    assert [one["name"] for one in told["parameters"] if "application/x-npy" in one["description"]] == ["id", "group"]
    answer = told["responses"]["200"]["content"]["application/json"]["schema"]["properties"]
    assert (answer["accepted"]["type"], answer["accepted"]["items"]) == ("array", {"type": "boolean"})
    assert "/predict?alpha=0.05&amp;id=a1&amp;id=a2" in served.get("/docs").content.decode()


def test_the_description_of_triage_says_what_ids_are_for(served):
    told = served.get("/openapi.json").json["paths"]["/triage"]["post"]
    schema = told["requestBody"]["content"]["application/json"]["schema"]
    assert "server makes ids" not in schema["properties"]["ids"]["description"]
    assert "not stored" in schema["properties"]["ids"]["description"]
    assert ([one["name"] for one in told["parameters"]], schema["required"]) == (["error"], ["rows"])


def test_the_page_of_endpoints_shows_what_the_query_can_have(served):
    page = served.get("/docs").content.decode()
    rule = page[page.index("GET /rule") :]
    assert "Query: ?alpha= (optional)." in rule[: rule.index("</section>")]


def test_events_send_numbers_that_change(served):
    with served.socket() as connection:
        connection.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        stream = connection.makefile("rb")
        first = _numbers(stream)
        served.post("/predict", {"rows": NEW[:9].tolist()})
        second = _numbers(stream)
        while second["seen"] < first["seen"] + 9:
            second = _numbers(stream)
        assert second["seen"] == first["seen"] + 9


def _numbers(stream):
    while not (line := stream.readline()).startswith(b"data: "):
        assert line
    return json.loads(line[6:])


def test_the_log_has_a_line_per_request_without_query_and_control_characters(served):
    served.get("/rule?alpha=0.123456")
    with served.socket() as connection:
        connection.sendall(b"GET /%0d%0a%1b[31mred HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        received(connection)
    assert served.until(lambda: "red" in served.logged())
    log = served.logged()
    assert "0.123456" not in log
    assert '"GET /\\r\\n\\x1b[31mred" 404' in log


# --- the token ---


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("guarded")
    RULE.save(folder / "rule.rankset")
    options = ("--host", "0.0.0.0", "--log", "json", "--store", folder / "rows.db")  # noqa: S104
    made = Served.start(folder / "rule.rankset", folder, *options, token=TOKEN)
    yield made
    log = made.logged()
    assert made.stop(signal.SIGINT) == 130
    assert TOKEN not in log


PATHS = ["/", "/rule", "/readyz", "/metrics", "/events", "/docs", "/openapi.json", "/nothing"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("token", [None, "wrong", TOKEN[:-1], TOKEN + "x", "", "é" * 20])
def test_nothing_is_answered_without_the_token(guarded, path, token):
    headers = {} if token is None else {"Authorization": f"Bearer {token}".encode("latin-1")}
    answer = guarded.get(path, headers=headers, token=None)
    assert answer.status == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert TOKEN.encode() not in answer.content


def test_rows_need_the_token_and_health_does_not(guarded):
    body = {"rows": NEW[:1].tolist()}
    for path in ("/predict", "/feedback", "/triage"):
        assert guarded.post(path, body, token=None).status == 401
    assert guarded.post("/predict", body).status == 200
    assert guarded.get("/healthz", token=None).json == {"status": "ok"}
    assert TOKEN not in guarded.get("/metrics").content.decode()
    assert guarded.post("/triage", body | {"error": 0.1}).status == 404


def test_a_session_reads_and_cannot_predict(guarded):
    assert guarded.post("/session", {"token": "wrong"}, token=None).status == 401
    opened = guarded.post("/session", {"token": TOKEN}, token=None)
    assert opened.status == 204
    cookie = opened.headers["set-cookie"]
    assert TOKEN not in cookie
    assert {"httponly", "samesite=strict", "path=/"} <= {part.strip().lower() for part in cookie.split(";")}
    session = {"Cookie": cookie.partition(";")[0]}
    assert guarded.get("/", headers=session, token=None).status == 200
    assert guarded.post("/predict", {"rows": NEW[:1].tolist()}, headers=session, token=None).status == 401
    assert guarded.ask("DELETE", "/session", headers=session, token=None).status == 204
    assert guarded.get("/", headers=session, token=None).status == 401


def test_a_browser_without_a_session_sees_a_form(guarded):
    page = guarded.get("/", headers={"Accept": "text/html"}, token=None)
    assert (page.status, page.headers["content-type"]) == (401, "text/html; charset=utf-8")
    assert b'type="password"' in page.content


def test_guesses_on_the_form_are_slowed_down(guarded):
    said = [guarded.post("/session", {"token": f"guess {number}"}, token=None).status for number in range(12)]
    assert said[-1] == 429
    assert set(said) == {401, 429}
    assert guarded.post("/predict", {"rows": NEW[:1].tolist()}).status == 200


def test_the_log_in_json(guarded):
    guarded.get("/healthz")
    assert guarded.until(lambda: '"/healthz"' in guarded.logged())
    records = [json.loads(line) for line in guarded.logged().splitlines()]
    assert {"time", "client", "method", "path", "status", "ms"} <= set(records[0])


# --- its life ---


@pytest.fixture
def place(tmp_path):
    RULE.save(tmp_path / "rule.rankset")
    return tmp_path


def test_requests_that_are_worked_on_are_answered_before_the_end(place):
    served = Served.start(place / "rule.rankset", place, "--store", place / "rows.db")
    body = {"rows": np.tile(NEW, (50, 1)).tolist()}
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(served.post, "/predict", body) for _ in range(4)]
        end = time.monotonic() + 20
        while time.monotonic() < end and (served.number("requests_in_flight") or 0) < 2:
            pass
        served.process.send_signal(signal.SIGTERM)
        answers = [one.result() for one in waiting]
    assert served.stop() == 128 + signal.SIGTERM
    assert [answer.status for answer in answers] == [200] * 4
    with rs.serving.Store.open(place / "rows.db", rule=RULE) as store:
        assert store.rows == 4 * 5000


def test_open_live_pages_do_not_keep_the_server(place):
    served = Served.start(place / "rule.rankset", place)
    with served.socket() as connection:
        connection.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.recv(100)
        start = time.monotonic()
        assert served.stop() == 143
        assert time.monotonic() - start < 5


def test_a_restart_forgets_nothing(place):
    store = ("--store", place / "rows.db")
    served = Served.start(place / "rule.rankset", place, *store)
    for start in range(1000, 1600, 40):
        rows = LOGITS[start : start + 40] / (1 if start < 1300 else 2)
        ids = list(range(start, start + 40))
        assert served.post("/predict", {"rows": rows.tolist(), "ids": ids}).status == 200
        labels = NAMES[LABELS[start : start + 30]].tolist()
        assert served.post("/feedback", {"ids": ids[:30], "labels": labels}).json["new"] == 30
    assert served.until(lambda: served.number("labels_total") == 450)
    before = _lasting(served)
    served.stop()
    again = Served.start(place / "rule.rankset", place, *store)
    try:
        assert _lasting(again) == before
        assert 'rankset_alarm_raised{alarm="outputs"} 1' in before
        assert again.post("/predict", {"rows": NEW[:1].tolist(), "ids": [1000]}).status == 409
        assert again.post("/feedback", {"ids": [1000, 1039], "labels": [0, 0]}).json["answers"] == ["repeated", "new"]
    finally:
        again.stop()


def _lasting(served):
    """The metrics that do not depend on when the server was started."""
    names = ("set_size", "labels_total", "misses_total", "alarm", "store_rows", "store_labels")
    starts = tuple(f"rankset_{name}" for name in names)
    return [line for line in served.get("/metrics").content.decode().splitlines() if line.startswith(starts)]


def test_a_rule_is_replaced_without_losing_a_request(place):
    served = Served.start(place / "rule.rankset", place, "--store", place / "rows.db")
    other = make_rule(1000, 2000)
    row = [LOGITS[7].astype(np.float64).tolist()]
    statuses, stop = [], threading.Event()

    def send():
        while not stop.is_set():
            statuses.append(served.post("/predict", {"rows": row}).status)

    sender = threading.Thread(target=send)
    sender.start()
    try:
        for _ in range(3):
            other.save(place / "rule.rankset")
            served.process.send_signal(signal.SIGHUP)
            assert served.until(lambda: served.get("/rule?alpha=0.05").json["sets"] == other.describe(0.05))
            RULE.save(place / "rule.rankset")
            served.process.send_signal(signal.SIGHUP)
            assert served.until(lambda: served.get("/rule?alpha=0.05").json["sets"] == RULE.describe(0.05))
    finally:
        stop.set()
        sender.join()
    assert set(statuses) == {200}
    assert len(statuses) > 20
    assert served.number('reloads_total{result="done"}') == 6
    served.stop()


def test_a_broken_file_keeps_the_rule_before(place):
    served = Served.start(place / "rule.rankset", place)
    rs.calibrate(LOGITS[:1000], LABELS[:1000], kind="logits").save(place / "other.rankset")
    for content in (b"nonsense", b"", (place / "other.rankset").read_bytes(), None):
        if content is None:
            (place / "rule.rankset").unlink()
        else:
            (place / "rule.rankset").write_bytes(content)
        failed = served.number('reloads_total{result="failed"}')
        served.process.send_signal(signal.SIGHUP)
        assert served.until(lambda failed=failed: served.number('reloads_total{result="failed"}') == failed + 1)
        assert served.get("/readyz").json["reload"].startswith("failed")
        assert served.post("/predict", {"rows": NEW[:1].tolist()}).status == 200
    assert "the rule was not loaded anew" in served.logged()
    RULE.save(place / "rule.rankset")
    served.process.send_signal(signal.SIGHUP)
    assert served.until(lambda: served.get("/readyz").json["reload"] == "ok")
    served.stop()


def test_alarms_are_told_and_stay_if_the_same_rule_is_loaded_anew(place):
    options = ("--store", place / "alarms.db", "--no-access-log")
    served = Served.start(place / "rule.rankset", place, *options)
    assert served.get("/readyz").json["alarms"] == "none"
    for first in range(0, 200, 20):
        rows, ids = (LATER[first : first + 20] / 8).tolist(), list(range(first, first + 20))
        assert served.post("/predict", {"rows": rows, "ids": ids}).status == 200
        served.post("/feedback", {"ids": ids, "labels": ["fear"] * 20})
    name = 'alarm_raised{alarm="labels"}'
    assert served.until(lambda: served.number(name) == 1)
    assert "labels" in served.get("/readyz").json["alarms"]
    wealth = served.number('alarm_log_wealth{alarm="labels"}')
    assert served.until(lambda: "labels: ALARM at row" in served.logged())
    served.process.send_signal(signal.SIGHUP)
    assert served.until(lambda: served.number('reloads_total{result="done"}') == 1)
    assert (served.number(name), served.number('alarm_log_wealth{alarm="labels"}')) == (1, wealth)
    make_rule(500, 1000).save(place / "rule.rankset")
    served.process.send_signal(signal.SIGHUP)
    assert served.until(lambda: served.get("/readyz").json["alarms"] == "none")
    assert served.number("labels_total") == 200
    assert served.logged().count("labels: ALARM at row") == 1
    served.stop()
    RULE.save(place / "rule.rankset")


def test_start_outputs_are_read_at_the_start_and_with_a_new_rule(place):
    np.save(place / "usual.npy", LOGITS[:1000])
    served = Served.start(place / "rule.rankset", place, "--start-outputs", place / "usual.npy")
    for row in (400, 500):
        for first in range(0, 400, 20):
            assert served.post("/predict", {"rows": (LATER[first : first + 20] / 8).tolist()}).status == 200
        assert served.until(lambda: "outputs" in served.get("/readyz").json["alarms"])
        make_rule(row, 1000).save(place / "rule.rankset")
        served.process.send_signal(signal.SIGHUP)
        assert served.until(lambda: served.get("/readyz").json["alarms"] == "none")
    served.stop()
    RULE.save(place / "rule.rankset")


def test_start_outputs_that_cannot_be_used_are_refused(place):
    np.save(place / "five.npy", LOGITS[:10, :5])
    for name, words in (("none.npy", "none.npy"), ("five.npy", "6")):
        command = ["serve", str(place / "rule.rankset"), "--port", "0", "--start-outputs", str(place / name)]
        done = subprocess.run(
            [sys.executable, "-m", "rankset", *command], check=False, capture_output=True, text=True, timeout=60
        )
        assert done.returncode != 0
        assert words in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1


def test_a_confidence_and_no_empty_sets(place):
    options = ("--alpha", "0.3", "--confidence", "0.95", "--empty", "top")
    served = Served.start(place / "rule.rankset", place, *options)
    found = served.post("/predict", {"rows": NEW.tolist()}).json
    wanted = RULE.predict(NEW, alpha=0.3, confidence=0.95, empty="top")
    assert found["sets"] == wanted.to_lists()
    assert min(found["sizes"]) == 1
    assert found["sets"] != RULE.predict(NEW, alpha=0.3).to_lists()
    told = served.get("/rule").json
    assert (told["confidence"], told["empty"]) == (0.95, "top")
    assert told["sets"] == RULE.describe(0.3, confidence=0.95) + ". An empty set gets the most likely label instead"
    served.stop()


def test_a_server_is_asked_by_the_address_that_it_prints(place):
    served = Served.start(place / "rule.rankset", place, "--host", "127.0.0.2")
    assert served.first_line.startswith(f"Serving {place / 'rule.rankset'} at http://127.0.0.2:")
    connection = http.client.HTTPConnection("127.0.0.2", served.port, timeout=30)
    connection.request("GET", "/rule")
    assert connection.getresponse().status == 200
    connection.close()
    served.stop()


def test_the_head_of_events_ends(served):
    answer = served.ask("HEAD", "/events", seconds=5)
    assert (answer.status, answer.content) == (200, b"")


def test_rows_are_kept_in_a_file_named_after_the_rule_if_nobody_says_where(place):
    served = Served.start(place / "rule.rankset", place)
    told = served.process.stdout.readline()
    assert told.startswith("Rows and labels are kept in rule.db (no rows yet) for 365 days and in at most 1 GB.")
    assert served.post("/predict", {"rows": NEW[:1].tolist(), "ids": ["a"]}).status == 200
    assert served.post("/feedback", {"ids": ["a"], "labels": ["joy"]}).json["answers"] == ["new"]
    served.stop()
    with rs.serving.Store.open(place / "rule.db", rule=None, read_only=True) as store:
        assert (store.rows, store.labels) == (1, 1)


@pytest.mark.parametrize(
    ("first", "then", "told"),
    [
        (("--max-size", "20GB", "--max-age", "none"), (), "in at most 20 GB."),
        (("--max-size", "none"), ("--max-age", "2d"), "for 2 days."),
        (("--max-size", "none", "--max-age", "none"), (), "without bounds."),
        (("--max-age", "400d"), ("--max-size", "2GB"), "for 400 days and in at most 2 GB."),
    ],
)
def test_a_store_keeps_its_bounds_if_a_server_is_told_none(place, first, then, told):
    """A server that was started with a large store would drop rows when it is started again without the option."""
    Served.start(place / "rule.rankset", place, *first).stop()
    served = Served.start(place / "rule.rankset", place, *then)
    assert served.process.stdout.readline().startswith(f"Rows and labels are kept in rule.db (no rows yet) {told}")
    served.stop()
    again = Served.start(place / "rule.rankset", place)
    assert again.process.stdout.readline().startswith(f"Rows and labels are kept in rule.db (no rows yet) {told}")
    again.stop()


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="elsewhere there is no such signal")
def test_a_rule_can_be_replaced_while_the_server_starts(place):
    """It waits for the lock of the store here, as it may learn from a large store for some seconds."""
    command = [sys.executable, "-m", "rankset", "serve", str(place / "rule.rankset"), "--port", "0"]
    with contextlib.closing(sqlite3.connect(place / "rule.db-server", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=place)
        time.sleep(2.5)
        process.send_signal(signal.SIGHUP)
        time.sleep(0.3)
    try:
        assert " at http://" in process.stdout.readline()
        while "loaded anew" not in (line := process.stderr.readline()):
            assert line, "the server has ended"
    finally:
        process.terminate()
        assert process.wait(30) == 128 + signal.SIGTERM
        process.stdout.close()
        process.stderr.close()


def test_loads_that_are_asked_for_during_a_load_are_one(place):
    app = rs.serving.app(place / "rule.rankset")
    asked_for = Server(app, lambda: None, None)

    async def ask():
        for _ in range(50):
            asked_for._reload()
            await asyncio.sleep(0)
        await asked_for._loading

    asyncio.run(ask())
    assert 1 <= app.service.metrics.reloads["done"] <= 2
    app.close()


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="elsewhere there is no such signal")
def test_many_signals_are_answered_together(place):
    """A queue of loads would go on long after the last signal."""
    served, other = Served.start(place / "rule.rankset", place, "--store", "none"), make_rule(1000, 2000)
    other.save(place / "rule.rankset")
    for number in range(1500):
        served.process.send_signal(signal.SIGHUP)
        if number % 300 == 0:
            assert served.get("/healthz").status == 200
    served.process.send_signal(signal.SIGHUP)
    assert served.until(lambda: served.get("/rule?alpha=0.05").json["sets"] == other.describe(0.05))
    done = served.number('reloads_total{result="done"}')
    assert 1 <= done < 500
    time.sleep(0.3)
    assert served.number('reloads_total{result="done"}') <= done + 2
    served.process.send_signal(signal.SIGHUP)
    served.process.terminate()
    assert served.process.wait(30) == 128 + signal.SIGTERM
    assert "Traceback" not in served.logged()
    served.stop()


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="elsewhere there is no such signal")
def test_a_reload_while_the_server_stops_changes_nothing(place):
    served = Served.start(place / "rule.rankset", place)
    served.process.send_signal(signal.SIGTERM)
    for _ in range(200):
        served.process.send_signal(signal.SIGHUP)
        time.sleep(0.005)
    assert served.stop() == 128 + signal.SIGTERM


def test_a_store_without_rows_and_bounds_is_new(place):
    """A server that was killed at its first start has written none yet."""
    rs.serving.Store.open(place / "rule.db", rule=rs.load(place / "rule.rankset")).close()
    assert last_bounds(place / "rule.db") is None


def test_a_second_server_of_a_store_is_refused(place):
    served = Served.start(place / "rule.rankset", place)
    with pytest.raises(AssertionError, match=r"another server uses it.*--store FILE names another store"):
        Served.start(place / "rule.rankset", place, "--max-size", "2MB")
    assert served.stop(signal.SIGKILL) == -signal.SIGKILL
    again = Served.start(place / "rule.rankset", place)
    assert "for 365 days and in at most 1 GB" in again.process.stdout.readline()
    again.stop()


def test_a_store_made_in_python_is_not_bounded_by_a_server_that_is_told_no_bounds(place):
    with rs.serving.Store.open(place / "rule.db", rule=rs.load(place / "rule.rankset")) as store:
        old = rs.serving.Prediction("old", 0.0, NEW[0], None, np.array([0], dtype=np.int32), 0.1, 0.5)
        store.remember([old])
    served = Served.start(place / "rule.rankset", place)
    assert "kept in rule.db (1 row, 0 labels) without bounds." in served.process.stdout.readline()
    assert served.post("/feedback", {"ids": ["old"], "labels": ["joy"]}).json["answers"] == ["new"]
    served.stop()


@pytest.mark.parametrize(
    "damaged", ["", "[1]", "[NaN, 1]", "[0, null]", "[null, 1]", "[true, null]", '["1", null]', "{}"]
)
def test_bounds_that_cannot_be_read_are_an_error(place, damaged):
    """Other bounds would drop rows."""
    rs.serving.Store.open(place / "rule.db", rule=rs.load(place / "rule.rankset")).close()
    with contextlib.closing(sqlite3.connect(place / "rule.db")) as connection, connection:
        connection.execute("INSERT INTO rankset_about VALUES ('bounds', ?)", [damaged])
    with refused(StorageError, reason="it does not say how old and how large it may be"):
        last_bounds(place / "rule.db")


def test_without_a_store_labels_are_refused(place):
    served = Served.start(place / "rule.rankset", place, "--store", "none")
    assert not list(place.glob("*.db*"))
    answer = served.post("/feedback", {"ids": ["a"], "labels": ["joy"]})
    assert answer.status == 404
    assert "--store" in answer.json["remedy"]
    assert served.get("/readyz").json["store"] == "none"
    served.stop()


def test_too_many_requests_are_told_to_come_again(place):
    """One request is worked on as long as the store waits for the lock of another process."""
    served = Served.start(place / "rule.rankset", place, "--max-concurrency", 1, "--store", place / "rows.db")
    assert served.post("/predict", {"rows": NEW[:2].tolist(), "ids": ["a", "b"]}).status == 200
    assert served.post("/feedback", {"ids": ["a"], "labels": ["joy"]}).status == 200
    other = sqlite3.connect(place / "rows.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    def label():  # the requests below may have the place first
        while (answer := served.post("/feedback", {"ids": ["b"], "labels": ["joy"]})).status == 503:
            time.sleep(0.2)
        return answer

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(label)
        assert served.until(lambda: served.get("/rule").status == 503)
        refused = served.get("/rule")
        assert (refused.status, refused.headers["retry-after"]) == (503, "1")
        assert served.get("/healthz").status == 200
        other.close()
        assert waiting.result().status == 200
    assert served.until(lambda: served.get("/rule").status == 200)
    served.stop()
