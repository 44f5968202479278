"""The registry of metrics, beside slow references written from the words of docs/understand/metrics.md."""

import json
import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import rankset as rs
from rankset.cli.commands import rankset
from rankset.evaluation.evaluation import Evaluation
from rankset.evaluation.metrics import METRICS, SECTIONS, Metric, mean_where_defined, metrics_named

PAGE = (Path(__file__).parents[2] / "docs" / "understand" / "metrics.md").read_text(encoding="utf-8")


def share(answers):
    return sum(answers) / len(answers) if answers else math.nan


def classes(rows):
    """The coverage of every class that occurs, by plain counting."""
    labels = sorted({label for _, _, label in rows})
    return [share([covered for covered, _, label in rows if label == one]) for one in labels]


def stratified(rows, alpha, strata):
    gaps = []
    for first, last in strata:
        covered = [covered for covered, size, _ in rows if first <= size <= last]
        if covered:
            gaps.append(abs(share(covered) - (1 - alpha)))
    return max(gaps)


def rms_gap(rows, alpha):
    """The squared gap of every class with two rows or more, less the variance by chance, averaged; then the root."""
    squares = []
    for one in sorted({label for _, _, label in rows}):
        covered = [covered for covered, _, label in rows if label == one]
        if len(covered) > 1:
            c = share(covered)
            squares.append((c - (1 - alpha)) ** 2 - c * (1 - c) / (len(covered) - 1))
    return math.sqrt(max(0, share(squares))) if squares else math.nan


POOLED = [(0, 1), (2, 3), (4, 10), (11, 100), (101, 1000), (1001, math.inf)]
APART = [(0, 0), (1, 1), *POOLED[1:]]
REFERENCES = {
    "coverage": lambda rows, alpha: share([covered for covered, _, _ in rows]),
    "SSCV": lambda rows, alpha: stratified(rows, alpha, POOLED),
    "SSCV*": lambda rows, alpha: stratified(rows, alpha, APART),
    "size": lambda rows, alpha: share([size for _, size, _ in rows]),
    "singletons": lambda rows, alpha: share([size == 1 for _, size, _ in rows]),
    "singleton accuracy": lambda rows, alpha: share([covered for covered, size, _ in rows if size == 1]),
    "empty": lambda rows, alpha: share([size == 0 for _, size, _ in rows]),
    "macro coverage": lambda rows, alpha: share(classes(rows)),
    "class gap": lambda rows, alpha: share([abs(one - (1 - alpha)) for one in classes(rows)]),
    "RMS class gap": rms_gap,
    "classes far below": lambda rows, alpha: share([one < 1 - alpha - Fraction(1, 10) for one in classes(rows)]),
    "classes below 50%": lambda rows, alpha: share([one < Fraction(1, 2) for one in classes(rows)]),
    "worst class": lambda rows, alpha: min(classes(rows)),
}


@st.composite
def masks_and_labels(draw):
    """Sets of up to six classes, many of them equal or empty, with classes that never are the label."""
    n_classes = draw(st.integers(2, 6))
    kinds = draw(st.lists(st.lists(st.booleans(), min_size=n_classes, max_size=n_classes), min_size=1, max_size=3))
    mask = draw(st.lists(st.sampled_from([[False] * n_classes, *kinds]), min_size=1, max_size=25))
    known = draw(st.sets(st.integers(0, n_classes - 1), min_size=1))
    labels = draw(st.lists(st.sampled_from(sorted(known)), min_size=len(mask), max_size=len(mask)))
    return np.array(mask), labels


@given(masks_and_labels(), st.sampled_from(["0.05", "0.1", "0.25", "0.5"]))
def test_every_metric_is_its_reference(drawn, alpha):
    mask, labels = drawn
    told = rs.evaluate(rs.PredictionSets.from_mask(mask), labels, alpha=alpha)
    rows = [(Fraction(int(row[label])), int(row.sum()), label) for row, label in zip(mask, labels, strict=True)]
    assert set(told.values) == set(METRICS) == set(REFERENCES)
    for name, reference in REFERENCES.items():
        expected = float(reference(rows, Fraction(alpha)))
        close = 1e-7 if name == "RMS class gap" else 1e-12  # a root of almost 0
        assert told[name] == pytest.approx(expected, abs=close, nan_ok=True), name
    assert told.worst_class.coverage == told["worst class"]
    assert told.macro_coverage == pytest.approx(np.mean([one.coverage for one in told.classes]))
    assert math.isnan(told.singleton_hits) == (told.singleton_rate == 0)


