"""ConformalClassifier: a scikit-learn classifier that trains, calibrates and predicts sets."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRequest, MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_method_params,
    check_array,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
)

from rankset.conditions import Condition, Marginal, checked_condition, has_clusters
from rankset.core.alpha import Alpha, exact_alpha
from rankset.errors import KindError, LabelError, SplitError, warn
from rankset.inputs import frames
from rankset.inputs.matrix import Kind, is_masked
from rankset.inputs.per_row import label_codes, names_per_row
from rankset.inputs.row_index import RowIndex, index_of
from rankset.inputs.vocabulary import Array, class_names, in_order
from rankset.integrations.sklearn.choice import Choice
from rankset.integrations.sklearn.cross_rule import CrossRule
from rankset.integrations.sklearn.splits import Holdout, Split
from rankset.rules.calibrate import calibrate
from rankset.rules.rule import Rule
from rankset.rules.select import Empty
from rankset.rules.spec import check_groups
from rankset.scores import Rank, Score, checked_score, traits
from rankset.sets import PredictionSets

Ints = NDArray[np.int64]


def _inner_has(name: str) -> Callable[[ConformalClassifier], bool]:
    """A test for ``available_if``: whether the wrapped classifier has a method."""

    def check(self: ConformalClassifier) -> bool:
        getattr(getattr(self, "estimator_", self._inner), name)
        return True

    return check


class ConformalClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A classifier around a classifier: ``fit`` trains it on some rows and calibrates on others.

    ``predict`` keeps its meaning; ``predict_set(X, alpha)`` gives sets that contain the label with probability at
    least 1 - alpha, ``predict_p(X)`` p-values.

    Parameters
    ----------
    estimator : a classifier with ``predict_proba`` or ``decision_function``; by default ``LogisticRegression()``.
        One that is trained already comes as ``FrozenEstimator(trained)``; then all rows calibrate. Whatever learns from
        rows belongs inside: a pipeline with its scaler, a ``GridSearchCV`` that tunes the classifier. Around this
        classifier they would learn from the rows that calibrate, and the guarantee would not hold.
    method : how strange a label looks, by default ``rankset.Rank()``; or ``rankset.Choice([...])``, which chooses among
        scores on rows of their own.
    condition : for whom coverage holds separately, by default ``rankset.Marginal()``. Conditions that look at rows
        need ``groups=`` in ``fit`` and ``predict_set``; ``PerLabel(clusters)``, ``Seen`` and other fitted scores go by
        the order of ``classes_``.
    split : how rows are shared, by default ``rankset.Holdout(0.25)``; or ``rankset.CrossConformal()``, with a lower
        proven coverage (``rule_.guarantee(alpha)``) and usually about 1 - alpha; or ``rankset.GivenSplit(rows)``.
    classes : every class there is, in any order; by default those of ``y``. No set can hold any other class,
        so without this list coverage is at least 1 - alpha minus the probability that a new row has a class that
        ``y`` lacks.
    random_state : seeds the split, as everywhere in scikit-learn.

    Attributes
    ----------
    classes_ : every class, sorted; one that the model did not see in training has probability 0 and stays a candidate.
    estimator_ : the trained classifier; with folds the one trained on all rows.
    rule_ : the calibrated ``rankset.Rule``, or a ``rankset.CrossRule`` of folds.
    method_ : the score of the rule: ``method``, or what it chose.
    estimators_ : with folds, the classifiers of the folds.

    Examples
    --------
    >>> import rankset as rs
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> model = rs.ConformalClassifier(LogisticRegression(max_iter=500), random_state=0)
    >>> model = model.fit(*load_iris(return_X_y=True))
    >>> model.predict_set([[5.1, 3.5, 1.4, 0.2]], alpha=0.05).to_lists()
    [[0]]
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        method: Score | Choice | None = None,
        condition: Condition | None = None,
        split: Split | None = None,
        classes: Any = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.condition = condition
        self.split = split
        self.classes = classes
        self.random_state = random_state

    @property
    def _inner(self) -> Any:
        return LogisticRegression() if self.estimator is None else self.estimator

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self._inner)
        tags.input_tags = inner.input_tags
        tags.classifier_tags.multi_class = inner.classifier_tags is None or inner.classifier_tags.multi_class
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Fit parameters go to the wrapped classifier, sliced along the split; ``groups`` stay here."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        return router.add(estimator=self._inner, method_mapping=mapping)

    def fit(self, X: Any, y: Any, *, groups: ArrayLike | None = None, **fit_params: Any) -> ConformalClassifier:
        """Trains on some rows of ``X`` and calibrates on the others."""
        (X,) = indexable(X)
        index = RowIndex.of(X)
        for name, given in {"y": y, "split": getattr(self.split, "calibration", None), **fit_params}.items():
            index.check(given, name)
        labels = self._labels(X, y)
        self._check_method()
        check_groups(checked_condition(self._condition), groups)
        names = None if groups is None else names_per_row(groups, len(labels), index)
        routed, known = self._routed(groups, fit_params), self._known_classes(labels)
        _warn_of_what_is_around()
        everything = np.arange(len(labels))
        if isinstance(self._inner, FrozenEstimator):
            models, parts = [self._trained_already()], [everything]
        else:
            split = self._split.parts(labels, self.random_state)
            if len(split) > 1 and isinstance(self._method, Choice):
                raise SplitError.chosen_with_folds(self.split)
            models, parts = [self._trained(X, labels, routed, train) for train, _ in split], [rows for _, rows in split]
        classes = _union(known, models)
        method, rule = self._calibrated(models, X, labels, names, parts, classes)
        best = models[0] if len(models) == 1 else self._trained(X, labels, routed, everything)
        self.__dict__.pop("estimators_", None)
        if len(models) > 1:
            self.estimators_ = models
        self.estimator_, self.rule_, self.method_ = best, rule, method  # all at once: a fit that fails changes nothing
        self.classes_ = classes
        return self

    @available_if(_inner_has("predict"))
    def predict(self, X: Any) -> NDArray[Any]:
        """The wrapped classifier's prediction."""
        check_is_fitted(self)
        return self.estimator_.predict(X)

    @available_if(_inner_has("predict_proba"))
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The wrapped classifier's probabilities, one column per class of ``classes_``."""
        check_is_fitted(self)
        return _aligned(self.estimator_.predict_proba(X), self.estimator_.classes_, self.classes_, absent=0.0)

    @available_if(_inner_has("decision_function"))
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The wrapped classifier's decision function, one column per class of ``classes_`` unless there are two."""
        check_is_fitted(self)
        values = np.asarray(self.estimator_.decision_function(X))
        if values.ndim == 1 and len(self.classes_) == 2:
            return values
        values = _two_columns(values)
        return _aligned(values, self.estimator_.classes_, self.classes_, absent=-np.inf)

    def predict_set(
        self,
        X: Any,
        alpha: Alpha = 0.1,
        *,
        groups: ArrayLike | None = None,
        empty: Empty = "allow",
    ) -> PredictionSets:
        """Sets of class names that contain the label with probability at least 1 - ``alpha``.

        With folds the proven probability is lower, see ``rule_.guarantee(alpha)``.
        """
        scores = self._scores(X)
        RowIndex.of(X).check(groups, "groups")
        sets = self.rule_.predict(scores, alpha, groups=groups, empty=empty)
        return sets if index_of(X) is None and not frames.is_frame(X) else replace(sets, template=_template(X))

    def predict_p(self, X: Any, *, groups: ArrayLike | None = None) -> NDArray[np.float64]:
        """How usual each class of ``classes_`` looks: it is in the set at alpha exactly when this exceeds alpha."""
        scores = self._scores(X)
        RowIndex.of(X).check(groups, "groups")
        return self.rule_.p_values(scores, groups=groups)

    @property
    def n_features_in_(self) -> int:
        """How many features ``fit`` saw."""
        return self._fitted("n_features_in_")

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the features ``fit`` saw."""
        return self._fitted("feature_names_in_")

    def _fitted(self, name: str) -> Any:
        if "estimator_" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no {name} before fit")
        return getattr(self.estimator_, name)

    def _labels(self, X: Any, y: Any) -> NDArray[Any]:
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        if is_masked(y) or is_masked(X):
            raise KindError.argument("X and y", "whole arrays", "a masked array; drop the rows that are masked")
        labels = column_or_1d(check_array(y, ensure_2d=False, dtype=None, input_name="y"), warn=True)
        check_classification_targets(labels)
        check_consistent_length(X, labels)
        return labels

    def _trained_already(self) -> Any:
        if self.split is not None:
            raise KindError.argument("split", "None for a FrozenEstimator, all of whose rows calibrate", self.split)
        check_is_fitted(self._inner)
        return self._inner

    def _check_method(self) -> None:
        if not isinstance(self.method, Choice):
            checked_score(self._method, name="method")

    def _known_classes(self, labels: NDArray[Any]) -> NDArray[Any]:
        """The classes that were given, all labels among them, or those of the labels; sorted."""
        if self.classes is None:
            return np.unique(labels)
        told = np.array(in_order(self.classes))
        label_codes(labels, class_names(told, len(told)), len(labels), RowIndex())
        known = np.union1d(told, labels[:0])  # sorted, in a dtype for both
        if known.tolist() != told.tolist() and self._goes_by_column():
            raise KindError.argument(
                "classes", "sorted where clusters or fitted scores go by their order", self.classes
            )
        return known

    def _goes_by_column(self) -> bool:
        """Whether the condition or the score knows classes by their place."""
        several = self._method.scores if isinstance(self._method, Choice) else (self._method,)
        return has_clusters(self._condition) or any(traits(score).n_columns is not None for score in several)

    @property
    def _method(self) -> Score | Choice:
        return Rank() if self.method is None else self.method

    @property
    def _condition(self) -> Condition:
        return Marginal() if self.condition is None else self.condition

    @property
    def _split(self) -> Split:
        split = Holdout() if self.split is None else self.split
        if isinstance(split, type) or not isinstance(split, Split):
            raise KindError.argument("split", "an object such as rankset.Holdout() or rankset.CrossConformal()", split)
        return split

    def _routed(self, groups: ArrayLike | None, fit_params: Mapping[str, Any]) -> Mapping[str, Any]:
        """What of the fit parameters the wrapped classifier gets."""
        if not get_config()["enable_metadata_routing"]:
            return fit_params
        mine = {} if groups is None else {"groups": groups}
        return process_routing(self, "fit", **mine, **fit_params).estimator.fit

    def _trained(self, X: Any, labels: NDArray[Any], routed: Mapping[str, Any], rows: Ints) -> Any:
        params = _check_method_params(X, params=dict(routed), indices=rows)
        return clone(self._inner).fit(_safe_indexing(X, rows), labels[rows], **params)

    def _calibrated(
        self,
        models: Sequence[Any],
        X: Any,
        labels: NDArray[Any],
        names: Array | None,
        parts: Sequence[Ints],
        classes: NDArray[Any],
    ) -> tuple[Score, Rule | CrossRule]:
        """The score and the rule of all models, each calibrated on the rows of its part."""
        method = self._method
        if isinstance(method, Choice):
            choosing, calibrating = method.parts(parts[0], self.random_state)
            scores, kind = _scored(models[0], _safe_indexing(X, choosing), classes)
            method, parts = method.best(scores, labels[choosing], kind, classes), [calibrating]
        rules = []
        for model, rows in zip(models, parts, strict=True):
            scores, kind = _scored(model, _safe_indexing(X, rows), classes)
            of_rows = None if names is None else names[rows]
            told: dict[str, Any] = {
                "score": method,
                "condition": self._condition,
                "kind": kind,
                "classes": classes,
                "groups": of_rows,
            }
            rules.append(calibrate(scores, labels[rows], **told))
        stratified = bool(getattr(self.split, "stratify", False))
        return method, rules[0] if len(rules) == 1 else CrossRule(tuple(rules), stratified)

    def _scores(self, X: Any) -> Any:
        """What the rule asks for: the model's scores, or those of every fold's model."""
        check_is_fitted(self)
        if isinstance(self.rule_, CrossRule):
            return [_scored(model, X, self.classes_)[0] for model in self.estimators_]
        return _scored(self.estimator_, X, self.classes_)[0]


def _template(X: Any) -> frames.Template:
    """What answers about the rows of ``X`` should look like: a frame, or a series of texts, keeps its index."""
    known = frames.template(X)
    return frames.Template(index=index_of(X)) if known is frames.ARRAY else known


def _scored(model: Any, X: Any, classes: NDArray[Any]) -> tuple[NDArray[Any], Kind]:
    """A model's scores, one column per class: probabilities if it has them, else decisions as logits."""
    if hasattr(model, "predict_proba"):
        return _aligned(model.predict_proba(X), model.classes_, classes, absent=0.0), "probs"
    if not hasattr(model, "decision_function"):
        wanted = "a classifier with predict_proba or decision_function"
        raise KindError.argument("estimator", wanted, type(model).__name__)
    if len(model.classes_) > 2 and _votes(model):
        raise KindError.argument(
            "estimator", 'a classifier with decision_function_shape="ovr"', "one with votes of pairs"
        )
    decisions = np.asarray(model.decision_function(X))
    return _aligned(_two_columns(decisions), model.classes_, classes, absent=-np.inf), "logits"


