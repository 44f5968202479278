"""Sentences about scores that add up probabilities: Aps, Raps, Saps."""

from __future__ import annotations

from rankset.scores.wording import Wording


def cut(total: str, bound: float, wording: Wording, *, randomized: bool) -> str:
    """Return a sentence about labels that are kept while a sum, ``total`` in words, stays within ``bound``."""
    start, number = "keeps labels from the most likely down", wording.number(bound)
    if not randomized:
        return f"{start} as long as {total} at most {number}"
    return f"{start} until {total} {number}; the label that exceeds this sum may be kept, by a random draw"


def sum_of_label(price: str, bound: float, wording: Wording, *, randomized: bool) -> str:
    """Return a sentence about one label that is kept if a sum, to which ``price`` in words is added, is small."""
    own = "a random share of its probability" if randomized else "its probability"
    return f"{own} and the probabilities of all more likely labels{price} add up to at most {wording.number(bound)}"
