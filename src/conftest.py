"""For doctests: figures are drawn without a screen and closed after each example."""

import os
import sys

import pytest

os.environ["MPLBACKEND"] = "agg"


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
