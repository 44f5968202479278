"""Labels, groups and ids whose index tells that they are not in the order of the rows, in every function."""

import importlib
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import rankset as rs
from entry_points import GROUPS, LABELS, PROBS, N
from rankset.errors import InputError, KindError
from rankset.integrations.sklearn.cross_rule import CrossRule
from rankset.reports import study
from refusals import refused

INDEX = np.random.default_rng(3).permutation(N) + 1000
FRAME = pd.DataFrame(PROBS, index=INDEX)
Y, G, IDS = (pd.Series(values, index=INDEX) for values in (LABELS, GROUPS, np.arange(N)))
X = pd.DataFrame(np.random.default_rng(4).normal(size=(N, 2)), index=INDEX)

PLAIN = rs.calibrate(PROBS, LABELS)
BY_GROUP = rs.calibrate(PROBS, LABELS, condition=rs.PerGroup(), groups=GROUPS)
DRAWS = rs.calibrate(PROBS, LABELS, score=rs.Aps(), ids=np.arange(N))
ASKED = {"condition": rs.PerGroup()}
MODEL = rs.ConformalClassifier(condition=rs.PerGroup(), random_state=0).fit(X, Y, groups=G)
PIPELINE = Pipeline([("scale", StandardScaler().fit(X.to_numpy())), ("model", MODEL)])
SETS = PLAIN.predict(FRAME, 0.1)
MASK = rs.PredictionSets.from_mask(SETS.to_mask_frame())
OFTEN = rs.frequencies(pd.Series([[0, 1, 2, 1]] * N, index=INDEX), classes=[0, 1, 2])
RAGGED = rs.Ragged(PROBS, pd.Series(np.full(N, 3), index=INDEX))
SCORED = pd.Series([[{"label": k, "score": row[k]} for k in range(3)] for row in PROBS.tolist()], index=INDEX)
FOLDS = CrossRule((BY_GROUP, rs.calibrate(PROBS[::-1], LABELS[::-1], groups=GROUPS[::-1], **ASKED)))

