"""What clients are told: errors name members of bodies, and what a client can do."""

import asyncio
import json

import numpy as np
import pytest

import rankset as rs

pytest.importorskip("starlette")

from serving_process import LABELS, LOGITS, TOKEN, make_rule
from serving_requests import asked, label, predict

JSON = (b"content-type", b"application/json")
PROBS = rs.softmax(LOGITS)
PYTHON = ("=", "rankset.", "Ragged", "()")
"""Signs of words that only help in Python."""


@pytest.fixture(scope="module")
def numbered(tmp_path_factory):
    rule = rs.calibrate(PROBS[:1000], LABELS[:1000] + 10, classes=range(10, 16))
    app = rs.serving.app(rule, store=tmp_path_factory.mktemp("store") / "rows.db")
    predict(app, rows=PROBS[:2].tolist(), ids=["a", "b"])
    yield app
    app.close()


@pytest.fixture(scope="module")
def grouped():
    groups = np.where(LABELS[:1000] % 2, "dark", "light")
    app = rs.serving.app(make_rule(condition=rs.PerGroup(), groups=groups))
    yield app
    app.close()


@pytest.mark.parametrize(
    ("given", "remedy"),
    [("12", "Did you mean 12, without quotes?"), ("cat", "GET /rule lists them."), (99, "GET /rule lists them.")],
)
def test_a_label_that_is_no_class(numbered, given, remedy):
    status, answer = label(numbered, ids=["a", "b"], labels=[11, given])
    assert (status, answer["what"], answer["row"], answer["remedy"]) == (422, "labels", 1, remedy)
    assert answer["expected"] == "be classes of the rule (10, 11, 12, 13, 14 and 1 more)"


@pytest.mark.parametrize(
    ("rows", "what"),
    [([[5.0] * 6], "rows"), ([{"10": 0.5, "eleven": 0.5}], "rows"), ([[-1.0] * 6], "rows"), ([{}], "every")],
)
def test_rows_that_are_no_probabilities(numbered, rows, what):
    status, answer = predict(numbered, rows=rows)
    assert (status, answer["what"].split()[0]) == (422, what)
    assert answer["remedy"].startswith("Send probabilities")
    assert not any(sign in answer["detail"] for sign in PYTHON)


def test_groups(numbered, grouped):
    status, answer = predict(grouped, rows=LOGITS[:1].tolist())
    assert (status, '"groups": ["a"]' in answer["remedy"]) == (422, True)
    status, answer = predict(numbered, rows=PROBS[:1].tolist(), groups=["dark"])
    assert (status, answer["remedy"]) == (422, "Leave groups out: this rule has none.")
    assert predict(grouped, rows=LOGITS[:1].tolist(), groups="dark")[1]["remedy"].startswith("Send a list")
    assert predict(grouped, rows=LOGITS[:1].tolist(), groups=["dark"])[0] == 200


def test_levels_keep_their_hint(numbered):
    assert "0.1" in predict(numbered, rows=PROBS[:1].tolist(), alpha=10)[1]["remedy"]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"row": [[1]]}, "have no members but rows, alpha, ids, groups, error"),
        ({"row": [[1]]}, "Did you mean 'rows'?"),
        ({"alpha": 0.1}, "have the member 'rows'"),
        ({"rows": [0.5, 0.5]}, "got a list of numbers"),
        ({"rows": ["a"]}, "got a list of texts"),
        ({"rows": None}, "got null"),
        ({"rows": 7}, "got a number"),
        ({"rows": [["0.1"] * 6]}, "Send numbers without quotes."),
        ({"rows": {"10": [0.5]}}, "Send a list of numbers for every class"),
    ],
)
def test_members_that_are_something_else(numbered, body, told):
    status, answer = predict(numbered, **body)
    assert status == 422
    assert told in answer["detail"]


