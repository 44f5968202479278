"""exp with the same bits on every machine."""

import hashlib
import math
import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rankset.core.exponential import AT_ONCE, exp_of_nonpositive

CODE = """
import hashlib, numpy as np
from rankset.core.exponential import exp_of_nonpositive
from rankset.inputs.probabilities import softmax
x = -np.abs(np.random.default_rng(0).normal(size=(400, 100)) * 30)
print(hashlib.sha256(exp_of_nonpositive(x).tobytes() + softmax(x).tobytes()).hexdigest())
"""


def exact_exp(x: float) -> Fraction:
    """exp(x) to 25 digits: a Taylor series of x / 1024, squared ten times."""
    small = Fraction(x) / 1024
    term = total = Fraction(1)
    for place in range(1, 24):
        term = term * small / place
        total += term
    for _ in range(10):
        total = Fraction(round(total * 10**60), 10**60) ** 2
    return total


@given(st.floats(-30, 0))
def test_it_is_exp_to_the_last_bits(x):
    value = Fraction(exp_of_nonpositive(np.array([x]))[0].item())
    assert abs(value - exact_exp(x)) <= Fraction(3, 10**16) * exact_exp(x)


@given(st.floats(-2000, 0))
def test_it_agrees_with_the_library_of_c(x):
    (value,) = exp_of_nonpositive(np.array([x]))
    assert math.isclose(value, math.exp(x), rel_tol=3e-15, abs_tol=5e-324)


def test_ends_and_long_arrays():
    assert exp_of_nonpositive(np.array([0.0, -0.0, -np.inf, -1e308])).tolist() == [1.0, 1.0, 0.0, 0.0]
    assert exp_of_nonpositive(np.empty((0, 3))).shape == (0, 3)
    x = -np.linspace(0, 800, 3 * AT_ONCE + 7)
    together = exp_of_nonpositive(x)
    assert together.tolist() == [exp_of_nonpositive(x[place : place + 1])[0] for place in range(len(x))]
    assert (np.diff(together) <= 0).all()


def test_the_bits_do_not_depend_on_the_vector_instructions_of_the_machine():
    digests = set()
    for disabled in ("", "X86_V4", "X86_V3 X86_V4"):
        variables = {**os.environ, "NPY_DISABLE_CPU_FEATURES": disabled}
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", CODE], env=variables, capture_output=True, text=True, check=True
        )
        digests.add(done.stdout)
    assert len(digests) == 1
    assert len(digests.pop().strip()) == len(hashlib.sha256().hexdigest())
