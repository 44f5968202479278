"""Coverage of every class with few rows: python3 run.py every-class --data <folder>

Writes docs/how-to/every-class.json and, where docs/how-to/every-class.md has places for them, its tables. Reads
cifar100 and news20 of the package and, with a folder, two more models of CIFAR-100 and one of 1,000 classes. Rows that
calibrate are drawn at random, so many per class on average, again and again; all others are new. The same on
news20_long_tail, whose calibration rows and new rows have the long tail of the training rows.

How uneven the coverage of classes is: for every split and class the squared difference between coverage c of its m new
rows and 1 - alpha, minus c (1 - c) / (m - 1), which is what m rows add to it by chance. The root of the mean over
classes and splits is the "gap". The mean is taken before the root, because the number of one split can be below 0.
"""

from __future__ import annotations

import argparse
import json
import re
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from class_rivals import RIVALS
from numpy.typing import NDArray

import rankset as rs

DOCS = Path(__file__).parents[1] / "docs" / "how-to"
PAGES = (DOCS / "every-class.md", DOCS.parent / "understand" / "sharing.md")
"""Pages that have places for tables."""
ALPHA = 0.1
PER_CLASS = (5, 10, 20, 50)
"""Calibration rows per class that occurs, on average."""
BASE = "Marginal"
MANY_CLASSES = 1000
LEFT_OUT = ("RC3P", "Fuzzy")
"""Methods that are too slow in NumPy for that many classes."""
LONG_TAIL = "news20_long_tail"

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Tested = tuple[NDArray[Any], NDArray[Any]]
"""Sizes of sets of new rows, and whether they contain the true label."""


@dataclass(frozen=True)
class Model:
    """Probabilities of a model, the labels of the rows, and training rows per class, if they are known."""

    name: str
    probs: Floats
    labels: Ints
    counts: tuple[int, ...] = ()

    @property
    def n_occurring(self) -> int:
        """Number of classes that occur."""
        return len(np.unique(self.labels))


def models(folder: Path | None) -> Iterator[Model]:
    """The models whose classes are about equally frequent."""
    probs, labels = rs.datasets.load("cifar100")
    yield Model("cifar100", probs.astype(np.float64), labels)
    logits, labels = rs.datasets.load("news20")
    yield Model("news20", rs.softmax(logits), labels)
    if folder is None:
        return
    with np.load(folder / "cifar100_test_scores.npz", allow_pickle=False) as arrays:
        for name in ("wrn16_4", "lenet5"):
            own = arrays[f"{name}_probs"].astype(np.float64)
            yield Model(f"cifar100 {name}", own, arrays["labels"].astype(np.int64))
    with np.load(folder / "imagenet1000_on_tiny_imagenet_train_logits.npz", allow_pickle=False) as arrays:
        yield Model("imagenet", rs.softmax(arrays["logits"]), arrays["labels"].astype(np.int64))


def long_tail() -> Model:
    """The model that saw few rows of most classes."""
    logits, labels = rs.datasets.load(LONG_TAIL)
    return Model(LONG_TAIL, rs.softmax(logits), labels, rs.datasets.LONG_TAILED[LONG_TAIL].counts)


def rules(probs: Floats, labels: Ints, seed: int) -> dict[str, rs.Rule]:
    """What rankset has, on the same calibration rows."""
    pooled = rs.Pooled(rs.PerLabel())
    return {
        BASE: rs.calibrate(probs, labels, method="thr"),
        "PerLabel": rs.calibrate(probs, labels, method="thr", condition=rs.PerLabel()),
        "Pooled": rs.calibrate(probs, labels, method="thr", condition=pooled),
        "RANK": rs.calibrate(probs, labels, method="rank"),
        "RANK + Pooled": rs.calibrate(probs, labels, method="rank", condition=pooled),
        "auto": rs.auto(probs, labels, ALPHA, seed=seed),
        "auto + Pooled": rs.auto(probs, labels, ALPHA, seed=seed, condition=pooled),
    }


def rules_with_shares(probs: Floats, labels: Ints, counts: tuple[int, ...]) -> dict[str, rs.Rule]:
    """The same where classes are unequally frequent; balanced ones promise the mean coverage of classes."""
    pooled, balanced, shares = rs.Pooled(rs.PerLabel()), rs.Balanced(counts), rs.Thr(shares=counts)
    return {
        BASE: rs.calibrate(probs, labels, method="thr"),
        "PerLabel": rs.calibrate(probs, labels, method="thr", condition=rs.PerLabel()),
        "Pooled": rs.calibrate(probs, labels, method="thr", condition=pooled),
        "shares": rs.calibrate(probs, labels, method=shares),
        "shares + Pooled": rs.calibrate(probs, labels, method=shares, condition=pooled),
        "Balanced": rs.calibrate(probs, labels, method="thr", condition=balanced),
        "shares + Balanced": rs.calibrate(probs, labels, method=shares, condition=balanced),
        "shares + Pooled(Balanced)": rs.calibrate(probs, labels, method=shares, condition=rs.Pooled(balanced)),
    }


