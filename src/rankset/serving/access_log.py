"""One line per request on standard error, as text or as JSON."""

from __future__ import annotations

import datetime as dt
import logging
import sys
from typing import Any

import msgspec

LONGEST = 200
"""Longer paths are truncated."""
access = logging.getLogger("rankset.access")


def plain(text: str) -> str:
    """Return a text of a client on one line, with escaped control characters."""
    short = text[:LONGEST]
    return "".join(one if one.isprintable() and one not in '"\\' else ascii(one)[1:-1] for one in short)


def log_request(client: str, method: str, path: str, status: int, seconds: float, rows: int | None) -> None:
    """Write a line about a request; neither its query nor its headers are written."""
    if not access.isEnabledFor(logging.INFO):
        return
    fields = {"client": client, "method": plain(method), "path": plain(path), "status": status}
    fields |= {"ms": round(seconds * 1000, 2)}
    access.info("", extra={"fields": fields if rows is None else {**fields, "rows": rows}})


class Lines(logging.Formatter):
    """Records as lines: of requests their fields, of others the message."""

    def __init__(self, *, as_json: bool) -> None:
        super().__init__()
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        """Return one line; a traceback of ours follows as further lines, or as a field of JSON."""
        when = dt.datetime.fromtimestamp(record.created, dt.UTC).isoformat(timespec="milliseconds")
        fields: dict[str, Any] | None = getattr(record, "fields", None)
        trace = self.formatException(record.exc_info) if record.exc_info else ""
        if self._as_json:
            told = fields or {"level": record.levelname.lower(), "message": record.getMessage()}
            found = {"time": when, **told, **({"traceback": trace} if trace else {})}
            return msgspec.json.encode(found, enc_hook=str).decode()
        if fields is not None:
            rows = f" {fields['rows']} rows" if "rows" in fields else ""
            asked = f'"{fields["method"]} {fields["path"]}"'
            return f"{when} {fields['client']} {asked} {fields['status']}{rows} {fields['ms']} ms"
        message = " ".join(record.getMessage().split())
        return f"{when} {record.levelname.lower()}: {message}" + (f"\n{trace}" if trace else "")


def set_up_logging(*, as_json: bool, requests: bool = True) -> None:
    """Write the log of the server, and of requests, to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines(as_json=as_json))
    levels = {"rankset.access": logging.INFO if requests else logging.WARNING, "rankset.serving": logging.INFO}
    for name, level in {**levels, "uvicorn.error": logging.ERROR, "asyncio": logging.WARNING}.items():
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)
