"""Errors about numbers, shapes, lengths and row numbers."""

from collections.abc import Sequence
from typing import Self

from rankset.errors.base import RanksetError
from rankset.errors.fields import Either, Option, Place, Text
from rankset.errors.values import differences, short_repr

PROBS, LOGITS, DECISION = Option("kind", "probs"), Option("kind", "logits"), Option("kind", "decision")
FROM_THE_MODEL = "Find out why the model returns it, or drop that row."
PERCENTAGES = "They look like percentages: divide by 100."


class InputError(RanksetError, ValueError):
    """Numbers, shapes or lengths that cannot be used."""

    @classmethod
    def shape(cls, name: str, expected: Text, shape: tuple[int, ...], remedy: Text) -> Self:
        return cls(name, ("have shape ", expected), f"shape {shape}", remedy)

    @classmethod
    def row_shape(cls, row: int, shape: tuple[int, ...]) -> Self:
        remedy = "Pass one list of numbers per row."
        return cls("every row", "have shape (k,)", f"shape {shape}", remedy, where=Place(row=row))

    @classmethod
    def columns(cls, name: str, expected: int, received: int) -> Self:
        remedy = "Pass one column per class, in the order used to calibrate."
        return cls(name, f"have the {expected} columns of the calibration", str(received), remedy)

    @classmethod
    def frame_columns(cls, name: str, missing: Sequence[object], unknown: Sequence[object]) -> Self:
        return cls(
            f"the columns of {name}",
            "be the classes, in any order",
            differences("no column for", missing, "columns that are no class:", unknown),
            "Rename or drop columns, or pass frame.to_numpy() with columns in the order of the classes.",
        )

    @classmethod
    def length(cls, name: str, expected: int, received: int) -> Self:
        remedy = "Pass both from the same rows."
        return cls(name, f"have one entry for each of the {expected} rows", str(received), remedy)

    @classmethod
    def other_order(cls, name: str, known: str) -> Self:
        return cls(
            name,
            f"be in the order of {known}",
            "the same index in another order",
            f"Pass {name}.loc[index] with the index of {known}, or {name}.to_numpy() if the order is right as it is.",
        )

    @classmethod
    def other_rows(cls, name: str, known: str, row: int, expected: object, received: object) -> Self:
        return cls(
            name,
            f"have the index of {known}",
            f"{short_repr(received)} instead of {short_repr(expected)}",
            f"Pass {name} of the same rows, or {name}.to_numpy() if they are.",
            where=Place(row=row),
        )

    @classmethod
    def no_rows(cls) -> Self:
        remedy = "Pass labelled rows the model has not seen."
        return cls("calibration", "have at least one row", "0", remedy)

    @classmethod
    def no_rows_to_evaluate(cls) -> Self:
        return cls("an evaluation", "have at least one row", "0", "Pass sets of at least one row.")

    @classmethod
    def unknown_chunks(cls, name: str) -> Self:
        return cls(
            name,
            "be cut to the chunks of probs, whose sizes must be known",
            "unknown sizes",
            f"Call probs.compute_chunk_sizes() first, or pass {name} as a dask array in the same chunks.",
        )

    @classmethod
    def chunks(cls, name: str, expected: int, received: int) -> Self:
        remedy = "Call compute_chunk_sizes() on both; then rankset cuts them alike."
        return cls(name, f"have the {expected} chunks of probs", str(received), remedy)

    @classmethod
    def ragged(cls, name: str) -> Self:
        remedy = "If the number of candidates differs from row to row, pass rankset.Ragged.of(rows)."
        return cls(name, "have rows of one length", "rows of different lengths", remedy)

    @classmethod
    def ragged_binary(cls) -> Self:
        expected = ("be one probability per row for ", Option("kind", "binary"))
        return cls("probs", expected, "Ragged rows", ("Pass ", PROBS, " for those."))

    @classmethod
    def no_pooling(cls) -> Self:
        expected = "have every class in every row to pool the counts of several rules"
        return cls("probs", expected, "Ragged rows", "Use one rule for those.")

    @classmethod
    def candidates(cls, row: int, count: int, n_columns: int) -> Self:
        where = Place(row=row)
        return cls("every row", f"have 1 to {n_columns} candidates", str(count), "Drop that row.", where=where)

    @classmethod
    def more_candidates(cls, known: int, received: int) -> Self:
        return cls(
            "rows",
            f"have at most the {known} candidates of the calibration",
            f"rows with up to {received}",
            ("Calibrate with ", Option("classes", range(received)), ", or with longer rows among the others."),
        )

    @classmethod
    def pipeline_labels(cls, name: str, row: int, missing: Sequence[object], unknown: Sequence[object]) -> Self:
        received = differences("no score for", missing, "scores that belong to no class:", unknown)
        call = Either("top_k=None", "all labels")
        remedy = ("Call the pipeline with ", call, ", and pass the model's own labels as ", Option("classes"), ".")
        return cls(name, "score every class", received, remedy, where=Place(row=row))

    @classmethod
    def no_answers(cls, row: int) -> Self:
        remedy = "Drop that row, or ask again."
        return cls("every row", "have at least one answer", "none", remedy, where=Place(row=row))

    @classmethod
    def not_exact(cls, name: str, row: int, column: int, value: int) -> Self:
        return cls(
            name,
            "be numbers that float64 holds exactly, so that different ones stay different",
            f"the whole number {value}",
            "Subtract a constant from all of them, or scale them down.",
            where=Place(row=row, column=column),
        )

    @classmethod
    def missing(cls, name: str, row: int, column: int) -> Self:
        return cls(name, "not contain NaN", "NaN", FROM_THE_MODEL, where=Place(row=row, column=column))

    @classmethod
    def infinite(cls, name: str, row: int, column: int, value: float) -> Self:
        return cls(name, "be finite", str(value), FROM_THE_MODEL, where=Place(row=row, column=column))

    @classmethod
    def all_minus_infinity(cls, name: str, row: int) -> Self:
        remedy = "-inf marks impossible labels; at least one label must be possible."
        return cls(name, "have a finite entry in every row", "-inf only", remedy, where=Place(row=row))

    @classmethod
    def negative(cls, name: str, row: int, column: int, value: float, total: float) -> Self:
        remedy: Text = ("They look like logits: pass ", LOGITS, " for logits, ", DECISION, " for other numbers.")
        if value > -1e-6:
            remedy = "It looks like rounding: pass np.clip(probs, 0, None)."
        received = f"{value:.6g} in a row with sum {total:.6g}"
        return cls(name, "be probabilities", received, remedy, where=Place(row=row, column=column))

    @classmethod
    def row_sum(cls, name: str, row: int, total: float) -> Self:
        remedy: Text = ("If they are logits pass ", LOGITS, "; for margins or similarities pass ", DECISION, ".")
        if abs(total - 100.0) <= 1.0:
            remedy = PERCENTAGES
        expected = "have rows that sum to 1 within 0.01"
        return cls(name, expected, f"the sum {total:.6g}", remedy, where=Place(row=row))

    @classmethod
    def not_in_unit_interval(cls, name: str, row: int, value: float, largest: float) -> Self:
        remedy: Text = (
            "For a logit d of the second class pass its sigmoid, or the matrix of (0, d) with ",
            LOGITS,
            ".",
        )
        if value > 0 and 10 < largest <= 100:
            remedy = PERCENTAGES
        expected = "be probabilities of the second class between 0 and 1"
        return cls(name, expected, f"{value:.6g}", remedy, where=Place(row=row))

    @classmethod
    def not_addable(cls, row: int, lowest: float, total: float) -> Self:
        return cls(
            "probabilities after the score's transform",
            "not be negative, and every row must sum to less than 8",
            f"the lowest entry {lowest:.6g} and the sum {total:.6g}",
            "Normalise the transformed rows to sum to 1.",
            where=Place(row=row),
        )

    @classmethod
    def p_value(cls, row: int, column: int, value: float) -> Self:
        where = Place(row=row, column=column)
        return cls("p_values", "lie between 0 and 1", f"{value:.6g}", "Pass what Rule.p_values returns.", where=where)


class RowError(RanksetError, IndexError, ValueError):
    """Rows that do not exist; an IndexError, as Python expects of sequences."""

    @classmethod
    def number(cls, n_rows: int, row: int) -> Self:
        return cls("row numbers", f"lie below {n_rows}, the number of rows", str(row), "Count rows from 0.")

    @classmethod
    def mask(cls, expected: int, received: int) -> Self:
        return cls("a mask of rows", f"have one boolean for each of the {expected} rows", str(received))
