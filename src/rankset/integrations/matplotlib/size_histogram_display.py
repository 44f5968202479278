"""``SizeHistogramDisplay``: histogram of set sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rankset.errors import InputError, KindError
from rankset.integrations.matplotlib.display import SHOWN_SHARE, Display
from rankset.sets import PredictionSets


@dataclass(eq=False)
class SizeHistogramDisplay(Display):
    """Histogram of set sizes, with a line at the mean size.

    Parameters
    ----------
    counts : array
        Number of sets with 0, 1, 2, … labels.
    alpha : float, optional
        The alpha of the sets, for the title.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> sets = rs.calibrate(probs, labels).predict(probs, alpha=0.1)
    >>> rs.SizeHistogramDisplay.from_predictions(sets).counts
    array([  0,   0,  88, 172])
    """

    counts: NDArray[np.int64]
    alpha: float | None = None

    @classmethod
    def from_predictions(cls, sets: PredictionSets, *, ax: Any = None, **bars: Any) -> Self:
        """Draw the histogram of the sizes of ``sets``.

        Parameters
        ----------
        sets : PredictionSets
            Sets, for example from ``Rule.predict``.
        ax : matplotlib Axes, optional
            Axes to draw on. Default: the axes of a new figure.
        **bars
            Passed to ``Axes.bar``.

        Returns
        -------
        SizeHistogramDisplay
            The display, already drawn.

        Raises
        ------
        KindError
            If ``sets`` are not PredictionSets.
        InputError
            If there are no sets.

        Examples
        --------
        >>> import rankset as rs
        >>> sets = rs.PredictionSets.from_mask([[True, False], [True, True]])
        >>> rs.SizeHistogramDisplay.from_predictions(sets).counts
        array([0, 1, 1])
        """
        if not isinstance(sets, PredictionSets):
            raise KindError.argument("sets", "PredictionSets, the result of Rule.predict", type(sets).__name__)
        if len(sets) == 0:
            raise InputError.no_rows_to_evaluate()
        return cls(np.bincount(sets.sizes), sets.alpha).plot(ax, **bars)

    def plot(self, ax: Any = None, **bars: Any) -> Self:
        """Draw a bar for each set size, and a line at the mean size.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on. Default: the axes of a new figure.
        **bars
            Passed to ``Axes.bar``.

        Returns
        -------
        SizeHistogramDisplay
            The display itself.

        Examples
        --------
        >>> import numpy as np
        >>> import rankset as rs
        >>> rs.SizeHistogramDisplay(np.array([0, 8, 2]), alpha=0.1).plot().ax_.get_title()
        'set sizes, alpha = 0.1'
        """
        ax = self._set_axes(ax)
        shares = self.counts / self.counts.sum()
        sizes = np.arange(len(shares))
        mean = float(sizes @ shares)
        last = int(np.searchsorted(shares.cumsum(), SHOWN_SHARE)) + 1
        first = int(np.flatnonzero(self.counts)[0])
        shown = slice(min(first, 1), max(last, 2))
        drawn = ax.bar(sizes[shown], shares[shown], **{"alpha": 0.6, "width": 0.9} | bars)
        ax.axvline(mean, color=drawn.patches[0].get_facecolor(), linestyle=":", linewidth=2, label=f"mean {mean:.3g}")
        level = "" if self.alpha is None else f", alpha = {self.alpha:g}"
        ax.set(xlabel="labels in the set", ylabel="share of rows", title=f"set sizes{level}")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.legend()
        return self
