"""The command ``rankset``, and how errors are shown: one line on stderr, no traceback, exit code 1 (2 for options)."""

from __future__ import annotations

import os
import sys
import warnings
from importlib import import_module
from typing import Any

import click

import rankset as library
from rankset.cli.echo import echo
from rankset.errors import COMMAND_LINE, KindError, LevelError, RanksetError, RanksetWarning, RuleError

COMMANDS = {
    "bounds": "Predict certain and possible labels of new rows.",
    "calibrate": "Make a rule from rows with known labels.",
    "compare": "Compare all scores on the same random splits.",
    "demo": "Write example files for the other commands.",
    "evaluate": "Measure coverage and set sizes of a rule.",
    "export": "Write a rule as an ONNX model.",
    "inspect": "Show a rule and its thresholds, or a stream, a triage, a store.",
    "merge": "Merge several rules into one rule.",
    "paper": "Repeat the experiment of the paper.",
    "precise": "Predict sets with few false labels.",
    "predict": "Predict the sets of new rows.",
    "recalibrate": "Make a rule from labels that came back to a server.",
    "report": "Write an HTML page with results.",
    "serve": "Serve a rule over HTTP, with a live page.",
    "triage": "Decide which answers to accept without a person.",
    "watch": "Predict and learn as rows and labels come.",
}
"""Names of all commands, and what they do. Each is a function in a module of the same name, imported when it is needed;
``rankset --help`` needs none of them."""
WORDS_OF_OPTIONS = (
    *("the separator", "the decimal mark", "the encoding"),
    *("confidence", "next_rows", "all_groups", "target", "error"),
    *("predict", "evaluate", "bounds"),  # called with a confidence, without alpha
)
"""What errors about --sep, --decimal, --encoding, --confidence, --target, --error and the like are about."""
TRACEBACK = "RANKSET_TRACEBACK"
"""Environment variable that lets unexpected errors show their traceback."""


def _show_warning(message: Warning | str, *_where: object) -> None:
    """Print a warning in one line, without the code that gave it."""
    text = message.render(COMMAND_LINE) if isinstance(message, RanksetWarning) else message
    echo(f"Warning: {_one_line(text)}", err=True)


def _one_line(message: object) -> str:
    return " ".join(str(message).split())


def _is_about_options(error: RanksetError) -> bool:
    """Whether an error is about the value of an option, whatever files hold."""
    named = isinstance(error.what, str) and error.what.startswith("--")
    return isinstance(error, LevelError) or (
        isinstance(error, KindError | RuleError) and (named or error.what in WORDS_OF_OPTIONS)
    )


class Failure(click.ClickException):
    """An error in one line, with control characters escaped."""

    def show(self, file: Any = None) -> None:  # noqa: ARG002
        """Print the error."""
        echo(f"Error: {_one_line(self.message)}", err=True)


class WrongOption(Failure):
    """The same about the value of an option."""

    exit_code = 2


class Commands(click.Group):
    """A group that imports its commands when needed, and shows errors of the library in one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Names of all commands."""
        return list(COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the names of all commands and what they do."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a command; for an unknown name import all, so that click can suggest a similar one."""
        for name in [cmd_name] if cmd_name in COMMANDS else COMMANDS:
            self.add_command(getattr(import_module(f"rankset.cli.{name}"), name))
        return self.commands.get(cmd_name)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", RanksetWarning)
                warnings.showwarning = _show_warning  # type: ignore[assignment]
                return super().invoke(ctx)
        except RanksetError as error:
            kind_of_failure = WrongOption if _is_about_options(error) else Failure
            raise kind_of_failure(error.render(COMMAND_LINE)) from error
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader of the pipe has ended
            ctx.exit(0)
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            remedy = ". Check the path." if isinstance(error, FileNotFoundError) and where else ""
            raise Failure(f"{where}{error.strerror or error}{remedy}") from error
        except MemoryError as error:
            raise Failure("there is not enough memory for this. Pass fewer rows, or parts of the file.") from error
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            if os.environ.get(TRACEBACK):
                raise
            kind = type(error).__name__
            raise Failure(
                f"unexpected {kind}: {error}. Set {TRACEBACK}=1 to see where, and please report it."
            ) from error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(library.__version__, prog_name="rankset")
def rankset() -> None:
    """Prediction sets with a coverage guarantee, from the outputs of any classifier.

    \b
    rankset demo                                                             # write example files
    rankset calibrate val_logits.npy val_labels.npy --kind logits -o rule.rankset
    rankset predict rule.rankset test_logits.npy --alpha 0.1 -o sets.parquet
    """
