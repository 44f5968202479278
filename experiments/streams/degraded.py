"""Makes cifar10_degraded.npz: what a ResNet56 says of blurred and noisy images. python3 run.py degraded --data <folder>

Every test image of CIFAR-10 is blurred (weights .15, .7, .15 along both axes) and gets normal noise (sd 4 of 255). The
file is not part of the checkout: the studies of streams look for it in the folder of their data, or in .envs.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

import models
import readers
import torch

MADE = Path(__file__).parents[2] / ".envs" / "streams"
SIDE, NOISE = 0.15, 4.0

Images = NDArray[np.uint8]


def degraded(images: Images, seed: int = 0) -> Images:
    """Blurred images with noise."""
    weights = np.array([SIDE, 1 - 2 * SIDE, SIDE], dtype=np.float32)
    x = np.pad(images.astype(np.float32), ((0, 0), (1, 1), (1, 1), (0, 0)), mode="edge")
    x = sum(weight * x[:, i : i + 32] for i, weight in enumerate(weights))
    x = sum(weight * x[:, :, i : i + 32] for i, weight in enumerate(weights))
    noise = np.random.default_rng(seed).normal(0, NOISE, x.shape)
    return np.clip(np.rint(x + noise), 0, 255).astype(np.uint8)


def main() -> int:
    """Asks the network and writes its logits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with CIFAR-10 and the weights, see readers.py")
    parser.add_argument("--output", type=Path, default=MADE)
    options = parser.parse_args()
    torch.set_num_threads(1)
    images, labels = readers.cifar10_test(options.data)
    with np.load(options.data / "cifar10_resnet56_weights.npz", allow_pickle=False) as weights:
        logits = models.resnet56(degraded(images), dict(weights))
    options.output.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(options.output / "cifar10_degraded.npz", logits=logits)
    print(f"accuracy {(logits.argmax(axis=1) == labels).mean():.4f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
