"""``rankset watch``: the answers of ``Stream``, from lines of JSON and from tables; state, alarms, summary."""

import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rankset as rs
from commands import LABELS, LOGITS, NAMES, fine
from rankset.errors import FileError, LabelError, RuleError
from refusals import check_refusal, failure
from watching import CALIBRATION, NEW, ROWS, RULE, TRUE, answers, events, fine_watch, line, text, watch


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    RULE.save("rule.rankset")


def drifting(count=400):
    """Rows whose labels are at random from the 100th row on."""
    labels = [*TRUE[:100], *(NAMES[number % 6] for number in range(count - 100))]
    return list(events(ROWS[:count], labels))


@pytest.mark.parametrize("late", [0, 1, 30])
def test_answers_are_those_of_a_stream_of_python_byte_for_byte(late):
    told = list(events(late=late, seed=late))
    done = fine_watch("rule.rankset", "--alpha", "0.1", "--state", "s.rankset", stdin=text(told))
    stream = rs.Stream(RULE, 0.1)
    assert done.stdout == answers(stream, told)
    assert repr(rs.Stream.load("s.rankset")) == repr(stream)
    assert len(done.stdout.splitlines()) == 400


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        (("--level", "fixed", "--window", "all"), {"level": rs.Fixed(), "window": None}),
        (("--step", "0.03", "--window", "50"), {"level": rs.Adaptive(0.03), "window": 50}),
        (("--level", "decaying", "--step", "0.2"), {"level": rs.Decaying(0.2)}),
        (("--level", "decaying", "--delta", "0.2"), {"level": rs.Decaying(), "delta": 0.2}),
        (("--level", "experts", "--tolerance", "0.2"), {"level": rs.Experts(), "tolerance": 0.2}),
        (("--waiting", "3", "--seed", "7"), {"waiting": 3, "seed": 7}),
    ],
)
def test_options_are_those_of_stream(options, settings):
    told = list(events(late=9))
    done = fine_watch("rule.rankset", "--alpha", "5%", "--state", "s.rankset", *options, stdin=text(told))
    stream = rs.Stream(RULE, 0.05, **settings)
    assert done.stdout == answers(stream, told)
    assert Path("s.rankset").read_bytes() == saved(stream)


def test_a_run_cut_into_several_by_the_state_file_equals_one_run():
    told = list(events(late=20))
    whole = fine_watch("rule.rankset", "--state", "whole.rankset", stdin=text(told)).stdout
    parts = [fine_watch("rule.rankset", "--state", "s.rankset", stdin=text(told[:101])).stdout]
    for start, end in ((101, 102), (102, 400), (400, len(told))):
        parts.append(fine_watch("--state", "s.rankset", stdin=text(told[start:end])).stdout)
    assert "".join(parts) == whole
    assert Path("s.rankset").read_bytes() == Path("whole.rankset").read_bytes()


@pytest.mark.parametrize(
    "form",
    [
        lambda row: dict(zip(NAMES, row, strict=True)),
        lambda row: dict(reversed(list(zip(NAMES, row, strict=True)))),
        lambda row: {"outputs": row, "time": "noon", "number": 7},
        lambda row: {"outputs": dict(zip(NAMES, row, strict=True))},
    ],
)
def test_scores_are_fields_a_list_or_an_object(form):
    told = "".join(line(id=number, **form(row)) for number, row in enumerate(ROWS[:20].tolist()))
    wanted = rs.Stream(RULE, 0.1).predict(ROWS[:20]).to_lists()
    assert [json.loads(one)["set"] for one in fine_watch("rule.rankset", stdin=told).stdout.splitlines()] == wanted


def test_rows_without_ids_are_numbered_over_all_runs_and_learned_at_once():
    told = [{"scores": row, "label": label} for row, label in zip(ROWS[:50].tolist(), TRUE, strict=False)]
    first = fine_watch("rule.rankset", "--state", "s.rankset", stdin=text(told[:20])).stdout
    second = fine_watch("--state", "s.rankset", stdin=text(told[20:])).stdout
    stream = rs.Stream(RULE, 0.1)
    wanted = answers(stream, [{**event, "id": number} for number, event in enumerate(told)])
    assert first + second == wanted
    assert rs.Stream.load("s.rankset").n_labels == 50


