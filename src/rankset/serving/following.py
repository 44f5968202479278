"""What a running server asks its store: labels that came since the last look, and since when a rule is served."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress

from sqlalchemy import func, select

from rankset.serving.about import read_entry, write_entry
from rankset.serving.reading import PART
from rankset.serving.rows import Labelled
from rankset.serving.store import Store
from rankset.serving.tables import feedback, predictions

SERVED = "served"
"""Name of the entry that says which rule is served since when."""
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


def served_since(store: Store, digest: str, now: float) -> float:
    """Return since when a rule is served from this store; if it was another one until now, since now.

    The same if it is served since a time to come: the clock was wrong then.
    """
    try:
        known, since = json.loads(read_entry(store._database, SERVED) or "")
        if known == digest and isinstance(since, float) and since <= now:
            return since
    except (ValueError, TypeError, RecursionError):
        pass  # nothing is known yet, or it cannot be read: watched from now on
    write_entry(store._database, SERVED, json.dumps([digest, now]))
    return now


def served_from(store: Store, now: float) -> None:
    """Write that the rule is served from now on at the latest: the clock was set back."""
    with suppress(ValueError, TypeError, RecursionError):
        digest, since = json.loads(read_entry(store._database, SERVED) or "")
        if since > now:
            write_entry(store._database, SERVED, json.dumps([digest, now]))
