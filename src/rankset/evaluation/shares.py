"""Coverage and mean set size of parts of the rows: classes, groups, strata of set sizes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core.coverage_law import binomial_interval
from rankset.evaluation.metrics import Bools, Ints, Strata
from rankset.inputs.per_row import names_per_row
from rankset.inputs.row_index import RowIndex
from rankset.inputs.vocabulary import Name, Names, group_names


@dataclass(frozen=True)
class Share:
    """Coverage and mean set size of some of the rows: a class, a group, or a range of set sizes.

    Attributes
    ----------
    name
        The class, the group, or the range of set sizes.
    n
        Number of rows.
    coverage
        Fraction of these rows whose set contains the true label.
    mean_size
        Mean number of labels in the sets of these rows.

    Examples
    --------
    >>> import rankset as rs
    >>> sets = rs.PredictionSets.from_mask([[True, False], [True, True], [False, True]])
    >>> rs.evaluate(sets, [0, 0, 0], alpha=0.1).worst_class
    Share(name=0, n=3, coverage=0.6666666666666666, mean_size=1.3333333333333333)
    """

    name: Name
    n: int
    coverage: float
    mean_size: float

    def interval(self, confidence: float = 0.9) -> tuple[float, float]:
        """Return the exact (Clopper-Pearson) confidence interval for the coverage of such rows.

        Parameters
        ----------
        confidence
            Confidence of the interval, strictly between 0 and 1.

        Returns
        -------
        tuple of float
            The lower and the upper end.

        Examples
        --------
        >>> import rankset as rs
        >>> sets = rs.PredictionSets.from_mask([[True, False], [True, True], [False, True]])
        >>> low, high = rs.evaluate(sets, [0, 0, 0], alpha=0.1).worst_class.interval()
        >>> round(low, 4), round(high, 4)
        (0.1354, 0.983)
        """
        return _interval(round(self.coverage * self.n), self.n, confidence)


@lru_cache(maxsize=10_000)
def _interval(hits: int, n: int, confidence: float) -> tuple[float, float]:
    return binomial_interval(hits, n, confidence)


def shares_of(names: NDArray[Any], codes: Ints, covered: Bools, sizes: Ints) -> tuple[Share, ...]:
    """Return one share per name that has rows; ``codes`` gives the number of each row's name, -1 if it has none."""
    if len(codes) and codes.min() < 0:
        named = codes >= 0
        codes, covered, sizes = codes[named], covered[named], sizes[named]
    counts = np.bincount(codes, minlength=len(names))
    hits = np.bincount(codes, weights=covered, minlength=len(names))
    totals = np.bincount(codes, weights=sizes, minlength=len(names))
    return tuple(
        Share(
            names[code].item() if isinstance(names[code], np.generic) else names[code],
            int(n),
            float(hits[code] / n),
            float(totals[code] / n),
        )
        for code, n in enumerate(counts)
        if n
    )


class Groups(NamedTuple):
    """Names of groups, and the number of the group of each row."""

    names: Names
    codes: Ints


def groups_of(groups: ArrayLike | None, n: int, index: RowIndex) -> Groups | None:
    """Return the groups of ``n`` rows, by one name per row; None if there are no groups."""
    if groups is None:
        return None
    rows = names_per_row(groups, n, index)
    names = group_names(rows)
    return Groups(names, names.codes(rows))


def shares_by_group(groups: Groups | None, covered: Bools, sizes: Ints) -> tuple[Share, ...]:
    """Return one share per group, none without groups."""
    return () if groups is None else shares_of(groups.names.array, groups.codes, covered, sizes)


def worst_stratum(covered: Bools, sizes: Ints, alpha: Fraction, strata: Strata) -> Share:
    """Return the stratum of set sizes whose coverage is farthest from 1 - alpha."""
    firsts = [0, *(last + 1 for last in strata)]
    names = [*(_range(first, last) for first, last in zip(firsts, strata, strict=False)), f"over {strata[-1]}"]
    shares = shares_of(np.array(names), np.searchsorted(strata, sizes), covered, sizes)
    return max(shares, key=lambda share: abs(share.coverage - float(1 - alpha)))


def _range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}–{last}"
