"""A score that is still to be chosen: the estimator chooses on rows of their own, so that the guarantee holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.alpha import Alpha, exact_alpha
from rankset.errors import KindError, RuleError, SplitError
from rankset.evaluation.choose import OBJECTIVES, choose
from rankset.evaluation.metrics import Formula
from rankset.inputs.matrix import Kind
from rankset.scores import Score, checked_score

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Choice:
    """The best of some scores, for ``ConformalClassifier(method=...)``.

    A ``share`` of the rows that would calibrate chooses the score by ``rankset.choose``; only the others calibrate. So
    no row does both, and the guarantee holds. ``GridSearchCV`` over ``method`` would use the same rows for both.

    Parameters
    ----------
    scores : the candidates.
    alpha : the level at which they are compared.
    objective : what is made small, see ``rankset.choose``.
    share : the share of the rows held out by the split that chooses.

    Raises
    ------
    KindError, RuleError, SplitError, LevelError : where one of these is not what it should be.

    Examples
    --------
    >>> import rankset as rs
    >>> model = rs.ConformalClassifier(method=rs.Choice([rs.Rank(), rs.Thr()], alpha=0.1), random_state=0)
    """

    scores: tuple[Score, ...]
    alpha: Alpha = 0.1
    objective: str | Formula = "size"
    share: float = 0.3

    def __post_init__(self) -> None:
        given: object = self.scores
        several = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str | bytes) else ()
        if not several:
            raise KindError.argument("scores", "a list of at least one score", given)
        object.__setattr__(self, "scores", tuple(checked_score(score, "scores") for score in several))
        exact_alpha(self.alpha)
        if isinstance(self.objective, str) and self.objective not in OBJECTIVES:
            raise RuleError.option("objective", self.objective, tuple(OBJECTIVES))
        if isinstance(self.share, bool) or not isinstance(self.share, int | float) or not 0 < self.share < 1:
            raise SplitError.parameter("Choice", "share", "a number between 0 and 1", self.share)

    def parts(self, rows: Ints, random_state: Any) -> tuple[Ints, Ints]:  # noqa: ANN401
        """Those of the ``rows`` that choose, and those that calibrate."""
        from sklearn.utils import check_random_state

        if len(rows) < 3:
            raise SplitError.too_few_to_choose(len(rows))
        count = min(max(2, round(self.share * len(rows))), len(rows) - 1)
        mixed = rows[check_random_state(random_state).permutation(len(rows))]
        return np.sort(mixed[:count]), np.sort(mixed[count:])

    def best(self, probs: NDArray[Any], labels: NDArray[Any], kind: Kind, classes: NDArray[Any]) -> Score:
        """The best score on these rows."""
        return choose(self.scores, probs, labels, self.alpha, objective=self.objective, kind=kind, classes=classes)
