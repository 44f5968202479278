"""Products of matrices that do not depend on the order of additions, so not on blocks, threads or libraries.

The entries of one factor are multiples of 2**-12 and below 32; those of the other are rounded so far that all sums are
exact in float64.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

UNITS = 2.0**12
"""Entries of the first factor are multiples of 1 / UNITS …"""
LARGEST = 31.0
"""… and at most this."""
BITS_OF_FIRST = 17
AT_ONCE = 1 << 18
"""Multiplications at a time: so few that linear algebra libraries use one thread, which is faster here …"""
FEWEST = 8
"""… but at least so many rows or terms."""
BITS = 53


def on_grid(values: Floats) -> Floats:
    """Return ``values`` as entries of the first factor.

    >>> on_grid(np.array([0.1, 1e9])).tolist()
    [0.10009765625, 31.0]
    """
    return np.rint(np.clip(values, -LARGEST, LARGEST) * UNITS) / UNITS


def rounded_columns(matrix: Floats, n_terms: int) -> Floats:
    """Return a second factor, rounded so that sums of ``n_terms`` products with entries of a first factor are exact."""
    bits = BITS - 1 - BITS_OF_FIRST - max(1, int(n_terms).bit_length())
    _, exponents = np.frexp(np.abs(matrix).max(axis=0, initial=0.0))
    units = np.ldexp(1.0, bits - exponents)  # powers of two: products with them are exact
    return np.rint(matrix * units) / units


def product(first: Floats, second: Floats) -> Floats:
    """Return ``first @ second``, with ``second`` rounded so far that the product is exact.

    >>> product(on_grid(np.array([[1.0, 2.0]])), np.array([[0.5], [0.25]]))
    array([[1.]])
    """
    return multiply(first, rounded_columns(second, first.shape[1]))


def multiply(first: Floats, rounded: Floats) -> Floats:
    """Return the product with a matrix of ``rounded_columns``, a few rows or terms at a time: all sums are exact."""
    n_rows, n_terms = first.shape
    step = max(FEWEST, AT_ONCE // max(1, min(n_rows, n_terms) * rounded.shape[1]))
    answer = np.zeros((n_rows, rounded.shape[1]))
    for start in range(0, max(n_rows, n_terms), step):
        some = slice(start, start + step)
        if n_rows >= n_terms:
            answer[some] = first[some] @ rounded
        else:
            answer += first[:, some] @ rounded[some]
    return answer
