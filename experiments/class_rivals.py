"""Four published methods for many classes with few rows, in NumPy, as they are published: for every_class.py.

Each takes probabilities, labels, alpha and a seed, and returns a function from new probabilities (n, K) to sets, (n, K)
booleans. The score is THR: strangeness is minus the probability, and a label is in the set if it is at most as strange
as the threshold of its class.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Sets = Callable[[Floats], NDArray[np.bool_]]

QUANTILES = (0.5, 0.6, 0.7, 0.8, 0.9)
"""What classes are compared by before they are clustered."""
STRANGEST = 0.0
"""Strangeness of a label with probability 0."""


def threshold(strange: Floats, alpha: float) -> float:
    """The usual order statistic; infinite if there are too few rows."""
    position = len(strange) + 1 - math.floor((len(strange) + 1) * alpha + 1e-9)
    return float(np.sort(strange)[position - 1]) if position <= len(strange) else math.inf


def by_class(strange: Floats, labels: Ints, n_classes: int, alpha: float) -> Floats:
    """A threshold for every class from its own rows."""
    return np.array([threshold(strange[labels == label], alpha) for label in range(n_classes)])


def within(limits: Floats) -> Sets:
    """Labels that are at most as strange as the threshold of their class."""
    return lambda new: -new <= limits


def clustered(probs: Floats, labels: Ints, alpha: float, seed: int) -> Sets:
    """Clustered (Ding et al. 2023): a threshold per cluster of classes; classes too rare to cluster have one together.

    How many rows cluster and how many clusters there are follows from the rows of the rarest class, as in the paper.
    """
    n_classes, needed = probs.shape[1], math.ceil(1 / alpha - 1)
    strange, counts = -probs[np.arange(len(labels)), labels], np.bincount(labels, minlength=probs.shape[1])
    fewest = max(int(counts[counts > 0].min()), needed)
    enough = int((counts >= fewest).sum())
    clustering = fewest * enough // (75 + enough)
    first = np.random.default_rng(seed).random(len(labels)) < clustering / fewest
    own = np.bincount(labels[first], minlength=n_classes)
    common, clusters = np.flatnonzero(own >= needed), np.full(n_classes, -1)
    if 2 <= clustering // 2 < len(common):
        rows = [strange[first & (labels == label)] for label in common]
        places = np.array([np.quantile(one, QUANTILES, method="inverted_cdf") for one in rows])
        model = KMeans(clustering // 2, n_init=10, random_state=seed)
        clusters[common] = model.fit(places, sample_weight=np.sqrt(own[common])).labels_
    rest, groups = strange[~first], clusters[labels[~first]]
    limits = {int(group): threshold(rest[groups == group], alpha) for group in set(clusters.tolist()) - {-1}}
    limits[-1] = threshold(rest, alpha)
    return within(np.array([limits[group] for group in clusters.tolist()]))


def rc3p(probs: Floats, labels: Ints, alpha: float, seed: int) -> Sets:  # noqa: ARG001
    """RC3P (Shi et al. 2024): a largest rank for every class, and its quantile at what the ranks leave of alpha.

    Errors of ranks and quantiles are from the same rows, as in TorchCP.
    """
    n_classes = probs.shape[1]
    limits, cuts = np.full(n_classes, math.inf), np.full(n_classes, n_classes)
    own = ranks(probs)[np.arange(len(labels)), labels]
    for label in np.unique(labels).tolist():
        mine = labels == label
        errors = np.array([(own[mine] > rank).mean() for rank in range(1, n_classes + 1)])
        cuts[label] = int(np.argmax(errors < alpha)) + 1
        limits[label] = threshold(-probs[mine, label], alpha - float(errors[cuts[label] - 1]))
    return lambda new: (-new <= limits) & (ranks(new) <= cuts)


def ranks(probs: Floats) -> Ints:
    """The rank of every label in its row, from 1."""
    order = np.argsort(-probs, axis=1, kind="stable")
    found = np.empty(probs.shape, dtype=np.int64)
    np.put_along_axis(found, order, np.arange(1, probs.shape[1] + 1)[np.newaxis], axis=1)
    return found


def interpolated(probs: Floats, labels: Ints, alpha: float, seed: int) -> Sets:  # noqa: ARG001
    """Interp-Q (Ding, Fermanian & Salmon 2025): thresholds halfway between that of the class and that of all rows."""
    strange = -probs[np.arange(len(labels)), labels]
    own = np.minimum(by_class(strange, labels, probs.shape[1], alpha), STRANGEST)
    return within((own + threshold(strange, alpha)) / 2)


def fuzzy(probs: Floats, labels: Ints, alpha: float, seed: int, bandwidth: float = 0.1) -> Sets:
    """Fuzzy (Ding, Fermanian & Salmon 2025): p-values with more weight on rows of classes that are about as rare.

    One half of the rows makes the p-values, the other half finds the one threshold on them.
    """
    n_classes, strange = probs.shape[1], -probs[np.arange(len(labels)), labels]
    first, second = np.array_split(np.random.default_rng(seed).permutation(len(labels)), 2)
    counts = np.bincount(labels[first], minlength=n_classes)
    rarity = counts / counts.max()
    closeness = np.exp(-((rarity[:, np.newaxis] - rarity) ** 2) / (2 * bandwidth**2))
    order = first[np.argsort(strange[first])]
    weights = closeness[:, labels[order]]
    tails = np.cumsum(weights[:, ::-1], axis=1)[:, ::-1]
    p_values = (np.column_stack([tails, np.zeros(n_classes)]) + 1) / (weights.sum(axis=1)[:, np.newaxis] + 1)
    places = np.searchsorted(strange[order], strange[second])
    least = threshold(-p_values[labels[second], places], alpha)
    kept = (-p_values <= least).sum(axis=1)  # p-values fall along the keys, so the first ones are kept
    keys = np.concatenate([[-math.inf], strange[order], [math.inf]])
    return within(keys[kept])


RIVALS: dict[str, Callable[[Any, Any, float, int], Sets]] = {
    "Clustered": clustered,
    "RC3P": rc3p,
    "Interp-Q": interpolated,
    "Fuzzy": fuzzy,
}
