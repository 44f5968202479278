"""``CoverageDisplay``: coverage against alpha."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.errors import KindError
from rankset.integrations.matplotlib.display import TARGET, Display
from rankset.integrations.matplotlib.p_value_curves import (
    ALPHAS,
    ONE,
    Curves,
    coverage_ranges,
    curves,
    estimator_p_values,
    rule_p_values,
)
from rankset.rules.rule import Rule
from rankset.targets import Target, checked_target, counts_parts

Floats = NDArray[np.float64]

OTHERS = (":", (0, (3, 1, 1, 1, 1, 1)))
"""Styles of the lines of measures that are not promised."""


@dataclass(eq=False)
class CoverageDisplay(Display):
    """Observed coverage against alpha, with the target 1 - alpha as a dashed line.

    For a rule with another target than one label per row, the line is what the target promises to be at least
    1 - alpha: the recall with ``Recall()``, the share of rows whose sets contain all labels with ``AllLabels()``. If
    rows can have several labels, both are drawn, and the one that is not promised is dotted. If labels have thresholds
    of their own (``PerLabel``), both are dotted without a target: the promise is then about single labels. See
    ``ClassCoverageDisplay``.

    Parameters
    ----------
    alphas : array (m,)
        Values of alpha.
    coverage : array (m,)
        Observed coverage at each alpha.
    band : pair of arrays (m,), optional
        Lower and upper limits at each alpha. For random calibration and test rows, observed coverage is between the
        limits with probability ``confidence``. None if the limits are not known.
    confidence : float, default 0.9
        Probability used for ``band``.
    measure : str, default "coverage"
        The name of ``coverage``: "recall" for the target ``Recall()``, for example.
    others : mapping from str to array (m,), optional
        Other measures at each alpha, which are not promised.
    promised : bool, default True
        Whether ``coverage`` is promised to be at least 1 - alpha on average.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rule = rs.calibrate(probs[:130], labels[:130])
    >>> display = rs.CoverageDisplay.from_rule(rule, probs[130:], labels[130:], alphas=[0.1, 0.2])
    >>> display.coverage.round(2)
    array([0.85, 0.78])
    """

    alphas: Floats
    coverage: Floats
    band: tuple[Floats, Floats] | None = None
    confidence: float = 0.9
    measure: str = "coverage"
    others: Mapping[str, Floats] = field(default_factory=dict)
    promised: bool = True

    @classmethod
    def from_predictions(
        cls,
        p_values: ArrayLike,
        labels: ArrayLike,
        *,
        classes: Iterable[object] | None = None,
        alphas: Sequence[float] = ALPHAS,
        n_calibration: int | None = None,
        n_absent: int = 0,
        confidence: float = 0.9,
        target: Target | str = ONE,
        promised: bool = True,
        ax: Any = None,
        **line: Any,
    ) -> Self:
        """Draw the coverage of sets that are computed from p-values. A set contains the labels with p-value > alpha.

        Parameters
        ----------
        p_values : array-like (n, K)
            P-values, for example from ``Rule.p_values``.
        labels : array-like (n,)
            The true label of each row. If rows can have several labels: a 0/1 matrix, or one list of labels per row.
        classes : sequence, optional
            Class names in column order.
        alphas : sequence of float
            Values of alpha. Default: 0.01, 0.02, …, 0.5.
        n_calibration : int, optional
            Number of calibration rows. If given, a band is drawn. Pass it only if there is one threshold for all rows.
        n_absent : int, default 0
            Number of calibration rows with the label ``rankset.ABSENT``.
        confidence : float, default 0.9
            Probability used for the band; not the confidence of ``predict``. With targets that count parts of rows,
            such as ``Recall()``, it is at least this probability. Where calibration rows have equal scores, coverage
            can be above the band.
        target : Target or str, default ``OneLabel()``
            The target of the rule that made the p-values.
        promised : bool, default True
            Pass False if rows can have several labels and labels have thresholds of their own, as with ``PerLabel()``.
        ax : matplotlib Axes, optional
            Axes to draw on. Default: the axes of a new figure.
        **line
            Passed to ``Axes.plot``.

        Returns
        -------
        CoverageDisplay
            The display, already drawn.

        Raises
        ------
        KindError, InputError, LabelError, LevelError
            If an argument is invalid.

        Examples
        --------
        >>> import rankset as rs
        >>> p_values = [[0.9, 0.05], [0.3, 0.6]]
        >>> rs.CoverageDisplay.from_predictions(p_values, [0, 0], alphas=[0.1, 0.5]).coverage
        array([1. , 0.5])
        """
        drawn = curves(p_values, labels, classes, alphas, target)
        if n_calibration is not None and (not isinstance(n_calibration, int | np.integer) or n_calibration < 1):
            raise KindError.argument("n_calibration", "an integer of at least 1", n_calibration)
        band = None
        if n_calibration is not None:
            size, shares = (drawn.n_rows, n_calibration, n_absent), counts_parts(checked_target(target))
            band = coverage_ranges(*size, drawn.alphas.tolist(), confidence, shares=shares)
        made = cls(drawn.alphas, drawn.kept, band, confidence, drawn.measure, drawn.others, promised)
        return made.plot(ax, **line)

    @classmethod
    def from_rule(
        cls,
        rule: Rule,
        probs: ArrayLike,
        labels: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        alphas: Sequence[float] = ALPHAS,
        confidence: float = 0.9,
        ax: Any = None,
        **line: Any,
    ) -> Self:
        """Draw the coverage of a rule on labelled rows that were not used for its calibration.

        Parameters
        ----------
        rule : Rule
            The calibrated rule.
        probs, labels, groups, ids : array-like
            Rows, groups and ids as in ``Rule.predict``, and the true labels.
        alphas, confidence, ax, **line
            As in ``from_predictions``.

        Returns
        -------
        CoverageDisplay
            The display, already drawn. It has a band if the rule has one threshold for all rows.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> rule = rs.calibrate(probs[:130], labels[:130])
        >>> low, high = rs.CoverageDisplay.from_rule(rule, probs[130:], labels[130:], alphas=[0.1]).band
        >>> low.round(2), high.round(2)
        (array([0.84]), array([0.95]))
        """
        p_values, columns, target = rule_p_values(rule, probs, labels, groups, ids)
        if target != ONE:
            drawn = curves(p_values, columns, None, alphas, target)
            return cls._of_target(drawn, rule, confidence).plot(ax, **line)
        n = rule.n if rule.spec.has_law else None
        absent = rule.calibration.n_absent
        options: dict[str, Any] = {"n_calibration": n, "n_absent": absent, "confidence": confidence, "ax": ax}
        options["promised"] = not rule.spec.balanced
        return cls.from_predictions(p_values, columns, alphas=alphas, target=target, **options, **line)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, groups: ArrayLike | None = None, ax: Any = None, **line: Any
    ) -> Self:
        """Draw the coverage of a fitted ``ConformalClassifier`` on rows that were not used in ``fit``.

        Parameters
        ----------
        estimator : ConformalClassifier
            The fitted classifier.
        X, y, groups : array-like
            Rows, true labels, and groups of the rows if the condition needs groups.
        ax, **line
            As in ``from_predictions``.

        Returns
        -------
        CoverageDisplay
            The display, already drawn.

        Examples
        --------
        >>> import rankset as rs
        >>> from sklearn.datasets import load_wine
        >>> from sklearn.naive_bayes import GaussianNB
        >>> X, y = load_wine(return_X_y=True)
        >>> model = rs.ConformalClassifier(GaussianNB(), random_state=0).fit(X[::2], y[::2])
        >>> len(rs.CoverageDisplay.from_estimator(model, X[1::2], y[1::2]).alphas)
        50
        """
        p_values, rule = estimator_p_values(estimator, X, y, groups), estimator.rule_
        if isinstance(rule, Rule) and rule.target != ONE:
            drawn = curves(p_values, y, estimator.classes_, ALPHAS, rule.target)
            return cls._of_target(drawn, rule, 0.9).plot(ax, **line)
        known = isinstance(rule, Rule) and rule.spec.has_law
        n = rule.n if known else None
        options = {"classes": estimator.classes_, "n_calibration": n, "target": rule.spec.target, "ax": ax}
        options["promised"] = not rule.spec.promises_by_label and not rule.spec.balanced
        return cls.from_predictions(p_values, y, **options, **line)

    @classmethod
    def _of_target(cls, drawn: Curves, rule: Rule, confidence: float) -> Self:
        """Return the display of a rule whose target is not ``OneLabel``; its band reaches up to 1 where scores tie."""
        ends = None
        if rule.spec.has_law:
            alphas, shares = drawn.alphas.tolist(), rule.calibration.weights is not None
            low, high = coverage_ranges(drawn.n_rows, rule.n, 0, alphas, confidence, shares=shares)
            ends = low, np.where([rule.coverage_band(alpha).tied for alpha in alphas], 1.0, high)
        promised = not rule.spec.promises_by_label
        return cls(drawn.alphas, drawn.kept, ends, confidence, drawn.measure, drawn.others, promised)

    def plot(self, ax: Any = None, **line: Any) -> Self:
        """Draw the observed coverage, the target 1 - alpha, and the band.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on. Default: the axes of a new figure. Several displays can be drawn on the same axes.
        **line
            Passed to ``Axes.plot``.

        Returns
        -------
        CoverageDisplay
            The display itself.

        Examples
        --------
        >>> import numpy as np
        >>> import rankset as rs
        >>> display = rs.CoverageDisplay(np.array([0.1, 0.2]), np.array([0.92, 0.81])).plot(label="my model")
        >>> display.ax_.get_ylabel()
        'coverage'
        """
        ax = self._set_axes(ax)
        first = not any(known.get_gid() == "asked" for known in ax.lines)
        if first and self.promised:
            ax.plot(self.alphas, 1 - self.alphas, **TARGET, gid="asked", label="asked: 1 − alpha")
        seen = "seen" if self.measure == "coverage" else f"{self.measure} seen"
        style = {} if self.promised else {"linestyle": OTHERS[0]}
        (drawn,) = ax.plot(self.alphas, self.coverage, **{"label": seen} | style | line)
        for number, (name, values) in enumerate(self.others.items(), start=0 if self.promised else 1):
            dots = {"linestyle": OTHERS[number % len(OTHERS)], "linewidth": 1.5, "label": f"{name} seen"}
            ax.plot(self.alphas, values, color=drawn.get_color(), **dots)
        if self.band is not None:
            label = f"sampling variation, {self.confidence:.0%} at each alpha" if first else None
            ax.fill_between(self.alphas, *self.band, color=drawn.get_color(), alpha=0.12, linewidth=0, label=label)
        ylabel = " or ".join((self.measure, *self.others))
        some = "" if self.promised else " (not promised)"
        ax.set(xlabel="alpha", ylabel=ylabel, title=f"{self.measure} against alpha{some}")
        ax.legend(loc="lower left")
        return self
