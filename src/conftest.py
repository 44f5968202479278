"""For doctests: figures are drawn without a screen, and examples of packages that are missing are skipped."""

import importlib.util
import os
import sys

import pytest

os.environ["MPLBACKEND"] = "agg"
NEEDED = {
    "rankset.integrations.torch.": "torch",
    "rankset.integrations.mlflow.": "mlflow",
    "rankset.rules.to_onnx.": "onnx",
    "rankset.serving.application.": "starlette",
}
"""Packages that examples need, by the beginnings of their names."""


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def pytest_collection_modifyitems(items):
    missing = {start: package for start, package in NEEDED.items() if importlib.util.find_spec(package) is None}
    for item in items:
        for start, package in missing.items():
            if item.name.startswith(start):
                item.add_marker(pytest.mark.skip(reason=f"{package} is not installed"))
