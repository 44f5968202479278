"""The examples run as they are."""

import subprocess
import sys
from pathlib import Path

DIGITS = Path(__file__).parents[2] / "examples" / "digits.py"


def test_from_data_to_a_report_in_under_thirty_lines(tmp_path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    done = subprocess.run(
        [sys.executable, DIGITS], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Evaluation of" in done.stdout
    assert (tmp_path / "digits-report.png").read_bytes().startswith(b"\x89PNG")
    assert len(DIGITS.read_text().splitlines()) < 30
