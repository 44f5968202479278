"""How much may be accepted automatically: python3 run.py decisions --data <folder>.

Writes docs/how-to/decide.json and the table of docs/how-to/decide.md. The rows of every data set of the package, and of
every score file in the folder, are halved at random, again and again: one half makes the triage, the other is a batch.
"""

from __future__ import annotations

import argparse
import json
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from choosing_study import Model, geometric_mean, models

import rankset as rs

DOCS = Path(__file__).parents[1] / "docs" / "how-to"
ERRORS = (0.01, 0.02, 0.05)
CONFIDENCES = ("top", "auto")
MISCALIBRATED = ("llm ", "news20", "newsgroups20_logits", "tweet")
"""Parts of the names of models whose probabilities mean something else for every label."""
ENOUGH = 0.01
"""Share accepted from which on gains are compared."""
SHIPPED = ("cifar10 resnet56_logits", "cifar100 densenet_bc100_probs", "mmlu marketing")
"""Models of the folder whose rows come with the package, too."""
TABLE = re.compile(r"(<!-- shares -->\n).*?(<!-- end -->)", re.DOTALL)


def data_sets() -> Iterator[Model]:
    """The data sets of the package that have one label per row."""
    for name, about in rs.datasets.DATASETS.items():
        values, labels = rs.datasets.load(name)
        probs = rs.softmax(values) if about.kind == "logits" else np.asarray(values, dtype=np.float64)
        yield Model(name, probs, labels)


def measured(model: Model, repeats: int) -> dict[str, Any]:
    """Mean share accepted, mean share of wrong rows among them and its standard error, by confidence and error."""
    wrong = model.probs.argmax(axis=1) != model.labels
    found: dict[tuple[str, float], list[tuple[float, float]]] = {}
    for repeat in range(repeats):
        order = np.random.default_rng(repeat).permutation(len(wrong))
        old, new = np.split(order, [len(wrong) // 2])
        for confidence in CONFIDENCES:
            triage = rs.triage(model.probs[old], model.labels[old], confidence=confidence, seed=repeat)
            for error in ERRORS:
                done = triage.accept(model.probs[new], error)
                rate = wrong[new][done.accepted].mean() if done.n_accepted else 0.0
                found.setdefault((confidence, error), []).append((done.share, float(rate)))
    answer: dict[str, Any] = {"model": model.name, "rows": len(wrong), "accuracy": round(1 - float(wrong.mean()), 4)}
    for (confidence, error), cells in found.items():
        shares, rates = np.array(cells).T
        spread = float(rates.std(ddof=1) / np.sqrt(repeats))
        answer[f"{confidence} {error:g}"] = [round(float(shares.mean()), 4), round(float(rates.mean()), 5), spread]
    return answer


def table(cells: list[dict[str, Any]]) -> str:
    """The table of the page: share accepted with the top probability and with auto, and the errors among them."""
    lines = ["| model | right | 1 % | 2 % | 5 % | wrong at 5 % |", "|---|---|---|---|---|---|"]
    for cell in cells:
        if cell["model"] in SHIPPED or not any(cell[f"{name} 0.05"][0] >= ENOUGH for name in CONFIDENCES):
            continue
        shares = [" / ".join(f"{cell[f'{name} {error:g}'][0]:.3f}" for name in CONFIDENCES) for error in ERRORS]
        rates = " / ".join(f"{cell[f'{name} 0.05'][1]:.4f}" for name in CONFIDENCES)
        lines.append(f"| {cell['model']} | {cell['accuracy']:.3f} | {' | '.join(shares)} | {rates} |")
    return "\n".join(lines)


def summary(cells: list[dict[str, Any]]) -> str:
    """Where errors are above the target by more than three standard errors, and what auto gains."""
    above = [
        f"{cell['model']} {name} {error:g}"
        for cell in cells
        for name in CONFIDENCES
        for error in ERRORS
        if cell[f"{name} {error:g}"][1] > error + 3 * cell[f"{name} {error:g}"][2]
    ]
    lines = [f"above the error + 3 standard errors: {above or 'none'}"]
    for title, words in (("all", ("",)), ("language models, news20, tweet", MISCALIBRATED)):
        own = [cell for cell in cells if any(word in cell["model"] for word in words)]
        pairs = [[cell[f"{name} {error:g}"][0] for name in CONFIDENCES] for cell in own for error in ERRORS]
        gains = [auto / top for top, auto in pairs if top >= ENOUGH and auto > 0]
        lines.append(f"auto / top where top accepts {ENOUGH:.0%}, {title}: {geometric_mean(gains):.3f} ({len(gains)})")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of score files, as for choosing")
    parser.add_argument("--repeats", type=int, default=200)
    options = parser.parse_args()
    warnings.simplefilter("ignore", rs.RanksetWarning)
    cells = []
    for model in [*data_sets(), *(models(options.data) if options.data else ())]:
        cells.append(measured(model, options.repeats))
        print(cells[-1], flush=True)
    print(summary(cells))
    (DOCS / "decide.json").write_text(json.dumps(cells, indent=1) + "\n", encoding="utf-8")
    page = DOCS / "decide.md"
    text = page.read_text(encoding="utf-8")
    page.write_text(TABLE.sub(lambda found: found[1] + table(cells) + "\n" + found[2], text), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
