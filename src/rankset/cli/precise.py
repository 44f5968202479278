"""``rankset precise``: predict sets with few false labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

import rankset as rs
from rankset import progress
from rankset.cli.command import Command
from rankset.cli.echo import echo
from rankset.cli.files import check_output_or_stdout
from rankset.cli.new_rows import new_rows_options, read_labelled_rows, read_new_rows, write_new_rows
from rankset.cli.options import options
from rankset.cli.parts import rows_of_part, with_kept
from rankset.io.layout import Layout
from rankset.io.rows import Rows
from rankset.io.writers.base import SetsAndKept
from rankset.scores import NAMED_SCORES


@click.command(cls=Command)
@click.argument("paths", metavar="SCORES [LABELS]", nargs=-1, required=True)
@click.option(
    "--error", metavar="NUMBER", required=True, help="Largest expected share of false labels in a set, such as 0.2."
)
@click.option(
    "--confidence",
    metavar="NUMBER",
    default="0.9",
    show_default=True,
    help="Probability, over the rows of SCORES, that the promise holds.",
)
@click.option(
    "--method",
    "--score",
    "method",
    type=click.Choice(list(NAMED_SCORES), case_sensitive=False),
    default="thr",
    show_default=True,
    help="Score by which labels are ordered.",
)
@new_rows_options(".csv, .jsonl, .parquet, .npz, .xlsx, .csv.gz or .jsonl.gz")
@options(
    *("kind_of_labels", "label", "label_sep", "labels", "identity", "keep", "drop", "options", "classes", "key"),
    *("file_format", "header", "seed", "max_memory", "force"),
)
def precise(
    paths: Sequence[str],
    label_files: Sequence[str],
    new_file: str,
    error: str,
    confidence: str,
    method: str,
    output: str | None,
    kind: Any,
    classes: Path | None,
    seed: int,
    force: bool,
    layout: Layout,
) -> None:
    """Predict sets with few false labels, for rows that can have several labels.

    SCORES are model outputs and LABELS the true labels, in the forms that rankset calibrate --target takes. They are
    used to find a threshold. With probability --confidence, the expected share of false labels in the set of a new row
    is at most --error. An empty set has no false labels. The sets of the rows of --new are written as rankset predict
    writes them.

    The threshold holds for one --error and one --confidence. So it is not stored in a rule, which answers every alpha.

    \b
    rankset precise val.csv --label tags --new new.csv --error 0.2 --confidence 0.9 -o sets.csv
    rankset precise val.npy labels.npy --new new.npy --error 0.1 -o sets.parquet
    """
    check_output_or_stdout(output, (*paths, *label_files, classes, new_file), force=force)
    rows, kind = read_labelled_rows(paths, label_files, layout, kind, classes)
    with rows.name_file_in_errors(), progress.track("testing thresholds"):
        labels = rows.labels_for(rows.classes)
        about = {"classes": rows.classes, "ids": rows.ids, "method": method, "kind": kind, "seed": seed}
        rule = rs.precise(rows.scores, labels, error=error, confidence=confidence, **about)
    new = read_new_rows(new_file, layout, rule.spec)
    write_new_rows(output, new, _parts(rule, new), force=force)
    echo(f"{output or '-'}: {len(new.scores):,} sets, {rule!r}", err=True)


def _parts(rule: rs.PreciseRule, rows: Rows) -> Iterator[SetsAndKept]:
    """Return an iterator over the sets of some rows at a time, with the kept columns of these rows."""
    if rule.at is None:
        return with_kept([rule.predict(rows.scores, ids=rows.ids)], rows)
    return with_kept(rule.at.predict_parts(rows.scores, ids=rows.ids, rows=rows_of_part(rows)), rows)
