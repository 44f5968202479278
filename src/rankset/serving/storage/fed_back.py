"""Rows whose labels came back, as arrays for a calibration, and how many rows have no label."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.errors import StorageError, warn
from rankset.rules.spec import RuleSpec
from rankset.serving.storage.rows import Labelled
from rankset.serving.storage.store import Store


@dataclass(frozen=True, eq=False)
class FedBack:
    """Rows whose labels came back, in the order in which the labels came.

    Attributes
    ----------
    outputs
        The rows as they were passed, one row of numbers for each; for the kind "binary" one number.
    labels
        Columns of the labels.
    groups
        Names of groups; None if the rule uses none.
    ids
        Ids of the rows.
    unlabelled
        Number of rows of the same time, from the first of these rows on, that have no label.
    accepted, accepted_unlabelled
        Number of the rows of this time that a triage accepted, with and without a label.

    Examples
    --------
    >>> import tempfile, numpy as np, rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rule = rs.calibrate(probs, labels)
    >>> codes = np.array([0], dtype=np.int32)
    >>> rows = [rs.serving.Prediction(str(i), 0.0, probs[i], None, codes, 0.1, float(probs[i].max())) for i in range(9)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with rs.serving.Store.open(f"{folder}/served.db", rule=rule) as store:
    ...         store.remember(rows)
    ...         done = store.feedback([rs.serving.Feedback(str(i), int(labels[i]), 1.0) for i in range(5)])
    ...         found = rs.serving.FedBack.read(store, rule.spec)
    >>> found.outputs.shape, found.unlabelled
    ((5, 4), 4)
    """

    outputs: NDArray[Any]
    labels: NDArray[np.int64]
    groups: list[Any] | None
    ids: list[str]
    unlabelled: int
    accepted: int
    accepted_unlabelled: int

    @classmethod
    def read(cls, store: Store, spec: RuleSpec, since: float | None = None, last: int | None = None) -> FedBack:
        """Read the rows of a store.

        Parameters
        ----------
        store
            The store.
        spec
            Settings of the rule: ``rule.spec``.
        since, last
            As in ``recalibrate``.

        Returns
        -------
        FedBack

        Examples
        --------
        >>> import tempfile, rankset as rs
        >>> rule = rs.calibrate(*rs.datasets.load("marketing"))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with rs.serving.Store.open(f"{folder}/served.db", rule=rule) as store:
        ...         len(rs.serving.FedBack.read(store, rule.spec).labels)
        0
        """
        pairs = list(store.labelled(since, last))
        first = min((pair.prediction.time for pair in pairs), default=0.0) if last is not None else since
        counts = store.counts(first)
        return cls(
            _outputs(pairs, spec),
            np.array([pair.feedback.label for pair in pairs], dtype=np.int64),
            [_group(pair, store.where) for pair in pairs] if spec.condition.needs_groups else None,
            [pair.prediction.id for pair in pairs],
            sum(count for (_, labelled), count in counts.items() if not labelled),
            counts.get((True, True), 0),
            counts.get((True, False), 0),
        )

    def by_class(self, spec: RuleSpec) -> dict[Any, int]:
        """Return the number of rows of every class.

        Parameters
        ----------
        spec
            Settings of the rule: ``rule.spec``.

        Returns
        -------
        dict

        Examples
        --------
        >>> import tempfile, rankset as rs
        >>> rule = rs.calibrate(*rs.datasets.load("marketing"))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with rs.serving.Store.open(f"{folder}/served.db", rule=rule) as store:
        ...         rs.serving.FedBack.read(store, rule.spec).by_class(rule.spec)
        {0: 0, 1: 0, 2: 0, 3: 0}
        """
        counts = np.bincount(self.labels, minlength=spec.n_columns).tolist()
        return dict(zip(spec.classes.values, counts, strict=True))

    def warn_of_selection(self) -> None:
        """Warn if some rows have no label: those with one may be no random sample."""
        if not self.unlabelled:
            return
        n = len(self.labels)
        told = f"{n:,} of {n + self.unlabelled:,} rows have a label. "
        asked = self.accepted + self.accepted_unlabelled
        if asked:
            others = n + self.unlabelled - asked
            told += (
                f"Of {asked:,} rows that were accepted automatically {self.accepted:,} have one, of {others:,} others "
                f"{n - self.accepted:,}. "
            )
        warn(
            told,
            "Coverage of the new rule is proven for rows like those with a label. If labels come for some kinds of "
            "rows rather than for others, such as only for rows that a person decided, they are no random sample of "
            "all rows. Then ask for the labels of randomly chosen rows.",
        )


def _outputs(pairs: list[Labelled], spec: RuleSpec) -> NDArray[Any]:
    """Return all outputs as one array: float32 if all of them are, else float64."""
    if spec.kind == "binary":
        return np.array([pair.prediction.outputs[0] for pair in pairs])
    if not pairs:
        return np.zeros((0, spec.n_columns))
    return np.stack([pair.prediction.outputs for pair in pairs])


def _group(pair: Labelled, where: str) -> object:
    """Return the name of a group; raise an error if it is none."""
    try:
        name = json.loads(pair.prediction.group or "")
    except (ValueError, RecursionError):
        name = None
    if not isinstance(name, str | int | float):
        raise StorageError.store_damaged(where, f"the group of the row {pair.prediction.id!r} is no name")
    return name
