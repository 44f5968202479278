"""What a report shows, as plain numbers at every level: worked out once, moved by a slider afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset import beta, inputs, level, scores
from rankset.choosing import FIXED
from rankset.conformal import Rule, calibrate
from rankset.errors import InputError, RuleError
from rankset.inputs import Kind
from rankset.level import Alpha
from rankset.metrics import EMPTY_APART, sscv
from rankset.names import short
from rankset.scores import Score

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ALPHAS = tuple(f"{percent / 100:g}" for percent in range(1, 51))
AMBIGUOUS = 100
MOST_LABELS = 25
"""Labels of an ambiguous row that are told, most usual first."""
MOST_CLASSES = 2000
CONFIDENCE = 0.9


@dataclass(frozen=True)
class Study:
    """Everything a page shows, ready for JSON."""

    data: Mapping[str, Any]


def studied(
    probs: ArrayLike,
    labels: ArrayLike,
    new_probs: ArrayLike,
    new_labels: ArrayLike,
    *,
    candidates: Iterable[Score] = FIXED,
    kind: Kind = "probs",
    classes: Iterable[object] | None = None,
    alpha: Alpha = 0.1,
    seed: int = 0,
) -> Study:
    """Every score calibrated on the first rows and tested on the others, at fifty levels."""
    names = None if classes is None else list(classes)
    rules = [calibrate(probs, labels, score=score, kind=kind, classes=names, seed=seed) for score in candidates]
    return of_rules(rules, new_probs, new_labels, alpha=alpha)


def of_rules(rules: Sequence[Rule], probs: ArrayLike, labels: ArrayLike, *, alpha: Alpha = 0.1) -> Study:
    """The same for rules that are calibrated already, all of them for one vocabulary."""
    first = rules[0]
    for rule in rules[1:]:
        if rule.recipe.classes != first.recipe.classes:
            raise RuleError.different("classes", list(first.classes), list(rule.classes))
    n = len(first.source(probs).values)
    if n == 0:
        raise InputError.no_rows_to_evaluate()
    columns = inputs.label_codes(labels, first.recipe.classes, n)
    told = [_score(rule, rule.p_values(probs), columns) for rule in rules]
    p_values = rules[0].p_values(probs)
    return Study(
        {
            "rows": n,
            "calibration": first.n,
            "alphas": [float(one) for one in ALPHAS],
            "alpha": float(level.exact(alpha)),
            "confidence": CONFIDENCE,
            "classes": [short(name, 60) for name in first.classes.tolist()],
            "counts": np.bincount(columns, minlength=len(first.classes)).tolist(),
            "scores": told,
            "ambiguous": _ambiguous(p_values, columns),
            "needed": [int(level.rows_needed(level.exact(one))) for one in ALPHAS],
        }
    )


def _score(rule: Rule, p_values: Floats, columns: Ints) -> dict[str, Any]:
    """One score at every level."""
    n, n_columns = p_values.shape
    true = p_values[np.arange(n), columns]
    per_class = np.bincount(columns, minlength=n_columns)
    told: dict[str, Any] = {
        "name": _name(rule),
        "coverage": [],
        "interval": [],
        "size": [],
        "sscv": [],
        "sscv_apart": [],
    }
    told |= {"histogram": [], "empty": [], "singletons": [], "class_coverage": [], "class_size": [], "band": []}
    for alpha in ALPHAS:
        exact = level.exact(alpha)
        covered, sizes = true > float(exact), (p_values > float(exact)).sum(axis=1)
        k = level.position(rule.n, exact)
        told["coverage"].append(_rounded(covered.mean()))
        told["interval"].append([_rounded(end) for end in beta.binomial_interval(int(covered.sum()), n, CONFIDENCE)])
        told["size"].append(_rounded(sizes.mean()))
        told["sscv"].append(_rounded(sscv(covered, sizes, exact)))
        told["sscv_apart"].append(_rounded(sscv(covered, sizes, exact, strata=EMPTY_APART)))
        told["histogram"].append(np.bincount(sizes).tolist())
        told["empty"].append(_rounded((sizes == 0).mean()))
        told["singletons"].append(_rounded((sizes == 1).mean()))
        told["band"].append([_rounded(end) for end in beta.luck(n, k, rule.n, CONFIDENCE)])
        if n_columns <= MOST_CLASSES:
            present = np.maximum(per_class, 1)
            hits = np.bincount(columns, weights=covered, minlength=n_columns) / present
            widths = np.bincount(columns, weights=sizes, minlength=n_columns) / present
            told["class_coverage"].append([_rounded(value, 4) for value in hits])
            told["class_size"].append([_rounded(value, 3) for value in widths])
    if scores.orders_by_rank(rule.score):
        profile = rule.rank_profile(ALPHAS[0])
        told["ranks"] = profile.counts.tolist()
        told["r_star"] = [rule.rank_profile(alpha).r_star for alpha in ALPHAS]
    return told


def _name(rule: Rule) -> str:
    return short(repr(rule.score), 80)


def _ambiguous(p_values: Floats, columns: Ints) -> list[dict[str, Any]]:
    """The rows with the most labels that look usual, and those labels."""
    crowd = (p_values > 0.1).sum(axis=1) + p_values.sum(axis=1) / p_values.shape[1]
    told = []
    for row in np.argsort(-crowd, kind="stable")[:AMBIGUOUS].tolist():
        order = np.argsort(-p_values[row], kind="stable")[:MOST_LABELS]
        usual = [[int(column), _rounded(p_values[row, column], 4)] for column in order.tolist()]
        told.append({"row": row, "label": int(columns[row]), "labels": usual})
    return told


def _rounded(value: float, digits: int = 5) -> float:
    return round(float(value), digits)
