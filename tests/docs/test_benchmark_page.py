"""The page of the benchmarks says what was measured, and nothing else."""

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import goals
import latency
import report
import start_up
from results import Latency, Results, Run, Task
from workers import FAST, OURS, PEERS, PLAIN, READ

ABOUT = {"scores": ["RANK", "APS", "THR"], "p_values": True, "warm_up": None, "versions": {}}
THR = Task(10_000, 10, "THR", "calibrate")
ROW = Task(1, 10, "RANK", "predict", "latency")


@pytest.fixture
def results():
    return Results({worker.title: dict(ABOUT) for worker in (READ, *OURS, *PEERS)}, load=0.5, load_after=1.5)


def run(*seconds):
    return Run(first=seconds[0], repetitions=len(seconds), seconds=list(seconds))


def section(page, title):
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", page, flags=re.MULTILINE | re.DOTALL)
    return found[1]


def test_a_page_of_nothing_has_no_reasons_and_no_crosses(results):
    page = report.text(results)
    assert section(page, "Where we are slower").strip() == "Nowhere."
    assert "✗" not in page
    assert "NumPy path, too" not in page
    assert "warm_up()` (" not in page
    assert "load average before 0.5, after 1.5" in page
    assert {row[2] for row in goals.goals(results)} == {"not measured"}


def test_reasons_are_given_where_somebody_is_faster(results):
    results.runs[THR] = {READ.title: run(1.0), FAST.title: run(2.0), PLAIN.title: run(4.0), "TorchCP": run(8.0)}
    assert section(report.text(results), "Where we are slower").strip() == "Nowhere."
    results.runs[THR]["TorchCP"] = run(1.0)
    told = section(report.text(results), "Where we are slower")
    assert "THR calibrate: one entry per row" in told
    assert "Small inputs" not in told
    assert "| 10k×10 THR calibrate | TorchCP 2.0 / 4.0 |" in told
    results.runs[Task(1, 10, "RANK", "predict", "small")] = {
        FAST.title: run(2e-4),
        PLAIN.title: run(4e-4),
        "official RANK": run(1e-4),
    }
    assert "takes 200 to 200 (fast) and 400 to 400 (plain) microseconds" in report.text(results)


def test_what_compiled_code_did_is_told(results):
    results.about[FAST.title]["warm_up"] = 1.25
    results.plain_sizes.append("10k×10")
    page = report.text(results)
    assert "by `rankset.warm_up()` (1.2 s" in page
    assert "at 10k×10." in page


def test_single_rows_are_shown_in_microseconds_and_yardsticks(results):
    ours = {(worker.title, way): Latency(10_000, 50_000, 90_000, 2_000) for worker in OURS for way in latency.WAYS}
    results.latency[ROW] = {**ours, ("MAPIE", "predict"): Latency(3_000, 2e6, 5e6, 2_000)}
    told = section(report.text(results), "One row, microseconds")
    assert "| 1×10 RANK | 2.0 | 50.0 / 90.0 |" in told
    assert "| 2,000 / 5,000 |" in told
    assert "MAPIE 3,000" in told
    assert "| 1×10 RANK | 25.0 | 25.0 |" in told
    by_name = {row[0]: row for row in goals.goals(results)}
    assert by_name["one row, asked beforehand, the worst, in yardsticks"][1:] == ("≤ 25", "25", "≤ 25", "25")
    results.latency[ROW][FAST.title, "asked"] = Latency(10_000, 52_000, 90_000, 2_000)
    by_name = {row[0]: row for row in goals.goals(results)}
    assert by_name["one row, asked beforehand, the worst, in yardsticks"][1:] == ("≤ 25", "25", "≤ 25", "26 ✗")


def test_start_up_is_shown_in_milliseconds(results):
    for worker in OURS:
        results.start_up[worker.title] = {start_up.HELP: 0.1, start_up.PREDICT: 0.6}
    page = report.text(results)
    assert "| `rankset --help` | 100 | 100 |" in section(page, "Start-up, milliseconds")
    assert "| `rankset predict` on ten rows of csv, ms | ≤ 500 | 600 ✗ | ≤ 500 | 600 ✗ |" in section(page, "Goals")


def test_goals_stand_against_the_right_library(results):
    for score, peer in (("THR", "TorchCP"), ("RANK", "official RANK")):
        for operation in Task.BOTH:
            task = Task(10_000, 10, score, operation)
            results.runs[task] = {FAST.title: run(1.0), PLAIN.title: run(2.0), peer: run(1.2)}
    by_name = {row[0]: row for row in goals.goals(results)}
    assert by_name["10k×10 THR predict, against TorchCP"][1:] == ("≥ 0.5", "0.6", "≥ 0.8", "1.2")
    told = by_name["10k×10, the worst of APS against TorchCP, RANK against official RANK"]
    assert told[1:] == ("≥ 1.5", "0.6 ✗", "≥ 1.5", "1.2 ✗")
