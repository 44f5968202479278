"""Warnings about searches and pipelines around a ConformalClassifier that learned from its calibration rows."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from sklearn.frozen import FrozenEstimator
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from rankset.errors import warn


def warn_about_enclosing_estimators() -> None:
    """Warn if ``fit`` was called by a search that refits its best candidate, or by a pipeline with steps that learn.

    scikit-learn does not tell an estimator what it is part of, so the callers are read from the stack.
    """
    frame: FrameType | None = sys._getframe(1)
    pipelines = []
    while frame is not None:
        if frame.f_code.co_name == "_fit_and_score":
            return  # a candidate of a search, which is only measured
        caller = frame.f_locals.get("self")
        if isinstance(caller, Pipeline) and frame.f_code.co_name == "fit":
            pipelines.append(caller)
        if isinstance(caller, BaseSearchCV) and frame.f_code.co_name == "fit":
            _warn_about_search(caller)
            break
        frame = frame.f_back
    for pipeline in pipelines:
        _warn_about_steps(pipeline)


def _warn_about_search(search: BaseSearchCV) -> None:
    chosen = ", ".join(map(str, getattr(search, "best_params_", {}))) or "parameters"
    warn(
        f"{type(search).__name__} chose {chosen} on rows that are now used for calibration, so coverage can be lower "
        f"than 1 - alpha, with few rows by a few percentage points. To tune the classifier, pass "
        f"ConformalClassifier({type(search).__name__}(classifier, ...)). To choose a score, pass "
        f"method=Choice([...]). Or pass refit=False to the search and calibrate on other rows."
    )


def _warn_about_steps(pipeline: Pipeline) -> None:
    learning = [name for name, step in pipeline.steps[:-1] if _learns(step)]
    if learning:
        warn(
            f"the pipeline fitted {', '.join(learning)} on the calibration rows, too, so coverage is not guaranteed. "
            f"If a step uses the labels, coverage can be much lower than 1 - alpha. Put the steps into the "
            f"estimator: ConformalClassifier(make_pipeline(..., classifier))."
        )


def _learns(step: Any) -> bool:
    """Whether a step of a pipeline learns from rows, as far as its tags say."""
    if not hasattr(step, "fit") or isinstance(step, FrozenEstimator):
        return False
    if isinstance(step, Pipeline):
        return any(_learns(inner) for _, inner in step.steps)
    return not hasattr(step, "__sklearn_tags__") or bool(get_tags(step).requires_fit)
