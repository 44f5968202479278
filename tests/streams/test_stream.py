"""``Stream``: the same sets and levels as a slow implementation, labels in any order, errors, files."""

import copy
from collections import deque
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankset as rs
from rankset.errors import KindError, RanksetError, RuleError, StorageError, silent
from rankset.io import container
from rankset.streams import stream_file
from rankset.streams.delays import Delays
from rankset.streams.stepped_level import UNIT
from refusals import refused

ROWS, LABELS = rs.datasets.load("carer")
RULE = rs.calibrate(ROWS[:300], LABELS[:300], kind="logits")


def probs_and_labels(seed, n, k=4):
    rng = np.random.default_rng(seed)
    probs = rng.dirichlet(np.ones(k), n)
    labels = (probs.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    return probs, labels


class Slow:
    """A window of Thr keys and adaptive conformal inference, one fraction at a time."""

    def __init__(self, probs, labels, alpha, window, step):
        order = np.random.default_rng(0).permutation(len(labels))[:window]
        keys = np.sort(-probs[np.arange(len(labels)), labels])
        self.window = deque(keys[order].tolist(), maxlen=window)
        self.alpha, self.level, self.step = alpha, alpha, step

    def predict(self, row):
        kept = []
        for label, prob in enumerate(row):
            p = Fraction(1 + sum(key >= -prob for key in self.window), 1 + len(self.window))
            if self.level < 1 and (self.level <= 0 or p > self.level):
                kept.append(label)
        return kept

    def update(self, row, label, missed):
        self.level += self.step * (self.alpha - missed)
        self.window.append(-row[label])


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.sampled_from([1, 2, 5]), st.sampled_from([5, 30]))
def test_sets_and_levels_are_those_of_a_slow_implementation(seed, batch, window):
    probs, labels = probs_and_labels(seed, 90)
    rule = rs.calibrate(probs[:20], labels[:20], method="thr")
    stream = rs.Stream(rule, alpha=0.2, window=window, level=rs.Adaptive(0.0625))
    step = Fraction(1, 16)
    slow = Slow(probs[:20], labels[:20], Fraction(1, 5), window, step)
    for start in range(20, 90, batch):
        rows = probs[start : start + batch]
        found = [sorted(one.tolist()) for one in stream.predict(rows)]
        expected = [slow.predict(row) for row in rows]
        assert found == expected
        stream.update(labels[start : start + batch])
        for row, label, kept in zip(rows, labels[start : start + batch], expected, strict=True):
            slow.update(row, label, label not in kept)
        if batch == 1:
            assert abs(stream.exact_level - slow.level) < Fraction(1, 10**9)


@pytest.mark.parametrize("method", ["thr", "rank", "aps", "saps", "topk", "margin"])
def test_single_rows_and_matrices_give_the_same_sets(method):
    kind = "logits"
    rule = rs.calibrate(ROWS[:300], LABELS[:300], method=method, kind=kind)
    first, second = rs.Stream(rule, alpha=0.1), rs.Stream(rule, alpha=0.1)
    for row in range(300, 360):
        alone = first.predict(ROWS[row])
        listed = second.predict([ROWS[row].tolist()])
        assert alone.to_lists() == listed.to_lists()
        assert first.update([LABELS[row]]) == second.update([LABELS[row]])
    assert first.exact_level == second.exact_level
    assert [one.log_wealth for one in first.alarms] == [one.log_wealth for one in second.alarms]


@pytest.mark.parametrize(
    "condition",
    [rs.PerLabel(), rs.PerGroup(), rs.Pooled(), rs.Balanced([1] * 6), rs.Marginal()],
    ids=lambda one: type(one).__name__,
)
def test_with_a_fixed_level_and_a_full_window_sets_are_those_of_the_rule(condition):
    groups = np.arange(2000) % 3
    own = {"groups": groups[:300]} if condition.needs_groups else {}
    rule = rs.calibrate(ROWS[:300], LABELS[:300], kind="logits", condition=condition, **own)
    stream = rs.Stream(rule, alpha=0.1, window=None, level=rs.Fixed())
    new = {"groups": groups[300:400]} if condition.needs_groups else {}
    with silent():
        assert stream.predict(ROWS[300:400], **new).to_lists() == rule.predict(ROWS[300:400], 0.1, **new).to_lists()
        stream.update(LABELS[300:400])
        more = {"groups": groups[400:500]} if condition.needs_groups else {}
        grown = rule.update(ROWS[300:400], LABELS[300:400], **new)
        assert stream.predict(ROWS[400:500], **more).to_lists() == grown.predict(ROWS[400:500], 0.1, **more).to_lists()


