"""TorchCP's predictors for every class beside rankset, on the same rows: python3 run.py classes-torchcp.

Runs in the environment of TorchCP; rankset is imported from src. Rows of cifar100 are drawn at random to calibrate, 10,
20 or 50 per class on average; all others are new. THR (LAC there) everywhere, one thread. Writes
docs/how-to/every-class-torchcp.json: coverage, size, how uneven the coverage of classes is (experiments/every_class.py
says how it is measured), and seconds to calibrate and to predict all new rows, the median over the splits. TorchCP's
RC3P learns the number of classes only from a data loader; here it is told.
"""

import argparse
import importlib.metadata
import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1] / "experiments"))
sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

import torch
from class_rivals import clustered
from every_class import ALPHA, BASE, numbers_of, summary
from peers.torchcp import LAC, SplitPredictor
from torchcp.classification.predictor import ClassConditionalPredictor, ClusteredPredictor, RC3PPredictor

import rankset as rs

DOCS = Path(__file__).parents[1] / "docs" / "how-to"
Array = NDArray[Any]
Mask = Callable[[Array, Array, Array, int], Array]
"""Calibration probabilities, labels, new probabilities and a seed to sets, (n, K) booleans."""
PER_CLASS = (10, 20, 50)


def ours(**options: Any) -> Mask:  # noqa: ANN401
    """THR of rankset."""

    def sets(probs: Array, labels: Array, new: Array, seed: int) -> Array:  # noqa: ARG001
        return rs.calibrate(probs, labels, method="thr", **options).predict(new, ALPHA).mask

    return sets


def theirs(predictor: Any) -> Mask:  # noqa: ANN401
    """LAC of TorchCP with one of its predictors."""

    def sets(probs: Array, labels: Array, new: Array, seed: int) -> Array:
        torch.manual_seed(seed)
        rule = predictor(score_function=LAC(score_type="identity"), alpha=ALPHA)
        rule.num_classes = probs.shape[1]
        rule.calculate_threshold(torch.from_numpy(probs), torch.from_numpy(labels))
        return rule.predict_with_logits(torch.from_numpy(new)).numpy() == 1

    return sets


METHODS: dict[str, Mask] = {
    BASE: ours(),
    "PerLabel": ours(condition=rs.PerLabel()),
    "Pooled": ours(condition=rs.Pooled(rs.PerLabel())),
    "Clustered, rare classes together": lambda probs, labels, new, seed: clustered(probs, labels, ALPHA, seed)(new),
    "TorchCP Split": theirs(SplitPredictor),
    "TorchCP ClassConditional": theirs(ClassConditionalPredictor),
    "TorchCP Clustered": theirs(ClusteredPredictor),
    "TorchCP RC3P": theirs(RC3PPredictor),
}


def measured(per_class: int, splits: int) -> dict[str, Any]:
    """Every method on the same random splits."""
    probs, labels = rs.datasets.load("cifar100")
    n_classes, found, seconds = probs.shape[1], {name: [] for name in METHODS}, {name: [] for name in METHODS}  # type: ignore[var-annotated]
    for seed in range(splits):
        old, new = np.split(np.random.default_rng(seed).permutation(len(labels)), [per_class * n_classes])
        for name, sets in METHODS.items():
            start = time.perf_counter()
            mask = sets(probs[old], labels[old], probs[new], seed)
            seconds[name].append(time.perf_counter() - start)
            result = mask.sum(axis=1), mask[np.arange(len(new)), labels[new]]
            found[name].append(numbers_of(labels[new], result, n_classes)[0])
    arrays = {name: np.array(values) for name, values in found.items()}
    methods = {
        name: {**summary(values, arrays[BASE]), "seconds": round(float(np.median(seconds[name])), 4)}
        for name, values in arrays.items()
    }
    return {"model": "cifar100", "classes": n_classes, "per_class": per_class, "splits": splits, "methods": methods}


def main() -> int:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=40)
    parser.add_argument("--output", type=Path, default=DOCS / "every-class-torchcp.json")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    versions = {name: importlib.metadata.version(name) for name in ("torchcp", "torch")}
    numbers: dict[str, Any] = {"command": "python3 run.py classes-torchcp", **versions, "cells": []}
    for per_class in PER_CLASS:
        numbers["cells"].append(measured(per_class, options.splits))
        for name, cell in numbers["cells"][-1]["methods"].items():
            words = (f"{key} {cell[key]:.4f}" for key in ("coverage", "size", "gap", "classes_below_80", "seconds"))
            print(f"{per_class} per class, {name}:", ", ".join(words), flush=True)
    options.output.write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