@given(masks_and_labels(), st.randoms())
def test_metrics_do_not_depend_on_the_order_of_rows_or_the_number_of_absent_classes(drawn, random):
    mask, labels = drawn
    told = rs.evaluate(rs.PredictionSets.from_mask(mask), labels, alpha=0.1)
    order = random.sample(range(len(mask)), len(mask))
    wider = np.column_stack((mask, np.zeros((len(mask), 3), dtype=bool)))[order]
    again = rs.evaluate(rs.PredictionSets.from_mask(wider), np.array(labels)[order], alpha=0.1)
    for name in METRICS:
        assert again[name] == pytest.approx(told[name], abs=1e-7, nan_ok=True), name  # a root doubles the digits lost


@given(masks_and_labels())
def test_metrics_keep_within_their_limits_and_to_each_other(drawn):
    mask, labels = drawn
    told = rs.evaluate(rs.PredictionSets.from_mask(mask), labels, alpha=0.1)
    for name, value in told.values.items():
        assert math.isnan(value) or 0 <= value <= (mask.shape[1] if name == "size" else 1), name
    assert told["worst class"] <= told["macro coverage"]
    assert told["worst class"] <= told["coverage"]
    assert (told["worst class"] < 0.5) == (told["classes below 50%"] > 0)
    assert told["SSCV*"] >= told["SSCV"] - 1e-12 or told.empty_rate or told.singleton_rate
    assert told["classes far below"] >= told["classes below 50%"]
    for name, (low, high) in told.ranges.items():
        assert 0 <= low <= told[name] <= high <= 1, name
    assert told["class gap"] >= abs(told["macro coverage"] - 0.9) - 1e-12


def test_no_rows_give_no_numbers_and_no_errors():
    nothing = np.zeros(0, dtype=bool), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    for metric in METRICS.values():
        assert math.isnan(metric.formula(*nothing, Fraction(1, 10))), metric.name
        assert metric.undefined


def test_what_is_not_defined_is_a_dash_with_a_reason():
    sets = rs.PredictionSets.from_mask([[True, True], [True, True]])
    told = rs.evaluate(sets, [0, 1], alpha=0.1)
    assert math.isnan(told.singleton_hits)
    line = "singleton accuracy        –  no set has exactly one label"
    assert line in repr(told)
    assert "no set has exactly one label" in told._repr_html_()
    for text in (repr(told), told._repr_html_()):
        assert "nan" not in text


@pytest.mark.filterwarnings("error")
def test_comparisons_take_means_over_the_halves_in_which_a_metric_is_defined():
    values = np.array([[1.0, math.nan, 2.0], [math.nan] * 3])
    assert mean_where_defined(values).tolist() == pytest.approx([1.5, math.nan], nan_ok=True)
    rng = np.random.default_rng(0)
    probs = np.column_stack((np.full(60, 0.5), np.full(60, 0.4), np.full(60, 0.1)))
    told = rs.compare(probs, rng.integers(0, 3, 60), 0.1, scores=[rs.TopK()], repeats=3)
    place = told.measures.index("singleton accuracy")
    assert math.isnan(told.means[0, place])
    assert "–" in repr(told)
    assert "nan" not in repr(told)
    assert np.isnan(told.to_frame("pandas")["singleton accuracy"]).all()


def test_better_values_have_a_smaller_loss():
    alpha = Fraction(1, 10)
    assert METRICS["size"].loss(1.0, alpha) < METRICS["size"].loss(2.0, alpha)
    assert METRICS["singletons"].loss(0.9, alpha) < METRICS["singletons"].loss(0.1, alpha)
    assert METRICS["coverage"].loss(0.91, alpha) < METRICS["coverage"].loss(0.95, alpha)
    assert METRICS["coverage"].loss(0.91, alpha) < METRICS["coverage"].loss(0.87, alpha)


