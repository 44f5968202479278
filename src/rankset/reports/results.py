"""``Study``: all numbers that a report shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Study:
    """All results that a report page shows, returned by ``study_scores``, ``study_rules`` and ``study_stream``.

    Pass it to ``page`` to get an HTML page.

    Attributes
    ----------
    data
        A dictionary that can be written as JSON. ``data["metrics"]`` describes the metrics. ``data["scores"]`` has one
        entry per score, with the values of all metrics for every alpha.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> study = rs.reports.study_scores(probs[:130], labels[:130], probs[130:], labels[130:])
    >>> [score["name"] for score in study.data["scores"]][:2]
    ['Rank()', 'Thr()']
    """

    data: Mapping[str, Any]
