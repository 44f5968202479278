"""Short texts of the values that errors show."""

import unicodedata
from collections.abc import Sequence

MAX_COMPARED = 10_000
"""Most names that are compared with one that was not found."""


def short_repr(value: object, limit: int = 80) -> str:
    """``repr`` of ``value`` on one line, truncated to ``limit`` characters."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # an integer with more digits than Python prints
        text = f"a very large {type(value).__name__}"
    return shorten(text, limit)


def shorten(text: str, limit: int = 80) -> str:
    """``text`` truncated to ``limit`` characters."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def join_names(names: Sequence[object], limit: int = 5) -> str:
    """Up to ``limit`` names in quotes, then the number of the others."""
    first = ", ".join(short_repr(name) for name in names[:limit])
    rest = len(names) - limit
    return f"{first} and {rest:,} more" if rest > 0 else first


def differences(lacks: str, missing: Sequence[object], extra: str, unknown: Sequence[object]) -> str:
    """What is ``missing`` and what is ``unknown``, each with its words before it."""
    parts = [f"{words} {join_names(names)}" for words, names in ((lacks, missing), (extra, unknown)) if names]
    return " and ".join(parts)


def did_you_mean(name: str, names: Sequence[str]) -> str:
    """Return a question with the name that is most like ``name``, for the end of a message; "" if none is like it."""
    from difflib import get_close_matches

    folded = {_folded(one): one for one in reversed(names)}
    found = get_close_matches(_folded(name), list(folded), 1, 0.66) if len(names) <= MAX_COMPARED else []
    if not found:
        return ""
    meant = folded[found[0]]
    if unicodedata.normalize("NFC", meant) == unicodedata.normalize("NFC", name):
        return f" The file spells {short_repr(meant)} with other Unicode characters that look the same (NFC or NFD)."
    return f" Did you mean {short_repr(meant)}?"


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold().strip()
