"""``Numbers``: all results of ``study``. They can be saved as a JSON file."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankset.core import coverage_law
from rankset.core.alpha import exact_alpha, threshold_position
from rankset.errors import StorageError
from rankset.io import atomic


@dataclass(frozen=True)
class Numbers:
    """All results of the experiment of the paper, returned by ``study``.

    Attributes
    ----------
    data
        A dictionary that can be written as JSON.

    Examples
    --------
    >>> import rankset as rs
    >>> numbers = rs.paper.study(["marketing"], alphas=[0.1], repeats=2, show_progress=False)
    >>> list(numbers.rows)
    ['marketing', 'marketing²']
    """

    data: Mapping[str, Any]

    @property
    def repeats(self) -> int:
        """Number of random splits."""
        return int(self.data["repeats"])

    @property
    def alphas(self) -> tuple[str, ...]:
        """All values of alpha, as strings."""
        return tuple(self.data["alphas"])

    @property
    def alpha(self) -> str:
        """The alpha of the tables and of Figure 2, as a string."""
        return str(self.data["alpha"])

    @property
    def rows(self) -> Mapping[str, Any]:
        """Rows of Table 1 by name. A row has facts about a data set, and its metrics for every method and alpha."""
        return self.data["rows"]

    def is_own(self, row: str) -> bool:
        """Return whether a row has the outputs of a user's own model, not of a data set of the paper.

        Parameters
        ----------
        row
            Name of a row of Table 1, such as "marketing".

        Returns
        -------
        bool

        Examples
        --------
        >>> import rankset as rs
        >>> numbers = rs.paper.study(["marketing"], alphas=[0.1], repeats=2, show_progress=False)
        >>> numbers.is_own("marketing")
        False
        """
        return bool(self.rows[row].get("own", False))

    @property
    def all_own(self) -> bool:
        """Whether no row is a data set of the paper."""
        return all(map(self.is_own, self.rows))

    def mean(self, row: str, method: str, alpha: str, measure: str) -> float:
        """Return the mean of a metric over all repetitions.

        Parameters
        ----------
        row
            Name of a row of Table 1, such as "marketing".
        method
            Name of a method, such as "RANK".
        alpha
            A value of alpha, as a string, such as "0.1".
        measure
            Name of a metric, such as "size".

        Returns
        -------
        float

        Examples
        --------
        >>> import rankset as rs
        >>> numbers = rs.paper.study(["marketing"], alphas=[0.1], repeats=2, show_progress=False)
        >>> numbers.mean("marketing", "RANK", "0.1", "size") > 1
        True
        """
        return float(self.rows[row]["methods"][method][alpha][measure]["mean"])

    def sd(self, row: str, method: str, alpha: str, measure: str) -> float:
        """Return the standard deviation of a metric over all repetitions.

        Parameters
        ----------
        row
            Name of a row of Table 1, such as "marketing".
        method
            Name of a method, such as "RANK".
        alpha
            A value of alpha, as a string, such as "0.1".
        measure
            Name of a metric, such as "size".

        Returns
        -------
        float

        Examples
        --------
        >>> import rankset as rs
        >>> numbers = rs.paper.study(["marketing"], alphas=[0.1], repeats=2, show_progress=False)
        >>> numbers.sd("marketing", "RANK", "0.1", "size") >= 0
        True
        """
        return float(self.rows[row]["methods"][method][alpha][measure]["sd"])

    def z(self, row: str, method: str, alpha: str) -> float:
        """Return the deviation of the mean coverage from its expected value, in standard errors.

        The expected value over random splits is k / (n + 1) if there are no ties. Here n is the number of calibration
        rows, and k is the position of the threshold among their sorted score values.

        Parameters
        ----------
        row
            Name of a row of Table 1, such as "marketing".
        method
            Name of a method, such as "RANK".
        alpha
            A value of alpha, as a string, such as "0.1".

        Returns
        -------
        float
            NaN if every set contains all labels.

        Examples
        --------
        >>> import rankset as rs
        >>> numbers = rs.paper.study(["marketing"], alphas=[0.1], repeats=2, show_progress=False)
        >>> abs(numbers.z("marketing", "RANK", "0.1")) < 5
        True
        """
        n, m = self.rows[row]["calibration"], self.rows[row]["test"]
        k = threshold_position(n, exact_alpha(alpha))
        if k > n:
            return math.nan
        mean, variance = k / (n + 1), coverage_law.beta_binomial_variance(m, k, n + 1 - k) / m**2
        return (self.mean(row, method, alpha, "coverage") - mean) / math.sqrt(variance / self.repeats)

    def save(self, path: Path) -> None:
        """Write the numbers to a JSON file.

        Parameters
        ----------
        path
            Path of the file. An existing file is replaced.

        Raises
        ------
        FileError
            If the file cannot be written, for example because the disk is full.

        Examples
        --------
        >>> import tempfile, rankset as rs
        >>> numbers = rs.paper.study(["marketing"], alphas=[0.1], repeats=2, show_progress=False)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     numbers.save(Path(folder) / "numbers.json")
        """
        text = json.dumps(self.data, indent=1, ensure_ascii=False) + "\n"
        with atomic.open_output(path, force=True) as file:
            file.write(text.encode())

    @classmethod
    def load(cls, path: Path) -> Numbers:
        """Read the numbers from a file written by ``save``.

        Parameters
        ----------
        path
            Path of the file.

        Returns
        -------
        Numbers

        Raises
        ------
        StorageError
            If the file cannot be read.

        Examples
        --------
        >>> import tempfile, rankset as rs
        >>> numbers = rs.paper.study(["marketing"], alphas=[0.1], repeats=2, show_progress=False)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     numbers.save(Path(folder) / "numbers.json")
        ...     rs.paper.Numbers.load(Path(folder) / "numbers.json") == numbers
        True
        """
        try:
            return cls(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            raise StorageError.unreadable(path, str(error)) from None


def round_number(value: float) -> float:
    """Return ``value`` with six decimals, so that the file is the same on every machine."""
    return float(f"{value:.6f}")
