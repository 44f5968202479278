"""Mistakes that once stayed unnoticed when they were planted on purpose: each has a test here that notices it.

docs/testing.md has the table. The largest of them, ``predict_parts`` beyond its first part, is in laws/test_parts.py.
"""

import json
import threading
import warnings
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import rankset as rs
from partitions import IDS, LABELS, NAMES, PROBS, SITES, WORDS, N
from rankset.cli.commands import rankset
from rankset.core import coverage_law, lexicographic, parallel, ranking
from rankset.core.alpha import exact_alpha, rows_needed, threshold_position
from rankset.engines import shards
from rankset.engines.frame_columns import partition_of
from rankset.engines.worker_tasks import CalibrationTask, Partition, PredictionTask
from rankset.errors import FileError, InputError, KindError, LabelError
from rankset.evaluation import compare as comparing
from rankset.io.columns import Columns
from rankset.io.layout import Layout
from rankset.scores import Recalibrated, traits
from refusals import refused
from strategies import PER_SCORE, SCORES, alphas, problems, sized

# The command line, some rows at a time

FRAME = pd.DataFrame(PROBS, columns=NAMES).assign(site=SITES, case=IDS, number=np.arange(N), note=IDS[::-1])[:60]
NUMBERED = FRAME.assign(case=np.arange(60) * 7)


