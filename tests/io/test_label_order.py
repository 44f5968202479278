"""Labels in a file of their own must be in the order of the scores wherever both files name their rows."""

import numpy as np
import pandas as pd
import pytest

import rankset as rs
from rankset.engines import shards
from rankset.errors import FileError, InputError, LabelError
from rankset.io.layout import Layout
from refusals import check_refusal, failure, refused

RNG = np.random.default_rng(22)
N, K = 90, 3
PROBS = RNG.dirichlet(np.ones(K), N)
NAMES = ["cat", "dog", "owl"]
WORDS = np.array(NAMES)[[RNG.choice(K, p=row) for row in PROBS]]
CASES = [f"c{place}" for place in range(N)]
NUMBERS = RNG.permutation(1000)[:N]
ORDER = RNG.permutation(N)
FIRST = int(np.flatnonzero(ORDER - np.arange(N))[0])
SCORES, ANSWERS = pd.DataFrame(PROBS, columns=NAMES), pd.DataFrame({"answer": WORDS})
RULE = rs.calibrate(PROBS, WORDS, classes=NAMES)
WRITERS = {".csv": "to_csv", ".parquet": "to_parquet"}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(frame, path, *, index=False):
    suffix = path[path.rindex(".") :]
    if suffix == ".jsonl":
        frame.to_json(path, orient="records", lines=True)
    elif suffix == ".npz":
        np.savez(path, **{name: frame[name].to_numpy(dtype=str) for name in frame})
    else:
        getattr(frame, WRITERS[suffix])(path, index=index)
    return path


def read(scores, labels, *, identity="case", drop=()):
    return Layout("answer", identity=identity, drop=drop).read_rows(scores, labels)


@pytest.mark.parametrize("labels", ["labels.csv", "labels.parquet", "labels.jsonl", "labels.npz"])
@pytest.mark.parametrize("scores", ["scores.csv", "scores.parquet", "scores.jsonl"])
def test_ids_in_both_files_are_compared(here, scores, labels):
    write(SCORES.assign(case=CASES), scores)
    known = ANSWERS.assign(case=CASES)
    assert (read(scores, write(known, labels)).labels == WORDS).all()
    write(known.iloc[ORDER], labels)
    with refused(FileError.other_order(labels, scores, FIRST, "case")):
        read(scores, labels)
    write(known.assign(case=[*CASES[:-1], "other"]), labels)
    with refused(FileError.other_order(labels, scores, N - 1, "case")):
        read(scores, labels)


def test_commands_and_shards_compare_ids(here):
    scores, labels = write(SCORES.assign(case=CASES), "s.csv"), write(ANSWERS.assign(case=CASES).iloc[ORDER], "l.csv")
    files = (scores, "--labels", labels, "--label", "answer", "--id", "case")
    refusal = FileError.other_order("l.csv", "s.csv", FIRST, "case")
    check_refusal(failure("calibrate", *files, "-o", "r.rankset"), refusal)
    RULE.save("rule.rankset")
    check_refusal(failure("evaluate", "rule.rankset", *files), refusal)
    others = [write(SCORES.assign(case=CASES), "s2.csv"), write(ANSWERS.assign(case=CASES), "l2.csv")]
    with refused(refusal):
        shards.calibrate([scores, others[0]], [labels, others[1]], label="answer", identity="case", workers=1)


@pytest.mark.parametrize("spell", [int, float, str, lambda number: f"{number}.0"])
@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_an_id_is_one_id_in_every_spelling(here, spell, kind):
    scores = write(SCORES.assign(case=NUMBERS), "s.parquet")
    labels = write(ANSWERS.assign(case=[spell(number) for number in NUMBERS]), f"l.{kind}")
    assert (read(scores, labels).labels == WORDS).all()


@pytest.mark.parametrize("ids", [CASES, NUMBERS.tolist()])
def test_an_index_of_one_file_is_compared_with_the_column_of_the_other(here, ids):
    indexed, plain = SCORES.set_index(pd.Index(ids, name="case")), SCORES.assign(case=ids)
    answers = ANSWERS.assign(case=ids)
    write(indexed, "index.parquet", index=True)
    write(plain, "column.parquet")
    write(answers.set_index("case"), "labels_index.parquet", index=True)
    write(answers.iloc[ORDER].set_index("case"), "turned_index.parquet", index=True)
    for kind in ("csv", "parquet"):
        write(answers, f"labels.{kind}")
        write(answers.iloc[ORDER], f"turned.{kind}")
        assert (read("index.parquet", f"labels.{kind}", identity=None).labels == WORDS).all()
        with refused(FileError.other_order(f"turned.{kind}", "index.parquet", FIRST, "case")):
            read("index.parquet", f"turned.{kind}", identity=None)
    for identity, drop in (("case", ()), (None, ("case",))):
        assert (read("column.parquet", "labels_index.parquet", identity=identity, drop=drop).labels == WORDS).all()
        with refused(FileError.other_order("turned_index.parquet", "column.parquet", FIRST, "case")):
            read("column.parquet", "turned_index.parquet", identity=identity, drop=drop)


def test_a_range_with_a_name_is_an_index_too(here):
    write(SCORES.set_index(pd.RangeIndex(500, 500 + N, name="case")), "s.parquet", index=None)
    write(ANSWERS.assign(case=range(500, 500 + N)), "l.csv")
    assert (read("s.parquet", "l.csv", identity=None).labels == WORDS).all()
    write(ANSWERS.assign(case=range(N)), "l.csv")
    with refused(FileError.other_order("l.csv", "s.parquet", 0, "case")):
        read("s.parquet", "l.csv", identity=None)


def test_what_cannot_be_compared_is_not(here):
    scores = write(SCORES.assign(case=CASES), "s.csv")
    assert (read(scores, write(ANSWERS, "l.csv")).labels == WORDS).all()  # no ids
    assert (
        read(scores, write(ANSWERS.assign(case=CASES), "l.csv"), identity=None, drop=("case",)).labels == WORDS
    ).all()
    check_refusal(
        failure(
            *("calibrate", scores, "--labels", write(ANSWERS.assign(case=CASES)[1:], "l.csv")),
            *("--label", "answer", "--id", "case", "-o", "r.rankset"),
        ),
        InputError.length("labels", N, N - 1),
        file="s.csv",
    )
    with refused(LabelError.missing("ids", 4), file="l.parquet"):
        read(scores, write(ANSWERS.assign(case=[*CASES[:4], None, *CASES[5:]]), "l.parquet"))
