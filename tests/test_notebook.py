"""What notebooks show: well-formed, escaped, and without colours that a dark page would swallow."""

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import rankset as rs
from rankset.integrations.sklearn.cross_rule import CrossRule

RNG = np.random.default_rng(4)
NASTY = ["<script>alert(1)</script>", "a & b", '"quoted"', "naïve 猫", *(f"class {k}" for k in range(10))]
PROBS = RNG.dirichlet(np.ones(14), 300)
LABELS = np.array(NASTY, dtype=object)[RNG.integers(0, 14, 300)]
RULE = rs.calibrate(PROBS, LABELS, classes=NASTY)
SETS = RULE.predict(PROBS, 0.1)
STREAM = rs.Stream(RULE, alpha=0.1)
STREAM.predict(PROBS[:100])
STREAM.update(LABELS[:90], ids=range(90))
ALARMED = rs.Stream(RULE, alpha=0.1, outputs=PROBS)
ALARMED.predict(np.tile(PROBS[:1], (200, 1)))
THINGS = {
    "rule": RULE,
    "rule of groups": rs.calibrate(PROBS, LABELS, classes=NASTY, condition=rs.PerLabel()),
    "rule with a caveat": rs.calibrate(PROBS, LABELS, classes=NASTY, score=rs.Aps(randomized=False)),
    "folds": CrossRule((RULE, RULE)),
    "sets": SETS,
    "no sets": SETS[:0],
    "stream": STREAM,
    "stream with an alarm": ALARMED,
    "stream without rows": rs.Stream(RULE, alpha=0.1, level=rs.Fixed()),
    "evaluation": rs.evaluate(SETS, LABELS, groups=["<b>", "&"] * 150),
}


@pytest.mark.parametrize("thing", THINGS.values(), ids=THINGS)
def test_pages_are_well_formed_escaped_and_small(thing):
    page = thing._repr_html_()
    ET.fromstring(page)  # noqa: S314 - our own words
    assert "<script" not in page
    assert len(page) < 30_000
    assert not re.search(r"(?<!-)color:(?!inherit)", page)
    assert set(re.findall(r"background:([^;\"]+)", page)) <= {"none", "currentColor"}


def text(thing):
    return " ".join(" ".join(ET.fromstring(thing._repr_html_()).itertext()).split())  # noqa: S314


def test_they_tell_what_the_text_tells():
    assert "Rule, calibrated on 300 rows" in text(RULE)
    band = RULE.coverage_band(0.1)
    assert f"0.1 {band.low:.4f} to {band.high:.4f}" in text(RULE)
    assert "and 4 more" in text(RULE)
    assert "2 folds" in text(THINGS["folds"])
    assert "300 rows, 14 classes, alpha=0.1" in text(SETS)
    assert "295 more rows" in text(SETS)
    assert f"miss rate {STREAM.miss_rate:.3g} at most {STREAM.bound:.3g} from alpha" in text(STREAM)
    assert "rows 100 10 wait for labels labels 90" in text(STREAM)
    assert "outputs ALARM at row" not in text(STREAM)
    assert f"outputs ALARM at row {ALARMED.alarms.outputs.at}" in text(ALARMED)
    assert ALARMED.alarms.outputs.advice in text(ALARMED)
    evaluation = THINGS["evaluation"]
    for line in repr(evaluation).splitlines():
        for word in line.split():
            assert word in text(evaluation)
    worst = evaluation.worst_class
    assert f"{worst.coverage:.4f}" in text(evaluation)
