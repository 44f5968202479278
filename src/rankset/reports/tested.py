"""What a report needs to know of a rule and of the rows on which it is tested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core import coverage_law
from rankset.core.alpha import Alpha, exact_alpha
from rankset.core.promise_argument import promise_of
from rankset.inputs.per_row import names_per_row
from rankset.inputs.prepare import Prepared
from rankset.inputs.row_index import RowIndex, is_default
from rankset.inputs.vocabulary import Names, distinct_labels, group_names, short
from rankset.rules.rule import Rule
from rankset.rules.spec import RuleSpec
from rankset.streams.exchangeability import Exchangeability, look_at_rows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ALPHAS = tuple(f"{percent / 100:g}" for percent in range(1, 51))
"""The values of alpha of the slider."""
CONFIDENCE = 0.9
SURE = 0.95
"""Confidence of the promise about this calibration, shown beside the promise about the mean over calibrations."""
NAME_WIDTH = 60
"""Longer names of classes and groups are truncated."""
ID_WIDTH = 200
"""Longer ids are truncated."""
MOST_CLASSES = 2000
"""Classes and groups are listed up to this number of them."""


@dataclass(frozen=True)
class LabelledRows:
    """Labels, groups and ids of the test rows, and the levels to look at.

    ``group_names`` is empty if there are no groups or too many to list. ``ids`` are names of the rows: those that were
    passed, or a pandas index that is not 0, 1, 2, …; None if there are neither. ``classes`` are the names of the
    columns, ``options`` the names of the candidates of each row, None if they have no names of their own.
    """

    labels: Ints
    group_names: list[str]
    group_codes: Ints
    ids: Any
    alphas: tuple[Fraction, ...]
    alpha: Fraction
    classes: Names
    options: NDArray[Any] | None = None

    @classmethod
    def of(cls, labels: Ints, data: Prepared, ids: ArrayLike | None, index: RowIndex, alpha: Alpha) -> LabelledRows:
        """Return the rows ``data`` with these labels (column numbers) and ids; ``index`` is that of the rows."""
        levels, level = levels_with(alpha)
        names, codes = _group_codes(data.groups, len(labels))
        found = _row_ids(ids, len(labels), index)
        return cls(labels, names, codes, found, levels, level, data.classes, data.options)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.labels)

    def option_of(self, row: int, column: int) -> str:
        """Return the name of a candidate of a row as a text in one line."""
        return short(
            str(self.classes.values[column] if self.options is None else self.options[row, column]), NAME_WIDTH
        )

    def id_of(self, row: int) -> str | None:
        """Return the id of a row as a text in one line, or None if there are no ids."""
        if self.ids is None:
            return None
        (name,) = self.ids[row : row + 1].tolist()
        return short(name, ID_WIDTH)


def levels_with(alpha: Alpha) -> tuple[tuple[Fraction, ...], Fraction]:
    """Return the values of alpha of the slider and ``alpha``, sorted, and ``alpha``."""
    level = exact_alpha(alpha)
    return tuple(sorted({*map(exact_alpha, ALPHAS), level})), level


class TestedRule(Protocol):
    """A rule, and the outputs of its model for the test rows."""

    @property
    def spec(self) -> RuleSpec:
        """Score, condition and names of the rule."""

    @property
    def counts(self) -> Ints:
        """Number of calibration rows in each group."""

    @property
    def absent(self) -> Ints:
        """Number of calibration rows in each group whose true label is not among the candidates."""

    def p_values(self, rows: Ints) -> Floats:
        """Return the p-values of every label of some rows."""

    @property
    def effective_rows(self) -> float | None:
        """How many calibration rows of equal weight are as many; None if rows have no weights."""

    def proven(self, alpha: Fraction) -> float | None:
        """Return the proven coverage if it is not 1 - ``alpha``, else None."""

    def exchangeability(self, labels: Ints) -> Exchangeability | None:
        """Return whether the test rows, with these labels, look like the calibration rows; None if it is not known."""

    def laws(self, n_rows: int, alphas: Sequence[Fraction]) -> dict[str, Any]:
        """Return what is expected of the coverage of ``n_rows`` rows, for the page; empty if it is not known."""

    @property
    def n(self) -> int:
        """Number of calibration rows that have labels."""

    @property
    def set_aside(self) -> int:
        """Number of calibration rows without labels."""

    def ranges(self, n_rows: int, alphas: Sequence[Fraction]) -> list[list[float]]:
        """Return the range that sampling variation gives on ``n_rows`` rows at each alpha; empty if it is not known."""

    def sure_alphas(self, alphas: Sequence[Fraction]) -> list[float] | None:
        """Return for each alpha the smaller one whose sets keep the promise at ``alpha`` with the confidence ``SURE``.

        None if it is not known, or if there are several thresholds.
        """


@dataclass(frozen=True)
class RuleOnRows:
    """A ``Rule`` and prepared test rows."""

    rule: Rule
    data: Prepared

    @property
    def spec(self) -> RuleSpec:
        """Score, condition and names of the rule."""
        return self.rule.spec

    @property
    def counts(self) -> Ints:
        """Number of calibration rows in each group."""
        return self.rule.calibration.counts

    @property
    def absent(self) -> Ints:
        """Number of calibration rows in each group whose true label is not among the candidates."""
        absent = self.rule.calibration.absent
        return np.zeros_like(self.counts) if absent is None else absent

    def p_values(self, rows: Ints) -> Floats:
        """Return the p-values of every label of some rows. Ids change draws only if they did so at calibration."""
        some = self.data.take(rows)
        groups = some.groups if self.rule.condition.needs_groups else None
        ids, masses = some.ids if self.spec.with_ids else None, some.masses if self.spec.weighted else None
        return self.rule._p_values(replace(some, groups=groups, ids=ids, masses=masses))

    @property
    def effective_rows(self) -> float | None:
        """How many calibration rows of equal weight are as many; None if rows have no weights."""
        return self.rule.effective_rows if self.spec.tells_effective_rows else None

    def proven(self, alpha: Fraction) -> float | None:  # noqa: ARG002
        """Return None, or 0 if nothing is proven."""
        return None if self.spec.guaranteed else 0.0

    def exchangeability(self, labels: Ints) -> Exchangeability | None:
        """Return whether the test rows, with these labels, look like the calibration rows; None if it is not known."""
        return look_at_rows(self.rule, [replace(self.data, labels=labels)])

    @property
    def n(self) -> int:
        """Number of calibration rows that have labels."""
        return self.rule.n

    @property
    def set_aside(self) -> int:
        """Number of calibration rows without labels."""
        return self.rule.set_aside

    def sure_alphas(self, alphas: Sequence[Fraction]) -> list[float] | None:
        """Return the alphas of the sets that keep the promise with confidence.

        A set contains the labels whose p-value, (1 + loss from the label on) / (1 + n), is larger than alpha. With
        a confidence the loss must be larger than what the promise allows. So both are the same question.
        """
        if not self.spec.has_law or self.absent.any():
            return None
        n, shares = int(self.counts[0]), self.rule.calibration.weights is not None
        allowed = [promise_of(alpha, SURE, shares=shares).allowed(n) for alpha in alphas]
        return [float((most + 1) / (n + 1)) for most in allowed]

    def ranges(self, n_rows: int, alphas: Sequence[Fraction]) -> list[list[float]]:
        """Return the range that sampling variation gives on ``n_rows`` rows; up to 1 where ties may raise coverage."""
        known = [law for alpha in alphas if (law := self.rule.at(alpha).law) is not None]
        return [list(law.sampling_range(n_rows, CONFIDENCE)) for law in known]

    def laws(self, n_rows: int, alphas: Sequence[Fraction]) -> dict[str, Any]:
        """Return the range of coverage and whether ties may raise it at every level, and the ranks of the paper."""
        rule = self.rule
        laws: dict[str, Any] = {}
        if self.spec.n_groups > 1:
            return {}
        if self.spec.has_law:
            known = [law for alpha in alphas if (law := rule.at(alpha).law) is not None]
            ranges = [coverage_law.sampling_range(n_rows, law.least_k, law.n, CONFIDENCE) for law in known]
            laws["band"] = [list(map(float, ends)) for ends in ranges]
            laws["tied"] = [not law.exact for law in known]
        if self.spec.traits.orders_by_rank and not self.spec.condition.needs_groups and not self.spec.weighted:
            profiles = [rule.rank_profile(alpha) for alpha in alphas]
            laws["ranks"] = profiles[0].counts.tolist()
            laws["r_star"] = [profile.r_star for profile in profiles]
            laws |= {"absent": profiles[0].absent} if profiles[0].absent else {}
        return laws


def _group_codes(groups: NDArray[Any] | None, n: int) -> tuple[list[str], Ints]:
    """The names of the rows' groups, none if there are too many to list, and the number of each row's group."""
    if groups is None:
        return [], np.zeros(n, dtype=np.int64)
    names = group_names(groups)
    return distinct_labels(names.values, NAME_WIDTH) if len(names) <= MOST_CLASSES else [], names.codes(groups)


def _row_ids(ids: ArrayLike | None, n: int, index: RowIndex) -> Any:  # noqa: ANN401
    """Names of the rows: ``ids``, or the index of the rows if it is not 0, 1, 2, …"""
    if ids is not None:
        return names_per_row(ids, n, index, name="ids")
    return None if index.index is None or is_default(index.index) else index.index
