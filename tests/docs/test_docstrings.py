"""Every public name has a NumPy-style docstring: what it is, its parameters, what it returns, and an example that runs.

Examples are run as doctests. All names of ``dir(rankset)`` are looked at, the public names of its modules,
and the public methods and properties of its classes. The parameters of a docstring must be those of the signature, no
more and no fewer. Engines whose libraries are not installed are read as text.
"""

import ast
import contextlib
import doctest
import inspect
import re
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import rankset as rs
from docs.snippets import blocks
from docs.test_reference import PAGES, exported

FROM_PROTOCOLS = {
    "describe_label",
    "can_be_empty",
    "keys",
    "reach",
    "ranges",
    "transform",
    "check_names",
    "count",
    "numbers",
    "entries",
}
"""Methods that ``rankset.Score``, ``rankset.Condition`` and ``rankset.Target`` explain: one line is enough there."""
ENGINES = ("dask", "shards", "spark")
"""Modules of ``rankset.engines``, looked at where their libraries are installed."""


@dataclass(frozen=True)
class PublicName:
    """A public name, the object behind it, and what its docstring must have."""

    name: str
    thing: object
    package: str
    parameters: tuple[str, ...] = ()
    returns: bool = False
    example: bool = False

    @property
    def doc(self):
        return inspect.cleandoc(getattr(self.thing, "__doc__", None) or "")

    def sections(self):
        """The text below every underlined heading."""
        parts = re.split(r"^(\w+)\n-{3,}\n", self.doc, flags=re.MULTILINE)
        return dict(zip(parts[1::2], parts[2::2], strict=True))

    def faults(self):
        if not self.doc:
            return ["no docstring"]
        sections = self.sections()
        described = listed(sections.get("Parameters", ""))
        known = described | listed(sections.get("Attributes", "")) if inspect.isclass(self.thing) else described
        found = [f"parameter {name} is not described" for name in self.parameters if name not in known]
        found += [f"{name} is no parameter" for name in sorted(described - {*self.parameters})]
        found += [f"{head} is no name and no type" for head in heads(sections) if head.endswith(".")]
        if self.returns and "Returns" not in sections:
            found.append("no Returns section")
        if self.example and ">>>" not in sections.get("Examples", ""):
            found.append("no example")
        return found


def listed(section):
    """The names at the start of the entries of a section: "groups, ids : array" has two, "**options" has one."""
    heads = [line.split(" : ")[0] for line in section.splitlines() if line and not line[0].isspace()]
    return {name.strip(" *") for head in heads for name in head.split(",")}


def heads(sections):
    """The first lines of entries. Sentences stand below them, or the site shows them as types."""
    entries = "\n".join(sections.get(name, "") for name in ("Parameters", "Attributes", "Returns", "Raises"))
    return [line for line in entries.splitlines() if line and not line[0].isspace()]


def package_of(thing):
    return (thing.__name__ if isinstance(thing, ModuleType) else thing.__module__).split(".")[1]


def parameters_of(function):
    return tuple(name for name in inspect.signature(function).parameters if name not in {"self", "cls"})


def returns_something(function):
    return inspect.signature(function).return_annotation not in {None, "None", inspect.Signature.empty}


def walk(name, thing):
    """A public name and everything public below it."""
    if isinstance(thing, ModuleType):
        yield PublicName(name, thing, package_of(thing))
        for below in public_names(thing):
            with contextlib.suppress(rs.errors.PackageError):  # rankset.serving, where SQLAlchemy is missing
                yield from walk(f"{name}.{below}", getattr(thing, below))
        for below in ENGINES if thing is rs.engines else ():
            with contextlib.suppress(rs.RanksetError):
                yield from walk(f"{name}.{below}", getattr(thing, below))
    elif inspect.isclass(thing):
        yield from walk_class(name, thing)
    elif inspect.isroutine(thing):
        yield PublicName(name, thing, package_of(thing), parameters_of(thing), returns_something(thing), example=True)


