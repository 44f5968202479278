"""Errors about requests that do not fit the target of a rule."""

from typing import TYPE_CHECKING, Self

from rankset.errors.fields import Either, Option, Place, Text
from rankset.errors.values import short_repr


class TargetErrors:
    """Constructors of ``RuleError`` about targets."""

    if TYPE_CHECKING:

        def __init__(
            self, what: Text = "", expected: Text = "", received: Text = "", remedy: Text = "", *, where: Place = ...
        ) -> None: ...

    @classmethod
    def precise_only(cls) -> Self:
        remedy = Either("Use rankset.precise(probs, labels, error=...).", "Choose another target.")
        return cls("a target", "be one that calibrate can keep", "precision", remedy)

    @classmethod
    def only_calibrate(cls, what: str, target: object) -> Self:
        remedy = "Calibrate a score with this target, and use evaluate. Larger sets are better there, not smaller ones."
        return cls(what, "have a target whose sets contain the true labels", short_repr(target), remedy)

    @classmethod
    def top_into_empty(cls, target: object) -> Self:
        expected = (Either("be 'allow'", "be allow (--empty allow)"), " for a target that promises few false labels")
        remedy = "An empty set says that no label is certain enough."
        return cls("empty", expected, f"'top' for {short_repr(target)}", remedy)

    @classmethod
    def no_p_values(cls, target: object) -> Self:
        expected = "be asked of a rule whose sets contain the true labels"
        return cls("p_values", expected, short_repr(target), "Use predict, or calibrate with another target.")

    @classmethod
    def report_of_target(cls, target: object) -> Self:
        remedy = "Use evaluate, which knows this target."
        return cls("a report", "get rules of one label per row or of several", short_repr(target), remedy)

    @classmethod
    def curve_of_target(cls, target: object) -> Self:
        remedy = "Use evaluate on the sets of every alpha."
        return cls("a curve against alpha", "get a rule whose sets contain the true labels", short_repr(target), remedy)

    @classmethod
    def ranks_of_target(cls, target: object) -> Self:
        remedy = "Use CoverageDisplay, SizeDisplay or ClassCoverageDisplay, which know targets."
        return cls("RankDisplay", "get a rule of one label per row", f"the target {short_repr(target)}", remedy)

    @classmethod
    def folds_with_shares(cls, target: object) -> Self:
        expected = "have a target by which true labels of a row are missed or not, such as AllLabels()"
        return cls(
            "several folds", expected, short_repr(target), "Use one calibration part: Holdout() or GivenSplit()."
        )

    @classmethod
    def model_of_one_label(cls, model: object) -> Self:
        expected = "be a model for several labels per row, because of the target"
        remedy = "Pass OneVsRestClassifier(model) or MultiOutputClassifier(model) of scikit-learn."
        return cls("the estimator", expected, f"{type(model).__name__}", remedy)

    @classmethod
    def command_of_one_label(cls, command: str, received: str) -> Self:
        remedy = "For other targets use rankset compare, or rankset calibrate and then rankset report RULE."
        return cls(f"rankset {command}", "get rows and rules with one label per row", received, remedy)

    @classmethod
    def merged_targets(cls, ours: object, theirs: object) -> Self:
        remedy = (
            "They promise different things. Calibrate all rules with the same ",
            Option("target"),
            Either(" and the same method", " and --method"),
            ", or use each rule by itself.",
        )
        received = f"{short_repr(ours)} and {short_repr(theirs)}"
        return cls("rules that are merged", "have the same target", received, remedy)

    @classmethod
    def joined_targets(cls, ours: object, theirs: object) -> Self:
        names = ["no target" if one is None else short_repr(one) for one in (ours, theirs)]
        remedy = (
            "They promise different things. Predict all sets with rules of the same ",
            Option("target"),
            ", or keep and evaluate them apart.",
        )
        return cls("sets that are joined", "have the same target", " and ".join(names), remedy)
