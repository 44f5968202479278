"""MLflow warns and logs a lot about itself and other libraries; in these tests only warnings of rankset are errors."""

import importlib.util
import logging
import os
import warnings
from pathlib import Path

import pytest

os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"

if importlib.util.find_spec("mlflow"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import mlflow.pyfunc
        import mlflow.sklearn
    logging.getLogger("mlflow").setLevel(logging.ERROR)


def pytest_collection_modifyitems(items):
    ours = pytest.mark.filterwarnings("ignore", "error::rankset.errors.RanksetWarning")
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(ours)


@pytest.fixture
def store(tmp_path):
    """The number of an experiment in a tracking store in a temporary folder. Its files are there, too."""
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    yield mlflow.create_experiment("sets", artifact_location=(tmp_path / "artifacts").as_uri())
    mlflow.set_tracking_uri(before)
