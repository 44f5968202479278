"""``exchangeable``: do new rows with labels look like the calibration rows of a rule?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rankset.core.arrays import as_float
from rankset.errors import InputError, KindError
from rankset.inputs.prepare import Prepared
from rankset.rules.batch import Batch
from rankset.rules.rule import Rule
from rankset.streams.bag import Bag, Draws, uniform_order
from rankset.streams.betting import N_BETS, Wealth, densities
from rankset.streams.followed_rule import checked_rule, sorted_keys
from rankset.streams.window import tuples_of

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
            "rows): coverage is not proven for them. Calibrate on rows like these"
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
    nothing speaks against rows like the calibration rows (p = 0.84, 1,000 rows)
    >>> print(rs.exchangeable(rule, probs[1000:] / 3, labels[1000:]).looks_exchangeable)
    False
    """
    if not 0 < as_float(delta) < 1:
        raise KindError.argument("delta", "a number between 0 and 1", delta)
    data = checked_rule(rule, "this test")._prepare(outputs, labels, groups=groups, ids=ids)
    return exchangeable_prepared(rule, data, delta, seed)


def exchangeable_prepared(rule: Rule, data: Prepared, delta: float = 0.05, seed: int = 0) -> Exchangeability:
    """Do the same for prepared rows; labels that are absent are left out."""
    assert data.labels is not None
    present = np.flatnonzero(data.labels >= 0)
    if len(present) == 0:
        raise InputError.no_rows()
    chosen = present[np.array(uniform_order(len(present), seed)[:MOST_ROWS], dtype=np.int64)]
    some = data.take(chosen)
    assert some.labels is not None
    bag, wealth = Bag(Draws(seed)), Wealth(delta, N_BETS)
    bag.start(sorted_keys(rule))
    number = 0
    for _, keys in Batch.of(rule.spec, some).all_label_keys(some.labels):
        for row in tuples_of(keys):
            wealth.learn(densities(bag.p_value(row)), number)
            number += 1
    return Exchangeability(min(1.0, math.exp(-wealth.highest)), number, float(delta))
