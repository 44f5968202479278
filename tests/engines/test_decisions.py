"""Triages and decisions on files, Dask and Spark: those of one process, byte for byte, whatever the partitions."""

import json
import pickle
import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankset as rs
from partitions import CONDITIONS, IDS, LABELS, NAMES, PROBS, SITES, WORDS, N, cuts, known
from rankset.decisions import selection
from rankset.engines import shards
from rankset.engines.batch_counts import BatchCounts
from rankset.engines.decision_tasks import CountTask, GateTask, TriageTask
from rankset.engines.worker_tasks import Partition
from rankset.errors import FileError, InputError, KindError, RuleError
from refusals import refused

ERROR = 0.1
"""At this error every condition accepts some rows and leaves others."""
SIZES = (10, 0, 100, 1, N - 111)
RIGHT = PROBS.argmax(axis=1) == LABELS
SURE = PROBS.max(axis=1)
FRAME = pd.DataFrame(PROBS, columns=NAMES).assign(answer=WORDS, site=SITES, case=IDS, right=RIGHT, sure=SURE)
WITH_IDS = pytest.mark.parametrize("ids", [None, IDS], ids=["without ids", "with ids"])
EVERYWHERE = pytest.mark.parametrize("condition", CONDITIONS, ids=repr)
quiet = pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")


def whole(condition=rs.Marginal(), **more):  # noqa: B008
    return rs.triage(PROBS, WORDS, classes=NAMES, condition=condition, **known(condition), **more)


def parts(values, sizes=SIZES):
    return [values[a:b] for a, b in pairwise(np.cumsum([0, *sizes]))]


def partitions_of(sizes, *, groups=None, ids=None):
    rows = [PROBS, groups, ids]
    return [
        Partition(probs, groups=None if some is None else some, ids=None if few is None else few)
        for probs, some, few in zip(
            *([None] * len(sizes) if one is None else parts(one, sizes) for one in rows), strict=True
        )
    ]


def pickled(thing):
    """What a worker gets, or sends."""
    return pickle.loads(pickle.dumps(thing))  # noqa: S301 - made here


def same(found, wanted):
    """Whether tables or decisions of parts are those of all rows."""
    assert found["accepted"].tolist() == wanted.accepted.tolist()
    assert found["label"].tolist() == wanted.labels.tolist()
    if wanted.smallest is not None:
        assert np.array(found["p_value"].tolist()).tobytes() == wanted.p_values.tobytes()


@quiet
@EVERYWHERE
@WITH_IDS
@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 30), st.sampled_from([0.01, 0.05, ERROR, 0.15]))
def test_the_cut_of_a_batch_in_parts(condition, ids, seed, count, error):
    """Counts of parts, pickled and merged in any grouping, cut where the whole batch is cut."""
    rng, triage = np.random.default_rng(seed), whole(condition)
    task = CountTask.of(triage, error)
    rows = partitions_of(cuts(rng, count), ids=ids, **known(condition))
    counts = [pickled(task.run(part)) for part in rows]
    middle = int(rng.integers(0, count + 1))
    halves = [task.merge(some) for some in (counts[:middle], counts[middle:]) if some]
    accepting = pickled(task.accepting(task.merge(halves), with_ids=ids is not None))
    wanted = triage.accept(PROBS, error, ids=ids, **known(condition))
    done = [accepting.run(part) for part in rows]
    assert np.concatenate([one.accepted for one in done]).tolist() == wanted.accepted.tolist()
    assert np.concatenate([one.p_values for one in done]).tobytes() == wanted.p_values.tobytes()
    assert all((one.smallest, one.errors) == (wanted.smallest, wanted.errors) for one in done)


def test_the_error_of_these_tests_accepts_some_rows_and_leaves_others():
    for condition in CONDITIONS:
        for ids in (None, IDS):
            share = whole(condition).accept(PROBS, ERROR, ids=ids, **known(condition)).share
            assert 0.05 < share < 0.95, condition


def test_parts_of_their_own_would_accept_other_rows():
    """The promise is about the whole batch: deciding about each part alone is something else."""
    triage = whole()
    alone = np.concatenate([triage.accept(part, ERROR).accepted for part in parts(PROBS, (10, 100, 130))])
    assert alone.tolist() != triage.accept(PROBS, ERROR).accepted.tolist()


