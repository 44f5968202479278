"""Options that several commands share."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import click

from rankset.cli.label_shift import LABEL_SHIFT_OPTIONS
from rankset.cli.notes import print_notes
from rankset.cli.promises import PROMISE_OPTIONS
from rankset.cli.spreadsheets import SPREADSHEET_OPTIONS
from rankset.cli.targets import TARGET_OPTIONS
from rankset.cli.training import TRAINING_OPTIONS
from rankset.core.alpha_argument import WORDS, alpha_meant, warn_of_confidence
from rankset.errors import once
from rankset.inputs.matrix import KINDS
from rankset.io import memory_budget
from rankset.io.layout import Layout

FILE = click.Path(dir_okay=False, path_type=Path)
"""Type of arguments that are files."""


class FileOrUrl(click.Path):
    """A file, or a URL of a database, which stays a text."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if "://" in str(value) else super().convert(value, param, ctx)


FILE_OR_URL = FileOrUrl(dir_okay=False, path_type=Path)
DEFAULT_ALPHA = "0.1"
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
"""Units of durations."""


def not_a_confidence(_context: click.Context, _parameter: click.Parameter, values: Any) -> Any:
    """Return the value or values of ``--alpha``; warn of those above 0.5."""
    for value in (values,) if isinstance(values, str) else values or ():
        warn_of_confidence(value)
    return values


