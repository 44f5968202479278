"""The readers of the experiments, on small files in the formats their data sets are published in."""

import gzip
import io
import json
import sys
import tarfile
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "experiments"))
import readers

RNG = np.random.default_rng(0)


def idx_bytes(array):
    head = bytes([0, 0, 8, array.ndim])
    return head + b"".join(size.to_bytes(4, "big") for size in array.shape) + array.astype(np.uint8).tobytes()


def jsonl(path, rows):
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def archive(path, files):
    with tarfile.open(path, "w:gz") as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


@pytest.mark.parametrize("packed", [False, True])
def test_idx_files_and_their_plain_copy_are_the_same(tmp_path, packed):
    train, test = RNG.integers(0, 256, (7, 28, 28)), RNG.integers(0, 256, (3, 28, 28))
    labels, asked = RNG.integers(0, 10, 7), RNG.integers(0, 10, 3)
    (tmp_path / "mnist").mkdir()
    named = {
        "train-images-idx3": train,
        "train-labels-idx1": labels,
        "t10k-images-idx3": test,
        "t10k-labels-idx1": asked,
    }
    for name, array in named.items():
        data = idx_bytes(array)
        path = tmp_path / "mnist" / f"{name}-ubyte{'.gz' * packed}"
        path.write_bytes(gzip.compress(data) if packed else data)
    official = readers.images(tmp_path, "mnist")
    plain = {"x_train": train, "y_train": labels, "x_test": test, "y_test": asked}
    np.savez(tmp_path / "mnist.npz", **{name: array.astype(np.uint8) for name, array in plain.items()})
    copy = readers.images(tmp_path, "mnist")
    for data in (official, copy):
        assert (data.train == train).all()
        assert (data.test == test).all()
        assert data.train_labels.tolist() == labels.tolist()
        assert data.test_labels.tolist() == asked.tolist()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is no IDX file"),
        (b"PK\3\4rest", "is no IDX file"),
        (b"\0\0\7\1\0\0\0\0", "is no IDX file"),
        (idx_bytes(np.zeros((2, 2)))[:-1], r"holds 3 numbers, its head says \[2, 2\]"),
        (idx_bytes(np.zeros(3))[:6], "its head says"),
    ],
)
def test_damaged_idx_files_are_told(tmp_path, data, words):
    path = tmp_path / "labels"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=words):
        readers.idx(path)


@pytest.mark.parametrize("form", ["archive", "unpacked", "npz"])
def test_cifar10_in_its_binary_version(tmp_path, form):
    images, labels = RNG.integers(0, 256, (4, 32, 32, 3)).astype(np.uint8), np.array([3, 0, 9, 9])
    records = b"".join(
        bytes([label]) + image.transpose(2, 0, 1).tobytes() for image, label in zip(images, labels, strict=True)
    )
    if form == "npz":
        np.savez(tmp_path / "cifar10_test_images.npz", x_test=images, y_test=labels.astype(np.uint8))
    elif form == "archive":
        files = {"cifar-10-batches-bin/data_batch_1.bin": b"x", "cifar-10-batches-bin/test_batch.bin": records}
        archive(tmp_path / "cifar-10-binary.tar.gz", files)
    else:
        (tmp_path / "cifar-10-batches-bin").mkdir()
        (tmp_path / "cifar-10-batches-bin" / "test_batch.bin").write_bytes(records)
    pixels, truth = readers.cifar10_test(tmp_path)
    assert (pixels == images).all()
    assert truth.tolist() == labels.tolist()


def test_a_damaged_cifar10_is_told(tmp_path):
    (tmp_path / "cifar-10-batches-bin").mkdir()
    (tmp_path / "cifar-10-batches-bin" / "test_batch.bin").write_bytes(b"x" * 3072)
    with pytest.raises(ValueError, match="records of 3073 bytes, got 3072"):
        readers.cifar10_test(tmp_path)
    (tmp_path / "cifar-10-batches-bin" / "test_batch.bin").unlink()
    archive(tmp_path / "cifar-10-binary.tar.gz", {"readme": b"x"})
    with pytest.raises(ValueError, match="holds no test_batch"):
        readers.cifar10_test(tmp_path)


def test_ag_news_as_csv_and_as_lines(tmp_path):
    (tmp_path / "ag_news_csv").mkdir()
    rows = [(3, "Oil, again", 'He said "no"\\and left'), (1, "Élection", "first")]
    for part in ("train", "test"):
        quoted = "".join(f'"{label}","{title}","{text.replace(chr(34), chr(34) * 2)}"\n' for label, title, text in rows)
        (tmp_path / "ag_news_csv" / f"{part}.csv").write_text(quoted, encoding="utf-8")
    data = readers.ag_news(tmp_path)
    assert data.test == ['Oil, again He said "no" and left', "Élection first"]
    assert data.train_labels.tolist() == [2, 0]
    jsonl(tmp_path / "ag_news_train_subset.jsonl.gz", [{"label": 1, "text": "goal"}])
    jsonl(tmp_path / "ag_news_test.jsonl.gz", [{"label": 2, "title": "Oil", "description": "up"}])
    data = readers.ag_news(tmp_path)
    assert (data.train, data.test, data.test_labels.tolist()) == (["goal"], ["Oil up"], [2])


POST = "From: someone\nSubject: space\n\nIn article 1 someone writes:\n> old words\nnew words: all of them\n"


def test_newsgroups_as_an_archive_and_as_lines(tmp_path):
    folder = "20news-bydate"
    archive(
        tmp_path / "20news-bydate.tar.gz",
        {
            f"{folder}-train/sci.space/1": POST.encode("latin-1"),
            f"{folder}-train/alt.atheism/7": b"From: x\n\nna\xefve",
            f"{folder}-test/sci.space/2": b"From: x\n\nmoon",
        },
    )
    data = readers.newsgroups(tmp_path)
    assert data.train == ["new words: all of them", "naïve"]
    assert data.train_labels.tolist() == [1, 0]
    assert (data.test, data.test_labels.tolist()) == (["moon"], [1])
    for part in ("train", "test"):
        jsonl(tmp_path / f"newsgroups20_{part}.jsonl.gz", [{"label": 4, "doc": "1", "text": POST}])
    assert readers.newsgroups(tmp_path).test == ["new words: all of them"]


def test_emotions_in_both_formats(tmp_path):
    (tmp_path / "carer").mkdir()
    (tmp_path / "emotion").mkdir()
    for part in ("train", "test"):
        (tmp_path / "carer" / f"{part}.txt").write_text("i feel; so so;joy\nodd;surprise\n", encoding="utf-8")
        (tmp_path / "emotion" / f"{part}_text.txt").write_text("so #happy 😀\n@user no\n", encoding="utf-8")
        (tmp_path / "emotion" / f"{part}_labels.txt").write_text("1\n0\n", encoding="utf-8")
    carer, tweets = readers.carer(tmp_path), readers.tweeteval(tmp_path)
    assert (carer.train, carer.test_labels.tolist()) == (["i feel; so so", "odd"], [1, 5])
    assert (tweets.test, tweets.test_labels.tolist()) == (["so #happy 😀", "@user no"], [1, 0])
    for part in ("train", "test"):
        jsonl(tmp_path / f"carer_{part}.jsonl.gz", [{"label": 3, "text": "grr"}])
        jsonl(tmp_path / f"tweeteval_emotion_{part}.jsonl.gz", [{"label": 2, "text": "better"}])
    assert readers.carer(tmp_path).train == ["grr"]
    assert readers.tweeteval(tmp_path).test_labels.tolist() == [2]
