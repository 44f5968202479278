"""Who may ask: the token of a server, sessions of browsers, and names of hosts."""

from __future__ import annotations

import hmac
import re
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import Iterable

from rankset.errors import KindError
from rankset.serving.refusals import Refused

LEAST = 16
"""Characters of a token, at least."""
MOST = 4096
"""Characters of a token, at most: a request must be able to carry it."""
SECRET = re.compile(r"[A-Za-z0-9._~+/=-]+")
"""What a bearer token can be made of (RFC 6750)."""
COOKIE = "rankset_session"
SESSION = re.compile(rb"[A-Za-z0-9_-]{43}")
"""What sessions look like."""
HOURS = 12
MOST_SESSIONS = 100
MOST_GUESSES = 10
"""Wrong tokens per minute on the page from one address, before further wrong ones are told to wait."""
MOST_CLIENTS = 10_000
"""Addresses whose wrong tokens are counted."""
OPEN = ("/healthz", "/session")
"""Paths that need no token; a session is opened by a token."""
MAKE_ONE = "Make one with python3 -c 'import secrets; print(secrets.token_urlsafe())'."


class Token:
    """The secret of a server. It is compared, and never shown."""

    def __init__(self, text: str, name: str = "token") -> None:
        """``name`` is that of an environment variable if the text is from there."""
        if not isinstance(text, str) or not SECRET.fullmatch(text) or not LEAST <= len(text) <= MOST:
            expected = f"a text of {LEAST} to {MOST:,} letters of ASCII, digits and characters of -._~+/="
            error = KindError.argument(name, expected, None)
            error.received, error.remedy = "another one", MAKE_ONE
            raise error
        self._bytes = text.encode()

    def __repr__(self) -> str:
        return "Token(…)"

    def __reduce__(self) -> tuple[object, ...]:
        """Refuse copies in files."""
        raise TypeError("a token is not written to files")

    def hidden_in(self, text: str) -> str:
        """Return a text without the token."""
        return text.replace(self._bytes.decode(), "…")

    def equals(self, text: bytes) -> bool:
        """Return whether this is the token; the time says nothing about it."""
        return hmac.compare_digest(text, self._bytes)


class Access:
    """Decides who may ask. Without a token everybody may who reaches the server by one of the names of its host."""

    def __init__(self, token: Token | None, hosts: Iterable[str] | None = None) -> None:
        self.token, self._hosts = token, None if hosts is None else {host.lower() for host in hosts}
        self._sessions: OrderedDict[str, float] = OrderedDict()
        self._guesses: OrderedDict[str, deque[float]] = OrderedDict()

    def allows_host(self, host: bytes | None) -> bool:
        """Return whether a request came by a known name: pages of other sites can give their own name our address."""
        if self.token is not None or self._hosts is None:
            return True
        name = (host or b"").decode("latin-1").lower()
        name = name[: name.rfind("]") + 1] if name.startswith("[") else name.partition(":")[0]
        return name in self._hosts

    def check(self, path: str, method: str, headers: dict[bytes, bytes]) -> None:
        """Raise ``Refused`` if a request carries neither the token nor, to read, the session of a browser.

        Without a token it must not come from a page of another site, but for links, which open a page of this server.
        """
        if self.token is None and headers.get(b"sec-fetch-site") == b"cross-site" and not _opens_page(headers):
            raise Refused.other_site()
        if self.token is None or path in OPEN:
            return
        scheme, _, given = headers.get(b"authorization", b"").partition(b" ")
        if scheme.lower() == b"bearer" and self.token.equals(given.strip()):
            return
        if method in {"GET", "HEAD"} and self._knows(headers.get(b"cookie", b"")):
            return
        raise Refused.no_token()

    def _knows(self, cookie: bytes) -> bool:
        ends = self._sessions.get(session_of(cookie), 0.0)
        return ends > time.monotonic()

    def without_token(self, text: str) -> str:
        """Return a text for the log: a client may put the token into a path."""
        return text if self.token is None else self.token.hidden_in(text)

    def open_session(self, given: str, client: str = "") -> str:
        """Return a new session of a browser; raise ``Refused`` if the token is wrong.

        The right token is taken also after wrong ones: behind a proxy all clients have one address.
        """
        now = time.monotonic()
        if self.token is None or not self.token.equals(given.encode("utf-8", "replace")):
            raise self._wrong(client, now)
        session = secrets.token_urlsafe(32)
        self._sessions[session] = now + HOURS * 3600
        while len(self._sessions) > MOST_SESSIONS:
            self._sessions.popitem(last=False)
        return session

    def _wrong(self, client: str, now: float) -> Refused:
        """Count a wrong token, and return the error for it: another one after many of them."""
        guesses = self._guesses.setdefault(client, deque(maxlen=MOST_GUESSES))
        self._guesses.move_to_end(client)
        while len(self._guesses) > MOST_CLIENTS:
            self._guesses.popitem(last=False)
        if len(guesses) == MOST_GUESSES and now - guesses[0] < 60:
            return Refused.guesses()
        guesses.append(now)
        return Refused.no_token()

    def close_session(self, cookie: bytes) -> None:
        """Forget the session of a browser."""
        self._sessions.pop(session_of(cookie), None)


def _opens_page(headers: dict[bytes, bytes]) -> bool:
    """Return whether a browser shows the answer as a page of its own."""
    return headers.get(b"sec-fetch-mode") == b"navigate" and headers.get(b"sec-fetch-dest") == b"document"


def session_of(cookie: bytes) -> str:
    """Return the session that a cookie names; empty if it names none. The time grows with the length, no faster."""
    for part in cookie.split(b";"):
        name, _, value = part.strip().partition(b"=")
        if name == COOKIE.encode() and SESSION.fullmatch(value):
            return value.decode()
    return ""
