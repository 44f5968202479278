"""What commands say about files that are not written as usual: the separator, decimal mark and encoding they found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from rankset.cli.echo import echo
from rankset.io.dialect import Recognised
from rankset.io.notes import Note, listening

SEPARATORS = {"\t": "a tab"}


@contextmanager
def print_notes() -> Iterator[None]:
    """Inside, a note is printed on stderr for the first file of a kind, and at the end how many others there are."""
    seen: Counter[tuple[str, str]] = Counter()

    def listen(note: Note) -> None:
        text, options = describe(note.recognised)
        key = (note.role, text)
        seen[key] += 1
        if seen[key] == 1:
            echo(f"note: {note.path}: read {text} ({options})", err=True)

    try:
        with listening(listen):
            yield
    finally:
        for (role, text), count in seen.items():
            if count > 1:
                more = "1 more file" if count == 2 else f"{count - 1:,} more files"
                echo(f"note: {more} of {role} {'was' if count == 2 else 'were'} read {text}", err=True)


def describe(recognised: Recognised) -> tuple[str, str]:
    """Return what was recognised, in words, and the options that would set it."""
    parts, options = [], []
    if recognised.sep is not None:
        parts.append(f"separator {SEPARATORS.get(recognised.sep, repr(recognised.sep))}")
        options.append("--sep")
    if recognised.decimal is not None:
        parts.append(f"decimal {recognised.decimal!r}")
        options.append("--decimal")
    if recognised.encoding is not None:
        parts.append(f"encoding {recognised.encoding}")
        options.append("--encoding")
    if recognised.one_column:
        options = options or ["--sep"]
    words = " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
    start = "as one column" if recognised.one_column else ""
    verb = "sets it" if len(options) == 1 else "set them"
    return " ".join(filter(None, (start, f"with {words}" if words else ""))), f"{', '.join(options)} {verb}"
