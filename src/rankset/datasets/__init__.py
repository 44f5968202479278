"""Model outputs and labels of the paper's eleven data sets, without the images and texts.

``README.md`` in this folder names the source of each data set.
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
    """Description of a data set of the paper's Table 1.

    Attributes
    ----------
    title
        Name of the data set.
    model
        The model whose outputs are stored.
    task
        What was classified: "images", "questions" or "texts".
    kind
        What the outputs are: "probs" or "logits".

    Examples
    --------
    >>> DATASETS["marketing"].kind
    'probs'
    """

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
    """Return the model outputs and the labels of one data set.

    Parameters
    ----------
    name
        One of ``DATASETS``.

    Returns
    -------
    outputs
        Array (n, K): probabilities or logits, see ``DATASETS[name].kind``.
    labels
        Array (n,): the column of each row's label.

    Raises
    ------
    RuleError
        If there is no data set of this name.

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
