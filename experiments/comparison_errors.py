"""Are the standard errors of compare right? python3 experiments/comparison_errors.py

Data sets are drawn again and again from one source, and every score is compared on each. The standard deviation of the
means over data sets is the truth, and the root mean square of the standard errors that compare told is its estimate.
Writes docs/comparison_errors.json and the table of docs/choosing.md.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import rankset as rs

DOCS = Path(__file__).parents[1] / "docs"
WITH_ERRORS = ("size", "coverage", "singletons", "empty")
"""The measures that have standard errors."""
SCORES = {"RANK": rs.Rank(), "THR": rs.Thr(), "APS": rs.Aps(), "RAPS": rs.Raps(penalty=0.2, free_ranks=2)}
SOME = 0.002
"""Ratios are given where the truth is at least this large: means that hardly vary have no error worth a ratio."""


@dataclass(frozen=True)
class Source:
    """Where data sets come from: ``grain`` rounds scores to so many steps, for ties (0: not at all)."""

    n: int
    classes: int
    alpha: str
    sharpness: float = 2.0
    grain: int = 0

    def drawn(self, rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Probabilities of an overconfident model, and labels."""
        logits = rng.normal(size=(self.n, self.classes)) * self.sharpness
        labels = (rs.softmax(logits).cumsum(axis=1) > rng.random((self.n, 1))).argmax(axis=1)
        probs = rs.softmax(1.5 * logits + rng.normal(size=logits.shape) * 0.3)
        if self.grain:
            probs = np.round(probs * self.grain) + 0.001
            probs /= probs.sum(axis=1, keepdims=True)
        return probs, labels


SOURCES = (
    Source(300, 4, "0.1"),
    Source(300, 10, "0.2"),
    Source(300, 50, "0.1", 3.0),
    Source(1000, 10, "0.1"),
    Source(1000, 50, "0.05", 3.0),
    Source(2000, 4, "0.05"),
    Source(2000, 20, "0.1"),
    Source(300, 4, "0.1", grain=50),
    Source(1000, 10, "0.1", grain=50),
    Source(1000, 10, "0.2", grain=8),
)


def ratios(
    source: Source, data_sets: int, repeats: int = 20, scores: Mapping[str, rs.Score] = SCORES
) -> dict[str, Any]:
    """The estimated error divided by the true one: of every measure and score, and of the gaps of sizes to THR."""
    names = list(scores)
    thr = names.index("THR")
    means, errors, gaps = [], [], []
    for number in range(data_sets):
        probs, labels = source.drawn(np.random.default_rng(number))
        told = rs.compare(probs, labels, source.alpha, scores=scores.values(), repeats=repeats)
        places = [told.measures.index(name) for name in WITH_ERRORS]
        means.append(told.means[:, places])
        errors.append(told.errors[:, places])
        weights = np.eye(len(names)) - np.eye(len(names))[thr]
        gaps.append([told.contrast(row) for row in weights])
    by_measure = _ratios(np.array(means), np.array(errors))
    of_gaps = _ratios(np.array(gaps)[:, :, 0], np.array(gaps)[:, :, 1])
    return {
        "n": source.n,
        "classes": source.classes,
        "alpha": source.alpha,
        "grain": source.grain,
        "data sets": data_sets,
        "halves": repeats,
        **{
            measure: dict(zip(names, by_measure[:, place].tolist(), strict=True))
            for place, measure in enumerate(WITH_ERRORS)
        },
        "gap to THR": {name: ratio for name, ratio in zip(names, of_gaps.tolist(), strict=True) if name != "THR"},
    }


def _ratios(means: NDArray[np.float64], errors: NDArray[np.float64]) -> NDArray[Any]:
    """Of each column; None where the truth is too small."""
    true, told = means.std(axis=0, ddof=1), np.sqrt(np.square(errors).mean(axis=0))
    return np.where(true >= SOME, np.round(told / np.maximum(true, SOME), 3), None)


def table(cells: list[dict[str, Any]]) -> str:
    """One line per source: the range of the ratios over scores."""
    columns = [*WITH_ERRORS, "gap to THR"]
    lines = [f"{'rows':>5}{'K':>4}{'alpha':>7}{'steps':>7}" + "".join(f"{name:>15}" for name in columns)]
    for cell in cells:
        start = f"{cell['n']:>5}{cell['classes']:>4}{cell['alpha']:>7}{cell['grain'] or '–':>7}"
        lines.append(start + "".join(f"{_range(cell[name]):>15}" for name in columns))
    return "\n".join(lines)


def _range(ratios: dict[str, float | None]) -> str:
    known = [ratio for ratio in ratios.values() if ratio is not None]
    return f"{min(known):.2f} to {max(known):.2f}" if known else "–"


def refreshed(page: str, cells: list[dict[str, Any]]) -> str:
    """The page with these cells in its table."""
    return re.sub(
        r"(<!-- errors -->\n+```\n).*?(\n```)", lambda m: f"{m[1]}{table(cells)}{m[2]}", page, flags=re.DOTALL
    )


def main() -> int:
    """Measures, writes, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-sets", type=int, default=400)
    options = parser.parse_args()
    cells = []
    for source in SOURCES:
        started = time.monotonic()
        cells.append(ratios(source, options.data_sets))
        print(f"{source}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    (DOCS / "comparison_errors.json").write_text(json.dumps(cells, indent=1) + "\n", encoding="utf-8")
    page = DOCS / "choosing.md"
    page.write_text(refreshed(page.read_text(encoding="utf-8"), cells), encoding="utf-8")
    print(table(cells))
    return 0


if __name__ == "__main__":
    sys.exit(main())
