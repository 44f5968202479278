"""Errors about files of rules."""

from typing import Self

from rankset.errors.base import RanksetError
from rankset.errors.fields import Option, Place, Text

CALIBRATE_AGAIN = "Keep the calibration scores and calibrate again"


class StorageError(RanksetError, ValueError):
    """A file of a rule that cannot be read or written."""

    @classmethod
    def unreadable(cls, path: object, reason: Text) -> Self:
        remedy = "Save the rule again, or fetch an undamaged copy."
        return cls._of(path, "be a complete rankset file", reason=reason, remedy=remedy)

    @classmethod
    def future(cls, path: object, number: int, known: int) -> Self:
        expected = f"have a format up to {known}, which this version of rankset reads"
        return cls._of(path, expected, f"format {number}", "Upgrade rankset to read it.")

    @classmethod
    def too_large(cls, path: object, what: str, size: int, limit: int) -> Self:
        expected = f"have {what} of at most {limit:,} bytes"
        return cls._of(path, expected, f"{size:,}", "Is this a rankset file?")

    @classmethod
    def names_too_long(cls, path: object, size: int, limit: int) -> Self:
        remedy = ("Nothing was written. Use shorter names, or calibrate without ", Option("classes"), ".")
        expected = f"have class and group names of at most {limit:,} bytes"
        return cls._of(path, expected, f"{size:,}", remedy)

    @classmethod
    def too_many_classes(cls, count: int, limit: int) -> Self:
        remedy = f"Nothing was written. Merge classes that never occur, or {CALIBRATE_AGAIN.lower()}."
        return cls("a rule in a file", f"have at most {limit:,} classes", f"{count:,}", remedy)

    @classmethod
    def nested_too_far(cls, limit: int) -> Self:
        remedy = "Nothing was written. Combine fewer of them."
        return cls("a rule in a file", f"nest at most {limit:,} scores or conditions", "more", remedy)

    @classmethod
    def not_storable(cls, what: str, value: object) -> Self:
        expected = "be rankset's own, because loading a file must never run foreign code"
        return cls(f"{what} in a file", expected, f"{value!r}", f"{CALIBRATE_AGAIN} after loading.")

    @classmethod
    def _of(cls, path: object, expected: str, received: str = "", remedy: Text = "", *, reason: Text = "") -> Self:
        return cls("the file", expected, received, remedy, reason=reason, where=Place(file=str(path)))
