"""Thresholds of a triage for a stream of rows."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core.alpha import Alpha
from rankset.core.arrays import is_whole
from rankset.core.calibration import Calibration, Thresholds
from rankset.core.lexicographic import Keys
from rankset.core.promise_argument import exact_confidence
from rankset.decisions import answers, walk
from rankset.decisions.curve import TriageCurve, curve_of
from rankset.decisions.errors_by_group import Errors, errors_of
from rankset.decisions.gate import Gate
from rankset.decisions.rows_in import rows_in
from rankset.errors import InputError, KindError, warn
from rankset.rules.spec import RuleSpec

Ints = NDArray[np.int64]

DEFAULT_CONFIDENCE = 0.95


class FindsGates:
    """Methods of ``Triage`` that find thresholds for a stream."""

    spec: RuleSpec
    right: Calibration
    wrong: Calibration
    within: int | None

    @property
    def counts(self) -> Ints:
        """Number of rows of each group of the condition."""
        raise NotImplementedError

    def threshold(
        self,
        error: Errors,
        confidence: Alpha = DEFAULT_CONFIDENCE,
        *,
        all_groups: bool = False,
        unlabelled: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        seed: int = 0,
    ) -> Gate:
        """Return one fixed threshold for a stream of rows: among accepted rows, the error rate is at most ``error``.

        This holds with probability ``confidence`` over the rows of ``triage``. Thresholds are fixed by rows that test
        nothing, a tenth of the rows or ``unlabelled`` ones. They are tested from strict to loose, from four fixed
        starts, by binomial tests until one fails. The loosest one that passed is the result.

        Parameters
        ----------
        error
            Largest share of wrong answers among the accepted ones, as in ``accept``.
        confidence
            Probability that the promise holds, strictly between 0 and 1.
        all_groups
            Whether it holds for all groups of the condition at once. By default it holds for each group.
        unlabelled
            Rows without labels that fix the thresholds, as in ``accept``. All rows of ``triage`` test then.
        groups, ids
            Groups and ids of ``unlabelled``, if the condition uses groups, or the confidence draws and has ids.
        seed
            Seed of the draw of the rows that fix the thresholds. Equal rows and an equal seed give an equal gate.

        Returns
        -------
        Gate
            It accepts nothing if no threshold passed its test. A warning says so.

        Raises
        ------
        RanksetError
            If an argument is invalid.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("carer")
        >>> rs.triage(probs, labels, kind="logits").threshold(error=0.05)
        Gate(Thr(), error=0.05, confidence=0.95: accepted 63.2% of 1,800 rows)
        """
        errors, sure, seed = errors_of(self.spec, error), exact_confidence(confidence), _whole_seed(seed)
        if unlabelled is None and (groups is not None or ids is not None):
            raise KindError.argument("groups and ids", "None without unlabelled rows", "a value")
        if not isinstance(all_groups, bool):
            raise KindError.argument("all_groups", "True or False", all_groups)
        steps = self._steps(seed) if unlabelled is None else self._steps_by(unlabelled, groups, ids, seed)
        doubt = (1 - sure) / (self.spec.n_groups if all_groups else 1)
        gate = self._gate(steps, errors, float(sure), doubt, all_groups=all_groups)
        if not gate.accepted.any():
            _warn_of_closed_gate(self.counts, errors, doubt)
        return gate

    def _gate(
        self,
        steps: Sequence[walk.Steps],
        errors: Sequence[Fraction],
        confidence: float,
        doubt: Fraction,
        *,
        all_groups: bool = False,
    ) -> Gate:
        passed = [walk.walk(one, error, doubt) for one, error in zip(steps, errors, strict=True)]
        nothing = np.array([*(step is None for step in passed), True])
        columns = [
            [one.keys[place][step] if step is not None else 0 for one, step in zip(steps, passed, strict=True)]
            for place in range(len(self.wrong.keys))
        ]
        dtypes = [key.dtype for key in self.wrong.keys]
        keys = tuple(np.array([*column, 0], dtype=dtype) for column, dtype in zip(columns, dtypes, strict=True))
        accepted, wrong = (
            np.array([0 if step is None else getattr(one, name)[step] for one, step in zip(steps, passed, strict=True)])
            for name in ("accepted", "wrong")
        )
        tested = np.array([one.n for one in steps])
        thresholds = Thresholds(keys, np.zeros(len(nothing), dtype=np.bool_), nothing)
        return Gate(self.spec, tuple(errors), confidence, all_groups, thresholds, tested, accepted, wrong, self.within)

    def _steps(self, seed: int) -> list[walk.Steps]:
        """Return the thresholds of every group, fixed by a part of the rows."""
        known: dict[int, list[walk.Steps]] = self._known_steps
        if seed not in known:
            known[seed] = self._steps_of(None, seed)
        return known[seed]

    @cached_property
    def _known_steps(self) -> dict[int, list[walk.Steps]]:
        return {}

    def _steps_by(
        self, unlabelled: ArrayLike, groups: ArrayLike | None, ids: ArrayLike | None, seed: int
    ) -> list[walk.Steps]:
        """Return the thresholds of every group, fixed by rows without labels."""
        data = rows_in(self.spec, unlabelled, groups=groups, ids=ids)
        if not len(data):
            raise InputError.no_rows()
        found = answers.answers_of(self.spec, data)
        fixing = [tuple(key[found.groups == number] for key in found.keys) for number in range(self.spec.n_groups)]
        return self._steps_of(fixing, seed)

    def _steps_of(self, fixing: Sequence[Keys] | None, seed: int) -> list[walk.Steps]:
        return [
            walk.steps_of(
                self.right.of_group(number),
                self.wrong.of_group(number),
                None if fixing is None else fixing[number],
                (seed % 2**64, number),
            )
            for number in range(self.spec.n_groups)
        ]

    def curve(
        self, errors: Alpha | Sequence[Alpha] | None = None, *, confidence: Alpha = DEFAULT_CONFIDENCE, seed: int = 0
    ) -> TriageCurve:
        """Return the share of rows that would be accepted, at several errors and by both promises.

        Parameters
        ----------
        errors
            One error or several, each strictly between 0 and 1. By default 12 errors from 0.5 % to 30 %.
        confidence, seed
            As in ``threshold``.

        Returns
        -------
        TriageCurve
            ``print`` shows a table, ``plot`` draws a picture.

        Raises
        ------
        RanksetError
            If an error is invalid.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("carer")
        >>> print(rs.triage(probs, labels, kind="logits").curve(errors=[0.01, 0.02, 0.05]))
        error  batch  stream  wrong in stream
         0.01  48.9%    0.0%                –
         0.02  57.1%   52.8%            0.95%
         0.05  71.5%   63.2%            3.43%
        share of rows accepted, from 2,000 rows; stream: with confidence 0.95
        """
        return curve_of(self, errors, exact_confidence(confidence), _whole_seed(seed))

    def _repr_html_(self) -> str:
        from rankset import notebook

        curve: Any = self.curve()
        return notebook.card(repr(self), curve.html_table())


def _whole_seed(seed: object) -> int:
    """Return a seed as a Python integer."""
    if not is_whole(seed):
        raise KindError.argument("seed", "an integer", seed)
    return int(cast("int", seed))


def _warn_of_closed_gate(counts: Ints, errors: Sequence[Fraction], doubt: Fraction) -> None:
    """Warn that a gate accepts nothing, and say how many rows a test needs, in the largest group."""
    largest = int(np.argmax(counts)) if len(counts) else 0
    error, rows = errors[largest], int(counts.max(initial=0))
    needed = walk.rows_needed(error, doubt)
    where = " in the largest group" if len(counts) > 1 else ""
    warn(
        f"no threshold passed its test at an error of {float(error):.12g}, so the gate accepts nothing. At least "
        f"{needed:,} accepted rows without a mistake are needed, and more with mistakes. "
        f"There are {rows:,} rows{where}. "
        "A tenth of them fix thresholds if no unlabelled rows do."
    )
