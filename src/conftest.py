"""For doctests: figures are drawn without a screen, and examples are skipped where their packages are missing."""

import importlib.util
import os
import sys

import pytest

os.environ["MPLBACKEND"] = "agg"
NEEDS = {"rankset.integrations.torch.": "torch", "rankset.serving.application.": "starlette"}
"""Packages that examples of modules need."""


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def pytest_collection_modifyitems(items):
    for start, package in NEEDS.items():
        if importlib.util.find_spec(package) is None:
            for item in items:
                if item.name.startswith(start):
                    item.add_marker(pytest.mark.skip(reason=f"{package} is not installed"))
