"""``rankset report``: a page about rules or scores, for the browser."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

import rankset as rs
from rankset import level, outputs
from rankset.cli.reading import FILE, Rows, class_names, options, read
from rankset.errors import FileError


@click.command()
@click.argument("paths", metavar="FILES...", nargs=-1, required=True)
@click.option("-o", "--output", type=FILE, required=True, help="The page, an .html file.")
@click.option("--title", default="Prediction sets", show_default=True, help="What stands above the page.")
@options("optional kind", "level", "label", "group", "id", "drop", "classes", "key", "format", "force")
def report(
    paths: Sequence[str],
    output: Path,
    title: str,
    kind: Any,
    alpha: str,
    label: str | None,
    group: str | None,
    identity: str | None,
    drop: Sequence[str],
    classes: Path | None,
    key: str | None,
    form: str | None,
    force: bool,  # noqa: FBT001
) -> None:
    """One page, to be opened in a browser and sent to a colleague; it asks nothing of the network.

    FILES are either rules, then scores and labels to test them on; or scores and labels to calibrate every score on,
    then others to test on. With --label each file of scores has its labels inside.

    \b
    rankset report rule.rankset test_logits.npy test_labels.npy -o report.html
    rankset report val_logits.npy val_labels.npy test_logits.npy test_labels.npy --kind logits -o report.html
    rankset report val.parquet test.parquet --label answer -o report.html
    """
    level.exact(alpha)
    if output.exists() and not force:
        raise FileError.exists(str(output))
    rule_files = [path for path in paths if path.endswith(".rankset")]
    rest, step = paths[len(rule_files) :], 1 if label else 2
    if list(paths[: len(rule_files)]) != rule_files or len(rest) != (step if rule_files else 2 * step):
        raise click.UsageError(_expected(step, rules=bool(rule_files)))
    asked: dict[str, Any] = {"key": key, "form": form, "label": label}
    asked |= {"group": group, "identity": identity, "drop": drop}
    pairs = [(rest[at], None if label else rest[at + 1]) for at in range(0, len(rest), step)]
    *known, new = (read(*pair, **asked) for pair in pairs)
    if rule_files:
        if kind is not None or classes is not None:
            raise click.UsageError("--kind and --classes belong to the calibration; a rule has its own.")
        study = _of_rules([Path(path) for path in rule_files], new, alpha)
    else:
        study = _of_scores(known[0], new, alpha, kind or "probs", classes)
    with outputs.draft(output, force=force) as file:
        file.write(rs.report.page(study, title).encode())
    click.echo(
        f"{output}: {len(new.scores):,} rows, {', '.join(one['name'] for one in study.data['scores'])}", err=True
    )


def _of_rules(paths: Sequence[Path], new: Rows, alpha: str) -> rs.report.Study:
    rules = [rs.load(path) for path in paths]
    new = new.in_order_of(rules[0].classes.tolist())
    with new.named():
        return rs.report.of_rules(
            rules,
            new.scores,
            new.labels_of(rules[0].classes.tolist()),
            groups=new.groups,
            ids=new.ids,
            alpha=alpha,
            show_progress=True,
        )


def _of_scores(known: Rows, new: Rows, alpha: str, kind: Any, classes: Path | None) -> rs.report.Study:
    names = class_names(classes, known.names, known.labels)
    with known.named():
        rules = [
            rs.calibrate(known.scores, known.labels_of(names), score=score, kind=kind, classes=names, ids=known.ids)
            for score in rs.choosing.FIXED
        ]
    new = new.in_order_of(rules[0].classes.tolist())
    with new.named():
        labels = new.labels_of(rules[0].classes.tolist())
        return rs.report.of_rules(rules, new.scores, labels, ids=new.ids, alpha=alpha, show_progress=True)


def _expected(step: int, *, rules: bool) -> str:
    rows = "SCORES" if step == 1 else "SCORES LABELS"
    tests = "TEST_SCORES" if step == 1 else "TEST_SCORES TEST_LABELS"
    return f"Expected {'RULE... ' if rules else f'{rows} '}{tests}; rules are files that end in .rankset."
