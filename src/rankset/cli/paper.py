"""``rankset paper``: the experiment of Luo & Zhou on the data sets of the package, or on a user's own model outputs."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from rankset.cli.command import Group
from rankset.cli.files import check_output
from rankset.cli.options import FILE, not_a_confidence, options, words_refused
from rankset.cli.own_outputs import check_data, read_own_outputs
from rankset.core.alpha import exact_alpha
from rankset.datasets import DATASETS
from rankset.errors import FileError
from rankset.io import atomic
from rankset.io.layout import Layout
from rankset.paper import figures as drawing
from rankset.paper import tables
from rankset.paper.numbers import Numbers
from rankset.paper.outputs import Outputs
from rankset.paper.study import ALPHAS, study
from rankset.paper.table_files import as_csv

OUTPUT = Path("rankset-demo")
TABLES = (".tex", ".csv", ".txt")
FILE_OPTIONS = ("kind", "label", "labels", "drop", "classes", "key", "file_format", "header", "max_memory")
"""Options that tell how to read a user's own files."""


@dataclass(frozen=True)
class Request:
    """What is measured: the alpha of the tables, the number of random splits, the rows of the table and the seed.

    ``files`` are the input files.
    """

    alpha: str
    repeats: int
    rows: list[str | Outputs] | None
    seed: int
    files: Sequence[str] = ()


def _common_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that all three commands have. They reach the command as one ``Request``."""

    @options(*FILE_OPTIONS)
    def with_request(
        alpha: str,
        repeats: int,
        data: Sequence[str],
        seed: int,
        kind: Any,
        label_files: Sequence[str],
        classes: Path | None,
        layout: Layout,
        **others: Any,
    ) -> None:
        files = [one for one in data if one not in DATASETS]
        if not files and (kind or label_files or classes or layout != Layout()):
            raise click.UsageError("Options such as --kind and --label are for your own files. Add --data FILE.")
        own = iter(read_own_outputs(files, label_files, layout, kind, classes))
        rows = [one if one in DATASETS else next(own) for one in data]
        command(Request(alpha, repeats, rows or None, seed, (*files, *label_files)), **others)

    added: Callable[..., Any] = with_request
    for option in reversed(_experiment_options()):
        added = option(added)
    return words_refused(functools.update_wrapper(added, command, updated=()))


def _experiment_options() -> list[Callable[[Callable[..., Any]], Callable[..., Any]]]:
    """Options that tell what is measured."""
    return [
        click.option(
            "--alpha",
            default="0.1",
            show_default=True,
            callback=not_a_confidence,
            help="Allowed error rate for the tables and Figure 2.",
        ),
        click.option(
            "--repeats", type=click.IntRange(1), default=100, show_default=True, help="Number of random splits."
        ),
        click.option(
            "--data",
            multiple=True,
            metavar="NAME|FILE",
            callback=check_data,
            help="Use only this data set, or your own model outputs in a file; may be repeated.",
        ),
        click.option(
            "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of all random numbers."
        ),
    ]


def _output_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option for the folder of files."""
    folder = click.Path(file_okay=False, path_type=Path)
    return click.option("-o", "--output", type=folder, default=OUTPUT, show_default=True, help="Folder for the files.")(
        command
    )


@click.group(cls=Group)
def paper() -> None:
    """Repeat the experiment of Luo & Zhou, "Trustworthy Classification through Rank-Based Conformal Prediction Sets".

    \b
    rankset paper table                      # Table 1, with the published values
    rankset paper table --data mnist --alpha 0.05
    rankset paper table --data mine.npz      # your own model: arrays probs (or logits) and labels
    rankset paper table --data val.csv --label answer --kind logits
    rankset paper table --data mine.npz -o table.tex    # also .csv and .txt
    rankset paper all -o rankset-demo        # tables, figures and all numbers
    """


@paper.command()
@click.option("-o", "--output", type=FILE, help="Also write Table 1 to this file: .tex (LaTeX), .csv or .txt.")
@click.option("--force", is_flag=True, help="Replace the output file if it exists.")
@_common_options
def table(request: Request, output: Path | None, force: bool) -> None:
    """Print Table 1 for one alpha: our values, the published values, and the differences.

    With --data FILE, print the same table for your own model outputs. Labels are a column of the file (--label), or in
    a file of their own (--labels). In an .npz file, an array of scores called probs or logits and an array called
    labels are found without options.
    """
    if output is not None:
        if output.suffix.lower() not in TABLES:
            raise FileError.suffix(str(output), f"{', '.join(TABLES[:-1])} or {TABLES[-1]}")
        check_output(output, None, request.files, force=force)
    numbers = study(request.rows, alphas=[request.alpha], repeats=request.repeats, seed=request.seed)
    _print_tables(numbers)
    if output is not None:
        with atomic.open_output(output, force=force) as file:
            file.write(_table_file(numbers, output.suffix.lower()).encode())
        click.echo(f"{output}", err=True)


@paper.command()
@_output_option
@_common_options
def figures(request: Request, output: Path) -> None:
    """Draw Figures 1 to 5 as PDF and PNG files, and write their numbers to a JSON file.

    With --data FILE, draw the same curves for your own model outputs (own-data.pdf).
    """
    _draw(_run_study(request, output), output)


@paper.command(name="all")
@_output_option
@_common_options
def everything(request: Request, output: Path) -> None:
    """Print the tables, draw the figures, and write all numbers to a JSON file."""
    started = time.monotonic()
    numbers = _run_study(request, output)
    _print_tables(numbers)
    _draw(numbers, output)
    click.echo(f"Done in {time.monotonic() - started:.0f} s.", err=True)


def _run_study(request: Request, output: Path) -> Numbers:
    """Run the study and write its numbers; files of an older run are removed first."""
    written = f"{float(exact_alpha(request.alpha)):g}"
    output.mkdir(parents=True, exist_ok=True)
    for old in (output / "numbers.json", *(output / name for name in drawing.FILES)):
        old.unlink(missing_ok=True)  # fails before the long work if the folder cannot be written
    alphas = sorted({*ALPHAS, written}, key=float)
    numbers = study(request.rows, alphas=alphas, alpha=written, repeats=request.repeats, seed=request.seed)
    numbers.save(output / "numbers.json")
    click.echo(f"{output / 'numbers.json'}", err=True)
    return numbers


def _table_file(numbers: Numbers, suffix: str) -> str:
    """Return Table 1 in the format of a file; as text with its heading and its notes."""
    if suffix == ".tex":
        return tables.table_1(numbers, latex=True)
    if suffix == ".csv":
        return as_csv(numbers, numbers.alpha)
    return "\n".join([tables.heading(numbers, numbers.alpha), tables.table_1(numbers), tables.notes(numbers), ""])


def _print_tables(numbers: Numbers) -> None:
    click.echo(tables.heading(numbers, numbers.alpha))
    click.echo(tables.table_1(numbers, numbers.alpha))
    click.echo(f"{tables.notes(numbers)}\n")
    click.echo(tables.definitions_heading(numbers))
    click.echo(tables.definitions(numbers))
    if numbers.data["temperatures"]:
        click.echo(f"\n{tables.temperatures_heading(numbers)}")
        click.echo(tables.temperatures(numbers))


def _draw(numbers: Numbers, output: Path) -> None:
    for path in drawing.draw_all(numbers, output):
        click.echo(f"{path}", err=True)
