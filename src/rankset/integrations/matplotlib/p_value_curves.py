"""Coverage, or what another target promises, and mean set size at many values of alpha, from p-values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core.alpha import exact_alpha
from rankset.core.promise import Promise, kept_rows
from rankset.errors import InputError, KindError, RuleError
from rankset.inputs.label_lists import label_lists
from rankset.inputs.matrix import as_matrix
from rankset.inputs.per_row import label_codes, labels_at
from rankset.inputs.prepare import prepare
from rankset.inputs.row_index import RowIndex
from rankset.inputs.vocabulary import class_names
from rankset.rules.rule import Rule
from rankset.sets import CoverageLaw
from rankset.targets import AllLabels, OneLabel, Recall, Target, TrueLabels, checked_target
from rankset.targets.base import has_several_labels
from rankset.targets.cost import costs_by_column
from rankset.targets.names import measure_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ONE = OneLabel()
SHOWN: tuple[Target, ...] = (Recall(), AllLabels())
"""Curves that are drawn beside that of the target, if rows can have several labels."""

ALPHAS = tuple(percent / 100 for percent in range(1, 51))
"""Default values of alpha for a curve: 0.01, 0.02, …, 0.5."""


@dataclass(frozen=True)
class Curves:
    """What sets keep at many values of alpha.

    Attributes
    ----------
    alphas : the values of alpha.
    kept : 1 minus the mean loss of rows, as the target counts it: coverage if every row has one label.
    sizes : the mean set size.
    measure : the name of ``kept``.
    others : other curves by their names: recall and all labels, if rows can have several labels.
    n_rows : the number of rows that have labels.
    """

    alphas: Floats
    kept: Floats
    sizes: Floats
    measure: str
    others: Mapping[str, Floats]
    n_rows: int


def curves(
    p_values: ArrayLike,
    labels: ArrayLike,
    classes: Iterable[object] | None,
    alphas: Sequence[float],
    target: Target | str = ONE,
) -> Curves:
    """Return what sets that are computed from p-values keep at each alpha."""
    grid = np.array([float(exact_alpha(alpha)) for alpha in alphas])
    if len(grid) == 0:
        raise KindError.argument("alphas", "a list of at least one value", alphas)
    wanted, p = checked_target(target), _checked(p_values)
    names, index, every = class_names(classes, p.shape[1]), RowIndex.of(p_values), np.sort(p, axis=None)
    sizes = (len(every) - np.searchsorted(every, grid, side="right")) / len(p)
    if not has_several_labels(wanted):
        columns = label_codes(labels, names, len(p), index)
        own = np.where(columns < 0, 0.0, p[np.arange(len(p)), columns])  # an absent label is in no set
        one = Truths(np.arange(len(p)), columns, own, names.values)
        return Curves(grid, one.kept(wanted, grid), sizes, measure_of(wanted), {}, len(p))
    truths = label_lists(labels, names, len(p), index, by_position=classes is None)
    several = Truths(truths.rows, truths.codes, p[truths.rows, truths.codes], names.values)
    if not len(several.row):
        raise InputError.no_rows_to_evaluate()
    others = {measure_of(other): several.kept(other, grid) for other in SHOWN if other != wanted}
    n_rows = int(np.count_nonzero(truths.sizes))
    return Curves(grid, several.kept(wanted, grid), sizes, measure_of(wanted), others, n_rows)


@dataclass(frozen=True, eq=False)
class Truths:
    """The true labels of rows: their rows, columns and p-values, and the names of the columns."""

    row: Ints
    column: Ints
    p: Floats
    classes: Sequence[object]

    def kept(self, target: Target, grid: Floats) -> Floats:
        """Return 1 minus the mean loss of the rows that have labels, at each alpha of ``grid``.

        Labels with smaller p-values are more unusual, so the target takes the p-values as keys.
        """
        if target == ONE:
            places, weights = np.arange(len(self.p)), None
        else:
            no_groups = np.zeros(len(self.row), dtype=np.int64)
            places, weights = target.entries(TrueLabels(self.row, no_groups, self.column, (-self.p,), self.classes))
        loss = np.ones(len(places)) if weights is None else weights[0] / weights[1]
        order = np.argsort(self.p[places], kind="stable")
        lost = np.append(0.0, loss[order].cumsum())
        missed = lost[np.searchsorted(self.p[places][order], grid, side="right")]
        n_rows = len(np.unique(self.row))
        kept: Floats = (n_rows - missed) / n_rows
        return kept


def _checked(p_values: ArrayLike) -> Floats:
    """Return p-values as a matrix of numbers from 0 to 1."""
    p = as_matrix(p_values, "decision", name="p_values").astype(np.float64)
    if len(p) == 0:
        raise InputError.no_rows_to_evaluate()
    wrong = ~((p >= 0) & (p <= 1))
    if wrong.any():
        row, column = (int(place) for place in np.argwhere(wrong)[0])
        raise InputError.p_value(row, column, float(p[row, column]))
    return p


def rule_p_values(
    rule: Rule, probs: Any, labels: ArrayLike, groups: ArrayLike | None, ids: ArrayLike | None
) -> tuple[Floats, Any, Target]:
    """Return the p-values of ``rule`` (n, K), the column number of each row's label or ``ABSENT``, and the target with
    column numbers instead of class names. Labels are a 0/1 matrix if rows can have several of them.

    Labels, groups and ids must be in the order of the rows. Labels become column numbers: they can be class names, or
    column numbers where the columns have no names of their own, as in ``rankset.calibrate``.
    """
    if rule.spec.below:
        raise RuleError.curve_of_target(rule.target)
    _check_order(probs, labels=labels, groups=groups, ids=ids)
    p_values = rule.p_values(probs, groups=groups, ids=ids)
    several, target = has_several_labels(rule.target), costs_by_column(rule.target, rule.spec.classes.values)
    data = prepare(probs, labels, kind=rule.kind, classes=rule.spec.classes_of(probs), several=several)
    if data.truths is not None:
        return p_values, data.truths.mask(p_values.shape[1]), target
    columns = None if data.labels is None else labels_at(np.arange(p_values.shape[1]), data.labels)
    return p_values, columns, target


def estimator_p_values(estimator: Any, X: Any, y: ArrayLike, groups: ArrayLike | None) -> Floats:
    """Return the p-values of a ConformalClassifier (n, K), if labels and groups are in the order of the rows."""
    _check_order(X, y=y, groups=groups)
    if not hasattr(estimator, "predict_p"):
        raise KindError.argument("estimator", "a fitted ConformalClassifier (use from_rule for a Rule)", estimator)
    return estimator.predict_p(X, groups=groups)


def _check_order(rows: object, **values: object) -> None:
    """Raise an error if labels, groups or ids have another index than the rows. P-values have no index any more."""
    index = RowIndex.of(rows)
    for name, per_row in values.items():
        index.check(per_row, name)


def coverage_ranges(
    m: int, n: int, absent: int, alphas: Sequence[float], confidence: float, *, shares: bool = False
) -> tuple[Floats, Floats]:
    """Return the range of coverage on m rows at each level, after a calibration on n rows with some absent labels.

    Where a level cannot be attained, coverage is at least that of the smallest level that can. If ``shares``, parts of
    rows can be missed.
    """
    ranges = []
    for alpha in alphas:
        k = kept_rows(n, Promise(exact_alpha(alpha)), shares=shares)
        law = CoverageLaw(k, n, exact=True, absent=absent, outer=shares)
        low, high = law.sampling_range(m, confidence)
        ranges.append((low, high if law.attained else 1.0))
    low, high = np.array(ranges).T
    return low, high
