"""Errors about weights of rows."""

from typing import TYPE_CHECKING, Self

from rankset.errors.fields import Either, Option, Place, Text
from rankset.errors.values import short_repr

WEIGHTS = Option("weights")
DIVIDE = "Divide all weights, those of calibration rows and of new rows, by the same number."


class RowWeightErrors:
    """Constructors of ``InputError`` about the weights themselves."""

    if TYPE_CHECKING:

        def __init__(
            self, what: Text = "", expected: Text = "", received: Text = "", remedy: Text = "", *, where: Place = ...
        ) -> None: ...

    @classmethod
    def weight(cls, row: int, value: float, largest: int) -> Self:
        return cls(
            "weights",
            f"be numbers from 0 to {largest:,}",
            f"{value:g}",
            "Check them." if value < 0 else DIVIDE,
            where=Place(row=row),
        )

    @classmethod
    def no_weight(cls, n: int) -> Self:
        return cls("weights", "be positive for at least one calibration row", f"0 for all {n:,} rows", "Check them.")

    @classmethod
    def small_weights(cls, mean: float, smallest: float) -> Self:
        return cls(
            "weights",
            f"have a mean of at least {smallest:g}, because they are rounded to multiples of 2**-30",
            f"a mean of {mean:.3g}",
            "Divide all weights, those of calibration rows and of new rows, by the mean of the calibration rows.",
        )

    @classmethod
    def large_weights(cls, total: float, largest: int) -> Self:
        return cls(
            "weights",
            f"add up to at most {largest:,}",
            f"{total:.3g}",
            DIVIDE,
        )


class WeightErrors:
    """Constructors of ``RuleError`` about weights where there should be none, or none where there should be."""

    if TYPE_CHECKING:

        def __init__(
            self, what: Text = "", expected: Text = "", received: Text = "", remedy: Text = "", *, where: Place = ...
        ) -> None: ...

    @classmethod
    def weights_missing(cls) -> Self:
        return cls(
            "new rows",
            "have weights, because the calibration rows have weights",
            "rows without weights",
            (
                "Pass ",
                WEIGHTS,
                ", one number per row, or ",
                Either("weights=1", "--weights 1"),
                " if all new rows have the weight 1.",
            ),
        )

    @classmethod
    def weights_unused(cls) -> Self:
        return cls(
            "weights",
            "be passed both at calibration and at prediction, or never",
            "a rule calibrated without weights and rows with weights",
            "Calibrate with weights, too, or leave them out.",
        )

    @classmethod
    def merged_weights(cls) -> Self:
        return cls(
            "rules that are merged",
            "all have weights, or none of them",
            "a rule with weights and a rule without",
            ("Calibrate the rule without weights again with ", Option("weights", 1), "."),
        )

    @classmethod
    def folds_with_weights_of_rows(cls) -> Self:
        return cls(
            "rows with weights",
            "have one calibrated model: counts of folds are added up, weights are not",
            "several folds",
            "Use rankset.Holdout() as split, or leave out the weights.",
        )

    @classmethod
    def weights_of_false_labels(cls, target: object) -> Self:
        return cls(
            "weights",
            "be used with a target about true labels",
            f"the target {short_repr(target)}",
            ("Leave out ", WEIGHTS, ", or use another target."),
        )

    @classmethod
    def weights_and_confidence(cls) -> Self:
        return cls(
            "confidence",
            "be used with rules whose rows have no weights: otherwise only the mean over calibrations is known",
            "a rule with weights",
            "Leave out the confidence.",
        )

    @classmethod
    def band_of_weights(cls) -> Self:
        return cls(
            "coverage_band",
            "be asked of a rule whose rows have no weights: otherwise only the mean of coverage is known, which is at "
            "least 1 - alpha",
            "a rule with weights",
            "Measure coverage with evaluate on other rows.",
        )

    @classmethod
    def weights_in_graph(cls) -> Self:
        return cls(
            "an ONNX model",
            "be made from a rule whose rows have no weights: otherwise thresholds depend on the weight of the new row",
            "a rule with weights",
            "Calibrate without weights, or predict with rankset.",
        )
