"""Seeded matrices like a good network's softmax, written once and read by every worker."""

from pathlib import Path

import numpy as np

LIKELY = 8
"""Labels of a row that stand out."""

BLOCK_CELLS = 5_000_000


def write(folder: Path, rows: int, classes: int) -> list[str]:
    """Files of probabilities (rows, classes) in float32, and of labels drawn from these very probabilities."""
    files = [folder / f"{rows}x{classes}-{part}.npy" for part in ("probs", "labels")]
    if not files[1].exists():
        rng = np.random.default_rng([rows, classes])
        probs = np.lib.format.open_memmap(files[0], "w+", np.float32, (rows, classes))
        labels = np.empty(rows, np.int64)
        step = max(1, BLOCK_CELLS // classes)
        for start in range(0, rows, step):
            part = slice(start, min(start + step, rows))
            probs[part] = _softmax(rng, part.stop - start, classes)
            drawn = rng.random((part.stop - start, 1)) < np.cumsum(probs[part], axis=1, dtype=np.float64)
            labels[part] = np.where(drawn[:, -1], drawn.argmax(axis=1), 0)
        probs.flush()
        np.save(files[1], labels)
    return [str(file) for file in files]


def _softmax(rng: np.random.Generator, rows: int, classes: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Noise everywhere and a few labels that rise above it, some rows clear and some not."""
    logits = rng.standard_normal((rows, classes), dtype=np.float32)
    columns = rng.integers(classes, size=(rows, LIKELY))
    height = np.log(classes) + np.linspace(4, -1, LIKELY) + rng.standard_normal((rows, LIKELY))
    height += 1.5 * rng.standard_normal((rows, 1))
    np.put_along_axis(logits, columns, height.astype(np.float32), axis=1)
    logits -= logits.max(axis=1, keepdims=True)
    np.exp(logits, out=logits)
    logits /= logits.sum(axis=1, keepdims=True)
    return logits
