"""Runs an application with uvicorn: a socket, signals, and an end that loses nothing."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import os
import socket
import sys
import threading
from collections.abc import Callable
from typing import Any, Protocol

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from rankset.serving.guard import App
from rankset.serving.protocol import limited

log = logging.getLogger("rankset.serving")

KEEP_ALIVE = 10
"""Seconds after which a connection without requests is closed."""
READ = 1 << 20
"""More bytes than come at once: so long heads are refused by our limit, with the same answer for every parser."""
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
"""Names by which a server without a token is asked."""


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def listening_socket(host: str, port: int) -> socket.socket:
    """Return a socket at an address; port 0 means any free one."""
    family, kind, number, _, address = socket.getaddrinfo(
        host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    made = socket.socket(family, kind, number)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
    except OSError:
        made.close()
        raise
    return made


def address_of(listening: socket.socket) -> str:
    """Return the address of a socket as a browser takes it."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def name_of(listening: socket.socket) -> str:
    """Return the name of the host in the address of a socket."""
    return address_of(listening).removeprefix("http://").rpartition(":")[0]


class Reloads(Protocol):
    """Tells when the rule is to be loaded anew."""

    def begin(self, reload: Callable[[], object]) -> None:
        """Call this from now on, and at once if it was asked for before."""

    def end(self) -> None:
        """Call it no more."""


class Server(uvicorn.Server):  # type: ignore[misc]
    """A server that says when it is ready, loads its rule anew at SIGHUP, and ends live pages when it stops."""

    def __init__(self, app: App, announce: Callable[[], None], reloads: Reloads) -> None:
        limits = app.service.limits
        super().__init__(
            uvicorn.Config(
                app,
                http=limited(H11Protocol, limits),
                loop="asyncio",  # whose transports can be told how much to read at once
                ws="none",
                lifespan="on",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_keep_alive=KEEP_ALIVE,
                timeout_graceful_shutdown=max(1, round(2 * limits.seconds)),
                h11_max_incomplete_event_size=limits.headers + READ,
            )
        )
        self._app, self._announce, self._reloads = app, announce, reloads
        self.stopped_by: int | None = None
        self._loading: asyncio.Task[None] | None = None
        self._asked = self._ending = False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen, and say so."""
        await super().startup(sockets)
        if not self.started:
            return
        self._loop = asyncio.get_running_loop()
        self._reloads.begin(lambda: self._loop.call_soon_threadsafe(self._reload))
        self._announce()

    def _reload(self) -> None:
        """Load the rule anew; signals that come meanwhile are answered together, by one more load."""
        self._asked = True
        if self._loading is None or self._loading.done():
            self._loading = asyncio.ensure_future(self._reload_as_asked())

    async def _reload_as_asked(self) -> None:
        while self._asked and not self._ending:
            self._asked = False
            try:
                await self._app.service.reload()
            except RuntimeError:  # its threads have ended
                if not self._ending:
                    raise

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Stop: requests that are worked on are answered first; live pages end."""
        super().handle_exit(sig, frame)
        self.stopped_by = sig
        self._captured_signals.clear()
        loop = getattr(self, "_loop", None)
        if loop is not None:
            loop.call_soon_threadsafe(self._end)

    def _end(self) -> None:
        """End live pages, and load no rule any more."""
        self._ending = True
        self._reloads.end()
        self._app.service.listeners.close()


def end_process(number: int) -> None:
    """End the process at once if threads are left that would keep it from ending: a database hangs."""
    left = [one.name for one in threading.enumerate() if one.name.startswith("rankset") and not one.daemon]
    if left:
        log.warning("the store does not answer, and is not waited for any more")
        logging.shutdown()
        sys.stdout.flush()
        os._exit(number)


def run(app: App, listening: socket.socket, announce: Callable[[], None], reloads: Reloads) -> int:
    """Serve until a signal comes, and return its number; 0 if none came."""
    server = Server(app, announce, reloads)
    server.run(sockets=[listening])
    return int(server.stopped_by or 0)