ENTRY_POINTS = {
    "calibrate labels": ("labels", Y, lambda y: rs.calibrate(FRAME, y)),
    "calibrate groups": ("groups", G, lambda g: rs.calibrate(FRAME, LABELS, groups=g, **ASKED)),
    "calibrate ids": ("ids", IDS, lambda i: rs.calibrate(FRAME, LABELS, score=rs.Aps(), ids=i)),
    "update labels": ("labels", Y, lambda y: PLAIN.update(FRAME, y)),
    "update groups": ("groups", G, lambda g: BY_GROUP.update(FRAME, LABELS, groups=g)),
    "update ids": ("ids", IDS, lambda i: DRAWS.update(FRAME, LABELS, ids=i)),
    "anew labels": ("labels", Y, lambda y: PLAIN._calibrate_like(FRAME, y)),
    "predict groups": ("groups", G, lambda g: BY_GROUP.predict(FRAME, 0.1, groups=g)),
    "predict ids": ("ids", IDS, lambda i: DRAWS.predict(FRAME, 0.1, ids=i)),
    "predict_parts groups": ("groups", G, lambda g: list(BY_GROUP.predict_parts(FRAME, 0.1, groups=g, rows=7))),
    "predict_parts ids": ("ids", IDS, lambda i: list(DRAWS.predict_parts(FRAME, 0.1, ids=i, rows=7))),
    "at groups": ("groups", G, lambda g: BY_GROUP.at(0.1).predict(FRAME, groups=g)),
    "at ids": ("ids", IDS, lambda i: list(DRAWS.at(0.1).predict_parts(FRAME, ids=i))),
    "p_values groups": ("groups", G, lambda g: BY_GROUP.p_values(FRAME, groups=g)),
    "p_values ids": ("ids", IDS, lambda i: DRAWS.p_values(FRAME, ids=i)),
    "tails groups": ("groups", G, lambda g: BY_GROUP._tails(BY_GROUP._prepare(FRAME, groups=g))),
    "expected_size groups": ("groups", G, lambda g: BY_GROUP.expected_size(FRAME, 0.1, groups=g)),
    "expected_size ids": ("ids", IDS, lambda i: DRAWS.expected_size(FRAME, 0.1, ids=i)),
    "auto labels": ("labels", Y, lambda y: rs.auto(FRAME, y)),
    "auto groups": ("groups", G, lambda g: rs.auto(FRAME, LABELS, groups=g, **ASKED)),
    "compare labels": ("labels", Y, lambda y: rs.compare(FRAME, y, repeats=2)),
    "choose labels": ("labels", Y, lambda y: rs.choose([rs.Rank()], FRAME, y, repeats=2)),
    "covers": ("labels", Y, lambda y: PLAIN.predict(FRAME, 0.1).covers(y)),
    "covers of a slice": ("labels", Y[5:15], PLAIN.predict(FRAME, 0.1)[5:15].covers),
    "covers of a part": ("labels", Y[7:14], list(PLAIN.predict_parts(FRAME, 0.1, rows=7))[1].covers),
    "evaluate labels": ("labels", Y, lambda y: rs.evaluate(PLAIN.predict(FRAME, 0.1), y)),
    "evaluate groups": ("groups", G, lambda g: rs.evaluate(PLAIN.predict(FRAME, 0.1), LABELS, groups=g)),
    "mask": ("mask", Y == 1, lambda mask: PLAIN.predict(FRAME, 0.1)[mask]),
    "report labels": ("labels", Y, lambda y: study.study_rules([PLAIN], FRAME, y)),
    "report groups": ("groups", G, lambda g: study.study_rules([BY_GROUP], FRAME, LABELS, groups=g)),
    "report ids": ("ids", IDS, lambda i: study.study_rules([DRAWS], FRAME, LABELS, ids=i)),
    "study_scores": ("labels", Y, lambda y: study.study_scores(FRAME, y, FRAME, LABELS, candidates=[rs.Rank()])),
    "study_scores, new rows": (
        "labels",
        Y,
        lambda y: study.study_scores(FRAME, LABELS, FRAME, y, candidates=[rs.Rank()]),
    ),
    "folds groups": ("groups", G, lambda g: FOLDS.predict([FRAME, FRAME], 0.1, groups=g)),
    "folds covers": ("labels", Y, lambda y: FOLDS.predict([FRAME, FRAME], 0.1, groups=GROUPS).covers(y)),
    "folds probs": (
        "probs[1]",
        FRAME,
        lambda frame: FOLDS.p_values([FRAME, frame], groups=GROUPS),
    ),
    "fit y": ("y", Y, lambda y: rs.ConformalClassifier().fit(X, y)),
    "fit groups": ("groups", G, lambda g: rs.ConformalClassifier(**ASKED).fit(X, LABELS, groups=g)),
    "predict_set groups": ("groups", G, lambda g: MODEL.predict_set(X, 0.1, groups=g)),
    "predict_p groups": ("groups", G, lambda g: MODEL.predict_p(X, groups=g)),
    "predict_set covers": ("labels", Y, lambda y: MODEL.predict_set(X, 0.1, groups=GROUPS).covers(y)),
    "Coverage": ("labels", Y, lambda y: rs.Coverage(0.1)(MODEL, X, y, groups=G)),
    "binary series": (
        "labels",
        Y % 2,
        lambda y: rs.calibrate(pd.Series(PROBS[:, 1], index=INDEX), y, kind="binary"),
    ),
    "series of rows": ("labels", Y, lambda y: rs.calibrate(pd.Series(list(PROBS), index=INDEX), y)),
    "recalibration": ("labels", Y, lambda y: rs.Temperature.fit(pd.Series(list(PROBS), index=INDEX), y)),
    "recalibration of a frame": ("labels", Y, lambda y: rs.Temperature.fit(FRAME, y)),
    "Recalibrated": ("labels", Y, lambda y: rs.Recalibrated.fit(FRAME, y)),
    "resample a frame": ("labels", Y, lambda y: rs.paper.resample(FRAME, y, repeats=2)),
    "printed_rule": ("labels", Y, lambda y: rs.paper.printed_rule(FRAME, y, 0.1)),
    "SetSize groups": ("groups", G, lambda g: rs.SetSize(0.1)(MODEL, X, groups=g)),
    "Coverage groups": ("groups", G, lambda g: rs.Coverage(0.1)(MODEL, X, LABELS, groups=g)),
    "Coverage of a pipeline": ("labels", Y, lambda y: rs.Coverage(0.1)(PIPELINE, X, y, groups=GROUPS)),
    "SetSize of a pipeline": ("groups", G, lambda g: rs.SetSize(0.1)(PIPELINE, X, groups=g)),
    "frequencies": ("labels", Y, lambda y: rs.calibrate(OFTEN, y, classes=[0, 1, 2])),
    "ragged": ("labels", Y, lambda y: rs.calibrate(RAGGED, y)),
    "ragged covers": ("labels", Y, lambda y: PLAIN.predict(RAGGED, 0.1).covers(y)),
    "ragged part covers": ("labels", Y[:9], lambda y: PLAIN.predict(RAGGED[:9], 0.1).covers(y)),
    "scored": ("labels", Y, lambda y: rs.calibrate(SCORED, y)),
    "scored covers": ("labels", Y, lambda y: rs.calibrate(SCORED, LABELS).predict(SCORED, 0.1).covers(y)),
    "selected": ("labels", Y[Y == 1], SETS[(Y == 1).to_numpy()].covers),
    "selected evaluate": ("labels", Y[Y == 1], lambda y: rs.evaluate(SETS[Y == 1], y)),
    "picked": ("labels", Y.iloc[[7, 3, 5, 1]], SETS[[7, 3, 5, 1]].covers),
    "stepped": ("labels", Y[::3], SETS[::3].covers),
    "joined": ("labels", Y, lambda y: rs.PredictionSets.concat([SETS[:5], SETS[5:]]).covers(y)),
    "joined groups": (
        "groups",
        G,
        lambda g: rs.evaluate(rs.PredictionSets.concat([SETS[:5], SETS[5:]]), LABELS, groups=g),
    ),
    "from_mask": ("labels", Y, MASK.covers),
    "from_mask evaluate": ("labels", Y, lambda y: rs.evaluate(MASK, y, alpha=0.1)),
    "from_mask slice": ("labels", Y[4:20], MASK[4:20].covers),
    "pictures: coverage of a rule": ("labels", Y, lambda y: rs.CoverageDisplay.from_rule(PLAIN, FRAME, y)),
    "pictures: size of a rule": ("labels", Y, lambda y: rs.SizeDisplay.from_rule(PLAIN, FRAME, y)),
    "pictures: groups": ("groups", G, lambda g: rs.SizeDisplay.from_rule(BY_GROUP, FRAME, LABELS, groups=g)),
    "pictures: ids": ("ids", IDS, lambda i: rs.CoverageDisplay.from_rule(DRAWS, FRAME, LABELS, ids=i)),
    "pictures: coverage of an estimator": (
        "y",
        Y,
        lambda y: rs.CoverageDisplay.from_estimator(MODEL, X, y, groups=GROUPS),
    ),
    "pictures: size of an estimator": (
        "groups",
        G,
        lambda g: rs.SizeDisplay.from_estimator(MODEL, X, LABELS, groups=g),
    ),
    "pictures: classes": ("labels", Y, lambda y: rs.ClassCoverageDisplay.from_predictions(SETS, y)),
    "pictures: ranks": ("labels", Y, lambda y: rs.RankDisplay.from_predictions(FRAME, y)),
    "resample": ("labels", Y, lambda y: rs.paper.resample(pd.Series(list(PROBS), index=INDEX), y, repeats=2)),
}


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    importlib.import_module("matplotlib.pyplot").close("all")


