"""Errors about row numbers."""

from typing import Self

from rankset.errors.base import RanksetError


class RowError(RanksetError, IndexError, ValueError):
    """Rows that do not exist. It is also an ``IndexError``, as Python expects of sequences, and a ``ValueError``.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rule = rs.calibrate(probs, labels)
    >>> sets = rule.predict(probs, alpha=0.1)
    >>> try:
    ...     sets[1000]
    ... except rs.errors.RowError as error:
    ...     print(error)
    a row number must belong to one of the 260 rows, got 1000. Rows are counted from 0.
    """

    @classmethod
    def number(cls, n_rows: int, row: int) -> Self:
        return cls("a row number", f"belong to one of the {n_rows} rows", str(row), "Rows are counted from 0.")

    @classmethod
    def mask(cls, expected: int, received: int) -> Self:
        return cls("a mask of rows", f"have one boolean for each of the {expected} rows", f"{received} booleans")
