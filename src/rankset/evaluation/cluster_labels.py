"""``cluster_labels``: clusters of classes whose scores are distributed alike, for ``PerLabel(clusters)``."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.conditions import Marginal, PerLabel
from rankset.core import lexicographic
from rankset.core.alpha import Alpha, exact_alpha, rows_needed
from rankset.core.alpha_argument import takes_alpha
from rankset.core.arrays import is_whole
from rankset.core.lexicographic import Keys
from rankset.errors import InputError, KindError, LabelError, needs_extra
from rankset.inputs.matrix import Kind
from rankset.inputs.prepare import Prepared, prepare
from rankset.inputs.ragged import Ragged
from rankset.rules.batch import Batch
from rankset.rules.spec import RuleSpec
from rankset.scores import Score, Thr, checked_score

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

QUANTILES = (0.5, 0.6, 0.7, 0.8, 0.9)
"""Quantiles that describe the scores of a class, besides 1 - alpha."""
RARE = "rare"
"""Name of the cluster of classes with few rows."""


@takes_alpha
def cluster_labels(
    probs: ArrayLike,
    labels: ArrayLike,
    alpha: Alpha = 0.1,
    *,
    method: Score | str = Thr(),  # noqa: B008
    n_clusters: int | None = None,
    kind: Kind = "probs",
    classes: Iterable[object] | None = None,
    seed: int = 0,
) -> PerLabel:
    """Return a condition whose clusters contain classes with similar scores: clustered conformal prediction.

    Use it if classes have too few calibration rows for thresholds of their own (Ding et al. 2023). Do not calibrate on
    the same rows. Then coverage is at least 1 - alpha in every cluster; for single classes it is close to that only as
    far as the classes of a cluster are alike. Take about K / (75 + K) of the rows for the clusters, where K is the
    number of classes, and calibrate on the others.

    A class is described by the quantiles 0.5, 0.6, 0.7, 0.8, 0.9 and 1 - alpha of the scores of its true labels.
    Classes are clustered by k-means, in which a class with n rows has the weight sqrt(n). Classes with fewer than
    1/alpha - 1 rows share one further cluster, ``"rare"``. Needs scikit-learn: ``pip install 'rankset[sklearn]'``.

    Parameters
    ----------
    probs : array-like (n, K)
        Model outputs for rows that are not used for calibration.
    labels : array-like (n,)
        True labels of these rows. Rows whose label is ``ABSENT`` are left out.
    alpha : float, default 0.1
        The alpha for which sets will be made. Sets can be made for every other alpha, too.
    method : Score or str, default Thr()
        The score, or its name, that will be calibrated. If it has several keys, as ``Rank`` does, classes are described
        by the places of their keys among those of all rows.
    n_clusters : int, optional
        Number of clusters without ``"rare"``. Default: half the number of rows of the rarest class, or of 1/alpha - 1
        if this is more. There are fewer clusters if fewer classes have enough rows.
    kind : str, default "probs"
        The type of values in ``probs``, as in ``calibrate``.
    classes : sequence, optional
        Class names in column order, as in ``calibrate``.
    seed : int, default 0
        Seed of k-means and of randomised scores.

    Returns
    -------
    PerLabel
        The condition. Clusters are called ``"cluster 1"``, ``"cluster 2"`` and so on, those with the least unusual
        true labels first, and ``"rare"``. Classes must be in the same order in the calibration.

    Raises
    ------
    PackageError
        If scikit-learn is not installed.
    KindError, InputError, LabelError, ScoreError
        If the rows, labels, score or number of clusters are invalid, or if there are no rows.
    LevelError
        If ``alpha`` does not lie between 0 and 1.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> condition = rs.cluster_labels(probs[:100], labels[:100], n_clusters=2)
    >>> condition
    PerLabel(clusters=('cluster 2', 'cluster 2', 'cluster 1', 'cluster 2'))
    >>> rule = rs.calibrate(probs[100:], labels[100:], method="thr", condition=condition)
    >>> rule.predict([[0.6, 0.2, 0.2, 0.0]], alpha=0.1).to_lists()
    [[0, 1]]
    """
    level = exact_alpha(alpha)
    if n_clusters is not None and not (is_whole(n_clusters) and n_clusters >= 1):
        raise KindError.argument("n_clusters", "an integer of at least 1, or None", n_clusters)
    data = _prepared(probs, labels, kind, classes)
    if data.labels is None:
        raise LabelError.not_one_dimensional("labels", "NoneType")
    spec = RuleSpec.of(checked_score(method, "method"), Marginal(), data.kind, seed, data.classes)
    keys = _as_numbers(_label_keys(Batch.of(spec, data), data.labels))
    counts = np.bincount(data.labels, minlength=data.n_columns)
    least = rows_needed(level)
    frequent = np.flatnonzero(counts >= least)
    wanted = max(int(counts.min()), least) // 2 if n_clusters is None else int(n_clusters)
    steps = sorted({*QUANTILES, float(1 - level)})
    embedded = np.array([np.quantile(keys[data.labels == column], steps) for column in frequent])
    names = np.full(data.n_columns, RARE, dtype=object)
    if len(frequent):
        names[frequent] = _cluster_names(embedded, np.sqrt(counts[frequent]), wanted, int(seed))
    return PerLabel(tuple(names.tolist()))


def _prepared(probs: ArrayLike, labels: ArrayLike, kind: Kind, classes: Iterable[object] | None) -> Prepared:
    """Return rows and labels, prepared; refuse rows with candidates of their own, and no rows."""
    if isinstance(probs, Ragged):
        raise KindError.argument("probs", "a matrix with the same classes in all rows", probs)
    data = prepare(probs, labels, kind=kind, classes=classes)
    if data.absent is not None:
        data = data.take(np.flatnonzero(~data.absent))
    if len(data) == 0:
        raise InputError.no_rows()
    return data


def _label_keys(batch: Batch, labels: Ints) -> Keys:
    """Return the keys of the labels of all rows."""
    parts = batch.map_blocks(partial(batch.label_keys, labels))
    return tuple(np.concatenate(pieces) for pieces in zip(*(keys for _, keys in parts), strict=True))


def _as_numbers(keys: Keys) -> Floats:
    """Return one number per row in the order of ``keys``: a single finite key itself, else its place among all rows."""
    if len(keys) == 1 and np.isfinite(keys[0]).all():
        return keys[0].astype(np.float64)
    order = lexicographic.argsort(keys)
    ordered = [key[order] for key in keys]
    changes = np.any([key[1:] != key[:-1] for key in ordered], axis=0)
    places = np.empty(len(order))
    places[order] = np.concatenate(([0], np.cumsum(changes))) / len(order)
    return places


def _cluster_names(embedded: Floats, weights: Floats, wanted: int, seed: int) -> list[str]:
    """Return the name of the cluster of each class; clusters are numbered by the mean of their quantiles."""
    count = min(wanted, len(np.unique(embedded, axis=0)))
    if count < 2:
        return ["cluster 1"] * len(embedded)
    with needs_extra("rankset.cluster_labels"):
        from sklearn.cluster import KMeans
    found = KMeans(count, n_init=10, random_state=seed % 2**32).fit(embedded, sample_weight=weights)
    order = np.argsort(np.argsort(found.cluster_centers_.mean(axis=1), kind="stable"))
    return [f"cluster {order[cluster] + 1}" for cluster in found.labels_.tolist()]
