"""Sets as text and as HTML: a summary and the first rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from rankset import notebook
from rankset.inputs.vocabulary import short

if TYPE_CHECKING:
    from rankset.sets.prediction_sets import PredictionSets

SHOWN_ROWS = 5
SHOWN_LABELS = 10


def as_text(sets: PredictionSets) -> str:
    """Return a summary and the first sets, one per line."""
    lines = [f"PredictionSets({_summary(sets)})"]
    lines += [f"  {row}: {_braces(labels)}" for row, labels in enumerate(sets[:SHOWN_ROWS])]
    return "\n".join([*lines, "  …"] if len(sets) > SHOWN_ROWS else lines)


def as_html(sets: PredictionSets) -> str:
    """Return a summary and a table of the first sets."""
    rows: list[tuple[object, ...]] = [
        (row, len(labels), notebook.chips(map(short, labels[:SHOWN_LABELS].tolist()), len(labels) - SHOWN_LABELS))
        for row, labels in enumerate(sets[:SHOWN_ROWS])
    ]
    if len(sets) > SHOWN_ROWS:
        rows.append(("…", "", notebook.faint(f"{len(sets) - SHOWN_ROWS:,} more rows")))
    return notebook.card(f"PredictionSets: {_summary(sets)}", notebook.table(rows, ("row", "size", "labels")))


def _summary(sets: PredictionSets) -> str:
    level = "" if sets.alpha is None else f", alpha={sets.alpha:g}"
    sure = "" if sets.confidence is None else f", confidence={sets.confidence:g}"
    mean = f", mean size {sets.sizes.mean():.3g}" if len(sets) else ""
    return f"{len(sets):,} rows, {len(sets.names):,} classes{level}{sure}{mean}"


def _braces(labels: NDArray[Any]) -> str:
    shown = ", ".join(short(name) for name in labels[:SHOWN_LABELS].tolist())
    return f"{{{shown}, … {len(labels)} labels}}" if len(labels) > SHOWN_LABELS else f"{{{shown}}}"