def tested(model: Model, old: Ints, new: Ints, seed: int) -> Iterator[tuple[str, Tested]]:
    """Every method on one split."""
    probs, labels, truth = model.probs[old], model.labels[old], model.labels[new]
    own = rules_with_shares(probs, labels, model.counts) if model.counts else rules(probs, labels, seed)
    for name, rule in own.items():
        sets = rule.predict(model.probs[new], ALPHA)
        yield name, (sets.sizes, sets.covers(truth))
    for name, rival in RIVALS.items():
        if model.probs.shape[1] < MANY_CLASSES or name not in LEFT_OUT:
            mask = rival(probs, labels, ALPHA, seed)(model.probs[new])
            yield name, (mask.sum(axis=1), mask[np.arange(len(new)), truth])


def measured(model: Model, per_class: int, splits: int) -> dict[str, Any]:
    """Every method on random splits of one model."""
    n, n_classes = per_class * model.n_occurring, model.probs.shape[1]
    found: dict[str, list[tuple[float, ...]]] = {}
    by_class: dict[str, list[Floats]] = {}
    for seed in range(splits):
        order = np.random.default_rng(seed).permutation(len(model.labels))
        for name, result in tested(model, order[:n], order[n:], seed):
            numbers, coverage = numbers_of(model.labels[order[n:]], result, n_classes)
            found.setdefault(name, []).append(numbers)
            by_class.setdefault(name, []).append(coverage)
    cell = {"model": model.name, "classes": model.n_occurring, "per_class": per_class, "rows": n, "splits": splits}
    arrays = {name: np.array(values) for name, values in found.items()}
    methods = {name: summary(values, arrays[BASE]) for name, values in arrays.items()}
    if not model.counts:
        return {**cell, "methods": methods}
    coverages = {name: np.nanmean(values, axis=0).round(4).tolist() for name, values in by_class.items()}
    return {**cell, "methods": methods, "training_rows": list(model.counts), "class_coverage": coverages}


def numbers_of(truth: Ints, result: Tested, n_classes: int) -> tuple[tuple[float, ...], Floats]:
    """One method on one split: mean size, coverage, its mean over classes, squared gap, share of classes below 80 % and
    below 50 %; and the coverage of every class, NaN below two new rows.
    """
    sizes, covered = result
    rows = np.bincount(truth, minlength=n_classes)
    hits = np.bincount(truth, weights=covered, minlength=n_classes)
    coverage = np.where(rows >= 2, hits / np.maximum(rows, 1), np.nan)
    own, m = coverage[rows >= 2], rows[rows >= 2]
    squared = np.mean((own - 1 + ALPHA) ** 2 - own * (1 - own) / (m - 1))
    numbers = (sizes.mean(), covered.mean(), own.mean(), squared, (own < 0.8).mean(), (own < 0.5).mean())
    return tuple(float(number) for number in numbers), coverage


def summary(values: Floats, base: Floats) -> dict[str, float]:
    """Means and standard errors over splits of one method, beside those of one threshold for all classes."""
    size, coverage, macro, squared, below_80, below_50 = values.mean(axis=0)
    errors = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    answer = {
        "size": size,
        "size_ratio": size / base[:, 0].mean(),
        "size_ratio_error": jackknife(values[:, 0], base[:, 0]),
        "coverage": coverage,
        "coverage_error": errors[1],
        "macro": macro,
        "macro_error": errors[2],
        "gap": np.sqrt(max(squared, 0.0)),
        "gap_ratio": np.sqrt(max(squared, 0.0) / base[:, 3].mean()),
        "gap_ratio_error": jackknife(values[:, 3], base[:, 3], root=True),
        "classes_below_80": below_80,
        "classes_below_50": below_50,
    }
    return {name: round(float(value), 5) for name, value in answer.items()}


def jackknife(values: Floats, base: Floats, *, root: bool = False) -> float:
    """Standard error of the ratio of two means over splits, or of its root."""
    ratios = np.maximum(values.sum() - values, 0.0) / (base.sum() - base)
    ratios = np.sqrt(ratios) if root else ratios
    return float(np.sqrt((len(values) - 1) * ratios.var()))


