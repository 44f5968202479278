"""What the server learns from rows and labels, beside a stream of Python that sees the same."""

from dataclasses import replace

import numpy as np
import pytest

import rankset as rs

pytest.importorskip("starlette")

from rankset.serving import Feedback, Labelled, Prediction
from rankset.serving.live_numbers import live_numbers
from rankset.serving.loaded import Answering, Loaded
from rankset.serving.metrics import Metrics
from rankset.serving.monitor import Monitor, _top_column, label_keys
from rankset.serving.row_blocks import RowBlocks
from serving_process import CLASSES, LABELS, LOGITS, make_rule


def predicted(rule, rows, alpha=0.1, start=0.0, groups=None):
    sets = rule.predict(rows, alpha=alpha, **({} if groups is None else {"groups": groups}))
    largest = np.exp(rows - rows.max(axis=1, keepdims=True))
    largest = (largest / largest.sum(axis=1, keepdims=True)).max(axis=1)
    names = [None] * len(rows) if groups is None else [f'"{group}"' for group in groups]
    parts = np.split(sets.codes, sets.offsets[1:-1])
    return [
        Prediction(str(place), start + place, row, names[place], parts[place], alpha, float(largest[place]))
        for place, row in enumerate(rows)
    ]


def in_turns(rows, first):
    """Rows of two rules, one after another."""
    return [replace(row, turn=1 + (place >= first)) for place, row in enumerate(rows)]


def with_labels(rows, labels, late=0.0):
    return [
        Labelled(row, Feedback(row.id, int(label), row.time + late)) for row, label in zip(rows, labels, strict=True)
    ]


def test_it_counts_what_a_stream_counts():
    rule, rows = make_rule(), LOGITS[1000:1500].astype(np.float64)
    monitor, stream = Monitor(rule, 0.1), rs.Stream(rule, 0.1, level=rs.Fixed(), window=None)
    some = predicted(rule, rows)
    monitor.learn(some)
    monitor.labelled(with_labels(some, LABELS[1000:1500]))
    sets = stream.predict(rows)
    stream.update(np.array(CLASSES)[LABELS[1000:1500]])
    assert monitor.ever.misses == 500 - sets.covers(np.array(CLASSES)[LABELS[1000:1500]]).sum()
    assert (monitor.ever.rows, monitor.ever.labels, monitor.ever.size_sum) == (500, 500, sets.sizes.sum())
    assert monitor.watching.coverage.rows == stream.alarms.coverage.rows == 500
    assert monitor.ever.class_labels.tolist() == np.bincount(LABELS[1000:1500], minlength=6).tolist()
    assert monitor.ever.class_misses.sum() == monitor.ever.misses


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_keys_of_labels_are_those_of_a_calibration(dtype):
    rows, labels = LOGITS[:300].astype(dtype), LABELS[:300]
    rule = rs.calibrate(rows, labels, kind="logits")
    keys = label_keys(rule.spec, with_labels(predicted(rule, rows), labels))
    calibrated = sorted(zip(*(key.tolist() for key in rule.calibration.keys), strict=True))
    assert sorted(keys) == calibrated


def test_keys_of_groups_and_of_rows_of_both_types():
    groups = np.where(np.arange(300) % 2, "a", "b")
    rows, labels = LOGITS[:300], LABELS[:300]
    rule = rs.calibrate(rows, labels, kind="logits", condition=rs.PerGroup(), groups=groups)
    pairs = with_labels(predicted(rule, rows.astype(np.float64), groups=groups), labels)
    mixed = [
        Labelled(Prediction(**{**vars(one.prediction), "outputs": row}), one.feedback) if place % 3 else one
        for place, (one, row) in enumerate(zip(pairs, rows, strict=True))
    ]
    assert label_keys(rule.spec, mixed) == label_keys(rule.spec, pairs)


