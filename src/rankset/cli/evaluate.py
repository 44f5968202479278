"""``rankset evaluate``: measure coverage and set sizes of a rule on rows with known labels."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

import rankset as rs
from rankset import progress
from rankset.cli.command import Command
from rankset.cli.echo import echo
from rankset.cli.files import find_usual_arrays, load_rule, split_paths
from rankset.cli.options import DEFAULT_ALPHA, FILE, options
from rankset.cli.printing import json_values
from rankset.cli.promises import promise_arguments, proven_promise
from rankset.engines.shard_paths import pair_files
from rankset.errors import InputError, once
from rankset.evaluation.evaluation_remarks import for_command_line
from rankset.io.layout import Layout
from rankset.streams.exchangeability import can_be_asked, labelled_rows, look_at_rows


@click.command(cls=Command)
@click.argument("rule_file", metavar="RULE", type=FILE)
@click.argument("paths", metavar="SCORES [LABELS]", nargs=-1, required=True)
@options(
    "alphas",
    "confidence",
    "label",
    "label_sep",
    "absent",
    "labels",
    "group",
    "identity",
    "weights",
    "drop",
    "options",
    "key",
    "file_format",
    "header",
    "max_memory",
    "json",
)
def evaluate(
    rule_file: Path,
    paths: Sequence[str],
    label_files: Sequence[str],
    alphas: Sequence[str],
    confidence: str | None,
    as_json: bool,
    layout: Layout,
) -> None:
    """Predict sets with a rule, compare them with the true labels, and print coverage, set sizes and other metrics.

    SCORES are model outputs and LABELS the true labels. Pass labels in the same way as to rankset calibrate. With
    --group, coverage is also printed for every group. With --confidence, the sets are those of rankset predict
    --confidence, and their promise is printed.

    \b
    rankset evaluate rule.rankset test_logits.npy test_labels.npy --alpha 0.05 --alpha 0.1
    rankset evaluate rule.rankset test_logits.npy test_labels.npy --alpha 0.1 --confidence 0.95
    """
    promise_arguments(confidence, None, all_groups=False)
    rule, levels = load_rule(rule_file), alphas or (DEFAULT_ALPHA,)
    layout = replace(layout, several=rule.spec.several_labels)
    if layout.several and layout.group is not None and not rule.condition.needs_groups:
        raise click.UsageError(
            "--group works here only for rules with a threshold per group, because rows can have "
            "several labels. Remove --group."
        )
    sets: dict[str, list[rs.PredictionSets]] = {alpha: [] for alpha in levels}
    truth, groups, looked = [], [], []
    pairs = pair_files(*split_paths(paths, label_files, layout))
    for pair in pairs:
        of_file, _ = find_usual_arrays(*pair, layout, rule.kind)
        read = of_file.read_shard if len(pairs) > 1 else of_file.read_rows
        found = read(*pair, rule.classes.tolist(), kind=rule.kind)
        if found is None:
            continue
        rows = found.with_groups_of(rule.groups.tolist())
        with once(), rows.name_file_in_errors(), progress.track("evaluating"):
            truth.append(rows.labels_of_sets(rule.spec.classes))
            groups.append(rows.groups)
            rule_groups = rows.groups if rule.condition.needs_groups else None
            if can_be_asked(rule):
                looked.append(labelled_rows(rule, rows.scores, truth[-1], groups=rule_groups, ids=rows.ids))
            for alpha in levels:
                asked = rule.at(alpha, confidence=confidence)
                sets[alpha].append(asked.predict(rows.scores, groups=rule_groups, ids=rows.ids, weights=rows.weights))
    if not truth:
        raise InputError.no_rows_to_evaluate()
    labels = np.concatenate(truth)
    by_group = layout.group is not None and not (layout.several and rule.condition.needs_groups)
    joined: Any = None if not by_group else np.concatenate([one for one in groups if one is not None])
    looks: dict[str, Any] = {} if layout.several else {"exchangeability": look_at_rows(rule, looked)}
    results = {
        alpha: rs.evaluate(rs.PredictionSets.concat(some), labels, groups=joined, **looks)
        for alpha, some in sets.items()
    }
    promises = {alpha: _promise(rule, alpha, confidence) for alpha in levels}
    if as_json:
        echo(json.dumps({alpha: _json_facts(one) | promises[alpha] for alpha, one in results.items()}))
    else:
        echo("\n\n".join(for_command_line(repr(one)) + _in_words(promises[alpha]) for alpha, one in results.items()))


def _promise(rule: rs.Rule, alpha: str, confidence: str | None) -> dict[str, Any]:
    """Return what is promised with a confidence, if groups share rows, or if rows have weights.

    It is {} for other rules, or if it is not proven.

    If groups share rows, the promise is not that every group is covered, and can be a mean over classes.
    """
    told = confidence is not None or rule.spec.sharing is not None or rule.spec.weighted
    text = proven_promise(rule, alpha) if told else None
    if text is None:
        return {}
    return {"promise": {"confidence": confidence, "text": text}}


def _in_words(promise: dict[str, Any]) -> str:
    """Return the last line of the table."""
    facts = promise.get("promise")
    if facts is None:
        return ""
    sure = "" if facts["confidence"] is None else f", with confidence {facts['confidence']}"
    return f"\nPromise{sure}: {facts['text']}"


def _json_facts(evaluation: rs.Evaluation | rs.LabelsEvaluation) -> dict[str, Any]:
    return json_values(evaluation.to_dict())
