"""Methods and attributes that a ConformalClassifier passes on from its wrapped classifier."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from rankset.integrations.sklearn.model_outputs import align_columns, two_columns
from rankset.integrations.sklearn.several_labels import label_outputs, read_target
from rankset.targets.base import has_several_labels


def _inner_has(name: str) -> Callable[[DelegatedMethods], bool]:
    """Return a check for ``available_if``: whether the wrapped classifier has the method ``name``."""

    def check(self: DelegatedMethods) -> bool:
        getattr(getattr(self, "estimator_", self._inner), name)
        return True

    return check


class DelegatedMethods:
    """Mixin of ConformalClassifier: predictions of the wrapped classifier, and what it knows about features."""

    estimator: Any
    estimator_: Any
    target: Any
    classes_: NDArray[Any]
    rule_: Any

    @property
    def _inner(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        several = has_several_labels(read_target(self.target))
        return OneVsRestClassifier(LogisticRegression()) if several else LogisticRegression()

    @available_if(_inner_has("predict"))
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predictions of the wrapped classifier.

        Parameters
        ----------
        X : array-like (n, n_features)
            The rows to predict.

        Returns
        -------
        array (n,)
            One label per row. With several labels per row, a 0/1 matrix (n, K).

        Examples
        --------
        >>> import rankset as rs
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> rs.ConformalClassifier(random_state=0).fit(X / 10, y).predict(X[:3] / 10)
        array([0, 0, 0])
        """
        check_is_fitted(self)
        return self.estimator_.predict(X)

    @available_if(_inner_has("predict_proba"))
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of the wrapped classifier.

        Parameters
        ----------
        X : array-like (n, n_features)
            The rows to predict.

        Returns
        -------
        array (n, K)
            One column per class of ``classes_``. The value is 0 for a class without training rows. With several labels
            per row, every label has a probability of its own.

        Examples
        --------
        >>> import rankset as rs
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> rs.ConformalClassifier(random_state=0).fit(X / 10, y).predict_proba(X[:2] / 10).shape
        (2, 3)
        """
        check_is_fitted(self)
        if has_several_labels(self.rule_.spec.target):
            return label_outputs(self.estimator_, X, len(self.classes_))[0]
        return align_columns(self.estimator_.predict_proba(X), self.estimator_.classes_, self.classes_, absent=0.0)

    @available_if(_inner_has("decision_function"))
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the decision function of the wrapped classifier.

        Parameters
        ----------
        X : array-like (n, n_features)
            The rows to predict.

        Returns
        -------
        array (n,) or (n, K)
            One column per class of ``classes_``, or one value per row if there are two classes. The value is -inf for
            a class without training rows.

        Examples
        --------
        >>> import rankset as rs
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> rs.ConformalClassifier(random_state=0).fit(X / 10, y).decision_function(X[:2] / 10).shape
        (2, 3)
        """
        check_is_fitted(self)
        values = np.asarray(self.estimator_.decision_function(X))
        if (values.ndim == 1 and len(self.classes_) == 2) or has_several_labels(self.rule_.spec.target):
            return values
        return align_columns(two_columns(values), self.estimator_.classes_, self.classes_, absent=-np.inf)

    @property
    def n_features_in_(self) -> int:
        """Number of features of the rows passed to ``fit``."""
        return self._fitted("n_features_in_")

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the features of the rows passed to ``fit``."""
        return self._fitted("feature_names_in_")

    def _fitted(self, name: str) -> Any:
        if "estimator_" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no {name} before fit")
        return getattr(self.estimator_, name)
