"""Steps of ``ConformalClassifier.fit``: read the labels, train the models, calibrate their outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_method_params,
    check_array,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
)

from rankset.conditions import (
    Balanced,
    Condition,
    LabelShift,
    Pooled,
    checked_condition,
    has_clusters,
    has_one_label_per_group,
    shares_rows,
)
from rankset.decisions.triage import Triage, triage
from rankset.errors import KindError, LabelError, RuleError, SplitError, warn
from rankset.evaluation.calibrate import calibrate
from rankset.inputs.absent import is_absent
from rankset.inputs.frames import is_frame, only_column
from rankset.inputs.matrix import Kind, is_masked
from rankset.inputs.per_row import label_codes
from rankset.inputs.row_index import RowIndex
from rankset.inputs.vocabulary import Array, class_names, in_order
from rankset.integrations.sklearn.choice import Choice
from rankset.integrations.sklearn.cross_rule import CrossRule
from rankset.integrations.sklearn.model_outputs import add_model_classes, outputs_of
from rankset.integrations.sklearn.several_labels import read_label_matrix, refuse_label_splits
from rankset.integrations.sklearn.splits import Holdout, Split
from rankset.rules.rule import Rule
from rankset.scores import AUTO, Rank, Score, checked_score, is_auto, traits
from rankset.targets import CertainLabels, Cost, OneLabel, Recall, Target
from rankset.targets.base import has_several_labels, is_about_false_labels

Ints = NDArray[np.int64]


def check_given(X: Any, y: Any, owner: str) -> None:
    """Raise an error if there are no labels, or if rows or labels have a mask."""
    if y is None:
        raise ValueError(f"This {owner} estimator requires y to be passed, but the target y is None.")
    if is_masked(y) or is_masked(X):
        raise KindError.argument("X and y", "arrays without a mask", "a masked array; drop the masked rows")


def read_labels(X: Any, y: Any, owner: str) -> NDArray[Any]:
    """Return ``y`` as an array (n,) of class labels for the rows of ``X``; ``owner`` is the estimator's class name."""
    check_given(X, y, owner)
    column = only_column(y) if is_frame(y) else None
    values = y if column is None else column
    given = check_array(values, ensure_2d=False, dtype=None, input_name="y")
    if given.ndim == 2 and given.shape[1] > 1:
        raise LabelError.several("y", f"shape {given.shape}")
    labels = column_or_1d(given, warn=True)
    if (absent := is_absent(labels)) is not None:
        raise LabelError.absent_class("a classifier", int(absent.argmax()))
    check_classification_targets(labels)
    check_consistent_length(X, labels)
    return labels


def read_method(method: object) -> Score | Choice | None:
    """Return the parameter ``method`` of a ConformalClassifier as a score or a Choice; None for the default score."""
    if method is None:
        return None
    if isinstance(method, Choice):
        return method
    return Choice(AUTO) if is_auto(method) else checked_score(method, "method")


class Calibrated(NamedTuple):
    """What calibration rows give: the score, the rule, and the triage, None if there is none."""

    score: Score
    rule: Rule | CrossRule
    triage: Triage | None


class PerRow(NamedTuple):
    """Groups and weights of rows; None if there are none."""

    groups: Array | None
    weights: NDArray[np.float64] | None

    def take(self, rows: Ints) -> PerRow:
        """Return those of some rows."""
        return PerRow(*(None if values is None else values[rows] for values in self))


@dataclass(frozen=True)
class CalibrationRows:
    """Outputs of a model for its calibration rows, their labels, groups and weights, and the kind of the outputs."""

    outputs: NDArray[Any]
    labels: NDArray[Any]
    per_row: PerRow
    kind: Kind

    def take(self, rows: Ints) -> CalibrationRows:
        """Return some of the rows."""
        return CalibrationRows(self.outputs[rows], self.labels[rows], self.per_row.take(rows), self.kind)


