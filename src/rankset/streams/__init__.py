"""Streams: rows that keep coming, labels that come later, a level that follows what was missed, and alarms.

``Stream`` predicts sets and learns from labels. The others are its parts: ``levels`` (at which alpha the next set is
predicted), ``window`` (the labelled rows that calibrate), ``waiting`` (rows whose labels have not come), ``alarms``
with ``bag`` (p-values of rows in their order) and ``betting``, ``history`` (numbers over time), ``stream_file``.
``exchangeable`` asks the question of the alarms about one batch of rows.
"""

from rankset.streams.alarms import Alarm, Alarms
from rankset.streams.exchangeability import Exchangeability, exchangeable
from rankset.streams.levels import Adaptive, Decaying, Experts, Fixed
from rankset.streams.stream import Learned, Stream

__all__ = [
    "Adaptive",
    "Alarm",
    "Alarms",
    "Decaying",
    "Exchangeability",
    "Experts",
    "Fixed",
    "Learned",
    "Stream",
    "exchangeable",
]
