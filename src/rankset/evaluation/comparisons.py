"""``Comparisons``: the result of ``compare`` at several alphas, one ``Comparison`` for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

from rankset.core.alpha import Alpha, exact_alpha
from rankset.errors import LevelError, RuleError
from rankset.evaluation.comparison import Comparison
from rankset.evaluation.comparison_notes import common_note, wrapped
from rankset.evaluation.comparison_tables import ComparisonTables


@dataclass(frozen=True, repr=False, eq=False)
class Comparisons(ComparisonTables, Mapping[Alpha, Comparison]):
    """Comparisons of the same scores on the same random splits at several alphas, returned by ``compare``.

    It is a mapping: ``comparisons[0.1]`` is the ``Comparison`` at alpha=0.1, with all its attributes. Print it to see
    one table per alpha. ``to_frame``, ``to_latex`` and ``plot`` show all alphas together.

    Attributes
    ----------
    by_level
        The comparisons by alpha, in the order in which the alphas were passed.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> comparisons = rs.compare(probs, labels, [0.05, 0.1], scores=[rs.Rank(), rs.Thr()], repeats=2)
    >>> [(alpha, one.smallest) for alpha, one in comparisons.items()]
    [(0.05, Thr()), (0.1, Thr())]
    >>> comparisons.to_frame("pandas")[["alpha", "score"]].values.tolist()
    [[0.05, 'RANK'], [0.05, 'THR'], [0.1, 'RANK'], [0.1, 'THR']]
    """

    by_level: Mapping[Fraction, Comparison]

    _with_alpha = True

    @property
    def alphas(self) -> tuple[float, ...]:
        """The alphas, in the order in which they were passed."""
        return tuple(float(level) for level in self.by_level)

    def __getitem__(self, alpha: Alpha) -> Comparison:
        """Return the comparison at one alpha; raise ``RuleError`` if it was not compared."""
        level = exact_alpha(alpha)
        if level not in self.by_level:
            raise RuleError.option("alpha", float(level), self.alphas)
        return self.by_level[level]

    def __iter__(self) -> Iterator[Alpha]:
        return iter(self.alphas)

    def __len__(self) -> int:
        return len(self.by_level)

    def __contains__(self, alpha: object) -> bool:
        try:
            return exact_alpha(cast("Alpha", alpha)) in self.by_level
        except LevelError:
            return False

    def get(self, alpha: Alpha, default: Any = None) -> Any:  # noqa: ANN401
        """Return the comparison at one alpha, or ``default`` if this alpha was not compared.

        Parameters
        ----------
        alpha
            One of ``alphas``.
        default
            What to return for another alpha.

        Returns
        -------
        Comparison
            The comparison, or ``default``.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> comparisons = rs.compare(probs, labels, [0.1], scores=[rs.Rank()], repeats=2)
        >>> comparisons.get(0.1).names, comparisons.get(0.2)
        (('RANK',), None)
        """
        if alpha not in self:
            return default
        return self[alpha]

    def __repr__(self) -> str:
        note = common_note(self._parts)
        if note is None:
            return "\n\n".join(map(repr, self._parts))
        tables = "\n\n".join("\n".join(one._text) for one in self._parts)
        return f"{tables}\n{wrapped(note)}"

    def _repr_html_(self) -> str:
        return "".join(one._repr_html_() for one in self._parts)

    @property
    def _parts(self) -> Sequence[Comparison]:
        return tuple(self.by_level.values())
