"""Sentences about what users ask: levels, scores, splits, rules."""

from collections.abc import Sequence

from rankset.errors.base import RanksetError, join_names, short_repr


class LevelError(RanksetError, ValueError):
    """alpha is not a level."""

    @classmethod
    def out_of_range(cls, alpha: object, remedy: str = "for 90% coverage pass alpha=0.1.") -> "LevelError":
        received = short_repr(alpha)
        return cls(
            f"alpha must lie strictly between 0 and 1, got {received}. alpha is the tolerated miss rate: {remedy}"
        )

    @classmethod
    def too_long(cls, alpha: object, limit: int) -> "LevelError":
        return cls(f"alpha must have at most {limit} decimal places, got {short_repr(alpha)}. Round it.")

    @classmethod
    def not_a_number(cls, alpha: object) -> "LevelError":
        return cls(
            f"alpha must be a number such as 0.1, '0.1' or Fraction(1, 10), got {short_repr(alpha)}. "
            f"alpha is the tolerated miss rate: for 90% coverage pass alpha=0.1."
        )

    @classmethod
    def missing(cls) -> "LevelError":
        return cls("these sets carry no level of their own: pass alpha=, the level they were made for.")


class ScoreError(RanksetError, ValueError):
    """A score that cannot do what is asked of it."""

    @classmethod
    def parameter(cls, score: str, name: str, expected: str, value: object) -> "ScoreError":
        return cls(f"{score}({name}=...) must be {expected}, got {short_repr(value)}.")

    @classmethod
    def needs_probabilities(cls, score: object) -> "ScoreError":
        return cls(
            f"{score!r} adds up or compares probabilities, and kind='decision' has none. "
            f"Use Rank, TopK, Thr or Margin, or pass kind='logits' if the numbers are logits."
        )

    @classmethod
    def mass_without_probabilities(cls) -> "ScoreError":
        return cls(
            "cells.mass adds up probabilities, and kind='decision' has none. "
            "Use cells.rank and cells.prob only, or pass kind='probs' or kind='logits'."
        )

    @classmethod
    def keys(cls, expected: str, received: str) -> "ScoreError":
        return cls(f"a score's keys(cells) must return {expected}, got {received}. help(rankset.Score) has an example.")

    @classmethod
    def undeclared_noise(cls, score: object) -> "ScoreError":
        return cls(
            f"a score that looks at cells.noise must have 'noise' among its features, got {short_repr(score)}. "
            f"Add it to features, or leave features out."
        )

    @classmethod
    def features(cls, score: object, expected: Sequence[str], received: object) -> "ScoreError":
        return cls(
            f"a score's features must be among {', '.join(expected)}, got {short_repr(received)} from {short_repr(score)}. "
            f"Leave features out to get all of them."
        )

    @classmethod
    def reach(cls, score: object, expected: str, received: str) -> "ScoreError":
        return cls(
            f"a score's reach(bounds) must return {expected}, got {received} from {short_repr(score)}. "
            f"help(rankset.Reach) has an example; leave reach out if the score knows no limits."
        )

    @classmethod
    def transform(cls, score: object, expected: tuple[int, ...], received: object) -> "ScoreError":
        return cls(
            f"a score's transform(probs) must return an array of the shape it got, {expected}, "
            f"got {received} from {short_repr(score)}."
        )

    @classmethod
    def fitted_columns(cls, score: object, expected: int, received: int) -> "ScoreError":
        return cls(
            f"{short_repr(score)} was fitted for {expected} classes, got {received} columns. "
            f"Pass the columns it was fitted on, in their order."
        )

    @classmethod
    def fitted_names(cls, score: object, expected: Sequence[object], received: Sequence[object]) -> "ScoreError":
        return cls(
            f"{short_repr(score)} was fitted for the classes {join_names(expected)}, in this order, got {join_names(received)}. "
            f"Pass the same classes in the same order, here and to its fit."
        )

    @classmethod
    def nan_key(cls, score: object, row: int) -> "ScoreError":
        return cls(
            f"a score's keys must be comparable, got NaN from {short_repr(score)} at row {row}. "
            f"Make keys(cells) return a number for every cell."
        )