def _refuse_word(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    """Refuse an option of other libraries, such as ``--confidence 0.95``, and name the alpha to pass instead."""
    if value is None:
        return
    meant = alpha_meant(parameter.opts[0].removeprefix("--").replace("-", "_"), value)
    example = "--alpha 0.05 for 95% coverage" if meant is None else f"--alpha {meant:g}"
    raise click.UsageError(
        f"No such option: {parameter.opts[0]}. Did you mean {example}? alpha is the allowed error rate.", context
    )


def parse_bytes(_context: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    """Return a size such as 2GB in bytes; errors name the option."""
    return None if text is None else memory_budget.parse_size(text, parameter.opts[0])


def seconds_of(text: str) -> float | None:
    """Return a duration such as 90d, 12h or 30m in seconds; None if the text is none.

    >>> seconds_of("12h"), seconds_of("0.5d"), seconds_of("90")
    (43200.0, 43200.0, None)
    """
    try:
        found = float(text[:-1]) * SECONDS[text[-1:]]
    except (ValueError, KeyError):
        return None
    return found if 0 < found < 1e12 else None


def in_units(seconds: float) -> str:
    """Return a duration in words.

    >>> in_units(90 * 86400), in_units(5400), in_units(1)
    ('90 days', '1.5 hours', '1 second')
    """
    names = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds"}
    unit = next((one for one in names if seconds >= SECONDS[one]), "s")
    count = f"{seconds / SECONDS[unit]:g}"
    return f"{count} {names[unit].removesuffix('s') if count == '1' else names[unit]}"


def parse_seconds(_context: click.Context, _parameter: click.Parameter, text: str | None) -> float | None:
    """Return a duration in seconds; without a unit it is refused."""
    found = None if text is None else seconds_of(text)
    if found is None and text is not None:
        raise click.BadParameter(f"pass days, hours, minutes or seconds, such as 90d, 12h, 30m or 45s, not {text!r}.")
    return found


OPTIONS = {
    "kind": click.option("--kind", type=click.Choice(KINDS), help="Type of values in SCORES.  [default: probs]"),
    "kind_of_labels": click.option(
        "--kind",
        type=click.Choice(KINDS),
        default="marginals",
        show_default=True,
        help="Type of values in SCORES: by default the probability of every single label.",
    ),
    "classes": click.option(
        "--classes",
        type=FILE,
        help="File with the class names in column order, one per line; .json with a list or id2label; or .npz with an "
        "array classes.",
    ),
    "alphas": click.option(
        "--alpha",
        "alphas",
        multiple=True,
        callback=not_a_confidence,
        help="Allowed error rate; may be repeated.  [default: 0.1]",
    ),
    "levels": click.option(
        "--alpha",
        "alphas",
        multiple=True,
        callback=not_a_confidence,
        help="Allowed error rate to show; may be repeated.  [default: 0.01 0.05 0.1 0.2]",
    ),
    "alpha": click.option(
        "--alpha", default=DEFAULT_ALPHA, show_default=True, callback=not_a_confidence, help="Allowed error rate."
    ),
    "seed": click.option("--seed", type=int, default=0, show_default=True, help="Seed of all random numbers."),
    "labels": click.option(
        "--labels",
        "label_files",
        metavar="FILE",
        multiple=True,
        help="File or folder with the labels; may be repeated. If a file has several columns, also use --label.",
    ),
    "max_memory": click.option(
        "--max-memory",
        metavar="BYTES",
        callback=parse_bytes,
        help="Largest amount of memory for reading a file, such as 2GB or 500MB.  [default: the environment variable "
        "RANKSET_MAX_MEMORY, or half of the free memory]",
    ),
    **PROMISE_OPTIONS,
    **SPREADSHEET_OPTIONS,
    **TARGET_OPTIONS,
    **TRAINING_OPTIONS,
    **LABEL_SHIFT_OPTIONS,
    "force": click.option("--force", is_flag=True, help="Replace output files that exist."),
    "json": click.option("--json", "as_json", is_flag=True, help="Print one JSON object on standard output."),
}

LAYOUT_OPTIONS = {
    "label": click.option("--label", help="Column with the labels. The arguments then contain no files of labels."),
    "label_sep": click.option(
        "--label-sep",
        metavar="TEXT",
        default=";",
        show_default=True,
        help="What separates names in a cell of labels, if rows can have several labels.",
    ),
    "group": click.option("--group", help="Column with the group of each row."),
    "identity": click.option(
        "--id", "identity", help="Column with a unique id for each row. Used by randomised scores."
    ),
    "weights": click.option(
        "--weights",
        metavar="COLUMN",
        help="Column with the weight of each row: a number from 0 on. Or one number, the weight of all rows.",
    ),
    "drop": click.option("--drop", multiple=True, help="Column that is not a class and is ignored; may be repeated."),
    "options": click.option(
        "--options",
        metavar="COLUMN",
        help="Column with the names of the candidates of each row, if every row has its own. Labels are such names.",
    ),
    "keep": click.option("--keep", multiple=True, help="Column that is copied to the output; may be repeated."),
    "key": click.option(
        "--key", help="Name of the array of scores in an .npz file. Options for columns then name arrays."
    ),
    "absent": click.option(
        "--absent",
        metavar="TEXT",
        help="Label of rows whose true label is not among the candidates. '' means rows without a label.",
    ),
    "file_format": click.option(
        "--format",
        "file_format",
        help="Format of standard input and of files (csv, jsonl, npy, …) whose name has no suffix or another one.",
    ),
    "header": click.option(
        "--no-header",
        "header",
        flag_value=False,
        default=True,
        help="The first line of the file contains data, not column names.",
    ),
    "sep": click.option(
        "--sep", metavar="CHARACTER", help="Separator of csv files: ; or , or | or tab.  [default: it is recognised]"
    ),
    "decimal": click.option(
        "--decimal", metavar="MARK", help="Decimal mark of csv files: . or ,  [default: it is recognised]"
    ),
    "encoding": click.option(
        "--encoding",
        metavar="NAME",
        help="Encoding of text files, such as cp1252 or utf-16.  [default: it is recognised]",
    ),
    "sheet": click.option(
        "--sheet",
        metavar="SHEET",
        help="Sheet of an .xlsx file, by name or number.  [default: the only one with cells]",
    ),
}
"""Options that say which columns of a file are what; commands get them as one ``layout``."""
TEXT_OPTIONS = ("sep", "decimal", "encoding", "sheet")
"""Options of every command that reads files of scores."""


ALPHA_OPTIONS = frozenset({"alpha", "alphas", "levels"})
"""Names of the options that take alpha."""


def words_refused(command: Callable[..., Any], known: Collection[str] = ()) -> Callable[..., Any]:
    """Add hidden options for the words of other libraries; each is refused and names the alpha to pass.

    Words that are options of the command, ``known``, are left out.
    """
    for word in sorted(WORDS.difference(known)):
        flag = f"--{word.replace('_', '-')}"
        command = click.option(flag, hidden=True, expose_value=False, callback=_refuse_word)(command)
    return command


def options(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add options by name.

    Those of ``LAYOUT_OPTIONS`` reach the command as one ``Layout``; with ``header`` come the ``TEXT_OPTIONS``.
    ``max_memory`` is in force while the command runs. The same warning is given once, and what is recognised in files
    is printed.
    """
    if "header" in names:
        place = names.index("header") + 1
        names = (*names[:place], *TEXT_OPTIONS, *names[place:])

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        of_layout = [name for name in names if name in LAYOUT_OPTIONS]

        @functools.wraps(command)
        def wrapped(**values: Any) -> Any:
            if of_layout:
                values["layout"] = Layout(**{name: values.pop(name) for name in of_layout})
            with once(), print_notes(), memory_budget.use_limit(values.pop("max_memory", None)):
                return command(**values)

        for name in reversed(names):
            wrapped = {**OPTIONS, **LAYOUT_OPTIONS}[name](wrapped)
        taken = {option.name for option in getattr(wrapped, "__click_params__", ())}
        return words_refused(wrapped, taken) if ALPHA_OPTIONS.intersection(names) else wrapped

    return decorate
