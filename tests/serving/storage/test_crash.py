"""Processes are killed at random moments under load: what was acknowledged is in the store, once, and it opens."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sqlalchemy")

from rankset.errors import StorageError
from served import RULE, label, prediction

WORKER = Path(__file__).parent / "worker.py"
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked")


class Killed:
    """Children of a worker process, killed one after the other, and what they said before."""

    def __init__(self, where, *options):
        command = [sys.executable, str(WORKER), where, *options]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.acknowledged = {}

    def round(self, seconds):
        """Start a child, kill it after some time, and return how many labels were acknowledged."""
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        word, pid = self.process.stdout.readline().split()
        assert word == "pid"
        time.sleep(seconds)
        os.kill(int(pid), signal.SIGKILL)
        before = len(self.acknowledged)
        for line in self.process.stdout:
            if line == "ended\n":
                return len(self.acknowledged) - before
            name, label = line.split()
            assert name not in self.acknowledged, "acknowledged twice"
            self.acknowledged[name] = int(label)
        raise AssertionError("the worker has ended")

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(timeout=30)


@pytest.fixture
def killed():
    workers = []

    def start(where, *options):
        workers.append(Killed(where, *options))
        return workers[-1]

    yield start
    for worker in workers:
        worker.close()


def stored_in_file(file):
    """Check an SQLite file, and return its labels by id; an id twice is an error."""
    with contextlib.closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        rows = connection.execute(
            "SELECT id, label FROM rankset_feedback JOIN rankset_predictions p ON p.number = row"
        ).fetchall()
        assert connection.execute("SELECT count(*) FROM rankset_feedback").fetchone() == (len(rows),)
    assert len(dict(rows)) == len(rows)
    return dict(rows)


def missing(acknowledged, stored):
    return [name for name, label in acknowledged.items() if stored.get(name) != label]


def test_fifty_kills_lose_nothing_that_was_acknowledged(file, killed, opened):
    worker, moments = killed(file), np.random.default_rng(50)
    counts = []
    for _ in range(50):
        counts.append(worker.round(moments.uniform(0.0, 0.25)))
        assert missing(worker.acknowledged, stored_in_file(file)) == []
    assert sum(count > 0 for count in counts) > 30, "most children were killed while they worked"
    store = opened(file)
    pairs = {pair.feedback.id: pair.feedback.label for pair in store.labelled()}
    assert len(pairs) == store.labels
    assert missing(worker.acknowledged, pairs) == []


def test_labels_that_are_acknowledged_too_early_are_noticed(file, killed):
    """The same check fails for a store that would say so before the commit."""
    worker, moments = killed(file, "early"), np.random.default_rng(7)
    for _ in range(50):
        worker.round(moments.uniform(0.05, 0.15))
        if missing(worker.acknowledged, stored_in_file(file)):
            return
    raise AssertionError("nothing was noticed")


def test_killed_clients_of_postgresql_lose_nothing_that_was_acknowledged(postgres, killed, opened):
    worker, moments = killed(postgres), np.random.default_rng(9)
    for _ in range(10):
        worker.round(moments.uniform(0.0, 0.25))
    store = opened(postgres)
    pairs = [(pair.feedback.id, pair.feedback.label) for pair in store.labelled()]
    assert len(dict(pairs)) == len(pairs) == store.labels
    assert missing(worker.acknowledged, dict(pairs)) == []
    assert len(worker.acknowledged) > 100


def program(name):
    """Path of a program of the server that runs."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: float(folder.parent.name))
    return next((str(folder / name) for folder in reversed(folders) if (folder / name).exists()), name)


def test_a_crash_of_the_server_of_postgresql_loses_nothing_that_was_acknowledged(postgres, engine, opened):
    """All processes of the server end at once, without writing anything, and it is started again."""
    with engine.connect() as connection:
        data = Path(connection.exec_driver_sql("SHOW data_directory").scalar())
    engine.dispose()
    if not os.access(data, os.W_OK):
        pytest.skip("the server is not one that a test may stop")
    store, acknowledged = opened(postgres), {}
    places = iter(range(10**6))

    def send():
        place = next(places)
        store.remember([prediction(place)])
        assert store.feedback([label(place)])[0] == "new"
        acknowledged[f"row-{place}"] = label(place).label

    for _ in range(50):
        send()
    restart = [
        program("pg_ctl"),
        "restart",
        "--wait",
        "--mode=immediate",
        f"--pgdata={data}",
        f"--log={data.parent}/log",
    ]
    options = {"user": data.stat().st_uid, "group": data.stat().st_gid, "extra_groups": ()} if os.geteuid() == 0 else {}
    restarted = subprocess.Popen(restart, stdout=subprocess.DEVNULL, cwd=data.parent, **options)
    told = []
    while restarted.poll() is None:
        try:
            send()
        except StorageError as error:
            told.append(error)
    assert restarted.returncode == 0
    send()
    stored = {pair.feedback.id: pair.feedback.label for pair in store.labelled()}
    assert missing(acknowledged, stored) == []
    assert all(error.try_again for error in told)
    assert opened(postgres, rule=RULE).labels == len(stored)
