"""What cannot become an MLflow model is refused before anything is written; bad rows are refused by the model."""

from fractions import Fraction

import numpy as np
import pytest

import rankset as rs
from rankset.errors import InputError, KindError, LabelError, LevelError, RuleError, StorageError
from refusals import like, refused

mlflow = pytest.importorskip("mlflow")
pd = pytest.importorskip("pandas")

PROBS, LABELS = rs.datasets.load("marketing")
RULE = rs.calibrate(PROBS, LABELS)
GROUPED = rs.calibrate(PROBS, LABELS, condition=rs.PerGroup(), groups=["a", "b"] * 130)
NAMES = [1, "1", 2, 3]
OWN = rs.calibrate(PROBS, [NAMES[label] for label in LABELS], classes=NAMES)
FRAME = pd.DataFrame(PROBS[:3], columns=list("0123"))


class Own(rs.Score):
    def keys(self, cells):
        return (-cells.prob,)


CASES = {
    "a rule at one level": (RULE.at(0.1), {}, like(KindError, what="rule")),
    "a path": ("rule.rankset", {}, like(KindError, what="rule", received="'rule.rankset'")),
    "alpha of 2": (RULE, {"alpha": 2}, like(LevelError, what="alpha", received="2")),
    "a third": (RULE, {"alpha": Fraction(1, 3)}, like(LevelError, what="alpha", received="Fraction(1, 3)")),
    "a confidence without alpha": (RULE, {"confidence": 0.9}, like(KindError, what="save_model")),
    "a confidence of another library": (RULE, {"coverage": 0.9}, like(KindError, what="save_model")),
    "a long confidence": (RULE, {"alpha": 0.1, "confidence": Fraction(2, 3)}, like(LevelError, what="confidence")),
    "no column of groups": (GROUPED, {}, like(KindError, what="groups", received="None")),
    "groups themselves": (GROUPED, {"groups": ["a"]}, like(KindError, what="groups", received="['a']")),
    "a matrix with groups": (
        GROUPED,
        {"groups": "g", "input_example": PROBS[:2]},
        like(KindError, what="input_example"),
    ),
    "a frame without groups": (GROUPED, {"groups": "g", "input_example": FRAME}, like(InputError, received="no 'g'")),
    "names that are equal as texts": (OWN, {}, like(LabelError, what="class names")),
    "a frame of other columns": (
        RULE,
        {"input_example": FRAME.rename(columns={"2": "two"})},
        like(InputError, what="input_example", received="no '2'"),
    ),
    "texts": (RULE, {"input_example": [["a", "b", "c", "d"]]}, like(KindError, what="input_example")),
    "rows of other sums": (RULE, {"input_example": PROBS[:2] * 2}, like(InputError, part="input_example", row=0)),
    "too few columns": (RULE, {"input_example": PROBS[:2, :3]}, like(InputError, part="input_example")),
    "empty": (RULE, {"empty": "all"}, like(RuleError, what="empty")),
    "p_values": (RULE, {"p_values": 1}, like(KindError, what="p_values")),
}


@pytest.mark.parametrize(("rule", "options", "wanted"), CASES.values(), ids=CASES)
def test_what_cannot_be_saved_is_refused_and_nothing_is_written(rule, options, wanted, tmp_path):
    with refused(wanted):
        rs.mlflow.save_model(rule, tmp_path / "sets", **options)
    assert list(tmp_path.iterdir()) == []


def test_a_score_of_ones_own_has_no_file(tmp_path):
    with refused(StorageError):
        rs.mlflow.save_model(rs.calibrate(PROBS, LABELS, method=Own()), tmp_path / "sets")


def test_certain_labels_have_no_p_values(tmp_path):
    rows = np.random.default_rng(0).random((100, 3))
    rule = rs.calibrate(rows, rows > 0.5, kind="marginals", target="certain")
    with refused(RuleError):
        rs.mlflow.save_model(rule, tmp_path / "sets", p_values=True)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mlflow") / "sets"
    rs.mlflow.save_model(RULE, folder)
    return mlflow.pyfunc.load_model(str(folder))


@pytest.mark.parametrize(
    ("rows", "alpha", "told"),
    [
        (FRAME * 2, 0.1, "probs must have rows that sum to 1 within 0.01, got the sum 2 at row 0"),
        (FRAME.assign(**{"1": np.nan}), 0.1, "probs must"),
        (FRAME, 1.5, "alpha must lie strictly between 0 and 1, got 1.5"),
        (FRAME.drop(columns="1"), 0.1, "Model is missing inputs"),
    ],
    ids=["sums", "NaN", "alpha", "columns"],
)
def test_bad_rows_are_refused_in_words(model, rows, alpha, told):
    with pytest.raises(mlflow.MlflowException, match=told) as caught:
        model.predict(rows, params={"alpha": alpha})
    assert caught.value.error_code in {"INVALID_PARAMETER_VALUE", "INTERNAL_ERROR"}
    assert "missing" in told or isinstance(caught.value.__cause__, rs.RanksetError)
