"""Cases for the reader of rules in JavaScript, examples/read_rule.mjs: files, rows, and what rankset answers.

``DRIVER`` is a function in JavaScript that answers the cases; tests run it in Node and in Chromium.
"""

import base64
import json
import warnings
from pathlib import Path

import numpy as np

import rankset as rs

ROOT = Path(__file__).parents[1]
READER = ROOT / "examples" / "read_rule.mjs"
GOLDEN = sorted((ROOT / "tests" / "golden").glob("*.rankset"))
SCORES = ("Rank", "Thr", "TopK", "Margin")
CONDITIONS = ("Marginal", "PerLabel", "PerRow")
DRIVER = """({ readRule }, cases) => cases.map(({ file, rows, groups, alphas }) => {
  try {
    const rule = readRule(Uint8Array.from(atob(file), (one) => one.charCodeAt(0)).buffer);
    const sets = (alpha) => rows.map((row, place) => rule.predict([].concat(row), alpha, groups?.[place]));
    return Object.fromEntries(alphas.map((alpha) => [alpha, sets(alpha)]));
  } catch (error) {
    return { refused: error.message };
  }
})"""
SOFTMAX = "({ softmax }, rows) => rows.map((row) => softmax(row))"


def header(data):
    """The text about a rule in its file."""
    length = int.from_bytes(data[:8], "little")
    return json.loads(json.loads(data[8 : 8 + length])["__metadata__"]["rankset"])


def is_known(data):
    """Whether the reader says that it reads such rules."""
    told = header(data)
    simple = told["score"]["name"] in SCORES and told["condition"]["name"] in CONDITIONS
    return simple and told["format"] <= 3


def case(data, rows, groups, alphas):
    return {"file": base64.b64encode(data).decode(), "rows": rows, "groups": groups, "alphas": list(alphas)}


def golden_cases():
    """A case of every golden file, and the answer: sets by alpha, or None where the reader must refuse."""
    for path in GOLDEN:
        kept = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        sets = kept["sets"] if is_known(path.read_bytes()) else None
        yield path.stem, case(path.read_bytes(), kept["rows"], kept["groups"], kept["sets"]), sets


METHODS = (rs.Rank(), rs.Thr(), rs.TopK(), rs.Margin())
WIDTHS = (1, 2, 7, 8, 9, 17, 130, 300)


def random_cases(folder, seed=0):
    """Cases of rules of every score, condition and kind, of few and many classes, with ties, and their sets."""
    rng = np.random.default_rng(seed)
    for number, width in enumerate(WIDTHS * 6):
        kind = ("probs", "logits", "decision")[number % 3]
        values = rows_of(rng, kind, 90, width)
        condition = (rs.Marginal(), rs.PerLabel(), rs.PerGroup())[number // 3 % 3]
        groups = rng.integers(0, 3, 90).tolist() if condition == rs.PerGroup() else None
        method = METHODS[number % 4]
        if method == rs.Thr() and kind == "decision":
            method = rs.Margin()
        known = None if groups is None else groups[:80]
        rule = rs.calibrate(
            values[:80], rng.integers(0, width, 80), method=method, condition=condition, kind=kind, groups=known
        )
        rule.save(folder / "rule.rankset")
        alphas = [
            "0.1",
            "0.05",
            ".3",
            "1e-1",
            "0.2500",
            "5%",
            " 2,5 % ",
            "0,05",
            "1e1%",
            repr(rng.random()),
            "0.012345678901234567",
        ]
        new = None if groups is None else [*groups[80:89], 7]  # a group that was never seen
        told = case((folder / "rule.rankset").read_bytes(), values[80:].tolist(), new, alphas)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rs.RanksetWarning)
            yield told, {alpha: rule.predict(values[80:], alpha, groups=new).to_lists() for alpha in alphas}


def rows_of(rng, kind, n_rows, width):
    if kind == "probs":
        counts = rng.integers(0, 5, (n_rows, width)) + 1.0  # ties
        return counts / counts.sum(axis=1, keepdims=True)
    return np.round(rng.normal(scale=3, size=(n_rows, width)), int(rng.integers(1, 12)))


def logits_of_widths(seed=0):
    """Rows of logits of different lengths; some have probabilities that are 0 or subnormal."""
    rng = np.random.default_rng(seed)
    rows = [rng.normal(scale=scale, size=width) for width in (1, 3, 8, 129, 1000, 1003) for scale in (1, 30, 400)]
    return [*rows, np.array([0.0, -708.5, -744.0, -745.1, -745.2, -746.0, -1e9, -740.3])]


def same_bits(found, rows):
    """Whether softmax of JavaScript has the bits of that of rankset."""
    return [np.asarray(one, dtype=float).tobytes() for one in found] == [
        rs.softmax(row[np.newaxis])[0].tobytes() for row in rows
    ]
