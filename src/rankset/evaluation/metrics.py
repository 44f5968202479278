"""What sets are worth once the labels are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset import notebook
from rankset.core import coverage_law
from rankset.core.alpha import Alpha, exact_alpha
from rankset.errors import InputError, KindError, LevelError
from rankset.inputs.per_row import label_codes, names_per_row
from rankset.inputs.row_index import RowIndex
from rankset.inputs.vocabulary import Name, group_names
from rankset.sets import PredictionSets

Strata = Sequence[int]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PAPER_STRATA: Strata = (1, 3, 10, 100, 1000)
"""The largest set size of each stratum the paper pools for SSCV (0–1, 2–3, …); larger sets make one more."""
EMPTY_APART: Strata = (0, *PAPER_STRATA)
"""The same with empty sets in a stratum of their own."""

SHOWN_CLASSES = 10
EMPTY_REMARK = "no label looks usual enough there; a smaller alpha or predict(..., empty='top') leaves fewer"


@dataclass(frozen=True)
class Share:
    """How often something holds among the rows of one part (a class, a group)."""

    name: Name
    n: int
    coverage: float
    mean_size: float


@dataclass(frozen=True, repr=False, eq=False)
class Evaluation:
    """How sets did on ``n`` labelled rows at ``alpha``. Print it for a summary.

    * ``interval``: exact interval for the coverage of the rule on all future rows, from these ``n`` rows alone;
    * ``expected``: where the coverage seen on ``n`` rows falls by luck alone, given how many rows calibrated the rule;
      up to 1 where ties or filled sets raise it, None where thresholds are several, rows were picked (``sets[mask]``)
      or nothing is known;
    * ``sscv``, ``sscv_empty_apart``: the largest gap between coverage and 1 - alpha in any stratum of set sizes (0–1,
      2–3, 4–10, 11–100, 101–1000, more; or 0, 1, 2–3, …), and ``strata``, the two strata it comes from;
    * ``singleton_hits``: the share of one-label sets that hold the true label (nan without such sets);
    * ``classes``, ``groups``: the same by true class (those that occur) and by row group;
    * ``class_gap``: mean distance of the classes' coverage from 1 - alpha; ``macro_coverage``: its mean.
    """

    alpha: float
    n: int
    coverage: float
    interval: tuple[float, float]
    expected: tuple[float, float] | None
    confidence: float
    mean_size: float
    size_counts: Ints
    empty_rate: float
    singleton_rate: float
    singleton_hits: float
    sscv: float
    sscv_empty_apart: float
    strata: tuple[Share, Share]
    classes: tuple[Share, ...]
    class_gap: float
    macro_coverage: float
    groups: tuple[Share, ...] = ()

    @property
    def worst_class(self) -> Share:
        """The class with the lowest coverage (the one with most rows, if several)."""
        return min(self.classes, key=lambda share: (share.coverage, -share.n))

    def __repr__(self) -> str:
        return "\n".join([self._title, *(_line(*fact) for fact in self._facts())])

    def _repr_html_(self) -> str:
        facts = [
            (name, "" if value is None else f"{value:.4f}", notebook.faint(remark))
            for name, value, remark in self._facts()
        ]
        by_class = [
            (
                share.name,
                f"{share.n:,}",
                notebook.bar(share.coverage, f"{share.coverage:.4f}"),
                f"{share.mean_size:.3f}",
            )
            for share in sorted(self.classes, key=lambda share: share.coverage)[:SHOWN_CLASSES]
        ]
        more = f"Classes covered least, {len(by_class)} of {len(self.classes):,}" if self.classes else ""
        head = ("class", "rows", "coverage", "mean size")
        return notebook.card(self._title, notebook.table(facts), notebook.faint(more), notebook.table(by_class, head))

    @property
    def _title(self) -> str:
        return f"Evaluation of {self.n:,} rows at alpha={self.alpha:g}"

    def _facts(self) -> list[tuple[str, float | None, str]]:
        """Name, value and remark of everything a summary tells."""
        percent, worst, (low, high) = f"{self.confidence:.0%}", self.worst_class, self.interval
        pooled, apart = map(_told, self.strata)
        right = f"right in {self.singleton_hits:.4f} of them" if self.singleton_rate else "no such set"
        lowest = f"lowest {worst.coverage:.4f} for {worst.name!r} ({worst.n:,} rows)"
        return [
            (
                "coverage",
                self.coverage,
                f"asked {1 - self.alpha:g}; {percent} interval from these rows {low:.4f} to {high:.4f}",
            ),
            *self._luck(percent),
            ("mean size", self.mean_size, f"sizes {_histogram(self.size_counts)}"),
            ("empty sets", self.empty_rate, EMPTY_REMARK if self.empty_rate else ""),
            ("single labels", self.singleton_rate, right),
            ("SSCV", self.sscv, f"from {pooled}"),
            ("SSCV*", self.sscv_empty_apart, f"from {apart}, empty sets a stratum of their own"),
            ("class gap", self.class_gap, f"macro coverage {self.macro_coverage:.4f}; {lowest}"),
            *(
                (f"group {share.name!r}", share.coverage, f"{share.n:,} rows, mean size {share.mean_size:.3f}")
                for share in self.groups
            ),
        ]

    def _luck(self, percent: str) -> list[tuple[str, None, str]]:
        if self.expected is None:
            return []
        low, high = self.expected
        verdict = "inside" if low <= self.coverage <= high else "OUTSIDE"
        told = f"expected by luck alone {low:.4f} to {high:.4f}, in {percent} of calibrations: {verdict}"
        return [("", None, told)]


def evaluate(
    sets: PredictionSets,
    labels: ArrayLike,
    alpha: Alpha | None = None,
    *,
    groups: ArrayLike | None = None,
    confidence: float = 0.9,
) -> Evaluation:
    """How ``sets`` did, now that the ``labels`` are known; ``groups`` adds the same by group of rows.

    Labels and groups are in the order of the rows. Where several of rows, labels and groups have an index (pandas),
    the indexes must agree.

    >>> sets = PredictionSets.from_mask([[True, False], [True, True], [False, True], [True, False]])
    >>> evaluate(sets, [0, 1, 1, 1], alpha=0.25).coverage
    0.75
    """
    if not isinstance(sets, PredictionSets):
        raise KindError.argument("sets", "PredictionSets, as Rule.predict returns them", type(sets).__name__)
    if len(sets) == 0:
        raise InputError.no_rows_to_evaluate()
    asked = _level(sets, alpha)
    index = sets._index
    codes = label_codes(labels, sets.names, len(sets), index)
    covered, sizes, n = sets.covers(labels), sets.sizes, len(sets)
    single = sizes == 1
    by_class = _shares(sets.names.array, codes, covered, sizes)
    class_coverage = np.array([share.coverage for share in by_class])
    return Evaluation(
        alpha=float(asked),
        n=n,
        coverage=float(covered.mean()),
        interval=coverage_law.binomial_interval(int(covered.sum()), n, confidence),
        expected=_expected(sets, asked, n, confidence),
        confidence=confidence,
        mean_size=float(sizes.mean()),
        size_counts=np.bincount(sizes),
        empty_rate=float((sizes == 0).mean()),
        singleton_rate=float(single.mean()),
        singleton_hits=float(covered[single].mean()) if single.any() else np.nan,
        sscv=sscv(covered, sizes, asked),
        sscv_empty_apart=sscv(covered, sizes, asked, strata=EMPTY_APART),
        strata=(_worst(covered, sizes, asked, PAPER_STRATA), _worst(covered, sizes, asked, EMPTY_APART)),
        classes=by_class,
        class_gap=float(np.abs(class_coverage - float(1 - asked)).mean()),
        macro_coverage=float(class_coverage.mean()),
        groups=() if groups is None else _by_group(groups, covered, sizes, index),
    )


def sscv(covered: Bools, sizes: Ints, alpha: Alpha, *, strata: Strata = PAPER_STRATA) -> float:
    """Size-stratified coverage violation: the largest gap between coverage and 1 - alpha in any stratum.

    >>> sscv(np.array([True, True, False]), np.array([1, 2, 2]), 0.1)
    0.4
    """
    stratum = np.searchsorted(strata, sizes)
    rows = np.bincount(stratum)
    hits = np.bincount(stratum, weights=covered)[rows > 0]
    return float(np.abs(hits / rows[rows > 0] - float(1 - exact_alpha(alpha))).max())


def _worst(covered: Bools, sizes: Ints, alpha: Fraction, strata: Strata) -> Share:
    """The stratum that SSCV comes from."""
    firsts = [0, *(last + 1 for last in strata)]
    names = [*(_range(first, last) for first, last in zip(firsts, strata, strict=False)), f"over {strata[-1]}"]
    shares = _shares(np.array(names), np.searchsorted(strata, sizes), covered, sizes)
    return max(shares, key=lambda share: abs(share.coverage - float(1 - alpha)))


def _range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}–{last}"


def _level(sets: PredictionSets, alpha: Alpha | None) -> Fraction:
    if alpha is not None:
        return exact_alpha(alpha)
    if sets.level is None:
        raise LevelError.missing()
    return sets.level


def _expected(sets: PredictionSets, alpha: Fraction, n: int, confidence: float) -> tuple[float, float] | None:
    """The central range of coverage on ``n`` rows that the beta-binomial law fills with ``confidence``."""
    law = sets.law
    if law is None or sets.level != alpha:
        return None
    low, high = coverage_law.sampling_range(n, law.k, law.n, confidence)
    return low, high if law.exact else 1.0


def _shares(names: NDArray[Any], codes: Ints, covered: Bools, sizes: Ints) -> tuple[Share, ...]:
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


def _by_group(groups: ArrayLike, covered: Bools, sizes: Ints, index: RowIndex) -> tuple[Share, ...]:
    rows = names_per_row(groups, len(sizes), index)
    names = group_names(rows)
    return _shares(names.array, names.codes(rows), covered, sizes)


def _told(stratum: Share) -> str:
    return f"sets of size {stratum.name} ({stratum.n:,} rows, coverage {stratum.coverage:.4f})"


def _line(name: str, value: float | None, remark: str) -> str:
    return f"  {name:<16}{'' if value is None else f'{value:.4f}':>7}  {remark}".rstrip()


def _histogram(counts: Ints) -> str:
    """Up to eight sizes with their counts, the rest pooled."""
    sizes = np.flatnonzero(counts)
    shown = [f"{size}: {counts[size]:,}" for size in sizes[:8]]
    if len(sizes) > 8:
        shown.append(f"{sizes[8]}–{sizes[-1]}: {counts[sizes[8] :].sum():,}")
    return ", ".join(shown)
