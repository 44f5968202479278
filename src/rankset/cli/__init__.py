"""The command line: ``rankset`` and ``python -m rankset``.

One module per command, with a function of the same name; ``commands.py`` lists them. ``options.py`` has the options
that several commands share, ``files.py`` what they read and write, ``printing.py`` and ``echo.py`` what they print.
"""

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
"""Signals that stop a command, with the exit code 128 plus the number of the signal: 130, 143, 129."""

OF_THE_SERVER = ("serve", "recalibrate")
"""Commands that need the extra ``serve``."""


def main() -> None:
    """Run the command that was typed."""
    try:
        _handle_signals(_exit_at_once)
        from rankset.cli.commands import rankset

        _handle_signals(_exit_with_cleanup)
        rankset(prog_name="rankset")
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        sys.exit(f"rankset: {_without_click(sys.argv[1:])}")
    except OSError as error:
        sys.exit(f"rankset: {error.strerror or error}")


def _without_click(typed: list[str]) -> str:
    """Return what to install for the command that was typed: the extra of the server has click, too."""
    from rankset.errors import COMMAND_LINE, PackageError

    command = next((word for word in typed if not word.startswith("-")), "")
    served = command in OF_THE_SERVER
    purpose, extra = (f"rankset {command}", "serve") if served else ("the command line", "cli")
    return PackageError.missing("click", purpose, extra).render(COMMAND_LINE)


def handle_signals_while_importing() -> None:
    """Let signals end the process without a traceback while the library is imported by the command line."""
    if _is_command_line():
        with suppress(ValueError):  # not in the main thread
            _handle_signals(_exit_at_once)


def _is_command_line() -> bool:
    """Whether ``rankset`` or ``python -m rankset`` was typed, as far as is known before anything is imported."""
    if sys.argv[:1] == ["-m"]:  # Python is still looking for the module
        typed = sys.orig_argv
        return "-m" in typed and typed[typed.index("-m") + 1 :][:1] == ["rankset"]
    program = os.path.basename("".join(sys.argv[:1]))  # noqa: PTH119 - importing pathlib would take milliseconds
    return os.path.splitext(program)[0] == "rankset"  # noqa: PTH122


def _handle_signals(handler: Callable[[int, object], None]) -> None:
    """Set the handler of the signals that stop commands, except for those that are ignored, as by nohup."""
    for name in SIGNALS:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def _exit_at_once(number: int, _frame: object) -> None:
    """End at once: nothing has been written yet."""
    os._exit(128 + number)


def _exit_with_cleanup(number: int, _frame: object) -> None:
    """End like an error, so that no incomplete files are left."""
    sys.exit(128 + number)
