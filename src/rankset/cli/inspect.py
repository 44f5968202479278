"""``rankset inspect``: show the content of a file of a rule, a stream or a triage, or of a store of a server."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

import rankset as rs
from rankset.cli.command import Command
from rankset.cli.files import content_of, is_store, load_rule
from rankset.cli.options import FILE_OR_URL, options
from rankset.cli.printing import print_facts, rule_facts
from rankset.cli.promises import proven_promise, was_passed
from rankset.cli.store_printing import print_store
from rankset.cli.triage_words import triage_facts
from rankset.cli.watch_printing import print_stream
from rankset.core.alpha import exact_alpha, rows_needed
from rankset.errors import RuleError
from rankset.rules.sentences import group_sentences, title_of_groups

USUAL_ALPHAS = ("0.01", "0.05", "0.1", "0.2")
CONFIDENCE = 0.9
"""Probability of the range of coverage."""


@click.command(cls=Command)
@click.argument("rule_file", metavar="RULE", type=FILE_OR_URL)
@options("levels", "confidence_shown", "json")
def inspect(rule_file: Path | str, alphas: Sequence[str], confidence: str, as_json: bool) -> None:
    """Show a rule: score, number of rows, classes, and what sets contain, promise and cover for some values of alpha.

    The promise is about the mean over calibrations. The line "with confidence 0.95" shows what sets contain if the
    promise shall hold for this calibration with probability 0.95, as with rankset predict --confidence 0.95.

    No code from the file is executed. The sizes are for rows in which every class is a candidate. Rows with fewer
    candidates can have smaller sets.

    Of a stream (rankset watch --state), it shows what the stream has seen: misses, level, window and alarms. Of a
    triage (rankset triage --save), it shows how many answers were right and wrong. Of a store of rankset serve, its
    SQLite file or the URL of its PostgreSQL database, it shows of which rule it is, and how many rows and labels it
    has; it is only read.

    \b
    rankset inspect rule.rankset
    rankset inspect rule.rankset --alpha 0.1 --confidence 0.99
    rankset inspect stream.rankset
    rankset inspect served.db
    """
    if isinstance(rule_file, str) or is_store(rule_file):
        _refuse_levels("This is a store, whose rows have levels of their own.")
        print_store(rule_file, as_json=as_json)
        return
    if _printed(rule_file, as_json=as_json):
        return
    rule = load_rule(rule_file)
    if rule.spec.sharing is not None and was_passed("confidence"):
        raise RuleError.shared_rows_and_confidence(rule.condition)
    if rule.spec.weighted and was_passed("confidence"):
        raise RuleError.weights_and_confidence()
    facts = {**rule_facts(rule), "levels": _levels(rule, alphas or USUAL_ALPHAS, confidence)}
    print_facts(facts, str(rule_file), as_json=as_json)


def _printed(path: Path, *, as_json: bool) -> bool:
    """Print what a file contains that is no rule; return whether it is such a file."""
    found = content_of(path)
    if found == "stream":
        _refuse_levels(f"{path} is a stream, which has its own alpha.")
        print_stream(rs.Stream.load(path), str(path), as_json=as_json)
    elif found == "triage":
        _refuse_levels(f"{path} is a triage, which has no alpha: rankset triage --error asks it.")
        print_facts(triage_facts(rs.Triage.load(path)), str(path), as_json=as_json)
    return found in ("stream", "triage")


def _refuse_levels(told: str) -> None:
    """Raise an error if levels of a rule were asked of something else."""
    if was_passed("alphas") or was_passed("confidence"):
        raise click.UsageError(f"{told} Leave out --alpha, --confidence.")


def _levels(rule: rs.Rule, alphas: Sequence[str], confidence: str) -> dict[str, Any]:
    """Return threshold, promises, coverage band and r* at some levels."""
    if _has_groups(rule):
        return {alpha: _group_counts(rule, alpha) | _promises(rule, alpha, confidence) for alpha in alphas}
    levels: dict[str, Any] = {}
    for alpha in alphas:
        threshold = rule.threshold(alpha)
        levels[alpha] = {
            "rule": rule.describe(alpha),
            "threshold": None if threshold is None else _threshold_value(threshold),
            **_coverage_facts(rule, alpha),
            **_promises(rule, alpha, confidence),
        }
        if rule.spec.traits.orders_by_rank and not rule.spec.weighted:
            profile = rule.rank_profile(alpha)
            bounds = {} if profile.size_bounds is None else {"sizes": list(profile.size_bounds)}
            levels[alpha] |= {"r_star": profile.r_star, **bounds}
    return levels


def _has_groups(rule: rs.Rule) -> bool:
    """Return whether a threshold belongs to a group of rows or labels, even if there is one group only."""
    return rule.spec.n_groups > 1 or rule.condition.needs_groups


def _has_mean_only(rule: rs.Rule) -> bool:
    """Return whether nothing is known but the mean over calibrations: groups share rows, or rows have weights."""
    return rule.spec.sharing is not None or rule.spec.weighted


def _promises(rule: rs.Rule, alpha: str, confidence: str) -> dict[str, Any]:
    """Return what is promised at some alpha, and what sets contain if it holds with a confidence; {} if not proven."""
    promise = proven_promise(rule, alpha)
    if promise is None:
        return {}
    if _has_mean_only(rule):
        return {"promise": promise}
    asked = rule.at(alpha, confidence=confidence)
    sure: dict[str, Any] = {"rule": asked.describe()}
    if _has_groups(rule):
        rules = {one.name: one.sentence for one in group_sentences(asked)}
        sure = {"rules": rules, "thresholds": int((~asked.thresholds.everything[:-1]).sum())}
    return {"promise": promise, "sure": {"confidence": confidence, **sure}}


def _coverage_facts(rule: rs.Rule, alpha: str) -> dict[str, Any]:
    """Return the range of coverage in 90 % of calibrations, and whether ties may raise it; nothing if not proven."""
    if not rule.guaranteed or _has_mean_only(rule):
        return {}
    band = rule.coverage_band(alpha, confidence=CONFIDENCE)
    name = "coverage" if rule.calibration.weights is None else "kept"
    return {
        name: [round(band.low, 4), round(band.high, 4)],
        "tied": band.tied,
        **({} if band.attained else {"attained": False}),
    }


def _group_counts(rule: rs.Rule, alpha: str) -> dict[str, Any]:
    """Return what the first thresholds mean, how many groups have one, and how many have too few rows."""
    counts, needed = rule.calibration.counts, rows_needed(exact_alpha(alpha))
    at = rule.at(alpha)
    found, kept = group_sentences(at), at.thresholds.everything[:-1]
    return {
        "follows": title_of_groups(rule.spec),
        "rules": {one.name: one.sentence for one in found},
        **({"more_rules": rule.spec.n_groups - len(found)} if rule.spec.n_groups > len(found) else {}),
        "thresholds": int((~kept).sum()),
        **({} if _has_mean_only(rule) else _small_groups(counts, needed)),
        **(
            {"groups_with_absent_labels": int((kept & (counts >= needed)).sum())}
            if rule.calibration.n_absent and not _has_mean_only(rule)
            else {}
        ),
    }


def _small_groups(counts: NDArray[np.int64], needed: int) -> dict[str, int]:
    """Return how many groups have too few rows, if every group uses its own rows alone, and how many are needed."""
    return {"groups_too_small": int((counts < needed).sum()), "rows_needed": int(needed)}


def _threshold_value(threshold: tuple[float, ...]) -> float | dict[str, float]:
    """A threshold of one key as a number, of several keys as key0, key1, …"""
    return threshold[0] if len(threshold) == 1 else {f"key{place}": part for place, part in enumerate(threshold)}
