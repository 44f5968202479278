"""What thresholds mean, in words: which labels a set contains at some alpha."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rankset.conditions import separately, shared_promise
from rankset.core.alpha import Alpha, exact_alpha, exact_text, smallest_alpha
from rankset.core.calibration import Thresholds
from rankset.core.promise import Promise
from rankset.inputs.matrix import SUM_TO_ONE
from rankset.rules import absent_rows
from rankset.rules.group_choice import is_alone
from rankset.rules.spec import RuleSpec
from rankset.scores.wording import Wording, can_be_empty, describe_label, describe_threshold
from rankset.targets import Cost

WITH_WEIGHTS = "if the weights of rows are right"
TOO_HEAVY = "with the weight of the new row, no weight of calibration rows is left for missed labels at this alpha"
LINE_END = "\n"
SHOWN_GROUPS = 10
"""Number of thresholds that are described if a rule has more."""
LABELS_TITLE = "Every label has its own condition"
ROWS_TITLE = "The set of a row follows the rule of its group"
OWN_PROMISE = "1 minus the expected loss of a row, as the target counts it, is at least {}"
"""What a target of a user's own promises, if it does not say it."""
SHARED_LABELS = "separately for the labels of every threshold"
"""What is said before the promise of such a target, if labels have thresholds of their own."""

ON_AVERAGE = "on average over calibrations"
"""What a promise is about, if it is not about one calibration."""
EXCHANGEABLE = "if new rows and calibration rows are exchangeable"
"""What every promise needs."""


class GroupSentence(NamedTuple):
    """One threshold of several: the name of its group, its number of calibration rows, and what it means."""

    name: str
    rows: int
    sentence: str


class AtLevel(Protocol):
    """What sentences are made from: the thresholds of a rule at one alpha. ``LevelRule`` has these attributes."""

    @property
    def spec(self) -> RuleSpec: ...
    @property
    def level(self) -> Fraction: ...
    @property
    def thresholds(self) -> Thresholds: ...
    @property
    def counts(self) -> NDArray[np.int64]: ...
    @property
    def absent(self) -> NDArray[np.int64] | None: ...
    @property
    def promise(self) -> Promise | None: ...


def promise_template(target: object, *, by_label: bool = False) -> str:
    """Return what a target promises, in words, with ``{}`` in place of 1 - alpha (of alpha for ``Cost``).

    ``by_label`` says that labels have thresholds of their own, as with ``PerLabel()``.
    """
    whole = str(getattr(target, "promise", OWN_PROMISE))
    return str(getattr(target, "promise_by_label", f"{SHARED_LABELS}: {whole}")) if by_label else whole


def promise_sentence(target: object, alpha: Alpha, *, by_label: bool = False) -> str:
    """Return what a target promises at some alpha, in words."""
    level = exact_alpha(alpha)
    share = level if isinstance(target, Cost) else 1 - level
    return promise_template(target, by_label=by_label).replace("{}", f"{float(share):.12g}")


def promise_of_spec(spec: RuleSpec, alpha: Alpha) -> str:
    """Return what rules of this spec promise at some alpha, in words, with the groups for which it holds separately."""
    words = promise_sentence(spec.target, alpha, by_label=spec.promises_by_label)
    proven = _proven_if(spec)
    if proven is not None:
        return f"{words}, {proven}"
    return f"{words}{_separately(spec)}"


def proven_in_words(at: AtLevel) -> str | None:
    """Return what is proven about the sets at a level; None if nothing is, or if labels are absent."""
    if not at.spec.guaranteed or at.absent is not None:
        return None
    words, asked = promise_of_spec(at.spec, at.level), at.promise
    if asked is None or asked.confidence is None:
        return f"{words}, {ON_AVERAGE}, {EXCHANGEABLE}"
    rows = "" if asked.next_rows is None else f" and the next {asked.next_rows:,} rows"
    return f"{words}, with confidence {exact_text(asked.confidence)} for this calibration{rows}, {EXCHANGEABLE}"


def proven_by_sharing(spec: RuleSpec) -> str | None:
    """Return for whom coverage is proven if groups share rows or rows have weights, in words; None for other rules."""
    proven = _proven_if(spec)
    return None if proven is None else f"coverage is proven {proven}"


def _separately(spec: RuleSpec) -> str:
    """Return for which labels and groups separately a promise holds, as a part of a sentence; "" if for none."""
    return f", {separately(spec.condition)}" if spec.promises_by_group and not spec.promises_by_label else ""


def _proven_if(spec: RuleSpec) -> str | None:
    """Return what a proof needs beside exchangeable rows, or for whom it holds."""
    shared = shared_promise(spec.condition)
    if not spec.weighted:
        return shared
    every = _separately(spec)
    if shared is None:
        return f"{WITH_WEIGHTS}{every}"
    return f"{WITH_WEIGHTS}, {'and ' if shared.startswith('if ') else ''}{shared}"


