"""``rankset watch``: sets for rows that keep coming, a level that follows their labels, and alarms."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

import rankset as rs
from rankset.cli.command import Command
from rankset.cli.files import check_output, check_output_or_stdout
from rankset.cli.options import FILE, options
from rankset.cli.watch_printing import history_columns, print_summary, warn_of_ignored
from rankset.cli.watch_run import Watch, Ways
from rankset.cli.watch_settings import Wanted, rule_and_rows, stream_of, stream_options
from rankset.cli.watch_sources import check_sources, items_of
from rankset.io.layout import Layout
from rankset.io.write_sets import check_suffix, write_columns
from rankset.reports.write import check_report

ALARM = 3
"""Exit code if an alarm is raised."""


@click.command(cls=Command)
@click.argument("paths", metavar="[RULE] [ROWS...]", nargs=-1)
@click.option(
    "--state",
    type=FILE,
    help="File that keeps the stream; it must end in .rankset. If it exists, the stream goes on from there.",
)
@click.option(
    "--save-every",
    metavar="N",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    help="Write the state file after every N events, besides at the end. 1: after every event, before its answer is "
    "given out.",
)
@click.option("--restart", is_flag=True, help="Start a new stream from RULE, which replaces the state file.")
@click.option("--restart-alarms", is_flag=True, help="Start all alarms anew before the first event.")
@click.option(
    "--skip-invalid", is_flag=True, help="Leave out and count invalid lines and rows. By default one stops the command."
)
@click.option("--alarm-line", is_flag=True, help="When an alarm is raised, write a line among the answers, too.")
@click.option("--exit-zero", is_flag=True, help=f"Exit with code 0, not {ALARM}, if an alarm is raised.")
@click.option(
    "--history",
    metavar="FILE",
    type=FILE,
    help="Write numbers over time in the end: .csv, .jsonl, .parquet, .npz, .xlsx, .csv.gz or .jsonl.gz.",
)
@click.option(
    "--report",
    metavar="FILE",
    type=FILE,
    help="Write an HTML page in the end: misses, sizes, level and alarms over time.",
)
@click.option("--quiet", is_flag=True, help="Do not print a summary in the end. Alarms and warnings are printed.")
@click.option(
    "--late",
    metavar="N",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="For tables: learn the label of a row only when N more rows have been predicted.",
)
@options(
    *("label", "labels", "group", "identity", "drop", "key", "file_format", "header", "max_memory", "force"),
    *("alpha", "seed"),
)
@stream_options
def watch(
    paths: tuple[str, ...],
    state: Path | None,
    save_every: int,
    restart: bool,
    restart_alarms: bool,
    skip_invalid: bool,
    alarm_line: bool,
    exit_zero: bool,
    history: Path | None,
    report: Path | None,
    quiet: bool,
    late: int,
    label_files: tuple[str, ...],
    force: bool,
    alpha: str,
    seed: int,
    window: int | None,
    level: str,
    step: float | None,
    delta: float,
    tolerance: float,
    waiting: int,
    start_outputs: str | None,
    layout: Layout,
) -> None:
    """Predict sets for rows that keep coming, learn from labels that come later, and raise alarms if rows change.

    RULE starts a new stream, and --state keeps it: pass the state file without RULE to go on. ROWS are files of events,
    by default standard input. An event is a line of JSON: a row, with its scores as one field per class or as one list
    or object; a label, with the id of its row; or both. A row is predicted before its label is learned.

    \b
    {"id": "a1", "cat": 0.7, "dog": 0.2, "bird": 0.1}
    {"id": "a2", "scores": [0.1, 0.3, 0.6], "label": "bird"}
    {"id": "a1", "label": "cat"}

    Every row is answered by a line of JSON on standard output, at the latest when no other line is waiting: its id,
    its set (most likely label first), the size of the set, and the level, the alpha at which it was predicted. Rows
    without id are numbered from 0. Labels can come late, in any order, or never. Labels of unknown rows, and of
    rows that have one already, are counted and ignored. --id, --label and --group name other fields.

    ROWS can also be tables, such as csv files: --label names their column of labels, and they are taken row by row. A
    row without a label only gets its set.

    The state file is written at the end, after every --save-every events, and if the command is stopped by Ctrl-C or
    SIGTERM, after the current line. If an invalid line stops the command, everything before it is saved. A
    crash loses what came after the last save, and nothing else; the file is always complete.

    An alarm is one line on standard error. The exit code is 3 if an alarm is raised in the end.

    \b
    rankset watch rule.rankset --alpha 0.1 --state stream.rankset < events.jsonl > answers.jsonl
    rankset watch --state stream.rankset < more.jsonl
    tail -f log.jsonl | rankset watch --state stream.rankset --save-every 1
    rankset watch rule.rankset rows.csv --alpha 0.1 --label answer --id case
    """
    rule, rows = rule_and_rows(paths, state, restart=restart)
    check_output_or_stdout(None, (), force=force)
    pairs = check_sources(rows, label_files, layout)
    _check_written(history, report, (rule, state, start_outputs, *rows, *label_files), force=force)
    wanted = Wanted(alpha, window, level, step, delta, tolerance, waiting, seed, start_outputs)
    stream = stream_of(rule, state, wanted, layout, rows)
    if restart_alarms:
        stream.restart_alarms()
    watched = Watch(stream, Ways(state, save_every, alarm_line, skip_invalid), sys.stdout.buffer)
    watched.run(items_of(pairs, layout, watched, late), first=rule is not None or restart_alarms)
    if history is not None:
        write_columns(history, history_columns(stream), {}, force=force)
    if report is not None:
        rs.report_stream(stream, report)
    warn_of_ignored(watched)
    if not quiet:
        print_summary(watched, str(state or rule))
    code = watched.stop.exit_code or (ALARM if stream.alarms and not exit_zero else 0)
    click.get_current_context().exit(code)


def _check_written(history: Path | None, report: Path | None, inputs: Sequence[object], *, force: bool) -> None:
    """Check the files that are written in the end, before any work is done."""
    if history is not None:
        check_output(history, None, inputs, force=force)
        check_suffix(history)
    if report is not None:
        check_output(report, ".html", (*inputs, history), force=force)
        check_report(report)
