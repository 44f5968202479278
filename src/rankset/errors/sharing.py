"""Errors about conditions whose groups share rows."""

from typing import TYPE_CHECKING, Self

from rankset.errors.fields import Either, Place, Text
from rankset.errors.values import short_repr

WITHOUT = Either("a condition without Pooled or Balanced", "no --pooled and no --balanced")


class SharingErrors:
    """Constructors of ``RuleError`` about conditions whose groups share rows."""

    if TYPE_CHECKING:

        def __init__(
            self, what: Text = "", expected: Text = "", received: Text = "", remedy: Text = "", *, where: Place = ...
        ) -> None: ...

    @classmethod
    def shared_rows_need_one_label(cls, condition: object, target: object) -> Self:
        return cls(
            short_repr(condition),
            "be used with one label per row, because nothing is proven for other targets",
            f"the target {short_repr(target)}",
            ("Leave out the target, or use ", WITHOUT, "."),
        )

    @classmethod
    def shared_rows_and_confidence(cls, condition: object) -> Self:
        return cls(
            "confidence",
            "be used with groups that do not share rows: otherwise only the mean over calibrations is known",
            short_repr(condition),
            ("Leave out the confidence, or use ", WITHOUT, "."),
        )

    @classmethod
    def band_of_shared_rows(cls, condition: object) -> Self:
        return cls(
            "coverage_band",
            "be asked of a rule whose groups do not share rows: otherwise only the mean of coverage is known, which is "
            "at least 1 - alpha",
            short_repr(condition),
            "Measure coverage with evaluate on other rows.",
        )

    @classmethod
    def guarantee_of_shared_rows(cls, condition: object) -> Self:
        return cls(
            "guarantee of one group or label",
            "be asked of rules whose groups do not share rows: otherwise coverage is proven over all rows only",
            short_repr(condition),
            "Leave out group and label.",
        )

    @classmethod
    def decisions_by_shared_rows(cls, condition: object) -> Self:
        return cls(
            "the condition of a triage",
            "have groups that do not share rows",
            short_repr(condition),
            "Use Marginal(), PerLabel() or PerGroup().",
        )

    @classmethod
    def folds_with_weights(cls, condition: object) -> Self:
        return cls(
            "the rules of folds",
            "have rows of equal weight",
            short_repr(condition),
            "Fit with Holdout() or GivenSplit() as the split, or use Pooled(PerLabel()).",
        )
