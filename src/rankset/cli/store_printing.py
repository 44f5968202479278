"""What ``rankset inspect`` prints about a store of ``rankset serve``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rankset.cli.conditions import condition_in_words
from rankset.cli.printing import print_facts
from rankset.cli.served_store import bounds_in_words
from rankset.errors import import_with_extra


def print_store(where: Path | str, *, as_json: bool) -> None:
    """Print of which rule a store is, and how many rows and labels it has."""
    reading = import_with_extra("rankset.serving.storage.store_facts", "rankset inspect of a store", "serve")
    found = reading.read_facts(where)
    size = found.size if as_json else f"{found.size:,} bytes"
    bounds = found.bounds if as_json else bounds_in_words(found.bounds["max_age"], found.bounds["max_bytes"])
    facts = {
        "content": "a store of rankset serve",
        **_rule_facts(found),
        "rows": found.rows,
        "labels": found.labels,
        "first row": found.first_row,
        "last row": found.last_row,
        "last label": found.last_label,
        "size": size,
        "kept": bounds,
    }
    print_facts(facts, found.where, as_json=as_json)


def _rule_facts(found: Any) -> dict[str, Any]:
    """Return what is known of the first rule of a store."""
    spec = found.spec
    if spec is None:
        names = found.classes if isinstance(found.classes, list) else list(range(min(found.classes, 10)))
        own = "of the user's own, or its condition is: the store does not know it"
        count = found.classes if isinstance(found.classes, int) else len(names)
        return {"score": own, "kind": found.kind, "classes": count, "first classes": names[:10]}
    return {
        "score": repr(spec.score),
        "condition": repr(spec.condition),
        "condition in words": condition_in_words(spec.condition),
        "kind": spec.kind,
        "classes": len(spec.classes),
        "first classes": list(spec.classes.values[:10]),
        "groups": list(spec.groups.values[:10]),
    }
