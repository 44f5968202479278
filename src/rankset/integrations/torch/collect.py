"""All outputs of a model for the batches of a loader, with labels, groups, ids and weights, in one piece."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from rankset.errors import InputError
from rankset.inputs import tensors
from rankset.inputs.per_row import labels_at
from rankset.inputs.prepare import Prepared, prepare
from rankset.inputs.ragged import Ragged
from rankset.inputs.vocabulary import Names, class_names
from rankset.integrations.torch.batches import BatchOutput, BatchReader


def collect(
    reader: BatchReader,
    loader: Iterable[Any],
    names: Sequence[object] | None,
    what: str,
    *,
    several: bool = False,
    show_progress: bool,
) -> dict[str, Any]:
    """Return the arguments ``probs``, ``labels`` and ``classes`` of functions such as ``rankset.auto``.

    ``groups``, ``ids`` and ``weights`` are among them if the reader finds them in batches. Every batch is checked when
    it is read, so that errors name it. If rows can have ``several`` labels, ``labels`` is a 0/1 matrix.
    """
    parts: list[Prepared] = []
    per_row: dict[str, list[object]] = {"groups": [], "ids": [], "weights": []}

    def add(output: BatchOutput) -> None:
        if output.n_rows == 0:
            return
        known = parts[0].classes if parts else None if names is None else class_names(names, len(names))
        truth = BatchOutput.several_labels if several else BatchOutput.named_labels
        labels = truth(output, None if known is None else known.array)
        classes = parts[0].classes if parts else names
        options: dict[str, Any] = {"kind": reader.kind, "several": several, **output.per_row}
        parts.append(prepare(output.scores, labels, classes=classes, **options).with_checked_values())
        for name, values in output.per_row.items():
            per_row[name].extend(_entries(values))

    for _ in reader.each(loader, add, what, show_progress=show_progress):
        pass
    if not parts:
        raise InputError.no_rows()
    classes = parts[0].classes
    found = {
        "probs": _joined(parts),
        "labels": _joined_labels(parts, classes),
        "classes": None if isinstance(classes.values, range) else list(classes.values),
    }
    return found | {name: values for name, values in per_row.items() if values}


def _entries(values: Any) -> list[object]:
    """Return groups, ids or weights of a batch as a list; empty if there are none."""
    return [] if values is None else np.asarray(tensors.unwrap(values), dtype=object).tolist()


def _joined_labels(parts: Sequence[Prepared], classes: Names) -> Any:
    """Return the labels of all batches: class names, or a matrix (n, K) of booleans if rows can have several."""
    truths = [part.truths.mask(len(classes)) for part in parts if part.truths is not None]
    if truths:
        return np.concatenate(truths)
    return labels_at(classes.array, np.concatenate([part.labels for part in parts if part.labels is not None]))


def _joined(parts: Sequence[Prepared]) -> Any:
    """Return the outputs of all batches in one matrix, or as ``Ragged`` rows if batches are."""
    if all(part.counts is None for part in parts):
        return np.concatenate([part.matrix for part in parts])
    counts = [np.full(len(part), part.n_columns) if part.counts is None else part.counts for part in parts]
    return Ragged.of(
        [
            row[:count]
            for part, of_part in zip(parts, counts, strict=True)
            for row, count in zip(part.matrix, of_part, strict=True)
        ]
    )