def _votes(model: Any) -> bool:
    """Whether a classifier's decisions are about pairs of classes, as a support vector machine's can be.

    A wrapper that passes on the decisions of one fitted classifier holds it in an attribute: ``estimator_`` of RFE,
    ``best_estimator_`` of a search, ``final_estimator_`` of a stack, whatever others call it. Ensembles with decisions
    of their own hold fitted members in lists, and in attributes only models that are not fitted.
    """
    seen: list[Any] = []
    waiting = [model]
    while waiting:
        one = waiting.pop()
        if any(one is other for other in seen):
            continue
        seen.append(one)
        if getattr(one, "decision_function_shape", None) == "ovo":
            return True
        inner = [one[-1]] if isinstance(one, Pipeline) else getattr(one, "__dict__", {}).values()
        waiting.extend(part for part in inner if isinstance(getattr(part, "classes_", None), list | np.ndarray))
    return False


def _two_columns(decisions: NDArray[Any]) -> NDArray[Any]:
    """Decisions between two classes as (0, d); others as they are."""
    return np.column_stack((np.zeros(len(decisions)), decisions)) if decisions.ndim == 1 else decisions


def _union(classes: NDArray[Any], models: Sequence[Any]) -> NDArray[Any]:
    """The classes of the labels and those that models know besides, sorted."""
    for model in models:
        known = getattr(model, "classes_", None)
        if not isinstance(known, np.ndarray):
            wanted = "a classifier with an array classes_, for one label per row"
            raise KindError.argument("estimator", wanted, type(model).__name__)
        if not set(known.tolist()) & set(classes.tolist()):
            raise LabelError.other_labels(classes.tolist(), known.tolist())
        if not np.isin(known, classes).all():
            classes = np.union1d(classes, known)
    return classes


