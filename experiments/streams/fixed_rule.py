"""How often the alarm about coverage is raised by a rule that is kept, although nothing changes.

python3 run.py alarms-fixed-rule

A rule from n calibration rows misses with a probability of its own, which has a beta distribution if scores do not tie.
Given the rule, new rows are missed independently of each other. So the alarm of a server is right if this probability
is above alpha + 0.01. Prints the share of rules whose alarm is raised within the first labels, and the share of rules
that miss more often than alpha + 0.01.
"""

from __future__ import annotations

import numpy as np

from rankset.streams.betting import EXCESSES, MissBets, Wealth
from rankset.streams.stream import DELTA, TOLERANCE

ALPHA = 0.1
RULES, LABELS = 1000, 2000


def main() -> None:
    """Print a line for each number of calibration rows."""
    print(f"alpha {ALPHA}, {RULES:,} rules, {LABELS:,} labels each")
    for n in (20, 50, 100, 200, 500, 1000, 5000):
        draws = np.random.default_rng(n)
        missed = int((n + 1) * ALPHA)
        rates = draws.beta(missed, n + 1 - missed, size=RULES)
        raised = np.mean([is_raised(draws.random(LABELS) < rate) for rate in rates])
        above = np.mean(rates > ALPHA + TOLERANCE)
        print(f"{n:>5,} rows: raised {raised:.3f}, of rules that miss more than alpha + {TOLERANCE}: {above:.3f}")


def is_raised(misses: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> bool:
    """Return whether the alarm is raised by these misses."""
    wealth, bets = Wealth(DELTA, 1 + len(EXCESSES)), MissBets(ALPHA + TOLERANCE)
    for number, miss in enumerate(misses):
        wealth.learn(bets.after_miss if miss else bets.after_cover, number, number)
        if wealth.raised_at is not None:
            return True
    return False


if __name__ == "__main__":
    main()
