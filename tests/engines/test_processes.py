"""Real processes that are stopped: exit codes, what is left on disk, and workers that do not outlive their parent."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import rankset as rs
from rankset.core import parallel
from rankset.errors import KindError
from refusals import refused

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="looks at processes through /proc")

LOGITS, LABELS = rs.datasets.load("carer")
TILES = 100
PATIENCE = 60
"""Seconds to wait for something that takes one or two on an idle machine."""


def heed_signals():
    """In a started process: signals that whoever runs these tests ignores, as nohup does, are heeded."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@pytest.fixture
def folder(tmp_path):
    """A rule, a large file, and a hundred shards that are the same file."""
    rs.calibrate(LOGITS, LABELS, kind="logits", score=rs.Aps()).save(tmp_path / "rule.rankset")
    np.save(tmp_path / "many.npy", np.tile(LOGITS, (TILES, 1)))
    (tmp_path / "rows").mkdir()
    for number in range(100):
        os.link(tmp_path / "many.npy", tmp_path / "rows" / f"part-{number:03d}.npy")
    return tmp_path


@pytest.fixture
def started(folder):
    """Starts commands, each in a session of its own, and ends by their ids what is left of them."""
    processes, children = [], set()

    def start(*command, **options):
        process = subprocess.Popen(
            [sys.executable, *command],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            **{"preexec_fn": heed_signals, **options},
        )
        processes.append(process)
        process.seen = children
        return process

    yield start
    for number in children:
        if is_python(number):
            os.kill(number, signal.SIGKILL)
    for process in processes:
        process.kill()
        process.communicate()


def until(true, process=None):
    """Waits for something to become true."""
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end
        assert process is None or process.poll() is None, process.communicate()
        time.sleep(0.01)


def is_python(number):
    """Whether a process is there, is no corpse, and is a Python."""
    try:
        state = Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[0]
        return state != "Z" and b"multiprocessing" in Path(f"/proc/{number}/cmdline").read_bytes()
    except OSError:
        return False


def workers(process):
    """The workers of a process."""
    listed = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    found = {int(one) for one in listed if b"spawn_main" in Path(f"/proc/{one}/cmdline").read_bytes()}
    process.seen |= found
    return found


def writes(process):
    """Whether a process has a draft open, with a name or without."""
    for one in Path(f"/proc/{process.pid}/fd").iterdir():
        try:
            target = str(one.readlink())
        except OSError:
            continue
        if target.endswith(".draft") or "/#" in target:
            return True
    return False


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def predict_shards(started, folder):
    """A prediction of all shards whose first files are written, and its workers."""
    process = started("-m", "rankset", "predict", "rule.rankset", "rows", "-o", "sets/")
    until(lambda: len(workers(process)) == 2 and (folder / "sets").is_dir() and names(folder / "sets"), process)
    return process, workers(process)


def assert_whole(folder, at_most):
    written = names(folder / "sets")
    assert 1 <= len(written) <= at_most
    assert all(name.endswith(".parquet") for name in written)
    assert {pq.read_metadata(folder / "sets" / name).num_rows for name in written} == {TILES * len(LABELS)}


two_cores = pytest.mark.skipif(parallel.cores() < 2, reason="one core has one worker")


@two_cores
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_stopped_prediction_of_shards_ends_at_once(started, folder, name):
    process, others = predict_shards(started, folder)
    before = len(names(folder / "sets"))
    if name == "SIGINT":
        os.killpg(process.pid, signal.SIGINT)  # Ctrl-C reaches every process of a terminal
    else:
        process.send_signal(getattr(signal, name))
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + getattr(signal, name)
    assert "Traceback" not in said
    assert "Error" not in said
    assert not any(map(is_python, others))
    assert_whole(folder, before + 2)  # each worker may just have been done


@two_cores
def test_workers_end_with_a_killed_parent(started, folder):
    process, others = predict_shards(started, folder)
    before = len(names(folder / "sets"))
    process.kill()
    process.wait(PATIENCE)
    until(lambda: not any(map(is_python, others)))
    assert_whole(folder, before + 2)


