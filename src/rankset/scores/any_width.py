"""Scores whose keys depend neither on the column of a label nor on the number of columns."""

from __future__ import annotations

from rankset.scores.aps import Aps, Raps, Saps
from rankset.scores.base import Score
from rankset.scores.declarations import traits
from rankset.scores.rank import Rank, TopK
from rankset.scores.tempered import Tempered
from rankset.scores.thr import Margin, Thr
from rankset.scores.wrappers import Chosen, TieBreak

WRAPPERS = (TieBreak, Chosen, Tempered)
PLAIN = (Rank, TopK, Thr, Margin, Aps, Raps, Saps)


def takes_any_width(score: Score) -> bool:
    """Return whether rows of ``score`` can have any number of candidates, because its keys do not depend on it.

    It is not known of scores of your own, and of subclasses. Scores with a number for every class take no other width.

    >>> takes_any_width(TieBreak(Thr()))
    True
    """
    while isinstance(score, WRAPPERS) and type(score) in WRAPPERS:
        score = score.score
    return type(score) in PLAIN and traits(score).n_columns is None
