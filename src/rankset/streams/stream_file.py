"""Files of streams: the settings of the rule, numbers in the header, and arrays. Everything is checked when read."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.arrays import is_whole
from rankset.inputs.prepare import Prepared, prepare
from rankset.io import container
from rankset.rules import rule_file
from rankset.rules.spec import RuleSpec
from rankset.sets.forms import ListedSets
from rankset.streams.bag import Bag
from rankset.streams.history import LASTS, SUMS
from rankset.streams.levels import METHODS
from rankset.streams.waiting import LastNames, SeveralRows
from rankset.streams.window import Window, tuples_of

if TYPE_CHECKING:
    from rankset.streams.stream import Stream

WHAT = "stream"
FORMAT = 5
OWN_FIELDS = {"alpha", "level", "state", "window", "waiting", "alarms", "history", "rows", "last", "stream_seed"}
MOST_DIGITS = 5000
Arrays = Mapping[str, NDArray[Any]]


def pack(stream: Stream) -> tuple[container.Header, container.Arrays]:
    """Return the header and the arrays of a stream."""
    alpha, watching = stream._alpha, stream._watching
    waiting, arrays = _pack_waiting(stream)
    groups, keys = stream._window.arrays()
    arrays |= {"window.group": groups, **{f"window.key{place}": key for place, key in enumerate(keys)}}
    arrays |= _pack_bag("labels", watching.label_rows, stream._window.dtypes)
    arrays |= _pack_bag("outputs", watching.output_rows, (np.dtype(np.float64),))
    arrays |= {f"history.{name}": column for name, column in stream.history.items() if name != "row"}
    fields = {
        "alpha": [alpha.numerator, alpha.denominator],
        "level": {"name": type(stream.method).__name__, **vars(stream.method)},
        "state": stream._state.numbers(),
        "window": stream._window.size,
        "waiting": waiting,
        "alarms": {**watching.numbers(), "delta": watching.delta, "tolerance": watching.tolerance},
        "history": stream._history.length,
        "rows": stream.n_rows,
        "last": stream._last,
        "stream_seed": stream.seed,
    }
    return {"what": WHAT, "format": FORMAT, **rule_file.spec_header(stream.spec), **fields, "keys": len(keys)}, arrays


def _pack_waiting(stream: Stream) -> tuple[dict[str, Any], container.Arrays]:
    """Return names, and outputs, sets, numbers and groups of waiting rows."""
    places = list(stream._waiting.rows.values())
    codes = [place.rows.codes(place.place) for place in places]
    outputs = [np.ravel(place.rows.output(place.place)).astype(np.float64) for place in places]
    arrays: container.Arrays = {
        "waiting.number": np.array([place.number for place in places], dtype=np.int64),
        "waiting.size": np.array([len(one) for one in codes], dtype=np.int64),
        "waiting.code": np.concatenate([np.zeros(0), *codes]).astype(np.int64),
        "waiting.width": np.array([len(one) for one in outputs], dtype=np.int64),
        "waiting.output": np.concatenate([np.zeros(0), *outputs]),
    }
    data = [place.rows.data if isinstance(place.rows, SeveralRows) else None for place in places]
    groups = [
        None if one is None or one.groups is None else one.groups[at.place]
        for one, at in zip(data, places, strict=True)
    ]
    if any(one is not None and one.counts is not None for one in data):
        width = stream.spec.n_columns
        counts = [
            width if one is None or one.counts is None else one.counts[at.place]
            for one, at in zip(data, places, strict=True)
        ]
        arrays["waiting.count"] = np.array(counts, dtype=np.int64)
    if stream.spec.with_ids:
        words = [
            one.ids[at.place] for one, at in zip(data, places, strict=True) if one is not None and one.ids is not None
        ]
        arrays["waiting.word"] = np.array(words, dtype=np.uint64).view(np.int64)
    names = {"most": stream._waiting.most, "dropped": stream._waiting.dropped, "ids": list(stream._waiting.rows)}
    named = [one.item() if isinstance(one, np.generic) else one for one in groups]
    return {**names, "groups": named, "labelled": list(stream._waiting.labelled)}, arrays


def _pack_bag(name: str, bag: Bag, dtypes: tuple[np.dtype[Any], ...]) -> container.Arrays:
    """Return limits and counts of the rows of an alarm."""
    columns = list(zip(*bag.limits, strict=True)) or [()] * (len(dtypes) + 1)
    kinds = (*dtypes, np.dtype(np.float64))
    limits = {f"{name}.limit{place}": np.array(column, dtype=kinds[place]) for place, column in enumerate(columns)}
    return {**limits, f"{name}.count": np.array(bag.counts, dtype=np.int64)}


def read(kind: type[Stream], path: str | os.PathLike[str]) -> Stream:
    """Return the stream of a file."""
    header, arrays = container.read(path)
    rule_file.check_content(path, header, WHAT)
    with container.damage_as_error(path):
        return unpack(kind, header, arrays)


def unpack(kind: type[Stream], header: container.Header, arrays: container.Arrays) -> Stream:
    """Return what ``pack`` packed; raise ValueError or TypeError if something does not fit."""
    if header.get("what") != WHAT or header["format"] != FORMAT:
        raise ValueError("it does not contain a stream")
    container.check_fields("its header", header, rule_file.HEADER_FIELDS | OWN_FIELDS)
    own = {name: value for name, value in header.items() if name not in OWN_FIELDS}
    spec = rule_file.loaded_spec({**own, "format": container.FORMAT})
    stream = kind.__new__(kind)
    stream._alpha, stream.seed = _alpha(header["alpha"]), _whole(header["stream_seed"], least=-(2**63))
    stream.method = container.rebuild(header["level"], METHODS)
    size = None if header["window"] is None else _whole(header["window"], least=1)
    waiting, alarms = _dictionary(header["waiting"]), _dictionary(header["alarms"])
    window = _window(spec, size, arrays, header["keys"])
    numbers = [alarms.pop(name) for name in ("delta", "tolerance")]
    if not all(type(one) is float and 0 <= one < 1 for one in numbers) or not numbers[0]:
        raise ValueError("the numbers of its alarms cannot be right")
    stream._set_up(spec, window, _whole(waiting["most"], least=1), *numbers)
    stream.n_rows = _whole(header["rows"])
    stream._state.restore(_dictionary(header["state"]))  # type: ignore[attr-defined]
    stream._watching.restore(alarms)
    draw = np.dtype(np.float64)
    _restore_bag("labels", stream._watching.label_rows, (*window.dtypes, draw), arrays)
    _restore_bag("outputs", stream._watching.output_rows, (draw, draw), arrays)
    stream._history.restore(header["history"], {name: arrays[f"history.{name}"] for name in (*SUMS, *LASTS)})
    stream._last = _names(header["last"])
    _restore_waiting(stream, waiting, arrays)
    return stream


def _window(spec: RuleSpec, size: int | None, arrays: Arrays, n_keys: object) -> Window:
    """Return the window of a file."""
    kinds = rule_file.key_types(spec.score)
    groups, keys = arrays["window.group"], tuple(arrays[f"window.{name}"] for name in kinds)
    right = n_keys == len(keys) and all(key.dtype == kind for key, kind in zip(keys, kinds.values(), strict=True))
    if not right or any(len(key) != len(groups) or np.isnan(key).any() for key in keys):
        raise ValueError("the rows of its window cannot be right")
    if groups.dtype != np.int64 or (len(groups) and not 0 <= groups.min() <= groups.max() < spec.n_groups):
        raise ValueError("the rows of its window cannot be right")
    if size is not None and len(groups) > size:
        raise ValueError("the rows of its window cannot be right")
    rule_file.check_ranges(spec, keys)
    window = Window(size, spec.n_groups, tuple(kinds.values()))
    window.fill(zip(groups.tolist(), tuples_of(keys), strict=True))
    return window


def _restore_bag(name: str, bag: Bag, kinds: Sequence[np.dtype[Any]], arrays: Arrays) -> None:
    """Take over limits and counts of the rows of an alarm."""
    limits = tuple(arrays[f"{name}.limit{place}"] for place in range(len(kinds)))
    if any(column.dtype != kind for column, kind in zip(limits, kinds, strict=True)):
        raise ValueError("the rows of its alarms cannot be right")
    if len({len(column) for column in limits}) > 1 or any(np.isnan(column).any() for column in limits):
        raise ValueError("the rows of its alarms cannot be right")
    if arrays[f"{name}.count"].dtype != np.int64:
        raise ValueError("the rows of its alarms cannot be right")
    counts = arrays[f"{name}.count"].tolist()
    bag.restore(tuples_of(limits), counts, len(limits[0]) + sum(counts))


def _restore_waiting(stream: Stream, waiting: dict[str, Any], arrays: Arrays) -> None:
    """Take over the rows that wait for their labels."""
    container.check_fields("its waiting rows", waiting, {"most", "dropped", "ids", "groups", "labelled"})
    held, names, labelled = stream._waiting, _names(waiting["ids"]), _names(waiting["labelled"])
    held.dropped = _whole(waiting["dropped"])
    numbers, sizes = arrays["waiting.number"], arrays["waiting.size"]
    codes, n = arrays["waiting.code"], len(names)
    if any(arrays[f"waiting.{name}"].dtype != np.int64 for name in ("number", "size", "code", "width")):
        raise ValueError("its waiting rows cannot be right")
    if max(n, len(labelled)) > held.most or len(set(names) | set(labelled)) != n + len(labelled):
        raise ValueError("its waiting rows cannot be right")
    if not len(numbers) == len(sizes) == n or (sizes < 0).any() or int(sizes.sum()) != len(codes):
        raise ValueError("its waiting rows cannot be right")
    if (n and not 0 <= numbers.min() <= numbers.max() < stream.n_rows) or (np.diff(numbers) <= 0).any():
        raise ValueError("its waiting rows cannot be right")
    if len(codes) and not 0 <= codes.min() <= codes.max() < stream.spec.n_columns:
        raise ValueError("its waiting rows cannot be right")
    held.labelled = LastNames(held.most, labelled)
    if not n:
        return
    offsets = np.concatenate(([0], sizes.cumsum())).astype(np.int64)
    sets = ListedSets(offsets, codes.astype(np.int32), stream.spec.n_columns)
    held.add(names, SeveralRows(_waiting_rows(stream, waiting["groups"], arrays, n), sets), 0)
    for name, number in zip(names, numbers.tolist(), strict=True):
        held.rows[name] = held.rows[name]._replace(number=number)


def _waiting_rows(stream: Stream, groups: object, arrays: Arrays, n: int) -> Prepared:
    """Return the outputs of waiting rows, prepared."""
    spec, outputs, widths = stream.spec, arrays["waiting.output"], arrays["waiting.width"]
    width = 1 if spec.kind == "binary" else spec.n_columns
    if len(widths) != n or (widths != width).any() or outputs.shape != (n * width,):
        raise ValueError("its waiting rows cannot be right")
    if not isinstance(groups, list) or len(groups) != n:
        raise ValueError("its waiting rows cannot be right")
    matrix = outputs if spec.kind == "binary" else outputs.reshape(n, width)
    named = groups if spec.condition.needs_groups else None
    data = prepare(matrix, kind=spec.kind, classes=spec.classes, groups=named)
    if spec.with_ids:
        data = replace(data, ids=arrays["waiting.word"].view(np.uint64))
        if len(arrays["waiting.word"]) != n:
            raise ValueError("its waiting rows cannot be right")
    counts = arrays.get("waiting.count")
    if counts is None:
        return data.with_checked_values()
    if counts.dtype != np.int64 or len(counts) != n or not 1 <= counts.min() <= counts.max() <= spec.n_columns:
        raise ValueError("its waiting rows cannot be right")
    return replace(data, counts=counts)


def _alpha(parts: object) -> Fraction:
    """Return alpha; raise ValueError if it is none."""
    if not isinstance(parts, list) or len(parts) != 2 or not all(type(part) is int for part in parts):
        raise ValueError("its alpha cannot be right")
    if not 0 < parts[0] < parts[1] or parts[1].bit_length() > MOST_DIGITS:
        raise ValueError("its alpha cannot be right")
    return Fraction(*parts)


def _whole(value: Any, least: int = 0) -> int:  # noqa: ANN401
    """Return an integer of a header; raise ValueError if it is none."""
    if not is_whole(value) or not least <= value < 2**63:
        raise ValueError(f"its numbers must be integers from {least} on, got {value!r}")
    return int(value)


def _dictionary(value: object) -> dict[str, Any]:
    """Return a dictionary of a header; raise TypeError if it is none."""
    if not isinstance(value, dict):
        raise TypeError(f"its fields must be dictionaries, got {value!r}")
    return dict(value)


def _names(values: object) -> list[object]:
    """Return ids of a header; raise ValueError if they are no list of texts and numbers."""
    if not isinstance(values, list) or not all(isinstance(one, str | int | float) for one in values):
        raise ValueError("its ids must be a list of texts and numbers")
    if not all(math.isfinite(one) for one in values if isinstance(one, float)):
        raise ValueError("its ids must be a list of texts and numbers")
    return values
