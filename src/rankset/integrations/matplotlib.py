"""Pictures in the manner of scikit-learn's displays: ``from_…`` works out what is shown, ``plot(ax=)`` draws it.

A display keeps its numbers as attributes, and after drawing ``ax_`` and ``figure_``. Further options of ``plot`` go
to the main bars, line or points.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core import coverage_law
from rankset.core.alpha import Alpha, exact_alpha, threshold_position
from rankset.errors import InputError, KindError
from rankset.evaluation.evaluate import evaluate
from rankset.evaluation.shares import Share
from rankset.inputs.matrix import Kind, as_matrix, label_codes
from rankset.inputs.row_index import RowIndex
from rankset.inputs.vocabulary import class_names, short
from rankset.rules import rule
from rankset.rules.rule import Rule
from rankset.sets import PredictionSets

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ALPHAS = tuple(percent / 100 for percent in range(1, 51))
TARGET = {"color": "0.5", "linestyle": "--", "linewidth": 1.2}
SHOWN_SHARE = 0.999
"""Ranks and sizes beyond this share of the rows are left out of a picture."""


class _Display:
    """What displays share: axes to draw on."""

    ax_: Any
    figure_: Any

    def _on(self, ax: Any, height: float = 4.8) -> Any:
        if ax is None:
            try:
                import matplotlib.pyplot as plt
            except ImportError:
                raise KindError.no_matplotlib() from None
            _, ax = plt.subplots(figsize=(6.4, height), layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        return ax


@dataclass(eq=False)
class RankDisplay(_Display):
    """How far down their rows true labels stand, and r*, where a rule cuts at ``alpha``.

    Bars are the share of calibration rows whose label has rank 1, 2, …; the steps are the share up to there. r* is the
    first rank at which they reach the dashed line: 1 - alpha, a little higher for few rows.
    """

    counts: Ints
    r_star: int
    alpha: float

    @classmethod
    def from_rule(
        cls, rule: Rule, alpha: Alpha = 0.1, *, group: object = None, label: object = None, ax: Any = None, **bars: Any
    ) -> Self:
        """The ranks that calibrated a rule with score ``Rank`` or ``TopK``."""
        profile = rule.rank_profile(alpha, group=group, label=label)
        return cls(profile.counts, profile.r_star, float(exact_alpha(alpha))).plot(ax, **bars)

    @classmethod
    def from_predictions(
        cls,
        probs: ArrayLike,
        labels: ArrayLike,
        alpha: Alpha = 0.1,
        *,
        kind: Kind = "probs",
        classes: Iterable[object] | None = None,
        ax: Any = None,
        **bars: Any,
    ) -> Self:
        """The ranks of ``labels`` in rows of ``probs``."""
        return cls.from_rule(rule.calibrate(probs, labels, kind=kind, classes=classes), alpha, ax=ax, **bars)

    def plot(self, ax: Any = None, **bars: Any) -> Self:
        """Draws bars, steps and the line at r*."""
        ax = self._on(ax)
        shares = self.counts / max(1, self.counts.sum())
        so_far = shares.cumsum()
        last = max(int(np.searchsorted(so_far, SHOWN_SHARE)) + 1, min(self.r_star + 1, len(shares)))
        ranks = np.arange(1, last + 1)
        ax.bar(ranks, shares[:last], **{"color": "C0", "alpha": 0.8, "label": "labels of this rank"} | bars)
        ax.step(ranks, so_far[:last], where="mid", color="C1", label="up to this rank")
        n = int(self.counts.sum())
        ax.axhline(min(1, threshold_position(n, exact_alpha(self.alpha)) / max(1, n)), **TARGET)
        ax.axvline(self.r_star, color="C3", linestyle=":", linewidth=2, label=f"r* = {self.r_star}")
        ax.set(xlabel="rank of the true label", ylabel="share of calibration rows", ylim=(0, 1.03))
        ax.set_title(f"rank distribution, alpha = {self.alpha:g}")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.legend(loc="center right")
        return self


@dataclass(eq=False)
class CoverageDisplay(_Display):
    """Coverage seen against alpha, beside the 1 - alpha that was asked for.

    ``band`` (None: not known) tells where coverage falls by luck alone in ``confidence`` of calibrations of this size.
    """

    alphas: Floats
    coverage: Floats
    band: tuple[Floats, Floats] | None = None
    confidence: float = 0.9

    @classmethod
    def from_predictions(
        cls,
        p_values: ArrayLike,
        labels: ArrayLike,
        *,
        classes: Iterable[object] | None = None,
        alphas: Sequence[float] = ALPHAS,
        n_calibration: int | None = None,
        confidence: float = 0.9,
        ax: Any = None,
        **line: Any,
    ) -> Self:
        """From p-values (n, K), as ``Rule.p_values`` gives them: a set at alpha holds the labels above alpha.

        ``n_calibration``, the rows that calibrated one threshold for everybody, adds the band.
        """
        grid, covered, _ = _curves(p_values, labels, classes, alphas)
        if n_calibration is not None and (not isinstance(n_calibration, int | np.integer) or n_calibration < 1):
            raise KindError.argument("n_calibration", "a whole number of rows, at least 1", n_calibration)
        band = (
            None if n_calibration is None else _band(len(np.asarray(labels)), n_calibration, grid.tolist(), confidence)
        )
        return cls(grid, covered, band, confidence).plot(ax, **line)

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
        """From labelled rows that are new to the rule."""
        _check_order(probs, labels=labels, groups=groups, ids=ids)
        p_values = rule.p_values(probs, groups=groups, ids=ids)
        n = rule.n if rule.spec.n_groups == 1 else None
        options = {"alphas": alphas, "n_calibration": n, "confidence": confidence, "ax": ax}
        return cls.from_predictions(p_values, labels, classes=rule.classes, **options, **line)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, groups: ArrayLike | None = None, ax: Any = None, **line: Any
    ) -> Self:
        """From a fitted ``ConformalClassifier`` and rows that are new to it."""
        _check_order(X, y=y, groups=groups)
        p_values, rule = _p_values(estimator, X, groups), estimator.rule_
        n = rule.n if isinstance(rule, Rule) and rule.spec.n_groups == 1 else None
        return cls.from_predictions(p_values, y, classes=estimator.classes_, n_calibration=n, ax=ax, **line)

    def plot(self, ax: Any = None, **line: Any) -> Self:
        """Draws coverage, what was asked, and what luck allows."""
        ax = self._on(ax)
        first = not any(known.get_gid() == "asked" for known in ax.lines)
        if first:
            ax.plot(self.alphas, 1 - self.alphas, **TARGET, gid="asked", label="asked: 1 − alpha")
        (drawn,) = ax.plot(self.alphas, self.coverage, **{"label": "seen"} | line)
        if self.band is not None:
            luck = f"luck alone, {self.confidence:.0%} at each alpha" if first else None
            ax.fill_between(self.alphas, *self.band, color=drawn.get_color(), alpha=0.12, linewidth=0, label=luck)
        ax.set(xlabel="alpha", ylabel="coverage", title="coverage against alpha")
        ax.legend(loc="lower left")
        return self


@dataclass(eq=False)
class SizeDisplay(_Display):
    """The mean size of sets against their coverage: lower is better. Draw several on the same ``ax`` to compare."""

    alphas: Floats
    coverage: Floats
    mean_sizes: Floats

    @classmethod
    def from_predictions(
        cls,
        p_values: ArrayLike,
        labels: ArrayLike,
        *,
        classes: Iterable[object] | None = None,
        alphas: Sequence[float] = ALPHAS,
        ax: Any = None,
        **line: Any,
    ) -> Self:
        """From p-values (n, K), as ``Rule.p_values`` gives them."""
        return cls(*_curves(p_values, labels, classes, alphas)).plot(ax, **line)

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
        """From labelled rows that are new to the rule."""
        _check_order(probs, labels=labels, groups=groups, ids=ids)
        p_values = rule.p_values(probs, groups=groups, ids=ids)
        named = {"label": type(rule.score).__name__} | line
        return cls.from_predictions(p_values, labels, classes=rule.classes, alphas=alphas, ax=ax, **named)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, groups: ArrayLike | None = None, ax: Any = None, **line: Any
    ) -> Self:
        """From a fitted ``ConformalClassifier`` and rows that are new to it."""
        _check_order(X, y=y, groups=groups)
        return cls.from_predictions(_p_values(estimator, X, groups), y, classes=estimator.classes_, ax=ax, **line)

    def plot(self, ax: Any = None, **line: Any) -> Self:
        """Draws one curve; with ``label=`` it is named."""
        ax = self._on(ax)
        ax.plot(self.coverage, self.mean_sizes, **{"marker": ".", "markersize": 4} | line)
        ax.set(xlabel="coverage seen", ylabel="mean set size", title="size against coverage")
        ax.autoscale(enable=True, axis="y")
        ax.set_ylim(bottom=0)
        if "label" in line:
            ax.legend(loc="upper left")
        return self


@dataclass(eq=False)
class SizeHistogramDisplay(_Display):
    """How many sets have 0, 1, 2, … labels."""

    counts: Ints
    alpha: float | None = None

    @classmethod
    def from_predictions(cls, sets: PredictionSets, *, ax: Any = None, **bars: Any) -> Self:
        """From the sets of some rows."""
        if not isinstance(sets, PredictionSets):
            raise KindError.argument("sets", "PredictionSets, as Rule.predict returns them", type(sets).__name__)
        if len(sets) == 0:
            raise InputError.no_rows_to_evaluate()
        return cls(np.bincount(sets.sizes), sets.alpha).plot(ax, **bars)

    def plot(self, ax: Any = None, **bars: Any) -> Self:
        """Draws a bar for every size, and the mean."""
        ax = self._on(ax)
        shares = self.counts / self.counts.sum()
        sizes = np.arange(len(shares))
        mean = float(sizes @ shares)
        last = int(np.searchsorted(shares.cumsum(), SHOWN_SHARE)) + 1
        first = int(np.flatnonzero(self.counts)[0])
        shown = slice(min(first, 1), max(last, 2))
        drawn = ax.bar(sizes[shown], shares[shown], **{"alpha": 0.6, "width": 0.9} | bars)
        ax.axvline(mean, color=drawn.patches[0].get_facecolor(), linestyle=":", linewidth=2, label=f"mean {mean:.3g}")
        asked = "" if self.alpha is None else f", alpha = {self.alpha:g}"
        ax.set(xlabel="labels in the set", ylabel="share of rows", title=f"set sizes{asked}")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.legend()
        return self


@dataclass(eq=False)
class ClassCoverageDisplay(_Display):
    """Coverage of every true class with its exact interval, the lowest first, beside the 1 - alpha asked on average."""

    classes: tuple[Share, ...]
    intervals: tuple[tuple[float, float], ...]
    alpha: float
    confidence: float = 0.9
    of_classes: int | None = None

    @classmethod
    def from_predictions(
        cls,
        sets: PredictionSets,
        labels: ArrayLike,
        alpha: Alpha | None = None,
        *,
        confidence: float = 0.9,
        max_classes: int = 30,
        ax: Any = None,
        **points: Any,
    ) -> Self:
        """From sets and the labels of their rows; of more than ``max_classes`` the ones covered least."""
        if not isinstance(max_classes, int | np.integer) or max_classes < 1:
            raise KindError.argument("max_classes", "a whole number, at least 1", max_classes)
        seen = evaluate(sets, labels, alpha, confidence=confidence)
        worst = tuple(sorted(seen.classes, key=lambda share: (share.coverage, -share.n))[:max_classes])
        intervals = tuple(coverage_law.binomial_interval(round(s.coverage * s.n), s.n, confidence) for s in worst)
        return cls(worst, intervals, seen.alpha, confidence, len(seen.classes)).plot(ax, **points)

    def plot(self, ax: Any = None, **points: Any) -> Self:
        """Draws a point and its interval for every class."""
        ax = self._on(ax, height=max(3.0, 1.2 + 0.22 * len(self.classes)))
        places = np.arange(len(self.classes))
        seen = np.array([share.coverage for share in self.classes])
        low, high = np.array(self.intervals).T
        ax.errorbar(
            seen,
            places,
            xerr=np.maximum(0, (seen - low, high - seen)),
            **{"fmt": "o", "markersize": 4, "color": "C0", "label": f"{self.confidence:.0%} interval"} | points,
        )
        ax.axvline(1 - self.alpha, **TARGET, label=f"asked on average: {1 - self.alpha:g}")
        names = [f"{short(share.name, 28)}  ({share.n:,})".replace("$", r"\$") for share in self.classes]
        some = "" if self.of_classes in (None, len(names)) else f", the lowest {len(names)} of {self.of_classes:,}"
        ax.set_yticks(places, names, fontsize=8 if len(names) > 15 else None)
        ax.invert_yaxis()
        ax.set(xlabel="coverage", ylabel="true class (rows)", title=f"coverage by class, alpha = {self.alpha:g}{some}")
        ax.legend(loc="lower left")
        return self


def _curves(
    p_values: ArrayLike, labels: ArrayLike, classes: Iterable[object] | None, alphas: Sequence[float]
) -> tuple[Floats, Floats, Floats]:
    """The levels, and coverage and mean size at each."""
    grid = np.array([float(exact_alpha(alpha)) for alpha in alphas])
    if len(grid) == 0:
        raise KindError.argument("alphas", "at least one level", alphas)
    p = as_matrix(p_values, "decision", name="p_values").astype(np.float64)
    if len(p) == 0:
        raise InputError.no_rows_to_evaluate()
    wrong = ~((p >= 0) & (p <= 1))
    if wrong.any():
        row, column = (int(place) for place in np.argwhere(wrong)[0])
        raise InputError.p_value(row, column, float(p[row, column]))
    columns = label_codes(labels, class_names(classes, p.shape[1]), len(p), RowIndex.of(p_values))
    true, every = np.sort(p[np.arange(len(p)), columns]), np.sort(p, axis=None)
    covered, size = ((len(some) - np.searchsorted(some, grid, side="right")) / len(p) for some in (true, every))
    return grid, covered, size


def _check_order(rows: object, **values: object) -> None:
    """Refuses labels, groups and ids that are not in the order of the rows; p-values no longer tell it."""
    index = RowIndex.of(rows)
    for name, per_row in values.items():
        index.check(per_row, name)


def _band(m: int, n: int, alphas: Sequence[float], confidence: float) -> tuple[Floats, Floats]:
    ranges = [
        coverage_law.sampling_range(m, threshold_position(n, exact_alpha(alpha)), n, confidence) for alpha in alphas
    ]
    low, high = np.array(ranges).T
    return low, high


def _p_values(estimator: Any, X: Any, groups: ArrayLike | None) -> Floats:
    if not hasattr(estimator, "predict_p"):
        raise KindError.argument("estimator", "a fitted ConformalClassifier (for a Rule there is from_rule)", estimator)
    return estimator.predict_p(X, groups=groups)