def test_what_is_collected_is_counts():
    task, rows = CountTask.of(whole(), ERROR), Partition(np.tile(PROBS, (100, 1)))
    counts = task.run(rows)
    assert isinstance(counts, BatchCounts)
    assert len(counts.counted[0].values) <= whole().n_wrong + 1
    assert len(pickle.dumps(counts)) < 20 * (whole().n_wrong + 1) + 1000 < rows.scores.nbytes / 100
    many = np.tile(PROBS, (100, 1))
    sent = len(pickle.dumps(CountTask.of(rs.triage(many, np.tile(LABELS, 100)), ERROR)))
    assert sent < 8 * 1.1 * np.count_nonzero(~np.tile(RIGHT, 100)) + 4000  # workers get no keys of right answers


def test_warnings_of_a_batch_are_those_of_accept():
    condition, new = rs.PerGroup(), np.where(np.arange(N) % 7, SITES, "moon")
    triage = whole(condition)

    def said(call):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
        return [str(one.message) for one in caught]

    for error in (ERROR, 0.001):
        task = CountTask.of(triage, error)
        rows = partitions_of(SIZES, groups=new)

        def in_parts(task=task, rows=rows):
            accepting = task.accepting(task.merge([task.run(part) for part in rows]), with_ids=False)
            for part in rows:
                accepting.run(part)

        texts = said(in_parts)
        assert texts == said(lambda error=error: triage.accept(PROBS, error, groups=new))
        assert len(texts) == 1 + (error < ERROR)


def test_tasks_refuse_what_they_cannot_use():
    with refused(KindError.argument("triage", "a Triage, the result of triage", "x")):
        CountTask.of("x", 0.1)
    with refused(KindError.argument("gate", "a Gate, the result of Triage.threshold", "x")):
        GateTask.of("x")
    with refused(
        KindError.argument("error", "a share of wrong answers, strictly between 0 and 1, such as 0.02 for 2 %", 2)
    ):
        CountTask.of(whole(), 2)
    asked = (rs.Marginal(), "probs", None, 0, 1)
    with refused(KindError.auto_confidence_in_parts()):
        TriageTask.of("auto", None, *asked, labels="y", correct=None)
    with refused(KindError.method_twice("top", "margin")):
        TriageTask.of("top", "margin", *asked, labels="y", correct=None)
    with refused(RuleError.answers_twice()):
        TriageTask.of(None, None, *asked, labels="y", correct="right")
    with refused(RuleError.no_answers()):
        TriageTask.of(None, None, *asked, labels=None, correct=None)
    with refused(KindError.argument("absent", "None if correct says which answers are right", "none")):
        TriageTask.of(None, None, *asked, labels=None, correct="right", absent="none")


def table(done):
    """The columns of decisions, without the packages for frames of other libraries."""
    columns = {"accepted": done.accepted, "label": done.labels}
    return pd.DataFrame(columns if done.confidence is not None else columns | {"p_value": done.p_values})


