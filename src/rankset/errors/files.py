"""Errors about files of scores, labels and sets."""

from collections.abc import Sequence
from typing import Any, Self

from rankset.errors.base import RanksetError
from rankset.errors.candidate_files import CandidateFileErrors
from rankset.errors.count_files import CountFileErrors
from rankset.errors.events import EventErrors
from rankset.errors.fields import Either, Option, Place, Text
from rankset.errors.label_files import LABEL, LABEL_COLUMN, LabelFileErrors
from rankset.errors.many_files import ManyFilesErrors
from rankset.errors.text_files import SEP, TextFileErrors
from rankset.errors.values import did_you_mean, join_names, short_repr, shorten

KEY = Either("Layout(key=...)", "--key")
NO_HEADER = Either("Layout(header=False)", "--no-header")
DROP = Either("", " with --drop")
EVERY_FILE = ("If you use ", LABEL, ", every file must contain the scores and the label column. ")
MORE_MEMORY = (Either("Set", "Use --max-memory or set"), " the environment variable RANKSET_MAX_MEMORY to allow more. ")


class FileError(
    CandidateFileErrors,
    CountFileErrors,
    EventErrors,
    LabelFileErrors,
    ManyFilesErrors,
    TextFileErrors,
    RanksetError,
    ValueError,
):
    """A file of scores, labels or sets that cannot be read or written. It is also a ``ValueError``.

    Examples
    --------
    >>> import rankset as rs
    >>> try:
    ...     rs.engines.shards.calibrate("missing.csv")
    ... except rs.errors.FileError as error:
    ...     print(error)
    missing.csv: the file must exist, but it was not found. Check the path.
    """

    @classmethod
    def missing(cls, path: str) -> Self:
        return cls._of(path, "the file", "exist", remedy="Check the path.", reason="it was not found")

    @classmethod
    def unreadable(cls, path: str, reason: str) -> Self:
        remedy = "Check that the file is complete and that its suffix matches its format."
        return cls._of(path, "the file", "be readable", remedy=remedy, reason=reason.rstrip("."))

    @classmethod
    def pipe(cls, path: str) -> Self:
        remedy = ("Save it to a file first", Either("", ", or pipe it into the command and pass - as the file"), ".")
        return cls._of(path, "the file", "be a regular file", "a pipe", remedy)

    @classmethod
    def twice(cls, path: str) -> Self:
        return cls._of(path, "the file", "be passed only once", "it twice", "Each row may count only once.")

    @classmethod
    def mixed_groups(cls, names: Sequence[object]) -> Self:
        received, remedy = f"numbers and strings: {join_names(names)}", "Convert the column in some of the files."
        return cls._of("", "the group column", "have the same type in all files", received, remedy)

    @classmethod
    def unknown_kind(cls, path: str, known: Sequence[str]) -> Self:
        expected = f"end in one of {', '.join(known)} (text formats also with .gz)"
        return cls._of(path, "the name of the file", expected, remedy="Rename or convert the file.")

    @classmethod
    def suffix(cls, path: str, expected: str) -> Self:
        remedy = "Other commands recognise the format by this suffix."
        return cls._of(path, "the name of the file", f"end in {expected}", remedy=remedy)

    @classmethod
    def report_suffix(cls, path: str) -> Self:
        return cls._of(
            path, "the name of the file", "end in .html", remedy="A browser opens the report by this suffix."
        )

    @classmethod
    def not_for_spreadsheets(cls, path: str) -> Self:
        expected, remedy = ("end in .csv or .xlsx", Either("", " if you use --excel")), "Other formats have no style."
        return cls._of(path, "the name of the file", expected, remedy=remedy)

    @classmethod
    def own_input(cls, path: str) -> Self:
        remedy = "Write to another file."
        return cls._of(path, "the output", "be different from the input files", "an input file", remedy)

    @classmethod
    def exists(cls, path: str) -> Self:
        remedy = ("Pass ", Option("force", value=True), " to replace it.")
        return cls._of(path, "the output", "be a new file", remedy=remedy, reason="it exists already")

    @classmethod
    def folder_taken(cls, path: str, received: str) -> Self:
        remedy = "Choose another folder, or remove this one first."
        return cls._of(path, "the output", "be a new or an empty folder", received, remedy)

    @classmethod
    def unwritable(cls, path: str, reason: str) -> Self:
        return cls._of(path, "the file", "be writable", reason=reason)

    @classmethod
    def no_folder(cls, path: str) -> Self:
        reason = "its folder does not exist"
        return cls._of(path, "the file", "be writable", reason=reason, remedy="Make the folder first.")

    @classmethod
    def too_large(cls, path: str, limit: int, needed: int | None) -> Self:
        received = "more" if needed is None else f"at least {needed:,} bytes"
        remedy = (MORE_MEMORY, "Or pass fewer rows or columns. Or pass an .npy file, which is read in parts.")
        return cls._of(path, "reading the file", f"take at most {limit:,} bytes of memory", received, remedy)

    @classmethod
    def bomb(cls, path: str, name: str, packed: int, size: int) -> Self:
        expected, received = "have a plausible compression ratio", f"{size:,} bytes compressed to {packed:,} bytes"
        return cls._of(path, f"the array {short_repr(name)}", expected, received, "The array was not read.")

    @classmethod
    def pickled(cls, path: str) -> Self:
        expected, remedy = "contain plain arrays", "Save numbers or strings. Loading Python objects could run code."
        return cls._of(path, "the file", expected, "Python objects", remedy)

    @classmethod
    def no_arrays(cls, path: str, key: str) -> Self:
        expected, received = ("be an .npz file if you use ", KEY), f"the key {short_repr(key)} for another format"
        return cls._of(path, "the file", expected, received, ("Do not use ", KEY, " for this file."))

    @classmethod
    def which_key(cls, path: str, keys: Sequence[str]) -> Self:
        received = join_names(keys) or "no arrays"
        remedy = ("Choose one with ", KEY, ". If one of them holds the labels, pass it as ", LABEL, ".")
        return cls._of(path, "the file", "contain one array of scores", received, remedy)

    @classmethod
    def no_key(cls, path: str, key: str, keys: Sequence[str]) -> Self:
        return cls._of(path, "the file", f"contain the array {short_repr(key)}", join_names(keys))

    @classmethod
    def no_column(cls, path: str, name: str, names: Sequence[str]) -> Self:
        remedy = did_you_mean(name, names).strip()
        return cls._of(path, "the columns", f"include {short_repr(name)}", _columns(names), remedy)

    @classmethod
    def no_class(cls, path: str, missing: Sequence[str]) -> Self:
        received = f"no column for {join_names(missing)}"
        return cls._of(path, "the columns", "include all classes", received, "Add the missing columns.")

    @classmethod
    def no_scores(cls, path: str, names: Sequence[str]) -> Self:
        expected, remedy = "include columns of scores", "Add one column of scores per class."
        return cls._of(path, "the columns", expected, join_names(names) or "none", remedy)

    @classmethod
    def no_name(cls, path: str) -> Self:
        remedy = ("If this column is an index, pass ", Either("drop=['']", "--drop ''"), ".")
        return cls._of(path, "every column", "have a name", "a column without a name", remedy)

    @classmethod
    def same_names(cls, path: str, name: str) -> Self:
        received = f"{short_repr(name)} twice"
        return cls._of(path, "columns", "have different names", received, "Rename one of the two columns.")

    @classmethod
    def other_separator(cls, path: str, name: str) -> Self:
        received = f"the single column {short_repr(name)}"
        remedy = ("If whole lines are in quotes, remove the quotes. If not, pass the separator with ", SEP, ".")
        return cls._of(path, "the first line", "contain the names of several columns", received, remedy)

    @classmethod
    def no_header(cls, path: str, names: Sequence[str]) -> Self:
        remedy = ("If the file has no column names, pass ", NO_HEADER, ".")
        return cls._of(path, "the first line", "contain the column names", join_names(names, 3), remedy)

    @classmethod
    def other_names(cls, told: Sequence[str], names: Sequence[str]) -> Self:
        expected = f"be the class names that you passed ({join_names(told)})"
        remedy = ("Rename the columns. If the file has no column names, pass ", NO_HEADER, ".")
        return cls._of("", "the column names", expected, join_names(names), remedy)

    @classmethod
    def one_column_twice(cls, name: str) -> Self:
        received, remedy = f"the column {short_repr(name)} twice", "Pass different columns."
        return cls._of("", "labels, groups and ids", "be in different columns", received, remedy)

    @classmethod
    def class_apart(cls, path: str, name: str) -> Self:
        what, expected = f"the column {short_repr(name)}", f"contain the scores of the class {short_repr(name)}"
        reason = "it is used as labels, groups or ids, or it is dropped"
        return cls._of(path, what, expected, remedy="Rename the column or the class.", reason=reason)

    @classmethod
    def lists_and_columns(cls, path: str, lists: str, numbers: Sequence[str]) -> Self:
        received = (
            f"the column {short_repr(lists)} of lists or objects, and the columns of numbers {join_names(numbers)}"
        )
        remedy = ("Leave out the lists, the objects or the numbers", DROP, ".")
        expected = "be one column of lists or objects, or one column per class"
        return cls._of(path, "scores", expected, received, remedy)

    @classmethod
    def first_class(cls, path: str, name: str) -> Self:
        remedy = "Save the probability of the second class, or rename the column."
        received = f"a column with the name of the first class, {short_repr(name)}"
        return cls._of(path, "a single column", "contain the probability of the second class", received, remedy)

    @classmethod
    def empty_lists(cls, path: str, name: str, row: int) -> Self:
        expected, remedy = "contain one score per class", "Correct or drop that row."
        return cls._of(path, "all lists", expected, "an empty list", remedy, row=row, column=name)

    @classmethod
    def names_of_rows(cls, path: str) -> Self:
        expected, received = "have the same classes in all rows in an npz file", "rows with names of their own"
        return cls._of(path, "sets", expected, received, "Write a jsonl, csv or parquet file.")

    @classmethod
    def no_object(cls, path: str, name: str, row: int) -> Self:
        expected, remedy = "be objects of labels and numbers", "Correct or drop that row."
        return cls._of(path, "all rows of a column", expected, "another value", remedy, row=row, column=name)

    @classmethod
    def not_numbers(cls, path: str, name: str, received: str, row: int | None = None) -> Self:
        remedy = ("If the column is not a class, use it as label, group or id, or drop it", DROP, ".")
        return cls._of(path, "scores", "be numbers", shorten(received), remedy, row=row, column=name)

    @classmethod
    def missing_cell(cls, path: str, name: str, row: int) -> Self:
        return cls._of(path, "every cell", "have a value", "an empty cell", "Drop that row.", row=row, column=name)

    @classmethod
    def no_labels(cls) -> Self:
        return cls._of("", "labels", "be passed", "none", ("Pass a file of labels, or ", LABEL_COLUMN))

    @classmethod
    def no_label_column(cls, path: str, name: str, names: Sequence[str]) -> Self:
        expected, other_file = f"include the label column {short_repr(name)}", "If the labels are in another file, "
        meant = did_you_mean(name, names).strip()
        remedy = (meant and f"{meant} ", EVERY_FILE, other_file, "pass that file as ", Option("labels"), ".")
        return cls._of(path, "the columns", expected, _columns(names), remedy)

    @classmethod
    def labels_alone(cls, path: str, name: str) -> Self:
        expected = f"contain scores in addition to the labels {short_repr(name)}"
        remedy = ("If this is a file of labels, pass it as ", Option("labels"), ".")
        return cls._of(path, "every file", expected, "no scores", remedy)

    @classmethod
    def other_order(cls, path: str, scores: str, row: int, column: str | None = None) -> Self:
        received, end = (
            ("another index", "or save both files without an index") if column is None else ("another id", "by id")
        )
        expected, remedy = f"be in the order of {scores}", f"Sort both files in the same way, {end}."
        return cls._of(path, "labels", expected, received, remedy, row=row, column=column)

    @classmethod
    def other_ids(cls, path: str, scores: str, received: object, expected: object, column: str | None = None) -> Self:
        what, end = ("the index", ", or save both files without an index") if column is None else ("ids", "")
        found = f"{short_repr(received)} instead of {short_repr(expected)} in the first row, and no common value"
        remedy = f"Use the same values, written in the same way, in both files{end}."
        return cls._of(path, what, f"be those of {scores}", found, remedy, column=column)

    @classmethod
    def numbers_in_another_order(cls, path: str) -> Self:
        expected, received = "be in the order of the classes if labels are column numbers", "another order"
        return cls._of(path, "columns", expected, received, "Use class names as labels, or reorder the columns.")

    @classmethod
    def numbers_or_names(cls, path: str, names: Sequence[str]) -> Self:
        received = f"integers that can be column numbers or the names {join_names(names)}"
        return cls._of(path, "labels", "be class names", received, "Write the labels exactly like the class names.")

    @classmethod
    def taken(cls, name: str) -> Self:
        expected, remedy = "not have the name of an output column", "Rename the extra column."
        return cls._of("", "an extra column", expected, short_repr(name), remedy)

    @classmethod
    def no_array(cls, path: str, name: str) -> Self:
        expected, remedy = "contain numbers or strings in an npz file", "Write a jsonl or parquet file."
        return cls._of(path, "extra columns", expected, "lists or bytes", remedy, column=name)

    @classmethod
    def other_type(cls, name: str, expected: object, received: object) -> Self:
        found, remedy = f"{expected} and then {received}", "Convert the column, or write a csv file."
        return cls._of("", "an extra column", "have the same type in all files", found, remedy, column=name)

    @classmethod
    def separator_in_name(cls, path: str, name: object) -> Self:
        remedy = "In a csv file | separates labels. Write a jsonl or parquet file."
        return cls._of(path, "class names", "not contain | in a csv file", short_repr(name), remedy)

    @classmethod
    def _of(cls, path: str, what: str, expected: Text, received: Text = "", remedy: Text = "", **more: Any) -> Self:  # noqa: ANN401
        """Return an error in the file ``path``; ``more`` are ``reason``, and ``row`` and ``column`` of the place."""
        place = Place(file=path or None, row=more.get("row"), column=more.get("column"))
        return cls(what, expected, received, remedy, reason=more.get("reason", ""), where=place)


def _columns(names: Sequence[str]) -> str:
    return join_names(names) if names else "columns without names"
