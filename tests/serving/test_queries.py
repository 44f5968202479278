"""Queries: alpha and error of bodies in JSON, names that no query has, and shares that cannot be."""

import asyncio
import io
import json
import re

import numpy as np
import pytest

import rankset as rs

pytest.importorskip("starlette")

from serving_process import CLASSES, LABELS, LOGITS, make_rule
from serving_requests import asked

ROWS = LOGITS[1000:1005].astype(np.float64)
JSON, NPY = (b"content-type", b"application/json"), (b"content-type", b"application/x-npy")
ALPHA, ERROR = "alpha is the share of sets that may miss", "error is the largest share of wrong answers"


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    triage = rs.triage(LOGITS[:1000], LABELS[:1000], kind="logits", classes=CLASSES)
    found = rs.serving.app(make_rule(), store=tmp_path_factory.mktemp("store") / "rows.db", triage=triage)
    yield found
    found.close()


def post(app, path, **body):
    status, answer = asyncio.run(asked(app, "POST", path, json.dumps(body).encode(), [JSON]))
    return status, json.loads(answer)


def get(app, path):
    status, answer = asyncio.run(asked(app, "GET", path))
    return status, json.loads(answer)


@pytest.mark.parametrize("alpha", ["0.05", "5%25", "0,05", "1/20"])
def test_alpha_of_json_can_stand_in_the_query(app, alpha):
    status, answer = post(app, f"/predict?alpha={alpha}", rows=ROWS.tolist())
    assert (status, answer["alpha"], answer["sets"]) == (200, 0.05, make_rule().predict(ROWS, alpha=0.05).to_lists())


def test_error_of_json_can_stand_in_the_query(app):
    _, wanted = post(app, "/triage", rows=ROWS.tolist(), error=0.05)
    assert post(app, "/triage?error=0.05", rows=ROWS.tolist()) == (200, wanted)
    assert post(app, "/predict?error=0.05", rows=ROWS.tolist())[1]["accepted"] == wanted["accepted"]


@pytest.mark.parametrize(
    ("path", "body", "what"),
    [
        ("/predict?alpha=0.05", {"alpha": 0.1}, "alpha"),
        ("/predict?alpha=0.05", {"alpha": 0.05}, "alpha"),
        ("/predict?error=0.05", {"error": 0.1}, "error"),
        ("/triage?error=0.05", {"error": 0.1}, "error"),
    ],
)
def test_a_share_in_both_places_is_refused(app, path, body, what):
    status, answer = post(app, path, rows=ROWS.tolist(), **body)
    assert (status, answer["what"]) == (422, what)
    assert answer["expected"] == "stand in the query or in the body, not in both"


@pytest.mark.parametrize(
    ("path", "received", "remedy"),
    [
        ("/predict?aplha=0.05", "'aplha'", "Did you mean 'alpha'?"),
        ("/predict?alfa=0.05", "'alfa'", "Did you mean 'alpha'?"),
        ("/predict?id=a1", "'id'", "With a body of JSON, ids stand in the body, as its member 'ids'."),
        ("/predict?group=a", "'group'", "With a body of JSON, groups stand in the body, as its member 'groups'."),
        ("/predict?zzz", "'zzz'", "GET /docs lists all names."),
        ("/feedback?ids=a", "'ids'", "With a body of JSON, ids stand in the body, as its member 'ids'."),
        ("/feedback?alpha=0.1", "'alpha'", "GET /docs lists all names."),
        ("/triage?errors=0.1", "'errors'", "Did you mean 'error'?"),
        ("/triage?alpha=0.1", "'alpha'", "GET /docs lists all names."),
    ],
)
def test_other_names_are_refused(app, path, received, remedy):
    status, answer = post(app, path, rows=ROWS.tolist())
    assert (status, answer["what"], answer.get("received"), answer["remedy"]) == (422, "the query", received, remedy)


