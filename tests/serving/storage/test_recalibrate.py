"""A new rule from labels that came back: byte for byte that of ``calibrate`` on the same rows, with honest warnings."""

import contextlib
import json
import re
import sqlite3
import warnings
from datetime import UTC, datetime
from urllib.parse import unquote

import numpy as np
import pytest

pytest.importorskip("sqlalchemy")

from click.testing import CliRunner

import rankset as rs
from rankset.cli.commands import rankset
from rankset.serving import FedBack, Feedback, Prediction, recalibrate
from rankset.serving.storage.bounds import remember_bounds
from refusals import failure, refused
from served import LABELS, PROBS, RULE, K, filled, label, prediction

NAMES = ["cat", "dog", "bird", "cow", "bee"]
SITES = ["Zürich", "Bern", 'a "quoted" name'] * 140
LOGITS = np.log(PROBS)

CASES = {
    "plain": {},
    "float32": {"dtype": np.float32},
    "raps": {"method": rs.Raps(penalty=0.1)},
    "randomised": {"method": "aps", "seed": 5},
    "randomised with ids": {"method": "aps", "ids": True},
    "logits": {"kind": "logits", "outputs": LOGITS},
    "decision": {"kind": "decision", "outputs": 3 * PROBS, "method": "margin"},
    "binary": {"kind": "binary", "outputs": PROBS[:, 0] / (PROBS[:, 0] + PROBS[:, 1]), "labels": LABELS % 2},
    "named": {"classes": NAMES},
    "integers as names": {"classes": [30, 10, 20, 50, 40]},
    "per label": {"condition": rs.PerLabel(), "classes": NAMES},
    "per group": {"condition": rs.PerGroup(), "groups": SITES},
    "groups that are numbers": {"condition": rs.PerLabelAndGroup(), "groups": [2016, 1999, 2007] * 140},
    "pooled": {"condition": rs.Pooled(rs.PerLabel())},
    "costs": {"target": rs.Cost({0: 2.0, 1: 1.0}, others=1.0)},
    "temperature": {"method": rs.Tempered(rs.Thr(), 1.5), "kind": "logits", "outputs": LOGITS},
}


def parts(case):
    """Outputs, labels as columns, groups, ids, and the other options of ``calibrate``."""
    options = dict(CASES[case])
    outputs = options.pop("outputs", PROBS).astype(options.pop("dtype", np.float64))
    labels, groups = options.pop("labels", LABELS), options.pop("groups", None)
    ids = [f"row-{place}" for place in range(len(outputs))] if options.pop("ids", False) else None
    return outputs, labels, groups, ids, options


def calibrated(outputs, labels, groups, ids, options, places):
    names = options.get("classes")
    return rs.calibrate(
        outputs[places],
        labels[places] if names is None else [names[label] for label in labels[places]],
        groups=None if groups is None else [groups[place] for place in places],
        ids=None if ids is None else [ids[place] for place in places],
        **options,
    )


def saved(rule, folder):
    rule.save(folder / "bytes.rankset")
    return (folder / "bytes.rankset").read_bytes()


@pytest.mark.parametrize("case", CASES)
def test_the_new_rule_is_that_of_calibrate_on_the_same_rows(case, where, opened, tmp_path):
    outputs, labels, groups, ids, options = parts(case)
    rule = calibrated(outputs, labels, groups, ids, options, np.arange(100))
    store = opened(where, rule=rule)
    order = np.random.default_rng(3).permutation(np.arange(100, 400))
    store.remember(
        [
            Prediction(
                *(f"row-{place}", float(place), np.atleast_1d(outputs[place])),
                *(None if groups is None else json.dumps(groups[place]), np.zeros(1, np.int32), 0.1, 0.5),
            )
            for place in range(100, 400)
        ]
    )
    store.feedback([Feedback(f"row-{place}", int(labels[place]), 1.0) for place in order])
    expected = calibrated(outputs, labels, groups, ids, options, order)
    assert saved(recalibrate(store, rule), tmp_path) == saved(expected, tmp_path)
    assert saved(recalibrate(where, rule), tmp_path) == saved(expected, tmp_path)
    assert saved(recalibrate(store, rule, last=50), tmp_path) == saved(
        calibrated(outputs, labels, groups, ids, options, order[order >= np.sort(order)[-50]]), tmp_path
    )
    assert saved(recalibrate(store, rule, last=50), tmp_path) != saved(expected, tmp_path)


