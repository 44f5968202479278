"""The file of a ``PreciseRule``: a header and the keys of one threshold. Everything in a file is checked here."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.conditions import Marginal
from rankset.core.arrays import is_whole
from rankset.core.lexicographic import Keys
from rankset.core.mean_interval import p_value_of_mean
from rankset.errors import StorageError
from rankset.evaluation.precise_rule import PreciseRule, level_rule
from rankset.io import container
from rankset.rules import rule_file
from rankset.rules.spec import RuleSpec
from rankset.targets.precision import Precision

WHAT = "precise"
MOST_DIGITS = 1000
SHARE = re.compile(rf"[1-9][0-9]{{0,{MOST_DIGITS - 1}}}/[1-9][0-9]{{0,{MOST_DIGITS - 1}}}")
"""The largest share of false labels, as a fraction in lowest terms."""
MOST_STEPS = 10_000
"""Largest number of thresholds that ``precise`` tests."""
ROUNDING = 1e-9
"""Rounding error of the p-value of the last test that passed."""
NUMBERS = ("confidence", "false_share", "recall", "mean_size")
FIELDS = {"what", "format", "score", "condition", "kind", "seed", "classes", "groups", "ids", "error", "n", "tested"}


def pack(rule: PreciseRule) -> tuple[container.Header, container.Arrays]:
    """Return the header and the arrays of a rule."""
    share = Fraction(str(rule.error)) if rule.at is None else rule.at.level
    text = f"{share.numerator}/{share.denominator}"
    if not SHARE.fullmatch(text):
        raise StorageError.long_share(MOST_DIGITS)
    header = {
        "what": WHAT,
        "format": rule_file.FORMAT_WITH_TARGET,
        **rule_file.spec_header(rule.spec),
        "error": text,
        "n": rule.n,
        "tested": rule.tested,
        **{name: float(getattr(rule, name)) for name in NUMBERS},
    }
    keys = () if rule.at is None else rule.at.thresholds.keys
    return header, {f"key{place}": key[:1] for place, key in enumerate(keys)}


def unpack(header: container.Header, arrays: container.Arrays) -> PreciseRule:
    """Return the rule that ``pack`` packed; raise ValueError if something does not fit."""
    if header.get("what") != WHAT or header["format"] != rule_file.FORMAT_WITH_TARGET:
        raise ValueError("it does not contain a PreciseRule")
    container.check_fields("its header", header, FIELDS | set(NUMBERS))
    spec = rule_file.loaded_spec(header, Precision())
    if spec.condition != Marginal():
        raise ValueError("a PreciseRule must have one threshold for all rows")
    share, n, tested = _share(header["error"]), header["n"], header["tested"]
    if not is_whole(n) or not is_whole(tested) or not 0 < n <= rule_file.MOST_ROWS or not 0 <= tested <= MOST_STEPS:
        raise ValueError("its numbers of rows and thresholds cannot be right")
    keys = _threshold(spec, arrays) if tested else ()
    if not tested and arrays:
        raise ValueError("its arrays belong to no threshold")
    at = level_rule(spec, share, keys, n, Fraction(str(header["confidence"]))) if tested else None
    numbers = {name: header[name] for name in NUMBERS}
    rule = PreciseRule(error=float(share), at=at, n=n, tested=tested, spec=spec, **numbers)
    _check_numbers(rule)
    return rule


def _share(text: object) -> Fraction:
    """Return the largest share of false labels; raise ValueError if it is none."""
    share = Fraction(text) if isinstance(text, str) and SHARE.fullmatch(text) else Fraction(0)
    if not 0 < share < 1 or f"{share.numerator}/{share.denominator}" != text:
        raise ValueError("its error must be a fraction in lowest terms between 0 and 1")
    return share


def _threshold(spec: RuleSpec, arrays: container.Arrays) -> Keys:
    """Return the keys of the threshold; raise ValueError if no label can have them."""
    types = rule_file.key_types(spec.score)
    if {name: array.dtype for name, array in arrays.items()} != types:
        raise ValueError(f"its arrays do not belong to the score {spec.score!r}")
    keys: tuple[NDArray[Any], ...] = tuple(arrays[name] for name in types)
    if any(len(key) != 1 or np.isnan(key).any() for key in keys):
        raise ValueError("its arrays contradict each other")
    rule_file.check_ranges(spec, keys)
    return keys


def _check_numbers(rule: PreciseRule) -> None:
    """Raise ValueError for numbers that the tests of thresholds cannot have given."""
    numbers = [getattr(rule, name) for name in NUMBERS]
    if not all(type(number) is float and math.isfinite(number) for number in numbers):
        raise ValueError("its numbers must be finite")
    sure, false_share, recall, size = numbers
    if not 0 < sure < 1 or not 0 <= recall <= 1 or not 0 <= size <= rule.spec.n_columns:
        raise ValueError("its numbers cannot be right")
    if not rule.tested:
        passed = (false_share, recall, size) == (0.0, 0.0, 0.0)
    else:
        passed = 0 <= false_share < rule.error
        passed = passed and p_value_of_mean(false_share, rule.n, rule.error) <= 1 - sure + ROUNDING
    if not passed:
        raise ValueError("its threshold did not pass its test")
