"""``Decisions``: which rows are accepted, and the sets of the others for the person who looks at them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset import notebook
from rankset.core.alpha import Alpha
from rankset.core.alpha_argument import takes_alpha
from rankset.decisions.answers import booleans, right_answers
from rankset.decisions.errors_by_group import errors_text
from rankset.decisions.one_answer import ANSWER
from rankset.errors import KindError, RuleError
from rankset.inputs.frames import Template
from rankset.inputs.options import option_codes
from rankset.inputs.per_row import label_codes
from rankset.inputs.prepare import Prepared
from rankset.inputs.vocabulary import Array
from rankset.rules.rule import Rule
from rankset.rules.select import Empty
from rankset.rules.spec import RuleSpec
from rankset.sets import PredictionSets

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class RowAnswers(NamedTuple):
    """The rows that were decided, and what is known about each.

    Attributes
    ----------
    columns : the column of the most likely label.
    groups : the number of the group of the condition, -1 if it has no calibration rows.
    data : the rows.
    p_values : the p-values; None for a gate.
    within : an answer is right if the true label is among so many most likely labels; None if ``correct`` said it.
    sizes : the number of calibration rows of each group; None for a gate.
    """

    columns: Ints
    groups: Ints
    data: Prepared
    p_values: NDArray[np.float64] | None
    within: int | None
    sizes: Ints | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Decisions:
    """Which rows are accepted without a person, returned by ``Triage.accept`` and ``Gate.decide``.

    Attributes
    ----------
    accepted
        Whether each row is accepted (n,).
    errors
        The allowed error of every group of the condition.
    smallest
        For every group, the smallest error at which a row of this batch would have been accepted. None for a gate.
    confidence
        Probability that the promise of the gate holds. None for a batch, whose promise is about the expected share.
    spec
        Confidence score, condition, kind, and the names of classes and groups.
    answers
        The rows, the columns of their most likely labels, and their groups. For internal use.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("carer")
    >>> done = rs.triage(probs[:1000], labels[:1000], kind="logits").accept(probs[1000:], error=0.05)
    >>> done
    Decisions(726 of 1,000 rows accepted, error=0.05)
    """

    accepted: Bools
    errors: tuple[Fraction, ...]
    smallest: tuple[Fraction, ...] | None
    confidence: float | None
    spec: RuleSpec
    answers: RowAnswers

    def __len__(self) -> int:
        return len(self.accepted)

    def __repr__(self) -> str:
        sure = "" if self.confidence is None else f", confidence={self.confidence:g}"
        return f"Decisions({self.n_accepted:,} of {len(self):,} rows accepted, error={errors_text(self.errors)}{sure})"

    @property
    def _named(self) -> bool:
        """Whether rows have a probability for each label."""
        return self.spec.classes != ANSWER

    @property
    def n_accepted(self) -> int:
        """Number of accepted rows."""
        return int(np.count_nonzero(self.accepted))

    @property
    def share(self) -> float:
        """Share of the rows that are accepted; 0 if there are no rows."""
        return self.n_accepted / max(1, len(self))

    @property
    def rows(self) -> Ints:
        """Numbers of the accepted rows."""
        return np.flatnonzero(self.accepted)

    @property
    def rows_to_review(self) -> Ints:
        """Numbers of the rows that are not accepted."""
        return np.flatnonzero(~self.accepted)

    @property
    def labels(self) -> Array:
        """The most likely label of every row (n,), accepted or not."""
        if not self._named:
            raise RuleError.no_labels_of_confidences()
        data, columns = self.answers.data, self.answers.columns
        return data.classes.array[columns] if data.options is None else data.options[np.arange(len(self)), columns]

    @property
    def p_values(self) -> NDArray[np.float64]:
        """The p-value of every row (n,): small ones mean that an answer is seldom wrong at this confidence."""
        if self.answers.p_values is None:
            raise RuleError.no_p_values_of_gate()
        return self.answers.p_values

    @property
    def template(self) -> Template:
        """Library and index of data frames that are made of the decisions."""
        return self.answers.data.answers

    def _wrong(self, labels: ArrayLike) -> Bools:
        """Return which answers are wrong, by true labels; or by booleans that say what is right, if these were passed
        to ``triage`` instead."""
        if self.answers.within is None:
            return ~booleans(labels, self.answers.data)
        data = self.answers.data
        if data.options is None:
            by_position = data.template.backend is None
            codes = label_codes(labels, data.classes, len(self), data.index, by_position=by_position)
        else:
            codes = option_codes(labels, data.options, data.index)
        return ~right_answers(replace(data, labels=codes), self.answers.columns, self.answers.within)

    @takes_alpha
    def review(
        self,
        rule: Rule,
        alpha: Alpha,
        *,
        empty: Empty = "allow",
        confidence: Alpha | None = None,
        next_rows: int | None = None,
        all_groups: bool = False,
    ) -> PredictionSets:
        """Return the prediction sets of the rows that are not accepted, in the order of ``rows_to_review``.

        These rows are harder than others, so the sets contain the true label less often than ``rule`` promises for all
        rows. The page "Which answers may be accepted automatically?" says how to calibrate a rule for them.

        Parameters
        ----------
        rule
            A rule for the same kind of rows and the same classes.
        alpha, empty, confidence, next_rows, all_groups
            As in ``Rule.predict``.

        Returns
        -------
        PredictionSets

        Raises
        ------
        RanksetError
            If the rule has other classes or another kind, or if it needs groups or ids that were not passed to
            ``accept``.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("carer")
        >>> done = rs.triage(probs[:1000], labels[:1000], kind="logits").accept(probs[1000:], error=0.05)
        >>> rule = rs.calibrate(probs[:1000], labels[:1000], kind="logits")
        >>> len(done.review(rule, alpha=0.1))
        274
        """
        if not self._named:
            raise RuleError.review_of_confidences()
        if not isinstance(rule, Rule):
            raise KindError.argument("rule", "a Rule, the result of calibrate", type(rule).__name__)
        ours, theirs = self.spec, rule.spec
        for name in ("kind", "classes"):
            if getattr(ours, name) != getattr(theirs, name):
                raise RuleError.other_rows(name, getattr(theirs, name), getattr(ours, name))
        asked = rule.at(alpha, confidence=confidence, next_rows=next_rows, all_groups=all_groups)
        asked._check_empty(empty)
        data = self.answers.data.take(self.rows_to_review)
        groups, ids = data.groups if theirs.condition.needs_groups else None, data.ids if theirs.with_ids else None
        return asked._sets_of(replace(data, groups=groups, ids=ids), empty)

    def to_frame(self, backend: str | None = None) -> Any:  # noqa: ANN401
        """Return a data frame with one row per row: ``accepted``, ``label`` and, for a batch, ``p_value``.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Data frame library. Default: the library of the rows, or the first one installed.

        Returns
        -------
        data frame
            ``label`` is the most likely label. A pandas index of the rows is kept.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("carer")
        >>> done = rs.triage(probs[:1000], labels[:1000], kind="logits").accept(probs[1000:], error=0.05)
        >>> list(done.to_frame("pandas").columns)
        ['accepted', 'label', 'p_value']
        """
        columns: dict[Any, Any] = {"accepted": self.accepted}
        if self._named:
            columns["label"] = self.labels
        if self.answers.p_values is not None:
            columns["p_value"] = self.answers.p_values
        return self.template.filled(columns, backend)

    def _repr_html_(self) -> str:
        rows = [("accepted", notebook.bar(self.share, f"{self.n_accepted:,} of {len(self):,} rows"))]
        rows.append(("allowed error", notebook.faint(errors_text(self.errors))))
        if self.confidence is not None:
            rows.append(("confidence", notebook.faint(f"{self.confidence:g}")))
        return notebook.card("Decisions", notebook.table(rows))
