"""Without an optional package, everything that needs it says which extra to install; the rest works.

Packages are hidden from the finder of modules, in a process of its own, so that nothing is imported before.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import rankset as rs
from rankset.errors.packages import EXTRAS, PACKAGES

ROOT = Path(__file__).parents[1]
OPTIONAL = (*EXTRAS, "pandas", "polars", "openpyxl")

HIDE = """
import sys
from importlib.machinery import PathFinder

find = PathFinder.find_spec
PathFinder.find_spec = lambda name, *where: None if name.split(".")[0] in HIDDEN else find(name, *where)
import rankset as rs
"""
ASK = """
try:
    {code}
except ImportError as error:
    assert isinstance(error, rs.RanksetError), repr(error)
    assert isinstance(error, ModuleNotFoundError)
    print(error)
else:
    print("no error")
"""


def run_without(packages, code):
    """Run code in a process where the ``packages`` cannot be imported, and return what it prints."""
    script = f"HIDDEN = {tuple(packages)!r}\n{HIDE}\n{code}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


PROBS = "[[0.7, 0.3]] * 30"
CASES = {
    "ConformalClassifier": ("sklearn", "rs.ConformalClassifier"),
    "import of ConformalClassifier": ("sklearn", "from rankset import ConformalClassifier"),
    "hasattr": ("sklearn", "hasattr(rs, 'ConformalClassifier')"),
    "Coverage": ("sklearn", "rs.Coverage(0.1)"),
    "SetSize": ("sklearn", "from rankset import SetSize"),
    "Holdout": ("sklearn", "rs.Holdout().parts([0, 1, 0, 1], 0)"),
    "CrossConformal": ("sklearn", "rs.CrossConformal(2).parts([0, 1, 0, 1], 0)"),
    "Choice": ("sklearn", "rs.Choice(['rank']).parts(range(9), 0)"),
    "cluster_labels": ("sklearn", "rs.cluster_labels([[0.7, 0.3], [0.4, 0.6]] * 30, [0, 1] * 30)"),
    "Choice of auto": ("sklearn", f"rs.Choice('auto').auto({PROBS}, [0] * 30, 0)"),
    **{f"torch.{name}": ("torch", f"rs.torch.{name}(len, [])") for name in ("auto", "calibrate", "compare")},
    "torch.choose": ("torch", "rs.torch.choose(['rank'], len, [])"),
    "torch.predict": ("torch", f"rs.torch.predict(rs.calibrate({PROBS}, [0] * 30), len, [], 0.1)"),
    "torch.evaluate": ("torch", f"rs.torch.evaluate(rs.calibrate({PROBS}, [0] * 30), len, [], 0.1)"),
    "mlflow.save_model": ("mlflow", f"rs.mlflow.save_model(rs.calibrate({PROBS}, [0] * 30), 'sets')"),
    "mlflow.log_model": ("mlflow", f"rs.mlflow.log_model(rs.calibrate({PROBS}, [0] * 30), 'sets')"),
    "RankDisplay": ("matplotlib", f"rs.RankDisplay.from_predictions({PROBS}, [0] * 30)"),
    "SizeHistogramDisplay": (
        "matplotlib",
        f"rs.SizeHistogramDisplay.from_predictions(rs.calibrate({PROBS}, [0] * 30).predict({PROBS}, 0.1))",
    ),
    "ClassCoverageDisplay": (
        "matplotlib",
        f"rs.ClassCoverageDisplay.from_predictions(rs.calibrate({PROBS}, [0] * 30).predict({PROBS}, 0.1), [0] * 30)",
    ),
    "SizeDisplay": ("matplotlib", f"rs.SizeDisplay.from_rule(rs.calibrate({PROBS}, [0] * 30), {PROBS}, [0] * 30)"),
    "CoverageDisplay": (
        "matplotlib",
        f"rs.CoverageDisplay.from_rule(rs.calibrate({PROBS}, [0] * 30), {PROBS}, [0] * 30)",
    ),
    "engines.dask": ("dask", "rs.engines.dask"),
    "import of engines.dask": ("dask", "from rankset.engines import dask"),
    "engines.spark": ("pyspark", "rs.engines.spark"),
    "serving.Store": ("sqlalchemy", "rs.serving.Store"),
    "import of serving.recalibrate": ("sqlalchemy", "from rankset.serving import recalibrate"),
    "reports.page": (
        "plotly",
        f"rs.reports.page(rs.reports.study_scores({PROBS}, [0] * 30, {PROBS}, [0] * 30), 'title')",
    ),
    "to_onnx": ("onnx", f"rs.calibrate({PROBS}, [0] * 30).to_onnx(alpha=0.1)"),
    "to_frame": ("narwhals", f"rs.calibrate({PROBS}, [0] * 30).predict({PROBS}, 0.1).to_frame(backend='pandas')"),
    "parquet": ("pyarrow", "rs.engines.shards.calibrate('scores.parquet', label='y', workers=1)"),
}


@pytest.mark.parametrize(("module", "code"), CASES.values(), ids=CASES.keys())
def test_what_needs_a_package_says_which_extra_to_install(module, code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scores.parquet").write_bytes(b"PAR1")
    told = run_without([module], ASK.format(code=code))
    assert PACKAGES.get(module, module) in told
    assert f"it is not installed. Install it with pip install 'rankset[{EXTRAS[module]}]'" in told
    assert " must be installed for " in told


def test_the_command_line_says_which_extra_to_install():
    code = "import rankset.cli\ntry: rankset.cli.main()\nexcept SystemExit as end: print(end.code)"
    assert "pip install 'rankset[cli]'" in run_without(["click"], code)
    for command in ("serve", "recalibrate"):
        told = run_without(["click"], f"sys.argv[1:] = [{command!r}, 'rule.rankset']\n{code}")
        assert f"click must be installed for rankset {command}" in told
        assert "pip install 'rankset[serve]'" in told


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_libraries_of_data_frames_are_no_extras(backend):
    code = f"rs.calibrate({PROBS}, [0] * 30).predict({PROBS}, 0.1).to_frame(backend={backend!r})"
    told = run_without([backend], ASK.format(code=code))
    assert f"Install it with pip install {backend}, or pass another library as backend=" in told


def test_every_name_works_without_extras_or_says_what_to_install():
    code = """
