"""Coverage and mean set size at many values of alpha, from p-values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core.alpha import exact_alpha
from rankset.errors import InputError, KindError
from rankset.inputs.matrix import as_matrix
from rankset.inputs.per_row import label_codes, labels_at
from rankset.inputs.prepare import prepare
from rankset.inputs.row_index import RowIndex
from rankset.inputs.vocabulary import class_names
from rankset.rules.rule import Rule

Floats = NDArray[np.float64]

ALPHAS = tuple(percent / 100 for percent in range(1, 51))
"""Default values of alpha for a curve: 0.01, 0.02, …, 0.5."""


def coverage_and_size(
    p_values: ArrayLike, labels: ArrayLike, classes: Iterable[object] | None, alphas: Sequence[float]
) -> tuple[Floats, Floats, Floats]:
    """Return the values of alpha, and the coverage and mean set size at each alpha."""
    grid = np.array([float(exact_alpha(alpha)) for alpha in alphas])
    if len(grid) == 0:
        raise KindError.argument("alphas", "a list of at least one value", alphas)
    p = as_matrix(p_values, "decision", name="p_values").astype(np.float64)
    if len(p) == 0:
        raise InputError.no_rows_to_evaluate()
    wrong = ~((p >= 0) & (p <= 1))
    if wrong.any():
        row, column = (int(place) for place in np.argwhere(wrong)[0])
        raise InputError.p_value(row, column, float(p[row, column]))
    columns = label_codes(labels, class_names(classes, p.shape[1]), len(p), RowIndex.of(p_values))
    own = np.where(columns < 0, 0.0, p[np.arange(len(p)), columns])  # an absent label is in no set
    true, every = np.sort(own), np.sort(p, axis=None)
    covered, size = ((len(some) - np.searchsorted(some, grid, side="right")) / len(p) for some in (true, every))
    return grid, covered, size


def rule_p_values(
    rule: Rule, probs: Any, labels: ArrayLike, groups: ArrayLike | None, ids: ArrayLike | None
) -> tuple[Floats, Any]:
    """Return the p-values of ``rule`` (n, K), and the column number of each row's label or ``ABSENT``.

    Labels, groups and ids must be in the order of the rows. Labels become column numbers: they can be class names, or
    column numbers where the columns have no names of their own, as in ``rankset.calibrate``.
    """
    _check_order(probs, labels=labels, groups=groups, ids=ids)
    p_values = rule.p_values(probs, groups=groups, ids=ids)
    data = prepare(probs, labels, kind=rule.kind, classes=rule.spec.classes_of(probs))
    return p_values, None if data.labels is None else labels_at(np.arange(p_values.shape[1]), data.labels)


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
