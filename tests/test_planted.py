"""Mistakes that once stayed unnoticed when they were planted on purpose: each has a test here that notices it.

docs/testing.md has the table. The largest of them, ``predict_parts`` beyond its first part, is in laws/test_parts.py.
"""

import json
import threading
import warnings
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

import rankset as rs
from partitions import IDS, LABELS, NAMES, PROBS, SITES, WORDS, N
from rankset import blocks, choosing, level, ranking
from rankset.cli.commands import rankset
from rankset.engines import parts, shards
from rankset.files import Columns
from rankset.recalibration import Recalibrated
from rankset.tables import Layout
from strategies import PER_SCORE, SCORES, alphas

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
    monkeypatch.setattr("rankset.cli.rules.PART_BYTES", rows * len(NAMES) * 8)
    asked = {"score": rs.Aps(), "condition": rs.PerRow(), "classes": NAMES}
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
    monkeypatch.setattr("rankset.cli.rules.PART_BYTES", 10 * len(NAMES) * 8)
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


# Empty sets


@given(
    st.sampled_from([rs.Thr(), rs.Rank(), rs.Margin(), rs.Temperature(2.0)]),
    st.integers(0, 2**32),
    st.sampled_from(["probs", "logits", "scores"]),
    st.integers(1, 9),
    alphas,
)
@pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")
def test_an_empty_set_is_filled_with_the_most_likely_candidate_of_its_row(score, seed, kind, rows, alpha):
    """Of the candidates: padding never gets in, however negative the scores of the candidates are."""
    if kind == "scores" and rs.scores.needs_probs(score):
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


def test_most_empty_sets_of_negative_scores_are_filled():
    """The law above is about something: at this level most of the sets would be empty."""
    values = rs.Ragged.of([[-5.0, -6.0], [-1.0, -2.0, -3.0], [-4.0], [-7.0, -8.0]] * 5)
    rule = rs.calibrate(values, [0] * 20, kind="scores", score=rs.Thr())
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
        with pytest.raises(ValueError, match="another order"):
            ask(frame, truth[::-1])


# Folds


@PER_SCORE
@given(st.sampled_from([1, 3, 9, 11]), st.sampled_from(SCORES), st.integers(0, 2**32))
def test_sets_of_folds_hold_the_labels_whose_exact_p_value_exceeds_the_level(folds, score, seed):
    """Of 99 rows, (n + 1) alpha is whole for every hundredth, which floats get wrong at 0.29, 0.57 and 0.58."""
    rng = np.random.default_rng(seed)
    probs, labels = rng.multinomial(40, np.ones(4) / 4, 99) / 40, rng.integers(0, 4, 99)
    rules = tuple(rs.calibrate(probs[fold::folds], labels[fold::folds], score=score) for fold in range(folds))
    told = [probs[:30]] * folds
    stranger, sizes = (sum(parts) for parts in zip(*(rule.tails(probs[:30]) for rule in rules), strict=True))
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


# Engines


def test_column_numbers_are_refused_in_a_table_whose_columns_stand_in_another_order():
    """Of a partition of Dask or Spark: which of the two orders do the numbers count?"""
    turned = pa.table({name: PROBS[:, NAMES.index(name)] for name in NAMES[::-1]} | {"y": LABELS})
    straight = turned.select([*NAMES, "y"])
    part = parts.part_of(Columns("partition 3", table=straight), Layout(label="y"), classes=NAMES)
    assert parts.Calibrating(classes=NAMES).of(part).rule == rs.calibrate(PROBS, WORDS, classes=NAMES)
    with pytest.raises(ValueError, match=r"partition 3: labels are column numbers"):
        parts.part_of(Columns("partition 3", table=turned), Layout(label="y"), classes=NAMES)


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
        patch.setenv(blocks.THREADS, "4")
        patch.setenv(blocks.BLOCK_BYTES, "8")
        with pytest.raises(ValueError, match=rf"^{min(failing)}$"):
            blocks.mapped(work, 4, 1)


# auto


@pytest.mark.parametrize("n", [400, 3000])
def test_a_fit_is_judged_on_rows_that_it_has_not_seen(n, monkeypatch):
    """The rows are all different, so those that fit and those that judge can be told by their numbers."""
    fitted, judged = [], []
    fit, compare = Recalibrated.fit.__func__, choosing.compare

    def seen_fit(cls, probs, *rest, **options):
        fitted.append({row.tobytes() for row in probs})
        return fit(cls, probs, *rest, **options)

    def seen_compare(probs, *rest, **options):
        judged.append({row.tobytes() for row in probs})
        return compare(probs, *rest, **options)

    monkeypatch.setattr(Recalibrated, "fit", classmethod(seen_fit))
    monkeypatch.setattr(choosing, "compare", seen_compare)
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
        row = (row * (float(limit) + rng.normal() * 2e-7) / row.sum()).astype(dtype)
        fine = abs(row.sum(dtype=np.float64) - 1.0) <= 0.01
        verdicts.append(fine)
        if fine:
            rule.predict(row[np.newaxis], 0.1)
        else:
            with pytest.raises(ValueError, match="row 0"):
                rule.predict(row[np.newaxis], 0.1)
    assert 20 < sum(verdicts) < 80


# Small groups


@given(st.lists(st.sampled_from([-1, -1, 0, 0, 1, 5]), min_size=1, max_size=4), alphas, st.data())
def test_a_warning_names_exactly_the_groups_that_keep_every_label_for_lack_of_rows(more, alpha, data):
    """Groups of about as many rows as the level needs: one less, just so many, or more."""
    sizes = [max(1, level.rows_needed(level.exact(alpha)) + few) for few in more]
    names = [f"g{place}" for place in range(len(sizes))]
    groups = np.repeat(names, sizes)
    probs = np.linspace(0.5, 0.9, len(groups))
    rule = rs.calibrate(probs, np.ones(len(groups), int), kind="binary", condition=rs.PerRow(), groups=groups)
    present = data.draw(st.lists(st.sampled_from(names), min_size=1))
    small = {
        name
        for name, n in zip(names, sizes, strict=True)
        if name in present and level.position(n, level.exact(alpha)) > n
    }
    assert {name for name in present if rule.threshold(alpha, group=name) is None} == small
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        rule.predict(np.full(len(present), 0.7), alpha, groups=present)
    text = " ".join(str(one.message) for one in said)
    if len(names) == 1:
        assert bool(said) == bool(small)
    else:
        assert {name for name in names if f"group {name!r}" in text} == small
