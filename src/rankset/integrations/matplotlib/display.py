"""What all displays share."""

from __future__ import annotations

from typing import Any

from rankset.errors import needs_extra

TARGET = {"color": "0.5", "linestyle": "--", "linewidth": 1.2}
"""Style of the line at the target coverage."""
SHOWN_SHARE = 0.999
"""Ranks and set sizes are drawn up to this fraction of the rows."""


class Display:
    """Base of all displays: the axes they draw on."""

    ax_: Any
    figure_: Any

    def _set_axes(self, ax: Any, height: float = 4.8) -> Any:
        """Return ``ax``, or new axes if it is None, and keep it as ``ax_``."""
        if ax is None:
            with needs_extra("plots"):
                import matplotlib.pyplot as plt
            _, ax = plt.subplots(figsize=(6.4, height), layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        return ax
