"""Writes a study as one HTML file: the numbers as JSON, the script of plotly, and the script and style of the page."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from html import escape
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

from rankset import notebook
from rankset.errors import FileError, needs_extra
from rankset.evaluation.short_names import LONGEST
from rankset.io import atomic
from rankset.reports.results import Study

ONE_LABEL = ("page.html", "page.css", "common.js", "automatic.js", "classes.js", "page.js")
SEVERAL_LABELS = ("several.html", "page.css", "common.js", "several.js")
STREAM = ("stream.html", "page.css", "stream.css", "common.js", "stream.js", "stream_pictures.js")
"""The files of a page: the template, then styles and scripts in order."""


@dataclass(frozen=True)
class Report:
    """The page that ``report``, ``report_scores`` and ``report_stream`` return. A notebook shows it.

    Attributes
    ----------
    study
        All numbers of the page.
    title
        Title of the page.
    path
        The file that contains the page, or None if it was not written.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> made = rs.report(rs.calibrate(probs[:130], labels[:130]), probs[130:], labels[130:])
    >>> made.html[:15], made.path
    ('<!doctype html>', None)
    """

    study: Study
    title: str
    path: Path | None = None

    def __repr__(self) -> str:
        names = self._names
        file = "" if self.path is None else f", path={os.fspath(self.path)!r}"
        return f"Report({self.title!r}, {self.study.data['rows']:,} rows, {names}{file})"

    def _repr_html_(self) -> str:
        if self.path is None:
            style = "width:100%;height:85vh;border:0"
            return f'<iframe srcdoc="{escape(self.html)}" title="{_escaped(self.title)}" style="{style}"></iframe>'
        link = notebook.Html(f'<a href="{quote(self.path.as_posix())}" target="_blank">{escape(str(self.path))}</a>')
        facts = [("file", link), ("rows", f"{self.study.data['rows']:,}"), ("scores", self._names)]
        return notebook.card(f"Report: {self.title}", notebook.table(facts))

    @property
    def _names(self) -> str:
        """The scores, by their short names if the others are sentences, as those of ``auto``."""
        scores = self.study.data["scores"]
        return ", ".join(one["name"] if len(one["name"]) <= LONGEST else one["label"] for one in scores)

    @property
    def html(self) -> str:
        """The page as HTML."""
        return page(self.study, self.title, source="Made by rankset")

    def save(self, path: str | os.PathLike[str]) -> Report:
        """Write the page to a file.

        Parameters
        ----------
        path
            Path of the file. An existing file is replaced, but only after the new file is complete.

        Returns
        -------
        Report
            The same page with its ``path``.

        Raises
        ------
        FileError
            If the file cannot be written, or if its name does not end in ".html".

        Examples
        --------
        >>> import tempfile, rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> made = rs.report(rs.calibrate(probs[:130], labels[:130]), probs[130:], labels[130:])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     made.save(f"{folder}/report.html").path.name
        'report.html'
        """
        if not os.fspath(path).lower().endswith(".html"):
            raise FileError.report_suffix(os.fspath(path))
        with atomic.open_output(path, force=True) as file:
            file.write(self.html.encode())
        return replace(self, path=Path(path))


def page(study: Study, title: str = "Prediction sets", *, source: str = "") -> str:
    """Return the report as one HTML page. The page works without a network connection.

    Parameters
    ----------
    study
        The results to show, returned by ``study_scores``, ``study_rules`` or ``study_stream``.
    title
        Title of the page.
    source
        Text at the bottom of the page, for example the names of the input files.

    Returns
    -------
    str
        The page as HTML. Title, source, ids and names of classes and groups are escaped.

    Raises
    ------
    PackageError
        If plotly is not installed.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> study = rs.reports.study_scores(probs[:130], labels[:130], probs[130:], labels[130:])
    >>> rs.reports.page(study, "Marketing")[:15]
    '<!doctype html>'
    """
    names = STREAM if study.data.get("stream") else SEVERAL_LABELS if study.data.get("several") else ONE_LABEL
    parts = {
        "{{title}}": _escaped(title),
        "{{source}}": _escaped(source),
        "{{style}}": _texts(names, ".css"),
        "{{data}}": _json(study.data),
        "{{plotly}}": plotly_script(),
        "{{script}}": f'"use strict";\n(() => {{\n{_texts(names, ".js")}}})();\n',
    }
    return "".join(parts.get(part, part) for part in _split(_texts(names, ".html"), tuple(parts)))


def _texts(names: tuple[str, ...], suffix: str) -> str:
    """The files of a page with this suffix, joined."""
    folder = files("rankset.reports")
    return "".join((folder / name).read_text(encoding="utf-8") for name in names if name.endswith(suffix))


def plotly_script() -> str:
    """Return the script of plotly; raise a PackageError if plotly is not installed."""
    with needs_extra("reports"):
        from plotly.offline import get_plotlyjs
    return get_plotlyjs()


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
    return escape(" ".join(text.encode("utf-8", "replace").decode().split()))