def test_rows_at_other_levels_are_watched_and_not_counted():
    rule, rows = make_rule(), LOGITS[1000:1200].astype(np.float64)
    monitor = Monitor(rule, 0.1)
    some = predicted(rule, rows, alpha=0.5)
    monitor.learn(some)
    monitor.labelled(with_labels(some, LABELS[1000:1200]))
    assert (monitor.ever.rows, monitor.ever.labels, monitor.ever.misses) == (0, 0, 0)
    assert (monitor.watching.outputs.rows, monitor.watching.labels.rows, monitor.watching.coverage.rows) == (
        200,
        200,
        0,
    )


def test_rows_before_the_rule_was_served_do_not_move_its_alarms():
    rule, rows = make_rule(), LOGITS[1000:1200].astype(np.float64)
    monitor = Monitor(rule, 0.1, 2)
    some = in_turns(predicted(rule, rows), 100)
    monitor.learn(some)
    monitor.labelled(with_labels(some, LABELS[1000:1200]))
    assert (monitor.ever.labels, monitor.watching.labels.rows, monitor.watching.outputs.rows) == (200, 100, 100)


def drifted_rows(rule, late=0.0):
    """400 rows like those of the calibration, and 200 whose labels are one class further and come so much later."""
    rows = predicted(rule, LOGITS[1000:1600].astype(np.float64))
    return with_labels(rows, np.r_[LABELS[1000:1400], (LABELS[1400:1600] + 1) % 6], late)


@pytest.mark.parametrize("part", [1, 50, 600])
def test_alarms_know_since_which_row_however_late_labels_come(part):
    rule = make_rule()
    pairs = drifted_rows(rule, part - 1.0)
    monitor, stream = Monitor(rule, 0.1), rs.Stream(rule, 0.1, level=rs.Fixed(), window=None)
    for start in range(0, 600, part):
        some = pairs[start : start + part]
        monitor.learn([pair.prediction for pair in some])
        monitor.labelled(some)
        stream.predict(np.array([pair.prediction.outputs for pair in some]))
        stream.update([CLASSES[pair.feedback.label] for pair in some])
    for one, other in zip(monitor.watching.alarms, stream.alarms, strict=True):
        assert (one.name, one.raised) == (other.name, other.raised)
        assert one.at is None or one.at - part < other.at <= one.at  # labels of a part come later, one by one
    for name in ("labels", "coverage"):
        since = getattr(monitor.watching.alarms, name).since
        assert 370 <= since <= 430
    assert monitor.watching.alarms.coverage.since == stream.alarms.coverage.since  # labels alone have draws


def test_an_alarm_is_raised_at_the_same_row_after_a_restart():
    """Live, more rows have often come before a label is learned."""
    rule = make_rule()
    live, again = Monitor(rule, 0.1), Monitor(rule, 0.1)
    pairs = drifted_rows(rule)
    for start in range(0, 600, 20):
        live.learn([pair.prediction for pair in pairs[start : start + 20]])
        live.labelled(pairs[start : start + 20])
    again.learn([event for pair in pairs for event in (pair.prediction, pair)])
    for one, other in zip(live.watching.alarms, again.watching.alarms, strict=True):
        assert (one.raised, one.at, one.since) == (other.raised, other.at, other.since)
    assert live.watching.coverage.raised_at is not None


def test_a_new_rule_has_blocks_of_few_rows_however_many_the_rule_before_had():
    blocks, lasts = RowBlocks(), (0.1, 0.0, 0.0, 0.0)
    for number in range(100_000):
        blocks.add_row(float(number), 2, lasts, int(number >= 98_000))
    columns = blocks.columns()
    assert columns["rows"][columns["row"] > 98_000].tolist() == [50] * 40
    assert columns["rows"].max() >= 400


def test_the_last_block_of_the_rule_before_is_not_drawn_if_it_is_small():
    rule = make_rule()
    rows = in_turns(predicted(rule, LOGITS[1000:1210].astype(np.float64)), 110)
    monitor = Monitor(rule, 0.1, 2)
    monitor.learn(rows)
    monitor.labelled(with_labels(rows, LABELS[1000:1210]))
    blocks = live_numbers(Loaded(rule, Answering(0.1)), monitor, Metrics().now())["blocks"]
    assert blocks["rows"] == [50, 50, 10, 50, 50]
    for name in ("size", "coverage", "low", "high"):
        assert [value is None for value in blocks[name]] == [False, False, True, False, False]


