"""The pages of a server: live numbers, endpoints, and the form for the token. Nothing is loaded from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import html
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True)
class Page:
    """A page, and the policy that allows its own style and script alone."""

    html: str
    policy: str


def live(numbers: bytes) -> Page:
    """Return the live page with the numbers of now."""
    style, script = _style(), _script()
    data = numbers.decode().replace("<", "\\u003c")  # so that no text ends the block
    return Page(_filled("live.html", style=style, script=script, data=data), _policy(style, script))


@cache
def login() -> Page:
    """Return the form for the token."""
    style, script = _style(), _text("login.js")
    return Page(_filled("login.html", style=style, script=script), _policy(style, script))


def docs(description: dict[str, Any]) -> Page:
    """Return the list of endpoints."""
    style = _style()
    parts = [
        _endpoint(method, path, told) for path, ways in description["paths"].items() for method, told in ways.items()
    ]
    about = html.escape(description["info"]["description"])
    return Page(_filled("docs.html", style=style, about=about, endpoints="\n".join(parts)), _policy(style))


def _endpoint(method: str, path: str, told: dict[str, Any]) -> str:
    """Return one endpoint as HTML."""
    lines = [f"<h2><code>{method.upper()} {html.escape(path)}</code></h2>", f"<p>{html.escape(told['summary'])}</p>"]
    if "description" in told:
        lines.append(f"<p class='faint'>{html.escape(told['description'])}</p>")
    query = [one["name"] for one in told.get("parameters", ()) if one["in"] == "query"]
    if query:
        lines.append(f"<p>Query: {html.escape(', '.join(f'?{name}=' for name in query))} (optional).</p>")
    schema = told.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if schema is not None:
        needed = schema.get("required", ())
        members = (f"{name}{'' if name in needed else ' (optional)'}" for name in schema["properties"])
        lines.append(f"<p>Members: {html.escape(', '.join(members))}.</p>")
    return f"<section class='wide'>{''.join(lines)}</section>"


def _text(name: str) -> str:
    return files("rankset.serving").joinpath(name).read_text(encoding="utf-8")


def _of_reports(name: str) -> str:
    return files("rankset.reports").joinpath(name).read_text(encoding="utf-8")


@cache
def _style() -> str:
    return _of_reports("page.css") + _of_reports("stream.css") + _text("live.css")


@cache
def _script() -> str:
    return '"use strict";\n(() => {\n' + _of_reports("common.js") + _text("pictures.js") + _text("live.js") + "})();\n"


def _filled(name: str, **parts: str) -> str:
    """Return a template with its parts; what they contain is not looked into again."""
    found = []
    for piece in _text(name).split("{{"):
        key, end, rest = piece.partition("}}")
        found.append(parts[key] + rest if end else piece)
    return "".join(found)


def _policy(style: str, script: str | None = None) -> str:
    """Return the policy of a page: its style and its script by their hashes, requests to this server, nothing else."""
    scripts = "'none'" if script is None else _hash(script)
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {scripts}; connect-src 'self'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
