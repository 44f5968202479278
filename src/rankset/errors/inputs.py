"""Errors about numbers, shapes and lengths."""

from collections.abc import Sequence
from typing import Self

from rankset.errors.base import RanksetError
from rankset.errors.fields import Either, Option, Place, Text
from rankset.errors.shift import ShiftErrors
from rankset.errors.unit_interval import LOGITS, PERCENTAGES, UnitIntervalErrors
from rankset.errors.values import differences, join_names, short_repr
from rankset.errors.weights import RowWeightErrors

PROBS, DECISION = Option("kind", "probs"), Option("kind", "decision")
MARGINALS = Option("kind", "marginals")
NO_ANSWER = (
    Either("Add any candidate and label the row rankset.ABSENT", "Add any candidate and an absent label (--absent)"),
    ". Do not drop the row: no set contains its true label, and without it coverage would look higher than it is.",
)
NO_MARK = "Write 1 if the label is true and 0 if it is not, or drop that row."
FROM_THE_MODEL = "Find out why the model returns this value, or drop that row."
NO_CLASS = Either("Layout(drop=..., identity=..., group=...)", "--drop, --id or --group")
OTHER_KIND: Text = ("For logits pass ", LOGITS, ". For other numbers pass ", DECISION, ".")
MARGINS_OR_LOGITS: Text = (
    *("For logits pass ", LOGITS, ". For margins or similarities pass ", DECISION),
    *(". For a probability of its own for every label pass ", MARGINALS, "."),
)


