"""``triage``: which answers of a model may be accepted automatically, with a promise about their errors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import ArrayLike

from rankset.conditions import Condition, Marginal, PerGroup
from rankset.core.calibration import Calibration
from rankset.decisions import answers
from rankset.decisions.accepting import AcceptsBatches
from rankset.decisions.confidences import Named, fitting_rows, named_confidence
from rankset.decisions.gate_finding import FindsGates
from rankset.decisions.one_answer import ANSWER
from rankset.decisions.rows_in import check_within, rows_in, rows_of
from rankset.decisions.stored import Stored
from rankset.errors import InputError, KindError, RuleError
from rankset.inputs.matrix import Kind
from rankset.inputs.prepare import Prepared
from rankset.rules import merging
from rankset.rules.spec import HasSpec, RuleSpec
from rankset.scores import Score


@dataclass(frozen=True, repr=False)
class Triage(AcceptsBatches, FindsGates, Stored, HasSpec):
    """How sure a model was of right and of wrong answers, returned by ``triage``. It decides which rows to accept.

    Attributes
    ----------
    spec
        Confidence score, condition, kind, seed, and the names of classes and groups.
    right, wrong
        The sorted keys of right answers and of wrong answers. Larger keys mean a less sure model.
    within
        An answer is right if the true label is among so many most likely labels. None if ``correct`` said it.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("carer")
    >>> rs.triage(probs, labels, kind="logits")
    Triage(Thr(), Marginal(), kind='logits', 6 classes, 2,000 rows, 13.4% of answers wrong)
    """

    spec: RuleSpec
    right: Calibration
    wrong: Calibration
    within: int | None = 1

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone for pickling, nothing that is computed from them."""
        return {name: getattr(self, name) for name in type(self).__dataclass_fields__}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Triage):
            return NotImplemented
        same = self.spec == other.spec and self.within == other.within
        return same and self.right == other.right and self.wrong == other.wrong

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        spec = self.spec
        rows = "one confidence per row" if spec.classes == ANSWER else f"{len(spec.classes):,} classes"
        return (
            f"Triage({spec.score!r}, {spec.condition!r}, kind={spec.kind!r}, {rows}, {self.n:,} rows, "
            f"{self.n_wrong / max(1, self.n):.1%} of answers wrong)"
        )

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.right) + len(self.wrong)

    @property
    def n_wrong(self) -> int:
        """Number of rows whose answer is wrong."""
        return len(self.wrong)

    def update(
        self,
        probs: ArrayLike,
        labels: ArrayLike | None = None,
        *,
        correct: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        ids: ArrayLike | None = None,
    ) -> Triage:
        """Return a triage of the old rows and these additional rows.

        Parameters
        ----------
        probs, labels, correct, groups, ids
            Additional rows, as in ``triage``.

        Returns
        -------
        Triage

        Raises
        ------
        RanksetError
            If rows, labels, groups or ids are invalid.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("carer")
        >>> first = rs.triage(probs[:1000], labels[:1000], kind="logits")
        >>> first.update(probs[1000:], labels[1000:]) == rs.triage(probs, labels, kind="logits")
        True
        """
        if self.spec.classes == ANSWER and correct is None:
            labels, correct = None, labels
        data = rows_in(self.spec, probs, labels, groups=groups, ids=ids)
        _check_answers(data, correct, self.within)
        return self if not len(data) else self.merge(triage_prepared(self.spec, data, correct, self.within))

    def merge(self, *others: Triage) -> Triage:
        """Return one triage of the rows of all of these, as if they had been passed in one call.

        Parameters
        ----------
        *others
            Triages of other rows. A row that is in two of them counts twice, and nothing is promised then.

        Returns
        -------
        Triage

        Raises
        ------
        RuleError
            If they differ in confidence, condition, kind, classes or seed, or in what counts as right.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("carer")
        >>> parts = [rs.triage(probs[part], labels[part], kind="logits") for part in (slice(500), slice(500, 2000))]
        >>> parts[0].merge(parts[1]) == rs.triage(probs, labels, kind="logits")
        True
        """
        everyone = (self, *others)
        for other in others:
            if not isinstance(other, Triage):
                raise RuleError.not_a_triage(other)
            merging.check_specs(self.spec, other.spec)
            if other.within != self.within:
                raise RuleError.different_answers(_right_text(self.within), _right_text(other.within))
        if len({id(one) for one in everyone}) < len(everyone):
            raise RuleError.itself()
        spec = self.spec.together(*(one.spec for one in others))
        right, wrong = (
            [merging.renumbered(one.spec, some, spec) for one, some in zip(everyone, half, strict=True)]
            for half in zip(*((one.right, one.wrong) for one in everyone), strict=True)
        )
        return replace(self, spec=spec, right=right[0].merge(*right[1:]), wrong=wrong[0].merge(*wrong[1:]))


