"""``Gate``: one fixed confidence for a stream of rows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core.arrays import Sealed
from rankset.core.calibration import Thresholds
from rankset.decisions.answers import answers_of
from rankset.decisions.decisions import Decisions, RowAnswers
from rankset.decisions.errors_by_group import errors_text
from rankset.decisions.one_answer import ANSWER, OneAnswer
from rankset.decisions.rows_in import rows_in
from rankset.inputs.single_row import as_rows
from rankset.rules.batch import unseen_groups, warn_of_unseen
from rankset.rules.sentences import threshold_of
from rankset.rules.spec import HasSpec, RuleSpec
from rankset.scores.wording import Wording, describe_label

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Gate(Sealed, HasSpec):
    """One fixed confidence from which on answers are accepted, returned by ``Triage.threshold``.

    With probability ``confidence``, over the rows of ``triage``, the share of wrong answers among all accepted ones is
    at most the error. This holds for any number of rows, one at a time, as long as they come from the same source.

    Attributes
    ----------
    spec
        Confidence score, condition, kind, and the names of classes and groups.
    errors
        The allowed error of every group of the condition.
    confidence
        Probability that the promise holds for a group; for all groups at once if ``all_groups``.
    all_groups
        Whether the promise holds for all groups at once.
    thresholds
        The keys of the least sure answer that is accepted in each group.
    tested, accepted, wrong
        For every group: number of rows that tested the thresholds, how many of these the gate accepts, and how many of
        the accepted ones are wrong.
    within
        As in ``Triage``.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("carer")
    >>> gate = rs.triage(probs[:1500], labels[:1500], kind="logits").threshold(error=0.05, confidence=0.95)
    >>> gate.accepts(probs[1500:]).mean() > 0.4
    np.True_
    """

    spec: RuleSpec
    errors: tuple[Fraction, ...]
    confidence: float
    all_groups: bool
    thresholds: Thresholds
    tested: Ints
    accepted: Ints
    wrong: Ints
    within: int | None = 1

    def __repr__(self) -> str:
        found = "accepts nothing" if not self.accepted.any() else f"accepted {self.share:.1%} of {self.n:,} rows"
        return f"Gate({self.spec.score!r}, error={errors_text(self.errors)}, confidence={self.confidence:g}: {found})"

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone for pickling, nothing that is computed from them."""
        return {name: getattr(self, name) for name in type(self).__dataclass_fields__}

    @property
    def n(self) -> int:
        """Number of rows that tested the thresholds."""
        return int(self.tested.sum())

    @property
    def share(self) -> float:
        """Share of the rows that tested the thresholds which the gate accepts."""
        return int(self.accepted.sum()) / max(1, self.n)

    def accepts(self, probs: ArrayLike, *, groups: ArrayLike | None = None, ids: ArrayLike | None = None) -> Bools:
        """Return whether each row is accepted.

        Parameters
        ----------
        probs
            Rows as in ``triage``, or one row.
        groups, ids
            As in ``Rule.predict``.

        Returns
        -------
        array of bool (n,)

        Raises
        ------
        RanksetError
            If rows, groups or ids are invalid.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("carer")
        >>> gate = rs.triage(probs, labels, kind="logits").threshold(error=0.05)
        >>> gate.accepts([9.0, 0.0, 0.0, 0.0, 0.0, 0.0])
        array([ True])
        """
        if type(probs) is np.ndarray and groups is None and ids is None and self._one is not None:
            alone = self._one.accepts(probs)
            if alone is not None:
                return np.array([alone])
        return self.decide(probs, groups=groups, ids=ids).accepted

    def decide(self, probs: ArrayLike, *, groups: ArrayLike | None = None, ids: ArrayLike | None = None) -> Decisions:
        """Return which rows are accepted, with their labels.

        Parameters
        ----------
        probs, groups, ids
            As in ``accepts``.

        Returns
        -------
        Decisions

        Raises
        ------
        RanksetError
            If rows, groups or ids are invalid.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("carer")
        >>> done = rs.triage(probs[:1500], labels[:1500], kind="logits").threshold(error=0.05).decide(probs[1500:])
        >>> done.labels[done.accepted][:3]
        array([1, 1, 0])
        """
        single = self.spec.kind != "binary" and self.spec.classes != ANSWER
        rows = as_rows(probs) if single else np.atleast_1d(probs) if isinstance(probs, float) else probs
        data = rows_in(self.spec, rows, groups=groups, ids=ids)
        found = answers_of(self.spec, data)
        accepted = self.thresholds.keep(found.groups, found.keys) if len(data) else np.zeros(0, dtype=np.bool_)
        warn_of_unseen(unseen_groups(self.spec, data), outcome="These rows are not accepted.")
        rows = RowAnswers(found.columns, found.groups, data, None, self.within)
        return Decisions(accepted, self.errors, None, self.confidence, self.spec, rows)

    @cached_property
    def _one(self) -> OneAnswer | None:
        return OneAnswer.of(self.spec, self.thresholds)

    def describe(self, *, digits: int = 4) -> str:
        """Return in words which answers are accepted.

        Parameters
        ----------
        digits
            Number of significant digits.

        Returns
        -------
        str

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("carer")
        >>> rs.triage(probs, labels, kind="logits").threshold(error=0.05).describe()
        'accepts the most likely label if its probability is at least 0.9249'
        """
        if self.spec.n_groups == 1:
            return self._sentence(0, digits)
        table = self.spec.table()
        lines = (
            f"  {self.spec.group_name(number, table)}: {self._sentence(number, digits)}"
            for number in range(self.spec.n_groups)
        )
        return "\n".join(lines)

    def _sentence(self, number: int, digits: int) -> str:
        if self.thresholds.nothing is not None and self.thresholds.nothing[number]:
            return "accepts nothing"
        found = threshold_of(self.thresholds, number)
        last = self.thresholds.keys[0][number]
        if last == np.inf or (last.dtype.kind == "i" and last == np.iinfo(last.dtype).max):
            return "accepts every row"
        wording = Wording("probability" if self.spec.kind != "decision" else "value", digits)
        what = "an answer" if self.spec.classes == ANSWER else "the most likely label"
        return f"accepts {what} if {describe_label(self.spec.score, found or (), wording)}"