def threshold_sentence(at: AtLevel, number: int, digits: int = 4) -> str:
    """Return what the threshold with this number means; -1 stands for groups without calibration rows.

    If the labels of a row have several thresholds, the sentence is about one label, "it".
    """
    spec, threshold = at.spec, threshold_of(at.thresholds, number)
    alone = number < 0 or is_alone(spec, number)
    if at.thresholds.nothing is not None and at.thresholds.nothing[number]:
        few = "so few labels can be missed that empty sets keep the promise"
        return f"keeps no label: {_why_everything(at, number) if spec.below else few}"
    if threshold is None:
        why = "no calibration row has enough false labels" if spec.below else _why_everything(at, number)
        return f"{'keeps every label' if alone else 'always in the set'}: {why}"
    has_probabilities = spec.kind != "decision"
    n_columns = spec.n_columns if spec.kind in SUM_TO_ONE else None
    wording = Wording("probability" if has_probabilities else "value", digits)
    but = ", except labels exactly at this threshold" if spec.below else ""
    if not alone:
        return f"in the set if {describe_label(spec.score, threshold, wording)}{but}"
    sentence = describe_threshold(spec.score, threshold, wording) + but
    empty = can_be_empty(spec.score, threshold, n_columns)
    return f"{sentence}; a set can be empty" if empty else sentence


def _why_everything(at: AtLevel, number: int) -> str:
    """Return why a group has no threshold: too few calibration rows, or too many absent labels."""
    if at.spec.weighted:
        return TOO_HEAVY
    if at.spec.sharing is not None and at.counts.sum() >= (at.promise or Promise(at.level)).rows_needed:
        return "its rows, and those it borrows, are so unusual that at this alpha no label is left out"
    n = int(at.counts.sum() if at.spec.sharing is not None else at.counts[number]) if number >= 0 else 0
    absent = 0 if at.absent is None or number < 0 else int(at.absent[number])
    if not absent:
        asked = at.promise or Promise(at.level)
        sure = "" if asked.confidence is None else f" with confidence={float(asked.confidence):g}"
        needed = readable_count(asked.rows_needed)
        return f"alpha={float(at.level):g}{sure} needs at least {needed} calibration rows, got {n:,}"
    return (
        f"alpha={float(at.level):g} cannot be attained, {absent_rows.reason('', n, absent, smallest_alpha(n, absent))}"
    )


def one_sentence(at: AtLevel, number: int, digits: int) -> str:
    """Return what the threshold with this number means, with the name of its group if a row has several thresholds."""
    sentence = threshold_sentence(at, number, digits)
    if number < 0 or is_alone(at.spec, number):
        return sentence
    return f"{at.spec.group_name(number, at.spec.table())}: {sentence}"


def group_sentences(at: AtLevel, digits: int = 4) -> list[GroupSentence]:
    """Return what the first thresholds of a rule mean, at most ``SHOWN_GROUPS``, in the order of their names."""
    table = at.spec.table()
    numbers = [int(number) for number in dict.fromkeys(table.ravel().tolist()) if number >= 0][:SHOWN_GROUPS]
    return [
        GroupSentence(at.spec.group_name(number, table), int(at.counts[number]), threshold_sentence(at, number, digits))
        for number in numbers
    ]


def with_top(sentence: str) -> str:
    """Return what sets contain if the most likely label is put into empty ones (``empty="top"``)."""
    return f"{sentence}{LINE_END if LINE_END in sentence else '. '}An empty set gets the most likely label instead"


def threshold_of(thresholds: Thresholds, number: int) -> tuple[float, ...] | None:
    """Return the threshold of group ``number`` as numbers; None if it keeps every label."""
    if thresholds.everything[number]:
        return None
    return tuple(key[number].item() for key in thresholds.keys)


def title_of_groups(spec: RuleSpec) -> str:
    """Return how the thresholds of several groups are used."""
    by_label = spec.table().shape[1] > 1
    return LABELS_TITLE if by_label else ROWS_TITLE


def text_of_groups(spec: RuleSpec, found: Sequence[GroupSentence]) -> str:
    """Return several thresholds as lines of text."""
    width = max((len(one.name) for one in found), default=0)
    lines = [f"{title_of_groups(spec)}:", *(f"  {one.name:<{width}}  {one.sentence}" for one in found)]
    more = spec.n_groups - len(found)
    return "\n".join([*lines, f"  … and {more:,} more"] if more > 0 else lines)


def readable_count(count: int) -> str:
    """Return a count with few digits."""
    if count < 10**12:
        return str(count)
    return f"{float(count):.3g}" if count < 10**300 else f"10^{math.log10(count):.0f}"
