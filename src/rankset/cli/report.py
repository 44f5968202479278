"""``rankset report``: write an HTML page with the results of rules or scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

import rankset as rs
from rankset.cli.command import Command
from rankset.cli.echo import echo
from rankset.cli.files import check_output, find_usual_arrays, read_class_names
from rankset.cli.options import FILE, options
from rankset.cli.targets import target_refused
from rankset.core.alpha import exact_alpha
from rankset.evaluation.default_scores import default_scores
from rankset.io import atomic
from rankset.io.layout import Layout
from rankset.io.rows import Rows

Pair = tuple[str, str | None]
"""A file of scores, and its file of labels (None if labels are a column)."""


@click.command(cls=Command)
@click.argument("paths", metavar="FILES...", nargs=-1, required=True)
@click.option("-o", "--output", type=FILE, required=True, help="Output file for the page. It must end in .html.")
@target_refused
@click.option("--title", default="Prediction sets", show_default=True, help="Title of the page.")
@options(
    *(
        "kind",
        "alpha",
        "label",
        "absent",
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
    *("max_memory", "force"),
)
def report(
    paths: Sequence[str],
    output: Path,
    title: str,
    kind: Any,
    alpha: str,
    classes: Path | None,
    seed: int,
    force: bool,
    layout: Layout,
) -> None:
    """Write an HTML page with results. The page works without a network connection.

    There are two ways to use this command. To test rules, pass the rule files, then a file of model outputs and a file
    of labels. To compare all scores, pass outputs and labels for calibration, then outputs and labels for testing. With
    --label COLUMN, the labels are a column of each file of outputs, and no files of labels are passed. With --id
    COLUMN, the list of the most ambiguous rows shows the ids of the rows. With rules and --group COLUMN, the page shows
    coverage for every group.

    \b
    rankset report rule.rankset test_logits.npy test_labels.npy -o report.html
    rankset report val_logits.npy val_labels.npy test_logits.npy test_labels.npy --kind logits -o report.html
    rankset report val.parquet test.parquet --label answer --id case -o report.html
    """
    exact_alpha(alpha)
    check_output(output, ".html", paths, force=force)
    data = next((path for path in paths if not path.endswith(".rankset")), "")
    layout, kind_found = find_usual_arrays(data, None, layout, kind)
    rule_files, pairs = _split_files(paths, layout)
    if rule_files:
        if kind is not None or classes is not None:
            raise click.UsageError(
                "--kind and --classes are stored in the rule. Do not pass them together with a rule."
            )
        rules = [rs.load(path) for path in rule_files]
        layout = replace(layout, several=all(rule.spec.several_labels for rule in rules))
    else:
        _check_calibration(pairs, layout)
        kind = kind_found
        rows = layout.read_calibration_rows(*pairs[0], read_class_names(classes, layout), kind)
        rules = _calibrate_all_scores(rows, kind, seed)
    names, groups = rules[0].classes.tolist(), dict.fromkeys(one for rule in rules for one in rule.groups.tolist())
    new = layout.read_rows(*pairs[-1], names, kind=rules[0].kind).with_groups_of(list(groups))
    study = _study(rules, new, alpha, [Path(path).name for path in rule_files] or None)
    source = f"Made by rankset {rs.__version__} from {', '.join(paths)}"
    with atomic.open_output(output, force=force) as file:
        file.write(rs.reports.page(study, title, source=source).encode())
    echo(f"{output}: {len(new.scores):,} rows, {', '.join(one['label'] for one in study.data['scores'])}", err=True)


def _split_files(paths: Sequence[str], layout: Layout) -> tuple[list[str], list[Pair]]:
    """Return the files of rules, and the pairs of files of scores and labels."""
    rule_files = [path for path in paths if path.endswith(".rankset")]
    rest, step = paths[len(rule_files) :], 1 if layout.label else 2
    if list(paths[: len(rule_files)]) != rule_files or len(rest) != (step if rule_files else 2 * step):
        rows, tests = ("SCORES", "TEST_SCORES") if step == 1 else ("SCORES LABELS", "TEST_SCORES TEST_LABELS")
        first = "RULE..." if rule_files else rows
        raise click.UsageError(f"Expected {first} {tests}. The names of rule files must end in .rankset.")
    return rule_files, [(rest[at], None if layout.label else rest[at + 1]) for at in range(0, len(rest), step)]


def _check_calibration(pairs: Sequence[Pair], layout: Layout) -> None:
    """Refuse --group, --weights, and the same file for calibration and test, where scores are calibrated."""
    if layout.group is not None:
        raise click.UsageError(
            "--group works only with rules: rankset report rule.rankset … --group COLUMN. Pass a rule, or no --group."
        )
    if layout.weights is not None:
        raise click.UsageError(
            "--weights works only with rules: rankset report rule.rankset … --weights COLUMN. Pass a rule, or no "
            "--weights."
        )
    if Path(pairs[0][0]).resolve() == Path(pairs[1][0]).resolve():
        raise click.UsageError("Calibration rows and test rows must be in different files, got the same file twice.")


def _calibrate_all_scores(rows: Rows, kind: Any, seed: int) -> list[rs.Rule]:
    """Return a rule for every score that takes such numbers."""
    names = rows.classes
    shared: dict[str, Any] = {"kind": kind or "probs", "classes": names, "ids": rows.ids, "seed": seed}
    with rows.name_file_in_errors():
        labels = rows.labels_for(names)
        return [rs.calibrate(rows.scores, labels, method=score, **shared) for score in default_scores(kind)]


def _study(rules: Sequence[rs.Rule], rows: Rows, alpha: str, names: Sequence[str] | None) -> Any:
    """Return the results of the rules on rows whose labels are known."""
    with rows.name_file_in_errors():
        labels = rows.labels_for(rules[0].classes.tolist())
        return rs.reports.study_rules(
            *(rules, rows.scores, labels),
            groups=rows.groups,
            ids=rows.ids,
            weights=rows.weights,
            names=names,
            alpha=alpha,
            show_progress=True,
        )
