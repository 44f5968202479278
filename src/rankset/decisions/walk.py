"""The promise for a stream: a fixed sequence of tests, from strict to loose thresholds.

Thresholds come from rows that no test uses. From each of a few fixed starts, thresholds are tested one after the other
until a test fails (Learn then Test, Angelopoulos et al. 2025). Each start has its part of the doubt, so that with
probability ``confidence`` every threshold that passed keeps the error.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankset.core import lexicographic
from rankset.core.lexicographic import Keys
from rankset.core.promise import Promise, at_most

Ints = NDArray[np.int64]

FIXING_SHARE = 0.1
"""Share of the rows that fix the thresholds, if no other rows do."""
MOST_FIXING = 2000
STEPS = 200
"""Largest number of thresholds."""
N_STARTS = 4
MORE_THAN_NEEDED = 1.05
"""The first start has about this many times the rows with which a test can pass."""
MORE_THAN_THERE_ARE = 10**30
"""More rows than this are as many as none can have, and still a number that a float can hold."""

RIGHT, WRONG, FIXING = 0, 1, 2


class Steps(NamedTuple):
    """Thresholds of one group from strict to loose, the last of which accepts everything, and what rows say about them.

    Attributes
    ----------
    keys : the thresholds. A row is accepted if its keys are not larger.
    accepted, wrong : for each threshold, how many tested rows it accepts, and how many of these are wrong.
    share : for each threshold, the share of the fixing rows that it accepts.
    n : number of tested rows.
    """

    keys: Keys
    accepted: Ints
    wrong: Ints
    share: NDArray[np.float64]
    n: int


def steps_of(right: Keys, wrong: Keys, fixing: Keys | None, seed: tuple[int, int]) -> Steps:
    """Return the thresholds of one group, given the keys of its right and wrong rows.

    ``fixing`` are the keys of rows without labels that fix the thresholds. If it is None, a part of the rows does,
    drawn with ``seed``.
    """
    parts = [(right, RIGHT), (wrong, WRONG), *([] if fixing is None else [(fixing, FIXING)])]
    flagged = [(*keys, np.full(len(keys[0]), flag, dtype=np.int64)) for keys, flag in parts]
    *keys, flags = lexicographic.sorted_union(flagged)
    fixes = _drawn((*keys, flags), seed) if fixing is None else flags == FIXING
    ends = _ends(tuple(keys))[fixes]
    places = _spread(np.unique(ends)).astype(np.int64)
    tested = np.cumsum(~fixes)
    mistakes = np.cumsum(~fixes & (flags == WRONG))
    share = np.cumsum(fixes)[places] / max(1, np.count_nonzero(fixes))
    accepted, mistaken = (np.append(counts[places], counts[-1:].sum()) for counts in (tested, mistakes))
    thresholds = tuple(np.append(key[places], _last(key.dtype)) for key in keys)
    return Steps(thresholds, accepted, mistaken, np.append(share, 1.0), int(accepted[-1]))


def _last(dtype: np.dtype[Any]) -> Any:  # noqa: ANN401
    """Return a threshold that accepts everything."""
    return np.array(np.inf if dtype.kind == "f" else np.iinfo(dtype).max, dtype=dtype)


def _drawn(keys: Keys, seed: tuple[int, int]) -> NDArray[np.bool_]:
    """Return which of these sorted rows fix the thresholds.

    The draw depends on all rows, not on their number alone: places among sorted rows that are the same for all data of
    one size would leave out the same order statistics every time, the least sure row for example.
    """
    n = len(keys[0])
    digest = blake2b(digest_size=16)
    for key in keys:
        digest.update(np.ascontiguousarray(key).astype(key.dtype.newbyteorder("<"), copy=False).tobytes())
    count = min(MOST_FIXING, int(np.ceil(FIXING_SHARE * n)))
    fixes = np.zeros(n, dtype=np.bool_)
    own = int.from_bytes(digest.digest(), "little")
    fixes[np.random.default_rng((*seed, own)).permutation(n)[:count]] = True
    return fixes


def _ends(keys: Keys) -> Ints:
    """Return for every sorted tuple the place of the last one that equals it."""
    n = len(keys[0])
    last = np.ones(n, dtype=np.bool_)
    if n:
        last[:-1] = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    places = np.flatnonzero(last)
    return places[np.cumsum(last) - last]


def _spread(places: Ints) -> Ints:
    """Return at most ``STEPS`` of these places, evenly spread."""
    if len(places) <= STEPS:
        return places
    return places[np.linspace(0, len(places) - 1, STEPS).round().astype(np.int64)]


def walk(steps: Steps, error: Fraction, doubt: Fraction) -> int | None:
    """Return the number of the loosest threshold whose error among accepted rows is at most ``error``, except with
    ``doubt``; None if no threshold passes."""
    best, part = -1, doubt / N_STARTS
    for start in _starts(steps, error, part):
        for step in range(max(start, best + 1), len(steps.accepted)):
            if not passes(int(steps.accepted[step]), int(steps.wrong[step]), error, part):
                break
            best = step
    return best if best >= 0 else None


def passes(accepted: int, wrong: int, error: Fraction, doubt: Fraction) -> bool:
    """Return whether P(Bin(accepted, error) <= wrong) is at most ``doubt``."""
    return wrong < accepted and at_most(accepted, wrong, error, doubt)


def rows_needed(error: Fraction, doubt: Fraction) -> int:
    """Return how many accepted rows without mistakes a walk needs at least."""
    return Promise(error, 1 - doubt / N_STARTS).rows_needed


def _starts(steps: Steps, error: Fraction, part: Fraction) -> Iterator[int]:
    """Return where tests begin: where enough rows are expected, and looser. No tested row decides about it."""
    expected = steps.share * steps.n
    first = MORE_THAN_NEEDED * min(Promise(error, 1 - part).rows_needed, MORE_THAN_THERE_ARE)
    for place in range(N_STARTS):
        wanted = first * max(1.0, steps.n / first) ** (place / N_STARTS)
        yield int(np.searchsorted(expected, wanted))