def test_other_names_of_arrays_and_of_the_rule_are_refused(app):
    file = io.BytesIO()
    np.save(file, ROWS)
    status, answer = asyncio.run(asked(app, "POST", "/predict?ids=a1", file.getvalue(), [NPY]))
    assert (status, json.loads(answer)["remedy"]) == (422, "Did you mean 'id'?")
    status, answer = get(app, "/rule?aplha=0.1")
    assert (status, answer["what"], answer["remedy"]) == (422, "the query", "Did you mean 'alpha'?")
    assert get(app, "/rule?alpha=10%25")[1]["alpha"] == 0.1


@pytest.mark.parametrize("value", [5, 0, 1, -0.1])
@pytest.mark.parametrize("path", ["/predict", "/triage"])
def test_a_wrong_error_is_called_error(app, path, value):
    status, answer = post(app, path, rows=ROWS.tolist(), error=value)
    assert (status, answer["what"]) == (422, "error")
    assert answer["remedy"].startswith(ERROR)
    assert "alpha" not in answer["detail"]


def test_the_smallest_error_accepts_nothing(app):
    assert post(app, "/triage", rows=ROWS.tolist(), error=5e-324)[1]["accepted"] == [False] * len(ROWS)


@pytest.mark.parametrize(
    "value", ["0", "1", "7", "ten", "", "nan", "inf", "1e-390", "0.99999999999999999999", "5%2525"]
)
def test_words_about_alpha_help_clients_of_any_language(app, value):
    for status, answer in (get(app, f"/rule?alpha={value}"), post(app, f"/predict?alpha={value}", rows=ROWS.tolist())):
        assert (status, answer["what"], answer["expected"]) == (422, "alpha", "be a number above 0 and below 1")
        assert answer["remedy"].startswith(ALPHA)
        assert "Fraction" not in answer["detail"]
    assert get(app, "/rule?alpha=0.1&alpha=0.2")[1]["expected"] == "be one number"
    assert get(app, "/rule?alpha=7")[1]["remedy"].endswith("Did you mean 0.07?")


def test_triage_needs_an_error(app):
    status, answer = post(app, "/triage", rows=ROWS.tolist())
    assert (status, answer["what"], answer["expected"]) == (422, "the body", "have the member 'error'")
    assert post(app, "/triage", rows=ROWS.tolist(), error=None)[0] == 422


def rule_of(kind, n_columns):
    """A rule of a kind."""
    rows = np.random.default_rng(0).dirichlet(np.ones(n_columns), 40)
    rows = {"probs": rows, "logits": np.log(rows), "decision": rows, "binary": rows[:, 1]}[kind]
    labels = np.arange(40) % n_columns
    classes = [f"class {number}" for number in range(n_columns)]
    return rs.calibrate(rows, np.array(classes)[labels], kind=kind, classes=classes, method="rank")


@pytest.mark.parametrize(
    ("kind", "n_columns"), [("probs", 2), ("probs", 8), ("logits", 3), ("decision", 4), ("binary", 2)]
)
def test_the_examples_of_the_description_can_be_sent(kind, n_columns, tmp_path):
    app = rs.serving.app(rule_of(kind, n_columns), store=tmp_path / "rows.db")
    _, body = asyncio.run(asked(app, "GET", "/openapi.json"))
    paths = json.loads(body)["paths"]
    for path in ("/predict", "/feedback"):
        example = re.search(r"Example: (\{.*?\})\.", paths[path]["post"]["description"])[1]
        headers = [(b"content-type", b"application/json")]
        status, answer = asyncio.run(asked(app, "POST", path, example.encode(), headers))
        assert status == 200, answer
    assert json.loads(answer)["new"] == 1
    app.close()


def test_the_examples_of_many_classes_are_short():
    app = rs.serving.app(
        rs.calibrate(
            np.eye(300),
            [f"{'n' * 100}{number}" for number in range(300)],
            classes=[f"{'n' * 100}{number}" for number in range(300)],
        )
    )
    _, body = asyncio.run(asked(app, "GET", "/openapi.json"))
    paths = json.loads(body)["paths"]
    assert "[0.5, 0.25, 0.125, 0.062, 0.031, 0.016, 0.008, 0.004, …]" in paths["/predict"]["post"]["description"]
    assert "300 numbers in the order of the classes" in paths["/predict"]["post"]["description"]
    assert '"labels": ["…"]' in paths["/feedback"]["post"]["description"]
    app.close()
