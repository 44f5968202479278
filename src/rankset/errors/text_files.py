"""Errors about the text of files: separators, decimal marks, encodings; and about workbooks."""

import re
from collections.abc import Sequence
from typing import Any, Self

from rankset.errors.fields import Either, Option, Text
from rankset.errors.values import did_you_mean, join_names, short_repr, shorten

DECIMAL_COMMA = Either("Layout(decimal=',')", "--decimal ','")
DECIMAL_POINT = Either("Layout(decimal='.')", "--decimal '.'")
ENCODING = Either("Layout(encoding=...)", "--encoding")
SEP = Either("Layout(sep=...)", "--sep")
SHEET = Either("Layout(sheet=...)", "--sheet")
WHY_NOT_SHOWN = "A csv file holds what a spreadsheet shows: format the column as numbers with all decimals, "
EXPORT_OTHERWISE = (
    "A comma cannot separate cells and be the decimal mark too. Export the file with the separator ';', with decimal "
    "points, or with numbers in quotes. If the separator is another one, pass "
)
NOT_TWICE: Text = (EXPORT_OTHERWISE, SEP, ".")
LOGITS, DECISION = Option("kind", "logits"), Option("kind", "decision")
SEPARATOR_NAMES = {"\t": "a tab", ";": "';'", ",": "','", "|": "'|'"}


