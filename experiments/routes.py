"""Coverage through whole routes, from rows to sets of new rows: python3 run.py routes.

Every repetition draws fresh rows, fits a model, splits, tunes and calibrates as users do, and asks how many of 200 new
rows have their label in their set. Writes docs/understand/routes.json and the tables of docs/understand/routes.md.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from weak_models import Frequencies, blobs

import rankset as rs
from rankset.core.alpha import exact_alpha, threshold_positions

DOCS = Path(__file__).parents[1] / "docs" / "understand"
ALPHA = 0.1
NEW_ROWS = 200
CHUNK = 100
"""Repetitions that one process does at a time."""

MODELS: dict[str, tuple[Any, dict[str, list[Any]]]] = {
    "class frequencies": (Frequencies(), {"noise": [0.001, 0.01, 0.1]}),
    "logistic, C=0.01": (LogisticRegression(C=0.01, max_iter=500), {"C": [0.01, 1.0]}),
    "naive Bayes": (GaussianNB(), {"var_smoothing": [1e-9, 1e-3, 0.1]}),
    "logistic on digits, C=1e-4": (LogisticRegression(C=1e-4, max_iter=500), {"C": [1e-4, 1e-2]}),
}
SCORES = [rs.Rank(), rs.Thr(), rs.Aps(), rs.Margin()]

Route = Callable[[Any, dict[str, list[Any]], dict[str, Any]], Any]
"""A classifier from a model, values of its parameters to try, and what every classifier is told."""

ROUTES: dict[str, Route] = {
    "default": lambda model, _grid, told: rs.ConformalClassifier(model, random_state=told["random_state"]),
    "classes=": lambda model, _grid, told: rs.ConformalClassifier(model, **told),
    "Holdout(classes=)": lambda model, _grid, told: rs.ConformalClassifier(
        model, split=rs.Holdout(classes=told["classes"]), **told
    ),
    "stratify, PerLabel": lambda model, _grid, told: rs.ConformalClassifier(
        model, split=rs.Holdout(stratify=True), condition=rs.PerLabel(), **told
    ),
    "search inside": lambda model, grid, told: rs.ConformalClassifier(GridSearchCV(model, grid, cv=2), **told),
    "Choice": lambda model, _grid, told: rs.ConformalClassifier(
        model, method=rs.Choice(SCORES, alpha=ALPHA), split=rs.Holdout(0.4), **told
    ),
    "folds": lambda model, _grid, told: rs.ConformalClassifier(model, split=rs.CrossConformal(5), **told),
    "folds, PerLabel": lambda model, _grid, told: rs.ConformalClassifier(
        model, split=rs.CrossConformal(5), condition=rs.PerLabel(), **told
    ),
    "stratify (no proof)": lambda model, _grid, told: rs.ConformalClassifier(
        model, split=rs.Holdout(stratify=True), **told
    ),
    "search around (no proof)": lambda model, _grid, told: GridSearchCV(
        rs.ConformalClassifier(model, **told), {"method": SCORES}, scoring=rs.SetSize(ALPHA), cv=3
    ),
}
NO_PROOF = tuple(name for name in ROUTES if "no proof" in name)


@dataclass(frozen=True)
class Cell:
    """A route, a model, how many classes and rows."""

    route: str
    model: str
    n_classes: int
    rows: int

    def one(self, seed: int) -> tuple[float, float, float]:
        """Coverage of new rows in one repetition, what is promised, and the mean size."""
        features, labels = self._data(seed)
        old, new = slice(0, self.rows), slice(self.rows, self.rows + NEW_ROWS)
        model, grid = MODELS[self.model]
        if self.route == "auto":
            half = self.rows // 2
            trained = clone(model).fit(features[:half], labels[:half])
            probs = np.zeros((len(labels), self.n_classes))
            probs[:, trained.classes_] = trained.predict_proba(features)
            rule: Any = rs.auto(probs[half : self.rows], labels[half : self.rows], ALPHA, seed=seed)
            sets, promised = rule.predict(probs[new], ALPHA), _promised(rule)
        else:
            told = {"classes": range(self.n_classes), "random_state": seed}
            fitted = ROUTES[self.route](clone(model), grid, told).fit(features[old], labels[old])
            fitted = getattr(fitted, "best_estimator_", fitted)
            sets, promised = fitted.predict_set(features[new], ALPHA), _promised(fitted.rule_)
            known = np.isin(labels[new], fitted.classes_)
            promised -= float((~known).mean())
            labels = np.where(np.isin(labels, fitted.classes_), labels, fitted.classes_[0])
            return float((sets.covers(labels[new]) & known).mean()), promised, float(sets.sizes.mean())
        return float(sets.covers(labels[new]).mean()), promised, float(sets.sizes.mean())

    def _data(self, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
        rng = np.random.default_rng([seed, self.rows, self.n_classes])
        if "digits" not in self.model:
            return blobs(rng, self.rows + NEW_ROWS, self.n_classes)
        features, labels = load_digits(return_X_y=True)
        picked = rng.permutation(len(labels))[: self.rows + NEW_ROWS]
        return features[picked], labels[picked]


def _promised(rule: Any) -> float:
    """What is proven of coverage: k / (n + 1) on average over groups, or the guarantee of folds."""
    if isinstance(rule, rs.CrossRule):
        return rule.guarantee(ALPHA)
    counts = rule.calibration.counts
    return float(np.mean(threshold_positions(counts, exact_alpha(ALPHA)) / (counts + 1)))


FREQUENCIES, LOGISTIC, BAYES, DIGITS = MODELS
CELLS = [  # routes, models, numbers of classes, numbers of rows
    (("default",), (FREQUENCIES, BAYES), (2, 10, 20), (40, 400, 3200)),
    (("default", "stratify (no proof)"), (LOGISTIC,), (2, 10, 20), (400,)),
    (("default", "stratify (no proof)"), (DIGITS,), (10,), (400,)),
    (("classes=",), (FREQUENCIES, BAYES), (2, 10, 20), (40,)),
    (("Holdout(classes=)",), (FREQUENCIES, BAYES), (10, 20), (40, 400)),
    (("stratify, PerLabel",), (FREQUENCIES, BAYES), (2, 10), (400, 3200)),
    (("search inside", "folds"), (BAYES,), (2, 10, 20), (40, 400)),
    (("search inside", "folds"), (FREQUENCIES,), (10,), (40, 400)),
    (("folds, PerLabel",), (FREQUENCIES, BAYES), (2, 10), (400,)),
    (("Choice",), (FREQUENCIES, BAYES), (2, 10, 20), (400,)),
    (("Choice",), (FREQUENCIES, BAYES), (10,), (80,)),
    (("auto",), (FREQUENCIES, BAYES), (2, 10, 20), (800,)),
    (("auto",), (FREQUENCIES, BAYES), (10,), (3200,)),
    (("stratify (no proof)",), (FREQUENCIES,), (10, 20), (80, 400, 3200)),
    (("search around (no proof)",), (FREQUENCIES, BAYES), (10,), (80,)),
]


def cells() -> list[Cell]:
    """Every cell of the table, a route's together."""
    found = [
        Cell(route, model, n_classes, rows)
        for routes, models, classes, sizes in CELLS
        for route in routes
        for model in models
        for n_classes in classes
        for rows in sizes
    ]
    return sorted(found, key=lambda cell: [*ROUTES, "auto"].index(cell.route))


