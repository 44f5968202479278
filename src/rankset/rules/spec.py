"""RuleSpec: score, condition, kind, seed and names of a rule. Calibrations with equal specs can be merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.conditions import (
    Condition,
    Marginal,
    PerGroup,
    Pooled,
    checked_condition,
    group_numbers,
    shares_rows,
    sharing_of,
)
from rankset.core.arrays import equal_values, is_whole
from rankset.core.sharing import Sharing
from rankset.errors import KindError, LabelError, RuleError, ScoreError, join_names
from rankset.inputs.column_numbers import are_column_numbers
from rankset.inputs.matrix import MARGINAL, Kind
from rankset.inputs.prepare import Prepared
from rankset.inputs.ragged import Ragged
from rankset.inputs.vocabulary import Array, Names, group_names, union
from rankset.scores import BUILT_IN
from rankset.scores.any_width import takes_any_width
from rankset.scores.base import Score, checked_score
from rankset.scores.declarations import Traits, checked_traits, traits
from rankset.targets import Cost, OneLabel, Target
from rankset.targets.base import has_several_labels, is_about_false_labels

Ints = NDArray[np.int64]

NO_NAMES = Names(())
ONE_LABEL = OneLabel()
SHARED = ("target", "score", "condition", "kind", "classes", "seed", "with_ids", "weighted")
"""Fields that must be equal in calibrations that are merged; the first that differs is told."""


@dataclass(frozen=True, eq=False)
class RuleSpec:
    """The settings of a rule: score, condition, kind, seed, class names, group names, whether ids are used, whether
    coverage is proven, the target, and whether rows have weights. Coverage is not proven if labels were used to select
    the calibration rows."""

    score: Score
    condition: Condition
    kind: Kind
    seed: int
    classes: Names
    with_ids: bool = False
    groups: Names = NO_NAMES
    guaranteed: bool = True
    target: Target = ONE_LABEL
    weighted: bool = False

    @classmethod
    def of(
        cls,
        score: Score | str,
        condition: Condition,
        kind: Kind,
        seed: int,
        classes: Names,
        target: Target = ONE_LABEL,
    ) -> RuleSpec:
        """Return a spec; raise an error if a part of it is invalid or the parts do not fit together."""
        checked_condition(condition)
        if not (type(seed) is int or is_whole(seed)) or not -(2**63) <= seed < 2**64:
            raise KindError.argument("seed", "an integer of at most 64 bits", seed)
        names = None if isinstance(classes.values, range) else classes.values
        measure = checked_score(score)
        declared = checked_traits(measure, names, len(classes.values))
        if kind == "decision" and declared.needs_probs:
            raise ScoreError.needs_probabilities(measure)
        if kind in MARGINAL and (declared.uses_mass or not declared.takes_marginals):
            raise ScoreError.needs_one_label(measure)
        named = _named_costs(target, classes)
        if named != ONE_LABEL and shares_rows(condition):
            raise RuleError.shared_rows_need_one_label(condition, named)
        return cls(measure, condition, kind, int(seed), classes, target=named)._with_traits(declared)

    def _with_traits(self, declared: Traits) -> RuleSpec:
        """Remember the traits of the score, which are known already."""
        self.__dict__["traits"] = declared
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RuleSpec):
            return NotImplemented
        same = self.groups == other.groups and self.guaranteed == other.guaranteed
        return same and self.difference(other) is None

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone for pickling, nothing that is computed from them."""
        return {name: getattr(self, name) for name in type(self).__dataclass_fields__}

    @cached_property
    def traits(self) -> Traits:
        """What the score declares about itself."""
        return traits(self.score)

    @cached_property
    def built_in(self) -> bool:
        """Whether the score is one of rankset's, also behind a wrapper. Other scores may do anything with cells."""
        score = self.score
        while type(score) in BUILT_IN and hasattr(score, "score"):
            score = score.score
        return type(score) in BUILT_IN

    @cached_property
    def several_labels(self) -> bool:
        """Whether rows can have several labels."""
        return has_several_labels(self.target)

    @cached_property
    def by_label(self) -> bool:
        """Whether groups depend on the label."""
        return self.table().shape[1] > 1

    @cached_property
    def promises_by_label(self) -> bool:
        """Whether the promise is about groups of labels separately, and not about all labels of a row together."""
        return self.several_labels and self.by_label

    @cached_property
    def sharing(self) -> Sharing | None:
        """How groups share calibration rows; None if every group uses its own rows alone."""
        if type(self.condition) is Marginal:  # most rules
            return None
        return sharing_of(self.condition, len(self.classes.values))

    @property
    def balanced(self) -> bool:
        """Whether the promise is about the mean over classes."""
        return self.sharing is not None and self.sharing.balanced

    @property
    def reweighted(self) -> bool:
        """Whether some calibration rows count more than others, by weights of rows or of classes."""
        return self.weighted or (self.sharing is not None and self.sharing.weights is not None)

    @property
    def tells_effective_rows(self) -> bool:
        """Whether users are told how many rows of equal weight are as many: not if weights only balance classes."""
        return self.weighted or (self.reweighted and not self.balanced)

    @cached_property
    def promises_by_group(self) -> bool:
        """Whether the promise is about every group separately: there are several, and they do not share rows."""
        return self.n_groups > 1 and self.sharing is None

    @property
    def has_law(self) -> bool:
        """Whether the distribution of coverage is known: it is proven, and there is one threshold from its own rows."""
        return self.guaranteed and self.n_groups == 1 and self.sharing is None and not self.weighted

    @cached_property
    def below(self) -> bool:
        """Whether sets must not contain entries: they contain what is less unusual."""
        return is_about_false_labels(self.target)

    @property
    def n_columns(self) -> int:
        """Number of classes."""
        return len(self.classes.values)

    @cached_property
    def n_groups(self) -> int:
        """Number of thresholds."""
        return self.condition.count(len(self.classes.values), len(self.groups.values))

    @cached_property
    def shared_group(self) -> Ints | None:
        """The group of all cells, if the condition uses neither labels nor row groups; None otherwise."""
        if self.condition.needs_groups:
            return None
        table = self.table()
        return table[0] if table.shape == (1, 1) else None

    def numbers(self, columns: Ints, row_groups: Ints) -> Ints:
        """Return the group of each cell."""
        return group_numbers(self.condition, columns, row_groups, len(self.classes.values), len(self.groups.values))

    def table(self) -> Ints:
        """Return the group of every (row group, column); an axis that the condition ignores has length 1."""
        n_rows = len(self.groups.values) if self.condition.needs_groups else 1  # all rows share group 0
        columns, rows = np.arange(len(self.classes.values)), np.arange(n_rows)
        return self.numbers(columns[np.newaxis, :], rows[:, np.newaxis])

    def group_name(self, number: int, table: Ints) -> str:
        """Return a readable name of a group of the ``table``: its row groups, its labels, or both."""
        rows, columns = (np.flatnonzero((table == number).any(axis=axis)).tolist() for axis in (1, 0))
        parts = [_listed("group", [self.groups.values[row] for row in rows])] if self.condition.needs_groups else []
        if table.shape[1] > 1:
            parts.append(_listed("label", [self.classes.values[column] for column in columns]))
        return " × ".join(parts) or "all rows"

    def classes_of(self, probs: object) -> Names:
        """Return the names of the columns of ``probs``: the classes, and more numbers if rows have more candidates.

        ``Ragged`` rows can have more candidates than any calibration row, if classes are 0, 1, 2, … and neither score
        nor condition depends on the column or the number of columns.
        """
        width = int(probs.counts.max(initial=0)) if isinstance(probs, Ragged) else 0
        if width <= self.n_columns or type(_inner(self.condition)) not in (Marginal, PerGroup):
            return self.classes
        numbered = tuple(self.classes.values) == tuple(range(self.n_columns))
        return Names(range(width)) if numbered and takes_any_width(self.score) else self.classes

    def as_wide_as(self, n_columns: int) -> RuleSpec:
        """Return the spec for rows with this number of candidates, at least as many as there are classes."""
        return self if n_columns == self.n_columns else replace(self, classes=Names(range(n_columns)))

    def learning(self, data: Prepared) -> RuleSpec:
        """Return the spec of a calibration on ``data``, with its row groups."""
        with_ids, weighted = data.ids is not None and self.traits.uses_noise, data.masses is not None
        if weighted and self.below:
            raise RuleError.weights_of_false_labels(self.target)
        if data.groups is None and not self.groups.values and (with_ids, weighted) == (self.with_ids, self.weighted):
            return self
        groups = NO_NAMES if data.groups is None else union(self.groups, group_names(data.groups))
        return replace(self, groups=groups, with_ids=with_ids, weighted=weighted)._with_traits(self.traits)

    def with_groups(self, groups: Names) -> RuleSpec:
        """Return the same spec with other row groups."""
        return replace(self, groups=groups)

    def together(self, *others: RuleSpec) -> RuleSpec:
        """Return the spec of several calibrations: with the row groups of all, and proven only if all are."""
        specs = (self, *others)
        groups = union(*(spec.groups for spec in specs))
        return replace(self, groups=groups, guaranteed=all(spec.guaranteed for spec in specs))

    def difference(self, other: RuleSpec) -> str | None:
        """Return the name of the first field that keeps two calibrations from being merged; None if there is none."""
        return next((name for name in SHARED if not equal_values(getattr(self, name), getattr(other, name))), None)


