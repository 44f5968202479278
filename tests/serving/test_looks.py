"""A store that hangs: the answer says so, and nothing but lines of the log is on standard error."""

import asyncio
import gc
import io
import json
import logging
import os
import subprocess
import sys
import threading

import pytest

pytest.importorskip("starlette")

from rankset.errors import StorageError
from rankset.serving import looks
from rankset.serving.access_log import set_up_logging
from serving_process import make_rule


class Hanging:
    """A store that fails after a while."""

    def __init__(self):
        self.going_on = threading.Event()

    def check(self):
        self.going_on.wait(10)
        raise StorageError("the store", "answer")


@pytest.fixture
def json_log(monkeypatch):
    names = ("rankset.access", "rankset.serving", "uvicorn.error", "asyncio")
    before = [(logging.getLogger(name).handlers, logging.getLogger(name).propagate) for name in names]
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    set_up_logging(as_json=True)
    yield written.getvalue
    for name, (handlers, propagate) in zip(names, before, strict=True):
        logging.getLogger(name).handlers, logging.getLogger(name).propagate = handlers, propagate


def test_an_error_that_comes_too_late_is_not_written_to_the_log(monkeypatch, json_log):
    monkeypatch.setattr(looks, "SECONDS", 0.05)

    async def run():
        store = Hanging()
        looking = looks.Looks(store)
        answers = [await looking.trouble(), await looking.trouble()]
        store.going_on.set()
        await asyncio.sleep(0.1)
        gc.collect()
        looking.close()
        return answers

    assert asyncio.run(run()) == ["answer within 0.05 seconds"] * 2
    gc.collect()
    assert json_log() == ""


def test_what_asyncio_says_is_written_in_the_form_of_the_log(json_log):
    async def run():
        async def failing():
            raise ValueError("something")

        task = asyncio.ensure_future(failing())
        await asyncio.sleep(0.01)
        del task
        gc.collect()

    asyncio.run(run())
    gc.collect()
    (line,) = json_log().splitlines()
    assert json.loads(line)["level"] == "error"
    assert "ValueError: something" in json.loads(line)["traceback"]


@pytest.mark.parametrize("host", ["a..b", "x" * 70 + ".example", "\udcff"])
def test_a_host_that_is_no_name_is_one_line(tmp_path, host):
    make_rule().save(tmp_path / "rule.rankset")
    command = [sys.executable, "-m", "rankset", "serve", str(tmp_path / "rule.rankset"), "--host", host]
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=60, env={**os.environ, "RANKSET_TOKEN": "x" * 20}
    )
    assert done.returncode == 1
    (line,) = done.stderr.strip().splitlines()
    assert "cannot listen at" in line
    assert "Pass another address with --host." in line
    assert "Unicode" not in line
