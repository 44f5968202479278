"""Are the standard errors of compare right? python3 experiments/comparison_errors.py

Data sets are drawn again and again from one source, and every score is compared on each. The standard deviation of the
means over data sets is the truth, and the root mean square of the standard errors that compare told is its estimate.
Writes comparison_errors.json, comparison_errors_by_group.json and two tables of choosing.md, all in docs/understand.
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

DOCS = Path(__file__).parents[1] / "docs" / "understand"
WITH_ERRORS = ("size", "coverage", "singletons", "empty")
"""The measures that have standard errors."""
WITH_ERRORS_BY_GROUP = ("size", "coverage")
"""The measures that have standard errors with a threshold per group."""
CONDITIONS = {"": rs.Marginal(), "label": rs.PerLabel(), "group": rs.PerGroup(), "both": rs.PerLabelAndGroup()}
SCORES = {"RANK": rs.Rank(), "THR": rs.Thr(), "APS": rs.Aps(), "RAPS": rs.Raps(penalty=0.2, free_ranks=2)}
SOME = 0.002
"""Ratios are given where the truth is at least this large: means that hardly vary have no error worth a ratio."""


@dataclass(frozen=True)
class Source:
    """Where data sets come from.

    ``grain`` rounds scores to so many steps, for ties (0: not at all). ``condition`` is a key of CONDITIONS. Groups of
    rows are 0 … groups - 1, of unequal sizes; the labels of later ones are noisier.
    """

    n: int
    classes: int
    alpha: str
    sharpness: float = 2.0
    grain: int = 0
    condition: str = ""
    groups: int = 1

    def drawn(self, rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Probabilities of an overconfident model, and labels."""
        logits = rng.normal(size=(self.n, self.classes)) * self.sharpness
        labels = (rs.softmax(logits).cumsum(axis=1) > rng.random((self.n, 1))).argmax(axis=1)
        probs = rs.softmax(1.5 * logits + rng.normal(size=logits.shape) * 0.3)
        if self.grain:
            probs = np.round(probs * self.grain) + 0.001
            probs /= probs.sum(axis=1, keepdims=True)
        return probs, labels

    def with_groups(
        self, labels: NDArray[np.int64], rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
        """Labels, and groups if the condition needs them."""
        if not CONDITIONS[self.condition].needs_groups:
            return labels, None
        shares = np.arange(1, self.groups + 1) / np.arange(1, self.groups + 1).sum()
        groups = rng.choice(self.groups, self.n, p=shares)
        noisy = rng.random(self.n) < 0.05 * groups
        return np.where(noisy, rng.integers(0, self.classes, self.n), labels), groups


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

SOURCES_BY_GROUP = (
    Source(300, 4, "0.1", condition="label"),
    Source(1000, 10, "0.1", condition="label"),
    Source(1000, 10, "0.2", condition="label", grain=50),
    Source(300, 4, "0.1", condition="group", groups=2),
    Source(1000, 10, "0.1", condition="group", groups=5),
    Source(2000, 20, "0.05", condition="group", groups=5),
    Source(1500, 4, "0.1", condition="both", groups=3),
)


def ratios(
    source: Source, data_sets: int, repeats: int = 20, scores: Mapping[str, rs.Score] = SCORES
) -> dict[str, Any]:
    """The estimated error divided by the true one: of every measure and score, and of the gaps of sizes to THR."""
    names = list(scores)
    thr = names.index("THR")
    measures = WITH_ERRORS_BY_GROUP if source.condition else WITH_ERRORS
    condition = CONDITIONS[source.condition]
    means, errors, gaps = [], [], []
    for number in range(data_sets):
        rng = np.random.default_rng(number)
        probs, drawn = source.drawn(rng)
        labels, groups = source.with_groups(drawn, rng)
        asked = {"scores": scores.values(), "condition": condition, "groups": groups, "repeats": repeats}
        told = rs.compare(probs, labels, source.alpha, **asked)
        places = [told.measures.index(name) for name in measures]
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
        **({"condition": source.condition, "groups": source.groups} if source.condition else {}),
        "data sets": data_sets,
        "halves": repeats,
        **{
            measure: dict(zip(names, by_measure[:, place].tolist(), strict=True))
            for place, measure in enumerate(measures)
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


def table_by_group(cells: list[dict[str, Any]]) -> str:
    """The same with a threshold per group."""
    columns = [*WITH_ERRORS_BY_GROUP, "gap to THR"]
    lines = [
        f"{'rows':>5}{'K':>4}{'alpha':>7}{'steps':>7}{'per':>7}{'groups':>8}" + "".join(f"{c:>15}" for c in columns)
    ]
    for cell in cells:
        start = f"{cell['n']:>5}{cell['classes']:>4}{cell['alpha']:>7}{cell['grain'] or '–':>7}"
        start += f"{cell['condition']:>7}{cell['groups'] if cell['groups'] > 1 else '–':>8}"
        lines.append(start + "".join(f"{_range(cell[name]):>15}" for name in columns))
    return "\n".join(lines)


def _range(ratios: dict[str, float | None]) -> str:
    known = [ratio for ratio in ratios.values() if ratio is not None]
    return f"{min(known):.2f} to {max(known):.2f}" if known else "–"


def refreshed(page: str, text: str, mark: str = "errors") -> str:
    """The page with this text as the table behind a mark."""
    return re.sub(rf"(<!-- {mark} -->\n+```text\n).*?(\n```)", lambda m: f"{m[1]}{text}{m[2]}", page, flags=re.DOTALL)


def main() -> int:
    """Measures, writes, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-sets", type=int, default=400)
    parser.add_argument("--by-group-only", action="store_true", help="leave the first table as it is")
    options = parser.parse_args()
    page = DOCS / "choosing.md"
    studies = [("", SOURCES, table), ("_by_group", SOURCES_BY_GROUP, table_by_group)][options.by_group_only :]
    for suffix, sources, as_table in studies:
        cells = []
        for source in sources:
            started = time.monotonic()
            cells.append(ratios(source, options.data_sets))
            print(f"{source}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
        path = DOCS / f"comparison_errors{suffix}.json"
        path.write_text(json.dumps(cells, indent=1) + "\n", encoding="utf-8")
        text = as_table(cells)
        mark = "errors" + suffix.replace("_", " ")
        page.write_text(refreshed(page.read_text(encoding="utf-8"), text, mark), encoding="utf-8")
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
