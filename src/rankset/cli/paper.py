"""``rankset paper``: the experiment of Luo & Zhou on the data sets that come with the package."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from rankset.cli.options import not_a_confidence, words_refused
from rankset.core.alpha import exact_alpha
from rankset.datasets import DATASETS
from rankset.paper import figures as drawing
from rankset.paper import tables
from rankset.paper.numbers import Numbers
from rankset.paper.study import ALPHAS, study

OUTPUT = Path("rankset-demo")


def _common_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that all three commands have."""
    options = [
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
            "datasets",
            multiple=True,
            type=click.Choice(list(DATASETS)),
            help="Use only this data set; may be repeated.",
        ),
        click.option(
            "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of all random numbers."
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return words_refused(command)


def _output_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option for the folder of files."""
    folder = click.Path(file_okay=False, path_type=Path)
    return click.option("-o", "--output", type=folder, default=OUTPUT, show_default=True, help="Folder for the files.")(
        command
    )


@click.group(short_help="Repeat the experiment of the paper.")
def paper() -> None:
    """Repeat the experiment of Luo & Zhou, "Trustworthy Classification through Rank-Based Conformal Prediction Sets".

    \b
    rankset paper table                      # Table 1, with the published values
    rankset paper table --data mnist --alpha 0.05
    rankset paper all -o rankset-demo        # tables, figures and all numbers
    """


@paper.command()
@_common_options
def table(alpha: str, repeats: int, datasets: Sequence[str], seed: int) -> None:
    """Print Table 1 for one alpha: our values, the published values, and the differences."""
    _print_tables(study(datasets or None, alphas=[alpha], repeats=repeats, seed=seed))


@paper.command()
@_common_options
@_output_option
def figures(alpha: str, repeats: int, datasets: Sequence[str], seed: int, output: Path) -> None:
    """Draw Figures 1 to 5 as PDF and PNG files, and write their numbers to a JSON file."""
    _draw(_run_study(alpha, repeats, datasets, seed, output), output)


@paper.command(name="all")
@_common_options
@_output_option
def everything(alpha: str, repeats: int, datasets: Sequence[str], seed: int, output: Path) -> None:
    """Print the tables, draw the figures, and write all numbers to a JSON file."""
    started = time.monotonic()
    numbers = _run_study(alpha, repeats, datasets, seed, output)
    _print_tables(numbers)
    _draw(numbers, output)
    click.echo(f"Done in {time.monotonic() - started:.0f} s.", err=True)


def _run_study(alpha: str, repeats: int, datasets: Sequence[str], seed: int, output: Path) -> Numbers:
    """Run the study and write its numbers; files of an older run are removed first."""
    written = f"{float(exact_alpha(alpha)):g}"
    output.mkdir(parents=True, exist_ok=True)
    for old in (output / "numbers.json", *(output / name for name in drawing.FILES)):
        old.unlink(missing_ok=True)  # fails before the long work if the folder cannot be written
    alphas = sorted({*ALPHAS, written}, key=float)
    numbers = study(datasets or None, alphas=alphas, alpha=written, repeats=repeats, seed=seed)
    numbers.save(output / "numbers.json")
    click.echo(f"{output / 'numbers.json'}", err=True)
    return numbers


def _print_tables(numbers: Numbers) -> None:
    click.echo(tables.heading(numbers, numbers.alpha))
    click.echo(tables.table_1(numbers, numbers.alpha))
    click.echo(f"{tables.NOTES}\n")
    click.echo(tables.definitions_heading(numbers))
    click.echo(tables.definitions(numbers))
    if numbers.data["temperatures"]:
        click.echo(f"\n{tables.temperatures_heading(numbers)}")
        click.echo(tables.temperatures(numbers))


def _draw(numbers: Numbers, output: Path) -> None:
    for path in drawing.draw_all(numbers, output):
        click.echo(f"{path}", err=True)
