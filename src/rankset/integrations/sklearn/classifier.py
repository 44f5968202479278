"""ConformalClassifier: a scikit-learn classifier that trains, calibrates and predicts sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from rankset.conditions import Condition, Marginal, checked_condition
from rankset.core.alpha import Alpha
from rankset.core.alpha_argument import refuse_alpha, takes_alpha
from rankset.errors import KindError
from rankset.inputs import frames
from rankset.inputs.per_row import names_per_row
from rankset.inputs.row_index import RowIndex, index_of
from rankset.inputs.row_selection import check_row_labels
from rankset.integrations.sklearn.choice import Choice
from rankset.integrations.sklearn.cross_rule import CrossRule
from rankset.integrations.sklearn.delegated import DelegatedMethods
from rankset.integrations.sklearn.enclosing import warn_about_enclosing_estimators
from rankset.integrations.sklearn.fitting import Settings, read_labels, read_method
from rankset.integrations.sklearn.model_outputs import add_model_classes, class_outputs
from rankset.integrations.sklearn.reporting import WritesReport
from rankset.integrations.sklearn.splits import Split
from rankset.rules.select import Empty
from rankset.rules.spec import check_groups
from rankset.scores import Score
from rankset.sets import PredictionSets

Init = TypeVar("Init", bound=Callable[..., None])


def refuse_score(init: Init) -> Init:
    """Decorate ``__init__``: refuse the arguments ``score`` and ``alpha``. scikit-learn sees the parameters of ``init``
    only."""

    @wraps(init)
    def refusing(*args: Any, **parameters: Any) -> None:
        if "score" in parameters:
            raise KindError.method_not_score()
        refuse_alpha("ConformalClassifier", "predict_set", parameters)
        init(*args, **parameters)

    return cast("Init", refusing)


class ConformalClassifier(WritesReport, DelegatedMethods, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Wrap a classifier: ``fit`` trains the classifier on some rows and calibrates prediction sets on the other rows.

    ``predict(X)`` returns the predictions of the wrapped classifier. ``predict_set(X, alpha)`` returns sets that
    contain the true label with probability at least 1 - alpha. ``predict_p(X)`` returns p-values.

    Parameters
    ----------
    estimator : classifier, optional
        A classifier with ``predict_proba`` or ``decision_function``. Default: ``LogisticRegression()``. Every step
        that learns from rows must be inside this estimator. For example, pass a pipeline with a scaler, or a
        ``GridSearchCV`` that tunes the classifier. Do not put a ConformalClassifier inside such a pipeline or search:
        the pipeline or search would also learn from the calibration rows, and the guarantee would not hold. If your
        classifier is already trained, pass ``FrozenEstimator(trained)``. Then ``fit`` uses all rows for calibration.
    method : Score, str or Choice, optional
        The score. It measures how unusual a label is for its row. Default: ``rankset.Rank()``. Pass a score, or the
        name of one ("rank", "thr", "aps" and so on, as in ``rankset.calibrate``). Pass "auto" to fit a score with
        ``rankset.auto`` for alpha=0.1, or ``rankset.Choice("auto", alpha=0.05)`` for another alpha: sets are often
        smaller. Pass ``rankset.Choice([...])`` to choose one of several scores. Both choose on held-out rows that are
        not used for calibration.
    condition : Condition, optional
        Groups for which coverage must hold separately. Default: ``rankset.Marginal()``, which has no separate groups.
        If the condition uses groups of rows, pass ``groups=`` to ``fit``, ``predict_set`` and ``predict_p``.
    split : Split, optional
        Which rows are used for training and which for calibration. Default: ``rankset.Holdout(0.25)``. With
        ``rankset.CrossConformal()``, coverage is usually about 1 - alpha, but the proven coverage is lower (see
        ``rule_.guarantee(alpha)``). With ``rankset.GivenSplit(rows)``, you choose the calibration rows.
    classes : sequence, optional
        All classes, in any order. Default: the classes in ``y``. Sets cannot contain any other class. If new rows can
        have other classes, coverage can be lower than 1 - alpha. The difference is at most the probability of a row
        with another class. The list must be sorted if the condition or the score depends on the order of the classes,
        as ``PerLabel(clusters)`` and ``Seen`` do.
    random_state : int, RandomState or None
        Seed of the split.

    Attributes
    ----------
    classes_ : array (K,)
        All classes, sorted. A class without training rows has probability 0, but it can still be in a set.
    estimator_ : classifier
        The trained classifier. With ``CrossConformal``, this classifier is trained on all rows.
    guaranteed_ : bool
        Whether some coverage is proven. With ``CrossConformal``, it is ``rule_.guarantee(alpha)``, which is less than
        1 - alpha. With other splits it is 1 - alpha. False if the split is stratified, unless the condition is
        ``PerLabel``. Then nothing is proven. It cannot see whether rows were used before ``fit``: for a search on the
        same rows, or to train a frozen model. If they were, nothing is proven either, and it can still be True.
    rule_ : Rule or CrossRule
        The calibrated rule. With ``CrossConformal``, it is a ``rankset.CrossRule``.
    method_ : Score
        The score of the rule: ``method``, or the score that was chosen.
    estimators_ : list of classifiers
        The classifiers of the folds. This attribute exists only with ``CrossConformal``.

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

    @refuse_score
    def __init__(
        self,
        estimator: Any = None,
        *,
        method: Score | Choice | str | None = None,
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
    def _settings(self) -> Settings:
        condition = Marginal() if self.condition is None else self.condition
        return Settings(self._inner, read_method(self.method), condition, self.split, self.classes, self.random_state)

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self._inner)
        tags.input_tags = inner.input_tags
        tags.classifier_tags.multi_class = inner.classifier_tags is None or inner.classifier_tags.multi_class
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the metadata routing: all fit parameters except ``groups`` go to the wrapped classifier."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        return router.add(estimator=self._inner, method_mapping=mapping)

    def _route(self, groups: ArrayLike | None, fit_params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return those fit parameters that the wrapped classifier gets."""
        if not get_config()["enable_metadata_routing"]:
            return fit_params
        own = {} if groups is None else {"groups": groups}
        return process_routing(self, "fit", **own, **fit_params).estimator.fit

    def fit(self, X: Any, y: Any, *, groups: ArrayLike | None = None, **fit_params: Any) -> ConformalClassifier:
        """Train on some rows of ``X`` and calibrate on the other rows.

        Parameters
        ----------
        X : array-like (n, n_features)
            The rows, in any form that the wrapped classifier accepts.
        y : array-like (n,)
            The true label of each row.
        groups : array-like (n,), optional
            The group of each row. Required if the condition needs groups.
        **fit_params
            Passed to ``fit`` of the wrapped classifier. Arrays with one entry per row are split in the same way as
            the rows.

        Returns
        -------
        ConformalClassifier
            The classifier itself.

        Raises
        ------
        RanksetError
            If a parameter, the labels or the groups are invalid. The fitted attributes are then unchanged.

        Examples
        --------
        >>> import rankset as rs
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> rs.ConformalClassifier(split=rs.CrossConformal(5), random_state=0).fit(X / 10, y).rule_.n
        150
        """
        if "ids" in fit_params:
            raise KindError.no_ids()
        (X,) = indexable(X)
        index = RowIndex.of(X)
        for name, given in {"y": y, "split": getattr(self.split, "calibration", None), **fit_params}.items():
            index.check(given, name)
        check_row_labels(getattr(self.split, "calibration", None), index_of(X), "calibration")
        labels, settings = read_labels(X, y, type(self).__name__), self._settings
        check_groups(checked_condition(settings.condition), groups)
        names = None if groups is None else names_per_row(groups, len(labels), index)
        params, known = self._route(groups, fit_params), settings.known_classes(labels)
        warn_about_enclosing_estimators()
        settings.warn_about_split()
        models, parts = settings.train(X, labels, params)
        classes = add_model_classes(known, models)
        method, rule = settings.calibrate(models, X, labels, names, parts, classes)
        everything = np.arange(len(labels))
        best = models[0] if len(models) == 1 else settings.train_one(X, labels, params, everything)
        self.__dict__.pop("estimators_", None)
        if len(models) > 1:
            self.estimators_ = models
        self.estimator_, self.rule_, self.method_ = best, rule, method  # all at once: a fit that fails changes nothing
        self.classes_, self.guaranteed_ = classes, not settings.voids_guarantee
        return self

    @takes_alpha
    def predict_set(
        self, X: Any, alpha: Alpha = 0.1, *, groups: ArrayLike | None = None, empty: Empty = "allow"
    ) -> PredictionSets:
        """Return sets that contain the true label with probability at least 1 - ``alpha``.

        With ``CrossConformal``, the proven probability is lower, see ``rule_.guarantee(alpha)``. If the split is
        stratified, nothing is proven, unless the condition is ``PerLabel``.

        Parameters
        ----------
        X : array-like (n, n_features)
            The rows to predict.
        alpha : float, str or Fraction, default 0.1
            Largest allowed probability that a set does not contain the true label.
        groups : array-like (n,), optional
            The group of each row. Required if the condition needs groups.
        empty : {"allow", "top"}, default "allow"
            "allow" keeps empty sets. "top" adds the most likely label to each empty set.

        Returns
        -------
        PredictionSets
            One set of class names per row.

        Examples
        --------
        >>> import rankset as rs
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> rs.ConformalClassifier(random_state=0).fit(X / 10, y).predict_set(X[:2] / 10, alpha=0.2).to_lists()
        [[0], [0]]
        """
        outputs = self._outputs(X)
        RowIndex.of(X).check(groups, "groups")
        sets = self.rule_.predict(outputs, alpha, groups=groups, empty=empty)
        return sets if index_of(X) is None and not frames.is_frame(X) else replace(sets, template=_template(X))

    def predict_p(self, X: Any, *, groups: ArrayLike | None = None) -> NDArray[np.float64]:
        """Return the p-value of each class. A class is in the set if and only if its p-value is larger than alpha.

        Parameters
        ----------
        X : array-like (n, n_features)
            The rows to predict.
        groups : array-like (n,), optional
            The group of each row. Required if the condition needs groups.

        Returns
        -------
        array (n, K)
            One column per class of ``classes_``.

        Examples
        --------
        >>> import rankset as rs
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> rs.ConformalClassifier(random_state=0).fit(X / 10, y).predict_p(X[:1] / 10).round(2)
        array([[0.92, 0.03, 0.03]])
        """
        outputs = self._outputs(X)
        RowIndex.of(X).check(groups, "groups")
        return self.rule_.p_values(outputs, groups=groups)

    def _outputs(self, X: Any) -> Any:
        """Return what the rule needs: the outputs of the model, or a list of those of every fold's model."""
        check_is_fitted(self)
        if isinstance(self.rule_, CrossRule):
            return [class_outputs(model, X, self.classes_)[0] for model in self.estimators_]
        return class_outputs(self.estimator_, X, self.classes_)[0]


def _template(X: Any) -> frames.Template:
    """Return the data frame library and the index of results for the rows of ``X``."""
    known = frames.template(X)
    return frames.Template(index=index_of(X)) if known is frames.ARRAY else known
