"""``StreamDisplay`` draws the numbers of the stream."""

import matplotlib as mpl
import numpy as np
import pytest

import rankset as rs

mpl.use("agg")
import matplotlib.pyplot as plt

from rankset.errors import KindError
from rankset.streams.over_time import OverTime
from refusals import refused

LOGITS, LABELS = rs.datasets.load("carer")
RULE = rs.calibrate(LOGITS[:300], LABELS[:300], kind="logits")


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def stream():
    stream = rs.Stream(RULE, alpha=0.1, outputs=LOGITS[:300])
    for start in range(300, 1300, 50):
        stream.predict(LOGITS[start : start + 50] / (1 if start < 800 else 4))
        stream.update(LABELS[start : start + 50])
    assert stream.alarms.outputs.raised
    return stream


def drawn(ax, label):
    (line,) = [line for line in ax.lines if line.get_label() == label]
    return line


def test_lines_are_the_numbers_of_the_stream(stream):
    display = rs.StreamDisplay.from_stream(stream)
    coverage, size, level, evidence = display.axes_
    numbers = OverTime.of(stream.history, 0.1)
    assert drawn(coverage, "per block").get_xdata() == pytest.approx([0, *numbers.row])
    assert drawn(coverage, "per block").get_ydata()[1:] == pytest.approx(numbers.coverage)
    assert drawn(coverage, "so far").get_ydata()[-1] == pytest.approx(1 - stream.miss_rate)
    assert size.lines[0].get_ydata()[1:] == pytest.approx(numbers.size)
    assert level.lines[0].get_ydata() == pytest.approx([0.1, *numbers.level])
    for name in ("labels", "outputs", "coverage"):
        assert drawn(evidence, name).get_ydata() == pytest.approx([0, *numbers.evidence[name]])
    assert display.ax_ is coverage
    assert display.figure_ is coverage.figure
    assert {ax.get_xlim() for ax in display.axes_} == {(0, 1000)}


def test_limits_and_alarms_are_marked(stream):
    display = rs.StreamDisplay.from_stream(stream, parts=["evidence", "size"])
    evidence, size = display.axes_
    heights = [line.get_ydata()[0] for line in evidence.lines if len(set(line.get_ydata())) == 1]
    assert np.log10(40) in [pytest.approx(height) for height in heights]
    assert np.log10(20) in [pytest.approx(height) for height in heights]
    raised = {alarm.at for alarm in stream.alarms.raised}
    for ax in (evidence, size):
        upright = [
            line.get_xdata()[0] for line in ax.lines if len(line.get_xdata()) == 2 and line.get_linestyle() == ":"
        ]
        assert raised <= set(upright)
    low, high = evidence.get_ylim()
    assert low < 0 < np.log10(40) < high
    assert "1" in [tick.get_text() for tick in evidence.get_yticklabels()]


def test_axes_of_ones_own_and_what_is_refused(stream):
    figure, axes = plt.subplots(2, 1)
    display = rs.StreamDisplay.from_stream(stream, axes=axes, parts=("level", "coverage"), color="C4")
    assert display.figure_ is figure
    assert axes[0].lines[0].get_color() == "C4"
    assert [ax.get_ylabel() for ax in axes] == ["level", "covered labels"]
    with refused(KindError.argument("axes", "4 axes, one for each part", "2 axes")):
        rs.StreamDisplay.from_stream(stream, axes=axes)
    for wrong in ("level", [], ["level", "level"], ["sizes"]):
        with refused(KindError.argument("parts", "a list of some of coverage, size, level, evidence", wrong)):
            rs.StreamDisplay.from_stream(stream, parts=wrong)
    with refused(KindError.argument("stream", "a Stream", RULE)):
        rs.StreamDisplay.from_stream(RULE)


def test_streams_without_rows_without_labels_and_outside_zero_and_one(tmp_path):
    stream = rs.Stream(RULE, alpha=0.4, level=rs.Adaptive(0.9))
    rs.StreamDisplay.from_stream(stream).figure_.savefig(tmp_path / "none.png")
    stream.predict(LOGITS[300])
    rs.StreamDisplay.from_stream(stream).figure_.savefig(tmp_path / "rows.png")
    stream.update([int(LOGITS[300].argmin())])
    assert stream.level < 0
    display = rs.StreamDisplay.from_stream(stream)
    display.figure_.savefig(tmp_path / "labels.png")
    assert [text.get_text() for text in display.axes_[2].texts] == ["every label"]
