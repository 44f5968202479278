"""Sentences about what users pass: kinds of things, numbers, labels."""

from collections.abc import Sequence

from rankset.errors.base import RanksetError, join_names, short_repr


class KindError(RanksetError, TypeError):
    """A value of a kind that cannot be used."""

    @classmethod
    def not_a_matrix(cls, name: str, received: str, remedy: str) -> "KindError":
        return cls(f"{name} must be a matrix of real numbers, got {received}. {remedy}")

    @classmethod
    def frame_column(cls, name: str, column: object, received: str) -> "KindError":
        return cls(
            f"the columns of {name} must hold numbers, one column per class, got {received} in {short_repr(column)}. "
            f"Drop or convert that column."
        )

    @classmethod
    def pipeline_row(cls, name: str, row: int, value: object) -> "KindError":
        return cls(
            f"{name} must hold a list of {{'label': …, 'score': …}} per text, each label once, "
            f"got {short_repr(value)} at row {row}. Pass what pipeline(texts, top_k=None) returns."
        )

    @classmethod
    def batch(cls, where: object, received: str) -> "KindError":
        return cls(
            f"a batch must have {short_repr(where)}, got {received}. Say where it stands: a key, a place or a function."
        )

    @classmethod
    def no_labels_in_batch(cls) -> "KindError":
        return cls(
            "a batch must hold labels, as (inputs, labels) or under 'labels', got none. "
            "Say where they stand with labels=, a key, a place or a function of the batch."
        )

    @classmethod
    def no_engine(cls, name: str, package: str) -> "KindError":
        return cls(f"rankset.engines.{name} needs {package}, which is not installed. Install rankset with [{name}].")

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
            f"{name} must hold numbers only, got {short_repr(value)} at row {row}, column {column}. "
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
        return cls(f"{name} must be {expected}, got {short_repr(value)}.")

    @classmethod
    def no_whole_rule(cls, what: str, received: object) -> "KindError":
        return cls(
            f"{what} needs rules that answer at every level from one matrix of scores, objects of rankset.Rule, "
            f"got {short_repr(received)}. Pass what rankset.calibrate or rankset.load gives: the rule itself in place of "
            f"rule.at(alpha), one rule in place of a rule of folds."
        )

    @classmethod
    def rows(cls, received: object) -> "KindError":
        return cls(
            f"rows are picked by a slice, by row numbers, or by an array with True or False for every row, "
            f"got {short_repr(received)}. Pass one of these."
        )

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
    def other_order(cls, name: str, known: str) -> "InputError":
        return cls(
            f"{name} must be in the order of {known}, got the same index in another order. "
            f"Pass {name}.loc[index] with the index of {known}, or {name}.to_numpy() if the order is right as it is."
        )

    @classmethod
    def other_rows(cls, name: str, known: str, row: int, expected: object, received: object) -> "InputError":
        return cls(
            f"{name} must have the index of {known}, got other entries: {short_repr(received)} at row {row}, "
            f"where {known} have {short_repr(expected)}. "
            f"Pass {name} of the same rows, or {name}.to_numpy() if they are."
        )

    @classmethod
    def not_exact(cls, name: str, row: int, column: int, value: int) -> "InputError":
        return cls(
            f"{name} must be numbers that float64 holds, so that different ones stay different, "
            f"got the whole number {value} at row {row}, column {column}. "
            f"Subtract a constant from all of them, or scale them down, before they are compared."
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
        lacks = f"no score for {join_names(missing)}" if missing else ""
        extra = f"a score for {join_names(unknown)}, no class" if unknown else ""
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
        lacks = f"no column for {join_names(missing)}" if missing else ""
        extra = f"{join_names(unknown)}, no class" if unknown else ""
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
    def unknown_chunks(cls, name: str) -> "InputError":
        return cls(
            f"{name} are cut to the chunks of probs, whose sizes must be known, got unknown ones. "
            f"Call probs.compute_chunk_sizes() first, or pass {name} as a dask array in the same chunks."
        )

    @classmethod
    def chunks(cls, name: str, expected: int, received: int) -> "InputError":
        return cls(
            f"{name} must have the {expected} chunks of probs, got {received}. "
            f"Call compute_chunk_sizes() on both, then they are cut alike here."
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
            remedy = "They look like logits: pass kind='logits' for logits, kind='decision' for other numbers."
        return cls(
            f"{name} must be probabilities, got {value:.6g} at row {row}, column {column}, "
            f"in a row with sum {total:.6g}. {remedy}"
        )

    @classmethod
    def row_sum(cls, name: str, row: int, total: float) -> "InputError":
        if abs(total - 100.0) <= 1.0:
            remedy = "They look like percentages: divide by 100."
        else:
            remedy = "If they are logits pass kind='logits'; for margins or similarities pass kind='decision'."
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


class RowError(RanksetError, IndexError, ValueError):
    """Rows that are not there; an IndexError, as Python expects of what can be indexed."""

    @classmethod
    def number(cls, n_rows: int, row: int) -> "RowError":
        return cls(f"row numbers must lie below {n_rows}, the number of rows, got row {row}. Count rows from 0.")

    @classmethod
    def mask(cls, expected: int, received: int) -> "RowError":
        return cls(f"a boolean for each of the {expected} rows picks rows, got {received} of them. Pass one per row.")


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
            f"got {short_repr(value)} at row {row}. For other labels pass classes=[...], their names in column order."
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
            f"{name} must be column numbers where classes are numbers, got the text {short_repr(value)} at row {row}. "
            f"Pass classes=[...], the names in column order, or the labels as numbers."
        )

    @classmethod
    def unknown(cls, name: str, row: int, unknown: Sequence[object], known: Sequence[object]) -> "LabelError":
        return cls(
            f"{name} must be among the classes ({join_names(known)}), got {join_names(unknown)}, first at row {row}. "
            f"Check spelling and type, or pass the classes= these labels belong to; "
            f"column numbers become names by np.array(classes)[labels]."
        )

    @classmethod
    def other_labels(cls, labels: Sequence[object], classes: Sequence[object]) -> "LabelError":
        return cls(
            f"labels must be among the classes the trained model knows ({join_names(classes)}), got {join_names(labels)}. "
            f"Pass labels as the model was trained with."
        )

    @classmethod
    def padding(cls, row: int, value: object, count: int) -> "LabelError":
        return cls(
            f"labels must be candidates of their rows, got {short_repr(value)} at row {row}, which has {count} of them. "
            f"Check the counts, or drop that row."
        )

    @classmethod
    def same_text(cls, backend: str, names: Sequence[object]) -> "LabelError":
        return cls(
            f"columns of {backend} are texts, and class names must differ as texts there, got {join_names(names)}. "
            f"Pass backend='pandas', or rename classes."
        )

    @classmethod
    def one_text(cls, where: str, names: Sequence[object]) -> "LabelError":
        return cls(
            f"{where} holds class names as texts, which must differ there, got {join_names(names)}. "
            f"Rename one of them, or write jsonl."
        )

    @classmethod
    def duplicates(cls, names: Sequence[object]) -> "LabelError":
        return cls(
            f"class names must be distinct, got {join_names(names)} more than once. Rename or merge those columns."
        )

    @classmethod
    def class_count(cls, expected: int, received: int) -> "LabelError":
        return cls(f"classes must name each of the {expected} columns once, in order, got {received} names.")

    @classmethod
    def groups_missing(cls, condition: object) -> "LabelError":
        return cls(f"{short_repr(condition)} needs to know each row's group, got none. Pass groups=, one name per row.")

    @classmethod
    def groups_unused(cls, condition: object) -> "LabelError":
        return cls(
            f"groups= was given, but {short_repr(condition)} does not look at the rows' groups. "
            f"Pass condition=PerGroup() when calibrating, or leave groups out."
        )

    @classmethod
    def group_numbers(cls, condition: object, count: int, received: object) -> "LabelError":
        return cls(
            f"a condition must number the groups of calibration rows from 0 to {count - 1}, "
            f"got {received} from {short_repr(condition)}."
        )

    @classmethod
    def clusters(cls, expected: int, received: int) -> "LabelError":
        return cls(f"PerLabel(clusters=...) must name a cluster for each of the {expected} classes, got {received}.")
