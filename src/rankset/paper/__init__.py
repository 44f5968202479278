"""The paper: its printed rule, its class-column score, its experiment, tables and figures.

Luo & Zhou, "Trustworthy Classification through Rank-Based Conformal Prediction Sets" (arXiv 2407.04407), define
RANK three times, and the three differ. ``rankset.Rank`` is the score of the authors' code and has the guarantee;
the other two are here, for comparison, and have none.
"""

from rankset.paper.class_column import ClassColumn
from rankset.paper.experiment import METHODS, Results, resample
from rankset.paper.numbers import Numbers
from rankset.paper.printed import PrintedRule, printed_rule
from rankset.paper.study import ALPHAS, study

__all__ = [
    "ALPHAS",
    "METHODS",
    "ClassColumn",
    "Numbers",
    "PrintedRule",
    "Results",
    "printed_rule",
    "resample",
    "study",
]
