"""Errors about rules, and about splits of rows into training and calibration."""

from collections.abc import Sequence
from typing import Self

from rankset.errors.base import RanksetError
from rankset.errors.decisions import DecisionErrors
from rankset.errors.fields import Either, Option, Text
from rankset.errors.serving import FedBackErrors
from rankset.errors.sharing import SharingErrors
from rankset.errors.streams import StreamErrors
from rankset.errors.targets import TargetErrors
from rankset.errors.values import join_names, short_repr
from rankset.errors.weights import WeightErrors


class SplitError(RanksetError, ValueError):
    """Rows that cannot be divided between training and calibration in this way. It is also a ``ValueError``.

    Examples
    --------
    >>> import rankset as rs
    >>> try:
    ...     rs.CrossConformal(folds=1)
    ... except rs.errors.SplitError as error:
    ...     print(error)
    folds of CrossConformal must be an integer of at least 2, got 1.
    """

    @classmethod
    def parameter(cls, owner: str, name: str, expected: str, received: object) -> Self:
        return cls(f"{name} of {owner}", f"be {expected}", short_repr(received))

    @classmethod
    def too_few_rows(cls, received: int, needed: int) -> Self:
        return cls(
            "the number of rows for training and calibration",
            f"be at least {needed}",
            f"n_samples = {received}",
            "Pass more rows. If the model is already trained, pass FrozenEstimator(model).",
        )

    @classmethod
    def stratified_classes(cls) -> Self:
        classes, stratify = Option("classes"), Option("stratify", value=True)
        return cls(
            "Holdout",
            ("get either ", classes, " or ", stratify),
            "both",
            (
                *("Pass only ", classes, " if average coverage is enough. "),
                *("Pass only ", stratify, " if you use ", Either("condition=PerLabel()", "--per-label"), "."),
            ),
        )

    @classmethod
    def chosen_with_folds(cls, split: object) -> Self:
        return cls(
            "a method that chooses a score (Choice or 'auto')",
            "be used with a split that trains a single model, because the rules of folds must have the same score",
            f"the split {short_repr(split)}",
            "Pass Holdout() as the split, or pass a single score as the method.",
        )

    @classmethod
    def looks_at_labels(cls, split: object) -> Self:
        return cls(
            "a split of rows that can have several labels",
            "be made without the labels",
            f"the split {short_repr(split)}",
            "Leave out stratify and classes of the split. For a promise about each label use PerLabel().",
        )

    @classmethod
    def too_few_to_choose(cls, received: int) -> Self:
        return cls(
            "the method Choice(...)",
            "have at least 2 rows to choose a score and 1 row for calibration",
            f"{received} rows in total",
            "Pass more rows or a larger share, or pass a single score as the method.",
        )

    @classmethod
    def rows(cls, n_rows: int) -> Self:
        return cls(
            "calibration of GivenSplit",
            f"be a list of different row numbers below {n_rows} or a boolean mask of {n_rows} entries",
            remedy="Select at least one row, but not all rows. The other rows are used for training.",
        )


class MetricError(RanksetError, KeyError, ValueError):
    """A metric that does not exist. It is also a ``KeyError`` and a ``ValueError``.

    Examples
    --------
    >>> import rankset as rs
    >>> sets = rs.PredictionSets.from_mask([[True, False], [True, True]])
    >>> evaluation = rs.evaluate(sets, [0, 1], alpha=0.25)
    >>> try:
    ...     evaluation["accuracy"]
    ... except rs.errors.MetricError as error:
    ...     print(error.what, "got", error.received)
    the name of a metric got 'accuracy'
    """

    @classmethod
    def unknown(cls, name: object, known: Sequence[object]) -> Self:
        return cls("the name of a metric", f"be one of {join_names(known, limit=len(known))}", short_repr(name))


class MethodError(RanksetError, AttributeError):
    """A method that an object cannot have, although similar objects have it. It is also an ``AttributeError``.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> first, second = rs.calibrate(probs[:100], labels[:100]), rs.calibrate(probs[100:], labels[100:])
    >>> try:
    ...     rs.CrossRule((first, second)).threshold(0.1)
    ... except rs.errors.MethodError as error:
    ...     print(error.remedy)
    Use p_values: a label is in the set if its p-value is larger than alpha.
    """

    @classmethod
    def of_folds(cls, method: str, reason: str, remedy: str) -> Self:
        return cls(method, "be called on a Rule", reason=f"this is a CrossRule: {reason}", remedy=remedy)


