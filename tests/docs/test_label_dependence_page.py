"""docs/understand/label_dependence.md tells the numbers of several_labels.json, and its sentences hold for them."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "experiments"))
import several_labels

PAGE = (several_labels.DOCS / "label_dependence.md").read_text(encoding="utf-8")
FLAT = " ".join(PAGE.split())
CELLS = json.loads((several_labels.DOCS / "several_labels.json").read_text(encoding="utf-8"))
OWN = [cell for cell in CELLS if not cell["separate_rows"]]
SEPARATE = {cell["target"]: cell["ratio"] for cell in CELLS if cell["separate_rows"]}


def of(target, cells=OWN):
    return {cell["file"]: cell["ratio"] for cell in cells if cell["target"] == target}


def test_the_tables_are_those_of_the_numbers():
    assert several_labels.refreshed(PAGE, CELLS) == PAGE
    changed = [{**cell, "thr_size": 1.0} for cell in CELLS]
    assert several_labels.refreshed(PAGE, changed) != PAGE
    assert min(cell["halves"] for cell in CELLS) >= 40


def test_fits_on_rows_of_their_own_gain_what_the_page_says():
    assert SEPARATE["recall"]["fit with W"] <= 0.94
    assert SEPARATE["all"]["fit with W"] <= 0.92
    recall, everything = (SEPARATE[target] for target in ("recall", "all"))
    for sentence in (
        f"{recall['fit with W']:.3f} of the size of THR for recall and {everything['fit with W']:.3f} for all labels",
        f"has {recall['Share']:.3f}, and the fit without W {recall['fit']:.3f}",
        f"W is worth more: {everything['fit']:.3f} without it",
    ):
        assert sentence in FLAT


def test_auto_is_never_much_larger_than_the_better_plain_score():
    ratios = [cell["ratio"]["auto"] / min(1.0, cell["ratio"]["Share"]) for cell in OWN if cell["rows"] >= 1000]
    assert max(ratios) <= 1.02
    assert f"at most {max(ratios):.3f} times as large" in FLAT
    assert f"at best {min(ratios):.3f} times" in FLAT
    fitting = {cell["file"]: cell["auto_fits"] for cell in OWN}
    assert {name for name, share in fitting.items() if share} == {"tmc2007", "goemotions"}
    assert all(0.4 < share < 0.6 for share in fitting.values() if share)


def test_other_sentences():
    for target, words in (("recall", "for recall"), ("all", "for all labels")):
        ratios = [one["fit with W"] for one in of(target).values()]
        assert f"{min(ratios):.3f} to {max(ratios):.3f} {words}" in FLAT
    emotions = [of(target)["goemotions"] for target in ("recall", "all")]
    told = " and ".join(f"{one['fit with W']:.3f} instead of {one['fit']:.3f}" for one in emotions)
    assert f"({told.replace(' and ', ', and ')})" in FLAT
    others = [one for target in ("recall", "all") for name, one in of(target).items() if name != "goemotions"]
    assert max(abs(one["fit with W"] - one["fit"]) for one in others) < 0.002
    for name in ("yeast", "birds"):
        assert min(of(target)[name]["fit"] for target in ("recall", "all")) > 1
    ranks = [one["RANK"] for target in ("recall", "all") for one in of(target).values()]
    assert f"by {100 * (min(ranks) - 1):.0f} to {100 * (max(ranks) - 1):.0f} %" in FLAT


def test_every_mean_loss_keeps_its_promise():
    for cell in CELLS:
        assert max(cell["risk"].values()) <= 0.102


def test_the_study_measures_what_it_says(tmp_path):
    rng = np.random.default_rng(0)
    probs = rng.random((90, 4)).astype(np.float32)
    truths = rng.random((90, 4)) < probs
    np.savez(tmp_path / "small.npz", probs=probs, labels=truths)
    rows = several_labels.load(tmp_path, "small")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(several_labels, "ALPHA", "0.2")
        cells = several_labels.summary("small", rows, several_labels.measure(rows, 3, None), 3)
    assert [cell["target"] for cell in cells] == ["recall", "all"]
    assert all(cell["ratio"]["THR"] == 1 for cell in cells)
    assert all(0 < size < 0.4 for cell in cells for size in cell["risk"].values())
