"""Scores: they measure how unusual a label is for its row (nonconformity scores).

Every score is a small frozen dataclass with a method ``keys(cells)``. The modules of this package:

rank, thr, share, aps        Rank, TopK · Thr, Margin · Share · Aps, Raps, Saps, Average
wrappers, seen, tempered     scores that use another score: TieBreak, Chosen · Seen · Tempered
rank_limited, class_offsets, fuzzy_classes    scores that use another score and numbers of classes: RankLimited ·
ClassOffsets · FuzzyClasses
temperature, recalibrated    scores with a fitted temperature: Temperature · Recalibrated
confidence, correctness      scores of the most likely label, for triage: Entropy, TopTwo · Correctness
marginals                    a score with fitted numbers for rows with several labels: Marginals
base                         the protocol Score: the required method and all optional attributes of a score
wording                      how describe(threshold, wording) of a score writes numbers and words
names                        scores by name, as in method="aps"
declarations, reach, key_ranges, application, parameters, class_shares, fitting_keys, recalibration, label_dependence
internal functions that use or fit scores

To add a score, copy the one that is closest, then add it to ``BUILT_IN``, ``names.py`` and ``rankset/__init__.py``.
"""

from typing import Any

from rankset.scores.aps import Aps, Average, Raps, Saps
from rankset.scores.base import Score, checked_score
from rankset.scores.class_offsets import ClassOffsets
from rankset.scores.confidence import Entropy, TopTwo
from rankset.scores.correctness import Correctness
from rankset.scores.declarations import traits
from rankset.scores.fuzzy_classes import FuzzyClasses
from rankset.scores.marginals import Marginals
from rankset.scores.names import AUTO, NAMED_SCORES, is_auto, method_of
from rankset.scores.rank import Rank, TopK
from rankset.scores.rank_limited import RankLimited
from rankset.scores.reach import Reach
from rankset.scores.recalibrated import Recalibrated
from rankset.scores.seen import Seen
from rankset.scores.share import Share
from rankset.scores.temperature import Temperature
from rankset.scores.tempered import Tempered
from rankset.scores.thr import Margin, Thr
from rankset.scores.wording import Wording
from rankset.scores.wrappers import Chosen, TieBreak

__all__ = [
    "AUTO",
    "BUILT_IN",
    "CONFIDENCES",
    "NAMED_SCORES",
    "Aps",
    "Average",
    "Chosen",
    "ClassOffsets",
    "Correctness",
    "Entropy",
    "FuzzyClasses",
    "Margin",
    "Marginals",
    "Rank",
    "RankLimited",
    "Raps",
    "Reach",
    "Recalibrated",
    "Saps",
    "Score",
    "Seen",
    "Share",
    "Temperature",
    "Tempered",
    "Thr",
    "TieBreak",
    "TopK",
    "TopTwo",
    "Wording",
    "checked_score",
    "is_auto",
    "method_of",
    "traits",
]

BUILT_IN: tuple[type[Any], ...] = (
    Rank,
    TopK,
    Thr,
    Share,
    Margin,
    Aps,
    Raps,
    Saps,
    Average,
    TieBreak,
    Chosen,
    Seen,
    Temperature,
    Tempered,
    Recalibrated,
    Marginals,
    RankLimited,
    ClassOffsets,
    FuzzyClasses,
)
"""Score classes that can be saved in a rule file."""

CONFIDENCES: tuple[type[Any], ...] = (Entropy, TopTwo, Correctness)
"""Further score classes that can be saved in files. They are made for ``rankset.triage``."""
