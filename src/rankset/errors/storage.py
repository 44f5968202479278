"""Errors about files of rules."""

from typing import Self

from rankset.errors.base import RanksetError
from rankset.errors.fields import Either, Option, Place, Text
from rankset.errors.serving import TRY_AGAIN, StoreErrors

CALIBRATE_AGAIN = "keep the calibration data and calibrate again."


class StorageError(StoreErrors, RanksetError, ValueError):
    """A file of a rule, or a store of served rows, that cannot be read or written. It is also a ``ValueError``.

    A file that does not exist raises Python's ``FileNotFoundError``.

    Examples
    --------
    >>> import tempfile, rankset as rs
    >>> with tempfile.NamedTemporaryFile(suffix=".rankset") as file:
    ...     try:
    ...         rs.load(file.name)
    ...     except rs.errors.StorageError as error:
    ...         print(error.expected)
    be a complete rankset file
    """

    @classmethod
    def unreadable(cls, path: object, reason: Text) -> Self:
        remedy = "Save the rule again, or get an undamaged copy of the file."
        return cls._of(path, "be a complete rankset file", reason=reason, remedy=remedy)

    @classmethod
    def not_of_rankset(cls, path: object) -> Self:
        remedy = "Files of rules are made by rule.save in Python, and by rankset calibrate with -o rule.rankset."
        return cls._of(path, "be a rankset file", reason="it starts like a file of another kind", remedy=remedy)

    @classmethod
    def other_content(cls, path: object, wanted: str, found: str, reader: str, command: str = "") -> Self:
        """``command`` is a command that takes such files; empty if there is none."""
        typed = f"Pass this file to {command}." if command else f"Read it in Python with {reader}."
        remedy = Either(f"Read it with {reader}.", typed)
        return cls._of(path, f"contain {wanted}", found, remedy)

    @classmethod
    def other_bounds(cls, reason: str) -> Self:
        expected = "be two rules of the same rows, with the targets CertainLabels() and AllLabels()"
        return cls("bounds in a file", expected, reason, "Pass what rankset.bounds returns.")

    @classmethod
    def long_share(cls, digits: int) -> Self:
        remedy = "Round the error to fewer digits."
        return cls("the error in a file", f"be a fraction with at most {digits:,} digits", "more digits", remedy)

    @classmethod
    def future(cls, path: object, number: int, known: int) -> Self:
        expected = f"have format {known} or older for this version of rankset"
        return cls._of(path, expected, f"format {number}", "Upgrade rankset to read this file.")

    @classmethod
    def too_large(cls, path: object, what: str, size: int, limit: int) -> Self:
        expected = f"have {what} of at most {limit:,} bytes"
        return cls._of(path, expected, f"{size:,} bytes", "Check that this is a rankset file.")

    @classmethod
    def names_too_long(cls, path: object, size: int, limit: int) -> Self:
        remedy = ("The rule was not saved. Use shorter names, or calibrate without ", Option("classes"), ".")
        expected = f"have class and group names of at most {limit:,} bytes in total"
        return cls._of(path, expected, f"{size:,} bytes", remedy)

    @classmethod
    def too_many_classes(cls, count: int, limit: int) -> Self:
        remedy = f"The rule was not saved. Merge classes that never occur. Or {CALIBRATE_AGAIN}"
        return cls("a rule in a file", f"have at most {limit:,} classes", f"{count:,}", remedy)

    @classmethod
    def nested_too_far(cls, limit: int) -> Self:
        remedy = "The rule was not saved. Combine fewer scores or conditions."
        return cls("a rule in a file", f"have at most {limit:,} scores and conditions", "more", remedy)

    @classmethod
    def not_storable(cls, what: str, value: object) -> Self:
        remedy = f"Other classes are not saved, because loading them could run unknown code. Instead, {CALIBRATE_AGAIN}"
        return cls(f"{what} in a file", "be classes of rankset", f"{value!r}", remedy)

    @classmethod
    def _of(cls, path: object, expected: str, received: str = "", remedy: Text = "", *, reason: Text = "") -> Self:
        return cls("the file", expected, received, remedy, reason=reason, where=Place(file=str(path)))


class StoreFull(StorageError):  # noqa: N818 - it is one of StorageError
    """A store of served rows whose disk is full. It is also a ``StorageError``.

    Examples
    --------
    >>> import rankset as rs
    >>> print(rs.errors.StoreFull.of("rows.db", "the disk is full").expected)
    have space for what is written to it
    """

    @classmethod
    def of(cls, where: str, reason: str) -> Self:
        limits = "limit the size of the store (max_bytes, or --max-size of rankset serve)"
        remedy = f"Free space on the disk, or {limits}. {TRY_AGAIN}"
        return cls._store(where, "have space for what is written to it", reason=reason, remedy=remedy)._for_now()

    @classmethod
    def held(cls, where: str) -> Self:
        reason = "another process or thread reads for so long that the log cannot be emptied"
        remedy = f"End what reads the store. {TRY_AGAIN}"
        return cls._store(where, "have space within its limit", reason=reason, remedy=remedy)._for_now()
