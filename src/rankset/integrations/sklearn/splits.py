"""How rows are shared between training and calibration: small values, handed to the estimator as ``split=``.

Whatever the way, a row that calibrates a model has not trained it. The guarantee needs one thing more: given the rows
that train, those that calibrate and the new row must be exchangeable. A split that looks at the labels of the rows it
shares out breaks that, unless coverage is asked for every label separately.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.errors import KindError, SplitError, join_names, warn

Ints = NDArray[np.int64]
Parts = list[tuple[Ints, Ints]]
"""Row numbers that train and row numbers that calibrate: once, or once per fold."""


@runtime_checkable
class Split(Protocol):
    """Anything with ``parts(labels, random_state)``: (training rows, calibration rows), once or per fold."""

    def parts(self, labels: NDArray[Any], random_state: Any) -> Parts:  # noqa: ANN401
        """Row numbers of each part."""


@dataclass(frozen=True)
class Holdout:
    """A ``share`` of the rows, drawn at random, calibrates; the others train.

    Sets contain the label with probability at least 1 - alpha, whatever the model.

    Parameters
    ----------
    share : the share of the rows that calibrates.
    classes : classes that the model should all see in training, rare ones included. The rows are taken in random order,
        and training goes on beyond 1 - ``share`` of them until it has a row of every class in this list, or until
        half of the calibration rows are used up, with a warning then. The guarantee holds as without it: when training
        stops depends on rows that train only, so the others are still exchangeable with the new row. List the classes
        you know of; a list made from the same labels would look at the rows that calibrate.
    stratify : give both parts the same shares of the classes (unless some class has a single row). The guarantee then
        holds with ``condition=PerLabel()``, where every class is covered on its own. With other conditions it
        does not: coverage can be lower than 1 - alpha by up to several points with weak models, because the
        calibration rows agree with the training rows about how common classes are more than new rows will.

    Raises
    ------
    SplitError : where ``share`` is not between 0 and 1, or ``classes`` come together with ``stratify``.

    Examples
    --------
    >>> import numpy as np
    >>> from rankset import Holdout
    >>> train, calibrate = Holdout(0.25).parts(np.zeros(100, dtype=int), random_state=0)[0]
    >>> len(train), len(calibrate)
    (75, 25)
    """

    share: float = 0.25
    stratify: bool = False
    classes: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.share, bool) or not isinstance(self.share, int | float) or not 0 < self.share < 1:
            raise SplitError.parameter("Holdout", "share", "a number between 0 and 1", self.share)
        if self.classes is None:
            return
        if isinstance(self.classes, str | bytes | Mapping) or not isinstance(self.classes, Iterable):
            raise KindError.argument("classes", "a list of classes", self.classes)
        if self.stratify:
            raise SplitError.stratified_classes()
        object.__setattr__(self, "classes", tuple(self.classes))

    def parts(self, labels: NDArray[Any], random_state: Any) -> Parts:  # noqa: ANN401
        """One part of each kind."""
        from sklearn.utils import check_random_state

        n, rng = len(labels), check_random_state(random_state)
        if n < 2:
            raise SplitError.too_few_rows(n, 2)
        calibrating = min(max(1, round(self.share * n)), n - 1)
        rows = rng.permutation(n)
        if self.stratify and np.unique(labels, return_counts=True)[1].min() >= 2:
            return [_stratified(rows, labels, calibrating, rng)]
        training = self._training(labels[rows], calibrating)
        return [(np.sort(rows[:training]), np.sort(rows[training:]))]

    def _training(self, labels: NDArray[Any], calibrating: int) -> int:
        """How many rows, in the order of ``labels``, train."""
        least = len(labels) - calibrating
        if self.classes is None:
            return least
        first = {label: place for place, label in reversed(list(enumerate(labels.tolist())))}
        most = len(labels) - max(1, calibrating // 2)
        needed = 1 + max((first.get(name, most) for name in self.classes), default=0)
        training = min(max(least, needed), most)
        missing = [name for name in self.classes if first.get(name, most) >= training]
        if missing:
            warn(f"no row of the class {join_names(missing)} trains: there are too few of it. Pass more rows.")
        return training


def _stratified(rows: Ints, labels: NDArray[Any], calibrating: int, rng: Any) -> tuple[Ints, Ints]:  # noqa: ANN401
    """Every so many-th of the rows, sorted by class, calibrates."""
    _, codes = np.unique(labels[rows], return_inverse=True)
    rows = rows[np.argsort(rng.permutation(codes.max() + 1)[codes], kind="stable")]
    taken = np.diff(np.floor((np.arange(len(rows) + 1) + rng.uniform()) * calibrating / len(rows))) > 0
    return np.sort(rows[~taken]), np.sort(rows[taken])


@dataclass(frozen=True)
class CrossConformal:
    """The rows are dealt into ``folds``; each fold calibrates a model trained on the others, so every row calibrates.

    For small data. The proven coverage is lower than the 1 - alpha of a ``Holdout``, see ``CrossRule.guarantee``; in
    practice it is usually close to 1 - alpha.

    Parameters
    ----------
    folds : how many, at least 2.
    stratify : deal every class evenly to the folds (unless some class has fewer rows than there are folds). The proof
        then holds with ``condition=PerLabel()`` only; with other conditions ``CrossRule.guarantee`` is 0.

    Raises
    ------
    SplitError : where there are fewer than 2 folds, or fewer rows than folds.

    Examples
    --------
    >>> import numpy as np
    >>> from rankset import CrossConformal
    >>> [len(calibrate) for _, calibrate in CrossConformal(4).parts(np.zeros(100, dtype=int), random_state=0)]
    [25, 25, 25, 25]
    """

    folds: int = 5
    stratify: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.folds, bool) or not isinstance(self.folds, int | np.integer) or self.folds < 2:
            raise SplitError.parameter("CrossConformal", "folds", "a whole number, at least 2", self.folds)

    def parts(self, labels: NDArray[Any], random_state: Any) -> Parts:  # noqa: ANN401
        """One pair per fold."""
        from sklearn.model_selection import KFold, StratifiedKFold

        if len(labels) < self.folds:
            raise SplitError.too_few_rows(len(labels), self.folds)
        room = np.unique(labels, return_counts=True)[1].min() >= self.folds
        kind = StratifiedKFold if self.stratify and room else KFold
        folds = kind(int(self.folds), shuffle=True, random_state=random_state)
        return list(folds.split(labels, labels))


@dataclass(frozen=True, eq=False)
class GivenSplit:
    """You say which rows calibrate, by number or by a boolean mask; the others train."""

    calibration: ArrayLike

    def parts(self, labels: NDArray[Any], random_state: Any) -> Parts:  # noqa: ANN401, ARG002
        """The given part and the rest."""
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