def test_a_metric_is_one_entry(monkeypatch):
    """Nothing else than the registry has to change for a new metric to be computed, printed, compared and reported."""
    largest = Metric("largest", "largest_size", "Set size", lambda c, s, y, a: float(s.max()), "most labels", "smaller")
    monkeypatch.setitem(METRICS, "largest", largest)
    probs, labels = rs.datasets.load("marketing")
    told = rs.evaluate(rs.calibrate(probs, labels).predict(probs, 0.1), labels)
    assert told["largest"] == told.to_dict()["largest_size"] == 3
    for text in (repr(told), told._repr_html_()):
        assert "most labels" in text
    compared = rs.compare(probs, labels, repeats=2, scores=[rs.Thr()])
    assert compared.measures[-1] == "largest"
    assert compared.means[0, -1] >= 2
    assert "largest" in repr(compared)
    study = rs.reports.study_scores(probs[:130], labels[:130], probs[130:], labels[130:], candidates=[rs.Thr()])
    assert study.data["metrics"][-1]["name"] == "largest"
    assert len(study.data["scores"][0]["metrics"]["largest"]) == 50
    assert rs.paper.resample(probs, labels, repeats=2, measures=["largest"]).mean("THR", 0.1, "largest") >= 2


def test_the_command_line_prints_every_metric(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    probs, labels = rs.datasets.load("marketing")
    rule = rs.calibrate(probs, labels)
    rule.save("rule.rankset")
    np.save("probs.npy", probs)
    np.save("labels.npy", labels)
    files = ["rule.rankset", "probs.npy", "labels.npy"]
    told = json.loads(CliRunner().invoke(rankset, ["evaluate", *files, "--json"]).stdout)["0.1"]
    expected = rs.evaluate(rule.predict(probs, 0.1), labels)
    assert math.isnan(expected.singleton_hits)
    for metric in METRICS.values():
        value = expected[metric.name]
        assert told[metric.key] == (None if math.isnan(value) else value)
    assert {"alpha", "n", "interval", "expected", "classes", "groups", "sscv_from", "size_counts"} <= set(told)
    text = CliRunner().invoke(rankset, ["evaluate", *files]).stdout
    compared = CliRunner().invoke(rankset, ["compare", *files[1:], "--repeats", "2"]).stdout
    for name in METRICS:
        assert name in text
        assert name in compared


def test_unknown_metrics_are_refused():
    with pytest.raises(rs.errors.RuleError, match="metric must be one of 'coverage', 'SSCV'"):
        metrics_named(["sise"])


def test_keys_are_the_attributes_of_an_evaluation():
    told = rs.evaluate(rs.PredictionSets.from_mask([[True, False], [True, True]]), [0, 1], alpha=0.25)
    assert len({metric.key for metric in METRICS.values()}) == len(METRICS)
    for metric in METRICS.values():
        assert told.to_dict()[metric.key] == pytest.approx(told[metric.name], nan_ok=True)
        if hasattr(Evaluation, metric.key):
            assert getattr(told, metric.key) == pytest.approx(told[metric.name], nan_ok=True)
    assert {METRICS[name].key for name in told.ranges} == set(told.to_dict()["ranges"])


def tables():
    """The rows of every table of the page, by heading."""
    for part in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]:
        title, text = part.split("\n", 1)
        rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")]
        yield title, rows[2:]


def test_the_page_tells_what_the_registry_tells():
    page = dict(tables())
    for section in SECTIONS:
        expected = [[m.name, m.key, m.explanation, m.better] for m in METRICS.values() if m.section == section]
        assert page[section] == expected
    (usage,) = (rows for title, rows in page.items() if title.startswith("When to look"))
    assert [row[0] for row in usage] == list(METRICS)
    assert all(len(row) == 3 and all(row) for row in usage)