def triage(
    probs: ArrayLike,
    labels: ArrayLike | None = None,
    *,
    correct: ArrayLike | None = None,
    within: int = 1,
    confidence: Score | str | None = None,
    score: Score | str | None = None,
    condition: Condition = Marginal(),  # noqa: B008
    kind: Kind = "probs",
    classes: Iterable[object] | None = None,
    groups: ArrayLike | None = None,
    ids: ArrayLike | None = None,
    seed: int = 0,
) -> Triage:
    """Learn from rows with known labels how confident a model is when it is right, and when it is wrong.

    The result decides which answers for new rows may be accepted without a person: ``accept`` for a batch of rows, and
    ``threshold`` for a stream. Both promise a largest share of wrong answers among the accepted ones, whatever the
    model, if new rows come from the same source as these rows. The model must not have been trained on these rows.

    Parameters
    ----------
    probs
        Rows as in ``calibrate``; or one confidence per row, a larger number for a more confident answer. Then the
        second argument says which answers are right: ``triage(confidences, correct)``.
    labels
        The true label of each row, as in ``calibrate``. ``rankset.ABSENT`` counts as a wrong answer.
    correct
        Instead of labels: whether the answer for each row is right, as booleans. For answers that are not the most
        likely label, for example prediction sets (``sets.covers(labels)``) or texts that a person judged.
    within
        An answer is right if the true label is among so many most likely labels.
    confidence
        How sure the model is: "top" (the largest probability, the default), "margin" (the distance to the second
        largest), "two" (``TopTwo()``), "entropy", any score, or "auto": fits and chooses one on a part of the rows,
        and keeps the other rows for the promise.
    score
        Another name for ``confidence``.
    condition
        ``PerGroup()`` and ``PerLabel()`` keep the promise for every group, or for every predicted label, separately.
    kind, classes, groups, ids, seed
        As in ``calibrate``. ``seed`` also draws the rows that choose with "auto".

    Returns
    -------
    Triage

    Raises
    ------
    RanksetError
        If rows, labels, groups or ids are invalid, or if rows can have several labels.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("carer")
    >>> triage = rs.triage(probs[:1000], labels[:1000], kind="logits")
    >>> done = triage.accept(probs[1000:], error=0.05)
    >>> done.n_accepted, float((done.labels != labels[1000:])[done.accepted].mean().round(3))
    (726, 0.051)
    """
    if confidence is not None and score is not None:
        raise KindError.method_twice(confidence, score)
    wanted = named_confidence(confidence if score is None else score)
    check_within(within)
    data, given = rows_of(probs, labels, correct, kind, classes, groups, ids)
    spec = RuleSpec.of(wanted.score, condition, data.kind, seed, data.classes)
    if data.classes == ANSWER:
        _check_confidences(wanted, condition, within, classes)
    right = None if given is None else answers.booleans(given, data)
    counted = within if right is None else None
    if wanted.chosen:
        fitted = fitting_rows(data, right, within, seed)
        spec = RuleSpec.of(fitted.score, condition, data.kind, seed, data.classes)
        data, right = data.take(fitted.others), None if right is None else right[fitted.others]
    return _of_rows(spec, data, right, counted)


def triage_prepared(spec: RuleSpec, data: Prepared, correct: ArrayLike | None, within: int | None) -> Triage:
    """Return the triage of prepared rows; ``correct`` says what is right if ``within`` is None."""
    return _of_rows(spec, data, None if correct is None else answers.booleans(correct, data), within)


def _of_rows(spec: RuleSpec, data: Prepared, right: answers.Bools | None, within: int | None) -> Triage:
    if not len(data):
        raise InputError.no_rows()
    spec = spec.learning(data)
    if spec.sharing is not None:
        raise RuleError.decisions_by_shared_rows(spec.condition)
    found = answers.answers_of(spec, data)
    good = answers.right_answers(data, found.columns, within or 1) if right is None else right
    return Triage(spec, *answers.calibrations(found, good, spec.n_groups), within)


def _check_confidences(wanted: Named, condition: Condition, within: int, classes: object) -> None:
    """Raise an error for arguments that rows with one confidence each cannot have."""
    if not wanted.simple:
        raise RuleError.one_column(wanted.name)
    if not isinstance(condition, Marginal | PerGroup):
        raise RuleError.labels_of_confidences("a condition about labels")
    if within != 1 or classes is not None:
        raise RuleError.labels_of_confidences("within and classes")


def _check_answers(data: Prepared, correct: ArrayLike | None, within: int | None) -> None:
    """Raise an error if labels are missing, or ``correct``, as in the call of ``triage``."""
    if (correct is None) != (within is not None):
        raise RuleError.different_answers(_right_text(within), _right_text(None if correct is not None else 1))
    if correct is None and data.labels is None:
        raise RuleError.no_answers()


def _right_text(within: int | None) -> str:
    if within is None:
        return "those that correct says"
    return "the most likely label" if within == 1 else f"the {within} most likely labels"
