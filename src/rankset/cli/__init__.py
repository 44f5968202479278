"""The command line: ``rankset`` and ``python -m rankset``."""

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
"""What stops a command, with the exit code 128 plus the signal's number: 130, 143, 129."""


def main() -> None:
    """Runs the command that was typed."""
    try:
        _on_signals(_gone)
        from rankset.cli.commands import rankset

        _on_signals(_stopped)
        rankset(prog_name="rankset")
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        sys.exit("rankset: the command line needs click, which is not installed. Install rankset with [cli].")
    except OSError as error:
        sys.exit(f"rankset: {error.strerror or error}")


def starting() -> None:
    """Lets signals end the process quietly while the library is imported, if it is that of the command line."""
    if _is_command_line():
        with suppress(ValueError):  # not in the main thread
            _on_signals(_gone)


def _is_command_line() -> bool:
    """Whether ``rankset`` or ``python -m rankset`` was typed, as far as can be seen before anything is imported."""
    if sys.argv[:1] == ["-m"]:  # so it is while Python looks for the module
        asked = sys.orig_argv
        return "-m" in asked and asked[asked.index("-m") + 1 :][:1] == ["rankset"]
    return Path(*sys.argv[:1]).stem == "rankset"


def _on_signals(handler: Callable[[int, object], None]) -> None:
    """Lets ``handler`` take the signals that stop commands, but for those that are ignored, as by nohup."""
    for name in SIGNALS:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def _gone(number: int, _frame: object) -> None:
    """Ends at once: nothing has been written yet."""
    os._exit(128 + number)


def _stopped(number: int, _frame: object) -> None:
    """Ends like an error, so that nothing half-written stays."""
    sys.exit(128 + number)
