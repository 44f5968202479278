"""Spark gives what NumPy gives, byte for byte, whatever the partitions."""

from itertools import pairwise

import numpy as np
import pytest

import partitions
import rankset as rs
from partitions import IDS, LABELS, NAMES, PROBS, QUESTIONS, SITES, WORDS, N, cuts, known
from rankset.errors import FileError, InputError, KindError, LevelError
from refusals import refused

pytest.importorskip("pyspark")
engine = pytest.importorskip("rankset.engines.spark")

SCHEMA = ", ".join([*(f"{name} double" for name in NAMES), "answer string", "site string", "case string", "y long"])
RECORDS = [
    (*probs, str(word), str(site), str(case), int(label))
    for probs, word, site, case, label in zip(PROBS.tolist(), WORDS, SITES, IDS, LABELS, strict=True)
]


def framed(spark, sizes, records=RECORDS, schema=SCHEMA):
    """A frame of partitions of these sizes."""
    ends = np.cumsum([0, *sizes])
    parts = [records[a:b] for a, b in pairwise(ends)]
    return spark.createDataFrame(spark.sparkContext.parallelize(parts, len(parts)).flatMap(list), schema)


@pytest.mark.parametrize(("score", "condition"), QUESTIONS, ids=partitions.names)
def test_the_same_bytes(spark, score, condition):
    rng = np.random.default_rng(len(repr((score, condition))))
    asked = {"score": score, "condition": condition}
    expected = rs.calibrate(PROBS, WORDS, classes=NAMES, **asked, **known(condition))
    told = {"groups": "site"} if condition.needs_groups else {}
    frame = framed(spark, cuts(rng, 5))
    assert engine.calibrate(frame, "answer", columns=NAMES, **asked, **told) == expected
    answer = engine.predict(expected, framed(spark, cuts(rng, 4)), 0.1, keep=["case"], **told).collect()
    found = {row.case: row for row in answer}
    wanted = expected.predict(PROBS, 0.1, **known(condition))
    assert [found[case].labels for case in IDS] == wanted.to_lists()
    assert [found[case].size for case in IDS] == wanted.sizes.tolist()
    assert [found[case].top for case in IDS] == [row[0] if row else None for row in wanted.to_lists()]


def test_arrays_vectors_ids_and_sql(spark):
    from pyspark.ml.linalg import Vectors

    expected = rs.calibrate(PROBS, LABELS, score=rs.TieBreak(rs.Rank()), ids=IDS)
    asked = {"score": rs.TieBreak(rs.Rank()), "ids": "case"}
    arrays = [(probs, str(case), int(y)) for probs, case, y in zip(PROBS.tolist(), IDS, LABELS, strict=True)]
    frame = framed(spark, (100, 40, N - 140), arrays, "probs array<double>, case string, y long")
    assert engine.calibrate(frame, "y", **asked) == expected
    vectors = spark.createDataFrame(
        [(Vectors.dense(row), case, y) for row, case, y in arrays], ["probability", "case", "y"]
    )
    assert engine.calibrate(vectors, "y", **asked) == expected
    sets = engine.predict(expected, vectors, 0.1, ids="case", columns="probability")
    assert sets.columns == ["case", "y", "labels", "size", "top"]
    sets.createOrReplaceTempView("sets")
    (row,) = spark.sql("select avg(cast(array_contains(labels, y) as int)) c, avg(size) s from sets").collect()
    wanted = expected.predict(PROBS, 0.1, ids=IDS)
    assert row.c == pytest.approx(wanted.covers(LABELS).mean())
    assert row.s == pytest.approx(wanted.sizes.mean())


@pytest.mark.parametrize("sizes", [(0, 0, N, 0), (1,) * 20 + (N - 20,)])
def test_partitions_of_any_size(spark, sizes):
    expected = rs.calibrate(PROBS, WORDS, classes=NAMES)
    frame = framed(spark, sizes).drop("site", "case", "y")
    assert engine.calibrate(frame, "answer") == expected
    assert engine.predict(expected, frame, 0.1).count() == N