def test_labels_come_in_any_order_late_repeated_or_never():
    names = [f"row {number}" for number in range(100)]
    one, other = rs.Stream(RULE, alpha=0.1), rs.Stream(RULE, alpha=0.1)
    for stream in (one, other):
        stream.predict(ROWS[300:400], ids=names)
    order = np.random.default_rng(0).permutation(100)
    one.update(LABELS[300:400][order], ids=[names[place] for place in order])
    for place in order:
        assert other.update([LABELS[300 + place]], ids=[names[place]]).rows == 1
    assert one.exact_level == other.exact_level
    assert one.n_waiting == other.n_waiting == 0
    assert one.update([0, 1], ids=["row 3", "never"]) == rs.Learned(0, 0, 1, 1)


def test_the_step_becomes_smaller_if_labels_come_late():
    stream = rs.Stream(RULE, alpha=0.1)
    for start in range(300, 800, 100):
        stream.predict(ROWS[start : start + 100])
        stream.update(LABELS[start : start + 100])
    assert stream.delay == 99
    assert stream._state.last == (1 << 40) // 297


def test_old_rows_are_dropped_if_too_many_wait():
    stream = rs.Stream(RULE, alpha=0.1, waiting=10)
    stream.predict(ROWS[300:320])
    assert stream.n_waiting == 10
    assert stream.update(LABELS[300:320]) == rs.Learned(10, stream.misses, 0, 10)


def test_the_window_forgets_and_memory_stays_constant():
    stream = rs.Stream(RULE, alpha=0.1, window=50)
    for start in range(300, 1900, 100):
        stream.predict(ROWS[start : start + 100])
        stream.update(LABELS[start : start + 100])
    assert len(stream._window) == 50
    expected = rs.calibrate(ROWS[1850:1900], LABELS[1850:1900], kind="logits").calibration
    assert stream._window.calibration() == expected


def test_every_label_or_none_outside_zero_and_one():
    stream = rs.Stream(RULE, alpha=0.5, level=rs.Adaptive(1.0))
    stream.predict(ROWS[300:301])
    wrong = int(ROWS[300].argmin())
    stream.update([wrong])
    assert stream.level <= 0
    assert stream.predict(ROWS[301]).sizes.tolist() == stream.predict(ROWS[302:303]).sizes.tolist() == [6]
    for row in range(303, 330):
        kept = stream.predict(ROWS[row]).to_lists()[0]
        if kept:
            stream.update([kept[0]])
        if stream.level >= 1:
            break
    assert stream.level >= 1
    assert stream.predict(ROWS[331]).sizes.tolist() == stream.predict(ROWS[332:334].tolist()).sizes.tolist()[:1] == [0]


@pytest.mark.parametrize(
    "level", [rs.Adaptive(), rs.Fixed(), rs.Decaying(), rs.Experts()], ids=lambda one: repr(one)[:6]
)
@pytest.mark.parametrize("condition", [rs.Marginal(), rs.PerGroup()], ids=repr)
def test_a_saved_stream_goes_on_as_if_nothing_had_happened(tmp_path, level, condition):
    groups = np.array(["a", "b", "c"])[np.arange(2000) % 3]
    own = (lambda part: {"groups": groups[part]}) if condition.needs_groups else (lambda part: {})
    rule = rs.calibrate(ROWS[:300], LABELS[:300], kind="logits", condition=condition, **own(slice(0, 300)))
    stream = rs.Stream(rule, alpha=0.1, level=level, window=200, outputs=ROWS[:300])
    stream.predict(ROWS[300:400], **own(slice(300, 400)))
    stream.update(LABELS[320:350], ids=range(20, 50))
    path = tmp_path / "state.rankset"
    stream.save(path)
    loaded = rs.Stream.load(path)
    assert repr(loaded) == repr(stream)
    for one in (stream, loaded):
        one.update(LABELS[300:320], ids=range(20))
        one.predict(ROWS[400:500], **own(slice(400, 500)))
        one.update(LABELS[400:500])
    assert loaded.exact_level == stream.exact_level
    assert str(loaded.alarms) == str(stream.alarms)
    assert [name in loaded for name in (20, 60, 150)] == [True, True, True]
    again = tmp_path / "again.rankset"
    loaded.save(again)
    stream.save(path)
    assert path.read_bytes() == again.read_bytes()


