"""Reads bodies of requests: not too large, not too slow, of a type that is expected."""

from __future__ import annotations

import asyncio
from typing import Any

from rankset.serving.places import KEY, Place
from rankset.serving.refusals import JSON, NPY, Refused
from rankset.serving.request_limits import Limits

UTF8 = ("utf-8", "utf8")
DRAINED = 4
"""A body that is too large is read and dropped up to so many times the limit, so that the client sees the answer."""


def media_type(request: Any, allowed: tuple[str, ...] = (JSON,)) -> str:
    """Return the type of a body; raise ``Refused`` if it is none of these."""
    header = request.headers.get("content-type", "")
    found, *parameters = (part.strip().lower() for part in header.split(";"))
    named = dict(parameter.partition("=")[::2] for parameter in parameters)
    if found not in allowed or named.get("charset", "utf-8").strip('"') not in UTF8:
        raise Refused.media(header, allowed)
    return str(found)


def check_encodings(request: Any) -> None:
    """Raise ``Refused`` if a body is compressed."""
    for name, plain in (("content-encoding", "identity"), ("transfer-encoding", "chunked")):
        found = request.headers.get(name, plain)
        if found.strip().lower() != plain:
            raise Refused.encoding(name.title(), plain, found)


async def read_body(request: Any, limits: Limits, most: int | None = None) -> bytes:
    """Return the whole body; raise ``Refused`` if it is larger than ``most`` bytes, or does not come in time."""
    check_encodings(request)
    most = limits.body if most is None else min(most, limits.body)
    length = request.headers.get("content-length")
    if length is None and "transfer-encoding" not in request.headers:
        raise Refused.no_length()
    announced = int(length) if length is not None and length.isascii() and length.isdecimal() else 0
    if announced > DRAINED * most:
        error = Refused.large("bytes of the body", most, f"{announced:,}")
        error.headers = (("connection", "close"),)
        raise error
    place: Place | None = request.scope.get(KEY)
    if place is not None:
        place.leave()
    try:
        async with asyncio.timeout(limits.seconds):
            body = await _read(request, most, place)
    except TimeoutError:
        raise Refused.slow(limits.seconds) from None
    if place is not None:
        place.take()
    return body


async def _read(request: Any, most: int, place: Place | None) -> bytes:
    parts: list[bytes] = []
    total = 0
    async for part in request.stream():
        total += len(part)
        if total <= most:
            parts.append(part)
            if place is not None:
                place.hold(len(part))
        elif total > DRAINED * most:
            break
    if total > most:
        error = Refused.large("bytes of the body", most, f"at least {total:,}")
        error.headers = (("connection", "close"),) if total > DRAINED * most else ()
        raise error
    return b"".join(parts)


PREDICTED = (JSON, NPY)
"""Types of bodies with rows."""
