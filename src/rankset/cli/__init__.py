"""The command line: ``rankset`` and ``python -m rankset``."""

import sys


def main() -> None:
    """Runs the command that was typed."""
    try:
        from rankset.cli.commands import rankset
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        sys.exit("rankset: the command line needs click, which is not installed. Install rankset with [cli].")
    rankset(prog_name="rankset")
