"""Groups and ids of every kind, at every entry_point that takes them."""

from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

import numpy as np
import pandas as pd
import pytest

import rankset as rs
from entry_points import (
    GROUP_ENTRY_POINTS,
    GROUPS,
    ID_ENTRY_POINTS,
    LABELS,
    PROBS,
    N,
    by_group,
    calibrated,
    changed,
    entry_points,
    only_warning,
)
from rankset.errors import InputError, KindError, LabelError
from refusals import like, refused


@entry_points(GROUP_ENTRY_POINTS)
@pytest.mark.parametrize(
    ("groups", "refusal"),
    [
        (GROUPS[:-1], InputError.length("groups", 40, 39)),
        ([*GROUPS[:-1], None], LabelError.missing("groups", 39)),
        ([0.5] * 20 + [np.nan] * 20, LabelError.missing("groups", 20)),
        (np.array(["2024-01-01", "NaT"] * 20, dtype="M8[D]"), LabelError.missing("groups", 1)),
        ([Decimal(1), Decimal("NaN")] * 20, LabelError.missing("groups", 1)),
        (np.zeros((N, 2)), LabelError.not_one_dimensional("groups", "shape (40, 2)")),
        ([["a"], ["b", "c"]] * 20, LabelError.not_one_dimensional("groups", "lists of different lengths")),
        ("north", LabelError.not_one_dimensional("groups", "str")),
        (
            np.ma.array(GROUPS),
            KindError.not_names("groups", "a masked array", "Fill the masked entries, or drop their rows."),
        ),
        (np.ones(N) * 1j, KindError.not_names("groups", "an array of complex128", "Pass strings or integers.")),
        (
            [object()] * N,
            like(
                KindError,
                what="groups",
                received="object",
                expected="be strings, numbers, booleans, or hashable objects that define __str__ or __repr__",
                remedy="Convert them to strings.",
            ),
        ),
        (
            np.array([*[np.zeros(2)] * 39, None], dtype=object)[:39].repeat(2)[:N],
            like(KindError, what="groups", received="ndarray"),
        ),
        ([b"\xff"] * N, like(KindError, what="groups", received="b'\\xff'", expected="be strings, or bytes in UTF-8")),
        (
            np.array([b"\xff"] * N),
            like(KindError, what="groups", received="b'\\xff'", expected="be strings, or bytes in UTF-8"),
        ),
    ],
)
def test_groups_that_are_no_names_are_refused(entry_point, groups, refusal):
    with refused(refusal):
        entry_point(groups)


ENTRY_POINTS_OF_RULES = {name: entry_point for name, entry_point in GROUP_ENTRY_POINTS.items() if name != "evaluate"}


@entry_points(ENTRY_POINTS_OF_RULES)
def test_a_condition_that_looks_at_groups_asks_for_them(entry_point):
    with refused(
        LabelError,
        what="PerGroup()",
        received="no groups",
        expected="get the group of every row",
        remedy="Pass one group name per row as groups=.",
    ):
        entry_point(None)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: rs.calibrate(PROBS, LABELS, groups=GROUPS),
        lambda: calibrated().predict(PROBS, 0.1, groups=GROUPS),
        lambda: calibrated().p_values(PROBS, groups=GROUPS),
        lambda: calibrated().expected_size(PROBS, 0.1, groups=GROUPS),
        lambda: calibrated().update(PROBS, LABELS, groups=GROUPS),
    ],
)
def test_groups_nobody_looks_at_are_refused(ask):
    with refused(
        LabelError,
        what="groups",
        received="groups for Marginal()",
        remedy="Calibrate with condition=PerGroup(), or do not pass groups.",
    ):
        ask()


