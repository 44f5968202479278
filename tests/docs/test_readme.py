"""The README is short, and the two lines for every framework run. test_pages.py runs its other code."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rankset as rs
from docs.snippets import ROOT

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| ([^|]+) \| `(.+?)`<br>`(.+?)` \| \[[^\]]+\]\(([^)]+)\) \|$", TEXT, flags=re.MULTILINE)
NEEDS = {
    "programs that ask over HTTP": "starlette",
    "PyTorch": "torch",
    "Dask": "dask",
    "Spark": "pyspark",
    "scikit-learn": "sklearn",
    "data frames": "narwhals",
}
NEEDS |= {"a fitted model": "sklearn", "csv, Excel, parquet": "pyarrow"}
MAKERS = {}


def makes(*titles):
    def keep(maker):
        MAKERS.update(dict.fromkeys(titles, maker))
        return maker

    return keep


@makes("logits, a `.npy` file", "a language model", "a service", "a paper to write")
def arrays():
    logits, labels = rs.datasets.load("carer")
    np.save("val.npy", logits[:300])
    np.save("new.npy", logits[300:])
    probs, options = rs.softmax(logits[:300]), [row[: 2 + i % 5] for i, row in enumerate(logits[:300])]
    answers = [int(row.argmax()) for row in options]
    rule = rs.calibrate(probs, labels[:300])
    return {"labels": labels[:300], "probs": probs, "option_logits": options, "answers": answers, "rule": rule}


@makes("several labels per row")
def several_labels():
    probs, labels = rs.datasets.load("goemotions")
    return {"probs": probs[:300], "label_matrix": labels[:300]}


@makes("scikit-learn", "a fitted model")
def classifier():
    from sklearn.datasets import load_iris
    from sklearn.linear_model import LogisticRegression

    rows, labels = load_iris(return_X_y=True)
    fitted = LogisticRegression(max_iter=1000).fit(rows, labels)
    return {"classifier": fitted, "X": rows, "y": labels, "X_new": rows}


@makes("data frames")
def frames():
    import pandas as pd

    logits, labels = rs.datasets.load("carer")
    classes = np.array(rs.datasets.DATASETS["carer"].classes)
    frame = pd.DataFrame(rs.softmax(logits), columns=classes)
    return {"frame": frame, "new_frame": frame, "names": classes[labels]}


@makes("rows that keep coming")
def stream_rows():
    logits, labels = rs.datasets.load("carer")
    probs = rs.softmax(logits)
    return {"rule": rs.calibrate(probs[:1000], labels[:1000]), "probs": probs[1000:], "labels": labels[1000:]}


@makes("csv, Excel, parquet")
def files():
    rows = ["A,B,answer", *["0.9,0.1,A", "0.2,0.8,B"] * 30]
    for name in ("scores.csv", "new.csv"):
        Path(name).write_text("\n".join(rows) + "\n")
    return {}


@makes("PyTorch")
def loaders():
    import torch

    logits, labels = map(torch.from_numpy, rs.datasets.load("carer"))
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(logits, labels), batch_size=500)
    return {"network": torch.nn.Identity(), "val_loader": loader, "new_loader": loader}


@makes("Dask")
def dask_arrays():
    import dask.array as da

    logits, labels = rs.datasets.load("carer")
    return {"dask_probs": da.from_array(rs.softmax(logits), chunks=(500, 6)), "dask_labels": da.from_array(labels, 500)}


@makes("Spark")
def spark_frame():
    import pandas as pd
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    frame = pd.DataFrame({"A": [0.9, 0.2] * 20, "B": [0.1, 0.8] * 20, "label": ["A", "B"] * 20})
    return {"spark_frame": session.createDataFrame(frame)}


@makes("programs that ask over HTTP")
def rule_file():
    rs.calibrate([[0.7, 0.2, 0.1]] * 30, [0] * 30).save("rule.rankset")
    return {}


def check_server(start, ask, folder):
    """Start a server by one line, at a free port, and ask it what the other line asks."""
    from serving_process import Served

    _, _, rule, *options = start.split()
    _, _, body, address = shlex.split(ask)
    served = Served.start(rule, folder, *options)
    try:
        answer = served.post(address.removeprefix("http://127.0.0.1:8000"), json.loads(body))
        assert (answer.status, answer.json["sets"]) == (200, [[0]])
    finally:
        served.stop()


def test_the_readme_has_at_most_120_lines():
    assert len(TEXT.splitlines()) <= 120


def test_every_framework_has_two_lines_and_a_page():
    assert {title for title, *_ in ROWS} == MAKERS.keys()
    assert all((ROOT / page).is_file() for *_, page in ROWS)


@pytest.mark.parametrize(("title", "first", "second"), [row[:3] for row in ROWS], ids=[row[0] for row in ROWS])
def test_the_two_lines_run(title, first, second, tmp_path, monkeypatch):
    if title in NEEDS:
        pytest.importorskip(NEEDS[title])
    monkeypatch.chdir(tmp_path)
    names = {"rs": rs, "np": np, **MAKERS[title]()}
    if first.startswith("rankset serve "):
        check_server(first, second, tmp_path)
        return
    if first.startswith("rankset "):
        for line in (first, second):
            subprocess.run([sys.executable, "-m", "rankset", *line.split()[1:]], check=True, timeout=60)
        assert (tmp_path / "sets.csv").is_file()
        return
    for line in (first, second):
        exec(compile(line, title, "exec"), names)  # noqa: S102
    assert any(name in names for name in ("sets", "mask", "table"))
