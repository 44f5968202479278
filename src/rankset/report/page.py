"""A study as one HTML file: the numbers once, as JSON, plotly's own script, and a little of ours."""

from __future__ import annotations

import json
from importlib.resources import files

from rankset.errors import KindError
from rankset.report.study import Study


def page(study: Study, title: str = "Prediction sets", *, source: str = "") -> str:
    """The whole page, to be written to a file; it asks nothing of any other place. ``source``: what stands below."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise KindError.no_plotly() from None
    folder = files("rankset.report")
    template, style, script = (
        (folder / name).read_text(encoding="utf-8") for name in ("page.html", "page.css", "page.js")
    )
    parts = {
        "{{title}}": _escaped(title),
        "{{source}}": _escaped(source),
        "{{style}}": style,
        "{{data}}": _json(study.data),
        "{{plotly}}": get_plotlyjs(),
        "{{script}}": script,
    }
    return "".join(parts.get(part, part) for part in _split(template, tuple(parts)))


def _split(template: str, marks: tuple[str, ...]) -> list[str]:
    """The template cut at its marks, so that nothing that is put in is looked at again."""
    parts = [template]
    for mark in marks:
        parts = [piece for part in parts for piece in _around(part, mark)]
    return parts


def _around(part: str, mark: str) -> list[str]:
    first, *rest = part.split(mark)
    return [first, *(piece for after in rest for piece in (mark, after))]


def _json(data: object) -> str:
    """JSON that no browser takes for markup, in ASCII, so that marks that turn text around stay letters."""
    return (
        json.dumps(data, separators=(",", ":")).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    )


def _escaped(text: str) -> str:
    from html import escape

    return escape(" ".join(text.encode("utf-8", "replace").decode().split()))
