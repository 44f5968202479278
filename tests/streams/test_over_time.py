"""Numbers over time: blocks hold rows and their labels, and the band is that of the binomial distribution."""

import math

import numpy as np
import pytest

import rankset as rs
from rankset.streams.history import FIRST, MOST, History
from rankset.streams.over_time import CONFIDENCE, OverTime, binomial_band

LOGITS, LABELS = rs.datasets.load("carer")
RULE = rs.calibrate(LOGITS[:300], LABELS[:300], kind="logits")
NOTHING = (0.1, 0.0, 0.0, 0.0)


def slow_band(n, share):
    """The band from all probabilities of a binomial distribution, added up one by one."""
    chances = [math.comb(n, hits) * share**hits * (1 - share) ** (n - hits) for hits in range(n + 1)]
    tail = (1 - CONFIDENCE) / 2
    low = next(hits for hits in range(n + 1) if sum(chances[: hits + 1]) > tail)
    high = next(hits for hits in range(n, -1, -1) if sum(chances[hits:]) > tail)
    return low / n, high / n


@pytest.mark.parametrize("share", [0.9, 0.99, 0.5, 0.03])
def test_the_band_is_that_of_a_binomial_distribution(share):
    counts = [1, 2, 5, 50, 51, 100, 333]
    low, high = binomial_band(np.array([0, *counts]), share)
    assert np.isnan([low[0], high[0]]).all()
    for count, *ends in zip(counts, low[1:], high[1:], strict=True):
        assert ends == pytest.approx(slow_band(count, share))


def test_few_of_many_blocks_lie_outside_by_chance():
    hits = np.random.default_rng(0).binomial(50, 0.9, 100_000) / 50
    low, high = binomial_band(np.full(100_000, 50), 0.9)
    for outside in ((hits < low).mean(), (hits > high).mean()):
        assert 0.001 < outside < 0.0255


@pytest.mark.parametrize("batch", [1, 7, 50, 60])
def test_labels_enter_the_block_of_their_rows(batch):
    history = History()
    for _ in range(1000):
        history.add((batch, 0, batch, 0), NOTHING)
        history.add((0, batch, 0, 1), NOTHING)
    columns = history.columns()
    assert (columns["rows"] == columns["labels"]).all()
    assert columns["rows"].sum() == 1000 * batch
    assert len(columns["rows"]) <= MOST


def test_rows_alone_and_labels_alone_fill_blocks_too():
    history = History()
    for _ in range(10):
        history.add((FIRST, 0, FIRST, 0), NOTHING)
    for _ in range(10):
        history.add((0, FIRST, 0, 1), NOTHING)
    columns = history.columns()
    assert columns["rows"].tolist() == [FIRST] * 10 + [0] * 9
    assert columns["labels"].tolist() == [0] * 9 + [FIRST] * 10


def test_numbers_are_those_of_the_stream():
    stream, sizes, hits = rs.Stream(RULE, alpha=0.1), [], []
    for start in range(300, 1300, 50):
        sets = stream.predict(LOGITS[start : start + 50])
        sizes.append(sets.sizes.mean())
        hits.append(sets.covers(LABELS[start : start + 50]).mean())
        stream.update(LABELS[start : start + 50])
    found = OverTime.of(stream.history, stream.alpha)
    assert found.coverage == pytest.approx(hits)
    assert found.size == pytest.approx(sizes)
    assert found.running == pytest.approx(np.cumsum(hits) / np.arange(1, 21))
    assert found.running[-1] == pytest.approx(1 - stream.miss_rate)
    assert found.evidence["labels"][-1] == pytest.approx(stream.alarms.labels.log_wealth / math.log(10))
    assert found.below.tolist() == (found.coverage < 0.82).tolist()
    assert found.above.tolist() == (found.coverage > 0.98).tolist()


def test_blocks_without_labels_have_no_coverage():
    stream = rs.Stream(RULE, alpha=0.1)
    stream.predict(LOGITS[300:400])
    found = OverTime.of(stream.history, 0.1)
    assert np.isnan([found.coverage[0], found.running[0], found.low[0]]).all()
    assert not found.below.any()
    assert not found.above.any()


def test_a_chance_too_small_for_floats_is_a_power_of_ten():
    for power, text in ((4.5, "3.2e-05"), (250.5, "3.2e-251"), (310.2, "1e-310"), (4342.9, "1e-4342")):
        evidence = power * math.log(10)
        alarm = rs.Alarm("outputs", True, 3, 1, 0.025, evidence, evidence, 10)  # noqa: FBT003
        assert f"would be at most {text}. " in str(alarm)
    assert alarm.chance == 0
