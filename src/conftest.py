"""For doctests: figures are drawn without a screen, and examples with torch or MLflow are skipped without them."""

import importlib.util
import os
import sys

import pytest

os.environ["MPLBACKEND"] = "agg"
NEEDS = {"rankset.integrations.torch.": "torch", "rankset.integrations.mlflow.": "mlflow"}
"""Packages that examples of these modules need."""


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def pytest_collection_modifyitems(items):
    for start, package in NEEDS.items():
        for item in items if importlib.util.find_spec(package) is None else ():
            if item.name.startswith(start):
                item.add_marker(pytest.mark.skip(reason=f"{package} is not installed"))
