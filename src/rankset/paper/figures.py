"""Draws the figures of the paper from the numbers of a study, as PDF and PNG files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from rankset.datasets import DATASETS
from rankset.errors import needs_extra
from rankset.paper.experiment import METHODS
from rankset.paper.numbers import Numbers
from rankset.paper.outputs import AS_PUBLISHED

STYLE: Any = {
    "font.family": "serif",
    "mathtext.fontset": "stix",
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "savefig.dpi": 160,
}
LOOKS: Mapping[str, Mapping[str, Any]] = {
    "RANK": {"color": "#c0392b", "marker": "o", "zorder": 5, "markersize": 6, "markerfacecolor": "none"},
    "THR": {"color": "#2c3e50", "marker": "x", "linestyle": ":", "zorder": 6},
    "APS": {"color": "#2980b9", "marker": "s"},
    "RAPS": {"color": "#27ae60", "marker": "^"},
    "SAPS": {"color": "#8e44ad", "marker": "v"},
}
MOST_RANKS = 10
"""Number of ranks shown, as in the paper."""

FIGURE_1_RANKS = (0.6, 0.26, 0.06, 0.04, 0.03, 0.01)
FIGURE_1_THIRDS = ((0.0, 0.4), (0.05, 0.35), (0.1, 0.1), (0.15, 0.1), (0.2, 0.05))
"""The paper's worked example: shares of ranks 1 to 6, and of third largest probabilities in steps of 0.05."""
FIGURE_1_TEST = 0.15
"""The third largest probability of the test row of the worked example."""

TASKS = ("images", "questions", "texts", "own")
"""Kinds of inputs of the data sets, and the user's own data."""
FIGURES = ("figure1", "figure2", "figure3", "figure4", "figure4-as-stored", "figure5", "own-data")
FILES = tuple(f"{name}.{kind}" for name in FIGURES for kind in ("pdf", "png"))


def draw_all(numbers: Numbers, folder: str | os.PathLike[str]) -> list[Path]:
    """Draw every figure for which ``numbers`` has data: Figures 1 to 5, and the curves of your own data.

    Figure 1, the worked example of the paper, is left out if all rows are your own data.

    Parameters
    ----------
    numbers
        The result of ``study``.
    folder
        An existing folder. Files with the same names are replaced.

    Returns
    -------
    list of Path
        The files that were written: a PDF and a PNG file per figure.

    Raises
    ------
    PackageError
        If matplotlib is not installed.

    Examples
    --------
    >>> import tempfile, rankset as rs
    >>> mine = rs.paper.Outputs.of("mine", *rs.datasets.load("marketing"))
    >>> numbers = rs.paper.study([mine], alphas=[0.1, 0.2], repeats=2, show_progress=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sorted(path.name for path in rs.paper.draw_all(numbers, folder))
    ['figure2.pdf', 'figure2.png', 'own-data.pdf', 'own-data.png']
    """
    by_task = {task: [row for row in numbers.rows if _task(numbers, row) == task] for task in TASKS}
    stored = [row for row in by_task["questions"] if row not in AS_PUBLISHED.values()]
    again = [row for row in by_task["questions"] if row in AS_PUBLISHED.values()]
    wanted: dict[str, Callable[[], Any]] = {
        "figure1": lambda: None if numbers.all_own else figure_1(),
        "figure2": lambda: figure_2(numbers),
        "figure3": lambda: figure_of_curves(numbers, by_task["images"]),
        "figure4": lambda: figure_of_curves(numbers, again),
        "figure4-as-stored": lambda: figure_of_curves(numbers, stored),
        "figure5": lambda: figure_of_curves(numbers, by_task["texts"]),
        "own-data": lambda: figure_of_curves(numbers, by_task["own"]),
    }
    drawn: list[Path] = []
    with _style() as plt:
        for name, draw in wanted.items():
            figure = draw()
            if figure is not None:
                paths = [Path(folder, f"{name}.{kind}") for kind in ("pdf", "png")]
                for path in paths:
                    figure.savefig(path, metadata={"CreationDate": None} if path.suffix == ".pdf" else None)
                plt.close(figure)
                drawn += paths
    return drawn


@contextmanager
def _style() -> Iterator[Any]:
    """Give out pyplot with the style and a backend without windows; restore both afterwards."""
    with needs_extra("plots"):
        import matplotlib as mpl
        import matplotlib.pyplot as plt
    backend = mpl.get_backend()
    plt.switch_backend("agg")
    try:
        with mpl.rc_context(STYLE):
            yield plt
    finally:
        plt.switch_backend(backend)


