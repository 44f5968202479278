"""Bodies with far too many lists, objects or members are refused before they are decoded."""

import json
import tracemalloc

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("msgspec")

import msgspec

import rankset as rs
from rankset.serving.refusals import Refused
from rankset.serving.request_limits import Limits
from rankset.serving.row_bounds import check_bounds, check_lists
from rankset.serving.rows_in import rows_of
from refusals import refused
from serving_process import LOGITS, make_rule
from serving_requests import predict

SPEC = make_rule().spec
SIGNS = ["a[]", "b{:", "c,:", "d", "e", "f"]
"""Classes with characters that are counted."""
NAMED = rs.calibrate(np.eye(6)[np.arange(60) % 6] * 0.4 + 0.1, np.array(SIGNS * 10), classes=SIGNS).spec
BINARY = rs.calibrate(np.linspace(0.1, 0.9, 60), np.arange(60) % 2, kind="binary").spec


def raw(rows):
    return msgspec.Raw(rows if isinstance(rows, bytes) else json.dumps(rows).encode())


def many(part, count, start=b"[", end=b"]"):
    return start + b",".join([part] * count) + end


def members(count, value):
    return b",".join(b'"k%d":%s' % (number, value) for number in range(count))


@pytest.mark.parametrize(
    ("rows", "status", "received"),
    [
        (many(b"[]", 3_000_000), 413, "3,000,000"),
        (many(b"{}", 3_000_000), 413, "more"),
        (b"[[1,2,3,4,5,6],[" + many(b"0", 3_000_000, b"", b"") + b"]]", 422, "3,000,000"),
        (b"[{" + members(700_000, b"0") + b"}]", 422, "more"),
        (b"{" + members(600_000, b"[]") + b"}", 422, "more of them"),
        (b'{"joy":' + many(b"0", 3_000_000) + b"}", 413, "more"),
    ],
)
def test_too_much_is_refused_without_decoding_it(rows, status, received):
    tracemalloc.start()
    with pytest.raises(Refused) as error:
        rows_of(raw(rows), SPEC, 10_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (error.value.status, error.value.received) == (status, received)
    assert peak < 5 * len(rows)


@pytest.mark.parametrize("name", ["ids", "groups", "labels"])
def test_too_many_entries_for_rows_are_refused_without_decoding_them(name):
    body = b'{"rows":[],"%s":%s}' % (name.encode(), many(b'"k,"', 900_000))
    for sent, received in ((body, "more"), (body.replace(b'","', b'", "'), "900,000")):
        with refused(Refused, what=f"the number of {name}", received=received):
            check_lists(sent, 10_000)
    check_lists(b'{"rows":[],"%s":%s}' % (name.encode(), many(b'"k,,,,\\",,"', 10_000)), 10_000)
    check_lists(b'{"rows":[],"%s":%s}' % (name.encode(), many(b'","', 10_000)), 10_000)
    check_lists(body[:-1], 10_000)  # it is no JSON, which another error says


def test_too_many_numbers_of_a_binary_rule():
    with refused(Refused, received="3,000,000"):
        check_bounds(raw(many(b"0", 3_000_000)), BINARY, 10_000)
    check_bounds(raw(many(b"0", 10_000)), BINARY, 10_000)
    check_bounds(raw(many(b"[0]", 10_000)), BINARY, 10_000)


def test_one_row_of_many_has_too_many_members():
    rows = b"[{" + members(12_000, b"0") + b"}" + b",{}" * 5000 + b"]"
    with pytest.raises(Refused) as error:
        rows_of(raw(rows), SPEC, 10_000)
    assert (error.value.what, error.value.received, error.value.where.row) == ("each row", "12,000", 0)


def test_objects_count_as_rows_of_all_classes():
    """100 kB of objects can be rows of gigabytes."""
    many_classes = rs.calibrate(np.full((5, 20_000), 1 / 20_000), [0] * 5).spec
    rows = raw([{"0": 1}] * 10_000)
    tracemalloc.start()
    with refused(Refused, what="rows times classes", expected="be at most 2,500,000", received="200,000,000"):
        rows_of(rows, many_classes, 10_000, Limits().numbers)
    assert tracemalloc.get_traced_memory()[1] < 50_000_000
    tracemalloc.stop()
    assert rows_of(raw([{"0": 1}] * 125), many_classes, 10_000, Limits().numbers).shape == (125, 20_000)


@pytest.mark.parametrize("rows", [[[0] * 6] * 20_000, {name: [0] * 20_000 for name in SPEC.classes.values}])
def test_short_numbers_are_counted(rows):
    with refused(Refused, what="rows times classes"):
        rows_of(raw(rows), SPEC, 100_000, 100_000)
    assert rows_of(raw(rows), SPEC, 100_000, 120_010).shape == (20_000, 6)


@pytest.mark.parametrize("spec", [SPEC, NAMED], ids=["words", "signs"])
def test_as_many_rows_as_allowed_are_read_in_every_form(spec):
    """Also if names of classes have brackets, braces, colons and commas."""
    matrix = np.tile(LOGITS[:100].astype(np.float64), (25, 1))
    names = list(spec.classes.values)
    objects = [dict(zip(names, row, strict=True)) for row in matrix.tolist()]
    columns = {name: matrix[:, place].tolist() for place, name in enumerate(names)}
    for rows in (matrix.tolist(), objects, columns):
        for spaces in (None, 1):
            found = rows_of(raw(json.dumps(rows, indent=spaces).encode()), spec, len(matrix))
            assert np.array_equal(found, matrix)
        assert len(rows_of(raw(rows), spec, len(matrix) + 1)) == len(matrix)
        with pytest.raises(Refused) as error:
            rows_of(raw(rows), spec, len(matrix) - 1)
        assert error.value.status == 413


def test_large_sets_of_few_rows_are_written_in_a_thread(monkeypatch):
    """The others need not wait until thousands of labels are written."""
    k = 3000
    rule = rs.calibrate(np.full((20, k), 1 / k), np.arange(20))
    app, threads = rs.serving.app(rule, alpha=0.01), []
    in_thread = app.service.in_thread
    monkeypatch.setattr(app.service, "in_thread", lambda work: threads.append(1) or in_thread(work))
    for rows, used in ((1, 1), (2, 3)):  # to read them; and to predict and to write them
        threads.clear()
        status, answer = predict(app, rows=np.full((rows, k), 1 / k).tolist())
        assert (status, answer["sizes"], len(threads)) == (200, [k] * rows, used)
    app.close()
