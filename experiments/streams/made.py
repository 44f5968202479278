"""Streams that are made: models, images, temperatures, classes and labels change in a known way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from streams.rows import (
    CALIBRATION,
    Floats,
    Rows,
    Source,
    by_class,
    cifar10,
    cifar100,
    difficulty,
    language,
    news20,
    tempered,
)

Maker = Callable[[Path, int], Rows]
"""The folder of the data and a seed to a stream."""


def clock(n: int) -> Floats:
    """The time of ``n`` rows, from 0 to 1."""
    return (np.arange(n) + 0.5) / n


def in_turn(source: Source, names: list[str], seed: int) -> Rows:
    """Several models, each for an equal part of the stream; the first one calibrates."""
    order = np.random.default_rng(seed).permutation(len(source.labels))
    turns = (clock(len(order) - CALIBRATION) * len(names)).astype(int)
    return Rows.cut(*source.rows([names[0]] * CALIBRATION + [names[turn] for turn in turns], order))


def images(folder: Path, seed: int) -> Rows:
    """Clean, degraded, clean."""
    return in_turn(cifar10(folder), ["resnet56", "degraded", "resnet56"], seed)


def poor_model(folder: Path, seed: int) -> Rows:
    """A share of the rows, 0 to .8 and back, is seen by a poor model."""
    source, rng = cifar10(folder), np.random.default_rng(seed)
    order = rng.permutation(len(source.labels))
    time = clock(len(order) - CALIBRATION)
    poor = rng.random(len(time)) < 0.8 * (1 - np.abs(2 * time - 1))
    names = ["resnet56"] * CALIBRATION + ["lenet5" if one else "resnet56" for one in poor]
    return Rows.cut(*source.rows(names, order))


def temperatures(folder: Path, seed: int) -> Rows:
    """The temperature moves between .4 and 2.5, three times."""
    source = cifar100(folder)
    order = np.random.default_rng(seed).permutation(len(source.labels))
    wave = np.sin(2 * np.pi * 3 * clock(len(order) - CALIBRATION))
    heat = np.concatenate([np.ones(CALIBRATION), 2.5**wave])
    return Rows.cut(tempered(source.models["densenet"][order], heat), source.labels[order])


def hard_classes(folder: Path, seed: int) -> Rows:
    """Hard classes become e^4 times as frequent beside easy ones, then as rare, twice."""
    source, rng = cifar100(folder), np.random.default_rng(seed)
    first, others = np.split(rng.permutation(len(source.labels)), [CALIBRATION])
    wave = np.sin(2 * np.pi * 2 * clock(6000))
    wanted = np.exp(2 * wave[:, np.newaxis] * difficulty(source, "densenet"))
    order = np.concatenate([first, by_class(source.labels, others, wanted, rng)])
    return Rows.cut(source.models["densenet"][order], source.labels[order])


def class_mix(_folder: Path, seed: int) -> Rows:
    """Which of 20 classes are frequent moves around in a circle, twice."""
    source, rng = news20(), np.random.default_rng(seed)
    first, others = np.split(rng.permutation(len(source.labels)), [CALIBRATION])
    angle = 2 * np.pi * (2 * clock(6000)[:, np.newaxis] - np.arange(20) / 20)
    order = np.concatenate([first, by_class(source.labels, others, np.exp(2 * np.cos(angle)), rng)])
    return Rows.cut(source.models["news20"][order], source.labels[order])


def wrong_labels(folder: Path, seed: int) -> Rows:
    """Every other 1,000 rows, 15 % of the labels are random ones."""
    source, rng = cifar100(folder), np.random.default_rng(seed)
    order = rng.permutation(len(source.labels))
    labels, n = source.labels[order], len(order)
    burst = (np.arange(n) - CALIBRATION) // 1000 % 2 == 1
    wrong = burst & (np.arange(n) >= CALIBRATION) & (rng.random(n) < 0.15)
    labels = np.where(wrong, rng.integers(0, 100, n), labels)
    return Rows.cut(source.models["densenet"][order], labels)


def flat_scores(folder: Path, seed: int) -> Rows:
    """The last 250 of every 1,000 rows have a temperature of 4: same ranks, flat probabilities."""
    source = cifar10(folder)
    order = np.random.default_rng(seed).permutation(len(source.labels))
    place = np.arange(len(order)) - CALIBRATION
    heat = np.where((place >= 0) & (place % 1000 >= 750), 4.0, 1.0)
    return Rows.cut(tempered(source.models["resnet56"][order], heat), source.labels[order])


MADE: Mapping[str, Maker] = {
    "images clean, degraded, clean (10)": images,
    "share of a poor model 0, .8, 0 (10)": poor_model,
    "five models in turn (10)": lambda folder, seed: in_turn(
        cifar10(folder), ["resnet56", "resnet50", "vgg16", "wrn16_4", "crossval"], seed
    ),
    "temperature .4 to 2.5 (100)": temperatures,
    "hard classes wax and wane (100)": hard_classes,
    "four language models in turn (6)": lambda folder, seed: in_turn(
        language(folder), ["llama2_13b", "llama2_7b", "qwen_7b", "internlm_7b"], seed
    ),
    "class mix rotates (20)": class_mix,
    "three models in turn (100)": lambda folder, seed: in_turn(
        cifar100(folder), ["densenet", "wrn16_4", "lenet5"], seed
    ),
    "bursts of wrong labels (100)": wrong_labels,
    "bursts of flat scores (10)": flat_scores,
}
"""Streams that drift by name; in brackets, the number of classes."""

UNCHANGED: Mapping[str, Maker] = {
    "i.i.d. (10)": lambda folder, seed: in_turn(cifar10(folder), ["resnet56"], seed),
    "i.i.d. (100)": lambda folder, seed: in_turn(cifar100(folder), ["densenet"], seed),
    "i.i.d. (20)": lambda _, seed: in_turn(news20(), ["news20"], seed),
}
"""Streams in which nothing changes."""
