"""Triage and decisions on many files, in several processes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from rankset.conditions import Condition, Marginal
from rankset.decisions.decisions import Decisions
from rankset.decisions.errors_by_group import Errors
from rankset.decisions.gate import Gate
from rankset.decisions.triage import Triage
from rankset.engines.decision_tasks import CountTask, DecisionTask, GateTask, TriageTask
from rankset.engines.partial_rules import final_triage
from rankset.engines.processes import map_in_processes
from rankset.engines.shard_paths import Paths, expand_paths, pair_files
from rankset.engines.shard_tasks import check_groups_of_files, count_file, learn_from_files, predict_file
from rankset.inputs.matrix import Kind
from rankset.io.layout import Layout
from rankset.scores import Score


def triage(
    scores: Paths,
    labels: Paths | None = None,
    *,
    layout: Layout | None = None,
    label: str | None = None,
    correct: str | None = None,
    group: str | None = None,
    identity: str | None = None,
    drop: Sequence[str] = (),
    within: int = 1,
    confidence: Score | str | None = None,
    score: Score | str | None = None,
    condition: Condition = Marginal(),  # noqa: B008
    kind: Kind = "probs",
    classes: Iterable[object] | None = None,
    seed: int = 0,
    absent: str | None = None,
    workers: int | None = None,
) -> Triage:
    """Return the same triage, byte for byte, as ``rankset.triage`` for the rows of all files.

    Parameters
    ----------
    scores : path or sequence of paths
        Files with model outputs, as in ``calibrate``. A single column of numbers holds one confidence per row.
    labels : path or sequence of paths, optional
        Files with labels, as in ``calibrate``. With one confidence per row they say whether each answer is right.
    layout : Layout, optional
        All column names in one object. If given, ``label``, ``group``, ``identity``, ``drop`` and ``absent`` are
        ignored.
    label, group, identity : str, optional
        Names of the columns with labels, groups and ids.
    correct : str, optional
        Instead of labels: name of the column that says whether each answer is right (true and false, or 1 and 0).
    drop : sequence of str
        Names of columns to ignore.
    within, score, condition, kind, classes, seed
        As in ``rankset.triage``.
    confidence : score or str, optional
        As in ``rankset.triage``. "auto" is not possible, because it needs its rows at once: pass some of the rows to
        ``rankset.triage`` with "auto", and the ``score`` of its result here, with the other rows.
    absent, workers
        As in ``calibrate``.

    Returns
    -------
    Triage

    Raises
    ------
    FileError
        If a file is missing, damaged or too large, if a column is missing, or if score and label files do not match.
    RanksetError
        If ``rankset.triage`` would raise an error. The message names the file.

    Examples
    --------
    >>> import tempfile, numpy as np, rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> folder = tempfile.TemporaryDirectory()
    >>> for part in range(2):
    ...     np.savez(f"{folder.name}/{part}.npz", probs=probs[part::2], label=labels[part::2])
    >>> rs.engines.shards.triage(folder.name, label="label", workers=1) == rs.triage(probs, labels)
    True
    >>> folder.cleanup()
    """
    where = layout or Layout(label, group, identity, tuple(drop), absent=absent)
    task = TriageTask.of(
        *(confidence, score, condition, kind, classes, seed, within),
        labels=where.label if labels is None else labels,
        correct=correct,
        absent=where.absent,
    )
    where = where if correct is None else replace(where, label=correct)
    pairs = pair_files(scores, labels)
    found = final_triage(learn_from_files(task, where, pairs, workers, given=classes is not None))
    check_groups_of_files(found.groups.tolist())
    return found


def accept(
    triage: Triage,
    scores: Paths,
    error: Errors,
    *,
    layout: Layout | None = None,
    group: str | None = None,
    identity: str | None = None,
    drop: Sequence[str] = (),
    workers: int | None = None,
) -> Iterator[Decisions]:
    """Yield which rows of a batch are accepted, one file at a time, the same as ``triage.accept`` for all rows.

    All files together are the batch, and are read twice. First the p-values of each file are counted. Only these
    counts are collected, and decide what is accepted.

    Parameters
    ----------
    triage : Triage
    scores : path or sequence of paths
        Files with model outputs, as in ``triage``.
    error : float, str, Fraction or dict
        Largest expected share of wrong answers among the accepted ones, as in ``Triage.accept``.
    layout, group, identity, drop, workers
        As in ``triage``.

    Returns
    -------
    iterator of Decisions
        In the order of the files, with their rows, so that ``Decisions.review`` can be called.

    Raises
    ------
    RanksetError
        If ``triage.accept`` would raise an error. The message names the file.

    Examples
    --------
    >>> import tempfile, numpy as np, rankset as rs
    >>> probs, labels = rs.datasets.load("carer")
    >>> triage = rs.triage(probs[:1000], labels[:1000], kind="logits")
    >>> folder = tempfile.TemporaryDirectory()
    >>> for part in range(2):
    ...     np.save(f"{folder.name}/{part}.npy", probs[1000 + part :: 2])
    >>> sum(done.n_accepted for done in rs.engines.shards.accept(triage, folder.name, error=0.05, workers=1))
    726
    >>> folder.cleanup()
    """
    where = layout or Layout(None, group, identity, tuple(drop))
    counting, paths = CountTask.of(triage, error), expand_paths(scores)
    counts = counting.merge([*map_in_processes(partial(count_file, counting, where), paths, workers)])
    return _decided(counting.accepting(counts, with_ids=where.identity is not None), where, paths, workers)


def decide(
    gate: Gate,
    scores: Paths,
    *,
    layout: Layout | None = None,
    group: str | None = None,
    identity: str | None = None,
    drop: Sequence[str] = (),
    workers: int | None = None,
) -> Iterator[Decisions]:
    """Yield which rows a gate accepts, one file at a time, the same as ``gate.decide``.

    Parameters
    ----------
    gate : Gate
        The result of ``Triage.threshold``.
    scores : path or sequence of paths
        Files with model outputs, as in ``triage``.
    layout, group, identity, drop, workers
        As in ``triage``.

    Returns
    -------
    iterator of Decisions
        In the order of the files, with their rows, so that ``Decisions.review`` can be called.

    Raises
    ------
    RanksetError
        If ``gate.decide`` would raise an error. The message names the file.

    Examples
    --------
    >>> import tempfile, numpy as np, rankset as rs
    >>> probs, labels = rs.datasets.load("carer")
    >>> gate = rs.triage(probs[:1500], labels[:1500], kind="logits").threshold(error=0.05)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/new.npy", probs[1500:])
    ...     (done,) = rs.engines.shards.decide(gate, folder)
    >>> done.n_accepted == gate.accepts(probs[1500:]).sum()
    np.True_
    """
    where = layout or Layout(None, group, identity, tuple(drop))
    return _decided(GateTask.of(gate), where, expand_paths(scores), workers)


def _decided(task: DecisionTask, layout: Layout, paths: Sequence[str], workers: int | None) -> Iterator[Decisions]:
    return (done for done, _ in map_in_processes(partial(predict_file, task, layout), paths, workers))
