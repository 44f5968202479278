"""What a store is for: its format, and the rule whose rows it holds."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import select

from rankset.errors import StorageError, short_repr
from rankset.io import container
from rankset.rules import rule_file
from rankset.rules.spec import RuleSpec
from rankset.serving.storage.database import Database
from rankset.serving.storage.tables import FORMAT, about, predictions

NAMES = {"kind": "the kind", "classes": "the classes", "with_groups": "rows like those"}
"""What all rows of a store have in common, in words."""


def facts_of(spec: RuleSpec) -> dict[str, Any]:
    """Return what a store keeps of a rule: the header of its file, and whether rows have groups."""
    try:
        header = rule_file.spec_header(spec)
        header["target"] = container.describe(spec.target, rule_file.TARGETS)
    except StorageError:  # a score or condition of one's own
        classes = len(spec.classes) if isinstance(spec.classes.values, range) else spec.classes.values
        header = {"kind": next(name for name, kind in rule_file.KINDS.items() if kind == spec.kind), "classes": classes}
    facts: dict[str, Any] = json.loads(json.dumps({**header, "with_groups": spec.condition.needs_groups}))
    return facts


def check_about(database: Database, spec: RuleSpec, *, read_only: bool) -> None:
    """Raise an error if a store is of another format or of another rule; a new store becomes one of this rule."""
    wanted = facts_of(spec)
    if not read_only:
        with database.reading() as connection:
            known = set(connection.execute(select(about.c.name)).scalars())
            if (
                not {"format", "rule"} <= known
                and connection.execute(select(predictions.c.number).limit(1)).first() is not None
            ):
                raise StorageError.store_damaged(database.where, "it has rows, but does not say of which rule")
        values = {"format": str(FORMAT), "rule": json.dumps(wanted)}
        statement = database.insert(about).on_conflict_do_nothing(index_elements=["name"])
        with database.writing() as connection:
            connection.execute(statement, [{"name": name, "value": value} for name, value in values.items()])
    found = read_about(database)
    for name, words in NAMES.items():
        if found.get(name) != wanted[name]:
            told = (_in_words(facts.get(name)) for facts in (wanted, found))
            raise StorageError.store_of_another_rule(database.where, words, *told)


def _in_words(fact: object) -> str:
    """Return a fact as a text; classes without names are known by their number."""
    if type(fact) is bool:
        return "with groups" if fact else "without groups"
    return f"{fact:,} classes without names" if type(fact) is int else short_repr(fact)


def read_about(database: Database) -> dict[str, Any]:
    """Return what a store keeps of its rule; raise an error if it is of another format or damaged."""
    with database.reading() as connection:
        found = {one.name: one.value for one in connection.execute(select(about.c.name, about.c.value))}
    number = str(found.get("format", ""))
    if number != str(FORMAT):
        if number.isdecimal() and len(number) < 10:
            raise StorageError.store_format(database.where, int(number), FORMAT)
        raise StorageError.store_damaged(database.where, "it does not say which format it has")
    try:
        facts = json.loads(found["rule"])
    except (KeyError, ValueError, RecursionError):
        facts = None
    if not isinstance(facts, dict):
        raise StorageError.store_damaged(database.where, "it does not say of which rule it is")
    return facts


def read_entry(database: Database, name: str) -> str | None:
    """Return what a store keeps under a name; None if it keeps nothing."""
    with database.reading() as connection:
        found: str | None = connection.execute(select(about.c.value).where(about.c.name == name)).scalar()
    return found


def write_entry(database: Database, name: str, value: str) -> None:
    """Keep a text under a name, in the place of what was there."""
    statement = database.insert(about).values(name=name, value=value)
    with database.writing() as connection:
        connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_={"value": value}))


def spec_of(database: Database) -> RuleSpec:
    """Return the settings of the rule whose rows a store holds; raise an error if they are not all known."""
    facts = read_about(database)
    facts.pop("with_groups", None)
    try:
        return rule_file.loaded_spec({**facts, "format": rule_file.FORMAT_WITH_TARGET, "guaranteed": True})
    except KeyError:
        raise StorageError.store_without_rule(database.where) from None
    except (ValueError, TypeError, IndexError, RecursionError, OverflowError) as error:
        raise StorageError.store_damaged(database.where, str(error)) from None