def test_groups_have_a_field_and_options_name_other_fields():
    sites = np.array(["1", "2"] * 500)
    rule = rs.calibrate(
        LOGITS[:600], LABELS[:600], kind="logits", classes=NAMES, condition=rs.PerGroup(), groups=sites[:600]
    )
    rule.save("groups.rankset")
    told = [{"scores": row, "group": int(site)} for row, site in zip(ROWS[:40].tolist(), sites, strict=False)]
    wanted = [rs.Stream(rule, 0.1).predict(ROWS[:40], groups=sites[:40]).to_lists()]
    done = fine_watch("groups.rankset", "--level", "fixed", stdin=text(told))
    assert [[json.loads(one)["set"] for one in done.stdout.splitlines()]] == wanted
    other = [
        {"x": row["scores"], "site": row["group"], "case": f"c{n}", "answer": TRUE[n]} for n, row in enumerate(told)
    ]
    done = fine_watch(
        *("groups.rankset", "--group", "site", "--id", "case", "--label", "answer", "--state", "s.rankset"),
        stdin=text(other),
    )
    assert json.loads(done.stdout.splitlines()[-1])["id"] == "c39"
    assert rs.Stream.load("s.rankset").n_labels == 40
    error = failure("watch", "groups.rankset", stdin=line(scores=ROWS[0].tolist()))
    assert error.where.part == "line 1"


def test_a_rule_for_one_number_per_row():
    probs = np.random.default_rng(0).random(300)
    labels = (np.random.default_rng(1).random(300) < probs).astype(int)
    rs.calibrate(probs[:200], np.array(["no", "yes"])[labels[:200]], kind="binary", classes=["no", "yes"]).save(
        "b.rankset"
    )
    stream = rs.Stream(rs.load("b.rankset"), 0.1)
    wanted = [stream.predict(probs[place : place + 1]).to_lists()[0] for place in range(200, 206)]
    rows = [{"yes": one} for one in probs[200:202].tolist()]
    rows += [{"p": one} for one in probs[202:204].tolist()] + [{"p": [one]} for one in probs[204:206].tolist()]
    done = fine_watch("b.rankset", stdin=text(rows))
    assert [json.loads(one)["set"] for one in done.stdout.splitlines()] == wanted
    for bad in ({"no": 0.5}, {"p": 0.1, "q": 0.2}, {"p": [0.1, 0.2]}, {"p": []}):
        assert failure("watch", "b.rankset", stdin=line(**bad)).where.part == "line 1"


def frame(rows=NEW):
    table = pd.DataFrame(LOGITS[rows].astype(float), columns=NAMES)
    return table.assign(answer=np.array(NAMES)[LABELS[rows]], case=[f"c{number}" for number in range(len(table))])


def save_tables():
    frame().to_csv("rows.csv", index=False)
    frame().to_parquet("rows.parquet")
    lines = "".join(json.dumps(row) + "\n" for row in frame().to_dict("records"))
    Path("rows.jsonl").write_text(lines)
    Path("rows.jsonl.gz").write_bytes(gzip.compress(lines.encode()))


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet", "rows.jsonl", "rows.jsonl.gz"])
def test_rows_of_files_are_predicted_and_then_learned_from_in_their_order(name):
    save_tables()
    done = fine_watch("rule.rankset", name, "--label", "answer", "--id", "case", "--state", "s.rankset")
    told = [
        {"id": f"c{number}", "scores": row, "label": label}
        for number, (row, label) in enumerate(zip(ROWS.tolist(), TRUE, strict=True))
    ]
    stream = rs.Stream(RULE, 0.1)
    assert done.stdout == answers(stream, told)
    assert Path("s.rankset").read_bytes() == saved(stream)


def test_several_files_and_labels_in_files_of_their_own():
    for number, part in enumerate((slice(600, 700), slice(700, 1000))):
        np.save(f"rows{number}.npy", LOGITS[part].astype(float))
        np.save(f"labels{number}.npy", LABELS[part])
    done = fine_watch(
        *("rule.rankset", "rows0.npy", "rows1.npy", "--labels", "labels0.npy", "--labels", "labels1.npy"),
        *("--late", "0"),
    )
    told = [
        {"id": n, "scores": row, "label": label} for n, (row, label) in enumerate(zip(ROWS.tolist(), TRUE, strict=True))
    ]
    assert done.stdout == answers(rs.Stream(RULE, 0.1), told)


