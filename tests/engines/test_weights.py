"""Weights of rows: folders of files, Dask and Spark give what one matrix gives, byte for byte."""

import numpy as np
import pandas as pd
import pytest

import rankset as rs
from partitions import NAMES, PROBS, SITES, WORDS, N, cuts, known
from rankset.engines import shards
from rankset.errors import RuleError
from refusals import like, refused

WEIGHTS = np.random.default_rng(1).uniform(0.5, 1.5, N) ** 2
FRAME = pd.DataFrame(PROBS, columns=NAMES).assign(answer=WORDS, site=SITES, weight=WEIGHTS)
ASKED = [
    (rs.Rank(), rs.Marginal()),
    (rs.Aps(), rs.PerGroup()),
    (rs.Thr(), rs.PerLabel()),
    (rs.Thr(), rs.Pooled(rs.LabelShift([1, 2, 3, 1, 0.5, 1]))),
    (rs.TieBreak(rs.TopK()), rs.Pooled(rs.PerGroup())),
]
pytestmark = [
    pytest.mark.filterwarnings("ignore::rankset.RanksetWarning"),
    pytest.mark.parametrize(("score", "condition"), ASKED, ids=lambda one: repr(one)[:20]),
]


def expected(score, condition):
    options = {"score": score, "condition": condition, "classes": NAMES, "weights": WEIGHTS}
    return rs.calibrate(PROBS, WORDS, **options, **known(condition))


def saved(rule, folder):
    rule.save(folder / "rule.rankset")
    return (folder / "rule.rankset").read_bytes()


def test_shards(tmp_path, score, condition):
    sizes = cuts(np.random.default_rng(3), 4)
    ends = np.cumsum([0, *sizes])
    for number in range(len(sizes)):
        FRAME.iloc[ends[number] : ends[number + 1]].to_parquet(tmp_path / f"{number}.parquet", index=False)
    group = "site" if condition.needs_groups else None
    drop, rule = () if group else ("site",), expected(score, condition)
    told = {"group": group, "drop": drop, "weights": "weight", "workers": 1}
    found = shards.calibrate(f"{tmp_path}/*.parquet", label="answer", score=score, condition=condition, **told)
    assert found == rule
    assert saved(found, tmp_path) == saved(rule, tmp_path)
    sets = list(shards.predict(rule, f"{tmp_path}/*.parquet", 0.1, **told))
    assert rs.PredictionSets.concat(sets) == rule.predict(PROBS, 0.1, weights=WEIGHTS, **known(condition))
    even = shards.predict(rule, f"{tmp_path}/*.parquet", 0.1, **{**told, "weights": 1})
    assert rs.PredictionSets.concat(list(even)) == rule.predict(PROBS, 0.1, weights=1, **known(condition))
    written = shards.write(rule, f"{tmp_path}/*.parquet", tmp_path / "out", 0.1, **told)
    assert sum(len(pd.read_parquet(path)) for path in written) == N
    with refused(RuleError.weights_missing(), file=f"{tmp_path}/0.parquet"):
        list(shards.predict(rule, f"{tmp_path}/0.parquet", 0.1, group=group, workers=1))


def test_dask_arrays(tmp_path, score, condition):
    da = pytest.importorskip("dask.array")
    engine = pytest.importorskip("rankset.engines.dask")
    rows, rule = da.from_array(PROBS, chunks=((100, 60, 80), -1)), expected(score, condition)
    asked = {"score": score, "condition": condition, "classes": NAMES, **known(condition)}
    for weights in (WEIGHTS, da.from_array(WEIGHTS, chunks=50)):
        found = engine.calibrate(rows, WORDS, weights=weights, **asked)
        assert saved(found, tmp_path) == saved(rule, tmp_path)
        mask = engine.predict(rule, rows, 0.1, weights=weights, **known(condition)).compute()
        assert (mask == rule.predict(PROBS, 0.1, weights=WEIGHTS, **known(condition)).mask).all()
    mask = engine.predict(rule, rows, 0.1, weights=2, **known(condition)).compute()
    assert (mask == rule.predict(PROBS, 0.1, weights=2, **known(condition)).mask).all()
    with pytest.raises(rs.RanksetError):
        engine.predict(rule, rows, 0.1, weights=WEIGHTS[:-1], **known(condition))
    with refused(like(RuleError, what="new rows")):
        engine.predict(rule, rows, 0.1, **known(condition)).compute(scheduler="sync")


def test_dask_frames(tmp_path, score, condition):
    dd = pytest.importorskip("dask.dataframe")
    engine = pytest.importorskip("rankset.engines.dask")
    frame, rule = dd.from_pandas(FRAME, npartitions=3), expected(score, condition)
    groups = "site" if condition.needs_groups else None
    told = {"groups": groups, "columns": NAMES, "weights": "weight"}
    found = engine.calibrate(frame, "answer", score=score, condition=condition, **told)
    assert saved(found, tmp_path) == saved(rule, tmp_path)
    sets = engine.predict(rule, frame, 0.1, **told).compute()
    wanted = rule.predict(PROBS, 0.1, weights=WEIGHTS, **known(condition))
    assert [list(one) for one in sets["labels"]] == [one.tolist() for one in wanted]


def test_spark(tmp_path, score, condition):
    sql = pytest.importorskip("pyspark.sql")
    engine = pytest.importorskip("rankset.engines.spark")
    session = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    frame, rule = session.createDataFrame(FRAME.assign(row=range(N))).repartition(3), expected(score, condition)
    groups = "site" if condition.needs_groups else None
    told = {"groups": groups, "columns": NAMES, "weights": "weight"}
    found = engine.calibrate(frame, "answer", score=score, condition=condition, **told)
    assert saved(found, tmp_path) == saved(rule, tmp_path)
    sets = engine.predict(rule, frame, 0.1, keep=["row"], **told).toPandas().sort_values("row")
    wanted = rule.predict(PROBS, 0.1, weights=WEIGHTS, **known(condition))
    assert [list(one) for one in sets["labels"]] == [one.tolist() for one in wanted]
