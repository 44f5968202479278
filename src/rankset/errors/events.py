"""Errors about events: lines of JSON that hold a row, a label, or both."""

from collections.abc import Sequence
from typing import Any, Self

from rankset.errors.fields import Either, Text
from rankset.errors.values import join_names, short_repr

SKIP = Either("Correct it, or leave it out.", "Correct it, or pass --skip-invalid to leave out such lines.")
ID_FIELD = Either("the field of ids", "the field of --id")


class EventErrors:
    """Constructors of ``FileError`` about events."""

    @classmethod
    def _of(cls, path: str, what: str, expected: Text, received: Text = "", remedy: Text = "", **more: Any) -> Self:  # noqa: ANN401
        raise NotImplementedError

    @classmethod
    def no_event(cls, reason: str) -> Self:
        return cls._of("", "the line", "be a JSON object in UTF-8", remedy=SKIP, reason=reason)

    @classmethod
    def empty_event(cls, fields: Sequence[object]) -> Self:
        expected = "have scores, or the id and the label of a row that came before"
        received = f"the fields {join_names(fields)}" if fields else "no fields"
        return cls._of("", "the line", expected, received, SKIP)

    @classmethod
    def label_without_id(cls) -> Self:
        remedy: Text = ("Write the id of its row into ", ID_FIELD, ".")
        return cls._of("", "a label without scores", "have the id of its row", "no id", remedy)

    @classmethod
    def no_id(cls, received: object, limit: int) -> Self:
        expected = f"be texts or finite numbers of at most {limit} characters"
        return cls._of("", "ids of rows and labels", expected, short_repr(received), SKIP)

    @classmethod
    def several_scores(cls, fields: Sequence[object]) -> Self:
        remedy: Text = ("Leave out the others", Either("", " with --drop"), ".")
        return cls._of("", "scores of a line", "be in one list or object", f"the fields {join_names(fields)}", remedy)
