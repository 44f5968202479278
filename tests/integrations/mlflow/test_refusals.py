"""What cannot become an MLflow model is refused before anything is written; bad rows are refused by the model."""

import contextlib
import errno
import os
from fractions import Fraction

import numpy as np
import pytest

import rankset as rs
from rankset.errors import FileError, InputError, KindError, LabelError, LevelError, RuleError, StorageError
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
    "an object as metadata": (RULE, {"metadata": {"x": object}}, like(KindError, what="metadata['x']")),
    "a number of NumPy as metadata": (
        RULE,
        {"metadata": {"team": "a", "x": [np.float64(1)]}},
        like(KindError, what="metadata['x']", received="[np.float64(1.0)]"),
    ),
    "metadata that are a text": (RULE, {"metadata": "a"}, like(KindError, what="metadata", received="'a'")),
    "the entry of rankset": (RULE, {"metadata": {"rankset": 1}}, like(KindError, what="metadata")),
    "requirements that are a text": (
        RULE,
        {"pip_requirements": "rankset"},
        like(
            KindError,
            what="pip_requirements",
            expected="be a list of texts, such as ['rankset', 'numpy>=2']",
            received="'rankset'",
        ),
    ),
    "requirements that are no texts": (RULE, {"pip_requirements": [1]}, like(KindError, what="pip_requirements")),
    "a file of requirements that is missing": (
        RULE,
        {"pip_requirements": ["rankset", "-r nope"]},
        like(FileError, file="nope", part="pip_requirements"),
    ),
    "a file of constraints that is missing": (
        RULE,
        {"pip_requirements": ["--constraint nope # or another"]},
        like(FileError, file="nope", part="pip_requirements"),
    ),
}


@pytest.mark.parametrize(("rule", "options", "wanted"), CASES.values(), ids=CASES)
def test_what_cannot_be_saved_is_refused_and_nothing_is_written(rule, options, wanted, tmp_path):
    with refused(wanted):
        rs.mlflow.save_model(rule, tmp_path / "sets", **options)
    assert list(tmp_path.iterdir()) == []
    with refused(wanted, **({"what": "log_model"} if wanted.fields.get("what") == "save_model" else {})):
        rs.mlflow.log_model(rule, "sets", **options)


def saved_and_loaded(folder):
    """Whether a rule can be saved there and loaded again."""
    rs.mlflow.save_model(RULE, folder)
    return (
        mlflow.pyfunc.load_model(str(folder)).predict(FRAME)["labels"].tolist()
        == RULE.predict(PROBS[:3], 0.1).to_lists()
    )


@pytest.mark.parametrize("free", [0, 4, 8])
@pytest.mark.parametrize("empty", [True, False], ids=["into an empty folder", "as a new folder"])
def test_a_full_disk_leaves_nothing_of_a_model_and_the_next_try_succeeds(free, empty, small_disk):
    folder = small_disk / "sets"
    if empty:
        folder.mkdir()
    with contextlib.suppress(OSError), (small_disk / "ballast").open("wb", buffering=0) as ballast:
        while ballast.write(bytes(4096)):
            pass
    os.truncate(small_disk / "ballast", (small_disk / "ballast").stat().st_size - 4096 * free)
    with refused(FileError.unwritable(str(folder), os.strerror(errno.ENOSPC))):
        rs.mlflow.save_model(RULE, folder)
    assert sorted(path.name for path in small_disk.rglob("*")) == ["ballast"] + ["sets"] * empty
    (small_disk / "ballast").unlink()
    assert saved_and_loaded(folder)
    assert [path.name for path in small_disk.iterdir()] == ["sets"]


@pytest.mark.parametrize(
    "name",
    ["mlflow.models.Model.save", "mlflow.pyfunc._save_example", "mlflow.pyfunc.model.write_to", "pathlib.Path.rename"],
)
@pytest.mark.parametrize("above", ["", "new/folders/"], ids=["a folder", "folders above it"])
def test_a_write_that_fails_leaves_nothing_and_the_next_try_succeeds(name, above, tmp_path, monkeypatch):
    def refuse(*_arguments, **_options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    folder = tmp_path / f"{above}sets"
    with monkeypatch.context() as patched:
        patched.setattr(name, refuse)
        with refused(FileError.unwritable(str(folder), os.strerror(errno.ENOSPC))):
            rs.mlflow.save_model(RULE, folder)
    assert list(tmp_path.iterdir()) == []
    assert saved_and_loaded(folder)


def test_a_file_of_requirements_that_names_a_missing_one(tmp_path):
    (tmp_path / "more.txt").write_text("-r more.txt\n-r nested.txt\n")
    with refused(FileError, file=str(tmp_path / "nested.txt")):
        rs.mlflow.save_model(RULE, tmp_path / "sets", pip_requirements=[f"-r {tmp_path}/more.txt"])
    assert [path.name for path in tmp_path.iterdir()] == ["more.txt"]


def test_a_folder_with_files_is_refused_and_stays(tmp_path):
    (tmp_path / "sets").mkdir()
    (tmp_path / "sets" / "mine").touch()
    with refused(FileError.folder_taken(str(tmp_path / "sets"), "files in it")):
        rs.mlflow.save_model(RULE, tmp_path / "sets")
    with refused(FileError.folder_taken(str(tmp_path / "sets" / "mine"), "a file")):
        rs.mlflow.save_model(RULE, tmp_path / "sets" / "mine")
    with refused(KindError, what="path", received="3"):
        rs.mlflow.save_model(RULE, 3)
    assert [path.name for path in tmp_path.rglob("*")] == ["sets", "mine"]


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
