"""``precise``: sets whose expected share of false labels is bounded, by a sequence of tests."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.conditions import Marginal
from rankset.core import parallel
from rankset.core.alpha import Alpha, exact_alpha
from rankset.core.arrays import is_whole
from rankset.core.lexicographic import Keys, sorted_union
from rankset.core.mean_interval import p_value_of_mean
from rankset.core.promise_argument import exact_confidence
from rankset.core.sorted_keys import SortedKeys
from rankset.errors import Either, InputError, KindError, LevelError, warn
from rankset.evaluation.precise_rule import PreciseRule, level_rule
from rankset.inputs.matrix import Kind
from rankset.inputs.prepare import Prepared, prepare
from rankset.rules.batch import Batch
from rankset.rules.spec import RuleSpec
from rankset.scores import Score, checked_score
from rankset.targets.precision import Precision

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DEFAULT_CONFIDENCE = 0.9
NUMBERS_PER_THRESHOLD = 6
"""Numbers of a row that are kept for each threshold: blocks are so much smaller."""
FIXING_SHARE = 0.2
"""Share of the rows that fix the thresholds, if no other rows do."""


def precise(
    probs: ArrayLike,
    labels: ArrayLike,
    *,
    error: Alpha,
    confidence: Alpha = DEFAULT_CONFIDENCE,
    method: Score | str = "thr",
    kind: Kind = "marginals",
    classes: Iterable[object] | None = None,
    ids: ArrayLike | None = None,
    unlabelled: ArrayLike | None = None,
    steps: int = 200,
    seed: int = 0,
) -> PreciseRule:
    """Find the loosest threshold whose sets have an expected share of false labels of at most ``error``.

    For rows that can have several labels. The share of false labels of an empty set is 0. Thresholds are fixed by rows
    of their own, and tested on the other rows from strict to loose until a test fails (Learn then Test, Angelopoulos et
    al. 2025, with the bounds of Hoeffding and Bentkus). With probability ``confidence`` over these rows, the sets of
    new rows keep the promise. Larger sets contain more true labels, so the loosest threshold is the best one.

    Parameters
    ----------
    probs, labels, kind, classes, ids
        Rows with known labels, as in ``calibrate`` with a target for several labels.
    error
        Largest expected share of false labels in a set, strictly between 0 and 1.
    confidence
        Probability that the promise holds, strictly between 0 and 1.
    method
        The score by which labels are ordered, or its name.
    unlabelled
        Rows without labels that fix the thresholds. By default a fifth of the rows does, drawn at random.
    steps
        Number of thresholds.
    seed
        Seed of the draw, and of randomised scores.

    Returns
    -------
    PreciseRule

    Raises
    ------
    RanksetError
        If an argument is invalid, or if there are fewer than two rows.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("goemotions")
    >>> rs.precise(probs[:2000], labels[:2000], error=0.3)
    PreciseRule(Thr(), error=0.3, confidence=0.9, tested on 1,600 rows: mean size 0.879, recall 0.499)
    """
    level, sure = _share(error), exact_confidence(confidence)
    if not is_whole(steps) or not 1 <= steps <= 10_000:
        raise KindError.argument("steps", "an integer from 1 to 10,000", steps)
    data = prepare(probs, labels, kind=kind, classes=classes, ids=ids, several=True)
    spec = RuleSpec.of(checked_score(method, "method"), Marginal(), data.kind, seed, data.classes, Precision())
    fixing, testing = _parts(data, unlabelled, seed)
    spec = spec.learning(testing)
    thresholds = _candidates(Batch.of(spec.learning(fixing), fixing), int(steps))
    shares, recalls, sizes = _curves(Batch.of(spec, testing), thresholds)
    n = len(testing)
    passed = _passed(shares, n, float(level), float(1 - sure))
    if not passed:
        _warn_of_nothing(level, n)
        return PreciseRule(float(level), float(sure), None, n, 0, 0.0, 0.0, 0.0, spec)
    last = passed - 1
    at = level_rule(spec, level, tuple(key[last : last + 1] for key in thresholds), n, sure)
    false_share, recall, mean_size = (float(one[last]) for one in (shares, recalls, sizes))
    return PreciseRule(float(level), float(sure), at, n, passed, false_share, recall, mean_size, spec)


def _share(error: Alpha) -> Fraction:
    """Return the allowed share of false labels, exactly as typed."""
    try:
        return exact_alpha(error)
    except LevelError:
        raise KindError.argument("error", "a share of false labels, strictly between 0 and 1", error) from None


def _parts(data: Prepared, unlabelled: ArrayLike | None, seed: int) -> tuple[Prepared, Prepared]:
    """Return the rows that fix thresholds, and those that test them."""
    if unlabelled is not None:
        fixing = prepare(unlabelled, kind=data.kind, classes=data.classes)
        if len(fixing) and len(data):
            return fixing, data
        raise InputError.no_rows()
    if len(data) < 2:
        raise InputError.too_few_rows_for_precise(len(data))
    order = np.random.default_rng(seed % 2**64).permutation(len(data))
    count = max(1, int(FIXING_SHARE * len(data)))
    return data.take(np.sort(order[:count])), data.take(np.sort(order[count:]))


def _candidates(batch: Batch, steps: int) -> Keys:
    """Return keys of the labels of some rows, from strict to loose, dense where sets are small."""
    parts = batch.map_blocks(lambda part: batch.all_keys(part)[2])
    keys = sorted_union(parts)
    places = np.unique((len(keys[0]) - 1) * (np.arange(1, steps + 1) / steps) ** 2).astype(np.int64)
    return tuple(key[places] for key in keys)


def _curves(batch: Batch, thresholds: Keys) -> tuple[Floats, Floats, Floats]:
    """Return mean share of false labels, mean recall and mean size of the sets at each threshold."""
    table = SortedKeys(thresholds)
    count = len(thresholds[0])
    width = max(batch.shape[1], NUMBERS_PER_THRESHOLD * count)
    parts = parallel.map_blocks(partial(_curves_of_block, batch, table, count), batch.shape[0], width)
    has_labels = max(1, int(np.count_nonzero(batch.data.truths.sizes)))  # type: ignore[union-attr]
    counts = (batch.shape[0], has_labels, batch.shape[0])
    shares, recalls, sizes = (
        np.sum(part, axis=0) / n for part, n in zip(zip(*parts, strict=True), counts, strict=True)
    )
    return shares, recalls, sizes


def _curves_of_block(batch: Batch, table: SortedKeys, count: int, part: slice) -> tuple[Floats, Floats, Floats]:
    """Return the same as sums over the rows of a block."""
    cells, _, keys = batch.all_keys(part)
    truths = batch.data.truths[part]  # type: ignore[index]
    n_rows, n_columns = len(truths), batch.shape[1]
    true = truths.mask(n_columns)[cells.row, cells.column]
    first = table.before(keys)
    inside = batch.candidates(cells, part)
    kept = np.ones(cells.size) if inside is None else inside.astype(np.float64)
    flat, shape = cells.row * (count + 1) + first, (n_rows, count + 1)
    sizes, hits = (
        np.bincount(flat, weights, n_rows * (count + 1)).reshape(shape)[:, :count].cumsum(axis=1)
        for weights in (kept, kept * true)
    )
    false = (sizes - hits) / np.maximum(sizes, 1)
    recall = hits / np.maximum(truths.sizes, 1)[:, np.newaxis]
    return false.sum(axis=0), recall.sum(axis=0), sizes.sum(axis=0)


def _passed(shares: Floats, n: int, error: float, doubt: float) -> int:
    """Return how many thresholds pass their test one after the other, from the strictest on."""
    for place, share in enumerate(shares.tolist()):
        if share >= error or p_value_of_mean(share, n, error) > doubt:
            return place
    return len(shares)


def _warn_of_nothing(level: Fraction, n: int) -> None:
    """Warn that all sets are empty."""
    warn(
        f"no threshold keeps the share of false labels at {float(level):g} or below with {n:,} rows, so all sets are "
        "empty. Pass more rows, a larger ",
        Either("error", "--error"),
        " or a smaller ",
        Either("confidence", "--confidence"),
        ".",
    )
