"""Rows as dictionaries, label: number. So come top log-probabilities of an API, and counts of sampled answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.arrays import EXACT
from rankset.errors import InputError, KindError, LabelError
from rankset.inputs import huggingface
from rankset.inputs.vocabulary import Array, Name, in_order, plain

Row = dict[Name, float]


def are_named(values: object) -> bool:
    """Return whether ``values`` are rows as dictionaries or, for one, as lists of tokens and log-probabilities."""
    if isinstance(values, np.ndarray):
        listed = values.ndim == 1 and values.dtype.kind == "O"
    else:  # lists, and series of pandas
        listed = isinstance(values, list | tuple) or (
            hasattr(values, "iloc") and getattr(getattr(values, "dtype", None), "kind", "") == "O"
        )
    return listed and len(values) > 0 and is_named_row(next(iter(values)))  # type: ignore[arg-type, call-overload]


def from_structs(values: Any) -> Any:  # noqa: ANN401
    """Return a polars series or an Arrow array of structs as a list of dictionaries without nulls; others unchanged."""
    text = str(getattr(values, "dtype", getattr(values, "type", ""))).lower()
    if not text.startswith("struct") or type(values).__module__.partition(".")[0] not in {"polars", "pyarrow"}:
        return values
    rows = values.to_list() if hasattr(values, "to_list") else values.to_pylist()
    return [{name: value for name, value in (row or {}).items() if value is not None} for row in rows]


def is_named_row(row: object) -> bool:
    """Return whether ``row`` is a dictionary of numbers, or a list of tokens and log-probabilities."""
    row = top_tokens(row)
    if isinstance(row, Mapping):
        return not huggingface.is_scored(row)
    return isinstance(row, list | tuple) and len(row) > 0 and _is_token(row[0])


def match_columns(
    values: Iterable[Any], classes: Iterable[object] | None, kind: str, name: str = "probs"
) -> tuple[NDArray[np.float64], list[Name]]:
    """Return a matrix with one column per class, and the classes: those given, or all names in natural order.

    Where a row lacks a class the entry is 0 for kind "probs", and -inf for other kinds. Counts become frequencies.
    """
    if kind == "binary":
        raise InputError.named_binary(name)
    rows = [read_row(row, number, kind, name) for number, row in enumerate(values)]
    wanted = natural_order({label for row in rows for label in row}) if classes is None else list(in_order(classes))
    places = {label: place for place, label in enumerate(wanted)}
    matrix = np.full((len(rows), len(wanted)), 0.0 if kind == "probs" else -np.inf)
    for number, row in enumerate(rows):
        unknown = [label for label in row if label not in places]
        if unknown:
            raise InputError.unknown_names(name, number, unknown, wanted)
        matrix[number, [places[label] for label in row]] = list(row.values())
    return matrix, wanted


def natural_order(names: Iterable[Name]) -> list[Name]:
    """Return names in an order that does not depend on that of the rows: LABEL_2 before LABEL_10.

    >>> natural_order(["b10", "b2", "a"])
    ['a', 'b2', 'b10']
    """
    return sorted(names, key=lambda label: (huggingface.natural_key(label), type(label).__name__))


def read_row(row: Any, number: int, kind: str, name: str = "probs") -> Row:  # noqa: ANN401
    """Return one row as a dictionary of plain names and floats; counts of a ``Counter`` become frequencies."""
    pairs = read_pairs(row, number, name)
    if not pairs:
        raise InputError.no_candidates(name, number)
    labels = [plain(label, "class names") for label, _ in pairs]
    read = {label: _number(value, number, label, name) for label, (_, value) in zip(labels, pairs, strict=True)}
    if len(read) < len(pairs):
        raise LabelError.duplicate_candidates(number, [label for label, count in Counter(labels).items() if count > 1])
    return _frequencies(read, number, kind, name) if isinstance(row, Counter) else read


def read_pairs(row: Any, number: int, name: str) -> Sequence[tuple[Any, Any]]:  # noqa: ANN401
    """Return names and numbers of a row."""
    inner = top_tokens(row)
    if isinstance(inner, Mapping):
        return list(inner.items())
    if isinstance(inner, list | tuple) and all(map(_is_token, inner)) and not any(map(_top_tokens_of, inner)):
        return [_token_and_log_prob(entry) for entry in inner]
    raise KindError.named_row(name, number, row)


def top_tokens(row: Any) -> Any:  # noqa: ANN401
    """Return the top tokens of a row that is one position of an answer, or a list of one position; others as they are.

    >>> top_tokens([{"token": "A", "logprob": -0.1, "top_logprobs": [{"token": "A", "logprob": -0.1}]}])
    [{'token': 'A', 'logprob': -0.1}]
    """
    alone = row[0] if isinstance(row, list | tuple) and len(row) == 1 else row
    return _top_tokens_of(alone) or row


def _top_tokens_of(entry: Any) -> Any:  # noqa: ANN401
    """Return the top tokens at the position of a token, as APIs of language models return them; None without them."""
    is_mapping = isinstance(entry, Mapping)
    found = entry.get("top_logprobs") if is_mapping else getattr(entry, "top_logprobs", None)
    return found if isinstance(found, list | tuple | Mapping) and found else None


def _is_token(entry: object) -> bool:
    """Return whether ``entry`` has a token and its log-probability: as entries, as attributes, or as a pair."""
    if isinstance(entry, tuple | list) and len(entry) == 2:
        return isinstance(entry[0], str) and isinstance(entry[1], Real) and not isinstance(entry[1], bool)
    if isinstance(entry, Mapping):
        return "logprob" in entry and ("token" in entry or "text" in entry)
    return hasattr(entry, "logprob") and (hasattr(entry, "token") or hasattr(entry, "text"))


def _token_and_log_prob(entry: Any) -> tuple[Any, Any]:  # noqa: ANN401
    if isinstance(entry, tuple | list):
        return entry[0], entry[1]
    if isinstance(entry, Mapping):
        return entry["token" if "token" in entry else "text"], entry["logprob"]
    return entry.token if hasattr(entry, "token") else entry.text, entry.logprob


def _number(value: Any, row: int, label: Name, name: str) -> float:  # noqa: ANN401
    """Return a number as a float; raise an error for texts, missing values and integers that would be rounded."""
    try:
        number = float("" if isinstance(value, str | bytes) or value is np.ma.masked else value)
    except (TypeError, ValueError, OverflowError):
        raise KindError.cell(name, row, label, value) from None
    if isinstance(value, int) and abs(value) > EXACT and number != value:
        raise InputError.not_exact(name, row, label, value)
    return number


def _frequencies(counts: Row, number: int, kind: str, name: str) -> Row:
    """Return counts divided by their sum."""
    total = sum(counts.values())
    if kind != "probs":
        raise InputError.counts_kind(name, number, kind)
    if not 0 < total < np.inf or min(counts.values()) < 0:
        raise InputError.counts(name, number, total)
    return {label: count / total for label, count in counts.items()}


def padded_names(rows: Sequence[Sequence[object]], counts: NDArray[np.int64], n_columns: int) -> Array:
    """Return the names of the candidates of each row as an object array (n, K), with None as padding."""
    padded = np.full((len(counts), n_columns), None, dtype=object)
    for number, (row, count) in enumerate(zip(rows, counts.tolist(), strict=True)):
        names = [plain(name, "names of candidates") for name in row]
        if len(names) != count:
            raise InputError.candidate_names(number, count, len(names))
        if len(set(names)) < len(names):
            repeated = [name for name, several in Counter(names).items() if several > 1]
            raise LabelError.duplicate_candidates(number, repeated)
        padded[number, :count] = names
    return padded
