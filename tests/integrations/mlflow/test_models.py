"""An MLflow model of a rule answers what the rule answers, and holds no pickle; skipped where MLflow is missing."""

import json
import pickletools
import re
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

import rankset as rs

mlflow = pytest.importorskip("mlflow")
pd = pytest.importorskip("pandas")

LOGITS, LABELS = rs.datasets.load("carer")
CLASSES = list(rs.datasets.DATASETS["carer"].classes)
PROBS = rs.softmax(LOGITS)
SITES = np.where(np.arange(len(LABELS)) % 3, "north", "south")
NEW = slice(1000, 1040)


def calibrated(probs=PROBS, classes=CLASSES, **options):
    labels = [label if classes is None else classes[label] for label in LABELS[:1000].tolist()]
    return rs.calibrate(probs[:1000], labels, classes=classes, **options)


def frame(probs=PROBS, names=CLASSES):
    return pd.DataFrame(np.asarray(probs[NEW], dtype=float), columns=[str(name) for name in names])


def saved(rule, folder, **options):
    rs.mlflow.save_model(rule, folder / "sets", **options)
    return mlflow.pyfunc.load_model(str(folder / "sets"))


def pickles(folder):
    """Files of a folder that are a pickle, by their name or by their opcodes."""
    for path in (path for path in folder.rglob("*") if path.is_file()):
        data = path.read_bytes()
        if "pickle" in path.name or path.suffix in {".pkl", ".joblib", ".pt", ".pth"} or is_pickle(data):
            yield path.name


def is_pickle(data):
    """Whether opcodes of pickle lead from the first byte to STOP, in a file of more than two of them."""
    try:
        return len(list(pickletools.genops(data))) > 2
    except Exception:  # noqa: BLE001 - whatever else the bytes are
        return False


RULES = {
    "rank": {},
    "thr by name": {"method": "thr"},
    "aps per label": {"method": "aps", "condition": rs.PerLabel()},
    "pooled": {"method": "thr", "condition": rs.Pooled()},
    "logits": {"probs": LOGITS, "kind": "logits", "method": "margin"},
    "numbers": {"classes": None},
    "floats": {"classes": [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]},
    "mixed": {"classes": [0, "one", 2.5, "three", "four", "five"]},
}


@pytest.mark.parametrize("options", RULES.values(), ids=RULES)
@pytest.mark.parametrize("alpha", [0.1, 0.05, 0.3])
def test_answers_are_those_of_the_rule(options, alpha, tmp_path):
    rule = calibrated(**options)
    probs = options.get("probs", PROBS)
    model = saved(rule, tmp_path, p_values=True)
    shuffled = frame(probs, rule.classes).iloc[:, ::-1].set_index(np.arange(40) * 7)
    answers = model.predict(shuffled, params={"alpha": alpha})
    sets = rule.predict(probs[NEW], alpha)
    assert answers["labels"].tolist() == sets.to_lists()
    assert answers["size"].tolist() == sets.sizes.tolist()
    assert answers["p_values"].tolist() == rule.p_values(probs[NEW]).tolist()
    assert answers.index.tolist() == list(range(0, 280, 7))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_matrix_as_an_example_makes_a_model_of_matrices(dtype, tmp_path):
    rule = calibrated()
    probs = PROBS.astype(dtype)
    model = saved(rule, tmp_path, input_example=probs[:2], alpha="5%")
    assert str(model.metadata.get_input_schema()) == f"[Tensor('{dtype}', (-1, 6))]"
    assert model.predict(probs[NEW])["labels"].tolist() == rule.predict(probs[NEW], 0.05).to_lists()


def test_the_probability_of_the_second_class_alone(tmp_path):
    chance = PROBS[:, 0]
    labels = np.where(LABELS == 0, "yes", "no")
    rule = rs.calibrate(chance[:1000], labels[:1000], kind="binary", classes=["no", "yes"])
    wanted = rule.predict(chance[NEW], 0.1).to_lists()
    model = saved(rule, tmp_path)
    assert model.metadata.get_input_schema().input_names() == ["yes"]
    assert model.predict(pd.DataFrame({"yes": chance[NEW].astype(float)}))["labels"].tolist() == wanted
    rs.mlflow.save_model(rule, tmp_path / "matrix", input_example=chance[:2])
    assert mlflow.pyfunc.load_model(str(tmp_path / "matrix")).predict(chance[NEW])["labels"].tolist() == wanted


def test_groups_ids_and_weights_are_columns(tmp_path):
    beside = {"groups": SITES, "ids": np.arange(2000), "weights": np.linspace(0.5, 2.0, 2000)}
    first = {name: values[:1000] for name, values in beside.items()}
    rule = calibrated(method="aps", condition=rs.PerGroup(), **first)
    model = saved(rule, tmp_path, groups="site", ids="number", weights="weight")
    new = {name: values[NEW] for name, values in beside.items()}
    rows = frame().assign(site=new["groups"], number=new["ids"], weight=new["weights"])
    assert model.predict(rows)["labels"].tolist() == rule.predict(PROBS[NEW], 0.1, **new).to_lists()
    assert rule.predict(PROBS[NEW], 0.1, **(new | {"groups": new["groups"][::-1]})) != rule.predict(
        PROBS[NEW], 0.1, **new
    )


