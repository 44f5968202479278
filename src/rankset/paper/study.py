"""``study``: the experiment of the paper, for all data sets, methods and values of alpha.

The tables, the figures and docs/paper.md are made from its result.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from rankset import progress
from rankset.core.alpha import Alpha, exact_alpha
from rankset.datasets import DATASETS, load
from rankset.errors import RuleError
from rankset.evaluation.calibrate import calibrate
from rankset.inputs.matrix import Kind
from rankset.inputs.probabilities import softmax
from rankset.paper.definitions import GENERATOR, measure_definitions
from rankset.paper.experiment import MEASURES, METHODS, Results, resample
from rankset.paper.numbers import Numbers, round_number

ALPHAS = tuple(f"{percent / 100:g}" for percent in range(10, 31, 2))
"""The values of alpha in the paper: 0.1, 0.12, …, 0.3."""

AS_PUBLISHED = {"marketing": "marketing²", "medicine": "medicine²", "relations": "relations²"}
"""Data sets whose probabilities went through softmax once more in the published run, and the names of these rows."""

FEW_REPEATS = 20
"""Largest number of halves for definitions and temperatures."""
TEMPERED = ("cifar100", "news20", "carer", "marketing")
"""Data sets that are also measured with a random temperature for every row."""


def study(
    rows: Iterable[str] | None = None,
    *,
    alphas: Sequence[Alpha] = ALPHAS,
    alpha: Alpha | None = None,
    repeats: int = 100,
    seed: int = 0,
    show_progress: bool = True,
) -> Numbers:
    """Run the experiment of the paper on the data sets of ``rankset.datasets``.

    Parameters
    ----------
    rows
        Names of data sets. Each data set is a row of Table 1. By default all data sets.
    alphas
        Tolerated miss rates.
    alpha
        The alpha of the tables, of Figure 2 and of the additional measurements. By default the first of ``alphas``.
    repeats
        Number of random splits. In each split, one half of the rows is used for calibration, the other half for
        testing.
    seed
        Seed of the random splits and of randomised scores.
    show_progress
        Whether to show progress bars on stderr.

    Returns
    -------
    Numbers
        All numbers that are needed for the tables and figures.

    Raises
    ------
    RuleError
        If there is no data set with this name.

    Examples
    --------
    >>> import rankset as rs
    >>> numbers = rs.paper.study(["marketing"], alphas=[0.1], repeats=2, show_progress=False)
    >>> numbers.mean("marketing", "THR", "0.1", "size") < numbers.mean("marketing", "RANK", "0.1", "size")
    True
    """
    names = list(DATASETS if rows is None else rows)
    for name in names:
        if name not in DATASETS:
            raise RuleError.option("row", name, tuple(DATASETS))
    levels = [_text(one) for one in alphas]
    level = levels[0] if alpha is None else _text(alpha)
    few = min(repeats, FEW_REPEATS)
    jobs = [(name, name, DATASETS[name].kind) for name in names]
    jobs += [(AS_PUBLISHED[name], name, "logits") for name in names if name in AS_PUBLISHED]
    measured = {
        title: _measure_row(name, kind, levels, repeats, seed)
        for title, name, kind in progress.bar(jobs, "experiment", show=show_progress, unit="rows")
    }
    definitions = {
        name: measure_definitions(name, level, few, seed)
        for name in progress.bar([*names, GENERATOR], "definitions", show=show_progress, unit="rows")
    }
    temperatures = {name: _measure_temperatures(name, level, few, seed) for name in names if name in TEMPERED}
    head = {"repeats": repeats, "seed": seed, "alphas": levels, "alpha": level, "rows": measured}
    return Numbers({**head, "few repeats": few, "definitions": definitions, "temperatures": temperatures})


def _measure_row(name: str, kind: Kind, alphas: Sequence[str], repeats: int, seed: int) -> dict[str, Any]:
    """What is known of a data set, and its metrics by method and level."""
    values, labels = load(name)
    # The published tables apply softmax to some probabilities. With softmax applied here, nothing warns of it.
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
        "accuracy": round_number(float((values.argmax(axis=1) == labels).mean())),
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
    """Mean and standard deviation over the halves."""
    values = results.of(method, alpha, measure)
    return {"mean": round_number(values.mean()), "sd": round_number(values.std(ddof=1) if len(values) > 1 else 0.0)}


def _text(alpha: Alpha) -> str:
    """A level as a text, such as "0.1"."""
    return f"{float(exact_alpha(alpha)):g}"


def _measure_temperatures(name: str, alpha: str, repeats: int, seed: int) -> dict[str, dict[str, float]]:
    """Mean sizes with the outputs as they are, and with a random temperature for every row, which keeps their order."""
    values, labels = load(name)
    logits = values if DATASETS[name].kind == "logits" else np.log(np.maximum(values, np.finfo(np.float32).tiny))
    powers = np.exp(np.random.default_rng(seed).normal(size=(len(labels), 1)))
    options: dict[str, Any] = {"alphas": [alpha], "repeats": repeats, "seed": seed, "kind": "logits"}
    plain, scrambled = (resample(matrix, labels, **options) for matrix in (logits, logits * powers))
    return {
        method: {
            "plain": round_number(plain.mean(method, alpha, "size")),
            "scrambled": round_number(scrambled.mean(method, alpha, "size")),
        }
        for method in METHODS
    }
