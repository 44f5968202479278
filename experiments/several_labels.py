"""Rows with several labels: what a fit of all labels gains. python3 run.py several-labels --data <folder>

Reads birds, yeast, ptbxl, ptbxl_val, tmc2007 and goemotions (.npz files with probs, labels and classes) and writes
docs/understand/several_labels.json and the tables of docs/understand/label_dependence.md. The rows of each file are
halved at random, again and again: one half calibrates, the other is new.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray

import rankset as rs
from rankset.scores.label_dependence import fit

DOCS = Path(__file__).parents[1] / "docs" / "understand"
FILES = ("birds", "yeast", "ptbxl", "tmc2007", "goemotions")
TARGETS = {"recall": rs.Share(), "all": rs.Thr()}
"""Names of targets, and the score on fitted probabilities for each."""
ALPHA = "0.1"
PLAIN = {"THR": rs.Thr(), "Share": rs.Share(), "RANK": rs.Rank()}
COLUMNS = ("Share", "RANK", "fit", "fit with W", "auto")

Rows = tuple[NDArray[np.floating], NDArray[np.bool_]]
Found = dict[tuple[str, str], list[tuple[float, float]]]
"""Mean size and risk on every half, by target and candidate."""


def load(folder: Path, name: str) -> Rows:
    """The probabilities and the truths of a file."""
    with np.load(folder / f"{name}.npz", allow_pickle=False) as arrays:
        return arrays["probs"], arrays["labels"]


def fits(probs: NDArray[np.floating], truths: NDArray[np.bool_]) -> dict[str, rs.Marginals]:
    """A fit without what labels say about each other, and one that decides itself."""
    with mock.patch.object(fit, "MOST_COLUMNS", 0):
        plain = rs.Marginals.fit(probs, truths)
    return {"fit": plain, "fit with W": rs.Marginals.fit(probs, truths)}


def halves(n: int, repeats: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Random halves of rows."""
    rng = np.random.default_rng(0)
    for _ in range(repeats):
        order = rng.permutation(n)
        yield order[: n // 2], order[n // 2 :]


def tested(rule: rs.Rule, target: str, rows: Rows) -> tuple[float, float]:
    """Mean size and risk of a rule on new rows."""
    sets = rule.predict(rows[0], ALPHA)
    found = sets.recall(rows[1]) if target == "recall" else sets.covers_all(rows[1])
    return float(sets.sizes.mean()), float(1 - np.mean(found[rows[1].any(axis=1)]))


def measure(rows: Rows, repeats: int, fitted: Mapping[str, rs.Marginals] | None) -> Found:
    """Every candidate on halves of one file; without ``fitted``, a third of the calibration half fits."""
    probs, truths = rows
    answer: Found = {}
    for cal, test in halves(len(probs), repeats):
        own = fits(probs[cal[: len(cal) // 3]], truths[cal[: len(cal) // 3]]) if fitted is None else fitted
        rest = cal[len(cal) // 3 :] if fitted is None else cal
        for target, inner in TARGETS.items():
            options: dict[str, Any] = {"target": target, "kind": "marginals"}
            rules = {
                name: rs.calibrate(probs[cal], truths[cal], method=score, **options) for name, score in PLAIN.items()
            }
            for name, score in own.items():
                method = replace(score, score=inner)
                rules[name] = rs.calibrate(probs[rest], truths[rest], method=method, **options)
            rules["auto"] = rs.auto(probs[cal], truths[cal], ALPHA, **options)
            for name, rule in rules.items():
                answer.setdefault((target, name), []).append(tested(rule, target, (probs[test], truths[test])))
            chosen = isinstance(rules["auto"].score.score, rs.Marginals)
            answer.setdefault((target, "auto fits"), []).append((float(chosen), np.nan))
    return answer


def summary(name: str, rows: Rows, found: Found, repeats: int, separate: int = 0) -> list[dict[str, Any]]:
    """What the page and the JSON file tell of one file: one entry per target."""
    answer = []
    for target in TARGETS:
        sizes = {key: np.array([one[0] for one in values]) for (own, key), values in found.items() if own == target}
        risks = {key: np.array([one[1] for one in values]) for (own, key), values in found.items() if own == target}
        fitted = float(sizes.pop("auto fits").mean())
        base = sizes["THR"].mean()
        answer.append(
            {
                "file": name,
                "rows": len(rows[0]),
                "labels": rows[0].shape[1],
                "separate_rows": separate,
                "target": target,
                "halves": repeats,
                "thr_size": round(float(base), 4),
                "ratio": {key: round(float(value.mean() / base), 4) for key, value in sizes.items()},
                "ratio_error": {
                    key: round(float((value / base - sizes["THR"] / base).std(ddof=1) / np.sqrt(repeats)), 4)
                    for key, value in sizes.items()
                },
                "risk": {key: round(float(risks[key].mean()), 4) for key in sizes},
                "auto_fits": round(fitted, 3),
            }
        )
    return answer


def tables(cells: list[dict[str, Any]]) -> dict[str, str]:
    """The tables of the page, by target."""
    answer = {}
    for target in TARGETS:
        head = "| file | rows × labels | THR | " + " | ".join(COLUMNS) + " | risk of THR | of fit with W | of auto |"
        lines = [head, "|" + " --- |" * (len(COLUMNS) + 6)]
        for cell in (one for one in cells if one["target"] == target):
            name = cell["file"] + (f", fitted on {cell['separate_rows']:,} other rows" * bool(cell["separate_rows"]))
            ratios = " | ".join(f"{cell['ratio'][column]:.3f}" for column in COLUMNS)
            risks = " | ".join(f"{cell['risk'][column]:.3f}" for column in ("THR", "fit with W", "auto"))
            size = f"{cell['rows']:,} × {cell['labels']}"
            lines.append(f"| {name} | {size} | {cell['thr_size']:.2f} | {ratios} | {risks} |")
        answer[target] = "\n".join(lines)
    return answer


def refreshed(page: str, cells: list[dict[str, Any]]) -> str:
    """The page with the tables of these cells."""
    for target, table in tables(cells).items():
        pattern = rf"(<!-- {target} -->\n).*?(\n<!-- end -->)"
        page = re.sub(pattern, lambda found, table=table: f"{found[1]}{table}{found[2]}", page, flags=re.DOTALL)  # type: ignore[misc]
    return page


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--repeats", type=int, default=60)
    options = parser.parse_args()
    cells: list[dict[str, Any]] = []
    for name in FILES:
        start, rows = time.perf_counter(), load(options.data, name)
        cells += summary(name, rows, measure(rows, options.repeats, None), options.repeats)
        print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
    others = load(options.data, "ptbxl_val")
    rows = load(options.data, "ptbxl")
    found = measure(rows, options.repeats, fits(*others))
    cells += summary("ptbxl", rows, found, options.repeats, separate=len(others[0]))
    (DOCS / "several_labels.json").write_text(json.dumps(cells, indent=1) + "\n", encoding="utf-8")
    page = DOCS / "label_dependence.md"
    if page.exists():
        page.write_text(refreshed(page.read_text(encoding="utf-8"), cells), encoding="utf-8")


if __name__ == "__main__":
    main()
