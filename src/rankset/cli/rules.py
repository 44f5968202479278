"""Files in, rules and sets out: calibrate, predict, evaluate, compare, inspect, merge."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

import rankset as rs
from rankset import conditions, level, outputs, progress, scores
from rankset.cli.reading import FILE, class_names, options, read
from rankset.errors import FileError, RuleError, once

USUAL = ("0.01", "0.05", "0.1", "0.2")
PART_BYTES = 64 << 20
"""Rows are predicted and written in parts of about so many bytes."""

SCORES = {kind.__name__.lower(): kind for kind in scores.BUILT_IN if not issubclass(kind, scores.Wrapper)}


@click.command()
@click.argument("scores_file", metavar="SCORES")
@click.argument("labels_file", metavar="[LABELS]", required=False)
@click.option(
    "--score", type=click.Choice(list(SCORES)), default="rank", show_default=True, help="How labels are ordered."
)
@click.option("--auto", "automatic", metavar="ALPHA", help="Choose and tune the score for this level instead.")
@click.option("--per-label", is_flag=True, help="Coverage for every class.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of draws and of --auto.")
@click.option("-o", "--output", type=FILE, required=True, help="The rule, a .rankset file.")
@options("kind", "label", "group", "id", "drop", "classes", "key", "format", "force", "json")
def calibrate(
    scores_file: str,
    labels_file: str | None,
    score: str,
    automatic: str | None,
    per_label: bool,  # noqa: FBT001
    seed: int,
    output: Path,
    kind: Any,
    label: str | None,
    group: str | None,
    identity: str | None,
    drop: Sequence[str],
    classes: Path | None,
    key: str | None,
    form: str | None,
    force: bool,  # noqa: FBT001
    as_json: bool,  # noqa: FBT001
) -> None:
    """A rule from the SCORES of rows whose LABELS are known.

    \b
    rankset calibrate val_logits.npy val_labels.npy --kind logits -o rule.rankset
    rankset calibrate val.parquet --label answer --auto 0.1 -o rule.rankset
    """
    rows = read(scores_file, labels_file, key=key, form=form, label=label, group=group, identity=identity, drop=drop)
    if output.exists() and not force:
        raise FileError.exists(str(output))
    condition: Any = conditions.PerLabel() if per_label else conditions.Marginal()
    if group is not None:
        condition = conditions.Cross(conditions.PerRow(), condition) if per_label else conditions.PerRow()
    names = class_names(classes, rows.names, rows.labels)
    shared = {
        "kind": kind,
        "condition": condition,
        "classes": names,
        "groups": rows.groups,
        "seed": seed,
    }
    with rows.named(), progress.watched("calibrating"):
        labels = rows.labels_of(names)
        rule = (
            rs.calibrate(rows.scores, labels, score=SCORES[score](), ids=rows.ids, **shared)
            if automatic is None
            else rs.auto(rows.scores, labels, automatic, **shared)
        )
    rule.save(output)
    _tell(_about(rule), str(output), as_json=as_json)


@click.command()
@click.argument("rule_file", metavar="RULE", type=FILE)
@click.argument("scores_file", metavar="SCORES")
@click.option(
    "-o", "--output", type=FILE, help="csv, jsonl, parquet or npz (csv and jsonl also .gz); else csv on stdout."
)
@click.option(
    "--empty",
    type=click.Choice(["allow", "top"]),
    default="allow",
    show_default=True,
    help="What becomes of empty sets.",
)
@options("level", "group", "id", "drop", "key", "format", "force")
def predict(
    rule_file: Path,
    scores_file: str,
    output: Path | None,
    empty: Any,
    alpha: str,
    group: str | None,
    identity: str | None,
    drop: Sequence[str],
    key: str | None,
    form: str | None,
    force: bool,  # noqa: FBT001
) -> None:
    """The sets of all rows of SCORES.

    \b
    rankset predict rule.rankset test_logits.npy --alpha 0.1 -o sets.parquet
    """
    rule = _load(rule_file)
    level.exact(alpha)
    rows = read(scores_file, None, key=key, form=form, group=group, identity=identity, drop=drop)
    rows = rows.in_order_of(rule.classes.tolist())
    step = max(1, PART_BYTES // max(1, rows.scores[:1].nbytes))
    with once(), rows.named():
        sets = rule.predict_parts(rows.scores, alpha, groups=rows.groups, ids=rows.ids, empty=empty, rows=step)
        count = -(-len(rows.scores) // step)
        parts = progress.shown(sets, "predicting", show=count > 1, unit="parts", total=count)
        if output is None:
            outputs.stream(sys.stdout.buffer, parts)
            return
        written = outputs.write(output, parts, force=force)
    click.echo(f"{output}: {written:,} sets at alpha = {alpha}", err=True)


@click.command()
@click.argument("rule_file", metavar="RULE", type=FILE)
@click.argument("scores_file", metavar="SCORES")
@click.argument("labels_file", metavar="[LABELS]", required=False)
@options("alpha", "label", "group", "id", "drop", "key", "format", "json")
def evaluate(
    rule_file: Path,
    scores_file: str,
    labels_file: str | None,
    alphas: Sequence[str],
    label: str | None,
    group: str | None,
    identity: str | None,
    drop: Sequence[str],
    key: str | None,
    form: str | None,
    as_json: bool,  # noqa: FBT001
) -> None:
    """How a rule's sets do on SCORES, now that the LABELS are known.

    \b
    rankset evaluate rule.rankset test_logits.npy test_labels.npy --alpha 0.05 --alpha 0.1
    """
    rule = _load(rule_file)
    rows = read(scores_file, labels_file, key=key, form=form, label=label, group=group, identity=identity, drop=drop)
    told = {}
    rows = rows.in_order_of(rule.classes.tolist())
    with once(), rows.named(), progress.watched("evaluating"):
        labels = rows.labels_of(rule.classes.tolist())
        for alpha in alphas or ("0.1",):
            sets = rule.predict(rows.scores, alpha, groups=rows.groups, ids=rows.ids)
            told[alpha] = rs.evaluate(sets, labels, groups=rows.groups)
    if as_json:
        click.echo(json.dumps({alpha: _plain(dataclasses.asdict(one)) for alpha, one in told.items()}))
    else:
        click.echo("\n\n".join(repr(one) for one in told.values()))


@click.command()
@click.argument("scores_file", metavar="SCORES")
@click.argument("labels_file", metavar="[LABELS]", required=False)
@click.option("--repeats", type=click.IntRange(1), default=20, show_default=True, help="Random halves.")
@options("kind", "alpha", "label", "drop", "key", "format", "json")
def compare(
    scores_file: str,
    labels_file: str | None,
    repeats: int,
    kind: Any,
    alphas: Sequence[str],
    label: str | None,
    drop: Sequence[str],
    key: str | None,
    form: str | None,
    as_json: bool,  # noqa: FBT001
) -> None:
    """Every score on the same random halves of SCORES, one table with standard errors.

    \b
    rankset compare val_logits.npy val_labels.npy --kind logits --alpha 0.1
    """
    rows = read(scores_file, labels_file, key=key, form=form, label=label, drop=drop)
    names = class_names(None, rows.names, rows.labels)
    with rows.named(), progress.watched("comparing"):
        labels = rows.labels_of(names)
        told = {
            alpha: rs.compare(rows.scores, labels, alpha, kind=kind, classes=names, repeats=repeats)
            for alpha in alphas or ("0.1",)
        }
    if as_json:
        click.echo(json.dumps({alpha: _compared(one) for alpha, one in told.items()}))
    else:
        click.echo("\n\n".join(repr(one) for one in told.values()))


def _compared(told: Any) -> dict[str, Any]:
    return {
        repr(score): {
            measure: {"mean": mean, "error": error}
            for measure, mean, error in zip(told.measures, means, errors, strict=True)
        }
        for score, means, errors in zip(told.scores, told.means.tolist(), told.errors.tolist(), strict=True)
    }


@click.command()
@click.argument("rule_file", metavar="RULE", type=FILE)
@options("alpha", "json")
def inspect(rule_file: Path, alphas: Sequence[str], as_json: bool) -> None:  # noqa: FBT001
    """What a rule is: score, rows, classes, thresholds and coverage at usual levels. Nothing in the file is run.

    \b
    rankset inspect rule.rankset
    """
    rule = _load(rule_file)
    _tell({**_about(rule), "levels": _levels(rule, alphas or USUAL)}, str(rule_file), as_json=as_json)


def _levels(rule: rs.Rule, alphas: Sequence[str]) -> dict[str, Any]:
    """Threshold, coverage band and r* at some levels, of a rule with one threshold."""
    if rule.recipe.n_groups > 1:
        return {alpha: _of_groups(rule, alpha) for alpha in alphas}
    told: dict[str, Any] = {}
    for alpha in alphas:
        band, threshold = rule.coverage_band(alpha), rule.threshold(alpha)
        told[alpha] = {
            "threshold": None if threshold is None else _key(threshold),
            "coverage": [round(band.low, 4), round(band.high, 4)],
        }
        if scores.orders_by_rank(rule.score):
            profile = rule.rank_profile(alpha)
            told[alpha] |= {"r_star": profile.r_star, "sizes": list(profile.size_bounds)}
    return told


def _of_groups(rule: rs.Rule, alpha: str) -> dict[str, Any]:
    """Of a rule with many thresholds: how many cut, and how many keep everything for lack of rows."""
    counts, needed = rule.calibration.counts, level.rows_needed(level.exact(alpha))
    return {
        "thresholds": int((counts >= needed).sum()),
        "groups too small": int((counts < needed).sum()),
        "rows needed in each": int(needed),
    }


def _key(threshold: tuple[float, ...]) -> float | dict[str, float]:
    """A threshold as it is told: one number, or rank and probability and the like by their places."""
    return threshold[0] if len(threshold) == 1 else {f"key{place}": part for place, part in enumerate(threshold)}


@click.command()
@click.argument("rule_files", metavar="RULE...", type=FILE, nargs=-1, required=True)
@click.option("-o", "--output", type=FILE, required=True, help="The joint rule, a .rankset file.")
@options("force", "json")
def merge(rule_files: Sequence[Path], output: Path, force: bool, as_json: bool) -> None:  # noqa: FBT001
    """One rule of several, exactly as if calibrated at once; no row may be in two of them.

    \b
    rankset merge a.rankset b.rankset -o both.rankset
    """
    if output.exists() and not force:
        raise FileError.exists(str(output))
    if len({path.resolve() for path in rule_files}) < len(rule_files):
        raise RuleError.itself()
    first, *others = [_load(path) for path in rule_files]
    rule = first.merge(*others)
    rule.save(output)
    _tell(_about(rule), str(output), as_json=as_json)


def _load(path: Path) -> rs.Rule:
    if not path.exists():
        raise FileError.missing(str(path))
    return rs.load(path)


def _about(rule: rs.Rule) -> dict[str, Any]:
    names = rule.classes.tolist()
    return {
        "score": repr(rule.score),
        "condition": repr(rule.condition),
        "kind": rule.kind,
        "rows": rule.n,
        "classes": len(names),
        "first classes": names[:10],
        "groups": rule.groups.tolist()[:10],
        **({"rows by group": _sizes(rule)} if rule.recipe.n_groups > 1 else {}),
    }


def _sizes(rule: rs.Rule) -> str:
    counts = rule.calibration.counts
    return f"{len(counts):,} groups of {counts.min():,} to {counts.max():,} rows"


def _tell(facts: dict[str, Any], title: str, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"file": title, **facts}))
        return
    click.echo(title)
    for name, value in facts.items():
        if isinstance(value, dict):
            for alpha, told in value.items():
                parts = ", ".join(f"{key} {_short(part)}" for key, part in told.items())
                click.echo(f"  alpha {alpha:<6} {parts}")
        elif value not in ([], None):
            click.echo(f"  {name:<14} {', '.join(map(str, value)) if isinstance(value, list) else value}")


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(_short(part) for part in value.values())
    if isinstance(value, list):
        return " to ".join(_short(part) for part in value) if len(value) == 2 else ", ".join(map(_short, value))
    return f"{value:.6g}" if isinstance(value, float) else "none: every label stays" if value is None else str(value)


def _plain(value: Any) -> Any:
    """NumPy's things as JSON has them."""
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


COMMANDS = (calibrate, predict, evaluate, compare, inspect, merge)
