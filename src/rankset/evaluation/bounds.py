"""``bounds``: what is certain and what is possible about the labels of a row."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from numpy.typing import ArrayLike

from rankset.conditions import Condition, Marginal
from rankset.core.alpha import Alpha, exact_alpha
from rankset.core.alpha_argument import takes_alpha
from rankset.core.promise_argument import exact_confidence
from rankset.evaluation.calibrate import calibrate
from rankset.inputs.matrix import Kind
from rankset.rules.level_rule import LevelRule
from rankset.rules.rule import Rule
from rankset.scores import Score
from rankset.sets import PredictionSets
from rankset.targets import AllLabels, CertainLabels


class BoundingSets(NamedTuple):
    """Two sets per row: ``certain`` labels are true, and ``possible`` labels contain all true labels.

    Where a certain label is not possible, one of the two statements is false.
    """

    certain: PredictionSets
    possible: PredictionSets


@dataclass(frozen=True)
class LabelBounds:
    """Two rules, returned by ``bounds``: what is certain and what is possible about the labels of a row.

    The two thresholds are calibrated apart. So a label can be certain and not possible. In such a row one of the two
    statements is false; such rows are among those, at most a share of alpha, in which the promise fails. To see only
    statements that can both be true, set them aside: ``(certain.mask & ~possible.mask).any(axis=1)``.

    Attributes
    ----------
    certain
        A rule with the target ``CertainLabels()``.
    possible
        A rule with the target ``AllLabels()``, calibrated on the same rows.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("goemotions")
    >>> both = rs.bounds(probs[:2000], labels[:2000])
    >>> certain, possible = both.predict(probs[2000:], alpha=0.2)
    >>> bool(certain.sizes.sum() < possible.sizes.sum()), int((certain.mask & ~possible.mask).any(axis=1).sum())
    (True, 0)
    """

    certain: Rule
    possible: Rule

    @takes_alpha
    def predict(
        self,
        probs: ArrayLike,
        alpha: Alpha,
        *,
        groups: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        confidence: Alpha | None = None,
    ) -> BoundingSets:
        """Return two sets per row with certain <= true labels <= possible, with probability at least 1 - ``alpha``.

        Each of the two rules gets half of alpha.

        Parameters
        ----------
        probs, groups, ids
            Rows, as in ``Rule.predict``.
        alpha
            The allowed error rate of both bounds together, strictly between 0 and 1.
        confidence
            Probability that the promise holds for this calibration, as in ``Rule.predict``; for both bounds together.

        Returns
        -------
        BoundingSets
            A pair: ``certain`` and ``possible``.

        Raises
        ------
        LevelError
            If ``alpha`` is not strictly between 0 and 1.
        RanksetError
            If rows, groups or ids are invalid.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("goemotions")
        >>> rs.bounds(probs[:2000], labels[:2000]).predict(probs[2000:], alpha=0.2).possible.sizes.shape
        (2000,)
        """
        certain, possible = (
            one.predict(probs, groups=groups, ids=ids) for one in self.at(alpha, confidence=confidence)
        )
        return BoundingSets(certain, possible)

    @takes_alpha
    def at(self, alpha: Alpha, *, confidence: Alpha | None = None) -> tuple[LevelRule, LevelRule]:
        """Return the rules of both bounds for one alpha. Each gets half of alpha, and half of the doubt.

        Parameters
        ----------
        alpha, confidence
            As in ``predict``.

        Returns
        -------
        (certain, possible)
            Two ``LevelRule``: they predict, also in parts, and can be called with one row.

        Raises
        ------
        LevelError
            If ``alpha`` is not strictly between 0 and 1.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("goemotions")
        >>> certain, possible = rs.bounds(probs, labels).at(0.2)
        >>> certain.alpha, possible.alpha
        (0.1, 0.1)
        """
        half = exact_alpha(alpha) / 2
        sure = None if confidence is None else 1 - (1 - exact_confidence(confidence)) / Fraction(2)
        return self.certain.at(half, confidence=sure), self.possible.at(half, confidence=sure)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write both rules to one file. This version and all later versions of ``LabelBounds.load`` can read the file.

        Parameters
        ----------
        path
            Path of the file. An existing file is replaced, but only after the new file is complete.

        Raises
        ------
        StorageError
            If a rule cannot be stored, for example because its score is not a built-in score of rankset, or if the
            rules do not belong together.
        FileError
            If the file cannot be written, for example because the disk is full.

        Examples
        --------
        >>> import tempfile, rankset as rs
        >>> probs, labels = rs.datasets.load("goemotions")
        >>> both = rs.bounds(probs[:2000], labels[:2000])
        >>> with tempfile.NamedTemporaryFile(suffix=".rankset") as file:
        ...     both.save(file.name)
        ...     rs.LabelBounds.load(file.name) == both
        True
        """
        from rankset.evaluation import bounds_file
        from rankset.io import container

        container.write(path, *bounds_file.pack(self.certain, self.possible))

    @staticmethod
    def load(path: str | os.PathLike[str]) -> LabelBounds:
        """Read what ``save`` wrote. No code from the file is executed.

        Parameters
        ----------
        path
            Path of the file.

        Returns
        -------
        LabelBounds

        Raises
        ------
        StorageError
            If the file is damaged, contains something else, or was written by a later version of rankset.

        Examples
        --------
        >>> import tempfile, rankset as rs
        >>> probs, labels = rs.datasets.load("goemotions")
        >>> with tempfile.NamedTemporaryFile(suffix=".rankset") as file:
        ...     rs.bounds(probs[:2000], labels[:2000]).save(file.name)
        ...     rs.LabelBounds.load(file.name).certain.n
        2000
        """
        from rankset.evaluation import bounds_file
        from rankset.io import container
        from rankset.rules import rule_file

        header, arrays = container.read(path)
        rule_file.check_content(path, header, "bounds")
        with container.damage_as_error(path):
            return LabelBounds(*bounds_file.unpack(header, arrays))


