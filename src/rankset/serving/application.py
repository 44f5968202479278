"""``app``: a server of a rule as ASGI application. What it needs is imported when it is called."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rankset.core.alpha import Alpha
from rankset.errors import needs_extra
from rankset.serving.request_limits import Limits

if TYPE_CHECKING:
    from rankset.decisions.triage import Triage
    from rankset.rules.rule import Rule
    from rankset.rules.select import Empty
    from rankset.serving.guard import App
    from rankset.serving.loaded import Outputs
    from rankset.serving.storage.store import Store

    Path = str | os.PathLike[str]


def app(
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
    """Return a server of a rule as ASGI application, for tests and for servers such as uvicorn and Hypercorn.

    ``rankset serve`` runs it with limits for slow clients that such servers have not. Run one process only: alarms are
    about all rows.

    Parameters
    ----------
    rule
        A rule with one label per row, or its file.
    alpha
        The level of requests that give none. Misses of rows at this level are counted.
    confidence, all_groups
        With which probability the promise holds for this calibration, and whether for all groups at once, as in
        ``Rule.predict``. None: alpha is a mean over calibrations.
    empty
        "allow", or "top" to put the most likely label into empty sets.
    outputs
        Model outputs of the calibration rows of the rule, or a function that takes a rule and returns them, which is
        called again when the rule is loaded anew. With them the alarm about outputs knows what is usual before the
        first row, and notices rows that differ from the start.
    store
        Where rows and labels are kept: the path of a SQLite file, a URL of SQLAlchemy, or a store. None: nowhere, and
        labels are refused.
    triage
        A triage of the same model, or its file, for ``/triage``.
    token
        The secret that every request must carry, 16 to 4,096 letters of ASCII, digits and
        characters of ``-._~+/=``. None: everybody may ask.
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
        from rankset.serving.assembly import make_app
    return make_app(
        rule,
        alpha=alpha,
        confidence=confidence,
        all_groups=all_groups,
        empty=empty,
        outputs=outputs,
        store=store,
        triage=triage,
        token=token,
        hosts=hosts,
        limits=limits,
        max_age=max_age,
        max_bytes=max_bytes,
    )
