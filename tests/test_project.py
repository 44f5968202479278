"""The package as a whole: light to import, one version, a window that matches what is behind it."""

import ast
import pydoc
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import rankset as rs

ROOT = Path(__file__).parents[1]
SNIPPET = ROOT / "tests" / "typecheck" / "public_names.py"
HEAVY = (
    "jinja2",
    "narwhals",
    "plotly",
    "scipy",
    "sklearn",
    "pandas",
    "polars",
    "torch",
    "mlflow",
    "jax",
    "matplotlib",
    "numba",
    "dask",
    "pyspark",
    "tqdm",
)
LOADED = "import sys; sys.argv = {typed!r}; from rankset.cli import main; main()"


def loaded(code: str, folder: Path | None = None) -> set[str]:
    """Names of the modules that another process has loaded when ``code`` has been run there."""
    ending = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
    done = subprocess.run([sys.executable, "-c", ending + code], cwd=folder, capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_importing_rankset_loads_nothing_but_the_handling_of_signals():
    found = loaded("import rankset")
    assert {name for name in found if name.startswith("rankset")} == {"rankset", "rankset.cli"}
    assert found.isdisjoint({*HEAVY, "safetensors", "numpy", "click"})


def test_calibrating_and_predicting_loads_nothing_heavy():
    code = "import numpy, rankset; p = numpy.full((30, 3), 1 / 3); rankset.calibrate(p, [0] * 30).predict(p, 0.1).mask"
    found = loaded(code)
    assert "rankset.rules.rule" in found
    assert found.isdisjoint({*HEAVY, "safetensors", "multiprocessing", "html", "hashlib"})
    assert found.isdisjoint({"rankset.cli.commands", "rankset.evaluation.evaluate", "rankset.io", "rankset.rules.load"})


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_of_the_command_line_loads_neither_numpy_nor_any_command(option):
    found = loaded(LOADED.format(typed=["rankset", option]))
    assert found.isdisjoint({*HEAVY, "safetensors", "numpy", "pyarrow"})
    assert {name for name in found if name.startswith("rankset.cli.")} == {"rankset.cli.commands", "rankset.cli.echo"}


def test_predicting_rows_of_a_csv_file_loads_no_library_of_frames(tmp_path):
    """pyarrow reads csv; it would import pandas, if installed, to convert columns as usual."""
    rs.calibrate(np.full((30, 3), 1 / 3), [0] * 30).save(tmp_path / "rule.rankset")
    (tmp_path / "rows.csv").write_text("0,1,2\n" + "0.5,0.25,0.25\n" * 10)
    typed = ["rankset", "predict", "rule.rankset", "rows.csv", "-o", "sets.csv"]
    found = loaded(LOADED.format(typed=typed), tmp_path)
    assert len((tmp_path / "sets.csv").read_text().splitlines()) == 11
    assert "pyarrow" in found
    assert found.isdisjoint({*HEAVY, "multiprocessing", "rankset.engines.shards", "rankset.cli.calibrate"})


def test_packages_are_attributes_of_rankset_without_an_import_of_their_own():
    folders = {path.parent.name for path in Path(rs.__file__).parent.glob("*/__init__.py")}
    assert folders <= {"cli", *rs.PACKAGES, *rs.MODULES_ON_DEMAND}
    code = f"import rankset; print([getattr(rankset, name).__name__ for name in {sorted(folders)}])"
    told = subprocess.check_output([sys.executable, "-c", code], text=True).strip()
    assert told == str([f"rankset.{name}" for name in sorted(folders)])


def test_a_name_is_looked_up_once():
    code = "import rankset; a = rankset.Rank; assert vars(rankset)['Rank'] is a; print(a is rankset.scores.Rank)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "True"


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
    assert len(contract["layers"]) <= 11
