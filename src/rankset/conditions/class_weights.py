"""What conditions with one weight per class share: the checks of their numbers, and one group per class."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from rankset.conditions.base import Ints
from rankset.core.arrays import as_float
from rankset.errors import KindError, LabelError
from rankset.inputs.row_index import has_own_order

LARGEST = 1e12
"""The largest ratio of two numbers of classes."""


def numbers_of_classes(name: str, given: Any, *, zeros: bool = False) -> tuple[float, ...]:  # noqa: ANN401
    """Return one number per class; raise an error if ``given`` is no list of positive numbers of similar size.

    If ``zeros``, some of them can be 0, and they can differ by any factor.
    """
    what = "numbers from 0 on, at least one of them positive" if zeros else "positive numbers"
    expected = f"a list of {what}, one per class, in column order"
    if has_own_order(given):
        raise KindError.numbers_by_name(name, expected, given)
    listed = given.tolist() if hasattr(given, "tolist") else given
    if isinstance(listed, str | bytes) or not isinstance(listed, Iterable):
        raise KindError.argument(name, expected, given)
    numbers = tuple(map(as_float, listed))
    least = 0.0 if zeros else math.nextafter(0.0, 1.0)
    if not all(least <= number < math.inf for number in numbers) or not any(numbers):
        raise KindError.argument(name, expected, given)
    if not zeros and max(numbers) / LARGEST > min(numbers):
        raise KindError.argument(name, f"numbers of which none is {LARGEST:g} times as large as another", given)
    return numbers


class WeighsClasses:
    """Base of conditions with one number, and one group, for every class."""

    needs_groups = False
    has_clusters = True

    @property
    def _numbers(self) -> tuple[float, ...]:
        """The numbers of the classes: the first field."""
        first: tuple[float, ...] = next(iter(vars(self).values()))
        return first

    def count(self, n_columns: int, n_row_groups: int) -> int:  # noqa: ARG002
        """Return the number of classes."""
        if len(self._numbers) != n_columns:
            raise LabelError.numbers_of_classes(type(self).__name__, n_columns, len(self._numbers))
        return n_columns

    def numbers(self, columns: Ints, row_groups: Ints, n_columns: int, n_row_groups: int) -> Ints:  # noqa: ARG002
        """Return the column of each label."""
        return columns
