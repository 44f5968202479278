"""Notes about what was recognised in a file. Whoever runs the reading listens to them: the command line prints them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from rankset.io.dialect import Recognised


@dataclass(frozen=True)
class Note:
    """What was recognised in the file ``path``; ``role`` is what it was read for: "scores", "labels" or "classes"."""

    path: str
    role: str
    recognised: Recognised


Listener = Callable[[Note], None]

_listener: ContextVar[Listener | None] = ContextVar("_listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Inside, ``listener`` gets every note."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def also_listening(listener: Listener) -> Iterator[None]:
    """Inside, ``listener`` gets every note besides the one that listens already."""
    before = _listener.get()

    def both(note: Note) -> None:
        listener(note)
        if before is not None:
            before(note)

    with listening(both):
        yield


def decimal_of_scores(heard: Sequence[Note]) -> str | None:
    """Return the decimal mark that was recognised in the first file of scores; None for a point."""
    return next((note.recognised.decimal for note in heard if note.role == "scores"), None)


def separator_of_whole_scores(heard: Sequence[Note]) -> str | None:
    """Return the separator that was recognised in the first file of scores, if all scores are whole numbers."""
    found = next((note.recognised for note in heard if note.role == "scores"), None)
    return found.sep if found is not None and found.whole else None


def say(note: Note) -> None:
    """Hand a note to the listener, if there is one and there is something to note."""
    listener = _listener.get()
    if listener is not None and note.recognised:
        listener(note)
