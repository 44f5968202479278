"""ConformalClassifier: a scikit-learn classifier that trains, calibrates and predicts sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from rankset.conditions import Condition, Marginal, checked_condition
from rankset.core.alpha_argument import refuse_alpha
from rankset.errors import KindError
from rankset.inputs.per_row import names_per_row, numbers_per_row
from rankset.inputs.row_index import RowIndex, index_of
from rankset.inputs.row_selection import check_row_labels
from rankset.integrations.sklearn.choice import Choice
from rankset.integrations.sklearn.delegated import DelegatedMethods
from rankset.integrations.sklearn.enclosing import warn_about_enclosing_estimators
from rankset.integrations.sklearn.fitting import PerRow, Settings, read_method
from rankset.integrations.sklearn.predicting import PredictsSetsOfRows
from rankset.integrations.sklearn.reporting import WritesReport
from rankset.integrations.sklearn.several_labels import read_target
from rankset.integrations.sklearn.splits import Split
from rankset.integrations.sklearn.triaging import TriagesRows
from rankset.rules.spec import check_groups
from rankset.scores import Score
from rankset.targets import Target
from rankset.targets.base import has_several_labels

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


class ConformalClassifier(
    WritesReport, PredictsSetsOfRows, TriagesRows, DelegatedMethods, MetaEstimatorMixin, ClassifierMixin, BaseEstimator
):
    """Wrap a classifier: ``fit`` trains the classifier on some rows and calibrates prediction sets on the other rows.

    ``predict(X)`` returns the predictions of the wrapped classifier. ``predict_set(X, alpha)`` returns sets that
    contain the true label with probability at least 1 - alpha. ``predict_p(X)`` returns p-values.

    Parameters
    ----------
    estimator : classifier, optional
        A classifier with ``predict_proba`` or ``decision_function``. Default: ``LogisticRegression()``, one per label
        if rows can have several (see ``target``). Every step that learns from rows must be inside this estimator. For
        example, pass a pipeline with a scaler, or a ``GridSearchCV`` that tunes the classifier. Do not put a
        ConformalClassifier inside such a pipeline or search: the pipeline or search would also learn from the
        calibration rows, and the guarantee would not hold. If your classifier is already trained, pass
        ``FrozenEstimator(trained)``. Then ``fit`` uses all rows for calibration.
    method : Score, str or Choice, optional
        The score. It measures how unusual a label is for its row. Default: ``rankset.Rank()``. Pass a score, or the
        name of one ("rank", "thr", "aps" and so on, as in ``rankset.calibrate``). With several labels per row the
        default is that of ``rankset.calibrate``. Pass "auto" to fit a score with ``rankset.auto`` for alpha=0.1, or
        ``rankset.Choice("auto", alpha=0.05)`` for another alpha: sets are often smaller. Pass ``rankset.Choice([...])``
        to choose one of several scores. Both choose on held-out rows that are not used for calibration.
    condition : Condition, optional
        Groups for which coverage must hold separately. Default: ``rankset.Marginal()``, which has no separate groups.
        If the condition uses groups of rows, pass ``groups=`` to ``fit``, ``predict_set`` and ``predict_p``.
    split : Split, optional
        Which rows are used for training and which for calibration. Default: ``rankset.Holdout(0.25)``. With
        ``rankset.CrossConformal()``, coverage is usually about 1 - alpha, but the proven coverage is lower (see
        ``rule_.guarantee(alpha)``). With ``rankset.GivenSplit(rows)``, you choose the calibration rows.
    classes : sequence, optional
        All classes, in any order. Default: the classes in ``y``. With several labels per row, the names of the columns
        of ``y``, in their order; by default the columns of a data frame, or 0, 1, …, K - 1. Sets cannot contain any
        other class. If new rows can have other classes, coverage can be lower than 1 - alpha. The difference is at most
        the probability of a row with another class. The list must be sorted if the condition or the score depends on
        the order of the classes, as ``PerLabel(clusters)``, ``Seen`` and ``Thr(shares)`` do.
    random_state : int, RandomState or None
        Seed of the split.
    target : Target or str, optional
        What is promised about the true labels of a row, as in ``rankset.calibrate``. Default: ``rankset.OneLabel()``.
        With ``Recall()``, ``AllLabels()``, ``AnyLabel()`` or ``AtMostMissed(m)`` rows can have several labels: ``y`` is
        a 0/1 matrix (n, K), and the estimator is a classifier for several labels. With ``Cost({label: cost})`` labels
        are more or less expensive to miss. ``CrossConformal`` cannot be combined with ``Recall()`` and ``Cost()``.

    Attributes
    ----------
    classes_ : array (K,)
        All classes, sorted; with several labels per row, the names of the columns of ``y``. A class without training
        rows has probability 0, but it can still be in a set.
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
        target: Target | str | None = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.condition = condition
        self.split = split
        self.classes = classes
        self.random_state = random_state
        self.target = target

    @property
    def _settings(self) -> Settings:
        condition = Marginal() if self.condition is None else self.condition
        method, target = read_method(self.method), read_target(self.target)
        return Settings(self._inner, method, condition, self.split, self.classes, self.random_state, target)

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self._inner)
        tags.input_tags = inner.input_tags
        several = has_several_labels(read_target(self.target))
        multi_class = inner.classifier_tags is None or inner.classifier_tags.multi_class
        tags.classifier_tags.multi_class = multi_class and not several
        tags.classifier_tags.multi_label = tags.target_tags.multi_output = several
        tags.target_tags.single_output = not several
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the metadata routing: fit parameters but ``groups`` and ``weights`` go to the wrapped classifier."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        return router.add(estimator=self._inner, method_mapping=mapping)

    def _route(self, own: Mapping[str, Any], fit_params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return those fit parameters that the wrapped classifier gets."""
        if not get_config()["enable_metadata_routing"]:
            return fit_params
        given = {name: value for name, value in own.items() if value is not None}
        return process_routing(self, "fit", **given, **fit_params).estimator.fit

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        groups: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        **fit_params: Any,
    ) -> ConformalClassifier:
        """Train on some rows of ``X`` and calibrate on the other rows.

        Parameters
        ----------
        X : array-like (n, n_features)
            The rows, in any form that the wrapped classifier accepts.
        y : array-like (n,) or (n, K)
            The true label of each row. If rows can have several labels (see ``target``): a 0/1 matrix, dense or sparse,
            a data frame with one such column per class, or lists of class names if ``classes`` is passed.
        groups : array-like (n,), optional
            The group of each row. Required if the condition needs groups.
        weights : array-like (n,), optional
            The weight of each row in the calibration, as in ``rankset.calibrate``: for new rows that are distributed
            otherwise. Pass weights to ``predict_set`` and ``predict_p``, too. They are not passed to the wrapped
            classifier, which has ``sample_weight``. Not possible with several folds.
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
        settings = self._settings
        labels, known = settings.read(X, y, type(self).__name__)
        check_groups(checked_condition(settings.condition), groups)
        names = None if groups is None else names_per_row(groups, len(labels), index)
        own = None if weights is None else numbers_per_row(weights, len(labels), index, name="weights")
        params = self._route({"groups": groups, "weights": weights}, fit_params)
        warn_about_enclosing_estimators()
        settings.warn_about_split()
        models, parts = settings.train(X, labels, params, weighted=own is not None)
        classes = settings.all_classes(known, models)
        method, rule, triage = settings.calibrate(models, X, labels, PerRow(names, own), parts, classes)
        everything = np.arange(len(labels))
        best = models[0] if len(models) == 1 else settings.train_one(X, labels, params, everything)
        self.__dict__.pop("estimators_", None)
        if len(models) > 1:
            self.estimators_ = list(models)
        self.estimator_, self.rule_, self.method_ = best, rule, method  # all at once: a fit that fails changes nothing
        self.classes_, self.guaranteed_, self.triage_ = classes, not settings.voids_guarantee, triage
        return self
