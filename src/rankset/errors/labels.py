"""Errors about labels, class names and group names."""

from collections.abc import Sequence
from typing import Self

from rankset.errors.base import RanksetError
from rankset.errors.fields import Either, Option, Place, Text
from rankset.errors.label_lists import INSIDE, TARGETS, LabelListErrors, separator_of
from rankset.errors.values import join_names, short_repr

RENAME = Either("Pass backend='pandas', or rename classes.", "Rename classes.")
ABSENT = Either("rankset.ABSENT", "an absent label (--absent)")
ABSENT_HINT = (
    " If the true label of that row is not among its candidates, pass ",
    Either("rankset.ABSENT as its label", "the text that labels have in such rows as --absent"),
    ".",
)
MISSING_HINT = (
    " If the true label of that row is not among its candidates, pass ",
    Either("rankset.ABSENT as its label", "--absent '', which is for rows without a label"),
    ".",
)
WHOLE_NUMBERS = ". Write column numbers as integers, 2 instead of 2.0."
ABSENT_LABELS = (
    Either("An empty label is no class: use rankset.ABSENT", "An empty label is no class: pass --absent ''"),
    " if the true label of such rows is not among the classes, or drop these rows. ",
)


class LabelError(LabelListErrors, RanksetError, ValueError):
    """Labels, class names or group names that do not fit. It is also a ``ValueError``.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> try:
    ...     rs.calibrate(probs[:2], ["A", "E"], classes=["A", "B", "C", "D"])
    ... except rs.errors.LabelError as error:
    ...     print(error.received)
    'E', first
    """

    def about_sets(self) -> None:
        """Name the methods of sets for several labels instead of the targets of ``calibrate``."""
        if isinstance(self.remedy, tuple) and self.remedy[-len(TARGETS) :] == TARGETS:
            self.remedy = (*self.remedy[: -len(TARGETS)], *INSIDE)

    @classmethod
    def one_hot(cls, name: str, shape: tuple[int, ...]) -> Self:
        received = f"a one-hot matrix of shape {shape}"
        column = ("Pass ", Either(f"{name}.argmax(axis=1)", "the column number of each label"), ".")
        remedy = (*column, " ", *TARGETS) if name == "labels" else column
        return cls(name, "be one-dimensional", received, remedy)

    @classmethod
    def not_one_dimensional(cls, name: str, received: str, remedy: Text = "Pass a list or a 1-D array.") -> Self:
        return cls(name, "be one-dimensional with one entry per row", received, remedy)

    @classmethod
    def several(cls, name: str, received: str) -> Self:
        if name not in ("labels", "y"):
            return cls.not_one_dimensional(name, received)
        return cls.not_one_dimensional(name, received, ("Pass one label per row. ", *TARGETS))

    @classmethod
    def missing(cls, name: str, row: int) -> Self:
        remedy = ("Drop that row.", *(MISSING_HINT if name == "labels" else ()))
        return cls(name, "be known for every row", "a missing value", remedy, where=Place(row=row))

    @classmethod
    def absent_condition(cls, condition: object, row: int) -> Self:
        return cls(
            "labels",
            f"be classes for {short_repr(condition)}, because the group of a row depends on its true label",
            ABSENT,
            (
                "Drop the rows whose true label is not among the candidates, or calibrate with ",
                Either("Marginal() or PerGroup()", "no --per-label"),
                ".",
            ),
            where=Place(row=row),
        )

    @classmethod
    def absent_class(cls, what: str, row: int) -> Self:
        remedy = "Drop the rows whose true label is not among the candidates."
        return cls("labels", f"be classes for {what}", ABSENT, remedy, where=Place(row=row))

    @classmethod
    def absent_is_class(cls, text: str) -> Self:
        remedy = "Pass a text that is no class and no column number."
        return cls("the text of absent labels", "be no class", f"{short_repr(text)}, which is a class", remedy)

    @classmethod
    def out_of_range(cls, name: str, row: int, value: object, n_classes: int) -> Self:
        remedy = ("For other labels pass the class names in column order as ", Option("classes"), ".")
        return cls(name, _column_numbers(n_classes), short_repr(value), remedy, where=Place(row=row))

    @classmethod
    def one_based(cls, name: str, row: int, n_classes: int) -> Self:
        in_python = f"pass classes=range(1, {n_classes + 1})"
        remedy = (f"If {name} start at 1, ", Either(in_python, "subtract 1 from each, or write class names"), ".")
        return cls(name, _column_numbers(n_classes), str(n_classes), remedy, where=Place(row=row))

    @classmethod
    def names_without_classes(cls, name: str, row: int, value: object) -> Self:
        return cls(
            name,
            "be column numbers if no class names are passed",
            f"the string {short_repr(value)}",
            ("Pass the class names in column order as ", Option("classes"), ", or pass column numbers as labels."),
            where=Place(row=row),
        )

    @classmethod
    def unknown(cls, name: str, row: int, unknown: Sequence[object], known: Sequence[object]) -> Self:
        return cls(
            name,
            f"be among the classes ({join_names(known)})",
            f"{join_names(unknown)}, first",
            (
                *(ABSENT_LABELS if any(isinstance(one, str) and not one for one in unknown) else ()),
                *((*TARGETS, " ") if any(separator_of(one, known) is not None for one in unknown) else ()),
                "Check the spelling and type of the labels. Or pass names that include these labels as ",
                Option("classes"),
                Either(". To turn column numbers into names, use np.array(classes)[labels].", WHOLE_NUMBERS),
            ),
            where=Place(row=row),
        )

    @classmethod
    def two_readings(cls, name: str, row: int, number: int, column: str, named: str, remedy: Text) -> Self:
        received = f"integers, and {number} can mean column {number} ({short_repr(column)}) or {short_repr(named)}"
        return cls(name, "be class names", received, remedy, where=Place(row=row))

    @classmethod
    def lines_in_several_orders(cls, path: str) -> Self:
        return cls(
            "labels",
            "be class names if the columns are in another order in some lines of the file",
            "column numbers",
            (
                "Use class names as labels. Or pass the class names, in the order of the numbers, as ",
                Option("classes"),
                ".",
            ),
            where=Place(file=path),
        )

    @classmethod
    def number_in_name(cls, path: str, number: int, column: str, name: str) -> Self:
        return cls(
            "labels",
            "be class names",
            f"integers, and {number} can mean column {number} ({short_repr(column)}) or the class {short_repr(name)}",
            "Write class names as labels. Or rename the columns: the numbers in the names must be 0, 1, 2, … in order.",
            where=Place(file=path),
        )

    @classmethod
    def other_labels(cls, labels: Sequence[object], classes: Sequence[object]) -> Self:
        expected = f"be among the classes of the trained model ({join_names(classes)})"
        return cls("labels", expected, join_names(labels), "Pass only labels that the model was trained with.")

    @classmethod
    def padding(cls, row: int, value: object, count: int) -> Self:
        received = f"{short_repr(value)} in a row with {count} candidates"
        remedy = ("Check the number of candidates, or drop that row.", *ABSENT_HINT)
        return cls("labels", "be among the candidates of their rows", received, remedy, where=Place(row=row))

    @classmethod
    def no_option(cls, name: str, row: int, value: object, options: Sequence[object]) -> Self:
        return cls(
            name,
            f"be among the candidates of their rows ({join_names(options)})",
            short_repr(value),
            (
                "Check the spelling and type of that label",
                Either(", or pass rows and labels through rankset.normalise_answers", ""),
                ".",
                *ABSENT_HINT,
            ),
            where=Place(row=row),
        )

    @classmethod
    def duplicate_candidates(cls, row: int, names: Sequence[object]) -> Self:
        remedy = Either(
            "Add up the numbers of equal names, for example by rankset.normalise_answers(rows, kind=...).",
            "Rename one.",
        )
        expected, received = "be different within a row", f"{join_names(names)} more than once"
        return cls("names of candidates", expected, received, remedy, where=Place(row=row))

    @classmethod
    def same_text(cls, backend: str, names: Sequence[object]) -> Self:
        expected, why = "be different after conversion to strings", f"{backend} needs strings as column names. "
        return cls("class names", expected, join_names(names), (why, RENAME))

    @classmethod
    def one_text(cls, where: str, names: Sequence[object]) -> Self:
        expected = f"be different after conversion to strings in {where}"
        return cls("class names", expected, join_names(names), "Rename one of these classes, or write a jsonl file.")

    @classmethod
    def duplicates(cls, names: Sequence[object]) -> Self:
        remedy = "Rename or merge those columns."
        return cls("class names", "be different", f"{join_names(names)} more than once", remedy)

    @classmethod
    def class_count(cls, expected: int, received: int) -> Self:
        wanted = f"contain one name for each of the {expected} columns, in column order"
        return cls("classes", wanted, f"{received} names")

    @classmethod
    def groups_missing(cls, condition: object) -> Self:
        remedy = Either("Pass one group name per row as groups=.", "Pass the name of the group column as --group.")
        return cls(short_repr(condition), "get the group of every row", "no groups", remedy)

    @classmethod
    def groups_unused(cls, condition: object) -> Self:
        return cls(
            "groups",
            "not be passed if the condition does not use groups",
            f"groups for {short_repr(condition)}",
            ("Calibrate with ", Either("condition=PerGroup()", "--group"), ", or do not pass groups."),
        )

    @classmethod
    def group_shape(cls, condition: object, expected: tuple[int, ...], received: tuple[int, ...]) -> Self:
        return cls(
            f"the group numbers of {short_repr(condition)}",
            f"have a shape that can be broadcast to {expected}",
            f"shape {received}",
            "Compute with columns and row_groups as they are: both have two dimensions.",
        )

    @classmethod
    def group_numbers(cls, condition: object, count: int, received: object) -> Self:
        expected = f"return group numbers from 0 to {count - 1} for the calibration rows"
        return cls("a condition", expected, f"{received} from {short_repr(condition)}")

    @classmethod
    def clusters(cls, expected: int, received: int) -> Self:
        wanted = f"contain one cluster name for each of the {expected} classes"
        return cls("clusters of PerLabel", wanted, f"{received} names")

    @classmethod
    def numbers_of_classes(cls, condition: str, expected: int, received: int) -> Self:
        wanted = f"contain one number for each of the {expected} classes, in column order"
        what = "factors" if condition == "LabelShift" else "shares"
        return cls(f"{what} of {condition}", wanted, f"{received} numbers")


def _column_numbers(n_classes: int) -> str:
    return f"be column numbers, integers from 0 to {n_classes - 1}"
