"""Makes the score files of ``rankset.paper``: trains the paper's kinds of models and writes what they say of test rows.

    python3 run.py scores --data <folder with the data sets>
    python3 run.py scores --data <folder> --rows mnist,carer --output some/folder

Seeded and done in minutes on two cores. The last bits of a trained network differ between processors and versions of
torch, so files made elsewhere agree closely, not byte for byte.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import models
import numpy as np
import readers
import torch
from numpy.typing import NDArray

SCORES = Path(__file__).parents[1] / "src" / "rankset" / "paper" / "data"
THREADS = 2

Arrays = Mapping[str, NDArray[Any]]


def main() -> int:
    """Makes every file asked for, and tells how accurate each model is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the data sets, see readers.py")
    parser.add_argument("--rows", type=lambda text: text.split(","), default=list(ROWS), help=", ".join(ROWS))
    parser.add_argument("--output", type=Path, default=SCORES)
    options = parser.parse_args()
    unknown = [name for name in options.rows if name not in ROWS]
    if unknown or not options.data.is_dir():
        parser.error(f"no such row: {', '.join(unknown)}" if unknown else f"--data {options.data} is no folder")
    options.output.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(THREADS)
    torch.use_deterministic_algorithms(mode=True)
    for name in options.rows:
        started = time.monotonic()
        arrays = ROWS[name](options.data)
        np.savez_compressed(options.output / f"{name}.npz", **arrays)
        scores, labels = arrays.get("logits", arrays.get("probs")), arrays["labels"]
        right = float((scores.argmax(axis=1) == labels).mean())
        seconds = time.monotonic() - started
        print(
            f"{name:<10} {scores.shape[0]:>6} × {scores.shape[1]:<4} accuracy {right:.4f}   {seconds:.0f} s", flush=True
        )
    return 0


def _perceptron(name: str, epochs: int) -> Callable[[Path], Arrays]:
    def make(folder: Path) -> Arrays:
        data = readers.images(folder, name)
        return _logits(models.perceptron(data, epochs=epochs, seed=0), data.test_labels)

    return make


def _cifar10(folder: Path) -> Arrays:
    images, labels = readers.cifar10_test(folder)
    with np.load(folder / "cifar10_resnet56_weights.npz", allow_pickle=False) as weights:
        return _logits(models.resnet56(images, dict(weights)), labels)


def _cifar100(folder: Path) -> Arrays:
    with np.load(folder / "cifar100_test_scores.npz", allow_pickle=False) as arrays:
        return {"probs": arrays["densenet_bc100_probs"], "labels": arrays["labels"].astype(np.uint8)}


def _text(read: Callable[[Path], readers.Data], n_classes: int, **settings: Any) -> Callable[[Path], Arrays]:  # noqa: ANN401
    def make(folder: Path) -> Arrays:
        data = read(folder)
        return _logits(models.text_model(data, n_classes=n_classes, seed=0, **settings), data.test_labels)

    return make


def _mmlu(subject: str) -> Callable[[Path], Arrays]:
    def make(folder: Path) -> Arrays:
        with np.load(folder / "mmlu_llama13b_scores.npz", allow_pickle=False) as arrays:
            return {"probs": arrays[f"{subject}_scores"][0], "labels": arrays[f"{subject}_targets"].astype(np.uint8)}

    return make


def _logits(logits: NDArray[np.float32], labels: NDArray[np.int64]) -> Arrays:
    return {"logits": logits.astype(np.float32), "labels": labels.astype(np.uint8)}


ROWS: Mapping[str, Callable[[Path], Arrays]] = {
    "mnist": _perceptron("mnist", epochs=8),
    "fmnist": _perceptron("fashion_mnist", epochs=14),
    "cifar10": _cifar10,
    "cifar100": _cifar100,
    "marketing": _mmlu("marketing"),
    "medicine": _mmlu("college_medicine"),
    "relations": _mmlu("public_relations"),
    "agnews": _text(readers.ag_news, 4, dim=64, epochs=6, rate=2e-3, least=2),
    "news20": _text(readers.newsgroups, 20, dim=128, epochs=14, rate=3e-3, least=3),
    "carer": _text(readers.carer, 6, dim=64, epochs=8, rate=3e-3, least=2),
    "tweet": _text(readers.tweeteval, 4, dim=64, epochs=12, rate=3e-3, least=2),
}

if __name__ == "__main__":
    sys.exit(main())
