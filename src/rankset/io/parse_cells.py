"""Parse text cells (csv, tsv, txt): labels and ids as whole numbers or names. Scores: ``parse_scores``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.arrays import fits_64_bits, object_array

WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,19}")
MISSING = frozenset({"", "#N/A", "#N/A N/A", "#NA", "N/A", "NA", "NULL", "n/a", "null", "<NA>", "None"})
"""Texts that csv files write in place of a missing number."""
TEXT_BYTES = 96
"""Bytes that Python takes for a text, besides its characters."""


def is_whole_text(text: str) -> bool:
    """Return whether ``text`` is a 64-bit integer as programs write it; 007, +7 and 7.0 are texts."""
    return WHOLE_NUMBER.fullmatch(text) is not None and fits_64_bits(int(text))


def parse_names(words: Sequence[Any], *, whole: bool) -> NDArray[Any]:
    """Array of texts; if ``whole`` and all texts are whole numbers, of integers, with None where one is missing."""
    present = [word for word in words if word not in ("", None)]
    if not whole or not present or not all(map(is_whole_text, present)):
        return object_array(words)
    if len(present) == len(words):
        return _integers([int(word) for word in words])
    return object_array([None if word in ("", None) else int(word) for word in words])


def _integers(numbers: Sequence[int]) -> NDArray[Any]:
    """Array of int64 or uint64; of Python integers if neither holds all numbers (NumPy would round them)."""
    if max(numbers) < 2**63:
        return np.array(numbers, dtype=np.int64)
    return np.array(numbers, dtype=np.uint64) if min(numbers) >= 0 else object_array(numbers)


def whole_numbers_or_names(names: Sequence[str]) -> list[Any]:
    """Names as whole numbers if all of them are written as such, else as they are."""
    return [int(name) for name in names] if all(map(is_whole_text, names)) else list(names)
