"""One family of exceptions, and every sentence they can say.

    RanksetError
    ├── InputError    (ValueError)   values: NaN, sums, shapes, lengths
    ├── KindError     (TypeError)    things that are not what they should be
    ├── LabelError    (ValueError)   labels, class names, group names
    ├── LevelError    (ValueError)   alpha
    ├── ScoreError    (ValueError)   scores: their parameters, their keys, where they apply
    ├── SplitError    (ValueError)   rows that cannot be shared as asked
    ├── RuleError     (ValueError)   rules asked for something they do not hold
    ├── FileError     (ValueError)   files of scores, labels and sets
    └── StorageError  (ValueError)   files of rules

    RanksetWarning    (UserWarning)

Every sentence says what was expected, what came, and what to do.
"""

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar


class RanksetError(Exception):
    """Anything rankset refuses to do."""


class RanksetWarning(UserWarning):
    """Something valid that deserves a look."""


def shown(value: object, limit: int = 80) -> str:
    """What came, never a page of it."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # an integer with more digits than Python prints
        text = f"a very large {type(value).__name__}"
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


_said: ContextVar[set[str] | None] = ContextVar("_said", default=None)


@contextmanager
def once() -> Iterator[None]:
    """Inside, the same warning is given once, however often there is reason."""
    token = _said.set(set())
    try:
        yield
    finally:
        _said.reset(token)


def warn(message: str) -> None:
    """Warns at the line outside this package that led here."""
    said = _said.get()
    if said is not None and message in said:
        return
    if said is not None:
        said.add(message)
    depth, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("rankset."):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, RanksetWarning, stacklevel=depth)


def listed(names: Sequence[object], limit: int = 5) -> str:
    """Up to ``limit`` names in quotes, then how many more there are."""
    first = ", ".join(shown(name) for name in names[:limit])
    rest = len(names) - limit
    return f"{first} and {rest:,} more" if rest > 0 else first


class LevelError(RanksetError, ValueError):
    """alpha is not a level."""

    @classmethod
    def out_of_range(cls, alpha: object, remedy: str = "for 90% coverage pass alpha=0.1.") -> "LevelError":
        received = shown(alpha)
        return cls(
            f"alpha must lie strictly between 0 and 1, got {received}. alpha is the tolerated miss rate: {remedy}"
        )

    @classmethod
    def too_long(cls, alpha: object, limit: int) -> "LevelError":
        return cls(f"alpha must have at most {limit} decimal places, got {shown(alpha)}. Round it.")

    @classmethod
    def not_a_number(cls, alpha: object) -> "LevelError":
        return cls(
            f"alpha must be a number such as 0.1, '0.1' or Fraction(1, 10), got {shown(alpha)}. "
            f"alpha is the tolerated miss rate: for 90% coverage pass alpha=0.1."
        )

    @classmethod
    def missing(cls) -> "LevelError":
        return cls("these sets carry no level of their own: pass alpha=, the level they were made for.")


class KindError(RanksetError, TypeError):
    """A value of a kind that cannot be used."""

    @classmethod
    def not_a_matrix(cls, name: str, received: str, remedy: str) -> "KindError":
        return cls(f"{name} must be a matrix of real numbers, got {received}. {remedy}")

    @classmethod
    def frame_column(cls, name: str, column: object, received: str) -> "KindError":
        return cls(
            f"the columns of {name} must hold numbers, one column per class, got {received} in {shown(column)}. "
            f"Drop or convert that column."
        )

    @classmethod
    def pipeline_row(cls, name: str, row: int, value: object) -> "KindError":
        return cls(
            f"{name} must hold a list of {{'label': …, 'score': …}} per text, each label once, "
            f"got {shown(value)} at row {row}. Pass what pipeline(texts, top_k=None) returns."
        )

    @classmethod
    def batch(cls, where: object, received: str) -> "KindError":
        return cls(
            f"a batch must have {shown(where)}, got {received}. Say where it stands: a key, a place or a function."
        )

    @classmethod
    def no_labels_in_batch(cls) -> "KindError":
        return cls(
            "a batch must hold labels, as (inputs, labels) or under 'labels', got none. "
            "Say where they stand with labels=, a key, a place or a function of the batch."
        )

    @classmethod
    def no_narwhals(cls) -> "KindError":
        return cls(
            "a data frame needs narwhals, which is not installed. "
            "Install rankset with [frames], or pass frame[classes].to_numpy()."
        )

    @classmethod
    def frame_refused(cls, backend: str, reason: str) -> "KindError":
        why = " ".join(reason.split())[:80]
        return cls(
            f"columns of {backend} hold labels of one kind, got labels it refuses ({why}). Pass backend='pandas'."
        )

    @classmethod
    def no_matplotlib(cls) -> "KindError":
        return cls("a picture needs matplotlib, which is not installed. Install rankset with [plots].")

    @classmethod
    def no_plotly(cls) -> "KindError":
        return cls("a report needs plotly, which is not installed. Install rankset with [report].")

    @classmethod
    def no_backend(cls, backend: str) -> "KindError":
        return cls(f"a frame of {backend} needs {backend}, which is not installed. Install it, or pass backend=….")

    @classmethod
    def cell(cls, name: str, row: int, column: int, value: object) -> "KindError":
        return cls(
            f"{name} must hold numbers only, got {shown(value)} at row {row}, column {column}. "
            f"Convert or drop that entry."
        )

    @classmethod
    def not_names(cls, name: str, received: str, remedy: str) -> "KindError":
        return cls(f"{name} must be one name or number per row, got {received}. {remedy}")

    @classmethod
    def name(cls, what: str, value: object) -> "KindError":
        return cls(
            f"{what} must be strings, numbers, booleans or things with a text of their own, "
            f"got {'NaN' if isinstance(value, float) else type(value).__name__}. Pass str(...) of them."
        )

    @classmethod
    def argument(cls, name: str, expected: str, value: object) -> "KindError":
        return cls(f"{name} must be {expected}, got {shown(value)}.")

    @classmethod
    def class_instead_of_object(cls, name: str, value: type) -> "KindError":
        return cls(
            f"{name} must be an object, got the class {value.__name__}. Pass {value.__name__}() with its parentheses."
        )


class InputError(RanksetError, ValueError):
    """Numbers, shapes or lengths that cannot be right."""

    @classmethod
    def shape(cls, name: str, expected: str, shape: tuple[int, ...], remedy: str) -> "InputError":
        return cls(f"{name} must have shape {expected}, got shape {shape}. {remedy}")

    @classmethod
    def ragged(cls, name: str) -> "InputError":
        return cls(
            f"{name} must have rows of one length, got rows of different lengths. "
            f"Where candidates differ from row to row pass rankset.Ragged.of(rows)."
        )

    @classmethod
    def ragged_binary(cls) -> "InputError":
        return cls("kind='binary' takes one probability per row, got Ragged rows. Pass kind='probs' for those.")

    @classmethod
    def no_pooling(cls) -> "InputError":
        return cls("counts of several rules are pooled for whole rows only, got Ragged rows. Use one rule for those.")

    @classmethod
    def more_candidates(cls, known: int, received: int) -> "InputError":
        return cls(
            f"rows must have at most the {known} candidates of the calibration, got rows with up to {received}. "
            f"Calibrate with classes=range({received}), or with longer rows among the others."
        )

    @classmethod
    def other_order(cls) -> "InputError":
        return cls(
            "labels must be in the order of the rows, got the same index in another order. "
            "Pass labels.loc[frame.index], or labels.to_numpy() if the order is right as it is."
        )

    @classmethod
    def candidates(cls, row: int, count: int, n_columns: int) -> "InputError":
        return cls(f"every row must have 1 to {n_columns} candidates, got {count} at row {row}. Drop that row.")

    @classmethod
    def p_value(cls, row: int, column: int, value: float) -> "InputError":
        return cls(
            f"p_values must lie between 0 and 1, got {value:.6g} at row {row}, column {column}. "
            f"Pass what Rule.p_values returns."
        )

    @classmethod
    def no_answers(cls, row: int) -> "InputError":
        return cls(f"every row must have at least one answer, got none at row {row}. Drop that row, or ask again.")

    @classmethod
    def pipeline_labels(cls, name: str, row: int, missing: Sequence[object], unknown: Sequence[object]) -> "InputError":
        lacks = f"no score for {listed(missing)}" if missing else ""
        extra = f"a score for {listed(unknown)}, no class" if unknown else ""
        return cls(
            f"{name} must score every class, got {' and '.join(filter(None, (lacks, extra)))} at row {row}. "
            f"Call the pipeline with top_k=None, and pass the model's own labels as classes=."
        )

    @classmethod
    def no_rows(cls) -> "InputError":
        return cls("calibration needs at least one row, got 0. Pass labelled rows the model has not seen.")

    @classmethod
    def no_rows_to_evaluate(cls) -> "InputError":
        return cls("an evaluation is an average over rows, got 0 rows. Pass sets of at least one row.")

    @classmethod
    def columns(cls, name: str, expected: int, received: int) -> "InputError":
        return cls(
            f"{name} must have the {expected} columns of the calibration, got {received}. "
            f"Pass one column per class, in the order used to calibrate."
        )

    @classmethod
    def frame_columns(cls, name: str, missing: Sequence[object], unknown: Sequence[object]) -> "InputError":
        lacks = f"no column for {listed(missing)}" if missing else ""
        extra = f"{listed(unknown)}, no class" if unknown else ""
        received = " and ".join(filter(None, (lacks, extra)))
        return cls(
            f"the columns of {name} must be the classes, in any order, got {received}. "
            f"Rename or drop columns, or pass frame.to_numpy() with columns in the order of the classes."
        )

    @classmethod
    def length(cls, name: str, expected: int, received: int) -> "InputError":
        return cls(
            f"{name} must have one entry for each of the {expected} rows, got {received}. Pass both from the same rows."
        )

    @classmethod
    def missing(cls, name: str, row: int, column: int) -> "InputError":
        return cls(
            f"{name} must not contain NaN, got NaN at row {row}, column {column}. "
            f"Find out why the model returns it, or drop that row."
        )

    @classmethod
    def infinite(cls, name: str, row: int, column: int, value: float) -> "InputError":
        return cls(
            f"{name} must be finite, got {value} at row {row}, column {column}. "
            f"Find out why the model returns it, or drop that row."
        )

    @classmethod
    def all_minus_infinity(cls, name: str, row: int) -> "InputError":
        return cls(
            f"{name} may hold -inf for impossible labels, but row {row} holds nothing else. "
            f"At least one label must be possible."
        )

    @classmethod
    def negative(cls, name: str, row: int, column: int, value: float, total: float) -> "InputError":
        if value > -1e-6:
            remedy = "It looks like rounding: pass np.clip(probs, 0, None)."
        else:
            remedy = "They look like logits: pass kind='logits' for logits, kind='scores' for other numbers."
        return cls(
            f"{name} must be probabilities, got {value:.6g} at row {row}, column {column}, "
            f"in a row with sum {total:.6g}. {remedy}"
        )

    @classmethod
    def row_sum(cls, name: str, row: int, total: float) -> "InputError":
        if abs(total - 100.0) <= 1.0:
            remedy = "They look like percentages: divide by 100."
        else:
            remedy = (
                "If they are logits pass kind='logits'; for margins, similarities or other numbers pass kind='scores'."
            )
        return cls(f"{name} must have rows that sum to 1 within 0.01, got row {row} with sum {total:.6g}. {remedy}")

    @classmethod
    def not_in_unit_interval(cls, name: str, row: int, value: float, largest: float) -> "InputError":
        if value > 0 and 10 < largest <= 100:
            remedy = "They look like percentages: divide by 100."
        else:
            remedy = "For a logit d of the second class pass its sigmoid, or the matrix of (0, d) with kind='logits'."
        return cls(
            f"{name} must be probabilities of the second class between 0 and 1, got {value:.6g} at row {row}. {remedy}"
        )

    @classmethod
    def not_addable(cls, row: int, lowest: float, total: float) -> "InputError":
        return cls(
            f"masses are added up from entries that are not negative and sum to less than 8, "
            f"got row {row} with lowest entry {lowest:.6g} and sum {total:.6g} after the score's transform. "
            f"Normalise the transformed rows to sum to 1."
        )


class LabelError(RanksetError, ValueError):
    """Labels, class names or group names that do not fit."""

    @classmethod
    def one_hot(cls, name: str, shape: tuple[int, ...]) -> "LabelError":
        return cls(f"{name} must be one-dimensional, got a one-hot matrix of shape {shape}. Pass y.argmax(axis=1).")

    @classmethod
    def not_one_dimensional(cls, name: str, received: str) -> "LabelError":
        return cls(f"{name} must be one-dimensional, one entry per row, got {received}. Pass a list or a 1-D array.")

    @classmethod
    def missing(cls, name: str, row: int) -> "LabelError":
        return cls(f"{name} must be known for every row, got a missing value at row {row}. Drop that row.")

    @classmethod
    def out_of_range(cls, name: str, row: int, value: object, n_classes: int) -> "LabelError":
        return cls(
            f"{name} must be whole numbers from 0 to {n_classes - 1}, the column numbers, "
            f"got {shown(value)} at row {row}. For other labels pass classes=[...], their names in column order."
        )

    @classmethod
    def one_based(cls, name: str, row: int, n_classes: int) -> "LabelError":
        return cls(
            f"{name} must be whole numbers from 0 to {n_classes - 1}, the column numbers, "
            f"got {n_classes} at row {row}. {name} look 1-based: pass classes=range(1, {n_classes + 1})."
        )

    @classmethod
    def names_without_classes(cls, name: str, row: int, value: object) -> "LabelError":
        return cls(
            f"{name} must be column numbers where classes are numbers, got the text {shown(value)} at row {row}. "
            f"Pass classes=[...], the names in column order, or the labels as numbers."
        )

    @classmethod
    def unknown(cls, name: str, row: int, unknown: Sequence[object], known: Sequence[object]) -> "LabelError":
        return cls(
            f"{name} must be among the classes ({listed(known)}), got {listed(unknown)}, first at row {row}. "
            f"Check spelling and type, or pass the classes= these labels belong to; "
            f"column numbers become names by np.array(classes)[labels]."
        )

    @classmethod
    def other_labels(cls, labels: Sequence[object], classes: Sequence[object]) -> "LabelError":
        return cls(
            f"labels must be among the classes the trained model knows ({listed(classes)}), got {listed(labels)}. "
            f"Pass labels as the model was trained with."
        )

    @classmethod
    def padding(cls, row: int, value: object, count: int) -> "LabelError":
        return cls(
            f"labels must be candidates of their rows, got {shown(value)} at row {row}, which has {count} of them. "
            f"Check the counts, or drop that row."
        )

    @classmethod
    def same_text(cls, backend: str, names: Sequence[object]) -> "LabelError":
        return cls(
            f"columns of {backend} are texts, and class names must differ as texts there, got {listed(names)}. "
            f"Pass backend='pandas', or rename classes."
        )

    @classmethod
    def duplicates(cls, names: Sequence[object]) -> "LabelError":
        return cls(f"class names must be distinct, got {listed(names)} more than once. Rename or merge those columns.")

    @classmethod
    def class_count(cls, expected: int, received: int) -> "LabelError":
        return cls(f"classes must name each of the {expected} columns once, in order, got {received} names.")

    @classmethod
    def groups_missing(cls, condition: object) -> "LabelError":
        return cls(f"{shown(condition)} needs to know each row's group, got none. Pass groups=, one name per row.")

    @classmethod
    def groups_unused(cls, condition: object) -> "LabelError":
        return cls(
            f"groups= was given, but {shown(condition)} does not look at the rows' groups. "
            f"Pass condition=PerRow() when calibrating, or leave groups out."
        )

    @classmethod
    def group_numbers(cls, condition: object, count: int, received: object) -> "LabelError":
        return cls(
            f"a condition must number the groups of calibration rows from 0 to {count - 1}, "
            f"got {received} from {shown(condition)}."
        )

    @classmethod
    def clusters(cls, expected: int, received: int) -> "LabelError":
        return cls(f"PerLabel(clusters=...) must name a cluster for each of the {expected} classes, got {received}.")


class ScoreError(RanksetError, ValueError):
    """A score that cannot do what is asked of it."""

    @classmethod
    def parameter(cls, score: str, name: str, expected: str, value: object) -> "ScoreError":
        return cls(f"{score}({name}=...) must be {expected}, got {shown(value)}.")

    @classmethod
    def needs_probabilities(cls, score: object) -> "ScoreError":
        return cls(
            f"{score!r} adds up or compares probabilities, and kind='scores' has none. "
            f"Use Rank, TopK, Thr or Margin, or pass kind='logits' if the numbers are logits."
        )

    @classmethod
    def mass_without_probabilities(cls) -> "ScoreError":
        return cls(
            "cells.mass adds up probabilities, and kind='scores' has none. "
            "Use cells.rank and cells.prob only, or pass kind='probs' or kind='logits'."
        )

    @classmethod
    def keys(cls, expected: str, received: str) -> "ScoreError":
        return cls(f"a score's keys(cells) must return {expected}, got {received}. help(rankset.Score) has an example.")

    @classmethod
    def sometimes_noise(cls, score: object) -> "ScoreError":
        return cls(
            f"a score must look at cells.noise for every cell or for none, got {shown(score)}, which does for some. "
            f"Read cells.noise first in keys(cells), whatever the cells."
        )

    @classmethod
    def reach(cls, score: object, expected: str, received: str) -> "ScoreError":
        return cls(
            f"a score's reach(bounds) must return {expected}, got {received} from {shown(score)}. "
            f"help(rankset.Reach) has an example; leave reach out if the score knows no limits."
        )

    @classmethod
    def transform(cls, score: object, expected: tuple[int, ...], received: object) -> "ScoreError":
        return cls(
            f"a score's transform(probs) must return an array of the shape it got, {expected}, "
            f"got {received} from {shown(score)}."
        )

    @classmethod
    def fitted_columns(cls, score: object, expected: int, received: int) -> "ScoreError":
        return cls(
            f"{shown(score)} was fitted for {expected} classes, got {received} columns. "
            f"Pass the columns it was fitted on, in their order."
        )

    @classmethod
    def nan_key(cls, score: object, row: int) -> "ScoreError":
        return cls(
            f"a score's keys must be comparable, got NaN from {shown(score)} at row {row}. "
            f"Make keys(cells) return a number for every cell."
        )


class SplitError(RanksetError, ValueError):
    """Rows that cannot be shared between training and calibration as asked."""

    @classmethod
    def parameter(cls, owner: str, name: str, expected: str, received: object) -> "SplitError":
        return cls(f"{owner}({name}=...) must be {expected}, got {shown(received)}.")

    @classmethod
    def too_few_rows(cls, received: int, needed: int) -> "SplitError":
        return cls(
            f"rows are needed to train and others to calibrate: at least {needed}, got n_samples = {received}. "
            f"Pass more rows, or a trained model as FrozenEstimator(model)."
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
            f"got {what} {shown(ours)} and {shown(theirs)}. "
            f"Calibrate both with the same {what}."
        )

    @classmethod
    def columns_of_file(cls, known: Sequence[object], received: Sequence[object]) -> "RuleError":
        return cls(
            f"the columns of the file must be the classes of the rule ({listed(known)}), in any order, "
            f"got {listed(received)}. Rename columns, or leave others out with --drop."
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
        return cls(f"{shown(condition)} has no threshold for each {name}, so {name}= says nothing here. Leave it out.")

    @classmethod
    def no_ranks(cls, score: object) -> "RuleError":
        return cls(
            f"rank_profile describes rules that order labels by rank, got {score!r}. "
            f"Calibrate with score=Rank() or TopK()."
        )

    @classmethod
    def which_group(cls, condition: object, count: int, needed: str) -> "RuleError":
        return cls(f"{shown(condition)} has {count:,} thresholds, one per group: say which one with {needed}.")

    @classmethod
    def no_such_name(cls, what: str, name: object, known: Sequence[object]) -> "RuleError":
        return cls(f"the calibration has no {what} {shown(name)}, it has {listed(known)}.")

    @classmethod
    def option(cls, name: str, value: object, options: Sequence[str]) -> "RuleError":
        return cls(f"{name} must be one of {', '.join(map(repr, options))}, got {value!r}.")

    @classmethod
    def no_unlabelled_rows(cls) -> "RuleError":
        return cls("an expected size is an average over rows, got 0 rows. Pass at least one.")


class FileError(RanksetError, ValueError):
    """A file of scores, labels or sets that cannot be read or written."""

    @classmethod
    def missing(cls, path: str) -> "FileError":
        return cls(f"{path}: there is no such file. Check the path.")

    @classmethod
    def unreadable(cls, path: str, reason: str) -> "FileError":
        return cls(f"{path}: it cannot be read: {reason.rstrip('.')}. Is it whole, and of the kind its name says?")

    @classmethod
    def unknown_kind(cls, path: str, known: Sequence[str]) -> "FileError":
        return cls(
            f"{path}: its name must end in one of {', '.join(known)} (with .gz for texts). Rename or convert it."
        )

    @classmethod
    def pickled(cls, path: str) -> "FileError":
        return cls(f"{path}: it holds Python objects, which are never loaded: that runs code. Save plain numbers.")

    @classmethod
    def bomb(cls, path: str, name: str, packed: int, size: int) -> "FileError":
        return cls(f"{path}: {name!r} would unpack from {packed:,} to {size:,} bytes. It is not read.")

    @classmethod
    def which_key(cls, path: str, keys: Sequence[str]) -> "FileError":
        return cls(f"{path}: it holds {listed(keys) or 'no arrays'}; say which one with --key.")

    @classmethod
    def no_key(cls, path: str, key: str, keys: Sequence[str]) -> "FileError":
        return cls(f"{path}: it has no {shown(key)}, it has {listed(keys)}.")

    @classmethod
    def no_column(cls, path: str, name: str, names: Sequence[str]) -> "FileError":
        has = f"it has {listed(names)}" if names else "its columns have no names"
        return cls(f"{path}: it has no column {shown(name)}, {has}.")

    @classmethod
    def no_scores(cls, path: str, names: Sequence[str]) -> "FileError":
        return cls(f"{path}: no column is left for scores, it has {listed(names) or 'none'}. Pass a column per class.")

    @classmethod
    def one_column(cls, path: str, names: Sequence[str]) -> "FileError":
        return cls(f"{path}: it must have one column, it has {listed(names)}. Pass a file of labels alone, or --label.")

    @classmethod
    def ragged(cls, path: str, name: str, row: int) -> "FileError":
        return cls(f"{path}: the lists in {shown(name)} must have one length, row {row} has another. Pad or drop it.")

    @classmethod
    def not_numbers(cls, path: str, name: str, received: str) -> "FileError":
        return cls(
            f"{path}: column {shown(name)} must hold numbers, it holds {received}. "
            f"If it is no class say so with --label, --group, --id or --drop."
        )

    @classmethod
    def missing_cell(cls, path: str, name: str, row: int) -> "FileError":
        return cls(f"{path}: column {shown(name)} has no value at row {row}. Drop that row.")

    @classmethod
    def no_pyarrow(cls, path: str) -> "FileError":
        return cls(f"{path}: reading it needs pyarrow, which is not installed. Install rankset with [cli].")

    @classmethod
    def unwritable(cls, path: str, reason: str) -> "FileError":
        return cls(f"{path}: it cannot be written: {reason}.")

    @classmethod
    def exists(cls, path: str) -> "FileError":
        return cls(f"{path}: it exists already. Pass --force to replace it.")

    @classmethod
    def no_labels(cls) -> "FileError":
        return cls("labels are needed: pass a second file, or --label with the name of their column.")

    @classmethod
    def labels_twice(cls) -> "FileError":
        return cls("labels came twice, as a file and with --label. Pass one of them.")


class StorageError(RanksetError, ValueError):
    """A file that cannot be read or written."""

    @classmethod
    def unreadable(cls, path: object, reason: str) -> "StorageError":
        return cls(f"{path} is not a whole rankset file: {reason}. Save the rule again, or fetch an undamaged copy.")

    @classmethod
    def future(cls, path: object, number: int, known: int) -> "StorageError":
        return cls(
            f"{path} has format {number}, this version of rankset reads up to {known}. Upgrade rankset to read it."
        )

    @classmethod
    def too_large(cls, path: object, what: str, size: int, limit: int) -> "StorageError":
        return cls(f"{path} has {what} of {size:,} bytes, at most {limit:,} are read. Is this a rankset file?")

    @classmethod
    def names_too_long(cls, path: object, size: int, limit: int) -> "StorageError":
        return cls(
            f"{path} was not written: its class and group names would take {size:,} bytes, at most {limit:,} are read. "
            f"Use shorter names, or calibrate without classes= and keep the names elsewhere."
        )

    @classmethod
    def not_storable(cls, what: str, value: object) -> "StorageError":
        return cls(
            f"only rankset's own {what} can be stored, because loading a file must never run foreign code, "
            f"got {value!r}. Keep the calibration scores and calibrate again after loading."
        )
