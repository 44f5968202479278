"""Puts the parts of the ASGI application of a rule together."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Any

from starlette.routing import Router

from rankset.core.alpha import Alpha
from rankset.decisions.triage import Triage
from rankset.rules.rule import Rule
from rankset.rules.select import Empty
from rankset.serving.access import Access, Token
from rankset.serving.endpoints import ROUTES
from rankset.serving.guard import App
from rankset.serving.loaded import Answering, Files, Outputs
from rankset.serving.request_limits import Limits
from rankset.serving.service import LONGEST_END, Service
from rankset.serving.storage.store import Store

Path = str | os.PathLike[str]


def make_app(
    rule: Path | Rule,
    *,
    alpha: Alpha = 0.1,
    confidence: Alpha | None = None,
    all_groups: bool = False,
    empty: Empty = "allow",
    outputs: Outputs | None = None,
    store: Path | Store | None = None,
    triage: Path | Triage | None = None,
    token: str | None = None,
    hosts: Iterable[str] | None = None,
    limits: Limits | None = None,
    max_age: float | None = None,
    max_bytes: int | None = None,
) -> App:
    """Do what ``rankset.serving.app`` says."""
    limits = limits or Limits()
    access = Access(None if token is None else Token(token), hosts)
    files = Files(rule, triage, Answering(alpha, confidence, all_groups, empty), outputs)
    opens = store is not None and not isinstance(store, Store)
    if store is not None and not isinstance(store, Store):
        store = Store.open(store, rule=files.load().rule, max_age=max_age, max_bytes=max_bytes, alone=True)
    elif store is not None:
        store._claim()
    try:
        service = Service(files, store, limits)
    except BaseException:
        if store is not None and opens:
            store.close()
        raise

    @asynccontextmanager
    async def lifespan(_app: Any) -> AsyncIterator[None]:
        yield
        with suppress(TimeoutError):
            async with asyncio.timeout(LONGEST_END):
                await service.in_thread(service.ledger.learner.settle)
        service.close()

    router = Router(ROUTES, redirect_slashes=False, lifespan=lifespan)
    return App(router, service, access, tuple(route.path for route in ROUTES))
