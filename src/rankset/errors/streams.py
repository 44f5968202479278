"""Errors about streams."""

from typing import TYPE_CHECKING, Self

from rankset.errors.fields import Option, Place, Text
from rankset.errors.values import short_repr

SOME_IDS = Option("ids")


class StreamErrors:
    """Constructors of ``RuleError`` about streams."""

    if TYPE_CHECKING:

        def __init__(
            self, what: Text = "", expected: Text = "", received: Text = "", remedy: Text = "", *, where: Place = ...
        ) -> None: ...

    @classmethod
    def followed(cls, what: str, expected: str, received: object) -> Self:
        return cls(
            f"the rule of {what}", expected, short_repr(received), "Calibrate a rule without it for this purpose."
        )

    @classmethod
    def row_known(cls, name: object) -> Self:
        remedy = ("Give every row its own id with ", SOME_IDS, ", such as a number that counts on.")
        return cls("ids", "be those of new rows", f"{short_repr(name)}, which was predicted before", remedy)

    @classmethod
    def row_twice(cls, name: object) -> Self:
        return cls("ids", "be different", f"{short_repr(name)} more than once", "Pass one id, or one label, per row.")

    @classmethod
    def long_id(cls, bits: int) -> Self:
        return cls("ids", f"be texts, or numbers of at most {bits:,} bits", "a longer integer", "Pass it as a text.")

    @classmethod
    def no_rows_to_label(cls, labels: int, rows: int) -> Self:
        remedy = ("Pass ", SOME_IDS, ", the ids of the rows whose labels have come.")
        return cls("labels without ids", "be those of the last predict", f"{labels} labels for {rows} rows", remedy)

    @classmethod
    def absent_in_stream(cls, row: int) -> Self:
        return cls(
            "labels of a stream",
            "be among the candidates of their rows, because a set that can miss them always has no bound",
            "ABSENT",
            "Leave such rows out, and count them yourself.",
            where=Place(row=row),
        )

    @classmethod
    def names_in_stream(cls) -> Self:
        return cls(
            "rows of a stream",
            "have classes as columns",
            "candidates with names of their own in every row",
            "Pass Ragged rows without names, and labels as column numbers.",
        )
