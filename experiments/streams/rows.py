"""Rows of a stream: a calibration part and what follows, drawn from the outputs of several models of the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import rankset as rs

MADE = Path(__file__).parents[2] / ".envs" / "streams"
"""Where the outputs for degraded images are, see degraded.py."""
CALIBRATION = 1000

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Rows:
    """Probabilities and labels of calibration rows, and of the rows that follow, in order."""

    probs: Floats
    labels: Ints
    new: Floats
    truth: Ints

    @classmethod
    def cut(cls, probs: Floats, labels: Ints, n: int = CALIBRATION) -> Rows:
        """The first rows calibrate."""
        return cls(probs[:n], labels[:n], probs[n:], labels[n:])


@dataclass(frozen=True)
class Source:
    """What several models say of the same rows."""

    models: Mapping[str, Floats]
    labels: Ints

    def rows(self, names: list[str], order: Ints) -> tuple[Floats, Ints]:
        """Row ``order[t]`` as the model ``names[t]`` sees it, and its label."""
        known = list(dict.fromkeys(names))
        stacked = np.stack([self.models[name] for name in known])
        number = np.array([known.index(name) for name in names])
        return stacked[number, order], self.labels[order]


@cache
def cifar10(folder: Path) -> Source:
    """Six networks, one of them poor (lenet5), and one of them again on degraded images."""
    with np.load(folder / "cifar10_test_scores.npz", allow_pickle=False) as arrays:
        labels = arrays["labels"].astype(np.int64)
        models = {name: rs.softmax(arrays[f"{name}_logits"]) for name in ("resnet56", "resnet50")}
        for name in ("vgg16", "wrn16_4", "lenet5", "crossval"):
            models[name] = normal(arrays[f"{name}_probs"])
    with np.load(MADE / "cifar10_degraded.npz", allow_pickle=False) as arrays:
        models["degraded"] = rs.softmax(arrays["logits"])
    return Source(models, labels)


@cache
def cifar100(folder: Path) -> Source:
    """Two networks of equal accuracy, and a poor one (lenet5)."""
    with np.load(folder / "cifar100_test_scores.npz", allow_pickle=False) as arrays:
        names = {"densenet": "densenet_bc100_probs", "wrn16_4": "wrn16_4_probs", "lenet5": "lenet5_probs"}
        models = {name: normal(arrays[key]) for name, key in names.items()}
        return Source(models, arrays["labels"].astype(np.int64))


@cache
def language(folder: Path) -> Source:
    """Four language models that answer the same questions."""
    with np.load(folder / "llm_emotion_mcqa_logits.npz", allow_pickle=False) as arrays:
        names = ("llama2_13b", "llama2_7b", "qwen_7b", "internlm_7b")
        return Source({name: rs.softmax(arrays[name]) for name in names}, arrays["labels"].astype(np.int64))


@cache
def news20() -> Source:
    """A text model."""
    logits, labels = rs.datasets.load("news20")
    return Source({"news20": rs.softmax(logits)}, labels)


def normal(probs: NDArray[np.floating]) -> Floats:
    """Probabilities as float64 whose sums are 1."""
    probs = probs.astype(np.float64)
    return probs / probs.sum(axis=1, keepdims=True)


def tempered(probs: Floats, temperature: Floats | float) -> Floats:
    """Probabilities to the power 1 / temperature, a number for every row."""
    power = 1 / np.broadcast_to(np.asarray(temperature, dtype=np.float64), len(probs))
    return normal(np.maximum(probs, 1e-12) ** power[:, np.newaxis])


def by_class(labels: Ints, unused: Ints, wanted: Floats, rng: np.random.Generator) -> Ints:
    """Rows whose classes are drawn with the shares ``wanted[t]``; a class whose rows are used up starts again."""
    rows = [rng.permutation(unused[labels[unused] == label]) for label in range(wanted.shape[1])]
    limits = np.cumsum(wanted, axis=1) / wanted.sum(axis=1, keepdims=True)
    classes = (limits < rng.random(len(wanted))[:, np.newaxis]).sum(axis=1)
    used = np.zeros(len(rows), dtype=np.int64)
    order = np.empty(len(classes), dtype=np.int64)
    for t, label in enumerate(classes):
        order[t] = rows[label][used[label] % len(rows[label])]
        used[label] += 1
    return order


def difficulty(source: Source, model: str) -> Floats:
    """The rank of every class by the accuracy of a model on it, from -1 (easiest) to 1 (hardest)."""
    right = source.models[model].argmax(axis=1) == source.labels
    n_classes = source.models[model].shape[1]
    accuracy = np.array([right[source.labels == label].mean() for label in range(n_classes)])
    return 1 - 2 * np.argsort(np.argsort(accuracy, kind="stable")) / (n_classes - 1)
