"""Errors about files of labels."""

from collections.abc import Sequence
from typing import Any, Self

from rankset.errors.fields import Either, Option, Text
from rankset.errors.label_lists import TARGETS
from rankset.errors.values import differences, join_names, short_repr, shorten

LABEL = Option("label")
LABEL_COLUMN = ("pass the name of the label column as ", LABEL, ".")
LABEL_SEP = Either("Layout(label_sep=...)", "--label-sep")


class LabelFileErrors:
    """Constructors of ``FileError`` about such files."""

    @classmethod
    def _of(cls, path: str, what: str, expected: Text, received: Text = "", remedy: Text = "", **more: Any) -> Self:  # noqa: ANN401
        raise NotImplementedError

    @classmethod
    def not_a_column(cls, path: str, shape: tuple[int, ...]) -> Self:
        remedy = ("Pass a one-dimensional array. ", *TARGETS)
        return cls._of(path, "the array", "have one entry per row", f"shape {shape}", remedy)

    @classmethod
    def one_column(cls, path: str, names: Sequence[str]) -> Self:
        remedy = ("Pass a file that contains only the labels, or ", *LABEL_COLUMN, " ", *TARGETS)
        return cls._of(path, "a file of labels", "have one column", join_names(names), remedy)

    @classmethod
    def nested(cls, path: str, name: str, received: str) -> Self:
        remedy = ("Write one name or number per row. ", *TARGETS)
        return cls._of(path, "labels, groups and ids", "be names or numbers", shorten(received), remedy, column=name)

    @classmethod
    def not_boolean(cls, path: str, name: str, received: object, row: int) -> Self:
        remedy = "Write whether the answer of the row is right."
        expected = "be true or false, or 1 or 0"
        return cls._of(path, "correct", expected, short_repr(received), remedy, row=row, column=name)

    @classmethod
    def one_confidence(cls, path: str, names: Sequence[str]) -> Self:
        expected = "have one column of confidences, as the rows of the triage"
        remedy = Either("Drop the other columns.", "Name the other columns with --drop, --id, --group or --keep.")
        return cls._of(path, "the file", expected, join_names(names), remedy)

    @classmethod
    def label_columns(cls, path: str, missing: Sequence[object], unknown: Sequence[object]) -> Self:
        received = differences("no column for", missing, "the unknown columns", unknown)
        remedy = "Write one column of 0 and 1 for every class, with the name of the class, and no other columns."
        return cls._of(path, "a 0/1 matrix of labels", "have one column for every class", received, remedy)

    @classmethod
    def label_lines(cls, path: str, expected: int, received: int) -> Self:
        remedy = (
            "Check that both files belong to the same rows. Empty lines at the end of a file do not count: for rows "
            'without labels there write "" in a csv file.'
        )
        return cls._of(path, "labels", f"have one entry for each of the {expected} rows", f"{received} entries", remedy)

    @classmethod
    def label_cell(cls, path: str, name: str, row: int, cell: str, sep: str) -> Self:
        expected = f"contain names separated by {short_repr(sep)}"
        remedy = ("Remove the separator beside which no name stands, or pass another one as ", LABEL_SEP, ".")
        return cls._of(path, "every cell of labels", expected, short_repr(cell), remedy, row=row, column=name)
