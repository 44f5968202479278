"""Signals that stop ``rankset watch``: what is being done is finished first."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from rankset.cli import SIGNALS

T = TypeVar("T")


class Stopped(Exception):  # noqa: N818 - it is no error
    """A signal has come, and everything that was begun is done."""


class Stop:
    """Whether a signal has come. It interrupts waiting for input at once, and anything else at the next ``check``."""

    def __init__(self) -> None:
        self.number: int | None = None
        self._waiting = False

    @property
    def exit_code(self) -> int:
        """Exit code of a command that a signal stopped: 130 after Ctrl-C, 143 after SIGTERM; 0 if none has come."""
        return 0 if self.number is None else 128 + self.number

    def check(self) -> None:
        """Raise ``Stopped`` if a signal has come."""
        if self.number is not None:
            raise Stopped

    def wait_for(self, read: Callable[[int], T], size: int) -> T:
        """Return ``read(size)``; a signal meanwhile raises ``Stopped``."""
        self._waiting = True
        try:
            self.check()
            return read(size)
        finally:
            self._waiting = False

    def _see(self, number: int, _frame: object) -> None:
        """Remember a signal; the second one ends the command at once."""
        if self.number is not None:
            raise SystemExit(128 + number)
        self.number = number
        if self._waiting:
            raise Stopped

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Inside, signals are remembered, except for those that are ignored, as by nohup."""
        before: dict[int, Any] = {}
        numbers = [getattr(signal, name) for name in SIGNALS if hasattr(signal, name)]
        with suppress(ValueError):  # not in the main thread
            for number in numbers:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    before[number] = signal.signal(number, self._see)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
