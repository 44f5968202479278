"""The whole study: every row of the paper's Table 1, every method and level, as one file of numbers.

Tables, figures and docs/paper.md are drawn from that file and from nothing else.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset import progress
from rankset.core import coverage_law
from rankset.core.alpha import Alpha, exact_alpha, threshold_position
from rankset.datasets import DATASETS, load
from rankset.errors import RuleError, StorageError
from rankset.evaluation.resampling import halves
from rankset.inputs.matrix import Kind
from rankset.inputs.probabilities import softmax
from rankset.paper.class_column import ClassColumn
from rankset.paper.experiment import MEASURES, METHODS, Results, resample
from rankset.paper.printed import printed_rule
from rankset.rules.calibrate import calibrate
from rankset.sets import PredictionSets

ALPHAS = tuple(f"{percent / 100:g}" for percent in range(10, 31, 2))
"""The paper's levels."""

AS_PUBLISHED = {"marketing": "marketing²", "medicine": "medicine²", "relations": "relations²"}
"""Rows whose probabilities went through softmax once more in the published run, and what those are called here."""

DEFINITIONS = ("score", "printed", "class-column")
FEW_REPEATS = 20
GENERATOR = "confident errors"
GENERATED_ROWS = 2000
TEMPERED = ("cifar100", "news20", "carer", "marketing")
"""Rows whose confidence is scrambled, to see who depends on it."""

Ints = NDArray[np.int64]
Predict = Callable[[NDArray[Any]], PredictionSets]


