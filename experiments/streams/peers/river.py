"""river: ADWIN and Page-Hinkley on errors, and on the largest probability. Calibration rows come first, as rows do.

The delta of ADWIN is a probability of a false alarm at one time. The threshold of Page-Hinkley is no probability: it
has its default here, and how often it is wrong depends on the values.
"""

from collections.abc import Callable

from peers import DELTA, Floats, Keys
from river import drift
from river.base import DriftDetector

PACKAGES = ("river",)
SLOW: dict[str, dict[str, int]] = {}


def first(detector: DriftDetector, values: Floats, calibration: int) -> int | None:
    """The first alarm after calibration; a detector that is alarmed earlier starts anew by itself."""
    for number, value in enumerate(values.tolist(), -calibration):
        detector.update(value)
        if number >= 0 and detector.drift_detected:
            return number
    return None


def watching(made: Callable[[], DriftDetector], what: str) -> Callable[[Keys], int | None]:
    """A new detector for every stream."""
    return lambda keys: first(made(), getattr(keys, what), keys.calibration)


METHODS = {
    f"{name}, {what}": watching(made, field)
    for name, made in {
        "ADWIN(delta=0.05)": lambda: drift.ADWIN(delta=DELTA),
        "ADWIN()": drift.ADWIN,
        "PageHinkley()": drift.PageHinkley,
    }.items()
    for what, field in {"errors": "wrong", "largest probability": "largest"}.items()
}
