"""``rankset watch`` as a process: answers while input comes, signals, kills, and readers that end."""

import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import rankset as rs
from watching import ROWS, RULE, answers, events, line, text

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and pipes of POSIX")
SECONDS = 60
"""No test waits longer for a process."""


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    RULE.save("rule.rankset")


@contextmanager
def process(*arguments):
    """Start ``rankset watch``; whatever happens, it is ended by its id."""
    command = [sys.executable, "-m", "rankset", "watch", *arguments]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # a process whose parent ignores it (nohup) ignores it, too
    started = subprocess.Popen(command, **pipes)
    signal.signal(signal.SIGHUP, before)
    try:
        yield started
    finally:
        started.kill()
        started.wait(SECONDS)
        for pipe in (started.stdin, started.stdout, started.stderr):
            with suppress(BrokenPipeError):
                pipe.close()


def send(started, words):
    started.stdin.write(words.encode())
    started.stdin.flush()


def receive(started, count):
    """Return the next lines of a process, which must come though its input has not ended."""
    found, end = b"", time.monotonic() + SECONDS
    while found.count(b"\n") < count:
        ready, _, _ = select.select([started.stdout], [], [], max(0.0, end - time.monotonic()))
        assert ready, "no answer came"
        part = os.read(started.stdout.fileno(), 1 << 16)
        assert part, "the process has ended"
        found += part
    return found.decode()


def row(number):
    return {"id": number, "scores": ROWS[number].tolist()}


def test_every_line_is_answered_while_the_input_stays_open():
    told = [row(number) for number in range(20)]
    wanted = answers(rs.Stream(RULE, 0.1), told).splitlines(keepends=True)
    with process("rule.rankset") as started:
        for event, answer in zip(told[:5], wanted, strict=False):
            send(started, line(**event))
            assert receive(started, 1) == answer
        send(started, text(told[5:])[:-9])
        assert receive(started, 14) == "".join(wanted[5:19])
        send(started, text(told[5:])[-9:])
        assert receive(started, 1) == wanted[19]
        started.stdin.close()
        assert started.wait(SECONDS) == 0


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_saves_what_was_learned(name, code):
    with process("rule.rankset", "--state", "s.rankset", "--history", "h.csv") as started:
        send(started, text([row(0), row(1), {"id": 0, "label": "joy"}]) + '{"id": 7, "sco')
        receive(started, 2)
        time.sleep(0.2)
        started.send_signal(getattr(signal, name))
        assert started.wait(SECONDS) == code
        assert b"this run       2 rows, 1 labels" in started.stderr.read()
    stream = rs.Stream.load("s.rankset")
    assert (stream.n_rows, stream.n_labels) == (2, 1)
    assert Path("h.csv").exists()


def test_a_signal_in_the_midst_of_events_lets_each_be_finished():
    told = [*events(late=3)]
    many = text({**event, "id": f"{event['id']}-{copy}"} for copy in range(40) for event in told)
    with process("rule.rankset", "--state", "s.rankset", "--exit-zero") as started:

        def write():  # the pipe is shorter than the events
            with suppress(BrokenPipeError):
                send(started, many)

        writer = threading.Thread(target=write)
        writer.start()
        first = receive(started, 500)
        started.send_signal(signal.SIGTERM)
        rest = started.stdout.read()
        assert started.wait(SECONDS) == 143
        writer.join(SECONDS)
    given = (first + rest.decode()).splitlines()
    stream = rs.Stream.load("s.rankset")
    assert 500 <= stream.n_rows == len(given) < 16_000
    python = rs.Stream(RULE, 0.1)
    seen = [json.loads(one) for one in many.splitlines()]
    rows = [place for place, event in enumerate(seen) if "scores" in event]
    end = rows[stream.n_rows] if stream.n_rows < len(rows) else len(seen)
    ends = range(rows[stream.n_rows - 1] + 1, end + 1)
    answered = answers(python, seen[: ends[0]])
    assert answered == "".join(f"{one}\n" for one in given)
    states = [repr(python)]
    for event in seen[ends[0] : ends[-1]]:
        answers(python, [event])
        states.append(repr(python))
    assert repr(stream) in states


def test_an_answer_that_was_given_out_is_never_forgotten():
    with process("rule.rankset", "--state", "s.rankset", "--save-every", "1") as started:
        for number in range(4):
            send(started, line(**row(number)))
            receive(started, 1)
            stream = rs.Stream.load("s.rankset")
            assert number in stream
        started.kill()
        assert started.wait(SECONDS) == -signal.SIGKILL
    python = rs.Stream(RULE, 0.1)
    answers(python, [row(number) for number in range(4)])
    assert repr(rs.Stream.load("s.rankset")) == repr(python)


def test_a_kill_loses_only_what_came_after_the_last_save_and_events_can_be_sent_again():
    told = [*events(late=4)][:60]
    python = rs.Stream(RULE, 0.1)
    whole = answers(python, told)
    with process("rule.rankset", "--state", "s.rankset", "--save-every", "25") as started:
        send(started, text(told))
        given = receive(started, len(whole.splitlines()))
        started.kill()
        assert started.wait(SECONDS) == -signal.SIGKILL
    saved = rs.Stream(RULE, 0.1)
    answers(saved, told[:50])
    assert repr(rs.Stream.load("s.rankset")) == repr(saved)
    assert given == whole
    with process("--state", "s.rankset", "--skip-invalid", "--quiet") as started:
        again, told_off = started.communicate(text(told).encode(), timeout=SECONDS)
    assert whole.endswith(again.decode())
    assert b"invalid events were skipped" in told_off
    assert repr(rs.Stream.load("s.rankset")) == repr(python)


def test_a_kill_at_any_time_leaves_a_complete_state():
    told = text(events(late=5)).encode()
    for pause in (0.0, 0.02, 0.05, 0.1, 0.3):
        with process("rule.rankset", "--restart", "--state", "s.rankset", "--save-every", "1") as started:
            started.stdin.write(told[:20_000])
            started.stdin.flush()
            receive(started, 3)
            time.sleep(pause)
            started.kill()
            started.wait(SECONDS)
        stream = rs.Stream.load("s.rankset")
        python = rs.Stream(RULE, 0.1)
        for one in told.decode().splitlines():
            if (python.n_rows, python.n_labels) == (stream.n_rows, stream.n_labels):
                break
            answers(python, [json.loads(one)])
        assert repr(stream) == repr(python)
        assert stream.n_rows >= 3


def test_a_reader_that_ends_stops_the_command_and_the_state_is_saved():
    with process("rule.rankset", "--state", "s.rankset") as started:
        send(started, line(**row(0)))
        receive(started, 1)
        started.stdout.close()
        send(started, line(**row(1)))
        started.stdin.close()
        assert started.wait(SECONDS) == 0
        assert started.stderr.read() == b""
    assert rs.Stream.load("s.rankset").n_rows == 2


def test_a_pipe_with_a_name_is_read_as_it_comes():
    os.mkfifo("pipe.jsonl")
    with process("rule.rankset", "pipe.jsonl") as started, Path("pipe.jsonl").open("wb") as pipe:
        pipe.write(line(**row(0)).encode())
        pipe.flush()
        assert json.loads(receive(started, 1))["id"] == 0
        pipe.close()
        assert started.wait(SECONDS) == 0
