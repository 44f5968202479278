"""Errors of Python in the words of clients, who send members of bodies and pass no arguments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rankset.errors import PYTHON, LabelError, Place, RanksetError, StorageError, short_repr
from rankset.errors.fields import render_text
from rankset.errors.values import join_names
from rankset.rules.spec import RuleSpec
from rankset.serving.refusals import Refused

KINDS = {
    "probs": "probabilities, which are at least 0 and sum to 1 in every row",
    "decision": "the numbers of the decision function",
    "logits": "logits",
    "binary": "the probability of the second class for every row",
}
KEPT = ("alpha", "error", "ids", "id")
"""Errors about these have remedies that clients can follow."""


@contextmanager
def for_clients(spec: RuleSpec) -> Iterator[None]:
    """Inside, errors about rows and groups become refusals whose remedies name members of a body."""
    try:
        yield
    except (Refused, StorageError):
        raise
    except RanksetError as error:
        what = render_text(error.what, PYTHON)
        if what in KEPT and not (what == "ids" and spec.with_ids):
            raise
        if what == "ids":
            expected = "be sent for this rule, which was calibrated with ids"
            raise Refused.field("ids", expected, "none", remedy="Send a new id for every row.") from None
        about_groups = "group" in what.lower() or "group" in render_text(error.expected, PYTHON)
        raise _refused(error, "rows" if what == spec.kind else what, _remedy(spec, about_groups)) from None


def _remedy(spec: RuleSpec, about_groups: bool) -> str:  # noqa: FBT001
    if not about_groups:
        return f"Send {KINDS.get(spec.kind, spec.kind)}, one number for each class of GET /rule."
    if spec.condition.needs_groups:
        return 'Send the member groups with the group of every row, such as {"rows": [[0.7, 0.3]], "groups": ["a"]}.'
    return "Leave groups out: this rule has none."


def _refused(error: RanksetError, what: str, remedy: str) -> Refused:
    expected, received, reason = (render_text(text, PYTHON) for text in (error.expected, error.received, error.reason))
    place = Place(row=error.where.row, column=error.where.column)
    return Refused.of(422, what, expected, received, remedy, reason=reason, where=place)


def unknown_label(error: LabelError, labels: Sequence[Any], spec: RuleSpec) -> Refused:
    """Return the refusal of a label that is no class of the rule."""
    row, names = error.where.row, list(spec.classes.values)
    if row is None:
        return _refused(error, "labels", "Send one class for each id.")
    label = labels[row]
    meant = [name for name in names if str(name) == str(label)]
    remedy = f"Did you mean {short_repr(meant[0])}, " if meant else ""
    remedy += ("in quotes?" if isinstance(meant[0], str) else "without quotes?") if meant else "GET /rule lists them."
    return Refused.field(
        "labels", f"be classes of the rule ({join_names(names)})", short_repr(label), Place(row=row), remedy
    )