def test_files_of_other_things_are_refused(tmp_path):
    path = tmp_path / "rule.rankset"
    RULE.save(path)
    with refused(StorageError, received="a Rule"):
        rs.Stream.load(path)
    rs.Stream(RULE, alpha=0.1).save(path)
    with refused(StorageError, received="a Stream"):
        rs.load(path)


def test_damaged_files_are_refused(tmp_path):
    stream = rs.Stream(RULE, alpha=0.1, window=20)
    stream.predict(ROWS[300:303])
    path = tmp_path / "state.rankset"
    stream.save(path)
    data = path.read_bytes()
    for place in range(0, len(data), max(1, len(data) // 60)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        try:
            rs.Stream.load(path).save(path)
        except StorageError:
            continue
        assert path.read_bytes() == data  # a digit that float64 does not hold


def test_files_that_contradict_themselves_are_refused(tmp_path):
    stream = rs.Stream(RULE, alpha=0.1, window=20)
    stream.predict(ROWS[300:303], ids=["a", "b", "c"])
    stream.update([1], ids=["a"])
    header, arrays = stream_file.pack(stream)
    path = tmp_path / "state.rankset"
    changes = [
        ({"alpha": [1, 0]}, {}),
        ({"alpha": [3, 2]}, {}),
        ({"level": {"name": "Adaptive", "step": 5}}, {}),
        ({"level": {"name": "exec"}}, {}),
        ({"state": {**header["state"], "rows": -1}}, {}),
        ({"state": {**header["state"], "misses": 7}}, {}),
        ({"state": {**header["state"], "closed": [1, 0]}}, {}),
        ({"state": []}, {}),
        ({"window": 3}, {}),
        ({"rows": 1}, {}),
        ({"rows": "3"}, {}),
        ({"waiting": {**header["waiting"], "ids": ["b", "b"]}}, {}),
        ({"waiting": {**header["waiting"], "ids": ["b", "a"]}}, {}),
        ({"waiting": {**header["waiting"], "ids": ["b", None]}}, {}),
        ({"waiting": {**header["waiting"], "most": 1}}, {}),
        ({"alarms": {**header["alarms"], "delta": 0.0}}, {}),
        ({"alarms": {**header["alarms"], "labels": {}}}, {}),
        ({"history": 0}, {}),
        ({}, {"window.group": np.full(20, 5)}),
        ({}, {"window.key0": np.arange(20.0)}),
        ({}, {"window.key1": np.full(20, np.nan)}),
        ({}, {"waiting.code": np.full(len(arrays["waiting.code"]), 9)}),
        ({}, {"waiting.output": np.full(12, np.nan)}),
        ({}, {"waiting.output": np.zeros(11)}),
        ({}, {"waiting.number": np.array([2, 2])}),
        ({}, {"labels.limit0": arrays["labels.limit0"][::-1].copy()}),
        ({}, {"labels.count": np.array([1, 2])}),
        ({}, {"history.rows": np.array([-1.0] * len(arrays["history.rows"]))}),
    ]
    container.write(path, header, arrays)
    assert repr(rs.Stream.load(path)) == repr(stream)
    for fields, some in changes:
        container.write(path, {**header, **fields}, {**arrays, **some})
        with pytest.raises(StorageError):
            rs.Stream.load(path)


def test_errors_change_nothing():
    stream = rs.Stream(RULE, alpha=0.1)
    stream.predict(ROWS[300:302], ids=["a", "b"])
    before = repr(stream), stream.n_rows, stream.n_waiting
    wrong = ROWS[302:304].copy()
    wrong[1, 2] = np.nan
    for call in (
        lambda: stream.predict(wrong),
        lambda: stream.predict(ROWS[302:304], ids=["c", "a"]),
        lambda: stream.predict(ROWS[302:304], ids=["c", "c"]),
        lambda: stream.update([7, 1], ids=["a", "b"]),
        lambda: stream.update([1], ids=["a", "b"]),
        lambda: stream.update([1, 1], ids=["a", "a"]),
        lambda: stream.update([1, 1, 1]),
        lambda: stream.update([1, rs.ABSENT]),
    ):
        with pytest.raises(RanksetError):
            call()
        assert (repr(stream), stream.n_rows, stream.n_waiting) == before
        assert stream.update([], ids=[]).rows == 0


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ({"window": 0}, "window"),
        ({"window": 2.5}, "window"),
        ({"waiting": 0}, "waiting"),
        ({"delta": 0}, "delta"),
        ({"tolerance": -1}, "tolerance"),
        ({"level": 0.1}, "level"),
        ({"seed": "x"}, "seed"),
    ],
)
def test_numbers_out_of_range_are_refused(arguments, what):
    with refused(KindError, what=what):
        rs.Stream(RULE, alpha=0.1, **arguments)