class TestFiles:
    @staticmethod
    def written(folder, frame=FRAME, sizes=SIZES, kind=".parquet"):
        folder.mkdir(exist_ok=True)
        for number, part in enumerate(parts(frame, sizes)):
            path = folder / f"part-{number:03d}{kind}"
            if kind == ".parquet":
                part.to_parquet(path, index=False)
            elif kind == ".csv":
                part.to_csv(path, index=False)
            else:
                path.write_text("".join(json.dumps(row) + "\n" for row in part.to_dict("records")))
        return folder

    @staticmethod
    def arrays(folder, values, sizes=SIZES):
        folder.mkdir(exist_ok=True)
        for number, part in enumerate(parts(values, sizes)):
            np.save(folder / f"part-{number:03d}.npy", part)
        return folder

    @quiet
    @EVERYWHERE
    @WITH_IDS
    def test_the_same_bytes(self, tmp_path, condition, ids):
        rng = np.random.default_rng(len(repr(condition)))
        site, case = "site" if condition.needs_groups else None, None if ids is None else "case"
        asked = {"group": site, "identity": case, "workers": 1}
        folder = self.written(tmp_path / "rows", sizes=cuts(rng, 6))
        others = [name for name in ("site", "case", "right", "sure") if name not in (site, case)]
        for confidence in ("top", rs.Entropy(), rs.TieBreak(rs.Rank())):
            expected = whole(condition, confidence=confidence, ids=ids)
            more = {"label": "answer", "drop": others, "confidence": confidence, "condition": condition}
            triage = shards.triage(folder, **more, **asked)
            assert triage == expected
        triage = whole(condition)
        for error in (ERROR, 0.05):
            done = pd.concat([table(one) for one in shards.accept(triage, folder, error, **asked)])
            same(done, triage.accept(PROBS, error, ids=ids, **known(condition)))
        gate = triage.threshold(0.2, 0.5)
        done = pd.concat([table(one) for one in shards.decide(gate, folder, **asked)])
        same(done, gate.decide(PROBS, **known(condition)))

    @pytest.mark.parametrize("kind", [".parquet", ".csv", ".jsonl"])
    def test_correct_and_confidences_in_columns(self, tmp_path, kind):
        sizes = (100, 0, 140) if kind != ".jsonl" else (100, 140)
        folder = self.written(tmp_path / "rows", FRAME[[*NAMES, "right"]], sizes, kind)
        expected = rs.triage(PROBS, correct=RIGHT, classes=NAMES)
        assert shards.triage(folder, correct="right", workers=1) == expected
        folder = self.written(tmp_path / "numbers", FRAME[NAMES].assign(right=RIGHT.astype(int)), sizes, kind)
        assert shards.triage(folder, correct="right", workers=1) == expected
        folder = self.written(tmp_path / "sure", FRAME[["sure", "right"]], sizes, kind)
        expected = rs.triage(SURE, RIGHT)
        assert shards.triage(folder, label="right", workers=1) == expected
        assert shards.triage(folder, correct="right", workers=1) == expected
        done = list(shards.accept(expected, folder, ERROR, drop=["right"], workers=1))
        wanted = expected.accept(SURE, ERROR)
        assert np.concatenate([one.accepted for one in done]).tolist() == wanted.accepted.tolist()
        assert 0 < wanted.n_accepted < N

    def test_arrays_of_confidences(self, tmp_path):
        sure, right = self.arrays(tmp_path / "sure", SURE), self.arrays(tmp_path / "right", RIGHT)
        assert shards.triage(sure, right, workers=1) == rs.triage(SURE, RIGHT)

    def test_processes_change_nothing(self, tmp_path):
        scores, labels = self.arrays(tmp_path / "scores", PROBS), self.arrays(tmp_path / "labels", LABELS)
        triage = shards.triage(scores, labels, within=2, workers=2)
        assert triage == rs.triage(PROBS, LABELS, within=2)
        done = list(shards.accept(triage, scores, ERROR, workers=2))
        assert [len(one) for one in done] == list(SIZES)
        wanted = triage.accept(PROBS, ERROR)
        assert np.concatenate([one.accepted for one in done]).tolist() == wanted.accepted.tolist()
        rule = rs.calibrate(PROBS, LABELS)
        review = rs.PredictionSets.concat([one.review(rule, 0.1) for one in done])
        assert review == wanted.review(rule, 0.1)

    def test_an_error_names_its_file_and_row(self, tmp_path):
        bad = PROBS.copy()
        bad[113, 2] = np.nan
        scores, labels = self.arrays(tmp_path / "scores", bad), self.arrays(tmp_path / "labels", LABELS)
        there = {"file": str(scores / "part-004.npy")}
        triage = rs.triage(PROBS, LABELS)
        for workers in (1, 2):
            with refused(InputError.missing("probs", 2, 2), **there):
                shards.triage(scores, labels, workers=workers)
        with refused(InputError.missing("probs", 2, 2), **there):
            shards.accept(triage, scores, ERROR, workers=1)
        with refused(InputError.missing("probs", 2, 2), **there):
            list(shards.decide(triage.threshold(0.2, 0.5), scores, workers=1))

    def test_mistakes(self, tmp_path):
        folder = self.written(tmp_path / "rows", FRAME[[*NAMES, "answer", "right"]])
        with refused(RuleError.no_answers()):
            shards.triage(folder)
        with refused(RuleError.answers_twice()):
            shards.triage(folder, label="answer", correct="right")
        with refused(KindError.auto_confidence_in_parts()):
            shards.triage(folder, label="answer", confidence="auto")
        with refused(RuleError, what="correct", expected="be True or False for every row"):
            shards.triage(folder, correct="answer", drop=["right"], workers=1)
        with refused(InputError.no_rows()):
            shards.triage(self.written(tmp_path / "none", sizes=(0,)), label="answer", drop=["site", "case", "right"])
        with refused(FileError.missing(str(tmp_path / "nowhere"))):
            shards.accept(whole(), tmp_path / "nowhere", ERROR)

    def test_absent_labels(self, tmp_path):
        gone = np.arange(N) % 10 == 0
        labels = [rs.ABSENT if row else label for row, label in zip(gone, WORDS, strict=True)]
        frame = FRAME[NAMES].assign(answer=np.where(gone, "none", WORDS))
        found = shards.triage(self.written(tmp_path, frame), label="answer", absent="none", workers=1)
        assert found == rs.triage(PROBS, labels, classes=NAMES)


