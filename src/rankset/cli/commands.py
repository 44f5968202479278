"""All commands, and how errors leave them: one line on stderr, no traceback, exit code 1."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

import click

import rankset as library
from rankset.cli.demo import demo
from rankset.cli.paper import paper
from rankset.cli.reading import say
from rankset.cli.report import report
from rankset.cli.rules import COMMANDS
from rankset.errors import COMMAND_LINE, RanksetError, RanksetWarning

TRACEBACK = "RANKSET_TRACEBACK"


def _told(message: Warning | str, *_where: object) -> None:
    """A warning in one line, without the code that gave it."""
    text = message.render(COMMAND_LINE) if isinstance(message, RanksetWarning) else message
    say(f"Warning: {_line(text)}", err=True)


def _line(message: object) -> str:
    return " ".join(str(message).split())


class Failure(click.ClickException):
    """An error in one line, without what a terminal would obey."""

    def show(self, file: Any = None) -> None:  # noqa: ARG002
        """Prints it."""
        say(f"Error: {_line(self.message)}", err=True)


class Commands(click.Group):
    """A group that tells errors of the library in one line."""

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", RanksetWarning)
                warnings.showwarning = _told  # type: ignore[assignment]
                return super().invoke(ctx)
        except RanksetError as error:
            raise Failure(error.render(COMMAND_LINE)) from error
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader has seen enough
            ctx.exit(0)
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            raise Failure(f"{where}{error.strerror or error}") from error
        except MemoryError as error:
            raise Failure("there is not enough memory for this. Pass fewer rows, or parts of the file.") from error
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            if os.environ.get(TRACEBACK):
                raise
            kind = type(error).__name__
            raise Failure(f"unexpected {kind}: {error}. {TRACEBACK}=1 shows where; please report it.") from error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(library.__version__, prog_name="rankset")
def rankset() -> None:
    """Prediction sets with a guarantee, from any classifier's scores.

    \b
    rankset demo                                                             # files to try everything on
    rankset calibrate val_logits.npy val_labels.npy --kind logits -o rule.rankset
    rankset predict rule.rankset test_logits.npy --alpha 0.1 -o sets.parquet
    """


for command in (*COMMANDS, report, demo, paper):
    rankset.add_command(command)
