"""``rankset report``: one page about every score."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

import rankset as rs
from rankset import level, outputs
from rankset.cli.reading import FILE, class_names, options, read


@click.command()
@click.argument("cal_scores", metavar="SCORES")
@click.argument("cal_labels", metavar="LABELS")
@click.argument("test_scores", metavar="TEST_SCORES")
@click.argument("test_labels", metavar="TEST_LABELS")
@click.option("-o", "--output", type=FILE, required=True, help="The page, an .html file.")
@click.option("--title", default="Prediction sets", show_default=True, help="What stands above the page.")
@options("kind", "alpha", "classes", "key", "format", "force")
def report(
    cal_scores: str,
    cal_labels: str,
    test_scores: str,
    test_labels: str,
    output: Path,
    title: str,
    kind: Any,
    alphas: Sequence[str],
    classes: Path | None,
    key: str | None,
    form: str | None,
    force: bool,  # noqa: FBT001
) -> None:
    """One page about every score, to be opened in a browser and sent to a colleague; it asks nothing of the network.

    \b
    rankset report val_logits.npy val_labels.npy test_logits.npy test_labels.npy --kind logits -o report.html
    """
    alpha = alphas[-1] if alphas else "0.1"
    level.exact(alpha)
    known, new = (read(*pair, key=key, form=form) for pair in ((cal_scores, cal_labels), (test_scores, test_labels)))
    names = class_names(classes, known.names, known.labels)
    if new.names is not None and known.names is not None and set(new.names) == set(known.names):
        new = dataclasses.replace(new, scores=new.scores[:, [new.names.index(name) for name in known.names]])
    study = rs.report.studied(known.scores, known.labels, new.scores, new.labels, kind=kind, classes=names, alpha=alpha)
    with outputs.draft(output, force=force) as file:
        file.write(rs.report.page(study, title).encode())
    click.echo(f"{output}: {len(new.scores):,} rows, {len(study.data['scores'])} scores", err=True)
