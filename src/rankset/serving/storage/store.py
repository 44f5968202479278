"""``Store``: what a server has predicted and which labels came back, in SQLite or PostgreSQL."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Self

from sqlalchemy import Connection, false, update

from rankset.core.arrays import is_whole
from rankset.errors import InputError, KindError, RuleError, StorageError, StoreFull
from rankset.rules.rule import Rule
from rankset.rules.spec import RuleSpec
from rankset.serving.storage.about import check_about, spec_of
from rankset.serving.storage.database import Database, open_database
from rankset.serving.storage.labelling import NEW, numbers_of, write_labels
from rankset.serving.storage.limits import Limits
from rankset.serving.storage.pieces import Batch, Job
from rankset.serving.storage.reading import Reader
from rankset.serving.storage.rows import Feedback, Labelled, Prediction, check_id, columns_of
from rankset.serving.storage.tables import about, feedback, predictions
from rankset.serving.storage.writer import Writer

__all__ = ["Feedback", "Labelled", "Prediction", "Store"]


class Store:
    """What a server has predicted, and which labels came back. Open one with ``Store.open``.

    All methods can be called from several threads. One thread of the store writes; what has come since its last commit
    is committed together.

    Attributes
    ----------
    where
        Path or URL of the store, without a password.
    spec
        Settings of the rule with which it was opened.

    Examples
    --------
    >>> import tempfile, numpy as np, rankset as rs
    >>> from pathlib import Path
    >>> from rankset.serving import Feedback, Prediction, Store
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rule = rs.calibrate(probs[:200], labels[:200])
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = Store.open(Path(folder.name) / "served.db", rule=rule)
    >>> sets = rule.predict(probs[200:201], alpha=0.1)
    >>> codes = np.flatnonzero(sets.mask[0]).astype(np.int32)
    >>> store.remember([Prediction("a1", 0.0, probs[200], None, codes, 0.1, float(probs[200].max()))])
    >>> store.feedback([Feedback("a1", int(labels[200]), 60.0), Feedback("a2", 0, 60.0)])
    ['new', 'unknown']
    >>> store.rows, store.labels
    (1, 1)
    >>> store.close()
    >>> folder.cleanup()
    """

    where: str
    spec: RuleSpec

    def _set_up(self, database: Database, spec: RuleSpec, limits: Limits, *, read_only: bool) -> Self:
        self.where, self.spec = database.where, spec
        self._database, self._limits = database, limits
        self._n_columns = spec.n_columns
        self._width = 1 if spec.kind == "binary" else self._n_columns
        self._reader = Reader(database, self._width, self._n_columns)
        check_about(database, spec, read_only=read_only)
        limits.count()
        bounds = {"step": limits.step, "most": limits.waiting}
        self._writer = None if read_only else Writer(self.where, self._write, limits.keep, **bounds)
        return self

    @classmethod
    def open(
        cls,
        where: str | os.PathLike[str],
        *,
        rule: Rule | None,
        max_age: float | None = None,
        max_bytes: int | None = None,
        read_only: bool = False,
        alone: bool = False,
    ) -> Self:
        """Open a store, or make a new one.

        Parameters
        ----------
        where
            Path of an SQLite file, which is made if it is missing, or the URL of a PostgreSQL database as SQLAlchemy
            writes it, such as ``postgresql://user@host/name``.
        rule
            The rule whose rows are stored. A store belongs to the kind and the classes of its first rule; a rule with
            other calibration rows, or another score, can use it, too. None, only together with ``read_only``: the
            first rule of the store.
        max_age
            Rows that were predicted more than this number of seconds ago are dropped, with their labels.
        max_bytes
            Largest size of the store, at least 1,048,576. If it comes near, the oldest rows are dropped: of rows with
            and rows without a label, those of which there are more. For SQLite this is the size of the file and of its
            log. For PostgreSQL it is the estimated size of the rows, which is looked at once a minute.
        read_only
            Whether the store is only read. Then it must exist.
        alone
            Whether nobody else can open the store with this option until it is closed, as servers do. Others can read
            it.

        Returns
        -------
        Store

        Raises
        ------
        StorageError
            If the store belongs to another rule, is damaged, cannot be read or written, or another server uses it.

        Examples
        --------
        >>> import tempfile, rankset as rs
        >>> rule = rs.calibrate(*rs.datasets.load("marketing"))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with rs.serving.Store.open(f"{folder}/served.db", rule=rule, max_age=30 * 86400) as store:
        ...         print(store.rows, store.labels, store.lost)
        0 0 0
        """
        if not isinstance(rule, Rule) and not (rule is None and read_only):
            raise KindError.argument("rule", "a Rule, as returned by calibrate", rule)
        if rule is not None and rule.spec.several_labels:
            raise RuleError.followed("a store", "have one true label per row", rule.spec.target)
        database = open_database(where, max_bytes, read_only=read_only)
        try:
            if alone:
                database.claim()
            spec = spec_of(database) if rule is None else rule.spec
            return cls()._set_up(database, spec, Limits(database, max_age, max_bytes), read_only=read_only)
        except BaseException:
            database.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def remember(self, rows: Sequence[Prediction]) -> None:
        """Store rows soon, at most 0.1 seconds later, without waiting for it.

        If rows come faster than they can be written, or if the store cannot be written for some time, rows are lost;
        ``lost`` counts them. Of several rows with one id, the first stays, and the others are lost.

        Parameters
        ----------
        rows
            Rows that were predicted.

        Raises
        ------
        InputError
            If an id or a row has another form than the store takes. Then none of the rows is stored.

        Examples
        --------
        >>> import tempfile, numpy as np, rankset as rs
        >>> rule = rs.calibrate(*rs.datasets.load("marketing"))
        >>> codes = np.array([0, 2], dtype=np.int32)
        >>> row = rs.serving.Prediction("a1", 0.0, np.array([0.5, 0.1, 0.3, 0.1]), None, codes, 0.1, 0.5)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with rs.serving.Store.open(f"{folder}/served.db", rule=rule) as store:
        ...         store.remember([row])
        ...         store.check()  # waits until it is written
        ...         print(next(store.history()).codes)
        [0 2]
        """
        self._writing().add([columns_of(row, self._width) for row in rows])

    def feedback(self, rows: Sequence[Feedback]) -> list[str]:
        """Store labels, and return when they are on the disk: then they survive the end of the process and a power cut.

        Parameters
        ----------
        rows
            Labels of rows.

        Returns
        -------
        list of str
            For each label "new", "repeated" (the row has a label already, which stays) or "unknown" (there is no such
            row).

        Raises
        ------
        StoreFull
            If the disk is full. Then none of the labels is stored.
        StorageError
            If the store cannot be written for another reason.

        Examples
        --------
        >>> import tempfile, rankset as rs
        >>> rule = rs.calibrate(*rs.datasets.load("marketing"))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with rs.serving.Store.open(f"{folder}/served.db", rule=rule) as store:
        ...         store.feedback([rs.serving.Feedback("never predicted", 1, 0.0)])
        ['unknown']
        """
        return self.send(rows).result()

    def send(self, rows: Sequence[Feedback]) -> Future[list[str]]:
        """Store labels as ``feedback`` does, but return at once.

        Parameters
        ----------
        rows
            Labels of rows.

        Returns
        -------
        concurrent.futures.Future
            Its result is that of ``feedback``.

        Examples
        --------
        >>> import tempfile, rankset as rs
        >>> rule = rs.calibrate(*rs.datasets.load("marketing"))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with rs.serving.Store.open(f"{folder}/served.db", rule=rule) as store:
        ...         waiting = store.send([rs.serving.Feedback("never predicted", 1, 0.0)])
        ...         print(waiting.result())
        ['unknown']
        """
        for row in rows:
            check_id(row.id)
            if not is_whole(row.label) or not 0 <= row.label < self._n_columns:
                raise InputError("labels", f"be columns from 0 to {self._n_columns - 1}", repr(row.label)[:80])
        given = list(rows)
        return self._writing().submit(
            Job(lambda connection: write_labels(self._database, connection, given), labels=len(given))
        )

    def known(self, ids: Sequence[str]) -> set[str]:
        """Return which of some ids belong to rows in the store.

        Parameters
        ----------
        ids
            Ids of rows.

        Returns
        -------
        set of str

        Examples
        --------
        >>> import tempfile, rankset as rs
        >>> rule = rs.calibrate(*rs.datasets.load("marketing"))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with rs.serving.Store.open(f"{folder}/served.db", rule=rule) as store:
        ...         store.known(["never predicted"])
        set()
        """
        with self._database.reading() as connection:
            return set(numbers_of(connection, ids))

    def labelled(self, since: float | None = None, last: int | None = None) -> Iterator[Labelled]:
        """Return rows with their labels, in the order in which the labels came.

        Parameters
        ----------
        since
            Only rows that were predicted at this time or later, in seconds since 1970.
        last
            Only the last rows that have a label, this many at most.

        Returns
        -------
        iterator of Labelled

        Examples
        --------
        >>> import tempfile, rankset as rs
        >>> rule = rs.calibrate(*rs.datasets.load("marketing"))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with rs.serving.Store.open(f"{folder}/served.db", rule=rule) as store:
        ...         list(store.labelled())
        []
        """
        return self._reader.labelled(since, last)

    def history(self, since: float | None = None) -> Iterator[Prediction | Labelled]:
        """Return rows and labels in order of time; a label comes after its row.

        Parameters
        ----------
        since
            Only rows that were predicted, and labels that came, at this time or later, in seconds since 1970.

        Returns
        -------
        iterator of Prediction and Labelled
            A ``Prediction`` for every row, and a ``Labelled`` for every label, which has its row, too.

        Examples
        --------
        >>> import tempfile, rankset as rs
        >>> rule = rs.calibrate(*rs.datasets.load("marketing"))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with rs.serving.Store.open(f"{folder}/served.db", rule=rule) as store:
        ...         list(store.history())
        []
        """
        return self._reader.history(since)

    def counts(self, since: float | None = None) -> dict[tuple[bool | None, bool], int]:
        """Return how many rows there are, by what triage said (None: nothing) and whether they have a label.

        Parameters
        ----------
        since
            Only rows that were predicted at this time or later, in seconds since 1970.

        Returns
        -------
        dict

        Examples
        --------
        >>> import tempfile, rankset as rs
        >>> rule = rs.calibrate(*rs.datasets.load("marketing"))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with rs.serving.Store.open(f"{folder}/served.db", rule=rule) as store:
        ...         store.counts()
        {}
        """
        return self._reader.counts(since)

    def prune(self) -> int:
        """Drop what is too old or too much, and return the number of dropped rows. The store also does so by itself."""
        return self._writing().submit(Job(after=self._limits.prune)).result()

    def check(self) -> None:
        """Raise ``StorageError`` if the store cannot be written now. What waits to be written is written first."""
        self._writing().submit(Job(self._probe)).result()

    def settle(self, seconds: float) -> bool:
        """Wait until rows that came before are written, but not longer than some seconds.

        Parameters
        ----------
        seconds
            The longest time.

        Returns
        -------
        bool
            Whether they are written. False also if the store cannot be written now.

        Examples
        --------
        >>> import tempfile, rankset as rs
        >>> rule = rs.calibrate(*rs.datasets.load("marketing"))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with rs.serving.Store.open(f"{folder}/served.db", rule=rule) as store:
        ...         store.settle(5.0)
        True
        """
        try:
            self._writing().submit(job := Job()).result(seconds)
        except TimeoutError:
            job.answer.cancel()
            return False
        except StorageError:
            return False
        return True

    def _claim(self) -> None:
        """Keep other servers from this store until it is closed, as ``Store.open`` does with ``alone``."""
        self._writing().check_open()
        self._database.claim()

    def close(self) -> None:
        """Write what waits, and close the store.

        A database that does not answer is given up after some seconds: what waits for it is lost and counted.
        """
        if self._writer is not None:
            self._writer.close()
        if self._writer is None or not self._writer.hangs:
            self._database.close()  # otherwise a connection is in use

    @property
    def lost(self) -> int:
        """Number of rows that could not be stored since the store was opened."""
        return 0 if self._writer is None else self._writer.lost

    @property
    def trouble(self) -> StorageError | None:
        """Why the store could not be written the last time; None if it could."""
        return None if self._writer is None else self._writer.trouble

    @property
    def bytes(self) -> int:
        """Bytes that the store takes: the file and its log, or the tables of PostgreSQL with their indexes."""
        return self._database.size()

    @property
    def rows(self) -> int:
        """Number of rows that are written. If other processes write to the store, it may be up to a minute old."""
        return self._limits.rows

    @property
    def labels(self) -> int:
        """Number of rows with a label, in the same way."""
        return self._limits.labels

    def _writing(self) -> Writer:
        if self._writer is None:
            raise StorageError.store_not_for_writing(self.where)
        return self._writer

    def _write(self, batch: Batch) -> list[Any]:
        """Write a batch within the limits; if the disk is full, empty the log first, which may help."""
        self._limits.drop_for(batch)
        try:
            return self._write_together(batch)
        except StoreFull:
            with suppress(StorageError):
                self._database.give_back()
            return self._write_together(batch)

    def _write_together(self, batch: Batch) -> list[Any]:
        """Write rows and do jobs in one transaction, and return the answers of the jobs."""
        with self._database.writing() as connection:
            added = self._database.insert_rows(connection, batch.rows) if batch.rows else 0
            answers = [None if job.run is None else job.run(connection) for job in batch.jobs]
        if self._writer is not None and added < len(batch.rows):
            self._writer.drop(len(batch.rows) - added)
        self._limits.rows += added
        self._limits.labels += sum(answer.count(NEW) for answer in answers if isinstance(answer, list))
        return answers

    def _probe(self, connection: Connection) -> None:
        """Write the time, and touch the other tables, to see whether the store can be written."""
        for table in (predictions, feedback):
            connection.execute(update(table).values(time=table.c.time).where(false()))
        statement = self._database.insert(about).values(name="checked", value=str(time.time()))
        changed = {"value": statement.excluded.value}
        connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_=changed))
