"""Short names of scores for tables and pictures: RANK, RAPS(0.2, 2), TieBreak(APS)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any

import numpy as np

from rankset.scores import Aps, Chosen, Rank, Raps, Saps, Score, Thr

ABBREVIATIONS = (Rank, Thr, Aps, Raps, Saps)
"""Scores whose names are abbreviations, written in capital letters."""
LONGEST = 60
"""Longest text of a score that is used to distinguish it from another score with the same short name."""


def short_names(scores: Sequence[Score]) -> tuple[str, ...]:
    """Return a short name for every score, all of them different.

    >>> short_names([Rank(), Raps(penalty=0.2, free_ranks=2), Aps(randomized=False), Aps(), Aps()])
    ('RANK', 'RAPS(0.2, 2)', 'APS(randomized=False)', 'APS', 'APS #2')
    """
    names = [short_name(score) for score in scores]
    counts = Counter(names)
    texts = [repr(score) if counts[name] > 1 else name for name, score in zip(names, scores, strict=True)]
    longer = [
        text if len(text) <= LONGEST and texts.count(text) == 1 else name
        for name, text in zip(names, texts, strict=True)
    ]
    seen: Counter[str] = Counter()
    numbered = []
    for name in longer:
        seen[name] += 1
        numbered.append(f"{name} #{seen[name]}" if seen[name] > 1 else name)
    return tuple(numbered)


def short_name(score: Score) -> str:
    """Return the name of a score with the parameters that are not the default ones.

    >>> short_name(Raps(free_ranks=2)), short_name(Thr(shares=[1, 3]))
    ('RAPS(free_ranks=2)', 'THR(shares)')
    """
    if isinstance(score, Chosen):
        return short_name(score.score)
    kind = type(score)
    name = kind.__name__.upper() if kind in ABBREVIATIONS else kind.__name__
    known: tuple[Field[Any], ...] = fields(score) if is_dataclass(score) else ()
    shown = [(place, one.name, getattr(score, one.name)) for place, one in enumerate(known) if _is_shown(score, one)]
    texts = [
        _text(value) if place == number and not isinstance(value, bool | tuple) else _named(parameter, value)
        for number, (place, parameter, value) in enumerate(shown)
    ]
    return f"{name}({', '.join(texts)})" if texts else name


def _is_shown(score: Score, parameter: Field[Any]) -> bool:
    """Whether a parameter is a number, a text, a score, or a list that can be left out, and not the default."""
    if not parameter.init:
        return False
    value = getattr(score, parameter.name)
    if isinstance(value, bool | int | float | np.number | str):
        return parameter.default is MISSING or bool(value != parameter.default)
    if isinstance(value, tuple):
        return parameter.default is None and parameter.compare
    return hasattr(value, "keys") and callable(value.keys)


def _named(parameter: str, value: Any) -> str:  # noqa: ANN401
    """Return a parameter with its value; of a list, the name of the parameter alone."""
    return parameter if isinstance(value, tuple) else f"{parameter}={_text(value)}"


def _text(value: Any) -> str:  # noqa: ANN401
    if isinstance(value, bool | str):
        return str(value)
    return f"{value:g}" if isinstance(value, int | float | np.number) else short_name(value)