def _aligned(values: Any, known: NDArray[Any], classes: NDArray[Any], *, absent: float) -> NDArray[Any]:
    """The columns of ``known`` classes put where ``classes`` have them, ``absent`` elsewhere."""
    values = np.asarray(values)
    if np.array_equal(known, classes):
        return values
    aligned = np.full((len(values), len(classes)), absent, dtype=values.dtype)
    aligned[:, np.searchsorted(classes, known)] = values
    return aligned


def _warn_of_what_is_around() -> None:
    """Warns where something around the classifier has learned from the rows that calibrate: a search of scikit-learn
    that fits its best candidate again, or the steps before it in a pipeline."""
    frame: FrameType | None = sys._getframe(1)
    pipelines = []
    while frame is not None:
        if frame.f_code.co_name == "_fit_and_score":
            return  # one of the candidates, which only measures
        search = frame.f_locals.get("self")
        if isinstance(search, Pipeline) and frame.f_code.co_name == "fit":
            pipelines.append(search)
        if isinstance(search, BaseSearchCV) and frame.f_code.co_name == "fit":
            chosen = ", ".join(map(str, getattr(search, "best_params_", {}))) or "parameters"
            warn(
                f"{type(search).__name__} chose {chosen} on the rows that calibrate now, so coverage can be lower than "
                f"1 - alpha, by up to a few points with few rows. Tune the classifier inside, "
                f"ConformalClassifier({type(search).__name__}(classifier, ...)), and choose scores with "
                f"method=Choice([...]); or pass refit=False and calibrate on other rows."
            )
            break
        frame = frame.f_back
    for pipeline in pipelines:
        _warn_of_steps(pipeline)


