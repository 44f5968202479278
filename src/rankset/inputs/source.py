"""Where rows come from: arrays, tensors, data frames, pipelines, ragged rows; one matrix with what belongs to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.errors import LabelError
from rankset.inputs import frames, huggingface
from rankset.inputs.frames import ARRAY, Template
from rankset.inputs.ragged import Ragged
from rankset.inputs.row_index import RowIndex, index_of
from rankset.inputs.vocabulary import Names, in_order


@dataclass(frozen=True)
class Source:
    """Something like a matrix, the classes of its columns if it knows them, what answers should look like, how many
    columns of each row are candidates (None: all), and the index that everything read per row must agree with."""

    values: Any
    classes: Iterable[object] | None = None
    template: Template = ARRAY
    counts: NDArray[np.int64] | None = None
    index: RowIndex = field(default_factory=RowIndex)

    @property
    def answers(self) -> Template:
        """What answers should look like: their index is that of the rows, else that of what was read with them."""
        known = self.index.index
        return self.template if known is self.template.index else replace(self.template, index=known)

    def check_candidates(self, columns: NDArray[np.int64], classes: Names) -> None:
        """Refuses labels that are padding of their rows."""
        if self.counts is not None and (columns >= self.counts).any():
            row = int((columns >= self.counts).argmax())
            raise LabelError.padding(row, classes.values[columns[row]], int(self.counts[row]))


def open_source(values: Any, classes: Iterable[object] | None) -> Source:  # noqa: ANN401
    """``values`` with one column per class; those that carry names are put into the order of ``classes``."""
    values = huggingface.opened(values)
    if frames.is_frame(values):
        matrix, names, template = frames.matched(values, classes)
        return Source(matrix, names, template, index=RowIndex(template.index, numbered=template.numbered))
    if huggingface.is_scored(values):
        return Source(*huggingface.matched(values, classes))
    if isinstance(values, Ragged):
        known = None if classes is None else in_order(classes)
        matrix = values.as_wide_as(len(known or ()) or values.values.shape[1])
        index = RowIndex(values.template.index, numbered=values.template.numbered)
        return Source(matrix, known, values.template, values.counts, index)
    index = index_of(values)
    return Source(values, classes, Template(index=index), index=RowIndex(index))
