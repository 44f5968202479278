"""Dask gives what NumPy gives, byte for byte, whatever the chunks, and whatever happens to workers."""

import os
import signal
import threading
import time
import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import partitions
import rankset as rs
from partitions import CONDITIONS, IDS, LABELS, NAMES, PROBS, QUESTIONS, SHARING, SITES, WORDS, N, cuts, known
from rankset.errors import FileError, InputError, KindError, LevelError
from refusals import refused

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
engine = pytest.importorskip("rankset.engines.dask")


def chunked(values, sizes):
    """A dask array of these chunks, empty ones included."""
    ends = np.cumsum([0, *sizes])
    blocks = [
        da.from_delayed(dask.delayed(values[a:b], pure=False), values[a:b].shape, values.dtype)
        for a, b in pairwise(ends)
    ]
    return da.concatenate(blocks)


def framed(frame, sizes):
    ends = np.cumsum([0, *sizes])
    parts = [dask.delayed(frame.iloc[a:b], pure=False) for a, b in pairwise(ends)]
    return dd.from_delayed(parts, meta=frame.iloc[:0], verify_meta=False)


FRAME = pd.DataFrame(PROBS, columns=NAMES).assign(answer=WORDS, site=SITES, case=IDS)


@pytest.mark.parametrize(("score", "condition"), QUESTIONS, ids=partitions.names)
@settings(max_examples=3, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 12))
def test_arrays_give_the_same_bytes(score, condition, seed, parts):
    rng = np.random.default_rng(seed)
    sizes = cuts(rng, parts)
    asked = {"score": score, "condition": condition}
    expected = rs.calibrate(PROBS, LABELS, **asked, **known(condition))
    with dask.config.set(scheduler="sync"):
        rule = engine.calibrate(chunked(PROBS, sizes), LABELS, **asked, **known(condition))
        assert rule == expected
        mask = engine.predict(rule, chunked(PROBS, cuts(rng, parts)), 0.1, **known(condition)).compute()
    assert (mask == expected.predict(PROBS, 0.1, **known(condition)).mask).all()


@pytest.mark.parametrize("condition", [*CONDITIONS, *SHARING], ids=repr)
def test_frames_on_a_cluster(client, condition):
    asked = {"score": rs.TieBreak(rs.Rank()), "condition": condition, "kind": "probs"}
    expected = rs.calibrate(PROBS, WORDS, classes=NAMES, ids=IDS, **asked, **known(condition))
    frame = framed(FRAME, (10, 0, 100, 1, N - 111))
    told = {"ids": "case", **({"groups": "site"} if condition.needs_groups else {})}
    columns = {"columns": NAMES}
    assert engine.calibrate(frame, "answer", **asked, **columns, **told) == expected
    sets = engine.predict(expected, frame, 0.1, keep=["answer"], **told)
    assert list(sets.columns) == ["answer", "labels", "size", "top"]
    answer = sets.compute()
    wanted = expected.predict(PROBS, 0.1, ids=IDS, **known(condition))
    assert [list(labels) for labels in answer["labels"]] == wanted.to_lists()
    assert answer["size"].tolist() == wanted.sizes.tolist()
    assert answer.index.tolist() == FRAME.index.tolist()
    assert sets.dtypes.to_dict() == answer.dtypes.to_dict()


def test_a_column_of_lists():
    lists = pd.array(PROBS.tolist(), dtype=pd.ArrowDtype(pa.list_(pa.float64())))
    frame = pd.DataFrame({"probs": lists, "y": LABELS})
    with dask.config.set(scheduler="sync"):
        rule = engine.calibrate(framed(frame, (100, N - 100)), "y")
        assert rule == rs.calibrate(PROBS, LABELS)
        sets = engine.predict(rule, framed(frame[["probs"]], (7, N - 7)), 0.1).compute()
    assert [list(row) for row in sets["labels"]] == rule.predict(PROBS, 0.1).to_lists()


def test_numbers_stand_for_names_and_columns_may_be_numbers():
    frame = pd.DataFrame(PROBS).assign(y=LABELS)
    with dask.config.set(scheduler="sync"):
        assert engine.calibrate(framed(frame, (100, N - 100)), "y") == rs.calibrate(PROBS, LABELS)
        named = engine.calibrate(framed(FRAME[NAMES].assign(y=LABELS), (100, N - 100)), "y")
    assert named == rs.calibrate(PROBS, WORDS, classes=NAMES)


