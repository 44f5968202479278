"""Answers in JSON, and large ones in parts."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.responses import Response

from rankset.serving.places import KEY
from rankset.serving.refusals import JSON, encoded

PART = 1 << 16
"""Bytes of a part. The next one is sent when the client has taken it."""


def answered(content: object, status: int = 200) -> Response:
    """Return an answer in JSON; a large one is sent in parts."""
    body = encoded(content)
    return (Response if len(body) <= PART else InParts)(body, status, media_type=JSON)


class InParts(Response):  # type: ignore[misc]
    """A large answer, sent as fast as the client takes it. Its bytes are held meanwhile, but no place."""

    async def __call__(self, scope: Any, _receive: Any, send: Any) -> None:
        """Send it."""
        if (place := scope.get(KEY)) is not None:
            place.leave()
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        for start in range(0, len(self.body), PART):
            part, end = bytes(self.body[start : start + PART]), start + PART >= len(self.body)
            await send({"type": "http.response.body", "body": part, "more_body": not end})
            await asyncio.sleep(0)  # others are answered meanwhile, and a client that went away is noticed
