"""``Choice``: chooses one of several scores for a ConformalClassifier, on rows not used for calibration."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.alpha import Alpha, exact_alpha
from rankset.core.alpha_argument import class_takes_alpha
from rankset.errors import KindError, RuleError, SplitError
from rankset.evaluation.choose import OBJECTIVES, choose
from rankset.evaluation.metrics import Formula
from rankset.inputs.matrix import Kind
from rankset.integrations.sklearn.splits import check_share
from rankset.scores import Score, checked_score

Ints = NDArray[np.int64]


@class_takes_alpha
@dataclass(frozen=True)
class Choice:
    """Choose the best of several scores, for ``ConformalClassifier(method=...)``.

    A random part of the held-out rows is used to choose the score, with ``rankset.choose``. The other held-out rows
    are used for calibration. No row is used for both steps, so the guarantee holds. Do not use ``GridSearchCV`` to
    choose ``method``: it would use the same rows for both steps.

    Parameters
    ----------
    scores : sequence of Score
        The scores to choose from.
    alpha : float, str or Fraction, default 0.1
        The alpha at which the scores are compared.
    objective : str or callable, default "size"
        Criterion of the choice, see ``rankset.choose``.
    share : float, default 0.3
        Fraction of the held-out rows that is used to choose the score.

    Raises
    ------
    KindError, RuleError, SplitError, LevelError
        If a parameter is invalid.

    Examples
    --------
    >>> import rankset as rs
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> choice = rs.Choice([rs.Rank(), rs.Thr()], alpha=0.2)
    >>> rs.ConformalClassifier(method=choice, random_state=0).fit(X / 10, y).method_
    Rank()
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
        check_share("Choice", self.share)

    def parts(self, rows: Ints, random_state: Any) -> tuple[Ints, Ints]:
        """Split held-out rows at random into rows for the choice and rows for calibration.

        Parameters
        ----------
        rows : array of int
            Numbers of the held-out rows.
        random_state : int, RandomState or None
            Seed of the random split.

        Returns
        -------
        pair of arrays of int
            Numbers of the rows for the choice, and of the rows for calibration.

        Raises
        ------
        SplitError
            If there are fewer than 3 rows.

        Examples
        --------
        >>> import numpy as np
        >>> import rankset as rs
        >>> choosing, calibrating = rs.Choice([rs.Rank(), rs.Thr()]).parts(np.arange(100), random_state=0)
        >>> len(choosing), len(calibrating)
        (30, 70)
        """
        from sklearn.utils import check_random_state

        if len(rows) < 3:
            raise SplitError.too_few_to_choose(len(rows))
        count = min(max(2, round(self.share * len(rows))), len(rows) - 1)
        mixed = rows[check_random_state(random_state).permutation(len(rows))]
        return np.sort(mixed[:count]), np.sort(mixed[count:])

    def best(self, probs: NDArray[Any], labels: NDArray[Any], kind: Kind, classes: NDArray[Any]) -> Score:
        """Return the score that is best on the given rows.

        Parameters
        ----------
        probs : array (n, K)
            Model outputs for the rows that are used to choose the score.
        labels : array (n,)
            True labels of these rows.
        kind : {"probs", "logits", "decision", "binary"}
            The type of values in ``probs``.
        classes : array (K,)
            Class names in column order.

        Returns
        -------
        Score
            One of ``scores``.

        Examples
        --------
        >>> import numpy as np
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> rs.Choice([rs.TopK(), rs.Thr()]).best(probs, labels, "probs", np.arange(4))
        Thr()
        """
        options: dict[str, Any] = {"objective": self.objective, "kind": kind, "classes": classes}
        return choose(self.scores, probs, labels, self.alpha, **options)
