"""Who may ask: sessions in cookies, and the token among wrong ones."""

import time

import pytest

pytest.importorskip("starlette")
pytest.importorskip("sqlalchemy")

import rankset as rs
from rankset.serving.access import COOKIE, Access, Token, session_of
from rankset.serving.refusals import Refused
from serving_process import TOKEN


@pytest.fixture
def access():
    return Access(Token(TOKEN))


@pytest.mark.parametrize("text", ["short", "a" * 15, "a" * 4097, "a" * 20 + "%41", "a" * 20 + "?", "ä" * 20, "a b" * 9])
def test_what_can_be_no_bearer_token_is_refused(text):
    with pytest.raises(rs.errors.KindError, match="16 to 4,096 letters of ASCII") as caught:
        Token(text)
    assert text not in str(caught.value)


def test_a_token_can_have_all_signs_of_bearer_tokens():
    assert Token("aB3-._~+/=" * 409).equals(b"aB3-._~+/=" * 409)


def test_the_session_is_found_among_other_cookies(access):
    session = access.open_session(TOKEN)
    assert len(session) == 43
    for cookie in (f"{COOKIE}={session}", f"a=b; {COOKIE}={session}", f"a;{COOKIE}={session} ; c=d"):
        assert session_of(cookie.encode()) == session
        access.check("/rule", "GET", {b"cookie": cookie.encode()})


@pytest.mark.parametrize("value", ["", '"abc"', "a" * 42, "a" * 44, "a" * 42 + "\\", "ä" * 43])
def test_what_is_no_session_is_none(value):
    assert session_of(f"{COOKIE}={value}".encode()) == ""
    assert session_of(f"other{COOKIE}={'a' * 43}".encode()) == ""


@pytest.mark.parametrize("sign", ["\\", '\\"', ";", "=", " ", "a=", f"{COOKIE}="])
def test_long_cookies_take_no_time(sign):
    cookie = f'{COOKIE}="{sign * (200_000 // len(sign))}"'.encode()
    start = time.perf_counter()
    assert session_of(cookie) == ""
    assert time.perf_counter() - start < 30, "quadratic time would be minutes"


def test_the_token_opens_a_session_after_many_wrong_ones(access):
    """Behind a proxy all clients have one address: wrong tokens of one do not lock out the others."""
    for _ in range(30):
        with pytest.raises(Refused):
            access.open_session("wrong", "10.0.0.1")
    with pytest.raises(Refused, match="Wait a minute"):
        access.open_session("wrong", "10.0.0.1")
    assert len(access.open_session(TOKEN, "10.0.0.1")) == 43


PAGE = {b"sec-fetch-mode": b"navigate", b"sec-fetch-dest": b"document"}


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        ({}, True),
        ({b"sec-fetch-site": b"same-origin"}, True),
        ({b"sec-fetch-site": b"none"} | PAGE, True),
        ({b"sec-fetch-site": b"cross-site"}, False),
        ({b"sec-fetch-site": b"cross-site"} | PAGE, True),  # a link
        ({b"sec-fetch-site": b"cross-site"} | PAGE | {b"sec-fetch-dest": b"iframe"}, False),
        ({b"sec-fetch-site": b"cross-site", b"sec-fetch-mode": b"no-cors", b"sec-fetch-dest": b"image"}, False),
    ],
)
def test_pages_of_other_sites_cannot_ask_without_a_token(headers, allowed):
    access = Access(None)
    if allowed:
        access.check("/events", "GET", headers)
        return
    with pytest.raises(Refused, match="one of another site") as refused:
        access.check("/events", "GET", headers)
    assert refused.value.status == 403
    authorized = {**headers, b"authorization": f"Bearer {TOKEN}".encode()}
    Access(Token(TOKEN, "x")).check("/events", "GET", authorized)
