"""The examples run as they are."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

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


def test_the_readme_tells_the_sizes_that_the_example_measures():
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / "rank_or_auto.py"], capture_output=True, text=True, timeout=300, check=True
    )
    sizes = {
        name: float(size) for name, size in re.findall(r"^(\w+) +([\d.]+) labels", done.stdout, flags=re.MULTILINE)
    }
    coverages = [float(share) for share in re.findall(r"coverage ([\d.]+)", done.stdout)]
    told = re.search(r"([\d.]+) labels on average instead of ([\d.]+)", (ROOT / "README.md").read_text())
    assert float(told[1]) == pytest.approx(sizes["auto"], abs=0.03)
    assert float(told[2]) == pytest.approx(sizes["rank"], abs=0.03)
    assert all(0.94 < share < 0.96 for share in coverages)
