"""Errors about levels and scores."""

from collections.abc import Sequence
from typing import Self

from rankset.errors.base import RanksetError
from rankset.errors.fields import Option, Place, Text
from rankset.errors.inputs import DECISION, LOGITS, PROBS
from rankset.errors.values import join_names, short_repr

MISS_RATE = "alpha is the tolerated miss rate: "
EXAMPLE: Text = ("for 90% coverage pass ", Option("alpha", 0.1), ".")


class LevelError(RanksetError, ValueError):
    """A value of alpha that is no level."""

    @classmethod
    def out_of_range(cls, alpha: object, remedy: Text = EXAMPLE) -> Self:
        return cls("alpha", "lie strictly between 0 and 1", short_repr(alpha), (MISS_RATE, remedy))

    @classmethod
    def too_long(cls, alpha: object, limit: int) -> Self:
        return cls("alpha", f"have at most {limit} decimal places", short_repr(alpha), "Round it.")

    @classmethod
    def not_a_number(cls, alpha: object) -> Self:
        expected = "be a number such as 0.1, '0.1' or Fraction(1, 10)"
        return cls("alpha", expected, short_repr(alpha), (MISS_RATE, EXAMPLE))

    @classmethod
    def missing(cls) -> Self:
        remedy = ("Pass the level they were made for as ", Option("alpha"), ".")
        return cls("alpha", "be known", remedy=remedy, reason="these sets carry no level of their own")


class ScoreError(RanksetError, ValueError):
    """A score that cannot be used here."""

    @classmethod
    def parameter(cls, score: str, name: str, expected: str, value: object) -> Self:
        return cls(f"{name} of {score}", f"be {expected}", short_repr(value))

    @classmethod
    def needs_probabilities(cls, score: object) -> Self:
        remedy = ("Use Rank, TopK, Thr or Margin, or pass ", LOGITS, " if the numbers are logits.")
        return cls(f"{score!r}", "get probabilities, which it adds up or compares", DECISION, remedy)

    @classmethod
    def mass_without_probabilities(cls) -> Self:
        remedy = ("Use cells.rank and cells.prob only, or pass ", PROBS, " or ", LOGITS, ".")
        return cls("cells.mass", "have probabilities to add up", DECISION, remedy)

    @classmethod
    def keys(cls, expected: str, received: str) -> Self:
        return cls("a score's keys(cells)", f"return {expected}", received, "help(rankset.Score) has an example.")

    @classmethod
    def nan_key(cls, score: object, row: int) -> Self:
        received = f"NaN from {short_repr(score)}"
        remedy = "Make keys(cells) return a number for every cell."
        return cls("a score's keys", "be comparable", received, remedy, where=Place(row=row))

    @classmethod
    def undeclared_noise(cls, score: object) -> Self:
        remedy = "Add it to features, or leave features out."
        expected = "have 'noise' among its features"
        return cls("a score that reads cells.noise", expected, short_repr(score), remedy)

    @classmethod
    def features(cls, score: object, expected: Sequence[str], received: object) -> Self:
        return cls(
            "a score's features",
            f"be among {', '.join(expected)}",
            f"{short_repr(received)} from {short_repr(score)}",
            "Leave features out to get all of them.",
        )

    @classmethod
    def reach(cls, score: object, expected: str, received: str) -> Self:
        return cls(
            "a score's reach(bounds)",
            f"return {expected}",
            f"{received} from {short_repr(score)}",
            "help(rankset.Reach) has an example; leave reach out if the score has no such limits.",
        )

    @classmethod
    def transform(cls, score: object, expected: tuple[int, ...], received: object) -> Self:
        return cls(
            "a score's transform(probs)",
            f"return an array of the shape it got, {expected}",
            f"{received} from {short_repr(score)}",
        )

    @classmethod
    def fitted_columns(cls, score: object, expected: int, received: int) -> Self:
        remedy = "Pass the columns it was fitted on, in their order."
        return cls(short_repr(score), f"get the {expected} columns it was fitted on", str(received), remedy)

    @classmethod
    def fitted_names(cls, score: object, expected: Sequence[object], received: Sequence[object]) -> Self:
        return cls(
            short_repr(score),
            f"get the classes it was fitted for, in this order: {join_names(expected)}",
            join_names(received),
            "Pass the same classes in the same order, here and to its fit.",
        )