class SplitError(RanksetError, ValueError):
    """Rows that cannot be shared between training and calibration as asked."""

    @classmethod
    def parameter(cls, owner: str, name: str, expected: str, received: object) -> "SplitError":
        return cls(f"{owner}({name}=...) must be {expected}, got {short_repr(received)}.")

    @classmethod
    def too_few_rows(cls, received: int, needed: int) -> "SplitError":
        return cls(
            f"rows are needed to train and others to calibrate: at least {needed}, got n_samples = {received}. "
            f"Pass more rows, or a trained model as FrozenEstimator(model)."
        )

    @classmethod
    def stratified_classes(cls) -> "SplitError":
        return cls(
            "Holdout takes classes= or stratify=True, got both. Pass classes= to have every class in training with "
            "coverage on average over rows, stratify=True with condition=PerLabel()."
        )

    @classmethod
    def chosen_with_folds(cls, split: object) -> "SplitError":
        return cls(
            f"method=Choice(...) needs rows that no model of a fold was trained on, got split={short_repr(split)}. "
            f"Pass split=Holdout(), or one score as method."
        )

    @classmethod
    def too_few_to_choose(cls, received: int) -> "SplitError":
        return cls(
            f"method=Choice(...) needs at least 2 rows to choose on and 1 to calibrate, got {received} rows that "
            f"calibrate. Pass more rows, a larger share, or one score as method."
        )

    @classmethod
    def rows(cls, n_rows: int) -> "SplitError":
        return cls(
            f"GivenSplit(calibration) must be distinct row numbers below {n_rows}, or a boolean mask of that length, "
            f"that leave rows to train. Pass the rows that calibrate; the others train."
        )


class RuleError(RanksetError, ValueError):
    """A rule asked for something it does not hold."""

    @classmethod
    def folds(cls, expected: int, received: object) -> "RuleError":
        return cls(
            f"probs must be a list with one matrix per fold, {expected} of them, got {received}. "
            f"Pass what each fold's model says of the rows, in the order of the rules."
        )

    @classmethod
    def different(cls, what: str, ours: object, theirs: object) -> "RuleError":
        return cls(
            f"rules merge only when they ask the same question of their rows, "
            f"got {what} {short_repr(ours)} and {short_repr(theirs)}. "
            f"Calibrate both with the same {what}."
        )

    @classmethod
    def columns_of_file(cls, known: Sequence[object], received: Sequence[object]) -> "RuleError":
        return cls(
            f"the columns of the file must be the classes of the rule ({join_names(known)}), in any order, "
            f"got {join_names(received)}. Rename columns, or leave others out with --drop."
        )

    @classmethod
    def unlike_sets(cls, ours: object, theirs: object) -> "RuleError":
        return cls(
            f"sets are put together only when they have the same classes and level, got others "
            f"(alpha {ours} and {theirs}). Predict all parts with the same rule and alpha."
        )

    @classmethod
    def itself(cls) -> "RuleError":
        return cls("a rule cannot be merged with itself: each row may calibrate once. Merge rules of other rows.")

    @classmethod
    def ids(cls, calibrated: str, received: str) -> "RuleError":
        return cls(
            f"the draws of a randomised score must be made alike at calibration and at prediction: "
            f"this rule was calibrated {calibrated} ids=, got rows {received}. Pass ids= both times, or never."
        )

    @classmethod
    def not_a_rule(cls, other: object) -> "RuleError":
        return cls(f"a rule merges with another rule, got {type(other).__name__}. Pass what calibrate or load returns.")

    @classmethod
    def group_unused(cls, condition: object, name: str) -> "RuleError":
        return cls(
            f"{short_repr(condition)} has no threshold for each {name}, so {name}= says nothing here. Leave it out."
        )

    @classmethod
    def no_ranks(cls, score: object) -> "RuleError":
        return cls(
            f"rank_profile describes rules that order labels by rank, got {score!r}. "
            f"Calibrate with score=Rank() or TopK()."
        )

    @classmethod
    def which_group(cls, condition: object, count: int, needed: str) -> "RuleError":
        return cls(f"{short_repr(condition)} has {count:,} thresholds, one per group: say which one with {needed}.")

    @classmethod
    def no_such_name(cls, what: str, name: object, known: Sequence[object]) -> "RuleError":
        return cls(f"the calibration has no {what} {short_repr(name)}, it has {join_names(known)}.")

    @classmethod
    def option(cls, name: str, value: object, options: Sequence[str]) -> "RuleError":
        return cls(f"{name} must be one of {', '.join(map(repr, options))}, got {value!r}.")

    @classmethod
    def no_unlabelled_rows(cls) -> "RuleError":
        return cls("an expected size is an average over rows, got 0 rows. Pass at least one.")
