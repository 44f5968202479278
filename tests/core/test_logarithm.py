"""log with the same bits on every machine."""

import math
import os
import subprocess
import sys
from decimal import Context, Decimal

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rankset.core.exponential import AT_ONCE
from rankset.core.logarithm import LEAST_PART, log_of_nonnegative

CODE = """
import hashlib, numpy as np
import rankset as rs
from rankset.core.logarithm import log_of_nonnegative
rng = np.random.default_rng(0)
rows = rs.softmax(rng.normal(size=(400, 100)) * 3)
scores = rs.Tempered(rs.Thr(), 1.3), rs.Temperature(0.7), rs.Recalibrated(1.2, (0.9, 0.1, 0.2, 0.1, 0.3, -0.2, 0.1))
several = rs.Marginals(rs.Thr(), (0.9, 0.1, -0.3, 0.2, -0.1, 0.05))
found = [log_of_nonnegative(rng.random(10_000))] + [one.transform(rows) for one in (*scores, several)]
print(hashlib.sha256(b"".join(array.tobytes() for array in found)).hexdigest())
"""
DIGITS = Context(prec=40)


def log_of(x):
    return float(log_of_nonnegative(np.array([x]))[0])


@given(st.floats(5e-324, 1e308) | st.floats(0.5, 2.0))
def test_it_is_log_to_the_last_bits(x):
    exact = Decimal(x).ln(DIGITS)
    assert abs(Decimal(log_of(x)) - exact) <= Decimal("4e-16") * abs(exact)


@given(st.integers(-1074, 1023))
def test_powers_of_two_and_the_ends_of_their_ranges(power):
    for x in (math.ldexp(1.0, power), math.ldexp(LEAST_PART, power), math.ldexp(math.nextafter(LEAST_PART, 0), power)):
        if x:
            assert math.isclose(log_of(x), math.log(x), rel_tol=4e-16)


@given(st.floats(5e-324, 1e308))
def test_a_larger_number_has_no_smaller_logarithm(x):
    assert log_of(x) <= log_of(math.nextafter(x, math.inf))


def test_ends_shapes_and_long_arrays():
    assert log_of_nonnegative(np.array([1.0, 0.0, -0.0])).tolist() == [0.0, -math.inf, -math.inf]
    assert log_of_nonnegative(np.empty((0, 3))).shape == (0, 3)
    x = np.linspace(0, 2, 3 * AT_ONCE + 7)
    together = log_of_nonnegative(x)
    assert together.tolist() == [log_of(one) for one in x]
    assert (log_of_nonnegative(x[:12].reshape(3, 4).T) == together[:12].reshape(3, 4).T).all()
    assert (x[:3] == np.linspace(0, 2, 3 * AT_ONCE + 7)[:3]).all()


def test_scores_with_logarithms_do_not_depend_on_the_vector_instructions_of_the_machine():
    digests = set()
    for disabled in ("", "X86_V4", "X86_V3 X86_V4"):
        variables = {**os.environ, "NPY_DISABLE_CPU_FEATURES": disabled}
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", CODE], env=variables, capture_output=True, text=True, check=True
        )
        digests.add(done.stdout)
    assert len(digests) == 1
