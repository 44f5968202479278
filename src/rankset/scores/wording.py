"""Sentences about thresholds: which labels a set contains, in plain words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rankset.scores.base import Score
from rankset.scores.declarations import declared

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
MOST_DIGITS = 17
"""Digits with which every float64 is written exactly."""


@dataclass(frozen=True)
class Wording:
    """Words and numbers for sentences about thresholds, for the optional method ``describe`` of a score.

    Parameters
    ----------
    entry : str, default "probability"
        The word for an entry of a row: "probability", or "value" for ``kind="decision"``.
    digits : int, default 4
        Number of significant digits.
    logarithms : bool, default False
        Whether the entries are logarithms. Then ``entry_number`` writes the exponential of an entry.

    Examples
    --------
    >>> import rankset as rs
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Gap:
    ...     '''Largest probability of the row minus the probability of the label.'''
    ...     features = ("top", "prob")
    ...     def keys(self, cells):
    ...         return (cells.top - cells.prob,)
    ...     def describe(self, threshold, wording):
    ...         return f"keeps labels at most {wording.number(threshold[0])} below the largest {wording.entry}"
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rs.calibrate(probs, labels, method=Gap()).describe(0.1)
    'keeps labels at most 0.2131 below the largest probability'
    """

    entry: str = "probability"
    digits: int = 4
    logarithms: bool = False

    @property
    def entries(self) -> str:
        """The word for several entries of a row."""
        return "probabilities" if self.entry.endswith("probability") else f"{self.entry}s"

    @property
    def has_probabilities(self) -> bool:
        """Whether entries are probabilities, so that each is at least 0."""
        return self.entry.endswith("probability")

    def number(self, value: float) -> str:
        """Return a number as text. It has more digits if it would be written as 0 or 1 without being 0 or 1.

        Parameters
        ----------
        value : float
            The number.

        Returns
        -------
        str

        Examples
        --------
        >>> import rankset as rs
        >>> rs.Wording().number(0.123456), rs.Wording().number(0.999996)
        ('0.1235', '0.999996')
        """
        value += 0.0  # 0 for -0
        for digits in range(self.digits, MOST_DIGITS):
            text = f"{value:.{digits}g}"
            if float(text) == value or float(text) not in (0.0, 1.0, -1.0):
                return text
        return f"{value:.{MOST_DIGITS}g}"

    def entry_number(self, value: float) -> str:
        """Return an entry of a row, such as a probability, as text.

        Parameters
        ----------
        value : float
            The entry, or its logarithm if ``logarithms`` is True.

        Returns
        -------
        str

        Examples
        --------
        >>> import rankset as rs
        >>> rs.Wording(logarithms=True).entry_number(0.0)
        '1'
        """
        return self.number(math.exp(value) if self.logarithms else value)

    def most_likely(self, count: int) -> str:
        """Return the words for the labels of rank 1 … ``count``.

        Parameters
        ----------
        count : int
            Number of labels.

        Returns
        -------
        str

        Examples
        --------
        >>> import rankset as rs
        >>> rs.Wording().most_likely(2), rs.Wording("value").most_likely(1)
        ('the 2 most likely labels', 'the label with the largest value')
        """
        if self.has_probabilities:
            return "the most likely label" if count == 1 else f"the {count:,} most likely labels"
        labels = "the label" if count == 1 else f"the {count:,} labels"
        return f"{labels} with the largest {self.entry if count == 1 else self.entries}"

    def among_most_likely(self, count: int) -> str:
        """Return the words for a label that is one of those of rank 1 … ``count``.

        Parameters
        ----------
        count : int
            Number of labels.

        Returns
        -------
        str

        Examples
        --------
        >>> import rankset as rs
        >>> rs.Wording().among_most_likely(2), rs.Wording().among_most_likely(1)
        ('one of the 2 most likely labels', 'the most likely label')
        """
        return self.most_likely(1) if count == 1 else f"one of {self.most_likely(count)}"

    def recalibrated(self) -> Wording:
        """Return the wording for rows of logarithms of recalibrated probabilities."""
        return replace(self, entry="recalibrated probability", logarithms=True)


def ordinal(number: int) -> str:
    """Return "third" for 3, "21st" for 21.

    >>> [ordinal(number) for number in (1, 10, 11, 13, 22, 101, 112)]
    ['first', 'tenth', '11th', '13th', '22nd', '101st', '112th']
    """
    if number <= len(ORDINALS):
        return ORDINALS[number - 1]
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"


def describe_threshold(score: Score, threshold: Sequence[float], wording: Wording) -> str:
    """Return which labels a set contains whose keys under ``score`` are at most ``threshold``.

    The score itself says it, by ``describe(threshold, wording)``. For a score without this method, the sentence has
    the numbers of the threshold.
    """
    own = declared(score, "describe")
    if own is not None:
        return str(own(tuple(threshold), wording))
    return in_numbers(threshold, wording)


def describe_label(score: Score, threshold: Sequence[float], wording: Wording) -> str:
    """Return when a label is in the set, in words about this label, "it": if its keys are at most ``threshold``.

    The score itself says it, by ``describe_label(threshold, wording)``. Without this method, the sentence has the
    numbers of the threshold, or what ``describe`` says.
    """
    own = declared(score, "describe_label")
    if own is not None:
        return str(own(tuple(threshold), wording))
    if declared(score, "describe") is None:
        return f"its {in_numbers(threshold, wording).removeprefix('keeps labels whose ')}"
    sentence = describe_threshold(score, threshold, wording)
    start = "keeps labels for which "
    return sentence.removeprefix(start) if sentence.startswith(start) else f"this rule keeps it: {sentence}"


def can_be_empty(score: Score, threshold: Sequence[float], n_columns: int | None) -> bool:
    """Return whether a set can be empty at this threshold, as far as the score tells and ``describe`` does not.

    ``n_columns`` is the number of classes if rows are probabilities, else None.
    """
    own = declared(score, "can_be_empty")
    return own is not None and bool(own(tuple(threshold), n_columns))


def in_numbers(threshold: Sequence[float], wording: Wording) -> str:
    """Return the sentence about a threshold that has no other words."""
    numbers = ", ".join(wording.number(float(value)) for value in threshold)
    return f"keeps labels whose score value is at most {numbers if len(threshold) == 1 else f'({numbers})'}"
