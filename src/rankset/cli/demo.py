"""``rankset demo``: write example files for the other commands."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

import rankset as rs
from rankset.cli.command import Command
from rankset.cli.files import check_output
from rankset.cli.options import options
from rankset.io import atomic

DATASET = "carer"
NAMES = ("sadness", "joy", "love", "anger", "fear", "surprise")
"""The classes of CARER in the order of its columns."""
CLASSES_FILE = "classes.txt"


@click.command(cls=Command)
@click.argument("folder", default=".", type=click.Path(file_okay=False, path_type=Path))
@options("force")
def demo(folder: Path, force: bool) -> None:
    """Write example files into FOLDER, to try the other commands. The default is the current folder.

    The data are the logits of a text classifier with six classes (emotions), and the true labels. The files are
    val_logits.npy, val_labels.npy, test_logits.npy, test_labels.npy and classes.txt.

    \b
    rankset demo
    rankset calibrate val_logits.npy val_labels.npy --kind logits --classes classes.txt -o rule.rankset
    """
    logits, labels = rs.datasets.load(DATASET)
    half = len(labels) // 2
    arrays = {
        "val_logits.npy": logits[:half],
        "val_labels.npy": labels[:half],
        "test_logits.npy": logits[half:],
        "test_labels.npy": labels[half:],
    }
    for name in (*arrays, CLASSES_FILE):
        check_output(folder / name, None, (), force=force)
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in arrays.items():
        with atomic.open_output(folder / name, force=force) as file:
            np.save(file, array)
    with atomic.open_output(folder / CLASSES_FILE, force=force) as file:
        file.write("".join(f"{name}\n" for name in NAMES).encode())
    click.echo(f"{folder}: {half:,} rows to calibrate, {len(labels) - half:,} to test, {len(NAMES)} classes", err=True)
