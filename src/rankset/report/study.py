"""What a report shows, as plain numbers at every level: worked out once, moved by a slider afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset import progress
from rankset.core import coverage_law, parallel
from rankset.core.alpha import Alpha, exact_alpha, rows_needed, threshold_position
from rankset.errors import InputError, KindError, LabelError, RuleError, once
from rankset.evaluation.comparison import FIXED
from rankset.evaluation.metrics import EMPTY_APART, sscv
from rankset.inputs.matrix import Kind
from rankset.inputs.prepare import Prepared, prepare
from rankset.inputs.vocabulary import distinct_labels, group_names, short
from rankset.rules.calibrate import calibrate
from rankset.rules.rule import Rule
from rankset.scores import Score

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ALPHAS = tuple(f"{percent / 100:g}" for percent in range(1, 51))
AMBIGUOUS = 100
MOST_LABELS = 25
"""Labels of an ambiguous row that are told, most usual first."""
MOST_CLASSES = 2000
NAME_WIDTH = 60
CONFIDENCE = 0.9
MEASURES = (
    "coverage",
    "interval",
    "size",
    "sscv",
    "sscv_apart",
    "histogram",
    "empty",
    "singletons",
    "class_coverage",
    "class_size",
    "group_coverage",
    "group_size",
)


@dataclass(frozen=True)
class Study:
    """Everything a page shows, ready for JSON."""

    data: Mapping[str, Any]


def studied(
    probs: ArrayLike,
    labels: ArrayLike,
    new_probs: ArrayLike,
    new_labels: ArrayLike,
    *,
    candidates: Iterable[Score] = FIXED,
    kind: Kind = "probs",
    classes: Iterable[object] | None = None,
    alpha: Alpha = 0.1,
    seed: int = 0,
    show_progress: bool = False,
) -> Study:
    """Every score calibrated on the first rows and tested on the others, at fifty levels."""
    names = None if classes is None else list(classes)
    rules = [calibrate(probs, labels, score=score, kind=kind, classes=names, seed=seed) for score in candidates]
    return of_rules(rules, new_probs, new_labels, alpha=alpha, show_progress=show_progress)


def of_rules(
    rules: Sequence[Rule],
    probs: ArrayLike,
    labels: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    ids: ArrayLike | None = None,
    alpha: Alpha = 0.1,
    show_progress: bool = False,
) -> Study:
    """The same for rules that are calibrated already, all of them for one vocabulary.

    Each is a ``Rule``, as ``calibrate`` and ``load`` give it: a ``LevelRule`` knows one level only, and a ``CrossRule``
    needs the scores of several models for every row. Both are refused.
    """
    if not isinstance(rules, Sequence) or not rules:
        raise KindError.argument("rules", "a list of at least one Rule", rules)
    for rule in rules:
        if not isinstance(rule, Rule):
            raise KindError.no_whole_rule("a report", rule)
    first = rules[0]
    for rule in rules[1:]:
        if rule.kind != first.kind:
            raise RuleError.different("kind", first.kind, rule.kind)
        if rule.spec.classes != first.spec.classes:
            raise RuleError.different("classes", list(first.classes), list(rule.classes))
    data = prepare(probs, labels, kind=first.kind, classes=first.spec.classes, groups=groups, ids=ids)
    n, columns = len(data), data.labels
    if n == 0:
        raise InputError.no_rows_to_evaluate()
    if columns is None:
        raise LabelError.not_one_dimensional("labels", "NoneType")
    alphas = _levels(alpha)
    names, codes = _groups(data.groups, n)
    asked = Asked(data.with_checked_values(), codes, alphas, exact_alpha(alpha))
    with once():
        by_score = [
            _score(rule, asked, columns) for rule in progress.bar(rules, "report", show=show_progress, unit="scores")
        ]
    return Study(
        {
            "rows": n,
            "calibration": first.n,
            "smallest": int(min(rule.calibration.counts.min() for rule in rules)),
            "groups": max(rule.spec.n_groups for rule in rules),
            "alphas": [float(one) for one in alphas],
            "alpha": float(exact_alpha(alpha)),
            "confidence": CONFIDENCE,
            "classes": distinct_labels(first.spec.classes.values, NAME_WIDTH),
            "counts": np.bincount(columns, minlength=len(first.classes)).tolist(),
            "scores": by_score,
            "group_names": names,
            "group_counts": np.bincount(asked.codes, minlength=len(names))[: len(names)].tolist(),
            "conditions": sorted({repr(rule.condition) for rule in rules}),
            "needed": [int(rows_needed(exact_alpha(one))) for one in alphas],
        }
    )


@dataclass(frozen=True)
class Asked:
    """Rows to be asked about, block by block or some of them."""

    data: Prepared
    codes: Ints
    alphas: tuple[Fraction, ...]
    alpha: Fraction

    @property
    def n(self) -> int:
        """How many rows there are."""
        return len(self.codes)

    @property
    def n_columns(self) -> int:
        """How many classes there are."""
        return self.data.n_columns

    def p_values(self, rule: Rule, rows: Ints) -> Floats:
        """How usual every label of ``rows`` is."""
        some = self.data.take(rows)
        return rule._p_values(some if rule.condition.needs_groups else replace(some, groups=None))

    def each(self, rule: Rule) -> Iterator[tuple[slice, Floats]]:
        """The p-values of all rows, in blocks."""
        for part in parallel.split(self.n, self.n_columns):
            yield part, self.p_values(rule, np.arange(part.start, part.stop))


def _groups(groups: NDArray[Any] | None, n: int) -> tuple[list[str], Ints]:
    """The names of the rows' groups, and the number of each row's; too many are not told."""
    if groups is None:
        return [], np.zeros(n, dtype=np.int64)
    names = group_names(groups)
    return distinct_labels(names.values, NAME_WIDTH) if len(names) <= MOST_CLASSES else [], names.codes(groups)


def _levels(alpha: Alpha) -> tuple[Fraction, ...]:
    """The levels of the slider, that which was asked for among them."""
    return tuple(sorted({*map(exact_alpha, ALPHAS), exact_alpha(alpha)}))


def _score(rule: Rule, asked: Asked, columns: Ints) -> dict[str, Any]:
    """One score at every level."""
    true, second = np.empty(asked.n), np.empty(asked.n)
    sizes = np.empty((len(asked.alphas), asked.n), dtype=np.int64)
    for part, p_values in asked.each(rule):
        true[part] = p_values[np.arange(len(p_values)), columns[part]]
        for place, alpha in enumerate(map(float, asked.alphas)):
            sizes[place, part] = (p_values > alpha).sum(axis=1)
        second[part] = np.partition(p_values, -2, axis=1)[:, -2] if asked.n_columns > 1 else 0.0
    told = _at_levels(asked, true, sizes, columns)
    told["name"] = short(repr(rule.score), 80)
    if rule.spec.n_groups == 1:
        told |= _laws(rule, asked)
    rows = np.lexsort((-second, -sizes[asked.alphas.index(asked.alpha)]))[:AMBIGUOUS]
    told["ambiguous"] = [
        _ambiguous(int(row), int(columns[row]), sizes[:, row], of_row)
        for row, of_row in zip(rows, asked.p_values(rule, rows), strict=True)
    ]
    return told


def _at_levels(asked: Asked, true: Floats, sizes: Ints, columns: Ints) -> dict[str, Any]:
    n, n_columns = asked.n, asked.n_columns
    present = np.maximum(np.bincount(columns, minlength=n_columns), 1)
    told: dict[str, Any] = {name: [] for name in MEASURES}
    in_group = np.bincount(asked.codes)
    for alpha, widths in zip(asked.alphas, sizes, strict=True):
        covered = true > float(alpha)
        told["coverage"].append(_rounded(covered.mean()))
        told["interval"].append(
            [_rounded(end) for end in coverage_law.binomial_interval(int(covered.sum()), n, CONFIDENCE)]
        )
        told["size"].append(_rounded(widths.mean()))
        told["sscv"].append(_rounded(sscv(covered, widths, alpha)))
        told["sscv_apart"].append(_rounded(sscv(covered, widths, alpha, strata=EMPTY_APART)))
        told["histogram"].append(np.bincount(widths).tolist())
        told["empty"].append(_rounded((widths == 0).mean()))
        told["singletons"].append(_rounded((widths == 1).mean()))
        if len(in_group) <= MOST_CLASSES:
            for name, what in (("group_coverage", covered), ("group_size", widths)):
                told[name].append([_rounded(value, 4) for value in np.bincount(asked.codes, weights=what) / in_group])
        if n_columns <= MOST_CLASSES:
            hits, labels = (
                np.bincount(columns, weights=what, minlength=n_columns) / present for what in (covered, widths)
            )
            told["class_coverage"].append([_rounded(value, 4) for value in hits])
            told["class_size"].append([_rounded(value, 3) for value in labels])
    return told


def _laws(rule: Rule, asked: Asked) -> dict[str, Any]:
    """Where luck alone leaves coverage at every level, whether ties may raise it further, and the paper's ranks."""
    places = [threshold_position(rule.n, alpha) for alpha in asked.alphas]
    told: dict[str, Any] = {
        "band": [
            [_rounded(end) for end in coverage_law.sampling_range(asked.n, k, rule.n, CONFIDENCE)] for k in places
        ],
        "tied": [bool(k <= rule.n and rule.calibration.tied(0, k)) for k in places],
    }
    if rule.spec.traits.orders_by_rank:
        profiles = [rule.rank_profile(alpha) for alpha in asked.alphas]
        told |= {"ranks": profiles[0].counts.tolist(), "r_star": [profile.r_star for profile in profiles]}
    return told


def _ambiguous(row: int, label: int, sizes: Ints, p_values: Floats) -> dict[str, Any]:
    """A row with many labels: how many at each level, and the most usual of them."""
    usual = np.argsort(-p_values, kind="stable")[:MOST_LABELS].tolist()
    labels = [[column, float(p_values[column])] for column in usual]
    return {"row": row, "label": label, "sizes": sizes.tolist(), "labels": labels}


def _rounded(value: float, digits: int = 5) -> float:
    return round(float(value), digits)
