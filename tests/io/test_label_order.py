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
    with refused(FileError.other_ids("l.csv", "s.parquet", 0, 500, "case")):
        read("s.parquet", "l.csv", identity=None)


DAYS = pd.date_range("2024-01-01", periods=N, freq="D")
HOURS = pd.date_range("2024-01-01", periods=N, freq="h")
SPELLED = {
    "19 digits": (1234567890123456789 + NUMBERS).tolist(),
    "20 digits": [2**64 - 1 - number for number in range(N)],
    "20 digits from 2 on": [2, *(2**64 - 1 - number for number in range(N - 1))],
    "booleans": (NUMBERS % 2 == 0).tolist(),
    "days": DAYS,
    "hours": HOURS,
    "hours in Berlin": HOURS.tz_localize("Europe/Berlin"),
    "nanoseconds": HOURS + pd.to_timedelta(range(N), unit="ns"),
    "dates": [day.date() for day in DAYS],
    "fractions": (NUMBERS + 0.5).tolist(),
}


@pytest.mark.parametrize("name", SPELLED)
@pytest.mark.parametrize("named", [True, False])
def test_an_id_and_its_text_in_a_csv_file_are_one(here, name, named):
    ids = pd.Series(SPELLED[name])
    scores = SCORES.assign(case=ids) if named else SCORES.set_index(pd.Index(ids, name="case"))
    write(scores, "s.parquet", index=not named)
    answers, identity = ANSWERS.assign(case=ids), "case" if named else None
    assert (read("s.parquet", write(answers, "l.csv"), identity=identity).labels == WORDS).all()
    texts = answers.assign(case=answers.case.map(lambda value: f"{value}".replace(" ", "T").upper()))
    assert (read("s.parquet", write(texts, "l.csv"), identity=identity).labels == WORDS).all()
    turned = answers.iloc[[1, 0, *range(2, N)]] if name != "booleans" else answers.assign(case=~answers.case)
    row = int((turned.case.to_numpy() != ids.to_numpy()).argmax())
    with refused(FileError.other_order("l.csv", "s.parquet", row, "case")):
        read("s.parquet", write(turned, "l.csv"), identity=identity)


@pytest.mark.parametrize(
    "ids", [[10**18] * N, [2**63 - 1] * N, [2**64 - 1] * N, [2**63, *range(1, N)], [2**63, *range(-N, -1)]]
)
def test_integers_of_64_bits_are_read_from_texts_without_rounding(here, ids):
    write(SCORES.assign(case=pd.Series(ids, dtype=object).map(str)), "s.csv")
    assert Layout(identity="case").read_rows("s.csv").ids.tolist() == ids
    write(SCORES.assign(case=[str(2**64), *map(str, ids[1:])]), "s.csv")
    assert Layout(identity="case").read_rows("s.csv").ids.tolist() == [str(2**64), *map(str, ids[1:])]


@pytest.mark.parametrize("value", ["2024-13-01", "0001-01-01T00:00:00+23:00", "2024-01-01T99:00:00"])
def test_texts_that_only_look_like_dates_are_texts(here, value):
    write(SCORES.assign(case=[value, *CASES[1:]]), "s.parquet")
    assert (read("s.parquet", write(ANSWERS.assign(case=[value, *CASES[1:]]), "l.csv")).labels == WORDS).all()
    write(ANSWERS.assign(case=[f"{value}0", *CASES[1:]]), "l.csv")
    with refused(FileError.other_order("l.csv", "s.parquet", 0, "case")):
        read("s.parquet", "l.csv")


def test_ids_without_a_common_value_are_not_called_another_order(here):
    write(SCORES.assign(case=CASES), "s.csv")
    write(ANSWERS.assign(case=[f"case {number}" for number in range(N)]), "l.csv")
    with refused(FileError.other_ids("l.csv", "s.csv", "case 0", "c0", "case")):
        read("s.csv", "l.csv")
    write(SCORES.set_index(pd.Index(CASES)), "s.parquet", index=True)
    write(ANSWERS.set_index(pd.Index([f"case {number}" for number in range(N)])), "l.parquet", index=True)
    with refused(FileError.other_ids("l.parquet", "s.parquet", "case 0", "c0")):
        read("s.parquet", "l.parquet", identity=None)


@pytest.mark.parametrize("ids", [CASES, NUMBERS.tolist(), list(range(N)), DAYS, HOURS], ids=lambda ids: str(ids[0]))
@pytest.mark.parametrize(("scores", "labels"), [("s.csv", "l.csv"), ("s.csv", "l.parquet"), ("s.parquet", "l.csv")])
def test_an_index_without_a_name_in_a_csv_file_is_compared(here, ids, scores, labels):
    write(SCORES.set_index(pd.Index(ids)), scores, index=True)
    answers = ANSWERS.set_index(pd.Index(ids))
    drop = ("",) if scores == "s.csv" else ()
    assert (read(scores, write(answers, labels, index=True), identity=None, drop=drop).labels == WORDS).all()
    write(answers.iloc[ORDER], labels, index=True)
    with refused(FileError.other_order(labels, scores, FIRST)):
        read(scores, labels, identity=None, drop=drop)


def test_an_index_without_a_name_counts_only_where_nothing_else_names_the_rows(here):
    write(SCORES.assign(case=CASES), "s.csv", index=True)
    answers = ANSWERS.assign(case=CASES).set_index(ORDER)
    assert (read("s.csv", write(answers, "l.csv", index=True), drop=("",)).labels == WORDS).all()
    write(SCORES.set_index(pd.Index(CASES, name="case")), "s.parquet", index=True)
    assert (read("s.parquet", "l.csv", identity=None).labels == WORDS).all()
    write(SCORES.set_index(pd.Index(ORDER)), "s.parquet", index=True)
    write(ANSWERS.rename(columns={"answer": ""}).assign(note="x"), "l.csv")  # labels without a name
    assert (Layout("").read_rows("s.parquet", "l.csv").labels == WORDS).all()


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
