"""The pages of the reference: what classes show, links in docstrings, and the look of the commands.

* Pages of classes list the methods and properties that come from rankset (``_templates/autosummary/class.rst``).
* Docstrings name pages of this site by their titles, as in ``the page "Metrics"``: on the site that is a link.
* The reference of the command line shows each option with its choices and its default, and examples as code.
"""

from __future__ import annotations

import contextlib
import inspect
import re
import sys
from types import ModuleType
from typing import Any

import click
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.ext.autodoc import mock

import rankset

PAGES = {
    "Metrics": "/understand/metrics",
    "The file of a rule": "/reference/format",
}
"""Pages that docstrings name, by title."""
OF_ERRORS = ("render", "statement", "text")
"""Members of errors that are for users. The others make errors."""
VALUES = {"integer": "number", "integer range": "number", "float": "number"}
"""What options of these types of click take."""


def members_of_classes(missing: list[str]) -> dict[str, dict[str, list[str]]]:
    """Return the methods and properties of every public class, also where the modules of ``missing`` are."""
    with mock(missing):
        sys.modules["rankset.torch"] = rankset.torch  # its public name; the module is rankset.integrations.torch
        return {name: _members(kind) for name, kind in _public_classes().items()}


def short_names() -> dict[str, str]:
    """Return the full name of every public class by the name that docstrings write, such as "Rule"."""
    return {name.rpartition(".")[2]: name for name in reversed(_public_classes())}


def _public_classes() -> dict[str, type]:
    """Return every public class by its public name."""
    places: dict[str, Any] = {f"rankset.{name}": getattr(rankset, name) for name in dir(rankset)}
    modules = {name: thing for name, thing in places.items() if isinstance(thing, ModuleType)}
    for name, module in {**modules, "rankset.errors": rankset.errors}.items():
        for below in getattr(module, "__all__", ()):  # names of rankset.serving are imported when they are asked for
            with contextlib.suppress(rankset.errors.PackageError):
                getattr(module, below)
        places |= {f"{name}.{below}": thing for below, thing in vars(module).items()}
    return {name: thing for name, thing in places.items() if inspect.isclass(thing)}


def _members(kind: type) -> dict[str, list[str]]:
    """Return the names of the members that a class has from rankset, not from scikit-learn or Python."""
    found: dict[str, list[str]] = {"methods": [], "properties": []}
    for name in dir(kind):
        thing = inspect.getattr_static(kind, name)
        function = getattr(thing, "fget", getattr(thing, "__func__", getattr(thing, "fn", thing)))
        ours = str(getattr(function, "__module__", "")).startswith("rankset") and not name.startswith("_")
        if issubclass(kind, Exception):
            ours = ours and name in OF_ERRORS and name in vars(kind)
        if ours and isinstance(thing, property):
            found["properties"].append(name)
        elif ours and inspect.isfunction(function):
            found["methods"].append(name)
    return found


def link_own_types_only(_app: Sphinx, config: Config) -> None:
    """Leave out numpydoc's own list of types, such as int: their pages are outside of this site."""
    config.numpydoc_xref_aliases_complete = dict(config.numpydoc_xref_aliases)


def link_pages(_app: Sphinx, _what: str, _name: str, _thing: object, _options: object, lines: list[str]) -> None:
    """Turn the titles of pages in a docstring into links."""
    text = re.sub(r'the page\s+"([^"]+)"', lambda found: f"the page :doc:`{PAGES[found[1]]}`", "\n".join(lines))
    lines[:] = text.split("\n")


def hide_signatures_of_errors(
    _app: Sphinx, what: str, _name: str, thing: object, _options: object, signature: str | None, _returned: str | None
) -> tuple[str, None] | None:
    """Leave out what errors are made from: only rankset makes them."""
    error = what in ("class", "exception") and isinstance(thing, type) and issubclass(thing, Exception)
    return ("", None) if error and signature is not None else None


def show_description(_app: Sphinx, _context: click.Context, lines: list[str]) -> None:
    """Show commands, and lines of JSON, in a help text as blocks of code."""
    shown: list[str] = []
    for line in lines:
        if not line.startswith("| "):
            shown.append(_escaped(line))
            continue
        text = line[2:].strip()
        start, language = ("", "text") if text.startswith("{") else ("$ ", "console")
        if not shown or not shown[-1].startswith("    "):
            shown += ["", f".. code-block:: {language}", ""]
        shown.append(f"    {start}{text}")
    lines[:] = shown


def show_options(_app: Sphinx, context: click.Context, lines: list[str]) -> None:
    """Show every option with what it takes, its help text, its default and its choices."""
    lines[:] = []
    for option in context.command.params:
        if not isinstance(option, click.Option) or option.hidden:
            continue
        value = "" if option.is_flag else f" <{_value(option)}>"
        text, _, default = (option.help or "").partition("  [default: ")
        more = option.get_help_extra(context)
        default = default.removesuffix("]") or str(more.get("default", ""))
        lines += [f".. option:: {', '.join(option.opts)}{value}", "", f"    {_escaped(text)}", ""]
        facts = ["Required."] if option.required else []
        if isinstance(option.type, click.Choice):
            facts.append(f"One of {', '.join(f'``{choice}``' for choice in option.type.choices)}.")
        if default:
            facts.append(f"Default: {_escaped(default)}.")
        lines += [f"    {' '.join(facts)}", ""]


def _value(option: click.Option) -> str:
    """Return what an option takes, in small letters."""
    return (option.metavar or VALUES.get(option.type.name, option.type.name)).lower()


def _escaped(text: str) -> str:
    """Return text whose characters mean nothing to reStructuredText. Options are shown as code."""
    text = re.sub(r"([\\*`|_])", r"\\\1", text)
    return re.sub(r"(?<![\w-])--?[a-z][a-z-]*(?: [A-Z]{2,})?", r"``\g<0>``", text)


def hide_arguments(_app: Sphinx, _context: click.Context, lines: list[str]) -> None:
    """Leave out the list of arguments: the description says what they are."""
    lines.clear()


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the functions of this module."""
    app.add_css_file("reference.css")
    app.setup_extension("sphinx_click")  # it has the events below
    app.connect("config-inited", link_own_types_only, priority=900)  # after numpydoc
    app.connect("autodoc-process-docstring", link_pages, priority=400)  # before numpydoc
    app.connect("autodoc-process-signature", hide_signatures_of_errors)
    app.connect("sphinx-click-process-description", show_description)
    app.connect("sphinx-click-process-options", show_options)
    app.connect("sphinx-click-process-arguments", hide_arguments)
    return {"parallel_read_safe": True}