def test_absent_labels():
    gone = np.arange(N) % 10 == 0
    labels = np.array([rs.ABSENT if row else label for row, label in zip(gone, WORDS, strict=True)], dtype=object)
    expected = rs.calibrate(PROBS, labels, classes=NAMES)
    with dask.config.set(scheduler="sync"):
        assert engine.calibrate(chunked(PROBS, (100, N - 100)), labels, classes=NAMES) == expected
        for text, words in (("none", np.where(gone, "none", WORDS)), ("", np.where(gone, None, WORDS))):
            frame = framed(FRAME[NAMES].assign(answer=words), (100, N - 100))
            assert engine.calibrate(frame, "answer", absent=text) == expected
    wanted = "None if probs is an array, whose labels can be rankset.ABSENT"
    with refused(KindError.argument("absent", wanted, "none")):
        engine.calibrate(chunked(PROBS, (N,)), labels, absent="none")


def test_ids_binary_and_unknown_chunks():
    with dask.config.set(scheduler="sync"):
        rule = engine.calibrate(
            da.from_array(PROBS, chunks=(50, 6)), da.from_array(LABELS, chunks=70), score=rs.Aps(), ids=IDS
        )
        assert rule == rs.calibrate(PROBS, LABELS, score=rs.Aps(), ids=IDS)
        binary = engine.calibrate(
            da.from_array(PROBS[:, 1], chunks=50), LABELS == 1, kind="binary", classes=[False, True]
        )
        assert binary == rs.calibrate(PROBS[:, 1], LABELS == 1, kind="binary", classes=[False, True])
        assert engine.predict(binary, da.from_array(PROBS[:, 1], chunks=50), 0.1).compute().shape == (N, 2)
        unknown = framed(FRAME[NAMES], (100, N - 100)).to_dask_array()
        labels = framed(FRAME[["answer"]].assign(y=LABELS)[["y"]], (100, N - 100))["y"]
        assert engine.calibrate(unknown, labels) == rs.calibrate(PROBS, LABELS)
        with refused(InputError.unknown_chunks("labels")):
            engine.calibrate(unknown, LABELS)


def test_columns_in_chunks_are_put_together_with_a_warning():
    with dask.config.set(scheduler="sync"), pytest.warns(rs.RanksetWarning, match="every row should be in one chunk"):
        rule = engine.calibrate(da.from_array(PROBS, chunks=(50, 2)), LABELS)
    assert rule == rs.calibrate(PROBS, LABELS)


@pytest.mark.parametrize("sizes", [(1,) * N, (N - 3, 1, 1, 1), (0, 0, N, 0)])
def test_partitions_of_any_size(client, sizes):
    probs, expected = chunked(PROBS, sizes), rs.calibrate(PROBS, LABELS)
    assert engine.calibrate(probs, LABELS) == expected
    assert (engine.predict(expected, probs, 0.1).compute() == expected.predict(PROBS, 0.1).mask).all()


def test_a_thousand_partitions(client):
    many, labels = np.tile(PROBS, (10, 1)), np.tile(LABELS, 10)
    sizes = cuts(np.random.default_rng(0), 1000, len(many))
    assert engine.calibrate(chunked(many, sizes), labels) == rs.calibrate(many, labels)


def test_an_error_names_its_partition(client):
    bad = PROBS.copy()
    bad[17 * 10 + 3, 2] = np.nan
    probs = da.from_array(bad, chunks=(10, 6))
    with refused(InputError.missing("probs", 3, 2)) as alone:
        rs.calibrate(bad[170:180], LABELS[170:180])
    with refused(InputError.missing("probs", 3, 2), part="partition 17") as there:
        engine.calibrate(probs, LABELS)
    assert str(there.value) == f"partition 17: {alone.value}"
    rule = rs.calibrate(PROBS, LABELS)
    with refused(InputError.missing("probs", 3, 2), part="partition 17"):
        engine.predict(rule, probs, 0.1).compute()
    frame = pd.DataFrame(bad, columns=NAMES).assign(answer=WORDS)
    with refused(rs.RanksetError, part="partition 17", row=3):
        engine.calibrate(framed(frame, (10,) * 24), "answer")


