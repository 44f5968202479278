"""``PreciseRule``: what ``precise`` returns. It predicts, and can be saved."""

from __future__ import annotations

import os
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankset.core.calibration import Thresholds
from rankset.core.lexicographic import Keys
from rankset.core.promise import Promise
from rankset.inputs.prepare import prepare
from rankset.rules.level_rule import LevelRule
from rankset.rules.spec import RuleSpec
from rankset.sets import PredictionSets


@dataclass(frozen=True, eq=False)
class PreciseRule:
    """Sets whose expected share of false labels is at most ``error``, returned by ``precise``.

    Attributes
    ----------
    error
        Largest expected share of false labels in a set.
    confidence
        Probability, over the rows of ``precise``, that this holds.
    at
        The threshold that was found, as a ``LevelRule``: it predicts, and can be called with one row. None if the tests
        reject every threshold. Then all sets are empty.
    n
        Number of rows that the thresholds were tested on.
    tested
        Number of thresholds that passed their test, from strict to loose.
    false_share, recall, mean_size
        At the threshold that was found: the mean share of false labels in the sets of the tested rows, the mean share
        of their true labels that the sets contain, and the mean size. They were used to find it, so they are a little
        optimistic.
    spec
        Score, kind, seed, and the names of classes.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("goemotions")
    >>> rule = rs.precise(probs[:2000], labels[:2000], error=0.2, confidence=0.9)
    >>> rule.predict(probs[2000:]).sizes.max() > 0
    np.True_
    """

    error: float
    confidence: float
    at: LevelRule | None
    n: int
    tested: int
    false_share: float
    recall: float
    mean_size: float
    spec: RuleSpec

    def __eq__(self, other: object) -> bool:
        """Return whether both have the same numbers and the same threshold."""
        return self._facts == other._facts if isinstance(other, PreciseRule) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    @property
    def _facts(self) -> tuple[Any, ...]:
        """All fields, with the level and the keys of the threshold."""
        numbers = (self.error, self.confidence, self.n, self.tested, self.false_share, self.recall, self.mean_size)
        found = None if self.at is None else (self.at.level, *(key.tobytes() for key in self.at.thresholds.keys))
        return (*numbers, self.spec, found)

    def __repr__(self) -> str:
        found = (
            "no threshold passed" if self.at is None else f"mean size {self.mean_size:.3f}, recall {self.recall:.3f}"
        )
        return (
            f"PreciseRule({self.spec.score!r}, error={self.error:g}, confidence={self.confidence:g}, "
            f"tested on {self.n:,} rows: {found})"
        )

    def predict(self, probs: ArrayLike, *, ids: ArrayLike | None = None) -> PredictionSets:
        """Return the sets of these rows.

        Parameters
        ----------
        probs, ids
            As in ``Rule.predict``. Sets can be empty.

        Returns
        -------
        PredictionSets

        Raises
        ------
        RanksetError
            If rows or ids are invalid.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("goemotions")
        >>> len(rs.precise(probs[:2000], labels[:2000], error=0.2).predict(probs[2000:]))
        2000
        """
        if self.at is not None:
            return self.at.predict(probs, ids=ids)
        data = prepare(probs, kind=self.spec.kind, classes=self.spec.classes, ids=ids).with_checked_values()
        offsets, codes = np.zeros(len(data) + 1, dtype=np.int64), np.zeros(0, dtype=np.int32)
        level = Fraction(str(self.error))
        own: dict[str, Any] = {"template": data.answers, "target": self.spec.target, "confidence": self.confidence}
        return PredictionSets(offsets, codes, data.classes, level, **own)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the rule to a file. This version and all later versions of ``PreciseRule.load`` can read the file.

        Parameters
        ----------
        path
            Path of the file. An existing file is replaced, but only after the new file is complete.

        Raises
        ------
        StorageError
            If the rule cannot be stored, for example because its score is not a built-in score of rankset.
        FileError
            If the file cannot be written, for example because the disk is full.

        Examples
        --------
        >>> import tempfile, rankset as rs
        >>> probs, labels = rs.datasets.load("goemotions")
        >>> with tempfile.NamedTemporaryFile(suffix=".rankset") as file:
        ...     rs.precise(probs[:2000], labels[:2000], error=0.3).save(file.name)
        ...     rs.PreciseRule.load(file.name)
        PreciseRule(Thr(), error=0.3, confidence=0.9, tested on 1,600 rows: mean size 0.879, recall 0.499)
        """
        from rankset.evaluation import precise_file
        from rankset.io import container

        container.write(path, *precise_file.pack(self))

    @staticmethod
    def load(path: str | os.PathLike[str]) -> PreciseRule:
        """Read what ``save`` wrote. No code from the file is executed.

        Parameters
        ----------
        path
            Path of the file.

        Returns
        -------
        PreciseRule

        Raises
        ------
        StorageError
            If the file is damaged, contains something else, or was written by a later version of rankset.

        Examples
        --------
        >>> import tempfile, rankset as rs
        >>> probs, labels = rs.datasets.load("goemotions")
        >>> with tempfile.NamedTemporaryFile(suffix=".rankset") as file:
        ...     rs.precise(probs[:2000], labels[:2000], error=0.3).save(file.name)
        ...     rs.PreciseRule.load(file.name).tested > 0
        True
        """
        from rankset.evaluation import precise_file
        from rankset.io import container
        from rankset.rules import rule_file

        header, arrays = container.read(path)
        rule_file.check_content(path, header, "precise")
        with container.damage_as_error(path):
            return precise_file.unpack(header, arrays)


def level_rule(spec: RuleSpec, level: Fraction, threshold: Keys, n: int, sure: Fraction) -> LevelRule:
    """Return the rule of one threshold, whose keys are arrays of one entry; ``n`` rows were tested, with confidence
    ``sure``."""
    keys = tuple(np.concatenate((key, key)) for key in threshold)
    found = Thresholds(keys, np.array([False, True]))
    return LevelRule(spec, level, found, np.array([n]), None, promise=Promise(level, sure, shares=True))
