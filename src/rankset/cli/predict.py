"""``rankset predict``: predict the sets of new rows."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import click

import rankset as rs
from rankset import progress
from rankset.cli.command import Command
from rankset.cli.echo import echo
from rankset.cli.files import STDOUT, check_output_or_stdout, find_usual_arrays, load_rule
from rankset.cli.options import FILE, options
from rankset.cli.parts import rows_of_part, with_kept
from rankset.cli.promises import promise_arguments, promise_in_words
from rankset.cli.spreadsheets import for_reading, style_as_read
from rankset.engines.shard_paths import expand_paths
from rankset.errors import FileError, once
from rankset.io.layout import Layout
from rankset.io.notes import Note, also_listening
from rankset.io.workbook_ids import with_ids
from rankset.io.write_sets import stream_sets, write_sets
from rankset.io.writers.base import SetsAndKept
from rankset.io.writers.csv import PLAIN, Style

OUTPUT_HELP = (
    "Output file: .csv, .jsonl, .parquet, .npz, .xlsx, .csv.gz or .jsonl.gz. Or an output folder, with / at the end; "
    "it gets one .parquet file for every file of SCORES.  [default: csv on standard output]"
)


@click.command(cls=Command)
@click.argument("rule_file", metavar="RULE", type=FILE)
@click.argument("paths", metavar="SCORES...", nargs=-1, required=True)
@click.option("-o", "--output", help=OUTPUT_HELP)
@click.option(
    "--empty",
    type=click.Choice(["allow", "top"]),
    default="allow",
    show_default=True,
    help="Leave empty sets empty (allow), or put the most likely label into them (top).",
)
@options(
    *("excel", "excel_decimal"),
    *("alpha", "confidence", "next_rows", "all_groups"),
    *("group", "identity", "weights", "keep", "drop", "options", "key", "file_format", "header", "max_memory", "force"),
)
def predict(
    rule_file: Path,
    paths: Sequence[str],
    output: str | None,
    empty: Any,
    excel: bool,
    excel_decimal: str | None,
    alpha: str,
    confidence: str | None,
    next_rows: int | None,
    all_groups: bool,
    force: bool,
    layout: Layout,
) -> None:
    """Predict the set of every row of SCORES.

    For every row, the output contains size (the number of labels), top (the most likely label) and labels; in csv and
    xlsx, | separates labels. The columns of --id and --keep come first. Spreadsheets change ids with leading zeros or
    more than 15 digits in csv: write .xlsx. An .npz file contains the arrays offsets, codes and classes instead: row i
    has the labels classes[codes[offsets[i]:offsets[i + 1]]].

    The columns of SCORES are matched to the classes of the rule by name. Other columns are ignored. SCORES can be
    several files, or a folder of files.

    \b
    rankset predict rule.rankset test_logits.npy --alpha 0.1 -o sets.parquet
    rankset predict rule.rankset test_logits.npy --alpha 0.1 --confidence 0.95 -o sets.parquet
    rankset predict rule.rankset test.csv --id patient --keep site | head
    rankset predict rule.rankset test.csv --excel -o sets.csv
    rankset predict rule.rankset new.csv --weights weight -o sets.csv
    """
    sure = promise_arguments(confidence, next_rows, all_groups=all_groups)
    to_folder = output is not None and (output.endswith("/") or Path(output).is_dir())
    if not to_folder:
        check_output_or_stdout(output, (rule_file, *map(Path, paths)), force=force)
    rule = load_rule(rule_file)
    files = expand_paths(paths)
    if not to_folder:
        check_output_or_stdout(output, files, force=True)
    if to_folder:
        if excel or excel_decimal:
            raise FileError.not_for_spreadsheets(str(output))
        from rankset.engines import shards

        written = shards.write(rule, files, str(output), alpha, layout=layout, empty=empty, force=force, **sure)
        echo(f"{output}: sets of {len(written):,} files at {promise_in_words(alpha, **sure)}", err=True)
        return
    sets = _predict_files(
        rule, files, alpha, sure, empty, for_reading(layout, files) if excel or excel_decimal else layout
    )
    bar = progress.bar(sets, "predicting", show=len(files) > 1, unit="files", total=len(files))
    with once(), closing(sets):  # if writing fails, worker processes end
        styled = excel or excel_decimal or str(output).endswith(".xlsx")
        style, parts = _excel_style(bar, layout, files[0], excel_decimal) if styled else (PLAIN, bar)
        style = with_ids(style, layout, files) if str(output).endswith(".xlsx") else style
        if output in STDOUT:
            stream_sets(sys.stdout.buffer, parts, style=style)
            return
        rows = write_sets(Path(str(output)), parts, force=force, style=style)
    echo(f"{output}: {rows:,} sets at {promise_in_words(alpha, **sure)}", err=True)


def _excel_style(
    parts: Iterable[SetsAndKept], layout: Layout, file: str, decimal: str | None
) -> tuple[Style, Iterable[SetsAndKept]]:
    """Return how files for spreadsheets are written, and all parts; the first one tells how ``file`` was read."""
    heard: list[Note] = []
    rest = iter(parts)
    with also_listening(heard.append):
        first = list(itertools.islice(rest, 1))
    return style_as_read(heard, layout, file, decimal), itertools.chain(first, rest)


def _predict_files(
    rule: rs.Rule, files: Sequence[str], alpha: str, sure: Mapping[str, Any], empty: Any, layout: Layout
) -> Any:
    """Generator of sets with kept columns: file by file if there are several, else part by part."""
    if len(files) > 1:
        from rankset.engines import shards

        return shards.predict_with_kept(rule, files, alpha, layout=layout, empty=empty, **sure)
    return _predict_one_file(rule.at(alpha, **sure), files[0], empty, layout)


def _predict_one_file(rule: rs.LevelRule, path: str, empty: Any, layout: Layout) -> Iterator[SetsAndKept]:
    """Yield the sets of some rows of a file at a time, with the kept columns of these rows."""
    layout, _ = find_usual_arrays(path, path, layout, rule.kind)
    rows = layout.read_rows(path, classes=rule.classes.tolist(), kind=rule.kind).with_groups_of(rule.groups.tolist())
    step = rows_of_part(rows)
    count = -(-len(rows.scores) // step)
    with rows.name_file_in_errors():
        sets = rule.predict_parts(
            rows.scores, groups=rows.groups, ids=rows.ids, weights=rows.weights, empty=empty, rows=step
        )
        yield from with_kept(progress.bar(sets, "predicting", show=count > 1, unit="parts", total=count), rows)
