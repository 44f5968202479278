"""What the server answers, described for programs (OpenAPI)."""

from __future__ import annotations

import sys
from typing import Any

from rankset.serving.refusals import JSON, MEDIA_TYPE, NPY, encoded
from rankset.serving.service import Service

NUMBERS = {"type": "array", "items": {"type": "number"}}
NAMES = {"type": "array", "items": {"type": ["string", "integer"]}}
BOOLEANS = {"type": "array", "items": {"type": "boolean"}}
LABELS = {"type": "array", "items": {"type": ["string", "number", "boolean"]}}
ROWS = {
    "description": "A list of rows: lists of numbers, or objects with a number per class. Or an object of columns.",
    "oneOf": [
        {
            "type": "array",
            "items": {"oneOf": [NUMBERS, {"type": "object", "additionalProperties": {"type": "number"}}]},
        },
        {"type": "object", "additionalProperties": NUMBERS},
    ],
}

PREDICT = (
    "Sets of labels, most likely first, in the order of the rows. Ids find the rows of labels that come later. "
    'Example: {"rows": [%s], "ids": ["a1"], "alpha": 0.05}. %s alpha: the share of sets that may miss the true '
    "label. error: the share of accepted answers that may be wrong (with --triage). groups: the group of every row, "
    "for rules that use groups. alpha and error can also stand in the query. For an array "
    "(application/x-npy) all of them stand in the query, with one id and one group for every row, for example "
    "/predict?alpha=0.05&id=a1&id=a2."
)
FEEDBACK = (
    'Example: {"ids": ["a1"], "labels": [%s]}. Labels are class names or columns. The answer comes when they are on '
    "the disk."
)
TRIAGE = (
    "Of the accepted answers at most the share error is wrong, with a confidence. Needs --triage. error is required, "
    "in the body or in the query: ?error=0.05. Rows are not stored: labels can be sent for rows of /predict alone."
)
SHARE = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
ERROR = {
    **SHARE,
    "description": "Largest share of wrong answers among the accepted ones. Needs --triage.",
    "examples": [0.05],
}
IDS = {
    **NAMES,
    "description": "A text or integer for every row, used once. Without them the server makes ids, and returns them.",
    "examples": [["a1", "a2"]],
}
TRIAGE_IDS = {
    **NAMES,
    "description": "Only needed if the triage was calibrated with ids: a text or integer for every row, from which "
    "it draws. Rows of /triage are not stored.",
    "examples": [["a1", "a2"]],
}
GROUPS = {
    **LABELS,
    "description": "The group of every row, if the rule uses groups. Unknown groups get the set of predict, which "
    "mostly contains every label.",
    "examples": [["north", "south"]],
}


SHOWN = 8
"""So many numbers of a row are shown in an example."""
LONGEST_NAME = 60
"""Longer names of classes are not shown in an example."""
ANSWERS = ("new", "repeated", "unknown")


def version() -> str:
    """Return the version of rankset, which was imported before."""
    return str(sys.modules["rankset"].__version__)


