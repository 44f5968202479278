"""crepes: martingales on semi-online p-values of the scores 1 - p(true label); they bet after calibration only."""

from collections.abc import Callable

from crepes.martingales import (
    CompositeMartingale,
    Martingale,
    SimpleJumper,
    SleeperDrifter,
    SleeperStayer,
    StepBettingFunction,
    semi_online_p_values,
)
from peers import DELTA, Keys

PACKAGES = ("crepes",)
SLOW: dict[str, dict[str, int]] = {}


def watching(martingale: Martingale) -> Callable[[Keys], int | None]:
    """The first row at which a martingale reaches 1 / delta."""

    def alarm(keys: Keys) -> int | None:
        p_values = semi_online_p_values(keys.strange, seed=keys.seed)[keys.calibration :]
        row = int(martingale.apply(p_values, c=1 / DELTA))
        return row if row < len(p_values) else None

    return alarm


METHODS = {
    "SimpleJumper()": watching(SimpleJumper()),
    "SimpleJumper(bf=StepBettingFunction())": watching(SimpleJumper(bf=StepBettingFunction())),
    "SleeperStayer()": watching(SleeperStayer()),
    "SleeperDrifter()": watching(SleeperDrifter()),
    "CompositeMartingale([SimpleJumper(), SleeperStayer()])": watching(
        CompositeMartingale([SimpleJumper(), SleeperStayer()])
    ),
}
