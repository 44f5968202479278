"""Random halves with groups that share rows: every half is calibrated, and its rule tested on the other half."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from rankset.errors import silent
from rankset.evaluation.metrics import Floats, Formula, Ints, MeanOverRows
from rankset.evaluation.resampling import Split
from rankset.evaluation.rules_on_rows import covered_and_sizes
from rankset.inputs.prepare import Prepared
from rankset.rules.rule import Rule, calibrate_prepared
from rankset.rules.spec import RuleSpec


@dataclass(frozen=True)
class SharedCells:
    """Rows of which any half can calibrate a rule; it stands beside ``SortedCells`` and ``GroupedCells``."""

    data: Prepared
    spec: RuleSpec

    @cached_property
    def _rules(self) -> dict[int, Rule]:
        """The rules of the halves, by the number of the split: they are used for several alphas."""
        return {}

    def measure(self, splits: Sequence[Split], labels: Ints, alpha: Fraction, formulas: Sequence[Formula]) -> Floats:
        """Return every formula on every split, as an array (formula, split)."""
        answers = np.empty((len(formulas), len(splits)))
        for number, (cal, test) in enumerate(splits):
            with silent():  # the trial has warned of few rows, once for all halves
                if number not in self._rules:
                    self._rules[number] = calibrate_prepared(self.spec, self.data.take(cal))
                covered, sizes = covered_and_sizes(self._rules[number], alpha, self.data.take(test), labels[test])
            for row, formula in enumerate(formulas):
                answers[row, number] = formula(covered, sizes, labels[test], alpha)
        return answers

    def effects(self, n_cal: int, alpha: Fraction, formulas: Sequence[MeanOverRows]) -> Floats:  # noqa: ARG002
        """Return NaN (formula, row): what one row adds to a mean is not known if groups share rows."""
        return np.full((len(formulas), len(self.data)), np.nan)
