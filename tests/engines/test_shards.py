"""Folders of files give what one matrix gives, byte for byte, in any number of processes."""

import json
import sys
import tracemalloc
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import rankset as rs
from partitions import IDS, LABELS, NAMES, PROBS, QUESTIONS, SITES, WORDS, N, cuts, known, names
from rankset.cli.commands import rankset
from rankset.engines import shards
from rankset.engines.partial_rules import merge_partial_rules
from rankset.engines.worker_tasks import CalibrationTask, Partition, PredictionTask
from rankset.errors import FileError, InputError, KindError, PackageError
from refusals import check_refusal, failure, refused

FRAME = pd.DataFrame(PROBS, columns=NAMES).assign(answer=WORDS, site=SITES, case=IDS)


def written(folder, sizes, kind=".parquet", frame=FRAME):
    """The frame in shards of these sizes."""
    folder.mkdir(exist_ok=True)
    ends = np.cumsum([0, *sizes])
    for number in range(len(sizes)):
        part = frame.iloc[ends[number] : ends[number + 1]]
        path = folder / f"part-{number:03d}{kind}"
        if kind == ".parquet":
            part.to_parquet(path, index=False)
        elif kind == ".csv":
            part.to_csv(path, index=False)
        else:
            path.write_text("".join(json.dumps(row) + "\n" for row in part.to_dict("records")))
    return folder


def arrays(folder, sizes, values):
    folder.mkdir(exist_ok=True)
    ends = np.cumsum([0, *sizes])
    for number in range(len(sizes)):
        np.save(folder / f"part-{number:03d}.npy", values[ends[number] : ends[number + 1]])
    return folder


@pytest.mark.parametrize(("score", "condition"), QUESTIONS, ids=names)
def test_the_same_bytes(tmp_path, score, condition):
    rng = np.random.default_rng(len(repr((score, condition))))
    asked = {"score": score, "condition": condition}
    expected = rs.calibrate(PROBS, WORDS, classes=NAMES, **asked, **known(condition))
    folder = written(tmp_path / "rows", cuts(rng, 5))
    told = {"label": "answer", "group": "site" if condition.needs_groups else None, "identity": None}
    layout = shards.Layout(told["label"], told["group"], None, drop=("case",) if told["group"] else ("site", "case"))
    rule = shards.calibrate(folder, layout=layout, workers=1, **asked)
    assert rule == expected
    parts = list(shards.predict(rule, f"{folder}/*.parquet", 0.1, group=told["group"], workers=1))
    wanted = expected.predict(PROBS, 0.1, **known(condition))
    assert rs.PredictionSets.concat(parts).to_lists() == wanted.to_lists()


def test_processes_change_nothing(tmp_path):
    sizes = (0, 100, 1, 0, 60, 79)
    scores, labels = arrays(tmp_path / "scores", sizes, PROBS), arrays(tmp_path / "labels", sizes, LABELS)
    expected = rs.calibrate(PROBS, LABELS, score=rs.Aps())
    rule = shards.calibrate(scores, labels, score=rs.Aps(), workers=2)
    assert rule == expected
    sets = list(shards.predict(rule, scores, 0.1, workers=2))
    assert [len(part) for part in sets] == list(sizes)
    assert rs.PredictionSets.concat(sets) == expected.predict(PROBS, 0.1)
    paths = shards.write(rule, scores, tmp_path / "sets", 0.1, suffix=".csv", workers=2)
    assert [path.name for path in paths] == [f"part-{number:03d}.csv" for number in range(6)]
    read = [size for path in paths for size in pd.read_csv(path)["size"]]
    assert read == expected.predict(PROBS, 0.1).sizes.tolist()
    with refused(FileError.exists(str(tmp_path / "sets" / paths[0].name))):
        shards.write(rule, scores, tmp_path / "sets", 0.1, suffix=".csv")


def test_an_error_names_its_file_and_row(tmp_path):
    bad = PROBS.copy()
    bad[17 * 10 + 3, 2] = np.nan
    scores, labels = arrays(tmp_path / "scores", (10,) * 24, bad), arrays(tmp_path / "labels", (10,) * 24, LABELS)
    for workers in (1, 2):
        with refused(InputError.missing("probs", 3, 2), file=str(scores / "part-017.npy")):
            shards.calibrate(scores, labels, workers=workers)
    with refused(InputError.missing("probs", 3, 2), file=str(scores / "part-017.npy")):
        list(shards.predict(rs.calibrate(PROBS, LABELS), scores, 0.1, workers=1))


def test_mistakes(tmp_path):
    folder = arrays(tmp_path / "scores", (N - 10, 10), PROBS)
    with refused(FileError.missing(str(tmp_path / "nowhere"))):
        shards.calibrate(tmp_path / "nowhere", folder)
    with refused(FileError.unpaired(2, 1)):
        shards.calibrate(folder, arrays(tmp_path / "labels", (N,), LABELS))
    (tmp_path / "empty").mkdir()
    with refused(FileError.no_shards(str(tmp_path / "empty"))):
        shards.calibrate(tmp_path / "empty")
    with refused(FileError.no_shards(f"{tmp_path}/empty/*.npy")):
        shards.calibrate(f"{tmp_path}/empty/*.npy")
    with refused(InputError.no_rows()):
        shards.calibrate(arrays(tmp_path / "none", (0, 0), PROBS), arrays(tmp_path / "nothing", (0, 0), LABELS))


