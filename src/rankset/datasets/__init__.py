"""Model outputs and labels for the eleven data sets of the paper, for one whose classes have a long tail, for one whose
rows are in the order of time, and for one whose rows have several labels.

The images and texts are not included.

``README.md`` in this folder names the source of each data set.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.datasets import class_names
from rankset.errors import RuleError
from rankset.inputs.matrix import Kind

__all__ = ["DATASETS", "LONG_TAILED", "ORDERED", "SEVERAL_LABELS", "Dataset", "load"]


@dataclass(frozen=True)
class Dataset:
    """Description of a data set.

    Attributes
    ----------
    title
        Name of the data set.
    model
        The model whose outputs are stored.
    task
        The type of inputs that the model classified: "images", "questions", "texts" or "tables".
    kind
        The type of values in the model outputs: "probs" or "logits", or "marginals" if rows have several labels.
    classes
        Names of the classes, in the order of the columns. Pass them as ``classes=`` and sets contain names.
    counts
        Number of rows of each class that trained the model, in the order of the columns; empty if they are not stored.

    Examples
    --------
    >>> DATASETS["marketing"].kind
    'probs'
    >>> DATASETS["carer"].classes
    ('sadness', 'joy', 'love', 'anger', 'fear', 'surprise')
    """

    title: str
    model: str
    task: str
    classes: tuple[str, ...]
    kind: Kind = "logits"
    counts: tuple[int, ...] = field(default=(), repr=False)


DATASETS: Mapping[str, Dataset] = {
    "mnist": Dataset("MNIST", "perceptron", "images", class_names.DIGITS),
    "fmnist": Dataset("Fashion-MNIST", "perceptron", "images", class_names.FASHION),
    "cifar10": Dataset("CIFAR-10", "ResNet56", "images", class_names.CIFAR_10),
    "cifar100": Dataset("CIFAR-100", "DenseNet-BC (the paper: ResNet56)", "images", class_names.CIFAR_100, "probs"),
    "marketing": Dataset("MMLU marketing", "LLaMA-13B", "questions", class_names.ANSWERS, "probs"),
    "medicine": Dataset("MMLU college medicine", "LLaMA-13B", "questions", class_names.ANSWERS, "probs"),
    "relations": Dataset("MMLU public relations", "LLaMA-13B", "questions", class_names.ANSWERS, "probs"),
    "agnews": Dataset("AG News", "mean of word embeddings", "texts", class_names.TOPICS),
    "news20": Dataset("20 Newsgroups", "mean of word embeddings", "texts", class_names.NEWSGROUPS),
    "carer": Dataset("CARER", "mean of word embeddings", "texts", class_names.EMOTIONS),
    "tweet": Dataset("TweetEval emotion", "mean of word embeddings", "texts", class_names.TWEETS),
}
"""The data sets of Table 1 of the paper by name. Each one is a ``Dataset``, which describes it.

Examples
--------
>>> import rankset as rs
>>> print(*sorted(rs.datasets.DATASETS))
agnews carer cifar10 cifar100 fmnist marketing medicine mnist news20 relations tweet
>>> rs.datasets.DATASETS["marketing"]
Dataset(title='MMLU marketing', model='LLaMA-13B', task='questions', classes=('A', 'B', 'C', 'D'), kind='probs')
"""


LONG_TAILED: Mapping[str, Dataset] = {
    "news20_long_tail": Dataset(
        "20 Newsgroups, thinned",
        "logistic regression",
        "texts",
        class_names.NEWSGROUPS,
        counts=(11, 20, 37, 27, 17, 51, 24, 69, 110, 94, 150, 81, 32, 59, 44, 129, 13, 15, 9, 8),
    ),
}
"""Data sets in which some classes have many rows and most have few, by name. The model was trained on ``counts`` rows
of each class, and the rows of the data set have the same shares of classes.

Examples
--------
>>> import rankset as rs
>>> counts = rs.datasets.LONG_TAILED["news20_long_tail"].counts
>>> max(counts), min(counts)
(150, 8)
"""


ORDERED: Mapping[str, Dataset] = {
    "electricity": Dataset("Elec2", "boosted trees", "tables", class_names.PRICES, "probs"),
}
"""Data sets whose rows are in the order of time, by name. The model was trained once, on earlier rows, and the rows
drift: do not draw calibration rows at random there, take the first ones.

Examples
--------
>>> import rankset as rs
>>> probs, labels = rs.datasets.load("electricity")
>>> right = probs.argmax(axis=1) == labels
>>> print(f"{right[:5000].mean():.2f} {right[-5000:].mean():.2f}")
0.82 0.64
"""


SEVERAL_LABELS: Mapping[str, Dataset] = {
    "goemotions": Dataset("GoEmotions", "logistic regressions", "texts", class_names.GO_EMOTIONS, "marginals"),
}
"""Data sets whose rows have several labels, by name.

Examples
--------
>>> import rankset as rs
>>> rs.datasets.SEVERAL_LABELS["goemotions"].classes[:3]
('admiration', 'amusement', 'anger')
"""


def load(name: str) -> tuple[NDArray[np.floating], NDArray[Any]]:
    """Return the model outputs and the labels of one data set.

    The rows of "news20" are sorted by label. Draw calibration rows at random there: the first rows have few classes.
    The rows of "electricity" are in the order of time.

    Parameters
    ----------
    name
        Name of the data set, a key of ``DATASETS``, ``LONG_TAILED``, ``ORDERED`` or ``SEVERAL_LABELS``.

    Returns
    -------
    outputs
        Array (n, K) of probabilities or logits, see ``DATASETS[name].kind``.
    labels
        Array (n,): the column number of the true label of each row. ``DATASETS[name].classes`` has the names. For data
        sets of ``SEVERAL_LABELS`` a matrix (n, K) of booleans.

    Raises
    ------
    RuleError
        If there is no data set with this name.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> probs.shape
    (260, 4)
    """
    known = {**DATASETS, **LONG_TAILED, **ORDERED, **SEVERAL_LABELS}
    if name not in known:
        raise RuleError.option("name", name, tuple(known))
    with as_file(files("rankset.datasets") / f"{name}.npz") as path, np.load(path) as arrays:
        labels = arrays["labels"]
        return arrays[known[name].kind], labels if name in SEVERAL_LABELS else labels.astype(np.int64)
