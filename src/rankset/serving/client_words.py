"""Errors of Python in the words of clients, who send members of bodies and pass no arguments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rankset.errors import PYTHON, LabelError, Place, RanksetError, StorageError, short_repr
from rankset.errors.fields import render_text
from rankset.errors.values import did_you_mean, join_names
from rankset.inputs.column_numbers import are_column_numbers
from rankset.rules.spec import RuleSpec
from rankset.serving.refusals import Refused

KINDS = {
    "probs": "probabilities, which are at least 0 and sum to 1 in every row",
    "decision": "the numbers of the decision function",
    "logits": "logits",
}
MOST_COMPARED = 300
"""Nobody is answered while names are compared, so there must be few."""
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
        if what in KEPT:
            raise
        about_groups = what == "groups" or render_text(error.expected, PYTHON) == "get the group of every row"
        raise _refused(error, "rows" if what in (spec.kind, "probs") else what, _remedy(spec, about_groups)) from None


def numbers_of_rows(spec: RuleSpec) -> str:
    """Return what the rows of a rule are, as a remedy."""
    if spec.kind == "binary":
        second = short_repr(spec.classes.values[1])
        return f'Send one number for each row, the probability of the class {second}, such as {{"rows": [0.3, 0.9]}}.'
    return f"Send {KINDS.get(spec.kind, spec.kind)}, one number for each class of GET /rule."


def _remedy(spec: RuleSpec, about_groups: bool) -> str:  # noqa: FBT001
    if not about_groups:
        return numbers_of_rows(spec)
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
    if are_column_numbers(names) and any(map(_is_column, labels)):
        return _wrong_column(labels, len(names))
    expected = f"be classes of the rule ({join_names(names)})"
    remedy = _near_class(labels[row], names) or "GET /rule lists them."
    return Refused.field("labels", expected, short_repr(labels[row]), Place(row=row), remedy)


def _is_column(label: object) -> bool:
    return type(label) is int


def _near_class(label: object, names: Sequence[Any]) -> str:
    """Return a question with the class that was meant; "" if none is near."""
    for name in names:
        if str(name) == str(label):
            return f"Did you mean {short_repr(name)}, {'in' if isinstance(name, str) else 'without'} quotes?"
    return near_name(label, names)


def near_name(name: object, names: Sequence[Any]) -> str:
    """Return a question with the class that is most like a name; "" if none is, or if there are many classes."""
    texts = [one for one in names if isinstance(one, str)] if len(names) <= MOST_COMPARED else []
    return did_you_mean(str(name)[:100], texts).strip().replace("The file", "The rule")


def _wrong_column(labels: Sequence[Any], n_columns: int) -> Refused:
    """Return the refusal of the first label that is no column, or is a column among names, or a name among columns."""
    first = _is_column(labels[0])
    for row, label in enumerate(labels):
        place, received = Place(row=row), short_repr(label)
        if _is_column(label) != first:
            expected = "be class names, all of them, or column numbers, all of them"
            received += f" after {short_repr(labels[0])}"
            return Refused.field("labels", expected, received, place, "Send one of the two kinds.")
        if first and not 0 <= label < n_columns:
            break
    expected = f"be column numbers from 0 to {n_columns - 1:,}, or class names"
    return Refused.field("labels", expected, received, place, "GET /rule lists the classes, from column 0 on.")
