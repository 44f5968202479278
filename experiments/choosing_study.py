"""auto against the fixed scores on real score files: python3 run.py choosing --data <folder>.

Writes docs/understand/choosing.json and the tables of docs/understand/choosing.md. Each model's rows are halved at
random, again and again: one half calibrates, the other tests.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import rankset as rs
from rankset.core import coverage_law
from rankset.core.alpha import exact_alpha, threshold_position
from rankset.evaluation.default_scores import DEFAULT_SCORES
from rankset.evaluation.fitting_rows import FEWEST_FITTING

DOCS = Path(__file__).parents[1] / "docs" / "understand"
ALPHAS = ("0.05", "0.1", "0.2")
NAMES = ("RANK", "THR", "APS", "RAPS", "SAPS")
SEEN = "seen"
"""THR on the classes seen among the rows that auto spends; THR itself where it spends none."""
PLAIN = {  # file -> scores -> labels
    "cifar10_test_scores.npz": {
        **dict.fromkeys(
            ("resnet56_logits", "resnet50_logits", "vgg16_probs", "wrn16_4_probs", "lenet5_probs", "crossval_probs"),
            "labels",
        ),
        "resnet50_val_logits": "resnet50_val_labels",
    },
    "cifar100_test_scores.npz": dict.fromkeys(("densenet_bc100_probs", "wrn16_4_probs", "lenet5_probs"), "labels"),
    "crossval_probs_newsgroups20_mnist.npz": {
        "newsgroups20_probs": "newsgroups20_labels",
        "mnist_probs": "mnist_labels",
    },
    "text_linear_test_logits.npz": {
        f"{name}_logits": f"{name}_labels" for name in ("ag_news", "carer", "tweeteval_emotion", "newsgroups20")
    },
    "mnist_fashion_mlp_test_logits.npz": {f"{name}_logits": f"{name}_labels" for name in ("mnist", "fashion_mnist")},
    "llm_emotion_mcqa_logits.npz": dict.fromkeys(("llama2_13b", "llama2_7b", "qwen_7b", "internlm_7b"), "labels"),
    "imagenet1000_on_tiny_imagenet_train_logits.npz": {"logits": "labels"},
}


@dataclass(frozen=True)
class Model:
    """One model's probabilities and the labels of its rows."""

    name: str
    probs: NDArray[np.float64]
    labels: NDArray[np.int64]


def models(folder: Path) -> Iterator[Model]:
    """Every model in the folder."""
    for file, pairs in PLAIN.items():
        with np.load(folder / file, allow_pickle=False) as arrays:
            for scores, labels in pairs.items():
                values = arrays[scores]
                probs = values.astype(np.float64) if scores.endswith("probs") else rs.softmax(values)
                yield Model(f"{file.split('_')[0]} {scores}", probs, arrays[labels].astype(np.int64))
    with np.load(folder / "mmlu_llama13b_scores.npz", allow_pickle=False) as arrays:
        for subject in sorted(name.removesuffix("_scores") for name in arrays.files if name.endswith("_scores")):
            labels = arrays[f"{subject}_targets"].astype(np.int64)
            yield Model(f"mmlu {subject}", arrays[f"{subject}_scores"][0], labels)


def repeats(model: Model) -> int:
    """How many halves: more where they are cheap and noisy."""
    if model.probs.shape[1] >= 100:
        return 6 if model.probs.shape[1] >= 1000 else 12
    return 100 if len(model.labels) // 2 < 1000 else 40


def measured(model: Model) -> list[dict[str, Any]]:
    """auto beside the best fixed score in hindsight, at every level."""
    rng, half = np.random.default_rng(0), len(model.labels) // 2
    names = (*NAMES, SEEN, "auto")
    sizes: dict[str, dict[str, list[float]]] = {alpha: {name: [] for name in names} for alpha in ALPHAS}
    covered: dict[str, list[float]] = {alpha: [] for alpha in ALPHAS}
    hits = {alpha: {name: np.zeros(model.probs.shape[1]) for name in names} for alpha in ALPHAS}
    tested = np.zeros(model.probs.shape[1])
    rows: dict[str, int] = {}
    for repeat in range(repeats(model)):
        order = rng.permutation(len(model.labels))
        (cal, y), (test, truth) = ((model.probs[part], model.labels[part]) for part in (order[:half], order[half:]))
        fixed = {name: rs.calibrate(cal, y, method=score) for name, score in zip(NAMES, DEFAULT_SCORES, strict=True)}
        tested += np.bincount(truth, minlength=len(tested))
        for alpha in ALPHAS:
            auto = rs.auto(cal, y, alpha, seed=repeat)
            seen = _seen(cal, y, len(y) - auto.n)
            for name, rule in (*fixed.items(), (SEEN, seen), ("auto", auto)):
                sets = rule.predict(test, alpha)
                covers = sets.covers(truth)
                sizes[alpha][name].append(float(sets.sizes.mean()))
                hits[alpha][name] += np.bincount(truth, weights=covers, minlength=len(tested))
            covered[alpha].append(float(covers.mean()))
            rows[alpha] = auto.n
    some = tested > 0
    return [
        {
            **_summary(model, alpha, sizes[alpha], covered[alpha], half, rows[alpha]),
            "worst class": {name: round(float((hits[alpha][name][some] / tested[some]).min()), 4) for name in names},
        }
        for alpha in ALPHAS
    ]


def _seen(probs: NDArray[np.float64], labels: NDArray[np.int64], spent: int) -> rs.Rule:
    """THR on the classes seen among the first rows, calibrated on the others."""
    if spent < FEWEST_FITTING:
        return rs.calibrate(probs, labels, method=rs.Thr())
    score = rs.Seen.fit(labels[:spent], probs.shape[1])
    return rs.calibrate(probs[spent:], labels[spent:], method=score)


