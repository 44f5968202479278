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
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "coming-from"
SPLITS = {"mapie": 100, "torchcp": 100, "crepes": 20, "puncc": 100}
ALPHA = 0.1
PAIRS = [(n, alpha) for n in range(20, 220) for alpha in (0.05, 0.1, 0.15, 0.2, 0.3)]
CALIBRATION = {"carer": 999, "carer, 1,000": 1_000, "marketing": 129, "cifar100": 499, "sampled": 999}
TIMED = {"1 × 6": ("carer", 1), "2,000 × 6": ("carer", 2_000), "10,000 × 100": ("cifar100, all", 10_000)}
TITLES = {"mapie": "MAPIE", "torchcp": "TorchCP", "crepes": "crepes", "puncc": "puncc"}

TIMED_METHODS = 2
"""How many methods of a library are timed: THR and APS, or the first two."""
LEFT_OUT = {("cifar100", "hinge by class, no smoothing")}
"""crepes computes all p-values once per class here: 100 × 100 for every row."""
ERRORS = (ValueError, IndexError, RuntimeError)
PARTS = ("answers", "times", "tables")
SHOWN = ("carer", "cifar100", "sampled")
"""Data of which a page shows every method; of the others it shows the first."""

Array = NDArray[Any]
Rule = Callable[[Array], Array]
"""Probabilities (n, K) to sets, (n, K) booleans."""
Method = Callable[[Array, Array, float], Rule]
"""Probabilities, labels and alpha to a rule."""


def mapie() -> dict[str, Method]:
    from mapie.classification import SplitConformalClassifier
    from peers.mapie import HandsThrough

    def method(score: str, options: dict[str, Any]) -> Method:
        def calibrate(probs: Array, labels: Array, alpha: float) -> Rule:
            model = HandsThrough(probs.shape[1])
            rule = SplitConformalClassifier(model, confidence_level=1 - alpha, conformity_score=score, prefit=True)
            rule.conformalize(probs, labels)
            return lambda new: rule.predict_set(new, conformity_score_params=options)[1][:, :, 0]

        return calibrate

    drawn = {"include_last_label": "randomized"}
    methods = {score: method(score, {}) for score in ("lac", "aps")}
    return {
        **methods,
        "aps, randomized": method("aps", drawn),
        "raps": method("raps", {}),
        "top_k": method("top_k", {}),
    }


def torchcp() -> dict[str, Method]:
    import torch
    from peers.torchcp import SplitPredictor
    from torchcp.classification.predictor import ClassConditionalPredictor
    from torchcp.classification.score import APS, LAC, RAPS, SAPS

    def method(predictor: Any, score: Any, **options: Any) -> Method:  # noqa: ANN401
        def calibrate(probs: Array, labels: Array, alpha: float) -> Rule:
            rule = predictor(score_function=score(score_type="identity", **options), alpha=alpha)
            rule.calculate_threshold(torch.from_numpy(probs).float(), torch.from_numpy(labels))
            return lambda new: rule.predict_with_logits(torch.from_numpy(new).float()).numpy() == 1

        return calibrate

    return {
        "LAC": method(SplitPredictor, LAC),
        "APS": method(SplitPredictor, APS),
        "RAPS, 0.2, 2": method(SplitPredictor, RAPS, penalty=0.2, kreg=2),
        "SAPS, 0.2": method(SplitPredictor, SAPS, weight=0.2),
        "SAPS, 0.2, no draw": method(SplitPredictor, SAPS, weight=0.2, randomized=False),
        "LAC by class": method(ClassConditionalPredictor, LAC),
    }


def crepes() -> dict[str, Method]:
    from crepes import WrapClassifier
    from crepes.extras import hinge, margin

    def method(score: Any, *, smoothing: bool, by_class: bool = False) -> Method:  # noqa: ANN401
        def calibrate(probs: Array, labels: Array, alpha: float) -> Rule:
            rule = WrapClassifier(SimpleNamespace(classes_=np.arange(probs.shape[1]), predict_proba=lambda rows: rows))
            rule.calibrate(probs, labels, nc=score, class_cond=by_class)
            options = {"labels": False, "confidence": 1 - alpha, "smoothing": smoothing}
            return lambda new: rule.predict_set(new, **options) == 1

        return calibrate

    return {
        "hinge, no smoothing": method(hinge, smoothing=False),
        "hinge": method(hinge, smoothing=True),
        "margin, no smoothing": method(margin, smoothing=False),
        "hinge by class, no smoothing": method(hinge, smoothing=False, by_class=True),
    }


def puncc() -> dict[str, Method]:
    from deel.puncc.api.prediction import IdPredictor
    from deel.puncc.classification import APS, LAC, RAPS, ClasswiseLAC

    def method(kind: Any, **options: Any) -> Method:  # noqa: ANN401
        def calibrate(probs: Array, labels: Array, alpha: float) -> Rule:
            rule = kind(IdPredictor(), train=False, **options)
            rule.fit(X_calib=probs, y_calib=labels)
            return lambda new: mask(rule.predict(new, alpha=alpha)[1], new.shape[1])

        return calibrate

    def one_by_one(probs: Array, labels: Array, alpha: float) -> Rule:
        rule = method(APS)(probs, labels, alpha)
        return lambda new: np.concatenate([rule(new[i : i + 1]) for i in range(len(new))])

    methods = {"LAC": method(LAC), "APS": method(APS), "RAPS, 0.2, 2": method(RAPS, lambd=0.2, k_reg=2)}
    return {**methods, "APS, one row a call": one_by_one, "ClasswiseLAC": method(ClasswiseLAC)}


