"""For doctests: figures are drawn without a screen, and examples with torch are skipped where it is missing."""

import importlib.util
import os
import sys

import pytest

os.environ["MPLBACKEND"] = "agg"
NEEDS_TORCH = "rankset.integrations.torch."


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def pytest_collection_modifyitems(items):
    if importlib.util.find_spec("torch") is None:
        for item in items:
            if item.name.startswith(NEEDS_TORCH):
                item.add_marker(pytest.mark.skip(reason="torch is not installed"))