class InputError(UnitIntervalErrors, RowWeightErrors, ShiftErrors, RanksetError, ValueError):
    """Numbers, shapes or lengths that cannot be used. It is also a ``ValueError``.

    For example, a row that contains NaN, probabilities that do not sum to 1, or labels that are more than rows.

    Examples
    --------
    >>> import rankset as rs
    >>> try:
    ...     rs.calibrate([[0.5, 0.5], [0.5, 0.4]], [0, 1])
    ... except rs.errors.InputError as error:
    ...     print(error.expected, "at row", error.where.row)
    have rows that sum to 1 within 0.01 at row 1
    """

    @property
    def is_about_other_numbers(self) -> bool:
        """Whether numbers were taken as probabilities that look like something else."""
        return self.remedy in (OTHER_KIND, MARGINS_OR_LOGITS)

    def with_class_columns(self, names: Sequence[str]) -> Self:
        """Return the error with the columns that were taken as classes, one of which may be none."""
        taken = f"The columns {join_names(names)} were taken as classes. "
        self.remedy = (taken, "If one of them is no class, name it with ", NO_CLASS, ". ", self.remedy)
        return self

    @classmethod
    def not_a_number(cls, name: str, row: int, value: object) -> Self:
        return cls(name, "be numbers, one per row", short_repr(value), "Check them.", where=Place(row=row))

    @classmethod
    def shape(cls, name: str, expected: Text, shape: tuple[int, ...], remedy: Text) -> Self:
        return cls(name, ("have shape ", expected), f"shape {shape}", remedy)

    @classmethod
    def row_shape(cls, row: int, shape: tuple[int, ...]) -> Self:
        remedy = "Pass one list of numbers per row."
        return cls("every row", "be one-dimensional", f"shape {shape}", remedy, where=Place(row=row))

    @classmethod
    def columns(cls, name: str, expected: int, received: int) -> Self:
        remedy = "Pass one column per class, in the same order as in the calibration data."
        return cls(name, f"have {expected} columns, like the calibration data", f"{received} columns", remedy)

    @classmethod
    def example_columns(cls, name: str, missing: Sequence[object]) -> Self:
        remedy = "Pass these columns, with texts as their names, or a matrix with a column per class."
        return cls(
            name, "have a column per class, and those of groups, ids and weights", f"no {join_names(missing)}", remedy
        )

    @classmethod
    def frame_columns(cls, name: str, missing: Sequence[object], unknown: Sequence[object]) -> Self:
        return cls(
            f"the columns of {name}",
            "be exactly the classes, in any order",
            differences("no column for", missing, "the extra columns", unknown),
            ("Rename or drop columns.", Either(" Or pass frame.to_numpy() with columns in the order of classes.", "")),
        )

    @classmethod
    def first_class(cls, name: str, column: object) -> Self:
        return cls(
            name,
            ("contain the probability of the second class for ", Option("kind", "binary")),
            f"a column with the name of the first class, {short_repr(column)}",
            "Pass the probability of the second class, or rename the column.",
        )

    @classmethod
    def length(cls, name: str, expected: int, received: int) -> Self:
        remedy = "Check that all inputs belong to the same rows."
        return cls(name, f"have one entry for each of the {expected} rows", f"{received} entries", remedy)

    @classmethod
    def other_order(cls, name: str, known: str) -> Self:
        return cls(
            name,
            f"be in the order of {known}",
            "the same index in another order",
            Either(
                f"Pass {name}.loc[index], where index is the index of {known}. "
                f"If the rows are already in the same order, pass {name}.to_numpy().",
                f"Sort {name} and {known} in the same way.",
            ),
        )

    @classmethod
    def other_rows(cls, name: str, known: str, row: int, expected: object, received: object) -> Self:
        return cls(
            name,
            f"have the same index as {known}",
            f"{short_repr(received)} instead of {short_repr(expected)}",
            (
                f"Pass {name} for the same rows.",
                Either(f" If the rows are the same and only the index differs, pass {name}.to_numpy().", ""),
            ),
            where=Place(row=row),
        )

    @classmethod
    def no_rows(cls) -> Self:
        remedy = "Pass labelled rows that were not used to train the model."
        return cls("calibration", "have at least one row", "no rows", remedy)

    @classmethod
    def no_rows_to_evaluate(cls) -> Self:
        return cls("an evaluation", "have at least one row", "no rows", "Pass at least one row.")

    @classmethod
    def too_few_rows_to_compare(cls, received: int) -> Self:
        return cls("a comparison of scores", "have at least 2 rows", str(received), "Pass more rows.")

    @classmethod
    def too_few_rows_for_precise(cls, received: int) -> Self:
        return cls("precise", "have at least 2 rows with labels", str(received), "Pass more rows.")

    @classmethod
    def unknown_chunks(cls, name: str) -> Self:
        return cls(
            name,
            "be divided into the chunks of probs",
            "chunks of unknown size",
            f"Call probs.compute_chunk_sizes() first, or pass {name} as a dask array with the chunks of probs.",
        )

    @classmethod
    def chunks(cls, name: str, expected: int, received: int) -> Self:
        remedy = f"Call compute_chunk_sizes() on probs and on {name}. Then rankset can change the chunks of {name}."
        return cls(name, f"have {expected} chunks, as many as probs", f"{received} chunks", remedy)

    @classmethod
    def ragged(cls, name: str) -> Self:
        remedy = Either(
            "If the number of candidates differs between rows, pass rankset.Ragged.of(rows).",
            "Correct or drop the rows that have another length.",
        )
        return cls(name, "have rows of the same length", "rows of different lengths", remedy)

    @classmethod
    def ragged_binary(cls) -> Self:
        expected = ("be one probability per row for ", Option("kind", "binary"))
        return cls("probs", expected, "Ragged rows", ("Pass ", PROBS, " for Ragged rows."))

    @classmethod
    def no_pooling(cls) -> Self:
        expected = "have every class in every row if several rules are combined"
        return cls("probs", expected, "Ragged rows", "Use a single rule for Ragged rows.")

    @classmethod
    def candidates(cls, row: int, count: int, n_columns: int) -> Self:
        where = Place(row=row)
        most = f"1 to {n_columns} candidates" if n_columns else "at least one candidate"
        return cls("every row", f"have {most}", f"{count} candidates", NO_ANSWER, where=where)

    @classmethod
    def more_candidates(cls, known: int, received: int) -> Self:
        return cls(
            "rows",
            f"have at most {known} candidates, like the calibration data",
            f"a row with {received} candidates",
            ("Calibrate with ", Option("classes", range(received)), f", or with a row of {received} candidates."),
        )

    @classmethod
    def pipeline_labels(cls, name: str, row: int, missing: Sequence[object], unknown: Sequence[object]) -> Self:
        received = differences("no score for", missing, "scores for the unknown classes", unknown)
        call = Either("top_k=None", "all labels")
        remedy = ("Call the pipeline with ", call, ". Pass the labels of the model as ", Option("classes"), ".")
        return cls(name, "contain a score for every class", received, remedy, where=Place(row=row))

    @classmethod
    def named_binary(cls, name: str) -> Self:
        expected = ("be one probability per row for ", Option("kind", "binary"))
        return cls(name, expected, "rows with names", ("Pass ", PROBS, " for rows with names."))

    @classmethod
    def unknown_names(cls, name: str, row: int, unknown: Sequence[object], known: Sequence[object]) -> Self:
        return cls(
            name,
            f"have numbers only for the classes ({join_names(known)})",
            f"the names {join_names(unknown)}",
            (
                "Check the spelling of the names",
                Either(", or pass the rows through rankset.normalise_answers", ""),
                ". Or calibrate with all names that can occur as ",
                Option("classes"),
                Either(". If every row has its own candidates, pass rankset.Ragged.of(rows).", "."),
            ),
            where=Place(row=row),
        )

    @classmethod
    def no_candidates(cls, name: str, row: int) -> Self:
        remedy = NO_ANSWER
        return cls(f"every row of {name}", "have at least one label", "none", remedy, where=Place(row=row))

    @classmethod
    def counts_kind(cls, name: str, row: int, kind: str) -> Self:
        expected = ("not be a Counter for ", Option("kind", kind))
        remedy = ("Pass ", PROBS, " for counts. Pass dict(row) if the numbers are no counts.")
        return cls(f"a row of {name}", expected, "a Counter", remedy, where=Place(row=row))

    @classmethod
    def counts(cls, name: str, row: int, total: float) -> Self:
        remedy = "Drop that row, or ask the model again."
        expected = "have counts of at least 0, and one above 0"
        return cls(f"a Counter in {name}", expected, f"the sum {total:.6g}", remedy, where=Place(row=row))

    @classmethod
    def nan_answer(cls) -> Self:
        return cls("numbers of answers that become one", "be numbers and not NaN", "another value", FROM_THE_MODEL)

    @classmethod
    def negative_answer(cls, value: object) -> Self:
        remedy = ("For log-probabilities pass ", Option("kind", "logits"), ".")
        return cls("probabilities of answers that become one", "be at least 0", short_repr(value), remedy)

    @classmethod
    def candidate_names(cls, row: int, expected: int, received: int) -> Self:
        wanted = f"contain one name for each of the {expected} candidates of a row"
        return cls("names", wanted, f"{received} names", "Pass one list of names per row.", where=Place(row=row))

    @classmethod
    def no_answers(cls, row: int) -> Self:
        remedy = NO_ANSWER
        return cls("every row", "have at least one answer", "none", remedy, where=Place(row=row))

    @classmethod
    def not_exact(cls, name: str, row: int, column: object, value: int) -> Self:
        return cls(
            name,
            "be numbers that float64 can store exactly",
            f"the integer {value}",
            "Subtract a constant from all numbers, or divide all numbers by a constant.",
            where=Place(row=row, column=column),
        )

    @classmethod
    def missing(cls, name: str, row: int, column: int) -> Self:
        remedy = NO_MARK if name in ("labels", "y") else FROM_THE_MODEL
        return cls(name, "not contain NaN", "NaN", remedy, where=Place(row=row, column=column))

    @classmethod
    def infinite(cls, name: str, row: int, column: int, value: float) -> Self:
        return cls(name, "be finite", str(value), FROM_THE_MODEL, where=Place(row=row, column=column))

    @classmethod
    def all_minus_infinity(cls, name: str, row: int) -> Self:
        expected, remedy = "have a finite entry in every row", "-inf means that a label is impossible."
        return cls(name, expected, "-inf in all columns", remedy, where=Place(row=row))

    @classmethod
    def negative(cls, name: str, row: int, column: int, value: float, total: float) -> Self:
        remedy = OTHER_KIND
        if value > -1e-6:
            fix = Either("Pass np.clip(probs, 0, None).", "Replace negative values by 0.")
            remedy = ("The value looks like a rounding error. ", fix)
        received = f"{value:.6g} (sum of the row: {total:.6g})"
        return cls(name, "be probabilities", received, remedy, where=Place(row=row, column=column))

    @classmethod
    def row_sum(cls, name: str, row: int, total: float) -> Self:
        remedy = MARGINS_OR_LOGITS
        if abs(total - 100.0) <= 1.0:
            remedy = PERCENTAGES
        expected = "have rows that sum to 1 within 0.01"
        return cls(name, expected, f"the sum {total:.6g}", remedy, where=Place(row=row))

    @classmethod
    def not_addable(cls, row: int, lowest: float, total: float) -> Self:
        return cls(
            "the result of a score's transform",
            "contain no negative entries, and the sum of every row must be below 8",
            f"a row with the lowest entry {lowest:.6g} and the sum {total:.6g}",
            "Normalise the rows so that each row sums to 1.",
            where=Place(row=row),
        )

    @classmethod
    def p_value(cls, row: int, column: int, value: float) -> Self:
        where = Place(row=row, column=column)
        return cls("p_values", "lie between 0 and 1", f"{value:.6g}", "Pass the result of Rule.p_values.", where=where)
