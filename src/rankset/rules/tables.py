"""The tables in the HTML of a rule, which notebooks show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankset import notebook
from rankset.rules.sentences import group_sentences, title_of_groups
from rankset.rules.summaries import CoverageBand

if TYPE_CHECKING:
    from rankset.rules.describe import DescribesRule

SHOWN_LEVELS = (0.01, 0.05, 0.1, 0.2)
"""Values of alpha in the HTML of a rule with one threshold."""
SHOWN_LEVEL = 0.1
"""The alpha in the HTML of a rule with several thresholds."""


def levels_table(rule: DescribesRule) -> str:
    """Return a table of coverage bands at some levels, and which labels a set contains, as HTML."""
    if not rule.spec.has_law:
        return notebook.table([(f"{alpha:g}", rule.describe(alpha)) for alpha in SHOWN_LEVELS], ("alpha", "a set"))
    bands = [(alpha, rule.coverage_band(alpha)) for alpha in SHOWN_LEVELS]
    rows = [
        (
            f"{alpha:g}",
            notebook.bar(band.low, f"{band.low:.4f} to {band.high:.4f}{remark(band)}"),
            rule.describe(alpha),
        )
        for alpha, band in bands
    ]
    return notebook.table(rows, ("alpha", "coverage, in 90% of calibrations", "a set"))


def groups_table(rule: DescribesRule) -> str:
    """Return a table of the first thresholds at one level, as HTML."""
    at = rule.at(SHOWN_LEVEL)
    found = group_sentences(at)
    rows = [(one.name, f"{one.rows:,}", one.sentence) for one in found]
    more = rule.spec.n_groups - len(found)
    rest = notebook.faint(f"and {more:,} more thresholds") if more else ""
    title = notebook.faint(f"{title_of_groups(rule.spec)}, at alpha={SHOWN_LEVEL:g}:")
    return title + notebook.table(rows, ("group", "rows", "rule")) + rest


def remark(band: CoverageBand) -> str:
    """What a band says beside its ends."""
    return " or more" * band.tied + ": 1 - alpha cannot be attained" * (not band.attained)