def test_labels_of_tables_can_come_late_and_can_be_missing():
    table = frame().assign(answer=[None if number % 3 == 0 else label for number, label in enumerate(TRUE)])
    table.to_csv("rows.csv", index=False)
    done = fine_watch("rule.rankset", "rows.csv", "--label", "answer", "--late", "7", "--state", "s.rankset")
    told, labels = [], []
    for number, (row, label) in enumerate(zip(ROWS.tolist(), table["answer"].tolist(), strict=True)):
        told.append({"id": number, "scores": row})
        labels.append(None if number % 3 == 0 else {"id": number, "label": label})
        told += [one for one in labels[number - 7 : number - 6] if number >= 7 and one]
    told += [one for one in labels[-7:] if one]
    stream = rs.Stream(RULE, 0.1)
    assert done.stdout == answers(stream, told)
    assert (stream.delay, stream.n_labels, stream.n_waiting) == (7, 266, 134)
    assert repr(rs.Stream.load("s.rankset")) == repr(stream)


def test_ids_of_tables_can_be_dates():
    days = pd.date_range("2026-01-01", periods=400)
    frame().assign(case=days).to_parquet("rows.parquet")
    done = fine_watch("rule.rankset", "rows.parquet", "--id", "case", "--state", "s.rankset")
    assert json.loads(done.stdout.splitlines()[1])["id"].startswith("2026-01-02")
    assert rs.Stream.load("s.rankset").n_rows == 400


def test_a_damaged_file_of_lines_stops_and_everything_before_it_is_saved():
    packed = gzip.compress(text(events()).encode())
    for number, bytes_ in enumerate((packed[:9000], packed[:9000] + b"nonsense" * 2000)):
        Path(f"cut{number}.jsonl.gz").write_bytes(bytes_)
        error = failure("watch", "rule.rankset", f"cut{number}.jsonl.gz", "--state", "s.rankset", "--restart")
        check_refusal(error, FileError, file=f"cut{number}.jsonl.gz", what="the file")
        assert 0 < rs.Stream.load("s.rankset").n_rows < 400


def test_standard_input_can_be_a_table():
    save_tables()
    csv = Path("rows.csv").read_text()
    done = fine_watch("rule.rankset", "-", "--format", "csv", "--label", "answer", stdin=csv)
    assert len(done.stdout.splitlines()) == 400


def test_invalid_rows_of_tables_are_named_and_can_be_skipped():
    table = frame()
    table.loc[5, "joy"] = np.inf
    table.loc[9, "case"] = "c0"
    table.to_parquet("rows.parquet")
    options = ("rule.rankset", "rows.parquet", "--label", "answer", "--id", "case", "--state", "s.rankset")
    error = failure("watch", *options)
    assert (error.where.file, error.where.row) == ("rows.parquet", 5)
    assert rs.Stream.load("s.rankset").n_rows == 5
    done = fine_watch(*options, "--restart", "--skip-invalid", "--late", "2")
    assert "Warning: 2 invalid events were skipped. The first one: rows.parquet: " in done.stderr
    assert rs.Stream.load("s.rankset").n_labels == 398


def test_an_invalid_line_stops_and_everything_before_it_is_saved():
    told = list(events(late=3))
    stdin = text(told[:50]) + "\n  \n" + "{nonsense\n" + text(told[50:])
    error = failure("watch", "rule.rankset", "--state", "s.rankset", stdin=stdin)
    check_refusal(error, FileError, file="-", part="line 53", row=None)
    stream = rs.Stream(RULE, 0.1)
    wanted = answers(stream, told[:50])
    assert repr(rs.Stream.load("s.rankset")) == repr(stream)
    done = watch("rule.rankset", "--state", "s.rankset", "--restart", stdin=stdin)
    assert (done.exit_code, done.stdout) == (1, wanted)
    assert len(done.stderr.splitlines()) == 1
    done = fine_watch("rule.rankset", "--state", "s.rankset", "--restart", "--skip-invalid", stdin=stdin)
    assert done.stdout == wanted + answers(stream, told[50:])
    assert "Warning: 1 invalid event was skipped. The first one: -: line 53: the line must be a JSON" in done.stderr


