"""Worker processes on one machine, which end when this process ends, however that happens."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

from rankset.core import parallel
from rankset.core.arrays import is_whole
from rankset.errors import FileError, KindError
from rankset.io import atomic, memory_budget, notes

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
GRACE = 0.2
"""Seconds that workers have to end by themselves; those that are still starting do not listen yet."""

Result = TypeVar("Result")


def map_in_processes(work: Callable[[Any], Result], jobs: Sequence[Any], workers: int | None) -> Iterator[Result]:
    """Yield the result of ``work`` for every job, in the order of the jobs.

    ``workers`` processes (None: one per core) take the next job when they are done with one. With one worker, or one
    job, the work is done in this process.
    """
    if workers is not None and (not is_whole(workers) or workers < 1):
        raise KindError.argument("workers", "an integer of at least 1, or None for one process per core", workers)
    count = min(len(jobs), workers or parallel.cores())
    if count <= 1:
        yield from map(work, jobs)
        return
    if getattr(multiprocessing.current_process(), "_inheriting", False):  # the check of multiprocessing itself
        raise FileError.no_main_guard()
    threads = str(max(1, parallel.cores() // count))
    context = multiprocessing.get_context("spawn")
    their_end, our_end = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(count, context, _start_worker, (threads, memory_budget.limit() // count, their_end))
    try:
        for result, heard in _in_order(pool, partial(_with_notes, work), jobs, 2 * count):
            for note in heard:
                notes.say(note)
            yield result
    except BrokenProcessPool:
        raise FileError.workers_ended() from None
    except BaseException:  # an error, a signal, or the caller wants no more results
        our_end.close()
        _terminate(pool)
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        our_end.close()
        their_end.close()


def _with_notes(work: Callable[[Any], Result], job: Any) -> tuple[Result, list[notes.Note]]:
    """Do the work for a job in a worker; return the result, and what was recognised in files."""
    heard: list[notes.Note] = []
    with notes.listening(heard.append):
        return work(job), heard


def _in_order(
    pool: ProcessPoolExecutor, work: Callable[[Any], Result], jobs: Sequence[Any], ahead: int
) -> Iterator[Result]:
    """Yield results in the order of the jobs; ``ahead`` jobs are submitted at a time."""
    waiting: deque[Future[Result]] = deque()
    for job in jobs:
        with _delay_signals():
            waiting.append(pool.submit(work, job))
        if len(waiting) == ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


@contextmanager
def _delay_signals() -> Iterator[None]:
    """Delay signals to this process until the block ends, and hide Ctrl-C from processes that are started inside.

    Ctrl-C goes to all processes of a terminal. This process tells its workers to end; a worker that is interrupted
    while it starts would print a traceback.
    """
    late: list[int] = []
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        numbers = [getattr(signal, name) for name in SIGNALS if hasattr(signal, name)]
        before = {number: signal.getsignal(number) for number in numbers if callable(signal.getsignal(number))}
    can_mask = hasattr(signal, "pthread_sigmask")
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if can_mask else set()
    for number in before:
        signal.signal(number, lambda number, _frame: late.append(number))
    try:
        yield
    finally:
        if can_mask:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in late:
            signal.raise_signal(number)


def _terminate(pool: ProcessPoolExecutor) -> None:
    """End the workers that have been told to end and still run."""
    time.sleep(GRACE)
    for process in list((getattr(pool, "_processes", None) or {}).values()):
        process.terminate()


def _start_worker(threads: str, memory: int, pipe: Connection) -> None:
    """Set the worker's share of cores and memory, and watch the pipe.

    The worker ends when the other end of the pipe is closed: the process that started it does so, or has ended.
    """
    os.environ.setdefault(parallel.THREADS, threads)
    memory_budget.set_limit(memory)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_pipe, args=(pipe,), daemon=True).start()


def _end_with_pipe(pipe: Connection) -> None:
    wait([pipe])
    atomic.remove_drafts()
    os._exit(1)
