"""Data frames in and out: columns matched by name, the index kept, the same sets as from arrays."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankset as rs
from rankset.errors import InputError, KindError, LabelError
from rankset.inputs.frames import BACKENDS
from refusals import refused

CLASSES = ["cat", "dog", "fox"]
RNG = np.random.default_rng(0)
PROBS = RNG.dirichlet(np.ones(3), 60)
LABELS = np.array(CLASSES)[RNG.integers(0, 3, 60)]
RULE = rs.calibrate(PROBS, LABELS, classes=CLASSES)
MAKE = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


def frame(library, order=(0, 1, 2), dtype=np.float64):
    return MAKE[library]({CLASSES[column]: PROBS[:, column].astype(dtype) for column in order})


@pytest.mark.parametrize("library", BACKENDS)
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_columns_are_matched_by_name(library, order):
    table = frame(library, order)
    named = rs.calibrate(table, LABELS, classes=CLASSES)
    assert named == RULE
    assert named.predict(table, 0.1) == RULE.predict(PROBS, 0.1)
    assert (named.p_values(table) == RULE.p_values(PROBS)).all()
    assert RULE.update(table, LABELS) == RULE.update(PROBS, LABELS)
    assert rs.calibrate(table, LABELS).classes.tolist() == [CLASSES[column] for column in order]


@pytest.mark.parametrize("library", BACKENDS)
def test_float32_frames_are_float32_arrays(library):
    narrow = rs.calibrate(frame(library, dtype=np.float32), LABELS)
    assert narrow == rs.calibrate(PROBS.astype(np.float32), LABELS, classes=CLASSES)


def test_labels_and_groups_may_be_series():
    for series in (pd.Series, pl.Series, pa.array):
        assert rs.calibrate(PROBS, series(LABELS.tolist()), classes=CLASSES) == RULE
    categories = pd.Series(LABELS).astype("category")
    assert rs.calibrate(frame("pandas"), categories) == RULE
    groups = pd.Series(["a", "b"] * 30)
    assert rs.calibrate(PROBS, LABELS, classes=CLASSES, condition=rs.PerGroup(), groups=groups).groups.tolist() == [
        "a",
        "b",
    ]


@pytest.mark.parametrize("library", BACKENDS)
def test_sets_come_back_as_the_kind_of_frame_that_was_predicted(library):
    table, sets = frame(library), RULE.predict(PROBS, 0.3)
    given = RULE.predict(table, 0.3)
    answer = given.to_frame()
    assert type(answer) is type(table)
    listed = answer["labels"].to_pylist() if library == "pyarrow" else list(answer["labels"])
    assert [list(row) for row in listed] == sets.to_lists()
    assert np.asarray(answer["size"]).tolist() == sets.sizes.tolist()
    tops = answer["top"].to_pylist() if library == "pyarrow" else list(answer["top"])
    assert tops == [row[0] if row else None for row in sets.to_lists()]
    mask = given.to_mask_frame()
    assert np.column_stack([np.asarray(mask[name]) for name in CLASSES]).tolist() == sets.mask.tolist()
    assert sets.to_frame(library).equals(answer)


def test_the_index_is_kept_also_of_some_rows():
    table = frame("pandas").set_index(pd.Index([f"row {row}" for row in range(60)], name="id"))
    sets = RULE.predict(table, 0.1)
    assert sets.to_frame().index.equals(table.index)
    assert sets.to_mask_frame().index.equals(table.index)
    assert sets[[3, 1]].to_frame().index.tolist() == ["row 3", "row 1"]
    assert sets[sets.sizes == 2].to_frame().index.equals(table.index[sets.sizes == 2])


def test_numbered_columns_are_numbered_classes():
    table = pd.DataFrame(PROBS)
    codes = RNG.integers(0, 3, 60)
    assert rs.calibrate(table, codes) == rs.calibrate(PROBS, codes)


def test_empty_sets_have_no_top():
    sets = rs.PredictionSets.from_mask([[False, False], [True, True]], classes=["a", "b"])
    for library in BACKENDS:
        top = sets.to_frame(library)["top"]
        values = top.to_pylist() if library == "pyarrow" else [None if pd.isna(value) else value for value in top]
        assert values == [None, "a"]


@pytest.mark.parametrize(
    ("ask", "refusal"),
    [
        (lambda: RULE.predict(frame("pandas")[["cat", "dog"]], 0.1), InputError.frame_columns("probs", ["fox"], [])),
        (
            lambda: RULE.predict(frame("polars").rename({"fox": "wolf"}), 0.1),
            InputError.frame_columns("probs", ["fox"], ["wolf"]),
        ),
        (lambda: RULE.predict(frame("pandas").assign(id=1), 0.1), InputError.frame_columns("probs", [], ["id"])),
        (
            lambda: rs.calibrate(frame("pandas").assign(fox="x"), LABELS),
            KindError.frame_column("probs", "fox", "String"),
        ),
        (
            lambda: RULE.predict(frame("polars").with_columns(dog=None), 0.1),
            KindError.frame_column("probs", "dog", "Unknown"),
        ),
        (lambda: RULE.predict(frame("pandas").replace(PROBS[4, 1], np.nan), 0.1), InputError.missing("probs", 4, 1)),
        (
            lambda: RULE.predict(frame("polars").lazy(), 0.1),
            KindError.not_a_matrix("probs", "a lazy frame", "Pass frame.collect()."),
        ),
        (
            lambda: RULE.predict(PROBS, 0.1).to_frame("excel"),
            KindError.argument("backend", "one of pandas, polars, pyarrow", "excel"),
        ),
        (
            lambda: rs.calibrate(PROBS, frame("pandas"), classes=CLASSES),
            KindError.not_names("labels", "a data frame with 3 columns", "Pass the column that contains the labels."),
        ),
    ],
)
def test_frames_that_do_not_fit_are_refused(ask, refusal):
    with refused(refusal):
        ask()


def test_frames_without_narwhals_are_told_so(tmp_path):
    (tmp_path / "narwhals.py").write_text("raise ImportError")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import pandas, rankset\n"
        "try: rankset.calibrate(pandas.DataFrame([[0.5, 0.5]]), [0])\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert "pip install 'rankset[frames]'" in done.stdout


@pytest.mark.parametrize(
    "classes", [{"cat", "dog", "fox"}, {"cat": 0, "dog": 1, "fox": 2}, "cat"], ids=["set", "mapping", "text"]
)
def test_classes_without_an_order_are_refused(classes):
    with refused(KindError, what="classes", expected="be a list of names in column order"):
        rs.calibrate(frame("pandas"), LABELS, classes=classes)


def test_labels_in_another_order_than_the_rows_are_refused():
    index = RNG.permutation(60)
    table, labels = frame("pandas").set_index(index), pd.Series(LABELS, index=index)
    assert rs.calibrate(table, labels) == RULE
    with refused(InputError.other_rows("labels", "the rows", 0, 1, 100)):
        rs.calibrate(table, labels.set_axis(range(100, 160)))
    for ask in (rs.calibrate, RULE.update):
        with refused(InputError.other_order("labels", "the rows")):
            ask(table, labels.sort_index())


def test_a_record_batch_is_a_table():
    table = frame("pyarrow")
    (batch,) = table.combine_chunks().to_batches()
    assert rs.calibrate(batch, LABELS) == rs.calibrate(table, LABELS)
    turned = batch.select(["fox", "dog", "cat"])
    sets = RULE.predict(turned, 0.1)
    assert sets == RULE.predict(table, 0.1)
    assert sets.to_frame().equals(RULE.predict(table, 0.1).to_frame())
    mask = RULE.predict(table, 0.1).to_mask_frame().to_batches()[0]
    assert rs.PredictionSets.from_mask(mask).mask.tolist() == sets.mask.tolist()


@pytest.mark.filterwarnings("ignore:alpha is the allowed error rate")
def test_names_keep_their_kind_in_pandas():
    codes = RNG.integers(0, 3, 60)
    sets = rs.calibrate(pd.DataFrame(PROBS), codes).predict(pd.DataFrame(PROBS), 0.9)
    assert sets.to_mask_frame().columns.tolist() == [0, 1, 2]
    tops = sets.to_frame()["top"].tolist()
    assert None in tops
    assert all(top is None or isinstance(top, int) for top in tops)
    same_text = rs.PredictionSets.from_mask([[True, False]], classes=[1, "1"])
    assert same_text.to_mask_frame("pandas").shape == (1, 2)
    with refused(LabelError.same_text("polars", (1, "1"))):
        same_text.to_mask_frame("polars")
    with refused(KindError.frame_refused("pyarrow", "Could not convert '1' with type str: tried to convert to int64")):
        rs.PredictionSets.from_mask([[True, True]], classes=[1, "1"]).to_frame("pyarrow")


def test_frames_without_rows_or_with_odd_columns():
    assert len(RULE.predict(pd.DataFrame(columns=CLASSES), 0.1)) == 0
    objects = frame("pandas").astype(object)
    assert RULE.predict(objects, 0.1) == RULE.predict(PROBS, 0.1)
    with refused(InputError, what="probs", received="shape (0, 0)", remedy="Pass one column per class."):
        rs.calibrate(pd.DataFrame(), [])
    doubled = pd.DataFrame(PROBS, columns=["cat", "dog", "dog"])
    with refused(
        KindError,
        what="probs",
        received="a DataFrame that narwhals cannot read (Expected unique column names, got: - 'dog' 2 times)",
    ):
        rs.calibrate(doubled, LABELS)


def test_parts_of_a_frame_are_joined_with_their_index():
    table = frame("pandas").set_index(pd.Index([f"row {row}" for row in range(60)]))
    parts = [RULE.predict(table[:20], 0.1), RULE.predict(table[20:], 0.1)]
    joined = rs.PredictionSets.concat(parts)
    assert joined == RULE.predict(table, 0.1)
    assert joined.to_frame().index.equals(table.index)
    assert joined[pd.Series(joined.sizes == 2)] == joined[joined.sizes == 2]


def test_binary_probabilities_may_stand_in_a_frame_with_one_column():
    second = np.linspace(0.05, 0.95, 40)
    labels = np.arange(40) % 2
    plain = rs.calibrate(second, labels, kind="binary")
    assert rs.calibrate(pd.DataFrame({"p": second}), labels, kind="binary") == plain
    names = np.array(["no", "yes"])[labels]
    named = rs.calibrate(pd.DataFrame({"yes": second}), names, kind="binary", classes=["no", "yes"])
    assert named == rs.calibrate(second, names, kind="binary", classes=["no", "yes"])
    assert named.predict(pd.DataFrame({"yes": second}), 0.3) == named.predict(second, 0.3)
    with refused(InputError.first_class("probs", "no")):
        rs.calibrate(pd.DataFrame({"no": second}), names, kind="binary", classes=["no", "yes"])
    for unnamed in (pd.DataFrame(second), pd.Series(second).to_frame()):
        rule = rs.calibrate(unnamed, labels, kind="binary")
        assert rule == plain
        assert rule.predict(unnamed, 0.3) == plain.predict(second, 0.3)
        assert (rule.p_values(unnamed) == plain.p_values(second)).all()
        assert rule.update(unnamed, labels) == plain.update(second, labels)
        assert rs.calibrate(unnamed, labels, kind="binary", classes=[0, 1]) == plain
    both = pd.DataFrame({0: 1 - second, 1: second})
    assert rs.calibrate(both[[1]], labels, kind="binary") == plain
