"""Ragged rows whose candidates have names: labels and sets speak in these names."""

import pickle
from collections import Counter

import numpy as np
import pandas as pd
import pytest

import rankset as rs
from rankset.errors import FileError, InputError, KindError, LabelError
from rankset.io.write_sets import write_sets
from refusals import refused

RNG = np.random.default_rng(9)
VALUES = [RNG.dirichlet(np.ones(k)) for k in RNG.integers(2, 6, 120)]
NAMES = [[f"option {place} of {row}" for place in range(len(values))] for row, values in enumerate(VALUES)]
PLAIN = rs.Ragged.of(VALUES)
NAMED = rs.Ragged.of(VALUES, names=NAMES)
COLUMNS = [int(RNG.integers(len(values))) for values in VALUES]
TRUTH = [names[column] for names, column in zip(NAMES, COLUMNS, strict=True)]


def test_names_change_nothing_but_names():
    rule = rs.calibrate(PLAIN, COLUMNS)
    assert rs.calibrate(NAMED, TRUTH) == rule
    dicts = rs.Ragged.of([dict(zip(names, values, strict=True)) for names, values in zip(NAMES, VALUES, strict=True)])
    assert rs.calibrate(dicts, TRUTH) == rule
    sets, positions = rule.predict(NAMED, 0.2), rule.predict(PLAIN, 0.2)
    assert sets == rule.predict(dicts, 0.2) != positions
    assert sets.to_lists() == [
        [NAMES[row][place] for place in places] for row, places in enumerate(positions.to_lists())
    ]
    assert (sets.mask == positions.mask).all()
    assert (sets.covers(TRUTH) == positions.covers(COLUMNS)).all()
    assert repr(rs.evaluate(sets, TRUTH)) == repr(rs.evaluate(positions, COLUMNS))
    assert (rule.p_values(NAMED) == rule.p_values(PLAIN)).all()
    assert rule.update(NAMED, TRUTH) == rule.update(PLAIN, COLUMNS)
    assert rs.auto(NAMED, TRUTH, 0.2) == rs.auto(PLAIN, COLUMNS, 0.2)
    assert repr(rs.compare(NAMED, TRUTH, repeats=2)) == repr(rs.compare(PLAIN, COLUMNS, repeats=2))
    named, plain = (rs.reports.study_rules([rule], *rows).data for rows in ((NAMED, TRUTH), (PLAIN, COLUMNS)))
    for row in named["scores"][0]["ambiguous"]:
        assert row["names"] == {str(place): name for place, name in enumerate(NAMES[row["row"]])}
        del row["names"]
    assert named == {**plain, "own_names": True}


def test_pictures_and_reports_take_names_absent_labels_and_more_candidates():
    pytest.importorskip("matplotlib")
    rule = rs.calibrate(PLAIN[:60], COLUMNS[:60])
    truth = [*TRUTH[60:-1], rs.ABSENT]
    wide = rs.Ragged.of([{f"option {place}": 1 / 12 for place in range(12)}])
    for display in (rs.CoverageDisplay, rs.SizeDisplay):
        named = display.from_rule(rule, NAMED[60:], truth, alphas=[0.1, 0.3])
        plain = display.from_rule(rule, PLAIN[60:], [*COLUMNS[60:-1], rs.ABSENT], alphas=[0.1, 0.3])
        assert named.coverage.tolist() == plain.coverage.tolist()
        assert display.from_rule(rule, wide, ["option 0"], alphas=[0.1, 0.3]).coverage.tolist() == [1.0, 1.0]
    assert named.coverage[1] == rule.predict(NAMED[60:], 0.3).covers(truth).mean()
    data = rs.reports.study_rules([rule], wide, ["option 0"]).data
    assert len(data["classes"]) == 12
    assert data["scores"][0]["ambiguous"][0]["names"]["0"] == "option 0"


def test_all_labels_absent_is_a_warning():
    with pytest.warns(rs.RanksetWarning, match="normalise_answers"):
        assert rs.Ragged.of([{"paris": 1.0}]).mark_absent(["Paris"]) == [rs.ABSENT]


def test_sets_speak_in_the_names_of_their_rows():
    rule = rs.calibrate(NAMED, TRUTH)
    sets = rule.predict(NAMED, 0.2)
    lists = sets.to_lists()
    assert [row.tolist() for row in sets] == lists
    assert sets[3].tolist() == lists[3]
    assert sets[[5, 2]].to_lists() == [lists[5], lists[2]]
    assert sets[4:9].to_lists() == lists[4:9]
    assert sets[sets.sizes == 2].to_lists() == [row for row in lists if len(row) == 2]
    frame = sets.to_frame("pandas")
    assert frame["labels"].tolist() == lists
    assert frame["top"].tolist() == [row[0] if row else None for row in lists]
    assert str(lists[0][0]) in repr(sets)
    parts = list(rule.predict_parts(NAMED, 0.2, rows=50))
    assert rs.PredictionSets.concat(parts) == sets
    assert pickle.loads(pickle.dumps(sets)) == sets  # noqa: S301
    mixed = rs.PredictionSets.concat([sets[:1], rule.predict(PLAIN, 0.2)[1:2]])
    assert mixed.to_lists() == [lists[0], rule.predict(PLAIN, 0.2)[1].tolist()]


