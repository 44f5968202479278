"""What Hugging Face's Trainer and pipelines return, and answers that were sampled, give the sets of plain matrices."""

from collections import Counter, UserDict, namedtuple
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import rankset as rs
from rankset.errors import InputError, KindError, LabelError
from refusals import like, refused

RNG = np.random.default_rng(5)
NAMES = ["LABEL_0", "LABEL_1", "LABEL_2", "LABEL_10"]
PROBS = RNG.dirichlet(np.ones(4), 80)
LABELS = np.array(NAMES)[RNG.integers(0, 4, 80)]
CODES = np.array([NAMES.index(name) for name in LABELS])
RULE = rs.calibrate(PROBS, LABELS, classes=NAMES)
PredictionOutput = namedtuple("PredictionOutput", "predictions label_ids metrics")  # noqa: PYI024


def said(probs):
    """As pipeline(..., top_k=None) tells it: the likeliest label first."""
    return [[{"label": NAMES[k], "score": float(row[k])} for k in np.argsort(-row)] for row in probs]


def zero_shot(probs):
    order = [np.argsort(-row) for row in probs]
    return [
        {"sequence": "…", "labels": [NAMES[k] for k in places], "scores": row[places].tolist()}
        for row, places in zip(probs, order, strict=True)
    ]


@pytest.mark.parametrize("tell", [said, zero_shot])
def test_labels_with_scores_are_matched_by_name(tell):
    rule = rs.calibrate(tell(PROBS), LABELS)
    assert rule == RULE
    assert rule == rs.calibrate(tell(PROBS), LABELS, classes=NAMES)
    assert rule.predict(tell(PROBS), 0.1) == RULE.predict(PROBS, 0.1)
    assert rule.p_values(tell(PROBS)).tobytes() == RULE.p_values(PROBS).tobytes()
    assert rule.predict(tell(PROBS)[0], 0.1) == RULE.predict(PROBS[:1], 0.1)
    assert rule.update(tell(PROBS), LABELS).n == 160


def test_what_a_trainer_predicts():
    logits = np.log(PROBS)
    rule = rs.calibrate(logits, CODES, kind="logits")
    outputs = [
        PredictionOutput(logits, CODES, {}),
        PredictionOutput((logits, np.zeros((80, 3, 7))), CODES, {}),
        SimpleNamespace(logits=logits),
        (logits, np.zeros((80, 9))),
        (logits,),
    ]
    for output in outputs:
        assert rs.calibrate(output, CODES, kind="logits") == rule
        assert rule.predict(output, 0.1) == rule.predict(logits, 0.1)


def test_rows_in_tuples_are_rows():
    assert rs.calibrate(tuple(map(tuple, PROBS)), CODES) == rs.calibrate(PROBS, CODES)
    assert rs.calibrate(tuple(PROBS), CODES) == rs.calibrate(PROBS, CODES)


@pytest.mark.parametrize(
    ("values", "refusal"),
    [
        (
            [row[:1] for row in said(PROBS)],
            InputError.pipeline_labels("probs", 0, ["LABEL_1", "LABEL_2", "LABEL_10"], []),
        ),
        (
            [row[0] for row in said(PROBS)],
            like(
                KindError,
                what="probs",
                row=0,
                expected="contain a list of {'label': …, 'score': …} per text, with each label once",
            ),
        ),
        (
            [{"label": "LABEL_0", "score": 1.0}, {"label": "LABEL_1", "score": 0.0}],
            InputError.pipeline_labels("probs", 0, ["LABEL_2", "LABEL_10"], []),
        ),
        (
            [*said(PROBS[:2]), [{"label": "LABEL_0"}]],
            like(KindError, what="probs", received="[{'label': 'LABEL_0'}]", row=2),
        ),
        (
            [*said(PROBS[:2]), said(PROBS[:1])[0][:3] * 2],
            like(
                KindError,
                what="probs",
                row=2,
                expected="contain a list of {'label': …, 'score': …} per text, with each label once",
            ),
        ),
        (
            [*said(PROBS[:2]), [{"label": name, "score": "?"} for name in NAMES]],
            like(
                KindError,
                what="probs",
                received="[{'label': 'LABEL_0', 'score': '?'}, {'label': 'LABEL_1', 'score': '?'}, {'labe…",
                row=2,
            ),
        ),
        ([*said(PROBS[:2]), 3], KindError.pipeline_row("probs", 2, 3)),
        (
            [[UserDict(label="wolf", score=1.0)]],
            InputError.pipeline_labels("probs", 0, ["LABEL_0", "LABEL_1", "LABEL_2", "LABEL_10"], ["wolf"]),
        ),
        (
            {"labels": NAMES, "scores": [1.0]},
            like(
                KindError,
                what="probs",
                received="{'labels': ['LABEL_0', 'LABEL_1', 'LABEL_2', 'LABEL_10'], 'scores': [1.0]}",
                row=0,
            ),
        ),
    ],
)
def test_labels_that_do_not_fit_are_refused(values, refusal):
    with refused(refusal):
        RULE.predict(values, 0.1)


