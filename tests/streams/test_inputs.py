"""Rows and labels of a stream in every form in which users have them; tensors are in ``integrations/test_torch.py``."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankset as rs
from rankset.errors import InputError, KindError, LabelError, RuleError
from refusals import like, refused

LOGITS, COLUMNS = rs.datasets.load("carer")
NAMES = list(rs.datasets.DATASETS["carer"].classes)
PROBS = rs.softmax(LOGITS).astype(np.float64)
LABELS = np.array(NAMES)[COLUMNS]
RULE = rs.calibrate(PROBS[:300], LABELS[:300], classes=NAMES)
NEW, TRUTH = PROBS[300:310], LABELS[300:310]
EXPECTED = RULE.predict(NEW, 0.1).to_lists()
TURNED = [NAMES[place] for place in (3, 1, 0, 2, 5, 4)]

ROWS = {
    "array": NEW,
    "columns in memory": np.asfortranarray(NEW),
    "lists": NEW.tolist(),
    "tuples": tuple(map(tuple, NEW.tolist())),
    "pandas": pd.DataFrame(NEW, columns=NAMES),
    "pandas, other order": pd.DataFrame(NEW, columns=NAMES)[TURNED],
    "polars": pl.DataFrame(NEW, schema=NAMES),
    "Arrow": pa.table({name: NEW[:, place] for place, name in enumerate(NAMES)}),
    "dictionaries": [dict(zip(NAMES, row, strict=True)) for row in NEW.tolist()],
    "series": [pd.Series(row, index=NAMES)[TURNED] for row in NEW],
}
ONE = {
    "array": NEW[0],
    "matrix": NEW[:1],
    "list": NEW[0].tolist(),
    "tuple": tuple(NEW[0].tolist()),
    "dictionary": dict(zip(NAMES, NEW[0].tolist(), strict=True)),
    "series with names": pd.Series(NEW[0], index=NAMES)[TURNED],
    "series": pd.Series(NEW[0]),
    "polars": pl.Series(NEW[0]),
    "Arrow": pa.array(NEW[0]),
}
TRUTHS = {
    "array": TRUTH,
    "objects": TRUTH.astype(object),
    "list": TRUTH.tolist(),
    "tuple": tuple(TRUTH.tolist()),
    "column numbers": COLUMNS[300:310],
    "list of column numbers": COLUMNS[300:310].tolist(),
    "series": pd.Series(TRUTH),
    "categories": pd.Series(pd.Categorical(TRUTH, categories=NAMES)),
    "frame": pd.DataFrame({"y": TRUTH}),
    "polars": pl.Series(TRUTH.tolist()),
    "Arrow": pa.array(TRUTH.tolist()),
    "Arrow in chunks": pa.chunked_array([TRUTH[:4].tolist(), TRUTH[4:].tolist()]),
    "Arrow dictionary": pa.array(TRUTH.tolist()).dictionary_encode(),
}


def started():
    return rs.Stream(RULE, alpha=0.1)


def misses():
    return int((~RULE.predict(NEW, 0.1).covers(TRUTH)).sum())


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
def test_rows_of_every_form_give_the_sets_of_the_rule(rows):
    stream = started()
    assert stream.predict(rows).to_lists() == EXPECTED
    assert stream.update(TRUTH) == rs.Learned(10, misses())
    assert stream.alarms.outputs.log_wealth == pytest.approx(usual().alarms.outputs.log_wealth)


def usual():
    stream = started()
    stream.predict(NEW)
    return stream


@pytest.mark.parametrize("row", ONE.values(), ids=ONE)
def test_one_row_of_every_form(row):
    stream = started()
    assert stream.predict(row).to_lists() == EXPECTED[:1]
    assert stream.update(TRUTH[:1]).rows == 1


@pytest.mark.parametrize("labels", TRUTHS.values(), ids=TRUTHS)
def test_labels_of_every_form_are_learned_alike(labels):
    stream, other = usual(), usual()
    assert stream.update(labels) == rs.Learned(10, misses())
    other.update(labels, ids=range(10))
    assert stream.exact_level == other.exact_level != started().exact_level
    assert stream.alarms.labels.log_wealth == other.alarms.labels.log_wealth


@pytest.mark.parametrize(
    "ids",
    [pd.Series(range(10)), pd.Index(range(10)), pl.Series(range(10)), pa.array(range(10)), np.arange(10), range(10)],
    ids=["series", "index", "polars", "Arrow", "array", "range"],
)
def test_ids_of_every_form(ids):
    stream = started()
    stream.predict(NEW, ids=ids)
    assert stream.update(TRUTH[:3], ids=[0, "1", 2.0]).rows == 3
    assert stream.update(TRUTH, ids=ids) == rs.Learned(7, stream.misses - misses_of_first(3), 3)


def misses_of_first(count):
    return int((~RULE.predict(NEW[:count], 0.1).covers(TRUTH[:count])).sum())


def test_labels_in_another_order_or_of_other_rows_are_refused():
    names = [f"row {number}" for number in range(10)]
    frame, truth = pd.DataFrame(NEW, columns=NAMES, index=names), pd.Series(TRUTH, index=names)
    stream = started()
    stream.predict(frame)
    before = stream.exact_level
    with refused(InputError.other_order("labels", "the rows")):
        stream.update(truth[::-1])
    with refused(like(InputError)):
        stream.update(truth.rename(lambda name: name.upper()))
    assert (stream.n_labels, stream.exact_level) == (0, before)
    assert stream.update(truth[::-1], ids=range(9, -1, -1)) == rs.Learned(10, misses())


def test_the_index_of_earlier_rows_says_nothing_about_later_ones():
    stream = started()
    stream.predict(pd.DataFrame(NEW, columns=NAMES, index=[f"row {number}" for number in range(10)]))
    stream.predict(NEW[:1])
    assert stream.update(pd.Series(TRUTH[:1], index=["another"])).rows == 1
    stream.predict(NEW)
    assert stream.update(pd.Series(TRUTH, index=list("abcdefghij"))).rows == 10


def test_labels_that_are_none():
    stream = usual()
    with refused(like(LabelError)):
        stream.update(np.eye(6)[COLUMNS[300:310]])
    for wrong in ((name for name in TRUTH), "joy", 1, np.array(1), None):
        with refused(like(LabelError)):
            stream.update(wrong)
    with refused(RuleError.no_rows_to_label(9, 10)):
        stream.update(TRUTH[:9])
    with refused(like(KindError)):
        stream.predict({name: NEW[:, place] for place, name in enumerate(NAMES)})
    assert stream.n_labels == 0
    assert stream.n_rows == 10
