"""Which files a folder or pattern stands for, and which labels belong to which scores."""

import warnings
from pathlib import Path

import pytest

from rankset.engines.shard_paths import expand_paths, pair_files
from rankset.errors import FileError, RanksetWarning
from refusals import refused


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def touch(*paths):
    """Make empty files and return their paths."""
    for path in paths:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).touch()
    return list(paths)


@pytest.mark.parametrize(
    ("scores", "labels"),
    [
        ("scores/part-{}.npy", "labels/part-{}_labels.npy"),
        ("scores/part-{}.npy", "labels/labels-{:02}.csv"),
        ("scores/scores_{:02}.npy", "labels/labels_{}.npy"),
        ("scores/{}.npy", "labels/{:03}.txt.csv"),
        ("scores/run7-part-{}.npy", "labels/run7-{}-of-12.npy"),
        ("scores/day={}/part.npy", "labels/day={:02}/part.npy"),
        ("scores/day={}/part.npy", "labels/{:02}.npy"),
    ],
)
def test_numbers_in_names_pair_files_of_folders_and_patterns(here, scores, labels):
    numbers = range(1, 13)
    ours, theirs = touch(*map(scores.format, numbers)), touch(*map(labels.format, numbers))
    wanted = set(zip(ours, theirs, strict=True))
    nested = "day" in scores
    patterns = ("scores/*/*.npy" if nested else "scores/*", "labels/*/*" if "day" in labels else "labels/*")
    assert set(pair_files(*patterns)) == wanted
    assert set(pair_files(iter(ours[::-1]), patterns[1])) == wanted  # as a shell lists a pattern
    if not nested:
        assert set(pair_files("scores", "labels")) == wanted


def test_words_in_names_pair_files_too(here):
    ours, theirs = touch("s/train.npy", "s/test.npy"), touch("l/y_train.npy", "l/y_test.npy")
    assert set(pair_files("s", "l")) == set(zip(ours, theirs, strict=True))


@pytest.mark.parametrize(
    ("scores", "labels"),
    [
        (("s/part-1.npy", "s/part-2.npy"), ("l/y0.npy", "l/y1.npy")),  # other numbers
        (("s/part-1.npy", "s/part-01.npy"), ("l/y1.npy", "l/y2.npy")),  # one number twice
        (("s/a.npy", "s/b.npy"), ("l/c.npy", "l/d.npy")),  # no common words
        (("s/e1-p1.npy", "s/e2-p1.npy"), ("l/1-p2.npy", "l/2-p1.npy")),
        (("s/1/p.npy", "s/2/p.npy"), ("l/3/p.npy", "l/4/p.npy")),
    ],
)
def test_names_that_pair_nothing_are_refused_unless_files_are_listed(here, scores, labels):
    touch(*scores, *labels)
    star = "*/*" if scores[0].count("/") > 1 else "*"
    with refused(FileError.unclear_pairs(sorted(scores), sorted(labels))):
        pair_files(f"s/{star}", f"l/{star}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pair_files(scores, labels) == list(zip(scores, labels, strict=True))


@pytest.mark.parametrize("name", ["part-1.csv", "part-1_labels.npy", "y_01.npy"])
def test_one_file_on_each_side_is_a_pair_if_names_or_numbers_agree(here, name):
    touch("s/part-1.npy", f"l/{name}")
    for scores in ("s", "s/*", "s/part-1.npy"):
        assert pair_files(scores, "l") == [("s/part-1.npy", f"l/{name}")]


@pytest.mark.parametrize(("row", "label"), [("part-1", "part-2"), ("a", "b"), ("part", "part-1"), ("p1-2", "p1-3")])
def test_one_file_on_each_side_is_no_pair_if_names_differ_unless_both_are_given(here, row, label):
    touch(f"s/{row}.npy", f"l/{label}.npy")
    refusal = FileError.unclear_pairs([f"s/{row}.npy"], [f"l/{label}.npy"])
    for scores, labels in (("s", "l"), ("s/*", "l/*"), (f"s/{row}.npy", "l"), ("s", f"l/{label}.npy")):
        with refused(refusal):
            pair_files(scores, labels)
    assert pair_files(f"s/{row}.npy", [f"l/{label}.npy"]) == [(f"s/{row}.npy", f"l/{label}.npy")]


def test_names_that_agree_come_before_numbers(here):
    touch("s/x.npy", "s/xx.npy", "l/xx.npy", "l/xxx.npy")
    with refused(FileError.unmatched("s/x.npy")):
        pair_files("s", "l")


def test_lists_in_an_order_that_contradicts_the_names_are_warned_of(here):
    scores = sorted(touch(*(f"s/part-{number}.npy" for number in range(1, 13))))
    labels = sorted(touch(*(f"l/part-{number}_labels.npy" for number in range(1, 13))))
    with pytest.warns(RanksetWarning, match="part-1.npy gets the labels of l/part-10_labels.npy, not"):
        assert pair_files(scores, labels) == list(zip(scores, labels, strict=True))


@pytest.mark.parametrize("names", [("part0.csv", "part0.csv.gz"), ("a.csv", "a.parquet"), ("b.npy", "b.npz")])
def test_one_file_in_two_formats_is_refused(here, names):
    first, second = touch(*(f"s/{name}" for name in names))
    for paths in ("s", "s/*", [first, second]):
        with refused(FileError.two_formats(second, first)):
            pair_files(paths, None)
    for paths in ("s", "s/*"):
        with refused(FileError.two_formats(second, first)):
            expand_paths(paths)
    touch("t/a.csv")
    assert len(pair_files(["s/" + names[0], "t/a.csv"], None)) == 2
