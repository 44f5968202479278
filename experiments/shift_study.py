"""Coverage when new rows come from another source: python3 run.py shift-study --data <folder>

Writes docs/understand/shift.json and, where docs/understand/shift.md has places for them, its tables. Reads cifar100,
cifar10 and news20 of the package and, with a folder, other models of CIFAR-100 and one of 1,000 classes.

In every repetition the rows of a file are divided at random into labelled rows for fits, calibration rows, rows from
which unlabelled new rows are drawn, and new rows that are tested. New rows have another law: row i has a weight w_i,
which comes from fixed numbers of the whole file. Unlabelled new rows are drawn with replacement with probabilities in
proportion to w, and coverage and size of the tested rows are means with the weights w. So w is the true ratio.

Label shift: w depends on the class. "hard": exp(1.5 z), z from -1 for the class with the highest accuracy to 1 for the
lowest, evenly spaced. "dir": shares of classes from Dirichlet(1), drawn anew in every repetition. Covariate shift:
w = exp(beta u), u from -1 for the row with the smallest entropy to 1 for the largest, evenly spaced.
"""

from __future__ import annotations

import argparse
import json
import re
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import rankset as rs

DOCS = Path(__file__).parents[1] / "docs" / "understand"
PAGE = DOCS / "shift.md"
ALPHA = 0.1
BETAS = (1, 2, 3)
FEW = 100
"""Calibration rows for which the weight of the new row matters."""
COVARIATE_ROWS = 1000
RENAMED = 20
"""Classes whose outputs, in new rows, are those of the next class."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Results = dict[str, tuple[float, ...]]
Drawn = Callable[[np.random.Generator], Floats]


@dataclass(frozen=True)
class Model:
    """Probabilities of a model, labels, and how many rows fit, calibrate, and are drawn without labels."""

    name: str
    probs: Floats
    labels: Ints
    rows: int

    @property
    def n_classes(self) -> int:
        """Number of columns."""
        return self.probs.shape[1]

    def hard(self, rng: np.random.Generator) -> Floats:  # noqa: ARG002
        """Weights of classes: difficult classes become frequent."""
        right = self.probs.argmax(axis=1) == self.labels
        counts = np.bincount(self.labels, minlength=self.n_classes)
        known = np.flatnonzero(counts)
        accuracy = np.bincount(self.labels, right, self.n_classes)[known] / counts[known]
        weights = np.zeros(self.n_classes)
        weights[known[np.argsort(-accuracy, kind="stable")]] = np.exp(1.5 * np.linspace(-1, 1, len(known)))
        return weights

    def dirichlet(self, rng: np.random.Generator) -> Floats:
        """Weights of classes: shares of classes are drawn."""
        counts = np.bincount(self.labels, minlength=self.n_classes)
        known = np.flatnonzero(counts)
        weights = np.zeros(self.n_classes)
        weights[known] = rng.dirichlet(np.ones(len(known))) / (counts[known] / len(self.labels))
        return weights

    def by_entropy(self, beta: float) -> Floats:
        """Weights of rows: rows with a large entropy become frequent."""
        entropy = -(self.probs * np.log(np.maximum(self.probs, 1e-300))).sum(axis=1)
        weights = np.empty(len(entropy))
        weights[np.argsort(entropy, kind="stable")] = np.exp(beta * np.linspace(-1, 1, len(entropy)))
        return weights / weights.mean()


def models(folder: Path | None) -> Iterator[Model]:
    """The models."""
    probs, labels = rs.datasets.load("cifar100")
    yield Model("cifar100", probs.astype(np.float64), labels, 2000)
    for name in ("cifar10", "news20"):
        logits, labels = rs.datasets.load(name)
        yield Model(name, rs.softmax(logits), labels, 1000)
    if folder is None:
        return
    with np.load(folder / "cifar100_test_scores.npz", allow_pickle=False) as arrays:
        own = arrays["wrn16_4_probs"].astype(np.float64)
        yield Model("cifar100 wrn16_4", own, arrays["labels"].astype(np.int64), 2000)
    with np.load(folder / "imagenet1000_on_tiny_imagenet_train_logits.npz", allow_pickle=False) as arrays:
        yield Model("imagenet", rs.softmax(arrays["logits"]), arrays["labels"].astype(np.int64), 2000)


def measured_on(
    rule: rs.Rule, probs: Floats, labels: Ints, weights: Floats, new: Floats | None = None
) -> tuple[float, ...]:
    """Coverage and mean size of new rows, as means with ``weights``; ``new`` are the weights the rule gets."""
    sets = rule.predict(probs, ALPHA) if new is None else rule.predict(probs, ALPHA, weights=new)
    shares = weights / weights.sum()
    return float(shares @ sets.covers(labels)), float(shares @ sets.sizes)


def label_shift(model: Model, weights_of: Drawn, seed: int) -> tuple[Results, dict[str, float]]:
    """Every method on one repetition of a label shift, and facts about the estimates."""
    rng = np.random.default_rng(seed)
    factors, probs, labels = weights_of(rng), model.probs, model.labels
    fit, old, pool, new = np.split(
        rng.permutation(len(labels)), np.cumsum([model.rows, model.rows, 3 * model.rows // 2])
    )
    own = factors[labels]
    drawn = rng.choice(pool, model.rows, p=own[pool] / own[pool].sum())
    shift = rs.shift.labels(probs[fit], labels[fit], probs[drawn])
    bbse = rs.LabelShift(shift.others)
    true, em = rs.LabelShift(factors), shift.condition
    conditions = {
        "no weights": None,
        "true": true,
        "EM": em,
        "BBSE": bbse,
        "PerLabel": rs.PerLabel(),
        "Pooled, no weights": rs.Pooled(rs.PerLabel()),
        "Pooled, true": rs.Pooled(true),
        "Pooled, EM": rs.Pooled(em),
    }
    ranks = {"RANK, no weights": None, "RANK, true": true, "RANK, EM": em}
    found = {}
    for method, group in (("thr", conditions), ("rank", ranks)):
        for name, condition in group.items():
            given = {} if condition is None else {"condition": condition}
            rule = rs.calibrate(probs[old], labels[old], method=method, **given)
            found[name] = measured_on(rule, probs[new], labels[new], own[new])
    shares = np.bincount(labels, minlength=model.n_classes) / len(labels)
    ratio = factors / (factors @ shares)
    facts = {
        "effective_rows": rs.shift.effective_rows(own[old]),
        "loss": float(np.abs(np.array(shift.factors) - ratio) @ shares) / 2,
        "loss_bbse": float(np.abs(np.array(shift.others) - ratio) @ shares) / 2,
        "estimated_loss": shift.coverage_loss,
        "doubts": float(bool(shift.doubts)),
    }
    return found, facts


def covariate_shift(model: Model, beta: float, n: int, seed: int) -> tuple[Results, dict[str, float]]:
    """Every method on one repetition of a covariate shift, with ``n`` calibration rows."""
    rng = np.random.default_rng(seed)
    own, probs, labels = model.by_entropy(beta), model.probs, model.labels
    cuts = np.cumsum([COVARIATE_ROWS, n, 2 * COVARIATE_ROWS])
    source, old, pool, new = np.split(rng.permutation(len(labels)), cuts)
    drawn = rng.choice(pool, COVARIATE_ROWS, p=own[pool] / own[pool].sum())
    shift = rs.shift.covariate(probs[source], probs[drawn])
    guessed, guessed_new = shift.weights(probs[old]), shift.weights(probs[new])
    found = {}
    for method, prefix in (("thr", ""), ("rank", "RANK, ")):
        plain = rs.calibrate(probs[old], labels[old], method=method)
        found[f"{prefix}no weights"] = measured_on(plain, probs[new], labels[new], own[new])
        for name, before, after in (("true", own[old], own[new]), ("logistic", guessed, guessed_new)):
            rule = rs.calibrate(probs[old], labels[old], method=method, weights=before)
            found[f"{prefix}{name}"] = measured_on(rule, probs[new], labels[new], own[new], after)
    found["true, without the new row"] = without_new_row(model, own, old, new)
    facts = {
        "effective_rows": rs.shift.effective_rows(own[old]),
        "loss": float(np.abs(guessed_new - own[new]).mean()) / 2,
        "estimated_loss": shift.coverage_loss,
        "auc": shift.auc,
    }
    return found, facts


def without_new_row(model: Model, weights: Floats, old: Ints, new: Ints) -> tuple[float, ...]:
    """A common fault, with THR: labels are kept if the weight of calibration rows beyond them is more than alpha W."""
    keys = -model.probs[old, model.labels[old]]
    order = np.argsort(keys)
    beyond = np.append(np.cumsum(weights[old][order][::-1])[::-1], 0.0)
    kept = beyond[np.searchsorted(keys[order], -model.probs[new])] > ALPHA * beyond[0]
    shares = weights[new] / weights[new].sum()
    covered = kept[np.arange(len(new)), model.labels[new]]
    return float(shares @ covered), float(shares @ kept.sum(axis=1))


def changed_outputs(model: Model, other: Floats, share: float, seed: int) -> tuple[Results, dict[str, float]]:
    """New rows of which a share has other outputs: P(y|x) changes, and no weights are right."""
    rng = np.random.default_rng(seed)
    fit, old, pool, new = np.split(rng.permutation(len(model.labels)), np.cumsum([2000, 2000, 2000]))
    changed = np.where((rng.random(len(model.labels)) < share)[:, np.newaxis], other, model.probs)
    probs, labels, equal = model.probs, model.labels, np.ones(len(new))
    by_label = rs.shift.labels(probs[fit], labels[fit], changed[pool])
    by_row = rs.shift.covariate(probs[fit], changed[pool])
    plain = rs.calibrate(probs[old], labels[old], method="thr")
    weighted = rs.calibrate(probs[old], labels[old], method="thr", weights=by_row.weights(probs[old]))
    factors = rs.calibrate(probs[old], labels[old], method="thr", condition=by_label.condition)
    per_label = rs.calibrate(probs[old], labels[old], method="thr", condition=rs.PerLabel())
    rows = changed[new]
    found = {
        "no weights": measured_on(plain, rows, labels[new], equal),
        "EM": measured_on(factors, rows, labels[new], equal),
        "logistic": measured_on(weighted, rows, labels[new], equal, by_row.weights(rows)),
        "PerLabel": measured_on(per_label, rows, labels[new], equal),
    }
    return found, {"doubts": float(bool(by_label.doubts)), "auc": by_row.auc}


def repeated(one: Callable[[int], tuple[Results, dict[str, float]]], repeats: int) -> dict[str, Any]:
    """Means and standard errors over repetitions."""
    results, facts = zip(*(one(seed) for seed in range(repeats)), strict=True)
    methods = {}
    for name in results[0]:
        values = np.array([result[name] for result in results])
        errors = values.std(axis=0, ddof=1) / np.sqrt(repeats)
        numbers = {"coverage": values[:, 0].mean(), "coverage_error": errors[0], "size": values[:, 1].mean()}
        methods[name] = {key: round(float(value), 5) for key, value in numbers.items()}
    told = {name: round(float(np.mean([fact[name] for fact in facts])), 5) for name in facts[0]}
    return {"repeats": repeats, **told, "methods": methods}


def label_table(cells: list[dict[str, Any]]) -> str:
    """Coverage and size of every method, a column for each model and shift."""
    heads = [f"{cell['model']}, {cell['shift']}" for cell in cells]
    lines = ["| | " + " | ".join(heads) + " |", "|---|" + "---|" * len(cells)]
    for name in cells[0]["methods"]:
        own = [cell["methods"][name] for cell in cells]
        lines.append(f"| {name} | " + " | ".join(f"{one['coverage']:.3f} / {one['size']:.2f}" for one in own) + " |")
    for name, words in (
        ("effective_rows", "effective rows"),
        ("loss", "E\\|ŵ − w\\|/2 of EM"),
        ("estimated_loss", "as estimated"),
        ("doubts", "warned"),
    ):
        lines.append(f"| *{words}* | " + " | ".join(_number(cell[name]) for cell in cells) + " |")
    return "\n".join(lines)


def covariate_table(cells: list[dict[str, Any]]) -> str:
    """Coverage and size of every method, a column for each model, number of rows and beta."""
    heads = [f"{cell['model']}, n {cell['rows']:,}, β {cell['beta']}" for cell in cells]
    lines = ["| | " + " | ".join(heads) + " |", "|---|" + "---|" * len(cells)]
    for name in cells[0]["methods"]:
        own = [cell["methods"][name] for cell in cells]
        lines.append(f"| {name} | " + " | ".join(f"{one['coverage']:.3f} / {one['size']:.2f}" for one in own) + " |")
    for name, words in (
        ("effective_rows", "effective rows"),
        ("loss", "E\\|ŵ − w\\|/2"),
        ("estimated_loss", "as estimated"),
        ("auc", "AUC"),
    ):
        lines.append(f"| *{words}* | " + " | ".join(_number(cell[name]) for cell in cells) + " |")
    return "\n".join(lines)


def changed_table(cells: list[dict[str, Any]]) -> str:
    """Coverage of every method where new rows have other outputs."""
    names = list(cells[0]["methods"])
    lines = ["| new rows | " + " | ".join(names) + " | warned | AUC |", "|---|" + "---|" * (len(names) + 2)]
    for cell in cells:
        own = " | ".join(f"{cell['methods'][name]['coverage']:.3f}" for name in names)
        lines.append(f"| {cell['change']} | {own} | {cell['doubts']:.0%} | {cell['auc']:.2f} |")
    return "\n".join(lines)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value > 2 else f"{value:.3f}"


def tables(numbers: Mapping[str, Any]) -> dict[str, str]:
    """The tables of the page by name."""
    many = [cell for cell in numbers["covariate"] if cell["rows"] != FEW]
    few = [cell for cell in numbers["covariate"] if cell["rows"] == FEW]
    return {
        "label shift": label_table(numbers["labels"]),
        "covariate shift": covariate_table(many),
        "few rows": covariate_table(few),
        "changed outputs": changed_table(numbers["changed"]),
    }


def refreshed(page: str, numbers: Mapping[str, Any]) -> str:
    """The page with the tables of these numbers."""
    for name, table in tables(numbers).items():
        pattern = rf"(<!-- {name} -->\n).*?(\n<!-- end -->)"
        page = re.sub(pattern, lambda found, table=table: f"{found[1]}{table}{found[2]}", page, flags=re.DOTALL)  # type: ignore[misc]
    return page


def measured(folder: Path | None, repeats: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every cell, with the list it belongs to."""
    for model in models(folder):
        for name, weights_of in (("hard", model.hard), ("dir", model.dirichlet)):
            cell = repeated(lambda seed, model=model, of=weights_of: label_shift(model, of, seed), repeats)  # type: ignore[misc]
            yield "labels", {"model": model.name, "shift": name, "rows": model.rows, **cell}
        if model.name not in ("cifar100", "news20"):
            continue
        for n, beta in [(COVARIATE_ROWS, beta) for beta in BETAS] + [(FEW, beta) for beta in BETAS]:
            many = 4 * repeats if n == FEW else repeats
            cell = repeated(lambda seed, m=model, b=beta, n=n: covariate_shift(m, b, n, seed), many)  # type: ignore[misc]
            yield "covariate", {"model": model.name, "rows": n, "beta": beta, **cell}
    model = next(models(None))
    for name, (share, other) in changes(model, folder).items():
        cell = repeated(lambda seed, o=other, s=share: changed_outputs(model, o, s, seed), repeats)  # type: ignore[misc]
        yield "changed", {"change": name, **cell}


