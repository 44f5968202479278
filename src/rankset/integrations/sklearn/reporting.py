"""The report of a fitted ConformalClassifier, also with one model per fold."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core.alpha import Alpha
from rankset.core.alpha_argument import takes_alpha
from rankset.inputs.label_lists import label_lists
from rankset.inputs.per_row import label_codes
from rankset.inputs.prepare import Prepared
from rankset.inputs.row_index import RowIndex
from rankset.integrations.sklearn.cross_rule import CrossRule
from rankset.reports.page import Report
from rankset.reports.several_labels import RowsOfLabels, study_several
from rankset.reports.study import check_one_label, study_tested
from rankset.reports.tested import LabelledRows, RuleOnRows, TestedRule
from rankset.reports.write import TITLE, check_report, write_study
from rankset.rules.rule import Rule
from rankset.rules.spec import RuleSpec
from rankset.streams.exchangeability import Exchangeability
from rankset.targets.base import has_several_labels


@dataclass(frozen=True)
class CrossRuleOnRows:
    """A ``CrossRule`` and the prepared outputs of the models of all folds."""

    rule: CrossRule
    data: Sequence[Prepared]

    @cached_property
    def spec(self) -> RuleSpec:
        """Score, condition and names of the rule."""
        return self.rule.spec

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of calibration rows in each group, in all folds."""
        counts: NDArray[np.int64] = self.rule._fold_sizes().sum(axis=0)
        return counts

    @property
    def absent(self) -> NDArray[np.int64]:
        """Number of calibration rows in each group whose true label is absent: none, classifiers have no such rows."""
        return np.zeros_like(self.counts)

    def p_values(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the p-values of every label of some rows."""
        some = [fold.take(rows) for fold in self.data]
        if not self.spec.condition.needs_groups:
            some = [replace(fold, groups=None) for fold in some]
        stranger, sizes = self.rule._pooled(some)
        return (1 + stranger) / (1 + sizes)

    @property
    def effective_rows(self) -> float | None:
        """Return None: rows of folds have no weights."""
        return None

    def proven(self, alpha: Fraction) -> float | None:
        """Return the proven coverage, which is lower than 1 - ``alpha``."""
        return self.rule.guarantee(alpha)

    def exchangeability(self, labels: NDArray[np.int64]) -> Exchangeability | None:
        """Return None: every fold has a model of its own."""

    @property
    def n(self) -> int:
        """Number of calibration rows that have labels, in all folds."""
        return self.rule.n

    @property
    def set_aside(self) -> int:
        """Number of calibration rows without labels, in all folds."""
        return self.rule.set_aside

    def sure_alphas(self, alphas: Sequence[Fraction]) -> list[float] | None:
        """Return None: with folds no confidence is known."""

    def ranges(self, n_rows: int, alphas: Sequence[Fraction]) -> list[list[float]]:
        """Return nothing: the distribution of the coverage of several folds is not known."""
        return []

    def laws(self, n_rows: int, alphas: Sequence[Fraction]) -> dict[str, Any]:
        """Return the number of folds: nothing else is known about coverage."""
        return {"folds": len(self.rule.rules)}


class WritesReport:
    """Mixin of ConformalClassifier: the method ``report``."""

    rule_: Rule | CrossRule

    @takes_alpha
    def report(
        self,
        X: Any,
        y: ArrayLike,
        path: str | os.PathLike[str] | None = None,
        *,
        groups: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        alpha: Alpha = 0.1,
        title: str = TITLE,
        show_progress: bool = False,
    ) -> Report:
        """Test the sets on rows with known labels, and write the results as an HTML page.

        The page is that of ``rankset.report``. If rows can have several labels, it shows recall and all labels.

        Parameters
        ----------
        X : array-like (n, n_features)
            The test rows: rows that were not passed to ``fit``.
        y : array-like (n,) or (n, K)
            The true label of each row, or the true labels as in ``fit``.
        path : str or path, optional
            The file to write. Its name must end in ".html". An existing file is replaced. Without a path, nothing is
            written.
        groups : array-like (n,), optional
            The group of each row. The page then shows coverage for every group. Required if the condition needs groups.
        ids : array-like (n,), optional
            The id of each row, shown in the list of the most ambiguous rows. By default the index of ``X`` if it is a
            pandas frame.
        weights : array-like (n,) or number, optional
            The weight of each row. Required if weights were passed to ``fit``.
        alpha : float, str or Fraction, default 0.1
            The alpha that the page shows when it is opened.
        title : str, default "Prediction sets"
            Title of the page.
        show_progress : bool, default False
            Whether to show a progress bar on stderr.

        Returns
        -------
        Report
            The page, with ``path``, ``html`` and all numbers (``study``). A notebook shows it, or a link to its file.

        Raises
        ------
        LabelError
            If a label is not one of ``classes_``, or if groups are missing.
        FileError
            If the file cannot be written, or if its name does not end in ".html".
        KindError
            If plotly is not installed.

        Examples
        --------
        >>> import rankset as rs
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.model_selection import train_test_split
        >>> X, X_new, y, y_new = train_test_split(*load_iris(return_X_y=True), test_size=0.4, random_state=0)
        >>> model = rs.ConformalClassifier(random_state=0).fit(X / 10, y)
        >>> model.report(X_new / 10, y_new, title="Iris")
        Report('Iris', 60 rows, Rank())
        """
        check_report(path)
        outputs, index = self._outputs(X), RowIndex.of(X)  # type: ignore[attr-defined]
        tested, data = _tested(self.rule_, outputs, self._per_row(X, groups, weights))  # type: ignore[attr-defined]
        if has_several_labels(tested.spec.target):
            truths = label_lists(y, tested.spec.classes, len(data), index, name="y")
            several = RowsOfLabels(truths, tested.spec.classes, alpha, data.groups)
            return write_study(study_several([tested], several, show_progress=show_progress), path, title)
        check_one_label([tested.spec])
        labels = label_codes(y, tested.spec.classes, len(data), index, name="y")
        rows = LabelledRows.of(labels, data, ids, index, alpha)
        answers = (
            replace(data.without_weights(), labels=labels) if isinstance(tested, RuleOnRows) else None
        )  # folds: several models
        study = study_tested([tested], rows, answers=answers, show_progress=show_progress)
        return write_study(study, path, title)


def _tested(rule: Rule | CrossRule, outputs: Any, per_row: dict[str, Any]) -> tuple[TestedRule, Prepared]:
    """Return the rule on checked rows, and these rows, of the first fold if there are several."""
    if isinstance(rule, CrossRule):
        folds = rule._prepare(outputs, per_row["groups"], None)
        return CrossRuleOnRows(rule, folds), folds[0]
    data = rule._prepare(outputs, **per_row)
    return RuleOnRows(rule, data), data
