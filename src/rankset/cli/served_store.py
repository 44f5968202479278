"""Where ``rankset serve`` keeps rows and labels, and how long."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankset.cli.options import in_units
from rankset.cli.promises import was_passed
from rankset.errors import RanksetError

if TYPE_CHECKING:
    from rankset.serving.storage.store import Store

NONE = "none"
"""In the place of a store or of one of its bounds."""
FLAGS = {"max_age": "--max-age", "max_bytes": "--max-size"}


def store_options(rule: Path, store: str | None, max_age: float | None, max_size: float | None) -> dict[str, Any]:
    """Return the store and its bounds: those that were typed, or those it had before, or for a new store the defaults.

    Raise an error if bounds are typed for a store that is not there.
    """
    typed = {"max_age": was_passed("max_age"), "max_bytes": was_passed("max_size")}
    if store is not None and store.lower() == NONE:
        for name, flag in FLAGS.items():
            if typed[name]:
                said = f"{flag} is about the store, but --store none keeps nothing. Leave one of them out."
                raise click.UsageError(said)
        return {"store": None}
    if store == "":
        raise click.UsageError("--store is empty. Pass a file, the URL of a database, or none; or leave it out.")
    where = store or f"{rule.stem}.db"
    bounds = {"max_age": max_age, "max_bytes": max_size}
    if not all(typed.values()):
        before = _last_bounds(where)
        bounds |= {} if before is None else {name: before[name] for name in bounds if not typed[name]}
    return {"store": where, **bounds}


def _last_bounds(where: str) -> dict[str, float | None] | None:
    from rankset.serving.storage.bounds import last_bounds

    try:
        return last_bounds(where)
    except RanksetError as error:
        raise in_store_options(error, where) from None


def in_store_options(error: RanksetError, store: str | None) -> RanksetError:
    """Return an error about the store with the names and remedies of the command line."""
    if error.what == "max_bytes":
        error.what, error.remedy = "--max-size", "Pass a size such as 500MB or 2GB."
    if error.where.file == store and not was_passed("store"):
        error.remedy = f"{error.remedy} --store FILE names another store, --store none keeps nothing.".strip()
    return error


def store_in_words(store: Store, age: float | None, size: float | None) -> str:
    """Return where rows are kept, what is there already, and how long it is kept."""
    found = f"{_of(store.rows, 'row')}, {_of(store.labels, 'label')}" if store.rows else "no rows yet"
    kept = bounds_in_words(age, size)
    return f"Rows and labels are kept in {store.where} ({found}) {kept}. --store, --max-age and --max-size change this."


def _of(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


def bounds_in_words(age: float | None, size: float | None) -> str:
    """Return how long rows are kept.

    >>> bounds_in_words(86400 * 90, 2e9), bounds_in_words(None, None)
    ('for 90 days and in at most 2 GB', 'without bounds')
    """
    bounds = ([f"for {in_units(age)}"] if age else []) + ([f"in at most {size / 1e9:.3g} GB"] if size else [])
    return " and ".join(bounds) or "without bounds"
