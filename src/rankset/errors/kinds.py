"""Errors about values of the wrong type."""

from typing import Self

from rankset.errors.base import RanksetError
from rankset.errors.fields import Either, Option, Place, Text
from rankset.errors.values import short_repr, shorten

METHOD, SCORE = Option("method"), Option("score")


class KindError(RanksetError, TypeError):
    """A value of a type that cannot be used. It is also a ``TypeError``.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> try:
    ...     rs.calibrate(probs, labels, condition="per label")
    ... except rs.errors.KindError as error:
    ...     print(error)
    condition must be a condition such as Marginal() or PerLabel(), got 'per label'.
    """

    @classmethod
    def argument(cls, name: str, expected: Text, value: object) -> Self:
        return cls(name, ("be ", expected), short_repr(value))

    @classmethod
    def class_instead_of_object(cls, name: str, value: type) -> Self:
        kind = value.__name__
        return cls(name, "be an object", f"the class {kind}", f"Pass {kind}() with parentheses.")

    @classmethod
    def not_alpha(cls, function: str, word: str, value: object, alpha: float | None) -> Self:
        example: tuple[Text, ...] = (
            (Option("alpha", 0.05), " for 95% coverage")
            if alpha is None
            else (Option("alpha", alpha), f" for {word.replace('_', ' ')} {short_repr(value)}")
        )
        return cls(
            function,
            "be called with alpha",
            f"{word} {short_repr(value)}",
            ("rankset takes alpha, the allowed error rate: pass ", *example, "."),
        )

    @classmethod
    def confidence_elsewhere(cls, function: str, value: object, alpha: float | None) -> Self:
        meant = Option("alpha", 0.05 if alpha is None else alpha)
        promise = Either(f"rule.at(alpha, confidence={short_repr(value)})", "rankset predict --confidence")
        remedy = ("If you mean the coverage, pass ", meant, " only. Sets with a confidence are made by ", promise, ".")
        return cls(function, "be called without a confidence beside alpha", f"confidence {short_repr(value)}", remedy)

    @classmethod
    def clusters_by_name(cls, received: object) -> Self:
        remedy = "Pass [clusters[name] for name in classes], with the class names in the order of the columns."
        expected = "a list with one cluster name per class, in column order"
        return cls("clusters", f"be {expected}", f"the mapping {short_repr(received)}", remedy)

    @classmethod
    def numbers_by_name(cls, name: str, expected: str, received: object) -> Self:
        remedy = f"Pass [{name}[name] for name in classes], with the class names in the order of the columns."
        return cls(name, f"be {expected}", f"{short_repr(received)}, which is in an order of its own", remedy)

    @classmethod
    def class_without_rows(cls, name: object) -> Self:
        remedy = "Leave the class out, or pass counts of your own, such as at least 1 for every class."
        return cls("labels", "contain every class", f"no row of class {short_repr(name)}", remedy)

    @classmethod
    def shared_rows_inside(cls, outer: str, inner: object) -> Self:
        remedy = "Put Pooled around the whole condition, as in Pooled(PerLabelAndGroup())."
        return cls(f"condition of {outer}", "be a condition whose groups do not share rows", short_repr(inner), remedy)

    @classmethod
    def confidence_missing(cls, name: str) -> Self:
        flag = f"--{name.replace('_', '-')}"
        remedy = ("Pass ", Option("confidence", 0.95), " too, or leave out ", Either(name, flag), ".")
        return cls(name, "be passed only together with a confidence", "no confidence", remedy)

    @classmethod
    def confidence_of_folds(cls, name: str) -> Self:
        why = "the models of the folds share training rows, so it is not known how far coverage is from its mean"
        remedy = "Fit with Holdout() or GivenSplit() as the split."
        return cls(name, f"not be passed for a classifier of several folds, because {why}", remedy=remedy)

    @classmethod
    def alpha_missing(cls, function: str) -> Self:
        remedy: Text = ("Pass alpha, the allowed error rate, such as ", Option("alpha", 0.05), " for 95% coverage.")
        return cls(function, "be called with alpha", "no alpha", remedy)

    @classmethod
    def alpha_missing_beside(cls, function: str, confidence: object, alpha: float | None) -> Self:
        remedy: Text = (
            "If you mean the coverage, pass ",
            Option("alpha", 0.05 if alpha is None else alpha),
            " instead. confidence is the probability that the promise holds for this calibration: pass both.",
        )
        return cls(function, "be called with alpha", ("only the confidence ", short_repr(confidence)), remedy)

    @classmethod
    def alpha_belongs_to(cls, method: str, function: str, word: str, value: object, alpha: float | None) -> Self:
        example = Option("alpha", 0.05 if alpha is None else alpha)
        return cls(
            function,
            "be called without a level",
            f"{word} {short_repr(value)}",
            (f"alpha, the allowed error rate, belongs to {method}: call {method} with ", example, "."),
        )

    @classmethod
    def not_a_matrix(cls, name: str, received: str, remedy: str) -> Self:
        return cls(name, "be a matrix of real numbers", received, remedy)

    @classmethod
    def cell(cls, name: str, row: int, column: object, value: object) -> Self:
        where = Place(row=row, column=column)
        remedy = "Convert that entry, or drop that row."
        return cls(name, "contain only numbers", short_repr(value), remedy, where=where)

    @classmethod
    def frame_column(cls, name: str, column: object, received: str) -> Self:
        expected = "contain only numbers, in one column per class"
        return cls(name, expected, received, "Convert that column to numbers, or drop it.", where=Place(column=column))

    @classmethod
    def frame_refused(cls, backend: str, reason: str) -> Self:
        why = shorten(" ".join(reason.split()))
        return cls(
            f"labels in a {backend} column",
            "have the same type",
            remedy=Either("Pass backend='pandas'.", "Use class names of the same type."),
            reason=f"{backend} cannot store these labels ({why})",
        )

    @classmethod
    def not_names(cls, name: str, received: str, remedy: str) -> Self:
        return cls(name, "contain one name or number per row", received, remedy)

    @classmethod
    def name(cls, what: str, value: object) -> Self:
        received = "NaN" if isinstance(value, float) else type(value).__name__
        expected = "be strings, numbers, booleans, or hashable objects that define __str__ or __repr__"
        return cls(what, expected, received, "Convert them to strings.")

    @classmethod
    def absent(cls, what: str) -> Self:
        remedy = "Use rankset.ABSENT only as a label of a row whose true label is not among its candidates."
        return cls(what, "be names or numbers", "rankset.ABSENT", remedy)

    @classmethod
    def method_twice(cls, method: object, score: object) -> Self:
        return cls(
            "method",
            ("be passed once, because ", METHOD, " and ", SCORE, " are two names for the same argument"),
            (f"{short_repr(method)} as ", METHOD, f" and {short_repr(score)} as ", SCORE),
            ("Pass ", METHOD, " only."),
        )

    @classmethod
    def method_not_score(cls) -> Self:
        return cls(
            "the score of a ConformalClassifier",
            ("be passed as ", METHOD),
            SCORE,
            "In scikit-learn every classifier has a method score(X, y), so no parameter can have this name.",
        )

    @classmethod
    def auto_in_parts(cls) -> Self:
        return cls(
            "method",
            "be a score or the name of one if rows are calibrated in parts",
            "'auto', which needs all of its rows at once",
            ("Pass some of the rows to rankset.auto, and the score of its rule as ", METHOD, " with the other rows."),
        )

    @classmethod
    def auto_confidence_in_parts(cls) -> Self:
        chosen = Option("confidence", "auto")
        return cls(
            "confidence",
            "be a score or the name of one if the rows of a triage come in parts",
            "'auto', which needs all of its rows at once",
            (
                *("Pass some of the rows to rankset.triage with ", chosen, ", and the score of its result as "),
                *(Option("confidence"), " with the other rows."),
            ),
        )

    @classmethod
    def ids_with_auto(cls) -> Self:
        remedy = ("Do not pass ", Option("ids"), ".")
        method = Option("method", "auto")
        return cls("ids", ("not be passed with ", method, ", which draws no random numbers"), "ids", remedy)

    @classmethod
    def no_ids(cls) -> Self:
        return cls(
            "fit of ConformalClassifier",
            "get no ids",
            "ids",
            ("Pass the outputs of the trained model to rankset.calibrate, with ", Option("ids"), "."),
        )

    @classmethod
    def row_labels(cls, name: str, received: object) -> Self:
        return cls(
            name,
            "be row numbers or booleans, not labels of an index",
            short_repr(received),
            "Pass index.get_indexer(labels), where index is the index of the rows. Or pass one boolean for every row.",
        )

    @classmethod
    def rows(cls, received: object) -> Self:
        expected = "be selected by a slice, by row numbers, or by one boolean for every row"
        return cls("rows", expected, short_repr(received))

    @classmethod
    def no_whole_rule(cls, what: str, received: object) -> Self:
        return cls(
            what,
            "get objects of the class rankset.Rule",
            short_repr(received),
            "Pass the result of rankset.calibrate or rankset.load. Do not pass rule.at(alpha) or a CrossRule. "
            "For a model with several folds, call its method report.",
        )

    @classmethod
    def pipeline_row(cls, name: str, row: int, value: object) -> Self:
        return cls(
            name,
            "contain a list of {'label': …, 'score': …} per text, with each label once",
            short_repr(value),
            ("Pass the result of ", Either("pipeline(texts, top_k=None)", "the pipeline"), "."),
            where=Place(row=row),
        )

    @classmethod
    def no_candidate_names(cls) -> Self:
        return cls("Ragged rows", "have names of candidates", "none", "Pass dictionaries, or names, to Ragged.of.")

    @classmethod
    def named_row(cls, name: str, row: int, value: object) -> Self:
        return cls(
            name,
            "be dictionaries in all rows if the first row is one",
            short_repr(value),
            "Pass every row as a dictionary, such as {'A': -0.1, 'B': -3.0}, or as the list of the top tokens of one "
            "position, such as [{'token': 'A', 'logprob': -0.1}, {'token': 'B', 'logprob': -3.0}].",
            where=Place(row=row),
        )

    @classmethod
    def batch(cls, where: object, received: str) -> Self:
        remedy = "Pass the key or position of this entry in the batch, or a function that returns it."
        return cls("a batch", f"contain the entry {short_repr(where)}", received, remedy)

    @classmethod
    def no_labels_in_batch(cls) -> Self:
        place = "the key or position of the labels in the batch, or a function that returns the labels"
        remedy = (f"Pass {place}, as ", Either("labels=", "labels"), ".")
        return cls("a batch", "contain labels, as (inputs, labels) or under the key 'labels'", "none", remedy)