@pytest.mark.parametrize(
    "body",
    [
        b'{"rows":"\\n\xff"}',
        b'{"rows":{"\\n\xff":[1]}}',
        b'{"rows":"\\ud800"}',
        b'{"rows":"\\n","alpha":' + b"[" * 100_000,
        b'{"rows":"\\n" "x"}',
    ],
)
def test_bodies_that_are_no_json_are_no_error_of_the_server(numbered, body):
    status, answer = asyncio.run(asked(numbered, "POST", "/predict", body, [JSON]))
    assert status in {400, 422}, answer


def test_a_repeated_member_is_found_at_once_among_many():
    """With a quadratic search this takes hours."""
    from rankset.serving.json_bodies import check_repeated
    from rankset.serving.refusals import Refused

    body = json.dumps({f"a{number}": 0 for number in range(300_000)})
    check_repeated(body.encode())
    with pytest.raises(Refused, match="'a299999' more than once"):
        check_repeated((body[:-1] + ', "a299999": 1}').encode())


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([JSON, (b"content-encoding", b"gzip")], 415),
        ([JSON, (b"transfer-encoding", b"gzip, chunked")], 415),
        ([JSON, (b"content-encoding", b"identity")], 200),
        ([(b"content-type", b"application/json; charset=latin-1; x=utf-8")], 415),
        ([(b"content-type", b'application/json; charset="UTF-8"')], 200),
    ],
)
def test_compressed_bodies_and_other_alphabets(numbered, headers, status):
    body = json.dumps({"rows": PROBS[:1].tolist()}).encode()
    assert asyncio.run(asked(numbered, "POST", "/predict", body, headers))[0] == status


def test_an_id_in_the_query_must_be_utf8(numbered, tmp_path):
    np.save(tmp_path / "rows.npy", PROBS[:1])
    body, headers = (tmp_path / "rows.npy").read_bytes(), [(b"content-type", b"application/x-npy")]
    found = [
        asyncio.run(asked(numbered, "POST", f"/predict?id={name}", body, headers))[0] for name in ("%ff", "%C3%A4")
    ]
    assert found == [422, 200]


@pytest.fixture
def guarded():
    app = rs.serving.app(make_rule(), token=TOKEN)
    yield app
    app.close()


def test_two_tokens_are_refused(guarded):
    right, wrong = ((b"authorization", f"Bearer {token}".encode()) for token in (TOKEN, "x" * 20))
    assert asyncio.run(asked(guarded, "GET", "/rule", headers=[right]))[0] == 200
    for headers in ([right, wrong], [wrong, right], [right, right]):
        assert asyncio.run(asked(guarded, "GET", "/rule", headers=headers))[0] == 400


def test_guesses_are_counted_for_each_address(guarded):
    access = guarded.access
    for _ in range(10):
        with pytest.raises(rs.RanksetError, match="token"):
            access.open_session("wrong", "10.0.0.1")
    with pytest.raises(rs.RanksetError, match="Wait a minute"):
        access.open_session(TOKEN, "10.0.0.1")
    assert access.open_session(TOKEN, "10.0.0.2")


def test_a_token_in_a_path_is_not_logged(guarded, caplog):
    caplog.set_level("INFO", "rankset.access")
    asyncio.run(asked(guarded, "GET", f"/rule/{TOKEN}"))
    assert TOKEN not in "".join(str(record.__dict__) for record in caplog.records)
    assert any(getattr(record, "fields", {}).get("path") == "/rule/…" for record in caplog.records)


def test_a_rule_that_was_calibrated_with_ids_needs_them():
    rule = rs.calibrate(LOGITS[:500], LABELS[:500], kind="logits", method="aps", ids=range(500))
    app = rs.serving.app(rule)
    status, answer = predict(app, rows=LOGITS[:1].tolist())
    assert (status, answer["what"], answer["remedy"]) == (422, "ids", "Send a new id for every row.")
    assert [predict(app, rows=LOGITS[:1].tolist(), ids=["x"])[0] for _ in range(2)] == [200, 409]
    app.close()
