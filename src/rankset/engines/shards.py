"""Calibration, prediction and decisions on many files, in several processes. All formats of ``rankset`` are read.

rule = rankset.engines.shards.calibrate("scores/*.parquet", label="answer")
rule = rankset.engines.shards.calibrate("scores", "labels", kind="logits")        # two folders of .npy files
for sets in rankset.engines.shards.predict(rule, "new/*.parquet", alpha=0.1): ...
rankset.engines.shards.write(rule, "new/*.parquet", "sets", alpha=0.1)            # one output file per input file
triage = rankset.engines.shards.triage("scores/*.parquet", label="answer")       # decisions: shard_decisions
for done in rankset.engines.shards.accept(triage, "new/*.parquet", error=0.02): ...
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from rankset.conditions import Condition, Marginal
from rankset.core.alpha import Alpha
from rankset.core.alpha_argument import takes_alpha
from rankset.engines.partial_rules import final_rule
from rankset.engines.processes import map_in_processes
from rankset.engines.shard_decisions import accept, decide, triage
from rankset.engines.shard_paths import Paths, check_targets, expand_paths, file_stem, pair_files
from rankset.engines.shard_tasks import check_groups_of_files, learn_from_files, predict_file, write_file
from rankset.engines.worker_tasks import CalibrationTask, PredictionTask
from rankset.errors import FileError
from rankset.inputs.matrix import Kind
from rankset.io.layout import Layout
from rankset.io.write_sets import FORMATS
from rankset.io.writers.base import SetsAndKept
from rankset.rules.rule import Rule
from rankset.rules.select import Empty
from rankset.scores import Score
from rankset.sets import PredictionSets
from rankset.targets import OneLabel, Target

__all__ = ["accept", "calibrate", "decide", "predict", "predict_with_kept", "triage", "write"]


def calibrate(
    scores: Paths,
    labels: Paths | None = None,
    *,
    layout: Layout | None = None,
    label: str | None = None,
    group: str | None = None,
    identity: str | None = None,
    drop: Sequence[str] = (),
    method: Score | str | None = None,
    condition: Condition = Marginal(),  # noqa: B008
    kind: Kind = "probs",
    classes: Iterable[object] | None = None,
    seed: int = 0,
    absent: str | None = None,
    workers: int | None = None,
    score: Score | str | None = None,
    target: Target | str = OneLabel(),  # noqa: B008
    label_sep: str = ";",
    weights: str | float | None = None,
) -> Rule:
    """Return the same rule, byte for byte, as ``rankset.calibrate`` for the rows of all files.

    Parameters
    ----------
    scores : path or sequence of paths
        Files with model outputs. Each path is a file, a folder, or a pattern such as ``"scores/*.parquet"``.
    labels : path or sequence of paths, optional
        Files with labels, one per file in ``scores``. Files of folders and patterns need the same names, or names with
        the same numbers. Files that are listed one by one may also be in the same order. If omitted, the labels are in
        the column ``label`` of the files in ``scores``.
    layout : Layout, optional
        All column names in one object. If given, ``label``, ``group``, ``identity`` and ``drop`` are ignored.
    label, group, identity : str, optional
        Names of the columns with labels, groups and ids.
    drop : sequence of str
        Names of columns to ignore.
    method, condition, kind, classes, seed, score
        As in ``rankset.calibrate``. ``method="auto"`` is not possible, because it needs its rows at once: pass some of
        the rows to ``rankset.auto``, and the ``score`` of its rule as ``method`` here, with the other rows.
    absent : str, optional
        Text of labels in rows whose true label is not among the candidates, as ``rankset.ABSENT``. "" stands for
        missing labels. Ignored if ``layout`` is given.
    workers : int, optional
        Number of processes. Default: one per core.
    target
        As in ``rankset.calibrate``. If rows can have several labels, the column of labels holds lists, or texts with
        names separated by ``label_sep``; or the files of labels are 0/1 matrices with one column per class.
    label_sep : str
        Separates the names in a cell of labels. Ignored if ``layout`` is given.
    weights : str or float, optional
        Name of the column with the weight of each row, or one number for all rows, as in ``rankset.calibrate``. Ignored
        if ``layout`` is given.

    Returns
    -------
    Rule

    Raises
    ------
    FileError
        If a file is missing, damaged or too large, if a column is missing, or if score and label files do not match.
    RuleError
        If some files have more columns than the first file, and ``classes`` is not given.
    RanksetError
        If ``rankset.calibrate`` would raise an error. The message names the file.

    Examples
    --------
    >>> import tempfile, numpy as np, rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> folder = tempfile.TemporaryDirectory()
    >>> for part in range(2):
    ...     np.savez(f"{folder.name}/{part}.npz", probs=probs[part::2], label=labels[part::2])
    >>> rs.engines.shards.calibrate(folder.name, label="label", workers=1) == rs.calibrate(probs, labels)
    True
    >>> folder.cleanup()
    """
    further: dict[str, Any] = {"absent": absent, "label_sep": label_sep, "weights": _text(weights)}
    where = layout or Layout(label, group, identity, tuple(drop), **further)
    task, pairs = CalibrationTask.of(method, score, condition, kind, classes, seed, target), pair_files(scores, labels)
    where = replace(where, several=task.several_labels)
    rule = final_rule(learn_from_files(task, where, pairs, workers, given=classes is not None))
    check_groups_of_files(rule.groups.tolist())
    return rule


@takes_alpha
def predict(
    rule: Rule,
    scores: Paths,
    alpha: Alpha,
    *,
    layout: Layout | None = None,
    group: str | None = None,
    identity: str | None = None,
    drop: Sequence[str] = (),
    empty: Empty = "allow",
    workers: int | None = None,
    confidence: Alpha | None = None,
    next_rows: int | None = None,
    all_groups: bool = False,
    weights: str | float | None = None,
) -> Iterator[PredictionSets]:
    """Yield the sets of one file at a time, in the order of the files. The sets are the same as with ``rule.predict``.

    Parameters
    ----------
    rule : Rule
    scores : path or sequence of paths
        Files with model outputs, as in ``calibrate``.
    alpha : float, str or Fraction
        Largest allowed probability that a set does not contain the true label.
    layout, group, identity, drop, workers, weights
        As in ``calibrate``.
    empty : {"allow", "top"}
        "allow" keeps empty sets. "top" adds the most likely label to each empty set.
    confidence, next_rows, all_groups
        As in ``Rule.predict``: the promise holds for this calibration with the probability ``confidence``.

    Returns
    -------
    iterator of PredictionSets

    Raises
    ------
    RanksetError
        If ``rule.predict`` would raise an error. The message names the file.

    Examples
    --------
    >>> import tempfile, numpy as np, rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> folder = tempfile.TemporaryDirectory()
    >>> for part in range(2):
    ...     np.save(f"{folder.name}/{part}.npy", probs[130 * part : 130 * part + 130])
    >>> rule = rs.calibrate(probs, labels)
    >>> [len(sets) for sets in rs.engines.shards.predict(rule, folder.name, alpha=0.1, workers=1)]
    [130, 130]
    >>> folder.cleanup()
    """
    where = layout or Layout(None, group, identity, tuple(drop), weights=_text(weights))
    task = PredictionTask.of(rule, alpha, empty, confidence=confidence, next_rows=next_rows, all_groups=all_groups)
    return (sets for sets, _ in map_in_processes(partial(predict_file, task, where), expand_paths(scores), workers))


@takes_alpha
def predict_with_kept(
    rule: Rule,
    scores: Paths,
    alpha: Alpha,
    *,
    layout: Layout,
    empty: Empty = "allow",
    workers: int | None = None,
    confidence: Alpha | None = None,
    next_rows: int | None = None,
    all_groups: bool = False,
) -> Iterator[SetsAndKept]:
    """Yield the sets and the extra columns of one file at a time. ``layout.keep`` lists the extra columns.

    Parameters
    ----------
    rule, scores, alpha, layout, empty, workers, confidence, next_rows, all_groups
        As in ``predict``.

    Returns
    -------
    iterator of pairs (PredictionSets, dict of extra columns)

    Examples
    --------
    >>> import tempfile, numpy as np, rankset as rs
    >>> from rankset.engines import shards
    >>> from rankset.io.layout import Layout
    >>> probs, labels = rs.datasets.load("marketing")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/new.npy", probs)
    ...     rule, files = rs.calibrate(probs, labels), [f"{folder}/new.npy"]
    ...     sets, kept = next(shards.predict_with_kept(rule, files, 0.1, layout=Layout()))
    >>> len(sets)
    260
    """
    task = PredictionTask.of(rule, alpha, empty, confidence=confidence, next_rows=next_rows, all_groups=all_groups)
    return map_in_processes(partial(predict_file, task, layout), expand_paths(scores), workers)


@takes_alpha
def write(
    rule: Rule,
    scores: Paths,
    folder: str | os.PathLike[str],
    alpha: Alpha,
    *,
    suffix: str = ".parquet",
    layout: Layout | None = None,
    group: str | None = None,
    identity: str | None = None,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    empty: Empty = "allow",
    force: bool = False,
    workers: int | None = None,
    confidence: Alpha | None = None,
    next_rows: int | None = None,
    all_groups: bool = False,
    weights: str | float | None = None,
) -> list[Path]:
    """Predict the sets of each input file, and write them to an output file with the same name in ``folder``.

    Parameters
    ----------
    rule, scores, alpha, layout, group, identity, drop, empty, workers, confidence, next_rows, all_groups, weights
        As in ``predict``.
    folder : path
        Output folder. It is created if it does not exist.
    suffix : {".parquet", ".csv", ".jsonl", ".npz", ".xlsx"}
        Format of the output files.
    keep : sequence of str
        Extra columns of the input that are copied to the output. Ignored if ``layout`` is given.
    force : bool
        If True, existing output files are replaced.

    Returns
    -------
    list of Path
        The output files.

    Raises
    ------
    FileError
        If an output file exists and ``force`` is False, if an output file would replace an input file, or if two output
        files would have the same name.

    Examples
    --------
    >>> import tempfile, numpy as np, rankset as rs
    >>> from rankset.engines import shards
    >>> probs, labels = rs.datasets.load("marketing")
    >>> folder = tempfile.TemporaryDirectory()
    >>> np.save(f"{folder.name}/new.npy", probs)
    >>> rule = rs.calibrate(probs, labels)
    >>> [path.name for path in shards.write(rule, f"{folder.name}/*.npy", f"{folder.name}/sets", alpha=0.1)]
    ['new.parquet']
    >>> folder.cleanup()
    """
    where = layout or Layout(None, group, identity, tuple(drop), tuple(keep), weights=_text(weights))
    task = PredictionTask.of(rule, alpha, empty, confidence=confidence, next_rows=next_rows, all_groups=all_groups)
    paths = expand_paths(scores)
    targets = [Path(folder) / f"{file_stem(path)}{suffix}" for path in paths]
    if suffix not in FORMATS:
        raise FileError.unknown_kind(f"sets{suffix}", tuple(FORMATS))
    check_targets(Path(folder), targets, paths, force=force)
    Path(folder).mkdir(parents=True, exist_ok=True)
    jobs = list(zip(paths, targets, strict=True))
    return list(map_in_processes(partial(write_file, task, where, force=force), jobs, workers))


def _text(weights: str | float | None) -> str | None:
    """Return the name of the column of weights, or a number as a text."""
    return None if weights is None else str(weights)
