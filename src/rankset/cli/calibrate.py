"""``rankset calibrate``: make a rule from rows with known labels."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

import rankset as rs
from rankset import conditions, progress
from rankset.cli.files import check_output, read_class_names, save_rule, split_paths
from rankset.cli.options import FILE, options
from rankset.cli.printing import print_facts, rule_facts
from rankset.engines import shards
from rankset.engines.shard_paths import pair_files
from rankset.evaluation.default_scores import DEFAULT_SCORES
from rankset.io.layout import Layout
from rankset.io.rows import Rows
from rankset.scores import Aps, Average, Margin, Rank, Raps, Saps, Thr, TopK

SCORES = {kind.__name__.lower(): kind() for kind in (Rank, TopK, Thr, Margin, Aps, Raps, Saps, Average)} | {
    type(score).__name__.lower(): score for score in DEFAULT_SCORES
}
"""Scores by name, with the parameters that ``compare`` gives them."""


@click.command(short_help="Make a rule from rows with known labels.")
@click.argument("paths", metavar="SCORES [LABELS]", nargs=-1, required=True)
@click.option("--score", type=click.Choice(list(SCORES)), help="Nonconformity score of the rule.  [default: rank]")
@click.option(
    "--set", "parameters", metavar="NAME=NUMBER", multiple=True, help="Set a parameter of the score; may be repeated."
)
@click.option("--auto", "auto_alpha", metavar="ALPHA", help="Choose and fit the score automatically, for this alpha.")
@click.option("--per-label", is_flag=True, help="Guarantee coverage for every class separately.")
@click.option("-o", "--output", type=FILE, required=True, help="Output file for the rule. It must end in .rankset.")
@options(
    *("kind", "label", "labels", "group", "identity", "drop", "classes", "key", "file_format", "header", "seed"),
    *("max_memory", "force", "json"),
)
def calibrate(
    paths: Sequence[str],
    label_files: Sequence[str],
    score: str | None,
    parameters: Sequence[str],
    auto_alpha: str | None,
    per_label: bool,
    output: Path,
    kind: Any,
    classes: Path | None,
    seed: int,
    force: bool,
    as_json: bool,
    layout: Layout,
) -> None:
    """Make a rule from model outputs (SCORES) and true labels (LABELS).

    A label is a class name or a column number. There are three ways to pass labels. Pass a second file, LABELS. Or use
    --label COLUMN if the labels are a column of SCORES. Or use --labels FILE --label COLUMN if the labels are a column
    of another file. Use --group COLUMN to guarantee coverage for every group separately.

    SCORES can also be a folder. With --label or --labels, you can also pass several files of scores. Several files are
    read by parallel processes.

    \b
    rankset calibrate val_logits.npy val_labels.npy --kind logits -o rule.rankset
    rankset calibrate val.parquet --label answer --auto 0.1 -o rule.rankset
    rankset calibrate val.csv --label answer --score raps --set penalty=0.1 -o rule.rankset
    rankset calibrate scores/*.parquet --label answer -o rule.rankset
    rankset calibrate val.npy --labels answers.csv --label answer -o rule.rankset
    """
    scores, labels = split_paths(paths, label_files, layout)
    check_output(output, ".rankset", (*paths, *label_files, classes), force=force)
    if auto_alpha is not None and (score is not None or parameters or layout.identity is not None):
        raise click.UsageError(
            "--auto chooses the score and its parameters and uses no random numbers. Remove --score, --set and --id."
        )
    chosen = _with_parameters(SCORES[score or "rank"], parameters)
    pairs = pair_files(scores, labels)
    if auto_alpha is not None and len(pairs) > 1:
        raise click.UsageError("--auto works with one file only. Join the files, or choose the score with --score.")
    condition, names = _condition(layout, per_label=per_label), read_class_names(classes, layout)
    shared: dict[str, Any] = {"kind": kind or "probs", "condition": condition, "seed": seed}
    if len(pairs) > 1:
        rule = shards.calibrate(scores, labels, layout=layout, score=chosen, classes=names, **shared)
    else:
        rows = layout.read_calibration_rows(*pairs[0], names, kind)
        rule = _calibrate_rows(rows, chosen, auto_alpha, shared)
    save_rule(rule, output, force=force)
    print_facts(rule_facts(rule), str(output), as_json=as_json)


def _with_parameters(score: rs.Score, parameters: Sequence[str]) -> rs.Score:
    """Return a score with the parameters of --set."""
    known = {field.name for field in dataclasses.fields(score)}  # type: ignore[arg-type]
    changes = {}
    for parameter in parameters:
        name, _, text = parameter.partition("=")
        try:
            changes[name] = json.loads(text)
        except ValueError:
            changes[name] = text
        if name not in known:
            given = ", ".join(sorted(known)) or "none"
            raise click.BadParameter(
                f"{score!r} has no parameter {name!r}. Its parameters are: {given}", param_hint="--set"
            )
    return dataclasses.replace(score, **changes)  # type: ignore[type-var]


def _condition(layout: Layout, *, per_label: bool) -> rs.Condition:
    """Return the condition of --per-label and --group."""
    if layout.group is None:
        return conditions.PerLabel() if per_label else conditions.Marginal()
    if per_label:
        return conditions.PerLabelAndGroup(conditions.PerGroup(), conditions.PerLabel())
    return conditions.PerGroup()


def _calibrate_rows(rows: Rows, score: rs.Score, auto_alpha: str | None, shared: Mapping[str, Any]) -> rs.Rule:
    """Calibrate on the rows of one file, with the given score or with the one that ``auto`` chooses."""
    about_rows: dict[str, Any] = {"classes": rows.classes, "groups": rows.groups, **shared}
    with rows.name_file_in_errors(), progress.track("calibrating"):
        labels = rows.labels_for(rows.classes)
        if auto_alpha is not None:
            return rs.auto(rows.scores, labels, auto_alpha, **about_rows)
        return rs.calibrate(rows.scores, labels, score=score, ids=rows.ids, **about_rows)