def test_another_score_and_only_some_rows(store, tmp_path):
    filled(store, 300)
    places = np.arange(120, 300)
    expected = rs.calibrate(PROBS[places], LABELS[places], method="raps")
    assert saved(recalibrate(store, RULE, since=120.0, method="raps"), tmp_path) == saved(expected, tmp_path)
    assert saved(recalibrate(store, RULE, since=120.0, score=rs.scores.NAMED_SCORES["raps"]), tmp_path) == saved(
        expected, tmp_path
    )
    auto = rs.calibrate(PROBS[places], LABELS[places], method="auto")
    assert saved(recalibrate(store, RULE, since=120.0, method="auto"), tmp_path) == saved(auto, tmp_path)


def test_without_labels_there_is_no_rule(store):
    with refused(rs.errors.RuleError, what="rows for a new rule", received="no rows"):
        recalibrate(store, RULE)
    filled(store, 20, labelled=10)
    with refused(rs.errors.RuleError, received="5 rows without a label"):
        recalibrate(store, RULE, since=15.0)


def test_factors_of_label_shift_are_not_applied_again(file, opened):
    rule = rs.calibrate(PROBS, LABELS, condition=rs.LabelShift([2.0, 1.0, 1.0, 1.0, 1.0]))
    store = opened(file, rule=rule)
    filled(store, 30)
    with refused(rs.errors.RuleError, what="the rule of recalibrate"):
        recalibrate(store, rule)


@pytest.mark.parametrize("last", [0, -1, 2.5, "many"])
def test_a_number_of_rows_that_makes_no_sense_is_refused(store, last):
    with refused(rs.errors.InputError, what="last"):
        recalibrate(store, RULE, last=last)


def test_a_rule_of_other_classes_is_refused(where, opened):
    filled(opened(where), 10)
    with refused(rs.errors.StorageError, what="the store"):
        recalibrate(where, rs.calibrate(PROBS, LABELS, classes=NAMES))
    with refused(rs.errors.KindError, what="rule"):
        recalibrate(where, "rule.rankset")


def told(call):
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        call()
    return [str(one.message) for one in given]


def test_rows_without_label_are_warned_of(store):
    store.remember([prediction(place, accepted=place % 4 != 0) for place in range(200)])
    store.feedback([label(place) for place in range(0, 200, 4)])
    (message,) = told(lambda: recalibrate(store, RULE))
    assert (
        "50 of 200 rows have a label. Of 150 rows that were accepted automatically 0 have one, of 50 others 50."
        in message
    )
    assert "no random sample" in message
    found = FedBack.read(store, RULE.spec)
    assert (found.unlabelled, found.accepted, found.accepted_unlabelled) == (150, 0, 150)
    assert sum(found.by_class(RULE.spec).values()) == 50


def test_rows_are_counted_from_the_first_that_is_read(store):
    store.remember([prediction(place) for place in range(200)])
    order = [place for place in np.random.default_rng(0).permutation(200).tolist() if place % 10]
    store.feedback([label(place) for place in order])
    found = FedBack.read(store, RULE.spec, last=50)
    first = sorted(order)[-50]
    assert (len(found.labels), found.unlabelled) == (50, 200 - first - 50)
    (message,) = told(lambda: recalibrate(store, RULE, last=50))
    assert f"50 of {200 - first} rows have a label. " in message


def test_the_order_of_labels_chooses_no_rows(store):
    """If labels of difficult rows come first, the last labels are those of easy rows; coverage must not suffer."""
    store.remember([prediction(place) for place in range(200)])
    difficult_first = np.argsort(PROBS[np.arange(200), LABELS[:200]])
    store.feedback([label(place) for place in difficult_first.tolist()])
    found = {int(name.removeprefix("row-")) for name in FedBack.read(store, RULE.spec, last=100).ids}
    assert found == set(range(100, 200))


def test_there_is_no_warning_if_all_rows_have_labels(store):
    filled(store, 200)
    assert told(lambda: recalibrate(store, RULE)) == []
    store.remember([prediction(place) for place in range(200, 210)])
    store.check()
    assert told(lambda: recalibrate(store, RULE, last=50)) != [], "rows of the same time have no label"


def test_groups_that_are_no_names_are_refused(file, opened):
    rule = rs.calibrate(PROBS, LABELS, condition=rs.PerGroup(), groups=["a", "b"] * 200)
    store = opened(file, rule=rule)
    for place, group in enumerate([None, "", "[1]", "{", "[" * 10_000]):
        store.remember([prediction(place, group=group)])
        store.feedback([label(place)])
        with refused(rs.errors.StorageError, expected="be a complete store of rankset"):
            recalibrate(store, rule, last=1)


