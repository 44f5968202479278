"""The experiment, tables and figures of the paper, and two variants of RANK from its text.

The paper is Luo & Zhou, "Trustworthy Classification through Rank-Based Conformal Prediction Sets" (arXiv 2407.04407).
It contains three different definitions of RANK. ``rankset.Rank`` is the definition in the code of the authors. It has a
coverage guarantee. The other two definitions are in this package, for comparison: ``printed_rule`` and ``ClassColumn``.
They do not have a coverage guarantee.
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
