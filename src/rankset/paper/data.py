"""Score matrices that come with the package; ``data/README.md`` beside them tells where each is from."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import as_file, files

import numpy as np
from numpy.typing import NDArray

from rankset.errors import RuleError
from rankset.inputs import Kind


@dataclass(frozen=True)
class Row:
    """A row of the paper's Table 1: what was classified by what, and the kind of numbers its file holds."""

    title: str
    model: str
    task: str
    kind: Kind = "logits"


ROWS: Mapping[str, Row] = {
    "mnist": Row("MNIST", "perceptron", "images"),
    "fmnist": Row("Fashion-MNIST", "perceptron", "images"),
    "cifar10": Row("CIFAR-10", "ResNet56", "images"),
    "cifar100": Row("CIFAR-100", "DenseNet-BC (the paper: ResNet56)", "images", "probs"),
    "marketing": Row("MMLU marketing", "LLaMA-13B", "questions", "probs"),
    "medicine": Row("MMLU college medicine", "LLaMA-13B", "questions", "probs"),
    "relations": Row("MMLU public relations", "LLaMA-13B", "questions", "probs"),
    "agnews": Row("AG News", "mean of word embeddings", "texts"),
    "news20": Row("20 Newsgroups", "mean of word embeddings", "texts"),
    "carer": Row("CARER", "mean of word embeddings", "texts"),
    "tweet": Row("TweetEval emotion", "mean of word embeddings", "texts"),
}


def scores(row: str) -> tuple[NDArray[np.floating], NDArray[np.int64]]:
    """Scores (n, K) and labels of one of the ``ROWS``; their kind is ``ROWS[row].kind``.

    >>> probs, labels = scores("marketing")
    >>> probs.shape
    (260, 4)
    """
    if row not in ROWS:
        raise RuleError.option("row", row, tuple(ROWS))
    with as_file(files("rankset.paper") / "data" / f"{row}.npz") as path, np.load(path) as arrays:
        return arrays[ROWS[row].kind], arrays["labels"].astype(np.int64)