def test_an_event_is_taken_whole_or_not_at_all():
    row = ROWS[0].tolist()
    for bad in (line(id="a", scores=row, label="nobody"), line(id="a", scores=[1, 2], label="joy")):
        stdin = line(id="z", scores=row) + bad
        assert failure("watch", "rule.rankset", "--state", "s.rankset", "--restart", stdin=stdin).where.part == "line 2"
        stream = rs.Stream.load("s.rankset")
        assert (stream.n_rows, "z" in stream, "a" in stream) == (1, True, False)
    check_refusal(
        failure("watch", "rule.rankset", stdin=line(id="a", scores=row) * 2),
        RuleError.row_known("a"),
        file="-",
        part="line 2",
    )


def test_a_run_that_fails_before_its_first_event_changes_no_state():
    assert watch("rule.rankset", "--state", "s.rankset", stdin="nonsense\n").exit_code == 1
    assert not Path("s.rankset").exists()
    fine_watch("rule.rankset", "--state", "s.rankset")
    before = Path("s.rankset").read_bytes()
    assert before == saved(rs.Stream(RULE, 0.1))
    options = ("rule.rankset", "--state", "s.rankset", "--restart", "--alpha", "0.2")
    assert watch(*options, stdin="nonsense\n").exit_code == 1
    assert Path("s.rankset").read_bytes() == before
    fine_watch(*options)
    assert rs.Stream.load("s.rankset").alpha == 0.2


def saved(stream):
    stream.save("saved.rankset")
    return Path("saved.rankset").read_bytes()


def test_labels_that_nobody_needs_are_counted_and_told():
    row = ROWS[0].tolist()
    stdin = line(id="a", scores=row) + line(id="a", label=TRUE[0]) * 3 + line(id="b", label="joy")
    done = fine_watch("rule.rankset", "--quiet", stdin=stdin)
    assert done.stderr == (
        "Warning: 1 label of an unknown row was ignored: no such id has come, or so long ago that it was dropped "
        "(--waiting).\nWarning: 2 labels were ignored: these rows have one already.\n"
    )


def test_column_numbers_are_refused_where_the_fields_have_another_order():
    row = dict(zip(NAMES, ROWS[0].tolist(), strict=True))
    assert fine_watch("rule.rankset", stdin=line(id=1, **row, label=2)).stdout
    turned = dict(reversed(row.items()))
    check_refusal(
        failure("watch", "rule.rankset", stdin=line(id=1, **turned, label=2)),
        FileError.numbers_in_another_order("-"),
        part="line 1",
    )
    assert fine_watch("rule.rankset", stdin=line(id=1, **turned, label="love")).stdout
    check_refusal(failure("watch", "rule.rankset", stdin=line(id=1, label="nobody")), LabelError, part="line 1")


def test_alarms_are_told_at_once_and_by_the_exit_code():
    told = drifting()
    done = fine_watch("rule.rankset", "--state", "s.rankset", "--alarm-line", stdin=text(told), code=3)
    stream = rs.Stream(RULE, 0.1)
    wanted, found, seen = [], [json.loads(one) for one in done.stdout.splitlines()], set()
    for event in told:
        wanted += [json.loads(one) for one in answers(stream, [event]).splitlines()]
        for alarm in stream.alarms.raised:
            if alarm.name not in seen:
                seen.add(alarm.name)
                facts = {"at": alarm.at, "since": alarm.since, "chance": alarm.chance, "advice": alarm.advice}
                wanted.append({"alarm": alarm.name, **facts})
                assert done.stderr.count(f"{alarm}\n") >= 1
    assert found == wanted
    assert "labels" in seen
    first = done.stderr.splitlines()[0]
    assert "ALARM at row 1" in first
    assert "alarm" not in fine_watch("rule.rankset", stdin=text(told), code=3).stdout


def test_an_alarm_stays_until_it_is_started_anew():
    told = drifting()
    assert fine_watch("rule.rankset", "--state", "s.rankset", "--exit-zero", stdin=text(told)).stderr
    again = fine_watch("--state", "s.rankset", "--quiet", code=3)
    assert not again.output
    assert "ALARM" in fine_watch("--state", "s.rankset", code=3).stderr
    assert not fine_watch("--state", "s.rankset", "--restart-alarms", "--quiet").output
    stream = rs.Stream.load("s.rankset")
    assert not stream.alarms
    assert (stream.n_rows, stream.alarms.outputs.rows) == (400, 0)