def _warn_of_steps(pipeline: Pipeline) -> None:
    learning = [name for name, step in pipeline.steps[:-1] if _learns(step)]
    if learning:
        warn(
            f"the pipeline fitted {', '.join(learning)} on the rows that calibrate, too, so the guarantee does not "
            f"hold: coverage can be much lower than 1 - alpha where a step looks at labels. Put the steps inside, "
            f"ConformalClassifier(make_pipeline(..., classifier))."
        )


def _learns(step: Any) -> bool:
    """Whether a step of a pipeline learns from rows, as far as it tells."""
    if not hasattr(step, "fit") or isinstance(step, FrozenEstimator):
        return False
    if isinstance(step, Pipeline):
        return any(_learns(inner) for _, inner in step.steps)
    return not hasattr(step, "__sklearn_tags__") or bool(get_tags(step).requires_fit)


class _Scorer:
    """What scorers share: with metadata routing they ask for ``groups``, for conditions that look at rows."""

    def get_metadata_routing(self) -> MetadataRequest:
        """The request."""
        request = MetadataRequest(owner=type(self).__name__)
        request.score.add_request(param="groups", alias=True)
        return request


@dataclass(frozen=True)
class SetSize(_Scorer):
    """A scorer: minus the mean size of the sets at ``alpha``, so that larger is better.

    For ``cross_val_score`` and the like. A search that fits its best candidate again calibrates it on the rows that
    chose it, and the guarantee does not hold; see ``ConformalClassifier`` for how to tune.

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> model = ConformalClassifier(LogisticRegression(max_iter=500), random_state=0)
    >>> len(cross_val_score(model, *load_iris(return_X_y=True), scoring=SetSize(0.1), cv=3))
    3
    """

    alpha: Alpha = 0.1

    def __post_init__(self) -> None:
        exact_alpha(self.alpha)

    def __call__(self, estimator: ConformalClassifier, X: Any, y: Any = None, **kwargs: Any) -> float:
        """The score of a fitted ``estimator`` on the rows of ``X``."""
        return -float(_sets_of(estimator, X, self.alpha, kwargs).sizes.mean())