@dataclass(frozen=True)
class Settings:
    """Parameters of a ConformalClassifier. ``method``, ``split`` and ``classes`` are None for their defaults."""

    estimator: Any
    method: Score | Choice | None
    condition: Condition
    split: Split | None
    classes: Any
    random_state: Any
    target: Target

    def read(self, X: Any, y: Any, owner: str) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the labels of the rows of ``X``, as an array (n,) or a 0/1 matrix, and the known classes."""
        if isinstance(self.method, Choice):
            _check_choice(self.method, self.target)
        if not has_several_labels(self.target):
            labels = read_labels(X, y, owner)
            return labels, self.known_classes(labels)
        refuse_label_splits(self.split)
        check_given(X, y, owner)
        return read_label_matrix(X, y, self.classes)

    def all_classes(self, known: NDArray[Any], models: Sequence[Any]) -> NDArray[Any]:
        """Return the ``known`` classes and those that only the ``models`` know."""
        return known if has_several_labels(self.target) else add_model_classes(known, models)

    def known_classes(self, labels: NDArray[Any]) -> NDArray[Any]:
        """Return the given ``classes``, which must include all labels, or the classes of the labels; sorted."""
        if self.classes is None:
            return np.unique(labels)
        given = np.array(in_order(self.classes))
        label_codes(labels, class_names(given, len(given)), len(labels), RowIndex())
        known = np.union1d(given, labels[:0])  # sorted, in a dtype for both
        if known.tolist() != given.tolist() and self._depends_on_class_order():
            raise KindError.argument(
                "classes", "sorted if clusters or fitted scores depend on the order of classes", self.classes
            )
        return known

    def _depends_on_class_order(self) -> bool:
        """Whether the condition or a score identifies classes by their column."""
        scores = self.method.candidates if isinstance(self.method, Choice) else (self.method or Rank(),)
        return has_clusters(self.condition) or any(traits(score).n_columns is not None for score in scores)

    def train(
        self, X: Any, labels: NDArray[Any], fit_params: Mapping[str, Any], *, weighted: bool = False
    ) -> tuple[Sequence[Any], Sequence[Ints]]:
        """Return the trained models (one, or one per fold), and the calibration rows of each model."""
        if isinstance(self.estimator, FrozenEstimator):
            return [self._frozen_model()], [np.arange(len(labels))]
        split = self._checked_split().parts(labels, self.random_state)
        if len(split) > 1 and isinstance(self.method, Choice):
            raise SplitError.chosen_with_folds(self.split)
        if len(split) > 1 and isinstance(self.target, Recall | Cost | CertainLabels):
            raise RuleError.folds_with_shares(self.target)
        if len(split) > 1 and _weighs_rows(self.condition):
            raise RuleError.folds_with_weights(self.condition)
        if len(split) > 1 and weighted:
            raise RuleError.folds_with_weights_of_rows()
        models = [self.train_one(X, labels, fit_params, train) for train, _ in split]
        return models, [rows for _, rows in split]

    def train_one(self, X: Any, labels: NDArray[Any], fit_params: Mapping[str, Any], rows: Ints) -> Any:
        """Return the estimator trained on some rows."""
        params = _check_method_params(X, params=dict(fit_params), indices=rows)
        try:
            return clone(self.estimator).fit(_safe_indexing(X, rows), labels[rows], **params)
        except ValueError as error:
            if labels.ndim == 2 and "1d array" in str(error):
                raise RuleError.model_of_one_label(self.estimator) from error
            raise

    def _frozen_model(self) -> Any:
        if self.split is not None:
            raise KindError.argument(
                "split", "None for a FrozenEstimator, because all rows are used for calibration", self.split
            )
        check_is_fitted(self.estimator)
        return self.estimator

    def _checked_split(self) -> Split:
        split = Holdout() if self.split is None else self.split
        if isinstance(split, type) or not isinstance(split, Split):
            raise KindError.argument("split", "an object such as rankset.Holdout() or rankset.CrossConformal()", split)
        return split

    def calibrate(
        self,
        models: Sequence[Any],
        X: Any,
        labels: NDArray[Any],
        per_row: PerRow,
        parts: Sequence[Ints],
        classes: NDArray[Any],
    ) -> Calibrated:
        """Return score, rule and triage. Each model is calibrated on its own part of the rows."""
        given = []
        for model, rows in zip(models, parts, strict=True):
            outputs, kind = outputs_of(model, _safe_indexing(X, rows), classes, self.target)
            given.append(CalibrationRows(outputs, labels[rows], per_row.take(rows), kind))
        finish = Rule._without_guarantee if self.voids_guarantee else _unchanged
        if len(given) > 1:
            rules = tuple(finish(self._rule(some, classes, self.method)) for some in given)
            return Calibrated(rules[0].score, CrossRule(rules, self.stratified), None)
        rule = finish(self._chosen_rule(given[0], classes))
        return Calibrated(rule.score, rule, self._triage(given[0], classes))

    def _rule(self, rows: CalibrationRows, classes: NDArray[Any], method: Any) -> Rule:
        options: dict[str, Any] = {"method": method, "condition": self.condition, "kind": rows.kind, "classes": classes}
        return calibrate(rows.outputs, rows.labels, target=self.target, **rows.per_row._asdict(), **options)

    def _chosen_rule(self, rows: CalibrationRows, classes: NDArray[Any]) -> Rule:
        """Return the rule of one model; a ``Choice`` uses some of the rows to choose a score."""
        choice = self.method
        if not isinstance(choice, Choice):
            return self._rule(rows, classes, choice)
        if choice.automatic:
            options: dict[str, Any] = {"kind": rows.kind, "classes": classes, **rows.per_row._asdict()}
            options |= {"condition": self.condition, "target": self.target}
            return choice.auto(rows.outputs, rows.labels, self.random_state, **options)
        choosing, calibrating = (
            rows.take(some) for some in choice.parts(np.arange(len(rows.labels)), self.random_state)
        )
        best = choice.best(choosing.outputs, choosing.labels, rows.kind, classes, self.target)
        return self._rule(calibrating, classes, best)

    def _triage(self, rows: CalibrationRows, classes: NDArray[Any]) -> Triage | None:
        """Return what ``triage`` learns from the calibration rows; None if rows can have several labels, if labels
        were used to select the rows, if groups share rows, or if rows have weights."""
        if has_several_labels(self.target) or self.stratified or shares_rows(self.condition):
            return None
        if rows.per_row.weights is not None:
            return None
        options: dict[str, Any] = {"condition": self.condition, "kind": rows.kind, "classes": classes}
        return triage(rows.outputs, rows.labels, groups=rows.per_row.groups, **options)

    @property
    def stratified(self) -> bool:
        """Whether the split uses the labels."""
        return bool(getattr(self.split, "stratify", False))

    @property
    def voids_guarantee(self) -> bool:
        """Whether the split uses the labels, and coverage is therefore not proven with this condition."""
        return self.stratified and not has_one_label_per_group(checked_condition(self.condition))

    def warn_about_split(self) -> None:
        """Warn if the split voids the guarantee."""
        if self.voids_guarantee:
            warn(
                "a stratified split uses the labels, so coverage can be lower than 1 - alpha, with weak models by "
                "several percentage points. Use stratify=False, or use condition=PerLabel(), which keeps the guarantee."
            )


def _check_choice(choice: Choice, target: Target) -> None:
    """Raise an error if no score can be chosen for ``target``, before a model is trained."""
    if is_about_false_labels(target):
        raise RuleError.only_calibrate("a method that chooses a score", target)
    if target != OneLabel() and choice.objective != "size":
        raise RuleError.option("objective", choice.objective, ("size",))


def _weighs_rows(condition: Condition) -> bool:
    """Return whether rows have weights that depend on their class."""
    return isinstance(condition.condition if isinstance(condition, Pooled) else condition, Balanced | LabelShift)


def _unchanged(rule: Rule) -> Rule:
    return rule
