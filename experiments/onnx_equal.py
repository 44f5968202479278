"""Sets of exported ONNX models against those of ``Rule.predict``: python3 run.py onnx-equal --rows 100000

Every score that draws nothing and every condition, in onnxruntime with its default options, from probabilities and
logits in float32 and float64. Of the rows, a quarter are hostile: coarse grids with many ties, exact zeros, one-hot
rows, equal entries, and differences of logits beyond all powers. Prints the number of rows whose mask, size or order of
labels differs, and ends with exit code 1 if there is one. With --all-pairs every score is combined with every
condition; otherwise all scores with two conditions and three scores with all conditions. ``Marginals`` is for rows
with several labels: the rows are probabilities or logits of single labels, and the target is recall.

With --times it compares nothing, and prints the median time of 1,000 calls with one row, in microseconds.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

import rankset as rs

ALPHA = 0.1
AT_ONCE = 1000
GROUPS = ("north", "south", "west")
KINDS = ("probs", "logits")
"""What parts of the rows are, in turn."""
SEVERAL = {"probs": "marginals", "logits": "marginal_logits"}
"""What they are for ``Marginals``."""
Array = NDArray[Any]


@dataclass
class Case:
    """A score and a condition: rules and sessions of both kinds, numbers of compared rows and of those that differ."""

    score: Any
    condition: Any
    dtype: str
    made: dict[str, tuple[rs.Rule, Any]]
    rows: int = 0
    differing: int = 0

    @classmethod
    def of(cls, score: Any, condition: Any, dtype: str, n_columns: int) -> Case:  # noqa: ANN401
        """Calibrate and export rules of both kinds."""
        made = {}
        for kind in KINDS:
            rows, labels = rows_and_labels(n_columns, 2000, seed=1, kind=kind)
            groups = {"groups": np.resize(GROUPS, len(rows))} if condition.needs_groups else {}
            several = {"labels": labels[:, np.newaxis].tolist(), "kind": SEVERAL[kind], "target": "recall"}
            own = several if isinstance(score, rs.Marginals) else {"labels": labels, "kind": kind}
            rule = rs.calibrate(rows.astype(dtype), method=score, condition=condition, **own, **groups)
            model = rule.to_onnx(alpha=ALPHA, dtype=dtype).SerializeToString()
            made[kind] = rule, onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
        return cls(score, condition, dtype, made)

    def __str__(self) -> str:
        names = f"{self.dtype} {self.score!r:.60} {self.condition!r:.40}"
        return f"{names}: {self.differing:,} of {self.rows:,} rows differ"


def main() -> int:
    """Compare all combinations, print a line for each, and return the exit code."""
    options = parsed_options()
    warnings.simplefilter("ignore")
    if options.times:
        print_times()
        return 0
    parts = all_parts(options.columns, options.rows)
    wrong = 0
    for dtype in options.dtypes:
        for pair in combinations(options.columns, options.all_pairs):
            if not any(text in repr(pair[0]) for text in options.only):
                continue
            case = Case.of(*pair, dtype, options.columns)
            for kind, rows in parts:
                case.rows += len(rows)
                case.differing += different_rows(*case.made[kind], rows.astype(dtype))
            print(case, flush=True)
            wrong += case.differing
    print(f"rows that differ: {wrong:,}")
    return int(wrong > 0)


def all_parts(n_columns: int, n_rows: int) -> list[tuple[str, Array]]:
    """Return kinds and rows, part by part; probabilities and logits in turn."""
    parts = []
    for number, start in enumerate(range(0, n_rows, AT_ONCE)):
        kind = KINDS[number % 2]
        parts.append((kind, rows_and_labels(n_columns, min(AT_ONCE, n_rows - start), 2 + number, kind)[0]))
    return parts


def parsed_options() -> argparse.Namespace:
    """Return what was typed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=10 * AT_ONCE)
    parser.add_argument("--columns", type=int, default=1000)
    parser.add_argument("--dtypes", nargs="+", default=["float32", "float64"])
    parser.add_argument("--only", nargs="+", default=[""], help="compare scores whose text contains one of these")
    parser.add_argument("--all-pairs", action="store_true")
    parser.add_argument("--times", action="store_true")
    return parser.parse_args()


def print_times() -> None:
    """Print how long one row takes, with one thread and with the default number of threads."""
    print("| classes | rows | THR | RANK | APS |\n|---|---|---|---|---|")
    for n_columns in (10, 100, 1000):
        for kind in KINDS:
            rows, labels = rows_and_labels(n_columns, 2000, seed=1, kind=kind)
            rows = rows.astype(np.float32)
            cells = []
            for score in (rs.Thr(), rs.Rank(), rs.Aps(randomized=False)):
                model = rs.calibrate(rows, labels, method=score, kind=kind).to_onnx(alpha=ALPHA).SerializeToString()
                cells.append(" / ".join(f"{median_time(model, threads, kind, rows):.0f}" for threads in (1, 0)))
            print(f"| {n_columns:,} | {kind} | {' | '.join(cells)} |", flush=True)