def bounds(
    probs: ArrayLike,
    labels: ArrayLike,
    *,
    method: Score | str | None = None,
    condition: Condition = Marginal(),  # noqa: B008
    kind: Kind = "marginals",
    classes: Iterable[object] | None = None,
    groups: ArrayLike | None = None,
    ids: ArrayLike | None = None,
    seed: int = 0,
) -> LabelBounds:
    """Calibrate two rules on the same rows: labels that are certainly true, and labels that are possible.

    For rows that can have several labels. At alpha, the labels of the first set are all true and all true labels are in
    the second set, both together with probability at least 1 - alpha (Cauchois, Gupta and Duchi 2021).

    Parameters
    ----------
    probs, labels, method, condition, classes, groups, ids, seed
        As in ``calibrate``. Labels are a 0/1 matrix or lists.
    kind
        The type of values in ``probs``, as in ``calibrate``.

    Returns
    -------
    LabelBounds

    Raises
    ------
    RanksetError
        If an argument is invalid.

    Examples
    --------
    >>> import rankset as rs
    >>> probs = [[0.9, 0.8, 0.1], [0.7, 0.2, 0.6], [0.4, 0.9, 0.3], [0.1, 0.3, 0.8]]
    >>> both = rs.bounds(probs, [[0, 1], [0, 2], [1], [2]])
    >>> certain, possible = both.predict([[0.95, 0.85, 0.05]], alpha=0.5)
    >>> certain.to_lists(), possible.to_lists()
    ([[0, 1]], [[0, 1]])
    """
    certain, possible = (
        calibrate(
            probs,
            labels,
            method=method,
            condition=condition,
            kind=kind,
            classes=classes,
            groups=groups,
            ids=ids,
            seed=seed,
            target=target,
        )
        for target in (CertainLabels(), AllLabels())
    )
    return LabelBounds(certain, possible)
