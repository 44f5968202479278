"""``mlflow models serve`` answers requests with the sets of the rule: a real server, on loopback."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import numpy as np
import pytest

import rankset as rs

mlflow = pytest.importorskip("mlflow")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="process groups")

LOGITS, LABELS = rs.datasets.load("carer")
CLASSES = list(rs.datasets.DATASETS["carer"].classes)
RULE = rs.calibrate(LOGITS[:1000], LABELS[:1000], kind="logits", classes=CLASSES)
ROWS = LOGITS[1000:1020].astype(float)
SECONDS = 90


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def request(address, content=None):
    """Status and content of an answer."""
    body = None if content is None else json.dumps(content).encode()
    asked = urllib.request.Request(address, data=body, headers={"Content-Type": "application/json"})  # noqa: S310 - of this machine
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(asked, timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def wait_for(address, process, log):
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text()
        try:
            if request(f"{address}/ping")[0] == 200:
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            pass
        time.sleep(0.2)
    pytest.fail(f"no answer within {SECONDS} s:\n{log.read_text()}")


@pytest.fixture(scope="module", params=["frame", "matrix"])
def server(request, tmp_path_factory):
    """The address of a server of MLflow, and whether it takes matrices."""
    folder = tmp_path_factory.mktemp("served")
    rs.mlflow.save_model(RULE, folder / "sets", input_example=ROWS[:2] if request.param == "matrix" else None)
    port, log = free_port(), folder / "log.txt"
    command = [sys.executable, "-m", "mlflow", "models", "serve", "-m", str(folder / "sets"), "--env-manager", "local"]
    options = ["--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    search = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])  # noqa: PTH120 - not resolved
    variables = {**os.environ, "PATH": search, "MLFLOW_TRACKING_URI": f"sqlite:///{folder}/mlflow.db"}
    with log.open("w") as written:
        process = subprocess.Popen(
            [*command, *options], stdout=written, stderr=written, env=variables, cwd=folder, start_new_session=True
        )
    try:
        wait_for(f"http://127.0.0.1:{port}", process, log)
        yield f"http://127.0.0.1:{port}/invocations", request.param
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(timeout=20)


def asked(form, rows, **params):
    order = np.arange(6)[::-1]
    content = {"inputs": rows.tolist()}
    if form == "frame":  # columns in another order
        names = [CLASSES[place] for place in order]
        content = {"dataframe_split": {"columns": names, "data": rows[:, order].tolist()}}
    return content | ({"params": params} if params else {})


@pytest.mark.parametrize("params", [{}, {"alpha": 0.05}, {"alpha": 0.3}])
def test_answers_are_the_sets_of_the_rule(server, params):
    address, form = server
    status, text = request(address, asked(form, ROWS, **params))
    assert status == 200, text
    sets = RULE.predict(ROWS, params.get("alpha", 0.1))
    wanted = [{"labels": labels, "size": len(labels)} for labels in sets.to_lists()]
    assert json.loads(text) == {"predictions": wanted}


def test_bad_requests_are_answered_in_words(server):
    address, form = server
    status, text = request(address, asked(form, ROWS, alpha=1.5))
    assert status == 400
    assert "alpha must lie strictly between 0 and 1, got 1.5" in json.loads(text)["message"]
    status, text = request(address, asked(form, np.full_like(ROWS, 1e400)))
    assert status == 400
    assert request(address, asked(form, ROWS))[0] == 200
