"""The package as a whole: light to import, one version, a window that matches what is behind it."""

import ast
import pydoc
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import rankset as rs

ROOT = Path(__file__).parents[1]
SNIPPET = ROOT / "tests" / "typecheck" / "public_names.py"
HEAVY = (
    "scipy",
    "sklearn",
    "pandas",
    "polars",
    "torch",
    "jax",
    "matplotlib",
    "numba",
    "dask",
    "pyspark",
    "safetensors",
)


def test_importing_rankset_loads_nothing_heavy():
    code = f"import sys, rankset; print([name for name in {HEAVY} if name in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_the_shop_window_is_sorted_complete_and_small():
    assert rs.__all__ == sorted(rs.__all__)
    assert all(hasattr(rs, name) for name in rs.__all__)
    assert len(rs.__all__) <= 30
    assert {*rs.__all__, "paper"} <= set(dir(rs))


def test_help_lists_and_explains_every_name():
    late = {*rs.MODULES_ON_DEMAND, *rs.NAMES_ON_DEMAND}
    assert late <= set(dir(rs))
    shown = pydoc.render_doc(rs, renderer=pydoc.plaintext)
    lines = [re.split(r"\s{2,}", line.strip()) for line in shown[: shown.index("PACKAGE CONTENTS")].splitlines()]
    told = {name.strip() for names, *summary in lines if summary for name in names.split(",")}
    assert sorted({*rs.__all__, *late} - told) == []


def test_type_checkers_see_every_name_that_is_imported_late():
    tree = ast.parse(Path(rs.__file__).read_text())
    (block,) = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    found = {alias.asname: f"{node.module}.{alias.name}" for node in block.body for alias in node.names}
    modules = dict(rs.MODULES_ON_DEMAND)
    names = {name: f"rankset.{module}.{name}" for name, module in rs.NAMES_ON_DEMAND.items()}
    assert found == modules | names


def test_type_checkers_know_the_types_of_public_names():
    """``python3 run.py lint`` runs mypy on the same file; this test runs where mypy is installed."""
    api = pytest.importorskip("mypy.api")
    report, errors, code = api.run(["--config-file", str(ROOT / "pyproject.toml"), str(SNIPPET)])
    assert (code, errors) == (0, ""), report
    configured = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]["files"]
    assert any(SNIPPET.is_relative_to(ROOT / folder) for folder in configured)


def test_the_paper_comes_in_when_asked_for():
    assert rs.paper.METHODS["RANK"] == rs.Rank()
    with pytest.raises(AttributeError, match="no attribute 'papers'"):
        rs.papers  # noqa: B018


def test_the_version_stands_in_one_place():
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+)?", rs.__version__)
    others = [ROOT / "pyproject.toml", ROOT / "CITATION.cff", ROOT / "README.md"]
    assert [path.name for path in others if f'"{rs.__version__}"' in path.read_text()] == []


def test_the_citation_names_the_paper():
    text = (ROOT / "CITATION.cff").read_text()
    assert "Trustworthy Classification through Rank-Based Conformal Prediction Sets" in text
    assert "2407.04407" in text


def test_every_link_between_pages_leads_somewhere():
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), (page.name, target)


def test_the_tree_of_the_design_page_names_every_package_and_module():
    text = (ROOT / "docs" / "design.md").read_text()
    tree = text[text.index("## The tree") : text.index("## Flow")]
    folder = ROOT / "src" / "rankset"
    packages = {path.parent.relative_to(folder).parts[0] for path in folder.glob("*/__init__.py")}
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__", "__main__"}
    assert {name for name in packages if f"{name}/" not in tree} == set()
    assert {name for name in modules if f"{name}.py" not in tree} == set()


def test_the_layers_are_few_and_name_every_package():
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    assert len(contract["layers"]) <= 10
