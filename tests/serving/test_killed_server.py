"""A server is killed while clients predict and label, and started again: no acknowledged label is lost."""

import http.client
import signal
import threading
import time

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

import rankset as rs
from serving_process import CLASSES, LABELS, LOGITS, Served, make_rule

ROUNDS = 5


class Client(threading.Thread):
    """Predicts and labels rows, one after the other, until the server is gone."""

    def __init__(self, server, name, acknowledged):
        super().__init__()
        self.server, self.prefix, self.acknowledged = server, name, acknowledged

    def run(self):
        for number in range(100_000):
            name, row = f"{self.prefix}-{number}", number % 2000
            try:
                self.server.post("/predict", {"rows": [LOGITS[row].tolist()], "ids": [name]})
                answer = self.server.post("/feedback", {"ids": [name], "labels": [CLASSES[LABELS[row]]]})
            except (OSError, http.client.HTTPException):  # the server is gone
                return
            if answer.status == 200 and answer.json["answers"] == ["new"]:
                self.acknowledged[name] = int(LABELS[row])


def test_a_killed_server_has_every_label_that_it_acknowledged(where, opened, tmp_path):
    rule, moments, acknowledged = make_rule(), np.random.default_rng(3), {}
    rule.save(tmp_path / "rule.rankset")
    for turn in range(ROUNDS):
        server = Served.start(tmp_path / "rule.rankset", tmp_path, "--store", where)
        clients = [Client(server, f"{turn}-{number}", acknowledged) for number in range(2)]
        for client in clients:
            client.start()
        time.sleep(0.2 + moments.random())
        server.stop(signal.SIGKILL)
        for client in clients:
            client.join(30)
    assert len(acknowledged) > 20 * ROUNDS
    store = opened(where, rule)
    stored = [one for one in store.history() if isinstance(one, rs.serving.Labelled)]
    labels = {one.prediction.id: one.feedback.label for one in stored}
    assert len(labels) == len(stored), "a label is there twice"
    assert {name: labels.get(name) for name in acknowledged} == acknowledged
    assert len(labels) - len(acknowledged) <= 2 * ROUNDS, "only answers that were under way are not known"
