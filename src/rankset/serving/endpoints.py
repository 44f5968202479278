"""The endpoints: what each path answers."""

from __future__ import annotations

from typing import Any

from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from rankset.core.promise_argument import exact_confidence
from rankset.errors import silent
from rankset.rules.sentences import proven_in_words, with_top
from rankset.serving import metrics, pages
from rankset.serving.access import COOKIE, HOURS
from rankset.serving.answers import InParts, answered
from rankset.serving.bodies import PREDICTED, media_type, read_body
from rankset.serving.client_words import for_clients
from rankset.serving.events import EventStream
from rankset.serving.json_bodies import SessionBody, decode
from rankset.serving.openapi import description, version
from rankset.serving.places import hold_rows
from rankset.serving.predictions import asked_in_json, asked_in_npy, asked_of_triage, triage_body
from rankset.serving.queries import ARRAY_QUERY, JSON_QUERY, query_of, share_in
from rankset.serving.refusals import JSON, Refused, encoded
from rankset.serving.service import Service

MOST_TEXT = 20_000
"""Characters of a description of a rule, at most: with many classes it has many lines."""
MOST_NAMES = 10_000
QUICK_ROWS = 100
QUICK_LABELS = 4096
"""Answers with fewer rows, and fewer labels in their sets, are written at once; others in threads."""
MOST_SESSION = 4096
"""Bytes of a body with a token, at most: everybody may send one."""


def service_of(request: Any) -> Service:
    """Return what requests share."""
    found: Service = request.app.service
    return found


async def predict(request: Any) -> Response:
    """Predict the sets of rows."""
    service = service_of(request)
    kind = media_type(request, PREDICTED)
    query = query_of(request, JSON_QUERY if kind == JSON else ARRAY_QUERY)
    body = await read_body(request, service.limits)
    loaded, limits = service.loaded, service.limits
    with for_clients(loaded.rule.spec):
        if kind == JSON:
            asked = await service.read(body, lambda: asked_in_json(body, query, loaded, limits))
        else:
            asked = await service.read(body, lambda: asked_in_npy(body, query, loaded, limits))
        hold_rows(request.scope, asked.matrix.size)
        request.scope["rankset_rows"] = len(asked.names)
        found = await service.predict(loaded, asked)
    if len(asked.names) <= QUICK_ROWS and len(found.codes) <= QUICK_LABELS:
        return answered(found.body(loaded.names))
    return InParts(await service.in_thread(lambda: encoded(found.body(loaded.names))), media_type=JSON)


async def feedback(request: Any) -> Response:
    """Take labels of rows that were predicted; answered when they are on the disk."""
    service = service_of(request)
    if service.ledger.store is None:
        raise Refused.no_store()
    media_type(request)
    query_of(request)
    found = await service.label(await read_body(request, service.limits))
    request.scope["rankset_rows"] = len(found["ids"])
    return answered(found)


async def triage(request: Any) -> Response:
    """Say which rows may be accepted without a person."""
    service = service_of(request)
    if service.loaded.triage is None:
        raise Refused.no_triage()
    media_type(request)
    query = query_of(request, ("error",))
    body, loaded = await read_body(request, service.limits), service.loaded
    with for_clients(service.loaded.triage.spec):
        asked = await service.read(body, lambda: asked_of_triage(body, query, loaded, service.limits))
        hold_rows(request.scope, asked.matrix.size)
        quick = len(asked.names) == 1 and asked.error is not None and asked.error in loaded.gates
        found = triage_body(loaded, asked) if quick else await service.in_thread(lambda: triage_body(loaded, asked))
    request.scope["rankset_rows"] = len(asked.names)
    service.metrics.rows["/triage"] += len(asked.names)
    service.ledger.monitor.decides(sum(found["accepted"]), len(asked.names))
    service.listeners.wake()
    return answered(found)


