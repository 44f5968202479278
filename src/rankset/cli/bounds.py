"""``rankset bounds``: predict which labels are certain and which are possible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

import rankset as rs
from rankset import progress
from rankset.cli.command import Command
from rankset.cli.conditions import condition_of
from rankset.cli.echo import echo
from rankset.cli.files import STDOUT, check_output_or_stdout
from rankset.cli.new_rows import new_rows_options, read_labelled_rows, read_new_rows, write_new_rows
from rankset.cli.options import options
from rankset.cli.parts import rows_of_part, with_kept
from rankset.cli.promises import promise_arguments, promise_in_words
from rankset.errors import FileError
from rankset.io.layout import Layout
from rankset.io.rows import Rows
from rankset.io.sets_table import sets_table
from rankset.io.writers.base import SetsAndKept
from rankset.io.writers.csv import SEPARATOR
from rankset.rules.level_rule import LevelRule
from rankset.scores import NAMED_SCORES

CERTAIN = "certain"
"""The column of certain labels; the columns of sets are about possible labels."""
WITH_LISTS = (".jsonl", ".jsonl.gz", ".parquet")
OUTPUTS = (".csv", ".csv.gz", ".xlsx", *WITH_LISTS)


@click.command(cls=Command)
@click.argument("paths", metavar="SCORES [LABELS]", nargs=-1, required=True)
@click.option(
    "--method",
    "--score",
    "method",
    type=click.Choice(list(NAMED_SCORES), case_sensitive=False),
    default="thr",
    show_default=True,
    help="Nonconformity score of both bounds.",
)
@click.option("--per-label", is_flag=True, help="A threshold for every class, as with rankset calibrate --per-label.")
@new_rows_options(".csv, .jsonl, .parquet, .xlsx, .csv.gz or .jsonl.gz")
@options(
    *("alpha", "confidence", "kind_of_labels", "label", "label_sep", "labels", "group", "identity", "keep", "drop"),
    *("options", "classes", "key", "file_format", "header", "seed", "max_memory", "force"),
)
def bounds(
    paths: Sequence[str],
    label_files: Sequence[str],
    new_file: str,
    method: str,
    per_label: bool,
    output: str | None,
    alpha: str,
    confidence: str | None,
    kind: Any,
    classes: Path | None,
    seed: int,
    force: bool,
    layout: Layout,
) -> None:
    """Predict which labels are certain and which are possible, for rows that can have several labels.

    SCORES are model outputs and LABELS the true labels, in the forms that rankset calibrate --target takes. They
    calibrate two rules. For a new row, all certain labels are true and all true labels are possible, both together with
    probability at least 1 - alpha. Half of alpha goes to each bound.

    The output has the column certain, and the columns of rankset predict about the possible labels: size, top and
    labels. In csv and xlsx, | separates labels.

    \b
    rankset bounds val.csv --label tags --new new.csv --alpha 0.2 -o bounds.csv
    rankset bounds val.npy labels.npy --new new.npy --alpha 0.2 --confidence 0.95 -o bounds.parquet
    """
    sure = promise_arguments(confidence, None, all_groups=False)
    _check_suffix(output)
    check_output_or_stdout(output, (*paths, *label_files, classes, new_file), force=force)
    if CERTAIN in layout.kept_columns:
        raise FileError.taken(CERTAIN)
    rows, kind = read_labelled_rows(paths, label_files, layout, kind, classes)
    with rows.name_file_in_errors(), progress.track("calibrating"):
        both = rs.bounds(
            rows.scores,
            rows.labels_for(rows.classes),
            method=method,
            condition=condition_of(layout, per_label=per_label),
            kind=kind,
            classes=rows.classes,
            groups=rows.groups,
            ids=rows.ids,
            seed=seed,
        )
    new = read_new_rows(new_file, layout, both.possible.spec)
    parts = _parts(both.at(alpha, confidence=confidence), new, as_lists=str(output).endswith(WITH_LISTS))
    write_new_rows(output, new, parts, force=force)
    echo(f"{output or '-'}: bounds of {len(new.scores):,} rows at {promise_in_words(alpha, **sure)}", err=True)


def _check_suffix(output: str | None) -> None:
    """Refuse output files that cannot hold a second list of labels."""
    if output not in STDOUT and not str(output).endswith(OUTPUTS):
        raise FileError.suffix(str(output), ", ".join(OUTPUTS[:-1]) + f" or {OUTPUTS[-1]}")


def _parts(both: tuple[LevelRule, LevelRule], rows: Rows, *, as_lists: bool) -> Iterator[SetsAndKept]:
    """Yield the possible labels of some rows at a time, with the kept columns and the certain labels of these rows."""
    about: dict[str, Any] = {"groups": rows.groups, "ids": rows.ids, "rows": rows_of_part(rows)}
    certain, possible = (one.predict_parts(rows.scores, **about) for one in both)
    for sure, (sets, kept) in zip(certain, with_kept(possible, rows), strict=True):
        yield sets, {**kept, CERTAIN: _column(sure, as_lists=as_lists)}


def _column(sets: rs.PredictionSets, *, as_lists: bool) -> Any:
    """Return labels as a column of lists, or of texts with | between names."""
    if as_lists:
        return sets_table(sets).column("labels")
    return np.array([SEPARATOR.join(map(str, labels)) for labels in sets.to_lists()], dtype=object)
