"""``Choice``: chooses one of several scores for a ConformalClassifier, on rows not used for calibration."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rankset.core.alpha import Alpha, exact_alpha
from rankset.core.alpha_argument import class_takes_alpha
from rankset.errors import KindError, RuleError, SplitError, needs_extra
from rankset.evaluation.auto import auto
from rankset.evaluation.choose import OBJECTIVES, choose
from rankset.evaluation.metrics import Formula
from rankset.inputs.matrix import Kind
from rankset.integrations.sklearn.splits import check_share
from rankset.rules.rule import Rule
from rankset.scores import AUTO, Score, checked_score, is_auto
from rankset.targets import OneLabel, Target

Ints = NDArray[np.int64]

DEFAULT_SHARE = 0.3
"""Fraction of the held-out rows that is used to choose one of several scores."""


@class_takes_alpha
@dataclass(frozen=True)
class Choice:
    """Choose the best of several scores, for ``ConformalClassifier(method=...)``.

    A random part of the held-out rows is used to choose the score, with ``rankset.choose``. The other held-out rows
    are used for calibration. No row is used for both steps, so the guarantee holds. Do not use ``GridSearchCV`` to
    choose ``method``: it would use the same rows for both steps.

    ``Choice("auto", alpha=0.05)`` fits a score and chooses it with ``rankset.auto``, also on a random part of the
    held-out rows. ``method="auto"`` is short for ``Choice("auto")``.

    Parameters
    ----------
    scores : sequence of Score or str, or "auto"
        The scores to choose from, or their names.
    alpha : float, str or Fraction, default 0.1
        The alpha at which the scores are compared.
    objective : str or callable, default "size"
        Criterion of the choice, see ``rankset.choose``. With "auto", and with a target other than ``OneLabel()``, it
        must be "size".
    share : float, optional
        Fraction of the held-out rows that is used to choose the score. Default: 0.3, or with "auto" the default of
        ``rankset.auto``, which depends on the number of rows.

    Raises
    ------
    KindError, RuleError, SplitError, LevelError
        If a parameter is invalid.

    Examples
    --------
    >>> import rankset as rs
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> choice = rs.Choice(["rank", "thr"], alpha=0.2)
    >>> rs.ConformalClassifier(method=choice, random_state=0).fit(X / 10, y).method_
    Rank()
    """

    scores: Sequence[Score | str] | str
    alpha: Alpha = 0.1
    objective: str | Formula = "size"
    share: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "scores", AUTO if is_auto(self.scores) else _several(self.scores))
        exact_alpha(self.alpha)
        objectives = ("size",) if self.automatic else tuple(OBJECTIVES)
        if (self.automatic or isinstance(self.objective, str)) and self.objective not in objectives:
            raise RuleError.option("objective", self.objective, objectives)
        if self.share is not None:
            check_share("Choice", self.share)

    @property
    def automatic(self) -> bool:
        """Whether the score is fitted and chosen by ``rankset.auto``."""
        return self.scores == AUTO

    @property
    def candidates(self) -> tuple[Score, ...]:
        """The scores to choose from. There are none with "auto"."""
        return () if self.automatic else cast("tuple[Score, ...]", self.scores)

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
        PackageError
            If scikit-learn is not installed.

        Examples
        --------
        >>> import numpy as np
        >>> import rankset as rs
        >>> choosing, calibrating = rs.Choice([rs.Rank(), rs.Thr()]).parts(np.arange(100), random_state=0)
        >>> len(choosing), len(calibrating)
        (30, 70)
        """
        with needs_extra("rankset.Choice"):
            from sklearn.utils import check_random_state

        if len(rows) < 3:
            raise SplitError.too_few_to_choose(len(rows))
        count = min(max(2, round((DEFAULT_SHARE if self.share is None else self.share) * len(rows))), len(rows) - 1)
        mixed = rows[check_random_state(random_state).permutation(len(rows))]
        return np.sort(mixed[:count]), np.sort(mixed[count:])

    def best(
        self,
        probs: NDArray[Any],
        labels: NDArray[Any],
        kind: Kind,
        classes: NDArray[Any],
        target: Target = OneLabel(),  # noqa: B008
    ) -> Score:
        """Return the score that is best on the given rows.

        Parameters
        ----------
        probs : array (n, K)
            Model outputs for the rows that are used to choose the score.
        labels : array (n,)
            True labels of these rows. A 0/1 matrix (n, K) if rows can have several labels.
        kind : str
            The type of values in ``probs``, as in ``rankset.calibrate``.
        classes : array (K,)
            Class names in column order.
        target : Target, optional
            What is promised about the true labels of a row, as in ``rankset.calibrate``.

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
        options: dict[str, Any] = {"objective": self.objective, "kind": kind, "classes": classes, "target": target}
        return choose(self.candidates, probs, labels, self.alpha, **options)

    def auto(self, probs: NDArray[Any], labels: NDArray[Any], random_state: Any, **options: Any) -> Rule:
        """Fit and choose a score on some of the given rows, and calibrate it on the others, with ``rankset.auto``.

        Parameters
        ----------
        probs : array (n, K)
            Model outputs for the held-out rows.
        labels : array (n,)
            True labels of these rows.
        random_state : int, RandomState or None
            Seed of the random split.
        **options
            Other arguments of ``rankset.auto``, such as ``kind``, ``classes`` and ``target``.

        Returns
        -------
        Rule
            A rule whose sets are small at ``alpha``.

        Raises
        ------
        PackageError
            If scikit-learn is not installed.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("carer")
        >>> rs.Choice("auto").auto(probs[:1000], labels[:1000], random_state=0, kind="logits").n
        799
        """
        with needs_extra("rankset.Choice"):
            from sklearn.utils import check_random_state

        seed = int(check_random_state(random_state).randint(2**31 - 1))
        return auto(probs, labels, self.alpha, share=self.share, seed=seed, **options)


def _several(scores: object) -> tuple[Score, ...]:
    """Return a list of scores or of their names as a tuple of scores."""
    several = tuple(scores) if isinstance(scores, Iterable) and not isinstance(scores, str | bytes) else ()
    if not several:
        raise KindError.argument("scores", "a list of at least one score, or 'auto'", scores)
    return tuple(checked_score(score, "scores") for score in several)
