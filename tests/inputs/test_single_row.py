"""One row in every form gets the set that it gets in a matrix; names are matched, and what is no row is refused."""

import array
import types
from collections import UserDict
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankset as rs
from rankset.errors import InputError, KindError

RNG = np.random.default_rng(5)
CLASSES = ["joy", "anger", "fear"]
PROBS = RNG.dirichlet(np.ones(3), 200)
RULE = rs.calibrate(PROBS, PROBS.argmax(axis=1), classes=CLASSES, method="thr")
ASK = RULE.at(0.3)
ROW = [0.5, 0.375, 0.125]
NAMED = dict(zip(CLASSES, ROW, strict=True))
EXPECTED = RULE.predict(np.array([ROW]), 0.3).to_lists()
BACKWARDS = dict(reversed(NAMED.items()))

FORMS = {
    "list": ROW,
    "tuple": tuple(ROW),
    "array": np.array(ROW),
    "float32": np.array(ROW, dtype=np.float32),
    "float16": np.array(ROW, dtype=np.float16),
    "matrix": np.array([ROW]),
    "list of a list": [ROW],
    "objects": np.array(ROW, dtype=object),
    "numbers of NumPy": [np.float32(number) for number in ROW],
    "decimals": [Decimal(str(number)) for number in ROW],
    "dictionary": BACKWARDS,
    "dictionary of arrays without dimension": {name: np.array(number) for name, number in NAMED.items()},
    "UserDict": UserDict(BACKWARDS),
    "mapping": types.MappingProxyType(BACKWARDS),
    "series": pd.Series(BACKWARDS),
    "series of objects": pd.Series({"id": "x", **BACKWARDS})[CLASSES[::-1]],
    "series without names": pd.Series(ROW),
    "rows of a frame": [row for _, row in pd.DataFrame([BACKWARDS]).iterrows()],
    "frame": pd.DataFrame([BACKWARDS]),
    "polars": pl.Series(ROW),
    "arrow": pa.array(ROW),
    "array of Python": array.array("d", ROW),
    "memoryview": memoryview(np.array(ROW)),
}


@pytest.mark.parametrize("row", FORMS.values(), ids=FORMS)
def test_a_row_in_every_form_gets_its_set(row):
    assert ASK(row).to_lists() == EXPECTED


def test_integers_and_booleans_are_numbers():
    for row in ([1, 0, 0], [True, False, False], np.array([True, False, False]), np.array([1, 0, 0], dtype=np.int8)):
        assert ASK(row).to_lists() == [["joy"]]


@pytest.mark.parametrize("rows", [pd.DataFrame([BACKWARDS] * 3), [pd.Series(BACKWARDS)] * 3], ids=["frame", "series"])
def test_names_decide_for_predict_too(rows):
    assert RULE.predict(rows, 0.3).to_lists() == EXPECTED * 3


@pytest.mark.parametrize("rows", [pd.Series([ROW] * 3), pd.Series([NAMED] * 3), [ROW] * 3, [NAMED] * 3])
def test_several_rows_are_no_single_row(rows):
    assert ASK(rows).to_lists() == EXPECTED * 3


WRONG = {
    "too few": ([0.5, 0.5], InputError),
    "too many": ([*ROW, 0.0], InputError),
    "missing": (pd.Series({"joy": 0.5, "fear": 0.5}), InputError),
    "unknown": (pd.Series({**NAMED, "love": 0.0}), InputError),
    "twice": (pd.Series([*ROW, 0.0], index=[*CLASSES, "joy"]), KindError),
    "unknown name": ({**NAMED, "love": 0.0}, InputError),
    "no number": ({**NAMED, "joy": "x"}, rs.RanksetError),
    "null": ({**NAMED, "joy": None}, rs.RanksetError),
    "NaN": ([0.5, np.nan, 0.5], InputError),
    "text": (["0.5", "0.5", "0"], KindError),
    "huge": ([10**400, 0.5, 0.5], rs.RanksetError),
    "number": (0.5, KindError),
    "nothing": (None, KindError),
    "columns": ({"joy": [0.5, 0.4], "anger": [0.3, 0.3], "fear": [0.2, 0.3]}, rs.RanksetError),
}


@pytest.mark.parametrize(("row", "error"), WRONG.values(), ids=WRONG)
def test_what_is_no_row_is_refused(row, error):
    with pytest.raises(error):
        ASK(row)


def test_no_rows_are_no_sets():
    assert len(ASK([])) == len(ASK(np.array([]))) == 0


def test_numbers_of_the_second_class_are_rows():
    ask = rs.calibrate(PROBS[:, 0], PROBS[:, 0] < 0.5, kind="binary", classes=[True, False]).at(0.3)
    assert len(ask([0.1, 0.9, 0.5])) == 3