def test_mistakes_are_told_before_any_work():
    rule, probs = rs.calibrate(PROBS, LABELS), da.from_array(PROBS, chunks=(50, 6))
    with refused(LevelError.out_of_range(10, "Did you mean 0.1?")):
        engine.predict(rule, probs, 10)
    with refused(KindError.argument("probs", "a dask array or a dask data frame", "ndarray")):
        engine.calibrate(PROBS, LABELS)
    with refused(InputError.length("labels", 240, 239)):
        engine.calibrate(probs, LABELS[:-1])
    with refused(FileError.no_column("", "nope", list(FRAME.columns))):
        engine.calibrate(framed(FRAME, (N,)), "nope")
    with refused(InputError.no_rows()), dask.config.set(scheduler="sync"):
        engine.calibrate(chunked(PROBS[:0], (0,)), LABELS[:0])


def test_what_all_parts_warn_of_is_said_once():
    with dask.config.set(scheduler="sync"), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        engine.calibrate(da.from_array(PROBS, chunks=(50, 6)), LABELS, kind="logits")
    assert [str(one.message)[:38] for one in said] == ["these logits look like probabilities, "]


def slow(block, seconds=0.15):
    time.sleep(seconds)
    return block


@pytest.mark.parametrize("verb", ["calibrate", "predict"])
def test_a_killed_worker_changes_nothing(client, verb):
    """One of two worker processes dies in the middle; its work is done again."""
    expected = rs.calibrate(PROBS, LABELS)
    blocks = [dask.delayed(slow)(PROBS[at : at + 10]) for at in range(0, N, 10)]
    probs = da.concatenate([da.from_delayed(block, (10, 6), PROBS.dtype) for block in blocks])
    victim = next(iter(client.run(os.getpid).values()))
    killing = threading.Timer(0.8, os.kill, (victim, signal.SIGKILL))
    killing.start()
    try:
        if verb == "calibrate":
            assert engine.calibrate(probs, LABELS) == expected
        else:
            mask = engine.predict(expected, probs, 0.1).compute()
            assert (mask == expected.predict(PROBS, 0.1).mask).all()
    finally:
        killing.join()
        client.wait_for_workers(2, timeout=60)
    assert victim not in client.run(os.getpid).values()


def test_labels_in_a_frame_of_one_column_and_in_another_order():
    rows, index = chunked(PROBS, (N // 2, N - N // 2)), np.arange(N)[::-1] + 5
    answer, site = pd.Series(LABELS, index=index), pd.Series(SITES, index=index)
    with dask.config.set(scheduler="sync"):
        assert engine.calibrate(rows, answer.to_frame()) == rs.calibrate(PROBS, LABELS)
        lazy = dd.from_pandas(pd.DataFrame({"answer": LABELS}), npartitions=2)
        assert engine.calibrate(rows, lazy) == rs.calibrate(PROBS, LABELS)
        with refused(InputError.other_order("groups", "labels")):
            engine.calibrate(rows, answer, condition=rs.PerGroup(), groups=site[::-1])


def test_confidence_instead_of_alpha():
    rule, rows = rs.calibrate(PROBS, LABELS), chunked(PROBS, (N,))
    with pytest.warns(rs.RanksetWarning, match=r"Did you mean alpha=0\.05\?"):
        engine.predict(rule, rows, 0.95)
    with refused(KindError.alpha_missing_beside("predict", 0.95, 0.05)):
        engine.predict(rule, rows, confidence=0.95)


def test_methods_have_names_and_auto_is_refused():
    probs = da.from_array(PROBS, chunks=(50, -1))
    with dask.config.set(scheduler="sync"):
        for method in ("RAPS", rs.Thr()):
            expected = rs.calibrate(PROBS, LABELS, method=method)
            assert engine.calibrate(probs, LABELS, method=method) == expected
            assert engine.calibrate(probs, LABELS, score=method) == expected
    with refused(KindError.auto_in_parts()):
        engine.calibrate(probs, LABELS, method="auto")
    with refused(KindError.method_twice("aps", "rank")):
        engine.calibrate(probs, LABELS, method="aps", score="rank")