class TextFileErrors:
    """Constructors of ``FileError`` about the text of files, and about workbooks."""

    @classmethod
    def _of(cls, path: str, what: str, expected: Text, received: Text = "", remedy: Text = "", **more: Any) -> Self:  # noqa: ANN401
        raise NotImplementedError

    @classmethod
    def two_separators(cls, path: str, separators: Sequence[str], columns: Sequence[int]) -> Self:
        readings = [
            f"{count} columns with the separator {SEPARATOR_NAMES.get(sep, short_repr(sep))}"
            for sep, count in zip(separators, columns, strict=True)
        ]
        remedy: Text = ("Say which one it is with ", SEP, ".")
        return cls._of(path, "the file", "be readable in one way only", " or ".join(readings), remedy)

    @classmethod
    def halves(cls, path: str, line: str) -> Self:
        received = f"rows such as {line}, which can be two columns of whole numbers or one number with a decimal comma"
        two, one = Either("Layout(sep=',')", "--sep ','"), DECIMAL_COMMA
        remedy: Text = ("Pass ", two, " for two columns, or ", one, " for one column.")
        return cls._of(path, "the file", "be readable in one way only", received, remedy)

    @classmethod
    def cut_line(cls, path: str, columns: int, cells: int, line: str) -> Self:
        readings = f"{cells} cells or {columns} cells in which numbers have decimal commas"
        received = f"the line {shorten(line)}, which can be {readings}"
        return cls._of(path, "every line", f"have {columns} cells, like the first line", received, NOT_TWICE)

    @classmethod
    def cut_numbers(cls, path: str, line: str, row: int) -> Self:
        received = f"{shorten(line)}, which can be whole numbers, or the parts of numbers with decimal commas"
        whole: Text = ("If they are whole numbers, say what they are: ", LOGITS, " or ", DECISION, ". ")
        expected = "be readable in one way only, with rows that sum to 1"
        return cls._of(path, "scores", expected, received, (whole, "If not: ", NOT_TWICE), row=row)

    @classmethod
    def no_json(cls, path: str) -> Self:
        remedy = "Rename it to .txt if it has one class name per line."
        return cls._of(path, "a file of class names that ends in .json", "be JSON", "other text", remedy)

    @classmethod
    def no_class_names(cls, path: str) -> Self:
        expected = 'be a list of class names, an object such as {"0": "cat", "1": "dog"}, or one with such an id2label'
        remedy = "Numbers of columns must be 0, 1, 2, … without gaps."
        return cls._of(path, "JSON with class names", expected, "other values", remedy)

    @classmethod
    def no_array_of_names(cls, path: str, name: str) -> Self:
        remedy = f"Write the names as np.array(names) with the name {name}, without objects, or as a text file."
        return cls._of(path, f"the array {name}", "contain one text per class", "other values", remedy)

    @classmethod
    def class_count(cls, names: Sequence[str], columns: int) -> Self:
        received = f"{len(names)}: {join_names(names)}"
        remedy = "Write one name per line, in the order of the columns, or a .json file with a list of names."
        expected: Text = (f"be as many as the columns of scores ({columns}) if you pass ", Option("classes"))
        return cls._of("", "class names", expected, received, remedy)

    @classmethod
    def two_marks(cls, path: str, first: str, second: str, row: int, column: str) -> Self:
        received = f"{short_repr(first)} and {short_repr(second)}"
        remedy: Text = (
            "If one of them separates thousands, save the numbers without it. If one column is no score, drop it",
            Either("", " with --drop"),
            ".",
        )
        return cls._of(
            path, "scores", "have one decimal mark in the whole file", received, remedy, row=row, column=column
        )

    @classmethod
    def thousands_or_decimals(cls, path: str, text: str, row: int, column: str) -> Self:
        whole, number = re.sub("[.,]", "", text), text.replace(",", ".")
        received = f"{short_repr(text)}, which can be {number} or {whole} with a separator of thousands"
        mark = DECIMAL_COMMA if "," in text else DECIMAL_POINT
        remedy: Text = ("If it is ", number, ", pass ", mark, ". If not, save numbers without separators of thousands.")
        return cls._of(path, "scores", "be readable in one way only", received, remedy, row=row, column=column)

    @classmethod
    def thousands(cls, path: str, text: str, row: int, column: str) -> Self:
        remedy = WHY_NOT_SHOWN + "without separators of thousands."
        expected = "be numbers without separators of thousands"
        return cls._of(path, "scores", expected, short_repr(text), remedy, row=row, column=column)

    @classmethod
    def percent(cls, path: str, text: str, row: int, column: str) -> Self:
        remedy = WHY_NOT_SHOWN + "without percent signs."
        return cls._of(path, "scores", "be plain numbers", short_repr(text), remedy, row=row, column=column)

    @classmethod
    def error_value(cls, path: str, text: str, row: int, column: str) -> Self:
        received = f"{short_repr(text)}, an error value of a spreadsheet"
        remedy = "Correct the formula in that cell, or drop that row."
        return cls._of(path, "scores", "be numbers", received, remedy, row=row, column=column)

    @classmethod
    def no_rule(cls, path: str) -> Self:
        remedy = "Rules are made by rankset calibrate. In commands the rule file comes before the files of scores."
        return cls._of(path, "the file", "be a rankset rule file", "a file of another kind", remedy)

    @classmethod
    def other_mark(cls, path: str, text: str, row: int, column: str, decimal: str) -> Self:
        expected, other = (
            ("have a decimal comma", DECIMAL_POINT) if decimal == "," else ("have a decimal point", DECIMAL_COMMA)
        )
        remedy: Text = ("Correct the number, or pass ", other, ".")
        return cls._of(path, "scores", expected, short_repr(text), remedy, row=row, column=column)

    @classmethod
    def undecodable(cls, path: str, encoding: str) -> Self:
        remedy: Text = ("Pass the encoding of the file with ", ENCODING, ".")
        return cls._of(path, "the file", f"be text in the encoding {encoding}", "other bytes", remedy)

    @classmethod
    def unknown_encoding(cls, path: str) -> Self:
        remedy: Text = ("Save it as UTF-8, or pass its encoding with ", ENCODING, ".")
        received = "bytes that are none of them"
        return cls._of(path, "the file", "be text in UTF-8, UTF-16 or cp1252", received, remedy)

    @classmethod
    def two_encodings(cls, path: str, utf8: str, other: str) -> Self:
        received = (
            f"both: UTF-8 such as {short_repr(utf8)} ({short_repr(other)} in cp1252), and bytes that are not UTF-8"
        )
        eithers = Either("Layout(encoding='cp1252')", "--encoding cp1252")
        remedy: Text = ("Correct the file, or pass ", eithers, " if it is cp1252.")
        return cls._of(path, "the file", "be text in UTF-8 or in cp1252", received, remedy)

    @classmethod
    def other_spreadsheet(cls, path: str, suffix: str) -> Self:
        remedy = "Save it as .xlsx or csv in the program that made it."
        return cls._of(path, "a workbook", "be an .xlsx file", f"a file that ends in {suffix}", remedy)

    @classmethod
    def which_sheet(cls, path: str, sheets: Sequence[str]) -> Self:
        remedy: Text = ("Choose one with ", SHEET, ".")
        return cls._of(path, "the workbook", "have one sheet with cells", join_names(sheets), remedy)

    @classmethod
    def no_sheet(cls, path: str, sheet: str, sheets: Sequence[str]) -> Self:
        expected = f"have the sheet {short_repr(sheet)}"
        remedy = did_you_mean(sheet, sheets).strip()
        return cls._of(path, "the workbook", expected, join_names(sheets) or "no sheets with cells", remedy)

    @classmethod
    def no_workbook(cls, path: str) -> Self:
        expected: Text = ("be an .xlsx file if you use ", SHEET)
        return cls._of(path, "the file", expected, "another format", ("Do not use ", SHEET, " for this file."))

    @classmethod
    def no_separators(cls, path: str) -> Self:
        expected: Text = ("be a csv file if you use ", SEP)
        return cls._of(path, "the file", expected, "another format", ("Do not use ", SEP, " for this file."))

    @classmethod
    def formula(cls, path: str, name: str, row: int) -> Self:
        remedy = "Open the file in a spreadsheet program and save it, or replace formulas by their values."
        expected = "have a stored value"
        return cls._of(path, "every formula", expected, "a formula without one", remedy, row=row, column=name)

    @classmethod
    def too_many_rows(cls, path: str, limit: int) -> Self:
        expected, remedy = f"have at most {limit:,} rows", "Write a csv, jsonl or parquet file."
        return cls._of(path, "an .xlsx file", expected, "more", remedy)

    @classmethod
    def long_cell(cls, path: str, limit: int, size: int) -> Self:
        expected, remedy = f"have at most {limit:,} characters", "Write a csv, jsonl or parquet file."
        return cls._of(path, "a cell of an .xlsx file", expected, f"{size:,}", remedy)
