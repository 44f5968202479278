"""What the sets of a rule are on prepared rows with labels: whether they contain the label, and how large they are."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from rankset.core.promise import Promise
from rankset.evaluation.metrics import Bools, Ints
from rankset.inputs.prepare import Prepared
from rankset.rules.batch import Batch
from rankset.rules.rule import Rule
from rankset.rules.select import select, shared_reach


def covered_and_sizes(rule: Rule, alpha: Fraction, data: Prepared, labels: Ints) -> tuple[Bools, Ints]:
    """Return whether the sets of a rule contain the labels, and how many labels they have."""
    thresholds = rule._thresholds(Promise(alpha))
    offsets, codes = select(Batch.of(rule.spec, data), thresholds, shared_reach(rule.spec, thresholds))
    sizes = np.diff(offsets)
    rows = np.arange(len(labels)).repeat(sizes)
    covered = np.zeros(len(labels), dtype=np.bool_)
    covered[rows[codes == labels[rows]]] = True
    return covered, sizes
