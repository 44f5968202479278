"""Errors about files whose rows have candidates of their own (``--options``)."""

from collections.abc import Sequence
from typing import Any, Self

from rankset.errors.fields import Either, Text
from rankset.errors.values import join_names

OPTIONS = Either("Layout(options=...)", "--options")


class CandidateFileErrors:
    """Constructors of ``FileError`` about such files."""

    @classmethod
    def _of(cls, path: str, what: str, expected: Text, received: Text = "", remedy: Text = "", **more: Any) -> Self:  # noqa: ANN401
        raise NotImplementedError

    @classmethod
    def ragged(cls, path: str, name: str, row: int) -> Self:
        remedy = (
            "Correct that row. If every row has its own candidates, pass the column with their names as ",
            OPTIONS,
            Either(", or the rows as rankset.Ragged.of(rows).", "; in Python, use rankset.Ragged.of."),
        )
        return cls._of(path, "all lists", "have the same length", "another length", remedy, row=row, column=name)

    @classmethod
    def no_options(cls, path: str, name: str) -> Self:
        expected = "be lists of names, or objects of names and numbers"
        remedy = "Use a .jsonl, .parquet or Arrow file with such a column."
        return cls._of(path, "the column of candidates", expected, "another type", remedy, column=name)

    @classmethod
    def which_scores(cls, path: str, names: Sequence[str]) -> Self:
        remedy = ("Drop the others", Either("", " with --drop"), ".")
        expected = "have one column of lists with the numbers of the candidates"
        return cls._of(path, "the file", expected, join_names(names) or "none", remedy)

    @classmethod
    def options_in_parts(cls, path: str) -> Self:
        remedy = "Join the files."
        return cls._of(path, "rows with their own candidates", "be in one file", "several files", remedy)
