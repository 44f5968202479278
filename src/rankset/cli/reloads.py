"""SIGHUP: it reloads a rule, and never ends the process."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any


class Reloads:
    """Remembers SIGHUP from now on until a server takes it over with ``begin``; ignores it from ``end`` on."""

    def __init__(self) -> None:
        self._asked = False
        self._reload: Callable[[], object] | None = None
        if hasattr(signal, "SIGHUP"):
            signal.signal(signal.SIGHUP, self._handle)

    def _handle(self, _number: int, _frame: Any) -> None:
        if self._reload is None:
            self._asked = True
        else:
            self._reload()

    def begin(self, reload: Callable[[], object]) -> None:
        """Call this at every SIGHUP, and now if one came before."""
        self._reload = reload
        if self._asked:
            reload()

    def end(self) -> None:
        """Ignore further ones."""
        if hasattr(signal, "SIGHUP"):
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
