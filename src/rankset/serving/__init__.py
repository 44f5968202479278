"""What ``rankset serve`` remembers: predictions, labels that came back, and a new rule from them.

store          Store: predictions and labels, in SQLite or PostgreSQL
rows           Prediction, Feedback and Labelled, and how they are written as bytes
tables         the tables
about          what a store is for: its format, and the rule whose rows it holds
database       what a store needs of its database: sqlite and postgres
writer         the one thread that writes; what has come since the last commit is committed together
reading        rows in their order, read in parts
limits         how old and how large a store may be, and which rows are dropped first

The server:

server         runs the application with uvicorn: socket, signals (SIGHUP loads the rule anew)
protocol       connections with limits that uvicorn has not
application    makes the ASGI application: guard around endpoints
guard          App: who may ask, limits, counting, errors as answers
access         the token, sessions of browsers, names of hosts
endpoints      what each path answers; openapi and pages describe and show it
bodies         reads bodies; json_bodies, npy_bodies and rows_in turn them into rows
predictions    rows that were asked, and their sets
service        what all requests share; loaded has the rule, metrics what is counted, events the open live pages
ledger         rows and labels go into the store and to the monitor in one order; following asks the store
monitor        numbers over time, of classes, and alarms; live_numbers shows them
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rankset.core.alpha import Alpha
from rankset.errors import needs_extra
from rankset.serving.request_limits import Limits
from rankset.serving.rows import Feedback, Labelled, Prediction
from rankset.serving.store import Store

if TYPE_CHECKING:
    from rankset.decisions.triage import Triage
    from rankset.rules.rule import Rule
    from rankset.serving.guard import App

__all__ = ["Feedback", "Labelled", "Limits", "Prediction", "Store", "app"]


def app(
    rule: str | os.PathLike[str] | Rule,
    *,
    alpha: Alpha = 0.1,
    store: str | os.PathLike[str] | Store | None = None,
    triage: str | os.PathLike[str] | Triage | None = None,
    token: str | None = None,
    hosts: Iterable[str] | None = None,
    limits: Limits | None = None,
    max_age: float | None = None,
    max_bytes: int | None = None,
) -> App:
    """Return a server of a rule as ASGI application, for tests and for servers such as uvicorn and Hypercorn.

    ``rankset serve`` runs it with limits for slow clients that such servers have not. Run one process only: alarms are
    about all rows.

    Parameters
    ----------
    rule
        A rule with one label per row, or its file.
    alpha
        The level of requests that give none. Misses of rows at this level are counted.
    store
        Where rows and labels are kept: the path of a SQLite file, a URL of SQLAlchemy, or a store. None: nowhere, and
        labels are refused.
    triage
        A triage of the same model, or its file, for ``/triage``.
    token
        The secret that every request must carry, at least 16 characters. None: everybody may ask.
    hosts
        Names by which a server without a token may be asked. None: all names.
    limits
        Limits of requests.
    max_age, max_bytes
        As in ``Store.open``, if ``store`` is a path or URL.

    Returns
    -------
    App
        Call ``close`` if no server does: it writes what waits.

    Raises
    ------
    RanksetError
        If an argument is invalid, a file is damaged, or the store belongs to another rule.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("carer")
    >>> served = rs.serving.app(rs.calibrate(probs, labels, kind="logits"), alpha=0.1)
    >>> served
    App(Rule(Rank(), Marginal(), kind='logits', 6 classes, calibrated on 2,000 rows))
    >>> served.close()
    """
    with needs_extra("a server"):
        from rankset.serving.application import make_app
    return make_app(
        rule,
        alpha=alpha,
        store=store,
        triage=triage,
        token=token,
        hosts=hosts,
        limits=limits,
        max_age=max_age,
        max_bytes=max_bytes,
    )
