"""``NoUpgrades``: httptools drops the body of a request that asks for another protocol (HTTP/2). Here it stays."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Any


class NoUpgrades:
    """What is added to uvicorn's protocol with httptools.

    A server may ignore the header Upgrade and answer as usual (RFC 9110, 7.8). The parser knows no such choice: it
    takes what follows the head for bytes of the other protocol. So the head is parsed once more, without this header.
    """

    parser: Any
    headers: list[tuple[bytes, bytes]]
    url: bytes
    _head = b""

    def connection_made(self, transport: Any) -> None:
        """Take a parser that goes on after a request with the header Upgrade."""
        self._new_parser()
        super().connection_made(transport)  # type: ignore[misc]

    def _new_parser(self) -> None:
        self.parser = _parser()(self)
        self.parser.protocol = self
        with suppress(AttributeError):  # httptools before 0.6.3 has no such option
            self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn does

    @property
    def _upgrades(self) -> bool:
        return bool(self.parser.should_upgrade()) and self.parser.get_method() != b"CONNECT"

    def on_headers_complete(self) -> None:
        """Keep the head of a request with the header Upgrade for the second time; let others pass."""
        if not self._upgrades:
            super().on_headers_complete()  # type: ignore[misc]
            return
        version = self.parser.get_http_version().encode()
        lines = [b"%s %s HTTP/%s" % (self.parser.get_method(), self.url, version)]
        lines += [b"%s: %s" % header for header in self.headers if header[0] != b"upgrade"]
        self._head = b"\r\n".join([*lines, b"", b""])

    def on_message_complete(self) -> None:
        """Let the end of a request pass if it came with its body."""
        if not self._upgrades:
            super().on_message_complete()  # type: ignore[misc]

    def go_on(self, rest: bytes) -> None:
        """Parse the head without the header Upgrade, and what follows it."""
        head, self._head = self._head, b""
        if head:  # CONNECT has none: it was answered, and no tunnel follows
            self._new_parser()
            self.parser.feed_data(head + rest)


@cache
def _parser() -> type[Any]:
    """Return the parser of httptools, which hands over the bytes after a head with the header Upgrade."""
    httptools = import_module("httptools")  # it may be missing
    base: Any = httptools.HttpRequestParser

    class Parser(base):  # type: ignore[misc]
        protocol: NoUpgrades

        def feed_data(self, data: bytes) -> None:
            try:
                super().feed_data(data)
            except httptools.HttpParserUpgrade as error:
                self.protocol.go_on(data[error.args[0] :])

    return Parser
