"""Errors about numbers that are not between 0 and 1."""

from typing import TYPE_CHECKING, Self

from rankset.errors.fields import Option, Place, Text

LOGITS = Option("kind", "logits")
PERCENTAGES = "The values look like percentages. Divide them by 100."


class UnitIntervalErrors:
    """Constructors of ``InputError`` about numbers that must be between 0 and 1."""

    if TYPE_CHECKING:

        def __init__(
            self, what: Text = "", expected: Text = "", received: Text = "", remedy: Text = "", *, where: Place = ...
        ) -> None: ...

    @classmethod
    def not_in_unit_interval(cls, name: str, row: int, value: float, largest: float) -> Self:
        remedy: Text = (
            "If the values are logits of the second class, apply the sigmoid function to them.",
            *(" Or pass two columns, 0 and the logit, with ", LOGITS, "."),
        )
        if value > 0 and 10 < largest <= 100:
            remedy = PERCENTAGES
        expected = "be probabilities of the second class between 0 and 1"
        return cls(name, expected, f"{value:.6g}", remedy, where=Place(row=row))

    @classmethod
    def single_label(cls, place: int, shape: tuple[int, ...], expected: tuple[int, int]) -> Self:
        return cls(
            "every array in a list of arrays, one per label,",
            f"have shape {expected}: the probabilities of false and true",
            f"shape {shape} for label {place}",
            "A model that has seen only one value of a label returns one column. Pass a matrix (n, K) instead.",
        )

    @classmethod
    def not_marginal(cls, name: str, row: int, column: int, value: float, largest: float) -> Self:
        remedy: Text = ("For logits, one per label, pass ", Option("kind", "marginal_logits"), ".")
        if value > 0 and 10 < largest <= 100:
            remedy = PERCENTAGES
        expected = "be probabilities of single labels between 0 and 1"
        return cls(name, expected, f"{value:.6g}", remedy, where=Place(row=row, column=column))

    @classmethod
    def single_label_sum(cls, label: int, row: int, total: float) -> Self:
        remedy = (
            "Pass what predict_proba of scikit-learn returns: in each array the probabilities of false and of true."
        )
        expected = "have rows that sum to 1 within 0.01"
        return cls(f"array {label} of the list", expected, f"the sum {total:.6g}", remedy, where=Place(row=row))
