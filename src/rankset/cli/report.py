"""``rankset report``: a page about rules or scores, for the browser."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

import rankset as rs
from rankset.cli.reading import FILE, check_output, options, say, told_names
from rankset.core.alpha import exact_alpha
from rankset.evaluation import comparison
from rankset.io import atomic
from rankset.io.layout import Layout
from rankset.io.rows import Rows


@click.command(short_help="A page for the browser, to keep or to send.")
@click.argument("paths", metavar="FILES...", nargs=-1, required=True)
@click.option("-o", "--output", type=FILE, required=True, help="The page, an .html file.")
@click.option("--title", default="Prediction sets", show_default=True, help="What stands above the page.")
@options(
    *("kind", "alpha", "label", "group", "identity", "drop", "classes", "key", "file_format", "header", "seed"),
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
    force: bool,  # noqa: FBT001
    layout: Layout,
) -> None:
    """One page, to be opened in a browser and sent to a colleague; it asks nothing of the network.

    FILES are either rules, then scores and labels to test them on; or scores and labels to calibrate every score on,
    then others to test on. With --label each file of scores has its labels inside.

    \b
    rankset report rule.rankset test_logits.npy test_labels.npy -o report.html
    rankset report val_logits.npy val_labels.npy test_logits.npy test_labels.npy --kind logits -o report.html
    rankset report val.parquet test.parquet --label answer -o report.html
    """
    exact_alpha(alpha)
    check_output(output, ".html", paths, force=force)
    rule_files = [path for path in paths if path.endswith(".rankset")]
    rest, step = paths[len(rule_files) :], 1 if layout.label else 2
    if list(paths[: len(rule_files)]) != rule_files or len(rest) != (step if rule_files else 2 * step):
        raise click.UsageError(_expected(step, rules=bool(rule_files)))
    pairs = [(rest[at], None if layout.label else rest[at + 1]) for at in range(0, len(rest), step)]
    if rule_files:
        if kind is not None or classes is not None:
            raise click.UsageError("--kind and --classes belong to the calibration; a rule has its own.")
        rules = [rs.load(path) for path in rule_files]
    else:
        if layout.group is not None:
            raise click.UsageError("--group is for rules with groups: rankset report rule.rankset … --group COLUMN.")
        if Path(pairs[0][0]).resolve() == Path(pairs[1][0]).resolve():
            raise click.UsageError("Test rows must be others than those that calibrate, got the same file twice.")
        rules = _calibrated(layout.read_calibration_rows(*pairs[0], told_names(classes), kind), kind, seed)
    names = rules[0].classes.tolist()
    new = layout.read_rows(*pairs[-1], names, kind=rules[0].kind).with_groups_of(rules[0].groups.tolist())
    with new.name_file_in_errors():
        groups = new.groups if any(rule.condition.needs_groups for rule in rules) else None
        study = rs.report.of_rules(
            rules, new.scores, new.labels_for(names), groups=groups, ids=new.ids, alpha=alpha, show_progress=True
        )
    with atomic.open_output(output, force=force) as file:
        file.write(
            rs.report.page(study, title, source=f"Made by rankset {rs.__version__} from {', '.join(paths)}").encode()
        )
    say(f"{output}: {len(new.scores):,} rows, {', '.join(one['name'] for one in study.data['scores'])}", err=True)


def _calibrated(known: Rows, kind: Any, seed: int) -> list[rs.Rule]:
    """A rule for every score that takes such numbers."""
    names = known.classes
    shared: dict[str, Any] = {"kind": kind or "probs", "classes": names, "ids": known.ids, "seed": seed}
    with known.name_file_in_errors():
        labels = known.labels_for(names)
        return [rs.calibrate(known.scores, labels, score=score, **shared) for score in comparison.fixed(kind)]


def _expected(step: int, *, rules: bool) -> str:
    rows = "SCORES" if step == 1 else "SCORES LABELS"
    tests = "TEST_SCORES" if step == 1 else "TEST_SCORES TEST_LABELS"
    return f"Expected {'RULE... ' if rules else f'{rows} '}{tests}; rules are files that end in .rankset."
