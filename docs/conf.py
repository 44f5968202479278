"""Settings of the documentation site: ``python3 run.py docs`` builds it."""

import inspect
import os
import re
import sys
from pathlib import Path
from types import ModuleType

from sphinx.ext.autodoc import mock

os.environ["MPLBACKEND"] = "agg"
sys.path.insert(0, str(Path(__file__).parent / "extensions"))

import rankset  # noqa: E402

project = "rankset"
author = "the rankset developers"
copyright = author  # noqa: A001 - Sphinx's name
release = version = rankset.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "pictures",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_templates", "_pictures", "extensions", "**/README.md"]
templates_path = ["_templates"]
nitpicky = False
smartquotes = False  # docstrings have "auto" and --alpha, which readers copy

myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say what a parameter may be
autodoc_mock_imports = ["dask", "distributed", "pyspark", "torch"]
numpydoc_show_class_members = False  # the templates list them
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False


def public_classes():
    """Every public class by its public name."""
    found = {}
    for name in dir(rankset):
        thing = getattr(rankset, name)
        below = vars(thing).items() if isinstance(thing, ModuleType) else [(None, thing)]
        found |= {f"rankset.{name}.{one}" if one else f"rankset.{name}": kind for one, kind in below if inspect.isclass(kind)}
    return found | {f"rankset.errors.{name}": kind for name, kind in vars(rankset.errors).items() if inspect.isclass(kind)}


def public_members(kind):
    """Names of the methods and properties that a class has from rankset, not from scikit-learn or Python."""
    found = {"methods": [], "properties": []}
    for name in dir(kind):
        thing = inspect.getattr_static(kind, name)
        function = getattr(thing, "__func__", getattr(thing, "fn", thing))
        ours = str(getattr(getattr(function, "fget", function), "__module__", "")).startswith("rankset")
        if name.startswith("_") or not ours:
            continue
        if isinstance(thing, property):
            found["properties"].append(name)
        elif inspect.isfunction(function) and not issubclass(kind, BaseException):
            found["methods"].append(name)
        elif name == "render":  # the other methods of errors make them
            found["methods"].append(name)
    return found


with mock(autodoc_mock_imports):
    sys.modules["rankset.torch"] = rankset.torch  # its public name; the module is rankset.integrations.torch
    autosummary_context = {"public_members": {name: public_members(kind) for name, kind in public_classes().items()}}

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"(read_rule|rank_or_auto)\.py$",
    "write_computation_times": False,
    "backreferences_dir": "reference/backreferences",
    "doc_module": ("rankset",),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "within_subsection_order": "FileNameSortKey",
}

html_theme = "pydata_sphinx_theme"
html_title = f"rankset {release}"
html_static_path = ["_static"]
html_css_files = ["rankset.css"]
html_extra_path = ["llms.txt"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "rankset"},
    "navbar_end": ["theme-switcher"],
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "header_links_before_dropdown": 7,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


PAGES = {"Metrics": "/understand/metrics", "RANK and its paper": "/understand/paper"}
"""Pages that docstrings name: in help() the title alone is read, here it is a link."""


def link_pages(_app, _what, _name, _thing, _options, lines):
    """Turn ``the page "Metrics"`` of docstrings into links."""
    for number, line in enumerate(lines):
        lines[number] = re.sub(r'the page "([^"]+)"', lambda found: f"the page :doc:`{found[1]} <{PAGES[found[1]]}>`", line)


def show_example_commands(_context, lines):
    """Show the commands at the end of a help text as a block of code."""
    inside = False
    shown = []
    for line in lines:
        if line.startswith("| ") and not inside:
            shown += [".. code-block:: console", ""]
        inside = line.startswith("| ")
        shown.append(f"    $ {line[2:].strip()}" if inside else escaped(line))
    lines[:] = shown


def show_options(context, lines):
    """Show every option with what it takes, its help text, its choices and its default."""
    lines[:] = []
    for option in context.command.params:
        if option.param_type_name != "option" or option.hidden:
            continue
        value = "" if option.is_flag else f" <{option_value(option)}>"
        lines += [f".. option:: {', '.join(option.opts)}{value}", ""]
        text, _, default = (option.help or "").partition("  [default: ")
        record = option.get_help_extra(context)
        default = default.rstrip("]") or record.get("default", "")
        lines.append(f"    {escaped(text)}")
        facts = ["required"] if option.required else []
        if default:
            facts.append(f"default: {escaped(default)}")
        if hasattr(option.type, "choices"):
            facts.append("one of " + ", ".join(f"``{choice}``" for choice in option.type.choices))
        if "range" in record:
            facts.append(f"range: {escaped(record['range'])}")
        if facts:
            lines += ["", f"    {'; '.join(facts)}"]
        lines.append("")


def option_value(option):
    """What an option takes, in small letters."""
    names = {"choice": "choice", "integer": "number", "integer range": "number", "float": "number", "file": "file", "text": "text"}
    return (option.metavar or names.get(option.type.name, option.type.name)).lower()


def escaped(text):
    """Text whose characters mean nothing to reStructuredText; options are code."""
    return re.sub(r"(?<![\w-])(--?[a-z][a-z-]*)", r"``\1``", re.sub(r"([\\*`|_])", r"\\\1", text))


def setup(app):
    app.connect("autodoc-process-docstring", link_pages, priority=400)
    app.connect("sphinx-click-process-description", show_example_commands)
    app.connect("sphinx-click-process-options", show_options)
    app.connect("sphinx-click-process-arguments", lambda _context, lines: lines.clear())
