"""alpha in every notation, at every entry_point that takes one."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import rankset as rs
from rankset.core.alpha import exact_alpha, rows_needed, threshold_position
from rankset.errors import LevelError
from refusals import refused

RNG = np.random.default_rng(3)
PROBS = RNG.dirichlet(np.ones(4), 30)
LABELS = RNG.integers(0, 4, 30)
RULE = rs.calibrate(PROBS, LABELS)
SETS = RULE.predict(PROBS, 0.2)

ENTRY_POINTS = {
    "predict": lambda alpha: RULE.predict(PROBS, alpha),
    "expected_size": lambda alpha: RULE.expected_size(PROBS, alpha),
    "coverage_band": RULE.coverage_band,
    "rank_profile": RULE.rank_profile,
    "evaluate": lambda alpha: rs.evaluate(SETS, LABELS, alpha),
}
NOTATIONS = [
    0.1,
    "0.1",
    ".1",
    " 0.1 ",
    "0.10",
    "1e-1",
    "1/10",
    "10%",
    " 10 % ",
    "10\u00a0%",
    "0,1",
    ",1",
    "10,0 %",
    "1e1%",
    Decimal("0.1"),
    Fraction(1, 10),
    np.float16(0.1),
    np.float32(0.1),
    np.float64(0.1),
    np.longdouble("0.1"),
    np.array(0.1),
    np.str_("0.1"),
]


@pytest.mark.parametrize("alpha", NOTATIONS, ids=repr)
def test_one_tenth_is_one_tenth_in_every_notation(alpha):
    assert exact_alpha(alpha) == Fraction(1, 10)
    assert RULE.predict(PROBS, alpha) == RULE.predict(PROBS, Fraction(1, 10))
    assert rs.evaluate(SETS, LABELS, alpha).alpha == 0.1


@pytest.mark.parametrize("percent", range(1, 100))
def test_the_position_is_the_exact_one_for_every_percentage_however_it_is_typed(percent):
    exact = Fraction(percent, 100)
    for alpha in (percent / 100, f"{percent / 100}", np.float32(percent / 100)):
        assert exact_alpha(alpha) == exact
    for n in (9, 19, 99, 199, 999, 1999):
        smallest = next(k for k in range(1, n + 2) if k >= (n + 1) * (1 - exact))
        assert threshold_position(n, exact) == smallest


@pytest.mark.parametrize("entry_point", ENTRY_POINTS.values(), ids=ENTRY_POINTS.keys())
@pytest.mark.parametrize(
    ("alpha", "refusal"),
    [
        (0, LevelError.out_of_range(0)),
        (1, LevelError.out_of_range(1)),
        (-0.1, LevelError.out_of_range(-0.1)),
        (1.0, LevelError.out_of_range(1.0)),
        (100, LevelError.out_of_range(100)),
        (np.nan, LevelError.out_of_range(np.nan)),
        (np.inf, LevelError.out_of_range(np.inf)),
        ("nan", LevelError.out_of_range("nan")),
        (Decimal("sNaN"), LevelError.out_of_range(Decimal("sNaN"))),
        ("1e999999999", LevelError.out_of_range("1e999999999")),
        ("3/2", LevelError.out_of_range("3/2", "Did you mean 0.015?")),
        (10, LevelError.out_of_range(10, "Did you mean 0.1?")),
        (90, LevelError.out_of_range(90, "Did you mean 0.1?")),
        (np.int64(10), LevelError.out_of_range(np.int64(10), "Did you mean 0.1?")),
        ("10", LevelError.out_of_range("10", "Did you mean 0.1?")),
        (95.0, LevelError.out_of_range(95.0, "Did you mean 0.05?")),
        (5, LevelError.out_of_range(5, "Did you mean 0.05?")),
        ("0.1x", LevelError.not_a_number("0.1x")),
        ("", LevelError.not_a_number("")),
        ("1/0", LevelError.not_a_number("1/0")),
        ("%", LevelError.not_a_number("%")),
        ("5%%", LevelError.not_a_number("5%%")),
        ("x%", LevelError.not_a_number("x%")),
        ("1/3 %", LevelError.not_a_number("1/3 %")),
        ("0,0,5", LevelError.not_a_number("0,0,5")),
        ("1,000.5", LevelError.not_a_number("1,000.5")),
        ("5,5", LevelError.out_of_range("5,5", "Did you mean 0.055?")),
        ("0%", LevelError.out_of_range("0%")),
        ("100 %", LevelError.out_of_range("100 %")),
        ("150%", LevelError.out_of_range("150%")),
        ("-5%", LevelError.out_of_range("-5%")),
        ("nan%", LevelError.out_of_range("nan%")),
        ("0," + "1" * 500, LevelError.too_long("0," + "1" * 500, 400)),
        (True, LevelError.not_a_number(True)),  # noqa: FBT003
        (np.array(True), LevelError.not_a_number(np.True_)),  # noqa: FBT003
        ([0.1], LevelError.not_a_number([0.1])),
        (np.array([0.1, 0.2]), LevelError.not_a_number(np.array([0.1, 0.2]))),
        (0.1j, LevelError.not_a_number(0.1j)),
        (b"0.1", LevelError.not_a_number(b"0.1")),
        ("0." + "1" * 500, LevelError.too_long("0." + "1" * 500, 400)),
        ("1e-500", LevelError.too_long("1e-500", 400)),
    ],
)
def test_what_is_no_level_is_refused_with_what_was_probably_meant(entry_point, alpha, refusal):
    with refused(refusal):
        entry_point(alpha)


@pytest.mark.parametrize("entry_point", [name for name in ENTRY_POINTS if name != "evaluate"])
def test_a_level_must_be_given_to_a_rule(entry_point):
    with refused(LevelError.not_a_number(None)):
        ENTRY_POINTS[entry_point](None)


def test_sets_without_a_level_of_their_own_ask_for_one():
    sets = rs.PredictionSets.from_mask(SETS.mask)
    with refused(LevelError.missing()):
        rs.evaluate(sets, LABELS)
    assert rs.evaluate(sets, LABELS, 0.2).coverage == rs.evaluate(SETS, LABELS).coverage


def test_a_long_text_is_not_repeated_in_full():
    with pytest.raises(LevelError) as caught:
        exact_alpha("9" * 5000)
    assert len(str(caught.value)) < 300


def test_messages_end_in_one_mark():
    for alpha in (10, 100, "x"):
        with refused(LevelError, what="alpha") as caught:
            exact_alpha(alpha)
        assert str(caught.value)[-1] in "?."
        assert str(caught.value)[-2] not in "?."


@pytest.mark.parametrize(
    ("alpha", "needed"), [("0.1", 9), ("0.05", 19), ("0.3", 3), ("1/3", 2), ("0.5", 1), ("0.9", 1)]
)
def test_rows_needed_is_the_first_size_at_which_the_threshold_is_a_key(alpha, needed):
    exact = exact_alpha(alpha)
    assert rows_needed(exact) == needed
    assert threshold_position(needed, exact) <= needed
    assert threshold_position(needed - 1, exact) == needed


@pytest.mark.parametrize(
    ("typed", "refusal"),
    [
        (1.5, LevelError.out_of_range(1.5, "Did you mean 0.015?")),
        (2, LevelError.out_of_range(2, "Did you mean 0.02?")),
        (49, LevelError.out_of_range(49, "Did you mean 0.49?")),
        (50, LevelError.out_of_range(50, "Did you mean 0.5?")),
        (51, LevelError.out_of_range(51, "Did you mean 0.49?")),
        (99.5, LevelError.out_of_range(99.5, "Did you mean 0.005?")),
    ],
)
def test_percentages_are_guessed_from_the_nearer_end(typed, refusal):
    with refused(refusal):
        exact_alpha(typed)


@pytest.mark.parametrize("typed", [1, 100, 1000, 0, -5])
def test_what_is_no_percentage_is_not_guessed_at(typed):
    with refused(LevelError.out_of_range(typed)):
        exact_alpha(typed)