def _summary(
    model: Model, alpha: str, sizes: dict[str, list[float]], covered: list[float], half: int, calibrating: int
) -> dict[str, Any]:
    means = {name: float(np.mean(values)) for name, values in sizes.items()}
    best = min(NAMES, key=lambda name: means[name])
    ratios = np.array(sizes["auto"]) / np.array(sizes[best])
    k, m = threshold_position(calibrating, exact_alpha(alpha)), len(model.labels) - half
    share = k / (calibrating + 1)
    error = math.sqrt(coverage_law.beta_binomial_variance(m, k, calibrating + 1 - k) / m**2 / len(covered))
    return {
        "model": model.name,
        "rows": half,
        "classes": int(model.probs.shape[1]),
        "alpha": alpha,
        "halves": len(covered),
        "sizes": {name: round(value, 4) for name, value in means.items()},
        "best": best,
        "ratio": round(means["auto"] / means[best], 4),
        "error": round(float(ratios.std(ddof=1)) / math.sqrt(len(ratios)), 4),
        "coverage": round(float(np.mean(covered)), 4),
        "z": round((float(np.mean(covered)) - share) / error, 2),
    }


def table(cells: list[dict[str, Any]]) -> str:
    """One line for every model and level."""
    head = (
        f"{'model':<34}{'rows':>5}{'K':>5}{'alpha':>6}{'best fixed':>15}{'seen':>9}{'auto':>8}{'ratio':>7}"
        f"{'coverage':>9}{'z':>5}{'worst class: fixed':>20}{'auto':>6}"
    )
    lines = [head]
    for cell in cells:
        best, sizes, worst = cell["best"], cell["sizes"], cell["worst class"]
        lines.append(
            f"{cell['model']:<34}{cell['rows']:>5}{cell['classes']:>5}{cell['alpha']:>6}"
            f"{f'{best} {sizes[best]:.3f}':>15}{sizes[SEEN]:>9.3f}{sizes['auto']:>8.3f}{cell['ratio']:>7.3f}"
            f"{cell['coverage']:>9.4f}{cell['z']:>+5.1f}{worst[best]:>20.3f}{worst['auto']:>6.3f}"
        )
    return "\n".join(lines)


def with_seen(cell: dict[str, Any]) -> float:
    """The ratio to the best of the fixed scores and of THR on seen classes."""
    sizes = cell["sizes"]
    return float(sizes["auto"] / min(sizes[name] for name in (*NAMES, SEEN)))


def geometric_mean(values: Iterable[float]) -> float:
    """The mean of ratios."""
    return float(np.exp(np.log(list(values)).mean()))


def quartiles(values: Iterable[float]) -> tuple[float, float, float]:
    """The lower quartile, the median and the upper quartile of ratios."""
    lower, median, upper = np.quantile(list(values), (0.25, 0.5, 0.75)).tolist()
    return lower, median, upper


def gaining(cells: Iterable[dict[str, Any]], limit: float = 0.9) -> dict[str, float]:
    """Models whose sets auto makes smaller than this share of the best fixed score: the mean ratio over all levels."""
    by_model: dict[str, list[float]] = {}
    for cell in cells:
        by_model.setdefault(cell["model"], []).append(cell["ratio"])
    means = {model: geometric_mean(ratios) for model, ratios in by_model.items()}
    return {model: means[model] for model in sorted(means, key=lambda model: means[model]) if means[model] < limit}


def summary(cells: list[dict[str, Any]]) -> str:
    """What the table comes to."""
    head = f"{'calibration rows':<18}{'cells':>6}{'quartiles of the ratio':>25}{'geometric mean':>16}"
    head = f"{head}{'worst':>7}{'above the limit':>17}"
    lines = [f"{head}{'with seen THR':>15}"]
    for name, many, limit in (("more than 1,000", True, 1.01), ("1,000 or fewer", False, 1.03)):
        some = [cell for cell in cells if (cell["rows"] > 1000) == many]
        if some:
            ratios = [cell["ratio"] for cell in some]
            beyond = sum(cell["ratio"] - 2 * cell["error"] > limit for cell in some)
            lines.append(
                f"{name:<18}{len(some):>6}{'  '.join(f'{one:.3f}' for one in quartiles(ratios)):>25}"
                f"{geometric_mean(ratios):>16.3f}{max(ratios):>7.3f}"
                f"{f'{beyond} of {limit}':>17}{geometric_mean(map(with_seen, some)):>15.3f}"
            )
    return "\n".join(lines)


def refreshed(page: str, cells: list[dict[str, Any]]) -> str:
    """The page with these cells in its tables."""
    for name, text in (("summary", summary(cells)), ("table", table(cells))):
        page = re.sub(
            rf"(<!-- {name} -->\n+```text\n).*?(\n```)",
            lambda m, text=text: f"{m[1]}{text}{m[2]}",
            page,
            flags=re.DOTALL,
        )
    return page


def main() -> int:
    """Measures, writes, and tells the summary."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the score files")
    options = parser.parse_args()
    cells: list[dict[str, Any]] = []
    for model in models(options.data):
        started = time.monotonic()
        cells += measured(model)
        print(f"{model.name}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
        (DOCS / "choosing.json").write_text(json.dumps(cells, indent=1) + "\n", encoding="utf-8")
    page = DOCS / "choosing.md"
    page.write_text(refreshed(page.read_text(encoding="utf-8"), cells), encoding="utf-8")
    print(summary(cells))
    return 0


if __name__ == "__main__":
    sys.exit(main())
