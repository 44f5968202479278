"""What a score is: the ``Score`` protocol, and the check that an object is one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, cast, runtime_checkable

from numpy.typing import NDArray

from rankset.core.cells import Cells
from rankset.errors import KindError


@runtime_checkable
class Score(Protocol):
    """Protocol of scores: any object with a method ``keys(cells)``.

    A score measures how unusual a label is for its row (a nonconformity score). ``cells`` contains the features of
    some (row, label) pairs, see ``rankset.Cells``. ``keys`` returns a tuple of arrays with one entry per pair. The
    entries of one pair are its keys. Keys are compared like Python tuples: the first array is the most significant.
    Larger keys mean a more unusual label. A label is in a set if its keys are not larger than the threshold.

    Only ``keys`` is required. The following class attributes, properties and methods are optional:

    ``features``
        Names of the features that ``keys`` reads: some of ``column``, ``prob``, ``rank``, ``mass``, ``before``,
        ``top``, ``second``, ``total``, ``entropy`` and ``noise``. Default: all of these. If ``keys`` reads ``noise``
        but ``features`` does not contain ``noise``, an error is raised.
    ``needs_probs``
        True if the score cannot be used with ``kind="decision"``. Default: False.
    ``takes_marginals``
        Whether the score can be used with ``kind="marginals"``. Default: the opposite of ``needs_probs``.
    ``key_features``
        Use this only if each key is one feature, unchanged except for its sign. Names of these features, most
        significant first. For example, ``Rank`` has ``("rank", "prob")``. ``Rule.rank_profile`` requires that the
        first name is ``"rank"``. If only the first keys are features, the names end there.
    ``transform(probs)``
        Returns new rows (n, K) for rows of probabilities (n, K). Features are computed from the new rows. For
        ``Ragged`` rows, ``probs`` contains only the candidates, without padding.
    ``reach(bounds)``
        Returns a ``rankset.Reach``: limits that every label in a set satisfies. With these limits, prediction sorts
        only part of each row.
    ``ranges(features)``
        Returns a pair (lowest, highest) of possible values for each key. ``features.prob``, ``features.mass`` and
        ``features.rank`` are such pairs for the features. A rule file with keys outside the ranges cannot be loaded.
    ``describe(threshold, wording)``
        Returns a sentence that says which labels a set contains at this threshold, a tuple of numbers, one per key.
        ``Rule.describe`` and ``rankset inspect`` show it. ``wording`` is a ``rankset.Wording``: it has the word for an
        entry of a row, and writes numbers. Without this method, the sentence has the numbers of the threshold.
    ``describe_label(threshold, wording)``
        Returns when one label, "it", is in the set: a half-sentence such as "its probability is at least 0.2". It is
        shown if labels have thresholds of their own. Without this method, the sentence of ``describe`` is shown.
    ``can_be_empty(threshold, n_columns)``
        Returns whether a set can be empty at this threshold and ``describe`` does not say so. ``n_columns`` is the
        number of classes, or None if rows are not probabilities.
    ``n_columns``
        Number of classes in the data that the score was fitted on. For any other number of classes, an error is raised.
    ``check_names(names)``
        Raises an error if ``names`` (class names in column order) are not the class names used in the fit.
    ``caveat``
        A sentence of advice for users. It is shown with every rule that uses the score.

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
    >>> isinstance(Gap(), rs.Score)
    True
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rs.calibrate(probs, labels, method=Gap()).predict([[0.6, 0.3, 0.1, 0.0]], alpha=0.1).to_lists()
    [[0]]
    """

    def keys(self, cells: Cells) -> tuple[NDArray[Any], ...]:
        """Return the keys (nonconformity scores) of some (row, label) pairs.

        Parameters
        ----------
        cells : Cells
            The features of m (row, label) pairs, as arrays (m,).

        Returns
        -------
        tuple of arrays (m,)
            The keys, most significant first. Larger keys mean a more unusual label. NaN is not allowed.
        """


def checked_score(score: object, name: str = "score") -> Score:
    """Return ``score``, or the score that the name ``score`` stands for.

    Raise an error that mentions the argument ``name`` if it is neither.
    """
    if isinstance(score, str):
        from rankset.scores.names import named_score

        return named_score(score, name)
    if isinstance(score, type):
        raise KindError.class_instead_of_object(name, score)
    if isinstance(score, Mapping) or not callable(getattr(score, "keys", None)):
        expected = "a score such as Rank() or Aps(), the name of one, or another object with keys(cells)"
        raise KindError.argument(name, expected, score)
    return cast("Score", score)
