"""``covariate``: weights of rows whose outputs are more, or less, frequent among new rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset import notebook
from rankset.core import masses
from rankset.core.arrays import Sealed, as_float, is_whole
from rankset.errors import InputError, KindError, SplitError, warn
from rankset.inputs.matrix import Kind
from rankset.inputs.prepare import prepare
from rankset.inputs.vocabulary import Names
from rankset.shift.domain_fit import LogRatio, area_under_curve, chance_loss, fit_folds, fold_numbers, left_out_logs
from rankset.shift.features import features_of
from rankset.shift.rows_in import two_sources

Floats = NDArray[np.float64]

OF_FITS = math.sqrt(2)
"""The error of the AUC is larger by this, because fits vary, too: without a shift it varied 1.3 to 1.45 times as much
as rows alone would make it."""
MANY = 0.05
"""Share of rows with cut weights from which on users are warned."""


@dataclass(frozen=True, eq=False, repr=False)
class CovariateShift(Sealed):
    """How much more frequent rows are in a new source, by their outputs; made by ``rankset.shift.covariate``.

    ``weights(outputs)`` are for rows that were not used in the fit: calibration rows and new rows. They have one scale,
    on which the mean over the source is about 1.

    Attributes
    ----------
    source_weights, target_weights : arrays
        Cross-fitted weights of the rows of the fit. The weight of a row comes from a fit that did not see the row.
    auc, auc_error : float
        How well the two sources can be told apart by outputs: 0.5 if not at all, 1 if completely; and the standard
        error. The rows are judged by fits that did not see them.
    coverage_loss : float
        Estimate of how much coverage can be lost, because weights vary by chance with the rows of the fit: half of the
        mean distance between estimated and true weights. It does not know of shifts that outputs do not show, nor of
        true weights that are not the exponential of a weighted sum of the features.
    n_clipped : int
        Number of rows of both sources whose weight was cut.
    clip : float
        Largest ratio of the densities, before the weights are divided by their mean.
    kind : str
        The type of the outputs.
    classes : Names or None
        The columns that outputs must have; None if rows have candidates of their own (``Ragged``).
    log_ratio : LogRatio
        The fitted weights of the features.
    mean_ratio : float
        By which ratios are divided, so that the mean over the source is 1.

    Examples
    --------
    >>> import numpy as np, rankset as rs
    >>> logits, labels = rs.datasets.load("agnews")
    >>> unsure = rs.softmax(logits).max(axis=1) < 0.9
    >>> rows = np.random.default_rng(0).permutation(len(labels))
    >>> source, calibration, others = np.split(rows, [1500, 3000])
    >>> target = others[unsure[others] | (others % 3 == 0)]               # a source with more difficult texts
    >>> shift = rs.shift.covariate(logits[source], logits[target[:1000]], kind="logits")
    >>> weights = shift.weights(logits[calibration])
    >>> rule = rs.calibrate(logits[calibration], labels[calibration], kind="logits", weights=weights)
    >>> new = target[1000:]
    >>> len(rule.predict(logits[new], alpha=0.1, weights=shift.weights(logits[new]))) == len(new)
    True
    """

    source_weights: Floats
    target_weights: Floats
    auc: float
    auc_error: float
    coverage_loss: float
    n_clipped: int
    clip: float
    kind: Kind
    classes: Names | None
    log_ratio: LogRatio
    mean_ratio: float

    def weights(self, outputs: Any) -> Floats:  # noqa: ANN401
        """Return the weight of each row. The weight of a row does not depend on other rows.

        Parameters
        ----------
        outputs : array-like (n, K), data frame, tensor or Ragged
            Outputs of rows that were not used in the fit, of the kind of the fit.

        Returns
        -------
        array (n,)

        Raises
        ------
        InputError, KindError
            If the rows are invalid or have other columns.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, _ = rs.datasets.load("cifar10")
        >>> shift = rs.shift.covariate(probs[:1000], probs[1000:2000], kind="logits")
        >>> shift.weights(probs[2000:]).shape
        (8000,)
        """
        features = features_of(prepare(outputs, kind=self.kind, classes=self.classes))
        return self.log_ratio.ratios(features, self.clip) / self.mean_ratio

    @property
    def effective_share(self) -> float:
        """Calibration rows of the source are worth so much: this share of them, with equal weights.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, _ = rs.datasets.load("cifar10")
        >>> round(rs.shift.covariate(probs[:1000], probs[1000:2000], kind="logits").effective_share, 2)
        0.98
        """
        weights = self.source_weights
        return masses.effective_rows(float(weights.sum()), float(np.square(weights).sum())) / len(weights)

    def __repr__(self) -> str:
        return (
            f"CovariateShift({len(self.source_weights):,} and {len(self.target_weights):,} rows, "
            f"AUC {self.auc:.3f} ± {self.auc_error:.3f}, effective share {self.effective_share:.2f})"
        )

    def __str__(self) -> str:
        facts = self._facts()
        width = max(len(name) for name, _ in facts)
        return "\n".join(["Covariate shift", *(f"  {name:<{width}}  {text}" for name, text in facts)])

    def _repr_html_(self) -> str:
        return notebook.card("Covariate shift", notebook.table(self._facts()))

    def _facts(self) -> list[tuple[str, str]]:
        source, target = self.source_weights, self.target_weights
        n = len(source)
        return [
            ("rows", f"{n:,} of the source, {len(target):,} of the target"),
            ("AUC", f"{self.auc:.3f} ± {self.auc_error:.3f}; 0.5: how sure the model is does not differ"),
            (
                "weights",
                f"{source.min():.3g} to {source.max():.3g} in the source, mean {target.mean():.3g} in the target",
            ),
            ("clipped", f"{self.n_clipped:,} rows"),
            ("effective rows", f"{n:,} calibration rows count as {n * self.effective_share:,.0f}"),
            ("coverage", f"can be lower by about {self.coverage_loss:.3f} because of chance in the fit"),
        ]


def covariate(
    source_outputs: Any,  # noqa: ANN401
    target_outputs: Any,  # noqa: ANN401
    *,
    kind: Kind = "probs",
    folds: int = 5,
    clip: float = 20.0,
    seed: int = 0,
) -> CovariateShift:
    """Estimate weights for new rows whose outputs have another distribution; their labels are not needed.

    A logistic regression tells the two sources apart by the five largest probabilities of a row, its entropy, and the
    distance of its two largest probabilities. The weight of a row is the estimated ratio of the densities of the two
    sources. It sees how sure the model is of a row, not which class is likely: if other classes are likely now, and the
    model is as sure as before, it finds no difference. For other shares of classes use ``rankset.shift.labels``.

    Use rows that are neither calibration rows nor the rows to predict. Then coverage is at least 1 - alpha -
    E|estimated weight - true weight| / 2, if labels depend on inputs as before: weights do not heal a change of that.

    Parameters
    ----------
    source_outputs : array-like (n, K), data frame, tensor or Ragged
        Outputs of the model for rows like the calibration rows.
    target_outputs : array-like (m, K), data frame, tensor or Ragged
        Outputs of the model for rows like the new rows.
    kind : {"probs", "logits", "binary", "marginals", "marginal_logits"}, default "probs"
        The type of both outputs.
    folds : int, default 5
        Number of folds for the cross-fitted weights, for ``auc`` and for ``coverage_loss``.
    clip : float, default 20
        Largest ratio of the densities. Larger ones are cut.
    seed : int, default 0
        For the folds.

    Returns
    -------
    CovariateShift
        ``shift.weights(outputs)`` are the weights for ``rankset.calibrate`` and ``Rule.predict``.

    Raises
    ------
    InputError, KindError
        If rows are invalid, have different columns, or are the same rows twice; if there are fewer than ``folds``.
    SplitError
        If ``folds`` is not an integer of at least 2.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, _ = rs.datasets.load("cifar10")
    >>> print(rs.shift.covariate(probs[:1000], probs[1000:2000], kind="logits"))     # no shift
    Covariate shift
      rows            1,000 of the source, 1,000 of the target
      AUC             0.510 ± 0.018; 0.5: how sure the model is does not differ
      weights         0.499 to 3.11 in the source, mean 1.01 in the target
      clipped         0 rows
      effective rows  1,000 calibration rows count as 981
      coverage        can be lower by about 0.033 because of chance in the fit
    """
    _check_options(folds, clip)
    rows = two_sources(source_outputs, target_outputs, kind)
    for name, part in zip(("source_outputs", "target_outputs"), rows, strict=True):
        if len(part) < folds:
            raise InputError.too_few_rows_of_source(name, folds, len(part))
    source, target = map(features_of, rows)
    n, features = len(source), np.concatenate((source, target))
    is_target = np.arange(len(features)) >= n
    numbers = fold_numbers(is_target, folds, seed)
    fits, final = fit_folds(features, is_target, numbers), LogRatio.fit(features, is_target)
    logs = left_out_logs(fits, features, numbers)
    ratios = np.exp(np.minimum(logs, np.log(clip)))
    ragged = any(part.counts is not None for part in rows)
    auc, error = area_under_curve(logs[:n], logs[n:])
    _warn_if_clipped(int(np.count_nonzero(logs > np.log(clip))), len(logs), clip)
    return CovariateShift(
        ratios[:n] / ratios[:n].mean(),
        ratios[n:] / ratios[:n].mean(),
        auc,
        OF_FITS * error,
        coverage_loss=chance_loss(fits, source, clip),
        n_clipped=int(np.count_nonzero(logs > np.log(clip))),
        clip=float(clip),
        kind=rows[0].kind,
        classes=None if ragged else rows[0].classes,
        log_ratio=final,
        mean_ratio=float(final.ratios(source, clip).mean()),
    )


def _warn_if_clipped(clipped: int, rows: int, clip: float) -> None:
    """Warn if many weights were cut: the sources are then so different that weights do not make up for it."""
    if clipped > MANY * rows:
        warn(
            f"{clipped:,} of {rows:,} rows have a weight above {clip:g} and were cut: the sources hardly overlap, and "
            "coverage can stay too low. Label some new rows, and calibrate on them."
        )


def _check_options(folds: int, clip: float) -> None:
    """Raise an error for options that cannot be."""
    if not is_whole(folds) or folds < 2:
        raise SplitError.parameter("covariate", "folds", "an integer of at least 2", folds)
    if not 1 < as_float(clip) < np.inf:
        raise KindError.argument("clip", "a number above 1", clip)
