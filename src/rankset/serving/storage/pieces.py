"""What is committed together, what it takes on the disk at most, and how it is divided."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import Connection

PAGE = 4096
"""Bytes of a page of SQLite."""
COLUMNS = 120
"""Bytes of a row beside its outputs, its set, its group and its id."""
SMALL = 1000
"""Rows of more bytes may have a page of their own."""
FEW = 8
"""Pages that every commit may write: lists of free pages, and the last pages of tables."""

Row = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """Something that is done in the next commit, or after it, and whose caller waits."""

    run: Callable[[Connection], Any] | None = None
    after: Callable[[], Any] | None = None
    labels: int = 0
    answer: Future[Any] = field(default_factory=Future)


@dataclass(frozen=True)
class Batch:
    """What is committed together."""

    rows: list[Row]
    jobs: list[Job]

    def halves(self) -> list[Batch]:
        """Return two parts in the same order; nothing if this is one row or one job."""
        rows, jobs = self.rows, self.jobs
        if rows and jobs:
            return [Batch(rows, []), Batch([], jobs)]
        half = (len(rows) + len(jobs)) // 2
        return [Batch(rows[:half], jobs[:half]), Batch(rows[half:], jobs[half:])] if half else []


class Cost(NamedTuple):
    """Bytes by which the log and the file can grow."""

    log: int
    file: int


def weight(row: Row) -> int:
    """Return about how many bytes a row has."""
    return len(row["outputs"]) + len(row["codes"] or b"") + len(row["group"] or "") + len(row["id"] or "") + COLUMNS


def file_of(row: Row) -> int:
    """Return the bytes of the pages of a row and its places in indexes."""
    size = weight(row) + 4 * len(row["id"] or "")
    return size + size // 4 if size < SMALL else size // PAGE * PAGE + 2 * PAGE


def share_of(row: Row) -> int:
    """Return about how many bytes of the file a row takes: small ones have a page together."""
    size = weight(row) + 4 * len(row["id"] or "")
    return size + size // 4 if size < PAGE // 2 else file_of(row)


def log_of(row: Row) -> int:
    """Return by how many bytes the log grows for a row: another page of the index of ids is written, too."""
    return file_of(row) + PAGE


def cost_of(batch: Batch, rows: int, labels: int) -> Cost:
    """Return what a batch costs if there are so many rows and labels already."""
    n, m = len(batch.rows), sum(job.labels for job in batch.jobs)
    file = sum(map(file_of, batch.rows)) + m * 100 + FEW * PAGE
    places = min(n, (rows + n) // 10 + 1) + min(m, (labels + m) // 100 + 1)  # pages of indexes in which they stand
    return Cost(file + places * PAGE, file)


def divided(batch: Batch, most: float) -> Iterable[Batch]:
    """Return parts whose logs have ``most`` bytes each, or which are one row or one job."""
    rows: list[Row] = []
    jobs: list[Job] = []
    total = FEW * PAGE
    everything: list[Row | Job] = [*batch.rows, *batch.jobs]
    for one in everything:
        cost = 100 * one.labels + PAGE if isinstance(one, Job) else log_of(one)
        if total + cost > most and (rows or jobs):
            yield Batch(rows, jobs)
            rows, jobs, total = [], [], FEW * PAGE
        if isinstance(one, Job):
            jobs.append(one)
        else:
            rows.append(one)
        total += cost
    yield Batch(rows, jobs)