# The command


def run(*arguments):
    return CliRunner().invoke(rankset, ["recalibrate", *map(str, arguments)])


@pytest.fixture
def served(where, opened, tmp_path, monkeypatch):
    """A store with labels of 200 of 300 rows, and the file of its rule."""
    monkeypatch.chdir(tmp_path)
    rule = rs.calibrate(PROBS[:100], LABELS[:100], classes=NAMES, method="thr")
    rule.save("rule.rankset")
    store = opened(where, rule=rule)
    filled(store, 300, labelled=200)
    return where


def expected_bytes(folder, places, **options):
    names = [NAMES[label] for label in LABELS[places]]
    return saved(rs.calibrate(PROBS[places], names, classes=NAMES, **{"method": "thr", **options}), folder)


@pytest.mark.parametrize("rule", [["--rule", "rule.rankset"], []], ids=["with rule", "without"])
def test_the_command_writes_the_same_rule_while_the_server_runs(served, tmp_path, rule):
    done = run("--from", served, *rule, "-o", "new.rankset")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "new.rankset").read_bytes() == expected_bytes(tmp_path, np.arange(200))
    shown = re.sub(r" +", " ", done.output)
    assert "rows 200\n" in shown
    assert "without label 100\n" in shown
    counts = np.bincount(LABELS[:200], minlength=K)
    assert f"{NAMES[counts.argmax()]}: {counts.max()}" in shown
    assert "Warning: 200 of 300 rows have a label. " in shown


def test_the_command_takes_some_rows_and_another_score(served, tmp_path):
    assert run("--from", served, "--last", 50, "--method", "RAPS", "-o", "a.rankset").exit_code == 0
    assert (tmp_path / "a.rankset").read_bytes() == expected_bytes(tmp_path, np.arange(150, 200), method="raps")
    moment = datetime.fromtimestamp(180, tz=UTC).isoformat()
    assert run("--from", served, "--since", moment, "-o", "b.rankset").exit_code == 0
    assert (tmp_path / "b.rankset").read_bytes() == expected_bytes(tmp_path, np.arange(180, 200))


def test_the_command_takes_rows_of_the_last_hours(served, tmp_path, monkeypatch):
    monkeypatch.setattr("time.time", lambda: 3600.0 + 180)
    for since in ("1h", "60m", " 3600s"):
        assert run("--from", served, "--since", since, "-o", "b.rankset", "--force").exit_code == 0
        assert (tmp_path / "b.rankset").read_bytes() == expected_bytes(tmp_path, np.arange(180, 200))


def test_the_command_chooses_a_score_for_alpha(served, tmp_path):
    done = run("--from", served, "--method", "auto", "--alpha", "0.3", "-o", "a.rankset")
    assert done.exit_code == 0, done.output
    auto = expected_bytes(tmp_path, np.arange(200), method="auto", alpha=0.3)
    assert (tmp_path / "a.rankset").read_bytes() == auto
    n = rs.load("a.rankset").n
    assert f"{n} of 200 calibrate, the other {200 - n} chose the score" in done.output
    done = CliRunner().invoke(
        rankset, ["recalibrate", "--from", served, "--method", "auto", "-o", "b.rankset", "--json"]
    )
    facts = json.loads(done.stdout)
    assert facts["rows"] + facts["rows_that_fitted"] == sum(facts["rows_by_class"]) == 200
    assert (tmp_path / "b.rankset").read_bytes() == expected_bytes(tmp_path, np.arange(200), method="auto")
    assert "--alpha works only with --method auto" in run("--from", served, "--alpha", "0.3", "-o", "c.rankset").output


def test_the_command_prints_json(served):
    done = CliRunner().invoke(rankset, ["recalibrate", "--from", served, "-o", "new.rankset", "--json"])
    answer = json.loads(done.stdout)
    assert answer["rows"] == 200
    assert answer["rows_without_label"] == 100
    assert answer["rows_by_class"] == np.bincount(LABELS[:200], minlength=K).tolist()


