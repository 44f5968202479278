"""A short look at a row: its lanes, entries that lie a stride apart, and the largest of each, their tops.

Most questions about the largest entries are settled by the tops, an eighth of the row. Written so that compilers turn
it into vector instructions: a conditional expression where ``max`` would mind NaN, the lane loop inside.
"""

import numpy as np

from rankset.core.kernels.loops.compiling import compiled

LANES = 8


@compiled()
def new_tops(probs):
    """Room for the tops of one row; rows that are too short for lanes have one entry in each."""
    n_columns = probs.shape[1]
    return np.empty(n_columns // LANES if n_columns >= LANES * LANES else n_columns, probs.dtype)


@compiled("nsz", "nnan")
def fill_tops(row, tops):
    """Fills ``tops`` with the largest entry of each lane: c, c + stride, c + 2 * stride …, one stride long."""
    stride = len(tops)
    if stride == len(row):
        tops[:] = row
        return
    for c in range(stride):
        top = row[c]
        for lane in range(1, LANES):
            value = row[lane * stride + c]
            top = max(top, value)
        tops[c] = top
    for c in range(len(row) - LANES * stride):
        value = row[LANES * stride + c]
        tops[c] = max(tops[c], value)


@compiled()
def largest(row, tops):
    """The first column of the largest entry."""
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
