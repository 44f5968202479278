"""Labels and groups that are equal but for their spelling: 1, 1.0 and "1"; True and "true"."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.arrays import EXACT, is_whole, object_array


def spell_labels(labels: NDArray[Any], classes: Sequence[object] | None) -> NDArray[Any]:
    """Return labels spelled as the classes are (None means 0, 1, 2, …); unchanged if that is not possible for all."""
    if labels.dtype.kind not in "ObfU" or labels.ndim != 1:
        return labels
    known = None if classes is None else set(classes)
    numbered = known is None or all(map(is_whole, known))
    values = list(dict.fromkeys(labels.tolist()))
    if (numbered and labels.dtype.kind in "bf") or (known is not None and known.issuperset(values)):
        return labels
    for spell in (str, _json_text, whole_number, _whole_number_text):
        spelled = [spell(value) for value in values]
        if all(map(is_whole, spelled)) if known is None else known.issuperset(spelled):
            places = {value: place for place, value in enumerate(values)}
            found = np.array(spelled) if numbered else object_array(spelled)
            return found[[places[value] for value in labels.tolist()]]
    return labels if known is None else _composed_alike(labels, known)


def _composed_alike(labels: NDArray[Any], known: Collection[object]) -> NDArray[Any]:
    """Return texts that differ from names only in how Unicode composes letters (NFC, NFD) as these names."""
    names = alike_names([value for value in dict.fromkeys(labels.tolist()) if value not in known], known)
    if not names:
        return labels
    return object_array([names.get(value, value) for value in labels.tolist()])


def alike_names(texts: Iterable[object], known: Iterable[object]) -> dict[object, object]:
    """Return the one known name of every text that is equal to one but for the composition of its letters."""
    composed: dict[str, list[object]] = {}
    for name in known:
        if isinstance(name, str) and not name.isascii():
            composed.setdefault(unicodedata.normalize("NFC", name), []).append(name)
    found = {text: composed.get(unicodedata.normalize("NFC", text), []) for text in texts if isinstance(text, str)}
    return {text: names[0] for text, names in found.items() if len(names) == 1}


def spell_groups(groups: NDArray[Any], known: Sequence[object]) -> NDArray[Any]:
    """Return groups spelled as the ``known`` ones: 1 or 1.0 for "1", and the reverse."""
    spelling = {text: name for name in known for text in _group_texts(name)}
    values = {
        value: value
        if value in known
        else next((spelling[text] for text in _group_texts(value) if text in spelling), value)
        for value in dict.fromkeys(groups.tolist())
    }
    return object_array([values[value] for value in groups.tolist()])


def equal_groups(names: Sequence[object]) -> list[object]:
    """Names of groups that are one name in several spellings, as 1, 1.0 and "1"; empty if there are none."""
    owners: dict[str, list[object]] = {}
    for name in names:
        for text in _group_texts(name):
            owners.setdefault(text, []).append(name)
    return next((several for several in owners.values() if len(several) > 1), [])


def _group_texts(name: object) -> tuple[str, ...]:
    """Texts that files may hold for a group: true for True, 1 for 1.0."""
    number = str(whole_number(name)) if isinstance(name, float) else str(name)
    return tuple(dict.fromkeys((str(name), _json_text(name), number)))


def _json_text(value: object) -> str:
    """Text of a value, with booleans as JSON writes them."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def whole_number(value: object) -> object:
    """1.0 and "1.0" as 1; other values as they are."""
    try:
        number = float(value) if isinstance(value, str | float) else math.nan
    except ValueError:
        return value
    return int(number) if number.is_integer() and abs(number) < EXACT else value


def _whole_number_text(value: object) -> str:
    return str(whole_number(value))
