"""The graph of every score: which function makes its keys, and which its transform.

To add a score, add its type to ``KEYS``, or to ``INNER_KEYS`` if it uses another score, and to ``TRANSFORMS`` if it has
a ``transform`` of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rankset.errors import ScoreError
from rankset.graphs import class_keys, fitted, keys, several_labels, transforms
from rankset.graphs.cells import GraphCells
from rankset.graphs.keys import Keys
from rankset.graphs.nodes import Nodes, Value
from rankset.scores import (
    BUILT_IN,
    Aps,
    Average,
    Chosen,
    ClassOffsets,
    FuzzyClasses,
    Margin,
    Marginals,
    Rank,
    RankLimited,
    Raps,
    Recalibrated,
    Saps,
    Score,
    Seen,
    Share,
    Temperature,
    Tempered,
    Thr,
    TopK,
    traits,
)

KEYS: Mapping[type[Any], Callable[[Any, GraphCells], Keys]] = {
    Rank: keys.rank,
    TopK: keys.top_k,
    Thr: keys.thr,
    Temperature: lambda _score, cells: keys.thr(Thr(), cells),
    Recalibrated: lambda _score, cells: keys.thr(Thr(), cells),
    Share: keys.share,
    Margin: keys.margin,
    Aps: keys.aps,
    Raps: keys.raps,
    Saps: keys.saps,
    Average: keys.average,
}
"""Scores on their own."""
INNER_KEYS: Mapping[type[Any], Callable[[Any, GraphCells, Keys], Keys]] = {
    Chosen: lambda _score, _cells, inner: inner,
    Tempered: lambda _score, _cells, inner: inner,
    Marginals: lambda _score, _cells, inner: inner,
    Seen: class_keys.seen,
    RankLimited: class_keys.rank_limited,
    ClassOffsets: class_keys.class_offsets,
    FuzzyClasses: class_keys.fuzzy_classes,
}
"""Scores that use another score, from its keys."""
TRANSFORMS: Mapping[type[Any], Callable[[Any, Nodes, Value, int], Value]] = {
    Seen: transforms.seen,
    Tempered: transforms.tempered,
    Temperature: fitted.temperature,
    Recalibrated: fitted.recalibrated,
    Marginals: several_labels.marginals,
}
"""Scores with a transform of their own; that of an inner score follows it."""


def check_score(score: Score) -> None:
    """Raise an error for a score that has no graph: one that draws, or one that is not part of rankset."""
    for one in scores_inside(score):
        if type(one) not in BUILT_IN:
            raise ScoreError.no_graph(one)
        if traits(one).uses_noise:
            raise ScoreError.draws_in_graph(one)


def transformed(score: Score, nodes: Nodes, rows: Value, n_columns: int) -> Value:
    """Return rows after the transform of the score and of all scores inside it."""
    for one in scores_inside(score):
        if type(one) in TRANSFORMS:
            rows = TRANSFORMS[type(one)](one, nodes, rows, n_columns)
    return rows


def keys_of(score: Score, cells: GraphCells) -> Keys:
    """Return the keys of all cells."""
    if type(score) in KEYS:
        return KEYS[type(score)](score, cells)
    inner = keys_of(score.score, cells)  # type: ignore[attr-defined]
    return INNER_KEYS[type(score)](score, cells, inner)


def scores_inside(score: Score) -> list[Score]:
    """Return the score, the score that it uses, and so on."""
    found = [score]
    while type(found[-1]) in BUILT_IN and hasattr(found[-1], "score"):
        found.append(found[-1].score)
    return found
