"""Errors about alpha and scores."""

from collections.abc import Sequence
from typing import Self

from rankset.errors.base import RanksetError
from rankset.errors.fields import Either, Option, Place, Text
from rankset.errors.inputs import DECISION, MARGINALS, PROBS
from rankset.errors.unit_interval import LOGITS
from rankset.errors.values import join_names, short_repr

ALLOWED = "alpha is the allowed error rate. "
EXAMPLE: Text = ("For 90% coverage pass ", Option("alpha", 0.1), ".")


AUTO = Option("method", "auto")
FITTED = "rankset.auto(probs, labels).score"


class LevelError(RanksetError, ValueError):
    """A value of alpha that cannot be used. It is also a ``ValueError``.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rule = rs.calibrate(probs, labels)
    >>> try:
    ...     rule.predict(probs, alpha=1.5)
    ... except rs.errors.LevelError as error:
    ...     print(error)
    alpha must lie strictly between 0 and 1, got 1.5. alpha is the allowed error rate. Did you mean 0.015?
    """

    @classmethod
    def out_of_range(cls, alpha: object, remedy: Text = EXAMPLE) -> Self:
        return cls("alpha", "lie strictly between 0 and 1", short_repr(alpha), (ALLOWED, remedy))

    @classmethod
    def too_long(cls, alpha: object, limit: int) -> Self:
        return cls("alpha", f"have at most {limit} decimal places", short_repr(alpha), "Round alpha.")

    @classmethod
    def not_a_number(cls, alpha: object) -> Self:
        expected = ("be a number such as ", Either("0.1, '0.1' or Fraction(1, 10)", "0.1 or 1/10"))
        return cls("alpha", expected, short_repr(alpha), (ALLOWED, EXAMPLE))

    @classmethod
    def not_at_calibration(cls, alpha: object) -> Self:
        return cls(
            "alpha",
            ("be passed to calibrate only with ", AUTO),
            short_repr(alpha),
            (
                "A rule answers every alpha: pass it to ",
                *(Either("rule.predict(probs, alpha=...)", "rankset predict, as --alpha"), " instead."),
            ),
        )

    @classmethod
    def not_a_decimal(cls, name: str, level: object) -> Self:
        remedy = "Requests name it as a number. Round it."
        return cls(name, "be a decimal number of at most 15 digits", short_repr(level), remedy)

    @classmethod
    def missing(cls) -> Self:
        remedy = ("Pass the alpha that was used to make the sets as ", Option("alpha"), ".")
        return cls("alpha", "be known", remedy=remedy, reason="these sets do not store it")


