"""Vocabularies of classes and groups."""

from datetime import date, datetime, timezone

import numpy as np
import pytest

import rankset as rs
from rankset.errors import KindError, LabelError
from rankset.inputs.vocabulary import Names, class_names, group_names, plain, union
from refusals import like, refused

PROBS = np.full((12, 3), 1 / 3)


@pytest.mark.parametrize(
    ("classes", "refusal"),
    [
        (["cat", "dog"], LabelError.class_count(3, 2)),
        (["cat", "dog", "fox", "emu"], LabelError.class_count(3, 4)),
        ([], LabelError.class_count(3, 0)),
        (["cat", "dog", "cat"], LabelError.duplicates(["cat"])),
        ([1, 1.0, 2], LabelError.duplicates([1])),
        (["cat", b"cat", "dog"], LabelError.duplicates(["cat"])),
        ("cat", KindError.argument("classes", "a list of names in column order", "cat")),
        (b"cat", like(KindError, what="classes", received="b'cat'", expected="be a list of names in column order")),
        (3, KindError.argument("classes", "a list of names in column order", 3)),
        (
            np.array(3),
            like(KindError, what="classes", received="array(3)", expected="be a list of names in column order"),
        ),
        (
            {"cat", "dog", "fox"},
            like(
                KindError,
                what="classes",
                expected="be a list of names in column order",
            ),
        ),
        (
            {1: "cat", 2: "dog", 3: "fox"},
            like(
                KindError,
                what="classes",
                received="{1: 'cat', 2: 'dog', 3: 'fox'}",
                expected="be a list of names in column order",
            ),
        ),
        (
            np.ma.array([1, 2, 3]),
            like(
                KindError,
                what="classes",
                received="masked_array(data=[1, 2, 3], mask=False, fill_value=999999)",
                expected="be a list of names in column order",
            ),
        ),
        (["cat", "dog", None], KindError.name("class names", None)),
        (["cat", "dog", np.nan], KindError.name("class names", np.nan)),
        (
            ["cat", "dog", object()],
            like(KindError, what="class names", received="object", remedy="Convert them to strings."),
        ),
        (["cat", "dog", ["fox"]], KindError.name("class names", ["fox"])),
        (np.array([["cat", "dog", "fox"]]), KindError.name("class names", ["cat", "dog", "fox"])),
        (
            ["cat", "dog", b"\xff"],
            like(KindError, what="class names", received="b'\\xff'", expected="be strings, or bytes in UTF-8"),
        ),
    ],
)
def test_class_names_that_cannot_name_the_columns_are_refused(classes, refusal):
    with refused(refusal):
        rs.calibrate(PROBS, np.zeros(12, dtype=int), classes=classes)


@pytest.mark.parametrize(
    ("classes", "values"),
    [
        (None, [0, 1, 2]),
        (range(1, 4), [1, 2, 3]),
        (("cat", "dog", "fox"), ["cat", "dog", "fox"]),
        (np.array(["cat", "dog", "fox"]), ["cat", "dog", "fox"]),
        ((name for name in ("cat", "dog", "fox")), ["cat", "dog", "fox"]),
        ({"cat": 0, "dog": 1, "fox": 2}.keys(), ["cat", "dog", "fox"]),
        ([b"cat", "dog", np.str_("fox")], ["cat", "dog", "fox"]),
        (np.array([b"cat", b"dog", b"fox"]), ["cat", "dog", "fox"]),
        (np.array([1, 2, 3], dtype="M8[D]"), ["1970-01-02", "1970-01-03", "1970-01-04"]),
        (np.array([1, 2, 3], dtype="M8[D]").astype("M8[ns]"), ["1970-01-02", "1970-01-03", "1970-01-04"]),
        ([np.int8(3), np.uint64(2), np.int64(1)], [3, 2, 1]),
        ([True, 0, "x"], [True, 0, "x"]),
        ([("cat", 1), ("dog", 2), ("fox", 3)], ["('cat', 1)", "('dog', 2)", "('fox', 3)"]),
        (["a", "a\0", "b"], ["a", "a\0", "b"]),
        ([2**63, -1, 0], [2**63, -1, 0]),
    ],
)
def test_names_come_back_as_they_were_given(classes, values):
    array = class_names(classes, 3).array
    assert array.tolist() == values
    assert [type(value) for value in array.tolist()] == [type(value) for value in values]


def test_many_duplicates_are_listed_up_to_five():
    with refused(
        LabelError.duplicates(
            [
                0,
                1,
                2,
                3,
                4,
                5,
                6,
                7,
                8,
                9,
                10,
                11,
                12,
                13,
                14,
                15,
                16,
                17,
                18,
                19,
                20,
                21,
                22,
                23,
                24,
                25,
                26,
                27,
                28,
                29,
                30,
                31,
                32,
                33,
                34,
                35,
                36,
                37,
                38,
                39,
                40,
                41,
                42,
                43,
                44,
                45,
                46,
                47,
                48,
                49,
            ]
        )
    ):
        class_names([*range(50), *range(50)], 100)


