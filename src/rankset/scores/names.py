"""Scores by name, for the argument ``method=``: ``"rank"``, ``"thr"``, ``"aps"`` …, in any case.

Every function that takes a score takes these names too, through ``checked_score``. ``"auto"`` is no score: it stands
for ``rankset.auto``, which fits a score. Functions that know it look for it with ``is_auto`` or ``method_of``.
"""

from __future__ import annotations

from rankset.errors import KindError, ScoreError
from rankset.scores.aps import Aps, Average, Raps, Saps
from rankset.scores.base import Score, checked_score
from rankset.scores.rank import Rank, TopK
from rankset.scores.share import Share
from rankset.scores.thr import Margin, Thr

AUTO = "auto"
"""The name that stands for ``rankset.auto``."""

NAMED_SCORES: dict[str, Score] = {
    "rank": Rank(),
    "thr": Thr(),
    "lac": Thr(),
    "share": Share(),
    "aps": Aps(),
    "raps": Raps(penalty=0.2, free_ranks=2),
    "saps": Saps(weight=0.2),
    "topk": TopK(),
    "margin": Margin(),
    "average": Average(),
}
"""The score behind each name. RAPS and SAPS have the parameters of the RANK paper. LAC is another name of THR."""

NEED_ARGUMENTS = {
    "tiebreak": "rankset.TieBreak(rankset.Rank())",
    "seen": "rankset.Seen.fit(training_labels, classes)",
    "tempered": "rankset.Tempered(rankset.Aps(), 1.5)",
    "temperature": "rankset.Temperature.fit(probs, labels)",
    "recalibrated": "rankset.Recalibrated.fit(probs, labels)",
    "marginals": "rankset.Marginals.fit(probs, labels)",
    "ranklimited": "rankset.RankLimited.fit(probs, labels, alpha=0.1)",
    "classoffsets": "rankset.ClassOffsets.fit(probs, labels, alpha=0.1)",
    "fuzzyclasses": "rankset.FuzzyClasses.fit(probs, labels)",
    "chosen": "rankset.auto(probs, labels).score",
}
"""How to make the scores that have no name, because they need another score or rows to fit on."""


def is_auto(method: object) -> bool:
    """Return whether ``method`` is the name ``"auto"``, in any case."""
    return isinstance(method, str) and _plain(method) == AUTO


def method_of(
    method: Score | str | None,
    score: Score | str | None = None,
    default: Score = Rank(),  # noqa: B008
) -> Score | None:
    """Return the score that the arguments ``method`` and ``score`` of a function name; None for ``"auto"``.

    The two arguments are two names for the same thing, so only one of them may be passed. ``default`` is the score
    if neither is.
    """
    if method is not None and score is not None:
        raise KindError.method_twice(method, score)
    given = method if score is None else score
    if given is None:
        return default
    return None if is_auto(given) else checked_score(given, "method" if score is None else "score")


def named_score(text: str, argument: str) -> Score:
    """Return the score of a name; raise an error that mentions ``argument`` if there is none."""
    name = _plain(text)
    if name in NAMED_SCORES:
        return NAMED_SCORES[name]
    if name == AUTO:
        raise ScoreError.auto_is_no_score(argument)
    if name in NEED_ARGUMENTS:
        raise ScoreError.no_name(argument, text, NEED_ARGUMENTS[name])
    from difflib import get_close_matches

    close = get_close_matches(name, [*NAMED_SCORES, AUTO], n=1)
    raise ScoreError.unknown_name(argument, text, tuple(NAMED_SCORES), close[0] if close else "")


def _plain(text: str) -> str:
    """Return a name in lower case, without spaces around it and without hyphens and underscores."""
    return text.strip().lower().replace("-", "").replace("_", "")
