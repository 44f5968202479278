"""The examples run as they are."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


def test_there_are_examples():
    assert EXAMPLES


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_leaves_its_report(example, tmp_path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    done = subprocess.run(
        [sys.executable, example], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Evaluation of" in done.stdout
    assert (tmp_path / "digits-report.png").read_bytes().startswith(b"\x89PNG")
    assert len(example.read_text().splitlines()) < 30
