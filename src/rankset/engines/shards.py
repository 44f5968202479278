"""The same rule for files of one machine: any format that ``rankset`` reads, file by file, in several processes.

rule = rankset.engines.shards.calibrate("scores/*.parquet", label="answer")
rule = rankset.engines.shards.calibrate("scores", "labels", kind="logits")        # two folders of .npy files
for sets in rankset.engines.shards.predict(rule, "new/*.parquet", alpha=0.1): ...
rankset.engines.shards.write(rule, "new/*.parquet", "sets", alpha=0.1)            # a file of sets per shard
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from rankset.conditions import Condition, Marginal
from rankset.core.alpha import Alpha
from rankset.engines.partial_rules import PartialRule, final_rule, merge_partial_rules
from rankset.engines.processes import map_in_processes
from rankset.engines.shard_paths import Paths, expand_paths, file_stem, pair_files
from rankset.engines.shard_tasks import calibrate_file, calibrate_first_file, predict_file, write_file
from rankset.engines.worker_tasks import CalibrationTask, PredictionTask
from rankset.errors import FileError
from rankset.inputs.matrix import Kind
from rankset.io.layout import Layout
from rankset.io.spelling import equal_groups
from rankset.io.write_sets import FORMATS
from rankset.io.writers.base import SetsAndKept
from rankset.rules.rule import Rule
from rankset.rules.select import Empty
from rankset.scores import Rank, Score
from rankset.sets import PredictionSets


def calibrate(
    scores: Paths,
    labels: Paths | None = None,
    *,
    layout: Layout | None = None,
    label: str | None = None,
    group: str | None = None,
    identity: str | None = None,
    drop: Sequence[str] = (),
    score: Score = Rank(),  # noqa: B008
    condition: Condition = Marginal(),  # noqa: B008
    kind: Kind = "probs",
    classes: Iterable[object] | None = None,
    seed: int = 0,
    workers: int | None = None,
) -> Rule:
    """Return the rule that ``rankset.calibrate`` gives for the rows of all files, byte for byte.

    Parameters
    ----------
    scores : path, or several
        Files of model outputs: a file, a folder, a pattern, or several of them.
    labels : path, or several, optional
        Files of labels, as many as files of scores. Those of folders and patterns need the same names, or names with
        the same numbers; those that are listed one by one may also be in the same order. Without files of labels
        ``label`` names a column in the files of scores.
    layout : Layout, optional
        All names of columns in one object, in place of the next four.
    label, group, identity : str, optional
        Columns of labels, groups and ids.
    drop : sequence of str
        Columns that are no scores.
    score, condition, kind, classes, seed
        As in ``rankset.calibrate``.
    workers : int, optional
        Number of processes; by default one per core.

    Returns
    -------
    Rule

    Raises
    ------
    FileError
        If a file is missing, damaged or too large, if a column is missing, or if files have no partner.
    RuleError
        If some files have more columns than the first, and ``classes`` is not given.
    RanksetError
        As ``rankset.calibrate``; the message names the file.

    Examples
    --------
    >>> import tempfile, numpy as np, rankset as rs
    >>> from rankset.engines import shards
    >>> probs, labels = rs.datasets.load("marketing")
    >>> folder = tempfile.TemporaryDirectory()
    >>> for part in range(2):
    ...     np.savez(f"{folder.name}/{part}.npz", probs=probs[part::2], label=labels[part::2])
    >>> shards.calibrate(folder.name, label="label", workers=1) == rs.calibrate(probs, labels)
    True
    >>> folder.cleanup()
    """
    where = layout or Layout(label, group, identity, tuple(drop))
    task, pairs = CalibrationTask.of(score, condition, kind, classes, seed), pair_files(scores, labels)
    given = classes is not None
    partial_rules: list[PartialRule] = []
    rest = list(pairs)
    while rest and not any(one.rule for one in partial_rules):  # the first rows decide the classes of all others
        partial_rules.append(calibrate_first_file(task, where, rest.pop(0), given=given))
        if partial_rules[-1].rule is not None:
            task = replace(task, classes=partial_rules[-1].rule.classes.tolist())
    partial_rules += map_in_processes(partial(calibrate_file, task, where, given=given), rest, workers)
    rule = final_rule(merge_partial_rules(partial_rules))
    mixed = equal_groups(rule.groups.tolist())
    if mixed:
        raise FileError.mixed_groups(mixed)
    return rule


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
) -> Iterator[PredictionSets]:
    """Yield the sets that ``rule.predict`` gives, those of one file at a time, in the order of the files.

    Parameters
    ----------
    rule : Rule
    scores : path, or several
        Files of model outputs: a file, a folder, a pattern, or several of them.
    alpha : float, str or Fraction
        Tolerated miss rate.
    layout, group, identity, drop, workers
        As in ``calibrate``.
    empty : {"allow", "top"}
        Keep empty sets, or give them the most likely label.

    Returns
    -------
    iterator of PredictionSets

    Raises
    ------
    RanksetError
        As ``rule.predict``; the message names the file.

    Examples
    --------
    >>> import tempfile, numpy as np, rankset as rs
    >>> from rankset.engines import shards
    >>> probs, labels = rs.datasets.load("marketing")
    >>> folder = tempfile.TemporaryDirectory()
    >>> for part in range(2):
    ...     np.save(f"{folder.name}/{part}.npy", probs[130 * part : 130 * part + 130])
    >>> rule = rs.calibrate(probs, labels)
    >>> [len(sets) for sets in shards.predict(rule, folder.name, alpha=0.1, workers=1)]
    [130, 130]
    >>> folder.cleanup()
    """
    where = layout or Layout(None, group, identity, tuple(drop))
    return (sets for sets, _ in predict_with_kept(rule, scores, alpha, layout=where, empty=empty, workers=workers))


def predict_with_kept(
    rule: Rule, scores: Paths, alpha: Alpha, *, layout: Layout, empty: Empty = "allow", workers: int | None = None
) -> Iterator[SetsAndKept]:
    """Yield the sets of one file at a time, with the columns of the file that the layout keeps.

    Parameters
    ----------
    rule, scores, alpha, layout, empty, workers
        As in ``predict``.

    Returns
    -------
    iterator of (PredictionSets, dict)

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
    task = PredictionTask.of(rule, alpha, empty)
    return map_in_processes(partial(predict_file, task, layout), expand_paths(scores), workers)


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
) -> list[Path]:
    """Write a file of sets into ``folder`` for every file of scores, with the same name; return the paths.

    Parameters
    ----------
    rule, scores, alpha, layout, group, identity, drop, empty, workers
        As in ``predict``.
    folder : path
        Where to write; it is made if it does not exist.
    suffix : {".parquet", ".csv", ".jsonl", ".npz"}
        Format of the files.
    keep : sequence of str
        Columns of the input that are written beside the sets.
    force : bool
        Replace files that exist.

    Returns
    -------
    list of Path

    Raises
    ------
    FileError
        If a file exists and ``force`` is false, if an output would replace an input, or if two outputs have one name.

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
    where = layout or Layout(None, group, identity, tuple(drop), tuple(keep))
    task = PredictionTask.of(rule, alpha, empty)
    paths = expand_paths(scores)
    targets = [Path(folder) / f"{file_stem(path)}{suffix}" for path in paths]
    if suffix not in FORMATS:
        raise FileError.unknown_kind(f"sets{suffix}", tuple(FORMATS))
    _check_targets(Path(folder), targets, paths, force=force)
    Path(folder).mkdir(parents=True, exist_ok=True)
    jobs = list(zip(paths, targets, strict=True))
    return list(map_in_processes(partial(write_file, task, where, force=force), jobs, workers))


def _check_targets(folder: Path, targets: Sequence[Path], inputs: Sequence[str], *, force: bool) -> None:
    """Refuse outputs that would replace inputs, one another, or existing files."""
    if folder.exists() and not folder.is_dir():
        raise FileError.unwritable(str(folder), "it is a file, not a folder")
    taken = {os.path.realpath(path) for path in inputs}
    for place, path in enumerate(targets):
        if os.path.realpath(path) in taken:
            raise FileError.own_input(str(path))
        if path in targets[:place]:
            raise FileError.same_target(str(path))
        if path.exists() and not force:
            raise FileError.exists(str(path))
