"""``study``: the experiment of the paper, for all data sets or own outputs, methods and values of alpha.

The tables, the figures and docs/understand/paper.md are made from its result.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from rankset import progress
from rankset.core.alpha import Alpha, exact_alpha
from rankset.core.alpha_argument import takes_alpha
from rankset.evaluation.calibrate import calibrate
from rankset.inputs.matrix import Kind
from rankset.inputs.probabilities import softmax
from rankset.paper.definitions import GENERATOR, measure_definitions
from rankset.paper.experiment import MEASURES, METHODS, Results, resample
from rankset.paper.numbers import Numbers, round_number
from rankset.paper.outputs import AS_PUBLISHED, Outputs, outputs_of_rows

ALPHAS = tuple(f"{percent / 100:g}" for percent in range(10, 31, 2))
"""The values of alpha in the paper: 0.1, 0.12, …, 0.3."""

FEW_REPEATS = 20
"""Largest number of halves for definitions and temperatures."""
TEMPERED = ("cifar100", "news20", "carer", "marketing")
"""Data sets that are also measured with a random temperature for every row."""


@takes_alpha
def study(
    rows: Iterable[str | Outputs] | None = None,
    *,
    alphas: Sequence[Alpha] = ALPHAS,
    alpha: Alpha | None = None,
    repeats: int = 100,
    seed: int = 0,
    show_progress: bool = True,
) -> Numbers:
    """Run the experiment of the paper on its data sets (``rankset.datasets``), or on the outputs of your own models.

    Parameters
    ----------
    rows
        Names of data sets, and your own outputs (``Outputs.of(name, probs, labels)``). Each is a row of Table 1. By
        default all data sets.
    alphas
        Allowed error rates.
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
    KindError
        If two rows have the same name.

    Examples
    --------
    >>> import rankset as rs
    >>> numbers = rs.paper.study(["marketing"], alphas=[0.1], repeats=2, show_progress=False)
    >>> numbers.mean("marketing", "THR", "0.1", "size") < numbers.mean("marketing", "RANK", "0.1", "size")
    True
    >>> probs, labels = rs.datasets.load("marketing")
    >>> mine = rs.paper.Outputs.of("mine", probs[:200], labels[:200])
    >>> list(rs.paper.study([mine], alphas=[0.1], repeats=2, show_progress=False).rows)
    ['mine']
    """
    outputs = outputs_of_rows(rows)
    levels = [_text(one) for one in alphas]
    level = levels[0] if alpha is None else _text(alpha)
    few = min(repeats, FEW_REPEATS)
    jobs = [(one.name, one, one.kind) for one in outputs]
    jobs += [(AS_PUBLISHED[one.name], one, "logits") for one in outputs if one.name in AS_PUBLISHED]
    measured = {
        row: _measure_row(one, kind, levels, repeats, seed)
        for row, one, kind in progress.bar(jobs, "experiment", show=show_progress, unit="rows")
    }
    generated = [] if all(one.own for one in outputs) else [None]
    definitions = {
        GENERATOR if one is None else one.name: measure_definitions(one, level, few, seed)
        for one in progress.bar([*outputs, *generated], "definitions", show=show_progress, unit="rows")
    }
    tempered = [one for one in outputs if one.own or one.name in TEMPERED]
    temperatures = {one.name: _measure_temperatures(one, level, few, seed) for one in tempered}
    head = {"repeats": repeats, "seed": seed, "alphas": levels, "alpha": level, "rows": measured}
    return Numbers({**head, "few repeats": few, "definitions": definitions, "temperatures": temperatures})


def _measure_row(outputs: Outputs, kind: Kind, alphas: Sequence[str], repeats: int, seed: int) -> dict[str, Any]:
    """What is known of a data set, and its metrics by method and level."""
    values, labels = outputs.values, outputs.labels
    # The published tables apply softmax to some probabilities. With softmax applied here, nothing warns of it.
    probs = softmax(values) if kind == "logits" else values
    results = resample(probs, labels, alphas=alphas, repeats=repeats, seed=seed)
    rule = calibrate(values, labels, kind=outputs.kind)  # ranks are the same for every kind
    profile = rule.rank_profile(alphas[0])
    n = len(labels)
    return {
        "data": outputs.name,
        "title": outputs.title,
        "model": outputs.model,
        **({"own": True} if outputs.own else {}),
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


def _measure_temperatures(outputs: Outputs, alpha: str, repeats: int, seed: int) -> dict[str, dict[str, float]]:
    """Mean sizes with the outputs as they are, and with a random temperature for every row, which keeps their order."""
    values, labels = outputs.values, outputs.labels
    logits = values if outputs.kind == "logits" else np.log(np.maximum(values, np.finfo(np.float32).tiny))
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