class RuleError(
    TargetErrors, DecisionErrors, FedBackErrors, SharingErrors, StreamErrors, WeightErrors, RanksetError, ValueError
):
    """A request that does not fit the rule, or an option that does not exist. It is also a ``ValueError``.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rule = rs.calibrate(probs, labels)
    >>> try:
    ...     rule.merge(rule)
    ... except rs.errors.RuleError as error:
    ...     print(error.expected, "but got", error.received)
    be merged with other rules but got the same rule twice
    """

    @classmethod
    def folds(cls, expected: int, received: object) -> Self:
        return cls(
            "probs",
            f"be a list of {expected} matrices with the same rows, one per fold",
            str(received),
            "Pass the outputs of every fold's model for the same rows, in the order of the rules.",
        )

    @classmethod
    def regrouped(cls, condition: object) -> Self:
        return cls(
            "the condition",
            "combine row groups in the same way in all merged rules",
            f"other combinations from {short_repr(condition)}",
            "Calibrate on all rows at once. Or use a condition that does not combine row groups.",
        )

    @classmethod
    def not_guaranteed(cls) -> Self:
        return cls(
            "coverage_band",
            "be asked of a rule whose coverage is proven",
            "a rule from a stratified split, which uses the labels, so the range of its coverage is not known",
            "Measure coverage with evaluate on other rows. Or fit without stratify, or with a threshold per label.",
        )

    @classmethod
    def itself(cls) -> Self:
        remedy = "Each row may be used for calibration only once. Merge rules that were calibrated on different rows."
        return cls("a rule", "be merged with other rules", "the same rule twice", remedy)

    @classmethod
    def not_a_rule(cls, other: object) -> Self:
        remedy = "Pass the result of calibrate or load."
        return cls("a rule", "be merged with another rule", type(other).__name__, remedy)

    @classmethod
    def different(cls, what: str, ours: object, theirs: object) -> Self:
        return cls(
            "rules that are used together",
            f"have the same {what}",
            f"{short_repr(ours)} and {short_repr(theirs)}",
            f"Calibrate all rules with the same {what}.",
        )

    @classmethod
    def unlike_sets(cls, ours: object, theirs: object) -> Self:
        return cls(
            "sets that are joined",
            "have the same classes and the same alpha",
            f"different classes or alpha (alpha: {ours} and {theirs})",
            "Predict all sets with the same rule and the same alpha.",
        )

    @classmethod
    def columns_of_file(cls, known: Sequence[object], received: Sequence[object]) -> Self:
        return cls(
            "the columns",
            f"be the classes of the rule ({join_names(known)}), in any order",
            join_names(received),
            ("Rename the columns, or leave out the other columns", Either("", " with --drop"), "."),
        )

    @classmethod
    def more_columns(cls, names: Sequence[str]) -> Self:
        return cls(
            "the columns",
            "be the same in all files that calibrate",
            f"{join_names(names)}, which other files lack",
            ("If they are no classes, leave them out, or name the classes with ", Option("classes"), "."),
        )

    @classmethod
    def ids(cls, calibrated: str, received: str) -> Self:
        return cls(
            "ids",
            "be passed both at calibration and at prediction, or never",
            (f"a rule calibrated {calibrated} ", Option("ids"), f" and rows {received} ", Option("ids")),
            ("Pass ", Option("ids"), " both times or never, because the score is randomised."),
        )

    @classmethod
    def group_unused(cls, condition: object, name: str) -> Self:
        return cls(
            name,
            f"not be passed if the rule does not have one threshold per {name}",
            f"a {name} for {short_repr(condition)}",
            f"Do not pass {name}.",
        )

    @classmethod
    def which_group(cls, condition: object, count: int, needed: Sequence[str]) -> Self:
        options: list[Text] = [Option(name) for name in needed]
        return cls(
            " and ".join(needed),
            f"be passed to select one of the {count:,} thresholds of {short_repr(condition)}",
            "none" if len(options) == 1 else "at most one of the two",
            ("Pass ", *(options if len(options) == 1 else (options[0], " and ", options[1])), "."),
        )

    @classmethod
    def no_such_name(cls, what: str, name: object, known: Sequence[object]) -> Self:
        return cls(what, f"be one of the names in the calibration data ({join_names(known)})", short_repr(name))

    @classmethod
    def no_ranks(cls, score: object) -> Self:
        remedy = "Calibrate with the score Rank() or TopK()."
        return cls("rank_profile", "be used with a rule that orders labels by rank", f"the score {score!r}", remedy)

    @classmethod
    def option(cls, name: str, value: object, options: Sequence[object]) -> Self:
        return cls(name, f"be one of {', '.join(map(repr, options))}", f"{value!r}")

    @classmethod
    def no_unlabelled_rows(cls) -> Self:
        return cls("expected_size", "get at least one row", "no rows", "Pass at least one row.")
