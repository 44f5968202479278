"""A rule of rankset as an MLflow model. ``rankset.mlflow.save_model`` copies this file into the folder of the model.

The artifact "rule" is the file of the rule, which holds data only. The artifact "model", if there is one, is an MLflow
model whose outputs the rule takes. Of rankset, public names are used only: copies of this file must work with later
versions.
"""

from typing import Any

import mlflow
import numpy as np
import pandas as pd
from mlflow.exceptions import MlflowException

import rankset


class RuleModel(mlflow.pyfunc.PythonModel):
    """Answers with a set of labels for every row."""

    def load_context(self, context: Any) -> None:
        """Read the rule, and the model whose outputs it takes, if there is one."""
        self.rule = rankset.load(context.artifacts["rule"])
        inside = context.artifacts.get("model")
        self.model = None if inside is None else mlflow.pyfunc.load_model(inside)

    def predict(
        self,
        context: Any,
        model_input: pd.DataFrame,  # or a matrix; MLflow knows no type for both
        params: dict[str, Any] | None = None,
    ) -> pd.DataFrame:
        """Return a frame with the columns ``labels`` (most likely first), ``size``, and ``p_values`` if asked for."""
        options = context.model_config
        alpha = (params or {}).get("alpha", options["alpha"])
        per_row = {name: model_input[options[name]].tolist() for name in ("groups", "ids", "weights") if options[name]}
        try:
            outputs = self.outputs(model_input, [options[name] for name in per_row])
            sets = self.rule.predict(
                outputs, alpha, **per_row, empty=options["empty"], confidence=options["confidence"]
            )
            p_values = self.rule.p_values(outputs, **per_row) if options["p_values"] else None
        except rankset.RanksetError as error:  # a server of MLflow answers with the text of its own exceptions only
            if "kind=" in str(error):  # an argument of Python, which nobody can send
                error.remedy = f"The rule of this model takes outputs of kind {self.rule.kind!r}."
            raise MlflowException.invalid_parameter_value(str(error)) from error
        answers = pd.DataFrame({"labels": sets.to_lists(), "size": sets.sizes}, index=index_of(model_input))
        return answers if p_values is None else answers.assign(p_values=p_values.tolist())

    def outputs(self, rows: Any, beside: list[str]) -> Any:
        """Return what the rule takes: outputs of the model for the rows, or the rows themselves, in column order."""
        if self.model is not None:
            schema = self.model.metadata.get_input_schema()
            known = schema.input_names() if schema is not None and schema.has_input_names() else []
            unknown = [name for name in beside if name not in known]
            rows = matrix_in(self.model.predict(rows.drop(columns=unknown) if unknown else rows))
        if isinstance(rows, pd.DataFrame) and not isinstance(rows.columns, pd.RangeIndex):
            classes = [str(name) for name in self.rule.classes]
            names = classes[1:] if self.rule.kind == "binary" else classes
            missing = [name for name in names if name not in rows]
            if missing:
                raise MlflowException.invalid_parameter_value(f"a column per class is needed, these lack: {missing}")
            rows = rows[names]
        values = np.asarray(rows)
        return values.ravel() if self.rule.kind == "binary" and values.shape[1:] == (1,) else values


def index_of(rows: Any) -> Any:
    """Return the index of a frame; None for a matrix."""
    return rows.index if isinstance(rows, pd.DataFrame) else None


def matrix_in(returned: Any) -> Any:
    """Return the matrix among several outputs of a model by name (ONNX), or what it returned."""
    if not isinstance(returned, dict):
        return returned
    matrices = [value for value in returned.values() if np.ndim(value) == 2]
    return matrices[0] if len(matrices) == 1 else returned


mlflow.models.set_model(RuleModel())
