"""``normalise_answers``: one spelling for answers that differ in case, spaces or punctuation at the end."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from rankset.core.arrays import is_real, object_array
from rankset.errors import InputError, KindError
from rankset.inputs.matrix import KINDS, Kind
from rankset.inputs.named_rows import is_named_row, read_pairs

ENDINGS = ".,;:!?…。，；：！？"
"""Punctuation that is removed at the end of an answer."""


def normalise_answers(answers: Any, *, kind: Kind = "probs") -> Any:  # noqa: ANN401
    """Return answers in one spelling: without case, spaces around them, and punctuation at their end.

    Language models write the same answer as "Paris", " paris" or "Paris.". Apply this function to the rows and to the
    labels, at calibration and at prediction alike.

    The text is brought into the Unicode form NFKC and case-folded. Spaces around it and ``. , ; : ! ?`` at its end are
    removed, and several spaces inside become one. An answer that consists of punctuation only is kept.

    Parameters
    ----------
    answers
        A text, or anything that holds texts: a list, an array or a pandas series of labels, lists of sampled answers, a
        dictionary or a ``Counter`` of answers and their numbers, a list of tokens and log-probabilities as APIs return
        it, or a list of such rows. Numbers, missing values and ``rankset.ABSENT`` stay as they are.
    kind
        What the numbers in dictionaries are. If several keys of a dictionary become the same answer, their numbers are
        combined: "probs" (and counts) are added, "logits" are added as probabilities, and "decision" keeps the largest.

    Returns
    -------
    str, list, array, pandas.Series, dict or Counter
        The answers, in the same kind of container. A list of tokens and log-probabilities becomes a dictionary.

    Raises
    ------
    KindError
        If ``kind`` is not "probs", "logits" or "decision".
    InputError
        If a number in a dictionary cannot be combined, because it is NaN.

    Examples
    --------
    >>> normalise_answers([" Paris.", "PARIS", "Saint-Denis"])
    ['paris', 'paris', 'saint-denis']
    >>> normalise_answers([{"A": 0.5, " a": 0.25, "B": 0.25}])
    [{'a': 0.75, 'b': 0.25}]
    """
    if not isinstance(kind, str) or kind not in KINDS or kind == "binary":
        raise KindError.argument("kind", "'probs', 'logits' or 'decision'", kind)
    return _normalised(answers, kind)


def normalise_text(text: str) -> str:
    """Return one text in its plain spelling; applied twice, it changes nothing more.

    >>> normalise_text("  The  ANSWER is B. ")
    'the answer is b'
    """
    while True:
        folded = " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).split())
        stripped = folded.rstrip(f"{ENDINGS} ") or folded
        if stripped == text:
            return stripped
        text = stripped


def _normalised(value: Any, kind: Kind) -> Any:  # noqa: ANN401
    """Return a text or a container of texts normalised; other values unchanged."""
    if isinstance(value, str):
        return normalise_text(value)
    if is_named_row(value):
        return _merged(value, kind)
    if isinstance(value, np.ndarray):
        flat = object_array([_normalised(entry, kind) for entry in value.ravel().tolist()])
        return value if value.dtype.kind in "iufb" else flat.reshape(value.shape)
    if hasattr(value, "iloc") and hasattr(value, "map"):
        return value.map(lambda entry: _normalised(entry, kind))
    if isinstance(value, Iterable) and not isinstance(value, bytes | Mapping | set | frozenset):
        entries = [_normalised(entry, kind) for entry in value]
        return tuple(entries) if isinstance(value, tuple) else entries
    return value


def _merged(row: Any, kind: Kind) -> dict[Any, Any]:  # noqa: ANN401
    """Return a row as a dictionary, with the numbers of keys that become one combined."""
    together: dict[Any, list[Any]] = {}
    for name, value in read_pairs(row, 0, "answers"):
        together.setdefault(_normalised(name, kind), []).append(value)
    if not isinstance(row, Mapping):  # tokens have log-probabilities
        kind = "logits"
    combined = {name: values[0] if len(values) == 1 else _combined(values, kind) for name, values in together.items()}
    return Counter(combined) if isinstance(row, Counter) else combined


def _combined(values: list[Any], kind: Kind) -> Any:  # noqa: ANN401
    """Return the number of several keys that mean the same answer."""
    if any(not is_real(value) or value != value for value in values):  # noqa: PLR0124
        raise InputError.nan_answer()
    if kind == "probs" and min(values) < 0:
        raise InputError.negative_answer(min(values))
    if kind == "probs":
        return sum(values)
    largest = max(values)
    if kind == "decision" or not math.isfinite(largest):
        return largest
    return largest + math.log(math.fsum(math.exp(value - largest) for value in values))
