"""``SizeDisplay``: mean set size against coverage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.integrations.matplotlib.display import Display
from rankset.integrations.matplotlib.p_value_curves import ALPHAS, ONE, curves, estimator_p_values, rule_p_values
from rankset.rules.rule import Rule
from rankset.targets import Target

Floats = NDArray[np.float64]


@dataclass(eq=False)
class SizeDisplay(Display):
    """Mean set size against observed coverage, as a curve.

    A lower curve is better. To compare several rules, draw their curves on the same axes.

    Parameters
    ----------
    alphas : array (m,)
        Values of alpha.
    coverage : array (m,)
        Observed coverage at each alpha.
    mean_sizes : array (m,)
        Mean size of the sets at each alpha.
    measure : str, default "coverage"
        The name of ``coverage``: "recall" for the target ``Recall()``, for example.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rule = rs.calibrate(probs[:130], labels[:130])
    >>> display = rs.SizeDisplay.from_rule(rule, probs[130:], labels[130:], alphas=[0.1, 0.2])
    >>> display.mean_sizes.round(2)
    array([2.41, 1.55])
    """

    alphas: Floats
    coverage: Floats
    mean_sizes: Floats
    measure: str = "coverage"

    @classmethod
    def from_predictions(
        cls,
        p_values: ArrayLike,
        labels: ArrayLike,
        *,
        classes: Iterable[object] | None = None,
        alphas: Sequence[float] = ALPHAS,
        target: Target | str = ONE,
        ax: Any = None,
        **line: Any,
    ) -> Self:
        """Draw the curve of sets that are computed from p-values. A set contains the labels with p-value > alpha.

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
        target : Target or str, default ``OneLabel()``
            The target of the rule that made the p-values. The curve shows what it promises, such as recall.
        ax : matplotlib Axes, optional
            Axes to draw on. Default: the axes of a new figure.
        **line
            Passed to ``Axes.plot``.

        Returns
        -------
        SizeDisplay
            The display, already drawn.

        Raises
        ------
        KindError, InputError, LabelError, LevelError
            If an argument is invalid.

        Examples
        --------
        >>> import rankset as rs
        >>> p_values = [[0.9, 0.05], [0.3, 0.6]]
        >>> rs.SizeDisplay.from_predictions(p_values, [0, 0], alphas=[0.1, 0.5]).mean_sizes
        array([1.5, 1. ])
        """
        drawn = curves(p_values, labels, classes, alphas, target)
        return cls(drawn.alphas, drawn.kept, drawn.sizes, drawn.measure).plot(ax, **line)

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
        ax: Any = None,
        **line: Any,
    ) -> Self:
        """Draw the curve of a rule on labelled rows that were not used for its calibration.

        Parameters
        ----------
        rule : Rule
            The calibrated rule. The legend shows the name of its score, unless you pass ``label=``.
        probs, labels, groups, ids : array-like
            Rows, groups and ids as in ``Rule.predict``, and the true labels.
        alphas, ax, **line
            As in ``from_predictions``.

        Returns
        -------
        SizeDisplay
            The display, already drawn.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> ax = None
        >>> for score in (rs.Rank(), rs.Thr()):
        ...     rule = rs.calibrate(probs[:130], labels[:130], method=score)
        ...     ax = rs.SizeDisplay.from_rule(rule, probs[130:], labels[130:], ax=ax).ax_
        >>> [line.get_label() for line in ax.lines]
        ['Rank', 'Thr']
        """
        p_values, columns, target = rule_p_values(rule, probs, labels, groups, ids)
        named = {"label": type(rule.score).__name__} | line
        return cls.from_predictions(p_values, columns, alphas=alphas, target=target, ax=ax, **named)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, groups: ArrayLike | None = None, ax: Any = None, **line: Any
    ) -> Self:
        """Draw the curve of a fitted ``ConformalClassifier`` on rows that were not used in ``fit``.

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
        SizeDisplay
            The display, already drawn.

        Examples
        --------
        >>> import rankset as rs
        >>> from sklearn.datasets import load_wine
        >>> from sklearn.naive_bayes import GaussianNB
        >>> X, y = load_wine(return_X_y=True)
        >>> model = rs.ConformalClassifier(GaussianNB(), random_state=0).fit(X[::2], y[::2])
        >>> rs.SizeDisplay.from_estimator(model, X[1::2], y[1::2], label="naive Bayes").ax_.get_xlabel()
        'coverage seen'
        """
        p_values = estimator_p_values(estimator, X, y, groups)
        options = {"classes": estimator.classes_, "target": estimator.rule_.spec.target, "ax": ax}
        return cls.from_predictions(p_values, y, **options, **line)

    def plot(self, ax: Any = None, **line: Any) -> Self:
        """Draw one curve. Pass ``label=`` to set its name in the legend.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on. Default: the axes of a new figure. Several displays can be drawn on the same axes.
        **line
            Passed to ``Axes.plot``.

        Returns
        -------
        SizeDisplay
            The display itself.

        Examples
        --------
        >>> import numpy as np
        >>> import rankset as rs
        >>> display = rs.SizeDisplay(np.array([0.1]), np.array([0.92]), np.array([1.4])).plot(label="my model")
        >>> display.ax_.get_ylabel()
        'mean set size'
        """
        ax = self._set_axes(ax)
        ax.plot(self.coverage, self.mean_sizes, **{"marker": ".", "markersize": 4} | line)
        ax.set(xlabel=f"{self.measure} seen", ylabel="mean set size", title=f"size against {self.measure}")
        ax.autoscale(enable=True, axis="y")
        ax.set_ylim(bottom=0)
        if "label" in line:
            ax.legend(loc="upper left")
        return self
