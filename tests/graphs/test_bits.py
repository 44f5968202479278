"""Sums of rows, powers and logarithms in graphs have the bits of NumPy's sum and of ``core``."""

import numpy as np
import pytest

pytest.importorskip("onnxruntime")

from onnx import TensorProto, checker, helper, numpy_helper

from onnx_models import session_of
from rankset.core import exponential as of_core
from rankset.core.logarithm import LEAST_PART
from rankset.core.logarithm import log_of_nonnegative as log_of_core
from rankset.graphs import exponential, row_sums
from rankset.graphs.kinds import rows_of
from rankset.graphs.logarithm import log_of_nonnegative
from rankset.graphs.nodes import Nodes
from rankset.inputs.probabilities import from_kind

HOSTILE = (0.0, 1.0, 2.0**-53, 3 * 2.0**-54, 1e-300, 5e-324, 0.1)


def graph_of(build, n_columns):
    """A session with the input x and the output y, of nodes that ``build`` adds."""
    nodes = Nodes()
    nodes.name(build(nodes, "x"), "y")
    made = [helper.make_node(name, inputs, outputs, **more) for name, inputs, outputs, more in nodes.operations]
    constants = [numpy_helper.from_array(array, name) for name, array in nodes.constants.items()]
    x, y = (
        helper.make_tensor_value_info(name, TensorProto.DOUBLE, ["n", k]) for name, k in (("x", n_columns), ("y", "k"))
    )
    model = helper.make_model(
        helper.make_graph(made, "g", [x], [y], constants), opset_imports=[helper.make_opsetid("", 18)]
    )
    model.ir_version = 8
    checker.check_model(model, full_check=True)
    return [session_of(model, optimised=optimised) for optimised in (True, False)]


def results(build, rows):
    return [session.run(None, {"x": rows})[0] for session in graph_of(build, rows.shape[1])]


def rows_to_add(n_columns, seed=0):
    """Rows of numbers of similar size, of very different sizes, and of numbers that round in every addition."""
    rng = np.random.default_rng([seed, n_columns])
    wild = np.exp(20 * rng.normal(size=(2, n_columns)) - 50)
    return np.concatenate((rng.random((2, n_columns)), wild, rng.choice(HOSTILE, (2, n_columns))))


def check_sums(n_columns):
    rows = rows_to_add(n_columns)
    for found in results(lambda nodes, x: row_sums.row_sums(nodes, x, n_columns), rows):
        assert found.tobytes() == rows.sum(axis=1, keepdims=True).tobytes(), n_columns


@pytest.mark.parametrize("first", range(1, 2001, 100))
def test_rows_of_every_length_are_added_as_numpy_adds_them(first):
    for n_columns in range(first, first + 100):
        check_sums(n_columns)


@pytest.mark.parametrize("n_columns", [2048, 4099, 10_007, 100_000])
def test_long_rows_are_added_as_numpy_adds_them(n_columns):
    check_sums(n_columns)


def test_another_order_of_additions_has_other_bits():
    rows = np.concatenate([rows_to_add(1000, seed) for seed in range(10)])
    (found, _) = results(lambda nodes, x: nodes.add("ReduceSum", x, np.array([1]), keepdims=1), rows)
    in_order = rows.cumsum(axis=1)[:, -1:]
    wanted = rows.sum(axis=1, keepdims=True)
    assert (found != wanted).any()
    assert (in_order != wanted).any()


@pytest.mark.parametrize("scale", [1e-300, 1e-10, 1e-3, 1.0, 10.0, 100.0, 300.0])
def test_powers_have_the_bits_of_the_library(scale):
    rows = -np.abs(np.random.default_rng(3).normal(size=(200, 500))) * scale
    for found in results(exponential.exp_of_nonpositive, rows):
        assert found.tobytes() == of_core.exp_of_nonpositive(rows).tobytes()


def test_powers_at_the_edge_of_all_numbers_have_the_bits_of_the_library():
    edges = np.concatenate((np.linspace(-746.0, -744.0, 5000), np.linspace(-1101.0, -690.0, 5000)))
    rows = np.concatenate((edges, [0.0, -0.0, -np.inf, -1100.0, -5e-324, -1e308]))[np.newaxis]
    with np.errstate(all="ignore"):
        wanted = of_core.exp_of_nonpositive(rows)
    assert 0 < (wanted == 5e-324).sum() < (wanted < 2.0**-1022).sum()
    for found in results(exponential.exp_of_nonpositive, rows):
        assert found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("kind", ["logits", "marginal_logits"])
@pytest.mark.parametrize("n_columns", [1, 2, 3, 7, 8, 10, 129, 1000])
def test_probabilities_have_the_bits_of_the_library(kind, n_columns):
    rng = np.random.default_rng(n_columns)
    rows = rng.normal(size=(60, n_columns)) * rng.choice([0.1, 3.0, 200.0], (60, 1))
    rows[rng.random(rows.shape) < 0.1] = -np.inf if kind == "logits" else 700.0
    rows[:, 0] = 0.0
    for found in results(lambda nodes, x: rows_of(nodes, x, kind, n_columns), rows):
        assert found.tobytes() == from_kind(rows, kind).tobytes()


def numbers_between_powers():
    """The numbers at which the power of 2 changes, their neighbours, powers of 2, and others of all sizes."""
    rng = np.random.default_rng(3)
    ends = np.ldexp(LEAST_PART, np.arange(-1073, 999))
    near = np.nextafter(ends, 0.0), np.nextafter(ends, np.inf)
    others = np.ldexp(rng.random(20_000), rng.integers(-1070, 999, 20_000)), 1 + rng.normal(size=20_000) / 1e6
    return np.concatenate((ends, *near, np.ldexp(1.0, np.arange(-1074, 999)), rng.random(20_000), *others))


def test_logarithms_of_numbers_of_all_sizes():
    rows = np.append(numbers_between_powers(), [0.0, 5e-324, 1.0])[np.newaxis]
    for found in results(log_of_nonnegative, rows):
        assert found.tobytes() == log_of_core(rows).tobytes()


def test_logarithms_of_what_has_none_are_some_number():
    for found in results(log_of_nonnegative, np.array([[np.nan, -1.0, -0.0, np.inf]])):
        assert not np.isnan(found).any()