def run(*arguments):
    done = CliRunner().invoke(rankset, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    return done


def read(path):
    """The columns of a file of sets, labels as lists."""
    if path.endswith(".csv"):
        frame = pd.read_csv(path, keep_default_na=False)
        return frame.assign(labels=[text.split("|") if text else [] for text in frame["labels"]])
    if path.endswith(".jsonl"):
        return pd.DataFrame([json.loads(line) for line in Path(path).read_text().splitlines()])
    if path.endswith(".parquet"):
        return pd.read_parquet(path)
    with np.load(path) as file:
        stored = dict(file)
    ends = stored["offsets"]
    labels = [stored["classes"][stored["codes"][a:b]].tolist() for a, b in pairwise(ends)]
    return pd.DataFrame({name: stored[name] for name in ("case", "number", "note")}).assign(labels=labels)


@pytest.mark.parametrize(
    ("frame", "given_as", "rows"),
    [(FRAME, ".csv", 7), (FRAME, ".parquet", 59), (NUMBERED, ".csv", 59), (NUMBERED, ".parquet", 1)],
    ids=["texts csv 7", "texts parquet 59", "numbers csv 59", "numbers parquet 1"],
)
def test_the_command_line_keeps_rows_together_in_every_part(frame, given_as, rows, tmp_path, monkeypatch):
    """Ids, groups and kept columns stand beside the sets of their own rows, whatever the size of the parts."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("rankset.cli.parts.PART_BYTES", rows * len(NAMES) * 8)
    asked = {"score": rs.Aps(), "condition": rs.PerGroup(), "classes": NAMES}
    rule = rs.calibrate(PROBS, WORDS, groups=SITES, ids=IDS, **asked)
    rule.save("rule.rankset")
    if given_as == ".csv":
        frame.to_csv("rows.csv", index=False)
    else:
        frame.to_parquet("rows.parquet", index=False)
    wanted = rule.predict(PROBS[:60], 0.1, groups=SITES[:60], ids=frame["case"].to_numpy()).to_lists()
    assert len({tuple(labels) for labels in wanted}) > 5
    told = ("--group", "site", "--id", "case", "--keep", "number", "--keep", "note")
    for answer in ("sets.csv", "sets.jsonl", "sets.parquet", "sets.npz"):
        run("predict", "rule.rankset", f"rows{given_as}", *told, "-o", answer)
        found = read(answer)
        assert [list(labels) for labels in found["labels"]] == wanted
        for name in ("case", "number", "note"):
            assert found[name].tolist() == frame[name].tolist()


def test_an_error_in_a_later_part_of_a_file_names_its_row(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("rankset.cli.parts.PART_BYTES", 10 * len(NAMES) * 8)
    rs.calibrate(PROBS, LABELS).save("rule.rankset")
    bad = PROBS.copy()
    bad[123, 4] = -1
    np.save("rows.npy", bad)
    done = CliRunner().invoke(rankset, ["predict", "rule.rankset", "rows.npy", "-o", "sets.csv"])
    assert done.exit_code != 0
    assert "row 123, column 4" in done.stderr
    assert not (tmp_path / "sets.csv").exists()


# Ranks


@pytest.mark.parametrize("n_columns", [56, 64, 2040, 2048, 4096, 5000, 8192])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.99, 1.0])
def test_entries_are_counted_however_many_there_are(n_columns, share):
    mask = np.random.default_rng(0).random((10, n_columns)) < share
    assert ranking.count(mask).tolist() == mask.sum(axis=1).tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_columns", [100, 2048, 4096, 6000])
def test_the_last_of_many_classes_has_the_last_rank(n_columns, dtype, monkeypatch):
    monkeypatch.setenv("RANKSET_PLAIN", "1")
    falling = np.arange(n_columns, 0, -1, dtype=dtype)
    probs = np.tile(falling / falling.sum(), (4, 1))
    places = [0, n_columns // 2, n_columns - 2, n_columns - 1]
    keys = rs.calibrate(probs, places).calibration.keys
    assert keys[0].tolist() == [place + 1 for place in places]


# Cells


@dataclass(frozen=True)
class Before:
    """The mass before a label, of probabilities that are scaled first."""

    scale: float = 1.0

    def transform(self, probs):
        return probs * self.scale

    def keys(self, cells):
        return (cells.before,)


def test_nothing_lies_before_the_most_likely_label():
    probs = np.random.default_rng(0).dirichlet(np.ones(7), 500)
    (keys,) = rs.calibrate(probs, probs.argmax(axis=1), score=Before()).calibration.keys
    assert (keys == 0).all()
    (keys,) = rs.calibrate(probs, probs.argmin(axis=1), score=Before()).calibration.keys
    exact = [sum(Fraction(round(Fraction(p) * 2**50), 2**50) for p in sorted(row)[1:]) for row in probs.tolist()]
    assert keys.tolist() == sorted(float(mass) for mass in exact)


def test_masses_of_8_and_more_are_refused():
    """Up to there float64 adds multiples of 2**-50 exactly."""
    probs = np.array([[0.5, 0.25, 0.25]] * 9)
    assert rs.calibrate(probs, [0] * 9, score=Before(7.5)).n == 9
    with refused(InputError.not_addable(0, 2.0, 8.0)):
        rs.calibrate(probs, [0] * 9, score=Before(8.0))


@given(st.integers(0, 2**32), st.integers(-50, 50), alphas)
@pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")
def test_margins_do_not_depend_on_where_scores_begin(seed, shift, alpha):
    """Only differences count, whether scores are negative or not; a single class has no rival."""
    rng = np.random.default_rng(seed)
    scores, labels = rng.integers(-9, 9, (20, 3)), rng.integers(0, 3, 20)
    rivals = [max(np.delete(row, label)) - row[label] for row, label in zip(scores, labels, strict=True)]
    rules = [rs.calibrate(values, labels, kind="decision", score=rs.Margin()) for values in (scores, scores + shift)]
    assert rules[0] == rules[1]
    assert rules[0].calibration.keys[0].tolist() == sorted(map(float, rivals))
    assert rules[0].predict(scores, alpha) == rules[1].predict(scores + shift, alpha)
    alone = rs.calibrate(scores[:, :1], np.zeros(20, dtype=int), kind="decision", score=rs.Margin())
    assert np.isneginf(alone.calibration.keys[0]).all()


def test_a_label_at_the_threshold_stays_also_where_its_key_was_rounded():
    """1 - (-1e-17) is 1 in float64, which is the threshold; the label lies below 1 - 1 all the same."""
    rule = rs.calibrate([[1.0, 0.0]] * 9, [1] * 9, kind="decision", score=rs.Margin(), classes=[0, 1])
    assert rule.threshold(0.5) == (1.0,)
    row = [[1.0, -1e-17]]
    assert (rule.p_values(row) > 0.5).tolist() == rule.predict(row, 0.5).mask.tolist() == [[True, True]]
    three = rs.calibrate([[1.0, 0.0, 0.0]] * 9, [1] * 9, kind="decision", score=rs.Margin())
    row = [[1.0, 1.0, -1e-17]]
    assert (three.p_values(row) > 0.5).tolist() == three.predict(row, 0.5).mask.tolist() == [[True, True, True]]


@dataclass(frozen=True)
class Blown(Before):
    """Makes one kind of row too large to add up."""

    def transform(self, probs):
        return probs * np.where(probs[:, :1] > 0.9, 100.0, 1.0)


@pytest.mark.parametrize("rows", [1, 4, None])
def test_rows_that_cannot_be_added_up_are_named_by_their_own_number(rows):
    rule = rs.calibrate([[0.6, 0.3, 0.1]] * 9, [0] * 9, score=Blown())
    probs = np.array([[0.6, 0.3, 0.1]] * 12)
    probs[9] = [0.95, 0.05, 0.0]
    with refused(InputError.not_addable(9, 0.0, 100.0)):
        list(rule.predict_parts(probs, 0.1, rows=rows))


@given(
    st.sampled_from([rs.Rank(), rs.Thr(), rs.Margin(), rs.Aps(randomized=False)]),
    st.integers(0, 2**32),
    st.sampled_from(["logits", "decision"]),
    st.sampled_from([-7.0, 0.0, 7.0, np.inf, np.nan]),
    alphas,
)
@pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")
def test_padding_of_negative_scores_is_as_if_it_were_not_there(score, seed, kind, padding, alpha):
    if kind == "decision" and traits(score).needs_probs:
        return
    rng = np.random.default_rng(seed)
    values, labels = rng.integers(-9, 0, (15, 3)).astype(float), rng.integers(0, 3, 15)
    wide = rs.Ragged(np.pad(values, ((0, 0), (0, 2)), constant_values=padding), np.full(15, 3))
    plain, padded = (rs.calibrate(rows, labels, kind=kind, score=score) for rows in (values, wide))
    assert plain.calibration == padded.calibration
    assert plain.predict(values, alpha).to_lists() == padded.predict(wide, alpha).to_lists()


@pytest.mark.parametrize(("seed", "fine"), [(2**64 - 1, True), (2**64, False), (-(2**63), True), (-(2**63) - 1, False)])
def test_a_seed_has_64_bits(seed, fine):
    if fine:
        assert rs.calibrate(PROBS, LABELS, score=rs.Aps(), seed=seed).n == N
    else:
        with refused(KindError, what="seed", expected="be an integer of at most 64 bits"):
            rs.calibrate(PROBS, LABELS, score=rs.Aps(), seed=seed)


def test_ids_of_rows_do_not_matter_to_scores_that_do_not_draw():
    told, untold = rs.calibrate(PROBS, LABELS, ids=IDS), rs.calibrate(PROBS, LABELS)
    assert told == untold
    assert told.merge(rs.calibrate(PROBS[:9], LABELS[:9])).n == N + 9
    assert told.predict(PROBS, 0.1) == untold.predict(PROBS, 0.1, ids=IDS)


# Empty sets


@given(
    st.sampled_from([rs.Thr(), rs.Rank(), rs.Margin(), rs.Temperature(2.0)]),
    st.integers(0, 2**32),
    st.sampled_from(["probs", "logits", "decision"]),
    st.integers(1, 9),
    alphas,
)
@pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")
def test_an_empty_set_is_filled_with_the_most_likely_candidate_of_its_row(score, seed, kind, rows, alpha):
    """Of the candidates: padding never gets in, however negative the scores of the candidates are."""
    if kind == "decision" and traits(score).needs_probs:
        return
    rng = np.random.default_rng(seed)
    values = [rng.integers(-9, 0, k).astype(float) for k in rng.integers(1, 6, 20)]
    if kind == "probs":
        values = [np.exp(row) / np.exp(row).sum() for row in values]
    likely = [int(row.argmax()) for row in values]
    matrix = rs.Ragged.of(values)
    rule = rs.calibrate(matrix, likely, kind=kind, score=score)
    for sets in (
        rule.predict(matrix, alpha, empty="top"),
        rs.PredictionSets.concat(rule.predict_parts(matrix, alpha, empty="top", rows=rows)),
    ):
        assert [row[0] for row in sets.to_lists()] == likely
        assert all(max(row) < len(own) for row, own in zip(sets.to_lists(), values, strict=True))


@pytest.mark.filterwarnings("ignore:alpha is the allowed error rate")
def test_most_empty_sets_of_negative_scores_are_filled():
    """The law above is about something: at this level most of the sets would be empty."""
    values = rs.Ragged.of([[-5.0, -6.0], [-1.0, -2.0, -3.0], [-4.0], [-7.0, -8.0]] * 5)
    rule = rs.calibrate(values, [0] * 20, kind="decision", score=rs.Thr())
    assert (rule.predict(values, 0.9).sizes == 0).mean() >= 0.5
    assert rule.predict(values, 0.9, empty="top").to_lists() == [[0]] * 20


# Frames

CASES = pd.Index(IDS[:12])
SETS = rs.calibrate(PROBS, WORDS, classes=NAMES).predict(pd.DataFrame(PROBS[:12], columns=NAMES, index=CASES), 0.1)


@given(st.lists(st.integers(-12, 11), max_size=14), st.booleans())
def test_picked_rows_keep_their_own_index(rows, masked):
    """In any order, repeated or not, by numbers or by a boolean array."""
    chosen = np.isin(np.arange(12), rows) if masked else np.array(rows, dtype=int)
    assert SETS[chosen].to_frame().index.tolist() == CASES[chosen].tolist()
    assert SETS[::-1].to_frame().index.tolist() == CASES[::-1].tolist()


@pytest.mark.parametrize(
    ("rows", "labels"),
    [
        (np.arange(N), np.arange(N, dtype=np.int32)),
        (np.arange(N), np.arange(N, dtype=np.float64)),
        (np.arange(N), np.arange(N).astype(object)),
        (IDS.astype(object), pd.Categorical(IDS)),
        (
            pd.date_range("2024-01-01", periods=N).astype("M8[ns]"),
            pd.date_range("2024-01-01", periods=N).astype("M8[s]"),
        ),
    ],
    ids=["int64 int32", "int64 float64", "int64 object", "object category", "ns s"],
)
def test_labels_in_another_order_are_refused_also_where_indices_differ_in_type(rows, labels):
    frame = pd.DataFrame(PROBS, columns=NAMES, index=pd.Index(rows))
    truth = pd.Series(WORDS, index=pd.Index(labels))
    rule = rs.calibrate(frame, truth)
    assert rule == rs.calibrate(PROBS, WORDS, classes=NAMES)
    for ask in (rs.calibrate, rule.update, rs.auto):
        with refused(InputError.other_order("labels", "the rows")):
            ask(frame, truth[::-1])


# Folds


@pytest.mark.filterwarnings("ignore:alpha is the allowed error rate")
@PER_SCORE
@given(st.sampled_from([1, 3, 9, 11]), st.sampled_from(SCORES), st.integers(0, 2**32))
def test_sets_of_folds_hold_the_labels_whose_exact_p_value_exceeds_the_level(folds, score, seed):
    """Of 99 rows, (n + 1) alpha is whole for every hundredth, which floats get wrong at 0.29, 0.57 and 0.58."""
    rng = np.random.default_rng(seed)
    probs, labels = rng.multinomial(40, np.ones(4) / 4, 99) / 40, rng.integers(0, 4, 99)
    rules = tuple(rs.calibrate(probs[fold::folds], labels[fold::folds], score=sized(score, 4)) for fold in range(folds))
    told = [probs[:30]] * folds
    stranger, sizes = (
        sum(parts) for parts in zip(*(rule._tails(rule._prepare(probs[:30])) for rule in rules), strict=True)
    )
    assert (sizes == 99).all()
    for hundredths in (1, 7, 10, 28, 29, 30, 50, 56, 57, 58, 59, 99):
        exact = Fraction(hundredths, 100)
        sets = rs.CrossRule(rules).predict(told, float(exact))
        assert (sets.mask == (1 + stranger > hundredths)).all()
        assert sets.level == exact


def test_a_level_of_folds_is_the_decimal_that_was_typed():
    """29 of 100 rows are as strange as this one: 0.29 x 100 is 29, and 28.999999999999996 in floats."""
    fold = rs.calibrate([[1.0, 0.0]] * 71 + [[0.5, 0.5]] * 28, [0] * 99, score=rs.Thr())
    rule = rs.CrossRule((fold,))
    assert rule.p_values([[[0.5, 0.5]]]).tolist() == [[0.29, 0.29]]
    assert rule.predict([[[0.5, 0.5]]], 0.29).to_lists() == [[]]
    assert rule.predict([[[0.5, 0.5]]], 0.289).to_lists() == [[0, 1]]


# Names


@pytest.mark.parametrize("classes", [[False, True], [0.0, 1.0], [0, True], np.array([False, True])], ids=repr)
def test_classes_that_equal_their_numbers_keep_their_type(classes):
    labels = [classes[0], classes[1]] * 10
    rule = rs.calibrate([0.2, 0.8] * 10, labels, kind="binary", classes=classes)
    plain = [value.item() if isinstance(value, np.generic) else value for value in classes]
    assert rule.classes.tolist() == plain
    assert [type(name) for name in rule.classes.tolist()] == [type(name) for name in plain]
    names = {repr(name) for row in rule.predict([0.2, 0.8], 0.1).to_lists() for name in row}
    assert names <= {repr(name) for name in plain}


def test_a_mapping_must_number_the_columns_from_0_on():
    names = {1: "dog", 0: "cat", 2: "fox"}
    rule = rs.calibrate([[0.6, 0.3, 0.1]] * 9, ["dog"] * 9, classes=names)
    assert rule.classes.tolist() == ["cat", "dog", "fox"]
    with refused(
        KindError,
        what="classes",
        received="{0: 'cat', 1: 'dog', 3: 'fox'}",
        expected="be a list of names in column order",
    ):
        rs.calibrate([[0.6, 0.3, 0.1]] * 9, ["dog"] * 9, classes={0: "cat", 1: "dog", 3: "fox"})


# Engines


def test_column_numbers_are_refused_in_a_table_whose_columns_stand_in_another_order():
    """Of a partition of Dask or Spark: which of the two orders do the numbers count?"""
    turned = pa.table({name: PROBS[:, NAMES.index(name)] for name in NAMES[::-1]} | {"y": LABELS})
    straight = turned.select([*NAMES, "y"])
    part = partition_of(Columns("partition 3", table=straight), Layout(label="y"), classes=NAMES)
    assert CalibrationTask(classes=NAMES).run(part).rule == rs.calibrate(PROBS, WORDS, classes=NAMES)
    with refused(FileError.numbers_in_another_order("partition 3")):
        partition_of(Columns("partition 3", table=turned), Layout(label="y"), classes=NAMES)


def test_only_what_every_shard_warns_of_is_said(tmp_path):
    """One shard of logits may look like probabilities by chance."""
    logits = np.log(np.maximum(PROBS, 1e-9))
    for alike, said in (((True, False, False), 0), ((True, True, True), 1), ((False, True, True), 0)):
        for place, looks in enumerate(alike):
            part = slice(place * 80, (place + 1) * 80)
            for name, values in (("scores", PROBS if looks else logits), ("labels", LABELS)):
                (tmp_path / name).mkdir(exist_ok=True)
                np.save(tmp_path / name / f"part-{place}.npy", values[part])
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            shards.calibrate(tmp_path / "scores", tmp_path / "labels", kind="logits", workers=1)
        assert ["look like probabilities" in str(one.message) for one in heard] == [True] * said


@given(st.sets(st.integers(0, 3), min_size=1))
def test_the_earliest_of_the_blocks_that_fail_together_decides_the_error(failing):
    """Four threads meet in four blocks; only then do some of them fail."""
    meeting = threading.Barrier(4)

    def work(part):
        meeting.wait(timeout=30)
        if part.start in failing:
            raise ValueError(part.start)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(parallel.THREADS, "4")
        patch.setenv(parallel.BLOCK_BYTES, "8")
        with pytest.raises(ValueError, match=rf"^{min(failing)}$"):
            parallel.map_blocks(work, 4, 1)


# auto


@pytest.mark.parametrize("n", [400, 3000])
def test_a_fit_is_judged_on_rows_that_it_has_not_seen(n, monkeypatch):
    """The rows are all different, so those that fit and those that judge can be told by their numbers."""
    fitted, judged = [], []
    fit, compare = Recalibrated.fit_prepared.__func__, comparing.compare_prepared

    def seen_fit(cls, data, **options):
        fitted.append({row.tobytes() for row in data.matrix})
        return fit(cls, data, **options)

    def seen_compare(data, *rest, **options):
        judged.append({row.tobytes() for row in data.matrix})
        return compare(data, *rest, **options)

    monkeypatch.setattr(Recalibrated, "fit_prepared", classmethod(seen_fit))
    monkeypatch.setattr("rankset.evaluation.auto.compare_prepared", seen_compare)
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.ones(5), n)
    labels = (probs.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    rs.auto(probs, labels, 0.1)
    assert len(judged) == 1
    assert len(judged[0]) >= 20
    assert len(fitted[0]) >= 20
    assert not fitted[0] & judged[0]


# Sums


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_columns", [3, 100, 5000])
@pytest.mark.parametrize("limit", ["0.99", "1.01"])
def test_rows_are_refused_exactly_where_their_sum_is_out_of_bounds(dtype, n_columns, limit):
    """Sums a few ulp of float32 from the limit: adding up in float32 would get some of them wrong."""
    rng = np.random.default_rng(n_columns)
    rule = rs.calibrate(np.full((9, n_columns), 1 / n_columns), np.arange(9) % n_columns, score=rs.Thr())
    verdicts = []
    for _ in range(100):
        row = rng.random(n_columns)
        row = (row * (float(limit) + rng.normal() * 4e-7) / row.sum()).astype(dtype)
        fine = abs(row.sum(dtype=np.float64) - 1.0) <= 0.01 + 1e-12 + np.finfo(dtype).eps
        verdicts.append(fine)
        if fine:
            rule.predict(row[np.newaxis], 0.1)
        else:
            with refused(InputError, what="probs", row=0, expected="have rows that sum to 1 within 0.01"):
                rule.predict(row[np.newaxis], 0.1)
    assert 20 < sum(verdicts) < 80


@pytest.mark.parametrize("row", [[1.1, -0.1, 0.0], [0.5, 0.50001, -0.00001], [1.5, 0.0, -0.5]])
def test_negative_numbers_are_refused_also_where_the_sum_is_right(row):
    probs = np.array([[0.5, 0.3, 0.2]] * 5 + [row])
    for values in (probs, probs.astype(np.float32)):
        with refused(InputError, what="probs", row=5):
            rs.calibrate(values, [0] * 6)


def test_probabilities_of_the_second_class_reach_from_0_to_1():
    rule = rs.calibrate([0.0, 1.0, 0.5, 0.0, 1.0], [0, 1, 1, 0, 1], kind="binary")
    assert rule.predict([0.0, 1.0], 0.5).to_lists() == [[0], [1]]
    for wrong in (-1e-9, 1.000001, np.nan):
        with refused(InputError, what="probs", row=1):
            rule.predict([0.5, wrong], 0.5)


@pytest.mark.parametrize(("total", "said"), [(1.0, True), (1.0005, True), (1.002, False), (0.95, False)])
def test_logits_look_like_probabilities_where_rows_sum_to_1(total, said):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        rs.calibrate(PROBS * total, LABELS, kind="logits")
    assert bool(heard) == said


@pytest.mark.parametrize("score", [rs.Thr(), rs.Aps(), rs.Temperature(2.0)], ids=repr)
def test_logits_in_float32_are_made_probabilities_in_float64(score):
    logits = np.log(np.maximum(PROBS, 1e-9)).astype(np.float32)
    narrow, wide = (
        rs.calibrate(values, LABELS, kind="logits", score=score) for values in (logits, logits.astype(float))
    )
    assert narrow == wide
    assert narrow.predict(logits, 0.1) == wide.predict(logits.astype(float), 0.1)


def test_column_numbers_stand_for_names_only_if_they_are_whole_numbers():
    question = CalibrationTask(classes=NAMES)
    assert question.run(Partition(PROBS, LABELS)).rule == rs.calibrate(PROBS, WORDS, classes=NAMES)
    with refused(
        LabelError.unknown(
            "labels", 0, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], ("sadness", "joy", "love", "anger", "fear", "surprise")
        )
    ):
        question.run(Partition(PROBS, LABELS.astype(float)))


# Small groups


@pytest.mark.filterwarnings("ignore:alpha is the allowed error rate")
@given(st.lists(st.sampled_from([-1, -1, 0, 0, 1, 5]), min_size=1, max_size=4), alphas, st.data())
def test_a_warning_names_exactly_the_groups_that_keep_every_label_for_lack_of_rows(more, alpha, data):
    """Groups of about as many rows as the level needs: one less, just so many, or more."""
    sizes = [max(1, rows_needed(exact_alpha(alpha)) + few) for few in more]
    names = [f"g{place}" for place in range(len(sizes))]
    groups = np.repeat(names, sizes)
    probs = np.linspace(0.5, 0.9, len(groups))
    rule = rs.calibrate(probs, np.ones(len(groups), int), kind="binary", condition=rs.PerGroup(), groups=groups)
    present = data.draw(st.lists(st.sampled_from(names), min_size=1))
    small = {
        name
        for name, n in zip(names, sizes, strict=True)
        if name in present and threshold_position(n, exact_alpha(alpha)) > n
    }
    assert {name for name in present if rule.threshold(alpha, group=name) is None} == small
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        rule.at(alpha).predict(np.full(len(present), 0.7), groups=present)
    said = [one for one in said if "allowed error rate" not in str(one.message)]
    text = " ".join(str(one.message) for one in said)
    if len(names) == 1:
        assert bool(said) == bool(small)
    else:
        assert {name for name in names if f"group {name!r}" in text} == small


# Order and calibration

NUMBERS = [(-1, 0, 1), (0, 255, 256), (0, 65535, 65536), (-(2**40), 0, 2**40)]


@given(
    st.sampled_from(NUMBERS)
    .map(st.sampled_from)
    .flatmap(lambda number: st.lists(st.lists(st.tuples(number, number), max_size=9), min_size=1, max_size=4))
)
def test_the_union_of_sorted_keys_is_pythons(rows):
    """Whole numbers are sorted as short ones where they fit; these lie on both sides of every such limit."""
    told = [tuple(np.array(part, dtype=np.int64).reshape(-1, 2).T) for part in rows]
    expected = sorted(row for part in rows for row in part)
    assert list(zip(*(key.tolist() for key in lexicographic.sorted_union(told)), strict=True)) == expected
    joined = tuple(np.concatenate(keys) for keys in zip(*told, strict=True))
    places = lexicographic.argsort(joined)
    assert list(zip(*(key[places].tolist() for key in joined), strict=True)) == expected


def test_the_union_of_many_keys_is_sorted_to_the_last():
    rng = np.random.default_rng(0)
    keys = rng.integers(0, 9, 200_000), rng.random(200_000)
    first, second = lexicographic.sorted_union(
        [tuple(key[:150_000] for key in keys), tuple(key[150_000:] for key in keys)]
    )
    places = np.lexsort(keys[::-1])
    assert (first == keys[0][places]).all()
    assert (second == keys[1][places]).all()


@pytest.mark.parametrize("count", [255, 256, 257, 600])
def test_every_one_of_many_groups_has_its_own_threshold(count):
    rng = np.random.default_rng(count)
    groups, probs = np.repeat(np.arange(count), 4), rng.random(4 * count)
    told = rng.permutation(4 * count)
    labels = np.ones(4 * count, dtype=int)
    asked = {"kind": "binary", "score": rs.Thr(), "condition": rs.PerGroup()}
    half = told[: 2 * count], told[2 * count :]
    whole = rs.calibrate(probs[told], labels, groups=groups[told], **asked)
    pieces = [rs.calibrate(probs[some], labels[some], groups=groups[some], **asked) for some in half]
    assert pieces[0].merge(pieces[1]) == whole
    lowest = probs.reshape(count, 4).min(axis=1)
    assert [whole.threshold(0.2, group=group) for group in range(count)] == [(-low,) for low in lowest.tolist()]


@given(problems(condition=st.just(rs.Marginal())), alphas, st.sampled_from(["allow", "top"]))
@pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")
def test_sets_of_parts_know_the_law_of_the_rule(problem, alpha, empty):
    """Workers get no more of a rule than its thresholds, and still tell whether its keys are tied there."""
    rule = problem.calibrate()
    asked = PredictionTask.of(rule, alpha, empty)
    sets, whole = asked.run(Partition(problem.probs, ids=problem.ids)), problem.predict(rule, alpha, empty=empty)
    assert sets == whole
    assert (sets.law, sets.level) == (whole.law, whole.level)


def test_a_fold_that_never_saw_a_group_counts_nothing_for_it():
    probs = np.random.default_rng(0).dirichlet(np.ones(3), 40)
    labels, groups = probs.argmax(axis=1), np.repeat(["north", "south"], 20)
    first, second = (
        rs.calibrate(probs[some], labels[some], condition=rs.PerGroup(), groups=groups[some])
        for some in (slice(0, 30), slice(0, 20))
    )
    asked = {"groups": ["south"] * 5}
    stranger, sizes = second._tails(second._prepare(probs[:5], **asked))
    assert not stranger.any()
    assert not sizes.any()
    assert (
        rs.CrossRule((first, second)).p_values([probs[:5]] * 2, **asked) == first.p_values(probs[:5], **asked)
    ).all()


def test_sets_of_folds_begin_with_the_label_that_is_most_likely_on_average():
    """The second model outvotes the first. Sets that would be empty get that label; no other set changes."""
    first, second = np.array([[0.5, 0.4, 0.1]] * 4), np.array([[0.1, 0.8, 0.1], [0.5, 0.2, 0.3], [0, 1, 0], [0, 0, 1]])
    rules = tuple(rs.calibrate([[1.0, 0.0, 0.0]] * 5 + [[0.4, 0.4, 0.2]], [0] * 6, score=rs.Thr()) for _ in range(2))
    rule = rs.CrossRule(rules)
    plain, filled = (rule.predict([first, second], 0.5, empty=empty) for empty in ("allow", "top"))
    assert plain.to_lists() == [[], [], [1], [2]]
    assert filled.to_lists() == [[1], [0], [1], [2]]
    with pytest.warns(rs.RanksetWarning, match="at least 19 calibration rows are needed"):
        wide = rule.predict([first, second], 0.05)
    assert wide.to_lists() == [[1, 0, 2], [0, 1, 2], [1, 0, 2], [2, 0, 1]]


# Numbers about sets


@pytest.mark.parametrize("n", [1, 2, 5])
def test_exact_intervals_at_every_count(n):
    for hits in range(n + 1):
        expected = stats.binomtest(hits, n).proportion_ci(confidence_level=0.8, method="exact")
        assert coverage_law.binomial_interval(hits, n, 0.8) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize("n", [1, 9, 20])
def test_luck_at_every_position(n):
    for k in range(1, n + 1):
        law = stats.betabinom(7, k, n + 1 - k)
        assert coverage_law.sampling_range(7, k, n, 0.8) == (law.ppf(0.1) / 7, law.ppf(0.9) / 7)
        assert coverage_law.beta_binomial_variance(7, k, n + 1 - k) == pytest.approx(law.var())
    assert coverage_law.sampling_range(7, n + 1, n, 0.8) == (1.0, 1.0)


def test_an_evaluation_uses_the_confidence_that_was_asked_for():
    sets = rs.PredictionSets.from_mask([[True, False]] * 10, alpha=0.1)
    for confidence in (0.5, 0.99):
        told = rs.evaluate(sets, [0] * 8 + [1] * 2, confidence=confidence)
        assert told.interval == coverage_law.binomial_interval(8, 10, confidence)


def test_a_coverage_at_the_end_of_its_range_is_inside():
    """Of three rows all are covered: the range ends at 1, and 1 is no bad luck."""
    tops = np.linspace(0.51, 0.99, 99)
    rule = rs.calibrate(np.column_stack((tops, 1 - tops)), np.zeros(99, dtype=int))
    told = rs.evaluate(rule.predict([[0.9, 0.1]] * 3, 0.1), [0, 0, 0])
    assert (told.coverage, told.expected[1]) == (1.0, 1.0)
    assert "inside" in repr(told)
    assert "OUTSIDE" not in repr(told)


def test_of_classes_covered_alike_the_one_with_most_rows_is_told_as_the_worst():
    sets = rs.PredictionSets.from_mask([[True, False, False]] * 7, alpha=0.1)
    assert rs.evaluate(sets, [0, 1, 1, 2, 2, 2, 0]).worst_class.name == 2
    assert rs.evaluate(sets, [0, 1, 1, 1, 2, 2, 0]).worst_class.name == 1


def test_the_histogram_tells_eight_sizes_and_pools_the_rest():
    sizes = [*range(1, 13), 12]
    mask = np.arange(12) < np.array(sizes)[:, np.newaxis]
    told = repr(rs.evaluate(rs.PredictionSets.from_mask(mask, alpha=0.1), [0] * 13))
    assert "1: 1, 2: 1, 3: 1, 4: 1, 5: 1, 6: 1, 7: 1, 8: 1, 9–12: 5" in told
