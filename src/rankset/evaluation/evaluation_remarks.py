"""What is written behind a metric in the table of an ``Evaluation``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from rankset.errors import COMMAND_LINE, PYTHON, Either, Text
from rankset.errors.fields import render_text
from rankset.evaluation.advice import what_to_check
from rankset.evaluation.metrics import CLASSES_BELOW_HALF, CLASSES_FAR_BELOW, FAR, MACRO_COVERAGE, METRICS
from rankset.evaluation.shares import Share
from rankset.rules.weighted_rows import ROWS_PER_ALPHA

if TYPE_CHECKING:
    from rankset.evaluation.evaluation import Evaluation

SHOWN_SIZES = 8
"""Number of set sizes that are listed; larger sizes are pooled."""
EMPTY_REMARK: Text = (
    "no label passed the threshold (the random draw of APS, RAPS and SAPS can cause this in any row); ",
    "a smaller alpha gives fewer empty sets, ",
    Either("predict(..., empty='top')", "rankset predict --empty top"),
    " gives none",
)


def _coverage_remark(evaluation: Evaluation) -> str:
    attained = "" if evaluation.attained else " cannot be attained (absent labels at calibration)"
    interval = f"{evaluation.confidence:.0%} interval from these rows {ends_in_words(evaluation.interval)}"
    if evaluation.cost is not None:
        return f"not promised, because labels have costs; {interval}"
    if evaluation.balanced:
        return f"not promised: the promise is about macro coverage; {interval}"
    return f"target {1 - evaluation.alpha:g}{attained}; {interval}"


def _size_remark(evaluation: Evaluation) -> str:
    """Up to eight sizes with their counts, the rest pooled."""
    counts = evaluation.size_counts
    sizes = np.flatnonzero(counts)
    shown = [f"{size}: {counts[size]:,}" for size in sizes[:SHOWN_SIZES]]
    if len(sizes) > SHOWN_SIZES:
        shown.append(f"{sizes[SHOWN_SIZES]}–{sizes[-1]}: {counts[sizes[SHOWN_SIZES] :].sum():,}")
    return f"mean; number of sets by size {', '.join(shown)}"


def rows_and_size(share: Share) -> str:
    """Return the number of rows and the mean set size in words."""
    return f"{share.n:,} rows, mean size {share.mean_size:.3f}"


def ends_in_words(ends: tuple[float, float]) -> str:
    """Return the two ends of an interval in words."""
    low, high = ends
    return f"{low:.4f} to {high:.4f}"


def _with_interval(evaluation: Evaluation, name: str, words: str) -> str:
    """What a metric is, and its interval."""
    return f"{words}; {evaluation.confidence:.0%} interval {ends_in_words(evaluation.ranges[name])}"


def _macro_remark(evaluation: Evaluation) -> str:
    target = f"target {1 - evaluation.alpha:g}; " if evaluation.balanced else ""
    return _with_interval(evaluation, MACRO_COVERAGE, f"{target}mean over classes, rare and frequent ones alike")


def _far_below_remark(evaluation: Evaluation) -> str:
    level = f"{float(1 - evaluation._level - FAR):g}"
    return _with_interval(evaluation, CLASSES_FAR_BELOW, f"share of classes whose coverage is below {level}")


def _below_half_remark(evaluation: Evaluation) -> str:
    return _with_interval(evaluation, CLASSES_BELOW_HALF, METRICS[CLASSES_BELOW_HALF].explanation)


def _stratum_remark(stratum: Share) -> str:
    return f"sets of size {stratum.name} ({stratum.n:,} rows, coverage {stratum.coverage:.4f})"


def _worst_class_remark(evaluation: Evaluation) -> str:
    worst = evaluation.worst_class
    return f"coverage of class {worst.name!r} ({worst.n:,} rows)"


def _empty_remark(evaluation: Evaluation) -> str:
    return render_text(EMPTY_REMARK, PYTHON) if evaluation.empty_rate else METRICS["empty"].explanation


def for_command_line(table: str) -> str:
    """Return the printed table of an Evaluation with the options of the command line."""
    return table.replace(render_text(EMPTY_REMARK, PYTHON), render_text(EMPTY_REMARK, COMMAND_LINE))


REMARKS: Mapping[str, Callable[[Evaluation], str]] = {
    "coverage": _coverage_remark,
    "SSCV": lambda evaluation: f"largest gap to {1 - evaluation.alpha:g}: {_stratum_remark(evaluation.strata[0])}",
    "SSCV*": lambda evaluation: f"the same with empty sets apart: {_stratum_remark(evaluation.strata[1])}",
    "size": _size_remark,
    "empty": _empty_remark,
    MACRO_COVERAGE: _macro_remark,
    CLASSES_FAR_BELOW: _far_below_remark,
    CLASSES_BELOW_HALF: _below_half_remark,
    "worst class": _worst_class_remark,
}
"""Remarks with figures of the evaluation. Other metrics are shown with their explanation."""


def coverage_notes(evaluation: Evaluation) -> list[str]:
    """Return the lines below coverage: what is proven, the range to expect, and how many labels are absent."""
    proven = proven_lines(evaluation.proven, evaluation.alpha)
    few = effective_lines(evaluation.effective_rows, evaluation.alpha)
    told = [*_cost(evaluation), *proven, *_sure(evaluation), *_expected(evaluation), *_absent(evaluation), *few]
    return told if evaluation.exchangeability is None else [*told, str(evaluation.exchangeability)]


def effective_lines(rows: float | None, alpha: float) -> list[str]:
    """Return the line that says how many rows of equal weight the calibration rows count as, if they have weights."""
    if rows is None:
        return []
    few = ": coverage depends on few rows" if rows < ROWS_PER_ALPHA / alpha else ""
    return [f"with their weights the calibration rows count as {rows:,.0f} rows of equal weight{few}"]


def _sure(evaluation: Evaluation) -> list[str]:
    if evaluation.sure is None or evaluation.cost is not None:
        return []
    return [f"promised for this calibration with confidence {evaluation.sure:g}: at least {1 - evaluation.alpha:g}"]


def _cost(evaluation: Evaluation) -> list[str]:
    if evaluation.cost is None:
        return []
    sure = "on average" if evaluation.sure is None else f"for this calibration with confidence {evaluation.sure:g}"
    promised = f"at most {evaluation.alpha:g} is promised {sure}"
    return [f"mean cost of missed labels, divided by the largest cost: {evaluation.cost:.4f}; {promised}"]


def proven_lines(proven: float | None, alpha: float) -> list[str]:
    """Return the line that says what is proven, if it is less than 1 - ``alpha``."""
    if proven is None or proven >= 1 - alpha:
        return []
    target = f"{1 - alpha:g}"
    if proven == 0:
        return [f"{target} is usual for these sets, but nothing is proven"]
    return [f"{target} is usual for these sets; at least {proven:.4f} is proven"]


def _expected(evaluation: Evaluation) -> list[str]:
    if evaluation.expected is None:
        return []
    low, high = evaluation.expected
    share = f"{evaluation.confidence:.0%} of calibrations"
    remark = f"sampling variation alone gives {low:.4f} to {high:.4f} in {share}"
    if not evaluation.attained:
        known = f"the true label is among them in {low:.4f} to {high:.4f} of rows, in {share}"
        remark = f"every candidate is in its set; {known}"
    if low <= evaluation.coverage <= high:
        return [f"{remark}: inside"]
    advice = what_to_check(too_low=evaluation.coverage < low, confidence=evaluation.confidence)
    return [f"{remark}: OUTSIDE", *advice]


def _absent(evaluation: Evaluation) -> list[str]:
    if not evaluation.absent:
        return []
    rows = f"{evaluation.absent:,} of {evaluation.n:,} rows"
    return [f"the true label is not among the candidates in {rows}, which counts as missed"]