def means(cells: list[dict[str, Any]]) -> dict[int, dict[str, tuple[float, float]]]:
    """By rows per class and method: geometric mean of size ratios and mean of gap ratios over models."""
    answer: dict[int, dict[str, tuple[float, float]]] = {}
    for per_class in sorted({cell["per_class"] for cell in cells}):
        own = [cell["methods"] for cell in cells if cell["per_class"] == per_class]
        names = [name for name in own[0] if all(name in methods for methods in own)]
        answer[per_class] = {
            name: (
                float(np.exp(np.mean([np.log(methods[name]["size_ratio"]) for methods in own]))),
                float(np.mean([methods[name]["gap_ratio"] for methods in own])),
            )
            for name in names
        }
    return answer


def tables(numbers: Mapping[str, list[dict[str, Any]]]) -> dict[str, str]:
    """The tables of the page by name: size and gap in times those of Marginal."""
    found = means([cell for cell in numbers["balanced"] if "imagenet" not in cell["model"]])
    head = "| | " + " | ".join(f"{n} rows per class: size, gap" for n in found) + " |"
    lines = [head, "|---|" + "---|" * len(found)]
    for name in found[PER_CLASS[0]]:
        cells = " | ".join(f"{size:.2f}, {gap:.2f}" for size, gap in (one[name] for one in found.values()))
        lines.append(f"| {name} | {cells} |")
    tails = numbers["long_tail"]
    head = "| | " + " | ".join(f"{cell['per_class']} rows per class: size, macro, gap" for cell in tails) + " |"
    long = [head, "|---|" + "---|" * len(tails)]
    for name in tails[0]["methods"]:
        own = [cell["methods"][name] for cell in tails]
        cells = " | ".join(f"{one['size_ratio']:.2f}, {one['macro']:.3f}, {one['gap_ratio']:.2f}" for one in own)
        long.append(f"| {name} | {cells} |")
    return {"every class": "\n".join(lines), "long tail": "\n".join(long), "torchcp": _beside_torchcp()}


def _beside_torchcp() -> str:
    """The table of every-class-torchcp.json: coverage, size, and gap in points."""
    cells = json.loads((DOCS / "every-class-torchcp.json").read_text(encoding="utf-8"))["cells"]
    head = "| | " + " | ".join(f"{cell['per_class']} rows per class: coverage, size, gap" for cell in cells) + " |"
    lines = [head, "|---|" + "---|" * len(cells)]
    for name in cells[0]["methods"]:
        own = [cell["methods"][name] for cell in cells]
        told = " | ".join(f"{one['coverage']:.3f}, {one['size']:.2f}, {100 * one['gap']:.1f}" for one in own)
        lines.append(f"| {name} | {told} |")
    return "\n".join(lines)


def refreshed(page: str, numbers: Mapping[str, list[dict[str, Any]]]) -> str:
    """The page with the tables of these numbers."""
    for name, table in tables(numbers).items():
        pattern = rf"(<!-- {name} -->\n).*?(\n<!-- end -->)"
        page = re.sub(pattern, lambda found, table=table: f"{found[1]}{table}{found[2]}", page, flags=re.DOTALL)  # type: ignore[misc]
    return page


def main() -> int:
    """Measure everything, print the tables, write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of score files, as for choosing")
    parser.add_argument("--splits", type=int, default=100, help="a tenth of them for 1,000 classes")
    parser.add_argument("--output", type=Path, default=DOCS / "every-class.json")
    options = parser.parse_args()
    warnings.simplefilter("ignore", rs.RanksetWarning)
    command = f"python3 run.py every-class --data <folder> --splits {options.splits}"
    numbers: dict[str, Any] = {"command": command, "balanced": [], "long_tail": []}
    for model in [*models(options.data), long_tail()]:
        few = model.probs.shape[1] >= MANY_CLASSES
        for per_class in PER_CLASS[:-1] if few else PER_CLASS:
            start, splits = time.perf_counter(), max(2, options.splits // 10 if few else options.splits)
            part = "long_tail" if model.counts else "balanced"
            numbers[part].append(measured(model, per_class, splits))
            print(f"{model.name}, {per_class} per class: {time.perf_counter() - start:.0f} s", flush=True)
            options.output.write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    print(*tables(numbers).values(), sep="\n\n")
    for page in PAGES:
        page.write_text(refreshed(page.read_text(encoding="utf-8"), numbers), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
