"""MAPIE's abstention beside triage, on the same rows: python3 run.py abstention.

Runs in the environment of MAPIE; rankset is imported from src. Two classes of three data sets, random halves, the same
error and confidence. MAPIE abstains where the largest probability is below a threshold from a fixed grid of 100.
"""

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from mapie.risk_control import BinaryClassificationController, BinaryRisk, abstention_rate

import rankset as rs

Array = NDArray[Any]
PAIRS = (("fmnist", 0, 6), ("carer", 0, 1), ("cifar10", 3, 5))
ERRORS = (0.02, 0.05)
SURE = 0.95
GRID = np.linspace(0.5, 0.995, 100)[:, np.newaxis]
RIGHT_IF_ACCEPTED = BinaryRisk(
    risk_occurrence=lambda truth, told: told == truth,
    risk_condition=lambda _truth, told: told == told,  # noqa: PLR0124 - NaN is an abstention
    higher_is_better=True,
)


def rows_of(name: str, first: int, second: int) -> tuple[Array, Array]:
    """Probabilities of two classes, and which of them is true."""
    values, labels = rs.datasets.load(name)
    probs = rs.softmax(values) if rs.datasets.DATASETS[name].kind == "logits" else np.asarray(values, dtype=float)
    own = np.isin(labels, (first, second))
    pair = probs[own][:, [first, second]]
    return pair / pair.sum(axis=1, keepdims=True), (labels[own] == second).astype(int)


def answers(probs: Array, least: float) -> Array:
    """The most likely class; NaN if its probability is below ``least``."""
    probs = np.asarray(probs)
    return np.where(probs.max(axis=1) >= least, probs.argmax(axis=1), np.nan)


def mapie_accepts(probs: Array, labels: Array, new: Array, error: float) -> Array:
    """Return which new rows MAPIE does not abstain from."""
    control = BinaryClassificationController(
        answers,
        RIGHT_IF_ACCEPTED,
        1 - error,
        confidence_level=SURE,
        best_predict_param_choice=abstention_rate,
        list_predict_params=GRID,
    ).calibrate(probs, labels)
    if control.best_predict_param is None:
        return np.zeros(len(new), dtype=bool)
    return ~np.isnan(np.asarray(control.predict(new), dtype=float))


def main(repeats: int = 20) -> None:
    """Print share accepted and share wrong of MAPIE, of a gate and of a batch."""
    warnings.simplefilter("ignore")
    for name, *pair in PAIRS:
        probs, labels = rows_of(name, *pair)
        wrong = probs.argmax(axis=1) != labels
        for error in ERRORS:
            found: dict[str, list[tuple[float, float]]] = {"MAPIE": [], "threshold": [], "accept": []}
            for repeat in range(repeats):
                old, new = np.split(np.random.default_rng(repeat).permutation(len(labels)), [len(labels) // 2])
                triage = rs.triage(probs[old], labels[old])
                accepted = {
                    "MAPIE": mapie_accepts(probs[old], labels[old], probs[new], error),
                    "threshold": triage.threshold(error, SURE, seed=repeat).accepts(probs[new]),
                    "accept": triage.accept(probs[new], error).accepted,
                }
                for who, rows in accepted.items():
                    found[who].append((rows.mean(), wrong[new][rows].mean() if rows.any() else 0.0))
            texts = (f"{who} {share:.3f} ({rate:.4f})" for who, (share, rate) in means(found))
            print(f"{name} {pair}, {len(labels) // 2} rows, error {error}:", ", ".join(texts), flush=True)


def means(found: dict[str, list[tuple[float, float]]]) -> Iterator[tuple[str, Any]]:
    """Return the means of shares and errors."""
    return ((who, np.mean(cells, axis=0)) for who, cells in found.items())


if __name__ == "__main__":
    main()