def test_rows_are_selected_with_their_names():
    some = NAMED[[7, 3]]
    assert some.names[0, : some.counts[0]].tolist() == NAMES[7]
    assert NAMED[2:4].names[1, : NAMED.counts[3]].tolist() == NAMES[3]
    assert repr(some).endswith("candidates with names)")
    assert pickle.loads(pickle.dumps(NAMED)).names[0, 0] == NAMES[0][0]  # noqa: S301
    series = pd.Series([{"a": 0.5, "b": 0.5}, {"c": 1.0}], index=["x", "y"])
    assert rs.Ragged.of(series).template.index.tolist() == ["x", "y"]


def test_sampled_answers_from_counts_to_sets():
    samples = [["Paris", "paris.", "Lyon"], ["Rome", "Rome", "Rome"], ["Bonn", "Berlin", "Bonn"]] * 20
    truth = ["Paris", "Rome", "Berlin"] * 19 + ["Paris", "Milan", "Berlin"]
    rows = rs.Ragged.of([Counter(rs.normalise_answers(row)) for row in samples])
    labels = rows.mark_absent(rs.normalise_answers(truth))
    assert [row for row, label in enumerate(labels) if label is rs.ABSENT] == [58]
    rule = rs.calibrate(rows, labels)
    assert rule.smallest_alpha() == rs.calibrate(rows, labels).smallest_alpha()
    sets = rule.predict(rows, 0.1)
    assert sets.to_lists()[:2] == [["paris", "lyon"], ["rome"]]
    assert rs.evaluate(sets, labels).absent == 1
    assert rows.mark_absent(labels) == labels


def test_a_label_that_is_no_candidate_is_refused_with_the_way_out():
    with refused(LabelError.no_option("labels", 1, "nothing", NAMES[1])):
        rs.calibrate(NAMED, [TRUTH[0], "nothing", *TRUTH[2:]])
    sets = rs.calibrate(NAMED, TRUTH).predict(NAMED, 0.2)
    for check in (sets.covers, lambda labels: rs.evaluate(sets, labels)):
        with refused(LabelError.no_option("labels", 0, TRUTH[1], NAMES[0])):
            check([TRUTH[1], *TRUTH[1:]])
    with refused(LabelError.missing("labels", 1)):
        rs.calibrate(NAMED, [TRUTH[0], None, *TRUTH[2:]])
    assert not sets.covers([rs.ABSENT] * 120).any()


@pytest.mark.parametrize(
    ("names", "error"),
    [
        ([["a", "a"]], LabelError.duplicate_candidates(0, ["a"])),
        ([["a"]], InputError.candidate_names(0, 2, 1)),
        ([["a", "b"], ["c"]], InputError.length("names", 1, 2)),
        (["ab"], KindError.argument("names", "one list of names per row", ["ab"])),
        ("ab", KindError.argument("names", "one list of names per row", "ab")),
        ([["a", rs.ABSENT]], KindError.absent("names of candidates")),
    ],
    ids=str,
)
def test_names_that_do_not_fit(names, error):
    with refused(error):
        rs.Ragged.of([[0.5, 0.5]], names=names)


def test_other_mistakes():
    with refused(KindError.argument("names", "None if the rows are dictionaries, which have names", [["a"]])):
        rs.Ragged.of([{"a": 1.0}], names=[["a"]])
    with refused(KindError.no_candidate_names()):
        PLAIN.mark_absent(COLUMNS)
    with refused(LabelError.duplicate_candidates(1, ["c"])):
        rs.Ragged([[0.5, 0.5], [0.5, 0.5]], [2, 2], names=np.array([["a", "b"], ["c", "c"]]))


def test_files_of_sets_have_the_names(tmp_path):
    sets = rs.calibrate(NAMED, TRUTH).predict(NAMED, 0.2)
    written = {suffix: tmp_path / f"sets.{suffix}" for suffix in ("csv", "jsonl", "parquet")}
    for path in written.values():
        write_sets(path, [(sets[:60], {}), (sets[60:], {})], force=True)
    assert pd.read_json(written["jsonl"], lines=True)["labels"].tolist() == sets.to_lists()
    assert [row.tolist() for row in pd.read_parquet(written["parquet"])["labels"]] == sets.to_lists()
    table = pd.read_csv(written["csv"], keep_default_na=False)
    assert table["labels"].tolist() == ["|".join(row) for row in sets.to_lists()]
    path = tmp_path / "sets.npz"
    with refused(FileError.names_of_rows(str(path))):
        write_sets(path, [(sets, {})], force=True)
    bar = rs.Ragged.of([{"a|b": 1.0}] * 20)
    sets, path = rs.calibrate(bar, ["a|b"] * 20).predict(bar, 0.2), tmp_path / "bar.csv"
    with refused(FileError.separator_in_name(str(path), "a|b")):
        write_sets(path, [(sets, {})], force=True)