def figure_1() -> Any:  # noqa: ANN401
    """Draw the worked example: ranks with r* at alpha 0.1, and third largest probabilities with pi*."""
    import matplotlib.pyplot as plt

    shares = np.array(FIGURE_1_RANKS)
    r_star = int(np.searchsorted(shares.cumsum(), 0.9)) + 1
    p = (0.9 - shares[: r_star - 1].sum()) / shares[r_star - 1]
    figure, (left, right) = plt.subplots(1, 2, figsize=(7, 2.6), layout="constrained")
    colors = ["#7fb3d5" if rank < r_star else "#c0392b" if rank == r_star else "#d5d8dc" for rank in range(1, 11)]
    bars = left.bar(range(1, 11), [*shares, 0, 0, 0, 0], color=colors)
    left.bar_label(bars, [f"{share:.2f}" for share in shares] + [""] * 4, fontsize=7)
    left.axvline(r_star + 0.5, color="#c0392b", linestyle="--", linewidth=1)
    left.set(xlabel="rank of the true class", ylabel="share of calibration rows", xticks=range(1, 11), ylim=(0, 0.7))
    left.set_title(f"$r^*_{{0.1}} = {r_star}$: ranks below it hold {shares[: r_star - 1].sum():.2f}")
    starts, thirds = np.array(FIGURE_1_THIRDS).T
    right.bar(starts, thirds, width=0.05, align="edge", color="#7fb3d5", edgecolor="white")
    above = thirds[::-1].cumsum()[::-1]
    place = int(np.flatnonzero(above >= p)[-1])
    cut = starts[place] + 0.05 * (above[place] - p) / thirds[place]
    right.axvline(cut, color="#c0392b", linestyle="--", linewidth=1)
    right.axvspan(cut, 0.25, color="#c0392b", alpha=0.08)
    right.annotate(
        "the test row: 0.15, inside", (FIGURE_1_TEST, 0), (0.11, 0.3), fontsize=8, arrowprops={"arrowstyle": "->"}
    )
    right.set(xlabel="third largest probability", ylabel="share of calibration rows", xlim=(0, 0.25), ylim=(0, 0.45))
    right.set_title(f"$p = {p:.3f}$ of them lie above $\\pi^* = {cut:.4f}$ (bins taken as even)")
    return figure


def figure_2(numbers: Numbers) -> Any:  # noqa: ANN401
    """Draw the rank distribution of every data set, with a line at r*."""
    import matplotlib.pyplot as plt

    rows = [row for row in numbers.rows if row not in AS_PUBLISHED.values()]
    alpha = numbers.alpha
    width = min(4, len(rows))
    height = -(-len(rows) // width)
    size = 2.25 * max(2, width), 2.1 * height + 0.2
    figure, axes = plt.subplots(height, width, figsize=size, layout="constrained", squeeze=False)
    for ax in axes.ravel()[len(rows) :]:
        ax.axis("off")
    for ax, row in zip(axes.ravel(), rows, strict=False):
        facts = numbers.rows[row]
        counts = np.array(facts["ranks"])[:MOST_RANKS]
        ax.bar(np.arange(1, len(counts) + 1), counts / facts["questions"], color="#7fb3d5")
        ax.axvline(facts["r_star"][alpha], color="#c0392b", linestyle="--", linewidth=1.2)
        ax.set(ylim=(0, 1), xticks=range(1, len(counts) + 1))
        cut = f", first {MOST_RANKS} of {facts['classes']}" if facts["classes"] > MOST_RANKS else ""
        ax.set_title(f"{_title(row)}: $r^*_{{{alpha}}} = {facts['r_star'][alpha]}${cut}")
    figure.supxlabel("rank of the true class", fontsize=9)
    figure.supylabel("share of rows", fontsize=9)
    return figure


def figure_of_curves(numbers: Numbers, rows: Sequence[str]) -> Any | None:  # noqa: ANN401
    """Draw size against coverage, coverage against alpha and SSCV against alpha, for each data set."""
    import matplotlib.pyplot as plt

    if not rows:
        return None
    figure, axes = plt.subplots(len(rows), 3, figsize=(9, 2.3 * len(rows) + 0.4), layout="constrained", squeeze=False)
    alphas = np.array([float(alpha) for alpha in numbers.alphas])
    for (left, middle, right), row in zip(axes, rows, strict=True):
        middle.plot(alphas, 1 - alphas, color="0.6", linewidth=3, alpha=0.5, zorder=1, label=r"$1-\alpha$")
        for method in METHODS:
            of = {
                m: [numbers.mean(row, method, alpha, m) for alpha in numbers.alphas]
                for m in ("coverage", "size", "SSCV")
            }
            look = {"markersize": 3, "linewidth": 1, **LOOKS[method]}
            left.plot(of["coverage"], of["size"], label=method, **look)
            middle.plot(alphas, of["coverage"], **look)
            right.plot(alphas, of["SSCV"], **look)
        left.set(ylabel=f"{_title(row)}\nsize", xlabel="coverage")
        middle.set(ylabel="coverage", xlabel=r"$\alpha$")
        right.set(ylabel="SSCV", xlabel=r"$\alpha$", ylim=(0, None))
    handles = [*axes[0, 0].lines, axes[0, 1].lines[0]]
    figure.legend(handles, [handle.get_label() for handle in handles], loc="outside upper center", ncols=len(handles))
    return figure


def _task(numbers: Numbers, row: str) -> str:
    return "own" if numbers.is_own(row) else DATASETS[row.removesuffix("²")].task


def _title(row: str) -> str:
    """Return the name of a row; in names of own data $ starts no formula."""
    again = {name: f"{data}, softmax twice" for data, name in AS_PUBLISHED.items()}
    return again.get(row, row.replace("$", r"\$"))
