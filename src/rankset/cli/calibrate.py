"""``rankset calibrate``: make a rule from rows with known labels."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

import rankset as rs
from rankset import progress
from rankset.cli.command import Command
from rankset.cli.conditions import condition_of
from rankset.cli.files import (
    check_output,
    find_usual_arrays,
    note_class_names,
    read_class_names,
    save_rule,
    split_paths,
)
from rankset.cli.label_shift import label_shift_of
from rankset.cli.options import DEFAULT_ALPHA, FILE, not_a_confidence, options
from rankset.cli.printing import print_facts, rule_facts
from rankset.cli.targets import target_of
from rankset.cli.training import training_of
from rankset.engines import shards
from rankset.engines.shard_paths import pair_files
from rankset.evaluation.default_scores import default_score
from rankset.io.layout import Layout
from rankset.io.rows import Rows
from rankset.scores import AUTO, NAMED_SCORES
from rankset.targets.base import has_several_labels
from rankset.targets.cost import costs_like


@click.command(cls=Command)
@click.argument("paths", metavar="SCORES [LABELS]", nargs=-1, required=True)
@click.option(
    "--method",
    "--score",
    "method",
    type=click.Choice([*NAMED_SCORES, AUTO], case_sensitive=False),
    help="Nonconformity score of the rule. With auto, the score is fitted and chosen for --alpha.  [default: rank; "
    "with --kind marginals, share for --target recall and thr for other targets]",
)
@click.option(
    "--set", "parameters", metavar="NAME=NUMBER", multiple=True, help="Set a parameter of the score; may be repeated."
)
@click.option(
    "--temperature",
    type=float,
    help="Apply the score after temperature scaling with this temperature.  [default: 1]",
)
@click.option(
    "--tie-break",
    is_flag=True,
    help="Settle ties between rows by a random draw. Pass --id to calibrate and predict: else equal rows stay tied.",
)
@click.option(
    "--auto",
    "auto_alpha",
    metavar="ALPHA",
    callback=not_a_confidence,
    help="Short for --method auto --alpha ALPHA.",
)
@click.option(
    "--alpha",
    callback=not_a_confidence,
    help="Only with --method auto: alpha for which sets should be small.  [default: 0.1]",
)
@click.option("--per-label", is_flag=True, help="Guarantee coverage for every class separately.")
@click.option("-o", "--output", type=FILE, required=True, help="Output file for the rule. It must end in .rankset.")
@options(
    *("pooled", "training_counts", "balanced", "adjusted", "label_shift"),
    *(
        "kind",
        "target",
        "cost",
        "other_cost",
        "label",
        "label_sep",
        "absent",
        "labels",
        "group",
        "identity",
        "weights",
        "drop",
        "options",
        "classes",
        "key",
        "file_format",
        "header",
        "seed",
    ),
    *("max_memory", "force", "json"),
)
def calibrate(
    paths: Sequence[str],
    label_files: Sequence[str],
    method: str | None,
    parameters: Sequence[str],
    temperature: float | None,
    tie_break: bool,
    alpha: str | None,
    auto_alpha: str | None,
    per_label: bool,
    pooled: bool,
    training_counts: Path | None,
    balanced: bool,
    adjusted: bool,
    label_shift: Path | None,
    output: Path,
    kind: Any,
    target: str | None,
    costs: Sequence[str],
    other_cost: str | None,
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

    With --target, rows can have several labels: lists in a column, names with ; between them in a cell, or a file
    LABELS of 0 and 1 with one column for every class. An empty cell is a row without labels.

    If classes have few rows, --per-label keeps nearly every label: use --pooled. If some classes are rare and matter as
    much as others, use --balanced or --adjusted with --training-counts.

    If new rows are distributed otherwise than these, use --weights COLUMN here and in rankset predict. If only the
    shares of the classes are others, use --label-shift FILE.

    SCORES can also be a folder. With --label or --labels, you can also pass several files of scores. Several files are
    read by parallel processes.

    \b
    rankset calibrate val_logits.npy val_labels.npy --kind logits -o rule.rankset
    rankset calibrate val.parquet --label answer --method auto --alpha 0.1 -o rule.rankset
    rankset calibrate val.csv --label answer --method raps --set penalty=0.1 -o rule.rankset
    rankset calibrate val.csv --label answer --method aps --temperature 1.5 -o rule.rankset
    rankset calibrate val.csv --label answer --tie-break --id case -o rule.rankset
    rankset calibrate scores/*.parquet --label answer -o rule.rankset
    rankset calibrate val.npy --labels answers.csv --label answer -o rule.rankset
    rankset calibrate val.csv --label tags --kind marginals --target recall -o rule.rankset
    rankset calibrate val.csv --label answer --cost malignant=10 --other-cost 1 -o rule.rankset
    rankset calibrate val.csv --label answer --pooled -o rule.rankset
    rankset calibrate val.csv --label answer --adjusted --training-counts train.csv -o rule.rankset
    rankset calibrate val.csv --label answer --weights weight -o rule.rankset
    rankset calibrate val.csv --label answer --label-shift factors.csv -o rule.rankset
    """
    scores, labels = split_paths(paths, label_files, layout)
    check_output(output, ".rankset", (*paths, *label_files, classes, training_counts, label_shift), force=force)
    level, wanted = level_of_auto(method, alpha, auto_alpha), target_of(target, costs, other_cost)
    score = AUTO if level is not None else default_score(kind, wanted) if method is None else NAMED_SCORES[method]
    chosen = _with_options(score, parameters, temperature, tie_break=tie_break)
    flags = {"balanced": balanced, "adjusted": adjusted, "pooled": pooled, "per_label": per_label}
    training = training_of(training_counts, layout, chosen, **flags)
    shift = label_shift_of(label_shift, layout, **flags)
    layout = replace(layout, several=has_several_labels(wanted))
    pairs = pair_files(scores, labels)
    if level is not None and len(pairs) > 1:
        raise click.UsageError("--method auto works with one file only. Join the files, or choose another --method.")
    names = read_class_names(classes, layout)
    training.check_names(names, len(pairs))
    shift.check_names(names, len(pairs))
    if len(pairs) == 1:
        layout, kind = find_usual_arrays(*pairs[0], layout, kind)
        note_class_names(pairs[0][0], classes)
    shared: dict[str, Any] = {
        "method": chosen,
        "kind": kind or "probs",
        "condition": condition_of(layout, per_label=per_label, pooled=pooled),
        "seed": seed,
        "target": wanted,
    }
    if len(pairs) > 1:
        shared = shift.applied(training.applied(shared, names or ()), names or ())
        rule = shards.calibrate(scores, labels, layout=layout, classes=names, **shared)
    else:
        rows = layout.read_calibration_rows(*pairs[0], names, kind)
        shared = shift.applied(training.applied(shared, rows.columns), rows.columns)
        rule = _calibrate_rows(rows, shared | {"alpha": level})
    save_rule(rule, output, force=force)
    print_facts(rule_facts(rule), str(output), as_json=as_json)