def description(service: Service) -> dict[str, Any]:
    """Return the description of a server."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "rankset serve",
            "version": version(),
            "description": f"Prediction sets of one rule, at alpha {float(service.loaded.alpha):g} by default.",
        },
        "paths": {**_of_rows(service), **_of_server()},
        "components": {
            "schemas": {"Problem": _problem()},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}, {}],
    }


def _of_rows(service: Service) -> dict[str, Any]:
    alpha = _alpha(service)
    asked = {"rows": ROWS, "alpha": alpha, "ids": IDS, "groups": GROUPS, "error": ERROR}
    sets = {"sets": {"type": "array", "items": LABELS}, "sizes": NUMBERS, "ids": NAMES, "alpha": alpha}
    answers = {"type": "array", "items": {"enum": list(ANSWERS)}}
    decides = {"rows": ROWS, "error": ERROR, "groups": GROUPS, "ids": TRIAGE_IDS}
    decided = {"accepted": BOOLEANS, "labels": LABELS, "error": ERROR}
    decided |= {"confidence": {"type": "number"}, "rule": {"type": "string"}}
    also = {NPY: {"schema": {"type": "string", "format": "binary", "description": "A file of numpy.save."}}}
    accepted = {**BOOLEANS, "description": "Only if error was sent: whether the answer of each row may be accepted."}
    predict = _post(
        "Predict the sets of rows.", PREDICT % _example(service), asked, ["rows"], {**sets, "accepted": accepted}, also
    )
    predict["post"]["parameters"] = _query(alpha)
    triage = _post("Ask which rows may be accepted without a person.", TRIAGE, decides, ["rows"], decided)
    triage["post"]["parameters"] = [_error_in_query()]
    return {
        "/predict": predict,
        "/feedback": _post(
            "Send true labels of rows that were predicted.",
            FEEDBACK % _label(service.loaded.names[0]),
            {"ids": NAMES, "labels": LABELS},
            ["ids", "labels"],
            {"ids": NAMES, "answers": answers, **{name: {"type": "integer"} for name in ANSWERS}},
        ),
        "/triage": triage,
    }


def _example(service: Service) -> tuple[str, str]:
    """Return a row of the rule as JSON, shortened if there are many classes, and which forms rows can have."""
    spec = service.loaded.rule.spec
    if spec.kind == "binary":
        return "0.7", f"A row is a number: the probability of the class {_label(service.loaded.names[1])}."
    usual = spec.kind == "probs"
    numbers = [
        round(2.0**-place, 3) if usual else float(2 - place) for place in range(1, min(spec.n_columns, SHOWN) + 1)
    ]
    if usual and spec.n_columns <= SHOWN:
        numbers[-1] = round(1 - sum(numbers[:-1]), 3)
    more = ", …" if spec.n_columns > SHOWN else ""
    forms = (
        f"A row is a list of {spec.n_columns:,} numbers in the order of the classes, or an object with a number per "
        "class. rows can also be an object with a list per class."
    )
    return f"[{', '.join(map(str, numbers))}{more}]", forms


def _label(name: object) -> str:
    """Return the name of a class as JSON, if it is not long."""
    text = encoded(name).decode()
    return text if len(text) <= LONGEST_NAME else '"…"'


def _alpha(service: Service) -> dict[str, Any]:
    told = "The share of sets that may miss the true label. Without it, that of --alpha."
    return {**SHARE, "default": float(service.loaded.alpha), "description": told, "examples": [0.05]}


def _query(alpha: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the parameters of /predict: shares, and what of an array cannot stand in it."""
    texts = {"type": "array", "items": {"type": "string"}}
    members = {
        "id": "Ids of the rows of an array, one for every row, in their order: ?id=a1&id=a2.",
        "group": "Groups of the rows of an array, one for every row: ?group=north&group=south.",
    }
    told = "alpha, if it does not stand in the body: ?alpha=0.05."
    return [
        {"name": "alpha", "in": "query", "description": told, "schema": alpha},
        _error_in_query(),
        *(
            {"name": name, "in": "query", "description": f"Only for {NPY}. {told}", "schema": texts}
            for name, told in members.items()
        ),
    ]


def _error_in_query() -> dict[str, Any]:
    told = "error, if it does not stand in the body: ?error=0.05. Needs --triage."
    return {"name": "error", "in": "query", "description": told, "schema": ERROR}


def _of_server() -> dict[str, Any]:
    told = "The level at which the sets are described. Without it, that of --alpha."
    alpha = {"name": "alpha", "in": "query", "description": told, "schema": SHARE, "example": 0.05}
    return {
        "/rule": _get("See the rule, and in words which labels its sets contain.", JSON, parameters=[alpha]),
        "/healthz": _get("See whether the process answers. Needs no token.", JSON),
        "/readyz": _get("See whether the rule is loaded and the store can be written.", JSON),
        "/metrics": _get("Read all numbers in the text format of Prometheus.", "text/plain"),
        "/": _get("Look at coverage, set sizes, classes and alarms as they change.", "text/html"),
        "/events": _get("Follow the numbers of the live page as server-sent events.", "text/event-stream"),
        "/openapi.json": _get("Read this description.", JSON),
        "/docs": _get("Read this description as a page.", "text/html"),
        "/session": {
            "post": {
                "summary": "Open the session of a browser, which may then read.",
                "requestBody": _content({"token": {"type": "string"}}, ["token"]),
                "responses": {"204": {"description": "A cookie was set."}, "default": _refusal()},
            },
            "delete": {"summary": "Close it.", "responses": {"204": {"description": "The cookie was removed."}}},
        },
    }


def _post(
    summary: str, told: str, asked: dict[str, Any], required: list[str], found: dict[str, Any], also: Any = None
) -> dict[str, Any]:
    body = _content(asked, required)
    body["content"].update(also or {})
    answer = {"description": "Done.", **_content(found, [])}
    responses = {"200": answer, "default": _refusal()}
    return {"post": {"summary": summary, "description": told, "requestBody": body, "responses": responses}}


def _get(summary: str, media: str, **more: Any) -> dict[str, Any]:
    responses = {"200": {"description": "Done.", "content": {media: {}}}, "default": _refusal()}
    return {"get": {"summary": summary, **more, "responses": responses}}


def _content(members: dict[str, Any], required: list[str]) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": members}
    return {"content": {JSON: {"schema": {**schema, "required": required} if required else schema}}}


def _refusal() -> dict[str, Any]:
    return {
        "description": "A problem (RFC 9457): what must be how, what was received, and what to do.",
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }


def _problem() -> dict[str, Any]:
    texts = ("type", "title", "detail", "what", "expected", "received", "reason", "remedy")
    members: dict[str, Any] = {name: {"type": "string"} for name in texts}
    members |= {"status": {"type": "integer"}, "row": {"type": "integer"}, "column": {"type": ["integer", "string"]}}
    return {"type": "object", "properties": members}
