"""The same rule on one machine's folders: files of any kind ``rankset`` reads, shard by shard, in several processes.

rule = rankset.engines.shards.calibrate("scores/*.parquet", label="answer")
rule = rankset.engines.shards.calibrate("scores", "labels", kind="logits")        # two folders of .npy files
for sets in rankset.engines.shards.predict(rule, "new/*.parquet", alpha=0.1): ...
rankset.engines.shards.write(rule, "new/*.parquet", "sets", alpha=0.1)            # a file of sets per shard
"""

from __future__ import annotations

import glob
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, TypeVar

from rankset.conditions import Condition, Marginal
from rankset.core import parallel
from rankset.core.alpha import Alpha
from rankset.engines import parts
from rankset.engines.parts import Answer, Calibrating, Part, Predicting
from rankset.errors import FileError, KindError, Place
from rankset.inputs.matrix import Kind
from rankset.inputs.vocabulary import in_order
from rankset.io import atomic, memory_budget, read_scores, write_sets
from rankset.io.layout import Layout, Rows, same_groups
from rankset.rules.rule import Rule
from rankset.rules.select import Empty
from rankset.scores import Rank, Score
from rankset.sets import PredictionSets

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""A file, a folder, a pattern, or several of them."""

Result = TypeVar("Result")


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
    """The rule that ``rankset.calibrate`` would give for the rows of all files, byte for byte.

    Labels stand in a column (``label``), or in files of their own, as many as files of scores and in the same order.
    ``drop`` are columns that are no scores. ``workers`` processes (by default one per core) take the next file whenever
    they are done with one.
    """
    where = layout or Layout(label, group, identity, tuple(drop))
    named = None if classes is None else list(in_order(classes))
    question, pairs = Calibrating(score, condition, kind, named, seed), paired(scores, labels)
    answers: list[Answer] = []
    rest = list(pairs)
    while rest and not any(answer.rule for answer in answers):
        answers.append(_rule_of_first(question, where, rest.pop(0)))  # the first rows tell the classes to all others
        if answers[-1].rule is not None:
            question = replace(question, classes=answers[-1].rule.classes.tolist())
    answers += spread(partial(_rule_of, question, where), rest, workers)
    rule = parts.finished(parts.joined(answers))
    mixed = same_groups(rule.groups.tolist())
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
    """The sets that ``rule.predict`` would give, those of one file at a time, in the order of the files."""
    where = layout or Layout(None, group, identity, tuple(drop))
    return (sets for sets, _ in each(rule, scores, alpha, layout=where, empty=empty, workers=workers))


def each(
    rule: Rule, scores: Paths, alpha: Alpha, *, layout: Layout, empty: Empty = "allow", workers: int | None = None
) -> Iterator[write_sets.Part]:
    """The sets of one file at a time, with the columns to be kept beside them."""
    return spread(partial(_sets_of, Predicting.at(rule, alpha, empty), layout), expanded(scores), workers)


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
    """Writes a file of sets into ``folder`` for every file of scores, under its name; tells which.

    ``drop`` are columns that are no scores, ``keep`` columns that are written beside the sets.
    """
    where = layout or Layout(None, group, identity, tuple(drop), tuple(keep))
    question = Predicting.at(rule, alpha, empty)
    target = Path(folder)
    paths = expanded(scores)
    targets = [target / f"{_stem(path)}{suffix}" for path in paths]
    if suffix not in write_sets.WRITERS:
        raise FileError.unknown_kind(f"sets{suffix}", tuple(write_sets.WRITERS))
    if target.exists() and not target.is_dir():
        raise FileError.unwritable(str(target), "it is a file, and must be a folder")
    taken = {os.path.realpath(path) for path in paths}
    for place, path in enumerate(targets):
        if os.path.realpath(path) in taken:
            raise FileError.own_input(str(path))
        if path in targets[:place]:
            raise FileError.same_target(str(path))
        if path.exists() and not force:
            raise FileError.exists(str(path))
    target.mkdir(parents=True, exist_ok=True)
    jobs = list(zip(paths, targets, strict=True))
    return list(spread(partial(_written, question, where, force=force), jobs, workers))


def expanded(paths: Paths) -> list[str]:
    """All files that are meant, those of a folder or a pattern in the order of their names.

    Texts (.txt) and hidden files of a folder are left out.
    """
    if not isinstance(paths, str | os.PathLike):
        several = [file for path in paths for file in expanded(path)]
        if len(several) > 1 and read_scores.STDIN in several:
            raise FileError.stdin_alone()
        return several
    text = os.fspath(paths)
    if text == read_scores.STDIN or (Path(text).exists() and not Path(text).is_dir()):
        return [text]
    if Path(text).is_dir():
        found = sorted(
            entry.path
            for entry in os.scandir(text)
            if entry.is_file() and read_scores.is_known(entry.path) and not entry.name.startswith(".")
            if not entry.name.endswith(".txt")
        )
    elif glob.has_magic(text):
        found = sorted(path for path in glob.glob(text) if Path(path).is_file())  # noqa: PTH207 - of any folder
    else:
        raise FileError.missing(text)
    if not found:
        raise FileError.no_shards(text)
    return found


def paired(scores: Paths, labels: Paths | None) -> list[tuple[str, str | None]]:
    """Files of scores, each with its file of labels, if labels have files: of the same name, or in the same order where
    no names agree."""
    rows = expanded(scores)
    seen: set[str] = set()
    for path in rows:
        if _identity(path) in seen:
            raise FileError.twice(path)
        seen.add(_identity(path))
    if labels is None:
        return [(path, None) for path in rows]
    others = expanded(labels)
    if len(others) != len(rows):
        raise FileError.unpaired(len(rows), len(others))
    if read_scores.STDIN in rows and read_scores.STDIN in others:
        raise FileError.stdin_alone()
    if len(rows) == 1:
        return [(rows[0], others[0])]
    if [_stem(path) for path in rows] == [_stem(path) for path in others]:
        return list(zip(rows, others, strict=True))
    _check_stems(rows)
    _check_stems(others)
    partners = {_stem(path): path for path in others}
    alone = [path for path in rows if _stem(path) not in partners]
    if alone and len(alone) < len(rows):
        raise FileError.unmatched(alone[0])
    return [(path, other if alone else partners[_stem(path)]) for path, other in zip(rows, others, strict=True)]


def _check_stems(paths: Sequence[str]) -> None:
    """Refuses files that have the same name in several folders: names tell which labels belong to which scores."""
    stems = [_stem(path) for path in paths]
    repeated = [path for path, stem in zip(paths, stems, strict=True) if stems.count(stem) > 1]
    if repeated:
        raise FileError.same_stem(repeated[0])


def spread(work: Callable[[Any], Result], jobs: Sequence[Any], workers: int | None) -> Iterator[Result]:
    """``work`` on every job, in processes of their own where there are several; results in the order of the jobs."""
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise KindError.argument("workers", "a whole number, at least 1, or None for one per core", workers)
    count = min(len(jobs), workers or parallel.cores())
    if count <= 1:
        yield from map(work, jobs)
        return
    if getattr(multiprocessing.current_process(), "_inheriting", False):  # as multiprocessing itself finds out
        raise FileError.no_main_guard()
    threads = str(max(1, parallel.cores() // count))
    context = multiprocessing.get_context("spawn")
    life, ours = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(count, context, _prepared, (threads, memory_budget.limit() // count, life))
    try:
        yield from _in_order(pool, work, jobs, 2 * count)
    except BrokenProcessPool:
        raise FileError.workers_ended() from None
    except BaseException:  # an error, a signal, or nobody wants more: workers end now, whatever they are doing
        ours.close()
        _ended(pool)
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        ours.close()
        life.close()


def _in_order(
    pool: ProcessPoolExecutor, work: Callable[[Any], Result], jobs: Sequence[Any], ahead: int
) -> Iterator[Result]:
    """Results in the order of the jobs, of which ``ahead`` are under way."""
    waiting: deque[Future[Result]] = deque()
    for job in jobs:
        with _undisturbed():
            waiting.append(pool.submit(work, job))
        if len(waiting) == ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Inside, processes are started: Ctrl-C does not reach them, and signals to this process wait until all is done.

    Ctrl-C goes to all processes of a terminal; this one tells its workers to end. A worker that is left half started
    would complain.
    """
    late: list[int] = []
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        numbers = [getattr(signal, name) for name in SIGNALS if hasattr(signal, name)]
        before = {number: signal.getsignal(number) for number in numbers if callable(signal.getsignal(number))}
    masked = hasattr(signal, "pthread_sigmask")
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if masked else set()
    for number in before:
        signal.signal(number, lambda number, _frame: late.append(number))
    try:
        yield
    finally:
        if masked:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in late:
            signal.raise_signal(number)


SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
GRACE = 0.2
"""Seconds workers have to end by themselves; those that are still starting do not listen yet."""


def _ended(pool: ProcessPoolExecutor) -> None:
    """Ends workers that have been told to, and are still there."""
    time.sleep(GRACE)
    for process in list((getattr(pool, "_processes", None) or {}).values()):
        process.terminate()


def _prepared(threads: str, memory: int, life: Connection) -> None:
    """Prepares a worker: its share of cores and memory, and the watch that ends it.

    It ends when the other end of ``life`` is closed: the process that started it asks for that, or is gone.
    """
    os.environ.setdefault(parallel.THREADS, threads)
    memory_budget.tell(memory)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(life,), daemon=True).start()


def _end_with(life: Connection) -> None:
    wait([life])
    atomic.abandon()
    os._exit(1)


def _part(rows: Rows) -> Part:
    return Part(rows.scores, rows.labels, rows.groups, rows.ids, Place(file=rows.scores_file))


def _rule_of_first(question: Calibrating, layout: Layout, pair: tuple[str, str | None]) -> Answer:
    """The rule of the first file, whose labels tell whether classes are numbers or texts."""
    rows = layout.rows(*pair, question.classes, kind=question.kind)
    classes = rows.classes if question.classes is None else rows.numbered(question.classes)
    return _rule(replace(question, classes=classes), rows)


def _rule_of(question: Calibrating, layout: Layout, pair: tuple[str, str | None]) -> Answer:
    return _rule(question, layout.rows(*pair, question.classes, kind=question.kind))


def _rule(question: Calibrating, rows: Rows) -> Answer:
    rows.check_order(question.classes)
    return question.of(_part(rows.spelt(question.classes)))


def _sets_of(question: Predicting, layout: Layout, path: str) -> write_sets.Part:
    rows = layout.rows(path, classes=question.classes, kind=question.rule.kind)
    return question.of(_part(rows.of_groups(question.rule.groups.tolist()))), rows.kept


def _written(question: Predicting, layout: Layout, job: tuple[str, Path], *, force: bool) -> Path:
    path, target = job
    write_sets.write(target, [_sets_of(question, layout, path)], force=force)
    return target


def _identity(path: str) -> str:
    """What tells that two paths lead to one file: links of both kinds do."""
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return os.path.realpath(path)
    return f"{status.st_dev}:{status.st_ino}" if status.st_ino else os.path.realpath(path)


def _stem(path: str) -> str:
    """A file's name without what tells its kind."""
    name = Path(path)
    name = name.with_suffix("") if name.suffix.lower() == ".gz" else name
    return name.with_suffix("").name if read_scores.is_known(str(name)) else name.name