@dataclass(frozen=True)
class Coverage(_Scorer):
    """A scorer: the share of the sets at ``alpha`` that contain their label."""

    alpha: Alpha = 0.1

    def __post_init__(self) -> None:
        exact_alpha(self.alpha)

    def __call__(self, estimator: ConformalClassifier, X: Any, y: Any, **kwargs: Any) -> float:
        """The score of a fitted ``estimator`` on the rows of ``X`` and their labels."""
        RowIndex.of(X).check(y, "labels")
        return float(_sets_of(estimator, X, self.alpha, kwargs).covers(y).mean())


def _sets_of(estimator: Any, X: Any, alpha: Alpha, kwargs: Mapping[str, Any]) -> PredictionSets:
    """The sets of a ConformalClassifier, also of one at the end of a pipeline or found by a search."""
    if hasattr(estimator, "predict_set"):
        return estimator.predict_set(X, alpha, **kwargs)
    if hasattr(estimator, "best_estimator_"):
        return _sets_of(estimator.best_estimator_, X, alpha, kwargs)
    if isinstance(estimator, Pipeline):
        return _sets_of(estimator[-1], estimator[:-1].transform(X), alpha, kwargs)
    raise KindError.argument("estimator", "a fitted ConformalClassifier, or one inside a pipeline", estimator)