class TestDask:
    @pytest.fixture(scope="class")
    def engine(self):
        pytest.importorskip("dask.dataframe")
        return pytest.importorskip("rankset.engines.dask")

    @pytest.fixture
    def sync(self, engine):
        import dask

        with dask.config.set(scheduler="sync"):
            yield

    @staticmethod
    def array(values, sizes=SIZES):
        import dask
        import dask.array as da

        blocks = [
            da.from_delayed(dask.delayed(part, pure=False), np.shape(part), part.dtype) for part in parts(values, sizes)
        ]
        return da.concatenate(blocks)

    @staticmethod
    def frame(frame=FRAME, sizes=SIZES):
        import dask
        import dask.dataframe as dd

        pieces = [dask.delayed(part, pure=False) for part in parts(frame, sizes)]
        return dd.from_delayed(pieces, meta=frame.iloc[:0], verify_meta=False)

    @quiet
    @EVERYWHERE
    @WITH_IDS
    def test_arrays(self, engine, sync, condition, ids):
        rng = np.random.default_rng(len(repr(condition)))
        asked = {"ids": ids, **known(condition)}
        for sizes in (SIZES, (0, 0, N, 0), (1,) * N, cuts(rng, 9), cuts(rng, 30)):
            expected = rs.triage(PROBS, LABELS, condition=condition, **asked)
            assert engine.triage(self.array(PROBS, sizes), LABELS, condition=condition, **asked) == expected
            found = engine.accept(expected, self.array(PROBS, sizes), ERROR, **asked)
            assert found.dtype == np.bool_
            assert (found.compute() == expected.accept(PROBS, ERROR, **asked).accepted).all()
            gate = expected.threshold(0.2, 0.5)
            accepted = engine.decide(gate, self.array(PROBS, sizes), **asked).compute()
            assert (accepted == gate.accepts(PROBS, **known(condition))).all()

    @quiet
    @EVERYWHERE
    @WITH_IDS
    def test_frames_on_a_cluster(self, engine, client, condition, ids):
        asked = {"columns": NAMES, "groups": "site" if condition.needs_groups else None}
        asked |= {} if ids is None else {"ids": "case"}
        score = rs.TieBreak(rs.Rank())
        expected = whole(condition, confidence=score, ids=ids)
        assert engine.triage(self.frame(), "answer", confidence=score, condition=condition, **asked) == expected
        triage = whole(condition)
        found = engine.accept(triage, self.frame(), ERROR, keep=["answer"], **asked)
        assert list(found.columns) == ["answer", "accepted", "label", "p_value"]
        done = found.compute()
        same(done, triage.accept(PROBS, ERROR, ids=ids, **known(condition)))
        assert done.index.tolist() == FRAME.index.tolist()
        assert done["answer"].tolist() == WORDS.tolist()
        assert found.dtypes.to_dict() == done.dtypes.to_dict()
        gate = triage.threshold(0.2, 0.5)
        found = engine.decide(gate, self.frame(), **asked)
        assert list(found.columns) == ["accepted", "label"]
        same(found.compute(), gate.decide(PROBS, **known(condition)))

    def test_correct_within_and_confidences(self, engine, sync):
        expected = rs.triage(PROBS, correct=RIGHT)
        for right in (RIGHT, self.array(RIGHT), RIGHT.tolist(), RIGHT.astype(int)):
            assert engine.triage(self.array(PROBS), correct=right) == expected
        numbered = pd.DataFrame(PROBS).assign(right=RIGHT)
        assert engine.triage(self.frame(numbered), correct="right") == expected
        named = rs.triage(PROBS, correct=RIGHT, classes=NAMES)
        assert engine.triage(self.frame(), correct="right", columns=NAMES) == named
        assert engine.triage(self.array(PROBS), LABELS, within=2) == rs.triage(PROBS, LABELS, within=2)
        sure = rs.triage(SURE, RIGHT)
        assert engine.triage(self.array(SURE), RIGHT) == sure
        assert engine.triage(self.frame(), "right", columns="sure") == sure
        assert engine.triage(self.frame(), correct="right", columns=["sure"]) == sure
        wanted = sure.accept(SURE, ERROR)
        assert (engine.accept(sure, self.array(SURE), ERROR).compute() == wanted.accepted).all()
        few = self.frame(FRAME[["sure", "case"]])
        assert engine.accept(sure, few, ERROR, keep="case").compute()["accepted"].tolist() == wanted.accepted.tolist()
        done = engine.accept(sure, self.frame(), ERROR, columns="sure")
        assert list(done.columns) == ["accepted", "p_value"]
        assert done.compute()["accepted"].tolist() == wanted.accepted.tolist()

    def test_lists_binary_and_logits(self, engine, sync):
        lists = pd.array(PROBS.tolist(), dtype=pd.ArrowDtype(pa.list_(pa.float64())))
        frame = self.frame(pd.DataFrame({"probs": lists, "y": LABELS}))
        triage = engine.triage(frame, "y", confidence="margin")
        assert triage == rs.triage(PROBS, LABELS, confidence="margin")
        same(engine.accept(triage, frame[["probs"]], ERROR).compute(), triage.accept(PROBS, ERROR))
        asked = {"kind": "binary", "classes": [False, True]}
        binary = engine.triage(self.array(PROBS[:, 1]), LABELS == 1, **asked)
        assert binary == rs.triage(PROBS[:, 1], LABELS == 1, **asked)
        columns = self.frame(pd.DataFrame({"joy": PROBS[:, 1], "y": LABELS == 1}))
        assert engine.triage(columns, "y", **asked) == binary
        wanted = binary.accept(PROBS[:, 1], 0.1).accepted
        done = engine.accept(binary, columns[["joy"]], 0.1).compute()
        assert done["accepted"].tolist() == wanted.tolist()
        assert (engine.accept(binary, self.array(PROBS[:, 1]), 0.1).compute() == wanted).all()
        logits = np.log(PROBS + 1e-9)
        triage = engine.triage(self.array(logits), LABELS, kind="logits", score=rs.Margin())
        assert triage == rs.triage(logits, LABELS, kind="logits", score=rs.Margin())

    @quiet
    def test_no_rows(self, engine, sync):
        triage = whole()
        assert engine.accept(triage, self.array(PROBS[:0], (0, 0)), ERROR).compute().shape == (0,)
        assert len(engine.accept(triage, self.frame(FRAME[:0], (0,)), ERROR, columns=NAMES).compute()) == 0
        with refused(InputError.no_rows()):
            engine.triage(self.array(PROBS[:0], (0,)), LABELS[:0])

    def test_errors_by_name_and_groups_that_are_new(self, engine, sync):
        by_group, by_label = whole(rs.PerGroup()), whole(rs.PerLabel())
        errors = {"north": 0.05, "south": 0.1, "east": 0.15}
        wanted = by_group.accept(PROBS, errors, groups=SITES)
        assert (engine.accept(by_group, self.array(PROBS), errors, groups=SITES).compute() == wanted.accepted).all()
        errors = dict(zip(NAMES, (0.05, 0.1, 0.15, 0.05, 0.1, 0.15), strict=True))
        wanted = by_label.accept(PROBS, errors)
        assert (engine.accept(by_label, self.array(PROBS), errors).compute() == wanted.accepted).all()
        new = np.where(np.arange(N) % 7, SITES, "moon")
        with pytest.warns(rs.RanksetWarning, match="no calibration rows for group 'moon'. These rows are not") as said:
            found = engine.accept(by_group, self.array(PROBS), ERROR, groups=new).compute()
        assert len(said) == 1
        with pytest.warns(rs.RanksetWarning):
            assert (found == by_group.accept(PROBS, ERROR, groups=new).accepted).all()
        assert not found[new == "moon"].any()

    def test_an_error_names_its_partition(self, engine, client):
        bad = PROBS.copy()
        bad[173, 2] = np.nan
        sizes, triage = (10,) * 24, rs.triage(PROBS, LABELS)
        there = {"part": "partition 17"}
        with refused(InputError.missing("probs", 3, 2), **there):
            engine.triage(self.array(bad, sizes), LABELS)
        with refused(InputError.missing("probs", 3, 2), **there):
            engine.accept(triage, self.array(bad, sizes), ERROR)
        with refused(InputError.missing("probs", 3, 2), **there):
            engine.decide(triage.threshold(0.2, 0.5), self.array(bad, sizes)).compute()
        frame = self.frame(pd.DataFrame(bad, columns=NAMES).assign(answer=WORDS), sizes)
        with refused(rs.RanksetError, row=3, **there):
            engine.triage(frame, "answer")
        with refused(rs.RanksetError, row=3, **there):
            engine.accept(whole(), frame, ERROR)
        with refused(RuleError, what="correct") as wrong:
            engine.triage(frame, correct="answer")
        assert wrong.value.where.part.startswith("partition ")

    def test_mistakes_are_told_before_any_work(self, engine, sync):
        triage, probs = whole(), self.array(PROBS)
        with refused(KindError.auto_confidence_in_parts()):
            engine.triage(probs, LABELS, confidence="auto")
        with refused(InputError.length("correct", N, N - 1)):
            engine.triage(probs, correct=RIGHT[:-1])
        with refused(KindError.argument("probs", "a dask array or a dask data frame", "ndarray")):
            engine.accept(triage, PROBS, ERROR)
        with refused(KindError.argument("columns", "None if probs is an array", "a")):
            engine.triage(probs, LABELS, columns="a")
        bad = self.frame(FRAME.assign(label=1, love=np.nan))
        with refused(FileError.taken("label")):
            engine.accept(triage, bad, ERROR, columns=NAMES, keep=["label"])
        with refused(KindError.argument("columns and keep", "None if probs is an array", ("label",))):
            engine.accept(triage, self.array(np.full_like(PROBS, np.nan)), ERROR, keep="label")
        with refused(FileError.no_column("", "nope", list(FRAME.columns))):
            engine.triage(self.frame(), correct="nope")
        with refused(KindError.argument("correct", "the name of a column of the data frame", "ndarray")):
            engine.triage(self.frame(), correct=RIGHT)


