"""A recipe and its calibration as a header and arrays, and back: everything a file says is checked here."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset import conditions
from rankset.core import lexicographic
from rankset.core.calibration import Calibration
from rankset.errors import StorageError
from rankset.io import container
from rankset.rules.spec import Batch, Recipe, learned_groups
from rankset.scores import builtin as scores
from rankset.scores import fitted

HEADER_FIELDS = {"format", "what", "score", "condition", "kind", "seed", "classes", "groups", "ids", "keys"}

MOST_CLASSES = 1 << 22
"""The most classes a file may name or count. A count takes a few bytes in a file, and memory for every class to use."""

ROUNDING = 1e-6
"""How far beyond its range, relative to it, a key may lie because of rounding."""

STORABLE = (*scores.BUILT_IN, *fitted.FITTED)
"""The scores a file may name."""


def pack(recipe: Recipe, calibration: Calibration) -> tuple[container.Header, container.Arrays]:
    """What a file holds of a rule."""
    if recipe.n_columns > MOST_CLASSES:
        raise StorageError.too_many_classes(recipe.n_columns, MOST_CLASSES)
    header: container.Header = {
        "what": "rule",
        "score": container.described(recipe.score, STORABLE),
        "condition": container.described(recipe.condition, conditions.BUILT_IN),
        "kind": recipe.kind,
        "seed": recipe.seed,
        "classes": len(recipe.classes) if isinstance(recipe.classes.values, range) else recipe.classes.values,
        "groups": recipe.groups.values,
        "ids": recipe.with_ids,
        "keys": len(calibration.keys),
    }
    return header, arrays_of(calibration)


def unpack(header: container.Header, arrays: container.Arrays) -> tuple[Recipe, Calibration]:
    """The recipe and the calibration that ``pack`` packed; a plain error where anything does not fit."""
    if header.get("what") != "rule":
        raise ValueError("it does not hold a rule")
    container.check_fields("its header", header, HEADER_FIELDS)
    recipe = _loaded_recipe(header)
    return recipe, _checked_calibration(recipe, arrays, header["keys"])


def arrays_of(calibration: Calibration) -> container.Arrays:
    """The arrays of a calibration, by name."""
    return {"offsets": calibration.offsets, **{f"key{place}": key for place, key in enumerate(calibration.keys)}}


def _loaded_recipe(header: container.Header) -> Recipe:
    """The recipe a file describes, through the door every recipe comes through."""
    names = None if type(header["classes"]) is int else _loaded_names(header["classes"])
    count = header["classes"] if names is None else len(names)
    if not 0 < count <= MOST_CLASSES:
        raise ValueError(f"a rule has between 1 and {MOST_CLASSES:,} classes, it has {count:,}")
    score = container.rebuilt(header["score"], STORABLE)
    if scores.n_columns(score) not in (None, count):
        raise ValueError(f"its score was fitted for {scores.n_columns(score):,} classes, it has {count:,}")
    condition = container.rebuilt(header["condition"], conditions.BUILT_IN)
    recipe = Recipe.of(score, condition, header["kind"], header["seed"], names, count)
    groups = _loaded_names(header["groups"])
    recipe = replace(
        recipe, groups=learned_groups(np.array([*groups, None], dtype=object)[:-1]), with_ids=header["ids"]
    )
    if (
        type(recipe.with_ids) is not bool
        or (recipe.kind == "binary" and count != 2)
        or list(recipe.groups.values) != groups
        or bool(groups) != condition.needs_groups
    ):
        raise ValueError("its classes, groups, kind and condition do not fit together")
    return recipe


def _loaded_names(names: object) -> list[Any]:
    if not isinstance(names, list):
        raise TypeError(f"its names must be a list, not {names!r}")
    return names


def _checked_calibration(recipe: Recipe, arrays: container.Arrays, n_keys: object) -> Calibration:
    """A calibration from a file, if its arrays can be one; what they must be like shows a rule of one row."""
    example = arrays_of(_one_row(recipe.score))
    if {name: array.dtype for name, array in arrays.items()} != {name: array.dtype for name, array in example.items()}:
        raise ValueError(f"its arrays are not those of {recipe.score!r}")
    offsets, *keys = (arrays[name] for name in example)
    n = len(keys[0])
    fits = n_keys == len(keys) and len(offsets) == recipe.n_groups + 1 and offsets[0] == 0 and offsets[-1] == n
    # Differences could overflow and pass; a comparison cannot.
    if not fits or (offsets[1:] < offsets[:-1]).any() or any(len(key) != n or np.isnan(key).any() for key in keys):
        raise ValueError("its arrays do not fit together")
    _check_ranges(recipe, keys)
    calibration = Calibration(tuple(keys), offsets)
    grouped = (calibration.groups, *keys)
    if not lexicographic.not_after(tuple(key[:-1] for key in grouped), tuple(key[1:] for key in grouped)).all():
        raise ValueError("its keys are not sorted")
    return calibration


def _check_ranges(recipe: Recipe, keys: Sequence[NDArray[Any]]) -> None:
    """Refuses keys that no row has: beyond every threshold sets would be empty, or hold every label."""
    features = scores.Features.of(recipe.score, recipe.kind, recipe.n_columns)
    for place, (key, (low, high)) in enumerate(zip(keys, scores.ranges(recipe.score, features), strict=False)):
        largest = max([1.0, *(abs(end) for end in (low, high) if math.isfinite(end))])
        slack = ROUNDING * largest if key.dtype.kind == "f" else 0.0
        if len(key) and (key.min() < low - slack or key.max() > high + slack):
            raise ValueError(
                f"key{place} of {recipe.score!r} must lie between {low:g} and {high:g}, "
                f"it has {key.min():g} to {key.max():g}"
            )


def _one_row(score: scores.Score) -> Calibration:
    n_columns = scores.n_columns(score) or 2
    recipe = Recipe.of(score, conditions.Marginal(), "probs", 0, None, n_columns)
    batch = Batch.of(recipe, np.full((1, n_columns), 1 / n_columns), None, None)
    groups, keys = batch.label_keys(np.zeros(1, dtype=np.int64), slice(0, 1))
    return Calibration.of(groups, keys, 1)