async def rule(request: Any) -> Response:
    """Say what the rule is, and which labels its sets contain."""
    service = service_of(request)
    loaded = service.loaded
    alpha = share_in(query_of(request, ("alpha",)), "alpha") or loaded.alpha

    def facts() -> dict[str, Any]:
        sure = loaded.answering.confidence
        with silent():
            level = loaded.levels[alpha]
            words = level.describe()
            words = with_top(words) if loaded.answering.empty == "top" else words
        spec = loaded.rule.spec
        shown = words if len(words) <= MOST_TEXT else words[: MOST_TEXT - 1] + "…"
        return {
            "score": repr(spec.score),
            "condition": repr(spec.condition),
            "kind": spec.kind,
            "n": loaded.rule.n,
            "n_classes": spec.n_columns,
            "classes": loaded.names[:MOST_NAMES],
            "groups": list(spec.groups.values)[:MOST_NAMES] if spec.condition.needs_groups else None,
            "alpha": float(alpha),
            "default_alpha": float(loaded.alpha),
            "confidence": None if sure is None else float(exact_confidence(sure)),
            "empty": loaded.answering.empty,
            "sets": shown,
            "proven": proven_in_words(level),
            "triage": None if loaded.triage is None else repr(loaded.triage),
            "store": service.ledger.store is not None,
            "rankset": version(),
        }

    return answered(await service.for_page(facts))


async def health(_request: Any) -> Response:
    """Say that the process answers."""
    return answered({"status": "ok"})


async def ready(request: Any) -> Response:
    """Say whether rows can be predicted and labels stored."""
    service = service_of(request)
    store, missing = service.ledger.store, await service.store_trouble()
    trouble = missing and f"the store must {missing}"
    learning = service.ledger.learner.trouble or service.ledger.learner.unread
    raised = ", ".join(one.name for one in service.ledger.monitor.watching.alarms.raised)
    found = {
        "ready": trouble is None,
        "rule": repr(service.loaded.rule),
        "store": "none" if store is None else trouble or "writable",
        "lost_rows": 0 if store is None else store.lost,
        "reload": "failed, the rule before is served; the log says why" if service.failed else "ok",
        "learning": "some rows could not be learned from; the log says why" if learning else "ok",
        "alarms": f"raised: {raised}" if raised else "none",
    }
    return answered(found, 200 if trouble is None else 503)


async def numbers(request: Any) -> Response:
    """Return all numbers for Prometheus."""
    service = service_of(request)
    service.metrics.listeners = service.listeners.count
    taken = await service.store_bytes()
    requests = service.metrics.lines()
    text = await service.for_page(lambda: metrics.text_of(requests, service.ledger, taken))
    return Response(text, headers={"content-type": metrics.MEDIA_TYPE})


async def live(request: Any) -> Response:
    """Return the live page."""
    page = pages.live(await service_of(request).live())
    return HTMLResponse(page.html, headers={"content-security-policy": page.policy})


async def events(request: Any) -> Any:
    """Send the numbers of the live page as they change."""
    service = service_of(request)
    if request.method == "HEAD":
        return Response(media_type="text/event-stream")
    return EventStream(service.listeners, service.limits.seconds)


async def docs(request: Any) -> Response:
    """Return the page of all endpoints."""
    page = pages.docs(description(service_of(request)))
    return HTMLResponse(page.html, headers={"content-security-policy": page.policy})


async def openapi(request: Any) -> Response:
    """Describe all endpoints for programs."""
    return answered(description(service_of(request)))


async def session(request: Any) -> Response:
    """Open or close the session of a browser."""
    access = request.app.access
    if request.method == "DELETE":
        access.close_session(request.headers.get("cookie", "").encode("latin-1"))
        response, value, seconds = Response(status_code=204), "", 0
    else:
        media_type(request)
        body = await read_body(request, service_of(request).limits, MOST_SESSION)
        client = request.client.host if request.client else ""
        value, seconds = access.open_session(decode(body, SessionBody).token, client), HOURS * 3600
        response = Response(status_code=204)
    secure = request.url.scheme == "https"
    response.set_cookie(COOKIE, value, max_age=seconds, httponly=True, samesite="strict", secure=secure)
    return response


ROUTES = (
    Route("/", live),
    Route("/predict", predict, methods=["POST"]),
    Route("/feedback", feedback, methods=["POST"]),
    Route("/triage", triage, methods=["POST"]),
    Route("/rule", rule),
    Route("/healthz", health),
    Route("/readyz", ready),
    Route("/metrics", numbers),
    Route("/events", events, methods=["GET"]),
    Route("/openapi.json", openapi),
    Route("/docs", docs),
    Route("/session", session, methods=["POST", "DELETE"]),
)
"""All paths."""
