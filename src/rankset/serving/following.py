"""What a running server asks its store: labels that came since the last look, and the turn of its rule."""

from __future__ import annotations

import json
from collections.abc import Iterator

from sqlalchemy import func, select

from rankset.core.arrays import is_whole
from rankset.serving.storage.about import read_entry, write_entry
from rankset.serving.storage.reading import PART
from rankset.serving.storage.rows import MOST_TURN, Labelled
from rankset.serving.storage.store import Store
from rankset.serving.storage.tables import feedback, predictions

SERVED = "served"
"""Name of the entry that says which rule is served, and the number of its turn."""
TIME, NUMBER = feedback.c.time.label("label_time"), feedback.c.number.label("label_number")


def last_label(store: Store) -> int:
    """Return the number of the last label in a store; 0 if there is none."""
    with store._database.reading() as connection:
        return connection.execute(select(func.max(feedback.c.number))).scalar() or 0


def labels_after(store: Store, number: int) -> Iterator[tuple[int, Labelled]]:
    """Return labels that came after that with this number, with their numbers and rows, in their order."""
    reader = store._reader
    wanted = select(predictions, feedback.c.label, TIME, NUMBER).join_from(feedback, predictions)
    wanted = wanted.order_by(feedback.c.number).limit(PART)
    while part := reader._part(wanted.where(feedback.c.number > number)):
        for row in part:
            yield row["label_number"], reader._checked(reader._pair, row)
        number = part[-1]["label_number"]


def turn_of(store: Store, digest: str) -> int:
    """Return the number of the turn of a rule; if another one was served until now, a new turn begins.

    Rows say of which turn they are, so a clock that is wrong changes nothing.
    """
    known, turn = _entry(read_entry(store._database, SERVED)) or ("", _last_turn(store))
    if known == digest:
        return turn
    write_entry(store._database, SERVED, json.dumps([digest, turn + 1]))
    return turn + 1


def _entry(text: str | None) -> tuple[str, int] | None:
    """Return which rule was served last, and the number of its turn; None if it is not known."""
    try:
        digest, turn = json.loads(text or "")
    except (ValueError, TypeError, RecursionError):
        return None
    return (digest, turn) if isinstance(digest, str) and is_whole(turn) and 0 < turn <= MOST_TURN else None


def _last_turn(store: Store) -> int:
    """Return the largest number of a turn that a row has; 0 if there are no rows."""
    with store._database.reading() as connection:
        return connection.execute(select(func.max(predictions.c.turn))).scalar() or 0