@pytest.mark.parametrize(("name", "values", "entry_point"), ENTRY_POINTS.values(), ids=ENTRY_POINTS.keys())
@pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")
def test_the_same_index_in_another_order_is_refused_and_the_same_order_is_not(name, values, entry_point):
    entry_point(values)
    for turned in (values[::-1], values.set_axis(values.index.astype(object))[::-1]):
        with refused(InputError.other_order(name, "the rows")):
            entry_point(turned)


@pytest.mark.parametrize(("name", "values", "entry_point"), ENTRY_POINTS.values(), ids=ENTRY_POINTS.keys())
@pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")
def test_an_index_of_other_rows_is_refused_and_a_default_index_is_not(name, values, entry_point):
    entry_point(values.reset_index(drop=True))
    with refused(InputError, what=name, expected="have the same index as the rows", row=0) as caught:
        entry_point(values.set_axis(range(5, 5 + len(values))))
    assert str(caught.value.received).startswith("5 instead of ")


COLUMNS = {name: one for name, one in ENTRY_POINTS.items() if name not in ("mask", "folds probs")}
"""Entry points that take labels, groups or ids."""


@pytest.mark.parametrize(("name", "values", "entry_point"), COLUMNS.values(), ids=COLUMNS.keys())
@pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")
def test_a_frame_with_one_column_is_a_column(name, values, entry_point):
    frame = values.to_frame("answer")
    entry_point(frame)
    entry_point(pl.from_pandas(frame))
    entry_point(pa.Table.from_pandas(frame, preserve_index=False))
    entry_point(pa.RecordBatch.from_pandas(frame, preserve_index=False))
    with refused(InputError.other_order(name, "the rows")):
        entry_point(frame[::-1])
    with pytest.raises((rs.RanksetError, ValueError), match=r"2 columns|shape \(\d+, 2\)"):
        entry_point(frame.assign(other=0))


