"""A real server in a process of its own, on a free port of this machine, and requests to it."""

import atexit
import http.client
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import rankset as rs

LOGITS, LABELS = rs.datasets.load("carer")
CLASSES = rs.datasets.DATASETS["carer"].classes
NAMES = np.array(CLASSES)
TOKEN = "a-token-for-tests-0123456789"  # noqa: S105


def make_rule(first=0, last=1000, **options):
    return rs.calibrate(LOGITS[first:last], LABELS[first:last], kind="logits", classes=CLASSES, **options)


@dataclass
class Answer:
    status: int
    headers: dict
    content: bytes

    @property
    def json(self):
        return json.loads(self.content)


@dataclass
class Served:
    """A running server."""

    process: subprocess.Popen
    port: int
    log: object
    first_line: str
    token: str | None = None
    lines: list = field(default_factory=list)

    @classmethod
    def start(cls, rule, folder, *options, token=None, environment=None, seconds=60):
        log = (folder / f"log{time.monotonic_ns()}.txt").open("w+")
        variables = {name: value for name, value in os.environ.items() if name != "RANKSET_TOKEN"}
        variables |= {"RANKSET_TOKEN": token} if token else {}
        command = [sys.executable, "-m", "rankset", "serve", str(rule), "--port", "0", *map(str, options)]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, text=True, cwd=folder, env={**variables, **(environment or {})}
        )
        atexit.register(process.kill)  # also if a test fails before it stops the server
        ready, _, _ = select.select([process.stdout], [], [], seconds)
        line = process.stdout.readline() if ready else ""
        if " at http://" not in line:
            process.kill()
            process.wait()
            process.stdout.close()
            log.close()
            raise AssertionError(f"no server: {line!r} {Path(log.name).read_text(encoding='utf-8')}")
        port = int(line.rpartition(" (alpha")[0].rpartition(":")[2])
        return cls(process, port, log, line, token)

    def ask(self, method, path, body=None, *, headers=None, token=..., seconds=30):
        sent = dict(headers or {})
        token = self.token if token is ... else token
        if token is not None:
            sent.setdefault("Authorization", f"Bearer {token}")
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            names = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, names, answer.read())
        finally:
            connection.close()

    def get(self, path, **options):
        return self.ask("GET", path, **options)

    def post(self, path, body, **options):
        return self.ask("POST", path, body, **options)

    def socket(self, seconds=30):
        return socket.create_connection(("127.0.0.1", self.port), timeout=seconds)

    def logged(self):
        self.log.flush()
        return Path(self.log.name).read_text(encoding="utf-8")

    def until(self, true, seconds=15):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if true():
                return True
            time.sleep(0.05)
        return False

    def number(self, name):
        """The value of a metric."""
        for line in self.get("/metrics").content.decode().splitlines():
            if line.rpartition(" ")[0] == f"rankset_{name}":
                return float(line.rpartition(" ")[2])
        return None

    def stop(self, number=signal.SIGTERM, seconds=30):
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            return self.process.wait(seconds)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            self.process.stdout.close()
            self.log.close()


def received(connection, seconds=30):
    """Everything that comes until the other side closes."""
    connection.settimeout(seconds)
    parts = []
    try:
        while part := connection.recv(65536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)
