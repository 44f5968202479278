"""The same rule on Dask: arrays and data frames, any scheduler.

    rule = rankset.engines.dask.calibrate(probs, labels)                    # dask arrays, rows in chunks
    mask = rankset.engines.dask.predict(rule, new_probs, alpha=0.1)         # lazy (n, K) booleans

    rule = rankset.engines.dask.calibrate(frame, "label", groups="site")    # a column per class, or one of lists
    sets = rankset.engines.dask.predict(rule, new_frame, alpha=0.1, groups="site")   # lazy: labels, size, top

Every chunk becomes a rule where it lies; rules are merged sixteen at a time. What travels is 8 bytes per row and key
(RANK has two keys).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import dask
import dask.array as da
import numpy as np

from rankset.conditions import Condition, Marginal
from rankset.core.alpha import Alpha
from rankset.engines import parts
from rankset.engines.parts import Answer, Calibrating, Part, Predicting
from rankset.errors import FileError, InputError, KindError, Place, warn
from rankset.inputs.matrix import Kind, object_array
from rankset.inputs.row_index import RowIndex
from rankset.inputs.vocabulary import in_order
from rankset.io import arrow
from rankset.io.layout import Layout
from rankset.io.read_scores import Columns
from rankset.rules.rule import Rule
from rankset.rules.select import Empty
from rankset.scores import Rank, Score

NOTHING = object_array([])

Where = Any
"""Of a frame: the name of a column, or a series of its partitions. Of an array: an array of its rows."""


def calibrate(
    probs: Any,
    labels: Where,
    *,
    score: Score = Rank(),  # noqa: B008
    condition: Condition = Marginal(),  # noqa: B008
    kind: Kind = "probs",
    classes: Iterable[object] | None = None,
    columns: str | Sequence[str] | None = None,
    groups: Where | None = None,
    ids: Where | None = None,
    seed: int = 0,
) -> Rule:
    """The rule that ``rankset.calibrate`` would give for all rows, byte for byte.

    ``probs`` is a dask array (n, K), or a dask frame with a column per class or one column of lists; ``columns`` tells
    which, where the frame has others besides labels, groups and ids. It is computed here, by the scheduler in force.
    """
    named = None if classes is None else list(in_order(classes))
    question = Calibrating(score, condition, kind, named, seed)
    if not _is_frame(probs) and columns is not None:
        raise KindError.argument("columns", "None for an array", columns)
    if _is_frame(probs):
        answer = _of_frames(probs, question, Layout(labels, groups, ids), columns)
    else:
        answer = _of_blocks(_rows(probs), question, labels, groups, ids)
    return parts.finished(answer)


def predict(
    rule: Rule,
    probs: Any,
    alpha: Alpha,
    *,
    columns: str | Sequence[str] | None = None,
    groups: Where | None = None,
    ids: Where | None = None,
    empty: Empty = "allow",
    keep: Sequence[str] = (),
) -> Any:
    """The sets that ``rule.predict`` would give, lazily.

    For an array a dask array of booleans (n, K): which labels are in which set. For a frame a dask frame with its index
    and the columns labels (a list, most likely first), size and top, behind those columns it should ``keep``.
    """
    question, kept = Predicting.at(rule, alpha, empty), (keep,) if isinstance(keep, str) else tuple(keep)
    if _is_frame(probs):
        return _sets_of_frame(probs, question, Layout(None, groups, ids, keep=kept), columns)
    if columns is not None or kept:
        raise KindError.argument("columns and keep", "None for an array", columns or kept)
    return _masks(_rows(probs), question, groups, ids)


def _is_frame(values: Any) -> bool:
    if isinstance(values, da.Array):
        return False
    if hasattr(values, "to_delayed") and hasattr(values, "npartitions") and hasattr(values, "columns"):
        return True
    raise KindError.argument("probs", "a dask array or a dask data frame", type(values).__name__)


def _rows(probs: da.Array) -> da.Array:
    """An array whose chunks are whole rows."""
    if probs.ndim not in (1, 2):
        raise InputError.shape("probs", "(n, K)", probs.shape, "Pass a row per case and a column per class.")
    if probs.ndim == 2 and probs.numblocks[1] > 1:
        warn(
            f"a chunk must hold whole rows, got {probs.numblocks[1]} chunks per row: they are put together. "
            f"Pass probs.rechunk({{1: -1}}) to choose how."
        )
        return probs.rechunk({1: -1})
    return probs


def _of_blocks(probs: da.Array, question: Calibrating, labels: Any, groups: Any, ids: Any) -> Answer:
    known = {"labels": labels, "groups": groups, "ids": ids}
    answers = _mapped(_rule_of_block, "i", probs, question, known, adjust_chunks={"i": (1,) * probs.numblocks[0]})
    while answers.numblocks[0] > 1:
        count = -(-answers.numblocks[0] // parts.FAN)
        answers = answers.rechunk(parts.FAN).map_blocks(_joined, dtype=object, meta=NOTHING, chunks=((1,) * count,))
    return answers.compute(optimize_graph=_sized(probs))[0]  # Dask loses parts of frames when it optimises


def _sized(values: da.Array) -> bool:
    """Whether the chunks of the rows have known sizes; arrays made of frames have not."""
    return not np.isnan(values.chunks[0]).any()


def _mapped(
    work: Callable[..., Any], index: str, probs: da.Array, question: Any, known: Mapping[str, Any], **options: Any
) -> da.Array:
    """``work`` on every block, with its number and what is known of its rows."""
    rows = RowIndex()
    for name, values in known.items():
        if not dask.is_dask_collection(values):
            rows.check(values, name)
    told = {name: _aligned(values, probs, name) for name, values in known.items() if values is not None}
    numbers = da.arange(probs.numblocks[0], chunks=1)
    return da.blockwise(
        work,
        index,
        *(probs, "ij" if probs.ndim == 2 else "i", numbers, "i"),
        *(argument for values in told.values() for argument in (values, "i")),
        names=list(told),
        question=dask.delayed(question, pure=False, traverse=False),
        align_arrays=False,
        concatenate=True,
        **{"dtype": object, "meta": NOTHING, **options},
    )


def _partition(number: int) -> Place:
    return Place(part=f"partition {number}")


def _part_of_block(scores: Any, number: Any, names: Sequence[str], values: Sequence[Any]) -> Part:
    known = dict(zip(names, values, strict=True))
    return Part(np.asarray(scores), where=_partition(int(number[0])), **known)


def _rule_of_block(scores: Any, number: Any, *values: Any, question: Calibrating, names: Sequence[str]) -> Any:
    return object_array([question.of(_part_of_block(scores, number, names, values))])


def _joined(answers: Any) -> Any:
    return object_array([parts.joined(answers)])


def _aligned(values: Any, probs: da.Array, name: str) -> da.Array | None:
    """One value per row, in the chunks of the rows."""
    if values is None:
        return None
    if hasattr(values, "to_dask_array"):
        values = values.to_dask_array()
    rows, sized = probs.chunks[0], _sized(probs)
    if not isinstance(values, da.Array):
        array = np.asarray(values)
        if not sized:
            raise InputError.unknown_chunks(name)
        if array.shape != (sum(rows),):
            raise InputError.length(name, sum(rows), len(array) if array.ndim else 1)
        return da.from_array(array, chunks=(rows,))
    if sized and _sized(values):
        if values.shape != (sum(rows),):
            raise InputError.length(name, sum(rows), values.shape[0])
        return values.rechunk((rows,))
    if values.numblocks != probs.numblocks[:1]:
        raise InputError.chunks(name, probs.numblocks[0], values.numblocks[0])
    return values


def _masks(probs: da.Array, question: Predicting, groups: Any, ids: Any) -> da.Array:
    n_columns = question.rule.spec.n_columns
    options = {"dtype": np.bool_, "meta": np.empty((0, n_columns), dtype=np.bool_), "new_axes": {"k": n_columns}}
    known = {"groups": groups, "ids": ids}
    return _mapped(_mask_of_block, "ik", probs, question, known, adjust_chunks={"i": probs.chunks[0]}, **options)


def _mask_of_block(scores: Any, number: Any, *values: Any, question: Predicting, names: Sequence[str]) -> Any:
    return question.of(_part_of_block(scores, number, names, values)).mask


def _of_frames(frame: Any, question: Calibrating, layout: Layout, columns: Any) -> Answer:
    if not isinstance(layout.label, str | int):
        raise KindError.argument("labels", "the name of a column of the frame", type(layout.label).__name__)
    frame, layout = _with_texts(frame), replace(layout, label=str(layout.label))
    picked = parts.score_names(list(frame.columns), layout, columns or _lists(frame))
    whole = frame._meta[layout.label].dtype.kind in "iu"
    question = question.about(picked, whole=whole)
    asked, work = dask.delayed(question, pure=False, traverse=False), dask.delayed(_rule_of_frame, pure=False)
    frames = frame[layout.used(picked)].to_delayed()
    answers = [work(asked, layout, number, part) for number, part in enumerate(frames)]
    merge = dask.delayed(parts.joined, pure=False)
    while len(answers) > 1:
        answers = [merge(answers[at : at + parts.FAN]) for at in range(0, len(answers), parts.FAN)]
    return answers[0].compute()


def _lists(frame: Any) -> list[str] | None:
    """The one column of lists, if there is one."""
    found = [name for name in frame.columns if "list<" in str(frame._meta[name].dtype)]
    return found if len(found) == 1 else None


def _with_texts(frame: Any) -> Any:
    """A frame whose columns are called by texts, as in files."""
    return frame if all(isinstance(name, str) for name in frame.columns) else frame.rename(columns=str)


def _rule_of_frame(question: Calibrating, layout: Layout, number: int, frame: Any) -> Answer:
    return question.of(_part(layout, number, frame, question.classes, question.kind))


def _part(layout: Layout, number: int, frame: Any, classes: Sequence[object] | None, kind: Kind) -> Part:
    return parts.part_of(_columns(frame), layout, where=_partition(number), classes=classes, kind=kind)


def _columns(frame: Any) -> Columns:
    import pyarrow as pa

    return Columns("", table=pa.Table.from_pandas(frame, preserve_index=False))


def _sets_of_frame(frame: Any, question: Predicting, layout: Layout, columns: Any) -> Any:
    import dask.dataframe as dd

    frame = _with_texts(frame)
    for name in layout.keep:
        if name in arrow.OWN:
            raise FileError.taken(name)
    picked = parts.score_names(list(frame.columns), layout, columns or _lists(frame), question.classes)
    meta = _answer(question.nothing(), frame._meta, layout.keep)
    asked, work = dask.delayed(question, pure=False, traverse=False), dask.delayed(_sets_of_part, pure=False)
    frames = frame[layout.used(picked)].to_delayed()
    answers = [work(asked, layout, number, part) for number, part in enumerate(frames)]
    return dd.from_delayed(answers, meta=meta, divisions=frame.divisions, verify_meta=False)


def _sets_of_part(question: Predicting, layout: Layout, number: int, frame: Any) -> Any:
    part = _part(layout, number, frame, question.classes, question.rule.kind)
    sets = question.of(part) if len(part) else question.nothing()
    return _answer(sets, frame, layout.keep)


def _answer(sets: Any, frame: Any, kept: Sequence[str]) -> Any:
    import pandas as pd

    answer = arrow.table(sets).to_pandas(types_mapper=pd.ArrowDtype)
    answer.index = frame.index
    for place, name in enumerate(kept):
        answer.insert(place, name, frame[name])
    return answer