def test_a_frame_with_one_column_gives_what_its_column_gives():
    assert rs.calibrate(FRAME, Y.to_frame()) == rs.calibrate(FRAME, Y)
    sets = PLAIN.predict(FRAME, 0.1)
    assert (sets.covers(Y.to_frame()) == sets.covers(Y)).all()
    assert rs.evaluate(sets, pl.DataFrame({"y": LABELS})).values == rs.evaluate(sets, LABELS).values
    names = np.array(["a", "b", "c"])[LABELS]
    rule = rs.calibrate(PROBS, pl.DataFrame({"y": names}), classes=["a", "b", "c"])
    assert rule == rs.calibrate(PROBS, names, classes=["a", "b", "c"])
    assert rs.Seen.fit(Y.to_frame(), 3) == rs.Seen.fit(Y, 3)
    two = KindError.not_names("labels", "a data frame with 2 columns", "Pass the column that contains the labels.")
    with refused(two):
        rs.calibrate(FRAME, Y.to_frame("y").assign(z=1))


@pytest.mark.parametrize(
    "rows", [PROBS, pd.DataFrame(PROBS), FRAME.reset_index(drop=True)], ids=["array", "frame", "reset"]
)
def test_what_comes_with_rows_that_have_no_index_must_agree_with_each_other(rows):
    ask = partial(rs.calibrate, rows, score=rs.Aps(), **ASKED)
    assert ask(Y, groups=G, ids=IDS).n == N
    with refused(InputError.other_order("groups", "labels")):
        ask(Y, groups=G[::-1], ids=IDS)
    with refused(InputError.other_order("ids", "labels")):
        ask(Y, groups=GROUPS, ids=IDS[::-1])
    with refused(InputError.other_order("ids", "groups")):
        ask(LABELS, groups=G, ids=IDS[::-1])
    sets = PLAIN.predict(rows, 0.1)
    with refused(InputError.other_order("groups", "labels")):
        rs.evaluate(sets, Y, groups=G[::-1])


