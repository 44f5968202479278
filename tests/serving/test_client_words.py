"""What clients are told: errors name members of bodies, and what a client can do."""

import asyncio
import io
import json

import numpy as np
import pytest

import rankset as rs

pytest.importorskip("starlette")

from serving_process import CLASSES, LABELS, LOGITS, TOKEN, make_rule
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
    [([[5.0] * 6], "rows"), ([[-1.0] * 6], "rows"), ([{}], "every")],
)
def test_rows_that_are_no_probabilities(numbered, rows, what):
    status, answer = predict(numbered, rows=rows)
    assert (status, answer["what"].split()[0]) == (422, what)
    assert answer["remedy"].startswith("Send probabilities")
    assert not any(sign in answer["detail"] for sign in PYTHON)


@pytest.mark.parametrize(
    ("rows", "what", "row"),
    [([{"joy": 1.0}, {"joyy": 1.0}], "each row", 1), ({"joyy": [1.0], "love": [0.0]}, "columns of rows", None)],
)
def test_a_name_that_is_no_class(grouped, rows, what, row):
    status, answer = predict(grouped, rows=rows, groups=["dark"] * len(rows))
    assert (status, answer["what"], answer.get("row"), answer["remedy"]) == (422, what, row, "Did you mean 'joy'?")


def test_names_of_many_classes_are_not_compared():
    """It takes a second, and nobody is answered meanwhile."""
    names = [f"a long name of the class with the number {n}" for n in range(5000)]
    app = rs.serving.app(rs.calibrate(np.full((5, 5000), 1 / 5000), names[:5], classes=names))
    assert predict(app, rows=[{names[7] + "x": 1.0}])[1]["remedy"] == "GET /rule lists the classes."
    app.close()


def test_a_class_in_two_spellings():
    two = PROBS[:, :2] / PROBS[:, :2].sum(axis=1, keepdims=True)
    app = rs.serving.app(rs.calibrate(two, LABELS % 2 == 1, classes=[False, True]))
    for rows in ([{"true": 0.9, "True": 0.1}], {"true": [0.9], "True": [0.1], "false": [0.0]}):
        status, answer = predict(app, rows=rows)
        assert (status, answer["expected"]) == (422, "have every class once")
    app.close()


def test_a_name_like_no_class(numbered):
    answer = predict(numbered, rows=[{"10": 0.5, "eleven": 0.5}])[1]
    assert (answer["received"], answer["remedy"]) == ("'eleven', which is no class", "GET /rule lists the classes.")


def test_the_remedy_names_all_types_of_bodies(numbered):
    status, answer = asyncio.run(asked(numbered, "POST", "/predict", b"1", [(b"content-type", b"text/csv")]))
    assert status == 415
    assert "application/json, or application/x-npy for a file of numpy.save." in json.loads(answer)["remedy"]


def test_booleans_are_named_as_json_writes_them():
    two = PROBS[:, :2] / PROBS[:, :2].sum(axis=1, keepdims=True)
    app = rs.serving.app(rs.calibrate(two, LABELS % 2 == 1, classes=[False, True]))
    for rows in ([{"true": 0.7, "false": 0.3}], {"True": [0.7], "False": [0.3]}):
        status, answer = predict(app, rows=rows)
        assert (status, answer["sets"]) == (200, predict(app, rows=[[0.3, 0.7]])[1]["sets"]), answer
    app.close()


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


@pytest.mark.parametrize("second", [b"localhost", b"evil"])
def test_two_hosts_are_refused(guarded, second):
    assert asyncio.run(asked(guarded, "GET", "/healthz"))[0] == 200
    assert asyncio.run(asked(guarded, "GET", "/healthz", headers=[(b"host", second)]))[0] == 400