def test_sampled_answers_become_frequencies():
    samples = [["B", "A", "B", "B"], ["A"], np.array(["D", "D", "C"])]
    expected = [[0.25, 0.75, 0, 0], [1, 0, 0, 0], [0, 0, 1 / 3, 2 / 3]]
    assert rs.frequencies(samples, ["A", "B", "C", "D"]).tolist() == expected
    assert rs.frequencies([[0, 1, 1], [2, 2, 2]], range(3)).tolist() == [[1 / 3, 2 / 3, 0], [0, 0, 1]]
    assert rs.frequencies([], range(3)).shape == (0, 3)
    assert rs.frequencies([Counter(yes=9, no=1)], ["no", "yes"]).tolist() == [[0.1, 0.9]]
    assert rs.frequencies([iter("ABA")], ["A", "B"]).tolist() == [[2 / 3, 1 / 3]]
    with refused(KindError, what="classes", expected="be a list of names in column order"):
        rs.frequencies([["a"]], {"a", "b"})


def test_a_tuple_of_matrices_that_are_not_one_models_answer_is_refused():
    with refused(InputError, what="probs", expected="have shape (n, K)", received="shape (3, 1, 4)"):
        RULE.predict(tuple(PROBS[row : row + 1] for row in range(3)), 0.1)
    with refused(InputError.ragged("probs")):
        RULE.predict((PROBS[:3], PROBS[:2]), 0.1)


def test_a_frame_may_have_a_class_called_logits():
    table = pd.DataFrame(PROBS, columns=["logits", "predictions", "x", "y"])
    assert rs.calibrate(table, np.array([*table])[CODES]).classes.tolist() == [*table]


def test_odd_labels_are_put_in_an_order():
    names = ["²", "x" * 3, "9" * 5000, ""]
    said_so = [[{"label": name, "score": 0.25} for name in names]] * 5
    assert set(rs.calibrate(said_so, [names[0]] * 5).classes) == set(names)
    with refused(
        KindError,
        what="probs",
        received="[{'label': 'LABEL_0', 'score': 100000000000000000000000000000000000000000000000…",
        row=0,
    ):
        RULE.predict([[{"label": "LABEL_0", "score": 10**400}]], 0.1)


def test_frequencies_tie_and_keep_their_level():
    draws = RNG.integers(0, 4, (400, 5))
    probs, labels = rs.frequencies(draws, range(4)), draws[:, 0]
    for score in (rs.Rank(), rs.TieBreak(rs.Rank()), rs.Aps()):
        ids = np.arange(400) if score != rs.Rank() else None
        rule = rs.calibrate(probs[:200], labels[:200], score=score, ids=None if ids is None else ids[:200])
        sets = rule.predict(probs[200:], 0.2, ids=None if ids is None else ids[200:])
        assert sets.covers(labels[200:]).mean() > 0.7


@pytest.mark.parametrize(
    ("answers", "refusal"),
    [
        ([["A"], []], InputError.no_answers(1)),
        ([["A", "A", "B"], ["x"]], LabelError.unknown("answers", 1, ["x"], ("A", "B"))),
        ([["A", "B"], ["A", None]], LabelError.unknown("answers", 1, [None], ("A", "B"))),
        (["A", "B"], KindError.argument("answers", "one list of answers, or one Counter of answers, per row", "A")),
        ([3, 4], KindError.argument("answers", "one list of answers, or one Counter of answers, per row", 3)),
        (
            [{"A", "B"}],
            like(
                KindError,
                what="answers",
                expected="be one list of answers, or one Counter of answers, per row",
            ),
        ),
        (5, KindError.argument("answers", "a list that contains one list of answers per row", 5)),
        (
            pd.DataFrame({"A": ["A"]}),
            like(
                KindError,
                what="answers",
                received="A 0 A",
                expected="be a list that contains one list of answers per row",
            ),
        ),
    ],
)
def test_answers_that_do_not_fit_are_refused(answers, refusal):
    with refused(refusal) as caught:
        rs.frequencies(answers, ["A", "B"])
    assert "answers" in str(caught.value) or "answer" in str(caught.value)
