"""Find the arrays of an .npz file that have usual names, such as ``probs`` and ``labels``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from rankset.io.layout import Layout
from rankset.io.read_file import read_file

SCORE_ARRAYS = ("probs", "probabilities", "logits", "scores")
"""Names of the array of scores in an .npz file that are found without --key."""
LABEL_ARRAYS = ("labels", "label", "y", "y_true", "targets", "target", "answers", "answer")
"""Names of the array of labels in an .npz file that are found without --label."""


def find_arrays(path: str, labels: str | None, layout: Layout, kind: Any) -> tuple[Layout, Any]:
    """Return the layout with the arrays of an .npz file that have usual names, and "logits" for an array of this name.

    Nothing is guessed where options say it, or where several arrays have such names.
    """
    names = _array_names(path, layout)
    if names is None:
        return layout, kind
    if layout.key is None:
        layout = replace(layout, key=_only_known(SCORE_ARRAYS, names))
    if layout.label is None and labels is None:
        layout = replace(layout, label=_only_known(LABEL_ARRAYS, names))
    return layout, "logits" if kind is None and layout.key == "logits" else kind


def find_unnamed_arrays(path: str, labels: str | None, layout: Layout, kind: Any) -> tuple[Layout, Any]:
    """Do the same only where options leave open which array the scores are: --key is missing, and several are left."""
    names = _array_names(path, layout)
    if names is None or layout.key is not None:
        return layout, kind
    apart = {layout.label, layout.group, layout.identity, layout.weights, *layout.drop, *layout.keep}
    return (layout, kind) if len(set(names) - apart) < 2 else find_arrays(path, labels, layout, kind)


def _array_names(path: str, layout: Layout) -> list[str] | None:
    """Names of the arrays of an .npz file; None for other files."""
    archive = read_file(path, file_format=layout.file_format).archive if path.endswith(".npz") else None
    return None if archive is None else archive.names


def _only_known(known: Iterable[str], names: Sequence[str]) -> str | None:
    """Return the one of ``known`` that is among ``names``; None if none or several are."""
    found = [name for name in known if name in names]
    return found[0] if len(found) == 1 else None
