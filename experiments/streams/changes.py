"""Streams that change at row 1,000, and streams that do not: what alarms are tried on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from streams.rows import Floats, Ints, Rows, Source, by_class, cifar10, cifar100, difficulty, language, tempered

CALIBRATION, BEFORE, AFTER = 1000, 1000, 3000
"""Rows that calibrate, rows of the stream before the change, and rows after it."""
TOTAL = CALIBRATION + BEFORE + AFTER
CHANGED = np.arange(TOTAL) >= CALIBRATION + BEFORE

Maker = Callable[[Path, int], Rows]
"""The folder of the data and a seed to a stream."""


@dataclass(frozen=True)
class Watched:
    """What other libraries watch: a key per row that calibrates and per row that follows."""

    old: Floats
    new: Floats


def strangeness(rows: Rows) -> Watched:
    """One minus the probability of the true label."""
    old = 1 - rows.probs[np.arange(len(rows.labels)), rows.labels]
    return Watched(old, 1 - rows.new[np.arange(len(rows.truth)), rows.truth])


def wrong_answers(rows: Rows) -> Watched:
    """Whether the most likely label is wrong."""
    old, new = rows.probs.argmax(axis=1) != rows.labels, rows.new.argmax(axis=1) != rows.truth
    return Watched(old.astype(np.float64), new.astype(np.float64))


def largest(rows: Rows) -> Watched:
    """The largest probability, which needs no label."""
    return Watched(rows.probs.max(axis=1), rows.new.max(axis=1))


def drawn(source: Source, seed: int) -> tuple[np.random.Generator, Ints]:
    """A generator, and rows in random order."""
    rng = np.random.default_rng(seed)
    return rng, rng.permutation(len(source.labels))[:TOTAL]


def other_model(source: Source, first: str, second: str, share: Floats | float, seed: int) -> Rows:
    """From the change on, a share of the rows is seen by another model."""
    rng, order = drawn(source, seed)
    other = CHANGED & (rng.random(TOTAL) < share)
    return Rows.cut(*source.rows([second if one else first for one in other], order), CALIBRATION)


def gradual(folder: Path, seed: int) -> Rows:
    """The share of a poor model grows to a half within 2,000 rows."""
    share = np.clip((np.arange(TOTAL) - CALIBRATION - BEFORE) / 2000, 0, 1) / 2
    return other_model(cifar10(folder), "resnet56", "lenet5", share, seed)


def wrong_labels(folder: Path, seed: int) -> Rows:
    """From the change on, 5 % of the labels are other ones."""
    source = cifar10(folder)
    rng, order = drawn(source, seed)
    labels = source.labels[order]
    wrong = CHANGED & (rng.random(TOTAL) < 0.05)
    labels = np.where(wrong, (labels + rng.integers(1, 10, TOTAL)) % 10, labels)
    return Rows.cut(source.models["resnet56"][order], labels, CALIBRATION)


def temperature(folder: Path, seed: int, value: float) -> Rows:
    """From the change on, another temperature."""
    source = cifar100(folder)
    _, order = drawn(source, seed)
    probs = tempered(source.models["densenet"][order], np.where(CHANGED, value, 1.0))
    return Rows.cut(probs, source.labels[order], CALIBRATION)


def hard_classes(folder: Path, seed: int) -> Rows:
    """From the change on, the hardest class is e^3 times as frequent beside the easiest as before."""
    source, rng = cifar100(folder), np.random.default_rng(seed)
    first, others = np.split(rng.permutation(len(source.labels)), [CALIBRATION + BEFORE])
    wanted = np.tile(np.exp(1.5 * difficulty(source, "densenet")), (AFTER, 1))
    order = np.concatenate([first, by_class(source.labels, others, wanted, rng)])
    return Rows.cut(source.models["densenet"][order], source.labels[order], CALIBRATION)


def models_of(first: str, second: str, share: float = 1.0) -> Maker:
    """Two networks for CIFAR-10."""
    return lambda folder, seed: other_model(cifar10(folder), first, second, share, seed)


CHANGES: Mapping[str, Maker] = {
    "degraded images": models_of("resnet56", "degraded"),
    "another model of equal accuracy": models_of("resnet56", "vgg16"),
    "5 % wrong labels": wrong_labels,
    "10 % of the rows from a poor model": models_of("resnet56", "lenet5", 0.1),
    "0 to 50 % of such rows within 2,000": gradual,
    "flatter, T 1.5 (100 classes)": lambda folder, seed: temperature(folder, seed, 1.5),
    "sharper, T .67 (100 classes)": lambda folder, seed: temperature(folder, seed, 0.67),
    "hard classes e^3 times as frequent (100)": hard_classes,
    "another language model (6 classes)": lambda folder, seed: other_model(
        language(folder), "llama2_13b", "qwen_7b", 1.0, seed
    ),
}
"""Changes at row 1,000 of a stream by name."""


def unchanged(folder: Path, seed: int, calibration: int, after: int = 3000) -> Rows:
    """Rows without a change: two networks, and a language model with many equal values, in turn."""
    sources = ((cifar10(folder), "resnet56"), (cifar10(folder), "lenet5"), (language(folder), "llama2_13b"))
    source, model = sources[seed % len(sources)]
    order = np.random.default_rng(seed).permutation(len(source.labels))[: calibration + after]
    return Rows.cut(source.models[model][order], source.labels[order], calibration)


def told(alarms: list[float]) -> dict[str, float | int | None]:
    """Rows from the change to the alarm: median and 90 %, of streams without earlier alarm; None if too few alarm.

    ``found`` is the number of streams whose alarm came after the change, ``before`` of those whose alarm came earlier.
    """
    rows = np.array(alarms) - BEFORE
    late = np.sort(rows[~(rows < 0)])
    found = [float(late[min(int(share * len(late)), len(late) - 1)]) for share in (0.5, 0.9)] if len(late) else []
    median, most = (int(one) + 1 if np.isfinite(one) else None for one in found) if found else (None, None)
    counts = {"found": int(np.isfinite(late).sum()), "before": int((rows < 0).sum()), "streams": len(rows)}
    return {"median": median, "ninety": most, **counts}
