"""Where rows come from: arrays, tensors, data frames, pipelines, ragged rows; one matrix with what belongs to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset import frames, pipelines
from rankset.errors import InputError, LabelError
from rankset.frames import ARRAY, Template
from rankset.names import Names, in_order
from rankset.ragged import Ragged


@dataclass(frozen=True)
class Source:
    """Something like a matrix, the classes of its columns if it knows them, what answers should look like, and how
    many columns of each row are candidates (None: all)."""

    values: Any
    classes: Iterable[object] | None = None
    template: Template = ARRAY
    counts: NDArray[np.int64] | None = None

    def check_order_of(self, labels: object) -> None:
        """Refuses labels of the same rows in another order, where both tell by an index of their own."""
        ours: Any = self.template.index
        theirs: Any = getattr(labels, "index", None)
        if ours is None or not hasattr(theirs, "equals") or len(ours) != len(theirs) or ours.equals(theirs):
            return
        if ours.sort_values().equals(theirs.sort_values()):
            raise InputError.other_order()

    def check_candidates(self, columns: NDArray[np.int64], classes: Names) -> None:
        """Refuses labels that are padding of their rows."""
        if self.counts is not None and (columns >= self.counts).any():
            row = int((columns >= self.counts).argmax())
            raise LabelError.padding(row, classes.values[columns[row]], int(self.counts[row]))


def opened(values: Any, classes: Iterable[object] | None) -> Source:  # noqa: ANN401
    """``values`` with one column per class; those that carry names are put into the order of ``classes``."""
    values = pipelines.opened(values)
    if frames.is_frame(values):
        return Source(*frames.matched(values, classes))
    if pipelines.is_scored(values):
        return Source(*pipelines.matched(values, classes))
    if isinstance(values, Ragged):
        known = None if classes is None else in_order(classes)
        return Source(values.as_wide_as(len(known or ()) or values.values.shape[1]), known, counts=values.counts)
    return Source(values, classes)
