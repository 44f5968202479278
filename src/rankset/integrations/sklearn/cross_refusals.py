"""Methods of ``Rule`` that a ``CrossRule`` cannot have, each with the reason and what to do instead."""

from __future__ import annotations

from typing import Any

from rankset.errors import MethodError

POOLED = "the rows of all folds are counted together, each under the model of its fold, so there is no threshold"
P_VALUES = "Use p_values: a label is in the set if its p-value is larger than alpha."
ONE_FOLD = "For one fold, use rules[0]"
AGAIN = "Fit the ConformalClassifier again with all rows."

REFUSALS = {
    "save": (
        "its sets need the outputs of the model of every fold, and the file of a rule contains no models",
        (
            "Save the fitted ConformalClassifier with joblib or pickle. Without the models, save every rule in rules "
            "to a file of its own, and join them again with rankset.CrossRule(tuple(map(rankset.load, paths)))."
        ),
    ),
    "coverage_band": (
        "the models of the folds share training rows, so the distribution of its coverage is not known",
        "Use guarantee(alpha), the coverage that is proven.",
    ),
    "threshold": (POOLED, P_VALUES),
    "at": (POOLED, P_VALUES),
    "describe": (POOLED, P_VALUES),
    "smallest_alpha": (POOLED, f"{ONE_FOLD}.smallest_alpha()."),
    "rank_profile": (POOLED, f"{ONE_FOLD}.rank_profile(alpha)."),
    "effective_rows": (
        "rows of folds have no weights, so all of them count the same",
        f"{ONE_FOLD}.n, the number of its rows.",
    ),
    "calibration": (POOLED, f"{ONE_FOLD}.calibration."),
    "update": ("all rows were divided into folds before the models were trained", AGAIN),
    "merge": ("each of its rules belongs to the model of one fold, and other rules belong to other models", AGAIN),
    "to_onnx": (POOLED, "Use Holdout() for a rule that can be exported."),
    "predict_parts": ("its sets need the outputs of the model of every fold", "Use predict for some rows at a time."),
}
"""The methods, the reason why there are none, and what to do instead."""


class RefusesMethods:
    """Base of ``CrossRule``: methods that only ``Rule`` has raise an error with the reason."""

    def __getattr__(self, name: str) -> Any:
        if name in REFUSALS:
            raise MethodError.of_folds(name, *REFUSALS[name])
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