def test_guesses_are_counted_for_each_address(guarded):
    access = guarded.access
    for _ in range(10):
        with pytest.raises(rs.RanksetError, match="token"):
            access.open_session("wrong", "10.0.0.1")
    with pytest.raises(rs.RanksetError, match="Wait a minute"):
        access.open_session("wrong", "10.0.0.1")
    with pytest.raises(rs.RanksetError, match="carry the token"):
        access.open_session("wrong", "10.0.0.2")


def test_a_token_in_a_path_or_as_method_is_not_logged(guarded, caplog):
    caplog.set_level("INFO", "rankset.access")
    asyncio.run(asked(guarded, "GET", f"/rule/{TOKEN}"))
    asyncio.run(asked(guarded, TOKEN, "/rule"))
    assert TOKEN not in "".join(str(record.__dict__) for record in caplog.records)
    assert any(getattr(record, "fields", {}).get("path") == "/rule/…" for record in caplog.records)


def test_a_rule_that_was_calibrated_with_ids_needs_them():
    rule = rs.calibrate(LOGITS[:500], LABELS[:500], kind="logits", method="aps", ids=range(500))
    app = rs.serving.app(rule)
    status, answer = predict(app, rows=LOGITS[:1].tolist())
    assert (status, answer["what"], answer["remedy"]) == (422, "ids", "Send a new id for every row.")
    assert [predict(app, rows=LOGITS[:1].tolist(), ids=["x"])[0] for _ in range(2)] == [200, 409]
    for ids, expected in {
        ("c", "c"): "be different",
        (1, "1"): "be different",
        ("c",): "have one entry for each of the 2 rows",
        (): "have one entry for each of the 2 rows",
        ("d", ""): "have 1 to 200 characters",
    }.items():
        status, answer = predict(app, rows=LOGITS[:2].tolist(), ids=list(ids))
        assert (status, answer["what"], answer["expected"]) == (422, "ids", expected)
    app.close()


def test_a_triage_that_was_calibrated_with_ids_needs_them():
    judged = rs.triage(
        LOGITS[:500], LABELS[:500], kind="logits", classes=CLASSES, confidence=rs.TieBreak(rs.Thr()), ids=range(500)
    )
    app = rs.serving.app(make_rule(), triage=judged)
    status, answer = predict(app, rows=LOGITS[:1].tolist(), error=0.2)
    assert (status, answer["what"], answer["received"]) == (422, "ids", "none")
    assert predict(app, rows=LOGITS[:1].tolist(), error=0.2, ids=["a"])[0] == 200
    app.close()


@pytest.mark.parametrize("member", ["alpha", "error"])
def test_shares_as_texts_say_how_numbers_are_written(member):
    app = rs.serving.app(make_rule())
    status, answer = predict(app, rows=LOGITS[:1].tolist(), **{member: "5%"})
    assert (status, answer["what"], answer["received"]) == (422, member, "a text")
    assert answer["remedy"].endswith(f'such as "{member}": 0.05.')
    app.close()


@pytest.mark.parametrize(
    ("array", "received"),
    [
        (np.ones((2, 6), dtype=np.int64), "int64"),
        (np.ones((2, 6), dtype=np.float16), "float16"),
        (np.ones((2, 6), dtype=object), "object"),
        (np.ones((2, 6), dtype="U3"), "<U3"),
        (np.ones((2, 6), dtype=[("a", "f4")]), "another type or header"),
        (np.ones((2, 6, 1)), "3 axes"),
        (np.ones(()), "0 axes"),
    ],
)
def test_an_array_of_another_type_is_named(named, array, received):
    file = io.BytesIO()
    np.save(file, array)
    headers = [(b"content-type", b"application/x-npy")]
    status, body = asyncio.run(asked(named, "POST", "/predict", file.getvalue(), headers))
    answer = json.loads(body)
    assert (status, answer["what"], answer["received"]) == (422, "the array", received)


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    app = rs.serving.app(make_rule(), store=tmp_path_factory.mktemp("store") / "rows.db")
    yield app
    app.close()


COLUMNS, ONE_KIND = "be column numbers from 0 to 5, or class names", "be class names, all of them, or column numbers"


