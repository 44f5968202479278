"""Model outputs that come with the package: of the paper's eleven data sets, without the images and texts.

``README.md`` in this folder says where each of them is from.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import as_file, files

import numpy as np
from numpy.typing import NDArray

from rankset.errors import RuleError
from rankset.inputs.matrix import Kind


@dataclass(frozen=True)
class Dataset:
    """A data set of the paper's Table 1: its title, the model, what was classified, and the kind of its numbers."""

    title: str
    model: str
    task: str
    kind: Kind = "logits"


DATASETS: Mapping[str, Dataset] = {
    "mnist": Dataset("MNIST", "perceptron", "images"),
    "fmnist": Dataset("Fashion-MNIST", "perceptron", "images"),
    "cifar10": Dataset("CIFAR-10", "ResNet56", "images"),
    "cifar100": Dataset("CIFAR-100", "DenseNet-BC (the paper: ResNet56)", "images", "probs"),
    "marketing": Dataset("MMLU marketing", "LLaMA-13B", "questions", "probs"),
    "medicine": Dataset("MMLU college medicine", "LLaMA-13B", "questions", "probs"),
    "relations": Dataset("MMLU public relations", "LLaMA-13B", "questions", "probs"),
    "agnews": Dataset("AG News", "mean of word embeddings", "texts"),
    "news20": Dataset("20 Newsgroups", "mean of word embeddings", "texts"),
    "carer": Dataset("CARER", "mean of word embeddings", "texts"),
    "tweet": Dataset("TweetEval emotion", "mean of word embeddings", "texts"),
}
"""The data sets by name."""


def load(name: str) -> tuple[NDArray[np.floating], NDArray[np.int64]]:
    """The model's outputs for one data set, and the labels.

    Parameters
    ----------
    name : one of ``DATASETS``.

    Returns
    -------
    outputs : array (n, K), probabilities or logits as ``DATASETS[name].kind`` says.
    labels : array (n,), the column of each row's label.

    Raises
    ------
    RuleError : where there is no data set of this name.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> probs.shape
    (260, 4)
    """
    if name not in DATASETS:
        raise RuleError.option("name", name, tuple(DATASETS))
    with as_file(files("rankset.datasets") / f"{name}.npz") as path, np.load(path) as arrays:
        return arrays[DATASETS[name].kind], arrays["labels"].astype(np.int64)