def test_rules_that_cannot_be_followed_are_refused():
    several = rs.calibrate(
        ROWS[:100], [[label] for label in LABELS[:100]], kind="logits", method="thr", target="recall"
    )
    weighted = rs.calibrate(ROWS[:100], LABELS[:100], kind="logits", weights=1)
    for rule in (several, weighted):
        with pytest.raises(RuleError):
            rs.Stream(rule, alpha=0.1)
        with pytest.raises(RuleError):
            rs.exchangeable(rule, ROWS[:10], LABELS[:10])
    with pytest.raises(KindError):
        rs.Stream(RULE.at(0.1), alpha=0.1)


def test_methods_check_their_numbers():
    for wrong in (0, -1, 2, "x", float("nan")):
        with pytest.raises(KindError):
            rs.Adaptive(wrong)
    with pytest.raises(KindError):
        rs.Decaying(power=0.2)
    with pytest.raises(KindError):
        rs.Experts(())


def test_alarms_notice_another_temperature_and_stay_quiet_without_a_change():
    logits, labels = rs.datasets.load("carer")
    rule = rs.calibrate(logits[:500], labels[:500], kind="logits")
    quiet, drifting = (rs.Stream(rule, alpha=0.1, outputs=logits[:500]) for _ in range(2))
    for start in range(500, 2000, 50):
        part = slice(start, start + 50)
        quiet.predict(logits[part])
        quiet.update(labels[part])
        drifting.predict(logits[part] / (1 if start < 1000 else 3))
        drifting.update(labels[part])
    assert not quiet.alarms
    assert drifting.alarms.outputs.raised
    assert 480 <= drifting.alarms.outputs.since <= drifting.alarms.outputs.at <= 560
    assert "ALARM" in repr(drifting)
    drifting.restart_alarms()
    assert not drifting.alarms


def test_alarms_that_are_started_anew_began_with_the_next_row():
    stream = rs.Stream(RULE, alpha=0.1, level=rs.Fixed())
    stream.predict(ROWS[300:500])
    stream.update(LABELS[300:500])
    stream.restart_alarms()
    stream.predict(ROWS[500:700])
    stream.update([(label + 1) % 4 for label in LABELS[500:700]])
    assert stream.alarms.coverage.raised
    assert 200 <= stream.alarms.coverage.since <= 210


def test_history_has_the_sums_of_the_stream():
    stream = rs.Stream(RULE, alpha=0.1)
    for row in range(300, 1300):
        stream.predict(ROWS[row])
        stream.update([LABELS[row]])
    found = stream.history
    assert found["rows"].sum() == found["labels"].sum() == 1000
    assert found["misses"].sum() == stream.misses
    assert found["row"][-1] == 1000
    assert found["level"][-1] == stream.level


def test_history_stays_small():
    from rankset.streams.history import MOST, History

    history = History()
    for number in range(100_000):
        history.add((1, 1, 2, number % 2), (0.1, 0, 0, 0))
    columns = history.columns()
    assert len(columns["rows"]) <= MOST
    assert columns["rows"].sum() == 100_000
    assert columns["misses"].sum() == 50_000


def test_exchangeable_does_not_depend_on_the_order_of_rows_sorted_by_class():
    order = np.argsort(LABELS[300:], kind="stable") + 300
    assert rs.exchangeable(RULE, ROWS[order], LABELS[order]).looks_exchangeable
    assert not rs.exchangeable(RULE, ROWS[300:] / 3, LABELS[300:]).looks_exchangeable


