"""The pages for users of other libraries tell the figures of docs/coming-from/figures.json."""

import json
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import peers_answers
import peers_tables

NUMBER = r"\b\d+\.\d+(?: %| ms)?"
FIGURES = json.loads((peers_answers.PAGES / "figures.json").read_text(encoding="utf-8"))


def page(peer):
    return (peers_answers.PAGES / f"{peer}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("peer", peers_answers.PEERS)
def test_tables_are_those_of_the_figures(peer):
    text = page(peer)
    tables = peers_tables.tables(peer, FIGURES[peer])
    assert [name for name in tables if f"<!-- figures: {name} -->" not in text] == []
    assert peers_tables.filled(text, tables) == text


def test_times_are_those_of_the_figures():
    text = page("index")
    assert peers_tables.filled(text, {"times": peers_tables.times_table(FIGURES)}) == text
    assert "<!-- figures: times -->" in text


@pytest.mark.parametrize("peer", peers_answers.PEERS)
def test_another_figure_would_be_another_page(peer):
    changed = json.loads(json.dumps(FIGURES[peer]))
    changed["answers"][0]["coverage"][0] = 0.5
    assert peers_tables.filled(page(peer), peers_tables.tables(peer, changed)) != page(peer)


@pytest.mark.parametrize("peer", peers_answers.PEERS)
def test_numbers_in_the_text_stand_in_a_table(peer):
    """Coverages, sizes and shares that sentences repeat are those of the tables, so that they change with them.

    Times against TorchCP, as in "3.8 times", are those of the benchmarks.
    """
    text = page(peer).partition("## What differs in the answers")[2].partition("## What rankset has in addition")[0]
    rows = re.findall(r"^\|.*$", text, flags=re.MULTILINE)
    known = {"0.1", "0.9", *re.findall(NUMBER, "\n".join(rows))}
    sentences = re.sub(r"^\|.*$|`[^`]*`|\b\d+\.\d+\.\d+\b", "", text, flags=re.MULTILINE)
    measured = (peers_answers.ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8")
    times = set(re.findall(rf"({NUMBER}) times", sentences))
    assert {f"{number}×" for number in times} <= set(re.findall(rf"{NUMBER}×", measured))
    assert set(re.findall(NUMBER, sentences)) <= known | times


@pytest.mark.parametrize("peer", peers_answers.PEERS)
def test_the_version_measured_is_the_one_that_the_page_and_the_lock_file_name(peer):
    version = FIGURES[peer]["version"]
    assert f"{peers_tables.TITLES[peer]} {version}" in page(peer)
    locks = Path(__file__).parents[2]
    assert f"{peer}=={version}" in (locks / "locks" / f"peer-{peer}.txt").read_text() + (locks / "run.py").read_text()


@pytest.mark.parametrize("peer", peers_answers.PEERS)
def test_rankset_keeps_its_promise_on_every_row_of_the_tables(peer):
    """Mean coverage over splits of the same rows, so up to chance: three standard errors."""
    rows = {"carer": 2_000, "carer, 1,000": 2_000, "marketing": 260, "cifar100": 1_000, "sampled": 2_000}
    for row in [row for row in FIGURES[peer]["answers"] if "error" not in row]:
        known = peers_answers.CALIBRATION[row["data"]]
        variance = 0.09 * (1 / known + 1 / (rows[row["data"]] - known)) / peers_answers.SPLITS[peer]
        assert row["coverage"][1] > 0.9 - 3 * variance**0.5, row


@pytest.mark.parametrize("peer", peers_answers.PEERS)
def test_a_rule_of_rankset_answers_the_same_again_and_row_by_row(peer):
    found = FIGURES[peer]["ours"]
    assert {*found["again"].values(), *found["alone"].values()} == {0.0}
    assert all(position == [0, 0] for position in found["position"].values())
