"""Bodies as JSON: which members they have, and one clear sentence for everything else."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

from rankset.errors import NOWHERE, Place
from rankset.errors.values import did_you_mean
from rankset.serving.refusals import Refused

T = TypeVar("T")

PLACE = re.compile(r" - at `\$(?P<path>[^`]*)`$")
STEP = re.compile(r"\.(\w+)|\[(\d+|\.\.\.)\]")
WORDS = {
    "float": "a number",
    "int": "an integer",
    "str": "a text",
    "array": "a list",
    "object": "an object",
    "bool": "a boolean",
}
Names = list[str | int]
NO_NUMBERS = re.compile(rb"nan|inf(inity)?", re.IGNORECASE)
"""Numbers that JSON does not have, as programs write them."""
MEANT = {"labels": "a class name or column number", "groups": "the name of a group"}
"""What entries of lists are, where they can have several types."""
NO_UTF8 = "it has bytes that are no UTF-8"
TOO_DEEP = "it has lists within lists within lists, too many of them"


class PredictBody(msgspec.Struct, forbid_unknown_fields=True):  # type: ignore[call-arg, misc]
    """What ``/predict`` takes."""

    rows: msgspec.Raw
    alpha: float | None = None
    ids: Names | None = None
    groups: list[str | int | float | bool] | None = None
    error: float | None = None


class TriageBody(msgspec.Struct, forbid_unknown_fields=True):  # type: ignore[call-arg, misc]
    """What ``/triage`` takes."""

    rows: msgspec.Raw
    error: float | msgspec.UnsetType = msgspec.UNSET
    groups: list[str | int | float | bool] | None = None
    ids: Names | None = None


class FeedbackBody(msgspec.Struct, forbid_unknown_fields=True):  # type: ignore[call-arg, misc]
    """What ``/feedback`` takes."""

    ids: Names
    labels: list[str | int | float | bool]


class SessionBody(msgspec.Struct, forbid_unknown_fields=True):  # type: ignore[call-arg, misc]
    """What ``/session`` takes."""

    token: str


def decode(body: bytes | msgspec.Raw, kind: type[T], what: str = "the body", start: Sequence[object] = ()) -> T:
    """Return the members of a body; raise ``Refused`` if it is no JSON (400) or has other members (422).

    ``what`` names it in errors if the error has no place; ``start`` is the place of what is decoded in the body.
    """
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        members = getattr(kind, "__struct_fields__", ())
        raise _other_type(str(error), what, list(start), members) from None
    except msgspec.DecodeError as error:
        raise _malformed(str(error).removeprefix("JSON is malformed: "), bytes(body)) from None
    except UnicodeDecodeError:
        raise Refused.not_json(NO_UTF8) from None
    except RecursionError:
        raise Refused.not_json(TOO_DEEP) from None


def _malformed(said: str, body: bytes) -> Refused:
    """Return the error for a body that is no JSON; NaN and infinities, which some programs write, are named."""
    place = re.search(r"\(byte (\d+)\)", said)
    at = int(place[1]) if place else len(body)
    number = NO_NUMBERS.match(body, at) or NO_NUMBERS.match(body, max(0, at - 1))  # the n of nan can begin null
    if number:
        reason = f"{number[0].decode()} stands in it (byte {number.start()}), which JSON does not have"
        remedy = "Rows must have finite numbers alone; null is none either. Leave out rows that have no such number."
        return Refused.not_json(reason, remedy)
    said = said[:1].lower() + said[1:]
    return Refused.not_json(said, "Write it with a library for JSON. Names and texts stand in double quotes.")


def _other_type(said: str, what: str, path: list[object], members: Sequence[str]) -> Refused:
    """Return the error for a member of another type, with its place."""
    found = PLACE.search(said)
    text = said[: found.start()] if found else said
    for name, number in STEP.findall(found["path"]) if found else ():
        path.append(name or (int(number) if number.isdigit() else None))
    names = [step for step in path if isinstance(step, str)]
    numbers = [step for step in path if isinstance(step, int)]
    where = Place(row=numbers[0], column=numbers[1] if len(numbers) > 1 else None) if numbers else NOWHERE
    subject = names[0] if names else what
    expected = re.fullmatch(r"Expected `(.+)`, got `(.+)`", text)
    if expected is None:
        wanted, received, remedy = _others(text, members)
        return Refused.field(subject, wanted, received, where, remedy)
    wanted, received = _words(expected[1]), _words(expected[2])
    wanted = MEANT.get(subject, wanted) if "a text" in wanted else wanted
    return Refused.field(subject, f"be {wanted}", received, where, _remedy(wanted, received, subject))


def _remedy(wanted: str, received: str, subject: str) -> str:
    """Return what to do about a member of another type."""
    if subject == "labels" and received == "null":
        return "Leave out rows whose labels are not known yet."
    if subject == "rows" and wanted.startswith(("a list", "an object")):
        return "Send all rows in one form: lists of numbers, objects with a number per class, or lists by class."
    if received == "a text" and subject in ("alpha", "error"):
        return f'Send a number without quotes and without %, such as "{subject}": 0.05.'
    if received == "a text" and wanted.startswith(("a number", "an integer")):
        return "Send numbers without quotes."
    return 'Send a list also for one row, such as ["a"].' if wanted.startswith("a list") else ""


def _others(text: str, members: Sequence[str]) -> tuple[str, str, str]:
    """Return what is expected, received and to be done, where not a type differs."""
    if "out of range" in text:
        return "be within the range of 64-bit numbers", "a number beyond it", ""
    member = re.search("`(.*)`", text)
    if member is not None and "unknown field" in text:
        remedy = did_you_mean(member[1][:100], members).strip()
        return f"have no members but {', '.join(members)}", repr(member[1][:100]), remedy
    if member is not None and "missing" in text:
        return f"have the member {member[1]!r}", "none", "GET /docs lists all members."
    return "be as GET /docs describes it", text.replace("`", "'")[:100], ""


def _words(text: str) -> str:
    """Return the words of msgspec as those of JSON."""
    text = text.replace("`", "").replace(" | ", " or ")
    return re.sub(r"\b(float|int|str|array|object|bool)\b", lambda found: WORDS[found[0]], text)


def check_repeated(body: bytes | msgspec.Raw, names: Sequence[str] = ()) -> None:
    """Refuse an object that has a member twice, of which one would be ignored; ``body`` was decoded before.

    With ``names`` this is looked into only if one of them stands there more than once, or is written in another way.
    """
    text = bytes(body)
    if names and b"\\" not in text and all(text.count(f'"{name}"'.encode()) <= 1 for name in names):
        return
    try:
        json.loads(text, object_pairs_hook=_different, parse_int=_nothing, parse_float=_nothing)
    except UnicodeDecodeError:
        raise Refused.not_json(NO_UTF8) from None
    except RecursionError:
        raise Refused.not_json(TOO_DEEP) from None
    except json.JSONDecodeError as error:
        raise Refused.not_json(f"{error.msg} (character {error.pos})") from None


def _different(pairs: list[tuple[str, Any]]) -> None:
    if len({name for name, _ in pairs}) < len(pairs):
        twice, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise Refused.field("an object", "have every member once", f"{twice[:100]!r} more than once")


def _nothing(_text: str) -> int:
    return 0
