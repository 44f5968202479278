"""``Cost``: labels that are more or less expensive to miss."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from numbers import Rational
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rankset.core.weights import LARGEST
from rankset.errors import KindError, LabelError
from rankset.targets.base import Chosen, Target, TrueLabels

LONGEST = 1000
"""Largest number of characters of a cost, as it is typed and as a fraction in a file."""


@dataclass(frozen=True, init=False)
class Cost:
    """Missing the true label of a row costs something, and the expected cost is at most alpha times the largest cost.

    Every row has one true label. If all costs are equal, this is the same as ``OneLabel()``.

    The promise is about the mean cost of a row, so alpha is the mean cost that you allow, divided by the largest cost:
    0.01 for a mean cost of at most 0.1 if the largest cost is 10. Costs choose the threshold, not the order of labels:
    with one threshold the costly label is covered about as often as the others. With ``PerLabel()`` every label has a
    threshold, and the expected cost of missing it is at most alpha times the largest cost: a label of the largest cost
    is missed in at most alpha of its rows, a label of a tenth of this cost in at most 10 alpha.

    Parameters
    ----------
    costs : mapping
        The cost of missing each label: numbers of at least 0, such as ``{"malignant": 10, "benign": 1}``. Keys are
        class names, or column numbers if classes have no names or integers can only be column numbers.
    others : number, optional
        The cost of missing a label that is not in ``costs``. Without it, ``costs`` must contain every class.

    Raises
    ------
    KindError
        If a cost is not a finite number of at least 0, or if no cost is larger than 0.
    LabelError
        When the rule is made: if a class has no cost.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rule = rs.calibrate(probs, labels, target=rs.Cost({0: 1, 3: 5}, others=2))
    >>> rule.predict([[0.6, 0.3, 0.1, 0.0]], alpha=0.1).to_lists()
    [[0, 1]]
    """

    names: tuple[Any, ...]
    costs: tuple[str, ...]
    others: str | None = None

    several_labels: ClassVar[bool] = False
    promise: ClassVar[str] = "the expected cost of missing the true label is at most {} of the largest cost"

    def __init__(self, costs: Mapping[Any, Any], others: Any = None) -> None:  # noqa: ANN401
        if not isinstance(costs, Mapping):
            raise KindError.argument("costs", "a mapping from labels to costs, such as {'malignant': 10}", costs)
        given = {_plain(name): cost for name, cost in costs.items()}
        exact = {name: _exact(given[name], f"the cost of {name!r}") for name in sorted(given, key=_order)}
        rest = None if others is None else _exact(others, "others")
        if not any(exact.values()) and not rest:
            raise KindError.argument("costs", "a mapping with at least one cost above 0", dict(costs))
        object.__setattr__(self, "names", tuple(exact))
        object.__setattr__(self, "costs", tuple(map(str, exact.values())))
        object.__setattr__(self, "others", None if rest is None else str(rest))

    @classmethod
    def from_stored(cls, names: tuple[Any, ...], costs: tuple[str, ...], others: str | None) -> Cost:
        """Return the target that a file describes.

        Parameters
        ----------
        names, costs, others
            The labels, their costs as texts, and the cost of other labels or None.

        Returns
        -------
        Cost

        Examples
        --------
        >>> import rankset as rs
        >>> rs.Cost.from_stored(("a", "b"), ("1", "5/2"), None)
        Cost({'a': 1, 'b': 5/2})
        """
        return cls(dict(zip(names, costs, strict=True)), others)

    stored: ClassVar[tuple[str, ...]] = ("names", "costs", "others")

    def __repr__(self) -> str:
        known = ", ".join(f"{name!r}: {cost}" for name, cost in zip(self.names, self.costs, strict=True))
        return f"Cost({{{known}}}{'' if self.others is None else f', others={self.others}'})"

    def entries(self, labels: TrueLabels) -> Chosen:
        """Return every label whose cost is not 0, with its cost divided by the largest cost."""
        parts, whole = cost_weights(self, labels.classes)
        places = np.flatnonzero(parts[labels.column])
        return places, (parts[labels.column[places]], np.full(len(places), whole))


def cost_weights(target: Cost, classes: Any) -> tuple[NDArray[np.int64], int]:  # noqa: ANN401
    """Return the cost of each class as an integer, and the largest one, in units that all are multiples of."""
    shares = cost_shares(target, classes)
    whole = math.lcm(*(share.denominator for share in shares))
    if whole > LARGEST:
        raise LabelError.fine_costs([_typed(cost) for cost in target.costs], LARGEST)
    return np.array([int(share * whole) for share in shares], dtype=np.int64), whole


def cost_shares(target: Cost, classes: Any) -> list[Fraction]:  # noqa: ANN401
    """Return the cost of each class, divided by the largest cost."""
    known = dict(zip(target.names, map(Fraction, target.costs), strict=True))
    missing = [name for name in classes if name not in known]
    unknown = [name for name in known if name not in set(classes)]
    if unknown or (missing and target.others is None):
        raise LabelError.costs(missing if target.others is None else [], unknown)
    costs = [known[name] if name in known else Fraction(target.others or 0) for name in classes]
    largest = max(costs)
    if not largest:
        raise LabelError.no_cost()
    return [cost / largest for cost in costs]


def costs_like(target: Target, classes: Sequence[Any]) -> Target:
    """Return costs whose names are spelled as the classes: "3", as files and commands have it, for the class 3."""
    if not isinstance(target, Cost):
        return target
    known = {str(name): name for name in classes}
    names = [name if name in classes else known.get(name, name) for name in target.names]
    return Cost.from_stored(tuple(names), target.costs, target.others)


def costs_by_column(target: Target, classes: Sequence[Any]) -> Target:
    """Return costs whose names are column numbers, for labels that are column numbers; other targets as they are."""
    if not isinstance(target, Cost):
        return target
    known = dict(zip(target.names, target.costs, strict=True))
    columns = {column: known[name] for column, name in enumerate(classes) if name in known}
    return Cost.from_stored(tuple(columns), tuple(columns.values()), target.others)


def _plain(name: Any) -> Any:  # noqa: ANN401
    """Return a label as Python has it."""
    return name.item() if isinstance(name, np.generic) else name


def _order(name: object) -> tuple[str, str]:
    """Return a key by which labels of any types can be sorted, so that the order of a mapping does not matter."""
    return type(name).__name__, repr(name)


def _exact(cost: object, name: str) -> Fraction:
    """Return a cost exactly as it was typed."""
    usable = isinstance(cost, Rational | float | np.number | Decimal | str) and not isinstance(cost, bool | np.bool_)
    text = str(cost) if usable else ""
    try:
        if len(text) > LONGEST or ("/" not in text and abs(Decimal(text or "nan").adjusted()) > LONGEST):
            text = ""
        exact = Fraction(text)
    except (ValueError, ZeroDivisionError, OverflowError, InvalidOperation):
        exact = None
    if exact is None or exact < 0 or len(str(exact)) > LONGEST:
        raise KindError.argument(name, f"a finite number of at least 0, with at most {LONGEST:,} digits", cost)
    return exact


def _typed(cost: str) -> str:
    """Return the text of a cost as a decimal number, if it is one that a float holds; else as it is."""
    try:
        text = f"{float(Fraction(cost))!r}"
    except OverflowError:
        return cost
    return text if "/" in cost and Fraction(text) == Fraction(cost) else cost
