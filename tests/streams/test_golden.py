"""Streams that were saved earlier go on as they did on the day they were saved."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import rankset as rs

GOLDEN = Path(__file__).parents[1] / "golden"
spec = importlib.util.spec_from_file_location("make_streams", GOLDEN / "make_streams.py")
make_streams = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make_streams)


@pytest.mark.parametrize("name", make_streams.CASES)
def test_a_stream_of_an_earlier_day_goes_on_as_on_that_day(name):
    path = GOLDEN / "streams" / f"format5-{name}.rankset"
    _, groups = make_streams.started(**make_streams.CASES[name])
    found = make_streams.answers(rs.Stream.load(path), groups)
    expected = json.loads(path.with_suffix(".json").read_text())
    assert np.allclose(found.pop("log_wealth"), expected.pop("log_wealth"), rtol=1e-9)
    assert found == expected