def run(*arguments):
    done = CliRunner().invoke(rankset, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    return done


def test_the_command_line_takes_shards(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "rows", (100, 1, N - 101), ".csv")
    files = sorted(str(path) for path in (tmp_path / "rows").iterdir())
    run("calibrate", *files, "--label", "answer", "--group", "site", "--drop", "case", "-o", "a.rankset")
    expected = rs.calibrate(PROBS, WORDS, classes=NAMES, condition=rs.PerGroup(), groups=SITES)
    assert rs.load("a.rankset") == expected
    arrays(tmp_path / "scores", (100, N - 100), PROBS)
    arrays(tmp_path / "labels", (100, N - 100), LABELS)
    run("calibrate", "scores", "labels", "-o", "b.rankset")
    assert rs.load("b.rankset") == rs.calibrate(PROBS, LABELS)
    wanted = expected.predict(PROBS, 0.1, groups=SITES)
    run("predict", "a.rankset", *files, "--group", "site", "--id", "case", "-o", "sets.parquet")
    whole = pd.read_parquet("sets.parquet")
    assert [list(labels) for labels in whole["labels"]] == wanted.to_lists()
    assert whole["case"].tolist() == IDS.tolist()
    run("predict", "a.rankset", "rows", "--group", "site", "-o", "sets/")
    parts = [pd.read_parquet(path) for path in sorted((tmp_path / "sets").iterdir())]
    assert [list(labels) for part in parts for labels in part["labels"]] == wanted.to_lists()
    told = json.loads(run("evaluate", "b.rankset", "scores", "labels", "--json").stdout)
    assert told["0.1"]["coverage"] == rs.evaluate(rs.load("b.rankset").predict(PROBS, 0.1), LABELS).coverage


def test_merging_takes_little_more_than_what_comes_and_goes():
    """Peak memory, the parts included: at most 48 bytes per row for two keys."""
    rng, n, count = np.random.default_rng(0), 400_000, 50
    question = CalibrationTask()
    tracemalloc.start()
    try:
        answers = []
        for _ in range(count):
            probs = rng.dirichlet(np.ones(4), n // count)
            answers.append(question.run(Partition(probs, rng.integers(0, 4, n // count))))
        del probs
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        assert merge_partial_rules(answers).rule.n == n
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert before / n < 20
    assert peak / n <= 48


def test_logits_in_parts():
    logits, labels = rs.datasets.load("carer")
    expected = rs.calibrate(logits, labels, kind="logits", score=rs.Aps())
    question = CalibrationTask(score=rs.Aps(), kind="logits")
    ends = np.cumsum([0, *cuts(np.random.default_rng(1), 40, len(labels))])
    parts = [Partition(logits[a:b], labels[a:b]) for a, b in pairwise(ends)]
    rule = merge_partial_rules(map(question.run, parts)).rule
    assert rule == expected
    asked = PredictionTask.of(rule, 0.1, "allow")
    assert rs.PredictionSets.concat(map(asked.run, parts)) == expected.predict(logits, 0.1)


def test_missing_engines_say_what_to_install(monkeypatch):
    for name, package in (("dask", "dask"), ("spark", "pyspark")):
        monkeypatch.setitem(sys.modules, package, None)
        for module in [one for one in sys.modules if one.startswith(f"rankset.engines.{name}")]:
            monkeypatch.delitem(sys.modules, module)  # also what was imported in part
        with refused(PackageError.missing(package, f"rankset.engines.{name}", name)):
            getattr(rs.engines, name)


def test_files_are_paired_by_name(tmp_path):
    scores, labels = arrays(tmp_path / "s", (100, 40, 100), PROBS), arrays(tmp_path / "l", (100, 40, 100), LABELS)
    (labels / "part-001.npy").rename(labels / "part-007.npy")
    with refused(FileError.unmatched(str(scores / "part-001.npy"))):
        shards.calibrate(scores, labels, workers=1)
    for number in (0, 2, 7):
        (labels / f"part-00{number}.npy").rename(labels / f"truth-{number}.npy")
    (labels / "truth-7.npy").rename(labels / "truth-1.npy")
    assert shards.calibrate(scores, labels, workers=1) == rs.calibrate(PROBS, LABELS)  # no names agree: in order
    with refused(FileError.twice(str(scores / "part-000.npy"))):
        shards.calibrate([scores, scores], [labels, labels])
    with refused(KindError, what="workers", received="0"):
        shards.calibrate(scores, labels, workers=0)


def test_column_numbers_of_columns_in_another_order_are_refused(tmp_path):
    folder = written(tmp_path / "rows", (N,), ".csv", FRAME[NAMES].assign(y=LABELS))
    FRAME[NAMES[::-1]].assign(y=LABELS).to_csv(folder / "part-001.csv", index=False)
    with refused(FileError.numbers_in_another_order(str(folder / "part-001.csv"))):
        shards.calibrate(folder, label="y", workers=1)


def test_inputs_are_never_outputs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rule = rs.calibrate(PROBS, WORDS, classes=NAMES)
    rule.save("rule.rankset")
    folder = written(tmp_path / "rows", (100, N - 100))
    with refused(FileError.own_input(str(folder / "part-000.parquet"))):
        shards.write(rule, folder, folder, 0.1, force=True)
    error = failure("predict", "rule.rankset", "rows", "-o", "rows/part-000.parquet", "--force")
    check_refusal(error, FileError.own_input("rows/part-000.parquet"))
    assert pd.read_parquet(folder / "part-000.parquet").columns[0] == NAMES[0]
    (folder / "part-000.parquet").rename(folder / "part.0.parquet")
    (folder / "part-001.parquet").rename(folder / "part.1.parquet")
    paths = shards.write(rule, folder, tmp_path / "sets", 0.1, workers=1)
    assert [path.name for path in paths] == ["part.0.parquet", "part.1.parquet"]


def test_kept_columns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rs.calibrate(PROBS, WORDS, classes=NAMES).save("rule.rankset")
    written(tmp_path / "rows", (100, N - 100))
    run("predict", "rule.rankset", "rows", "--keep", "joy", "-o", "sets.parquet")
    assert pd.read_parquet("sets.parquet")["joy"].tolist() == PROBS[:, 1].tolist()
    FRAME.iloc[:5].assign(case=range(5)).to_parquet("rows/part-002.parquet", index=False)
    error = failure("predict", "rule.rankset", "rows", "--keep", "case", "-o", "other.parquet")
    check_refusal(error, FileError, what="an extra column", expected="have the same type in all files", column="case")
    less = FRAME.drop(columns="love")
    less.to_parquet("less.parquet", index=False)
    check_refusal(failure("predict", "rule.rankset", "less.parquet"), FileError.no_class("less.parquet", ["love"]))


def test_columns_are_dropped_and_kept_without_a_layout(tmp_path):
    folder = written(tmp_path / "rows", (100, N - 100), frame=FRAME.assign(noise=1.0))
    rule = shards.calibrate(folder, label="answer", drop=["site", "case", "noise"], workers=1)
    assert rule == rs.calibrate(PROBS, WORDS, classes=NAMES)
    numbered = rs.calibrate(PROBS, LABELS)
    plain = written(tmp_path / "plain", (N,), frame=pd.DataFrame(PROBS).rename(columns=str).assign(noise=1.0, case=IDS))
    asked = {"drop": ["noise"], "identity": "case", "workers": 1}
    (sets,) = shards.predict(numbered, plain, 0.1, **asked)
    assert sets.to_lists() == numbered.predict(PROBS, 0.1).to_lists()
    with refused(
        FileError, what="the columns", received="'0', '1', '2', '3', '4' and 3 more", expected="include 'other'"
    ):
        list(shards.predict(numbered, plain, 0.1, drop=["other"], workers=1))
    (path,) = shards.write(numbered, plain, tmp_path / "sets", 0.1, keep=["noise", "case"], drop=["noise"], workers=1)
    kept = pd.read_parquet(path)
    assert kept["noise"].tolist() == [1.0] * N
    assert kept["case"].tolist() == list(IDS)
    with refused(
        FileError, what="the columns", received="'0', '1', '2', '3', '4' and 3 more", expected="include 'other'"
    ):
        shards.write(numbered, plain, tmp_path / "more", 0.1, drop=["other"], workers=1)


def test_absent_labels(tmp_path):
    gone = np.arange(len(FRAME)) % 10 == 0
    frame = FRAME.assign(answer=FRAME["answer"].where(~gone, "none"))
    written(tmp_path, (100, 140), frame=frame)
    labels = [rs.ABSENT if row else label for row, label in zip(gone, FRAME["answer"], strict=True)]
    rule = shards.calibrate(tmp_path, label="answer", drop=["site", "case"], absent="none", workers=1)
    assert rule == rs.calibrate(PROBS, labels, classes=NAMES)


def test_methods_have_names_and_auto_is_refused(tmp_path):
    scores, labels = arrays(tmp_path / "s", (100, 140), PROBS), arrays(tmp_path / "l", (100, 140), LABELS)
    expected = rs.calibrate(PROBS[:240], LABELS[:240], method="raps")
    assert shards.calibrate(scores, labels, method="Raps", workers=1) == expected
    assert shards.calibrate(scores, labels, score="raps", workers=1) == expected
    with refused(KindError.auto_in_parts()):
        shards.calibrate(scores, labels, method="auto", workers=1)
    with refused(KindError.method_twice("aps", "rank")):
        shards.calibrate(scores, labels, method="aps", score="rank", workers=1)