def public_names(module):
    own = [name for name, value in vars(module).items() if getattr(value, "__module__", "").startswith(module.__name__)]
    return [name for name in getattr(module, "__all__", own) if not name.startswith("_")]


def walk_class(name, kind):
    package, plain = package_of(kind), issubclass(kind, Exception | Warning) or getattr(kind, "_is_protocol", False)
    yield PublicName(name, kind, package, () if plain else parameters_of(kind), example=True)
    for member in dir(kind):
        found = inspect.getattr_static(kind, member)
        function = getattr(found, "__func__", getattr(found, "fn", found))
        if member.startswith("_") or not getattr(function, "__module__", "rankset").startswith("rankset"):
            continue
        if isinstance(found, property):
            yield PublicName(f"{name}.{member}", found, package)
        elif inspect.isfunction(function):
            yield method(f"{name}.{member}", function, kind, package)


def method(name, function, kind, package):
    if getattr(kind, "_is_protocol", False):
        return PublicName(name, function, package, parameters_of(function), returns_something(function))
    of_score = function.__name__ == "describe" and hasattr(kind, "keys")  # rules have a method of this name too
    parameters = () if of_score or function.__name__ in FROM_PROTOCOLS else parameters_of(function)
    return PublicName(
        name, function, package, parameters, bool(parameters) and returns_something(function), bool(parameters)
    )


def errors():
    """The classes of ``rankset.errors`` that users meet. Class methods that make errors are not public."""
    return [getattr(rs.errors, name) for name in rs.errors.__all__ if name.endswith("Error") or name == "Place"]


NAMES = [one for name in dir(rs) if not name.startswith("_") for one in walk(name, getattr(rs, name))]
NAMES += [PublicName(f"errors.{kind.__name__}", kind, "errors", example=True) for kind in errors()]


@pytest.mark.parametrize("one", NAMES, ids=[one.name for one in NAMES])
def test_public_names_are_documented(one):
    assert one.faults() == []


@pytest.mark.parametrize(
    "function", [rs.RanksetError.render, rs.RanksetWarning.render], ids=lambda one: one.__qualname__
)
def test_examples_of_methods_of_errors_run(function):
    """pytest does not find them: the classes say that their module is ``rankset.errors``."""
    (example,) = doctest.DocTestFinder().find(function, function.__qualname__)
    result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example)
    assert (result.failed, result.attempted > 0) == (0, True)


def docs_of_data():
    """The docstrings below names of data, as in ``DATASETS = ...``. pytest does not find them."""
    for path in sorted(Path(rs.__file__).parent.rglob("*.py")):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        for node, below in pairwise(body):
            named = node.target if isinstance(node, ast.AnnAssign) else (getattr(node, "targets", None) or [None])[0]
            if isinstance(named, ast.Name) and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
                yield named.id, str(below.value.value)


DATA_EXAMPLES = {name: doc for name, doc in docs_of_data() if ">>>" in doc}


@pytest.mark.parametrize("name", DATA_EXAMPLES)
def test_examples_of_data_run(name):
    example = doctest.DocTestParser().get_doctest(DATA_EXAMPLES[name], {}, name, None, None)
    result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example)
    assert (result.failed, result.attempted > 0) == (0, True)


def test_data_have_an_example_in_a_docstring_or_on_their_page():
    """A page of the reference that describes data itself has code that uses it; test_pages.py runs it."""
    data = [name for name in exported() if not name.startswith(("engines.", "serving."))]
    data = [name for name in data if not callable(attrgetter(name)(rs))]
    used = "".join(block.body for page in PAGES for block in blocks(page.read_text()) if block.language == "python")
    without = [name for name in data if name.rpartition(".")[2] not in DATA_EXAMPLES and f"rs.{name}" not in used]
    assert len(data) > 5
    assert without == ["ABSENT"]  # the site shows the docstring of its class, which has an example
    assert ">>>" in type(rs.ABSENT).__doc__