class TestSpark:
    @pytest.fixture(scope="class")
    def engine(self):
        pytest.importorskip("pyspark")
        return pytest.importorskip("rankset.engines.spark")

    @staticmethod
    def frame(spark, frame=FRAME, sizes=SIZES):
        kinds = {"f": "double", "i": "long", "b": "boolean"}
        schema = ", ".join(f"`{name}` {kinds.get(frame[name].dtype.kind, 'string')}" for name in frame)
        records = list(zip(*(frame[name].tolist() for name in frame), strict=True))
        pieces = parts(records, sizes)
        return spark.createDataFrame(spark.sparkContext.parallelize(pieces, len(pieces)).flatMap(list), schema)

    @quiet
    @EVERYWHERE
    @WITH_IDS
    def test_the_same_bytes(self, engine, spark, condition, ids):
        rng = np.random.default_rng(len(repr(condition)))
        asked = {"columns": NAMES, "groups": "site" if condition.needs_groups else None}
        asked |= {} if ids is None else {"ids": "case"}
        score = rs.TieBreak(rs.Rank())
        expected = whole(condition, confidence=score, ids=ids)
        frame = self.frame(spark, sizes=cuts(rng, 5))
        assert engine.triage(frame, "answer", confidence=score, condition=condition, **asked) == expected
        triage, gate = whole(condition), whole(condition).threshold(0.2, 0.5)
        order = pd.Series(range(N), index=IDS)
        wanted = [
            (engine.accept(triage, frame, ERROR, keep="case", **asked), {"ids": ids}, triage.accept, [ERROR]),
            (engine.decide(gate, frame, keep=["case"], **asked), {}, gate.decide, []),
        ]
        for found, named, call, error in wanted:
            done = pd.DataFrame([row.asDict() for row in found.collect()])
            done = done.iloc[np.argsort(order[done["case"]].to_numpy())]
            same(done, call(PROBS, *error, **named, **known(condition)))

    @pytest.mark.parametrize("sizes", [(0, 0, N, 0), (1,) * 20 + (N - 20,)])
    def test_partitions_of_any_size(self, engine, spark, sizes):
        frame = self.frame(spark, FRAME[[*NAMES, "answer"]], sizes)
        triage = engine.triage(frame, "answer")
        assert triage == whole()
        done = engine.accept(triage, frame, ERROR)
        assert done.columns == ["answer", "accepted", "label", "p_value"]
        assert done.filter("accepted").count() == triage.accept(PROBS, ERROR).n_accepted

    def test_correct_and_confidences(self, engine, spark):
        frame = self.frame(spark)
        assert engine.triage(frame, correct="right", columns=NAMES) == rs.triage(PROBS, correct=RIGHT, classes=NAMES)
        sure = rs.triage(SURE, RIGHT)
        assert engine.triage(frame, "right", columns="sure") == sure
        done = engine.accept(sure, frame, ERROR, columns="sure", keep=["case"])
        assert done.columns == ["case", "accepted", "p_value"]
        assert done.filter("accepted").count() == sure.accept(SURE, ERROR).n_accepted

    @quiet
    def test_mistakes_and_no_rows(self, engine, spark):
        frame, bad = self.frame(spark), FRAME.copy()
        bad.loc[123, "love"] = np.nan
        broken = self.frame(spark, bad, (20, N - 20))
        with refused(rs.RanksetError, part="partition 1", row=103):
            engine.triage(broken, "answer", columns=NAMES)
        with refused(rs.RanksetError, part="partition 1", row=103):
            engine.accept(whole(), broken, ERROR, columns=NAMES)
        with pytest.raises(Exception, match=r"partition 1: .*row 103"):
            engine.decide(whole().threshold(0.2, 0.5), broken, columns=NAMES).collect()
        with refused(KindError.auto_confidence_in_parts()):
            engine.triage(frame, "answer", confidence="auto")
        with refused(KindError.argument("frame", "a Spark data frame", "ndarray")):
            engine.accept(whole(), PROBS, ERROR)
        with refused(FileError.taken("accepted")):
            engine.accept(whole(), frame.withColumnRenamed("case", "accepted"), ERROR, columns=NAMES)
        with refused(InputError.no_rows()):
            engine.triage(frame.limit(0), "answer", columns=NAMES)
        assert engine.accept(whole(), frame.limit(0), ERROR, columns=NAMES).count() == 0


def test_units_of_parts_without_rows_are_those_of_the_batch():
    """The first part has no rows and says nothing about ids."""
    triage = whole()
    task = CountTask.of(triage, ERROR)
    counts = task.merge([task.nothing(), task.run(Partition(PROBS, ids=IDS))])
    accepting = task.accepting(counts, with_ids=True)
    wanted = triage.accept(PROBS, ERROR, ids=IDS)
    assert accepting.run(Partition(PROBS, ids=IDS)).accepted.tolist() == wanted.accepted.tolist()
    assert accepting.cuts[0][0] > selection.UNITS
