"""``rankset export`` on the command line."""

import json

import numpy as np
import pytest

pytest.importorskip("onnx")

import onnx
from click.testing import CliRunner

import rankset as rs
from rankset.cli.commands import rankset
from rankset.errors import FileError, LevelError, ScoreError
from refusals import check_refusal, failure, like

PROBS, LABELS = rs.datasets.load("marketing")


@pytest.fixture
def rule(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = rs.calibrate(PROBS, LABELS, condition=rs.PerGroup(), groups=np.resize(["a", "b"], len(PROBS)))
    made.save("rule.rankset")
    return made


def run(*arguments):
    return CliRunner().invoke(rankset, list(arguments))


def test_the_model_is_that_of_to_onnx(rule):
    done = run("export", "rule.rankset", "-o", "rule.onnx", "--alpha", "0.1")
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr.startswith("rule.onnx: ")
    assert done.stderr.endswith("input probs, groups, alpha = 0.1\n")
    assert onnx.load("rule.onnx") == rule.to_onnx(alpha="0.1")


def test_options_reach_the_model(rule):
    options = ["--alpha", "0.2", "--dtype", "float64", "--empty", "top", "--opset", "20", "--confidence", "0.9"]
    done = run("export", "rule.rankset", "-o", "rule.onnx", *options)
    assert done.exit_code == 0, done.stderr
    wanted = rule.to_onnx(alpha="0.2", dtype="float64", empty="top", opset=20, confidence="0.9")
    assert onnx.load("rule.onnx") == wanted
    assert json.loads(wanted.metadata_props[0].value)["confidence"] == "0.9"


def test_mistakes_are_told_in_a_line(rule):
    rs.calibrate(PROBS, LABELS, method=rs.Aps()).save("aps.rankset")
    command = ["export", "rule.rankset", "-o", "rule.onnx"]
    for arguments, refusal in [
        (["export", "aps.rankset", "-o", "x.onnx"], ScoreError.draws_in_graph(rs.Aps())),
        (["export", "none.rankset", "-o", "x.onnx"], FileError.missing("none.rankset")),
        (["export", "rule.rankset", "-o", "x.bin"], like(FileError, file="x.bin")),
        ([*command, "--alpha", "7"], like(LevelError)),
    ]:
        check_refusal(failure(*arguments), refusal)
        told = run(*arguments)
        assert told.exit_code in (1, 2)
        assert len(told.stderr.strip().splitlines()) == 1
    assert run(*command).exit_code == 0
    assert run(*command).exit_code == 1
    assert run(*command, "--force").exit_code == 0
    assert run(*command, "--opset", "17", "--force").exit_code == 2
