"""docs/reference/format.md is enough to read a rule: another reader gives the same sets, and the draw is as told."""

import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rankset as rs
from rankset.core import noise

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
import read_rule

ROOT = Path(__file__).parents[2]

PROBS, LABELS = rs.datasets.load("marketing")
NAMES = ["A", "B", "C", "D"]


@pytest.mark.parametrize("score", [rs.Rank(), rs.Thr(), rs.TopK()], ids=repr)
@pytest.mark.parametrize("condition", [rs.Marginal(), rs.PerLabel()], ids=repr)
@pytest.mark.parametrize("names", [None, NAMES])
def test_the_independent_reader_gives_the_same_sets(tmp_path, score, condition, names):
    labels = LABELS[:130] if names is None else np.array(names)[LABELS[:130]]
    rule = rs.calibrate(PROBS[:130], labels, score=score, condition=condition, classes=names)
    rule.save(tmp_path / "rule.rankset")
    header, arrays = read_rule.read(tmp_path / "rule.rankset")
    for alpha in ("0.05", "0.1", "0.29"):
        expected = rule.predict(PROBS[130:], alpha).to_lists()
        assert [read_rule.predict(header, arrays, row, alpha) for row in PROBS[130:].tolist()] == expected


def test_it_runs_as_a_script_without_rankset(tmp_path):
    rs.calibrate(PROBS, LABELS).save(tmp_path / "rule.rankset")
    command = [sys.executable, "-I", ROOT / "examples" / "read_rule.py", tmp_path / "rule.rankset", "0.1"]
    told = subprocess.check_output([*command, "0.7", "0.1", "0.15", "0.05"], text=True, timeout=60)
    assert told.splitlines()[1] == str(rs.calibrate(PROBS, LABELS).predict([[0.7, 0.1, 0.15, 0.05]], 0.1).to_lists()[0])
    assert "import rankset" not in (ROOT / "examples" / "read_rule.py").read_text()
    assert len((ROOT / "examples" / "read_rule.py").read_text().splitlines()) <= 60


MASK, GOLDEN = 2**64 - 1, 0x9E3779B97F4A7C15


def mix(word):
    word ^= word >> 30
    word = word * 0xBF58476D1CE4E5B9 & MASK
    word ^= word >> 27
    word = word * 0x94D049BB133111EB & MASK
    return word ^ word >> 31


def draw(row, seed, identity=None):
    """As docs/reference/format.md tells it, in whole numbers."""
    k = len(row)
    m = min(16, k)
    top = max(range(k), key=lambda column: (row[column], -column))
    bits = [struct.unpack("<Q", struct.pack("<d", value + 0.0))[0] for value in row]
    words = [*(bits[i * k // m] for i in range(m)), bits[top], top, 0 if identity is None else mix(identity ^ GOLDEN)]
    total = sum(mix((word + j * GOLDEN) & MASK) for j, word in enumerate(words, start=1)) & MASK
    return (mix(total ^ mix((seed + GOLDEN) & MASK)) >> 11) * 2.0**-53


@pytest.mark.parametrize("n_columns", [1, 2, 4, 16, 17, 100])
@pytest.mark.parametrize("seed", [0, 1, 2**63])
def test_the_draw_is_as_described(n_columns, seed):
    rows = np.random.default_rng(n_columns).dirichlet(np.ones(n_columns), 20)
    assert noise.draws(rows, noise.NoiseSeed.of(seed)).tolist() == [draw(row, seed) for row in rows.tolist()]
    ids = np.arange(20, dtype=np.uint64)
    expected = [draw(row, seed, identity) for identity, row in enumerate(rows.tolist())]
    assert noise.draws(rows, noise.NoiseSeed.of(seed, ids)).tolist() == expected
