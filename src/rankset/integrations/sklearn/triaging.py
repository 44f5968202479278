"""Decisions of a fitted ConformalClassifier: which predictions may be accepted without a person."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from rankset.decisions.decisions import Decisions
from rankset.decisions.errors_by_group import Errors
from rankset.decisions.triage import Triage
from rankset.errors import RuleError
from rankset.inputs.row_index import RowIndex
from rankset.integrations.sklearn.cross_rule import CrossRule
from rankset.integrations.sklearn.predicting import template_of
from rankset.rules.rule import Rule
from rankset.targets.base import has_several_labels


class TriagesRows:
    """Mixin of ConformalClassifier: the method ``triage``."""

    triage_: Triage | None
    rule_: Rule | CrossRule

    def _why_no_triage(self) -> str:
        """Return why ``fit`` made no triage."""
        if isinstance(self.rule_, CrossRule):
            return f"{len(self.rule_.rules)} folds"
        if self.rule_.spec.sharing is not None:
            return repr(self.rule_.condition)
        if self.rule_.spec.weighted:
            return "weights of rows"
        several = has_several_labels(self.rule_.spec.target)
        return "a target for several labels" if several else "a stratified split"

    def triage(self, X: Any, error: Errors, *, groups: ArrayLike | None = None) -> Decisions:
        """Return which predictions of a batch may be accepted: the expected share of wrong ones is at most ``error``.

        It uses the largest probability as the confidence. ``triage_`` is the ``Triage`` of the calibration rows:
        ``triage_.threshold`` finds a fixed threshold for a stream, ``triage_.curve`` shows what is accepted.

        Parameters
        ----------
        X : array-like (n, n_features)
            The rows of the batch.
        error : float, str, Fraction, or dict
            Largest expected share of wrong predictions among the accepted ones. A dictionary has an error for each
            label or group, if the condition is ``PerLabel()`` or ``PerGroup()``.
        groups : array-like (n,), optional
            The group of each row. Required if the condition needs groups.

        Returns
        -------
        Decisions

        Raises
        ------
        RuleError
            If there are several models (``CrossConformal``), if the split used the labels, if rows can have several
            labels, or if they have weights.

        Examples
        --------
        >>> import rankset as rs
        >>> from sklearn.datasets import load_digits
        >>> X, y = load_digits(return_X_y=True)
        >>> model = rs.ConformalClassifier(random_state=0).fit(X[:1200] / 16, y[:1200])
        >>> model.triage(X[1200:] / 16, error=0.05).share > 0.8
        True
        """
        check_is_fitted(self)
        if self.triage_ is None:
            raise RuleError.no_triage(self._why_no_triage())
        RowIndex.of(X).check(groups, "groups")
        done = self.triage_.accept(self._outputs(X), error, groups=groups)  # type: ignore[attr-defined]
        template = template_of(X)
        data = replace(done.answers.data, template=template, index=RowIndex(template.index, numbered=template.numbered))
        return replace(done, answers=done.answers._replace(data=data))