def repeated(cell: Cell, seeds: range) -> list[tuple[float, float, float]]:
    """Some repetitions of a cell."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sklearn.set_config(assume_finite=True, skip_parameter_validation=True)
        return [cell.one(seed) for seed in seeds]


def summary(cell: Cell, found: list[tuple[float, float, float]]) -> dict[str, Any]:
    """The means of a cell, and how far coverage lies above the promise, in standard errors."""
    covered, promised, sizes = np.array(found).T
    gaps = covered - promised
    error = float(gaps.std(ddof=1) / math.sqrt(len(gaps)))
    return {
        "route": cell.route,
        "model": cell.model,
        "K": cell.n_classes,
        "rows": cell.rows,
        "coverage": float(covered.mean()),
        "promised": float(promised.mean()),
        "z": float(gaps.mean() / error) if error else 0.0,
        "size": float(sizes.mean()),
        "repetitions": len(gaps),
    }


def table(told: list[dict[str, Any]]) -> str:
    """The cells as text."""
    head = f"{'route':<25}{'model':<28}{'K':>3}{'rows':>6}{'coverage':>10}{'promised':>10}{'z':>8}{'size':>8}"
    lines = [
        f"{one['route']:<25}{one['model']:<28}{one['K']:>3}{one['rows']:>6}{one['coverage']:>10.4f}"
        f"{one['promised']:>10.4f}{one['z']:>+8.1f}{one['size']:>8.2f}"
        for one in told
    ]
    return "\n".join([head, *lines])


def main() -> int:
    """Measures all cells and writes the page's tables; 1 if a proven one falls short."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--repeats", type=int, default=2000)
    options.add_argument("--only", default="", help="routes that contain this text")
    options.add_argument("--jobs", type=int, default=None)
    options.add_argument("--resume", action="store_true", help="keep the cells that docs/understand/routes.json has")
    options.add_argument("--dry", action="store_true", help="print, write nothing")
    asked = options.parse_args()
    wanted, started = [cell for cell in cells() if asked.only in cell.route], time.monotonic()
    known = {place(one): one for one in (saved() if asked.resume else [])}
    with ProcessPoolExecutor(asked.jobs) as pool:
        chunks = [range(start, min(start + CHUNK, asked.repeats)) for start in range(0, asked.repeats, CHUNK)]
        jobs = {
            cell: [pool.submit(repeated, cell, chunk) for chunk in chunks]
            for cell in wanted
            if astuple(cell) not in known
        }
        for cell, parts in jobs.items():
            one = known[astuple(cell)] = summary(cell, [one for part in parts for one in part.result()])
            print(table([one]).splitlines()[1], f"{time.monotonic() - started:8.0f} s", flush=True)
            if not asked.dry:
                save([known[astuple(cell)] for cell in cells() if astuple(cell) in known])
    told = [known[astuple(cell)] for cell in wanted]
    short = [one for one in told if one["route"] not in NO_PROOF and one["z"] < -3]
    print(f"{len(told)} cells, {len(short)} of the proven ones more than 3 standard errors below what is promised")
    return int(bool(short))