def test_many_rules_leave_detail_to_the_last_one():
    blocks, lasts = RowBlocks(), (0.1, 0.0, 0.0, 0.0)
    for number in range(20_000):
        blocks.add_row(float(number), 2, lasts, number // 10)
    assert len(blocks.blocks) <= 400
    for number in range(20_000, 30_000):
        blocks.add_row(float(number), 2, lasts, 5000)
    of_last = blocks.columns()["row"] > 20_000
    assert of_last.sum() >= 100


def test_alarms_of_a_new_rule_began_with_its_rows():
    rule = make_rule()
    pairs = drifted_rows(rule, 600.0)
    rows = in_turns([pair.prediction for pair in pairs], 450)
    again = [Labelled(row, pair.feedback) for row, pair in zip(rows, pairs, strict=True)]
    at_once, restarted = Monitor(rule, 0.1, 1), Monitor(rule, 0.1, 2)
    at_once.learn(rows[:450])
    at_once.follow(rule, 2)
    at_once.learn([*rows[450:], *again])
    restarted.learn([*rows, *again])
    for monitor in (at_once, restarted):
        alarm = monitor.watching.alarms.coverage
        assert (alarm.raised, alarm.at) == (True, 599)
        assert 450 <= alarm.since <= 460


@pytest.mark.parametrize("back", [0.0, 1e6])
def test_numbers_of_the_rule_are_about_rows_since_it_is_served(back):
    """Also if the clock was set back meanwhile."""
    rule, rows = make_rule(), LOGITS[1000:1200].astype(np.float64)
    some = in_turns(predicted(rule, rows), 70)
    some = [*some[:70], *(replace(row, time=row.time - back) for row in some[70:])]
    pairs = with_labels(some, LABELS[1000:1200])
    at_once, again = Monitor(rule, 0.1, 1), Monitor(rule, 0.1, 2)
    at_once.learn(some[:70])
    at_once.follow(rule, 2)
    at_once.learn([*some[70:], *pairs])
    again.learn([*some, *pairs])
    for monitor in (at_once, again):
        assert (monitor.ever.seen, monitor.ever.labels, monitor.own.rows, monitor.own.labels) == (200, 200, 130, 130)
        missed = [pair.feedback.label not in pair.prediction.codes for pair in pairs]
        assert (monitor.ever.misses, monitor.own.misses) == (sum(missed), sum(missed[70:]))
        told = live_numbers(Loaded(rule, Answering(0.1)), monitor, Metrics().now())
        assert (told["before"], told["seen_before"], told["rows"], told["labels"]) == (70, 70, 130, 130)
        assert told["blocks"]["rows"] == [50, 20, 50, 50, 30]  # a block of its own begins with the rule
        assert [value is None for value in told["blocks"]["running"]] == [True, True, False, False, False]
        assert [value is None for value in told["blocks"]["evidence"]["labels"]] == [True, True, False, False, False]
        assert told["blocks"]["running"][-1] == pytest.approx(1 - sum(missed[70:]) / 130, rel=1e-4)
        assert sum(one["labels"] for one in told["classes"]) == 130
    assert at_once.watching.logs == again.watching.logs


def test_wrong_answers_among_the_accepted_are_counted():
    rule, rows, labels = make_rule(), LOGITS[1000:1200].astype(np.float64), LABELS[1000:1200]
    accepted = np.resize([True, True, False], 200)
    some = [replace(row, accepted=bool(one)) for row, one in zip(predicted(rule, rows), accepted, strict=True)]
    monitor = Monitor(rule, 0.1)
    monitor.learn([*some, *with_labels(some, labels)])
    wrong = (rows.argmax(axis=1) != labels) & accepted
    assert (monitor.own.accepted, monitor.own.decided) == (accepted.sum(), 200)
    assert (monitor.own.checked, monitor.own.wrong) == (accepted.sum(), wrong.sum())
    told = live_numbers(Loaded(rule, Answering(0.1)), monitor, Metrics().now())
    assert (told["checked"], told["wrong"]) == (accepted.sum(), wrong.sum())


@pytest.mark.parametrize("values", [[0.5], [0.500001], [0.2], [0.9]])
def test_the_most_likely_label_of_a_binary_row(values):
    row = Prediction("a", 0.0, np.array(values), None, np.array([0], dtype=np.int32), 0.1, 0.9)
    assert _top_column(row, "binary") == np.argmax([1 - values[0], values[0]])


def test_with_usual_outputs_the_first_rows_can_raise_the_alarm():
    rule, strange = make_rule(), LOGITS[1000:1300].astype(np.float64) / 4
    outputs = np.exp(LOGITS[:1000]) / np.exp(LOGITS[:1000]).sum(axis=1, keepdims=True)
    for usual, raised in (((), False), (outputs.max(axis=1).tolist(), True)):
        monitor = Monitor(rule, 0.1, usual=usual)
        for row in predicted(rule, strange, start=5000.0):
            monitor.learn([row])
        alarm = monitor.watching.alarms.outputs
        assert alarm.raised == raised
        assert monitor.raised == ({"outputs": 5000.0 + alarm.at} if raised else {})


def test_the_order_of_rows_and_labels_among_each_other_changes_no_alarm():
    rule, rows = make_rule(), LOGITS[1000:1300].astype(np.float64)
    one, other = Monitor(rule, 0.1), Monitor(rule, 0.1)
    some = predicted(rule, rows)
    pairs = with_labels(some, LABELS[1000:1300])
    one.learn([*some, *pairs])
    other.learn([event for both in zip(some, pairs, strict=True) for event in both])
    assert one.watching.logs == other.watching.logs
    assert one.ever.misses == other.ever.misses


def test_a_label_belongs_to_the_block_of_its_row():
    rule, rows = make_rule(), LOGITS[1000:1300].astype(np.float64)
    some = predicted(rule, rows)
    pairs = with_labels(some, LABELS[1000:1300])
    at_once, late = Monitor(rule, 0.1), Monitor(rule, 0.1)
    at_once.learn([event for both in zip(some, pairs, strict=True) for event in both])
    late.learn([*some, *pairs[::-1]])
    for name in ("row", "rows", "labels", "misses", "sizes"):
        assert at_once.history.columns()[name].tolist() == late.history.columns()[name].tolist()
    missed = [pair.feedback.label not in pair.prediction.codes for pair in pairs]
    assert late.history.columns()["misses"].tolist() == np.add.reduceat(missed, range(0, 300, 50)).tolist()


@pytest.mark.parametrize(
    ("count", "back"), [(300, 100), (70_000, 150), (70_000, 20_050), (70_000, 20_150), (70_000, 23_333)]
)
def test_a_label_belongs_to_the_block_of_its_row_also_if_the_clock_was_set_back(count, back):
    """In whichever order labels come."""
    times = [number + (1e6 if number < back else 0.0) for number in range(count)]
    at_once, late = RowBlocks(), RowBlocks()
    for time in times:
        at_once.add_row(time, 2, (0.1, 0.0, 0.0, 0.0))
        at_once.add_label(time, missed=False, lasts=(0.1, 0.0, 0.0, 0.0))
        late.add_row(time, 2, (0.1, 0.0, 0.0, 0.0))
    for time in times[::-1]:
        late.add_label(time, missed=False, lasts=(0.1, 0.0, 0.0, 0.0))
    for blocks in (at_once, late):
        columns = blocks.columns()
        apart = np.abs(columns["labels"] - columns["rows"])
        assert apart.sum() == 0


def test_blocks_are_joined_when_there_are_many():
    blocks = RowBlocks()
    for number in range(70_000):
        blocks.add_row(float(number), 2, (0.1, 0.0, 0.0, 0.0))
    for number in range(0, 70_000, 7):
        blocks.add_label(float(number), number % 2 == 0, (0.1, 1.0, 0.0, 0.0))
    columns = blocks.columns()
    assert len(blocks.starts) == len(blocks.blocks) <= 400
    assert columns["rows"].sum() == 70_000
    ends = columns["row"].astype(int)
    for start, end, labels in zip([0, *ends], ends, columns["labels"], strict=False):
        assert labels == len([one for one in range(start, end) if one % 7 == 0])
    assert columns["log_labels"][-1] == 1.0


@pytest.mark.parametrize("cuts", [(), (150,), (200,), (100, 150), (37, 7000), (5138, 20_050, 20_060), (50_000,)])
@pytest.mark.parametrize("late", [False, True])
def test_blocks_of_a_rule_have_its_rows_and_labels_alone_also_when_they_are_joined(cuts, late):
    """Beside a list of all rows: the last rule has blocks of its own, and every label is in the block of its row."""
    rng = np.random.default_rng(0)
    of_turn = np.searchsorted(cuts, np.arange(60_000), side="right")
    blocks, lasts = RowBlocks(), (0.1, 0.0, 0.0, 0.0)
    labelled = rng.random(60_000) < 0.3
    for number in range(60_000):
        blocks.add_row(float(number), 2, lasts, int(of_turn[number]))
        if not late and labelled[number]:
            blocks.add_label(float(number), number % 3 == 0, lasts, int(of_turn[number]))
    for number in np.flatnonzero(labelled)[::-1].tolist() if late else ():
        blocks.add_label(float(number), number % 3 == 0, lasts, int(of_turn[number]))
    columns = blocks.columns()
    ends = columns["row"].astype(int)
    assert len(ends) <= 400
    assert ends[-1] == 60_000
    assert not cuts or cuts[-1] in ends  # a block of its own begins with the last rule
    starts = [0, *ends[:-1]]
    assert columns["labels"].tolist() == [labelled[a:b].sum() for a, b in zip(starts, ends, strict=True)]
    missed = labelled & (np.arange(60_000) % 3 == 0)
    assert columns["misses"].tolist() == [missed[a:b].sum() for a, b in zip(starts, ends, strict=True)]
    assert blocks.starts == [float(start) for start in starts]


@pytest.mark.parametrize(("labels", "drawn"), [(103, 2), (124, 2), (125, 3), (150, 3), (3, 1), (50, 1), (0, 0)])
def test_the_live_page_draws_no_block_that_has_just_begun(labels, drawn):
    rule = make_rule()
    monitor, rows = Monitor(rule, 0.1), predicted(rule, LOGITS[1000:1200].astype(np.float64))
    monitor.learn(rows)
    monitor.labelled(with_labels(rows[:labels], LABELS[1000 : 1000 + labels]))
    told = live_numbers(Loaded(rule, Answering(0.1)), monitor, Metrics().now())
    for name in ("coverage", "low", "high"):
        assert [place for place, value in enumerate(told["blocks"][name]) if value is not None] == list(range(drawn))
    assert (told["labels"], sum(told["blocks"]["labels"])) == (labels, labels)
    assert told["blocks"]["running"][-1] == (pytest.approx(1 - told["misses"] / labels, rel=1e-4) if labels else None)


@pytest.mark.parametrize(("rows", "drawn"), [(3, 1), (74, 1), (75, 2), (103, 2)])
def test_the_live_page_draws_no_mean_of_few_rows(rows, drawn):
    rule = make_rule()
    monitor = Monitor(rule, 0.1)
    monitor.learn(predicted(rule, LOGITS[1000 : 1000 + rows].astype(np.float64)))
    told = live_numbers(Loaded(rule, Answering(0.1)), monitor, Metrics().now())
    assert sum(value is not None for value in told["blocks"]["size"]) == drawn
    assert told["rows"] == rows