def test_outputs_of_calibration_rows_start_the_alarm_about_outputs():
    np.save("val.npy", LOGITS[CALIBRATION].astype(float))
    rows = text([{"scores": (row / 4).tolist()} for row in ROWS])
    options = ("rule.rankset", "--start-outputs", "val.npy", "--state", "s.rankset")
    done = fine_watch(*options, stdin=rows, code=3)
    stream = rs.Stream(RULE, 0.1, outputs=LOGITS[CALIBRATION].astype(float))
    for row in ROWS:
        stream.predict(row / 4)
    assert f"{stream.alarms.outputs}\n" in done.stderr
    assert rs.Stream.load("s.rankset").alarms.outputs == stream.alarms.outputs


def test_the_summary_is_on_standard_error():
    done = fine_watch("rule.rankset", "--state", "s.rankset", stdin=text(events()))
    stream = rs.Stream.load("s.rankset")
    assert "\ns.rankset\n  alpha          0.1\n  rows           400\n" in done.stderr
    assert f"{stream.miss_rate:.3g} ({stream.misses} missed); at most {stream.bound:.3g} from alpha" in done.stderr
    assert f"mean size      {stream.history['sizes'].sum() / 400:.4g} labels" in done.stderr
    assert f"this run       400 rows, {stream.n_labels} labels, {stream.misses} missed" in done.stderr
    assert f"  alarms         {stream.alarms.labels}\n" in done.stderr
    assert not fine_watch("rule.rankset", "--quiet", stdin=text(events(late=0, seed=3))).stderr.replace("Warning", "")[
        :0
    ]


def test_the_history_is_a_table():
    fine_watch("rule.rankset", "--state", "s.rankset", "--history", "h.csv", stdin=text(events()))
    found, stream = pd.read_csv("h.csv"), rs.Stream.load("s.rankset")
    assert list(found) == list(stream.history)
    for name, column in stream.history.items():
        assert found[name].tolist() == column.tolist()
    assert found["rows"].dtype.kind == "i"
    fine_watch("--state", "s.rankset", "--history", "h.parquet")
    assert pd.read_parquet("h.parquet")["labels"].sum() == stream.n_labels
    check_refusal(failure("watch", "--state", "s.rankset", "--history", "h.csv"), FileError.exists("h.csv"))
    fine_watch("--state", "s.rankset", "--history", "h.csv", "--force")
    before = Path("s.rankset").read_bytes()
    assert failure("watch", "--state", "s.rankset", "--history", "h.docx").where.file == "h.docx"
    assert failure("watch", "--state", "s.rankset", "--history", "s.rankset").what == "the output"
    assert Path("s.rankset").read_bytes() == before


def test_the_report_is_that_of_the_stream():
    fine_watch("rule.rankset", "--state", "s.rankset", "--report", "s.html", stdin=text(events()))
    assert Path("s.html").read_text(encoding="utf-8") == rs.report_stream(rs.Stream.load("s.rankset")).html
    check_refusal(failure("watch", "--state", "s.rankset", "--report", "s.html"), FileError.exists("s.html"))
    check_refusal(failure("watch", "--state", "s.rankset", "--report", "s.txt"), FileError.suffix("s.txt", ".html"))
    fine_watch("--state", "s.rankset", "--report", "s.html", "--force")


def test_inspect_shows_a_stream():
    fine_watch("rule.rankset", "--state", "s.rankset", stdin=text(events(late=5)))
    stream = rs.Stream.load("s.rankset")
    told = fine("inspect", "s.rankset").stdout
    assert "  classes        6: sadness, joy, love, anger, fear, surprise\n" in told
    assert f"  level          {stream.level:.4g}\n" in told
    assert f"  window         {len(stream._window):,} rows\n" in told
    assert f"  alarms         {stream.alarms.labels}\n" in told
    facts = json.loads(fine("inspect", "s.rankset", "--json").stdout)
    assert (facts["rows"], facts["miss_rate"], facts["bound"]) == (400, stream.miss_rate, stream.bound)
    assert [alarm["name"] for alarm in facts["alarms"]] == ["labels", "outputs", "coverage"]
