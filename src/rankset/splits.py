"""How rows are shared between training and calibration: small values, handed to the estimator as ``split=``.

Whatever the way, a row that calibrates a model has not trained it; that is what guarantees rest on.
"""

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.errors import SplitError

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
    """A ``share`` of the rows calibrates, the others train: sets cover with probability at least 1 - alpha.

    ``stratify`` keeps the shares of the classes alike in both parts, unless some class has a single row; every row is
    as likely to calibrate as any other. It has a small price: the model and its calibration then agree about how
    common classes are, more than new rows will (in simulations with 24 calibration rows of five classes coverage was
    0.006 lower for it, at 0.8). With ``stratify=False`` the proof holds to the letter.
    """

    share: float = 0.25
    stratify: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.share, bool) or not isinstance(self.share, int | float) or not 0 < self.share < 1:
            raise SplitError.parameter("Holdout", "share", "a number between 0 and 1", self.share)

    def parts(self, labels: NDArray[Any], random_state: Any) -> Parts:  # noqa: ANN401
        """One part of each kind."""
        from sklearn.utils import check_random_state

        n, rng = len(labels), check_random_state(random_state)
        if n < 2:
            raise SplitError.too_few_rows(n, 2)
        calibrating = min(max(1, round(self.share * n)), n - 1)
        rows = rng.permutation(n)
        if self.stratify and np.unique(labels, return_counts=True)[1].min() >= 2:
            rows = rows[_by_class(labels[rows], rng)]
        taken = np.diff(np.floor((np.arange(n + 1) + rng.uniform()) * calibrating / n)) > 0
        return [(np.sort(rows[~taken]), np.sort(rows[taken]))]


def _by_class(labels: NDArray[Any], rng: Any) -> Ints:  # noqa: ANN401
    """An order that keeps rows of one class together, the classes in a random order."""
    _, codes = np.unique(labels, return_inverse=True)
    return np.argsort(rng.permutation(codes.max() + 1)[codes], kind="stable")


@dataclass(frozen=True)
class CrossConformal:
    """The rows are dealt into ``folds``; each fold calibrates a model trained on the others, so every row calibrates.

    For small data, at a price: the proven coverage is 1 - 2 alpha - 2 (1 - alpha) (1 - 1/F) / (n/F + 1) for F folds,
    against the 1 - alpha of a ``Holdout``. In practice it is usually close to 1 - alpha.
    """

    folds: int = 5
    stratify: bool = True

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
