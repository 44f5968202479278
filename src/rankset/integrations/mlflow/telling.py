"""What an MLflow model of a rule says about itself: its metadata, and the packages it needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from rankset.core.alpha import Alpha, exact_alpha
from rankset.errors import FileError, KindError, Place, located
from rankset.rules.describe import NOT_PROVEN
from rankset.rules.rule import Rule
from rankset.rules.sentences import EXCHANGEABLE, ON_AVERAGE, promise_of_spec, proven_in_words

FILES = ("-r", "--requirement", "-c", "--constraint")
"""Options in lines of requirements that name a file."""


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
    absent = rule.calibration.n_absent
    if not rule.guaranteed or not absent:
        return proven_in_words(rule.at(alpha, confidence=confidence)) or NOT_PROVEN
    over = (
        ON_AVERAGE if confidence is None else f"with confidence {float(exact_alpha(confidence)):g} for this calibration"
    )
    words = f"{promise_of_spec(rule.spec, alpha)}, {over}, {EXCHANGEABLE}"
    return f"{words}; less, because {absent:,} calibration rows have an absent label"


def check_metadata(given: object) -> None:
    """Raise an error if further entries of the metadata cannot be stored."""
    if given is None:
        return
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise KindError.argument("metadata", "a dict whose keys are texts", given)
    if "rankset" in given:
        raise KindError.argument("metadata", "without the entry 'rankset', which is written by rankset", given)
    from mlflow.models import Model

    for name, value in given.items():
        try:
            Model(metadata={name: value}).to_yaml()
        except Exception:  # noqa: BLE001 - that of the YAML library, or of any object in there
            expected = "a text, a number, True, False, None, or a list or dict of such"
            raise KindError.argument(f"metadata[{name!r}]", expected, value) from None


def check_requirements(given: object) -> None:
    """Raise an error if these are no lines of a requirements file, or if a file that they name is missing."""
    if given is None:
        return
    if not isinstance(given, list | tuple) or not all(isinstance(line, str) for line in given):
        raise KindError.argument("pip_requirements", "a list of texts, such as ['rankset', 'numpy>=2']", given)
    with located(Place(part="pip_requirements")):
        _check_files(given, Path(), set())


def _check_files(lines: Sequence[str], folder: Path, known: set[Path]) -> None:
    """Raise an error if a file of further requirements is missing, or one that is named in such a file."""
    for line in lines:
        option, _, name = line.partition(" #")[0].strip().partition(" ")
        path = folder / name.strip()
        if option in FILES and path not in known:
            if not path.is_file():
                raise FileError.missing(str(path))
            known.add(path)
            _check_files(path.read_text(encoding="utf-8").splitlines(), path.parent, known)


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
