"""The noise of a row, as ``core.noise`` defines it."""

import numpy as np
from numba.core import types
from numba.extending import intrinsic

from rankset.core import noise
from rankset.core.kernels.loops.compiling import compiled
from rankset.core.kernels.loops.strided import largest

GOLDEN = noise.GOLDEN
SAMPLED = noise.SAMPLED


@intrinsic
def bits(_context, value):
    """Return the bits of a float64 as an int64."""

    def codegen(context, builder, _signature, arguments):
        return builder.bitcast(arguments[0], context.get_value_type(types.int64))

    return types.int64(types.float64), codegen


@compiled()
def draw(row, tops, word, seeded):
    """Return one number in [0, 1) for a row; ``tops`` are its slice maxima and ``word`` is its hashed id."""
    column, sampled = largest(row, tops), min(SAMPLED, len(row))
    total = np.uint64(0)
    if len(row) <= SAMPLED:  # a loop of its own, for vector instructions
        for j in range(len(row)):
            total += _salted(_word(row[j]), j + 1)
    else:
        for j in range(SAMPLED):  # a constant, by which dividing is fast
            total += _salted(_word(row[j * len(row) // SAMPLED]), j + 1)
    total += _salted(_word(row[column]), sampled + 1)
    total += _salted(np.uint64(column), sampled + 2) + _salted(word, sampled + 3)
    return np.float64(_mixed(total ^ seeded) >> np.uint64(11)) * 2.0**-53


@compiled()
def _salted(word, place):
    """Hash a word by its place among the words of a row."""
    return _mixed(word + np.uint64(place) * GOLDEN)


@compiled()
def _word(value):
    """Return the bits of an entry as float64; -0.0 counts as 0.0."""
    return np.uint64(bits(np.float64(value) + 0.0))


@compiled()
def _mixed(word):
    """Hash a 64-bit word, by the finaliser of SplitMix64."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))
