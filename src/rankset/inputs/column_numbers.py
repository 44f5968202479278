"""Whether integers among labels are column numbers although the classes have names."""

from __future__ import annotations

import re
from collections.abc import Sequence

NUMBERED = re.compile(r"(.*?)([0-9]{1,18})([^0-9]*)", re.DOTALL)
"""A name with a number in it, the last one: ``class_10``, ``v2_class_10_prob``."""
ONE_NUMBER = re.compile(r"([^0-9]*)([0-9]{1,18})([^0-9]*)")
"""A name with exactly one number in it: ``1 star``, ``2 stars``."""


def two_readings(names: Sequence[str]) -> tuple[int, str, str] | None:
    """Return a number that is one class as a column number and another as the number in a name, with both names.

    None if there is no such number: names have no numbers that number the classes, the numbers are 0, 1, 2, … in this
    order, or none of them is a column number. Which labels a file holds makes no difference.
    """
    parts, count = _numbered_parts(names), len(names)
    numbers = [int(number) for _, number, _ in parts]
    if numbers == list(range(count)) or set(numbers).isdisjoint(range(count)):
        return None
    known = dict(zip(numbers, names, strict=True))
    place = next(place for place in sorted(range(count), key=lambda one: one not in known) if numbers[place] != place)
    start, _, end = parts[place]
    return place, names[place], known.get(place, f"{start}{place}{end}")


def _numbered_parts(names: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return the text before, the number and the text after it, for each name; empty if they do not number classes.

    They do if the names are alike but for the last number, or if each name has one number, all numbers differ, and
    none is larger than the count of names.
    """
    alike = _split_names(NUMBERED, names)
    if len({(start, end) for start, _, end in alike}) == 1:
        return alike
    parts = _split_names(ONE_NUMBER, names)
    numbers = {int(number) for _, number, _ in parts}
    return parts if len(numbers) == len(names) and numbers <= set(range(len(names) + 1)) else []


def _split_names(pattern: re.Pattern[str], names: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return the three groups of ``pattern`` for each name; empty if one does not match."""
    found = [match for match in map(pattern.fullmatch, names) if match is not None]
    return [(match[1], match[2], match[3]) for match in found] if len(found) == len(names) else []


def are_column_numbers(names: Sequence[object]) -> bool:
    """Return whether an integer label can only be a column number: all names are texts, and no integer is one of them.

    >>> are_column_numbers(["cat", "dog"]), are_column_numbers(["LABEL_0", "LABEL_1"]), are_column_numbers(["1", "2"])
    (True, True, False)
    """
    texts = [name for name in names if isinstance(name, str) and not _is_number(name)]
    return len(texts) == len(names) and two_readings(texts) is None


def _is_number(text: str) -> bool:
    """Return whether a text is a number: "2", "02", "2.0"."""
    try:
        float(text)
    except ValueError:
        return False
    return True
