"""``rankset compare``: compare all scores on the same random splits of the rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

import rankset as rs
from rankset import progress
from rankset.cli.files import read_class_names, split_paths
from rankset.cli.options import DEFAULT_ALPHA, options
from rankset.cli.printing import echo, json_values
from rankset.engines.shard_paths import pair_files
from rankset.evaluation.default_scores import default_scores
from rankset.io.layout import Layout


@click.command(short_help="Compare all scores on the same random splits.")
@click.argument("paths", metavar="SCORES [LABELS]", nargs=-1, required=True)
@click.option("--repeats", type=click.IntRange(1), default=20, show_default=True, help="Number of random splits.")
@options(
    *("kind", "alphas", "label", "labels", "drop", "classes", "key", "file_format", "header", "seed"),
    *("max_memory", "json"),
)
def compare(
    paths: Sequence[str],
    label_files: Sequence[str],
    repeats: int,
    kind: Any,
    alphas: Sequence[str],
    classes: Path | None,
    seed: int,
    as_json: bool,
    layout: Layout,
) -> None:
    """Compare all scores on the same random splits of the rows. Print the metrics with standard errors.

    In each split, one half of the rows is used for calibration and the other half for testing. SCORES are the model
    outputs and LABELS the true labels. Pass labels in the same way as to rankset calibrate.

    \b
    rankset compare val_logits.npy val_labels.npy --kind logits --alpha 0.1
    """
    pairs = pair_files(*split_paths(paths, label_files, layout))
    if len(pairs) > 1:
        raise click.UsageError(
            f"compare works with one file only, got {len(pairs)} files. Join the files, or pass one of them."
        )
    rows = layout.read_calibration_rows(*pairs[0], read_class_names(classes, layout), kind)
    names = rows.classes
    shared: dict[str, Any] = {"kind": kind or "probs", "classes": names, "repeats": repeats, "seed": seed}
    with rows.name_file_in_errors(), progress.track("comparing"):
        labels = rows.labels_for(names)
        results = {
            alpha: rs.compare(rows.scores, labels, alpha, scores=default_scores(kind), **shared)
            for alpha in alphas or (DEFAULT_ALPHA,)
        }
    if as_json:
        echo(json.dumps({alpha: json_values(_json_facts(one)) for alpha, one in results.items()}))
    else:
        echo("\n\n".join(repr(one) for one in results.values()))


def _json_facts(result: rs.Comparison) -> dict[str, Any]:
    near = result.tied_with_smallest
    return {
        repr(score): {
            **{
                measure: {"mean": mean, "error": error}
                for measure, mean, error in zip(result.measures, means, errors, strict=True)
            },
            "smallest": score == result.smallest,
            "tied_with_smallest": score in near,
        }
        for score, means, errors in zip(result.scores, result.means.tolist(), result.errors.tolist(), strict=True)
    }
