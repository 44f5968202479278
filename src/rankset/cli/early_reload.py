"""SIGHUP while a server starts."""

from __future__ import annotations

import signal
from typing import Any


class EarlyReload:
    """Remembers SIGHUP from now on, which would end the process, until a server handles it."""

    def __init__(self) -> None:
        self.asked = False
        if hasattr(signal, "SIGHUP"):
            signal.signal(signal.SIGHUP, self._remember)

    def _remember(self, _number: int, _frame: Any) -> None:
        self.asked = True
