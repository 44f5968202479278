"""``Marginals``: a score on probabilities of single labels, recalibrated with their rows and with each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core.cells import Cells
from rankset.core.lexicographic import Keys
from rankset.errors import InputError, KindError, ScoreError
from rankset.inputs.matrix import MARGINAL, Kind
from rankset.inputs.prepare import Prepared, prepare
from rankset.inputs.ragged import Ragged
from rankset.scores.base import Score, checked_score
from rankset.scores.declarations import check_names, checked_traits, traits
from rankset.scores.key_ranges import FeatureRanges, Range, ranges_of
from rankset.scores.label_dependence.exact_products import multiply, rounded_columns
from rankset.scores.label_dependence.features import PRIOR, row_features, standardised
from rankset.scores.label_dependence.fit_shared import sigmoid, weighted_logits
from rankset.scores.parameters import check_fitted_numbers, list_parameter
from rankset.scores.reach import Reach, reach_of
from rankset.scores.recalibration.row_blocks import map_rows
from rankset.scores.thr import Thr
from rankset.scores.wording import Wording, describe_label, describe_threshold
from rankset.scores.wrappers import Wrapper

Floats = NDArray[np.float64]

BY_LABEL = ("intercepts", "means", "deviations")
"""Parameters with one number per label."""


@dataclass(frozen=True, repr=False)
class Marginals(Wrapper):
    """Apply a score to probabilities of single labels that are recalibrated with their rows and with each other.

    For rows that can have several labels, with ``kind="marginals"`` or ``kind="marginal_logits"``. The logit of the new
    probability of a label is a weighted sum of six features: its own logit, 1, the logarithm of its rank in the row,
    the gap to the largest logit of the row, the logarithm of the sum of all probabilities of the row, and the logarithm
    of the label's share of this sum. Every label has an intercept. If this helps, the logits of all labels of the row
    are added with weights of their own, so a label can become more probable because another one is.

    ``Marginals.fit`` estimates the parameters. Do not calibrate on the rows of the fit: the guarantee holds only if the
    parameters are fixed before calibration. With the default parameters probabilities do not change, except for
    rounding.

    Parameters
    ----------
    score : Score or str, default Thr()
        The score that is applied to the new probabilities: ``Share()`` for the target ``Recall()``, ``Thr()`` for other
        targets.
    weights : sequence of 6 floats
        The weights of the features, the same for all labels.
    intercepts : sequence of float, default ()
        The intercept of each label. Empty: no intercepts, and any number of labels.
    means, deviations : sequence of float, default ()
        Mean and standard deviation of the logits of each label. Empty if there is no ``matrix``.
    matrix : sequence of float, default ()
        The weights of standardised logits, K times K numbers: first those of the logit of label 0 for each label, then
        those of label 1, and so on. Empty if labels are not used for each other.
    names : sequence, optional
        Names of all classes in column order. If given, calibration with different names or a different order raises
        an error.

    Raises
    ------
    KindError
        If ``score`` is not a score.
    ScoreError
        If a parameter is not a list of numbers of at most 1,000,000, if lengths contradict each other, or if ``score``
        needs probabilities that sum to 1.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("goemotions")
    >>> score = rs.Marginals.fit(probs[:2000], labels[:2000], score=rs.Share())
    >>> rule = rs.calibrate(probs[2000:3000], labels[2000:3000], method=score, target="recall", kind="marginals")
    >>> rule.n
    1000
    """

    score: Score = Thr()  # noqa: RUF009
    weights: tuple[float, ...] = PRIOR
    intercepts: tuple[float, ...] = ()
    means: tuple[float, ...] = ()
    deviations: tuple[float, ...] = ()
    matrix: tuple[float, ...] = ()
    names: tuple[Any, ...] | None = field(default=None, compare=False)
    needs_probs: ClassVar[bool] = True
    takes_marginals: ClassVar[bool] = True
    transforms: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "score", checked_score(self.score))
        inner = traits(self.score)
        if inner.uses_mass or not inner.takes_marginals:
            raise ScoreError.needs_one_label(self.score)
        check_fitted_numbers(self, "weights", len(PRIOR))
        check_fitted_numbers(self, "intercepts")
        n_columns = len(self.intercepts)
        if n_columns:
            checked_traits(self.score, None, n_columns)
        size = n_columns if self.matrix else 0
        for name, length in (("means", size), ("deviations", size), ("matrix", size**2)):
            check_fitted_numbers(self, name, length)
        if any(deviation <= 0 for deviation in self.deviations):
            raise ScoreError.parameter("Marginals", "deviations", "numbers above 0", self.deviations)
        if self.names is not None:
            names = list_parameter(self, "names", f"{n_columns} names in column order")
            if len(names) != n_columns:
                raise ScoreError.parameter("Marginals", "names", f"{n_columns} names in column order", self.names)
            object.__setattr__(self, "names", names)

    def __repr__(self) -> str:
        labels = f", fitted to {len(self.intercepts):,} labels" if self.intercepts else ""
        together = ", with their dependence" if self.matrix else ""
        return f"Marginals({self.score!r}{labels}{together})"

    @classmethod
    def fit(
        cls,
        probs: ArrayLike,
        labels: ArrayLike,
        *,
        kind: Kind = "marginals",
        classes: Iterable[object] | None = None,
        score: Score | str = Thr(),  # noqa: B008
    ) -> Marginals:
        """Fit the parameters by penalised maximum likelihood. Do not calibrate on the same rows.

        Labels are used for each other only if this increases the likelihood of rows that were not fitted on: in four
        folds, by more than two standard errors. A few thousand rows are needed to learn it. With more than 256 labels
        it is not tried. At most 20,000 rows are used, at most 500,000 / (number of labels), and for what labels say
        about each other at most 100,000,000 / (number of labels)².

        Parameters
        ----------
        probs : array-like (n, K)
            Probabilities of single labels, for rows that are not used for calibration.
        labels : array-like
            The true labels of these rows: a 0/1 matrix (n, K), or one list of labels per row.
        kind : {"marginals", "marginal_logits"}, default "marginals"
            The type of values in ``probs``.
        classes : sequence, optional
            Class names in column order. They are stored, and checked in every calibration.
        score : Score or str, default Thr()
            The score that is applied to the new probabilities. It does not affect the fit.

        Returns
        -------
        Marginals
            The score with the fitted parameters.

        Raises
        ------
        KindError
            If ``kind`` is another one, or rows have candidates of their own.
        InputError, LabelError
            If the rows or labels are invalid, or if there are no rows.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("goemotions")
        >>> rs.Marginals.fit(probs[:1000], labels[:1000]).n_columns
        28
        """
        if kind not in MARGINAL:
            raise KindError.argument("kind", " or ".join(map(repr, MARGINAL)), kind)
        if isinstance(probs, Ragged):
            raise KindError.argument("probs", "a matrix with the same labels in all rows for a fit", probs)
        data = prepare(probs, labels, kind=kind, classes=classes, several=True)
        if len(data) == 0:
            raise InputError.no_rows()
        return cls.fit_prepared(data, checked_score(score))

    @classmethod
    def fit_prepared(cls, data: Prepared, score: Score) -> Marginals:
        """Fit the parameters on rows that are already prepared. For internal use; call ``fit`` instead.

        Parameters
        ----------
        data : Prepared
            Rows with lists of labels, from ``rankset.inputs.prepare``.
        score : Score
            As in ``fit``.

        Returns
        -------
        Marginals
            The score with the fitted parameters.

        Examples
        --------
        >>> import rankset as rs
        >>> from rankset.inputs.prepare import prepare
        >>> probs, labels = rs.datasets.load("goemotions")
        >>> data = prepare(probs[:200], labels[:200], kind="marginals", several=True)
        >>> rs.Marginals.fit_prepared(data, rs.Thr()) == rs.Marginals.fit(probs[:200], labels[:200])
        True
        """
        from rankset.scores.label_dependence.fit import fit  # the other methods do not need it

        if data.truths is None:
            raise KindError.argument("labels", "labels of rows that can have several", data.labels)
        found = fit(data.rows(slice(0, len(data))), data.truths.mask(data.n_columns))
        names = data.classes.values
        numbers = (found.weights, found.intercepts, found.means, found.deviations, found.matrix)
        weights, intercepts, means, deviations, matrix = (tuple(array.ravel().tolist()) for array in numbers)
        known = None if isinstance(names, range) else tuple(names)
        return cls(score, weights, intercepts, means, deviations, matrix, known)

    @property
    def n_columns(self) -> int | None:
        """Number of labels in the fit, or None if any number is allowed."""
        return len(self.intercepts) or self._inner.n_columns

    def check_names(self, names: Sequence[object]) -> None:
        """Raise a ScoreError if the class names, in column order, differ from the class names used in the fit."""
        if self.names is not None and list(self.names) != list(names):
            raise ScoreError.fitted_names(self, self.names, names)
        check_names(self.score, names)

    def transform(self, probs: Floats) -> Floats:
        """Return the new probabilities (n, K), after the ``transform`` of the inner score if it has one."""
        width = probs.shape[1]
        if self.intercepts and width > len(self.intercepts):
            raise ScoreError.fitted_columns(self, len(self.intercepts), width)
        weights, (intercepts, means, deviations) = np.array(self.weights), self._by_label(width)

        def recalibrated(rows: Floats) -> Floats:
            features = row_features(rows)
            logits = weighted_logits(features, weights, intercepts)
            if self.matrix:
                logits += multiply(standardised(features[0], means, deviations), self._crossed[:width, :width])
            return sigmoid(logits)

        return self._transformed(map_rows(recalibrated, probs))

    def _by_label(self, width: int) -> tuple[Floats, ...]:
        """Return intercepts, means and deviations of the first ``width`` labels; 0 where there are no intercepts."""
        found = [np.array(getattr(self, name)[:width]) for name in BY_LABEL]
        return (found[0] if self.intercepts else np.zeros(width), *found[1:])

    @cached_property
    def _crossed(self) -> Floats:
        """The matrix (K, K), rounded so that products with rows do not depend on the order of additions."""
        n_columns = len(self.intercepts)
        return rounded_columns(np.array(self.matrix).reshape(n_columns, n_columns), n_columns)

    def keys(self, cells: Cells) -> Keys:
        """Return the keys of the inner score."""
        return self.score.keys(cells)

    def reach(self, bounds: Keys) -> Reach:
        """Return the ``Reach`` of the inner score."""
        return reach_of(self.score, bounds)

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        """Return the lowest and highest possible value of each key."""
        return ranges_of(self.score, features if self._inner.transforms else replace(features, prob=(0.0, 1.0)))

    def describe(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return which labels are in a set, in words of the recalibrated probability."""
        return describe_threshold(self.score, threshold, replace(wording, entry="recalibrated probability"))

    def describe_label(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return when a label is in the set, in words of the recalibrated probability."""
        return describe_label(self.score, threshold, replace(wording, entry="recalibrated probability"))
