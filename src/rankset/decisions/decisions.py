"""``Decisions``: which rows are accepted, and the sets of the others for the person who looks at them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset import notebook
from rankset.core.alpha import Alpha
from rankset.decisions import answers
from rankset.decisions.one_answer import ANSWER
from rankset.errors import RuleError
from rankset.inputs.frames import Template
from rankset.inputs.options import option_codes
from rankset.inputs.per_row import label_codes
from rankset.inputs.prepare import Prepared
from rankset.inputs.vocabulary import Array
from rankset.rules.rule import Rule
from rankset.rules.spec import RuleSpec
from rankset.sets import PredictionSets

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

SHOWN_ROWS = 5


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

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("carer")
    >>> done = rs.triage(probs[:1000], labels[:1000], kind="logits").accept(probs[1000:], error=0.05)
    >>> done
    Decisions(701 of 1,000 rows accepted, error=0.05)
    """

    accepted: Bools
    errors: tuple[Fraction, ...]
    smallest: tuple[Fraction, ...] | None
    confidence: float | None
    spec: RuleSpec
    _columns: Ints
    _groups: Ints
    _data: Prepared
    _p_values: NDArray[np.float64] | None = None
    _within: int | None = 1

    def __len__(self) -> int:
        return len(self.accepted)

    def __repr__(self) -> str:
        sure = "" if self.confidence is None else f", confidence={self.confidence:g}"
        return f"Decisions({self.n_accepted:,} of {len(self):,} rows accepted, error={self._error_text()}{sure})"

    def _error_text(self) -> str:
        texts = dict.fromkeys(f"{float(error):g}" for error in self.errors)
        return " or ".join(texts) if len(texts) <= 3 else f"{len(texts)} different values"

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
        if self._data.options is not None:
            return self._data.options[np.arange(len(self)), self._columns]
        return self._data.classes.array[self._columns]

    @property
    def p_values(self) -> NDArray[np.float64]:
        """The p-value of every row (n,): small ones mean that an answer is seldom wrong at this confidence."""
        if self._p_values is None:
            raise RuleError.no_p_values_of_gate()
        return self._p_values

    @property
    def template(self) -> Template:
        """Library and index of data frames that are made of the decisions."""
        return self._data.answers

    def _wrong(self, labels: ArrayLike) -> Bools:
        """Return which answers are wrong, by true labels; or by booleans that say what is right, if these were passed
        to ``triage`` instead."""
        if self._within is None:
            return ~answers.booleans(labels, self._data)
        codes = self._columns_of(labels)
        return ~answers.right_answers(replace(self._data, labels=codes), self._columns, self._within)

    def _columns_of(self, labels: ArrayLike) -> Ints:
        """Return the column of each true label, among the classes or the candidates of its row."""
        if self._data.options is not None:
            return option_codes(labels, self._data.options, self._data.index)
        return label_codes(labels, self._data.classes, len(self), self._data.index)

    def review(self, rule: Rule, alpha: Alpha, **arguments: Any) -> PredictionSets:  # noqa: ANN401
        """Return the prediction sets of the rows that are not accepted, in the order of ``rows_to_review``.

        These rows are harder than others, so the sets contain the true label less often than ``rule`` promises for all
        rows. The page "Decide automatically" says how to calibrate a rule for them.

        Parameters
        ----------
        rule
            A rule for the same kind of rows and the same classes.
        alpha
            As in ``Rule.predict``.
        **arguments
            ``empty``, ``confidence``, ``next_rows`` and ``all_groups``, as in ``Rule.at`` and ``LevelRule.predict``.

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
        299
        """
        if not self._named:
            raise RuleError.review_of_confidences()
        ours, theirs = self.spec, rule.spec
        for name in ("kind", "classes"):
            if getattr(ours, name) != getattr(theirs, name):
                raise RuleError.other_rows(name, getattr(theirs, name), getattr(ours, name))
        empty = arguments.pop("empty", "allow")
        asked = rule.at(alpha, **arguments)
        asked._check_empty(empty)
        data = self._data.take(self.rows_to_review)
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
        if self._p_values is not None:
            columns["p_value"] = self._p_values
        return self.template.filled(columns, backend)

    def _repr_html_(self) -> str:
        rows = [("accepted", notebook.bar(self.share, f"{self.n_accepted:,} of {len(self):,} rows"))]
        rows.append(("allowed error", notebook.faint(self._error_text())))
        if self.confidence is not None:
            rows.append(("confidence", notebook.faint(f"{self.confidence:g}")))
        return notebook.card("Decisions", notebook.table(rows))
