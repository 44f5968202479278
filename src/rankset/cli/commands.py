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
from rankset.cli.report import report
from rankset.cli.rules import COMMANDS
from rankset.errors import RanksetError, RanksetWarning
from rankset.tables import spoken


def _told(message: Warning | str, *_where: object) -> None:
    """A warning in one line, without the code that gave it."""
    click.echo(f"Warning: {spoken(str(message))}", err=True)


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
            raise click.ClickException(spoken(str(error))) from error
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader has seen enough
            ctx.exit(0)
        except OSError as error:
            raise click.ClickException(f"{error.filename or ''}: {error.strerror or error}") from error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(library.__version__, prog_name="rankset")
def rankset() -> None:
    """Prediction sets with a guarantee, from any classifier's scores."""


for command in (*COMMANDS, report, demo, paper):
    rankset.add_command(command)