def place(one: dict[str, Any]) -> tuple[Any, ...]:
    """The cell that a summary is of."""
    return one["route"], one["model"], one["K"], one["rows"]


def saved() -> list[dict[str, Any]]:
    """The summaries in docs/understand/routes.json."""
    file = DOCS / "routes.json"
    return json.loads(file.read_text(encoding="utf-8"))["cells"] if file.exists() else []


def save(told: list[dict[str, Any]]) -> None:
    """Writes the summaries, and the tables of the page."""
    (DOCS / "routes.json").write_text(json.dumps({"alpha": ALPHA, "cells": told}, indent=1) + "\n")
    page = (DOCS / "routes.md").read_text(encoding="utf-8")
    (DOCS / "routes.md").write_text(written(page, told), encoding="utf-8")


def written(page: str, told: list[dict[str, Any]]) -> str:
    """The page with its two tables."""
    for name, some in (
        ("proven", [one for one in told if one["route"] not in NO_PROOF]),
        ("no proof", [one for one in told if one["route"] in NO_PROOF]),
    ):
        mark = re.compile(rf"(<!-- {name} -->\n+```text\n).*?((?<=\n)```)", flags=re.DOTALL)
        page = mark.sub(lambda found, some=some: f"{found[1]}{table(some)}\n{found[2]}", page)  # type: ignore[misc]
    return page


if __name__ == "__main__":
    sys.exit(main())