@dataclass(frozen=True)
class Numbers:
    """Everything that was measured, as plain data."""

    data: Mapping[str, Any]

    @property
    def repeats(self) -> int:
        return int(self.data["repeats"])

    @property
    def alphas(self) -> tuple[str, ...]:
        return tuple(self.data["alphas"])

    @property
    def alpha(self) -> str:
        """The level of the tables and of Figure 2."""
        return str(self.data["alpha"])

    @property
    def rows(self) -> Mapping[str, Any]:
        return self.data["rows"]

    def mean(self, row: str, method: str, alpha: str, measure: str) -> float:
        """The average over repetitions."""
        return float(self.rows[row]["methods"][method][alpha][measure]["mean"])

    def sd(self, row: str, method: str, alpha: str, measure: str) -> float:
        """The standard deviation over repetitions."""
        return float(self.rows[row]["methods"][method][alpha][measure]["sd"])

    def z(self, row: str, method: str, alpha: str) -> float:
        """How many standard errors coverage lies from k / (n + 1), by the law of random halves without ties; NaN where
        every label is kept."""
        n, m = self.rows[row]["calibration"], self.rows[row]["test"]
        k = threshold_position(n, exact_alpha(alpha))
        if k > n:
            return math.nan
        mean, variance = k / (n + 1), coverage_law.beta_binomial_variance(m, k, n + 1 - k) / m**2
        return (self.mean(row, method, alpha, "coverage") - mean) / math.sqrt(variance / self.repeats)

    def save(self, path: Path) -> None:
        """Writes the numbers as JSON."""
        path.write_text(json.dumps(self.data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Numbers:
        """The numbers that ``save`` wrote."""
        try:
            return cls(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            raise StorageError.unreadable(path, str(error)) from None


def study(
    rows: Iterable[str] | None = None,
    *,
    alphas: Sequence[Alpha] = ALPHAS,
    alpha: Alpha | None = None,
    repeats: int = 100,
    seed: int = 0,
    show_progress: bool = True,
) -> Numbers:
    """The paper's experiment on the scores that come with the package (all ``DATASETS``, unless some are named).

    Tables, Figure 2 and what is done at one level only are for ``alpha``, by default the first of ``alphas``.
    """
    names = list(DATASETS if rows is None else rows)
    for name in names:
        if name not in DATASETS:
            raise RuleError.option("row", name, tuple(DATASETS))
    written = [_written(one) for one in alphas]
    asked = written[0] if alpha is None else _written(alpha)
    few = min(repeats, FEW_REPEATS)
    jobs = [(name, name, DATASETS[name].kind) for name in names]
    jobs += [(AS_PUBLISHED[name], name, "logits") for name in names if name in AS_PUBLISHED]
    measured = {
        title: _row(name, kind, written, repeats, seed)
        for title, name, kind in progress.bar(jobs, "experiment", show=show_progress, unit="rows")
    }
    definitions = {
        name: _definitions(name, asked, few, seed)
        for name in progress.bar([*names, GENERATOR], "definitions", show=show_progress, unit="rows")
    }
    return Numbers(
        {
            "repeats": repeats,
            "seed": seed,
            "alphas": written,
            "alpha": asked,
            "rows": measured,
            "few repeats": few,
            "definitions": definitions,
            "temperatures": {name: _temperatures(name, asked, few, seed) for name in names if name in TEMPERED},
        }
    )


def _row(name: str, kind: Kind, alphas: Sequence[str], repeats: int, seed: int) -> dict[str, Any]:
    values, labels = load(name)
    # The published tables apply softmax to some probabilities; done here, nobody is warned of it.
    probs = softmax(values) if kind == "logits" else values
    results = resample(probs, labels, alphas=alphas, repeats=repeats, seed=seed)
    rule = calibrate(values, labels, kind=DATASETS[name].kind)  # ranks are the same for every kind
    profile = rule.rank_profile(alphas[0])
    n = len(labels)
    return {
        "data": name,
        "title": DATASETS[name].title,
        "model": DATASETS[name].model,
        "questions": n,
        "classes": int(values.shape[1]),
        "calibration": n // 2,
        "test": n - n // 2,
        "accuracy": _rounded(float((values.argmax(axis=1) == labels).mean())),
        "ranks": profile.counts.tolist(),
        "r_star": {alpha: rule.rank_profile(alpha).r_star for alpha in alphas},
        "methods": {
            method: {
                alpha: {measure: _summary(results, method, alpha, measure) for measure in MEASURES} for alpha in alphas
            }
            for method in METHODS
        },
    }


def _summary(results: Results, method: str, alpha: str, measure: str) -> dict[str, float]:
    values = results.of(method, alpha, measure)
    return {"mean": _rounded(values.mean()), "sd": _rounded(values.std(ddof=1) if len(values) > 1 else 0.0)}


def _rounded(value: float) -> float:
    """Enough digits for any table, and the same text on every machine."""
    return float(f"{value:.6f}")


def _written(alpha: Alpha) -> str:
    return f"{float(exact_alpha(alpha)):g}"


def _temperatures(name: str, alpha: str, repeats: int, seed: int) -> dict[str, dict[str, float]]:
    """Mean sizes as the scores are, and with a random temperature for every row: the order within rows stays."""
    values, labels = load(name)
    logits = values if DATASETS[name].kind == "logits" else np.log(np.maximum(values, np.finfo(np.float32).tiny))
    powers = np.exp(np.random.default_rng(seed).normal(size=(len(labels), 1)))
    options: dict[str, Any] = {"alphas": [alpha], "repeats": repeats, "seed": seed, "kind": "logits"}
    plain, scrambled = (resample(matrix, labels, **options) for matrix in (logits, logits * powers))
    return {
        method: {
            "plain": _rounded(plain.mean(method, alpha, "size")),
            "scrambled": _rounded(scrambled.mean(method, alpha, "size")),
        }
        for method in METHODS
    }


def _definitions(name: str, alpha: str, repeats: int, seed: int) -> dict[str, Any]:
    """Coverage and size of the three definitions of RANK on the same halves."""
    measured: dict[str, list[tuple[float, float]]] = {definition: [] for definition in DEFINITIONS}
    for values, labels, kind, cal, test in _parts(name, repeats, seed):
        rules = _three_rules(values[cal], labels[cal], alpha, kind)
        for definition, predict in zip(DEFINITIONS, rules, strict=True):
            sets = predict(values[test])
            measured[definition].append((float(sets.covers(labels[test]).mean()), float(sets.sizes.mean())))
    return {
        definition: dict(zip(("coverage", "size"), map(_rounded, np.mean(pairs, axis=0).tolist()), strict=True))
        for definition, pairs in measured.items()
    }


def _parts(name: str, repeats: int, seed: int) -> Iterator[tuple[NDArray[Any], Ints, Kind, Ints, Ints]]:
    """Scores, labels, kind and halves: of a row, or of fresh rows from the generator each time."""
    if name == GENERATOR:
        rng = np.random.default_rng(seed)
        for cal, test in halves(GENERATED_ROWS, repeats, seed):
            yield *confident_errors(rng, GENERATED_ROWS), "probs", cal, test
    else:
        values, labels = load(name)
        for cal, test in halves(len(labels), repeats, seed):
            yield values, labels, DATASETS[name].kind, cal, test


def _three_rules(values: NDArray[Any], labels: Ints, alpha: str, kind: Kind) -> tuple[Predict, Predict, Predict]:
    rule = calibrate(values, labels, kind=kind)
    column = calibrate(values, labels, kind=kind, score=ClassColumn.fit(values, kind=kind))
    return (
        lambda new: rule.predict(new, alpha),
        printed_rule(values, labels, alpha, kind=kind).predict,
        lambda new: column.predict(new, alpha),
    )


def confident_errors(rng: np.random.Generator, n: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Rows that break the printed rule: 80 % right with a top probability of 0.5 to 0.8; 20 % wrong with 0.9 to 0.99,
    their label second."""
    wrong = rng.random(n) < 0.2
    top = np.where(wrong, rng.uniform(0.9, 0.99, n), rng.uniform(0.5, 0.8, n))
    probs = np.column_stack((top, (1 - top) * 0.7, (1 - top) * 0.3))
    return probs, wrong.astype(np.int64)