def mask(lists: list[list[int]], classes: int) -> Array:
    found = np.zeros((len(lists), classes), bool)
    for row, labels in zip(found, lists, strict=True):
        row[[int(label) for label in labels]] = True
    return found


PEERS: dict[str, Callable[[], dict[str, Method]]] = {
    "mapie": mapie,
    "torchcp": torchcp,
    "crepes": crepes,
    "puncc": puncc,
}


def ours(method: str) -> tuple[str, Method]:
    """What to write in rankset for a method of a peer, and the method."""
    import rankset as rs

    by_class = "class" in method.lower()
    scores = {
        ("lac", "hinge", "classwiselac"): ("Thr()", rs.Thr()),
        ("margin",): ("Margin()", rs.Margin()),
        ("top_k",): ("TopK()", rs.TopK()),
        ("aps",): ("Aps()", rs.Aps()),
        ("raps, 0.2, 2",): ("Raps(0.2, 2)", rs.Raps(0.2, 2)),
        ("raps",): ("Raps()", rs.Raps()),
        ("saps, 0.2, no draw",): ("Saps(0.2, randomized=False)", rs.Saps(0.2, randomized=False)),
        ("saps",): ("Saps(0.2)", rs.Saps(0.2)),
    }
    name, score = next(pair for starts, pair in scores.items() if method.lower().startswith(starts))

    def calibrate(probs: Array, labels: Array, alpha: float) -> Rule:
        condition = rs.PerLabel() if by_class else rs.Marginal()
        with warnings.catch_warnings(action="ignore", category=rs.RanksetWarning):
            rule = rs.calibrate(probs, labels, method=score, condition=condition)

        def predict(new: Array) -> Array:
            with warnings.catch_warnings(action="ignore", category=rs.RanksetWarning):
                return rule.predict(new, alpha=alpha).mask

        return predict

    return f"`{name}`, `PerLabel()`" if by_class else f"`{name}`", calibrate


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


def tables(peer: str, figures: dict[str, Any]) -> dict[str, str]:
    """The tables of a peer's page, by name."""
    return {
        "answers": answers_table(TITLES[peer], figures["answers"]),
        "again": again_table(TITLES[peer], figures["theirs"]),
    }


def answers_table(title: str, answers: list[dict[str, Any]]) -> str:
    rows = [["rows", title, "rankset", "coverage", "mean size", "empty sets", "rows with another set"]]
    for row in answers:
        if row["data"] not in SHOWN and row["method"] != answers[0]["method"]:
            continue
        start = [row["data"], f"`{row['method']}`", row["rankset"]]
        if "error" in row:
            rows.append([*start, row["error"].partition(":")[0], "", "", ""])
            continue
        coverage = " / ".join(f"{value:.3f}" for value in row["coverage"])
        size = " / ".join(f"{value:.2f}" for value in row["size"])
        empty = " / ".join(percent(value) for value in row["empty"])
        rows.append([*start, coverage, size, empty, percent(row["different"])])
    return table(rows)


def again_table(title: str, found: dict[str, Any]) -> str:
    rows = [["", "asked twice", "alone or in a batch", "position too low / too high", "9 rows", "8 rows"]]
    for method, sizes in found["few"].items():
        position = found["position"].get(method)
        row = [percent(found[key][method]) if method in found[key] else "–" for key in ("again", "alone")]
        row.append("–" if position is None else f"{position[0]} / {position[1]}")
        rows.append(
            [
                f"{title} `{method}`",
                *row,
                *(size if isinstance(size, str) else f"{size:.2f}" for size in sizes.values()),
            ]
        )
    return table(rows)


def times_table(figures: dict[str, Any]) -> str:
    """Of all peers, the first scores of each."""
    rows = [["", *TIMED, *(f"rankset, {size}" for size in TIMED)]]
    for peer, found in figures.items():
        for method, both in found.get("seconds", {}).items():
            said = next(row["rankset"] for row in found["answers"] if row["method"] == method)
            times = [milliseconds(both[side][size]) for side in ("theirs", "ours") for size in TIMED]
            rows.append([f"{TITLES[peer]} `{method}`, rankset {said}", *times])
    return table(rows)


def percent(share: float) -> str:
    return "0" if share == 0 else f"{100 * share:.1f} %"


def milliseconds(value: float) -> str:
    return f"{1000 * value:.2g} ms" if value < 0.1 else f"{1000 * value:,.0f} ms"


def table(rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])


def filled(text: str, found: dict[str, str]) -> str:
    """A page with its tables in place."""
    for name, rows in found.items():
        start, mark, rest = text.partition(f"<!-- figures: {name} -->\n")
        if mark:
            text = f"{start}{mark}\n{rows}\n\n<!-- end -->" + rest.partition("<!-- end -->")[2]
    return text


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
