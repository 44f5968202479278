"""What an MLflow model of a rule says about itself: its metadata, and the packages it needs."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from rankset.core.alpha import Alpha, exact_alpha
from rankset.rules.describe import NOT_PROVEN
from rankset.rules.rule import Rule
from rankset.rules.sentences import EXCHANGEABLE, ON_AVERAGE, promise_of_spec


def metadata_of(rule: Rule, alpha: Alpha, confidence: Alpha | None) -> dict[str, Any]:
    """Return score, condition, alpha, number of rows and what is proven, as texts and numbers."""
    told = {
        "version": version("rankset"),
        "rule": repr(rule),
        "score": repr(rule.score),
        "condition": repr(rule.condition),
        "target": repr(rule.target),
        "kind": rule.kind,
        "n_classes": len(rule.classes),
        "n": rule.n,
        "alpha": float(exact_alpha(alpha)),
        "proven": proven(rule, alpha, confidence),
    }
    return told if confidence is None else told | {"confidence": float(exact_alpha(confidence))}


def proven(rule: Rule, alpha: Alpha, confidence: Alpha | None) -> str:
    """Return what holds for new rows, and what it needs."""
    if not rule.guaranteed:
        return NOT_PROVEN
    chance = None if confidence is None else float(exact_alpha(confidence))
    over = ON_AVERAGE if chance is None else f"for this calibration with probability {chance:g}"
    words = f"{promise_of_spec(rule.spec, alpha)}, {over}, {EXCHANGEABLE}"
    absent = rule.calibration.n_absent
    return f"{words}; less, because {absent:,} calibration rows have an absent label" if absent else words


def requirements_of(model: Path | None, given: Sequence[str] | None) -> list[str]:
    """Return the packages to install: rankset and NumPy, and those of the model inside; or those that are given."""
    if given is not None:
        return list(given)
    own = [f"rankset=={version('rankset')}", f"numpy=={np.__version__}"]
    listed = None if model is None else model / "requirements.txt"
    if listed is None or not listed.is_file():
        return own
    lines = [line.strip() for line in listed.read_text(encoding="utf-8").splitlines()]
    return [
        *own,
        *(line for line in lines if line and not line.startswith(("#", "-", "rankset=", "numpy=", "mlflow="))),
    ]
