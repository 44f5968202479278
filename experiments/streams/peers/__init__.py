"""One module per library that watches streams; each runs in its own environment and knows NumPy and that library only.

``METHODS`` has functions by name. Each takes a stream of ``Keys`` and returns the number of the row at which it first
raises an alarm, 0 being the first row after calibration, negative before; None if there is none. ``SLOW`` says how many
streams a slow method gets, by words in the title of a file; other files it does not get.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

DELTA = 0.05

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Keys:
    """What is known of every row of a stream; the first ``calibration`` rows come before it."""

    strange: Floats
    wrong: Floats
    largest: Floats
    calibration: int
    seed: int
