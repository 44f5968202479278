"""A rule behind another MLflow model: inputs of the model go in, sets come out."""

from importlib.metadata import version

import numpy as np
import pytest

import rankset as rs
from rankset.errors import InputError, KindError
from refusals import refused

mlflow = pytest.importorskip("mlflow")
pd = pytest.importorskip("pandas")
linear_model = pytest.importorskip("sklearn.linear_model")

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(400, 3)), columns=["a", "b", "site"])
Y = np.array(["no", "perhaps", "yes"])[np.digitize(X["a"] + X["b"] + RNG.normal(size=400), [-0.7, 0.7])]


@pytest.fixture(scope="module")
def fitted():
    return linear_model.LogisticRegression().fit(X[:200].to_numpy(), Y[:200])


@pytest.fixture(scope="module")
def rule(fitted):
    return rs.calibrate(fitted.predict_proba(X[200:300].to_numpy()), Y[200:300], classes=fitted.classes_)


def logged(model, folder, returns="predict_proba", **options):
    options = {"pip_requirements": ["scikit-learn", "skops"], "serialization_format": "skops"} | options
    mlflow.sklearn.save_model(model, folder / returns, pyfunc_predict_fn=returns, **options)
    return str(folder / returns)


def signature(columns):
    from mlflow.models import infer_signature

    return infer_signature(X[columns])


def test_sets_are_those_of_the_outputs_of_the_model(fitted, rule, tmp_path):
    path = logged(fitted, tmp_path, signature=signature(["a", "b", "site"]), input_example=X[:2])
    rs.mlflow.save_model(rule, tmp_path / "sets", model=path)
    model = mlflow.pyfunc.load_model(str(tmp_path / "sets"))
    answers = model.predict(X[300:], params={"alpha": 0.2})
    assert answers["labels"].tolist() == rule.predict(fitted.predict_proba(X[300:].to_numpy()), 0.2).to_lists()
    assert answers.index.tolist() == list(range(300, 400))
    assert model.input_example.equals(X[:2])
    assert {"scikit-learn", "skops", f"rankset=={version('rankset')}"} <= set(
        (tmp_path / "sets" / "requirements.txt").read_text().split()
    )


def test_a_model_of_a_registry(fitted, rule, store, tmp_path):
    options = {"serialization_format": "skops", "pyfunc_predict_fn": "predict_proba", "pip_requirements": ["skops"]}
    with mlflow.start_run(experiment_id=store):
        mlflow.sklearn.log_model(fitted, name="net", registered_model_name="net", input_example=X[:2], **options)
        mlflow_model = rs.mlflow.log_model(rule, "sets", model="models:/net/1")
    answers = mlflow.pyfunc.load_model(mlflow_model.model_uri).predict(X[300:])
    assert answers["labels"].tolist() == rule.predict(fitted.predict_proba(X[300:].to_numpy()), 0.1).to_lists()


@pytest.mark.parametrize("taken", [True, False], ids=["the model takes the column", "it does not"])
def test_a_column_of_groups_beside_the_inputs_of_the_model(taken, tmp_path):
    columns = ["a", "b", "site"] if taken else ["a", "b"]
    rows = X.assign(site=(X["site"] > 0).astype(float))
    model = linear_model.LogisticRegression().fit(rows[:200][columns].to_numpy(), Y[:200])
    probs = model.predict_proba(rows[columns].to_numpy())
    rule = rs.calibrate(
        probs[200:300], Y[200:300], classes=model.classes_, condition=rs.PerGroup(), groups=rows["site"][200:300]
    )
    path = logged(model, tmp_path, signature=signature(columns))
    rs.mlflow.save_model(rule, tmp_path / "sets", model=path, groups="site", input_example=rows[:2])
    answers = mlflow.pyfunc.load_model(str(tmp_path / "sets")).predict(rows[300:])
    assert answers["labels"].tolist() == rule.predict(probs[300:], 0.1, groups=rows["site"][300:]).to_lists()


class TestRefusals:
    def test_labels_in_place_of_outputs(self, fitted, rule, tmp_path):
        path = logged(fitted, tmp_path, "predict", signature=signature(["a", "b", "site"]))
        with refused(KindError, part="outputs of the model", received="an array of <U7") as caught:
            rs.mlflow.save_model(rule, tmp_path / "sets", model=path, input_example=X[:3])
        assert "pyfunc_predict_fn='predict_proba'" in str(caught.value)
        assert not (tmp_path / "sets").exists()

    def test_another_number_of_classes(self, fitted, tmp_path):
        path = logged(fitted, tmp_path, signature=signature(["a", "b", "site"]))
        other = rs.calibrate([[0.4, 0.6]] * 20, [0, 1] * 10)
        with refused(InputError, part="outputs of the model", received="3 columns"):
            rs.mlflow.save_model(other, tmp_path / "sets", model=path, input_example=X[:3])

    def test_a_fitted_model_that_is_not_logged(self, fitted, rule, tmp_path):
        with refused(KindError, what="model", received="'LogisticRegression'"):
            rs.mlflow.save_model(rule, tmp_path / "sets", model=fitted)

    def test_a_model_without_a_signature_needs_an_example(self, fitted, rule, tmp_path):
        path = logged(fitted, tmp_path)
        with refused(KindError, what="input_example", received="None"):
            rs.mlflow.save_model(rule, tmp_path / "sets", model=path)
        rs.mlflow.save_model(rule, tmp_path / "sets", model=path, input_example=X[:3])
        model = mlflow.pyfunc.load_model(str(tmp_path / "sets"))
        assert (
            model.predict(X[300:])["labels"].tolist()
            == rule.predict(fitted.predict_proba(X[300:].to_numpy()), 0.1).to_lists()
        )

    def test_groups_beside_a_matrix(self, fitted, tmp_path):
        probs = fitted.predict_proba(X.to_numpy())
        grouped = rs.calibrate(probs, Y, classes=fitted.classes_, condition=rs.PerGroup(), groups=[1, 2] * 200)
        path = logged(fitted, tmp_path, input_example=X[:2].to_numpy())
        with refused(KindError, what="model"):
            rs.mlflow.save_model(grouped, tmp_path / "sets", model=path, groups="site")

    def test_an_example_without_the_column_of_groups(self, fitted, tmp_path):
        probs = fitted.predict_proba(X.to_numpy())
        grouped = rs.calibrate(probs, Y, classes=fitted.classes_, condition=rs.PerGroup(), groups=[1, 2] * 200)
        path = logged(fitted, tmp_path, signature=signature(["a", "b", "site"]))
        with refused(InputError, what="input_example", received="no 'shop'"):
            rs.mlflow.save_model(grouped, tmp_path / "sets", model=path, groups="shop", input_example=X[:2])
