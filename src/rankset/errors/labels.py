"""Errors about labels, class names and group names."""

from collections.abc import Sequence
from typing import Self

from rankset.errors.base import RanksetError
from rankset.errors.fields import Either, Option, Place
from rankset.errors.values import join_names, short_repr

PANDAS = Option("backend", "pandas")
WHOLE_NUMBERS = "; write column numbers as whole numbers, 2 instead of 2.0."


class LabelError(RanksetError, ValueError):
    """Labels, class names or group names that do not fit."""

    @classmethod
    def one_hot(cls, name: str, shape: tuple[int, ...]) -> Self:
        received = f"a one-hot matrix of shape {shape}"
        remedy = ("Pass ", Either(f"{name}.argmax(axis=1)", "the column numbers"), ".")
        return cls(name, "be one-dimensional", received, remedy)

    @classmethod
    def not_one_dimensional(cls, name: str, received: str) -> Self:
        return cls(name, "be one-dimensional, one entry per row", received, "Pass a list or a 1-D array.")

    @classmethod
    def missing(cls, name: str, row: int) -> Self:
        return cls(name, "be known for every row", "a missing value", "Drop that row.", where=Place(row=row))

    @classmethod
    def out_of_range(cls, name: str, row: int, value: object, n_classes: int) -> Self:
        remedy = ("For other labels pass their names in column order as ", Option("classes"), ".")
        return cls(name, _column_numbers(n_classes), short_repr(value), remedy, where=Place(row=row))

    @classmethod
    def one_based(cls, name: str, row: int, n_classes: int) -> Self:
        names = Option("classes", range(1, n_classes + 1))
        remedy = (f"{name} look 1-based: pass ", names, Either("", " with the names 1, 2, 3, …"), ".")
        return cls(name, _column_numbers(n_classes), str(n_classes), remedy, where=Place(row=row))

    @classmethod
    def names_without_classes(cls, name: str, row: int, value: object) -> Self:
        return cls(
            name,
            "be column numbers if classes are numbers",
            f"the text {short_repr(value)}",
            ("Pass the names in column order as ", Option("classes"), ", or the labels as numbers."),
            where=Place(row=row),
        )

    @classmethod
    def unknown(cls, name: str, row: int, unknown: Sequence[object], known: Sequence[object]) -> Self:
        return cls(
            name,
            f"be among the classes ({join_names(known)})",
            f"{join_names(unknown)}, the first one",
            (
                "Check spelling and type, or pass the names of these labels as ",
                Option("classes"),
                Either("; np.array(classes)[labels] turns column numbers into names.", WHOLE_NUMBERS),
            ),
            where=Place(row=row),
        )

    @classmethod
    def lines_in_several_orders(cls, path: str) -> Self:
        return cls(
            "labels",
            "be class names if the columns are in another order in some lines of the file",
            "column numbers",
            ("Pass labels by name, or the class names in the order of the numbers as ", Option("classes"), "."),
            where=Place(file=path),
        )

    @classmethod
    def number_in_name(cls, path: str, number: int, column: str, name: str) -> Self:
        return cls(
            "labels",
            "be class names if the numbers in the names differ from the column numbers",
            f"whole numbers: {number} may be column {number} ({short_repr(column)}) or the class {short_repr(name)}",
            "Write labels as the names are written, or put the columns in the order of their numbers.",
            where=Place(file=path),
        )

    @classmethod
    def other_labels(cls, labels: Sequence[object], classes: Sequence[object]) -> Self:
        expected = f"be among the classes the trained model knows ({join_names(classes)})"
        return cls("labels", expected, join_names(labels), "Pass the labels that the model was trained with.")

    @classmethod
    def padding(cls, row: int, value: object, count: int) -> Self:
        received = f"{short_repr(value)} in a row with {count} candidates"
        remedy = "Check the counts, or drop that row."
        return cls("labels", "be candidates of their rows", received, remedy, where=Place(row=row))

    @classmethod
    def same_text(cls, backend: str, names: Sequence[object]) -> Self:
        expected = f"differ as texts, which name the columns of {backend}"
        return cls("class names", expected, join_names(names), ("Pass ", PANDAS, ", or rename classes."))

    @classmethod
    def one_text(cls, where: str, names: Sequence[object]) -> Self:
        expected = f"differ as texts in {where}"
        return cls("class names", expected, join_names(names), "Rename one of them, or write jsonl.")

    @classmethod
    def duplicates(cls, names: Sequence[object]) -> Self:
        remedy = "Rename or merge those columns."
        return cls("class names", "be distinct", f"{join_names(names)} more than once", remedy)

    @classmethod
    def class_count(cls, expected: int, received: int) -> Self:
        return cls("classes", f"name each of the {expected} columns once, in order", f"{received} names")

    @classmethod
    def groups_missing(cls, condition: object) -> Self:
        remedy = ("Pass one name per row as ", Option("groups"), ".")
        return cls(short_repr(condition), "know each row's group", "none", remedy)

    @classmethod
    def groups_unused(cls, condition: object) -> Self:
        return cls(
            "groups",
            "be left out unless the condition uses them",
            f"groups for {short_repr(condition)}",
            ("Pass ", Either("condition=PerGroup()", "--group"), " when calibrating, or leave groups out."),
        )

    @classmethod
    def group_numbers(cls, condition: object, count: int, received: object) -> Self:
        expected = f"number the groups of calibration rows from 0 to {count - 1}"
        return cls("a condition", expected, f"{received} from {short_repr(condition)}")

    @classmethod
    def clusters(cls, expected: int, received: int) -> Self:
        return cls("clusters of PerLabel", f"name a cluster for each of the {expected} classes", str(received))


def _column_numbers(n_classes: int) -> str:
    return f"be whole numbers from 0 to {n_classes - 1}, the column numbers"
