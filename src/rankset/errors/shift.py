"""Errors about rows from two sources, for ``rankset.shift``."""

from typing import TYPE_CHECKING, Self

from rankset.errors.fields import Place, Text
from rankset.errors.values import short_repr


class ShiftErrors:
    """Constructors of ``InputError`` about the rows that a shift is estimated from."""

    if TYPE_CHECKING:

        def __init__(
            self, what: Text = "", expected: Text = "", received: Text = "", remedy: Text = "", *, where: Place = ...
        ) -> None: ...

    @classmethod
    def too_few_rows_of_source(cls, name: str, needed: int, received: int) -> Self:
        return cls(name, f"have at least {needed:,} rows", f"{received:,} rows", "Pass more rows.")

    @classmethod
    def same_rows(cls, first: str, second: str) -> Self:
        remedy = f"Pass rows like the calibration rows as {first}, and rows like the new rows as {second}."
        return cls(f"{first} and {second}", "be different rows", "the same rows twice", remedy)

    @classmethod
    def one_class(cls, name: object) -> Self:
        remedy = "Pass labelled rows of at least two classes: shares of classes cannot be estimated from one."
        return cls("fit_labels", "contain at least 2 classes", f"only the class {short_repr(name)}", remedy)

    @classmethod
    def age(cls, row: int, value: float) -> Self:
        remedy = "Pass for each row how long ago it was seen, such as np.arange(n, 0, -1) for n rows, the newest last."
        return cls("ages", "be finite numbers from 0 on", f"{value:g}", remedy, where=Place(row=row))

    @classmethod
    def weight_to_count(cls, row: int, value: float) -> Self:
        return cls("weights", "be finite numbers from 0 on", f"{value:g}", "Check them.", where=Place(row=row))
