"""The signature of an MLflow model of a rule, and an example of its input."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from rankset.errors import InputError, KindError, LabelError
from rankset.inputs.frames import is_frame
from rankset.rules.rule import Rule

EVEN = {"logits": 0.0, "decision": 0.0, "marginal_logits": 0.0, "marginals": 0.5, "binary": 0.5}
"""Outputs of a row of which nothing is known, by kind. Probabilities are 1 / K."""
TYPES = {bool: "boolean", int: "long", float: "double", str: "string"}


def checked_example(rule: Rule, given: Any, beside: Mapping[str, str]) -> Any:
    """Return the example of the input, if rows are outputs: a frame, or a matrix of floats. By default a row of equal
    outputs, with a column per class."""
    if given is None:
        return _even_row(rule, beside)
    if is_frame(given):
        if type(given).__module__.partition(".")[0] != "pandas":
            raise KindError.argument("input_example", "a pandas frame or a matrix", type(given).__name__)
        check_columns(given, (*class_columns(rule), *beside.values()))
        return given
    if beside:
        expected = f"a frame with the columns {', '.join(map(repr, beside.values()))} beside those of the classes"
        raise KindError.argument("input_example", expected, type(given).__name__)
    values = np.asarray(given)
    if values.dtype.kind not in "fiub":
        raise KindError.argument("input_example", "a pandas frame or a matrix of numbers", given)
    return values if values.dtype.kind == "f" else values.astype(np.float64)


def check_columns(example: Any, names: Iterable[str]) -> None:
    """Raise an error if a frame lacks one of these columns, or if this is no frame and there must be columns."""
    lacks = [name for name in names if not is_frame(example) or name not in example]
    if lacks:
        raise InputError.example_columns("input_example", lacks)


def _even_row(rule: Rule, beside: Mapping[str, str]) -> Any:
    import pandas as pd

    names = class_columns(rule)
    outputs = dict.fromkeys(names, EVEN.get(rule.kind, 1 / len(names)))
    values = {"groups": _plain(rule.groups)[:1] or [""], "ids": ["1"], "weights": [1.0]}
    return pd.DataFrame([outputs]).assign(**{column: values[name] for name, column in beside.items()})


def class_columns(rule: Rule) -> list[str]:
    """Return the names of the columns of outputs: class names as texts; with kind "binary" the second one."""
    names = [str(name) for name in _plain(rule.classes)]
    if len(set(names)) < len(names):
        raise LabelError.same_text("MLflow", tuple(_plain(rule.classes)))
    return names[1:] if rule.kind == "binary" else names


def signature_of(rule: Rule, inputs: Any, alpha: float, *, p_values: bool) -> Any:
    """Return the signature of a model with these inputs, with the parameter alpha and the columns of the answer."""
    from mlflow.models import ModelSignature
    from mlflow.types.schema import Array, ColSpec, DataType, ParamSchema, ParamSpec, Schema

    answer = [ColSpec(Array(_type_of(_plain(rule.classes))), "labels"), ColSpec(DataType.long, "size")]
    further = [ColSpec(Array(DataType.double), "p_values")] if p_values else []
    params = ParamSchema([ParamSpec("alpha", DataType.double, alpha)])
    return ModelSignature(inputs, Schema([*answer, *further]), params)


def inputs_of_outputs(rule: Rule, example: Any, beside: Mapping[str, str]) -> Any:
    """Return the schema of rows that are outputs: a column per class and those ``beside``, or a matrix."""
    from mlflow.types.schema import ColSpec, DataType, Schema, TensorSpec

    if isinstance(example, np.ndarray):
        return Schema([TensorSpec(example.dtype, (-1, *example.shape[1:]))])
    columns = [ColSpec(DataType.double, name) for name in class_columns(rule)]
    return Schema([*columns, *columns_beside(rule, beside)])


def inputs_of_model(rule: Rule, inside: Any, example: Any, beside: Mapping[str, str]) -> Any:
    """Return the schema of rows that a model takes, and the columns ``beside``, unless the model takes them, too."""
    from mlflow.models import infer_signature
    from mlflow.types.schema import Schema

    known = inside.get_input_schema()
    if known is None and example is None:
        raise KindError.argument("input_example", "rows for the model, because it was logged without a signature", None)
    known = infer_signature(example).inputs if known is None else known
    names = known.input_names() if known.has_input_names() else []
    if beside and not names:
        expected = "a model whose inputs have names, because groups, ids and weights are columns beside them"
        raise KindError.argument("model", expected, str(known))
    if example is not None:
        check_columns(example, beside.values())
    return Schema([*known.inputs, *(one for one in columns_beside(rule, beside) if one.name not in names)])


def columns_beside(rule: Rule, beside: Mapping[str, str]) -> list[Any]:
    """Return the columns of groups, ids and weights."""
    from mlflow.types.schema import AnyType, ColSpec, DataType

    types = {"groups": _type_of(_plain(rule.groups)), "ids": AnyType(), "weights": DataType.double}
    return [ColSpec(types[name], column) for name, column in beside.items()]


def _plain(names: Any) -> list[Any]:
    return list(np.asarray(names).tolist())


def _type_of(names: Iterable[object]) -> Any:
    """Return the type of names in a schema."""
    from mlflow.types.schema import AnyType, DataType

    types = {type(name) for name in names}
    return DataType[TYPES[types.pop()]] if len(types) == 1 and types <= TYPES.keys() else AnyType()
