"""``Refused``: an error with the status of its answer, and errors as bodies of answers (RFC 9457)."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Self

import msgspec

from rankset.errors import NOWHERE, PYTHON, Place, RanksetError, StorageError, StoreFull, Text, short_repr
from rankset.errors.fields import render_text

MEDIA_TYPE = "application/problem+json"
LONGEST = 600
"""Longer texts of errors are truncated: they can repeat what a client sent."""
JSON = "application/json"
NPY = "application/x-npy"


class Refused(RanksetError, ValueError):  # noqa: N818 - the request is, by us
    """A request that is not answered, with the status and headers that say so."""

    status = 422
    headers: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(
        cls,
        status: int,
        what: Text,
        expected: Text = "",
        received: Text = "",
        remedy: Text = "",
        *,
        reason: Text = "",
        where: Place = NOWHERE,
        headers: tuple[tuple[str, str], ...] = (),
    ) -> Self:
        """Return an error with a status."""
        error = cls(what, expected, received, remedy, reason=reason, where=where)
        error.status, error.headers = status, headers
        return error

    @classmethod
    def busy(cls, what: str) -> Self:
        remedy = "Send the request again in a second."
        return cls.of(503, "the server", f"be free for this {what}", remedy=remedy, headers=(("retry-after", "1"),))

    @classmethod
    def late(cls, seconds: float) -> Self:
        remedy = "Send fewer rows at once, with new ids."
        return cls.of(503, "the request", f"be answered within {seconds:g} seconds", "more", remedy)

    @classmethod
    def store_late(cls, seconds: float) -> Self:
        remedy = 'Send the labels again. Those that were stored meanwhile are answered with "repeated".'
        headers = (("retry-after", "5"),)
        return cls.of(503, "the store", f"answer within {seconds:g} seconds", "no answer", remedy, headers=headers)

    @classmethod
    def slow(cls, seconds: float) -> Self:
        expected = f"be sent whole within {seconds:g} seconds"
        return cls.of(408, "the request", expected, "a part of it", headers=(("connection", "close"),))

    @classmethod
    def long_head(cls, limit: int) -> Self:
        expected = f"have at most {limit:,} bytes, with path and query"
        return cls.of(431, "the headers", expected, "more", "Send ids and groups in a body of JSON, or fewer at once.")

    @classmethod
    def large(cls, what: str, limit: int, received: object = "more") -> Self:
        remedy = "Send several smaller requests, or start the server with a larger limit."
        return cls.of(413, what, f"be at most {limit:,}", str(received), remedy)

    @classmethod
    def no_length(cls) -> Self:
        return cls.of(411, "the request", "have a Content-Length, or be chunked", "neither")

    @classmethod
    def two_lengths(cls) -> Self:
        expected, received = "have Content-Length or Transfer-Encoding", "both"
        return cls.of(400, "the request", expected, received, headers=(("connection", "close"),))

    @classmethod
    def other_site(cls) -> Self:
        remedy = "Open the address of this server itself, or start the server with a token."
        return cls.of(403, "the request", "come from a page of this server", "from one of another site", remedy)

    @classmethod
    def media(cls, received: str, allowed: tuple[str, ...]) -> Self:
        shown = short_repr(received[:100]) if received else "none"
        remedy = f"Send the header Content-Type: {allowed[0]}"
        remedy += f", or {NPY} for a file of numpy.save." if NPY in allowed else "."
        return cls.of(415, "Content-Type", f"be {' or '.join(allowed)}", shown, remedy)

    @classmethod
    def encoding(cls, name: str, plain: str, received: str) -> Self:
        remedy = "Send the body as it is, without compression."
        return cls.of(415, name, f"be {plain}, or left out", short_repr(received[:100]), remedy)

    @classmethod
    def not_json(cls, reason: str, remedy: str = "") -> Self:
        return cls.of(400, "the body", "be JSON in UTF-8", remedy=remedy, reason=reason)

    @classmethod
    def field(cls, what: str, expected: str, received: str = "", where: Place = NOWHERE, remedy: str = "") -> Self:
        return cls.of(422, what, expected, received, remedy, where=where)

    @classmethod
    def known_id(cls, name: object, row: int) -> Self:
        remedy = "Give every row its own id."
        received = f"{short_repr(name)}, which was predicted before"
        return cls.of(409, "ids", "be those of new rows", received, remedy, where=Place(row=row))

    @classmethod
    def no_ids(cls) -> Self:
        expected = "be sent for this rule, which was calibrated with ids"
        return cls.field("ids", expected, "none", remedy="Send a new id for every row.")

    @classmethod
    def no_store(cls) -> Self:
        remedy = "Start it with rankset serve RULE --store FILE."
        return cls.of(404, "the server", "have a store for feedback", "none", remedy)

    @classmethod
    def no_error(cls) -> Self:
        remedy = 'Send the largest share of wrong answers among the accepted ones, such as "error": 0.05.'
        return cls.field("the body", "have the member 'error'", "none", remedy=remedy)

    @classmethod
    def no_triage(cls) -> Self:
        remedy = "Start it with rankset serve RULE --triage FILE, a file of rankset triage --save FILE."
        return cls.of(404, "the server", "have a triage to decide which answers to accept", "none", remedy)

    @classmethod
    def no_token(cls) -> Self:
        remedy = "Send the header Authorization: Bearer TOKEN, with the token of this server."
        headers = (("www-authenticate", 'Bearer realm="rankset"'),)
        return cls.of(401, "the request", "carry the token of this server", remedy=remedy, headers=headers)

    @classmethod
    def guesses(cls) -> Self:
        return cls.of(429, "wrong tokens", "be few", "many of them", "Wait a minute.", headers=(("retry-after", "60"),))


def status_of(error: RanksetError) -> int:
    """Return the status of the answer to a request that caused an error."""
    if isinstance(error, Refused):
        return error.status
    if isinstance(error, StorageError):  # the store, not the request
        return 507 if isinstance(error, StoreFull) else 503
    return 422


def problem(error: RanksetError) -> dict[str, Any]:
    """Return an error as the members of a problem; those that are empty are left out."""
    status, place = status_of(error), error.where
    error = _without_file(error)
    texts = {name: _text(getattr(error, name)) for name in ("what", "expected", "received", "reason", "remedy")}
    at = {"row": place.row, "column": place.column}
    return {
        "type": "about:blank",
        "title": phrase(status),
        "status": status,
        "detail": _short(error.render(PYTHON)),
        **{name: text for name, text in texts.items() if text},
        **{name: value for name, value in at.items() if value is not None},
    }


def _without_file(error: RanksetError) -> RanksetError:
    """Return the error without names of files and addresses of the server; its log has them."""
    place = Place(row=error.where.row, column=error.where.column)
    reason = "" if isinstance(error, StorageError) else error.reason
    return RanksetError(error.what, error.expected, error.received, error.remedy, reason=reason, where=place)


def _text(text: Text) -> str:
    return _short(render_text(text, PYTHON))


def _short(text: str) -> str:
    plain = text.encode("utf-8", "backslashreplace").decode()
    return plain if len(plain) <= LONGEST else plain[: LONGEST - 1] + "…"


def phrase(status: int) -> str:
    """Return the name of a status."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Error"


def encoded(content: object) -> bytes:
    """Return JSON; what JSON does not know is written as text."""
    return msgspec.json.encode(content, enc_hook=str)
