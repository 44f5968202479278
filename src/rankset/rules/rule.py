"""``Rule``: the sorted score values of the calibration rows, and the settings of the rule."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankset.core.calibration import Calibration
from rankset.errors import InputError, LabelError, RuleError
from rankset.inputs.prepare import Prepared
from rankset.rules import absent_rows, merging
from rankset.rules.batch import Batch
from rankset.rules.describe import DescribesRule
from rankset.rules.predict import PredictsSets
from rankset.rules.spec import NO_NAMES, ONE_LABEL, HasSpec, RuleSpec
from rankset.rules.target_entries import calibration_of
from rankset.rules.to_onnx import RuleToOnnx
from rankset.rules.weighted_rows import weighted_calibration


@dataclass(frozen=True, repr=False)
class Rule(PredictsSets, DescribesRule, RuleToOnnx, HasSpec):
    """A calibrated rule, returned by ``calibrate``. It predicts sets at any alpha.

    A rule does not store alpha. Pass alpha to each method, such as ``predict``.

    Attributes
    ----------
    spec
        Score, condition, kind, seed, and the names of classes and groups.
    calibration
        The sorted score values of the true labels of all calibration rows.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rs.calibrate(probs, labels)
    Rule(Rank(), Marginal(), kind='probs', 4 classes, calibrated on 260 rows)
    """

    spec: RuleSpec
    calibration: Calibration

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone for pickling, nothing that is computed from them."""
        return {"spec": self.spec, "calibration": self.calibration}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rule):
            return NotImplemented
        return self.spec == other.spec and self.calibration == other.calibration

    __hash__ = None  # type: ignore[assignment]

    def update(
        self,
        probs: ArrayLike,
        labels: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        weights: ArrayLike | None = None,
    ) -> Rule:
        """Return a new rule that is calibrated on the old rows and on these additional rows.

        Parameters
        ----------
        probs, labels, groups, ids, weights
            Additional rows, as in ``calibrate``.

        Returns
        -------
        Rule

        Raises
        ------
        RanksetError
            If rows, labels, groups or ids are invalid.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> rs.calibrate(probs[:100], labels[:100]).update(probs[100:], labels[100:]).n
        260
        """
        data = self._prepare(probs, labels, groups=groups, ids=ids, weights=weights)
        if self.spec.weighted != (data.masses is not None):
            raise RuleError.weights_missing() if self.spec.weighted else RuleError.weights_unused()
        return self if len(data) == 0 else self.merge(calibrate_prepared(self.spec, data))

    def _calibrate_like(
        self,
        probs: ArrayLike,
        labels: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        weights: ArrayLike | None = None,
    ) -> Rule:
        """Return a rule with the same spec that is calibrated on these rows alone."""
        data = self._prepare(probs, labels, groups=groups, ids=ids, weights=weights)
        return calibrate_prepared(self.spec.with_groups(NO_NAMES), data)

    def merge(self, *others: Rule) -> Rule:
        """Return one rule that is calibrated on the rows of all these rules.

        The result is the same as if all rows had been passed to ``calibrate`` in one call. Its coverage is proven only
        if that of all rules is (``guaranteed``).

        Parameters
        ----------
        *others
            Rules to merge with this rule. They must be calibrated on different rows: a row that is in two rules
            counts twice, and coverage is no longer guaranteed.

        Returns
        -------
        Rule

        Raises
        ------
        RuleError
            If the rules differ in score, condition, kind, classes or seed, if only some of them use ids, or if
            the same rule is passed twice.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> first, second = rs.calibrate(probs[:100], labels[:100]), rs.calibrate(probs[100:], labels[100:])
        >>> first.merge(second) == rs.calibrate(probs, labels)
        True
        """
        everyone = (self, *others)
        for other in others:
            self._check_mergeable(other)
        if len({id(rule) for rule in everyone}) < len(everyone):
            raise RuleError.itself()
        spec = self.spec.together(*(rule.spec for rule in others))
        if spec.weighted:
            merging.check_weights([rule.calibration for rule in everyone])
        first, *rest = (merging.renumbered(rule.spec, rule.calibration, spec) for rule in everyone)
        return Rule(spec, first.merge(*rest))

    def _without_guarantee(self) -> Rule:
        """Return the same rule for calibration rows that were selected by their labels: coverage is not proven."""
        return replace(self, spec=replace(self.spec, guaranteed=False))

    def _check_mergeable(self, other: Rule) -> None:
        """Raise an error if ``other`` is no rule or has another spec."""
        if not isinstance(other, Rule):
            raise RuleError.not_a_rule(other)
        merging.check_specs(self.spec, other.spec)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the rule to a file. This version and all later versions of ``load`` can read the file.

        Parameters
        ----------
        path
            Path of the file. An existing file is replaced, but only after the new file is complete.

        Raises
        ------
        StorageError
            If the rule cannot be stored, for example because its score is not a built-in score of rankset.
        FileError
            If the file cannot be written, for example because the disk is full.

        Examples
        --------
        >>> import tempfile, rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> with tempfile.NamedTemporaryFile(suffix=".rankset") as file:
        ...     rs.calibrate(probs, labels).save(file.name)
        ...     rs.load(file.name).n
        260
        """
        from rankset.io import container
        from rankset.rules import rule_file

        container.write(path, *rule_file.pack(self.spec, self.calibration))


def calibrate_prepared(spec: RuleSpec, data: Prepared) -> Rule:
    """Return the rule of prepared rows with labels; its spec gets their groups, and whether they have ids."""
    if len(data.matrix) == 0:
        raise InputError.no_rows()
    if data.labels is None and data.truths is None:
        raise LabelError.not_one_dimensional("labels", "NoneType")
    spec = spec.learning(data)
    count = spec.n_groups
    batch = Batch.of(spec, data)
    if spec.target != ONE_LABEL or data.labels is None:
        return Rule(spec, calibration_of(batch, count))
    absent = data.absent
    columns = data.labels
    if absent is not None:
        absent_rows.check_condition(spec.condition, spec.table(), absent)
        columns = np.where(absent, 0, columns)  # their groups do not depend on the column, and they get no keys
    parts = batch.all_label_keys(columns)
    for numbers, _ in parts:
        if numbers.dtype.kind not in "iu" or numbers.min() < 0 or numbers.max() >= count:
            raise LabelError.group_numbers(spec.condition, count, f"{numbers.min()} to {numbers.max()}")
    if data.masses is not None:
        return Rule(spec, weighted_calibration(parts, data.masses, absent, count))
    made = Calibration.of_parts(parts, count) if absent is None else absent_rows.calibration(parts, absent, count)
    return Rule(spec, made)
