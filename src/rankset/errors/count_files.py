"""Errors about files with the number of training rows of each class."""

from collections.abc import Sequence
from typing import Any, Self

from rankset.errors.fields import Text
from rankset.errors.values import did_you_mean, join_names, short_repr, shorten

OBJECT = 'an object such as {"cat": 120, "dog": 80}'


class CountFileErrors:
    """Constructors of ``FileError`` about files with the number of training rows of each class."""

    @classmethod
    def _of(cls, path: str, what: str, expected: Text, received: Text = "", remedy: Text = "", **more: Any) -> Self:  # noqa: ANN401
        raise NotImplementedError

    @classmethod
    def no_object_of_counts(cls, path: str, received: str) -> Self:
        remedy = "Write one number for every class name. Or write a csv file with two columns, class and count."
        return cls._of(path, "a file of training counts that ends in .json", f"be {OBJECT}", received, remedy)

    @classmethod
    def no_columns_of_counts(cls, path: str, line: str, row: int) -> Self:
        expected = "have two columns, class and count, with the separator ',', ';' or a tab"
        remedy = "Put class names that contain the separator in quotes, and leave out other columns."
        return cls._of(path, "a file of training counts", expected, f"the line {shorten(line)}", remedy, row=row)

    @classmethod
    def class_counted_twice(cls, path: str, name: str) -> Self:
        expected, remedy = "have every class once", "Add up the counts of this class."
        return cls._of(path, "a file of training counts", expected, f"the class {short_repr(name)} twice", remedy)

    @classmethod
    def no_count(cls, path: str, name: str, received: object, largest: float) -> Self:
        found = f"{short_repr(received)} for the class {short_repr(name)}"
        remedy = "Write digits, without marks between thousands. Count a class without training rows as 1 row."
        return cls._of(path, "every count", f"be a positive number of at most {largest:g}", found, remedy)

    @classmethod
    def classes_without_count(cls, path: str, missing: Sequence[str]) -> Self:
        received = f"no count for {join_names(missing)}"
        remedy = "Add the missing classes. Count a class without training rows as 1 row."
        return cls._of(path, "a file of training counts", "have every class", received, remedy)

    @classmethod
    def counts_of_others(cls, path: str, unknown: Sequence[str], classes: Sequence[str]) -> Self:
        meant = did_you_mean(unknown[0], classes).strip()
        remedy = meant or "Write the class names exactly as the columns of scores have them, and leave out other lines."
        expected = f"have the classes {join_names(classes)} alone"
        return cls._of(path, "a file of training counts", expected, join_names(unknown), remedy)
