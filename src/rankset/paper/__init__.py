"""The experiment, tables and figures of the paper, and two variants of RANK from its text.

The paper is Luo & Zhou, "Trustworthy Classification through Rank-Based Conformal Prediction Sets" (arXiv 2407.04407).
It contains three different definitions of RANK. ``rankset.Rank`` is the definition in the code of the authors. It has a
coverage guarantee. The other two definitions are in this package, for comparison: ``printed_rule`` and ``ClassColumn``.
They do not have a coverage guarantee.

The experiment also runs on the outputs of your own models: ``resample`` returns the metrics of every method on random
halves of any rows. ``study([Outputs.of("mine", probs, labels)])`` returns all numbers of the tables and figures. From
these numbers, ``table_1`` makes Table 1 as text, and ``draw_all`` draws the figures.
"""

from rankset.paper.class_column import ClassColumn
from rankset.paper.experiment import METHODS, Results, resample
from rankset.paper.figures import draw_all
from rankset.paper.numbers import Numbers
from rankset.paper.outputs import Outputs
from rankset.paper.printed import PrintedRule, printed_rule
from rankset.paper.study import ALPHAS, study
from rankset.paper.tables import table_1

__all__ = [
    "ALPHAS",
    "METHODS",
    "ClassColumn",
    "Numbers",
    "Outputs",
    "PrintedRule",
    "Results",
    "draw_all",
    "printed_rule",
    "resample",
    "study",
    "table_1",
]