@pytest.mark.parametrize(
    ("labels", "row", "expected", "received"),
    [
        ([0, "joy"], 1, ONE_KIND, "'joy' after 0"),
        (["joy", 0], 1, ONE_KIND, "0 after 'joy'"),
        ([0, 10], 1, COLUMNS, "10"),
        ([0, -1], 1, COLUMNS, "-1"),
        (["joy", None], 1, "be a class name or column number", "null"),
        (["joy", "joyy"], 1, "be classes of the rule", "'joyy'"),
    ],
)
def test_the_label_that_is_wrong_is_named(named, labels, row, expected, received):
    status, answer = label(named, ids=["a", "b"], labels=labels)
    assert (status, answer["what"], answer["row"], answer["received"]) == (422, "labels", row, received)
    assert answer["expected"].startswith(expected)


@pytest.mark.parametrize(("given", "meant"), [("joyy", "joy"), ("Love", "love"), ("zzzzz", None)])
def test_a_class_that_is_near_a_label_is_suggested(named, given, meant):
    remedy = label(named, ids=["a"], labels=[given])[1]["remedy"]
    assert remedy == (f"Did you mean {meant!r}?" if meant else "GET /rule lists them.")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "nan", "inf"])
@pytest.mark.parametrize("rows", ["[[1, %s]]", '[{"joy": %s}]', '{"joy": [%s]}', "%s"])
def test_numbers_that_json_does_not_have_are_named(named, number, rows):
    body = f'{{"rows": {rows % number}}}'.encode()
    status, answer = asyncio.run(asked(named, "POST", "/predict", body, [JSON]))
    told = json.loads(answer)
    assert (status, told["what"]) == (400, "the body")
    assert told["reason"].startswith(f"{number.removeprefix('-')} stands in it")
    assert told["remedy"].startswith("Rows must have finite numbers alone; null is none either.")


@pytest.mark.parametrize(
    ("rows", "place"),
    [
        ([{"joy": 1, "love": "0.3"}], (0, "love")),
        ([{"joy": 1}, {"joy": None}], (1, "joy")),
        ({"joy": [1, True]}, (1, "joy")),
        ({"joy": 1}, (None, "joy")),
        ([{"joy": 1}, [2]], (1, None)),
        ([{"jöy\x7f" * 40: []}], (0, ("jöy\x7f" * 40)[:100])),
    ],
)
def test_the_class_of_an_entry_that_is_no_number_is_named(named, rows, place):
    status, answer = predict(named, rows=rows)
    assert (status, answer["what"], answer.get("row"), answer.get("column")) == (422, "rows", *place)


def test_a_number_beyond_all_floats_in_an_object(named):
    status, answer = asyncio.run(asked(named, "POST", "/predict", b'{"rows": [{"joy": 1e999}]}', [JSON]))
    assert (status, json.loads(answer)["expected"]) == (422, "be within the range of 64-bit numbers")


@pytest.fixture(scope="module")
def binary():
    probs = np.linspace(0, 1, 200)
    app = rs.serving.app(
        rs.calibrate(probs, np.where(probs > 0.6, "bad", "good"), kind="binary", classes=["good", "bad"])
    )
    yield app
    app.close()


@pytest.mark.parametrize(
    ("rows", "what", "expected"),
    [
        ([1.5], "rows", "be probabilities of the second class between 0 and 1"),
        ([[0.1, 0.9]], "each row", "have one number"),
        ([{"bad": 0.5}], "rows", "be numbers for this rule"),
        ({"bad": [0.5]}, "rows", "be numbers for this rule"),
        (0.5, "rows", "be a list of numbers"),
    ],
)
def test_rows_of_binary_rules(binary, rows, what, expected):
    status, answer = predict(binary, rows=rows)
    assert (status, answer["what"], answer["expected"]) == (422, what, expected)
    assert answer["remedy"].startswith("Send one number for each row, the probability of the class 'bad', such as")
