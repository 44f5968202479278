"""Labels of rows that can have several: every form gives the same rule, and every bad one gets a sentence."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankset as rs
from rankset.errors import COMMAND_LINE, InputError, LabelError
from rankset.errors.label_lists import NAMES_OF_LISTS, NAMES_OF_NUMBERS
from refusals import refused

sparse = pytest.importorskip("scipy.sparse")

CLASSES = ["a", "b", "c"]
RNG = np.random.default_rng(3)
PROBS = RNG.random((20, 3)).round(2)
MASK = RNG.random((20, 3)) < 0.4
MASK[:3] = [[True, False, True], [False, False, False], [True, True, True]]
NAMES = [[CLASSES[k] for k in np.flatnonzero(row)] for row in MASK]
NUMBERS = [np.flatnonzero(row).tolist() for row in MASK]


def calibrate(labels, probs=PROBS, **options):
    return rs.calibrate(probs, labels, **{"target": "recall", "kind": "marginals", "classes": CLASSES, **options})


KNOWN = calibrate(MASK)
WITH_ZEROS = sparse.csr_matrix(np.where(MASK, 1, 2))
WITH_ZEROS.data %= 2

FORMS = {
    "booleans": MASK,
    "integers": MASK.astype(int),
    "floats": MASK.astype(np.float32),
    "fortran": np.asfortranarray(MASK),
    "csr": sparse.csr_matrix(MASK),
    "coo": sparse.coo_array(MASK.astype(float)),
    "explicit zeros": WITH_ZEROS,
    "objects": MASK.astype(int).astype(object),
    "boolean objects": MASK.astype(object),
    "names": NAMES,
    "tuples": [tuple(row) for row in NAMES],
    "sets": [set(row) for row in NAMES],
    "arrays": [np.array(row) for row in NAMES],
    "unordered": [row[::-1] for row in NAMES],
    "numbers": NUMBERS,
    "arrays of numbers": [np.array(row, dtype=np.int32) for row in NUMBERS],
    "lists of booleans": MASK.tolist(),
    "tuples of booleans": [tuple(row) for row in MASK.tolist()],
    "arrays of booleans": list(MASK),
    "lists of NumPy booleans": [list(row) for row in MASK],
    "series of booleans": pd.Series(MASK.tolist()),
    "arrow booleans": pa.array(MASK.tolist()),
    "polars booleans": pl.Series(MASK.tolist()),
    "series of lists": pd.Series(NAMES),
    "object array": np.array([*NAMES, None], dtype=object)[:-1],
    "polars series": pl.Series(NAMES),
    "arrow lists": pa.array(NAMES),
    "frame of lists": pd.DataFrame({"labels": NAMES}),
    "frame": pd.DataFrame(MASK, columns=CLASSES),
    "frame in another order": pd.DataFrame(MASK, columns=CLASSES)[["c", "a", "b"]],
    "polars frame": pl.DataFrame(MASK.astype(int), schema=CLASSES),
    "arrow table": pa.table({name: MASK[:, k] for k, name in enumerate(CLASSES)}),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_labels_gives_the_same_rule(form):
    assert calibrate(FORMS[form]) == KNOWN
    sets = KNOWN.predict(PROBS, 0.2)
    assert np.array_equal(sets.recall(FORMS[form]), sets.recall(MASK), equal_nan=True)
    assert rs.evaluate(sets, FORMS[form]).to_dict() == rs.evaluate(sets, MASK).to_dict()


def test_rows_without_labels_are_set_aside():
    assert (KNOWN.n, KNOWN.set_aside) == (int(MASK.any(axis=1).sum()), int((~MASK.any(axis=1)).sum()))
    assert "rows without labels set aside" in repr(KNOWN)
    some = MASK.any(axis=1)
    assert np.array_equal(calibrate(MASK[some], PROBS[some]).predict(PROBS, 0.2).mask, KNOWN.predict(PROBS, 0.2).mask)


TWO = np.where(MASK, 2, 0)
MISSING = np.where(MASK, 1.0, 0.0)
MISSING[4, 1] = np.nan

OTHER, BESIDE = "{} booleans for 3 classes", "booleans beside other labels"

BAD = {
    "one label per row": ([0] * 20, LabelError.one_label_per_row("labels", "one label per row")),
    "one name per row": (["a"] * 20, LabelError.one_label_per_row("labels", "one label per row")),
    "joined names": (["a;b"] * 20, LabelError.joined_names("labels", "a;b", ";")),
    "names with commas": (["a", "a, b"] * 10, LabelError.joined_names("labels", "a, b", ",")),
    "joined names in lists": ([["a|b"]] * 20, LabelError.unknown_in_list("labels", 0, ["a|b"], CLASSES)),
    "an empty name": ([[""], *NAMES[1:]], LabelError.unknown_in_list("labels", 0, [""], CLASSES)),
    "numbers beside names": ([[7], *NAMES[1:]], LabelError.unknown_in_list("labels", 0, [7], CLASSES)),
    "a vector": (np.zeros(20, int), LabelError.one_label_per_row("labels", "one label per row")),
    "a number": (3, LabelError.one_label_per_row("labels", "a int")),
    "a dictionary": ({"a": 1}, LabelError.one_label_per_row("labels", "a dict")),
    "another width": (MASK[:, :2], LabelError.indicator_shape("labels", (20, 3), (20, 2))),
    "three dimensions": (MASK[:, :, None], LabelError.one_label_per_row("labels", "an array of shape (20, 3, 1)")),
    "fewer rows": (MASK[:7], InputError.length("labels", 20, 7)),
    "fewer lists": (NAMES[:7], InputError.length("labels", 20, 7)),
    "a wider sparse matrix": (sparse.csr_matrix((20, 4)), LabelError.indicator_shape("labels", (20, 3), (20, 4))),
    "twos": (TWO, LabelError.not_indicator("labels", 0, 0, 2)),
    "sparse twos": (sparse.csr_matrix(TWO), LabelError.not_indicator("labels", 0, 0, 2)),
    "probabilities": (np.full((20, 3), 0.25), LabelError.not_indicator("labels", 0, 0, 0.25)),
    "NaN": (MISSING, InputError.missing("labels", 4, 1)),
    "an unknown name": ([*NAMES[:-1], ["a", "x"]], LabelError.unknown_in_list("labels", 19, ["x"], CLASSES)),
    "a repeated name": ([["a", "b", "a"], *NAMES[1:]], LabelError.repeated("labels", 0, ["a"])),
    "None as a row": ([None, *NAMES[1:]], LabelError.no_list("labels", 0, None)),
    "a name as a row": (["a", *NAMES[1:]], LabelError.no_list("labels", 0, "a")),
    "None as a label": ([[None], *NAMES[1:]], LabelError.missing_in_list("labels", 0)),
    "NaN as a label": ([*NAMES[:-1], ["a", float("nan")]], LabelError.missing_in_list("labels", 19)),
    "NaN among numbers": ([[0.0, float("nan")]] * 20, LabelError.missing_in_list("labels", 0)),
    "sums beyond small integers": (
        sparse.coo_matrix((np.array([255, 2], np.uint8), ([0, 0], [1, 1])), (20, 3)),
        LabelError.not_indicator("labels", 0, 1, 257),
    ),
    "other objects": (
        np.full((20, 3), "a", dtype=object),
        LabelError.one_label_per_row("labels", "an array of shape (20, 3)"),
    ),
    "absent labels": ([[rs.ABSENT, "a"], *NAMES[1:]], LabelError.absent_among_several("labels", 0)),
    "no label anywhere": (np.zeros((20, 3)), LabelError.no_labels_at_all(20)),
    "empty lists": ([[]] * 20, LabelError.no_labels_at_all(20)),
    "fewer booleans": ([*MASK.tolist()[:-1], [True, False]], LabelError.booleans("labels", 19, OTHER.format(2))),
    "more booleans": ([[True] * 4, *MASK.tolist()[1:]], LabelError.booleans("labels", 0, OTHER.format(4))),
    "no booleans": ([*MASK.tolist()[:-1], []], LabelError.booleans("labels", 19, OTHER.format(0))),
    "one boolean": ([[True]] * 20, LabelError.booleans("labels", 0, OTHER.format(1))),
    "booleans and names": ([[True, "a", False]] * 20, LabelError.booleans("labels", 0, BESIDE)),
    "booleans and numbers": ([[True, False, 1]] * 20, LabelError.booleans("labels", 0, BESIDE)),
    "booleans in some rows": ([*NAMES[:-1], [True, False, True]], LabelError.booleans("labels", 0, BESIDE)),
    "a set of booleans": ([{True, False}] * 20, LabelError.booleans("labels", 0, "a set, which has no order")),
    "lists of 0 and 1": (MASK.astype(int).tolist(), LabelError.zeros_and_ones("labels", 3)),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_labels_get_a_sentence(name):
    labels, error = BAD[name]
    with refused(error):
        calibrate(labels)


@pytest.mark.parametrize("labels", [MASK, MASK.astype(int), NAMES, NUMBERS], ids=["booleans", "0/1", "names", "lists"])
def test_several_labels_without_a_target_are_refused_with_the_names_of_targets(labels):
    with pytest.raises(LabelError, match=r"target=rankset\.Recall\(\) or target=rankset\.AllLabels\(\)"):
        rs.calibrate(PROBS, labels, kind="marginals", classes=CLASSES)


def test_booleans_without_class_names_are_no_column_numbers():
    assert calibrate(MASK.tolist(), classes=None) == calibrate(MASK, classes=None)
    assert calibrate(MASK.tolist(), classes=[1, 0, 2]) == calibrate(MASK, classes=[1, 0, 2])
    with refused(LabelError.booleans("labels", 0, "2 booleans for 3 classes")):
        calibrate([[True, False]] * 20, classes=None)


def test_booleans_that_are_names_of_classes_are_not_guessed():
    two = rs.calibrate(PROBS[:, :2], MASK[:, :2], target="recall", kind="marginals", classes=[False, True])
    lists = [[bool(k) for k in np.flatnonzero(row)] for row in MASK[:, :2]]
    assert rs.calibrate(PROBS[:, :2], lists, target="recall", kind="marginals", classes=[False, True]) == two
    with refused(LabelError.zeros_and_ones("labels", 2)):
        rs.calibrate(PROBS[:, :2], [[True, False]] * 20, target="recall", kind="marginals", classes=[False, True])


@pytest.mark.parametrize("named", [False, True])
def test_booleans_are_one_per_candidate(named):
    counts = [3, 2, 3, 1] * 5
    rows = [row[:count] for row, count in zip(PROBS.tolist(), counts, strict=True)]
    if named:
        rows = [dict(zip(["x", 1, 0], row, strict=False)) for row in rows]
    ragged = rs.Ragged.of(rows)
    marks = [row[:count] for row, count in zip(MASK.tolist(), counts, strict=True)]
    options = {"target": "recall", "kind": "marginals"}
    names = ["x", 1, 0] if named else [0, 1, 2]
    lists = [[name for name, mark in zip(names, row, strict=False) if mark] for row in marks]
    assert rs.calibrate(ragged, marks, **options) == rs.calibrate(ragged, lists, **options)
    with refused(LabelError.booleans("labels", 1, "3 booleans for 2 classes")):
        rs.calibrate(ragged, MASK.tolist(), **options)


@pytest.mark.parametrize("position", [(0, 0), (7, 2)])
@pytest.mark.parametrize("value", [-0.1, 1.5, np.inf, -np.inf, np.nan, 40.0])
def test_marginals_must_lie_between_0_and_1(position, value):
    wrong = PROBS.copy()
    wrong[position] = value
    largest = float(np.nanmax(wrong))
    expected = InputError.not_marginal("probs", *position, value, largest)
    if np.isnan(value):
        expected = InputError.missing("probs", *position)
    with refused(expected):
        calibrate(MASK, wrong)
    with refused(expected):
        KNOWN.predict(wrong, 0.1)


def test_marginal_logits_are_the_sigmoid():
    logits = RNG.normal(size=(20, 3)) * 4
    logits[0] = [-np.inf, np.inf, 800.0]
    with np.errstate(over="ignore"):
        known = 1 / (1 + np.exp(-logits))
    rule = calibrate(MASK, logits, kind="marginal_logits", method="thr")
    np.testing.assert_allclose(rule.calibration.keys[0], np.sort(-known[MASK]), rtol=1e-14)
    logits[3, 1] = np.nan
    with refused(InputError.missing("probs", 3, 1)):
        calibrate(MASK, logits, kind="marginal_logits")


@pytest.mark.parametrize("score", ["aps", "raps", "saps", "average", rs.Tempered(rs.Thr(), 2.0), rs.TieBreak(rs.Aps())])
def test_scores_that_add_up_refuse_marginals(score):
    with pytest.raises(rs.errors.ScoreError, match="sum to 1"):
        calibrate(MASK, method=score)


def test_share_refuses_other_numbers():
    with pytest.raises(rs.errors.ScoreError, match="get probabilities"):
        calibrate(MASK, kind="decision", method="share")


def test_lists_of_scikit_learn_are_a_matrix():
    parts = [np.column_stack((1 - column, column)) for column in PROBS.T]
    assert calibrate(MASK, parts) == KNOWN
    assert KNOWN.predict(parts, 0.2) == KNOWN.predict(PROBS, 0.2)
    with refused(InputError.single_label(1, (20, 1), (20, 2))):
        calibrate(MASK, [parts[0], parts[1][:, :1], parts[2]])
    with refused(InputError.single_label_sum(2, 0, float(2 * parts[2][0, 1]))):
        calibrate(MASK, [parts[0], parts[1], parts[2][:, [1, 1]]])


def test_an_index_of_labels_must_be_that_of_the_rows():
    rows = pd.DataFrame(PROBS, columns=CLASSES, index=range(100, 120))
    assert calibrate(pd.Series(NAMES, index=rows.index), rows) == KNOWN
    other = rows.index[::-1]
    for labels in (pd.Series(NAMES, index=other), pd.DataFrame(MASK, columns=CLASSES, index=other)):
        with refused(InputError.other_order("labels", "the rows")):
            calibrate(labels, rows)


def test_candidates_of_ragged_rows_can_have_several_labels():
    rows = rs.Ragged.of([[0.9, 0.2], [0.7, 0.6, 0.1], [0.3]])
    rule = rs.calibrate(rows, [[0], [0, 1], [0]], target="recall", kind="decision", method="thr")
    assert rule.n == 3
    with refused(LabelError.padding(0, 2, 2)):
        rs.calibrate(rows, [[2], [0], [0]], target="recall", kind="decision", method="thr")
    named = rs.Ragged.of([{"x": 0.9, "y": 0.2}, {"u": 0.7, "v": 0.6, "w": 0.1}, {"z": 0.3}])
    same = rs.calibrate(named, [["x"], ["u", "v"], ["z"]], target="recall", kind="decision", method="thr")
    assert np.array_equal(same.calibration.keys[0], rule.calibration.keys[0])
    sets = same.predict(named, 0.5)
    assert sets.recall([["x"], ["u", "v"], ["z"]]).shape == (3,)
    with pytest.raises(LabelError, match="be among the candidates of their rows"):
        rs.calibrate(named, [["u"], ["u"], ["z"]], target="recall", kind="decision", method="thr")


def test_parts_without_labels_can_be_added():
    empty = np.zeros((5, 3))
    for target in ("recall", "all", "any", "missed:1"):
        rule = calibrate(MASK, target=target)
        more = rule.update(PROBS[:5], empty)
        assert (more.n, more.set_aside) == (rule.n, rule.set_aside + 5)
        assert more.predict(PROBS, 0.2) == rule.predict(PROBS, 0.2)
    with refused(LabelError.no_false_labels(20)):
        calibrate(np.ones((20, 3)), target="certain")


def test_errors_say_what_to_do_with_lists():
    for unknown, advice in {
        "": "For a row without labels pass an empty list.",
        "a;b": "Split texts into names: text.split(';').",
        3: "use [[classes[k] for k in row] for row in labels]",
    }.items():
        told = str(LabelError.unknown_in_list("labels", 0, [unknown], CLASSES))
        assert advice in told
        assert "target=" not in told
        assert "ABSENT" not in told
    assert "Pass --label-sep ','." in LabelError.unknown_in_list("labels", 0, ["a, b"], CLASSES).render(COMMAND_LINE)
    assert "Write 1 if the label is true" in str(InputError.missing("labels", 4, 1))
    assert "the model" in str(InputError.missing("probs", 4, 1))


def test_numbers_that_can_be_two_classes_are_explained():
    names = ["Class1", "Class2", "Class3"]
    with refused(LabelError.two_readings("labels", 0, 1, "Class2", "Class1", NAMES_OF_LISTS)) as caught:
        rs.calibrate(PROBS, NUMBERS, target="recall", kind="marginals", classes=names)
    assert "[[classes[k] for k in row] for row in labels]" in str(caught.value)
    with refused(LabelError.two_readings("labels", 0, 1, "Class2", "Class1", NAMES_OF_NUMBERS)) as caught:
        rs.calibrate(PROBS, [0, 1] * 10, kind="marginals", classes=names)
    assert "np.array(classes)[labels]" in str(caught.value)


def test_sets_name_their_own_methods_for_several_labels():
    sets = KNOWN.predict(PROBS, 0.2)
    for labels in (MASK, MASK.astype(int), NAMES, np.eye(3, dtype=int)[np.arange(20) % 3]):
        with pytest.raises(LabelError, match=r"use covers_all\(labels\) or recall\(labels\)") as caught:
            sets.covers(labels)
        assert "target=" not in str(caught.value)