@pytest.mark.slow
def test_false_alarms_are_rare():
    """600 streams of 600 rows after 100 calibration rows: at most 5 % + 3 standard errors."""
    alarms, n = 0, 600
    for seed in range(n):
        probs, labels = probs_and_labels(seed, 700, 3)
        rule = rs.calibrate(probs[:100], labels[:100], method="thr")
        stream = rs.Stream(rule, alpha=0.1, outputs=probs[:100], seed=seed)
        for start in range(100, 700, 100):
            stream.predict(probs[start : start + 100])
            stream.update(labels[start : start + 100])
        alarms += stream.alarms.labels.raised or stream.alarms.outputs.raised
    assert alarms / n <= 0.05 + 3 * (0.05 * 0.95 / n) ** 0.5


def test_rows_that_wait_long_do_not_keep_the_rows_of_their_call():
    stream = rs.Stream(RULE, alpha=0.1)
    stream.predict(ROWS[300:1300])
    order = np.random.default_rng(1).permutation(1000)
    for place in order[:990].tolist():
        stream.update([LABELS[300 + place]], ids=[place])
    assert len({id(place.rows) for place in stream._waiting.rows.values()}) == 1
    assert all(len(place.rows.data) <= 16 for place in stream._waiting.rows.values())
    other = rs.Stream(RULE, alpha=0.1)
    other.predict(ROWS[300:1300])
    other.update(LABELS[300:1300][order], ids=order)
    stream.update(LABELS[300:1300][order[990:]], ids=order[990:])
    assert other.exact_level == stream.exact_level


def test_a_copy_goes_on_by_itself():
    stream = rs.Stream(RULE, alpha=0.1)
    stream.predict(ROWS[300:310])
    other = copy.deepcopy(stream)
    other.update(LABELS[300:310])
    assert (stream.n_labels, other.n_labels) == (0, 10)


def test_a_single_row_with_an_id_is_answered_as_on_the_general_path(tmp_path):
    quick, general = rs.Stream(RULE, 0.1), rs.Stream(RULE, 0.1)
    for number in range(1000, 1100):
        ids = [f"r{number}"]
        found = quick.predict(ROWS[number], ids=ids)
        assert found.to_lists() == general.predict(ROWS[number : number + 1].tolist(), ids=ids).to_lists()
        assert quick.update([LABELS[number]], ids=ids) == general.update([LABELS[number]], ids=ids)
    for name, stream in (("quick", quick), ("general", general)):
        stream.predict(ROWS[0].astype(float), ids=["last"])
        stream.save(tmp_path / name)
    assert (tmp_path / "quick").read_bytes() == (tmp_path / "general").read_bytes()
    for wrong in (["last"], ["x", "y"], [None]):
        with pytest.raises(rs.RanksetError):
            quick.predict(ROWS[1], ids=wrong)
    assert quick.n_rows == 101


def test_a_single_late_label_hardly_matters():
    """It is one row that waited, whatever came between; the step follows what is usual."""
    bounds = {}
    for late in (0, 50, 2900):
        state = rs.Adaptive()._start(Fraction(1, 10))
        for number in range(6000):
            state.learn(missed=number % 10 == 0, p_value=1.0, delay=late if number == 3000 else 0)
        bounds[late] = float(state.bound)
        assert state.delay == late
        assert state.last == UNIT // 100
    assert bounds[0] == pytest.approx(0.91 / (0.01 * 6000))
    assert bounds[50] == bounds[2900] == pytest.approx(0.92 / (0.01 * 6000))


def test_the_step_is_that_of_usual_delays():
    state = rs.Adaptive()._start(Fraction(1, 10))
    rng = np.random.default_rng(0)
    for late in rng.integers(0, 100, 3000).tolist() + [5000] * 30:
        state.learn(missed=False, p_value=1.0, delay=late)
    assert 90 <= state.typical_delay <= 99
    assert state.all_delays.waiting <= 99 + 30
    for _ in range(4000):
        state.learn(missed=False, p_value=1.0, delay=0)
    assert state.typical_delay == 0


def test_rows_that_wait_are_at_most_as_many_as_the_delays_say():
    """Counted by hand for random delays: rows whose labels came later than a moment, and that were there before."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        delays, found = rng.geometric(rng.random() * 0.3 + 0.01, 300) * rng.integers(1, 4, 300), Delays()
        for late in delays.tolist():
            found.add(late)
        rows = np.arange(300)
        waiting = max(int(((rows < moment) & (rows + delays >= moment)).sum()) for moment in range(1, 900))
        assert waiting - 1 <= found.waiting <= delays.max() + 30
