"""Decisions compared with the true labels."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core.arrays import is_real
from rankset.core.coverage_law import binomial_interval, tails
from rankset.decisions.decisions import Decisions
from rankset.errors import InputError, KindError
from rankset.evaluation.decided import DecisionsEvaluation, GroupDecisions
from rankset.sets import PredictionSets

Bools = NDArray[np.bool_]

CONTINUITY = 0.5


def evaluate_decisions(
    done: Decisions,
    labels: ArrayLike,
    confidence: float,
    review: PredictionSets | None,
    minutes_per_row: float | None,
) -> DecisionsEvaluation:
    """Compare decisions with true labels, or with what is right if ``triage`` was told that."""
    if not len(done):
        raise InputError.no_rows_to_evaluate()
    tails(confidence)
    wrong = done._wrong(labels)
    accepted, mistakes = done.n_accepted, int(np.count_nonzero(wrong & done.accepted))
    coverage, mean_size = _reviewed(done, labels, review)
    return DecisionsEvaluation(
        n=len(done),
        accepted=accepted,
        wrong=mistakes,
        error=float(max(done.errors)),
        interval=binomial_interval(mistakes, accepted, confidence) if accepted else (0.0, 1.0),
        wrong_if_all=float(wrong.mean()),
        confidence=confidence,
        sure=done.confidence,
        groups=_by_group(done, wrong, confidence),
        reviewed=len(done) - accepted,
        coverage=coverage,
        mean_size=mean_size,
        hours_saved=None if minutes_per_row is None else accepted * _minutes(minutes_per_row) / 60,
    )


def _minutes(minutes: object) -> float:
    if not is_real(minutes) or not 0 <= float(minutes) < math.inf:  # type: ignore[arg-type]
        raise KindError.argument("minutes_per_row", "a number of at least 0", minutes)
    return float(minutes)  # type: ignore[arg-type]


def _reviewed(done: Decisions, labels: ArrayLike, sets: PredictionSets | None) -> tuple[float | None, float | None]:
    """Return coverage and mean size of the sets of rows that are not accepted."""
    rows = done.rows_to_review
    if sets is None:
        return None, None
    if not isinstance(sets, PredictionSets) or len(sets) != len(rows):
        raise KindError.argument("review", f"the sets of the {len(rows):,} rows to review, from done.review", sets)
    if not len(sets):
        return None, None
    covered = sets.covers(np.asarray(labels)[rows])
    return float(covered.mean()), float(sets.sizes.mean())


def _by_group(done: Decisions, wrong: Bools, confidence: float) -> tuple[GroupDecisions, ...]:
    """Return the decisions about every group that has rows."""
    table = done.spec.table()
    answer = []
    for number, error in enumerate(done.errors):
        own = done.answers.groups == number
        if own.any():
            taken = own & done.accepted
            n, accepted, mistakes = (int(np.count_nonzero(one)) for one in (own, taken, taken & wrong))
            sizes = done.answers.sizes
            known = None if sizes is None else int(sizes[number]) * accepted / n
            many = _too_many(mistakes, accepted, float(error), known, confidence)
            name = done.spec.group_name(number, table)
            answer.append(GroupDecisions(name, float(error), n, accepted, mistakes, many))
    return tuple(answer)


def _too_many(wrong: int, accepted: int, error: float, known: float | None, confidence: float) -> bool:
    """Return whether chance seldom gives so many wrong answers.

    Of a gate: the exact interval begins above the error. Of a batch, whose cut varies with the rows of the triage:
    about ``known`` of these are as sure as the accepted ones, and the share varies by both samples.
    """
    if not accepted:
        return False
    if known is None:
        return binomial_interval(wrong, accepted, confidence)[0] > error
    variance = error * (1 - error) * (1 / accepted + 1 / max(known, 1.0))
    most = NormalDist().inv_cdf((1 + confidence) / 2) * math.sqrt(variance)
    return wrong / accepted > error + most + CONTINUITY / accepted