@two_cores
def test_a_stop_while_workers_start_is_quiet(started, folder):
    process = started("-m", "rankset", "predict", "rule.rankset", "rows", "-o", "sets/")
    until(lambda: workers(process), process)
    others = workers(process)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "Traceback" not in said
    until(lambda: not any(map(is_python, others)))
    assert names(folder / "sets") == []


@two_cores
def test_a_killed_worker_is_told_in_a_line(started, folder):
    process, others = predict_shards(started, folder)
    os.kill(min(others), signal.SIGKILL)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "Error: every worker process must run until its files are done" in said
    assert "Traceback" not in said
    assert not any(map(is_python, others))
    assert all(name.endswith(".parquet") for name in names(folder / "sets"))


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"])
def test_a_stopped_prediction_leaves_no_draft(started, folder, name):
    process = started("-m", "rankset", "predict", "rule.rankset", "many.npy", "-o", "sets.csv")
    until(lambda: writes(process), process)
    process.send_signal(getattr(signal, name))
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == (-signal.SIGKILL if name == "SIGKILL" else 128 + getattr(signal, name))
    assert said == ""
    assert names(folder) == ["many.npy", "rows", "rule.rankset"]


SCRIPT = "import sys\nfrom rankset.cli import main\nif __name__ == '__main__':\n    sys.exit(main())\n"


@pytest.mark.parametrize("how", ["module", "script"])
@pytest.mark.parametrize("moment", ["imports", "waits"])
def test_an_interrupted_command_says_nothing(started, folder, how, moment):
    (folder / "rankset").write_text(SCRIPT)  # as pip installs it
    command = ("-m", "rankset") if how == "module" else (str(folder / "rankset"),)
    process = started(*command, "predict", "rule.rankset", "-")
    loaded = "_multiarray_umath" if moment == "imports" else "safetensors"
    until(lambda: loaded in Path(f"/proc/{process.pid}/maps").read_text(), process)
    process.send_signal(signal.SIGINT)
    told, said = process.communicate(timeout=PATIENCE)
    assert (process.returncode, told, said) == (130, "", "")


def test_ignored_signals_stay_ignored(started, folder):
    """As nohup starts commands."""
    code = (
        "import os, signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN); os.execv(sys.executable, sys.argv[1:])"
    )
    process = started("-c", code, sys.executable, "-m", "rankset", "predict", "rule.rankset", "-")
    until(lambda: "safetensors" in Path(f"/proc/{process.pid}/maps").read_text(), process)
    process.send_signal(signal.SIGHUP)
    told, said = process.communicate("0,1,2,3,4,5\n0,0,0,0,0,9\n", PATIENCE)
    assert (process.returncode, said) == (0, "")
    assert told.splitlines()[0] == "size,top,labels"


UNGUARDED = """
import numpy as np
from rankset.engines import shards
shards.calibrate("scores", "labels", kind="logits", classes=range(6), workers=2)
"""


def test_a_script_without_a_guard_is_told_what_to_do(started, folder):
    for name, values in (("scores", LOGITS), ("labels", LABELS)):
        (folder / name).mkdir()
        for number in range(3):
            np.save(folder / name / f"{number}.npy", values[number::3])
    (folder / "script.py").write_text(UNGUARDED)
    process = started("script.py")
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "bootstrapping" not in said
    assert "Move the call there, or pass workers=1." in said
    assert said.splitlines()[-1].startswith("rankset.errors.FileError: every worker process must run")


@pytest.mark.parametrize("text", ["9" * 5000, "1025", "0", "-1", "2.0", "two"], ids=lambda text: text[:9])
def test_a_number_of_threads_that_cannot_be_is_refused(monkeypatch, text):
    monkeypatch.setenv("RANKSET_THREADS", text)
    with refused(
        KindError,
        what="the environment variable RANKSET_THREADS",
        expected="be an integer from 1 to 1024",
    ):
        rs.calibrate(LOGITS, LABELS, kind="logits")