def level_of_auto(method: str | None, alpha: str | None, auto_alpha: str | None = None) -> str | None:
    """Return the alpha for which the score is chosen; None if the score is given."""
    if auto_alpha is not None:
        if method not in {None, AUTO} or alpha is not None:
            raise click.UsageError("--auto ALPHA is short for --method auto --alpha ALPHA. Remove --auto.")
        return auto_alpha
    if method == AUTO:
        return alpha or DEFAULT_ALPHA
    if alpha is not None:
        raise click.UsageError(
            "--alpha works only with --method auto. A rule answers every alpha: use rankset predict --alpha."
        )
    return None


def _with_options(
    method: rs.Score | str, parameters: Sequence[str], temperature: float | None, *, tie_break: bool
) -> rs.Score | str:
    """Return a score with --set, --temperature and, around both, --tie-break; "auto" stays as it is."""
    if isinstance(method, str):
        if parameters or temperature is not None or tie_break:
            raise click.UsageError(
                "--method auto chooses the score and its parameters. Remove --set, --temperature and --tie-break."
            )
        return AUTO
    score = _with_parameters(method, parameters)
    tempered = score if temperature is None else rs.Tempered(score, temperature)
    return rs.TieBreak(tempered) if tie_break else tempered


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


def _calibrate_rows(rows: Rows, shared: Mapping[str, Any]) -> rs.Rule:
    """Calibrate on the rows of one file; where the score is chosen, nothing is random and ids are not used."""
    ids = None if shared["method"] == AUTO else rows.ids
    about_rows: dict[str, Any] = {"classes": rows.classes, "groups": rows.groups, "ids": ids, "weights": rows.weights}
    target = costs_like(shared["target"], rows.columns)
    with rows.name_file_in_errors(), progress.track("calibrating"):
        return rs.calibrate(rows.scores, rows.labels_for(rows.classes), **about_rows, **{**shared, "target": target})
