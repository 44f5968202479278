"""The command line: ``rankset`` and ``python -m rankset``."""

import signal
import sys


def main() -> None:
    """Runs the command that was typed."""
    try:
        for name in ("SIGTERM", "SIGHUP"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), _stopped)
        from rankset.cli.commands import rankset

        rankset(prog_name="rankset")
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        sys.exit("rankset: the command line needs click, which is not installed. Install rankset with [cli].")
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        sys.exit(f"rankset: {error.strerror or error}")


def _stopped(number: int, _frame: object) -> None:
    """Ends like an error, so that nothing half-written stays."""
    sys.exit(128 + number)
