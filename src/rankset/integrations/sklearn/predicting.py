"""Sets and p-values of a fitted ConformalClassifier."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from rankset.core.alpha import Alpha
from rankset.core.alpha_argument import takes_alpha
from rankset.errors import KindError, RuleError
from rankset.inputs import frames
from rankset.inputs.row_index import RowIndex, index_of
from rankset.integrations.sklearn.cross_rule import CrossRule
from rankset.integrations.sklearn.model_outputs import outputs_of
from rankset.rules.rule import Rule
from rankset.rules.select import Empty
from rankset.sets import PredictionSets


class PredictsSetsOfRows:
    """Mixin of ConformalClassifier: the methods ``predict_set`` and ``predict_p``."""

    rule_: Rule | CrossRule
    classes_: NDArray[Any]
    estimator_: Any
    estimators_: list[Any]

    @takes_alpha
    def predict_set(
        self,
        X: Any,
        alpha: Alpha = 0.1,
        *,
        groups: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        empty: Empty = "allow",
        confidence: Alpha | None = None,
        next_rows: int | None = None,
        all_groups: bool = False,
    ) -> PredictionSets:
        """Return sets that contain the true label with probability at least 1 - ``alpha``, or do what ``target`` says.

        With ``CrossConformal``, the proven probability is lower, see ``rule_.guarantee(alpha)``. If the split is
        stratified, nothing is proven, unless the condition is ``PerLabel``.

        Parameters
        ----------
        X : array-like (n, n_features)
            The rows to predict.
        alpha : float, str or Fraction, default 0.1
            Largest allowed probability that a set does not contain the true label. With another target, the largest
            expected loss: the share of missed labels with ``Recall()``, for example.
        groups : array-like (n,), optional
            The group of each row. Required if the condition needs groups.
        weights : array-like (n,) or number, optional
            The weight of each row, or one number for all rows. Required if weights were passed to ``fit``.
        empty : {"allow", "top"}, default "allow"
            "allow" keeps empty sets. "top" adds the most likely label to each empty set.
        confidence : float, str or Fraction, optional
            The probability that the promise holds for this calibration, such as 0.95. Without it, the promise is a mean
            over calibrations. Pass ``alpha`` beside it. It is not available with ``CrossConformal``.
        next_rows, all_groups : optional
            As in ``Rule.predict``: the promise is about the next rows, or about all groups at once.

        Returns
        -------
        PredictionSets
            One set of class names per row.

        Raises
        ------
        KindError
            If ``confidence`` is passed without ``alpha``, or with ``CrossConformal``.

        Examples
        --------
        >>> import rankset as rs
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> rs.ConformalClassifier(random_state=0).fit(X / 10, y).predict_set(X[:2] / 10, alpha=0.2).to_lists()
        [[0], [0]]
        """
        outputs = self._outputs(X)
        per_row = self._per_row(X, groups, weights)
        promise = {"confidence": confidence, "next_rows": next_rows, "all_groups": all_groups}
        asked: dict[str, Any] = {
            name: value for name, value in promise.items() if value is not None and value is not False
        }
        if asked and isinstance(self.rule_, CrossRule):
            raise KindError.confidence_of_folds(next(iter(asked)))
        sets = self.rule_.predict(outputs, alpha, empty=empty, **per_row, **asked)
        return sets if index_of(X) is None and not frames.is_frame(X) else replace(sets, template=template_of(X))

    def predict_p(
        self, X: Any, *, groups: ArrayLike | None = None, weights: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Return the p-value of each class. A class is in the set if and only if its p-value is larger than alpha.

        With a target that counts parts of rows, such as ``Recall()``, it is the smallest alpha at which the class is
        left out.

        Parameters
        ----------
        X : array-like (n, n_features)
            The rows to predict.
        groups : array-like (n,), optional
            The group of each row. Required if the condition needs groups.
        weights : array-like (n,) or number, optional
            As in ``predict_set``.

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
        return self.rule_.p_values(outputs, **self._per_row(X, groups, weights))

    def _per_row(self, X: Any, groups: ArrayLike | None, weights: ArrayLike | None) -> dict[str, Any]:
        """Return groups and weights of rows, whose order must be that of ``X``."""
        index = RowIndex.of(X)
        index.check(groups, "groups")
        if weights is None:
            return {"groups": groups}
        index.check(weights, "weights")
        if isinstance(self.rule_, CrossRule):
            raise RuleError.weights_unused()
        return {"groups": groups, "weights": weights}

    def _outputs(self, X: Any) -> Any:
        """Return what the rule needs: the outputs of the model, or a list of those of every fold's model."""
        check_is_fitted(self)
        if isinstance(self.rule_, CrossRule):
            return [self._outputs_of(model, X) for model in self.estimators_]
        return self._outputs_of(self.estimator_, X)

    def _outputs_of(self, model: Any, X: Any) -> NDArray[Any]:
        return outputs_of(model, X, self.classes_, self.rule_.spec.target)[0]


def template_of(X: Any) -> frames.Template:
    """Return the data frame library and the index of results for the rows of ``X``."""
    known = frames.template(X)
    return frames.Template(index=index_of(X)) if known is frames.ARRAY else known
