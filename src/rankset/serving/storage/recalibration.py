"""``recalibrate``: a new rule from labels that came back."""

from __future__ import annotations

import os
from typing import Any

from rankset.core.alpha import Alpha
from rankset.core.arrays import is_whole
from rankset.errors import InputError, KindError, RuleError
from rankset.evaluation.calibrate import calibrate
from rankset.rules.rule import Rule
from rankset.rules.spec import RuleSpec
from rankset.scores import Score
from rankset.serving.storage.fed_back import FedBack
from rankset.serving.storage.store import Store


def recalibrate(
    store: Store | str | os.PathLike[str],
    rule: Rule,
    *,
    since: float | None = None,
    last: int | None = None,
    method: Score | str | None = None,
    score: Score | str | None = None,
    alpha: Alpha | None = None,
) -> Rule:
    """Make a new rule from rows whose labels came back.

    The result is that of ``rankset.calibrate`` with these rows, their labels and groups, and with the score, condition,
    target, kind, classes and seed of the rule. The rows of the old rule are not used, and the new rule has no weights.

    Coverage is proven for new rows that are exchangeable with these rows. If labels come for some kinds of rows rather
    than for others, such as only for rows that a person decided, these rows are no random sample. A warning says how
    many rows have no label.

    Parameters
    ----------
    store
        A store, or the path or URL of one, as in ``Store.open``. It can be in use by a server at the same time.
    rule
        The rule that was served.
    since
        Only rows that were predicted at this time or later, in seconds since 1970.
    last
        Only the last rows that have a label, this many at most. In which order the labels came does not matter.
    method
        Another score for the new rule, or its name, as in ``rankset.calibrate``. By default the score stays.
    score
        Another name of ``method``. Pass only one of the two.
    alpha
        Only with ``method="auto"``: the level for which sets should be small.

    Returns
    -------
    Rule

    Raises
    ------
    RuleError
        If no row has a label.
    StorageError
        If the store cannot be read, or belongs to another rule.

    Examples
    --------
    >>> import tempfile, warnings, numpy as np, rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rule = rs.calibrate(probs[:100], labels[:100])
    >>> codes = np.array([0], dtype=np.int32)
    >>> rows = [rs.serving.Prediction(str(i), 0.0, probs[i], None, codes, 0.1, 0.5) for i in range(100, 260)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with rs.serving.Store.open(f"{folder}/served.db", rule=rule) as store:
    ...         store.remember(rows)
    ...         done = store.feedback([rs.serving.Feedback(row.id, int(labels[int(row.id)]), 1.0) for row in rows])
    ...         rs.serving.recalibrate(store, rule)
    Rule(Rank(), Marginal(), kind='probs', 4 classes, calibrated on 160 rows)
    """
    if not isinstance(rule, Rule):
        raise KindError.argument("rule", "a Rule, as returned by calibrate", rule)
    if last is not None and (not is_whole(last) or last < 1):
        raise InputError("last", "be a whole number of at least 1", repr(last))
    if isinstance(store, Store):
        found = FedBack.read(store, rule.spec, since, last)
    else:
        found, _ = read_served(store, rule, since, last)
    return rule_of(found, rule.spec, method=method, score=score, alpha=alpha)


def read_served(
    where: str | os.PathLike[str], rule: Rule | None, since: float | None, last: int | None
) -> tuple[FedBack, RuleSpec]:
    """Return the rows of a store that may be in use, and the settings of ``rule``, or else of its first rule."""
    with Store.open(where, rule=rule, read_only=True) as store:
        return FedBack.read(store, store.spec, since, last), store.spec


def rule_of(
    found: FedBack,
    spec: RuleSpec,
    *,
    method: Score | str | None = None,
    score: Score | str | None = None,
    alpha: Alpha | None = None,
) -> Rule:
    """Return the rule of rows whose labels came back; warn if others have no label."""
    if spec.tells_effective_rows and not spec.weighted:
        expected = "be for new rows like its calibration rows, because the rows that came back are such rows"
        raise RuleError.followed("recalibrate", expected, spec.condition)
    if not len(found.labels):
        raise RuleError.nothing_fed_back(found.unlabelled)
    found.warn_of_selection()
    if method is None and score is None:
        method = spec.score
    names = spec.classes
    numbered = isinstance(names.values, range)
    about: dict[str, Any] = {"condition": spec.condition, "kind": spec.kind, "seed": spec.seed, "target": spec.target}
    if not isinstance(method or score, str) or (method or score) != "auto":
        about["ids"] = found.ids if spec.with_ids else None
    if alpha is not None:
        about["alpha"] = alpha
    return calibrate(
        found.outputs,
        found.labels if numbered else names.array[found.labels],
        method=method,
        score=score,
        classes=None if numbered else list(names.values),
        groups=found.groups,
        **about,
    )
