"""Maxima of strided slices of a row, called its tops.

A row is cut into eight slices of equal length; top c is the largest of the entries c, c + length, c + 2 * length … The
tops, an eighth of the row, answer most questions about its largest entries. The loops are written so that the compiler
uses vector instructions.
"""

import numpy as np

from rankset.core.kernels.loops.compiling import compiled

SLICES = 8


@compiled()
def new_tops(probs):
    """Return an empty array for the tops of one row; short rows are not cut, their tops are their entries."""
    n_columns = probs.shape[1]
    return np.empty(n_columns // SLICES if n_columns >= SLICES * SLICES else n_columns, probs.dtype)


@compiled("nsz", "nnan")
def fill_tops(row, tops):
    """Fill ``tops`` with the maxima of the entries c, c + stride, c + 2 * stride …"""
    stride = len(tops)
    if stride == len(row):
        tops[:] = row
        return
    for c in range(stride):
        top = row[c]
        for part in range(1, SLICES):
            value = row[part * stride + c]
            top = max(top, value)
        tops[c] = top
    for c in range(len(row) - SLICES * stride):
        value = row[SLICES * stride + c]
        tops[c] = max(tops[c], value)


@compiled()
def largest(row, tops):
    """Return the first column of the largest entry."""
    if len(tops) == len(row):
        return _largest_of_few(row)
    top = tops[0]
    for c in range(1, len(tops)):
        top = max(top, tops[c])
    first = len(row) - 1
    for c in range(len(tops)):
        if tops[c] == top:
            for j in range(c, first, len(tops)):
                if row[j] == top:
                    first = j
                    break
    return first


@compiled()
def _largest_of_few(row):
    """Do the same for a short row, without branches: which of few entries is the largest cannot be predicted."""
    top, column = row[0], 0
    for j in range(1, len(row)):
        larger = row[j] > top
        column = j if larger else column
        top = row[j] if larger else top
    return column
