"""The stream that ``rankset watch`` watches: a new one from a rule, or the one in the state file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import click

import rankset as rs
from rankset.cli.files import check_output, load_rule
from rankset.cli.new_rows import read_new_rows
from rankset.cli.promises import was_passed
from rankset.errors import FileError
from rankset.io.layout import Layout
from rankset.streams.stream import DELTA, TOLERANCE, WAITING, WINDOW

SAVED = ".rankset"
"""Suffix of files of rules and streams."""
ALL = "all"
"""The window of all rows."""
LEVELS = ("adaptive", "fixed", "decaying", "experts")
OWN = ("alpha", "window", "level", "step", "delta", "tolerance", "waiting", "seed", "start_outputs")
"""Options that a stream keeps, so they are only for a new one."""


class Wanted(NamedTuple):
    """What a new stream shall be: values of options."""

    alpha: str
    window: int | None
    level: str
    step: float | None
    delta: float
    tolerance: float
    waiting: int
    seed: int
    start_outputs: str | None

    @property
    def method(self) -> Any:
        """How the level follows misses."""
        if self.level == "adaptive":
            return rs.Adaptive(self.step)
        if self.level == "decaying":
            return rs.Decaying() if self.step is None else rs.Decaying(self.step)
        if self.step is not None:
            raise click.UsageError(f"--step is for --level adaptive and decaying, not for {self.level}. Leave it out.")
        return rs.Fixed() if self.level == "fixed" else rs.Experts()


def _window(_context: click.Context, _parameter: click.Parameter, text: str) -> int | None:
    """Return the number of rows of a window; None for all rows."""
    if text.strip().lower() == ALL:
        return None
    if not text.strip().isdecimal() or int(text) < 1:
        raise click.BadParameter(f"{text!r} is neither a whole number of at least 1 nor {ALL}.")
    return int(text)


STREAM_OPTIONS = (
    click.option(
        "--window",
        metavar=f"N|{ALL}",
        default=str(WINDOW),
        show_default=True,
        callback=_window,
        help=f"Number of labelled rows that calibrate: the last ones. {ALL}: memory grows with the stream.",
    ),
    click.option(
        "--level",
        type=click.Choice(LEVELS),
        default=LEVELS[0],
        show_default=True,
        help="How the level of the next set follows what earlier sets missed. Only adaptive and decaying have a bound "
        "for every sequence of rows.",
    ),
    click.option(
        "--step",
        type=click.FloatRange(0, 1, min_open=True),
        help="Step of the level after a label: of every one (adaptive), or of the first one (decaying).  [default: "
        "alpha / 10, or 0.5]",
    ),
    click.option(
        "--delta",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        default=DELTA,
        show_default=True,
        help="Probability of a false alarm, at most. The alarms about labels and outputs share it, that about coverage "
        "has its own.",
    ),
    click.option(
        "--tolerance",
        type=click.FloatRange(0, 1, max_open=True),
        default=TOLERANCE,
        show_default=True,
        help="The alarm about coverage is raised if sets miss more often than alpha + this.",
    ),
    click.option(
        "--waiting",
        metavar="N",
        type=click.IntRange(1),
        default=WAITING,
        show_default=True,
        help="Most rows that wait for their labels. The oldest ones are dropped.",
    ),
    click.option(
        "--start-outputs",
        metavar="FILE",
        help="Model outputs of the calibration rows of RULE. With them the alarm about outputs knows what is usual "
        "before the first row.",
    ),
)


def stream_options(command: Any) -> Any:
    """Add the options of a new stream."""
    for option in reversed(STREAM_OPTIONS):
        command = option(command)
    return command


def rule_and_rows(paths: tuple[str, ...], state: Path | None, *, restart: bool) -> tuple[Path | None, tuple[str, ...]]:
    """Return RULE, None if the stream comes from the state file, and the other files; refuse what does not fit."""
    goes_on = state is not None and state.exists() and not restart
    if not goes_on and not paths:
        first = "Pass RULE, the rule that a new stream starts from"
        raise click.UsageError(f"{first}: {state} does not exist." if state and not restart else f"{first}.")
    if not goes_on:
        return Path(paths[0]), paths[1:]
    if paths and paths[0].endswith(SAVED):
        raise click.UsageError(
            f"{state} exists already, and knows its rule. Leave out {paths[0]} to go on with the stream, or pass "
            "--restart to start a new one, which replaces it."
        )
    flags = {option.name: option.opts[0] for option in click.get_current_context().command.params}
    passed = [flags[name] for name in OWN if was_passed(name)]
    if passed:
        raise click.UsageError(
            f"{state} exists already, and has its own settings. Leave out {', '.join(passed)}. To start a new stream, "
            "which replaces it, pass RULE and --restart."
        )
    return None, paths


def stream_of(
    rule: Path | None, state: Path | None, wanted: Wanted, layout: Layout, rows: tuple[str, ...]
) -> rs.Stream:
    """Return the stream of the state file, or a new one that follows a rule."""
    if state is not None:
        check_output(state, SAVED, (rule, wanted.start_outputs, *rows), force=True)
    if rule is None:
        assert state is not None
        return rs.Stream.load(state)
    made, method = load_rule(rule), wanted.method
    outputs = None
    if wanted.start_outputs is not None:
        if not Path(wanted.start_outputs).exists():
            raise FileError.missing(wanted.start_outputs)
        plain = replace(layout, group=None, identity=None)
        outputs = read_new_rows(wanted.start_outputs, plain, made.spec)
    about: dict[str, Any] = {"window": wanted.window, "level": method, "delta": wanted.delta}
    about |= {"tolerance": wanted.tolerance, "waiting": wanted.waiting, "seed": wanted.seed}
    if outputs is None:
        return rs.Stream(made, wanted.alpha, **about)
    with outputs.name_file_in_errors():
        return rs.Stream(made, wanted.alpha, outputs=outputs.scores, **about)
