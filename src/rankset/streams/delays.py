"""How late labels come: numbers of labels by delay, in limited memory."""

from __future__ import annotations

from typing import Any

EXACT_BITS = 6
"""Delays below 2 ** EXACT_BITS are counted one by one, larger ones in buckets that are at most 1 / 32 wide."""
HALF = 1 << (EXACT_BITS - 1)
MOST_BUCKETS = 64 + 58 * HALF


def bucket_of(delay: int) -> int:
    """Return the number of the bucket of a delay."""
    if delay < 2 * HALF:
        return delay
    shift = delay.bit_length() - EXACT_BITS
    return 2 * HALF + (shift - 1) * HALF + (delay >> shift) - HALF


def largest_in(bucket: int) -> int:
    """Return the largest delay of a bucket.

    >>> [largest_in(bucket_of(delay)) for delay in (0, 63, 64, 100, 1000)]
    [0, 63, 65, 101, 1007]
    """
    if bucket < 2 * HALF:
        return bucket
    shift, place = divmod(bucket - 2 * HALF, HALF)
    return ((place + HALF + 1) << (shift + 1)) - 1


class Delays:
    """Numbers of labels by delay."""

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}
        self.total = 0

    def add(self, delay: int) -> None:
        """Count one label."""
        bucket = bucket_of(delay)
        self.counts[bucket] = self.counts.get(bucket, 0) + 1
        self.total += 1

    @property
    def waiting(self) -> int:
        """At most so many rows whose labels came waited at the same time.

        Of the rows that wait at one time, those whose labels come at most d rows late are among the last d rows. The
        others are not more than all labels that came later than d. This holds for every d.
        """
        least, later = self.total, self.total
        for bucket in sorted(self.counts):
            later -= self.counts[bucket]
            least = min(least, largest_in(bucket) + later)
        return least

    def quantile(self, share: float, other: Delays) -> int:
        """Return a delay that at most 1 - ``share`` of the labels of both exceed."""
        allowed = int((1 - share) * (self.total + other.total))
        for bucket in sorted({*self.counts, *other.counts}, reverse=True):
            allowed -= self.counts.get(bucket, 0) + other.counts.get(bucket, 0)
            if allowed < 0:
                return largest_in(bucket)
        return 0

    def numbers(self) -> list[list[int]]:
        """Return the counts as plain numbers."""
        return [[bucket, self.counts[bucket]] for bucket in sorted(self.counts)]

    @classmethod
    def restored(cls, numbers: Any) -> Delays:  # noqa: ANN401
        """Return what ``numbers`` returned; raise ValueError if it cannot be right."""
        pairs: list[Any] = numbers if isinstance(numbers, list) else [None]
        if not all(isinstance(pair, list) and [type(one) for one in pair] == [int, int] for pair in pairs):
            raise ValueError("the delays of its labels cannot be right")
        if not all(0 <= bucket < MOST_BUCKETS and 0 < count < 2**63 for bucket, count in pairs):
            raise ValueError("the delays of its labels cannot be right")
        found = cls()
        found.counts = dict(pairs)
        if len(found.counts) != len(pairs):
            raise ValueError("the delays of its labels cannot be right")
        found.total = sum(found.counts.values())
        return found