def test_options_of_predict_are_stored_and_can_be_changed_when_a_model_is_loaded(tmp_path):
    rule = calibrated(method="thr")
    model = saved(rule, tmp_path, alpha=0.4, confidence=0.9, empty="top")
    wanted = rule.predict(PROBS[NEW], 0.4, confidence=0.9, empty="top")
    assert model.predict(frame())["labels"].tolist() == wanted.to_lists()
    assert wanted.to_lists() != rule.predict(PROBS[NEW], 0.4).to_lists()
    other = mlflow.pyfunc.load_model(str(tmp_path / "sets"), model_config={"empty": "allow", "p_values": True})
    answers = other.predict(frame())
    assert 0 in answers["size"].tolist()
    assert len(answers["p_values"][0]) == 6


def test_a_confidence_makes_sets_larger(tmp_path):
    rule = rs.calibrate(PROBS[:60], [CLASSES[label] for label in LABELS[:60]], classes=CLASSES)
    sizes = saved(rule, tmp_path, alpha=0.1, confidence=0.95).predict(frame())["size"].tolist()
    assert sizes == rule.predict(PROBS[NEW], 0.1, confidence=0.95).sizes.tolist()
    assert sum(sizes) > rule.predict(PROBS[NEW], 0.1).sizes.sum()


def test_a_folder_has_the_rule_and_code_and_no_pickle(tmp_path):
    rule = calibrated()
    saved(rule, tmp_path)
    folder = tmp_path / "sets"
    assert list(pickles(folder)) == []
    assert rs.load(folder / "artifacts" / "rule.rankset") == rule
    source = Path(rs.mlflow.__file__).parent / "in_model" / "rule_model.py"
    assert (folder / "rule_model.py").read_bytes() == source.read_bytes()
    needed = (folder / "requirements.txt").read_text().split()
    assert {re.split("[=<>]", line)[0] for line in needed} == {"mlflow", "numpy", "rankset"}
    assert not re.search(r"://|--", (folder / "requirements.txt").read_text())


def test_pickles_are_found(tmp_path):
    import pickle

    (tmp_path / "model").write_bytes(pickle.dumps({"a": [1, 2]}))
    (tmp_path / "data.json").write_text(json.dumps({"a": [1, 2]}))
    assert list(pickles(tmp_path)) == ["model"]


def test_metadata_and_signature_say_what_the_model_is(tmp_path):
    model = saved(calibrated(condition=rs.PerLabel()), tmp_path, alpha=0.2, metadata={"team": "support"})
    told = model.metadata.metadata["rankset"]
    assert model.metadata.metadata["team"] == "support"
    assert (told["score"], told["condition"], told["alpha"], told["n"]) == ("Rank()", "PerLabel()", 0.2, 1000)
    assert told["version"] == version("rankset")
    assert told["proven"] == (
        "the set contains the true label with probability at least 0.8, for every label separately, on average over "
        "calibrations, if new rows and calibration rows are exchangeable"
    )
    signature = model.metadata.signature
    assert signature.inputs.input_names() == CLASSES
    assert [(param.name, param.default) for param in signature.params.params] == [("alpha", 0.2)]
    assert str(signature.outputs) == "['labels': Array(string) (required), 'size': long (required)]"
    assert model.input_example.to_numpy().tolist() == [[1 / 6] * 6]


def test_metadata_do_not_promise_what_is_not_proven(tmp_path):
    told = saved(calibrated()._without_guarantee(), tmp_path).metadata.metadata["rankset"]
    assert told["proven"] == "coverage is not proven, because of a stratified split"
    labels = [*LABELS[:990].tolist(), *([rs.ABSENT] * 10)]
    absent = rs.calibrate(PROBS[:1000], labels)
    rs.mlflow.save_model(absent, tmp_path / "absent", confidence=0.9, alpha=0.1)
    told = mlflow.models.Model.load(str(tmp_path / "absent")).metadata["rankset"]
    assert told["proven"].endswith("exchangeable; less, because 10 calibration rows have an absent label")
    assert "with confidence 0.9 for this calibration" in told["proven"]


def test_a_logged_model_is_found_by_its_uri(store, tmp_path):
    rule = calibrated()
    with mlflow.start_run(experiment_id=store):
        logged = rs.mlflow.log_model(rule, "sets", alpha=0.05, registered_model_name="emotions", tags={"for": "test"})
    for uri in (logged.model_uri, "models:/emotions/1"):
        answers = mlflow.pyfunc.load_model(uri).predict(frame())
        assert answers["labels"].tolist() == rule.predict(PROBS[NEW], 0.05).to_lists()
    assert mlflow.get_logged_model(logged.model_id).tags["for"] == "test"
    assert list(pickles(tmp_path / "artifacts")) == []
    assert list((tmp_path / "artifacts").rglob("rule.rankset"))


def test_alpha_is_the_decimal_of_the_request(tmp_path):
    rule = rs.calibrate(PROBS[:9], LABELS[:9], method="thr")
    model = saved(rule, tmp_path, input_example=PROBS[:2])
    for alpha in (0.1, 0.2, 0.3, 0.7):
        with pytest.warns(rs.RanksetWarning) if alpha > 0.5 else no_warning():
            wanted = rule.predict(PROBS[NEW], str(alpha)).to_lists()
        with pytest.warns(rs.RanksetWarning) if alpha > 0.5 else no_warning():
            assert model.predict(PROBS[NEW], params={"alpha": alpha})["labels"].tolist() == wanted


def no_warning():
    import contextlib

    return contextlib.nullcontext()
