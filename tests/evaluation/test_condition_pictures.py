"""The picture of several conditions: its axis of sizes, and its legend."""

import matplotlib.pyplot as plt
import pytest

import rankset as rs

CONDITIONS = [rs.Marginal(), rs.PerLabel(), rs.Pooled()]


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def found(name, n, conditions, kind="probs"):
    probs, labels = rs.datasets.load(name)
    options = {"scores": ["thr", "rank"], "kind": kind, "repeats": 2}
    return rs.compare(probs[:n], labels[:n], condition=conditions, **options)


@pytest.mark.filterwarnings("ignore:at least")
def test_sizes_that_differ_much_have_a_logarithmic_axis_with_plain_numbers():
    figure = found("cifar100", 1000, CONDITIONS).plot()
    ax = figure.axes[0]
    assert ax.get_xscale() == "log"
    figure.canvas.draw()
    low, high = ax.get_xlim()
    shown = [
        text.get_text() for text, at in zip(ax.get_xticklabels(), ax.get_xticks(), strict=True) if low <= at <= high
    ]
    assert {"5", "10", "20"} <= set(shown)


def test_other_sizes_have_a_plain_axis():
    comparison = found("carer", 1000, [rs.Marginal(), rs.Pooled()], "logits")
    assert comparison.plot().axes[0].get_xscale() == "linear"
    assert comparison.plot("coverage", "size").axes[0].get_xscale() == "linear"


def test_the_legend_stands_beside_the_points():
    figure = found("carer", 1000, CONDITIONS, "logits").plot()
    figure.canvas.draw()
    ax = figure.axes[0]
    legend = ax.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == [
        *("for all rows", "per label", "per label, pooled"),
        *("THR", "RANK"),
    ]
    assert legend.get_window_extent().x0 >= ax.get_window_extent().x1
    assert legend.get_window_extent().x1 <= figure.bbox.x1
