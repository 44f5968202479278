"""What four other libraries answer on the same rows, and how long they take; fills docs/coming-from.

    python3 run.py peers                 # about twenty minutes
    python3 run.py peers answers puncc   # one library again, the others as they are
    python3 run.py peers times           # times only
    python3 run.py peers tables          # the pages again, nothing measured

Writes docs/coming-from/figures.json and the tables between `<!-- figures: … -->` and `<!-- end -->` of the pages there.
Every library runs in a process and an environment of its own (`.envs/peer-…`, set up by run.py); arrays go there and
masks of sets come back as files. What is measured, at alpha = 0.1:

* answers: coverage, mean size, share of empty sets and share of rows with another set than rankset's, over 100 random
  splits (20 for crepes, which looks at one p-value at a time). The number of calibration rows plus one is a multiple
  of ten, where conventions about "at least" and "more than" show; "carer, 1,000" has 1,000 calibration rows instead.
* again: the share of sets that differ when the same rows are asked for once more, and when each row is asked for alone
  (200 rows of cifar100).
* position: in 1,000 pairs of n and alpha, how often the threshold is not the exact order statistic. Rows are predicted
  that calibrated, all scores are distinct, so the number of covered rows is the position. For scores without draws.
* few: the mean size of sets of carer after 9 calibration rows (just enough) and after 8 (too few).
* seconds: predicting 1 × 6, 2,000 × 6 and 10,000 × 100 after 999 calibration rows; the fastest of up to 15 runs,
  because the machine may be shared.
"""

import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from peers_methods import PEERS, Array, Method, ours
from peers_tables import TIMED, filled, tables, times_table

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "coming-from"
SPLITS = {"mapie": 100, "torchcp": 100, "crepes": 20, "puncc": 100}
ALPHA = 0.1
PAIRS = [(n, alpha) for n in range(20, 220) for alpha in (0.05, 0.1, 0.15, 0.2, 0.3)]
CALIBRATION = {"carer": 999, "carer, 1,000": 1_000, "marketing": 129, "cifar100": 499, "sampled": 999}
TIMED_METHODS = 2
"""How many methods of a library are timed: THR and APS, or the first two."""
LEFT_OUT = {("cifar100", "hinge by class, no smoothing")}
"""crepes computes all p-values once per class here: 100 × 100 for every row."""
ERRORS = (ValueError, IndexError, RuntimeError)
PARTS = ("answers", "times", "tables")


def splits(data: str, rows: int, count: int) -> Iterator[tuple[Array, Array]]:
    """Rows that calibrate and the others, again and again."""
    for seed in range(count):
        order = np.random.default_rng(seed).permutation(rows)
        yield order[: CALIBRATION[data]], order[CALIBRATION[data] :]


def load(folder: Path) -> dict[str, tuple[Array, Array]]:
    names = [*CALIBRATION, "cifar100, all"]
    return {name: (np.load(folder / f"{name}.npy"), np.load(folder / f"{name}.labels.npy")) for name in names}


def ask(methods: dict[str, Method], folder: Path, count: int) -> tuple[dict[str, Any], dict[str, Array]]:
    """Everything measured of one library but times: figures as JSON has them, and masks by data, method and split."""
    data = load(folder)
    figures: dict[str, Any] = {"again": {}, "alone": {}, "position": {}, "few": {}, "errors": {}}
    masks: dict[str, Array] = {}
    for method, calibrate in methods.items():
        for name in CALIBRATION:
            if (name, method) in LEFT_OUT:
                figures["errors"][f"{name}|{method}"] = "left out: too slow"
                continue
            probs, labels = data[name]
            try:
                for i, (known, new) in enumerate(splits(name, len(labels), count)):
                    masks[f"{name}|{method}|{i}"] = calibrate(probs[known], labels[known], ALPHA)(probs[new])
            except ERRORS as error:
                figures["errors"][f"{name}|{method}"] = f"{type(error).__name__}: {error}"[:120]
        if ("cifar100", method) not in LEFT_OUT:
            figures["again"][method], figures["alone"][method] = repeated(calibrate, *data["cifar100, all"])
        if any(name in method.lower() for name in ("lac", "no smoothing")):
            figures["position"][method] = positions(calibrate)
        figures["few"][method] = {str(n): few(calibrate, *data["carer"], n) for n in (9, 8)}
    return figures, masks


