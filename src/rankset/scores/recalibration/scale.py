"""The exponent of temperature scaling (``scale``) and its inverse, the temperature.

Users pass and see temperatures. Rule files store the exponent: 1 / (1 / x) is not always x, and a rule that is loaded
must answer as it did. So a fitted score has both numbers, and two scores are equal if their exponents are.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

from rankset.scores.parameters import check_fitted_scale, check_temperature

MOST_DIGITS = 17
"""Decimal digits that tell any two float64 apart."""


class HasTemperature:
    """Base of frozen dataclasses with a parameter ``temperature`` and a field ``scale``, its inverse."""

    temperature: float
    scale: float
    stored: ClassVar[tuple[str, ...]]
    """Names of the fields in rule files: ``scale``, and all parameters except ``temperature``."""

    def _set_scale(self) -> None:
        check_temperature(self)
        object.__setattr__(self, "scale", 1 / self.temperature)

    @classmethod
    def from_stored(cls, scale: float, **others: Any) -> Self:  # noqa: ANN401
        """Return the score with exactly this exponent. Used for fits and for rule files.

        Parameters
        ----------
        scale : float
            1 / temperature.
        **others
            The other parameters of the score.

        Returns
        -------
        HasTemperature
            The score. Its ``temperature`` is the shortest number whose inverse is ``scale``.

        Raises
        ------
        ScoreError
            If ``scale`` is not a positive number of at most 1,000,000.

        Examples
        --------
        >>> import rankset as rs
        >>> rs.Temperature.from_stored(0.5)
        Temperature(temperature=2.0)
        """
        check_fitted_scale(cls.__name__, scale)
        score = cls(temperature=simplest_inverse(scale), **others)  # type: ignore[call-arg]
        object.__setattr__(score, "scale", float(scale))
        return score


def simplest_inverse(number: float) -> float:
    """Return 1 / ``number``, with as few decimal digits as its inverse allows.

    >>> simplest_inverse(1 / 49), 1 / (1 / 49)
    (49.0, 49.00000000000001)
    """
    inverse = 1 / number
    candidates = (float(f"{inverse:.{digits}g}") for digits in range(1, MOST_DIGITS + 1))
    return next((one for one in candidates if one and 1 / one == number), inverse)
