"""The examples run as they are."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import rankset

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "digits.py"


def test_from_data_to_a_report_in_under_thirty_lines(tmp_path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    done = subprocess.run(
        [sys.executable, DIGITS], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Evaluation of" in done.stdout
    assert (tmp_path / "digits-report.png").read_bytes().startswith(b"\x89PNG")
    assert len(DIGITS.read_text().splitlines()) < 30


@pytest.mark.parametrize("title", ["A score of your own", "A condition of your own"])
def test_the_classes_of_the_design_page_run_as_they_are(title):
    section = (ROOT / "docs" / "design.md").read_text().partition(f"## {title}\n")[2].partition("\n## ")[0]
    code = re.search(r"```python\n(.*?)```", section, flags=re.DOTALL)[1]
    probs, labels = rankset.datasets.load("marketing")
    names = {"probs": probs, "labels": labels}
    exec(compile(code, title, "exec"), names)  # noqa: S102
    assert len(names["rule"].predict(probs, 0.1)) == len(labels)


def test_the_readme_tells_the_sizes_that_the_example_measures():
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / "rank_or_auto.py"], capture_output=True, text=True, timeout=300, check=True
    )
    line = re.compile(r"^(.+), alpha ([\d.]+): (\w+) +([\d.]+) labels, coverage ([\d.]+)$", flags=re.MULTILINE)
    found = line.findall(done.stdout)
    sizes = {(title, name): float(size) for title, _, name, size, _ in found}
    assert all(float(coverage) == pytest.approx(1 - float(alpha), abs=0.01) for _, alpha, _, _, coverage in found)
    text = " ".join((ROOT / "README.md").read_text().split())
    told = re.search(r"([\d.]+) labels on average instead of ([\d.]+),.*? both have ([\d.]+) \(", text)
    measured = [sizes["naive Bayes", "auto"], sizes["naive Bayes", "rank"]]
    assert [float(told[1]), float(told[2])] == pytest.approx(measured, abs=0.03)
    for name in ("rank", "auto"):
        assert float(told[3]) == pytest.approx(sizes["logistic regression", name], abs=0.015)