def test_the_command_refuses_what_makes_no_sense(served, tmp_path):
    rs.calibrate(PROBS, LABELS).save("other.rankset")
    assert failure("recalibrate", "--from", served, "--rule", "other.rankset", "-o", "n.rankset").what == "the store"
    for content in ("rule.rankset", "triage.rankset"):
        rs.triage(PROBS, LABELS).save("triage.rankset")
        error = failure("recalibrate", "--from", content, "-o", "n.rankset")
        assert (error.expected, error.where.file) == ("be an SQLite file or a PostgreSQL database", content)
        assert error.received == f"a file with a {content.partition('.')[0].title()}"
    assert failure("recalibrate", "--from", "none.db", "-o", "n.rankset").expected == "exist"
    late = ("--since", "2999-01-01")
    assert failure("recalibrate", "--from", served, *late, "-o", "n.rankset").what == "rows for a new rule"
    (tmp_path / "n.rankset").write_text("")
    assert failure("recalibrate", "--from", served, "-o", "n.rankset").expected == "be a new file"
    for wrong in (["--since", "noon"], ["--since", "7x"], ["--last", "0"], ["--method", "best"], []):
        done = run(*(["--from", served] if wrong else []), "-o", "m.rankset", *wrong)
        assert done.exit_code == 2
    assert not (tmp_path / "m.rankset").exists()


def test_a_store_of_an_own_score_needs_the_rule(file, opened):
    class Own:
        def keys(self, cells):
            return (-cells.prob,)

    rule = rs.calibrate(PROBS, LABELS, method=Own())
    store = opened(file, rule=rule)
    filled(store, 30)
    assert recalibrate(store, rule).n == 30
    assert failure("recalibrate", "--from", file, "-o", f"{file}.rankset").expected == "know its rule"


# Inspect


def inspected(*arguments):
    return CliRunner().invoke(rankset, ["inspect", *map(str, arguments)])


def test_inspect_tells_what_a_store_holds(file, opened):
    rule = rs.calibrate(PROBS[:100], LABELS[:100], classes=NAMES, method="thr")
    store = opened(file, rule=rule)
    filled(store, 30, labelled=20)
    store.check()
    facts = json.loads(inspected(file, "--json").stdout)
    assert (facts["score"], facts["condition"], facts["kind"]) == ("Thr()", "Marginal()", "probs")
    assert (facts["classes"], facts["first_classes"]) == (K, list(NAMES))
    assert (facts["rows"], facts["labels"], facts["size"] > 0) == (30, 20, True)
    assert (facts["first_row"], facts["last_row"]) == ("1970-01-01T00:00:00+00:00", "1970-01-01T00:00:29+00:00")
    assert facts["last_label"].startswith("1970-01-01T00:")
    assert facts["kept"] == {"max_age": None, "max_bytes": None}
    told = re.sub(r" +", " ", inspected(file).stdout)
    assert "kept without bounds" in told
    remember_bounds(store, {"max_age": 86400.0, "max_bytes": 2_500_000_000})
    assert "kept for 1 day and in at most 2.5 GB" in re.sub(r" +", " ", inspected(file).stdout)
    assert "content a store of rankset serve\n" in told
    assert f"score Thr()\n condition one threshold for all rows\n kind probs\n classes {K}: " in told


def test_inspect_tells_what_a_store_in_postgresql_holds(postgres, opened):
    filled(opened(postgres), 30, labelled=20)
    facts = json.loads(inspected(postgres, "--json").stdout)
    assert (unquote(facts["file"]), facts["rows"], facts["labels"]) == (postgres, 30, 20)
    result = inspected("postgresql://u:secret@127.0.0.1:1/none")
    assert result.exit_code == 1
    assert "secret" not in result.output
    assert "--alpha" in inspected(postgres, "--alpha", "0.1").output


def test_inspect_of_a_new_store_and_of_one_with_an_own_score(file, opened):
    class Own:
        def keys(self, cells):
            return (-cells.prob,)

    opened(file, rule=rs.calibrate(PROBS, LABELS, method=Own()))
    facts = json.loads(inspected(file, "--json").stdout)
    assert (facts["rows"], facts["first_row"], facts["kind"], facts["classes"]) == (0, None, "probs", K)
    assert "does not know it" in facts["score"]


def test_inspect_refuses_levels_of_a_store_and_other_databases(file, opened, tmp_path):
    opened(file, rule=RULE)
    done = inspected(file, "--alpha", "0.1")
    assert (done.exit_code, "Leave out --alpha" in done.output) == (2, True)
    with contextlib.closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE mine (number INTEGER)")
        other.commit()
    assert failure("inspect", tmp_path / "other.db").expected == "be a complete store of rankset"
