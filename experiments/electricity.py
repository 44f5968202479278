"""Makes electricity.npz: a model that was trained once, and what followed. python3 run.py electricity --data <folder>

Elec2 (Harries 1999): one row per half hour in New South Wales, 1996 to 1998. Inputs are the time of day, prices and
demands there and in Victoria, and the transfer between both; the label says whether the price is above its mean of the
last 24 hours. Boosted trees are trained on the first rows and asked the next ones, in the order of time. Prices and
demands of Victoria do not vary in the rows that train.

The folder has elec.csv as the wheel of scikit-multiflow 0.4.1 carries it (skmultiflow/data/datasets).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from streams.natural import table, trees

DATASETS = Path(__file__).parents[1] / "src" / "rankset" / "datasets"
TRAINING, ASKED = 5_000, 25_000
STEPS = 4096
"""Probabilities are multiples of 1 / STEPS, so that both columns are exact and sum to 1."""


def main() -> int:
    """Trains, writes the file and tells how accurate the model is over time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with elec.csv")
    parser.add_argument("--output", type=Path, default=DATASETS)
    options = parser.parse_args()
    inputs, labels = table(options.data / "elec.csv")
    asked = slice(TRAINING, TRAINING + ASKED)
    up = trees().fit(inputs[:TRAINING], labels[:TRAINING]).predict_proba(inputs[asked])[:, 1]
    rounded = np.rint(up * STEPS) / STEPS
    probs, truth = np.column_stack([1 - rounded, rounded]).astype(np.float32), labels[asked]
    np.savez_compressed(options.output / "electricity.npz", probs=probs, labels=truth.astype(np.uint8))
    right = probs.argmax(axis=1) == truth
    print(f"{len(probs):,} × 2, accuracy {right.mean():.4f}, up {truth.mean():.4f}")
    print("per 2,500 rows", [round(float(part.mean()), 2) for part in np.split(right, len(right) // 2500)])
    return 0


if __name__ == "__main__":
    sys.exit(main())
