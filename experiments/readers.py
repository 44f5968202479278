"""The data sets of the paper, from their official files or from plain copies (.npz, .jsonl.gz); no framework needed.

Every reader takes a folder and finds what is there. Images come as uint8 arrays, texts as lists, labels from 0.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
import tarfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.int64]

EMOTIONS = ("sadness", "joy", "love", "anger", "fear", "surprise")
IDX_TYPES = {8: ">u1", 9: ">i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}
CIFAR10_RECORD = 1 + 3 * 32 * 32


@dataclass(frozen=True)
class Data:
    """What trains a model, and what it is asked afterwards."""

    train: Any
    train_labels: Labels
    test: Any
    test_labels: Labels


def images(folder: Path, name: str) -> Data:
    """MNIST or Fashion-MNIST: ``<name>.npz``, or the four IDX files, packed or not, in a folder of that name."""
    plain = folder / f"{name}.npz"
    if plain.exists():
        with np.load(plain, allow_pickle=False) as arrays:
            parts = [arrays[key] for key in ("x_train", "y_train", "x_test", "y_test")]
    else:
        names = ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1")
        parts = [idx(_packed_or_not(folder / name / f"{part}-ubyte")) for part in names]
    train, train_labels, test, test_labels = parts
    return Data(train, train_labels.astype(np.int64), test, test_labels.astype(np.int64))


def idx(path: Path) -> NDArray[Any]:
    """An array in the IDX format: two zero bytes, a type, the number of dimensions, their sizes, then the numbers."""
    with _opened(path) as file:
        head = file.read(4)
        if len(head) < 4 or head[:2] != b"\0\0" or head[2] not in IDX_TYPES:
            raise ValueError(f"{path} is no IDX file: it begins with {head!r}")
        sizes = file.read(4 * head[3])
        shape = np.frombuffer(sizes[: len(sizes) // 4 * 4], dtype=">u4").astype(int)
        values = np.frombuffer(file.read(), dtype=IDX_TYPES[head[2]])
    if len(shape) != head[3] or values.size != shape.prod():
        raise ValueError(f"{path} holds {values.size} numbers, its head says {shape.tolist()}")
    return values.reshape(shape).astype(values.dtype.newbyteorder("="))


def cifar10_test(folder: Path) -> tuple[NDArray[np.uint8], Labels]:
    """CIFAR-10's test images (n, 32, 32, 3): the plain copy, or the binary version, unpacked or in its archive."""
    plain = folder / "cifar10_test_images.npz"
    if plain.exists():
        with np.load(plain, allow_pickle=False) as arrays:
            return arrays["x_test"], arrays["y_test"].astype(np.int64)
    unpacked = folder / "cifar-10-batches-bin" / "test_batch.bin"
    data = (
        unpacked.read_bytes() if unpacked.exists() else _in_archive(folder / "cifar-10-binary.tar.gz", "test_batch.bin")
    )
    if len(data) % CIFAR10_RECORD:
        raise ValueError(f"CIFAR-10's binary version has records of {CIFAR10_RECORD} bytes, got {len(data)} bytes")
    records = np.frombuffer(data, dtype=np.uint8).reshape(-1, CIFAR10_RECORD)
    pixels = records[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return np.ascontiguousarray(pixels), records[:, 0].astype(np.int64)


def ag_news(folder: Path) -> Data:
    """AG News: ``train.csv`` and ``test.csv`` (class from 1, title, description), or the plain copies."""
    if (folder / "ag_news_test.jsonl.gz").exists():
        return _lines_of(folder, "ag_news_train_subset", "ag_news_test")
    return _parts(lambda part: _ag_news_csv(folder / "ag_news_csv" / f"{part}.csv"))


def _ag_news_csv(path: Path) -> Iterator[tuple[str, int]]:
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.reader(file):
            yield " ".join(row[1:]).replace("\\", " "), int(row[0]) - 1


def newsgroups(folder: Path) -> Data:
    """20 Newsgroups by date: the archive of posts, or the plain copies; classes in the order of their names."""
    if (folder / "newsgroups20_test.jsonl.gz").exists():
        data = _lines_of(folder, "newsgroups20_train", "newsgroups20_test")
    else:
        data = _newsgroups_archive(folder / "20news-bydate.tar.gz")
    return Data([*map(body, data.train)], data.train_labels, [*map(body, data.test)], data.test_labels)


def _newsgroups_archive(path: Path) -> Data:
    posts: dict[str, list[tuple[str, str]]] = {"train": [], "test": []}
    with tarfile.open(path) as archive:
        for member in archive:
            part, group, _ = ("", "", *Path(member.name).parts)[-3:]
            for name, found in posts.items():
                content = archive.extractfile(member) if part.endswith(f"bydate-{name}") else None
                if content is not None:
                    found.append((group, content.read().decode("latin-1")))
    groups = sorted({group for part in posts.values() for group, _ in part})
    return _parts(lambda name: ((text, groups.index(group)) for group, text in posts[name]))


def body(post: str) -> str:
    """A post without its headers, quoted lines and the lines that announce them: they tell the group by accident."""
    _, _, text = post.partition("\n\n")
    lines = [line for line in text.splitlines() if not re.match(r"\s*[>|:]|.*(writes|wrote|says|said):?\s*$", line)]
    return "\n".join(lines)


def carer(folder: Path) -> Data:
    """CARER's six emotions: ``train.txt`` and ``test.txt`` (text;emotion), or the plain copies."""
    if (folder / "carer_test.jsonl.gz").exists():
        return _lines_of(folder, "carer_train", "carer_test")
    return _parts(lambda part: _carer_lines(folder / "carer" / f"{part}.txt"))


def _carer_lines(path: Path) -> Iterator[tuple[str, int]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        text, _, emotion = line.rpartition(";")
        yield text, EMOTIONS.index(emotion)


def tweeteval(folder: Path) -> Data:
    """TweetEval's four emotions: ``<part>_text.txt`` beside ``<part>_labels.txt``, or the plain copies."""
    if (folder / "tweeteval_emotion_test.jsonl.gz").exists():
        return _lines_of(folder, "tweeteval_emotion_train", "tweeteval_emotion_test")
    return _parts(lambda part: _tweets(folder / "emotion", part))


def _tweets(folder: Path, part: str) -> Iterator[tuple[str, int]]:
    texts = (folder / f"{part}_text.txt").read_text(encoding="utf-8").split("\n")
    labels = (folder / f"{part}_labels.txt").read_text(encoding="utf-8").split()
    return zip(texts[: len(labels)], map(int, labels), strict=True)


def _parts(rows: Callable[[str], Iterator[tuple[str, int]]]) -> Data:
    train, test = (list(rows(part)) for part in ("train", "test"))
    return Data(*_columns(train), *_columns(test))


def _lines_of(folder: Path, train: str, test: str) -> Data:
    return Data(*(part for name in (train, test) for part in _columns([*_json_lines(folder / f"{name}.jsonl.gz")])))


def _json_lines(path: Path) -> Iterator[tuple[str, int]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            yield row["text"] if "text" in row else f"{row['title']} {row['description']}", row["label"]


def _columns(rows: Sequence[tuple[str, int]]) -> tuple[list[str], Labels]:
    return [text for text, _ in rows], np.array([label for _, label in rows], dtype=np.int64)


def _packed_or_not(path: Path) -> Path:
    return path if path.exists() else path.with_name(f"{path.name}.gz")


def _opened(path: Path) -> Any:  # noqa: ANN401
    return gzip.open(path) if path.suffix == ".gz" else path.open("rb")


def _in_archive(path: Path, name: str) -> bytes:
    with tarfile.open(path) as archive:
        for member in archive:
            file: BinaryIO | None = archive.extractfile(member) if Path(member.name).name == name else None  # type: ignore[assignment]
            if file is not None:
                return file.read()
    raise ValueError(f"{path} holds no {name}")
