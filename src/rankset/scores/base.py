"""What a score is: the ``Score`` protocol, and the check that an object is one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, cast, runtime_checkable

from numpy.typing import NDArray

from rankset.core.cells import Cells
from rankset.errors import KindError


@runtime_checkable
class Score(Protocol):
    """Any object with a method ``keys(cells)``: how strange each label looks in its row.

    ``keys`` returns a tuple of arrays with one entry per cell, the most significant array first. Labels with larger
    keys are stranger. A cell is one (row, label) pair; ``help(rankset.Cells)`` lists what a score can read from it.

    Nothing else is required. A score may declare more about itself, as class attributes, properties or methods:

    ``features``
        Names of the cell features that ``keys`` reads, out of ``column``, ``prob``, ``rank``, ``mass``, ``before``,
        ``top``, ``second`` and ``noise``. A score that declares no features gets all of them. A score that reads
        ``noise`` and declares features without it is refused.
    ``needs_probs``
        True if the score makes no sense for ``kind="decision"``. Default: False.
    ``key_features``
        Names of the features that the keys are, most significant first, where keys are plain features.
        ``Rank`` declares ``("rank", "prob")``. Rules have a rank profile if the first one is ``"rank"``.
    ``transform(probs)``
        Maps rows of probabilities (n, K) to new rows (n, K) before cells are made. Of ``Ragged`` rows it gets the
        candidates only.
    ``reach(bounds)``
        Returns a ``rankset.Reach``: how far down its row a label can be and still be kept. With it, prediction sorts
        only part of each row.
    ``ranges(features)``
        Returns (lowest, highest) for each key. A rule file with keys outside these ranges is refused.
    ``n_columns``
        Number of classes the score was fitted for. Other numbers of classes are refused.
    ``check_names(names)``
        Raises if the class names, in column order, are not those the score was fitted for.
    ``caveat``
        A sentence shown with every rule that uses the score.

    Examples
    --------
    >>> import rankset as rs
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Gap:
    ...     '''Difference between the row's largest probability and the label's.'''
    ...     features = ("top", "prob")
    ...     def keys(self, cells):
    ...         return (cells.top - cells.prob,)
    >>> isinstance(Gap(), rs.Score)
    True
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rs.calibrate(probs, labels, score=Gap()).predict([[0.6, 0.3, 0.1, 0.0]], alpha=0.1).to_lists()
    [[0]]
    """

    def keys(self, cells: Cells) -> tuple[NDArray[Any], ...]:
        """Return the keys of the given cells.

        Parameters
        ----------
        cells : Cells
            The features of m (row, label) pairs, as arrays (m,).

        Returns
        -------
        tuple of arrays (m,)
            The keys, most significant first. Larger means stranger. NaN is not allowed.
        """


def checked_score(score: object, name: str = "score") -> Score:
    """Return ``score`` if it is a score; raise a KindError about the argument ``name`` otherwise."""
    if isinstance(score, type):
        raise KindError.class_instead_of_object(name, score)
    if isinstance(score, str):
        raise KindError.argument(name, f"an object such as rankset.{_class_name(score)}()", score)
    if isinstance(score, Mapping) or not callable(getattr(score, "keys", None)):
        raise KindError.argument(name, "a score such as Rank() or Aps(), or another object with keys(cells)", score)
    return cast("Score", score)


def _class_name(text: str) -> str:
    """Name of the score class that ``text`` spells, in any case; "Rank" if there is none."""
    from rankset.scores import BUILT_IN

    return next((kind.__name__ for kind in BUILT_IN if kind.__name__.lower() == text.lower()), "Rank")
