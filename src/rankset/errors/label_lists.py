"""Errors about labels of rows that can have several of them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

from rankset.errors.fields import Either, Option, Place, Text
from rankset.errors.values import differences, join_names, short_repr

SEVERAL = "be a 0/1 matrix with one row per row and one column per class, or a list of labels for every row"
NAMES_OF_LISTS = Either(
    "To turn column numbers into names, use [[classes[k] for k in row] for row in labels].",
    "Write class names as labels.",
)
NAMES_OF_NUMBERS = Either(
    "To turn column numbers into names, use np.array(classes)[labels].", "Write class names as labels."
)
EMPTY_LIST = Either("For a row without labels pass an empty list.", "For a row without labels write 0 in every column.")

TARGETS: tuple[Text, ...] = (
    "If rows can have several labels, pass ",
    Either("target=rankset.Recall() or target=rankset.AllLabels()", "--target recall or --target all"),
    ".",
)
NO_TARGET = "If every row has exactly one label, do not pass a target."
INSIDE: tuple[Text, ...] = (
    "If rows can have several labels, use ",
    Either("covers_all(labels) or recall(labels)", "--target"),
    ".",
)
"""What to do where no target can be passed, because sets are there already."""
SEPARATORS = (";", ",", "|")
"""What can stand between the names in a text."""
ONE_COLUMN_PER_CLASS = (
    "For a 0/1 matrix pass ",
    Either("np.array(labels)", "a file of labels with one column for every class"),
    ". For lists of labels pass class names, or the 0/1 matrix of these labels.",
)


class LabelListErrors:
    """Constructors of ``LabelError`` about several labels per row."""

    if TYPE_CHECKING:

        def __init__(
            self, what: Text = "", expected: Text = "", received: Text = "", remedy: Text = "", *, where: Place = ...
        ) -> None: ...

    @classmethod
    def one_label_per_row(cls, name: str, received: str) -> Self:
        remedy = f"{NO_TARGET} Or pass [[label] for label in labels]."
        return cls(name, SEVERAL, received, Either(remedy, "If every row has exactly one label, leave out --target."))

    @classmethod
    def joined_names(cls, name: str, text: str, sep: str) -> Self:
        split = f"Split the texts: pass [text.split({sep!r}) if text else [] for text in {name}]. {NO_TARGET}"
        remedy = Either(split, f"Pass --label-sep '{sep}'.")
        return cls(name, "be a list of labels for every row", f"texts such as {short_repr(text)}", remedy)

    @classmethod
    def unknown_in_list(cls, name: str, row: int, unknown: Sequence[object], known: Sequence[object]) -> Self:
        joined = next((sep for one in unknown if (sep := separator_of(one, known)) is not None), None)
        split = Either(f"Split texts into names: text.split({joined!r}). ", f"Pass --label-sep '{joined}'. ")
        numbers = any(isinstance(one, int) for one in unknown)
        return cls(
            name,
            f"be among the classes ({join_names(known)})",
            f"{join_names(unknown)}, first",
            (
                *((EMPTY_LIST, " ") if "" in unknown else ()),
                *((split,) if joined is not None else ()),
                "Check the spelling and type of the labels. Or pass names that include these labels as ",
                Option("classes"),
                ".",
                *((" ", NAMES_OF_LISTS) if numbers else ()),
            ),
            where=Place(row=row),
        )

    @classmethod
    def no_columns(cls, name: str, received: str) -> Self:
        remedy = "Pass a 0/1 matrix with one column per class. For lists of class names pass classes, too."
        return cls(name, "say how many classes there are, at least two", received, remedy)

    @classmethod
    def indicator_shape(cls, name: str, expected: tuple[int, int], received: tuple[int, ...]) -> Self:
        remedy = "Pass one column per class, in the order of the columns of probs, or lists of labels."
        return cls(name, f"have shape {expected} as a 0/1 matrix", f"shape {received}", remedy)

    @classmethod
    def mark_columns(cls, expected: int, received: int) -> Self:
        wanted = f"be {expected} columns of 0 and 1, one for every class, in the order of the classes"
        return cls("labels", wanted, f"{received} columns", "Pass the name of one column for every class.")

    @classmethod
    def not_indicator(cls, name: str, row: int, column: object, value: object) -> Self:
        remedy = "Write 1 if the label is true and 0 if it is not. Or pass lists of labels."
        where = Place(row=row, column=column)
        return cls(name, "be a matrix of 0 and 1", short_repr(value), remedy, where=where)

    @classmethod
    def zeros_and_ones(cls, name: str, n_columns: int) -> Self:
        return cls(
            name,
            "say clearly what they are",
            f"lists of {n_columns} numbers 0 and 1, which can be labels or rows of a 0/1 matrix",
            ONE_COLUMN_PER_CLASS,
        )

    @classmethod
    def booleans(cls, name: str, row: int, received: str) -> Self:
        expected = "be one boolean for every class if labels are booleans"
        remedy = "Pass True or False for every class, in the order of the columns. Or pass names or column numbers."
        return cls(name, expected, received, remedy, where=Place(row=row))

    @classmethod
    def no_list(cls, name: str, row: int, value: object) -> Self:
        remedy = ("Pass a list, tuple, set or array of labels for every row. ", EMPTY_LIST)
        return cls(name, "be a list of labels for every row", short_repr(value), remedy, where=Place(row=row))

    @classmethod
    def missing_in_list(cls, name: str, row: int) -> Self:
        remedy = ("Leave missing labels out of the lists. ", EMPTY_LIST)
        return cls(
            name, "be lists without missing values", "a missing value (None or NaN)", remedy, where=Place(row=row)
        )

    @classmethod
    def repeated(cls, name: str, row: int, labels: Sequence[object]) -> Self:
        expected, received = "contain every label of a row once", f"{join_names(labels)} more than once"
        remedy = ("Remove the repeated labels.", Either(" For a 0/1 matrix pass np.array(labels).", ""))
        return cls(name, expected, received, remedy, where=Place(row=row))

    @classmethod
    def absent_among_several(cls, name: str, row: int) -> Self:
        return cls(
            name,
            "be among the candidates of their rows if rows can have several labels",
            Either("rankset.ABSENT", "an absent label (--absent)"),
            "Add the missing candidates to the row, with the smallest score, so that they count as missed.",
            where=Place(row=row),
        )

    @classmethod
    def costs(cls, missing: Sequence[object], unknown: Sequence[object]) -> Self:
        received = differences("no cost for", missing, "costs for the unknown labels", unknown)
        others = Either("others=", "--other-cost")
        remedy: tuple[Text, ...] = ("Pass a cost for every class, or the cost of all other labels as ", others, ".")
        if unknown:
            belong = " Costs belong to class names, and without names to column numbers. Pass the names as "
            remedy = (*remedy, belong, Option("classes"), ", or check their spelling.")
        return cls("costs of Cost", "have one number for every class", received, remedy)

    @classmethod
    def fine_costs(cls, costs: Sequence[object], largest: int) -> Self:
        expected = f"be multiples of one number, the largest cost at most {largest:,} times as large as this number"
        return cls("costs of Cost", expected, join_names(costs), "Round the costs to fewer digits.")

    @classmethod
    def no_cost(cls) -> Self:
        return cls("costs of Cost", "be above 0 for at least one class", "0 for every class", "Pass other costs.")

    @classmethod
    def no_false_labels(cls, n: int) -> Self:
        received = f"{n} rows in which every label is true"
        return cls("labels", "contain at least one false label", received, "Check that 0 stands for a false label.")

    @classmethod
    def no_labels_in_a_half(cls, labelled: int, n_rows: int) -> Self:
        expected = "contain true labels in both halves of every random split of a comparison"
        received = f"{labelled} rows with labels among {n_rows} rows"
        return cls("labels", expected, received, "Pass more rows with labels.")

    @classmethod
    def no_labels_at_all(cls, n: int) -> Self:
        received = f"{n} rows without labels"
        return cls("labels", "contain at least one true label", received, "Check that 1 stands for a true label.")


def separator_of(label: object, known: Sequence[object]) -> str | None:
    """Return what stands between the names in a text of several known names; None if it is something else."""
    if not isinstance(label, str):
        return None
    return next(
        (sep for sep in SEPARATORS if sep in label and {part.strip() for part in label.split(sep)} <= set(known)), None
    )
