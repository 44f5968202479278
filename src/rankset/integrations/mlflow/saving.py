"""``save_model`` and ``log_model``: a rule as an MLflow model."""

from __future__ import annotations

import os
import runpy
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rankset.core.alpha import Alpha, exact_alpha
from rankset.core.alpha_argument import takes_alpha
from rankset.errors import KindError, LevelError, Place, RanksetError, located, needs_extra
from rankset.integrations.mlflow import signatures
from rankset.integrations.mlflow.telling import check_metadata, check_requirements, metadata_of, requirements_of
from rankset.io import atomic
from rankset.rules.rule import Rule
from rankset.rules.select import Empty

CODE = Path(__file__).parent / "in_model" / "rule_model.py"
"""The Python file of a model. It is no module of this package, but code that uses it, as in the folder of a model."""
PROBABILITIES = (
    "The model must return what the rule was calibrated on, a column per class. scikit-learn models do if they are "
    "logged with pyfunc_predict_fn='predict_proba'."
)


@takes_alpha
def save_model(
    rule: Rule,
    path: str | os.PathLike[str],
    *,
    alpha: Alpha = 0.1,
    model: str | os.PathLike[str] | None = None,
    input_example: Any = None,
    groups: str | None = None,
    ids: str | None = None,
    weights: str | None = None,
    empty: Empty = "allow",
    confidence: Alpha | None = None,
    p_values: bool = False,
    pip_requirements: Sequence[str] | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> None:
    """Write a rule as an MLflow model: a folder with the file of the rule and a short Python file. No pickle is used.

    ``mlflow.pyfunc.load_model(path).predict(rows, params={"alpha": 0.05})`` returns a frame with the columns ``labels``
    (lists, most likely first) and ``size``: the sets of ``rule.predict(rows, alpha=0.05)``.

    Parameters
    ----------
    rule
        The rule, as ``calibrate`` or ``load`` returns it.
    path
        The folder to write. It must be empty or not exist. If saving fails, nothing is left there.
    alpha
        The allowed error rate where a request names none.
    model
        Path or URI of an MLflow model, such as "models:/emotions/3", whose outputs the rule takes. It is copied into
        the folder. Default: rows are such outputs themselves.
    input_example
        Some rows, which are stored and tried. Without ``model``, a frame says that rows come with a column per class,
        and a matrix that they come as matrices. Default: a frame of one row of equal outputs. With ``model``: rows for
        that model, by default its own example; they are needed if it has no signature.
    groups, ids, weights
        Name of the column with the group, the id or the weight of each row, if the rule needs them. The ``model`` gets
        such a column only if its signature names it.
    empty, confidence
        As in ``Rule.predict``.
    p_values
        Whether answers have a further column ``p_values``: a list with the p-value of every class, in column order.
    pip_requirements
        Packages to install for the model, as lines of a requirements file in a list: ["rankset", "numpy>=2"]. Default:
        these versions of rankset and NumPy, and what ``model`` lists.
    metadata
        Further entries of the metadata of the model: texts, numbers, and lists or dicts of them. rankset adds the entry
        "rankset", with score, condition, alpha, number of calibration rows, and what is proven.

    Raises
    ------
    FileError
        If the folder has files in it, or cannot be written, for example because the disk is full.
    RanksetError
        If an argument is invalid, or the rule cannot predict the rows of ``input_example``.

    Examples
    --------
    >>> import tempfile, mlflow, rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rule = rs.calibrate(probs[:200], labels[:200])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rs.mlflow.save_model(rule, f"{folder}/sets", input_example=probs[200:202])
    ...     model = mlflow.pyfunc.load_model(f"{folder}/sets")
    >>> model.predict(probs[200:], params={"alpha": 0.05})["labels"].tolist() == rule.predict(
    ...     probs[200:], alpha=0.05
    ... ).to_lists()
    True
    """
    options = Options(alpha, groups, ids, weights, empty, confidence, p_values)
    if not isinstance(path, str | os.PathLike):
        raise KindError.argument("path", "the path of a folder", path)
    atomic.check_folder(path)
    with (
        _model_parts(rule, options, model, input_example, pip_requirements, metadata) as parts,
        atomic.open_folder(path) as folder,
        _errors_of_the_system(),
    ):
        import mlflow

        mlflow.pyfunc.save_model(path=os.fspath(folder), **parts)


@takes_alpha
def log_model(
    rule: Rule,
    name: str,
    *,
    alpha: Alpha = 0.1,
    model: str | os.PathLike[str] | None = None,
    input_example: Any = None,
    groups: str | None = None,
    ids: str | None = None,
    weights: str | None = None,
    empty: Empty = "allow",
    confidence: Alpha | None = None,
    p_values: bool = False,
    pip_requirements: Sequence[str] | None = None,
    metadata: Mapping[str, Any] | None = None,
    registered_model_name: str | None = None,
    tags: Mapping[str, Any] | None = None,
) -> Any:
    """Log a rule as an MLflow model, to the active run and tracking server.

    Parameters
    ----------
    rule
        The rule, as ``calibrate`` or ``load`` returns it.
    name
        Name of the logged model.
    alpha, model, input_example, groups, ids, weights, empty, confidence, p_values, pip_requirements, metadata
        As in ``save_model``.
    registered_model_name
        Name in the registry of models, of which this becomes a version.
    tags
        Tags of the logged model.

    Returns
    -------
    mlflow.models.model.ModelInfo
        Its ``model_uri`` can be passed to ``mlflow.pyfunc.load_model``.

    Raises
    ------
    RanksetError
        If an argument is invalid, or the rule cannot predict the rows of ``input_example``.

    Examples
    --------
    >>> import tempfile, mlflow, rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
    ...     number = mlflow.create_experiment("sets", artifact_location=f"file://{folder}/artifacts")
    ...     with mlflow.start_run(experiment_id=number):
    ...         logged = rs.mlflow.log_model(rs.calibrate(probs, labels), name="sets")
    ...     mlflow.pyfunc.load_model(logged.model_uri).metadata.metadata["rankset"]["n"]
    260
    """
    options = Options(alpha, groups, ids, weights, empty, confidence, p_values)
    with _model_parts(rule, options, model, input_example, pip_requirements, metadata) as parts:
        import mlflow

        more = {"registered_model_name": registered_model_name, "tags": None if tags is None else dict(tags)}
        return mlflow.pyfunc.log_model(name=name, **parts, **more)


@dataclass(frozen=True)
class Options:
    """How the model predicts."""

    alpha: Alpha
    groups: str | None
    ids: str | None
    weights: str | None
    empty: Empty
    confidence: Alpha | None
    p_values: bool

    @property
    def beside(self) -> dict[str, str]:
        """Names of the columns that are no outputs, by what they hold."""
        columns = {"groups": self.groups, "ids": self.ids, "weights": self.weights}
        return {name: column for name, column in columns.items() if column is not None}

    @property
    def stored(self) -> dict[str, Any]:
        """What the folder of the model keeps, as texts and numbers."""
        confidence = None if self.confidence is None else as_float("confidence", self.confidence)
        return {**vars(self), "alpha": as_float("alpha", self.alpha), "confidence": confidence}

    def check(self, rule: Rule) -> None:
        """Raise an error if the rule cannot predict in this way."""
        if not isinstance(rule, Rule):
            raise KindError.argument("rule", "a rule, as calibrate and load return it", rule)
        needs = {"groups": rule.condition.needs_groups, "ids": rule.spec.with_ids, "weights": rule.spec.weighted}
        for name, column in {"groups": self.groups, "ids": self.ids, "weights": self.weights}.items():
            if not isinstance(column, str) and (column is not None or needs[name]):
                why = f", because the rule was calibrated with {name}" if needs[name] else ""
                raise KindError.argument(name, f"the name of a column{why}", column)
        if not isinstance(self.p_values, bool):
            raise KindError.argument("p_values", "True or False", self.p_values)
        rule.at(self.alpha, confidence=self.confidence)


def as_float(name: str, level: Alpha) -> float:
    """Return a level as requests write it; raise an error if that is another level."""
    exact = exact_alpha(level)
    if exact_alpha(float(exact)) != exact:
        raise LevelError.not_a_decimal(name, level)
    return float(exact)


@contextmanager
def _model_parts(
    rule: Rule,
    options: Options,
    model: str | os.PathLike[str] | None,
    example: Any,
    requirements: Sequence[str] | None,
    metadata: Mapping[str, Any] | None,
) -> Iterator[dict[str, Any]]:
    """Give the arguments of ``mlflow.pyfunc.save_model``, whose files exist inside only; the example is tried."""
    options.check(rule)
    with needs_extra("rankset.mlflow"):
        import mlflow
    check_requirements(requirements)
    check_metadata(metadata)
    with TemporaryDirectory() as folder:
        artifacts = {"rule": f"{folder}/rule.rankset"} | _fetched(model, folder)
        rule.save(artifacts["rule"])
        if model is None:
            example = signatures.checked_example(rule, example, options.beside)
            inputs = signatures.inputs_of_outputs(rule, example, options.beside)
        else:
            inside = mlflow.models.Model.load(artifacts["model"])
            if example is None and not options.beside:
                example = inside.load_input_example(artifacts["model"])
            inputs = signatures.inputs_of_model(rule, inside, example, options.beside)
        _try_out(artifacts, options.stored, example)
        place = artifacts.get("model")
        yield {
            "python_model": shutil.copy(CODE, folder),
            "artifacts": artifacts,
            "signature": signatures.signature_of(rule, inputs, options.stored["alpha"], p_values=options.p_values),
            "input_example": example,
            "pip_requirements": requirements_of(None if place is None else Path(place), requirements),
            "metadata": {**(metadata or {}), "rankset": metadata_of(rule, options.alpha, options.confidence)},
            "model_config": options.stored,
        }


@contextmanager
def _errors_of_the_system() -> Iterator[None]:
    """Raise an error of the system as it is; MLflow replaces some, for example those of a full disk."""
    from mlflow.exceptions import MlflowException

    try:
        yield
    except MlflowException as error:
        reason = error.__cause__ or error.__context__
        if isinstance(reason, OSError):
            raise reason from None
        raise


def _fetched(model: object, folder: str) -> dict[str, str]:
    """Return the artifact with the model whose outputs the rule takes, as a path; empty if there is none."""
    if model is None:
        return {}
    if not isinstance(model, str | os.PathLike):
        expected = "a path or URI of an MLflow model, such as 'models:/name/1'"
        raise KindError.argument("model", expected, type(model).__name__)
    import mlflow

    return {"model": mlflow.artifacts.download_artifacts(os.fspath(model), dst_path=folder)}


def _try_out(artifacts: dict[str, str], stored: dict[str, Any], example: Any) -> None:
    """Predict the example as the model will; raise the error of the rule if it cannot."""
    if example is None:
        return
    from mlflow.exceptions import MlflowException
    from mlflow.pyfunc import PythonModelContext

    tried, context = _code()["RuleModel"](), PythonModelContext(artifacts, stored)
    tried.load_context(context)
    try:
        tried.predict(context, example)
    except MlflowException as error:
        if not isinstance(error.__cause__, RanksetError):
            raise
        found = error.__cause__
        found.remedy = found.remedy if tried.model is None else PROBABILITIES
        with located(Place(part="input_example" if tried.model is None else "outputs of the model")):
            raise found from None


def _code() -> dict[str, Any]:
    """Return the names in the Python file of a model, after it was run."""
    return runpy.run_path(os.fspath(CODE))
