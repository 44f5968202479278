"""``RankDisplay``: distribution of the ranks of true labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core.alpha import Alpha, exact_alpha, threshold_position
from rankset.core.alpha_argument import takes_alpha
from rankset.errors import RuleError
from rankset.evaluation.calibrate import calibrate
from rankset.inputs.matrix import Kind
from rankset.integrations.matplotlib.display import SHOWN_SHARE, TARGET, Display
from rankset.rules.rule import Rule
from rankset.targets import OneLabel


@dataclass(eq=False)
class RankDisplay(Display):
    """Distribution of the ranks of the true labels, and r*, the largest rank of a label in a set.

    Bars show the fraction of rows whose true label has rank 1, 2, and so on. The step line shows the cumulative
    fraction. The dashed line is at 1 - alpha, or a little higher if there are few rows. r* is the first rank at which
    the step line reaches the dashed line.

    Parameters
    ----------
    counts : array (K,)
        Number of rows whose true label has rank 1, 2, and so on.
    r_star : int
        Largest rank of a label in a set (r*).
    alpha : float
        The alpha of the sets.
    absent : int, default 0
        Number of rows whose true label has no rank, because it is not among the candidates. The step line then ends
        below 1.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> display = rs.RankDisplay.from_rule(rs.calibrate(probs, labels), alpha=0.1)
    >>> display.r_star
    3
    >>> display.ax_.get_xlabel()
    'rank of the true label'
    """

    counts: NDArray[np.int64]
    r_star: int
    alpha: float
    absent: int = 0

    @classmethod
    @takes_alpha
    def from_rule(
        cls, rule: Rule, alpha: Alpha = 0.1, *, group: object = None, label: object = None, ax: Any = None, **bars: Any
    ) -> Self:
        """Draw the ranks of the calibration rows of a rule with score ``Rank`` or ``TopK``.

        Parameters
        ----------
        rule : Rule
            The calibrated rule.
        alpha : float, default 0.1
            The alpha of the sets.
        group, label : optional
            Row group or class. Selects one threshold if the condition has several thresholds.
        ax : matplotlib Axes, optional
            Axes to draw on. Default: the axes of a new figure.
        **bars
            Passed to ``Axes.bar``.

        Returns
        -------
        RankDisplay
            The display, already drawn.

        Raises
        ------
        RuleError
            If the score does not compare labels by rank first, if the group or label does not exist, or if the target
            of the rule is not one label per row.

        Examples
        --------
        >>> import rankset as rs
        >>> rule = rs.calibrate(*rs.datasets.load("marketing"), condition=rs.PerLabel())
        >>> rs.RankDisplay.from_rule(rule, alpha=0.1, label=0).r_star
        3
        """
        if isinstance(rule, Rule) and rule.target != OneLabel():
            raise RuleError.ranks_of_target(rule.target)
        profile = rule.rank_profile(alpha, group=group, label=label)
        return cls(profile.counts, profile.r_star, float(exact_alpha(alpha)), profile.absent).plot(ax, **bars)

    @classmethod
    @takes_alpha
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
        """Draw the ranks of the true labels in the rows of ``probs``.

        Parameters
        ----------
        probs : array-like (n, K)
            Model outputs for rows that were not used to train the model.
        labels : array-like (n,)
            The true label of each row.
        alpha : float, default 0.1
            The alpha of the sets.
        kind : {"probs", "logits", "decision", "binary"}, default "probs"
            The type of values in ``probs``.
        classes : sequence, optional
            Class names in column order.
        ax : matplotlib Axes, optional
            Axes to draw on. Default: the axes of a new figure.
        **bars
            Passed to ``Axes.bar``.

        Returns
        -------
        RankDisplay
            The display, already drawn.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> rs.RankDisplay.from_predictions(probs, labels, alpha=0.2).counts
        array([172,  39,  28,  21])
        """
        return cls.from_rule(calibrate(probs, labels, kind=kind, classes=classes), alpha, ax=ax, **bars)

    def plot(self, ax: Any = None, **bars: Any) -> Self:
        """Draw the bars, the step line, and a line at r*.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on. Default: the axes of a new figure.
        **bars
            Passed to ``Axes.bar``.

        Returns
        -------
        RankDisplay
            The display itself.

        Examples
        --------
        >>> import numpy as np
        >>> import rankset as rs
        >>> display = rs.RankDisplay(np.array([80, 15, 5]), r_star=2, alpha=0.1).plot(color="green")
        >>> display.ax_.get_title()
        'rank distribution, alpha = 0.1'
        """
        ax = self._set_axes(ax)
        n = int(self.counts.sum()) + self.absent
        shares = self.counts / max(1, n)
        so_far = shares.cumsum()
        wanted = SHOWN_SHARE * (n - self.absent) / max(1, n)
        last = max(int(np.searchsorted(so_far, wanted)) + 1, min(self.r_star + 1, len(shares)))
        ranks = np.arange(1, last + 1)
        ax.bar(ranks, shares[:last], **{"color": "C0", "alpha": 0.8, "label": "labels of this rank"} | bars)
        ax.step(ranks, so_far[:last], where="mid", color="C1", label="up to this rank")
        ax.axhline(min(1, threshold_position(n, exact_alpha(self.alpha)) / max(1, n)), **TARGET)
        ax.axvline(self.r_star, color="C3", linestyle=":", linewidth=2, label=f"r* = {self.r_star}")
        ax.set(xlabel="rank of the true label", ylabel="share of calibration rows", ylim=(0, 1.03))
        ax.set_title(f"rank distribution, alpha = {self.alpha:g}")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.legend(loc="center right")
        return self
