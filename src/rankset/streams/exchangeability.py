"""``exchangeable``: do new rows with labels look like the calibration rows of a rule?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from rankset.core.arrays import as_float, is_whole
from rankset.errors import InputError, KindError
from rankset.inputs.prepare import Prepared, prepare
from rankset.rules.batch import Batch
from rankset.rules.rule import Rule
from rankset.rules.spec import ONE_LABEL
from rankset.streams.bag import Bag, Draws, uniform_order
from rankset.streams.betting import N_BETS, Wealth, densities
from rankset.streams.followed_rule import checked_rule, sorted_keys
from rankset.streams.sorted_tuples import Tuple
from rankset.streams.window import tuples_of

AUTOMATIC_DELTA = 0.01
"""Delta where nobody asked the question: on the command line and in reports, often for several rules at once."""
MOST_ROWS = 20_000
"""More rows than these are not needed: a random choice of so many is looked at."""


@dataclass(frozen=True)
class Exchangeability:
    """Whether rows look like the calibration rows of a rule, returned by ``exchangeable``.

    Attributes
    ----------
    p_value
        If the rows come from the same source as the calibration rows, a number of at most p has probability at most p.
    rows
        Number of rows that were looked at.
    delta
        Rows do not look exchangeable if ``p_value`` is at most this.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("carer")
    >>> rule = rs.calibrate(probs[:1000], labels[:1000], kind="logits")
    >>> rs.exchangeable(rule, probs[1000:], labels[1000:]).looks_exchangeable
    True
    """

    p_value: float
    rows: int
    delta: float

    @property
    def looks_exchangeable(self) -> bool:
        """Whether nothing speaks against the same source."""
        return self.p_value > self.delta

    def __str__(self) -> str:
        if self.looks_exchangeable:
            return f"nothing speaks against rows like the calibration rows (p = {self.p_value:.2g}, {self.rows:,} rows)"
        return (
            f"these rows do not look exchangeable with the calibration rows (p = {self.p_value:.2g}, {self.rows:,} "
            "rows). What is proven is about rows like the calibration rows: calibrate on rows like these"
        )


def exchangeable(
    rule: Rule,
    outputs: ArrayLike,
    labels: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    ids: ArrayLike | None = None,
    delta: float = 0.05,
    seed: int = 0,
) -> Exchangeability:
    """Ask whether new rows look like the calibration rows of a rule.

    The scores of the true labels are compared. The order of the new rows does not matter: they are put into a random
    one. At most 20,000 rows are looked at, chosen at random.

    Parameters
    ----------
    rule : Rule
        A rule for one label per row, without weights.
    outputs, labels
        New rows and their true labels, as in ``calibrate``.
    groups, ids
        As in ``calibrate``, if the rule uses them.
    delta : float
        How often rows from the same source may look different, at most.
    seed : int
        Seed of the random order, and of draws for equal scores.

    Returns
    -------
    Exchangeability

    Raises
    ------
    RanksetError
        If rows or labels are invalid, or the rule has several labels per row, weights, or absent labels.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("carer")
    >>> rule = rs.calibrate(probs[:1000], labels[:1000], kind="logits")
    >>> print(rs.exchangeable(rule, probs[1000:], labels[1000:]))
    nothing speaks against rows like the calibration rows (p = 0.47, 1,000 rows)
    >>> print(rs.exchangeable(rule, probs[1000:] / 3, labels[1000:]).looks_exchangeable)
    False
    """
    if not 0 < as_float(delta) < 1:
        raise KindError.argument("delta", "a number between 0 and 1", delta)
    if not is_whole(seed):
        raise KindError.argument("seed", "an integer", seed)
    keys = _keys(rule, labelled_rows(checked_rule(rule, "this test"), outputs, labels, groups=groups, ids=ids), seed)
    if not keys:
        raise InputError.no_rows_to_evaluate()
    return _exchangeability(rule, keys, delta, seed)


def labelled_rows(
    rule: Rule,
    outputs: ArrayLike,
    labels: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    ids: ArrayLike | None = None,
) -> Prepared:
    """Check new rows and their labels. Rows with candidates of their own can have more of them than at calibration."""
    classes = rule.spec.classes_of(outputs)
    return prepare(outputs, labels, kind=rule.spec.kind, classes=classes, groups=groups, ids=ids)


def can_be_asked(rule: Rule) -> bool:
    """Return whether the question can be asked of a rule, and whether something is proven that depends on it."""
    spec = rule.spec
    weights = spec.tells_effective_rows
    return spec.target == ONE_LABEL and not weights and spec.guaranteed and rule.calibration.absent is None


def look_at_rows(rule: Rule, parts: Iterable[Prepared]) -> Exchangeability | None:
    """Ask where nobody asked, about rows in parts; None if the rule cannot be asked, or no row has a label."""
    if not can_be_asked(rule):
        return None
    keys = [one for data in parts for one in _keys(rule, data, 0)]
    return _exchangeability(rule, keys, AUTOMATIC_DELTA, 0) if keys else None


def _keys(rule: Rule, data: Prepared, seed: int) -> list[Tuple]:
    """Return the keys of the true labels of rows in a random order; absent labels are left out."""
    assert data.labels is not None
    present = np.flatnonzero(data.labels >= 0)
    chosen = present[np.array(uniform_order(len(present), seed)[:MOST_ROWS], dtype=np.int64)]
    groups = data.groups if rule.condition.needs_groups else None
    some = replace(data, groups=groups, ids=data.ids if rule.spec.with_ids else None, masses=None).take(chosen)
    assert some.labels is not None
    return [one for _, keys in Batch.of(rule.spec, some).all_label_keys(some.labels) for one in tuples_of(keys)]


def _exchangeability(rule: Rule, keys: Sequence[Tuple], delta: float, seed: int) -> Exchangeability:
    """Bet against equal sources, with rows in a random order."""
    bag, wealth = Bag(Draws(seed)), Wealth(delta, N_BETS)
    bag.start(sorted_keys(rule))
    for number, place in enumerate(uniform_order(len(keys), seed + 1)[:MOST_ROWS]):
        wealth.learn(densities(bag.p_value(keys[place])), number, number)
    return Exchangeability(min(1.0, math.exp(-wealth.highest)), wealth.rows, float(delta))