def test_no_example_is_skipped():
    sources = {path: path.read_text(encoding="utf-8") for path in Path(rs.__file__).parent.rglob("*.py")}
    assert [path.name for path, text in sources.items() if re.search(r"doctest: *\+SKIP", text)] == []


def functions_of_engine(name):
    """The public functions of an engine, read from its two files."""
    files = (f"{name}.py", f"{name.removesuffix('s')}_decisions.py")
    for node in (
        node for file in files for node in ast.parse((Path(rs.__file__).parent / "engines" / file).read_text()).body
    ):
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            arguments = node.args
            every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
            names = tuple(one.arg for one in every if one is not None)
            thing = SimpleNamespace(__doc__=ast.get_docstring(node))
            yield PublicName(node.name, thing, "engines", names, returns=True, example=True)


@pytest.mark.parametrize("engine", ENGINES)
def test_functions_of_engines_are_documented(engine):
    found = {one.name: one.faults() for one in functions_of_engine(engine)}
    assert {"calibrate", "predict", "triage", "accept", "decide"} <= set(found)
    assert [faults for faults in found.values() if faults] == []


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_take_what_calibrate_takes(engine):
    (calibrate,) = [one for one in functions_of_engine(engine) if one.name == "calibrate"]
    shared = {"method", "score", "condition", "kind", "classes", "seed"}
    assert shared <= set(calibrate.parameters)
    assert shared <= set(inspect.signature(rs.calibrate).parameters)
    assert shared <= set(inspect.signature(rs.torch.calibrate).parameters)


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_take_what_triage_takes(engine):
    (triage,) = [one for one in functions_of_engine(engine) if one.name == "triage"]
    shared = set(inspect.signature(rs.triage).parameters) - {"probs", "groups", "ids"}
    assert shared <= set(triage.parameters)
    assert {"groups", "ids"} <= set(triage.parameters) or {"group", "identity"} <= set(triage.parameters)


def test_the_walk_finds_classes_methods_properties_and_functions():
    found = {one.name for one in NAMES}
    some = {"calibrate", "Rule.predict", "PredictionSets.sizes", "PredictionSets.from_mask", "Rank.keys"}
    assert some | {"ConformalClassifier.predict", "torch.calibrate", "datasets.load", "Score.keys"} <= found
    assert {
        "auto",
        "compare",
        "choose",
        "torch.auto",
        "reports.page",
        "paper.study",
        "CrossRule.expected_size",
    } <= found
    assert "ConformalClassifier.get_params" not in found
    assert {"RanksetError.render", "errors.LabelError", "errors.Place"} <= found
    assert {one.package for one in NAMES} >= {"scores", "conditions", "sets", "integrations", "errors"}


COMPLETE = """Return it.

Parameters
----------
x : int
    A number.

Returns
-------
int
    The same number.

Examples
--------
>>> 1
1
"""


@pytest.mark.parametrize(
    ("doc", "faults"),
    [
        ("", ["no docstring"]),
        ("Return it.", ["parameter x is not described", "no Returns section", "no example"]),
        ("Return it.\n\nParameters\n----------\nx : int\n    A number.", ["no Returns section", "no example"]),
        (COMPLETE.replace("x : int", "y : int\n    Like x."), ["parameter x is not described", "y is no parameter"]),
        (COMPLETE.replace("x : int", "x, y"), ["y is no parameter"]),
        (
            COMPLETE.replace("int\n    The same number.", "The same number."),
            ["The same number. is no name and no type"],
        ),
        (COMPLETE, []),
    ],
    ids=["nothing", "summary", "parameters", "another name", "one too many", "a sentence as a type", "everything"],
)
def test_faults_are_found(doc, faults):
    def function(x: int) -> int:
        return x

    function.__doc__ = doc
    assert PublicName("function", function, "scores", ("x",), returns=True, example=True).faults() == faults
