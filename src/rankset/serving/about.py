"""What a store is for: its format, and the rule whose rows it holds."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection, select

from rankset.errors import StorageError
from rankset.rules import rule_file
from rankset.rules.spec import RuleSpec
from rankset.serving.database import Database
from rankset.serving.tables import FORMAT, about

NAMES = {"kind": "kind", "classes": "classes", "with_groups": "use of groups"}
"""Fields that rows of one store have in common, in words."""


def facts_of(spec: RuleSpec) -> dict[str, Any]:
    """Return what a store keeps of a rule: the header of its file, and whether rows have groups."""
    try:
        header = rule_file.spec_header(spec)
    except StorageError:  # a score or condition of one's own
        classes = len(spec.classes) if isinstance(spec.classes.values, range) else spec.classes.values
        header = {"kind": spec.kind, "classes": classes}
    return json.loads(json.dumps({**header, "with_groups": spec.condition.needs_groups}))


def check(database: Database, spec: RuleSpec, *, read_only: bool) -> None:
    """Raise an error if a store is of another format or of another rule; a new store becomes one of this rule."""
    if not read_only:
        with database.writing() as connection:
            _write(database, connection, {"format": str(FORMAT), "rule": json.dumps(facts_of(spec))})
    found = read(database)
    wanted = facts_of(spec)
    for name, words in NAMES.items():
        if found.get(name) != wanted[name]:
            raise StorageError.store_of_another_rule(database.where, words, wanted[name], found.get(name))


def _write(database: Database, connection: Connection, values: dict[str, str]) -> None:
    """Write what is not there yet."""
    statement = database.insert(about).on_conflict_do_nothing(index_elements=["name"])
    connection.execute(statement, [{"name": name, "value": value} for name, value in values.items()])


def read(database: Database) -> dict[str, Any]:
    """Return what a store keeps of its rule; raise an error if it is of another format or damaged."""
    with database.reading() as connection:
        found = {name: value for name, value in connection.execute(select(about.c.name, about.c.value))}
    if found.get("format") != str(FORMAT):
        if str(found.get("format", "")).isdecimal():
            raise StorageError.store_format(database.where, int(found["format"]), FORMAT)
        raise StorageError.store_damaged(database.where, "it does not say which format it has")
    try:
        facts = json.loads(found["rule"])
    except (KeyError, ValueError, RecursionError) as error:
        raise StorageError.store_damaged(database.where, f"it does not say of which rule it is: {error}") from None
    if not isinstance(facts, dict):
        raise StorageError.store_damaged(database.where, "it does not say of which rule it is")
    return facts
