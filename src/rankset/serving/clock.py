"""``Clock``: times of rows, each after that of the row before."""

from __future__ import annotations

import logging
import time

STEP = 1e-6
"""Seconds between two rows at least, so that their times put them into order."""
JUMP = 60.0
"""If the last row is so many seconds in the future, the clock was wrong then, and times go back."""

log = logging.getLogger("rankset.serving")


class Clock:
    """Gives times to rows and labels; ``last`` is the last one."""

    def __init__(self) -> None:
        self.last = 0.0

    def times(self, count: int = 1) -> list[float]:
        """Return the times of some rows, each after that of all rows before unless the clock was set back by much."""
        now = time.time()
        if self.last - now > JUMP:
            log.warning("the clock was set back by %.0f seconds", self.last - now)
            self.last = now
        first = max(now, self.last + STEP)
        found = [first + place * STEP for place in range(count)]
        self.last = found[-1] if found else self.last
        return found

    def label_time(self) -> float:
        """Return the time of a label that comes now: not before that of its row, and before those of later rows."""
        now = time.time()
        self.last = now if self.last - now > JUMP else max(now, self.last)
        return self.last
