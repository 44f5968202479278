"""Errors about decisions: what may be accepted automatically."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

from rankset.errors.fields import Either, Option, Place, Text
from rankset.errors.values import join_names, short_repr


class DecisionErrors:
    """Constructors of ``RuleError`` about decisions."""

    if TYPE_CHECKING:

        def __init__(
            self, what: Text = "", expected: Text = "", received: Text = "", remedy: Text = "", *, where: Place = ...
        ) -> None: ...

    @classmethod
    def errors_missing(cls, what: str, names: Sequence[object]) -> Self:
        expected = f"have an error for every {what}"
        return cls("error", expected, f"none for {join_names(names)}", "Add them, or pass one number for all.")

    @classmethod
    def errors_by_name(cls, condition: object) -> Self:
        remedy = Either(
            "For an error per label, pass condition=PerLabel() to triage; for one per group, PerGroup().",
            "For an error per label, use --per-label; for one per group, --group.",
        )
        return cls(
            "error",
            "be one number, unless the condition has one group per label or group",
            short_repr(condition),
            remedy,
        )

    @classmethod
    def no_answers(cls) -> Self:
        remedy = Either(
            "Pass the true labels, or correct=, whether each answer is right.",
            "Pass the true labels, or with --correct whether each answer is right.",
        )
        return cls("triage", "know which answers are right", "neither labels nor correct", remedy)

    @classmethod
    def not_booleans(cls, received: object) -> Self:
        remedy = ("For probabilities of the second of two classes, pass ", Option("kind", "binary"), " and labels.")
        return cls("correct", "be True or False for every row", f"entries such as {short_repr(received)}", remedy)

    @classmethod
    def labels_of_confidences(cls, what: str) -> Self:
        remedy = "Pass the probabilities of all labels instead."
        return cls(what, "be left out if there is one confidence per row, without labels", "a value", remedy)

    @classmethod
    def answers_twice(cls) -> Self:
        return cls("triage", "get the true labels or correct, not both", "both", "Leave one of them out.")

    @classmethod
    def several_labels(cls, kind: str) -> Self:
        remedy = "Use rankset.precise for few false labels, or rankset.bounds for certain labels."
        return cls("triage", "get rows with one label each", (Option("kind", kind),), remedy)

    @classmethod
    def one_column(cls, confidence: object) -> Self:
        expected = "be 'top' if there is one confidence per row"
        return cls("confidence", expected, short_repr(confidence), "Pass the probabilities of all labels instead.")

    @classmethod
    def not_a_triage(cls, received: object) -> Self:
        return cls("merge", "get what triage returned", type(received).__name__, "Make one with rankset.triage.")

    @classmethod
    def different_answers(cls, first: str, second: str) -> Self:
        remedy = "Merge only what was made with the same arguments."
        return cls("the answers that count as right", f"be {first} in both", second, remedy)

    @classmethod
    def no_triage(cls, received: str) -> Self:
        expected = (
            "have one model, one label per row, groups that do not share rows, and calibration rows that have no "
            "weights and were not selected by their labels"
        )
        remedy = "Use Holdout() or GivenSplit(), without stratify, or rankset.triage with outputs of the model."
        return cls("triage of a ConformalClassifier", expected, received, remedy)

    @classmethod
    def no_labels_of_confidences(cls) -> Self:
        remedy = "Pass the probabilities of all labels to triage, instead of one confidence per row."
        return cls("labels", "be asked of rows with a probability for each label", "one confidence per row", remedy)

    @classmethod
    def review_of_confidences(cls) -> Self:
        remedy = "Call rule.predict for the rows that are not accepted."
        return cls("review", "be asked of rows with a probability for each label", "one confidence per row", remedy)

    @classmethod
    def other_rows(cls, name: str, expected: object, received: object) -> Self:
        shown = [short_repr(list(one.values) if hasattr(one, "values") else one) for one in (expected, received)]
        remedy = "Calibrate the rule on rows of the same model."
        return cls(f"{name} of the rows of a review", f"be {shown[0]}, as in the rule", shown[1], remedy)

    @classmethod
    def no_p_values_of_gate(cls) -> Self:
        remedy = "Use accept, which decides about a batch."
        return cls("p_values", "be asked of the decisions about a batch", "those of a gate", remedy)
