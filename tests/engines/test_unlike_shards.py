"""Files that differ: some have more columns, some have no rows."""

import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import rankset as rs
from rankset.cli.commands import rankset
from rankset.engines import shards
from rankset.errors import FileError, InputError, RuleError
from refusals import check_refusal, failure, refused

RNG = np.random.default_rng(23)
N = 100
PROBS = RNG.dirichlet(np.ones(3), N)
NAMES = ["cat", "dog", "owl"]
WORDS = np.array(NAMES)[[RNG.choice(3, p=row) for row in PROBS]]
FRAME = pd.DataFrame(PROBS, columns=NAMES).assign(answer=WORDS, case=range(N))
RULE = rs.calibrate(PROBS, WORDS, classes=NAMES)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("rankset.core.parallel.cores", lambda: 1)  # commands start no processes
    (tmp_path / "parts").mkdir()
    return tmp_path


def run(*arguments):
    done = CliRunner().invoke(rankset, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    return done


def write(frame, path):
    if path.endswith(".jsonl"):
        Path(path).write_text("".join(json.dumps(row) + "\n" for row in frame.to_dict("records")))
    else:
        getattr(frame, "to_csv" if path.endswith(".csv") else "to_parquet")(path, index=False)


# More columns in some files


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
def test_columns_that_other_files_lack_are_refused_in_every_order(here, suffix):
    logits = FRAME.drop(columns="case").assign(**{name: np.log(FRAME[name]) for name in NAMES})
    few, more = f"parts/few{suffix}", f"parts/more{suffix}"
    write(logits, few)
    write(logits.assign(yak=0.0), more)
    options = {"label": "answer", "kind": "logits", "workers": 1}
    with refused(RuleError.more_columns(["yak"]), file=more):
        shards.calibrate([few, more], **options)
    with refused(FileError.no_class(few, ["yak"])):
        shards.calibrate([more, few], **options)
    (here / "names.txt").write_text("\n".join(NAMES))
    expected = rs.calibrate(logits[NAMES].to_numpy(), WORDS, kind="logits", classes=NAMES)
    expected = expected.merge(rs.calibrate(logits[NAMES].to_numpy(), WORDS, kind="logits", classes=NAMES))
    for files in ((few, more), (more, few)):  # given names say which columns are classes
        assert shards.calibrate(files, classes=NAMES, **options) == expected
    run("calibrate", few, more, "--label", "answer", "--kind", "logits", "--classes", "names.txt", "-o", "r.rankset")
    assert rs.load("r.rankset") == expected


def test_columns_that_are_named_are_no_more_columns(here):
    for number, rows in enumerate((slice(0, 40), slice(40, N))):
        frame = FRAME[rows].assign(site="north", note="x")
        (frame if number else frame[frame.columns[::-1]]).set_index("case").to_parquet(f"parts/{number}.parquet")
    rule = shards.calibrate(
        "parts", label="answer", group="site", drop=["note"], condition=rs.PerGroup(), classes=NAMES, workers=1
    )
    assert rule == rs.calibrate(PROBS, WORDS, classes=NAMES, condition=rs.PerGroup(), groups=["north"] * N)
    rule = shards.calibrate("parts", label="answer", group="site", drop=["note"], condition=rs.PerGroup(), workers=1)
    assert rule.n == N


# Files without rows


BLANK = {
    "none.csv": b"",
    "lines.csv": b"\n\r\n\n",
    "mark.csv": b"\xef\xbb\xbf",
    "none.tsv": b"",
    "none.jsonl": b"",
    "lines.ndjson": b"\n  \n",
    "none.csv.gz": gzip.compress(b""),
    "nothing.jsonl.gz": b"",
}


@pytest.mark.parametrize("name", BLANK)
@pytest.mark.parametrize("first", [True, False])
def test_a_blank_file_among_others_has_no_rows(here, name, first):
    blank = f"parts/{'0' if first else '9'}{name}"
    (here / blank).write_bytes(BLANK[name])
    FRAME[:40].to_csv("parts/1.csv", index=False)
    write(FRAME[40:], "parts/2.jsonl")
    run("calibrate", "parts", "--label", "answer", "--drop", "case", "-o", "rule.rankset")
    assert rs.load("rule.rankset") == RULE
    found = json.loads(run("evaluate", "rule.rankset", "parts", "--label", "answer", "--drop", "case", "--json").stdout)
    assert found["0.1"]["coverage"] == rs.evaluate(RULE.predict(PROBS, 0.1), WORDS).coverage
    for suffix in ("csv", "jsonl", "parquet", "npz"):
        run("predict", "rule.rankset", "parts", "--id", "case", "-o", f"sets.{suffix}")
    sizes = RULE.predict(PROBS, 0.1).sizes.tolist()
    assert pd.read_csv("sets.csv")["size"].tolist() == sizes
    table = pd.read_parquet("sets.parquet")
    assert table["size"].tolist() == sizes
    assert table["case"].tolist() == list(range(N))  # numbers, also where the first file has no rows
    assert np.load("sets.npz")["case"].tolist() == list(range(N))
    run("predict", "rule.rankset", "parts", "--id", "case", "-o", "sets/")
    assert sorted(len(pd.read_parquet(path)) for path in (here / "sets").iterdir()) == [0, 40, 60]


def test_labels_of_a_blank_file_are_blank_too(here):
    (here / "labels").mkdir()
    FRAME[NAMES].to_csv("parts/1.csv", index=False)
    (here / "parts/2.csv").touch()
    FRAME[["answer"]].to_csv("labels/1.csv", index=False)
    for content in ("", "answer\n"):
        (here / "labels/2.csv").write_text(content)
        assert shards.calibrate("parts", "labels", workers=1) == RULE
    (here / "labels/2.csv").write_text("answer\ncat\n")
    with refused(InputError.length("labels", 0, 1), file="labels/2.csv"):
        shards.calibrate("parts", "labels", workers=1)
    (here / "parts/2.csv").write_text(",".join(NAMES) + "\n")
    (here / "labels/2.csv").write_text("")
    assert shards.calibrate("parts", "labels", workers=1) == RULE
    FRAME[:1][NAMES].to_csv("parts/2.csv", index=False)
    with refused(FileError.unreadable("labels/2.csv", "it is empty")):
        shards.calibrate("parts", "labels", workers=1)


@pytest.mark.parametrize("name", BLANK)
def test_a_blank_file_alone_is_refused(here, name):
    (here / name).write_bytes(BLANK[name])
    refusal = FileError.unreadable(name, "it is empty")
    RULE.save("rule.rankset")
    FRAME[["answer"]].to_csv("labels.csv", index=False)
    check_refusal(failure("calibrate", name, "--label", "answer", "-o", "r.rankset"), refusal)
    check_refusal(failure("calibrate", name, "labels.csv", "-o", "r.rankset"), refusal)
    check_refusal(failure("predict", "rule.rankset", name), refusal)
    check_refusal(failure("evaluate", "rule.rankset", name, "--label", "answer"), refusal)


def test_blank_files_only_are_no_rows(here):
    for number in range(2):
        (here / f"parts/{number}.csv").touch()
    with refused(InputError.no_rows()):
        shards.calibrate("parts", label="answer", workers=1)
    RULE.save("rule.rankset")
    check_refusal(failure("evaluate", "rule.rankset", "parts", "--label", "answer"), InputError.no_rows_to_evaluate())
    assert run("predict", "rule.rankset", "parts", "--id", "case").stdout == "case,size,top,labels\n"
