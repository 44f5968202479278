"""Makes news20_long_tail.npz: a text model that saw few rows of most classes. python3 run.py long-tail --data <folder>

The posts of 20 Newsgroups (both parts, headers and quoted lines removed) are thinned: the largest class keeps 150 posts
for training, the smallest 8, the others in between, geometrically. Logistic regression on TF-IDF is trained on them.
Five times as many other posts of every class are what it is asked, so all rows of the file have the same long tail.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import readers
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

DATASETS = Path(__file__).parents[1] / "src" / "rankset" / "datasets"
MOST, FEWEST = 150, 8
"""Training posts of the most and of the least frequent class."""
TIMES = 5
"""Posts that are asked, for each one that trains."""
STRENGTH = 10.0
"""C of the logistic regression."""

Ints = NDArray[np.int64]


def thinned(sizes: Ints) -> Ints:
    """Training posts of every class; the order of the classes by size stays."""
    order = np.argsort(-sizes, kind="stable")
    counts = np.empty_like(sizes)
    counts[order] = np.rint(np.geomspace(MOST, FEWEST, len(sizes))).astype(np.int64)
    return counts


def drawn(labels: Ints, counts: Ints, seed: int = 0) -> tuple[Ints, Ints]:
    """Posts that train, and posts that are asked, in random order."""
    rng = np.random.default_rng(seed)
    rows = [rng.permutation(np.flatnonzero(labels == label)) for label in range(len(counts))]
    train = [own[:count] for own, count in zip(rows, counts, strict=True)]
    asked = [own[count : (TIMES + 1) * count] for own, count in zip(rows, counts, strict=True)]
    return np.concatenate(train), rng.permutation(np.concatenate(asked))


def main() -> int:
    """Trains, writes the file and tells how accurate the model is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with 20 Newsgroups, see readers.py")
    parser.add_argument("--output", type=Path, default=DATASETS)
    options = parser.parse_args()
    data = readers.newsgroups(options.data)
    texts = np.array([*data.train, *data.test], dtype=object)
    labels = np.concatenate([data.train_labels, data.test_labels])
    counts = thinned(np.bincount(labels))
    train, asked = drawn(labels, counts)
    model = make_pipeline(TfidfVectorizer(sublinear_tf=True, min_df=2), LogisticRegression(C=STRENGTH, max_iter=1000))
    logits = model.fit(texts[train], labels[train]).decision_function(texts[asked]).astype(np.float32)
    np.savez_compressed(options.output / "news20_long_tail.npz", logits=logits, labels=labels[asked].astype(np.uint8))
    right = logits.argmax(axis=1) == labels[asked]
    by_class = [right[labels[asked] == label].mean() for label in range(len(counts))]
    print(f"{logits.shape[0]:,} × {logits.shape[1]}, accuracy {right.mean():.4f}, of classes {np.mean(by_class):.4f}")
    print(f"training posts {counts.tolist()}, asked {np.bincount(labels[asked]).tolist()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
