"""Errors about rules, and about splits of rows into training and calibration."""

from collections.abc import Sequence
from typing import Self

from rankset.errors.base import RanksetError
from rankset.errors.fields import Either, Option, Text
from rankset.errors.values import join_names, short_repr


class SplitError(RanksetError, ValueError):
    """Rows that cannot be divided between training and calibration in this way."""

    @classmethod
    def parameter(cls, owner: str, name: str, expected: str, received: object) -> Self:
        return cls(f"{name} of {owner}", f"be {expected}", short_repr(received))

    @classmethod
    def too_few_rows(cls, received: int, needed: int) -> Self:
        return cls(
            "the rows to train and to calibrate on",
            f"be at least {needed}",
            f"n_samples = {received}",
            "Pass more rows, or a trained model as FrozenEstimator(model).",
        )

    @classmethod
    def stratified_classes(cls) -> Self:
        classes, stratify = Option("classes"), Option("stratify", value=True)
        return cls(
            "Holdout",
            ("get ", classes, " or ", stratify),
            "both",
            (
                *("Pass ", classes, " to have every class in training with coverage on average over rows, "),
                *(stratify, " with PerLabel() as the condition."),
            ),
        )

    @classmethod
    def chosen_with_folds(cls, split: object) -> Self:
        return cls(
            "the method Choice(...)",
            "have rows that no model of a fold was trained on",
            f"the split {short_repr(split)}",
            "Pass Holdout() as the split, or one score as the method.",
        )

    @classmethod
    def too_few_to_choose(cls, received: int) -> Self:
        return cls(
            "the method Choice(...)",
            "have at least 2 rows to choose on and 1 to calibrate",
            f"{received} rows that calibrate",
            "Pass more rows, a larger share, or one score as the method.",
        )

    @classmethod
    def rows(cls, n_rows: int) -> Self:
        return cls(
            "calibration of GivenSplit",
            f"be distinct row numbers below {n_rows}, or a boolean mask of that length, and leave rows to train",
            remedy="Pass the rows that calibrate; the others train.",
        )


class RuleError(RanksetError, ValueError):
    """A request that does not fit the rule."""

    @classmethod
    def folds(cls, expected: int, received: object) -> Self:
        return cls(
            "probs",
            f"be a list with one matrix per fold, {expected} of them",
            str(received),
            "Pass the outputs of each fold's model for the rows, in the order of the rules.",
        )

    @classmethod
    def itself(cls) -> Self:
        remedy = "Each row may calibrate once: merge rules of other rows."
        return cls("a rule", "be merged with other rules", "the rule itself", remedy)

    @classmethod
    def not_a_rule(cls, other: object) -> Self:
        remedy = "Pass what calibrate or load returns."
        return cls("a rule", "be merged with another rule", type(other).__name__, remedy)

    @classmethod
    def different(cls, what: str, ours: object, theirs: object) -> Self:
        return cls(
            "rules that are used together",
            f"have the same {what}",
            f"{short_repr(ours)} and {short_repr(theirs)}",
            f"Calibrate both with the same {what}.",
        )

    @classmethod
    def unlike_sets(cls, ours: object, theirs: object) -> Self:
        return cls(
            "sets that are joined",
            "have the same classes and the same alpha",
            f"others (alpha {ours} and {theirs})",
            "Predict all parts with the same rule and alpha.",
        )

    @classmethod
    def columns_of_file(cls, known: Sequence[object], received: Sequence[object]) -> Self:
        return cls(
            "the columns",
            f"be the classes of the rule ({join_names(known)}), in any order",
            join_names(received),
            ("Rename columns, or leave others out", Either("", " with --drop"), "."),
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
            "be given at calibration and at prediction alike, because the score is randomised",
            (f"a rule calibrated {calibrated} ", Option("ids"), f" and rows {received}"),
            ("Pass ", Option("ids"), " both times, or never."),
        )

    @classmethod
    def group_unused(cls, condition: object, name: str) -> Self:
        return cls(
            name,
            f"be left out unless there is a threshold for each {name}",
            f"a {name} for {short_repr(condition)}",
            "Leave it out.",
        )

    @classmethod
    def which_group(cls, condition: object, count: int, needed: Sequence[str]) -> Self:
        options: list[Text] = [Option(name) for name in needed]
        return cls(
            " and ".join(needed),
            f"say which of the {count:,} thresholds of {short_repr(condition)} you mean",
            "none",
            ("Pass ", *(options if len(options) == 1 else (options[0], " and ", options[1])), "."),
        )

    @classmethod
    def no_such_name(cls, what: str, name: object, known: Sequence[object]) -> Self:
        return cls(what, f"be one of the calibration ({join_names(known)})", short_repr(name))

    @classmethod
    def no_ranks(cls, score: object) -> Self:
        remedy = "Calibrate with the score Rank() or TopK()."
        return cls("rank_profile", "have a rule that orders labels by rank", f"{score!r}", remedy)

    @classmethod
    def option(cls, name: str, value: object, options: Sequence[str]) -> Self:
        return cls(name, f"be one of {', '.join(map(repr, options))}", f"{value!r}")

    @classmethod
    def no_unlabelled_rows(cls) -> Self:
        return cls("an expected size", "have at least one row to average over", "0", "Pass at least one.")
