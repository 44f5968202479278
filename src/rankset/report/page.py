"""Writes a study as one HTML file: the numbers as JSON, the script of plotly, and the script and style of the page."""

from __future__ import annotations

import json
from importlib.resources import files

from rankset.errors import needs_extra
from rankset.report.study import Study


def page(study: Study, title: str = "Prediction sets", *, source: str = "") -> str:
    """Return the report as one HTML page. The page works without a network connection.

    Parameters
    ----------
    study
        The results to show, returned by ``study_scores`` or ``study_rules``.
    title
        Title of the page.
    source
        Text at the bottom of the page, for example the names of the input files.

    Returns
    -------
    str
        The page as HTML. Title, source, class names and group names are escaped.

    Raises
    ------
    PackageError
        If plotly is not installed.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> study = rs.report.study_scores(probs[:130], labels[:130], probs[130:], labels[130:])
    >>> rs.report.page(study, "Marketing")[:15]
    '<!doctype html>'
    """
    with needs_extra("reports"):
        from plotly.offline import get_plotlyjs
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
    """The template split at its marks; texts that are inserted are never searched for marks."""
    parts = [template]
    for mark in marks:
        parts = [piece for part in parts for piece in _around(part, mark)]
    return parts


def _around(part: str, mark: str) -> list[str]:
    """The pieces of ``part`` around ``mark``, with the mark between them."""
    first, *rest = part.split(mark)
    return [first, *(piece for after in rest for piece in (mark, after))]


def _json(data: object) -> str:
    """JSON in ASCII without <, > and &, so that a browser can neither read it as markup nor reverse the text."""
    return (
        json.dumps(data, separators=(",", ":")).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    )


def _escaped(text: str) -> str:
    """``text`` in one line, with HTML characters escaped."""
    from html import escape

    return escape(" ".join(text.encode("utf-8", "replace").decode().split()))