def repeated(calibrate: Method, probs: Array, labels: Array) -> tuple[float, float]:
    """The shares of sets that differ when rows are asked for again, and one by one."""
    rule, new = calibrate(probs[:4_999], labels[:4_999], ALPHA), probs[5_000:5_200]
    first, second = rule(new), rule(new)
    single = np.concatenate([rule(new[i : i + 1]) for i in range(len(new))])
    return float((first != second).any(axis=1).mean()), float((first != single).any(axis=1).mean())


def times(methods: dict[str, Method], folder: Path) -> dict[str, dict[str, float]]:
    """Seconds by method and size."""
    data = load(folder)
    return {
        method: {title: seconds(calibrate, *data[name], rows) for title, (name, rows) in TIMED.items()}
        for method, calibrate in list(methods.items())[:TIMED_METHODS]
    }


def seconds(calibrate: Method, probs: Array, labels: Array, rows: int) -> float:
    rule, found = calibrate(probs[:999], labels[:999], ALPHA), []
    rule(probs[:rows])
    while len(found) < 15 and sum(found) < 3:
        start = time.perf_counter()
        rule(probs[:rows])
        found.append(time.perf_counter() - start)
    return min(found)


def few(calibrate: Method, probs: Array, labels: Array, n: int) -> float | str:
    try:
        return float(calibrate(probs[:n], labels[:n], ALPHA)(probs[1_000:]).sum(axis=1).mean())
    except ERRORS as error:
        return type(error).__name__


def positions(calibrate: Method) -> list[int] | None:
    """How often the position of the threshold is below and above the exact one; None where it cannot be seen."""
    below = above = 0
    for n, alpha in PAIRS:
        top = np.linspace(0.55, 0.95, n)
        probs, labels = np.stack([top, 1 - top], axis=1), np.zeros(n, int)
        try:
            found = int(calibrate(probs, labels, alpha)(probs)[:, 0].sum())
        except ERRORS:
            return None
        exact = n + 1 - int((n + 1) * Fraction(str(alpha)))
        below, above = below + (found < exact), above + (found > exact)
    return [below, above]


def write_data(folder: Path) -> None:
    import rankset as rs

    logits, emotions = rs.datasets.load("carer")
    texts = rs.softmax(logits.astype(float))
    draws = np.random.default_rng(0).multinomial(10, texts)
    images, names = rs.datasets.load("cifar100")
    images = images / images.sum(axis=1, keepdims=True, dtype=float)
    data = {"carer": (texts, emotions), "carer, 1,000": (texts, emotions), "marketing": rs.datasets.load("marketing")}
    data |= {
        "cifar100": (images[:1_000], names[:1_000]),
        "sampled": (draws / 10, emotions),
        "cifar100, all": (images, names),
    }
    for name, (probs, labels) in data.items():
        np.save(folder / f"{name}.npy", np.asarray(probs, float))
        np.save(folder / f"{name}.labels.npy", np.asarray(labels, int))


def start(part: str, peer: str, folder: Path) -> Any:  # noqa: ANN401
    """Have the peer measured in its own process and environment, and return the figures that it wrote."""
    import run

    python = run.python_of(run.environment(f"peer-{peer}"))
    subprocess.run([python, __file__, "--child", part, peer, str(folder)], check=True, cwd=ROOT)
    return json.loads((folder / f"{peer}.json").read_text())


