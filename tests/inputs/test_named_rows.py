"""Rows as dictionaries: matched by name, the same rule as from a matrix."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankset as rs
from rankset.errors import InputError, KindError, LabelError, RuleError
from refusals import refused
from strategies import SCORES, problems, rows

RNG = np.random.default_rng(8)
NAMES = ["q1", "q2", "q10"]
PROBS = RNG.dirichlet(np.ones(3), 60)
TRUTH = [NAMES[code] for code in RNG.integers(0, 3, 60)]
ROWS = [dict(zip(NAMES, row.tolist(), strict=True)) for row in PROBS]
RULE = rs.calibrate(PROBS, TRUTH, classes=NAMES)


def shuffled(row):
    names = list(row)
    return {name: row[name] for name in RNG.permutation(names).tolist()}


def test_the_order_of_names_within_rows_and_of_rows_makes_no_difference():
    mixed = [shuffled(row) for row in ROWS]
    assert rs.calibrate(mixed, TRUTH) == RULE
    back = rs.calibrate(mixed[::-1], TRUTH[::-1])
    assert back == RULE
    assert back.classes.tolist() == NAMES
    assert RULE.predict(mixed, 0.2) == RULE.predict(PROBS, 0.2)
    assert (RULE.p_values(mixed) == RULE.p_values(PROBS)).all()


@given(problems(score=st.sampled_from(SCORES), condition=st.just(rs.Marginal())), st.data())
def test_names_that_a_row_lacks_have_probability_0(problem, data):
    n_columns = problem.probs.shape[1]
    kept = [
        {f"c{column}": value for column, value in enumerate(row) if value > 0 or data.draw(st.booleans())}
        for row in problem.probs.astype(np.float64).tolist()
    ]
    names = [f"c{column}" for column in range(n_columns)]
    labels = [names[code] for code in problem.labels]
    asked = {"score": problem.score, "ids": problem.ids, "classes": names}
    expected = rs.calibrate(problem.probs.astype(np.float64), labels, **asked)
    assert rs.calibrate(kept, labels, **asked) == expected


@given(rows(12, 4))
def test_log_probabilities_of_a_part_are_divided_by_their_sum(probs):
    with np.errstate(divide="ignore"):
        logits = np.log(probs.astype(np.float64))
    named = [{place: value for place, value in enumerate(row) if value > -np.inf} for row in logits.tolist()]
    labels = probs.argmax(axis=1).tolist()
    rule = rs.calibrate(logits, labels, kind="logits")
    assert rs.calibrate(named, labels, kind="logits", classes=range(4)) == rule
    top = [dict(sorted(row.items(), key=lambda one: -one[1])[:2]) for row in named]
    part = rs.calibrate(top, labels, kind="logits", classes=range(4))
    wanted = [[np.exp(row[k]) / sum(map(np.exp, row.values())) if k in row else 0.0 for k in range(4)] for row in top]
    assert np.allclose(part.calibration.keys[1], rs.calibrate(wanted, labels).calibration.keys[1])


def test_every_container_and_every_function_takes_them():
    series = pd.Series(ROWS, index=range(100, 160))
    assert rs.calibrate(series, pd.Series(TRUTH, index=range(100, 160))) == RULE
    assert RULE.predict(series, 0.2).to_frame().index.tolist() == list(range(100, 160))
    with pytest.raises(InputError, match="another order"):
        rs.calibrate(series, pd.Series(TRUTH, index=range(100, 160)).iloc[::-1])
    array = np.empty(60, dtype=object)
    array[:] = ROWS
    assert rs.calibrate(array, TRUTH) == RULE == rs.calibrate(tuple(ROWS), TRUTH)
    assert rs.calibrate(ROWS[:30], TRUTH[:30]).update(ROWS[30:], TRUTH[30:]) == RULE
    assert rs.auto(ROWS, TRUTH, 0.2) == rs.auto(PROBS, TRUTH, 0.2, classes=NAMES)
    shared = {"scores": [rs.Rank(), rs.Thr()], "repeats": 2}
    assert repr(rs.compare(ROWS, TRUTH, 0.2, **shared)) == repr(rs.compare(PROBS, TRUTH, 0.2, classes=NAMES, **shared))
    assert rs.choose([rs.Rank(), rs.Thr()], ROWS, TRUTH) == rs.choose(
        [rs.Rank(), rs.Thr()], PROBS, TRUTH, classes=NAMES
    )
    assert RULE.expected_size(ROWS, 0.2) == RULE.expected_size(PROBS, 0.2)
    assert rs.calibrate([{0: 0.25, 1: 0.75}] * 9, [1] * 9).classes.tolist() == [0, 1]
    told = [{"score": 0.25, "price": 0.75}] * 9
    assert rs.calibrate(told, ["price"] * 9).classes.tolist() == ["price", "score"]


def test_counts_become_frequencies():
    counts = [Counter("AAB"), Counter("BBCC"), Counter("A")] * 10
    shares = rs.frequencies(counts, classes=list("ABC"))
    labels = ["A", "C", "A"] * 10
    assert rs.calibrate(counts, labels) == rs.calibrate(shares, labels, classes=list("ABC"))
    with refused(InputError.counts_kind("probs", 0, "logits")):
        rs.calibrate(counts, labels, kind="logits")
    for wrong, total in ((Counter(A=0), 0), (Counter(A=3, B=-1), 2)):
        with refused(InputError.counts("probs", 1, total)):
            rs.calibrate([Counter("A"), wrong], ["A", "A"])


def test_lists_of_tokens_are_rows():
    as_mappings = [[{"token": k, "logprob": v, "bytes": None} for k, v in row.items()] for row in ROWS]
    as_objects = [[SimpleNamespace(token=k, logprob=v) for k, v in row.items()] for row in ROWS]
    rule = rs.calibrate(ROWS, TRUTH, kind="decision")
    assert rs.calibrate(as_mappings, TRUTH, kind="decision") == rule
    assert rs.calibrate(as_objects, TRUTH, kind="decision") == rule
    with refused(LabelError.duplicate_candidates(0, ["A"])):
        rs.calibrate([[{"token": "A", "logprob": -1.0}] * 2], ["A"], kind="logits")


def test_other_forms_of_tokens_are_rows():
    texts = [[{"text": k, "logprob": v} for k, v in row.items()] for row in ROWS]
    pairs = [list(row.items()) for row in ROWS]
    lists = [[list(pair) for pair in row.items()] for row in ROWS]
    tops = [[{"token": k, "logprob": v} for k, v in row.items()] for row in ROWS]
    positions = [{"token": "?", "logprob": -9.0, "top_logprobs": top} for top in tops]
    objects = [
        SimpleNamespace(text="?", logprob=-9.0, top_logprobs=[SimpleNamespace(**one) for one in top]) for top in tops
    ]
    rule = rs.calibrate(ROWS, TRUTH, kind="decision")
    for form in (texts, pairs, lists, positions, [[one] for one in positions], objects, [[one] for one in objects]):
        assert rs.calibrate(form, TRUTH, kind="decision") == rule
        assert (rs.Ragged.of(form).values == rs.Ragged.of(ROWS).values).all()
    with refused(KindError.named_row("probs", 0, positions[:2])):
        rs.calibrate([positions[:2]], ["A"], kind="logits")
    assert "{'token': 'A', 'logprob': -0.1}" in str(KindError.named_row("probs", 0, positions[:2]))
    assert rs.normalise_answers([["Paris", "Lyon"], ["A", "B"]]) == [["paris", "lyon"], ["a", "b"]]


def test_rows_without_candidates_are_not_to_be_dropped():
    for some in ([{"A": 0.5}, {}], [[0.5], []]):
        with pytest.raises(InputError, match=r"rankset\.ABSENT.*coverage would look higher"):
            rs.Ragged.of(some)


@pytest.mark.parametrize(
    ("row", "error"),
    [
        ({"q3": 1.0}, InputError.unknown_names("probs", 1, ["q3"], NAMES)),
        ({}, InputError.no_candidates("probs", 1)),
        ({"q1": "1.0"}, KindError.cell("probs", 1, "q1", "1.0")),
        ({"q1": None}, KindError.cell("probs", 1, "q1", None)),
        ({"q1": 2**60 + 1}, InputError.not_exact("probs", 1, "q1", 2**60 + 1)),
        ([0.5, 0.3, 0.2], KindError.named_row("probs", 1, [0.5, 0.3, 0.2])),
        ({"q1": float("nan")}, InputError.missing("probs", 1, 0)),
        ({"q1": 0.5}, InputError.row_sum("probs", 1, 0.5)),
        ({"q1": -0.5, "q2": 1.5}, InputError.negative("probs", 1, 0, -0.5, 1.0)),
    ],
    ids=str,
)
def test_a_row_that_is_wrong_is_named(row, error):
    with refused(error):
        RULE.predict([ROWS[0], row], 0.2)


def test_other_mistakes():
    with refused(InputError.named_binary("probs")):
        rs.calibrate(ROWS, TRUTH, kind="binary")
    with pytest.raises(RuleError):
        rs.calibrate(ROWS, TRUTH, kind="x")
    with refused(LabelError.unknown("labels", 0, ["q4"], tuple(NAMES))):
        rs.calibrate(ROWS, ["q4", *TRUTH[1:]])
    wide = rs.calibrate(ROWS, ["q4", *TRUTH[1:]], classes=[*NAMES, "q4"])
    assert wide.classes.tolist() == [*NAMES, "q4"]
    assert rs.calibrate(ROWS, [rs.ABSENT, *TRUTH[1:]]).calibration.n_absent == 1


def test_structs_of_polars_and_arrow_are_matched_by_name():
    rows = [{"A": 0.8, "B": 0.2}, {"A": 0.1, "B": 0.9}] * 20
    turned = [{"B": row["B"], "A": row["A"]} for row in rows]
    rule = rs.calibrate(rows, ["A", "B"] * 20)
    for structs in (pl.Series(turned), pa.array(turned), pa.chunked_array([pa.array(turned)])):
        assert rs.calibrate(structs, ["A", "B"] * 20) == rule
        assert rule.predict(structs, alpha=0.1) == rule.predict(rows, alpha=0.1)
    gaps = pl.Series([{"A": 1.0, "B": None}, {"A": None, "B": 1.0}] * 20)
    assert rule.predict(gaps, alpha=0.1) == rule.predict([{"A": 1.0}, {"B": 1.0}] * 20, alpha=0.1)