def changes(model: Model, folder: Path | None) -> dict[str, tuple[float, Floats]]:
    """What happens to new rows: to which share of them, and their outputs then."""
    sharper = np.square(model.probs)
    rolled = np.where((model.labels < RENAMED)[:, np.newaxis], np.roll(model.probs, 1, axis=1), model.probs)
    found = {
        "all twice as sharp (temperature 0.5)": (1.0, sharper / sharper.sum(axis=1, keepdims=True)),
        f"{RENAMED} of {model.n_classes} classes take the outputs of the next one": (1.0, rolled),
    }
    if folder is None:
        return found
    with np.load(folder / "cifar100_test_scores.npz", allow_pickle=False) as arrays:
        wide, small = (arrays[f"{name}_probs"].astype(np.float64) for name in ("wrn16_4", "lenet5"))
    return {"30 % from a poor model (lenet5)": (0.3, small), "all from wrn16_4": (1.0, wide), **found}


def main() -> int:
    """Measure everything, print the tables, write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of score files, as for choosing")
    parser.add_argument("--repeats", type=int, default=60)
    parser.add_argument("--output", type=Path, default=DOCS / "shift.json")
    options = parser.parse_args()
    warnings.simplefilter("ignore", rs.RanksetWarning)
    command = f"python3 run.py shift-study --data <folder> --repeats {options.repeats}"
    numbers: dict[str, Any] = {"command": command, "labels": [], "covariate": [], "changed": []}
    start = time.perf_counter()
    for part, cell in measured(options.data, options.repeats):
        numbers[part].append(cell)
        told = {key: value for key, value in cell.items() if key != "methods"}
        print(f"{time.perf_counter() - start:.0f} s: {part} {told}", flush=True)
        options.output.write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    if PAGE.exists():
        PAGE.write_text(refreshed(PAGE.read_text(encoding="utf-8"), numbers), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
