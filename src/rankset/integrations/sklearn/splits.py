"""Options for ``ConformalClassifier(split=...)``: which rows are used for training and which for calibration.

The calibration rows of a model are never used to train the same model. The guarantee has one more requirement: given
the training rows, the calibration rows and the new row must be exchangeable. A split that uses the labels of the rows
violates this requirement, unless coverage must hold for every label separately.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core.arrays import is_real, is_whole
from rankset.errors import KindError, SplitError, join_names, needs_extra, warn

Ints = NDArray[np.int64]
Parts = list[tuple[Ints, Ints]]
"""Numbers of training rows and of calibration rows: one pair, or one per fold."""


@runtime_checkable
class Split(Protocol):
    """Protocol of splits: any object with a method ``parts(labels, random_state)``."""

    def parts(self, labels: NDArray[Any], random_state: Any) -> Parts:
        """Return a list of pairs (training rows, calibration rows): one pair, or one pair per fold."""


def check_share(owner: str, share: object) -> None:
    """Raise a SplitError about ``owner`` if ``share`` is not a number between 0 and 1."""
    if not (is_real(share) or isinstance(share, Fraction)) or not 0 < cast("float", share) < 1:
        raise SplitError.parameter(owner, "share", "a number between 0 and 1", share)


@dataclass(frozen=True)
class Holdout:
    """Use a random part of the rows for calibration, and the other rows for training.

    Sets contain the true label with probability at least 1 - alpha, for any model.

    Parameters
    ----------
    share : float, default 0.25
        Fraction of the rows that is used for calibration.
    stratify : bool, default False
        Use the same class frequencies in both parts, unless a class has only one row. The guarantee then holds only
        with ``condition=PerLabel()``. With other conditions, coverage can be lower than 1 - alpha. If the model is
        weak, the difference can be several percentage points.
    classes : sequence, optional
        Classes that should be present in the training rows, for example rare classes. If the training rows do not
        contain a listed class, rows are moved from calibration to training until every listed class is present. At
        most half of the calibration rows are moved. If a class is still missing then, a warning is given. The
        guarantee still holds. List the classes that you know in advance. Do not build the list from the labels that
        you pass to ``fit``.

    Raises
    ------
    SplitError
        If ``share`` is not between 0 and 1, or if both ``classes`` and ``stratify=True`` are passed.

    Examples
    --------
    >>> import numpy as np
    >>> import rankset as rs
    >>> train, calibrate = rs.Holdout(0.25).parts(np.zeros(100, dtype=int), random_state=0)[0]
    >>> len(train), len(calibrate)
    (75, 25)
    """

    share: float = 0.25
    stratify: bool = False
    classes: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        check_share("Holdout", self.share)
        if self.classes is None:
            return
        if isinstance(self.classes, str | bytes | Mapping) or not isinstance(self.classes, Iterable):
            raise KindError.argument("classes", "a list of classes", self.classes)
        if self.stratify:
            raise SplitError.stratified_classes()
        object.__setattr__(self, "classes", tuple(self.classes))

    def parts(self, labels: NDArray[Any], random_state: Any) -> Parts:
        """Return the training rows and the calibration rows.

        Parameters
        ----------
        labels : array (n,)
            The true labels of all rows.
        random_state : int, RandomState or None
            Seed of the random split.

        Returns
        -------
        list of one pair of arrays of int
            Numbers of the training rows and of the calibration rows.

        Raises
        ------
        SplitError
            If there are fewer than 2 rows.

        Examples
        --------
        >>> import numpy as np
        >>> import rankset as rs
        >>> [(train, calibrate)] = rs.Holdout(0.5).parts(np.array([0, 1, 0, 1]), random_state=0)
        >>> train, calibrate
        (array([2, 3]), array([0, 1]))
        """
        with needs_extra("rankset.Holdout"):
            from sklearn.utils import check_random_state

        n, rng = len(labels), check_random_state(random_state)
        if n < 2:
            raise SplitError.too_few_rows(n, 2)
        calibrating = min(max(1, round(self.share * n)), n - 1)
        rows = rng.permutation(n)
        if self.stratify and np.unique(labels, return_counts=True)[1].min() >= 2:
            return [_stratified_pair(rows, labels, calibrating, rng)]
        training = self._training_count(labels[rows], calibrating)
        return [(np.sort(rows[:training]), np.sort(rows[training:]))]

    def _training_count(self, labels: NDArray[Any], calibrating: int) -> int:
        """Return the number of training rows. ``labels`` are in the random order of the rows."""
        least = len(labels) - calibrating
        if self.classes is None:
            return least
        first = {label: place for place, label in reversed(list(enumerate(labels.tolist())))}
        most = len(labels) - max(1, calibrating // 2)
        needed = 1 + max((first.get(name, most) for name in self.classes), default=0)
        training = min(max(least, needed), most)
        missing = [name for name in self.classes if first.get(name, most) >= training]
        if missing:
            warn(f"these classes have no training rows because they are rare: {join_names(missing)}. Pass more rows.")
        return training


def _stratified_pair(rows: Ints, labels: NDArray[Any], calibrating: int, rng: Any) -> tuple[Ints, Ints]:
    """Sort the rows by class, and use evenly spaced rows for calibration."""
    _, codes = np.unique(labels[rows], return_inverse=True)
    rows = rows[np.argsort(rng.permutation(codes.max() + 1)[codes], kind="stable")]
    taken = np.diff(np.floor((np.arange(len(rows) + 1) + rng.uniform()) * calibrating / len(rows))) > 0
    return np.sort(rows[~taken]), np.sort(rows[taken])


@dataclass(frozen=True)
class CrossConformal:
    """Cross-conformal split: the rows are divided into folds, and every row is used for training and for calibration.

    For each fold, one model is trained on the rows of the other folds and calibrated on the rows of this fold. Use this
    split for small data. Coverage is usually close to 1 - alpha. The proven coverage is lower than with ``Holdout``,
    see ``CrossRule.guarantee``.

    Parameters
    ----------
    folds : int, default 5
        Number of folds, at least 2.
    stratify : bool, default False
        Use the same class frequencies in all folds, unless a class has fewer rows than there are folds. Coverage is
        then proven only with ``condition=PerLabel()``. With other conditions, ``CrossRule.guarantee`` returns 0.

    Raises
    ------
    SplitError
        If there are fewer than 2 folds.

    Examples
    --------
    >>> import numpy as np
    >>> import rankset as rs
    >>> [len(calibrate) for _, calibrate in rs.CrossConformal(4).parts(np.zeros(100, dtype=int), random_state=0)]
    [25, 25, 25, 25]
    """

    folds: int = 5
    stratify: bool = False

    def __post_init__(self) -> None:
        if not is_whole(self.folds) or self.folds < 2:
            raise SplitError.parameter("CrossConformal", "folds", "an integer of at least 2", self.folds)

    def parts(self, labels: NDArray[Any], random_state: Any) -> Parts:
        """Return the training rows and the calibration rows.

        Parameters
        ----------
        labels : array (n,)
            The true labels of all rows.
        random_state : int, RandomState or None
            Seed of the random split.

        Returns
        -------
        list of pairs of arrays of int
            For each fold the numbers of the training rows and of the calibration rows.

        Raises
        ------
        SplitError
            If there are fewer rows than folds.

        Examples
        --------
        >>> import numpy as np
        >>> import rankset as rs
        >>> len(rs.CrossConformal(3).parts(np.array([0, 1, 0, 1, 0, 1]), random_state=0))
        3
        """
        with needs_extra("rankset.CrossConformal"):
            from sklearn.model_selection import KFold, StratifiedKFold

        if len(labels) < self.folds:
            raise SplitError.too_few_rows(len(labels), self.folds)
        enough = np.unique(labels, return_counts=True)[1].min() >= self.folds
        kind = StratifiedKFold if self.stratify and enough else KFold
        folds = kind(int(self.folds), shuffle=True, random_state=random_state)
        return list(folds.split(labels, labels))


@dataclass(frozen=True, eq=False)
class GivenSplit:
    """Use the given rows for calibration, and all other rows for training.

    Parameters
    ----------
    calibration : array-like
        Numbers of the calibration rows, or a boolean mask with one entry per row.

    Examples
    --------
    >>> import rankset as rs
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> rs.ConformalClassifier(split=rs.GivenSplit(range(0, 150, 3))).fit(X / 10, y).rule_.n
    50
    """

    calibration: ArrayLike

    def parts(self, labels: NDArray[Any], random_state: Any) -> Parts:
        """Return the training rows and the calibration rows.

        Parameters
        ----------
        labels : array (n,)
            The true labels of all rows.
        random_state : object
            Not used.

        Returns
        -------
        list of one pair of arrays of int
            Numbers of the training rows and of the calibration rows.

        Raises
        ------
        SplitError
            If ``calibration`` is neither a mask of all rows nor a list of different row numbers, or if there would be
            no training rows or no calibration rows.

        Examples
        --------
        >>> import numpy as np
        >>> import rankset as rs
        >>> rs.GivenSplit([0, 2]).parts(np.array([0, 1, 0, 1]), random_state=None)
        [(array([1, 3]), array([0, 2]))]
        """
        rows = np.arange(len(labels))
        try:
            chosen = np.asarray(self.calibration)
        except ValueError:
            raise SplitError.rows(len(rows)) from None
        if isinstance(self.calibration, np.ma.MaskedArray):
            raise SplitError.rows(len(rows))
        mask = chosen.dtype == np.bool_ and chosen.shape == rows.shape
        numbers = chosen.dtype.kind in "iu" and chosen.ndim == 1 and len(np.unique(chosen)) == len(chosen)
        if not mask and not (numbers and len(chosen) and chosen.min() >= 0 and chosen.max() < len(rows)):
            raise SplitError.rows(len(rows))
        calibrate = rows[chosen]
        train = np.setdiff1d(rows, calibrate)
        if not len(train) or not len(calibrate):
            raise SplitError.rows(len(rows))
        return [(train, np.sort(calibrate))]
