"""Files in, rules and sets out: calibrate, predict, evaluate, compare, inspect, merge."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

import rankset as rs
from rankset import conditions, level, outputs, progress, scores
from rankset.cli.reading import FILE, Rows, class_names, options, read
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
    if rows.labels is None:
        raise FileError.no_labels()
    if output.exists() and not force:
        raise FileError.exists(str(output))
    condition: Any = conditions.PerLabel() if per_label else conditions.Marginal()
    if group is not None:
        condition = conditions.Cross(conditions.PerRow(), condition) if per_label else conditions.PerRow()
    shared = {
        "kind": kind,
        "condition": condition,
        "classes": class_names(classes, rows.names, rows.labels),
        "groups": rows.groups,
        "seed": seed,
    }
    rule = (
        rs.calibrate(rows.scores, rows.labels, score=SCORES[score](), ids=rows.ids, **shared)
        if automatic is None
        else rs.auto(rows.scores, rows.labels, automatic, **shared)
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
@options("alpha", "group", "id", "drop", "key", "format", "force")
def predict(
    rule_file: Path,
    scores_file: str,
    output: Path | None,
    empty: Any,
    alphas: Sequence[str],
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
    alpha = alphas[-1] if alphas else "0.1"
    level.exact(alpha)
    rows = read(scores_file, None, key=key, form=form, group=group, identity=identity, drop=drop)
    parts = _parts(rule, rows, alpha, empty)
    if output is None:
        outputs.stream(sys.stdout.buffer, parts)
    else:
        count = outputs.write(output, parts, force=force)
        click.echo(f"{output}: {count:,} sets at alpha = {alpha}", err=True)


def _parts(rule: rs.Rule, rows: Rows, alpha: str, empty: Any) -> Iterator[rs.PredictionSets]:
    """The sets of consecutive rows, so that no more than some of them are in memory."""
    matrix = rows.scores
    step = max(1, PART_BYTES // max(1, matrix[:1].nbytes)) if len(matrix) else 1
    starts = range(0, max(1, len(matrix)), step)
    with once():
        for start in progress.shown(starts, "predicting", show=len(starts) > 1, unit="parts"):
            part = slice(start, start + step)
            values = _aligned(rule, matrix[part], rows.names)
            groups, ids = (None if told is None else told[part] for told in (rows.groups, rows.ids))
            yield rule.predict(values, alpha, groups=groups, ids=ids, empty=empty)


def _aligned(rule: rs.Rule, matrix: NDArray[Any], names: list[str] | None) -> NDArray[Any]:
    """Columns in the order of the rule's classes, by name where both have names."""
    known = [str(name) for name in rule.classes.tolist()]
    if names is None or names == known:
        return matrix
    if set(names) != set(known):
        raise RuleError.columns_of_file(known, names)
    return matrix[:, [names.index(name) for name in known]]


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
    if rows.labels is None:
        raise FileError.no_labels()
    told = {}
    for alpha in alphas or ("0.1",):
        sets = rs.PredictionSets.concat(_parts(rule, rows, alpha, "allow"))
        told[alpha] = rs.evaluate(sets, rows.labels, groups=rows.groups)
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
    if rows.labels is None:
        raise FileError.no_labels()
    names = class_names(None, rows.names, rows.labels)
    told = {
        alpha: rs.compare(rows.scores, rows.labels, alpha, kind=kind, classes=names, repeats=repeats)
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
        return {}
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
    }


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
