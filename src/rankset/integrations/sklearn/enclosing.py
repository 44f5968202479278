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
        f"{type(search).__name__} chose {chosen} on the rows that calibrate now, so coverage can be lower than "
        f"1 - alpha, by up to a few points with few rows. Tune the classifier inside, "
        f"ConformalClassifier({type(search).__name__}(classifier, ...)), and choose scores with "
        f"method=Choice([...]); or pass refit=False and calibrate on other rows."
    )


def _warn_about_steps(pipeline: Pipeline) -> None:
    learning = [name for name, step in pipeline.steps[:-1] if _learns(step)]
    if learning:
        warn(
            f"the pipeline fitted {', '.join(learning)} on the rows that calibrate, too, so the guarantee does not "
            f"hold: coverage can be much lower than 1 - alpha where a step looks at labels. Put the steps inside, "
            f"ConformalClassifier(make_pipeline(..., classifier))."
        )


def _learns(step: Any) -> bool:
    """Whether a step of a pipeline learns from rows, as far as its tags say."""
    if not hasattr(step, "fit") or isinstance(step, FrozenEstimator):
        return False
    if isinstance(step, Pipeline):
        return any(_learns(inner) for _, inner in step.steps)
    return not hasattr(step, "__sklearn_tags__") or bool(get_tags(step).requires_fit)