class ScoreError(RanksetError, ValueError):
    """A score that cannot be used here: its parameters, its values, or the kind of rows. It is also a ``ValueError``.

    Examples
    --------
    >>> import rankset as rs
    >>> try:
    ...     rs.Raps(penalty=-1)
    ... except rs.errors.ScoreError as error:
    ...     print(error)
    penalty of Raps must be a finite number of at least 0, got -1.
    """

    @classmethod
    def parameter(cls, score: str, name: str, expected: str, value: object, remedy: str = "") -> Self:
        return cls(f"{name} of {score}", f"be {expected}", short_repr(value), remedy)

    @classmethod
    def parameter_by_name(cls, score: str, name: str, expected: str, value: object) -> Self:
        remedy = f"Pass [{name}[class_] for class_ in classes], with the class names in the order of the columns."
        return cls(f"{name} of {score}", f"be {expected}", f"{short_repr(value)}, in an order of its own", remedy)

    @classmethod
    def several_keys(cls, name: str, score: object, count: int) -> Self:
        remedy = "Use a score with one key, such as Thr, TopK, Margin, Aps, Raps or Saps."
        return cls(
            f"score of {name}",
            "have one key, because numbers are compared with it",
            f"{count} keys of {short_repr(score)}",
            remedy,
        )

    @classmethod
    def unknown_name(cls, argument: str, received: str, known: Sequence[str], close: str) -> Self:
        expected = f"be a score such as Rank() or the name of one ({', '.join(known)})"
        return cls(argument, expected, short_repr(received), f"Did you mean {close!r}?" if close else "")

    @classmethod
    def no_name(cls, argument: str, received: str, example: str) -> Self:
        expected = "be a score, or the name of a score that needs no rows and no other score"
        return cls(argument, expected, short_repr(received), f"Make the score first, for example with {example}.")

    @classmethod
    def auto_is_no_score(cls, argument: str) -> Self:
        return cls(
            argument,
            "be a score or the name of one",
            "'auto', which fits a score on some of the rows",
            ("Pass ", AUTO, " to calibrate.", Either(f" Or pass {FITTED}, fitted on other rows than those here.", "")),
        )

    @classmethod
    def needs_probabilities(cls, score: object) -> Self:
        remedy = ("Use the score Rank, TopK, Thr or Margin. If the numbers are logits, pass ", LOGITS, ".")
        return cls(f"{score!r}", "get probabilities", DECISION, remedy)

    @classmethod
    def needs_one_label(cls, score: object) -> Self:
        expected = "get probabilities that sum to 1, because it adds up or compares all labels of a row"
        remedy = "Use the score Share, Thr, Rank, TopK or Margin."
        return cls(f"{score!r}", expected, ("probabilities of single labels (", MARGINALS, ")"), remedy)

    @classmethod
    def mass_without_probabilities(cls) -> Self:
        remedy = ("Use only cells.rank and cells.prob in the score, or pass ", PROBS, " or ", LOGITS, ".")
        received = "other numbers, or probabilities of single labels"
        return cls("cells.mass", "be computed from probabilities that sum to 1", received, remedy)

    @classmethod
    def target(cls, target: object, expected: str, received: str) -> Self:
        return cls(f"entries(labels) of {target!r}", f"return {expected}", received, "See help(rankset.Target).")

    @classmethod
    def total_without_probabilities(cls, feature: str = "cells.total") -> Self:
        remedy = ("Use only cells.rank and cells.prob in the score, or pass ", MARGINALS, " or ", PROBS, ".")
        return cls(feature, "be computed from probabilities", "other numbers", remedy)

    @classmethod
    def keys(cls, expected: str, received: str) -> Self:
        return cls("a score's keys(cells)", f"return {expected}", received, "See the example in help(rankset.Score).")

    @classmethod
    def nan_key(cls, score: object, row: int) -> Self:
        received = f"NaN from {short_repr(score)}"
        remedy = "keys(cells) must return a number for every (row, label) pair."
        return cls("a score's keys", "not contain NaN", received, remedy, where=Place(row=row))

    @classmethod
    def undeclared_noise(cls, score: object) -> Self:
        remedy = "Add 'noise' to features, or do not define features."
        expected = "have 'noise' among its features"
        return cls("a score that reads cells.noise", expected, short_repr(score), remedy)

    @classmethod
    def draws_in_graph(cls, score: object) -> Self:
        remedy = (
            "Calibrate with a score that draws nothing: ",
            Either("a score without TieBreak, or with randomized=False.", "--method rank or thr, without --tie-break."),
        )
        expected = "draw no random numbers, because the draws of rankset cannot be made by ONNX operators"
        return cls("the score of an ONNX model", expected, short_repr(score), remedy)

    @classmethod
    def no_graph(cls, score: object) -> Self:
        remedy = "Use a score of rankset. Rules with other scores cannot be exported, as they cannot be saved."
        return cls(
            "the score of an ONNX model", "be a score for sets that is part of rankset", short_repr(score), remedy
        )

    @classmethod
    def features(cls, score: object, expected: Sequence[str], received: object) -> Self:
        return cls(
            "a score's features",
            f"be among {', '.join(expected)}",
            f"{short_repr(received)} from {short_repr(score)}",
            "If the score does not define features, it gets all features.",
        )

    @classmethod
    def reach(cls, score: object, expected: str, received: str) -> Self:
        return cls(
            "a score's reach(bounds)",
            f"return {expected}",
            f"{received} from {short_repr(score)}",
            "See the example in help(rankset.Reach). If the score has no such limits, do not define reach.",
        )

    @classmethod
    def transform(cls, score: object, expected: tuple[int, ...], received: object) -> Self:
        return cls(
            "a score's transform(probs)",
            f"return real numbers without NaN in the shape of its input, {expected}",
            f"{received} from {short_repr(score)}",
        )

    @classmethod
    def fitted_columns(cls, score: object, expected: int, received: int) -> Self:
        remedy = "Pass the same columns as in the fit, in the same order."
        return cls(short_repr(score), f"get {expected} columns, as in the fit", f"{received} columns", remedy)

    @classmethod
    def fitted_names(cls, score: object, expected: Sequence[object], received: Sequence[object]) -> Self:
        return cls(
            short_repr(score),
            f"get the classes of the fit ({join_names(expected)}) in this order",
            join_names(received),
            "Pass the same classes in the same order as in the fit.",
        )
