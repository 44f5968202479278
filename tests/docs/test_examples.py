"""The examples run as they are."""

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import rankset

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
OUTSIDE = {"read_rule", "rank_or_auto"}
"""Examples that are not in the gallery; docs/conf.py names them too."""
GALLERY = sorted(path.stem for path in EXAMPLES.glob("*.py") if path.stem not in OUTSIDE)
RUN_AND_COUNT = (
    "import runpy, sys; runpy.run_path(sys.argv[1]); import matplotlib.pyplot as p; print(len(p.get_fignums()))"
)


def run(name, folder, monkeypatch):
    """Run an example of the gallery as a script in an empty folder; what it printed, and the number of its figures."""
    monkeypatch.setenv("MPLBACKEND", "agg")
    command = [sys.executable, "-c", RUN_AND_COUNT, EXAMPLES / f"{name}.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert list(folder.iterdir()) == []
    printed, _, figures = done.stdout.rstrip().rpartition("\n")
    return printed, int(figures)


def code_lines(path):
    """Number of lines of code of a file, without its docstring, comments and blank lines between statements."""
    code = ast.parse(path.read_text()).body[1:]
    return sum(statement.end_lineno - statement.lineno + 1 for statement in code)


def test_from_data_to_a_report_in_under_thirty_lines(tmp_path, monkeypatch):
    printed, figures = run("digits", tmp_path, monkeypatch)
    assert "Evaluation of" in printed
    assert figures == 2
    assert code_lines(EXAMPLES / "digits.py") < 30


@pytest.mark.parametrize("name", ["text_emotions", "imbalanced_classes"])
def test_examples_of_the_gallery_print_and_draw_and_leave_no_file(name, tmp_path, monkeypatch):
    printed, figures = run(name, tmp_path, monkeypatch)
    assert "surprise" in printed
    assert figures == 1


@pytest.mark.parametrize("name", GALLERY)
def test_an_example_of_the_gallery_has_a_title_a_paragraph_cells_and_a_picture(name):
    text = (EXAMPLES / f"{name}.py").read_text()
    title, line, empty, *paragraph = ast.get_docstring(ast.parse(text)).splitlines()
    assert (line, empty) == ("=" * len(title), "")
    assert 100 < len(" ".join(paragraph)) < 500
    assert "" not in paragraph
    assert text.count("\n# %%\n# ") >= 3
    assert re.search(r"plt\.subplots|Display\.from_", text)
    assert text.endswith("plt.show()\n") or "\nplt.show()\n\n# %%" in text
    assert 30 <= len(text.splitlines()) <= 75


def test_the_gallery_has_an_order(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs" / "extensions")
    order = importlib.import_module("gallery_order").ORDER
    assert sorted(order) == GALLERY
    assert len(order) >= 10


@pytest.mark.parametrize("title", ["A score of your own", "A condition of your own"])
def test_the_classes_of_the_design_page_run_as_they_are(title):
    section = (ROOT / "docs" / "design.md").read_text().partition(f"## {title}\n")[2].partition("\n## ")[0]
    code = re.search(r"```python\n(.*?)```", section, flags=re.DOTALL)[1]
    probs, labels = rankset.datasets.load("marketing")
    names = {"probs": probs, "labels": labels}
    exec(compile(code, title, "exec"), names)  # noqa: S102
    assert len(names["rule"].predict(probs, 0.1)) == len(labels)


def test_the_page_on_scikit_learn_tells_the_sizes_that_the_example_measures():
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / "rank_or_auto.py"], capture_output=True, text=True, timeout=300, check=True
    )
    line = re.compile(r"^(.+), alpha ([\d.]+): (\w+) +([\d.]+) labels, coverage ([\d.]+)$", flags=re.MULTILINE)
    found = line.findall(done.stdout)
    sizes = {(title, name): float(size) for title, _, name, size, _ in found}
    assert all(float(coverage) == pytest.approx(1 - float(alpha), abs=0.01) for _, alpha, _, _, coverage in found)
    text = " ".join((ROOT / "docs" / "how-to" / "scikit-learn.md").read_text().split())
    told = re.search(
        r"`auto` has ([\d.]+) labels against ([\d.]+) of RANK .*? the same ([\d.]+) with a better model", text
    )
    measured = [sizes["naive Bayes", "auto"], sizes["naive Bayes", "rank"]]
    assert [float(told[1]), float(told[2])] == pytest.approx(measured, abs=0.03)
    for name in ("rank", "auto"):
        assert float(told[3]) == pytest.approx(sizes["logistic regression", name], abs=0.015)
