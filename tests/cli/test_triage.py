"""``rankset triage``: the decisions of Python, from files of all kinds."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pyarrow import parquet

import rankset as rs
from rankset.errors import FileError
from refusals import check_refusal, failure
from triage_files import (
    CASES,
    CODES,
    FRAME,
    LABELS,
    LOGITS,
    NAMES,
    NEW,
    OLD,
    PLAIN,
    PROBS,
    SITES,
    TRIAGE,
    check_lines,
    fine,
    judged,
    lines_of,
    write_files,
    wrong_use,
)


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files()


def test_decisions_are_those_of_python_with_the_columns_that_are_kept():
    done = fine("old.csv", "new.csv", "--label", "answer", "--id", "case", "--drop", "site", "--keep", "site",
                "--error", "0.05", "-o", "decided.csv")  # fmt: skip
    wanted = TRIAGE.accept(PROBS[NEW], 0.05, ids=CASES[NEW])
    lines = lines_of(Path("decided.csv").read_text())
    assert list(lines[0]) == ["case", "site", "decision", "accepted", "p_value"]
    assert [line["case"] for line in lines] == CASES[NEW].tolist()
    assert [line["site"] for line in lines] == SITES[NEW].tolist()
    check_lines(lines, wanted)
    assert done.stdout.startswith(f"decided.csv: {wanted.n_accepted} of 600 rows accepted ({wanted.share:.1%})\n")
    assert "is at most 0.05\n" in done.stdout
    assert f"{600 - wanted.n_accepted} rows for a person; rankset predict" in done.stdout
    assert not done.stderr


def test_lines_go_to_standard_output_and_the_summary_to_the_other_stream():
    done = fine("old.csv", "new.csv", *PLAIN, "--error", "5%")
    check_lines(lines_of(done.stdout), TRIAGE.accept(PROBS[NEW], 0.05))
    assert done.stderr.startswith("-: ")
    piped = fine("old.csv", "-", *PLAIN, "--format", "csv", "--error", "0,05", stdin=Path("new.csv").read_text())
    assert piped.stdout == done.stdout


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".jsonl", ".jsonl.gz", ".parquet", ".npz", ".xlsx"])
def test_every_format_that_predict_writes(suffix):
    path = f"decided{suffix}"
    fine("old.csv", "new.csv", "--label", "answer", "--drop", "site", "--id", "case", "--error", "0.05", "-o", path)
    wanted = TRIAGE.accept(PROBS[NEW], 0.05, ids=CASES[NEW])
    readers = {
        ".csv": lambda: pd.read_csv(path),
        ".csv.gz": lambda: pd.read_csv(path),
        ".jsonl": lambda: pd.DataFrame([json.loads(line) for line in Path(path).read_text().splitlines()]),
        ".jsonl.gz": lambda: pd.read_json(path, lines=True, precise_float=True),
        ".parquet": lambda: parquet.read_table(path).to_pandas(),
        ".npz": lambda: pd.DataFrame(dict(np.load(path))),
        ".xlsx": lambda: pd.read_excel(path),
    }
    found = readers[suffix]()
    assert list(found.columns) == ["case", "decision", "accepted", "p_value"]
    assert found["case"].tolist() == CASES[NEW].tolist()
    assert found["accepted"].dtype == bool
    assert found["accepted"].tolist() == wanted.accepted.tolist()
    assert found["decision"].tolist() == np.where(wanted.accepted, wanted.labels, "review").tolist()
    np.testing.assert_allclose(found["p_value"], wanted.p_values, rtol=1e-13)


def write_all(part, name):
    rows = FRAME[part].drop(columns=["site", "case"])
    rows.to_parquet(f"{name}.parquet")
    rows.to_json(f"{name}.jsonl", orient="records", lines=True, double_precision=15)
    rows.to_excel(f"{name}.xlsx", index=False)
    rows.to_csv(f"{name}.tsv", index=False, sep="\t")
    np.savez(f"{name}.npz", probs=PROBS[part], labels=CODES[part])


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl", ".xlsx", ".tsv", ".npz"])
def test_every_format_that_other_commands_read(suffix):
    write_all(OLD, "old")
    write_all(NEW, "new")
    label = () if suffix == ".npz" else ("--label", "answer")
    done = fine(f"old{suffix}", f"new{suffix}", *label, "--error", "0.05")
    wanted = TRIAGE.accept(PROBS[NEW], 0.05)
    lines = lines_of(done.stdout)
    assert [line["accepted"] == "true" for line in lines] == wanted.accepted.tolist()
    assert "accepted answers are wrong" in done.stderr


def test_labels_in_a_file_of_their_own_and_names_of_classes():
    Path("classes.txt").write_text("\n".join(NAMES))
    arguments = ("old.npy", "new.npy", "--labels", "old_labels.npy", "--error", "0.05")
    check_lines(lines_of(fine(*arguments, "--classes", "classes.txt").stdout), TRIAGE.accept(PROBS[NEW], 0.05))
    numbered = rs.triage(PROBS[OLD], CODES[OLD]).accept(PROBS[NEW], 0.05)
    check_lines(lines_of(fine(*arguments).stdout), numbered)


def test_labels_in_a_column_of_another_table():
    FRAME[OLD][["case", "answer"]].to_csv("answers.csv", index=False)
    FRAME[OLD].drop(columns=["answer", "site"]).to_csv("scores.csv", index=False)
    done = fine(
        "scores.csv", "new.csv", "--labels", "answers.csv", "--label", "answer", "--id", "case", "--error", "0.05"
    )
    check_lines(lines_of(done.stdout), TRIAGE.accept(PROBS[NEW], 0.05, ids=CASES[NEW]))


def test_absent_labels_are_wrong_answers():
    labels = np.where(np.arange(2000) % 10, LABELS, "none").astype(object)
    FRAME.assign(answer=labels)[OLD].to_csv("old.csv", index=False)
    FRAME.assign(answer=labels)[NEW].to_csv("new.csv", index=False)
    done = fine("old.csv", "new.csv", *PLAIN, "--absent", "none", "--error", "0.2")
    marked = np.where(labels == "none", rs.ABSENT, labels)
    accepted = rs.triage(PROBS[OLD], marked[OLD], classes=NAMES).accept(PROBS[NEW], 0.2)
    check_lines(lines_of(done.stdout), accepted)
    measured = rs.evaluate(accepted, marked[NEW])
    assert measured.wrong > 30
    assert f"{measured.wrong} of {measured.accepted} accepted answers are wrong" in done.stderr


def test_logits_are_logits():
    np.save("old.npy", LOGITS[OLD])
    np.save("new.npy", LOGITS[NEW])
    done = fine("old.npy", "new.npy", "--labels", "old_labels.npy", "--kind", "logits", "--error", "0.05")
    wanted = rs.triage(LOGITS[OLD], CODES[OLD], kind="logits").accept(LOGITS[NEW], 0.05)
    check_lines(lines_of(done.stdout), wanted)


@pytest.mark.parametrize("score", ["top", "margin", "two", "entropy", "auto"])
def test_every_confidence_score(score):
    done = fine("old.csv", "new.csv", *PLAIN, "--score", score, "--seed", "3", "--error", "0.05")
    wanted = rs.triage(PROBS[OLD], LABELS[OLD], classes=NAMES, confidence=score, seed=3).accept(PROBS[NEW], 0.05)
    check_lines(lines_of(done.stdout), wanted)


def test_within_the_most_likely_labels():
    done = fine("old.csv", "new.csv", *PLAIN, "--within", "2", "--error", "0.01")
    wanted = rs.triage(PROBS[OLD], LABELS[OLD], classes=NAMES, within=2).accept(PROBS[NEW], 0.01)
    check_lines(lines_of(done.stdout), wanted)
    assert "right answer   the true label is among the 2 most likely labels" in done.stderr
    assert wanted.n_accepted > TRIAGE.accept(PROBS[NEW], 0.01).n_accepted


def test_groups_with_an_error_of_their_own():
    flags = ("--label", "answer", "--group", "site", "--drop", "case")
    made = rs.triage(PROBS[OLD], LABELS[OLD], classes=NAMES, condition=rs.PerGroup(), groups=SITES[OLD])
    done = fine("old.csv", "new.csv", *flags, "--error", "a=0.02", "--error", "b=0.1")
    check_lines(lines_of(done.stdout), made.accept(PROBS[NEW], {"a": 0.02, "b": 0.1}, groups=SITES[NEW]))
    assert "is at most 0.02 for a, 0.1 for b\n" in done.stderr
    done = fine("old.csv", "new.csv", *flags, "--error", "0.05")
    check_lines(lines_of(done.stdout), made.accept(PROBS[NEW], 0.05, groups=SITES[NEW]))
    assert "is at most 0.05, per group separately\n" in done.stderr


def test_labels_with_an_error_of_their_own():
    made = rs.triage(PROBS[OLD], LABELS[OLD], classes=NAMES, condition=rs.PerLabel())
    errors = dict.fromkeys(NAMES, "0.05") | {"joy": "0.02"}
    texts = [text for name, error in errors.items() for text in ("--error", f"{name}={error}")]
    done = fine("old.csv", "new.csv", *PLAIN, "--per-label", *texts)
    check_lines(lines_of(done.stdout), made.accept(PROBS[NEW], errors))


def test_numbers_are_names_of_labels_too():
    texts = [text for name in range(6) for text in ("--error", f"{name}=0.0{name + 4}")]
    done = fine("old.npy", "new.npy", "--labels", "old_labels.npy", "--per-label", *texts)
    made = rs.triage(PROBS[OLD], CODES[OLD], condition=rs.PerLabel())
    check_lines(lines_of(done.stdout), made.accept(PROBS[NEW], {name: f"0.0{name + 4}" for name in range(6)}))


@pytest.mark.parametrize("more", [{}, {"confidence": "0.8"}])
def test_a_stream_has_a_threshold_and_no_p_values(more):
    flags = [text for name, value in more.items() for text in (f"--{name}", value)]
    done = fine("old.csv", "new.csv", *PLAIN, "--error", "0.05", "--stream", *flags, "-o", "decided.csv")
    gate = TRIAGE.threshold("0.05", more.get("confidence", "0.95"))
    check_lines(lines_of(Path("decided.csv").read_text()), gate.decide(PROBS[NEW]))
    assert f"  threshold      {gate.describe()}\n" in done.stdout
    assert f"with confidence {gate.confidence:g}, the share of wrong answers among all accepted ones" in done.stdout


def test_a_threshold_for_every_group_at_once_and_without_new_rows():
    flags = ("--label", "answer", "--group", "site", "--drop", "case", "--stream", "--error", "0.1")
    made = rs.triage(PROBS[OLD], LABELS[OLD], classes=NAMES, condition=rs.PerGroup(), groups=SITES[OLD])
    for more, together in (((), False), (("--all-groups",), True)):
        gate = made.threshold(0.1, all_groups=together)
        done = fine("old.csv", *flags, *more)
        assert all(f"  {line}\n" in done.stdout for line in gate.describe().splitlines())
        told = json.loads(fine("old.csv", *flags, *more, "--json").stdout)
        assert (told["rows"], told["accepted"], told["wrong"]) == (gate.n, gate.accepted.sum(), gate.wrong.sum())
        assert told["threshold"] == gate.describe()


def test_the_curve_is_that_of_python():
    assert fine("old.csv", *PLAIN, "--curve").stdout == f"{TRIAGE.curve()}\n"
    some = fine("old.csv", *PLAIN, "--curve", "--error", "0.05", "--error", "0.1", "--confidence", "0.9")
    assert some.stdout == f"{TRIAGE.curve([0.05, 0.1], confidence=0.9)}\n"
    told = json.loads(fine("old.csv", *PLAIN, "--curve", "--error", "0.05", "--json").stdout)
    assert told["points"] == [TRIAGE.curve([0.05]).points[0]._asdict()]


def test_booleans_instead_of_labels_with_one_confidence_per_row():
    judged(OLD, "judged")
    judged(NEW, "fresh", with_answers=False)
    done = fine("judged.csv", "fresh.csv", "--correct", "fine", "--id", "case", "--error", "0.05")
    made = rs.triage(PROBS[OLD].max(axis=1), PROBS[OLD].argmax(axis=1) == CODES[OLD])
    wanted = made.accept(PROBS[NEW].max(axis=1), 0.05, ids=CASES[NEW])
    lines = lines_of(done.stdout)
    assert [line["decision"] for line in lines] == np.where(wanted.accepted, "accept", "review").tolist()
    assert [float(line["p_value"]) for line in lines] == wanted.p_values.tolist()
    other = fine("judged.csv", "fresh_all.csv", "--correct", "fine", "--id", "case", "--error", "0.05")
    assert other.stdout == done.stdout  # the column of OLD is found among others by its name


def test_booleans_instead_of_labels_with_the_scores_of_all_labels():
    judged(OLD, "judged")
    judged(NEW, "fresh")
    flags = ("--correct", "fine", "--drop", "sure", "--drop", "case", "--error", "0.05")
    done = fine("judged_all.csv", "fresh_all.csv", *flags)
    check_lines(lines_of(done.stdout), TRIAGE.accept(PROBS[NEW], 0.05))
    assert "accepted answers are wrong" in done.stderr


@pytest.mark.parametrize("texts", [("True", "False"), ("1", "0"), ("TRUE", "FALSE"), ("true", "false")])
def test_spellings_of_booleans(texts):
    right = PROBS[OLD].argmax(axis=1) == CODES[OLD]
    pd.DataFrame({"sure": PROBS[OLD].max(axis=1), "fine": np.where(right, *texts)}).to_csv("judged.csv", index=False)
    judged(NEW, "fresh")
    done = fine("judged.csv", "fresh.csv", "--correct", "fine", "--error", "0.05")
    wanted = rs.triage(PROBS[OLD].max(axis=1), right).accept(PROBS[NEW].max(axis=1), 0.05)
    assert [line["accepted"] == "true" for line in lines_of(done.stdout)] == wanted.accepted.tolist()


def test_a_saved_triage_replaces_the_old_rows():
    told = fine("old.csv", *PLAIN, "--score", "margin", "--save", "cases.rankset").stdout
    assert told.startswith("cases.rankset\n")
    assert "rows           1000\n" in told
    made = rs.triage(PROBS[OLD], LABELS[OLD], classes=NAMES, confidence="margin")
    assert rs.Triage.load("cases.rankset") == made
    done = fine("cases.rankset", "new.csv", "--error", "0.05")
    check_lines(lines_of(done.stdout), made.accept(PROBS[NEW], 0.05))
    assert "measured" not in done.stderr
    measured = fine("cases.rankset", "new.csv", "--error", "0.05", "--label", "answer")
    assert measured.stdout == done.stdout
    assert "accepted answers are wrong" in measured.stderr
    assert fine("cases.rankset", "--curve").stdout == f"{made.curve()}\n"
    both = fine("old.csv", "new.csv", *PLAIN, "--score", "margin", "--error", "0.05", "--save", "again.rankset")
    assert both.stdout == done.stdout
    assert Path("again.rankset").read_bytes() == Path("cases.rankset").read_bytes()


def test_a_saved_triage_of_confidences():
    judged(OLD, "judged")
    judged(NEW, "fresh")
    fine("judged.csv", "--correct", "fine", "--drop", "case", "--save", "judged.rankset")
    flags = ("judged.rankset", "fresh.csv", "--id", "case", "--correct", "fine", "--error", "0.05")
    assert "accepted answers are wrong" in fine(*flags).stderr
    error = failure("triage", "judged.rankset", "fresh.csv", "--id", "case", "--error", "0.05")
    check_refusal(error, FileError, file="fresh.csv", what="scores")
    error = failure("triage", "judged.rankset", "new.npy", "--error", "0.05")
    check_refusal(error, FileError.one_confidence("new.npy", list("012345")))


def test_what_was_measured_is_that_of_evaluate_and_labels_do_not_decide():
    done = fine(
        "old.csv", "new.csv", *PLAIN, "--error", "0.05", "--minutes-per-row", "3", "--json", "-o", "decided.csv"
    )
    accepted = TRIAGE.accept(PROBS[NEW], 0.05)
    measured = rs.evaluate(accepted, LABELS[NEW], minutes_per_row=3)
    told = json.loads(done.stdout)
    assert told["measured"]["wrong"] == measured.wrong
    assert told["measured"]["interval"] == list(measured.interval)
    assert told["hours_saved"] == measured.hours_saved
    assert (told["rows"], told["accepted"], told["share"]) == (600, accepted.n_accepted, accepted.share)
    assert told["error"] == 0.05
    FRAME[NEW].assign(answer="").to_csv("blank.csv", index=False)
    blank = fine("old.csv", "blank.csv", *PLAIN, "--error", "0.05")
    assert blank.stdout == Path("decided.csv").read_text()
    assert "does not have a known answer in every row, so errors are not measured." in blank.stderr
    FRAME[NEW].drop(columns="answer").to_csv("none.csv", index=False)
    none = fine("old.csv", "none.csv", *PLAIN, "--error", "0.05", "--minutes-per-row", "3")
    assert none.stdout == blank.stdout
    assert "Warning" not in none.stderr
    assert f"saved          {accepted.n_accepted / 20:,.1f} hours, at 3 minutes per row\n" in none.stderr


def test_more_errors_than_promised_are_warned_of():
    FRAME[NEW].assign(answer="love").to_csv("odd.csv", index=False)
    assert "more answers are wrong than promised" in fine("old.csv", "odd.csv", *PLAIN, "--error", "0.05").stderr


def test_nothing_accepted_is_a_clear_answer():
    done = fine("old.csv", "new.csv", *PLAIN, "--error", "0.0005")
    assert {line["decision"] for line in lines_of(done.stdout)} == {"review"}
    assert "Warning: no row can be accepted at an error of 0.0005 with 1,000 calibration rows." in done.stderr
    assert "-: 0 of 600 rows accepted (0.0%)" in done.stderr
    closed = fine("old.csv", "new.csv", *PLAIN, "--error", "0.001", "--stream")
    assert "Warning: no threshold passed its test" in closed.stderr
    assert "  threshold      accepts nothing\n" in closed.stderr


def test_everything_accepted_and_no_rows():
    everything = fine("old.csv", "new.csv", *PLAIN, "--error", "0.5")
    assert "others         none: every row is accepted\n" in everything.stderr
    FRAME[:0].to_csv("empty.csv", index=False)
    for more in ((), ("--stream",)):
        done = fine("old.csv", "empty.csv", *PLAIN, "--error", "0.05", *more)
        assert lines_of(done.stdout) == []
        assert "0 of 0 rows accepted" in done.stderr


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet", ".npz", ".xlsx"])
def test_no_rows_in_every_format(suffix):
    FRAME[:0].to_csv("empty.csv", index=False)
    path = f"decided{suffix}"
    done = fine("old.csv", "empty.csv", *PLAIN, "--error", "0.05", "-o", path, "--json")
    told = json.loads(done.stdout)
    assert (told["rows"], told["accepted"], told["share"], told["smallest_error"]) == (0, 0, 0.0, None)
    if suffix == ".parquet":
        assert parquet.read_schema(path).names == ["decision", "accepted", "p_value"]
        assert str(parquet.read_schema(path).field("decision").type) == "string"
    if suffix == ".npz":
        assert {name: len(array) for name, array in np.load(path).items()} == {
            "decision": 0,
            "accepted": 0,
            "p_value": 0,
        }


def test_candidates_of_their_own_are_decided_by_name():
    letters = np.array(list("abcdefghij"))
    for name, part in (("old", OLD), ("new", NEW)):
        options = [letters[row % 4 : row % 4 + 6].tolist() for row in range(part.start, part.stop)]
        lines = [
            {"options": names, "scores": row.tolist(), "answer": names[code]}
            for names, row, code in zip(options, PROBS[part], CODES[part], strict=True)
        ]
        Path(f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = fine("old.jsonl", "new.jsonl", "--options", "options", "--label", "answer", "--error", "0.05")
    wanted = rs.triage(PROBS[OLD], CODES[OLD]).accept(PROBS[NEW], 0.05)
    names = [line["options"][code] for line, code in zip(lines, wanted.labels.tolist(), strict=True)]
    assert [line["decision"] for line in lines_of(done.stdout)] == np.where(wanted.accepted, names, "review").tolist()
    measured = rs.evaluate(wanted, CODES[NEW])
    assert f"{measured.wrong} of {measured.accepted} accepted answers are wrong" in done.stderr


def test_a_class_that_is_called_review():
    for name in ("old", "new"):
        text = Path(f"{name}.csv").read_text().replace("joy", "review")
        Path(f"{name}.csv").write_text(text)
    told = wrong_use("old.csv", "new.csv", *PLAIN, "--error", "0.05", "-o", "decided.csv")
    assert "'review' is also an answer. Pass another text with --review." in told
    assert not Path("decided.csv").exists()
    done = fine("old.csv", "new.csv", *PLAIN, "--error", "0.05", "--review", "?")
    assert {"?", "review"} < {line["decision"] for line in lines_of(done.stdout)}