DAYS = [date(2024, 1, 1), date(2024, 1, 2)]
PAIRS = {
    "str": ["north", "south"],
    "empty str": ["", "south"],
    "int": [-1, 7],
    "huge int": [2**70, 1],
    "bool": [False, True],
    "float": [0.5, 2.0],
    "infinite": [-np.inf, np.inf],
    "bytes": [b"north", b"south"],
    "date": DAYS,
    "datetime": [datetime(2024, 1, 1, 9, 30), datetime(2024, 1, 1, 10)],  # noqa: DTZ001
    "UUID": [UUID(int=1), UUID(int=2)],
    "number and its text": [1, "1"],
    "mixed": ["north", 2.5],
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())
def test_names_of_every_kind_tell_groups_apart(pair):
    groups = [pair[row % 2] for row in range(N)]
    rule = rs.calibrate(PROBS, LABELS, condition=rs.PerGroup(), groups=groups)
    assert len(rule.spec.groups) == 2
    expected = [by_group().predict(PROBS[row : row + 1], 0.1, groups=GROUPS[row : row + 1])[0] for row in range(N)]
    found = rule.predict(PROBS, 0.1, groups=groups)
    assert [labels.tolist() for labels in found] == [labels.tolist() for labels in expected]
    assert [share.n for share in rs.evaluate(found, LABELS, groups=groups).groups] == [N // 2] * 2
    assert rule.update(PROBS, LABELS, groups=groups).spec.groups == rule.spec.groups


@pytest.mark.parametrize(
    "groups",
    [np.array(DAYS * (N // 2), dtype=unit) for unit in ("M8[D]", "M8[s]", "M8[us]", "M8[ns]")]
    + [DAYS * (N // 2), [datetime(2024, 1, day) for day in (1, 2)] * (N // 2), ["2024-01-01", "2024-01-02"] * (N // 2)],  # noqa: DTZ001
    ids=lambda groups: f"{type(groups).__name__} {getattr(groups, 'dtype', type(groups[0]).__name__)}",
)
def test_a_day_is_the_same_group_however_it_comes(groups):
    rule = rs.calibrate(PROBS, LABELS, condition=rs.PerGroup(), groups=DAYS * (N // 2))
    assert rule.spec.groups.values == ("2024-01-01", "2024-01-02")
    assert rule.predict(PROBS, 0.1, groups=groups) == rule.predict(PROBS, 0.1, groups=DAYS * (N // 2))


@pytest.mark.parametrize(
    "groups",
    [GROUPS.tolist(), GROUPS.astype(object), GROUPS.astype(bytes), GROUPS[:, np.newaxis], np.repeat(GROUPS, 2)[::2]],
    ids=lambda groups: f"{type(groups).__name__} {getattr(groups, 'dtype', '')}",
)
def test_a_text_is_the_same_group_however_it_comes(groups):
    assert by_group().predict(PROBS, 0.1, groups=groups) == by_group().predict(PROBS, 0.1, groups=GROUPS)


def test_unseen_groups_keep_every_label_with_one_warning_naming_them():
    groups = changed(GROUPS, slice(0, 4), ["west", "north", "east", "west"])
    with pytest.warns(rs.RanksetWarning) as caught:
        sets = by_group().predict(PROBS, 0.1, groups=groups)
    assert "no calibration rows for groups 'east', 'west'" in only_warning(caught)
    assert sets.mask[[0, 2, 3]].all()
    assert np.array_equal(sets.mask[4:], by_group().predict(PROBS, 0.1, groups=GROUPS).mask[4:])
    with pytest.warns(rs.RanksetWarning, match="no calibration rows for groups 'east', 'west'") as caught:
        assert (by_group().p_values(PROBS, groups=groups)[[0, 2, 3]] == 1).all()
    assert len(caught) == 1


def test_many_unseen_groups_are_listed_up_to_five():
    groups = np.array([f"g{row % 8}" for row in range(N)])
    with pytest.warns(rs.RanksetWarning, match="'g0', 'g1', 'g2', 'g3', 'g4' and 3 more"):
        assert by_group().predict(PROBS, 0.1, groups=groups).mask.all()


def test_a_new_group_in_an_update_is_learned_without_a_warning():
    rule = by_group().update(PROBS[:10], LABELS[:10], groups=["west"] * 10)
    assert rule.spec.groups.values == ("north", "south", "west")


@entry_points(ID_ENTRY_POINTS)
@pytest.mark.parametrize(
    ("ids", "refusal"),
    [
        (range(N - 1), InputError.length("ids", 40, 39)),
        ([*range(N - 1), None], LabelError.missing("ids", 39)),
        (np.zeros((N, 2)), LabelError.not_one_dimensional("ids", "shape (40, 2)")),
        (7, LabelError.not_one_dimensional("ids", "int")),
        (
            [object()] * N,
            like(
                KindError,
                what="ids",
                received="object",
                expected="be strings, numbers, booleans, or hashable objects that define __str__ or __repr__",
            ),
        ),
    ],
)
def test_ids_that_tell_nothing_apart_are_refused(entry_point, ids, refusal):
    with refused(refusal):
        entry_point(ids)


@pytest.mark.parametrize(
    "ids",
    [
        np.arange(N),
        np.arange(N, dtype=np.uint8),
        np.arange(N) - N,
        [f"row {row}" for row in range(N)],
        np.array([f"row {row}" for row in range(N)]),
        [f"row {row}".encode() for row in range(N)],
        np.arange(N) + 0.5,
        np.datetime64("2024-01-01") + np.arange(N),
        [date.fromordinal(738_000 + row) for row in range(N)],
        [UUID(int=row) for row in range(N)],
        [2**70 + row for row in range(N)],
        [chr(0xD800 + row) for row in range(N)],
        [row if row % 2 else str(row) for row in range(N)],
        [[row] for row in range(N)],
    ],
    ids=lambda ids: f"{type(ids).__name__} {getattr(ids, 'dtype', type(ids[0]).__name__)}",
)
def test_ids_of_every_kind_settle_ties_between_identical_rows(ids):
    rows = np.tile([0.6, 0.3, 0.1], (N, 1))
    tied = rs.calibrate(rows, np.zeros(N, dtype=int), score=rs.TieBreak(rs.Rank()))
    settled = rs.calibrate(rows, np.zeros(N, dtype=int), score=rs.TieBreak(rs.Rank()), ids=ids)
    assert len(np.unique(tied.calibration.keys[-1])) == 1
    assert len(np.unique(settled.calibration.keys[-1])) == N
    assert sorted(settled.p_values(rows, ids=ids)[:, 0]) == [(rank + 1) / (N + 1) for rank in range(1, N + 1)]


@pytest.mark.parametrize("ids", [np.arange(N, dtype=np.uint8), np.arange(N, dtype=float), list(range(N)), range(N)])
def test_equal_ids_are_equal_in_every_numeric_type(ids):
    def rule(ids):
        return rs.calibrate(PROBS, LABELS, score=rs.TieBreak(rs.Rank()), ids=ids)

    assert rule(ids) == rule(np.arange(N)) != rule(np.arange(N) + 1)


def test_groups_may_be_tuples_of_names():
    sites, sexes = ["north", "south"] * (N // 2) + ["north"] * (N % 2), (["f", "m", "m"] * N)[:N]
    pairs = list(zip(sites, sexes, strict=True))
    series = pd.Series(pairs)
    rule = rs.calibrate(PROBS, LABELS, condition=rs.PerGroup(), groups=pairs)
    assert rule == rs.calibrate(PROBS, LABELS, condition=rs.PerGroup(), groups=series)
    arrays = list(zip(np.array(sites), np.array(sexes), strict=True))
    assert rule == rs.calibrate(PROBS, LABELS, condition=rs.PerGroup(), groups=arrays)
    assert "('north', 'f')" in rule.groups.tolist()
