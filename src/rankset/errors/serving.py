"""Errors about the store of ``rankset serve``."""

from typing import TYPE_CHECKING, Self

from rankset.errors.fields import Option, Place, Text
from rankset.errors.values import short_repr, shorten

TRY_AGAIN = "Nothing of this call was stored. Try again later."

UNKNOWN = "What was sent may be stored or not."


class StoreErrors:
    """Constructors of ``StorageError`` about a store of predictions and labels."""

    try_again: bool = False
    """Whether the same call may succeed later, without a change of what is passed."""

    if TYPE_CHECKING:

        def __init__(
            self,
            what: Text = "",
            expected: Text = "",
            received: Text = "",
            remedy: Text = "",
            *,
            reason: Text = "",
            where: Place = ...,
        ) -> None: ...

    @classmethod
    def store_damaged(cls, where: str, reason: str) -> Self:
        remedy = "If this is the store of a server, get an undamaged copy. Otherwise pass another file or URL."
        return cls._store(where, "be a complete store of rankset", reason=shorten(reason, 200), remedy=remedy)

    @classmethod
    def store_of_another_program(cls, where: str, name: str) -> Self:
        reason = f"it contains {short_repr(name)}, so it is of another program, or was changed by one"
        remedy = "Pass the path of another file. Nothing was changed in this one."
        return cls._store(where, "be a complete store of rankset", reason=reason, remedy=remedy)

    @classmethod
    def store_is_file(cls, where: str, content: str) -> Self:
        remedy = "Pass the store that rankset serve writes, such as served.db, or the URL of its database."
        return cls._store(where, "be an SQLite file or a PostgreSQL database", f"a file with {content}", remedy)

    @classmethod
    def store_missing(cls, where: str) -> Self:
        return cls._store(where, "exist", reason="it was not found", remedy="Check the path.")

    @classmethod
    def store_format(cls, where: str, number: object, known: int) -> Self:
        newer = isinstance(number, int) and number > known
        remedy = "Upgrade rankset to use this store." if newer else "Move it away: a new store is made in its place."
        return cls._store(where, f"have format {known}", f"format {short_repr(number)}", remedy)

    @classmethod
    def store_of_another_rule(cls, where: str, what: str, expected: str, received: str) -> Self:
        remedy = "Use the rule whose rows it holds, or another store for this rule."
        return cls._store(where, f"have {what} of the rule, {expected}", received, remedy)

    @classmethod
    def store_without_rule(cls, where: str) -> Self:
        reason = "its rule has a score or condition that is not one of rankset's"
        return cls._store(where, "know its rule", reason=reason, remedy="Pass the rule.")

    @classmethod
    def store_locked(cls, where: str, seconds: float) -> Self:
        reason = f"another process has locked it for more than {seconds:g} seconds"
        return cls._store(where, "be free for writing", reason=reason, remedy=TRY_AGAIN)._for_now()

    @classmethod
    def store_in_use(cls, where: str) -> Self:
        reason = "another server uses it, and alarms are about all rows of a store"
        remedy = "Stop that server, or use a store of its own for each."
        return cls._store(where, "be used by one server", reason=reason, remedy=remedy)._for_now()

    @classmethod
    def store_not_claimed(cls, where: str, name: str, reason: str) -> Self:
        expected = f"have an empty file {name} beside it, by which other servers see that it is in use"
        remedy = (
            f"Allow this user to write to {name} and its folder. If no server uses the store, you can delete {name}."
        )
        return cls._store(where, expected, reason=shorten(reason, 200), remedy=remedy)

    @classmethod
    def store_read_only(cls, where: str, reason: str) -> Self:
        remedy = "Allow this user to write to the store and, for a file, to its folder."
        return cls._store(where, "be writable", reason=shorten(reason, 200), remedy=remedy)._for_now()

    @classmethod
    def store_unreadable(cls, where: str, reason: str) -> Self:
        remedy = (
            "Allow this user to read the file, and to write to its folder while its log (-wal) exists. "
            "Or copy the file together with its log to another folder, and read it there."
        )
        return cls._store(where, "be readable", reason=shorten(reason, 200), remedy=remedy)

    @classmethod
    def store_gone(cls, where: str, name: str) -> Self:
        reason = f"{name} was moved, replaced or deleted while it was in use"
        remedy = f"Put it back, or restart the server, which goes on with what is there or makes a new store. {UNKNOWN}"
        return cls._store(where, "stay in its place", reason=reason, remedy=remedy)._for_now()

    @classmethod
    def store_unreachable(cls, where: str, reason: str) -> Self:
        remedy = f"Check that the database runs and that its address is right, and try again. {UNKNOWN}"
        return cls._store(where, "be reachable", reason=shorten(reason, 200), remedy=remedy)._for_now()

    @classmethod
    def store_encoding(cls, where: str, encoding: str) -> Self:
        remedy = "Make one with CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0."
        return cls._store(where, "be a database with the encoding UTF8", encoding, remedy)

    @classmethod
    def store_of_another_kind(cls, where: str, received: str) -> Self:
        remedy = "Pass the path of a file, or a URL such as postgresql://user@host/name."
        return cls._store(where, "be an SQLite file or a PostgreSQL database", received, remedy)

    @classmethod
    def store_failed(cls, where: str, reason: str) -> Self:
        return cls._store(where, "take what is written to it", reason=shorten(reason, 200), remedy=TRY_AGAIN)

    @classmethod
    def store_too_small(cls, where: str, most: int) -> Self:
        remedy = "Allow the store to be larger."
        return cls._store(where, "hold one row within its limit", f"a limit of {most:,} bytes", remedy)

    @classmethod
    def store_busy(cls, where: str, waiting: int) -> Self:
        return cls._store(where, f"have at most {waiting:,} labels that wait", "more", TRY_AGAIN)._for_now()

    @classmethod
    def store_closed(cls, where: str) -> Self:
        return cls._store(where, "be open", "a store that was closed", "Open it again with Store.open.")

    @classmethod
    def store_hangs(cls, where: str, seconds: float) -> Self:
        expected = f"answer within {seconds:g} seconds when it is closed"
        return cls._store(where, expected, "no answer", UNKNOWN)._for_now()

    @classmethod
    def store_not_for_writing(cls, where: str) -> Self:
        remedy = ("Open it without ", Option("read_only", value=True), ".")
        return cls._store(where, "be opened for writing", "a store that was opened for reading", remedy)

    @classmethod
    def _store(cls, where: str, expected: Text, received: Text = "", remedy: Text = "", *, reason: Text = "") -> Self:
        return cls("the store", expected, received, remedy, reason=reason, where=Place(file=where))

    def _for_now(self) -> Self:
        """Return this error as one that may pass."""
        self.try_again = True
        return self


class FedBackErrors:
    """Constructors of ``RuleError`` about rules from labels that came back."""

    if TYPE_CHECKING:

        def __init__(self, what: Text = "", expected: Text = "", received: Text = "", remedy: Text = "") -> None: ...

    @classmethod
    def nothing_fed_back(cls, rows: int) -> Self:
        received = f"{rows:,} rows without a label" if rows else "no rows"
        remedy = "Send labels to the server first, or choose a longer time."
        return cls("rows for a new rule", "have labels that came back", received, remedy)
