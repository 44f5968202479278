"""``ClassCoverageDisplay``: coverage of every true class."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from rankset.core import coverage_law
from rankset.core.alpha import Alpha
from rankset.core.alpha_argument import takes_alpha
from rankset.errors import KindError
from rankset.evaluation.evaluate import evaluate
from rankset.evaluation.evaluation import Evaluation
from rankset.evaluation.several_labels import LabelsEvaluation
from rankset.evaluation.shares import Share
from rankset.inputs.vocabulary import short
from rankset.integrations.matplotlib.display import TARGET, Display
from rankset.sets import PredictionSets
from rankset.targets import Target
from rankset.targets.base import forbids_more_labels

LONGEST_NAME = 28
MANY_CLASSES = 15
"""More classes than this get a smaller font."""
SPACE_OF_LEGEND = 26
"""Space between axes and title for the legend, in points."""


@dataclass(eq=False)
class ClassCoverageDisplay(Display):
    """Coverage of each true class with its exact (Clopper-Pearson) interval, lowest first unless ``sort=False``.

    A dashed line shows 1 - alpha, the target: of every class with ``PerLabel``, of the average over classes with
    ``Balanced``, else of the average over all rows. With ``Pooled``, classes are usually near it, but this is not
    proven. If rows can have several labels, it is the recall of each label: the share of its rows whose sets contain
    it. There is no line for sets that promise something else: ``Cost``, ``CertainLabels`` and ``precise``.

    Parameters
    ----------
    classes : tuple of Share
        Name, number of rows and coverage of each class in the figure.
    intervals : tuple of (float, float)
        Confidence interval of the coverage of each class in the figure.
    alpha : float
        The alpha of the sets.
    confidence : float, default 0.9
        Probability used for the confidence intervals.
    of_classes : int, optional
        Total number of classes, including classes that are not in the figure.
    measure : str, default "coverage"
        What is drawn: "coverage", or "recall" if rows can have several labels.
    promised : bool, default True
        Whether 1 - alpha is promised for it, of classes or on average. If not, no line is drawn.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> sets = rs.calibrate(probs[:130], labels[:130]).predict(probs[130:], alpha=0.1)
    >>> display = rs.ClassCoverageDisplay.from_predictions(sets, labels[130:])
    >>> [share.name for share in display.classes]
    [1, 3, 0, 2]
    """

    classes: tuple[Share, ...]
    intervals: tuple[tuple[float, float], ...]
    alpha: float
    confidence: float = 0.9
    of_classes: int | None = None
    measure: str = "coverage"
    promised: bool = True

    @classmethod
    @takes_alpha
    def from_predictions(
        cls,
        sets: PredictionSets,
        labels: ArrayLike,
        alpha: Alpha | None = None,
        *,
        confidence: float = 0.9,
        max_classes: int = 30,
        sort: bool = True,
        target: Target | str | None = None,
        ax: Any = None,
        **points: Any,
    ) -> Self:
        """Draw the coverage of sets by true class.

        Parameters
        ----------
        sets : PredictionSets
            Sets, for example from ``Rule.predict``.
        labels : array-like (n,)
            The true label of each row. If rows can have several labels: a 0/1 matrix, or one list of labels per row.
        alpha : float, optional
            The alpha of the sets. Needed only if the sets do not store alpha.
        confidence : float, default 0.9
            Probability used for the confidence intervals; not the confidence of ``predict``.
        max_classes : int, default 30
            Maximum number of classes in the figure. The classes with the lowest coverage are drawn.
        sort : bool, default True
            If False, classes stand in the order of the classes of the sets, so that figures can be compared. If there
            are more than ``max_classes``, those with the lowest coverage are still the ones drawn.
        target : Target or str, optional
            Pass it if rows can have several labels and no rule predicted the sets. By default the target of the rule.
        ax : matplotlib Axes, optional
            Axes to draw on. Default: the axes of a new figure.
        **points
            Passed to ``Axes.errorbar``.

        Returns
        -------
        ClassCoverageDisplay
            The display, already drawn.

        Raises
        ------
        KindError
            If ``max_classes`` is not an integer >= 1, or if ``sort`` is not True or False.
        LevelError
            If the sets do not store alpha and ``alpha`` is not passed.

        Examples
        --------
        >>> import rankset as rs
        >>> sets = rs.PredictionSets.from_mask([[True, False], [True, True], [True, False]], ["cat", "dog"], alpha=0.1)
        >>> display = rs.ClassCoverageDisplay.from_predictions(sets, ["cat", "dog", "dog"])
        >>> [(share.name, share.coverage) for share in display.classes]
        [('dog', 0.5), ('cat', 1.0)]
        """
        if not isinstance(max_classes, int | np.integer) or max_classes < 1:
            raise KindError.argument("max_classes", "an integer of at least 1", max_classes)
        if not isinstance(sort, bool | np.bool_):
            raise KindError.argument("sort", "True or False", sort)
        evaluation = _evaluated(sets, labels, alpha, confidence, target)
        shares, measure = _shares(evaluation)
        drawn = _lowest(shares, max_classes, sort=bool(sort))
        intervals = tuple(coverage_law.binomial_interval(round(s.coverage * s.n), s.n, confidence) for s in drawn)
        more: dict[str, Any] = {"of_classes": len(shares), "measure": measure, "promised": _is_promised(evaluation)}
        return cls(drawn, intervals, evaluation.alpha, confidence, **more).plot(ax, **points)

    def plot(self, ax: Any = None, **points: Any) -> Self:
        """Draw a point and its interval for every class.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on. Default: the axes of a new figure.
        **points
            Passed to ``Axes.errorbar``.

        Returns
        -------
        ClassCoverageDisplay
            The display itself.

        Examples
        --------
        >>> import rankset as rs
        >>> sets = rs.PredictionSets.from_mask([[True, False], [True, True]], alpha=0.1)
        >>> display = rs.ClassCoverageDisplay.from_predictions(sets, [0, 1])
        >>> display.plot(color="green").ax_.get_xlabel()
        'coverage'
        """
        ax = self._set_axes(ax, height=max(3.0, 1.2 + 0.22 * len(self.classes)))
        places = np.arange(len(self.classes))
        seen = np.array([share.coverage for share in self.classes])
        low, high = np.array(self.intervals).T
        ax.errorbar(
            seen,
            places,
            xerr=np.maximum(0, (seen - low, high - seen)),
            **{"fmt": "o", "markersize": 4, "color": "C0", "label": f"{self.confidence:.0%} interval"} | points,
        )
        if self.promised:
            ax.axvline(1 - self.alpha, **TARGET, label=f"target: {1 - self.alpha:g}")
        names = [f"{short(share.name, LONGEST_NAME)}  ({share.n:,})".replace("$", r"\$") for share in self.classes]
        some = "" if self.of_classes in (None, len(names)) else f", the lowest {len(names)} of {self.of_classes:,}"
        ax.set_yticks(places, names, fontsize=8 if len(names) > MANY_CLASSES else None)
        ax.invert_yaxis()
        xlabel = self.measure if self.promised else f"{self.measure} (not promised)"
        ax.set(xlabel=xlabel, ylabel="true class (rows)" if self.measure == "coverage" else "label (rows)")
        of = "class" if self.measure == "coverage" else "label"
        ax.set_title(f"{self.measure} by {of}, alpha = {self.alpha:g}{some}", pad=SPACE_OF_LEGEND)
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)  # above all points
        return self


def _evaluated(
    sets: PredictionSets, labels: ArrayLike, alpha: Alpha | None, confidence: float, target: Target | str | None
) -> Evaluation | LabelsEvaluation:
    if target is None:
        return evaluate(sets, labels, alpha, confidence=confidence)
    return evaluate(sets, labels, alpha, confidence=confidence, target=target)


def _shares(evaluation: Evaluation | LabelsEvaluation) -> tuple[tuple[Share, ...], str]:
    """Return the coverage of every class, or the recall of every label, and which of them it is.

    The mean size of the sets of the rows with a label is not known.
    """
    if isinstance(evaluation, LabelsEvaluation):
        return tuple(Share(one.name, one.n, one.recall, math.nan) for one in evaluation.labels), "recall"
    return evaluation.classes, "coverage"


def _is_promised(evaluation: Evaluation | LabelsEvaluation) -> bool:
    """Return whether the sets promise 1 - alpha of what is drawn, and not a cost or few false labels."""
    if isinstance(evaluation, LabelsEvaluation):
        return not forbids_more_labels(evaluation.target)
    return evaluation.cost is None


def _lowest(classes: tuple[Share, ...], most: int, *, sort: bool) -> tuple[Share, ...]:
    """Return the classes with the lowest coverage: lowest first, or in their own order."""
    places = sorted(range(len(classes)), key=lambda place: (classes[place].coverage, -classes[place].n))[:most]
    return tuple(classes[place] for place in (places if sort else sorted(places)))
