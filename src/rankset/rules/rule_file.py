"""Rules as files: spec and calibration become a header and arrays, and back. Everything in a file is checked here."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset import conditions, targets
from rankset.core import lexicographic
from rankset.core.calibration import Calibration
from rankset.errors import StorageError
from rankset.inputs.matrix import MARGINAL, Kind
from rankset.inputs.prepare import prepare
from rankset.inputs.vocabulary import class_names, group_names
from rankset.io import container
from rankset.rules import absent_rows, target_arrays, weight_arrays
from rankset.rules.batch import Batch
from rankset.rules.spec import ONE_LABEL, RuleSpec
from rankset.rules.target_arrays import WEIGHTS_OF_TARGETS
from rankset.rules.weight_arrays import ABSENT, OF_WEIGHTS
from rankset.scores import BUILT_IN, CONFIDENCES, Score, traits
from rankset.scores.key_ranges import FeatureRanges, ranges_of
from rankset.targets import Target

HEADER_FIELDS = {"format", "what", "score", "condition", "kind", "seed", "classes", "groups", "ids", "keys"}

FORMAT_WITH_ABSENT = 2
"""Format number of rules that have calibration rows with absent labels; all others have ``container.FORMAT``."""
FORMAT_WITH_GUARANTEED = 3
"""Format number of rules whose coverage is not proven. Their header has the further field ``guaranteed``, and they may
have calibration rows with absent labels."""
FORMAT_WITH_TARGET = 4
"""Format number of rules with another target than ``OneLabel``, or with marginals. Their header has the further fields
``guaranteed``, ``target``, ``labelled`` and ``set_aside``."""
FORMAT_WITH_WEIGHTS = 5
"""Format number of rules whose rows have weights. Their header has the fields of ``FORMAT_WITH_TARGET``."""
MOST_ROWS = 1 << 53
"""Largest number of rows with absent labels in a file."""

MOST_SHARED_ABSENT = 1 << 22
"""The same if groups share rows: they are then looked at one by one, and a small file must not fill the memory."""

MOST_CLASSES = 1 << 22
"""Largest number of classes of a rule in a file: a small file must not reserve memory for billions of classes."""

ROUNDING = 1e-6
"""Relative rounding error by which a key may exceed its range."""

SCORES: Mapping[str, type[Any]] = {kind.__name__: kind for kind in (*BUILT_IN, *CONFIDENCES)}
"""Scores that a file may name."""
TARGETS: Mapping[str, type[Any]] = {kind.__name__: kind for kind in targets.BUILT_IN}
"""Targets that a file may name."""
CONDITIONS: Mapping[str, type[Any]] = {
    "Marginal": conditions.Marginal,
    "PerLabel": conditions.PerLabel,
    "PerRow": conditions.PerGroup,
    "Cross": conditions.PerLabelAndGroup,
    "Pooled": conditions.Pooled,
    "Balanced": conditions.Balanced,
    "LabelShift": conditions.LabelShift,
}
"""Conditions that a file may name, under the names of the format."""
KINDS: Mapping[str, Kind] = {
    "probs": "probs",
    "logits": "logits",
    "scores": "decision",
    "binary": "binary",
    "marginals": "marginals",
    "marginal_logits": "marginal_logits",
}
"""Kinds of numbers, under the names of the format."""


CONTENTS: Mapping[str, tuple[str, ...]] = {
    "rule": ("a Rule", "rankset.load", "rankset predict"),
    "precise": ("a PreciseRule", "rankset.PreciseRule.load"),
    "bounds": ("a LabelBounds", "rankset.LabelBounds.load"),
    "triage": ("a Triage", "rankset.Triage.load", "rankset triage"),
    "stream": ("a Stream", "rankset.Stream.load", "rankset watch --state"),
}
"""What a file can contain, by its field ``what``: in words, the function that reads it, and a command if any."""


def check_content(path: str | os.PathLike[str], header: container.Header, wanted: str) -> None:
    """Raise an error if a file contains something else than the ``wanted`` one of ``CONTENTS``."""
    found = header.get("what")
    if found != wanted and isinstance(found, str) and found in CONTENTS:
        raise StorageError.other_content(path, CONTENTS[wanted][0], *CONTENTS[found])


def spec_header(spec: RuleSpec) -> container.Header:
    """Return the fields of a header that describe score, condition, kind and names."""
    if spec.n_columns > MOST_CLASSES:
        raise StorageError.too_many_classes(spec.n_columns, MOST_CLASSES)
    return {
        "score": container.describe(spec.score, SCORES),
        "condition": container.describe(spec.condition, CONDITIONS),
        "kind": next(name for name, kind in KINDS.items() if kind == spec.kind),
        "seed": spec.seed,
        "classes": len(spec.classes) if isinstance(spec.classes.values, range) else spec.classes.values,
        "groups": spec.groups.values,
        "ids": spec.with_ids,
    }


def pack(spec: RuleSpec, calibration: Calibration) -> tuple[container.Header, container.Arrays]:
    """Return the header and the arrays of a rule."""
    header: container.Header = {"what": "rule", **spec_header(spec), "keys": len(calibration.keys)}
    if calibration.absent is not None:
        header["format"] = FORMAT_WITH_ABSENT
    if not spec.guaranteed:
        header |= {"format": FORMAT_WITH_GUARANTEED, "guaranteed": False}
    if spec.target != ONE_LABEL or spec.kind in MARGINAL or spec.weighted:
        number = FORMAT_WITH_WEIGHTS if spec.weighted else FORMAT_WITH_TARGET
        header |= {"format": number, "guaranteed": spec.guaranteed}
        header["target"] = container.describe(spec.target, TARGETS)
        rows = calibration.rows
        header |= {"labelled": len(calibration), "set_aside": 0 if rows is None else rows.set_aside}
    return header, arrays_of(calibration)


def unpack(header: container.Header, arrays: container.Arrays) -> tuple[RuleSpec, Calibration]:
    """Return the spec and the calibration that ``pack`` packed; raise ValueError if something does not fit."""
    if header.get("what") != "rule":
        raise ValueError("it does not contain a rule")
    number = header["format"]
    container.check_fields("its header", header, HEADER_FIELDS | _further_fields(number))
    spec = loaded_spec(header)
    expected = "absent" in arrays if number >= FORMAT_WITH_GUARANTEED else number == FORMAT_WITH_ABSENT
    absent = _checked_absent(spec, arrays.pop("absent", None), expected=expected)
    counts = (header["labelled"], header["set_aside"]) if number >= FORMAT_WITH_TARGET else None
    return spec, _checked_calibration(spec, arrays, header["keys"], absent, counts)


def _further_fields(number: int) -> set[str]:
    """Return the fields of a header that only this format has."""
    if number >= FORMAT_WITH_TARGET:
        return {"guaranteed", "target", "labelled", "set_aside"}
    return {"guaranteed"} if number >= FORMAT_WITH_GUARANTEED else set()


def arrays_of(calibration: Calibration) -> container.Arrays:
    """Return the arrays of a calibration by name."""
    absent = {} if calibration.absent is None else {"absent": calibration.absent}
    keys = {f"key{place}": key for place, key in enumerate(calibration.keys)}
    further = target_arrays.arrays_of(calibration) | weight_arrays.arrays_of(calibration)
    return {"offsets": calibration.offsets, **absent, **keys, **further}


def loaded_spec(header: container.Header, target: Target = ONE_LABEL) -> RuleSpec:
    """Return the spec that a header describes; ``target`` is that of headers which name none."""
    names = None if type(header["classes"]) is int else _loaded_names(header["classes"])
    count = header["classes"] if names is None else len(names)
    if not 0 < count <= MOST_CLASSES:
        raise ValueError(f"a rule must have 1 to {MOST_CLASSES:,} classes, got {count:,}")
    score = container.rebuild(header["score"], SCORES)
    fitted = traits(score).n_columns
    if fitted not in (None, count):
        raise ValueError(f"its score was fitted for {fitted:,} classes, but the rule has {count:,}")
    condition = container.rebuild(header["condition"], CONDITIONS)
    if not isinstance(header["kind"], str) or header["kind"] not in KINDS:
        raise ValueError(f"its kind must be one of {', '.join(KINDS)}, got {header['kind']!r}")
    target = container.rebuild(header["target"], TARGETS) if "target" in header else target
    spec = RuleSpec.of(score, condition, KINDS[header["kind"]], header["seed"], class_names(names, count), target)
    groups = _loaded_names(header["groups"])
    known = group_names(np.array([*groups, None], dtype=object)[:-1])
    guaranteed = header.get("guaranteed", "guaranteed" not in header)
    if type(guaranteed) is not bool or (guaranteed and header["format"] == FORMAT_WITH_GUARANTEED):
        raise ValueError(f"its field guaranteed must be false, got {header['guaranteed']!r}")
    weighted = header["format"] == FORMAT_WITH_WEIGHTS
    spec = replace(spec, groups=known, with_ids=header["ids"], guaranteed=guaranteed, weighted=weighted)
    if weighted and spec.below:
        raise ValueError("its target has no weights")
    if (
        type(spec.with_ids) is not bool
        or (spec.kind == "binary" and count != 2)
        or list(spec.groups.values) != groups
        or bool(groups) != condition.needs_groups
    ):
        raise ValueError("its classes, groups, kind and condition contradict each other")
    return spec


def _loaded_names(names: object) -> list[Any]:
    """Return the names in a header; raise TypeError if they are no list."""
    if not isinstance(names, list):
        raise TypeError(f"its names must be a list, got {names!r}")
    return names


def _checked_absent(spec: RuleSpec, absent: NDArray[Any] | None, *, expected: bool) -> NDArray[Any] | None:
    """Return the numbers of absent labels of a file; raise ValueError if they cannot be right."""
    if (absent is not None) != expected:
        raise ValueError("its format number and its arrays contradict each other")
    if absent is None:
        return None
    fits = absent.dtype == np.int64 and len(absent) == spec.n_groups and (absent >= 0).all() and absent.any()
    most = MOST_ROWS if spec.sharing is None else MOST_SHARED_ABSENT
    if not fits or sum(absent.tolist()) > most:
        raise ValueError("its numbers of absent labels cannot be right")
    absent_rows.check_condition(spec.condition, spec.table(), absent > 0)
    return absent


def _checked_calibration(
    spec: RuleSpec,
    arrays: container.Arrays,
    n_keys: object,
    absent: NDArray[Any] | None,
    counts: tuple[object, object] | None,
) -> Calibration:
    """Return the calibration of a file; raise ValueError if its arrays cannot be one.

    A calibration of one row shows which arrays a score has.
    """
    example = {name: array.dtype for name, array in arrays_of(_one_row(spec.score, spec.target)).items()}
    if spec.weighted:
        example = {name: kind for name, kind in example.items() if name not in WEIGHTS_OF_TARGETS}
        example |= {name: np.dtype(np.int64) for name in OF_WEIGHTS}
        example |= {ABSENT: np.dtype(np.int64)} if absent is not None else {}
    if {name: array.dtype for name, array in arrays.items()} != example:
        raise ValueError(f"its arrays do not belong to the score {spec.score!r}")
    offsets, *keys = (arrays[name] for name in example if name == "offsets" or name.startswith("key"))
    n = len(keys[0])
    fits = n_keys == len(keys) and len(offsets) == spec.n_groups + 1 and offsets[0] == 0 and offsets[-1] == n
    # Differences could overflow and pass; a comparison cannot.
    if not fits or (offsets[1:] < offsets[:-1]).any() or any(len(key) != n or np.isnan(key).any() for key in keys):
        raise ValueError("its arrays contradict each other")
    check_ranges(spec, keys)
    if absent is not None and spec.target != ONE_LABEL:
        raise ValueError("its target has no absent labels")
    n_absent = 0 if absent is None else sum(absent.tolist())
    rows, weights = target_arrays.checked(spec, arrays, offsets, n_absent, counts)
    masses, row_masses = weight_arrays.checked(spec, arrays, offsets, absent) if spec.weighted else (None, None)
    calibration = Calibration(tuple(keys), offsets, absent, weights, rows, masses, row_masses)
    grouped = (calibration.groups, *keys, *(weights or ()), *(() if masses is None else (masses,)))
    if not lexicographic.not_after(tuple(key[:-1] for key in grouped), tuple(key[1:] for key in grouped)).all():
        raise ValueError("its calibration scores are not sorted")
    return calibration


def check_ranges(spec: RuleSpec, keys: Sequence[NDArray[Any]]) -> None:
    """Raise ValueError for keys that no row can have."""
    features = FeatureRanges.of(spec.score, spec.kind, spec.n_columns)
    for place, (key, (low, high)) in enumerate(zip(keys, ranges_of(spec.score, features), strict=False)):
        largest = max([1.0, *(abs(end) for end in (low, high) if math.isfinite(end))])
        slack = ROUNDING * largest if key.dtype.kind == "f" else 0.0
        if len(key) and (key.min() < low - slack or key.max() > high + slack):
            raise ValueError(
                f"key{place} of {spec.score!r} must lie between {low:g} and {high:g}, "
                f"got {key.min():g} to {key.max():g}"
            )


def key_types(score: Score) -> dict[str, np.dtype[Any]]:
    """Return the types of the arrays of keys that a score has, by name."""
    arrays = arrays_of(_one_row(score, ONE_LABEL))
    return {name: array.dtype for name, array in arrays.items() if name.startswith("key")}


def _one_row(score: Score, target: Target) -> Calibration:
    """Return the calibration of a single row, whose arrays have the names and dtypes of this score and target."""
    n_columns = traits(score).n_columns or 2
    data = prepare(np.full((1, n_columns), 1 / n_columns), [0])
    spec = RuleSpec.of(score, conditions.Marginal(), "probs", 0, data.classes)
    groups, keys = Batch.of(spec, data).label_keys(np.zeros(1, dtype=np.int64), slice(0, 1))
    return Calibration.of(groups, keys, 1) if target == ONE_LABEL else target_arrays.example(groups, keys, target)
