"""The data frames of an ``Evaluation``: its metrics, classes or groups, one row for each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rankset.errors import RuleError
from rankset.evaluation.metrics import METRICS
from rankset.evaluation.shares import Share
from rankset.inputs.frames import ARRAY

if TYPE_CHECKING:
    from rankset.evaluation.evaluation import Evaluation

TABLES = ("metrics", "classes", "groups")
"""What a data frame can be about."""


def evaluation_frame(evaluation: Evaluation, backend: str | None, of: str) -> Any:  # noqa: ANN401
    """Return the data frame of one of ``TABLES``."""
    if of not in TABLES:
        raise RuleError.option("of", of, TABLES)
    if of == "metrics":
        return ARRAY.filled(_metric_columns(evaluation), backend)
    return ARRAY.filled(_share_columns(getattr(evaluation, of), evaluation.confidence), backend)


def _metric_columns(evaluation: Evaluation) -> dict[Any, Any]:
    metrics = [METRICS[name] for name in evaluation.values]
    limits = [evaluation.ranges.get(one.name, (math.nan, math.nan)) for one in metrics]
    return {
        "section": [one.section for one in metrics],
        "metric": [one.name for one in metrics],
        "value": list(evaluation.values.values()),
        "low": [low for low, _ in limits],
        "high": [high for _, high in limits],
        "explanation": [one.explanation for one in metrics],
    }


def _share_columns(shares: Sequence[Share], confidence: float) -> dict[Any, Any]:
    ends = [one.interval(confidence) for one in shares]
    columns = {name: [getattr(one, name) for one in shares] for name in ("name", "n", "coverage", "mean_size")}
    return columns | {"low": [low for low, _ in ends], "high": [high for _, high in ends]}
