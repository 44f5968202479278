"""Scorers for ``cross_val_score`` and searches: ``SetSize`` and ``Coverage``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import MetadataRequest

from rankset.core.alpha import Alpha, exact_alpha
from rankset.core.alpha_argument import class_takes_alpha
from rankset.errors import KindError
from rankset.evaluation.evaluate import evaluate
from rankset.inputs.row_index import RowIndex
from rankset.sets import PredictionSets
from rankset.targets.base import has_several_labels


class Scorer:
    """Base of the scorers. With metadata routing, they request ``groups``, because some conditions need groups."""

    def get_metadata_routing(self) -> MetadataRequest:
        """Return the metadata request."""
        request = MetadataRequest(owner=type(self).__name__)
        request.score.add_request(param="groups", alias=True)
        return request


@class_takes_alpha
@dataclass(frozen=True)
class SetSize(Scorer):
    """scikit-learn scorer: minus the mean set size. A larger value is better.

    Use this scorer with ``cross_val_score``, for example. In a search such as ``GridSearchCV``, the best candidate is
    fitted again on all rows. Then the same rows are used for the choice and for calibration, and the guarantee does not
    hold. ``ConformalClassifier`` describes how to tune a classifier.

    Parameters
    ----------
    alpha : float, str or Fraction, default 0.1
        The alpha of the sets.

    Raises
    ------
    LevelError
        If ``alpha`` is not between 0 and 1, both excluded.

    Examples
    --------
    >>> import rankset as rs
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = load_iris(return_X_y=True)
    >>> model = rs.ConformalClassifier(random_state=0)
    >>> len(cross_val_score(model, X / 10, y, scoring=rs.SetSize(0.1), cv=3))
    3
    """

    alpha: Alpha = 0.1

    def __post_init__(self) -> None:
        exact_alpha(self.alpha)

    def __call__(self, estimator: Any, X: Any, y: Any = None, **kwargs: Any) -> float:
        """Return minus the mean set size of a fitted ``estimator`` on the rows of ``X``."""
        _check_order(X, kwargs)
        return -float(_predict_sets(estimator, X, self.alpha, kwargs).sizes.mean())


@class_takes_alpha
@dataclass(frozen=True)
class Coverage(Scorer):
    """scikit-learn scorer: the fraction of sets that contain the true label.

    If rows can have several labels, it is what the target promises to be at least 1 - alpha: the mean recall with
    ``Recall()``, the fraction of sets that contain all labels of their row with ``AllLabels()``.

    Parameters
    ----------
    alpha : float, str or Fraction, default 0.1
        The alpha of the sets.

    Raises
    ------
    LevelError
        If ``alpha`` is not between 0 and 1, both excluded.

    Examples
    --------
    >>> import rankset as rs
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = load_iris(return_X_y=True)
    >>> model = rs.ConformalClassifier(random_state=0)
    >>> bool(cross_val_score(model, X / 10, y, scoring=rs.Coverage(0.1), cv=3).mean() > 0.8)
    True
    """

    alpha: Alpha = 0.1

    def __post_init__(self) -> None:
        exact_alpha(self.alpha)

    def __call__(self, estimator: Any, X: Any, y: Any, **kwargs: Any) -> float:
        """Return the coverage of a fitted ``estimator`` on the rows of ``X`` with labels ``y``."""
        _check_order(X, {"labels": y, **kwargs})
        sets = _predict_sets(estimator, X, self.alpha, kwargs)
        if sets.target is None:
            return float(sets.covers(y).mean())
        if not has_several_labels(sets.target):
            cost = evaluate(sets, y).cost
            return float(sets.covers(y).mean()) if cost is None else 1 - cost
        seen = evaluate(sets, y, target=sets.target).observed
        if seen is None:
            raise KindError.argument("the target of sets for Coverage", "a target of rankset", sets.target)
        return seen


def _check_order(X: Any, per_row: Mapping[str, Any]) -> None:
    """Raise an error if labels or groups have another index than the rows. Steps of a pipeline may drop the index."""
    index = RowIndex.of(X)
    for name, values in per_row.items():
        index.check(values, name)


def _predict_sets(estimator: Any, X: Any, alpha: Alpha, kwargs: Mapping[str, Any]) -> PredictionSets:
    """Return the sets of a ConformalClassifier, which may be the end of a pipeline or the result of a search."""
    if hasattr(estimator, "predict_set"):
        return estimator.predict_set(X, alpha, **kwargs)
    if hasattr(estimator, "best_estimator_"):
        return _predict_sets(estimator.best_estimator_, X, alpha, kwargs)
    if isinstance(estimator, Pipeline):
        return _predict_sets(estimator[-1], estimator[:-1].transform(X), alpha, kwargs)
    raise KindError.argument("estimator", "a fitted ConformalClassifier, or one inside a pipeline", estimator)