def test_codes_are_places_in_the_vocabulary_and_minus_one_elsewhere():
    names = Names(("cat", 1, 2.5, False))
    assert names.codes(np.array(["cat", 2.5, 1, "1", 0, "emu"], dtype=object)).tolist() == [0, 2, 1, -1, 3, -1]
    assert Names(range(3)).codes(np.array([2.0, 0.5, -1.0, 3.0, np.inf])).tolist() == [2, -1, -1, -1, -1]
    assert Names(range(3)).codes(np.array([True, False])).tolist() == [1, 0]


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "g", ">i2", ">f4"])
@pytest.mark.parametrize("count", [3, 100, 300, 70_000])
def test_codes_of_numbers_do_not_depend_on_their_type(dtype, count):
    names = np.array([0, 2, 3, 99, 100, 127], dtype=dtype)
    expected = [number if number < count else -1 for number in names.tolist()]
    assert Names(range(count)).codes(names).tolist() == expected


def test_group_names_are_sorted_numbers_first():
    names = group_names(np.array(["b", 2, "a", 1.5, True], dtype=object))
    assert names.values == (True, 1.5, 2, "a", "b")


def test_the_union_of_vocabularies_is_sorted_and_has_no_repeats():
    assert union(Names(("a", "c")), Names((1, "a", "b"))).values == (1, "a", "b", "c")


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (date(2024, 2, 29), "2024-02-29"),
        (datetime(2024, 2, 29), "2024-02-29"),  # noqa: DTZ001
        (datetime(2024, 2, 29, 12, 30), "2024-02-29T12:30:00"),  # noqa: DTZ001
        (datetime(2024, 2, 29, 12, 30, 0, 500_000), "2024-02-29T12:30:00.5"),  # noqa: DTZ001
        (datetime(2024, 2, 29, tzinfo=timezone.utc), "2024-02-29T00:00:00+00:00"),  # noqa: UP017
        (b"caf\xc3\xa9", "café"),
        (np.float32(0.5), 0.5),
        (np.True_, True),
    ],
)
def test_a_name_is_a_plain_value(value, name):
    assert plain(value, "names") == name
    assert type(plain(value, "names")) is type(name)


@pytest.mark.parametrize(
    "groups",
    [
        [2**63, 2**63 + 1, -1],
        [2**60, 2**60 + 1, 0.5],
        ["a" * 100_000, "b", "c"],
        [1, "1", 2.5],
    ],
)
def test_distinct_names_stay_distinct(groups):
    rule = rs.calibrate([[0.6, 0.4]] * 3, [0, 1, 0], condition=rs.PerGroup(), groups=groups)
    assert len(rule.groups) == 3


def test_one_moment_has_one_name_however_it_comes():
    ways = [np.array(["2020-01-01T05:30"], dtype=f"M8[{unit}]") for unit in ("m", "s", "ms", "us", "ns")] + [
        [np.datetime64("2020-01-01T05:30", "ns")],
        [datetime.fromisoformat("2020-01-01T05:30")],
    ]
    rules = [rs.calibrate([[0.6, 0.4]], [0], condition=rs.PerGroup(), groups=way) for way in ways]
    assert {rule.groups[0] for rule in rules} == {"2020-01-01T05:30:00"}
    day = rs.calibrate([[0.6, 0.4]], [0], condition=rs.PerGroup(), groups=np.array(["2020-01-01T00"], dtype="M8[h]"))
    assert day.groups.tolist() == ["2020-01-01"]


def test_data_frames_are_not_read_by_position():
    class Frame:
        columns = ("b", "a")
        shape = (1, 2)

        def __array__(self, dtype=None, copy=None):
            return np.array([[0.6, 0.4]])

    with refused(KindError, what="probs", remedy="Pass frame[classes].to_numpy().") as caught:
        rs.calibrate(Frame(), [0])
    assert str(caught.value.received).startswith("a Frame that narwhals cannot read")


def test_tensors_that_refuse_to_be_read_are_explained():
    class Tensor:
        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("requires grad")

    with refused(
        KindError,
        what="probs",
        received="a Tensor that NumPy cannot convert (requires grad)",
        remedy="For a tensor pass values.detach().float().cpu().numpy().",
    ):
        rs.calibrate(Tensor(), [0])


@pytest.mark.parametrize(
    "id2label",
    [{0: "cat", 1: "dog"}, {"0": "cat", "1": "dog"}, {"1": "dog", "0": "cat"}, {1: "dog", 0: "cat"}],
    ids=["numbers", "texts", "texts in another order", "numbers in another order"],
)
def test_a_mapping_from_columns_to_names_is_a_list_of_names(id2label):
    probs = [[0.9, 0.1], [0.2, 0.8]]
    assert rs.calibrate(probs, ["cat", "dog"], classes=id2label).classes.tolist() == ["cat", "dog"]


@pytest.mark.parametrize(
    "mapping", [{"0": "cat", 1: "dog"}, {"1": "cat", "2": "dog"}, {"00": "cat", "01": "dog"}, {"cat": 0, "dog": 1}]
)
def test_other_mappings_have_no_order(mapping):
    with refused(KindError.argument("classes", "a list of names in column order", mapping)):
        rs.calibrate([[0.9, 0.1], [0.2, 0.8]], ["cat", "dog"], classes=mapping)


def test_a_mapping_of_texts_with_more_than_ten_classes_is_in_the_order_of_numbers():
    names = class_names({str(number): f"class {number}" for number in range(12)}, 12)
    assert names.values == tuple(f"class {number}" for number in range(12))
