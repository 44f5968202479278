"""Queries of requests: which names they may have, and members of bodies that can also stand in the query."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any
from urllib.parse import unquote_to_bytes

from rankset.core.alpha import exact_alpha
from rankset.errors import PYTHON, LevelError, join_names
from rankset.errors.fields import render_text
from rankset.errors.values import did_you_mean
from rankset.serving.refusals import Refused

Query = Mapping[str, Sequence[str]]
"""Values by name."""
NOTHING: Query = {}
JSON_QUERY = ("alpha", "error")
"""What the query of /predict can have if the body is JSON."""
ARRAY_QUERY = (*JSON_QUERY, "id", "group")
"""The same if the body is one array, which has no other place for ids and groups."""
OF_BODIES = {
    "id": "ids",
    "ids": "ids",
    "group": "groups",
    "groups": "groups",
    "rows": "rows",
    "labels": "labels",
}
"""Names that belong into bodies of JSON, and the members they are there."""
MEANINGS = {
    "alpha": "alpha is the share of sets that may miss the true label, such as 0.1.",
    "error": "error is the largest share of wrong answers among the accepted ones, such as 0.05.",
}


def query_of(request: Any, known: Sequence[str] = ()) -> Query:
    """Return the query by name; raise ``Refused`` if it has other names, or bytes that would become one sign."""
    raw: bytes = request.scope["query_string"]
    if not raw:
        return NOTHING
    try:
        unquote_to_bytes(raw).decode()
    except UnicodeDecodeError:
        raise Refused.field("the query", "be UTF-8", "other bytes", remedy="Encode texts as %C3%A4.") from None
    found: dict[str, list[str]] = {}
    for name, value in request.query_params.multi_items():
        found.setdefault(name, []).append(value)
    for name in found:
        if name not in known:
            raise _unknown(name, known)
    return found


def _unknown(name: str, known: Sequence[str]) -> Refused:
    """Return the error for a name that the query cannot have."""
    shown, member = name[:100], OF_BODIES.get(name)
    expected = f"have no names but {', '.join(known)}" if known else "be empty"
    remedy = did_you_mean(shown, known).strip()
    if member is not None and known != ARRAY_QUERY:
        remedy = f"With a body of JSON, {member} stand in the body, as its member {member!r}."
    elif not remedy:
        remedy = "GET /docs lists all names."
    return Refused.field("the query", expected, repr(shown), remedy=remedy)


def share_of(value: float | str, name: str) -> Fraction:
    """Return alpha or error exactly; raise ``Refused``, with the words of requests, if it cannot be one."""
    try:
        found = exact_alpha(value)
    except LevelError as error:
        received = render_text(error.received, PYTHON)
        hint = re.search(r"Did you mean [^?]*\?", render_text(error.remedy, PYTHON))
        remedy = f"{MEANINGS[name]} {hint[0]}" if hint else MEANINGS[name]
        raise Refused.field(name, "be a number above 0 and below 1", received, remedy=remedy) from None
    if not 0 < float(found) < 1:
        raise Refused.field(name, "be a number above 0 and below 1", repr(value)[:100], remedy=MEANINGS[name])
    return found


def share_in(query: Query, name: str) -> Fraction | None:
    """Return alpha or error of a query; None if it has none."""
    values = query.get(name)
    if not values:
        return None
    if len(values) > 1:
        remedy = "Send it once."
        raise Refused.field(name, "be one number", join_names(values)[:100], remedy=remedy)
    return share_of(values[0], name)


def share_asked(query: Query, name: str, member: float | None) -> Fraction | None:
    """Return alpha or error, of the query or of the member of a body; raise ``Refused`` if it stands in both."""
    found = share_in(query, name) if query else None
    if member is None:
        return found
    if found is not None:
        received = f"{query[name][0][:50]} in the query and {member:g} in the body"
        raise Refused.field(name, "stand in the query or in the body, not in both", received, remedy="Send it once.")
    return share_of(member, name)
