"""``App``: the ASGI application. Around the endpoints it checks who asks, limits, counts, and answers errors."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import unquote

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, Response

from rankset.errors import RanksetError, StorageError
from rankset.serving import pages
from rankset.serving.access import Access
from rankset.serving.access_log import log_request
from rankset.serving.places import Places
from rankset.serving.protocol import CUT
from rankset.serving.refusals import MEDIA_TYPE, Refused, encoded, phrase, problem, status_of
from rankset.serving.service import Service

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

log = logging.getLogger("rankset.serving")
GONE = 499
"""Status in the log of a client that went away before its answer."""
HEADERS = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
ONCE = ("Host", "Authorization", "Content-Type", "Content-Encoding")
"""Headers that decide who may ask, and what: of several, a proxy and we could each take another one."""
ABSOLUTE = re.compile(rb"https?://(?P<host>[^/?#]+)(?P<path>/[^?#]*)?", re.IGNORECASE)
"""A target with scheme and host, as proxies are asked."""
UNPLACED = ("/healthz", "/events", "/session")
"""Paths that are answered however many requests there are: those without a token have no place to take."""


class App:
    """A server of one rule, as ASGI application."""

    def __init__(self, router: Any, service: Service, access: Access, routes: tuple[str, ...]) -> None:
        self.service, self.access, self._router, self._routes = service, access, router, routes
        self._places = Places(service.metrics, service.limits)

    def __repr__(self) -> str:
        return f"App({self.service.loaded.rule!r})"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["app"] = self
        _from_absolute(scope)
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._router(scope, receive, send)
            return
        await Exchange(self, scope, receive, send).run()

    def close(self) -> None:
        """Write everything that waits, and stop."""
        self.service.close()

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, and let an endpoint answer it."""
        limits, path = self.service.limits, scope["path"]
        headers = dict(scope["headers"])
        if _bytes_of_head(scope) > limits.headers:
            raise Refused.long_head(limits.headers)
        for once in ONCE:
            if sum(name == once.lower().encode() for name, _ in scope["headers"]) > 1:
                raise Refused.of(400, "the request", f"have one header {once}", "several")
        if b"content-length" in headers and b"transfer-encoding" in headers:
            raise Refused.two_lengths()
        if not self.access.allows_host(headers.get(b"host")):
            remedy = "Ask by the address that the server printed, or start it with --allow-host NAME or a token."
            raise Refused.of(421, "the header Host", "be a name of this server", "another one", remedy)
        self.access.check(path, scope["method"], headers)
        if path in UNPLACED:
            await self._router(scope, receive, send)
            return
        try:
            with self._places.place(scope):
                async with asyncio.timeout(2 * limits.seconds):  # once to send the request, and once to answer it
                    await self._router(scope, receive, send)
        except TimeoutError:
            raise Refused.late(limits.seconds) from None

    def route(self, path: str) -> str:
        """Return a path as metrics name it."""
        return path if path in self._routes else "other"


class Exchange:
    """One request and its answer."""

    def __init__(self, app: App, scope: Scope, receive: Receive, send: Send) -> None:
        self.app, self.scope, self.receive, self._send = app, scope, receive, send
        self.status: int | None = None

    async def run(self) -> None:
        """Answer the request, whatever happens, and count and log it."""
        start = time.perf_counter()
        try:
            await self._answer()
        finally:
            seconds = time.perf_counter() - start
            status = GONE if self.status is None else self.status
            self.app.service.metrics.count(self.app.route(self.scope["path"]), status, seconds)
            client = (self.scope.get("client") or ("-",))[0]
            rows = self.scope.get("rankset_rows")
            method, path = (self.app.access.without_token(self.scope[name]) for name in ("method", "path"))
            log_request(client, method, path, status, seconds, rows)
            self.scope.pop(CUT, None)  # it refers to the connection, and that to the scope: cycles are freed late

    async def _answer(self) -> None:
        try:
            await self.app.answer(self.scope, self.receive, self.send)
        except ClientDisconnect:
            return
        except HTTPException as error:
            await self._refuse(_of_starlette(error, self.scope))
        except RanksetError as error:
            if isinstance(error, StorageError):
                log.warning("%s was refused: %s", self.app.route(self.scope["path"]), error)
            await self._refuse(error)
        except MemoryError:
            await self._refuse(Refused.busy("request"))
        except Exception:
            log.exception("unexpected error at %s", self.app.route(self.scope["path"]))
            remedy = "The log of the server says more."
            reason = "something unexpected happened in the server"
            await self._refuse(Refused.of(500, "the request", "be answered", reason=reason, remedy=remedy))

    async def _refuse(self, error: RanksetError) -> None:
        """Answer with an error, or end the connection if an answer was begun: its client does not take the rest."""
        if self.status is not None:
            self.scope.get(CUT, _nothing)()
            for _ in range(2):  # until uvicorn knows it, which would complain otherwise
                await asyncio.sleep(0)
            return
        status, headers = status_of(error), dict(getattr(error, "headers", ()))
        if status == 401 and wants_page(self.scope):
            page = pages.login()
            response: Response = HTMLResponse(page.html, status, {**headers, "content-security-policy": page.policy})
        else:
            response = Response(encoded(problem(error)), status, headers, MEDIA_TYPE)
        await response(self.scope, self.receive, self.send)

    async def send(self, message: MutableMapping[str, Any]) -> None:
        """Send a part of the answer; the first one gets the headers that all answers have."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            own = {name for name, _ in message["headers"]}
            added = [(name, value) for name, value in HEADERS if name not in own]
            if b"content-security-policy" not in own:
                added.append((b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"))
            message["headers"] = [*message["headers"], *added]
        await self._send(message)


def _nothing() -> None:
    """Stand in for what a server does not offer."""


def _from_absolute(scope: Scope) -> None:
    """Remove scheme and host from a path that has them. This host counts, not the header Host (RFC 9112, 3.2.2)."""
    found = ABSOLUTE.fullmatch(scope.get("raw_path") or b"") if scope["type"] == "http" else None
    if found is not None:
        path = found["path"] or b"/"
        scope["raw_path"], scope["path"] = path, unquote(path.decode("latin-1"))
        scope["headers"] = [(b"host", found["host"]), *(one for one in scope["headers"] if one[0] != b"host")]


def _bytes_of_head(scope: Scope) -> int:
    """Return the bytes of the first line and the headers of a request, as they were sent."""
    path, query = scope.get("raw_path") or scope["path"].encode(), scope["query_string"]
    line = len(scope["method"]) + len(path) + len(query) + bool(query) + len("  HTTP/1.1\r\n\r\n")
    return line + sum(len(name) + len(value) + 4 for name, value in scope["headers"])


def wants_page(scope: Scope) -> bool:
    """Return whether a browser asks for the live page."""
    accepted = dict(scope["headers"]).get(b"accept", b"")
    return scope["path"] == "/" and scope["method"] == "GET" and b"text/html" in accepted


def _of_starlette(error: HTTPException, scope: Scope) -> Refused:
    """Return a path or method that does not exist as one of our errors."""
    headers = tuple((error.headers or {}).items())
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "")
        return Refused.of(405, "the method", f"be {allowed}", scope["method"][:20], headers=headers)
    if error.status_code == 404:
        return Refused.of(404, "the path", "be one of this server", remedy="GET /docs lists them.", headers=headers)
    return Refused.of(error.status_code, phrase(error.status_code), headers=headers)
