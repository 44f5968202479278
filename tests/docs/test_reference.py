"""The reference names what the package exports, no more and no less: names, commands, options, environment variables.

The lists are read from the Markdown sources, so Sphinx is not needed.
"""

import ast
import inspect
import re
from pathlib import Path
from types import ModuleType

import click
import pytest

import rankset as rs
from rankset.cli.commands import COMMANDS
from rankset.cli.commands import rankset as command_line

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
PAGES = sorted((REFERENCE / "api").glob("*.md"))
ENGINES = ("dask", "shards", "spark")
INSIDE = {
    "Either",
    "NOWHERE",
    "Option",
    "Text",
    "import_with_extra",
    "join_names",
    "kept_warnings",
    "located",
    "needs_extra",
    "once",
    "short_repr",
    "silent",
    "warn",
}
"""Names of ``rankset.errors`` with which the package itself makes errors."""


def listed(page):
    """The names on a page: those of its tables, which have pages of their own, and data that it describes itself."""
    for block in re.findall(r"```\{eval-rst\}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        assert ".. currentmodule:: rankset\n" in block or ".. autosummary::" not in block
        yield from re.findall(r"^ {3}(\w[\w.]*)$", block.partition(".. autosummary::")[2], re.MULTILINE)
        yield from re.findall(r"^\.\. py:data:: (\S+)$", block, re.MULTILINE)


def exported():
    """Every public name, without "rankset." at its start."""
    for name in dir(rs):
        thing = getattr(rs, name)
        if not isinstance(thing, ModuleType) and not name.startswith("_"):
            yield name
    for module in (rs.datasets, rs.paper, rs.mlflow, rs.reports, rs.shift, rs.torch):
        here = module.__name__.rpartition(".")[2]
        yield from (f"{here}.{name}" for name in module.__all__ if getattr(rs, name, None) is not getattr(module, name))
    yield from (f"serving.{name}" for name in rs.serving.__all__)
    for engine in ENGINES:
        tree = ast.parse((ROOT / "src" / "rankset" / "engines" / f"{engine}.py").read_text(encoding="utf-8"))
        own = {
            node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef) if node.name[0] != "_"
        }
        (listed_there,) = [
            node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"
        ]
        assert own <= set(ast.literal_eval(listed_there))
        yield from (f"engines.{engine}.{name}" for name in ast.literal_eval(listed_there))
    yield from (f"errors.{name}" for name in rs.errors.__all__ if name not in INSIDE and not hasattr(rs, name))


def test_every_public_name_is_on_one_page_and_nothing_else_is():
    names = [name for page in PAGES for name in listed(page)]
    assert sorted(names) == sorted(exported())
    assert len(names) > 100


def test_the_lists_have_names_of_every_kind():
    names = set(exported())
    assert {
        "calibrate",
        "ABSENT",
        "torch.choose",
        "mlflow.save_model",
        "engines.spark.predict",
        "datasets.DATASETS",
    } <= names
    assert {"errors.LabelError", "errors.Place", "errors.PYTHON", "paper.ALPHAS", "reports.Study"} <= names
    assert not {"reports.report", "errors.warn", "errors.RanksetError", "datasets", "__version__"} & names


def test_the_page_of_all_names_has_the_names_of_every_group_in_order():
    rows = re.findall(r"^\| \[(.+)\]\(api/(\w+)\.md\) \| (.+) \|$", (REFERENCE / "api.md").read_text(), re.MULTILINE)
    assert sorted(file for _, file, _ in rows) == [page.stem for page in PAGES]
    for title, file, cell in rows:
        page = REFERENCE / "api" / f"{file}.md"
        names = re.findall(r"\{py:obj\}`([\w.]+) <rankset\.([\w.]+)>`", cell)
        assert page.read_text().startswith(f"# {title}\n")
        assert [name for name, _ in names] == [name for _, name in names] == list(listed(page))


def test_every_name_of_the_text_of_the_package_is_in_the_reference():
    heads = [line[:38].split("  ")[0] for line in rs.__doc__.splitlines() if re.match(r"[\w, ]+ {2,}\w", line)]
    told = {name.strip() for head in heads for name in head.split(",")}
    names = {name for page in PAGES for name in listed(page)}
    modules = {"datasets", "engines", "errors", "mlflow", "paper", "reports", "serving", "shift", "torch"}
    assert told - modules <= names
    assert len(told) > 60


def commands(command=command_line, path=("rankset",)):
    """Every command and subcommand with its path."""
    context = click.Context(command)
    for name in command.list_commands(context) if isinstance(command, click.Group) else ():
        below = command.get_command(context, name)
        yield (*path, name), below
        yield from commands(below, (*path, name))


ALL_COMMANDS = {" ".join(path): command for path, command in commands()}


def test_the_page_of_the_command_line_has_every_command():
    page = (REFERENCE / "cli.md").read_text(encoding="utf-8")
    shown = re.findall(
        r"^\.\. _cli-(\w+):\n\n\.\. click:: rankset\.cli\.(\w+):(\w+)\n {3}:prog: rankset (\w+)$", page, re.MULTILINE
    )
    assert all(len(set(names)) == 1 for names in shown)
    assert sorted(names[0] for names in shown) == sorted(COMMANDS)
    assert page.count("   :nested: full\n") == len(COMMANDS)
    table = re.findall(r"\[`rankset (\w+)`\]\(#cli-(\w+)\) \|$", page, re.MULTILINE)
    assert sorted(table) == sorted((name, name) for name in COMMANDS)


@pytest.mark.parametrize("path", ALL_COMMANDS)
def test_every_command_and_option_has_a_help_text(path):
    command = ALL_COMMANDS[path]
    assert inspect.cleandoc(command.help)
    for option in command.params:
        if isinstance(option, click.Option) and not option.hidden:
            assert option.help, option.name
            assert option.help[0].isupper(), option.help
            assert option.help.rstrip()[-1] in ".];)", option.help
        elif isinstance(option, click.Argument):
            words = re.findall(r"[A-Z]{3,}", option.metavar or option.name.upper())
            assert all(word in command.help or word in {"RULE", "FILES"} for word in words), words


def test_every_environment_variable_is_on_the_page():
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    page = (REFERENCE / "cli.md").read_text(encoding="utf-8")
    assert set(re.findall(r'"(RANKSET_[A-Z_]+)"', sources)) <= set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))


def test_terms_of_the_glossary_are_sorted_and_defined_once():
    text = (REFERENCE / "glossary.md").read_text(encoding="utf-8").partition("```{glossary}\n")[2]
    terms = re.findall(r"^(?! |`)(.+)$", text, re.MULTILINE)
    assert terms == sorted(terms, key=lambda term: (term.casefold(), term.isupper()))
    assert len(set(terms)) == len(terms)
    assert {"alpha", "exchangeable", "Mondrian", "r*", "SSCV*", "p-value"} <= set(terms)
    used = {found or words for words, found in re.findall(r"\{term\}`([^`<]+?)(?: <([^>]+)>)?`", text)}
    assert used <= set(terms)


def test_the_page_of_files_lists_all_commands():
    page = (ROOT / "docs" / "how-to" / "files.md").read_text(encoding="utf-8")
    table = page[page.index("## All commands") :].partition("\n\nThe next commands")[0]
    assert sorted(re.findall(r"^\| `rankset (\w+)` \|", table, re.MULTILINE)) == sorted(COMMANDS)