def test_batches_of_a_partition_are_counted_on(spark):
    bad = [list(record) for record in RECORDS]
    bad[123][2] = float("nan")
    frame = framed(spark, (20, N - 20), [tuple(record) for record in bad])
    with refused(rs.RanksetError, row=103) as alone:
        rs.calibrate(np.array([record[:6] for record in bad[20:]]), WORDS[20:], classes=NAMES)
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "7")
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("rankset.engines.spark_workers.CHUNK_BYTES", 1)
            with refused(alone.value, part="partition 1") as there:
                engine.calibrate(frame, "answer", columns=NAMES)
        assert str(there.value) == f"partition 1: {alone.value}"
        rule = rs.calibrate(PROBS, WORDS, classes=NAMES)
        with pytest.raises(Exception, match=r"partition 1: .*row 103"):
            engine.predict(rule, frame, 0.1).collect()
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")


def test_mistakes_are_told_before_any_work(spark):
    rule, frame = rs.calibrate(PROBS, WORDS, classes=NAMES), framed(spark, (N,))
    with refused(LevelError.out_of_range(10, "Did you mean 0.1?")):
        engine.predict(rule, frame, 10)
    with refused(KindError.alpha_missing_beside("predict", 0.95, 0.05)):
        engine.predict(rule, frame, confidence=0.95)
    with pytest.warns(rs.RanksetWarning, match=r"Did you mean alpha=0\.05\?"):
        engine.predict(rule, frame, 0.95)
    with refused(FileError, what="the columns", expected="include 'nope'"):
        engine.calibrate(frame, "nope")
    with refused(KindError.argument("frame", "a Spark data frame", "ndarray")):
        engine.calibrate(PROBS, "y")
    with refused(FileError.taken("size")):
        engine.predict(rule, frame.withColumnRenamed("site", "size"), 0.1)
    with refused(InputError.no_rows()):
        engine.calibrate(frame.limit(0), "answer", columns=NAMES)


def test_absent_labels(spark):
    gone = np.arange(N) % 10 == 0
    labels = [rs.ABSENT if row else label for row, label in zip(gone, WORDS, strict=True)]
    records = [
        (*row, None if label is rs.ABSENT else str(label)) for row, label in zip(PROBS.tolist(), labels, strict=True)
    ]
    schema = ", ".join([*(f"{name} double" for name in NAMES), "answer string"])
    frame = framed(spark, (100, N - 100), records, schema)
    assert engine.calibrate(frame, "answer", absent="") == rs.calibrate(PROBS, labels, classes=NAMES)


def test_names_that_need_quotes_and_vectors_that_are_kept(spark):
    from pyspark.ml.linalg import Vectors

    odd = ["a.b", "c`d", "e f", "g;h", "i'j", "k-l"]
    records = [(*row, odd[label], Vectors.dense([1.0, 2.0])) for row, label in zip(PROBS.tolist(), LABELS, strict=True)]
    frame = spark.createDataFrame(records, [*odd, "answer", "features"])
    expected = rs.calibrate(PROBS, np.array(odd)[LABELS], classes=odd)
    assert engine.calibrate(frame.drop("features"), "answer", columns=odd) == expected
    sets = engine.predict(expected, frame, 0.1, columns=odd)
    assert sets.columns == ["answer", "features", "labels", "size", "top"]
    first = sets.first()
    assert list(first.features) == [1.0, 2.0]
    assert engine.predict(expected, frame, 0.1, columns=odd, keep="answer").columns[0] == "answer"


def test_methods_have_names_and_auto_is_refused(spark):
    frame = framed(spark, [N])
    told = {"columns": NAMES}
    expected = rs.calibrate(PROBS, WORDS, method="raps", classes=NAMES)
    assert engine.calibrate(frame, "answer", method="raps", **told) == expected
    assert engine.calibrate(frame, "answer", score="raps", **told) == expected
    with refused(KindError.auto_in_parts()):
        engine.calibrate(frame, "answer", method="auto", **told)