def median_time(model: bytes, threads: int, kind: str, rows: Array) -> float:
    """Return the median time of 1,000 calls with one row each, in microseconds, after 100 others."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    times = []
    for row in range(1100):
        start = time.perf_counter()
        session.run(None, {kind: rows[row : row + 1]})
        times.append(time.perf_counter() - start)
    return float(np.median(times[100:])) * 1e6


def combinations(n_columns: int, all_pairs: bool) -> Iterator[tuple[Any, Any]]:  # noqa: FBT001
    """Return scores and conditions."""
    conditions = all_conditions(n_columns)
    for score in all_scores(n_columns):
        simple = type(score) in (rs.Thr, rs.Rank, rs.Aps) and getattr(score, "shares", None) is None
        few = [rs.Marginal(), rs.PerLabelAndGroup()]
        yield from ((score, one) for one in (conditions if all_pairs or simple else few))
    for marginals in all_marginals(n_columns):
        yield from ((marginals, one) for one in (rs.Marginal(), rs.PerGroup()))


def all_conditions(n_columns: int) -> list[Any]:
    """Return one condition of every kind."""
    clusters = {column: f"cluster {column % 7}" for column in range(n_columns)}
    numbers = 1 + np.arange(n_columns) % 5
    return [
        rs.Marginal(),
        rs.PerLabel(),
        rs.PerLabel(clusters=[clusters[column] for column in range(n_columns)]),
        rs.PerGroup(),
        rs.PerLabelAndGroup(),
        rs.Pooled(rs.PerLabel()),
        rs.Pooled(rs.PerGroup()),
        rs.Balanced(numbers),
        rs.LabelShift(numbers),
    ]


def all_scores(n_columns: int) -> list[Any]:
    """Return every score that draws nothing."""
    probs, labels = rows_and_labels(n_columns, 2000, seed=99, kind="probs")
    aps, numbers = rs.Aps(randomized=False), 1 + np.arange(n_columns) % 5
    seen = [column for column in range(n_columns) if column % 10 != 3]
    return [
        rs.Thr(),
        rs.Rank(),
        aps,
        rs.TopK(),
        rs.Margin(),
        rs.Raps(randomized=False),
        rs.Saps(randomized=False),
        rs.Average(randomized=False, thr=0.3, aps=0.7, rank=1.1),
        rs.Share(),
        rs.Thr(shares=numbers),
        rs.Rank(shares=numbers),
        rs.Seen(aps, seen, n_columns),
        rs.RankLimited.fit(probs, labels),
        rs.ClassOffsets.fit(probs, labels, score=aps),
        rs.FuzzyClasses.fit(probs, labels),
        rs.Chosen(rs.Tempered(rs.Thr(), 1.0), "the one to try"),
        rs.Tempered(aps, 1.3),
        rs.Temperature.fit(probs, labels),
        rs.Recalibrated.fit(probs, labels),
    ]


def all_marginals(n_columns: int) -> list[Any]:
    """Return scores for rows with several labels."""
    weights = (0.9, 0.1, -0.3, 0.2, -0.1, 0.05)
    probs, labels = rows_and_labels(n_columns, 500, seed=98, kind="probs")
    fitted = rs.Marginals.fit(probs, labels[:, np.newaxis].tolist())
    return [rs.Marginals(rs.Thr(), weights), rs.Marginals(rs.Rank(), weights), fitted]


def rows_and_labels(n_columns: int, count: int, seed: int, kind: str) -> tuple[Array, Array]:
    """Return rows of probabilities or logits, a quarter of them hostile, and labels."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(count, n_columns)) * rng.choice([0.5, 2.0, 4.0], size=(count, 1))
    labels = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    hostile = rng.permutation(count)[: count // 4]
    parts = np.array_split(hostile, 4)
    logits[parts[0]] = np.round(logits[parts[0]])
    logits[parts[1]] = rng.choice([0.0, -1.0, -800.0], size=(len(parts[1]), n_columns), p=[0.01, 0.09, 0.9])
    logits[parts[2]] = np.where(np.arange(n_columns) == labels[parts[2], np.newaxis], 0.0, -np.inf)
    logits[parts[3]] = 0.0
    return (logits if kind == "logits" else rs.softmax(logits)), labels


def different_rows(rule: rs.Rule, session: Any, rows: Array) -> int:  # noqa: ANN401
    """Return the number of rows whose sets are not the same."""
    needed = rule.condition.needs_groups
    numbers = np.resize([0, 1, 2, -1], len(rows))
    groups = {"groups": np.append(GROUPS, "unknown")[numbers]} if needed else {}
    mask, sizes, codes = session.run(None, {rule.kind: rows, **({"groups": numbers} if needed else {})})
    sets = rule.predict(rows, ALPHA, **groups)
    listed = np.full(codes.shape, -1)
    listed[np.arange(codes.shape[1]) < sets.sizes[:, np.newaxis]] = sets.codes
    same = (mask == sets.mask).all(axis=1) & (sizes == sets.sizes) & (codes == listed).all(axis=1)
    return int((~same).sum())


if __name__ == "__main__":
    raise SystemExit(main())