def test_sets_of_an_array_have_the_index_of_their_groups():
    sets = BY_GROUP.predict(PROBS, 0.1, groups=G)
    assert sets.to_frame().index.equals(G.index)
    with refused(InputError.other_order("labels", "the rows")):
        sets.covers(Y[::-1])


TURNED = {
    "mixed types": pd.Index(["a", 1, 2.5, (1, 2), None, *range(100, 100 + N - 5)], dtype=object),
    "dates": pd.date_range("2024-01-01", periods=N),
    "several levels": pd.MultiIndex.from_arrays([INDEX, np.arange(N) % 3]),
    "texts": pd.Index([f"row {number}" for number in INDEX]),
    "floats": pd.Index(INDEX + 0.5),
    "categories": pd.CategoricalIndex(INDEX),
    "intervals": pd.interval_range(0, N),
    "twice each": pd.Index(np.arange(N) // 2 + 7),
    "something missing": pd.Index([np.nan, *range(1, N)]),
    "lists": pd.Index([[number] for number in range(N)], dtype=object),
}


@pytest.mark.parametrize("index", TURNED.values(), ids=TURNED.keys())
def test_every_kind_of_index_is_compared_by_its_entries(index):
    frame, labels = FRAME.set_axis(index), Y.set_axis(index)
    assert rs.calibrate(frame, labels) == PLAIN
    assert rs.calibrate(frame, labels.set_axis(index.astype(object))) == PLAIN
    with refused(InputError.other_order("labels", "the rows")):
        rs.calibrate(frame, labels[::-1])


@pytest.mark.parametrize("dtype", ["int32", "uint64", "float64", "object", "Int64"])
def test_the_same_numbers_are_the_same_entries_in_every_type(dtype):
    labels = Y.set_axis(pd.Index(INDEX).astype(dtype))
    assert rs.calibrate(FRAME, labels) == PLAIN
    with refused(InputError.other_order("labels", "the rows")):
        rs.calibrate(FRAME, labels[::-1])


@pytest.mark.parametrize(
    "draw",
    [
        lambda y: rs.CoverageDisplay.from_rule(PLAIN, FRAME, y),
        lambda y: rs.SizeDisplay.from_rule(PLAIN, FRAME, y),
        lambda y: rs.CoverageDisplay.from_estimator(MODEL, X, y, groups=GROUPS),
        lambda y: rs.SizeDisplay.from_estimator(MODEL, X, y, groups=GROUPS),
        lambda y: rs.ClassCoverageDisplay.from_predictions(PLAIN.predict(FRAME, 0.1), y),
        lambda y: rs.RankDisplay.from_predictions(FRAME, y),
    ],
)
def test_pictures_refuse_labels_in_another_order(draw):
    with refused(InputError, received="the same index in another order", expected="be in the order of the rows"):
        draw(Y[::-1])


def test_what_has_no_index_is_taken_as_it_comes():
    for plain in (LABELS, LABELS.tolist(), pd.Index(LABELS), pd.Categorical(LABELS)):
        assert rs.calibrate(FRAME, plain) == PLAIN


def test_labels_of_rows_are_not_taken_for_row_numbers():
    shuffled = FRAME.set_index(np.random.default_rng(0).permutation(len(FRAME)))
    sets = PLAIN.predict(shuffled, 0.1)
    wanted = shuffled.index[3:6]
    with refused(KindError.row_labels("rows", wanted)):
        sets[wanted]
    assert sets[shuffled.index.get_indexer(wanted)] == sets[3:6]
    ragged = rs.Ragged(shuffled.to_numpy(), pd.Series(np.full(len(shuffled), 2), index=shuffled.index))
    with refused(KindError.row_labels("rows", wanted)):
        ragged[wanted]
    numbered = PLAIN.predict(FRAME.reset_index(drop=True), 0.1)
    assert numbered[pd.RangeIndex(3, 6)] == numbered[3:6]
    assert len(sets[pd.Index(sets.sizes == 1)]) == (sets.sizes == 1).sum()