def child(part: str, peer: str, folder: Path) -> None:
    """Measure a peer in its own process."""
    warnings.simplefilter("ignore")
    if part == "times":
        figures: dict[str, Any] = times(PEERS[peer](), folder)
    else:
        figures, masks = ask(PEERS[peer](), folder, SPLITS[peer])
        figures["version"] = importlib.metadata.version(peer)
        np.savez_compressed(folder / f"{peer}.npz", **masks)
    (folder / f"{peer}.json").write_text(json.dumps(figures))


def compare(peer: str, folder: Path) -> dict[str, Any]:
    """Ask the peer in its process and rankset here."""
    theirs = start("answers", peer, folder)
    chosen = {method: ours(method) for method in theirs["few"]}
    mine, my_masks = ask({method: rule for method, (_, rule) in chosen.items()}, folder, SPLITS[peer])
    both = np.load(folder / f"{peer}.npz"), my_masks
    answers = []
    for name in CALIBRATION:
        labels = np.load(folder / f"{name}.labels.npy")
        for method, (said, _) in chosen.items():
            row = {"data": name, "method": method, "rankset": said}
            if error := theirs["errors"].get(f"{name}|{method}"):
                answers.append(row | {"error": error})
                continue
            pairs = [
                ([masks[f"{name}|{method}|{i}"] for masks in both], labels[new])
                for i, (_, new) in enumerate(splits(name, len(labels), SPLITS[peer]))
            ]
            answers.append(row | means(pairs))
    kept = ("again", "alone", "position", "few")
    figures = {"version": theirs["version"], "answers": answers}
    return figures | {"theirs": {key: theirs[key] for key in kept}, "ours": {key: mine[key] for key in kept}}


def means(pairs: list[tuple[list[Array], Array]]) -> dict[str, Any]:
    """Of two masks and the true labels, split by split: coverage, size and empty sets of both, and how many differ."""
    found = {
        "coverage": [[mask[range(len(labels)), labels].mean() for mask in masks] for masks, labels in pairs],
        "size": [[mask.sum(axis=1).mean() for mask in masks] for masks, _ in pairs],
        "empty": [[(~mask.any(axis=1)).mean() for mask in masks] for masks, _ in pairs],
        "different": [(masks[0] != masks[1]).any(axis=1).mean() for masks, _ in pairs],
    }
    return {key: np.round(np.mean(values, axis=0), 4).tolist() for key, values in found.items()}


def compare_times(peer: str, folder: Path) -> dict[str, Any]:
    """Seconds by method: of the peer, and of rankset here."""
    theirs = start("times", peer, folder)
    mine = times({method: ours(method)[1] for method in theirs}, folder)
    return {method: {"theirs": theirs[method], "ours": mine[method]} for method in theirs}


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--child"]:
        part, peer, folder = arguments[1:]
        child(part, peer, Path(folder))
        return 0
    os.environ["RANKSET_PLAIN"] = "1"
    sys.path.insert(0, str(ROOT))
    parts = [part for part in PARTS if part in arguments] or PARTS
    file = PAGES / "figures.json"
    figures: dict[str, Any] = {peer: {} for peer in PEERS} | (json.loads(file.read_text()) if file.exists() else {})
    with tempfile.TemporaryDirectory(prefix="rankset-peers-") as name:
        write_data(Path(name))
        for peer in [peer for peer in PEERS if peer in arguments] or PEERS:
            if "answers" in parts:
                figures[peer] |= compare(peer, Path(name))
            if "times" in parts:
                figures[peer]["seconds"] = compare_times(peer, Path(name))
            file.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n")
    write_pages(figures)
    return 0


def write_pages(figures: dict[str, Any]) -> None:
    pages = {peer: tables(peer, found) for peer, found in figures.items()}
    for name, found in {"index": {"times": times_table(figures)}, **pages}.items():
        page = PAGES / f"{name}.md"
        page.write_text(filled(page.read_text(), found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
