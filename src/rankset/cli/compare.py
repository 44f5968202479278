"""``rankset compare``: compare all scores on the same random splits of the rows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

import rankset as rs
from rankset import progress
from rankset.cli.command import Command
from rankset.cli.comparison_file import (
    PICTURES,
    check_comparison_output,
    check_conditions,
    metrics_of,
    write_comparison,
)
from rankset.cli.conditions import condition_of, conditions_of
from rankset.cli.echo import echo
from rankset.cli.files import find_usual_arrays, read_class_names, split_paths
from rankset.cli.options import DEFAULT_ALPHA, FILE, options
from rankset.cli.printing import json_values
from rankset.cli.targets import target_of
from rankset.engines.shard_paths import pair_files
from rankset.errors import FileError
from rankset.evaluation.default_scores import default_scores
from rankset.evaluation.metrics import METRICS
from rankset.io.dialect import DECIMALS
from rankset.io.layout import Layout
from rankset.io.notes import Note, also_listening, decimal_of_scores
from rankset.io.rows import Rows
from rankset.io.writers.csv import PLAIN, excel_style
from rankset.scores import AUTO, NAMED_SCORES
from rankset.targets.base import has_several_labels
from rankset.targets.cost import costs_like


@click.command(cls=Command)
@click.argument("paths", metavar="SCORES [LABELS]", nargs=-1, required=True)
@click.option("--repeats", type=click.IntRange(1), default=20, show_default=True, help="Number of random splits.")
@click.option(
    "--score",
    "--method",
    "methods",
    type=click.Choice([*NAMED_SCORES, AUTO], case_sensitive=False),
    multiple=True,
    help="Score to compare, or auto; may be repeated.  [default: rank thr aps raps saps auto; with --target or "
    "--cost rank thr auto, and with --kind marginals also share]",
)
@click.option("--no-auto", is_flag=True, help="Leave out auto, which is fitted again in each split and takes longest.")
@click.option("--per-label", is_flag=True, help="A threshold for every class, as with rankset calibrate --per-label.")
@click.option(
    "--conditions",
    is_flag=True,
    help="Compare conditions, too: one threshold for all rows, a threshold for every class, and the same with "
    "--pooled; with --group also a threshold for every group.",
)
@click.option(
    "--metric",
    "metrics",
    type=click.Choice(list(METRICS)),
    multiple=True,
    help="Metric to show besides coverage and size; may be repeated.  [default: all]",
)
@click.option(
    "-o", "--output", type=FILE, help="Also write the table: .csv, .xlsx, .tex, or a picture (.png, .svg, .pdf)."
)
@click.option(
    "--excel",
    is_flag=True,
    help="Write the csv for spreadsheets. If SCORES have decimal commas, it has them too, with the separator ;",
)
@click.option(
    "--excel-decimal",
    type=click.Choice(DECIMALS),
    help="Like --excel, with this decimal mark whatever SCORES have; a comma also makes the separator ;",
)
@options(
    *(
        "pooled",
        "kind",
        "alphas",
        "target",
        "cost",
        "other_cost",
        "label",
        "label_sep",
        "absent",
        "labels",
        "group",
        "identity",
        "drop",
        "options",
        "classes",
        "key",
        "file_format",
        "header",
    ),
    *("seed", "max_memory", "force", "json"),
)
def compare(
    paths: Sequence[str],
    label_files: Sequence[str],
    repeats: int,
    methods: Sequence[str],
    no_auto: bool,
    per_label: bool,
    pooled: bool,
    conditions: bool,
    metrics: Sequence[str],
    output: Path | None,
    excel: bool,
    excel_decimal: str | None,
    kind: Any,
    alphas: Sequence[str],
    target: str | None,
    costs: Sequence[str],
    other_cost: str | None,
    classes: Path | None,
    seed: int,
    force: bool,
    as_json: bool,
    layout: Layout,
) -> None:
    """Compare all scores on the same random splits of the rows. Print the metrics with standard errors.

    In each split, one half of the rows is used for calibration and the other half for testing. SCORES are the model
    outputs and LABELS the true labels. Pass labels in the same way as to rankset calibrate. The line auto shows
    rankset calibrate --auto: in each split, it fits and chooses a score on some rows of the calibration half. Use
    --group COLUMN or --per-label for a threshold per group or class, and --pooled if these have few rows. With
    --conditions, all of these are compared: a line for each condition and score. A picture (-o) then shows the mean
    size and how unevenly classes are covered.

    With --target or --cost, the mean loss of the test rows (risk) is shown instead of coverage. It is what the target
    promises to be at most alpha on average. With --target, rows can have several labels, as in rankset calibrate.

    \b
    rankset compare val_logits.npy val_labels.npy --kind logits --alpha 0.1
    rankset compare val.csv --label answer --group site --alpha 0.05 --alpha 0.1 -o table.csv
    rankset compare val.csv --label answer --score rank --score auto --metric SSCV -o scores.png
    rankset compare val.csv --label tags --kind marginals --target recall --alpha 0.1
    rankset compare val.csv --label answer --cost malignant=10 --other-cost 1
    rankset compare val.csv --label answer --score thr --conditions -o conditions.png
    """
    wanted = target_of(target, costs, other_cost)
    _check_metrics(metrics, wanted)
    if conditions:
        check_conditions(alphas, wanted, output, per_label=per_label, pooled=pooled)
    layout = replace(layout, several=has_several_labels(wanted))
    pairs = pair_files(*split_paths(paths, label_files, layout))
    if len(pairs) > 1:
        raise click.UsageError(
            f"compare works with one file only, got {len(pairs)} files. Join the files, or pass one of them."
        )
    layout, kind = find_usual_arrays(*pairs[0], layout, kind)
    scores = _candidates(methods, kind, wanted, no_auto=no_auto)
    if output is not None:
        check_comparison_output(output, (*paths, *label_files, classes), force=force)
    excel = excel or excel_decimal is not None
    if excel and (output is None or output.suffix.lower() not in (".csv", ".xlsx")):
        raise FileError.not_for_spreadsheets(str(output or "-"))
    heard: list[Note] = []
    with also_listening(heard.append):
        rows = layout.read_calibration_rows(*pairs[0], read_class_names(classes, layout), kind)
    levels = tuple(alphas) or (DEFAULT_ALPHA,)
    condition = conditions_of(layout) if conditions else condition_of(layout, per_label=per_label, pooled=pooled)
    asked = {"alpha": levels[0] if conditions else levels, "condition": condition, "kind": kind or "probs"}
    measured = metrics_of(metrics, output, conditions=conditions)
    shared = {"scores": scores, "metrics": measured, "repeats": repeats, "seed": seed, "target": wanted}
    results = _compare_rows(rows, asked | shared)
    if output is not None:
        style = excel_style(excel_decimal or layout.decimal or decimal_of_scores(heard)) if excel else PLAIN
        write_comparison(results, output, metrics=metrics, style=style, force=force)
        echo(f"{output}: {'picture' if output.suffix.lower() in PICTURES else 'table'} of the comparison", err=True)
    echo(json.dumps(_facts(results, levels)) if as_json else repr(results))


def _compare_rows(rows: Rows, options: Mapping[str, Any]) -> Any:
    """Compare on the rows of a file: several alphas, or several conditions."""
    target = costs_like(options["target"], rows.columns)
    about_rows: dict[str, Any] = {"groups": rows.groups, "classes": rows.classes, "ids": rows.ids, "target": target}
    with rows.name_file_in_errors(), progress.track("comparing"):
        return rs.compare(rows.scores, rows.labels_for(rows.classes), **{**options, **about_rows})


def _facts(results: rs.Comparisons | rs.ConditionComparison, levels: Sequence[str]) -> dict[str, Any]:
    """Return the facts of every alpha, or of every condition, as it is written in Python."""
    if isinstance(results, rs.ConditionComparison):
        return {repr(one.condition): json_values(_json_facts(one)) for one in results}
    return {alpha: json_values(_json_facts(results[alpha])) for alpha in levels}


def _check_metrics(metrics: Sequence[str], target: rs.Target) -> None:
    """Refuse --metric together with a target: what is measured is then fixed."""
    if metrics and target != rs.OneLabel():
        raise click.UsageError(
            f"--metric works only for one label per row without costs, got {target!r}. Remove --metric."
        )


def _candidates(methods: Sequence[str], kind: Any, target: rs.Target, *, no_auto: bool) -> list[rs.Score | str]:
    """Return the scores of --method, or the default ones for the target and auto."""
    candidates: list[rs.Score | str] = list(methods) or [*default_scores(kind, target), AUTO]
    scores = [one for one in candidates if not (no_auto and one == AUTO)]
    if all(one == AUTO for one in scores):
        raise click.UsageError("compare needs at least one score besides auto. Pass --score rank, for example.")
    return scores


def _json_facts(result: rs.Comparison) -> dict[str, Any]:
    """Every line of the table by its text: all metrics, the short name, and whether its sets are the smallest."""
    near = [repr(score) for score in result.tied_with_smallest]
    return {
        line.text: {
            **{
                measure: {"mean": mean, "error": error, "spread": spread}
                for measure, mean, error, spread in zip(
                    result.measures, line.means.tolist(), line.errors.tolist(), line.spread.tolist(), strict=True
                )
            },
            "name": line.name,
            "smallest": line.text == repr(result.smallest),
            "tied_with_smallest": line.text in near,
        }
        for line in result.lines
    }