for name in [*rs.__all__, *rs.MODULES_ON_DEMAND, *rs.NAMES_ON_DEMAND]:
    try:
        getattr(rs, name)
    except rs.RanksetError as error:
        print(name, error)
"""
    lines = run_without(OPTIONAL, code).splitlines()
    assert {line.split()[0] for line in lines} == set(rs.NEED_SKLEARN)
    assert all("scikit-learn must be installed for rankset." in line for line in lines)
    assert all(line.endswith("pip install 'rankset[sklearn]'.") for line in lines)


def test_help_works_without_extras_and_still_shows_every_name():
    told = run_without(OPTIONAL, "import pydoc; print(pydoc.render_doc(rs, renderer=pydoc.plaintext))")
    for name in (*rs.__all__, *rs.MODULES_ON_DEMAND, *rs.NAMES_ON_DEMAND):
        assert re.search(rf"^    (\w+, )*{name}(, \w+)* {{2,}}\S", told, flags=re.MULTILINE), name
    assert "pip install 'rankset[sklearn]'" in told
    listed = run_without(OPTIONAL, "import inspect; inspect.getmembers(rs); print(*dir(rs))").split()
    assert set(listed) == set(dir(rs)) - set(rs.NEED_SKLEARN)


def test_a_basic_round_works_without_extras():
    code = f"print(rs.calibrate({PROBS}, [0] * 30, method='auto').predict({PROBS}, 0.1).sizes.sum())"
    assert run_without(OPTIONAL, code) == "30"


def test_old_versions_are_told_apart_from_missing_packages(tmp_path):
    (tmp_path / "sklearn").mkdir()
    (tmp_path / "sklearn" / "__init__.py").write_text("def get_config(): pass")
    code = f"sys.path.insert(0, {str(tmp_path)!r})" + ASK.format(code="rs.ConformalClassifier")
    told = run_without([], code)
    assert "the installed version has no sklearn.base" in told


def test_modules_that_no_extra_has_are_not_explained_away():
    code = "try: rs.errors.import_with_extra('rankset.nothing', 'x')\nexcept ModuleNotFoundError as error: print(error)"
    assert run_without([], code) == "No module named 'rankset.nothing'"


def test_every_extra_exists_and_installs_its_module():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for module, extra in EXTRAS.items():
        packages = {re.match(r"[\w-]+", entry)[0] for entry in extras[extra]}
        assert PACKAGES.get(module, module) in packages, module
    assert set(EXTRAS.values()) == set(extras)


def test_the_first_page_lists_every_extra():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    page = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
    rows = page.partition("| extra | what it adds |")[2].partition("\n\n")[0].splitlines()[2:]
    assert {name for row in rows for name in re.findall("`(\\w+)`", row.split("|")[1])} == set(extras)
