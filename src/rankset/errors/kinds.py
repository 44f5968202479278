"""Errors about values of the wrong type, and about packages that are not installed."""

from typing import Self

from rankset.errors.base import RanksetError
from rankset.errors.fields import Either, Option, Place, Text
from rankset.errors.values import short_repr, shorten


class KindError(RanksetError, TypeError):
    """A value of a type that cannot be used."""

    @classmethod
    def argument(cls, name: str, expected: Text, value: object) -> Self:
        return cls(name, ("be ", expected), short_repr(value))

    @classmethod
    def class_instead_of_object(cls, name: str, value: type) -> Self:
        kind = value.__name__
        return cls(name, "be an object", f"the class {kind}", f"Pass {kind}() with its parentheses.")

    @classmethod
    def not_a_matrix(cls, name: str, received: str, remedy: str) -> Self:
        return cls(name, "be a matrix of real numbers", received, remedy)

    @classmethod
    def cell(cls, name: str, row: int, column: int, value: object) -> Self:
        where = Place(row=row, column=column)
        return cls(name, "hold numbers only", short_repr(value), "Convert or drop that entry.", where=where)

    @classmethod
    def frame_column(cls, name: str, column: object, received: str) -> Self:
        expected = "hold numbers only, in one column per class"
        return cls(name, expected, received, "Drop or convert that column.", where=Place(column=column))

    @classmethod
    def frame_refused(cls, backend: str, reason: str) -> Self:
        why = shorten(" ".join(reason.split()))
        return cls(
            f"the labels in a column of {backend}",
            "be of one type",
            remedy=("Pass ", Option("backend", "pandas"), "."),
            reason=f"{backend} refuses these ({why})",
        )

    @classmethod
    def not_names(cls, name: str, received: str, remedy: str) -> Self:
        return cls(name, "hold one name or number per row", received, remedy)

    @classmethod
    def name(cls, what: str, value: object) -> Self:
        received = "NaN" if isinstance(value, float) else type(value).__name__
        expected = "be strings, numbers, booleans or objects that str() turns into a text of their own"
        return cls(what, expected, received, "Pass str(...) of them.")

    @classmethod
    def row_labels(cls, name: str, received: object) -> Self:
        return cls(
            name,
            "be row numbers or booleans, because the rows have an index of their own",
            f"an index, {short_repr(received)}",
            "Pass index.get_indexer(labels), where index is that of the rows, or True or False for every row.",
        )

    @classmethod
    def rows(cls, received: object) -> Self:
        expected = "be picked by a slice, by row numbers, or by an array with True or False for every row"
        return cls("rows", expected, short_repr(received), "Pass one of these.")

    @classmethod
    def no_whole_rule(cls, what: str, received: object) -> Self:
        return cls(
            what,
            "get objects of rankset.Rule, which answer at every alpha from one matrix",
            short_repr(received),
            "Pass what rankset.calibrate or rankset.load returns: the rule itself instead of rule.at(alpha), "
            "one rule instead of a rule of folds.",
        )

    @classmethod
    def pipeline_row(cls, name: str, row: int, value: object) -> Self:
        return cls(
            name,
            "hold a list of {'label': …, 'score': …} per text, each label once",
            short_repr(value),
            ("Pass what ", Either("pipeline(texts, top_k=None)", "the pipeline"), " returns."),
            where=Place(row=row),
        )

    @classmethod
    def batch(cls, where: object, received: str) -> Self:
        remedy = "Say where it is in the batch: a key, a position or a function."
        return cls("a batch", f"have {short_repr(where)}", received, remedy)

    @classmethod
    def no_labels_in_batch(cls) -> Self:
        remedy = ("Say where they are with ", Option("labels"), ": a key, a position or a function of the batch.")
        return cls("a batch", "hold labels, as (inputs, labels) or under 'labels'", "none", remedy)

    @classmethod
    def no_engine(cls, name: str, package: str) -> Self:
        return cls._not_installed(package, f"rankset.engines.{name}", f"Install rankset with [{name}].")

    @classmethod
    def no_narwhals(cls) -> Self:
        remedy = "Install rankset with [frames], or pass frame[classes].to_numpy()."
        return cls._not_installed("narwhals", "data frames", remedy)

    @classmethod
    def no_matplotlib(cls) -> Self:
        return cls._not_installed("matplotlib", "pictures", "Install rankset with [plots].")

    @classmethod
    def no_plotly(cls) -> Self:
        return cls._not_installed("plotly", "reports", "Install rankset with [report].")

    @classmethod
    def no_backend(cls, backend: str) -> Self:
        return cls._not_installed(
            backend, f"frames of {backend}", ("Install it, or choose another one with ", Option("backend"), ".")
        )

    @classmethod
    def _not_installed(cls, package: str, purpose: str, remedy: Text) -> Self:
        return cls(package, f"be installed for {purpose}", remedy=remedy, reason="it is not")
