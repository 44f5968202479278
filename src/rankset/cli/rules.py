"""Files in, rules and sets out: calibrate, predict, evaluate, compare, inspect, merge."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import click
import numpy as np

import rankset as rs
from rankset import conditions, progress
from rankset.cli.reading import DEFAULT_ALPHA, FILE, check_output, given, options, save, say, told_names
from rankset.core.alpha import exact_alpha, rows_needed
from rankset.engines import shards
from rankset.engines.shard_paths import expand_paths, pair_files
from rankset.errors import FileError, RuleError, once, warn
from rankset.evaluation import comparison
from rankset.inputs.vocabulary import short
from rankset.io import write_sets
from rankset.io.layout import Layout
from rankset.io.readers import npy
from rankset.io.spelling import equal_groups
from rankset.io.writers.base import SetsAndKept
from rankset.io.writers.csv import EXCEL, PLAIN
from rankset.scores import Aps, Average, Margin, Rank, Raps, Saps, Thr, TopK

USUAL = ("0.01", "0.05", "0.1", "0.2")
PART_BYTES = 32 << 20
"""Rows are predicted and written in parts of about so many bytes."""

SCORES = {kind.__name__.lower(): kind() for kind in (Rank, TopK, Thr, Margin, Aps, Raps, Saps, Average)} | {
    type(score).__name__.lower(): score for score in comparison.FIXED
}
"""Scores by name, with the parameters that ``compare`` gives them."""


@click.command(short_help="A rule from rows whose labels are known.")
@click.argument("paths", metavar="SCORES [LABELS]", nargs=-1, required=True)
@click.option("--score", type=click.Choice(list(SCORES)), help="How labels are ordered.  [default: rank]")
@click.option("--set", "numbers", metavar="NAME=NUMBER", multiple=True, help="A parameter of the score.")
@click.option("--auto", "automatic", metavar="ALPHA", help="Choose and tune the score for this level instead.")
@click.option("--per-label", is_flag=True, help="Coverage for every class.")
@click.option("-o", "--output", type=FILE, required=True, help="The rule, a .rankset file.")
@options(
    *("kind", "label", "labels", "group", "identity", "drop", "classes", "key", "file_format", "header", "seed"),
    *("max_memory", "force", "json"),
)
def calibrate(
    paths: Sequence[str],
    label_files: Sequence[str],
    score: str | None,
    numbers: Sequence[str],
    automatic: str | None,
    per_label: bool,  # noqa: FBT001
    output: Path,
    kind: Any,
    classes: Path | None,
    seed: int,
    force: bool,  # noqa: FBT001
    as_json: bool,  # noqa: FBT001
    layout: Layout,
) -> None:
    """A rule from the SCORES of rows whose LABELS are known.

    Labels are class names or column numbers: in a second file, LABELS; or in a column of SCORES, --label; or in a
    file of several columns, --labels FILE --label COLUMN. With --group coverage holds for every group. SCORES may be a
    folder, or with --label or --labels several files: all of them are scores, worked on shard by shard.

    \b
    rankset calibrate val_logits.npy val_labels.npy --kind logits -o rule.rankset
    rankset calibrate val.parquet --label answer --auto 0.1 -o rule.rankset
    rankset calibrate val.csv --label answer --score raps --set penalty=0.1 -o rule.rankset
    rankset calibrate scores/*.parquet --label answer -o rule.rankset
    rankset calibrate val.npy --labels answers.csv --label answer -o rule.rankset
    """
    scores_files, labels_files = given(paths, label_files, layout)
    check_output(output, ".rankset", (*paths, *label_files, classes), force=force)
    if automatic is not None and (score is not None or numbers or layout.identity is not None):
        raise click.UsageError(
            "--auto chooses the score and its parameters, and draws nothing; drop --score, --set, --id."
        )
    chosen = _with(SCORES[score or "rank"], numbers)
    condition: Any = conditions.PerLabel() if per_label else conditions.Marginal()
    if layout.group is not None:
        condition = (
            conditions.PerLabelAndGroup(conditions.PerGroup(), condition) if per_label else conditions.PerGroup()
        )
    pairs = pair_files(scores_files, labels_files)
    shared: dict[str, Any] = {"kind": kind or "probs", "condition": condition, "seed": seed}
    if len(pairs) > 1:
        if automatic is not None:
            raise click.UsageError(
                "--auto takes the rows of one file. Join the files, or choose the score with --score."
            )
        names = told_names(classes)
        rule = shards.calibrate(scores_files, labels_files, layout=layout, score=chosen, classes=names, **shared)
    else:
        rows = layout.read_calibration_rows(*pairs[0], told_names(classes), kind)
        shared |= {"classes": rows.classes, "groups": rows.groups}
        with rows.name_file_in_errors(), progress.watched("calibrating"):
            labels = rows.labels_for(rows.classes)
            rule = (
                rs.calibrate(rows.scores, labels, score=chosen, ids=rows.ids, **shared)
                if automatic is None
                else rs.auto(rows.scores, labels, automatic, **shared)
            )
    save(rule, output, force=force)
    _tell(_about(rule), str(output), as_json=as_json)


def _with(score: rs.Score, numbers: Sequence[str]) -> rs.Score:
    """A score with other parameters."""
    known = {field.name for field in dataclasses.fields(score)}  # type: ignore[arg-type]
    changes = {}
    for told in numbers:
        name, _, text = told.partition("=")
        try:
            changes[name] = json.loads(text)
        except ValueError:
            changes[name] = text
        if name not in known:
            given = ", ".join(sorted(known)) or "none"
            raise click.BadParameter(f"{score!r} has no {name!r}; its parameters: {given}", param_hint="--set")
    return dataclasses.replace(score, **changes)  # type: ignore[type-var]


@click.command(short_help="The sets of new rows.")
@click.argument("rule_file", metavar="RULE", type=FILE)
@click.argument("paths", metavar="SCORES...", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    help="csv, jsonl, parquet or npz (csv and jsonl also .gz), else csv on stdout; a folder/ gets a .parquet per file.",
)
@click.option(
    "--empty",
    type=click.Choice(["allow", "top"]),
    default="allow",
    show_default=True,
    help="What becomes of empty sets: they stay, or get the most likely label.",
)
@click.option("--excel", is_flag=True, help="csv for spreadsheets: names they would run as formulas become texts.")
@options("alpha", "group", "identity", "keep", "drop", "key", "file_format", "header", "max_memory", "force")
def predict(
    rule_file: Path,
    paths: Sequence[str],
    output: str | None,
    empty: Any,
    excel: bool,  # noqa: FBT001
    alpha: str,
    force: bool,  # noqa: FBT001
    layout: Layout,
) -> None:
    """The sets of all rows of SCORES: size, most likely label, labels; ids and --keep columns before them.

    Columns are matched to the rule's classes by name; other columns do not matter. SCORES may be several files, or a
    folder of them.

    \b
    rankset predict rule.rankset test_logits.npy --alpha 0.1 -o sets.parquet
    rankset predict rule.rankset test.csv --id patient --keep site | head
    """
    folder = output is not None and (output.endswith("/") or Path(output).is_dir())
    if output not in (None, "-") and not folder:
        check_output(Path(str(output)), None, (rule_file, *expand_paths(paths)), force=force)
    elif output in (None, "-") and sys.stdout is None:
        raise FileError.unwritable("-", "standard output is closed")
    rule = _load(rule_file)
    exact_alpha(alpha)
    found = expand_paths(paths)
    style = EXCEL if excel else PLAIN
    if folder:
        if excel:
            raise FileError.not_for_spreadsheets(str(output))
        written = shards.write(rule, found, str(output), alpha, layout=layout, empty=empty, force=force)
        say(f"{output}: sets of {len(written):,} files at alpha = {alpha}", err=True)
        return
    several = len(found) > 1
    sets: Any = (
        shards.predict_with_kept(rule, found, alpha, layout=layout, empty=empty)
        if several
        else _one_by_one(rule, found[0], alpha, empty, layout)
    )
    parts = progress.bar(sets, "predicting", show=several, unit="files", total=len(found))
    with once(), closing(sets):  # where writing fails, worker processes end, too
        if output in (None, "-"):
            write_sets.stream_sets(sys.stdout.buffer, parts, style=style)
            return
        rows = write_sets.write_sets(Path(str(output)), parts, force=force, style=style)
    say(f"{output}: {rows:,} sets at alpha = {alpha}", err=True)


def _one_by_one(rule: rs.Rule, path: str, alpha: str, empty: Any, layout: Layout) -> Iterable[SetsAndKept]:
    """The sets of one file, some rows at a time, and what stands beside them."""
    rows = layout.read_rows(path, classes=rule.classes.tolist(), kind=rule.kind).with_groups_of(rule.groups.tolist())
    step = max(1, PART_BYTES // max(1, rows.scores[:1].nbytes))
    count = -(-len(rows.scores) // step)
    with rows.name_file_in_errors():
        sets = rule.predict_parts(rows.scores, alpha, groups=rows.groups, ids=rows.ids, empty=empty, rows=step)
        start = 0
        for part in progress.bar(sets, "predicting", show=count > 1, unit="parts", total=count):
            yield part, {name: column[start : start + len(part)] for name, column in rows.kept.items()}
            start += len(part)
            npy.release_pages(rows.scores)


@click.command(short_help="How a rule's sets do, now that labels are known.")
@click.argument("rule_file", metavar="RULE", type=FILE)
@click.argument("paths", metavar="SCORES [LABELS]", nargs=-1, required=True)
@options("alphas", "label", "labels", "group", "identity", "drop", "key", "file_format", "header", "max_memory", "json")
def evaluate(
    rule_file: Path,
    paths: Sequence[str],
    label_files: Sequence[str],
    alphas: Sequence[str],
    as_json: bool,  # noqa: FBT001
    layout: Layout,
) -> None:
    """How a rule's sets do on SCORES, now that the LABELS are known; with --group also in every group.

    Files are given as to calibrate: with --label or --labels every one of SCORES is a file of scores.

    \b
    rankset evaluate rule.rankset test_logits.npy test_labels.npy --alpha 0.05 --alpha 0.1
    """
    rule, asked = _load(rule_file), alphas or (DEFAULT_ALPHA,)
    sets: dict[str, list[rs.PredictionSets]] = {alpha: [] for alpha in asked}
    truth, groups = [], []
    for pair in pair_files(*given(paths, label_files, layout)):
        rows = layout.read_rows(*pair, rule.classes.tolist(), kind=rule.kind).with_groups_of(rule.groups.tolist())
        with once(), rows.name_file_in_errors(), progress.watched("evaluating"):
            truth.append(rule.classes[rows.label_columns(rule.spec.classes)])
            groups.append(rows.groups)
            told_groups = rows.groups if rule.condition.needs_groups else None
            for alpha in asked:
                sets[alpha].append(rule.predict(rows.scores, alpha, groups=told_groups, ids=rows.ids))
    labels = np.concatenate(truth)
    joint: Any = None if layout.group is None else np.concatenate([one for one in groups if one is not None])
    told = {alpha: rs.evaluate(rs.PredictionSets.concat(some), labels, groups=joint) for alpha, some in sets.items()}
    if as_json:
        say(json.dumps({alpha: _evaluated(one) for alpha, one in told.items()}))
    else:
        say("\n\n".join(repr(one) for one in told.values()))


def _evaluated(told: rs.Evaluation) -> dict[str, Any]:
    facts = dataclasses.asdict(told)
    worst, worst_apart = facts.pop("strata")
    return _plain(facts | {"sscv_from": worst, "sscv_empty_apart_from": worst_apart})


@click.command(short_help="Every score on the same random halves, one table.")
@click.argument("paths", metavar="SCORES [LABELS]", nargs=-1, required=True)
@click.option("--repeats", type=click.IntRange(1), default=20, show_default=True, help="Random halves.")
@options(
    "kind", "alphas", "label", "labels", "drop", "classes", "key", "file_format", "header", "seed", "max_memory", "json"
)
def compare(
    paths: Sequence[str],
    label_files: Sequence[str],
    repeats: int,
    kind: Any,
    alphas: Sequence[str],
    classes: Path | None,
    seed: int,
    as_json: bool,  # noqa: FBT001
    layout: Layout,
) -> None:
    """Every score on the same random halves of SCORES, one table with standard errors.

    \b
    rankset compare val_logits.npy val_labels.npy --kind logits --alpha 0.1
    """
    scores_files, labels_files = given(paths, label_files, layout)
    pairs = pair_files(scores_files, labels_files)
    if len(pairs) > 1:
        raise click.UsageError(f"compare takes the rows of one file, got {len(pairs)}. Join them, or pass some.")
    rows = layout.read_calibration_rows(*pairs[0], told_names(classes), kind)
    names = rows.classes
    shared: dict[str, Any] = {"kind": kind or "probs", "classes": names, "repeats": repeats, "seed": seed}
    with rows.name_file_in_errors(), progress.watched("comparing"):
        labels = rows.labels_for(names)
        told = {
            alpha: rs.compare(rows.scores, labels, alpha, scores=comparison.fixed(kind), **shared)
            for alpha in alphas or (DEFAULT_ALPHA,)
        }
    if as_json:
        say(json.dumps({alpha: _plain(_compared(one)) for alpha, one in told.items()}))
    else:
        say("\n\n".join(repr(one) for one in told.values()))


def _compared(told: Any) -> dict[str, Any]:
    near = told.like_the_smallest
    return {
        repr(score): {
            **{
                measure: {"mean": mean, "error": error}
                for measure, mean, error in zip(told.measures, means, errors, strict=True)
            },
            "smallest": score == told.smallest,
            "tied_with_smallest": score in near,
        }
        for score, means, errors in zip(told.scores, told.means.tolist(), told.errors.tolist(), strict=True)
    }


@click.command(short_help="What a rule is, and its thresholds.")
@click.argument("rule_file", metavar="RULE", type=FILE)
@options("levels", "json")
def inspect(rule_file: Path, alphas: Sequence[str], as_json: bool) -> None:  # noqa: FBT001
    """What a rule is: score, rows, classes, thresholds and coverage at usual levels. Nothing in the file is run.

    Sizes are those of rows with a candidate for every class; rows with fewer candidates may have smaller sets.

    \b
    rankset inspect rule.rankset
    """
    rule = _load(rule_file)
    _tell({**_about(rule), "levels": _levels(rule, alphas or USUAL)}, str(rule_file), as_json=as_json)


def _levels(rule: rs.Rule, alphas: Sequence[str]) -> dict[str, Any]:
    """Threshold, coverage band and r* at some levels."""
    if rule.spec.n_groups > 1:
        return {alpha: _of_groups(rule, alpha) for alpha in alphas}
    told: dict[str, Any] = {}
    for alpha in alphas:
        band, threshold = rule.coverage_band(alpha), rule.threshold(alpha)
        told[alpha] = {
            "threshold": None if threshold is None else _key(threshold),
            "coverage": [round(band.low, 4), round(band.high, 4)],
        }
        if rule.spec.traits.orders_by_rank:
            profile = rule.rank_profile(alpha)
            bounds = {} if profile.size_bounds is None else {"sizes": list(profile.size_bounds)}
            told[alpha] |= {"r_star": profile.r_star, **bounds}
    return told


def _of_groups(rule: rs.Rule, alpha: str) -> dict[str, Any]:
    """Of a rule with many thresholds: how many cut, and how many keep everything for lack of rows."""
    counts, needed = rule.calibration.counts, rows_needed(exact_alpha(alpha))
    return {
        "thresholds": int((counts >= needed).sum()),
        "groups_too_small": int((counts < needed).sum()),
        "rows_needed": int(needed),
    }


def _key(threshold: tuple[float, ...]) -> float | dict[str, float]:
    """A threshold as it is told: one number, or rank and probability and the like by their places."""
    return threshold[0] if len(threshold) == 1 else {f"key{place}": part for place, part in enumerate(threshold)}


@click.command(short_help="One rule of several.")
@click.argument("rule_files", metavar="RULE...", type=FILE, nargs=-1, required=True)
@click.option("-o", "--output", type=FILE, required=True, help="The joint rule, a .rankset file.")
@options("force", "json")
def merge(rule_files: Sequence[Path], output: Path, force: bool, as_json: bool) -> None:  # noqa: FBT001
    """One rule of several, exactly as if calibrated at once; no row may be in two of them.

    \b
    rankset merge a.rankset b.rankset -o both.rankset
    """
    check_output(output, ".rankset", rule_files, force=force)
    if len({path.resolve() for path in rule_files}) < len(rule_files):
        raise RuleError.itself()
    first, *others = rules = [_load(path) for path in rule_files]
    for place, rule in enumerate(rules):
        same = next((path for path, other in zip(rule_files, rules[:place], strict=False) if other == rule), None)
        if same is not None:
            warn(f"{same} and {rule_files[place]} hold the same calibration; rows that are in both count twice.")
    joint = first.merge(*others)
    mixed = equal_groups(joint.groups.tolist())
    if mixed:
        raise FileError.mixed_groups(mixed)
    save(joint, output, force=force)
    _tell(_about(joint), str(output), as_json=as_json)


def _load(path: Path) -> rs.Rule:
    if not path.exists():
        raise FileError.missing(str(path))
    return rs.load(path)


def _about(rule: rs.Rule) -> dict[str, Any]:
    return {
        "score": repr(rule.score),
        "condition": repr(rule.condition),
        "kind": rule.kind,
        "rows": rule.n,
        "classes": len(rule.spec.classes),
        "first classes": list(rule.spec.classes.values[:10]),
        "groups": list(rule.spec.groups.values[:10]),
        **({"rows by group": _sizes(rule)} if rule.spec.n_groups > 1 else {}),
    }


def _sizes(rule: rs.Rule) -> str:
    counts = rule.calibration.counts
    return f"{len(counts):,} groups of {counts.min():,} to {counts.max():,} rows"


SPELT = {
    "r_star": "r*",
    "sizes": "sizes of rows with all candidates",
    "groups_too_small": "groups too small",
    "rows_needed": "rows needed in each",
}


def _tell(facts: dict[str, Any], title: str, *, as_json: bool) -> None:
    if as_json:
        told = _plain({"file": title, **facts})
        say(json.dumps({name.replace(" ", "_"): value for name, value in told.items()}))
        return
    say(title)
    for name, value in facts.items():
        if isinstance(value, dict):
            for alpha, told in value.items():
                parts = ", ".join(f"{SPELT.get(key, key)} {_short(part)}" for key, part in told.items())
                say(f"  alpha {alpha:<6} {parts}")
        elif value not in ([], None):
            text = ", ".join(map(short, value)) if isinstance(value, list) else short(value, 1000)
            say(f"  {name:<14} {text}")


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