def _inner(condition: Condition) -> Condition:
    """Return the condition that says which groups there are."""
    return condition.condition if isinstance(condition, Pooled) else condition


def _named_costs(target: Target, classes: Names) -> Target:
    """Return costs of column numbers as costs of class names, if integers among labels can only be column numbers."""
    names = classes.values
    if not isinstance(target, Cost) or isinstance(names, range) or not are_column_numbers(names):
        return target
    if not all(is_whole(name) and 0 <= name < len(names) for name in target.names):
        return target
    return Cost.from_stored(tuple(names[column] for column in target.names), target.costs, target.others)


def _listed(what: str, names: Sequence[object]) -> str:
    """Return up to three names after the word for them."""
    return f"{what}{'s' * (len(names) > 1)} {join_names(names, limit=3)}"


def settings_text(spec: RuleSpec) -> str:
    """Return score, condition and, if it is not ``OneLabel``, target, as they are written in code."""
    parts = (spec.score, spec.condition, *(() if spec.target == ONE_LABEL else (spec.target,)))
    return ", ".join(map(repr, parts))


def check_groups(condition: Condition, groups: object) -> None:
    """Raise an error if groups are missing though ``condition`` needs them, or passed though it does not."""
    if groups is None and condition.needs_groups:
        raise LabelError.groups_missing(condition)
    if groups is not None and not condition.needs_groups:
        raise LabelError.groups_unused(condition)


class HasSpec:
    """Public properties of objects that have a spec."""

    spec: RuleSpec

    @property
    def guaranteed(self) -> bool:
        """Whether coverage is proven. False if labels were used to select the calibration rows (stratified split)."""
        return self.spec.guaranteed

    @property
    def classes(self) -> NDArray[Any]:
        """Class names in column order."""
        return self.spec.classes.array

    @property
    def groups(self) -> Array:
        """Sorted names of the row groups in the calibration rows."""
        return self.spec.groups.array

    @property
    def score(self) -> Score:
        """The nonconformity score of the rule. It measures how unusual a label is for a row."""
        return self.spec.score

    @property
    def condition(self) -> Condition:
        """The condition of the rule. It defines the groups: coverage holds in each of them, if they share no rows."""
        return self.spec.condition

    @property
    def target(self) -> Target:
        """The target of the rule: what is promised about the true labels of a row."""
        return self.spec.target

    @property
    def kind(self) -> Kind:
        """The type of values in the rows, as in ``calibrate``."""
        return self.spec.kind
