"""What all errors share: the family's name, warnings, and how to show what came."""

import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar


class RanksetError(Exception):
    """Anything rankset refuses to do."""


class RanksetWarning(UserWarning):
    """Something valid that deserves a look."""


def short_repr(value: object, limit: int = 80) -> str:
    """What came, never a page of it."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # an integer with more digits than Python prints
        text = f"a very large {type(value).__name__}"
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


_said: ContextVar[set[str] | None] = ContextVar("_said", default=None)


@contextmanager
def once() -> Iterator[None]:
    """Inside, the same warning is given once, however often there is reason."""
    token = _said.set(set())
    try:
        yield
    finally:
        _said.reset(token)


def warn(message: str) -> None:
    """Warns at the line outside this package that led here."""
    said = _said.get()
    if said is not None and message in said:
        return
    if said is not None:
        said.add(message)
    depth, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("rankset."):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, RanksetWarning, stacklevel=depth)


QUOTED_OR_ROW = re.compile(r"""(?<!\w)'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\brow (\d+)\b""")


def moved(message: str, by: int) -> str:
    """A message about a row of some rows, told with its number among all rows; what is quoted stays."""

    def number(found: re.Match[str]) -> str:
        return found.group() if found.group(1) is None else f"row {int(found.group(1)) + by}"

    return QUOTED_OR_ROW.sub(number, message) if by else message


@contextmanager
def located(where: str, first_row: int = 0) -> Iterator[None]:
    """Inside, errors tell where the rows they are about came from, and count rows from there."""
    try:
        yield
    except RanksetError as error:
        message = moved(str(error), first_row)
        raise type(error)(f"{where}: {message}" if where else message) from error


def join_names(names: Sequence[object], limit: int = 5) -> str:
    """Up to ``limit`` names in quotes, then how many more there are."""
    first = ", ".join(short_repr(name) for name in names[:limit])
    rest = len(names) - limit
    return f"{first} and {rest:,} more" if rest > 0 else first
