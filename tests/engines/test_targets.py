"""Several labels per row on files, Dask and Spark: the rules and sets of one process, byte for byte."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import rankset as rs
from partitions import IDS, NAMES, SITES, N, cuts
from rankset.engines import shards
from rankset.errors import FileError, KindError, LabelError
from refusals import refused

RNG = np.random.default_rng(3)
PROBS = RNG.random((N, 6)).round(3)  # some ties
MARKS = RNG.random((N, 6)) < PROBS / 2  # some rows have no label
MARKS[:12] = False
NUMBERS = [np.flatnonzero(row).tolist() for row in MARKS]
LISTS = [[NAMES[k] for k in row] for row in NUMBERS]
CELLS = [";".join(row) for row in LISTS]
TARGETS = ["recall", "all", rs.AnyLabel(), "missed:1"]
SIZES = (12, 100, 0, 1, N - 113)
"""No row of the first part has a label."""
TRUE = [f"{name} is true" for name in NAMES]
"""Names of columns of 0 and 1 beside those of the scores."""
NAMED = pd.DataFrame({"probs": [], **{name: [] for name in [*NAMES, *TRUE]}})
EITHER = "the name of a column, or a list of the names of columns of 0 and 1"
SURE = {"alpha": 0.2, "confidence": 0.9}
KIND = {"kind": "marginals"}


def expected(target, classes=NAMES, **more):
    return rs.calibrate(PROBS, MARKS, target=target, **KIND, classes=classes, **more)


def parts(values, sizes=SIZES):
    ends = np.cumsum([0, *sizes])
    return [values[a:b] for a, b in pairwise(ends)]


@pytest.mark.parametrize("target", TARGETS, ids=str)
@pytest.mark.parametrize("form", ["lists", "cells", "matrices"])
def test_files(tmp_path, monkeypatch, target, form):
    monkeypatch.chdir(tmp_path)
    labels = None if form != "matrices" else "labels"
    for folder in ("scores", "labels"):
        Path(folder).mkdir()
    for number, rows in enumerate(parts(range(N))):
        frame = pd.DataFrame(PROBS[list(rows)], columns=NAMES)
        if form == "matrices":
            np.save(f"labels/{number}.npy", MARKS[list(rows)])
        else:
            frame["tags"] = [(LISTS if form == "lists" else CELLS)[row] for row in rows]
        table = pa.Table.from_pandas(frame, preserve_index=False)
        if form == "lists":  # else the type of an empty column is unknown
            place = table.column_names.index("tags")
            table = table.set_column(place, "tags", pa.array(frame["tags"].tolist(), pa.list_(pa.string())))
        parquet.write_table(table, f"scores/{number}.parquet")
    asked = {"target": target, **KIND, "label": None if labels else "tags", "classes": NAMES}
    rule = shards.calibrate("scores", labels, workers=2, **asked)
    assert rule == expected(target)
    assert rule.set_aside == int((~MARKS.any(axis=1)).sum()) > 12
    sure = {"confidence": 0.9, "workers": 2}
    sets = rs.PredictionSets.concat(list(shards.predict(rule, "scores", 0.2, drop=[] if labels else ["tags"], **sure)))
    assert sets == rule.predict(PROBS, **SURE)


def test_files_without_given_classes(tmp_path):
    for number, (probs, marks) in enumerate(zip(parts(PROBS), parts(MARKS), strict=True)):
        np.savez(tmp_path / f"{number}.npz", probs=probs, y=marks)
    rule = shards.calibrate(tmp_path, label="y", target="all", **KIND, workers=1)
    assert rule == expected("all", classes=None)


class TestDask:
    @pytest.fixture(scope="class")
    def engine(self):
        pytest.importorskip("dask.dataframe")
        return pytest.importorskip("rankset.engines.dask")

    @staticmethod
    def array(values, sizes=SIZES):
        import dask
        import dask.array as da

        blocks = [
            da.from_delayed(dask.delayed(part, pure=False), np.shape(part), part.dtype) for part in parts(values, sizes)
        ]
        return da.concatenate(blocks)

    @staticmethod
    def frame(frame, sizes=SIZES):
        import dask
        import dask.dataframe as dd

        pieces = [dask.delayed(part, pure=False) for part in parts(frame, sizes)]
        return dd.from_delayed(pieces, meta=frame.iloc[:0], verify_meta=False)

    @pytest.mark.parametrize("target", TARGETS, ids=str)
    def test_arrays(self, engine, client, target):
        probs = self.array(PROBS)
        for labels in (self.array(MARKS), MARKS, self.array(MARKS.astype(float)).rechunk((50, 2)), NUMBERS, LISTS):
            rule = engine.calibrate(probs, labels, target=target, classes=NAMES, **KIND)
            assert rule == expected(target)
        mask = engine.predict(rule, probs, **SURE).compute()
        assert (mask == rule.predict(PROBS, **SURE).mask).all()

    def test_groups_and_ids(self, engine, client):
        more = {"condition": rs.PerGroup(), "score": rs.TieBreak(rs.Thr())}
        wanted = expected("recall", groups=SITES, ids=IDS, **more)
        asked = {"groups": SITES, "ids": IDS, "classes": NAMES, "target": "recall", **KIND, **more}
        assert engine.calibrate(self.array(PROBS), MARKS, **asked) == wanted

    @pytest.mark.parametrize("target", TARGETS, ids=str)
    def test_frames(self, engine, client, target):
        rng = np.random.default_rng(len(str(target)))
        lists = pd.array(LISTS, dtype=pd.ArrowDtype(pa.list_(pa.string())))
        named = pd.DataFrame(PROBS, columns=NAMES)
        for labels in (lists, CELLS):
            frame = self.frame(named.assign(tags=labels), cuts(rng, 4))
            assert engine.calibrate(frame, "tags", target=target, **KIND) == expected(target)
        scores = pd.array(PROBS.tolist(), dtype=pd.ArrowDtype(pa.list_(pa.float64())))
        numbers = pd.array(NUMBERS, dtype=pd.ArrowDtype(pa.list_(pa.int64())))
        frame = self.frame(pd.DataFrame({"probs": scores, "tags": numbers}))
        rule = engine.calibrate(frame, "tags", target=target, **KIND)
        assert rule == expected(target, classes=None)
        sets = engine.predict(rule, frame, columns="probs", **SURE).compute()
        assert [list(row) for row in sets["labels"]] == rule.predict(PROBS, **SURE).to_lists()

    @pytest.mark.parametrize("target", TARGETS, ids=str)
    def test_columns_of_0_and_1(self, engine, client, target):
        rng = np.random.default_rng(len(str(target)))
        scores = pd.DataFrame(PROBS, columns=NAMES)
        for marks in (MARKS, MARKS.astype(int), MARKS.astype(np.float32)):
            frame = self.frame(scores.join(pd.DataFrame(marks, columns=TRUE)), cuts(rng, 4))
            assert engine.calibrate(frame, TRUE, target=target, **KIND) == expected(target)
        turned = frame[[*TRUE[::-1], *NAMES[::-1]]]  # order of the frame; those of the arguments count
        assert engine.calibrate(turned, TRUE, columns=NAMES, target=target, **KIND) == expected(target)

    @pytest.mark.parametrize("names", [NAMES, NAMES[::-1]], ids=["in order", "turned"])
    def test_columns_with_the_names_of_classes(self, engine, names):
        import dask

        scores = pd.array(PROBS.tolist(), dtype=pd.ArrowDtype(pa.list_(pa.float64())))
        frame = self.frame(pd.DataFrame(MARKS.astype(int), columns=NAMES).assign(probs=scores))
        with dask.config.set(scheduler="sync"):
            rule = engine.calibrate(frame, names, classes=NAMES, target="recall", **KIND)
            assert rule == expected("recall")
            kept = engine.predict(rule, frame, columns="probs", keep=NAMES, **SURE).compute()
        assert [list(row) for row in kept["labels"]] == rule.predict(PROBS, **SURE).to_lists()
        assert (kept[NAMES].to_numpy() == MARKS).all()

    def test_mistakes_in_columns_of_0_and_1(self, engine):
        import dask

        marks = MARKS.astype(float)
        marks[130, 2], marks[140, 3] = 7, np.nan
        frame = self.frame(pd.DataFrame(np.hstack((PROBS, marks)), columns=[*NAMES, *TRUE]))
        asked = {"target": "recall", **KIND}
        for labels, error in (
            (TRUE[:5], LabelError.mark_columns(6, 5)),
            ([*TRUE[:5], NAMES[0]], FileError.class_apart("", NAMES[0])),
            ([*TRUE[:5], TRUE[0]], FileError.one_column_twice(TRUE[0])),
            ([*TRUE[:5], "nothing"], FileError.no_column("", "nothing", [*NAMES, *TRUE])),
            ([], KindError.argument("labels", EITHER, "list")),
            (MARKS, KindError.argument("labels", EITHER, "ndarray")),
        ):
            with refused(error):
                engine.calibrate(frame, labels, columns=NAMES, **asked)
        with dask.config.set(scheduler="sync"):
            with refused(FileError.missing_cell("", TRUE[3], 27), part="partition 4"):
                engine.calibrate(frame, TRUE, **asked)
            with refused(LabelError.not_indicator("labels", 17, TRUE[2], 7.0), part="partition 4"):
                engine.calibrate(frame.assign(**{TRUE[3]: 0.0}), TRUE, **asked)
        with refused(LabelError.several("labels", "6 columns")):
            engine.calibrate(frame, TRUE, **KIND)
        with refused(FileError.label_columns("", NAMES[1:], TRUE[1:])):
            engine.calibrate(self.frame(NAMED), [NAMES[0], *TRUE[1:]], columns="probs", classes=NAMES, **asked)

    def test_mistakes_name_the_partition(self, engine):
        import dask

        wrong = MARKS.astype(int)
        wrong[130, 2] = 7
        error = LabelError.not_indicator("labels", 17, 2, 7)
        with dask.config.set(scheduler="sync"), refused(error, part="partition 3"):
            engine.calibrate(self.array(PROBS), wrong, target="recall", **KIND)
        with dask.config.set(scheduler="sync"), pytest.raises(LabelError, match=r"target=rankset\.Recall"):
            engine.calibrate(self.array(PROBS), self.array(MARKS), **KIND)


class TestSpark:
    @pytest.fixture(scope="class")
    def engine(self):
        pytest.importorskip("pyspark")
        return pytest.importorskip("rankset.engines.spark")

    @staticmethod
    def frame(spark, records, schema, sizes=SIZES):
        pieces = parts(records, sizes)
        return spark.createDataFrame(spark.sparkContext.parallelize(pieces, len(pieces)).flatMap(list), schema)

    @pytest.mark.parametrize("target", TARGETS, ids=str)
    def test_frames(self, engine, spark, target):
        columns = ", ".join(f"{name} double" for name in NAMES)
        for labels, kind in ((LISTS, "array<string>"), (CELLS, "string")):
            records = [(*probs, tags, str(case)) for probs, tags, case in zip(PROBS.tolist(), labels, IDS, strict=True)]
            frame = self.frame(spark, records, f"{columns}, tags {kind}, case string")
            rule = engine.calibrate(frame, "tags", columns=NAMES, target=target, **KIND)
            assert rule == expected(target)
        sets = engine.predict(rule, frame, keep=["case"], **SURE).collect()
        found = {row.case: row.labels for row in sets}
        assert [found[case] for case in IDS] == rule.predict(PROBS, **SURE).to_lists()

    def test_columns_of_0_and_1(self, engine, spark):
        columns = ", ".join([*(f"{name} double" for name in NAMES), *(f"`{name}` boolean" for name in TRUE)])
        records = [(*probs, *marks) for probs, marks in zip(PROBS.tolist(), MARKS.tolist(), strict=True)]
        frame = self.frame(spark, records, columns)
        for target in TARGETS:
            assert engine.calibrate(frame, TRUE, target=target, **KIND) == expected(target)
        with refused(LabelError.several("labels", "6 columns")):
            engine.calibrate(frame, TRUE, **KIND)

    @pytest.mark.parametrize("names", [NAMES, NAMES[::-1]], ids=["in order", "turned"])
    def test_columns_with_the_names_of_classes(self, engine, spark, names):
        columns = ", ".join(["probs array<double>", *(f"{name} int" for name in NAMES)])
        rows = zip(PROBS.tolist(), MARKS.astype(int).tolist(), strict=True)
        frame = self.frame(spark, [(probs, *marks) for probs, marks in rows], columns).coalesce(1)
        rule = engine.calibrate(frame, names, classes=NAMES, target="recall", **KIND)
        assert rule == expected("recall")
        sets = engine.predict(rule, frame, columns="probs", **SURE).collect()  # keeps the columns of 0 and 1
        assert [row.labels for row in sets] == rule.predict(PROBS, **SURE).to_lists()

    def test_arrays(self, engine, spark):
        records = list(zip(PROBS.tolist(), NUMBERS, strict=True))
        frame = self.frame(spark, records, "probs array<double>, tags array<int>")
        assert engine.calibrate(frame, "tags", target="recall", **KIND) == expected("recall", classes=None)
        with pytest.raises(rs.RanksetError, match=r"target=rankset\.Recall"):
            engine.calibrate(frame, "tags", **KIND)
