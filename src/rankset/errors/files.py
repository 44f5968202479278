"""Errors about files of scores, labels and sets."""

from collections.abc import Sequence
from typing import Any, Self

from rankset.errors.base import RanksetError
from rankset.errors.fields import Either, Option, Place, Text
from rankset.errors.values import join_names, short_repr, shorten

LABEL, ONE_WORKER = Option("label"), Option("workers", 1)
KEY, NO_HEADER = Either("Layout(key=...)", "--key"), Either("Layout(header=False)", "--no-header")
DROP, NO_NAMES = Either("", " with --drop"), "columns without names"
LABELS_FILE = ("Pass a file of labels", Either("", " with --labels"), ".")
EVERY_FILE = " every file must hold scores and that column. "
GUARD = "if __name__ == '__main__':"


class FileError(RanksetError, ValueError):
    """A file of scores, labels or sets that cannot be read or written."""

    @classmethod
    def missing(cls, path: str) -> Self:
        return cls._of(path, "the file", "exist", remedy="Check the path.", reason="there is none")

    @classmethod
    def unreadable(cls, path: str, reason: str) -> Self:
        remedy = "Is it complete, and of the format that its name says?"
        return cls._of(path, "the file", "be readable", remedy=remedy, reason=reason.rstrip("."))

    @classmethod
    def pipe(cls, path: str) -> Self:
        remedy = ("Save it to a file first", Either("", ", or pipe it into the command and pass - as the file"), ".")
        return cls._of(path, "the file", "be a regular file", "a pipe", remedy)

    @classmethod
    def no_shards(cls, path: str) -> Self:
        remedy = "Check the folder or the pattern."
        return cls._of(path, "the folder or pattern", "contain files of scores", "none", remedy)

    @classmethod
    def unpaired(cls, scores: int, labels: int) -> Self:
        expected, received = "have one file of labels", f"{scores} files of scores and {labels} of labels"
        return cls._of("", "every file of scores", expected, received, "Pass as many of both.")

    @classmethod
    def unmatched(cls, path: str) -> Self:
        expected = "have a file of labels with the same name"
        return cls._of(path, "every file of scores", expected, "none", "Add it, or rename the file of labels.")

    @classmethod
    def unclear_pairs(cls, scores: Sequence[str], labels: Sequence[str]) -> Self:
        pairs = [f"{ours} and {theirs}" for ours, theirs in zip(scores[:3], labels[:3], strict=False)]
        remedy = "Give files of scores and labels the same names, or list both one by one in the same order."
        return cls._of("", "names of files", "say which labels belong to which scores", "; ".join(pairs), remedy)

    @classmethod
    def two_formats(cls, path: str, first: str) -> Self:
        received, remedy = f"the name of {first}", "If they hold the same rows, move one of them away. Else rename it."
        return cls._of(path, "every file of a folder", "have a name of its own before the suffix", received, remedy)

    @classmethod
    def same_stem(cls, path: str) -> Self:
        remedy = "Give them different names, or pass both in the same order with the same names."
        expected, received = "have different names, which say what labels belong to what scores", "this name twice"
        return cls._of(path, "several files", expected, received, remedy)

    @classmethod
    def same_target(cls, path: str) -> Self:
        received = "two that would be written here"
        return cls._of(path, "files of scores", "have different names", received, "Rename one of them.")

    @classmethod
    def twice(cls, path: str) -> Self:
        return cls._of(path, "the file", "be given once", "it twice", "No row may count twice.")

    @classmethod
    def stdin_alone(cls) -> Self:
        return cls._of("", "standard input (-)", "be the only file", "others beside it", "Write it to a file first.")

    @classmethod
    def mixed_groups(cls, names: Sequence[object]) -> Self:
        expected = "be written alike in all files, as a number or as a text"
        return cls._of("", "a group", expected, join_names(names), "Convert the column in some of the files.")

    @classmethod
    def unknown_kind(cls, path: str, known: Sequence[str]) -> Self:
        expected = f"end in one of {', '.join(known)} (text formats also with .gz)"
        return cls._of(path, "the name of the file", expected, remedy="Rename or convert it.")

    @classmethod
    def suffix(cls, path: str, expected: str) -> Self:
        remedy = "Other commands read the format from the name."
        return cls._of(path, "the name of the file", f"end in {expected}", remedy=remedy)

    @classmethod
    def not_for_spreadsheets(cls, path: str) -> Self:
        expected = ("end in .csv", Either("", " with --excel"))
        return cls._of(path, "the name of the file", expected, remedy="Spreadsheets get csv files only.")

    @classmethod
    def own_input(cls, path: str) -> Self:
        return cls._of(path, "the output", "be another file than the inputs", "one of them", "Write to another file.")

    @classmethod
    def exists(cls, path: str) -> Self:
        remedy = ("Pass ", Option("force", value=True), " to replace it.")
        return cls._of(path, "the output", "be a new file", remedy=remedy, reason="it exists already")

    @classmethod
    def unwritable(cls, path: str, reason: str) -> Self:
        return cls._of(path, "the file", "be writable", reason=reason)

    @classmethod
    def no_pyarrow(cls, path: str) -> Self:
        remedy, reason = "Install rankset with [cli].", "it is not"
        return cls._of(path, "pyarrow", "be installed to read this file", remedy=remedy, reason=reason)

    @classmethod
    def too_large(cls, path: str, limit: int, needed: int | None) -> Self:
        received = "more" if needed is None else f"{needed:,} or more"
        allow = ("Allow more with ", Either("", "--max-memory or "), "the environment variable RANKSET_MAX_MEMORY, ")
        remedy = (*allow, "pass fewer rows or columns, or an .npy file, which is read from disk.")
        return cls._of(path, "reading the file", f"take at most {limit:,} bytes of memory", received, remedy)

    @classmethod
    def bomb(cls, path: str, name: str, packed: int, size: int) -> Self:
        expected, received = "have a plausible size", f"{size:,} bytes from {packed:,} compressed bytes"
        return cls._of(path, f"the array {short_repr(name)}", expected, received, "It is not read.")

    @classmethod
    def pickled(cls, path: str) -> Self:
        expected, remedy = "hold plain arrays", "Save plain numbers. Loading Python objects would run code."
        return cls._of(path, "the file", expected, "Python objects", remedy)

    @classmethod
    def no_arrays(cls, path: str, key: str) -> Self:
        expected = ("be an .npz file, whose arrays ", KEY, " picks from")
        return cls._of(path, "the file", expected, short_repr(key), ("Leave ", KEY, " out."))

    @classmethod
    def which_key(cls, path: str, keys: Sequence[str]) -> Self:
        received = join_names(keys) or "no arrays"
        return cls._of(path, "the file", "hold one array of scores", received, ("Choose one with ", KEY, "."))

    @classmethod
    def no_key(cls, path: str, key: str, keys: Sequence[str]) -> Self:
        return cls._of(path, "the file", f"hold the array {short_repr(key)}", join_names(keys))

    @classmethod
    def no_column(cls, path: str, name: str, names: Sequence[str]) -> Self:
        return cls._of(path, "the columns", f"include {short_repr(name)}", join_names(names) or NO_NAMES)

    @classmethod
    def no_class(cls, path: str, missing: Sequence[str]) -> Self:
        received = f"none for {join_names(missing)}"
        return cls._of(path, "the columns", "include the classes of the rule", received, "Add it.")

    @classmethod
    def no_scores(cls, path: str, names: Sequence[str]) -> Self:
        return cls._of(path, "the columns", "include scores", join_names(names) or "none", "Pass a column per class.")

    @classmethod
    def no_name(cls, path: str) -> Self:
        remedy = ("If it is an index, pass ", Either("drop=['']", "--drop ''"), ".")
        return cls._of(path, "every column", "have a name", "one without", remedy)

    @classmethod
    def same_names(cls, path: str, name: str) -> Self:
        return cls._of(path, "columns", "have different names", f"{short_repr(name)} twice", "Rename one of them.")

    @classmethod
    def other_separator(cls, path: str, name: str) -> Self:
        received = f"the single column {short_repr(name)}"
        return cls._of(path, "columns", "be separated by commas (.csv) or tabs (.tsv)", received)

    @classmethod
    def no_header(cls, path: str, names: Sequence[str]) -> Self:
        remedy = ("If there are no names, pass ", NO_HEADER, ".")
        return cls._of(path, "the first line", "name the columns", join_names(names, 3), remedy)

    @classmethod
    def other_names(cls, told: Sequence[str], names: Sequence[str]) -> Self:
        expected = f"be the given classes ({join_names(told)})"
        remedy = ("Rename the columns; if there is no header, pass ", NO_HEADER, ".")
        return cls._of("", "the names of the columns", expected, join_names(names), remedy)

    @classmethod
    def one_column_twice(cls, name: str) -> Self:
        received, remedy = f"{short_repr(name)} for two of them", "Pass different columns."
        return cls._of("", "a column", "be one of labels, groups or ids", received, remedy)

    @classmethod
    def class_apart(cls, path: str, name: str) -> Self:
        what, expected = f"the column {short_repr(name)}", "hold scores, because a class has its name"
        received = "it as labels, groups, ids or dropped"
        return cls._of(path, what, expected, received, "Rename that column, or the class.")

    @classmethod
    def lists_and_columns(cls, path: str, lists: str, numbers: Sequence[str]) -> Self:
        received = f"the lists {short_repr(lists)} and the columns {join_names(numbers)}"
        remedy = ("Leave one of them out", DROP, ".")
        return cls._of(path, "scores", "be one column of lists or a column per class", received, remedy)

    @classmethod
    def first_class(cls, path: str, name: str) -> Self:
        remedy = "Write the probability of the second class, or rename the column."
        received = f"a column with the name of the first, {short_repr(name)}"
        return cls._of(path, "a single column", "hold the probability of the second class", received, remedy)

    @classmethod
    def not_a_column(cls, path: str, shape: tuple[int, ...]) -> Self:
        return cls._of(path, "the array", "have one entry per row", f"shape {shape}", "Pass a one-dimensional array.")

    @classmethod
    def one_column(cls, path: str, names: Sequence[str]) -> Self:
        remedy = ("Pass a file of labels alone, or the name of their column as ", LABEL, ".")
        return cls._of(path, "a file of labels", "have one column", join_names(names), remedy)

    @classmethod
    def ragged(cls, path: str, name: str, row: int) -> Self:
        expected, remedy = "have one length", "Pad or drop that row."
        return cls._of(path, "lists", expected, "another length", remedy, row=row, column=name)

    @classmethod
    def not_numbers(cls, path: str, name: str, received: str, row: int | None = None) -> Self:
        remedy = ("If the column is no class, name it as label, group or id, or drop it", DROP, ".")
        return cls._of(path, "scores", "be numbers", shorten(received), remedy, row=row, column=name)

    @classmethod
    def missing_cell(cls, path: str, name: str, row: int) -> Self:
        return cls._of(path, "every cell", "have a value", "none", "Drop that row.", row=row, column=name)

    @classmethod
    def no_labels(cls) -> Self:
        remedy = ("Pass a second file, or the name of their column as ", LABEL, ".")
        return cls._of("", "labels", "be given", "none", remedy)

    @classmethod
    def no_label_column(cls, path: str, name: str, names: Sequence[str]) -> Self:
        expected = f"include the labels {short_repr(name)}"
        return cls._of(
            path, "the columns", expected, join_names(names) or NO_NAMES, ("With ", LABEL, EVERY_FILE, LABELS_FILE)
        )

    @classmethod
    def labels_alone(cls, path: str, name: str) -> Self:
        expected = f"hold scores beside the labels {short_repr(name)}"
        return cls._of(path, "every file", expected, "no scores", LABELS_FILE)

    @classmethod
    def other_order(cls, path: str, scores: str, row: int, column: str | None = None) -> Self:
        received, end = (
            ("another index", "or write them without an index") if column is None else ("another id", "by id")
        )
        expected, remedy = f"be in the order of {scores}", f"Sort both files alike, {end}."
        return cls._of(path, "labels", expected, received, remedy, row=row, column=column)

    @classmethod
    def numbers_in_another_order(cls, path: str) -> Self:
        expected, received = "be in the order of the classes if labels are column numbers", "another order"
        return cls._of(path, "columns", expected, received, "Pass labels by name, or columns in that order.")

    @classmethod
    def numbers_or_names(cls, path: str, names: Sequence[str]) -> Self:
        received = f"whole numbers, which may be column numbers or the names {join_names(names)}"
        return cls._of(path, "labels", "be class names", received, "Write labels as the names are written.")

    @classmethod
    def taken(cls, name: str) -> Self:
        expected, received = "differ from the columns of the sets", short_repr(name)
        return cls._of("", "the names of columns to keep", expected, received, "Rename yours.")

    @classmethod
    def no_array(cls, path: str, name: str) -> Self:
        remedy = "Write jsonl or parquet."
        return cls._of(path, "columns to keep in npz", "hold numbers or texts", "lists or bytes", remedy, column=name)

    @classmethod
    def other_type(cls, name: str, expected: object, received: object) -> Self:
        found, remedy = f"{expected} and then {received}", "Convert it, or write csv."
        return cls._of("", "a column to keep", "be of one type in all files", found, remedy, column=name)

    @classmethod
    def separator_in_name(cls, path: str, name: object) -> Self:
        expected = "not contain | in a csv file, which separates labels by it"
        return cls._of(path, "class names", expected, short_repr(name), "Write jsonl or parquet.")

    @classmethod
    def workers_ended(cls) -> Self:
        in_a_script = f"In a script, call this under {GUARD} (every process imports the script again); "
        remedy = (in_a_script, "if memory ran out, pass ", ONE_WORKER, ".")
        return cls._of("", "every worker process", "live until its files are done", "one that ended before", remedy)

    @classmethod
    def no_main_guard(cls) -> Self:
        expected, received = f"be started under {GUARD}", "a call that runs while a script is imported"
        return cls._of("", "several processes", expected, received, ("Put the call there, or pass ", ONE_WORKER, "."))

    @classmethod
    def _of(cls, path: str, what: str, expected: Text, received: Text = "", remedy: Text = "", **more: Any) -> Self:  # noqa: ANN401
        """Return an error in the file ``path``; ``more`` are ``reason``, and ``row`` and ``column`` of the place."""
        place = Place(file=path or None, row=more.get("row"), column=more.get("column"))
        return cls(what, expected, received, remedy, reason=more.get("reason", ""), where=place)
