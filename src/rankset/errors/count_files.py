"""Errors about files with a number for each class: of its training rows, or its factor."""

from collections.abc import Sequence
from typing import Any, Self

from rankset.errors.fields import Text
from rankset.errors.values import did_you_mean, join_names, short_repr, shorten

COUNTS = "training counts"
OBJECT = 'an object such as {"cat": 120, "dog": 80}'


class CountFileErrors:
    """Constructors of ``FileError`` about such files; ``of`` says what the numbers are."""

    @classmethod
    def _of(cls, path: str, what: str, expected: Text, received: Text = "", remedy: Text = "", **more: Any) -> Self:  # noqa: ANN401
        raise NotImplementedError

    @classmethod
    def no_object_of_counts(cls, path: str, received: str, of: str = COUNTS) -> Self:
        remedy = "Write one number for every class name. Or write a csv file with two columns, class and number."
        return cls._of(path, f"a file of {of} that ends in .json", f"be {OBJECT}", received, remedy)

    @classmethod
    def no_columns_of_counts(cls, path: str, line: str, row: int, of: str = COUNTS) -> Self:
        expected = "have two columns, class and number, with the separator ',', ';' or a tab"
        remedy = "Put class names that contain the separator in quotes, and leave out other columns."
        return cls._of(path, f"a file of {of}", expected, f"the line {shorten(line)}", remedy, row=row)

    @classmethod
    def class_counted_twice(cls, path: str, name: str, of: str = COUNTS) -> Self:
        remedy = "Add up the counts of this class." if of == COUNTS else "Leave out one of them."
        expected = "have every class once"
        return cls._of(path, f"a file of {of}", expected, f"the class {short_repr(name)} twice", remedy)

    @classmethod
    def no_count(cls, path: str, name: str, received: object, largest: float) -> Self:
        found = f"{short_repr(received)} for the class {short_repr(name)}"
        remedy = "Write digits, without marks between thousands. Count a class without training rows as 1 row."
        return cls._of(path, "every count", f"be a positive number of at most {largest:g}", found, remedy)

    @classmethod
    def no_factor(cls, path: str, name: str, received: object, largest: float) -> Self:
        found = f"{short_repr(received)} for the class {short_repr(name)}"
        remedy = "Write digits, without marks between thousands."
        return cls._of(path, "every factor", f"be a number from 0 to {largest:g}", found, remedy)

    @classmethod
    def classes_without_count(cls, path: str, missing: Sequence[str], of: str = COUNTS) -> Self:
        received = f"no {'count' if of == COUNTS else 'factor'} for {join_names(missing)}"
        same = "Count a class without training rows as 1 row." if of == COUNTS else "The factor 1 means the same share."
        remedy = f"Add the missing classes. {same}"
        return cls._of(path, f"a file of {of}", "have every class", received, remedy)

    @classmethod
    def counts_of_others(cls, path: str, unknown: Sequence[str], classes: Sequence[str], of: str = COUNTS) -> Self:
        meant = did_you_mean(unknown[0], classes).strip()
        remedy = meant or "Write the class names exactly as the columns of scores have them, and leave out other lines."
        expected = f"have the classes {join_names(classes)} alone"
        return cls._of(path, f"a file of {of}", expected, join_names(unknown), remedy)
